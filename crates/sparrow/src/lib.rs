//! Sparse matrix products on every OpenCL device: GPUs and APUs from AMD, Intel and NVIDIA, and CPUs.
//!
//! y = alpha A x + beta y, with A in compressed rows. The application owns its context, queues and
//! buffers, or lets Sparrow make them; a product takes a wait list and returns an event, and nothing
//! blocks unless its name ends in `_blocking`.
//!
//! ```
//! use opencl3::command_queue::CommandQueue;
//! use opencl3::device::{CL_DEVICE_TYPE_ALL, Device, get_all_devices};
//! use opencl3::memory::{Buffer, CL_MEM_READ_WRITE, ClMem};
//! use opencl3::types::CL_NON_BLOCKING;
//! use sparrow::{BinaryCache, Csr, DeviceArray, Event, Matrix, Operands, Plan, PlanOptions};
//!
//! fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     // Your own context, queue, buffers and event, here by opencl3; any binding's raw handles will do.
//!     let device = Device::new(get_all_devices(CL_DEVICE_TYPE_ALL)?[0]);
//!     let own_context = opencl3::context::Context::from_device(&device)?;
//!     let own_queue = CommandQueue::create_default(&own_context, 0)?;
//!     let none = std::ptr::null_mut();
//!     let buffer = || unsafe { Buffer::<f64>::create(&own_context, CL_MEM_READ_WRITE, 3, none) };
//!     let (mut own_x, own_y, data) = (buffer()?, buffer()?, [1.0, 2.0, 3.0]);
//!     let written =
//!         unsafe { own_queue.enqueue_write_buffer(&mut own_x, CL_NON_BLOCKING, 0, &data, &[])? };
//!
//!     // Sparrow adds references of its own. SAFETY: the handles are valid and belong together.
//!     let context = unsafe { sparrow::Context::from_raw(own_context.get(), device.id(), BinaryCache::Default)? };
//!     let queue = unsafe { sparrow::Queue::from_raw(&context, own_queue.get())? };
//!     let x = unsafe { DeviceArray::<f64>::from_raw(own_x.get(), 0, 3)? };
//!     let mut y = unsafe { DeviceArray::<f64>::from_raw(own_y.get(), 0, 3)? };
//!     let wait = unsafe { [Event::retain(written.get())?] };
//!
//!     // | 5 . 1 |
//!     // | . . . |   row offsets, column indices, values: checked here, then trusted
//!     // | . 7 3 |
//!     let a: Csr<f64> = Csr::new(3, vec![0, 2, 2, 4], vec![0, 2, 1, 2], vec![5.0, 1.0, 7.0, 3.0])?;
//!     let a = Matrix::upload_blocking(&queue, a.view())?;
//!     let plan = Plan::new_blocking(&queue, &a, &PlanOptions::default())?;
//!     let mut workspace = plan.workspace_blocking(&queue)?;
//!
//!     // y = 1 A x + 0 y, once x is written; the event (`as_raw`) may go into wait lists of your own.
//!     let operands = Operands { alpha: 1.0.into(), a: &a, x: &x, beta: 0.0.into(), y: &mut y };
//!     plan.launch(&queue, &mut workspace, operands, &wait)?.wait()?;
//!     assert_eq!(y.read_blocking(&queue)?, [8.0, 0.0, 23.0]);
//!     Ok(())
//! }
//! ```
//!
//! An application without OpenCL objects of its own lets Sparrow make them:
//!
//! ```
//! # fn main() -> Result<(), sparrow::Error> {
//! use sparrow::{Context, Device, DeviceArray, Queue};
//!
//! let context = Context::new(&Device::best()?)?;
//! let queue = Queue::new(&context)?;
//! let x = DeviceArray::upload_blocking(&queue, &[1.0, 2.0, 3.0])?;
//! assert_eq!(x.read_blocking(&queue)?, [1.0, 2.0, 3.0]);
//! # Ok(())
//! # }
//! ```

mod batch;
mod batch_operands;
mod batch_overlap;
mod error;
mod hetero;
mod plan;
mod slots;
mod solve;
mod spgemm;
mod spmm;
mod table_file;
mod tables;
mod typed;
mod vectors;

pub use batch::{BatchOptions, BatchPlan};
pub use batch_operands::{AnyBatchCoefficient, AnyBatchOperands};
#[doc(hidden)]
pub use cl_kernels::Experiment;
pub use cl_kernels::batched::BatchedAlgorithm;
pub use cl_kernels::spmm::{SpmmAlgorithm, SpmmVariant};
pub use cl_kernels::{
    Accumulate, Algorithm, AlgorithmSpec, Choice, Cost, CostNumbers, DeviceEntry, DeviceTable,
    DeviceTraits, DeviceType, Estimate, Feature, Features, Fit, HostAccess, KernelKey, MatrixShape,
    NamedParameters, ParameterList, Planned, Reuse, Rule, Rules, StreamRates, TableError, Tables,
    Variant, estimates, parse_device_table, select,
};
pub use cl_runtime::Error as RuntimeError;
pub use cl_runtime::batched::{AnyBatch, BatchColumns, BatchedVariant, ColumnWidth};
pub use cl_runtime::raw::{FloatTrapsHeld, copied_bytes};
pub use cl_runtime::spmm::DenseOperands;
pub use cl_runtime::spmv::{Stages, VectorOrder, Workspace};
pub use cl_runtime::{
    AnyArray, AnyCooToCsr, AnyDenseMatrix, AnyDenseToCsr, AnyMatrix, AnyReorderedMatrix,
    AnyTransposedMatrix, BinaryCache, Buffers, Context, Device, DeviceArray, Duplicates,
    ElementType, EmptyLaunch, Event, HostView, HostViewMut, KnownPattern, LevelRates, MatrixTypes,
    NoEvent, Overlap, Queue, Rates, Replay, RowOffsets, RowRates, Wait, check_apart, common_bytes,
    devices, find_device, find_devices, last_cache_bytes_blocking, overlap,
};
pub use csr_core::batch::{AnyHostBatch, Ell, Format, HostBatch, PADDING, Problem};
pub use csr_core::evc_hyb::EvcHybStatistics;
pub use csr_core::{
    AnyCsrView, AnyPatternView, ColumnType, Coo, Csr, CsrView, DenseShape, Layout, Number, Offset,
    OffsetType, PatternView, Real, RealValue, Reordering, Value, ValueCoding, ValueType, are,
    counted,
};
pub use error::{Error, Result};
pub use hetero::{HeteroPlan, LEARNING_PRODUCTS, Partner, Share, Shared};
pub use plan::{
    AnyCoefficient, AnyOperands, AnyPlan, AnyRecorder, AnyRecording, Measuring, Op, PlanOptions,
    Planning,
};
pub use slots::{AnySlotsMatrix, AnySlotsPlan, Entries, Slots, SlotsOperands, SlotsOptions};
pub use solve::{
    AnyLinearSystem, AnySolver, Breakdown, Norm, Outcome, Preconditioner, Solution, SolverMethod,
    SolverOptions, SolverProgress, StopRule, Verdict, solve_on_host,
};
pub use spgemm::{AnySpgemmPlan, SpgemmOptions};
pub use spmm::{AnySpmmOperands, AnySpmmPlan, SpmmChoice, SpmmOptions};
pub use table_file::write_entry;
pub use tables::{default_tables, raw_timings_folder, user_table_path};
pub use typed::{
    Batch, BatchCoefficient, BatchOperands, Coefficient, CooToCsr, DenseMatrix, DenseToCsr,
    LinearSystem, Matrix, Operands, Plan, Recorder, Solver, SpgemmPlan, SpmmOperands, SpmmPlan,
    TransposedMatrix, Vectors,
};
pub use vectors::{AnyVectors, Combination, KernelBuild, Reduction, VectorOptions};

/// Formats, files, generators and the host's own products, without a device.
pub use csr_core as host;
