//! Which algorithm suits a matrix on a device: a pure function, with the reason in words.

use crate::evc_hyb::EvcHybSwitch;
use crate::{Algorithm, DeviceTraits, DeviceType};

/// What the choice looks at.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MatrixShape {
    /// Rows of A.
    pub rows: u64,
    /// Nonzeros of A.
    pub nnz: u64,
    /// Nonzeros of the longest row.
    pub longest_row: u64,
}

/// How many products will follow a plan: what it may cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Products {
    /// One.
    Once,
    /// Some tens.
    #[default]
    Several,
    /// Hundreds: a copy of the matrix pays.
    Many,
}

impl std::str::FromStr for Products {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "once" => Ok(Products::Once),
            "several" => Ok(Products::Several),
            "many" => Ok(Products::Many),
            _ => Err(format!("products \"{text}\" is none of once, several, many")),
        }
    }
}

/// An algorithm and why it was chosen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// What to run.
    pub algorithm: Algorithm,
    /// The reason, for `sparrow info --explain`.
    pub reason: String,
}

/// Chooses for a matrix on a device.
///
/// On a CPU an item is a loop, so whole rows by items are sound until one row outweighs a compute
/// unit's fair share of the nonzeros; elsewhere CSR-Adaptive takes every shape.
///
/// Where many products follow, a sorted copy is made where the device's `copy` switch says that it pays.
pub fn select(
    device: &DeviceTraits,
    matrix: &MatrixShape,
    products: Products,
    copy: &EvcHybSwitch,
) -> Choice {
    if products == Products::Many
        && let Some(reason) = copy.pays(matrix)
    {
        return Choice { algorithm: Algorithm::EvcHyb, reason };
    }
    let fair_share = matrix.nnz / u64::from(device.compute_units.max(1));
    if device.device_type == DeviceType::Cpu && matrix.longest_row <= fair_share.max(1024) {
        let reason = format!(
            "a CPU device runs items one after another, and the longest row ({} nonzeros) is within one \
             compute unit's share ({fair_share})",
            matrix.longest_row
        );
        return Choice { algorithm: Algorithm::CsrScalar, reason };
    }
    let reason = match device.device_type {
        DeviceType::Cpu => format!(
            "the longest row ({} nonzeros) exceeds one compute unit's share ({fair_share}), so rows must \
             be cut",
            matrix.longest_row
        ),
        _ => "equal nonzeros a group and cut long rows suit every shape on this device".to_owned(),
    };
    Choice { algorithm: Algorithm::CsrAdaptive, reason }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A GPU to choose for.
    pub(crate) fn gpu() -> DeviceTraits {
        DeviceTraits {
            name: "Test GPU".to_owned(),
            board_name: None,
            vendor: "Nobody".to_owned(),
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
            svm: crate::SvmSupport::default(),
        }
    }

    #[test]
    fn a_cpu_leaves_rows_whole_until_one_outweighs_a_compute_unit() {
        let cpu = DeviceTraits { device_type: DeviceType::Cpu, compute_units: 2, ..gpu() };
        let even = MatrixShape { rows: 1000, nnz: 100_000, longest_row: 100 };
        let skewed = MatrixShape { longest_row: 60_000, ..even };
        let choose = |device: &DeviceTraits, matrix: &MatrixShape| {
            select(device, matrix, Products::Several, &EvcHybSwitch::unknown()).algorithm
        };
        assert_eq!(choose(&cpu, &even), Algorithm::CsrScalar);
        assert_eq!(choose(&cpu, &skewed), Algorithm::CsrAdaptive);
        assert_eq!(choose(&gpu(), &even), Algorithm::CsrAdaptive);
    }

    #[test]
    fn a_copy_is_made_where_it_pays_and_many_products_follow_and_only_there() {
        let even = MatrixShape { rows: 100_000, nnz: 5_000_000, longest_row: 100 };
        let pays = EvcHybSwitch { least_mean_row: 32, ..EvcHybSwitch::unknown() };
        let choose = |products, copy| select(&gpu(), &even, products, copy).algorithm;
        assert_eq!(choose(Products::Many, &pays), Algorithm::EvcHyb);
        assert_eq!(choose(Products::Several, &pays), Algorithm::CsrAdaptive);
        assert_eq!(choose(Products::Once, &pays), Algorithm::CsrAdaptive);
        assert_eq!(choose(Products::Many, &EvcHybSwitch::unknown()), Algorithm::CsrAdaptive);
    }
}
