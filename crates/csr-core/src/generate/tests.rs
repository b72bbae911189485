//! Claims about every class at once: what the suite promises, at small scales and, where cheap, in full.

use rayon::ThreadPoolBuilder;

use super::*;
use crate::{CsrPattern, RowStatistics};
use columns::Placement;

/// A scale at which a class has at least 2000 rows where it has as many, but few nonzeros.
fn small_scale(class: Class) -> f64 {
    match class.0 {
        Kind::Problem(problem) => 2_000.0 / problem.base_rows() as f64,
        Kind::Likeness(index) => (3_000.0 / LIKENESSES[index].rows as f64).min(1.0) / 2.0,
    }
}

fn generate(name: &str, scale: f64) -> Csr<f32, u32> {
    name.parse::<Class>().unwrap().generate(scale, DEFAULT_SEED).unwrap()
}

fn statistics(matrix: &Csr<f32, u32>) -> RowStatistics {
    RowStatistics::of(matrix.view().pattern())
}

/// Relative distance of `found` from `wanted`.
fn off(found: f64, wanted: f64) -> f64 {
    (found / wanted - 1.0).abs()
}

#[test]
fn every_class_at_a_small_scale_has_distinct_ascending_columns_and_sane_values() {
    for class in Class::all() {
        let matrix: Csr<f32, u64> = class.generate(small_scale(class), 3).unwrap();
        let (pattern, values) = matrix.clone().into_parts();
        let cols = pattern.cols();
        let (offsets, columns) = pattern.into_arrays();
        CsrPattern::new(cols, offsets, columns).unwrap();
        assert!(matrix.nnz() > 0, "{class}");
        for row in 0..matrix.rows() {
            let (columns, _) = matrix.view().row(row);
            assert!(columns.is_sorted_by(|a, b| a < b), "{class}, row {row}");
        }
        if class.likeness().is_some() {
            assert!(values.iter().all(|v| (0.0625..=1.0).contains(&v.abs())), "{class}");
        }
        assert!(values.iter().all(|value| value.is_finite()), "{class}");
    }
}

#[test]
fn every_likeness_at_a_small_scale_keeps_its_mean_and_its_shortest_row() {
    for likeness in LIKENESSES {
        let scale = small_scale(likeness.name.parse().unwrap());
        let found = statistics(&generate(likeness.name, scale));
        let (rows, cols, shape) = likeness.scaled(scale);
        let name = likeness.name;
        assert_eq!((found.rows, found.cols), (rows, cols), "{name}");
        assert!(off(rows as f64, likeness.rows as f64 * scale) < 0.02, "{name}: {rows} rows");
        assert!(off(found.mean, shape.nnz as f64 / rows as f64) < 0.02, "{name}: {found:?}");
        assert_eq!(found.shortest, shape.shortest as usize, "{name}");
        assert_eq!(found.longest, shape.longest as usize, "{name}");
    }
}

#[test]
fn the_table_promises_what_its_lengths_can_hold_at_full_size() {
    // Lengths only, without columns: cheap even for the largest. The full matrices are tested below.
    for likeness in LIKENESSES.iter().filter(|l| l.rows < 700_000) {
        let (rows, cols, shape) = likeness.scaled(1.0);
        assert_eq!((rows, cols), (likeness.rows, likeness.cols), "{}", likeness.name);
        if !matches!(likeness.placement, Placement::Near { .. }) {
            continue;
        }
        let lengths = lengths::RowLengths::new(&shape, 1);
        let all: Vec<usize> = (0..rows).map(|row| lengths.of(row)).collect();
        let nnz: usize = all.iter().sum();
        assert!(off(nnz as f64, likeness.nnz as f64) < 0.02, "{}: {nnz}", likeness.name);
        assert_eq!(all.iter().min(), Some(&(likeness.shortest as usize)), "{}", likeness.name);
        assert_eq!(all.iter().max(), Some(&(likeness.longest as usize)), "{}", likeness.name);
    }
}

#[test]
fn cheap_classes_at_full_size_are_what_the_suite_says() {
    let promised = [
        ("mac_econ_fwd500", 206_500, 206_500, 1_273_389, 1, 44),
        ("mc2depi", 525_825, 525_825, 2_100_225, 2, 4),
        ("scircuit", 170_998, 170_998, 958_936, 1, 353),
        ("dc2", 116_835, 116_835, 766_396, 1, 114_190),
        ("boyd2", 466_316, 466_316, 1_500_397, 2, 93_262),
        ("raefsky3", 21_200, 21_200, 1_488_768, 32, 80),
        ("qcd5_4", 49_152, 49_152, 1_916_928, 39, 39),
        ("Stanford", 281_903, 281_903, 2_312_497, 0, 255),
    ];
    for (name, rows, cols, nnz, shortest, longest) in promised {
        let found = statistics(&generate(name, 1.0));
        assert_eq!((found.rows, found.cols), (rows, cols), "{name}");
        assert!(off(found.nnz as f64, nnz as f64) < 0.02, "{name}: {}", found.nnz);
        assert!(off(found.mean, nnz as f64 / rows as f64) < 0.02, "{name}: {}", found.mean);
        assert_eq!((found.shortest, found.longest), (shortest, longest), "{name}");
    }
}

#[test]
fn tails_hold_the_share_of_nonzeros_that_the_suite_names() {
    for (name, share) in [("pre2", 0.08), ("Stanford_Berkeley", 0.53), ("RM07R", 0.36)] {
        let found = statistics(&generate(name, 0.05));
        assert!((found.long_row_share - share).abs() < 0.01, "{name}: {}", found.long_row_share);
    }
}

#[test]
fn giant_rows_are_as_many_as_the_suite_names_and_grow_with_the_columns() {
    let named = [
        ("circuit5M", 4),
        ("mip1", 3),
        ("ASIC_680k", 3),
        ("dc2", 2),
        ("dc1", 2),
        ("FullChip", 3),
        ("ins2", 1),
        ("rajat21", 3),
        ("boyd2", 3),
        ("transient", 3),
    ];
    for (name, giants) in named {
        let (scale, class) = (0.05, name.parse::<Class>().unwrap());
        let likeness = class.likeness().unwrap();
        let matrix = generate(name, scale);
        let pattern = matrix.view().pattern();
        let mut lengths: Vec<usize> = (0..matrix.rows()).map(|row| pattern.row_len(row)).collect();
        lengths.sort_unstable_by(|a, b| b.cmp(a));
        assert!(off(lengths[0] as f64, f64::from(likeness.longest) * scale) < 0.01, "{name}");
        // The body ends well below the last giant, which is at least an eighth of the first.
        assert!(8 * lengths[giants - 1] >= lengths[0], "{name}: {:?}", &lengths[..6]);
        assert!(2 * lengths[giants] < lengths[giants - 1], "{name}: {:?}", &lengths[..6]);
    }
}

#[test]
fn rows_of_one_node_share_their_columns_in_runs() {
    for (name, run) in [("pwtk", 6), ("raefsky3", 8), ("TSOPF_RS_b2383", 40), ("cant", 3)] {
        let matrix = generate(name, 0.05);
        for row in 0..matrix.rows() {
            let (columns, _) = matrix.view().row(row);
            assert_eq!(columns, matrix.view().row(row / run * run).0, "{name}, row {row}");
            for columns in columns.chunks(run) {
                let first = columns[0] as usize;
                assert!(first.is_multiple_of(run), "{name}, row {row}: {columns:?}");
                assert_eq!(columns[columns.len() - 1] as usize, first + columns.len() - 1);
            }
        }
    }
}

#[test]
fn band_classes_stay_within_their_band() {
    for (name, band) in [("pwtk", 600), ("rma10", 1_000), ("rajat31", 3_000), ("cage14", 50_000)] {
        let scale = if name == "cage14" { 0.08 } else { 0.1 };
        let matrix = generate(name, scale);
        let run = if name == "pwtk" { 6 } else { 3 };
        for row in 0..matrix.rows() {
            let node = if name == "pwtk" || name == "rma10" { row / run * run } else { row };
            for &column in matrix.view().row(row).0 {
                assert!(node.abs_diff(column as usize) <= band, "{name}, {row}, {column}");
            }
        }
    }
}

#[test]
fn a_matrix_depends_on_class_and_seed_but_not_on_threads() {
    for class in Class::all() {
        let scale = small_scale(class);
        let on = |threads, seed| {
            let pool = ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| class.generate::<f64, u32>(scale, seed)).unwrap()
        };
        let matrix = on(1, 1);
        assert_eq!(matrix, on(2, 1), "{class}");
        assert_eq!(matrix, class.generate(scale, 1).unwrap(), "{class}");
        let has_chance = match class.0 {
            Kind::Problem(problem) => {
                matches!(problem, Problem::Rmat | Problem::Resistor | Problem::SetCover)
            }
            Kind::Likeness(_) => true,
        };
        assert_eq!(matrix != on(2, 2), has_chance, "{class}");
    }
    assert_ne!(generate("dc1", 0.01), generate("dc2", 0.01));
}

#[test]
fn tiny_and_large_scales_stay_within_the_columns() {
    for class in Class::all() {
        for scale in [1e-9, 1e-5, 1e-4, 1e-3] {
            let matrix: Csr<f32, u32> = class.generate(scale, 1).unwrap();
            assert!(matrix.rows() > 0 && matrix.nnz() <= matrix.rows() * matrix.cols());
        }
    }
    let twice = statistics(&generate("dc2", 2.0));
    assert_eq!((twice.rows, twice.longest), (233_670, 228_380));
    assert!(off(twice.nnz as f64, 2.0 * 766_396.0) < 0.02);
    let dense = generate("dense2", 0.1);
    assert_eq!((dense.rows(), dense.cols(), dense.nnz()), (200, 200, 40_000));
}

#[test]
fn sizes_and_scales_beyond_the_types_are_refused() {
    let refusal = |name: &str, scale| {
        let class: Class = name.parse().unwrap();
        class.generate::<f32, u32>(scale, 1).unwrap_err().to_string()
    };
    assert_eq!(
        refusal("dense2", 33.0),
        "the number of nonzeros is 4356000000, above the limit of 4294967295"
    );
    assert_eq!(
        refusal("poisson5", 1e6),
        "the number of rows is 490000000000, above the limit of 4294967295"
    );
    for scale in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let text = format!("the scale is {scale} where a positive number is needed");
        assert_eq!(refusal("pwtk", scale), text);
    }
}

#[test]
fn names_parse_in_any_case_with_and_without_like_and_wrong_ones_are_told_the_nearest() {
    for class in Class::all() {
        assert_eq!(class.name().parse::<Class>().unwrap(), class);
        assert_eq!(class.display_name().parse::<Class>().unwrap(), class);
        assert_eq!(class.display_name().to_uppercase().parse::<Class>().unwrap(), class);
        assert!(!class.description().is_empty());
    }
    let shown = |name: &str| name.parse::<Class>().unwrap().display_name();
    assert_eq!(shown("pwtk-like"), "pwtk-like");
    assert_eq!(shown("elasticity"), "elasticity");
    assert_eq!(shown("uniform16"), "uniform16");
    assert_eq!(
        "poison5".parse::<Class>().unwrap_err().to_string(),
        "no matrix class is called \"poison5\"; the nearest are poisson5, poisson7, poisson9"
    );
    assert!("elasticity-like".parse::<Class>().is_err());
    let names: std::collections::HashSet<_> = Class::all().map(Class::name).collect();
    assert_eq!(names.len(), 56);
}

#[test]
fn suites_hold_what_their_names_say() {
    let quick = Suite::Quick.classes();
    assert_eq!(quick.len(), 12);
    for class in quick {
        let matrix: Csr<f32, u32> = class.generate(1.0, DEFAULT_SEED).unwrap();
        assert!(matrix.nnz() < 3_000_000, "{class}: {}", matrix.nnz());
    }
    let papers = Suite::Papers.classes();
    assert_eq!(papers.len(), 46);
    assert!(papers.iter().all(|class| class.display_name().ends_with("-like")));
    assert_eq!(Suite::Hetero.classes().len(), 20);
    assert_eq!(Suite::CsrAdaptive.classes().len(), 32);
    let evc_hyb = Suite::EvcHyb.classes();
    assert_eq!(evc_hyb.len(), 22);
    assert!(evc_hyb.iter().all(|class| class.description().contains("EVC-HYB")));
    assert_eq!(Suite::Full.classes().len(), 56);
    assert_eq!("papers".parse(), Ok(Suite::Papers));
    let refusal = "all".parse::<Suite>().unwrap_err();
    assert_eq!(
        refusal,
        "suite \"all\" is none of quick, hetero, evc-hyb, csr-adaptive, papers, full"
    );
}

#[test]
fn a_matrix_that_no_memory_holds_is_refused() {
    let class: Class = "pwtk".parse().unwrap();
    let refused = class.generate::<f64, u64>(15_000.0, 1).unwrap_err().to_string();
    assert!(refused.starts_with("no memory for the values: "), "{refused}");
}
