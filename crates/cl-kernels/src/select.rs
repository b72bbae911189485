//! Which algorithm suits a matrix on a device, with the reason in words: by the first rule of the tables that fits, or by
//! the cost model of the first entry that has its numbers.

use csr_core::{ValueCoding, ValueType};

use crate::estimates::Estimator;
use crate::features::{Features, MatrixShape, figure};
use crate::{Algorithm, Choice, DeviceTraits, Estimate, Fit, Reuse, Tables};

/// Chooses for a matrix that stores `value_type` on a device, where so many products will follow.
///
/// Rules whose algorithm cannot run on the device are left out. Where no rule fits, CSR-Adaptive takes every shape.
pub fn select(
    tables: &Tables,
    device: &DeviceTraits,
    value_type: ValueType,
    matrix: &MatrixShape,
    products: Reuse,
) -> Choice {
    let fit = Fit::plain(device, value_type, matrix.mean_row());
    let may = |algorithm: Algorithm| algorithm.spec().check_device(&fit).is_ok();
    select_where(tables, &fit, matrix, products, may)
}

/// The same, of the algorithms that `may` be taken, where kernels are fitted to `fit`.
pub fn select_where(
    tables: &Tables,
    fit: &Fit<'_>,
    matrix: &MatrixShape,
    products: Reuse,
    may: impl Fn(Algorithm) -> bool,
) -> Choice {
    select_saying_how(tables, fit, matrix, products, may).0
}

/// As [`select_where`], and whether a rule of the tables chose, and not the cost model.
pub fn select_saying_how(
    tables: &Tables,
    fit: &Fit<'_>,
    matrix: &MatrixShape,
    products: Reuse,
    may: impl Fn(Algorithm) -> bool,
) -> (Choice, bool) {
    let Fit { device, value_type, .. } = *fit;
    for layer in tables.layers(device) {
        let cache_bytes = tables.cache_bytes_of(&layer, device);
        let features = Features::of(matrix, value_type, device.compute_units, cache_bytes);
        for (path, found) in layer {
            let of_entry = |reason: String| {
                let title = found.entry.title();
                format!("{reason} ({}, entry \"{title}\", matched by {})", path.display(), found.by)
            };
            let model = found.entry.model(value_type);
            // Rules for some tens of products count for others where there is nothing better.
            let rules = found.entry.rules(value_type).into_iter().flat_map(|rules| {
                let of_several = if model.is_some() { &[] } else { rules.after(products) };
                rules.own(products).iter().chain(of_several)
            });
            let mut rules = rules.into_iter();
            if let Some(rule) = rules.find(|rule| may(rule.algorithm) && rule.when.holds(&features))
            {
                let when = match rule.when.is_empty() {
                    true => "no rule before it fits".to_owned(),
                    false => rule.when.with_figures(&features),
                };
                let choice = Choice {
                    algorithm: rule.algorithm,
                    variant: rule.variant,
                    parameters: rule.parameters.iter().map(|(k, &v)| (k.clone(), v)).collect(),
                    reason: of_entry(when),
                };
                return (choice, true);
            }
            let Some(numbers) = model else { continue };
            // Nothing is known of values here.
            let coding = ValueCoding::AsTheyAre;
            let estimator = Estimator { tables, fit, matrix, cache_bytes, numbers, coding };
            if let [best, rest @ ..] = &estimator.estimates(products, &may)[..] {
                let us = |estimate: &Estimate| figure(estimate.cost.total_ns(products) / 1e3);
                let others = rest.first().map(|next| format!(", {} for {next}", us(next)));
                let reason =
                    format!("the cost model expects {} µs{}", us(best), others.unwrap_or_default());
                return (Choice::of_estimate(best, of_entry(reason)), false);
            }
        }
    }
    let reason =
        "no rule of a device table fits, and equal nonzeros a group suit every shape".to_owned();
    let algorithm = Algorithm::CsrAdaptive;
    (Choice { algorithm, variant: None, parameters: Vec::new(), reason }, false)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::tests::gpu;
    use crate::{DeviceType, Variant, parse_device_table};

    const EVEN: MatrixShape =
        MatrixShape { rows: 1000, nnz: 100_000, longest_row: 100, in_step: 100_000, changes: 0 };

    fn choose(device: &DeviceTraits, matrix: &MatrixShape, products: Reuse) -> Choice {
        select(&Tables::with_user(None), device, ValueType::F32, matrix, products)
    }

    #[test]
    fn an_unknown_cpu_takes_csr_pieces_and_for_many_products_a_copy_unless_a_row_must_be_cut() {
        let cpu = DeviceTraits { device_type: DeviceType::Cpu, compute_units: 2, ..gpu() };
        let skewed = MatrixShape { longest_row: 60_000, in_step: 2_000_000, ..EVEN };
        let algorithm = |device, matrix, products| choose(device, matrix, products).algorithm;
        for matrix in [&EVEN, &skewed] {
            assert_eq!(algorithm(&cpu, matrix, Reuse::Once), Algorithm::CsrPieces);
            assert_eq!(algorithm(&cpu, matrix, Reuse::Several), Algorithm::CsrPieces);
        }
        assert_eq!(algorithm(&cpu, &EVEN, Reuse::Many), Algorithm::Sell);
        assert_eq!(algorithm(&cpu, &skewed, Reuse::Many), Algorithm::CsrPieces);
        assert_eq!(algorithm(&gpu(), &EVEN, Reuse::Several), Algorithm::CsrFlat);
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

    fn rows_of(rows: u64, row: u64) -> MatrixShape {
        MatrixShape { rows, nnz: rows * row, longest_row: row, in_step: rows * row, changes: 0 }
    }

    #[test]
    fn an_h200_makes_a_copy_where_it_pays_and_many_products_follow_and_only_there() {
        let even = rows_of(100_000, 50);
        let pays = |device: &DeviceTraits, matrix: &MatrixShape, products| {
            choose(device, matrix, products).algorithm == Algorithm::SellSigma
        };
        assert!(pays(&h200(), &even, Reuse::Many));
        assert!(!pays(&h200(), &even, Reuse::Several));
        assert!(!pays(&h200(), &even, Reuse::Once));
        assert!(!pays(&gpu(), &even, Reuse::Many));
        assert!(!pays(&h200(), &rows_of(10_000_000, 2), Reuse::Many));
    }

    #[test]
    fn an_h200_gives_one_long_row_to_all_and_rows_in_its_cache_to_few() {
        let taken = |matrix| choose(&h200(), &matrix, Reuse::Several).algorithm;
        assert_eq!(taken(rows_of(400_000, 4)), Algorithm::CsrScalar);
        assert_eq!(taken(rows_of(5_000_000, 4)), Algorithm::CsrFlat);
        assert_eq!(taken(rows_of(20_000, 50)), Algorithm::CsrVector);
        assert_eq!(taken(rows_of(400_000, 50)), Algorithm::CsrFlat);
        assert_eq!(taken(rows_of(2_000, 2_000)), Algorithm::CsrVector);
        assert_eq!(taken(rows_of(1, 1_000_000)), Algorithm::CsrFlat);
        assert_eq!(taken(rows_of(20, 50_000)), Algorithm::CsrFlat);
    }

    #[test]
    fn one_long_row_among_short_even_ones_is_not_left_to_an_item() {
        // A network of resistors with one supply rail: 131 times as slow by an item a row.
        let network = MatrixShape {
            rows: 160_002,
            nnz: 919_222,
            longest_row: 40_218,
            in_step: 1_140_000,
            changes: 73_000,
        };
        for products in Reuse::ALL {
            let taken = choose(&h200(), &network, products).algorithm;
            assert!(
                ![Algorithm::CsrScalar, Algorithm::CsrVector].contains(&taken),
                "{products}: {taken}"
            );
        }
    }

    #[test]
    fn a_users_rule_goes_before_the_model_and_so_does_one_of_a_stronger_entry() {
        let entry = |matched: &str| {
            let text = format!(
                "format = 2\n[[device]]\n{matched}\norigin = \"mine\"\n\
                 [[device.choice.f32.several]]\nwhen = \"mean_row < 90\"\nalgorithm = \"csr_adaptive\"\n"
            );
            let (table, problems) = parse_device_table(Path::new("mine.toml"), &text);
            assert_eq!(problems, []);
            Tables::with_user(Some(("mine.toml".into(), table)))
        };
        for matched in ["name = \"NVIDIA H200\"", "type = \"gpu\""] {
            let taken = |matrix, products| {
                let tables = entry(matched);
                select(&tables, &h200(), ValueType::F32, &matrix, products)
            };
            for products in Reuse::ALL {
                assert_eq!(taken(rows_of(20_000, 50), products).algorithm, Algorithm::CsrAdaptive);
            }
            let by_model = taken(rows_of(20_000, 100), Reuse::Once);
            assert!(by_model.reason.starts_with("the cost model expects"), "{}", by_model.reason);
            assert!(by_model.reason.contains("entry \"sm_90\""), "{}", by_model.reason);
        }
    }

    #[test]
    fn in_an_entry_with_a_model_rules_for_some_tens_of_products_are_for_those_alone() {
        let text = |model: &str| {
            format!(
                "format = 2\n[[device]]\ntype = \"gpu\"\norigin = \"mine\"\n{model}\
                 [[device.choice.f32.several]]\nalgorithm = \"csr_adaptive\"\n"
            )
        };
        let numbers = "[device.model.f32]\nlaunch = 9000\nlatency = 3000\ncached_kb = 0.2\nmemory_kb = 0.2\n\
                       nonzero = 0.3\nitem = 1.5\ngather = 0\nrow = 800\nstep = 500\nline = 10\nchain = 80\n\
                       copied = 0.3\n";
        let taken = |model: &str, products| {
            let (table, problems) = parse_device_table(Path::new("mine.toml"), &text(model));
            assert_eq!(problems, []);
            let tables = Tables::with_user(Some(("mine.toml".into(), table)));
            select(&tables, &gpu(), ValueType::F32, &rows_of(20_000, 50), products).algorithm
        };
        for products in Reuse::ALL {
            assert_eq!(taken("", products), Algorithm::CsrAdaptive);
            let is_several = products == Reuse::Several;
            assert_eq!(taken(numbers, products) == Algorithm::CsrAdaptive, is_several);
        }
    }

    fn cpu(platform: &str, cache_bytes: u64) -> DeviceTraits {
        let (platform, device_type) = (platform.to_owned(), DeviceType::Cpu);
        DeviceTraits { platform, device_type, compute_units: 2, cache_bytes, ..gpu() }
    }

    /// Rows, their mean and their longest, and the share of them that is longer or shorter than the row before.
    fn uneven(rows: u64, mean: f64, longest_row: u64, changes: f64) -> MatrixShape {
        let (nnz, changes) = ((rows as f64 * mean) as u64, (rows as f64 * changes) as u64);
        MatrixShape {
            rows,
            nnz,
            longest_row,
            in_step: if changes == 0 { nnz } else { 3 * nnz },
            changes,
        }
    }

    #[test]
    fn ends_of_rows_are_masked_on_cpus_but_where_a_processor_foresees_them() {
        let of = |platform: &str, value_type, matrix: &MatrixShape| {
            let tables = Tables::with_user(None);
            let device = cpu(platform, 32 << 20);
            let taken = select(&tables, &device, value_type, matrix, Reuse::Several);
            (taken.algorithm, taken.parameters)
        };
        let (chunked, scalar) = (Algorithm::CsrPieces, Algorithm::CsrScalar);
        let plain = |lanes| vec![("lanes".to_owned(), lanes), ("masks_ends".to_owned(), 0)];
        let (intel, pocl) = ("Intel(R) OpenCL", "Portable Computing Language");
        for value_type in [ValueType::F32, ValueType::F64] {
            for platform in [intel, pocl] {
                let taken = |matrix| of(platform, value_type, &matrix);
                assert_eq!(taken(uneven(916_428, 5.6, 456, 0.87)), (chunked, vec![]));
                // Most fit sixteen lanes; a large matrix waits for its memory.
                let sixteen = vec![("lanes".to_owned(), 16)];
                assert_eq!(taken(uneven(34_546, 12.2, 411, 0.93)), (chunked, sixteen));
                assert_eq!(taken(uneven(940_000, 12.2, 411, 0.93)), (chunked, vec![]));
                assert_eq!(taken(uneven(490_000, 8.0, 9, 0.2)), (chunked, plain(4)));
            }
            let long = uneven(269_938, 28.9, 120, 0.2);
            assert_eq!(of(intel, value_type, &long), (chunked, vec![]));
            let without = vec![("masks_ends".to_owned(), 0)];
            assert_eq!(of(pocl, value_type, &long), (chunked, without));
            let short = uneven(490_000, 4.0, 4, 0.0);
            assert_eq!(of(intel, value_type, &short), (chunked, plain(1)));
            assert_eq!(of(pocl, value_type, &short).0, scalar);
            // A row that one unit would take longer over than over all others.
            let giant = uneven(490_000, 4.0, 1_200_000, 0.2);
            assert_eq!(of(intel, value_type, &giant), (chunked, plain(4)));
            assert_eq!(of(pocl, value_type, &giant), (chunked, plain(4)));
        }
    }

    #[test]
    fn cpus_copy_no_matrix_whose_rows_differ_from_their_neighbours() {
        for platform in ["Intel(R) OpenCL", "Portable Computing Language", "of another vendor"] {
            let taken = |changes, in_step| {
                let matrix = MatrixShape { in_step, ..uneven(916_428, 12.2, 456, changes) };
                choose(&cpu(platform, 32 << 20), &matrix, Reuse::Many).algorithm
            };
            assert_eq!(taken(0.3, 40_000_000), Algorithm::Sell);
            assert_eq!(taken(0.9, 12_000_000), Algorithm::Sell);
            assert_eq!(taken(0.9, 40_000_000), Algorithm::CsrPieces);
        }
    }

    #[test]
    fn shipped_rules_go_by_the_cache_they_were_fitted_to_whatever_was_measured_since() {
        let text = "format = 2\n[[device]]\nname = \"NVIDIA H200\"\norigin = \"a probe\"\ncache_bytes = 1000\n\
                    [[device.choice.f64.several]]\nwhen = \"cache_share >= 100\"\nalgorithm = \"csr_vector\"\n";
        let (table, problems) = parse_device_table(Path::new("mine.toml"), text);
        assert_eq!(problems, []);
        let tables = Tables::with_user(Some(("mine.toml".into(), table)));
        let found = |value_type| select(&tables, &h200(), value_type, &EVEN, Reuse::Several);
        let shipped = select(&Tables::untuned(), &h200(), ValueType::F32, &EVEN, Reuse::Several);
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
            let found = select(&tables, &gpu(), value_type, &EVEN, Reuse::Once);
            let parameters = vec![("nnz_per_item".to_owned(), 4)];
            assert_eq!((found.variant, found.parameters), (Some(Variant::Device), parameters));
            assert_eq!(
                found.reason,
                "mean_row 100 >= 12 (mine.toml, entry \"gpu\", matched by type)"
            );
        }
        // The shipped rules follow where none of the user's fits.
        let found = select(&tables, &gpu(), ValueType::F64, &EVEN, Reuse::Once);
        assert_eq!(found.algorithm, Algorithm::CsrFlat);
    }
}
