//! Device code as data: what runs on a device, under which name, with which parameters and arguments.
//!
//! This crate embeds the OpenCL C of `cl/` and describes each kernel in one Rust file: the parameters
//! it is compiled with and their search space, the arguments it takes, typed and named. It also holds
//! the types of the device table and the choice of an algorithm. It opens no device and reads no file.
//!
//! To add an algorithm: its `.cl` file, its file here, its launch in `cl-runtime`, and one line in
//! [`Algorithm`].

mod algorithm;
mod arguments;
mod device_table;
mod device_traits;
mod experiment;
mod key;
mod parameters;
mod select;
mod shipped;
mod source;
mod tables;

pub mod batched;
pub mod batched_plan;
pub mod csr_adaptive;
pub mod csr_adaptive_plan;
pub mod csr_scalar;
pub mod csr_vector;
pub mod dense_product;
pub mod dense_rows;
pub mod evc_hyb;
pub mod evc_hyb_plan;
pub mod gather_rate;
pub mod gather_values;
pub mod launch_cost;
pub mod longest_row;
pub mod rates;
pub mod segmented_sum;
pub mod sort;
pub mod spmm;
pub mod spmm_merge;
pub mod spmm_merge_plan;
pub mod spmm_row_split;
pub mod spmm_row_split_plan;

pub use algorithm::Algorithm;
pub use arguments::{Argument, ArgumentKind, ArgumentSink, Array, KernelArguments, Scalar};
pub use device_table::{DeviceEntry, DeviceTable, TableMatch};
pub use device_traits::{DeviceTraits, DeviceType, HostAccess, SvmSupport};
pub use experiment::Experiment;
pub use key::{Accumulate, KernelKey};
pub use parameters::{ParameterError, ParameterSpace, Parameters};
pub use select::{Choice, MatrixShape, Products, select};
pub use shipped::{Extent, specialisations};
pub use source::{Source, SourceError, kernel_source};

#[cfg(test)]
use source::SOURCES;
pub use tables::{TableError, Tables, parse_device_table};
