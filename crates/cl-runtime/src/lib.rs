//! The only crate that talks to OpenCL: devices, contexts, queues, arrays on the device, programs,
//! workspaces and launches.
//!
//! OpenCL is opened at run time; on a machine without it every entry answers [`Error::NoLibrary`].
//! The runtime owns or borrows: context, queue and memory come from raw handles and go back as raw
//! handles. Launches take a wait list and return an event; nothing blocks unless its name ends in
//! `_blocking`.

mod arena;
mod arguments;
mod array;
pub mod batched;
mod compiler;
mod context;
pub mod convert;
mod dense_matrix;
mod device;
mod element;
mod empty_launch;
mod error;
mod host_array;
mod host_matrix;
mod host_pattern;
mod host_view;
mod kept_memory;
mod last_cache;
mod launch;
mod level_rates;
mod matrix;
mod on_host;
mod overlap;
mod plan_workspace;
mod program;
mod queue;
mod rates;
pub mod raw;
mod recorder;
mod recording;
mod row_lengths;
mod row_offsets;
mod scan;
mod scratch;
mod size;
pub mod solver;
mod sort;
pub mod spgemm;
pub mod spmm;
pub mod spmv;
mod typed_array;
mod vector;
mod wait;
mod workspace;

/// What arrays may hold, so that callers need not name its crate themselves.
pub use bytemuck::Pod;

pub use array::AnyArray;
pub use context::Context;
pub use convert::{
    AnyCooToCsr, AnyDenseToCsr, AnyReorderedMatrix, AnyTransposedMatrix, Duplicates,
};
pub use dense_matrix::AnyDenseMatrix;
pub use device::{Device, devices, find_device, find_devices};
pub use element::ElementType;
pub use empty_launch::{Buffers, EmptyLaunch};
pub use error::{Error, Result, check_matrix_types, check_size};
pub use host_matrix::HostMatrix;
pub use host_view::{HostView, HostViewMut};
pub use last_cache::last_cache_bytes_blocking;
pub use launch::After;
pub use level_rates::{LevelRates, RowRates};
pub use matrix::{AnyMatrix, KnownPattern, MatrixTypes};
pub use overlap::{Overlap, check_apart, check_same_or_apart, common_bytes, overlap};
pub use program::{BinaryCache, Program};
#[cfg(feature = "fault-injection")]
pub use program::{Broken, break_kernels};
pub use queue::{Event, InOrder, Queue};
pub use rates::Rates;
pub use recorder::Recorder;
pub use recording::{Recording, Replay};
pub use row_offsets::RowOffsets;
pub use scan::Scan;
pub use sort::{KeyType, Keyed};
pub use typed_array::DeviceArray;
pub use vector::{ElementwiseOperands, ReduceOperands, VectorForm, VectorKernels, VectorOperation};
pub use wait::{NoEvent, Wait};
