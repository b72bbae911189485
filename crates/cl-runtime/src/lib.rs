//! The only crate that talks to OpenCL: devices, contexts, queues, arrays on the device, programs,
//! workspaces and launches.
//!
//! OpenCL is opened at run time; on a machine without it every entry answers [`Error::NoLibrary`].
//! The runtime owns or borrows: context, queue and memory come from raw handles and go back as raw
//! handles. Launches take a wait list and return an event; nothing blocks unless its name ends in
//! `_blocking`.

mod array;
pub mod batched;
mod context;
pub mod convert;
mod dense_matrix;
mod device;
mod empty_launch;
mod error;
mod host_pattern;
mod host_view;
mod launch;
mod level_rates;
mod matrix;
mod observation;
mod program;
mod queue;
mod rates;
pub mod raw;
mod room;
mod row_lengths;
mod row_offsets;
mod scan;
pub mod solver;
mod sort;
pub mod spgemm;
pub mod spmm;
pub mod spmv;
mod vector;

/// What arrays may hold, so that callers need not name its crate themselves.
pub use bytemuck::Pod;

pub use array::DeviceArray;
pub use context::Context;
pub use convert::{CooToCsr, DenseToCsr, Duplicates, TransposedMatrix};
pub use dense_matrix::DenseMatrix;
pub use device::{Device, devices, find_device, find_devices};
pub use empty_launch::{Buffers, EmptyLaunch};
pub use error::{Error, Result};
pub use host_view::{HostView, HostViewMut};
pub use level_rates::{LevelRates, RowRates};
pub use matrix::{KnownPattern, Matrix};
pub use observation::{Observation, Unobserved};
pub use program::{BinaryCache, Program};
#[cfg(feature = "fault-injection")]
pub use program::{Broken, break_kernels};
pub use queue::{Event, InOrder, Queue};
pub use rates::Rates;
pub use row_offsets::RowOffsets;
pub use scan::Scan;
pub use sort::{Keyed, SortKey};
pub use vector::{ElementwiseOperands, ReduceOperands, VectorForm, VectorKernels, VectorOperation};
