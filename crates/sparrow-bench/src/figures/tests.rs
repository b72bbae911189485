//! Figures on records that are made up.

use super::*;
use crate::samples::{failed, model_sample, sample};

/// A result of a variant in some microseconds.
fn timed(matrix: &str, algorithm: &str, variant: &str, us: f64) -> Record {
    let mut record = sample(matrix, algorithm);
    record.variant = variant.to_owned();
    record.median_us = Some(us);
    record.gflops = Some(2.0 * record.nnz as f64 / us / 1e3);
    record
}

fn figure(name: &str) -> &'static PaperFigure {
    PaperFigure::named(name).unwrap()
}

fn values(picture: &Picture, series: usize) -> Vec<Option<f64>> {
    picture.series[series].points.iter().map(|(_, value)| *value).collect()
}

fn names(picture: &Picture) -> &[String] {
    match &picture.across {
        Across::Blocks { names, .. } => names,
        other => panic!("{other:?}"),
    }
}

#[test]
fn figures_have_names_of_their_own_that_scripts_can_write() {
    let mut all: Vec<&str> = PAPER_FIGURES.iter().map(|figure| figure.name).collect();
    assert!(
        all.iter()
            .all(|n| n.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-'))
    );
    let count = all.len();
    all.sort_unstable();
    all.dedup();
    assert_eq!(all.len(), count);
}

/// A scale, --value-type and named matrices change all three.
#[test]
fn titles_promise_no_number_of_matrices_or_problems_and_no_measured_value_type() {
    for figure in PAPER_FIGURES {
        let what = figure.title.split(" (").next().unwrap();
        for word in ["twelve", "32", "10,000", "f64", "Stanford"] {
            assert!(!what.contains(word), "{}: {word}", figure.title);
        }
    }
}

#[test]
fn programs_that_take_long_to_build_are_expected_to() {
    let programs = |name, is_first| figure(name).measured.work(1000, 2, is_first).programs;
    // Five methods and the host's product; CSR-Adaptive's counts twice, two of the segmented sum seven times.
    assert_eq!(programs("segmented-sum-4", true), 2 * (6 + 1 + 2 * 6));
    assert_eq!(programs("segmented-sum-4", false), 0);
    assert_eq!(programs("evc-hyb-5", true), 2 * 4);
}

#[test]
fn steps_are_compared_with_the_one_before_and_their_means_with_all_matrices() {
    let steps = ["baseline", "nrs", "nrs-log", "full"];
    let of = |matrix: &str, us: [f64; 4]| {
        steps.iter().zip(us).map(|(v, us)| timed(matrix, "csr_adaptive", v, us)).collect::<Vec<_>>()
    };
    let mut records = of("a", [8.0, 8.0, 4.0, 2.0]);
    records.extend(of("b", [8.0, 2.0, 2.0, 0.25]));
    let pictures = figure("csr-adaptive-10").pictures(&records);
    assert_eq!(pictures.len(), 1);
    assert_eq!(names(&pictures[0]), ["a", "b", "arithmetic mean", "geometric mean"]);
    assert_eq!(values(&pictures[0], 0), [1.0, 4.0, 2.5, 2.0].map(Some));
    assert_eq!(values(&pictures[0], 2)[..3], [2.0, 8.0, 5.0].map(Some));
    assert_eq!(values(&pictures[0], 3)[..2], [4.0, 32.0].map(Some));
    // A step that is wrong on a matrix has no gain there, and no mean.
    let mut wrong = failed("b", "csr_adaptive");
    wrong.variant = "nrs".to_owned();
    records[5] = wrong;
    let pictures = figure("csr-adaptive-10").pictures(&records);
    assert_eq!(values(&pictures[0], 0), [Some(1.0), None, None, None]);
    assert_eq!(values(&pictures[0], 2)[2], Some(5.0));
}

#[test]
fn the_upper_bound_on_bandwidth_counts_x_for_each_nonzero() {
    let mut record = timed("a", "csr_adaptive", "full", 100.0);
    (record.rows, record.cols, record.nnz) = (10, 10, 1000);
    let pictures = figure("csr-adaptive-14").pictures(std::slice::from_ref(&record));
    // 11 offsets and 1,000 columns of 4 bytes; 1,000 values, 1,000 loads of x and 10 of y of 8.
    let upper = (1011.0 * 4.0 + 2010.0 * 8.0) / 100e3;
    assert_eq!(values(&pictures[0], 0), [record.gbytes_per_s]);
    assert_eq!(values(&pictures[0], 1), [Some(upper)]);
    assert_eq!(pictures[0].levels, [400.0]);
}

#[test]
fn throughput_ends_with_harmonic_means_and_the_hosts_product_stands_next_to_the_devices() {
    let mut records = Vec::new();
    for (matrix, gflops) in [("a", 2.0), ("b", 6.0)] {
        for (algorithm, variant) in [("host", ""), ("segmented_sum", "fused")] {
            let mut record = timed(matrix, algorithm, variant, 1.0);
            record.gflops = Some(gflops);
            if algorithm == "host" {
                record.device = "host".to_owned();
            }
            records.push(record);
        }
    }
    let pictures = figure("segmented-sum-4").pictures(&records);
    assert_eq!(names(&pictures[0]), ["a", "b", "harmonic mean, 2"]);
    assert_eq!(values(&pictures[0], 0), [2.0, 6.0, 3.0].map(Some));
    assert_eq!(values(&pictures[0], 5), [2.0, 6.0, 3.0].map(Some));
    assert_eq!(values(&pictures[0], 1), [None; 3]);
    let point = &figure("segmented-sum-4").points(&records)[2];
    assert_eq!((point.at.as_str(), point.series.as_str()), ("harmonic mean, 2", "host"));
    assert_eq!((point.value, point.device.as_str()), (Some(3.0), "Example GPU"));
}

#[test]
fn speed_ups_of_evc_hyb_are_over_the_better_format_which_is_named() {
    let of = |matrix: &str, us: [f64; 3]| {
        [("evc_hyb", "hybrid"), ("csr_vector", ""), ("hyb", "")]
            .iter()
            .zip(us)
            .map(|((algorithm, variant), us)| timed(matrix, algorithm, variant, us))
            .collect::<Vec<_>>()
    };
    let mut records = of("a", [2.0, 4.0, 6.0]);
    records.extend(of("b", [2.0, 4.0, 1.0]));
    let pictures = figure("evc-hyb-3").pictures(&records);
    assert_eq!(names(&pictures[0]), ["CSR, a", "HYB, b"]);
    assert_eq!(values(&pictures[0], 0), [2.0, 0.5].map(Some));
}

#[test]
fn parts_are_summed_over_the_whole_time() {
    let mut record = model_sample("m", "evc_hyb");
    record.variant = "hybrid".to_owned();
    if let crate::Details::Spmv(details) = &mut record.details {
        details.evc_hyb = Some(crate::EvcHybRecord {
            vector_order: "permuted".to_owned(),
            split_row: 0,
            short_elements: 0,
            long_elements: 0,
            padding_percent: 0.0,
        });
    }
    // 120 + 100 - 40 of 200.5 microseconds.
    let pictures = figure("evc-hyb-12").pictures(std::slice::from_ref(&record));
    assert_eq!(values(&pictures[0], 0), [Some(180.0 / 200.5)]);
    // T_A, T_X and T_Y are 80, 60 and 40 of those.
    let shares = &figure("evc-hyb-13").pictures(std::slice::from_ref(&record))[0];
    let share = |part| values(shares, part)[0].unwrap();
    assert!((share(0) - 800.0 / 18.0).abs() < 1e-9 && (share(2) - 400.0 / 18.0).abs() < 1e-9);
    let balance = &figure("evc-hyb-10").pictures(&[record])[0];
    assert_eq!([values(balance, 0), values(balance, 1)], [[Some(7.6)], [Some(0.25)]]);
}

#[test]
fn what_reordering_costs_is_sorted_by_nonzeros_a_row_and_may_be_less_than_nothing() {
    let permuted = |matrix: &str, us: f64, rows: u64| {
        let mut pair =
            vec![timed(matrix, "evc_hyb", "hybrid", us), timed(matrix, "evc_hyb", "hybrid", 3.0)];
        for record in &mut pair {
            record.rows = rows;
        }
        if let crate::Details::Spmv(details) = &mut pair[1].details {
            details.evc_hyb = Some(crate::EvcHybRecord {
                vector_order: "permuted".to_owned(),
                split_row: 0,
                short_elements: 0,
                long_elements: 0,
                padding_percent: 0.0,
            });
        }
        pair
    };
    let mut records = permuted("dense", 4.0, 4_007);
    records.extend(permuted("sparse", 6.0, 4_007_383));
    // Noise makes the longer way the faster.
    records.extend(permuted("noisy", 2.0, 1_000));
    let pictures = figure("evc-hyb-4").pictures(&records);
    let points = &pictures[0].series[0].points;
    assert_eq!(points[0], (1.0, Some(50.0)));
    assert_eq!([points[1].1, points[2].1], [25.0, -50.0].map(Some));
}

/// A result of SpMM with 64 columns in some microseconds; a product with a vector takes 10.
fn spmm(matrix: &str, algorithm: &str, variant: &str, (rows, nnz): (u64, u64), us: f64) -> Record {
    let details = crate::SpmmRecord {
        columns: 64,
        layout_b: "row".to_owned(),
        layout_c: "row".to_owned(),
        chosen: String::new(),
        mean_inode: 1.0,
        single_us: Some(10.0),
    };
    let mut record = timed(matrix, algorithm, variant, us);
    (record.rows, record.cols, record.nnz) = (rows, 1000, nnz);
    record.with_details(crate::Details::Spmm(details))
}

#[test]
fn products_of_a_sweep_stand_over_the_aspect_ratio_and_those_with_a_vector_too() {
    let mut one = spmm("full 10 x 1000", "spmm", "", (10, 10_000), 50.0);
    one.gflops = Some(25.6);
    let pictures = figure("spmm-1").pictures(&[one]);
    assert_eq!(pictures[0].title, "10,000 nonzeros, f64");
    assert_eq!(pictures[0].series[0].points, [(0.01, Some(2.0))]);
    assert_eq!(pictures[0].series[1].points, [(0.01, Some(25.6))]);
}

#[test]
fn long_and_short_rows_are_pictures_of_their_own() {
    let records = [
        spmm("long", "spmm_merge", "", (10, 200), 1.0),
        spmm("short", "spmm_merge", "", (10, 199), 1.0),
        spmm("short too", "spmm_merge", "", (10, 50), 1.0),
    ];
    let pictures = figure("spmm-5").pictures(&records);
    assert_eq!(names(&pictures[0]), ["long", "geometric mean"]);
    assert_eq!(names(&pictures[1]), ["short", "short too", "geometric mean"]);
    assert_eq!(pictures[1].title, "b: short rows, 12.4 nonzeros in the mean, f64");
    // What was not measured has no mean.
    assert_eq!(values(&pictures[0], 0), [None, None]);
}

#[test]
fn the_published_rule_stands_next_to_ours_over_as_many_products_with_a_vector() {
    let mut records = vec![
        spmm("b", "spmm", "published", (10, 200), 320.0),
        spmm("b", "spmm", "", (10, 200), 160.0),
    ];
    records.push(spmm("a", "spmm", "", (10, 50), 640.0));
    records.push(spmm("a", "spmm", "published", (10, 50), 640.0));
    let pictures = figure("spmm-6").pictures(&records);
    assert_eq!(pictures[1].series[0].points, [(5.0, Some(1.0)), (20.0, Some(2.0))]);
    assert_eq!(pictures[1].series[1].points, [(5.0, Some(1.0)), (20.0, Some(4.0))]);
    assert!(
        pictures[1].how.contains("the published rule 1.41, the choice 2.00"),
        "{}",
        pictures[1].how
    );
}

#[test]
fn density_reaches_a_tenth_and_the_dense_product_is_a_line() {
    let made = density(crate::GeneratorOptions { scale: 0.01, seed: 1 });
    assert_eq!(made.last().unwrap().lengths, Lengths::Even(100));
    assert_eq!(made.last().unwrap().name, "10.00% of 1000 x 1000");
    // One nonzero in a row of 1,000.
    assert_eq!(made[0].name, "0.10% of 1000 x 1000");
    let record = spmm("m", "dense_product", "", (1000, 100_000), 1500.0);
    let pictures = figure("spmm-7").pictures(&[record]);
    assert_eq!(pictures[0].series[3].points, [(10.0, Some(1.5))]);
}

/// A result of a batch of so many problems in some microseconds; single products take 1,000.
fn batched(matrix: &str, (algorithm, form): (&str, &str), size: u64, us: f64) -> Record {
    let details = crate::BatchRecord {
        batch_size: size,
        batch_kind: "heaped 4".to_owned(),
        batch_form: form.to_owned(),
        batch_bytes: 0,
        padding: 0,
        not_ell: 0,
        loop_us: Some(1000.0),
        block_diagonal_us: None,
    };
    let mut record = sample(matrix, algorithm);
    (record.rows, record.nnz) = (10 * size, 40 * size);
    record.median_us = Some(us);
    record.gflops = Some(80.0 * size as f64 / us / 1e3);
    record.with_details(crate::Details::Batch(details))
}

#[test]
fn batches_grow_along_the_axis_with_the_loop_and_pure_ell_is_a_line_of_its_own() {
    let records = [
        batched("m", ("batched_ell", "pure ELL"), 1000, 10.0),
        batched("m", ("batched_ell", "as given"), 1000, 5.0),
        batched("m", ("batched_ell", "pure ELL"), 100, 4.0),
        batched("n", ("batched_coo", "as given"), 100, 4.0),
    ];
    let pictures = figure("batched-3").pictures(&records);
    let titles: Vec<_> = pictures.iter().map(|picture| picture.title.as_str()).collect();
    assert_eq!(titles, ["m, f64", "n, f64"]);
    let series: Vec<_> = pictures[0].series.iter().map(|series| series.name.as_str()).collect();
    assert_eq!(series, ["ELL", "ELL, sliced", "a loop of single products"]);
    assert_eq!(pictures[0].series[0].points, [(100.0, Some(2.0)), (1000.0, Some(8.0))]);
    assert_eq!(pictures[0].series[1].points, [(1000.0, Some(16.0))]);
    assert_eq!(pictures[0].series[2].points, [(100.0, Some(0.008)), (1000.0, Some(0.08))]);
}

#[test]
fn matrices_of_one_mean_row_are_points_of_their_own_and_a_batch_has_one_loop() {
    let records = [
        batched("mbeacxc", ("batched_coo", "as given"), 100, 4.0),
        batched("bcsstk02", ("batched_coo", "as given"), 100, 8.0),
        batched("mbeacxc", ("batched_csr_i", "as given"), 100, 2.0),
    ];
    let pictures = figure("batched-5").pictures(&records);
    assert_eq!(pictures[0].series[0].points, [(4.0, Some(2.0)), (4.0, Some(1.0))]);
    assert_eq!(pictures[0].series[0].matrices, ["mbeacxc", "bcsstk02"]);
    let looped = pictures[0].series.last().unwrap();
    assert_eq!((looped.name.as_str(), looped.points.len()), ("a loop of single products", 2));
}

#[test]
fn controlled_problems_are_a_picture_a_kind_over_nonzeros_a_row() {
    let record = batched("order-1024", ("batched_csr_i", "as given"), 10, 1.0);
    let pictures = figure("batched-4").pictures(&[record]);
    assert_eq!(pictures[0].title, "heaped, f64");
    assert_eq!(pictures[0].series[0].points, [(4.0, Some(0.8))]);
}

#[test]
fn a_mixed_batch_shows_speed_and_bandwidth_of_each_kernel() {
    let record = batched("12 problems", ("batched_csr_smart", "as given"), 10, 1.0);
    let gbytes = record.gbytes_per_s;
    let pictures = figure("batched-6").pictures(&[record]);
    assert_eq!((values(&pictures[0], 0)[3], values(&pictures[1], 0)[3]), (Some(0.8), gbytes));
    assert_eq!(names(&pictures[0])[3], "CSR_smart");
    assert_eq!(values(&pictures[0], 0)[0], None);
    assert!(pictures.iter().all(|one| one.text(crate::samples::WIDE).contains("\nkernel ")));
}
