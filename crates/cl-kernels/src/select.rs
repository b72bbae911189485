//! Which algorithm suits a matrix on a device: the first rule of the tables that fits, with the reason in words.

use csr_core::ValueType;

use crate::features::{Features, MatrixShape};
use crate::{Algorithm, DeviceTraits, Fit, Products, Tables, Variant};

/// An algorithm and why it was chosen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// What to run.
    pub algorithm: Algorithm,
    /// In which way, where a rule says so.
    pub variant: Option<Variant>,
    /// Hyper-parameters of the rule, over those the tables have for the algorithm.
    pub parameters: Vec<(String, u32)>,
    /// The reason, for `sparrow info --explain`.
    pub reason: String,
}

impl Choice {
    /// What was asked for by name.
    pub fn by_name(algorithm: Algorithm) -> Self {
        let reason = "asked for by name".to_owned();
        Choice { algorithm, variant: None, parameters: Vec::new(), reason }
    }
}

/// Chooses for a matrix that stores `value_type` on a device, where so many products will follow.
///
/// Rules whose algorithm cannot run on the device are left out. Where no rule fits, CSR-Adaptive takes every shape.
pub fn select(
    tables: &Tables,
    device: &DeviceTraits,
    value_type: ValueType,
    matrix: &MatrixShape,
    products: Products,
) -> Choice {
    let fit = Fit::plain(device, value_type, matrix.mean_row());
    let may = |algorithm: Algorithm| algorithm.spec().check_device(&fit).is_ok();
    select_where(tables, device, value_type, matrix, products, may)
}

/// The same, by the rules whose algorithm `may` be taken.
pub fn select_where(
    tables: &Tables,
    device: &DeviceTraits,
    value_type: ValueType,
    matrix: &MatrixShape,
    products: Products,
    may: impl Fn(Algorithm) -> bool,
) -> Choice {
    for layer in tables.layers(device) {
        let cache_bytes = tables.cache_bytes_of(&layer, device);
        let features = Features::of(matrix, value_type, device.compute_units, cache_bytes);
        for (path, found) in layer {
            let Some(rules) = found.entry.rules(value_type) else { continue };
            let mut rules = rules.of(products).filter(|rule| may(rule.algorithm));
            let Some(rule) = rules.find(|rule| rule.when.holds(&features)) else { continue };
            let when = match rule.when.is_empty() {
                true => "no rule before it fits".to_owned(),
                false => rule.when.with_figures(&features),
            };
            return Choice {
                algorithm: rule.algorithm,
                variant: rule.variant,
                parameters: rule.parameters.iter().map(|(k, &v)| (k.clone(), v)).collect(),
                reason: format!(
                    "{when} ({}, entry \"{}\", matched by {})",
                    path.display(),
                    found.entry.title(),
                    found.by
                ),
            };
        }
    }
    let reason =
        "no rule of a device table fits, and equal nonzeros a group suit every shape".to_owned();
    Choice { algorithm: Algorithm::CsrAdaptive, variant: None, parameters: Vec::new(), reason }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::tests::gpu;
    use crate::{DeviceType, parse_device_table};

    const EVEN: MatrixShape =
        MatrixShape { rows: 1000, nnz: 100_000, longest_row: 100, in_step: 100_000, changes: 0 };

    fn choose(device: &DeviceTraits, matrix: &MatrixShape, products: Products) -> Choice {
        select(&Tables::with_user(None), device, ValueType::F32, matrix, products)
    }

    #[test]
    fn an_unknown_cpu_takes_csr_pieces_and_for_many_products_a_copy_unless_a_row_must_be_cut() {
        let cpu = DeviceTraits { device_type: DeviceType::Cpu, compute_units: 2, ..gpu() };
        let skewed = MatrixShape { longest_row: 60_000, in_step: 2_000_000, ..EVEN };
        let algorithm = |device, matrix, products| choose(device, matrix, products).algorithm;
        for matrix in [&EVEN, &skewed] {
            assert_eq!(algorithm(&cpu, matrix, Products::Once), Algorithm::CsrPieces);
            assert_eq!(algorithm(&cpu, matrix, Products::Several), Algorithm::CsrPieces);
        }
        assert_eq!(algorithm(&cpu, &EVEN, Products::Many), Algorithm::Sell);
        assert_eq!(algorithm(&cpu, &skewed, Products::Many), Algorithm::CsrPieces);
        assert_eq!(algorithm(&gpu(), &EVEN, Products::Several), Algorithm::CsrFlat);
    }

    fn h200() -> DeviceTraits {
        DeviceTraits {
            name: "NVIDIA H200".to_owned(),
            platform: "NVIDIA CUDA".to_owned(),
            vendor: "NVIDIA Corporation".to_owned(),
            architecture: "sm_90".to_owned(),
            compute_units: 132,
            ..gpu()
        }
    }

    #[test]
    fn an_h200_makes_a_copy_where_it_pays_and_many_products_follow_and_only_there() {
        let h200 = h200();
        let even = MatrixShape {
            rows: 100_000,
            nnz: 5_000_000,
            longest_row: 100,
            in_step: 5_000_000,
            changes: 0,
        };
        let pays = |device: &DeviceTraits, matrix: &MatrixShape, products| {
            choose(device, matrix, products).algorithm == Algorithm::SellSigma
        };
        assert!(pays(&h200, &even, Products::Many));
        assert!(!pays(&h200, &even, Products::Several));
        assert!(!pays(&h200, &even, Products::Once));
        assert!(!pays(&gpu(), &even, Products::Many));
        let uneven = MatrixShape { longest_row: 20_000, in_step: 40_000_000, ..even };
        assert!(!pays(&h200, &uneven, Products::Many));
    }

    #[test]
    fn an_h200_gives_one_long_row_to_all_and_even_rows_in_its_cache_to_few() {
        let of = |rows, row: u64| MatrixShape {
            rows,
            nnz: rows * row,
            longest_row: row,
            in_step: rows * row,
            changes: 0,
        };
        let taken = |matrix| choose(&h200(), &matrix, Products::Several).algorithm;
        assert_eq!(taken(of(500_000, 4)), Algorithm::CsrScalar);
        assert_eq!(taken(of(5_000_000, 4)), Algorithm::CsrFlat);
        assert_eq!(taken(of(20_000, 50)), Algorithm::CsrVector);
        assert_eq!(taken(of(400_000, 50)), Algorithm::CsrFlat);
        assert_eq!(taken(of(2_000, 2_000)), Algorithm::CsrVector);
        assert_eq!(taken(of(1, 1_000_000)), Algorithm::CsrFlat);
        assert_eq!(taken(of(20, 50_000)), Algorithm::CsrFlat);
    }

    #[test]
    fn an_h200_has_teams_share_rows_of_thousands_in_a_small_matrix_and_nowhere_else() {
        let shares = |rows, row: u64| {
            let nnz = rows * row;
            let matrix = MatrixShape { rows, nnz, longest_row: row, in_step: nnz, changes: 0 };
            let parameters = choose(&h200(), &matrix, Products::Several).parameters;
            parameters.contains(&("shared_rows".to_owned(), 1))
        };
        assert!(shares(36, 17_685));
        assert!(!shares(509, 921));
        assert!(!shares(4_000, 17_685));
    }

    #[test]
    fn an_h200_takes_more_items_for_a_row_that_would_hold_a_unit_up_and_all_for_a_longer_one() {
        let of = |longest_row| MatrixShape {
            rows: 10_581,
            nnz: 770_901,
            longest_row,
            in_step: 1_150_000,
            changes: 0,
        };
        let taken = |matrix| choose(&h200(), &matrix, Products::Several);
        assert!(taken(of(200)).parameters.contains(&("items_per_row".to_owned(), 8)));
        assert!(taken(of(1_711)).parameters.contains(&("items_per_row".to_owned(), 64)));
        assert_eq!(taken(of(20_000)).algorithm, Algorithm::CsrFlat);
    }

    #[test]
    fn an_h200_gives_small_uneven_rows_to_few_items_in_f32_and_to_large_groups_in_f64() {
        let cited = MatrixShape {
            rows: 34_546,
            nnz: 421_578,
            longest_row: 411,
            in_step: 1_922_000,
            changes: 0,
        };
        let taken = |value_type| {
            let tables = Tables::with_user(None);
            select(&tables, &h200(), value_type, &cited, Products::Several)
        };
        let in_f32 = taken(ValueType::F32);
        assert_eq!(in_f32.algorithm, Algorithm::CsrVector);
        assert!(in_f32.parameters.contains(&("items_per_row".to_owned(), 16)));
        let in_f64 = taken(ValueType::F64);
        assert_eq!(in_f64.algorithm, Algorithm::CsrFlat);
        assert!(in_f64.parameters.contains(&("group_size".to_owned(), 512)));
    }

    fn cpu(platform: &str, cache_bytes: u64) -> DeviceTraits {
        let (platform, device_type) = (platform.to_owned(), DeviceType::Cpu);
        DeviceTraits { platform, device_type, compute_units: 2, cache_bytes, ..gpu() }
    }

    #[test]
    fn rows_whose_ends_are_unpredictable_go_one_by_one_on_intels_runtime_and_others_by_eight() {
        let intel = cpu("Intel(R) OpenCL", 1 << 20);
        let (rows, nnz, longest_row, in_step) = (34_546, 421_578, 411, 1_922_000);
        let (cited, in_runs) = (32_000, 9_000);
        for value_type in [ValueType::F32, ValueType::F64] {
            for (changes, lanes) in [(cited, Some(1)), (in_runs, None)] {
                let matrix = MatrixShape { rows, nnz, longest_row, in_step, changes };
                let tables = Tables::with_user(None);
                let taken = select(&tables, &intel, value_type, &matrix, Products::Several);
                assert_eq!(taken.algorithm, Algorithm::CsrPieces);
                let found = taken.parameters.iter().find(|(name, _)| name == "lanes");
                assert_eq!(found.map(|(_, lanes)| *lanes), lanes, "{value_type} {changes}");
            }
        }
    }

    #[test]
    fn pocl_takes_short_rows_side_by_side_only_where_their_ends_are_unpredictable() {
        let pocl = cpu("Portable Computing Language", 32 << 20);
        let of = |rows: u64, mean: f64, longest_row, unevenness: f64, changes: f64| {
            let nnz = (rows as f64 * mean) as u64;
            let in_step = (nnz as f64 * unevenness) as u64;
            MatrixShape { rows, nnz, longest_row, in_step, changes: (rows as f64 * changes) as u64 }
        };
        for value_type in [ValueType::F32, ValueType::F64] {
            let taken = |matrix: MatrixShape| {
                let tables = Tables::with_user(None);
                let taken = select(&tables, &pocl, value_type, &matrix, Products::Several);
                let lanes = taken.parameters.into_iter().find(|(name, _)| name == "lanes");
                (taken.algorithm, lanes.map(|(_, lanes)| lanes))
            };
            assert_eq!(taken(of(916_428, 5.6, 456, 4.8, 0.87)).0, Algorithm::CsrScalar);
            assert_eq!(taken(of(34_546, 12.2, 411, 4.6, 0.93)).0, Algorithm::CsrScalar);
            assert_eq!(taken(of(20_000, 12.2, 411, 4.6, 0.93)).0, Algorithm::CsrPieces);
            assert_eq!(taken(of(490_000, 5.0, 5, 1.0, 0.0)), (Algorithm::CsrPieces, Some(4)));
            assert_eq!(taken(of(17_758, 7.1, 574, 2.3, 0.69)), (Algorithm::CsrPieces, Some(4)));
            assert_eq!(taken(of(269_938, 28.9, 120, 1.2, 0.2)), (Algorithm::CsrPieces, None));
        }
    }

    #[test]
    fn shipped_rules_go_by_the_cache_they_were_fitted_to_whatever_was_measured_since() {
        let text = "format = 2\n[[device]]\nname = \"NVIDIA H200\"\norigin = \"a probe\"\ncache_bytes = 1000\n\
                    [[device.choice.f64.several]]\nwhen = \"cache_share >= 100\"\nalgorithm = \"csr_vector\"\n";
        let (table, problems) = parse_device_table(Path::new("mine.toml"), text);
        assert_eq!(problems, []);
        let tables = Tables::with_user(Some(("mine.toml".into(), table)));
        let found = |value_type| select(&tables, &h200(), value_type, &EVEN, Products::Several);
        let shipped = select(&Tables::untuned(), &h200(), ValueType::F32, &EVEN, Products::Several);
        assert_eq!(found(ValueType::F32), shipped);
        assert_eq!(found(ValueType::F64).algorithm, Algorithm::CsrVector);
        assert!(found(ValueType::F64).reason.contains("mine.toml"));
    }

    #[test]
    fn a_rule_brings_variant_and_parameters_and_says_what_it_saw() {
        let text = "format = 2\n[[device]]\ntype = \"gpu\"\norigin = \"mine\"\n\
                    [[device.choice.f32.several]]\nwhen = \"mean_row >= 200\"\nalgorithm = \"csr_scalar\"\n\
                    [[device.choice.f32.several]]\nwhen = \"mean_row >= 12\"\n\
                    algorithm = \"segmented_sum\"\nvariant = \"device\"\nparameters = { nnz_per_item = 4 }\n";
        let (table, problems) = parse_device_table(Path::new("mine.toml"), text);
        assert_eq!(problems, []);
        let tables = Tables::with_user(Some(("mine.toml".into(), table)));
        for value_type in [ValueType::F32, ValueType::F16] {
            let found = select(&tables, &gpu(), value_type, &EVEN, Products::Once);
            let parameters = vec![("nnz_per_item".to_owned(), 4)];
            assert_eq!((found.variant, found.parameters), (Some(Variant::Device), parameters));
            assert_eq!(
                found.reason,
                "mean_row 100 >= 12 (mine.toml, entry \"gpu\", matched by type)"
            );
        }
        // The shipped rules follow where none of the user's fits.
        let found = select(&tables, &gpu(), ValueType::F64, &EVEN, Products::Once);
        assert_eq!(found.algorithm, Algorithm::CsrFlat);
    }
}
