//! Sparse matrix products on every OpenCL device: GPUs and APUs from AMD, Intel and NVIDIA, and CPUs.
//!
//! y = alpha A x + beta y, with A in compressed rows. The application owns its context, queues and
//! buffers, or lets Sparrow make them; a product takes a wait list and returns an event, and nothing
//! blocks unless its name ends in `_blocking`.
//!
//! ```no_run
//! use sparrow::{Context, Csr, Device, DeviceArray, Matrix, Plan, PlanOptions, Product, Queue};
//!
//! fn main() -> Result<(), sparrow::Error> {
//!     // The best device there is; `Context::from_raw` and `Queue::from_raw` take your own instead.
//!     let context = Context::new(&Device::best()?)?;
//!     let queue = Queue::new(&context)?;
//!
//!     // | 5 . 1 |
//!     // | . . . |   row offsets, column indices, values; checked here, then trusted
//!     // | . 7 3 |
//!     let a: Csr<f64> =
//!         Csr::new(3, vec![0, 2, 2, 4], vec![0, 2, 1, 2], vec![5.0, 1.0, 7.0, 3.0])?;
//!
//!     let matrix = Matrix::upload_blocking(&queue, a.view())?;
//!     let plan = Plan::new_blocking(&queue, &matrix, &PlanOptions::default())?;
//!     let mut workspace = plan.workspace_blocking(&queue)?;
//!     let x = DeviceArray::upload_blocking(&queue, &[1.0, 2.0, 3.0])?;
//!     let mut y = DeviceArray::allocate(&context, 3)?;
//!
//!     // y = 1 A x + 0 y; with beta = 0, y is never read. Launch as often as you like.
//!     let product =
//!         Product { alpha: 1.0.into(), a: &matrix, x: &x, beta: 0.0.into(), y: &mut y };
//!     let event = plan.launch(&queue, &mut workspace, product, &[])?;
//!     event.wait()?;
//!     assert_eq!(y.read_blocking(&queue)?, [8.0, 0.0, 23.0]);
//!     Ok(())
//! }
//! ```

mod error;
mod plan;
mod tables;

pub use cl_kernels::{
    Accumulate, Algorithm, Choice, DeviceTable, DeviceTraits, DeviceType, KernelKey, MatrixShape,
    select,
};
pub use cl_runtime::Error as RuntimeError;
pub use cl_runtime::spmv::{Variant, Workspace};
pub use cl_runtime::{
    BinaryCache, Context, Device, DeviceArray, Event, Matrix, Queue, Rates, devices, find_device,
    find_devices,
};
pub use csr_core::{Coo, Csr, CsrView, Offset, OffsetType, PatternView, Value, ValueType};
pub use error::{Error, Result};
pub use plan::{Coefficient, Op, Plan, PlanOptions, Planning, Product};
pub use tables::Tables;

/// Formats, files, generators and the host's own products, without a device.
pub use csr_core as host;
