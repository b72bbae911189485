//! The typed face: thin wrappers for programs whose types the compiler knows. Each derefs to the untyped thing it wraps.

mod batch;
mod convert;
mod matrix;
mod plan;
mod recording;
mod solve;
mod spgemm;
mod spmm;
mod vectors;

pub use batch::{Batch, BatchCoefficient, BatchOperands};
pub use convert::{CooToCsr, DenseMatrix, DenseToCsr, TransposedMatrix};
pub use matrix::Matrix;
pub use plan::{Coefficient, Operands, Plan};
pub use recording::Recorder;
pub use solve::{LinearSystem, Solver};
pub use spgemm::SpgemmPlan;
pub use spmm::{SpmmOperands, SpmmPlan};
pub use vectors::Vectors;
