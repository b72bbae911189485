//! Device code as data: what runs on a device, under which name, with which parameters and arguments.
//!
//! This crate embeds the OpenCL C of `cl/` and describes each kernel in one Rust file: the parameters
//! it is compiled with and their search space, the arguments it takes, typed and named. It also holds
//! the types of the device table and the choice of an algorithm. It opens no device and reads no file.
//!
//! To add an algorithm: its `.cl` file, its file here, its launch in `cl-runtime`, and one line in
//! `algorithm.rs`.

mod accumulate;
mod algorithm;
mod algorithm_spec;
mod arguments;
mod choice;
mod cost;
mod device_table;
mod device_traits;
mod estimates;
mod experiment;
mod features;
mod fit;
mod key;
mod named;
mod parameter_error;
mod parameter_list;
mod parameters;
mod renamed;
mod reuse;
mod rules;
mod select;
mod shipped;
mod source;
mod storage;
mod table_error;
mod table_text;
mod tables;
mod variant;

pub mod batched;
pub mod batched_plan;
pub mod bicgstab;
pub mod cg;
pub mod coo_to_csr;
pub mod csr_adaptive;
pub mod csr_adaptive_plan;
pub mod csr_flat;
pub mod csr_flat_plan;
pub mod csr_pieces;
pub mod csr_scalar;
pub mod csr_tiles;
pub mod csr_tiles_plan;
pub mod csr_to_coo;
pub mod csr_to_dense;
pub mod csr_vector;
pub mod dense_product;
pub mod dense_rows;
pub mod dense_to_csr;
pub mod elementwise;
pub mod evc_hyb;
pub mod evc_hyb_plan;
pub mod gather_rate;
pub mod gather_values;
pub mod hyb;
pub mod hyb_plan;
pub mod jacobi;
pub mod launch_cost;

pub mod rates;
pub mod reduce;
pub mod reorder;
pub mod row_lengths;
pub mod row_offsets;
pub mod scan;
pub mod segmented_sum;
pub mod sell;
pub mod sell_sigma;
pub mod sell_sigma_plan;
pub mod solver_state;
pub mod solver_vectors;
pub mod sort;
pub mod spgemm_bitmap;
pub mod spgemm_hash;
pub mod spgemm_listed;
pub mod spgemm_long;
pub mod spgemm_order;
pub mod spgemm_parts;
pub mod spgemm_rows;
pub mod spgemm_sets;
pub mod spgemm_tiny;
pub mod spgemm_values;
pub mod spmm;
mod spmm_algorithm;
pub mod spmm_copy;
pub mod spmm_merge;
pub mod spmm_merge_plan;
pub mod spmm_nonzero_split;
pub mod spmm_row_split;
mod spmm_row_split_fit;
pub mod spmm_row_split_plan;
mod spmm_tiling;
mod spmm_variant;
pub mod sum_integers;
pub mod tiling;
pub mod value_coding;

pub use accumulate::Accumulate;
pub use algorithm::Algorithm;
pub use algorithm_spec::{
    AlgorithmSpec, ByMeanRow, CheckParameters, KernelSpec, Limits, Planned, TEST_LIMITS, TestSet,
    Trial, ValueByMeanRow,
};
pub use arguments::{Argument, ArgumentKind, ArgumentSink, Array, KernelArguments, Scalar};
pub use choice::Choice;
pub use cost::{Cost, CostModel, CostNumbers, CostQuestion};
pub use device_table::{DeviceEntry, DeviceTable, StreamRates, TableMatch};
pub use device_traits::{DeviceTraits, DeviceType, HostAccess, SvmSupport};
pub use estimates::{
    Estimate, MODEL_BASELINE, estimate_of, estimates, estimates_where, tiles_estimate,
};
pub use experiment::Experiment;
pub use features::{Feature, Features, MatrixShape};
pub use fit::{Checked, Fit, FittedParameters};
pub use key::KernelKey;
pub use named::NamedParameters;
pub use parameter_error::ParameterError;
pub use parameter_list::ParameterList;
pub use parameters::{ParameterSpace, Parameters};
pub use renamed::current_name;
pub use reuse::Reuse;
pub use rules::{Comparison, Condition, Rule, Rules, Side};
pub use select::{select, select_saying_how, select_where};
pub use shipped::{Extent, specialisations};
pub use source::{SourceError, kernel_source};
pub use storage::{Storage, StorageFormat};
pub use table_error::TableError;
pub use table_text::parse_device_table;
pub use tables::Tables;
pub use variant::Variant;

#[cfg(test)]
use source::SOURCES;

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A GPU to choose for.
    pub(crate) fn gpu() -> DeviceTraits {
        DeviceTraits {
            name: "Test GPU".to_owned(),
            board_name: None,
            vendor: "Vendor".to_owned(),
            platform: "Test".to_owned(),
            driver: "1".to_owned(),
            version: "OpenCL 1.2".to_owned(),
            architecture: String::new(),
            device_type: DeviceType::Gpu,
            compute_units: 8,
            simd_width: 32,
            max_group_size: 1024,
            local_bytes: 48 << 10,
            global_bytes: 1 << 30,
            max_allocation_bytes: 1 << 28,
            cache_bytes: 1 << 20,
            cache_line_bytes: 64,
            base_align_bytes: 128,
            has_f64: true,
            has_int64_atomics: true,
            has_sub_groups: false,
            shuffle_sizes: Vec::new(),
            keeps_f32_subnormals: true,
            has_host_memory: false,
            svm: SvmSupport::default(),
        }
    }
}
