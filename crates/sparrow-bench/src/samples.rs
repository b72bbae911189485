//! Records for tests: a verified result, a failed one, and how to vary them.

use crate::record::{Details, Hetero, ModelRecord, Operation, Record, SCHEMA, SpmvRecord};
use crate::table_layout::Look;

/// A terminal of 100 columns, with legends.
pub(crate) const WIDE: Look = Look { width: Some(100), legend: true };

/// A verified result of `algorithm` on a matrix of 62,451 rows.
pub(crate) fn sample(matrix: &str, algorithm: &str) -> Record {
    Record {
        schema: SCHEMA.to_owned(),
        version: "0.1.0".to_owned(),
        matrix: matrix.to_owned(),
        source: "assembled".to_owned(),
        rows: 62_451,
        cols: 62_451,
        nnz: 4_007_383,
        op: Operation::Spmv,
        algorithm: algorithm.to_owned(),
        variant: String::new(),
        params: "group_size=256,nnz_per_wg=1024".to_owned(),
        kernel_key: format!("{algorithm}-f64-u32"),
        value_type: "f64".to_owned(),
        offset_type: "u32".to_owned(),
        accumulate: "plain".to_owned(),
        device: "Example GPU".to_owned(),
        platform: "Example Platform".to_owned(),
        driver: "1.0".to_owned(),
        seed: 1,
        scale: None,
        stream_gbytes_per_s: Some(400.0),
        copy_gbytes_per_s: Some(380.0),
        cache: "hot".to_owned(),
        median_us: Some(200.5),
        min_us: Some(198.0),
        p95_us: Some(215.25),
        runs: 100,
        gflops: Some(40.0),
        gbytes_per_s: Some(245.0),
        limit_us: Some(122.825),
        limit_fraction: Some(0.6125),
        setup_us: Some(300.0),
        setup_in_products: Some(1.5),
        plan_bytes: 31_312,
        repeatable: true,
        verified: true,
        error_in_tolerance: Some(0.0625),
        non_finite: 0,
        details: Details::Spmv(SpmvRecord::default()),
    }
}

/// A verified result of `bench spmv --model`: predicted at 90% of its time, 80, 60 and 40 µs for A, x and y.
pub(crate) fn model_sample(matrix: &str, algorithm: &str) -> Record {
    let model = ModelRecord {
        alpha: 0.25,
        code_balance: 7.6,
        dram_bytes: 49.0e6,
        l2_sectors: 2.0e6,
        sector_rate: 20.0,
        launch_us: 3.5,
        predicted_us: 180.45,
        predicted_by: "memory".to_owned(),
        predicted_over_measured: Some(0.9),
        x_constant_us: Some(120.0),
        a_constant_us: Some(100.0),
        both_constant_us: Some(40.0),
    };
    let details = Details::Spmv(SpmvRecord { model: Some(model), ..SpmvRecord::default() });
    sample(matrix, algorithm).with_details(details)
}

/// The same with a wrong result: the record keeps no time.
pub(crate) fn failed(matrix: &str, algorithm: &str) -> Record {
    Record {
        median_us: None,
        min_us: None,
        p95_us: None,
        gflops: None,
        gbytes_per_s: None,
        limit_us: None,
        limit_fraction: None,
        setup_us: None,
        setup_in_products: None,
        verified: false,
        error_in_tolerance: Some(1250.0),
        ..sample(matrix, algorithm)
    }
}

/// A verified result of `bench hetero` on `devices`: stages of 160 and 40 µs for the segmented sum
/// with stage 2 on the CPU, and a partner's share of 0.12 for two devices together.
pub(crate) fn hetero_sample(matrix: &str, algorithm: &str, devices: &[&str]) -> Record {
    let staged = algorithm == "segmented_sum";
    let hetero = Hetero {
        devices: devices.iter().map(|&name| name.to_owned()).collect(),
        share: if algorithm == "hetero" { 0.12 } else { 0.0 },
        stage1_us: staged.then_some(160.0),
        stage2_us: staged.then_some(40.0),
        dirty_tile_share: staged.then_some(0.375),
        svm_bytes: if staged { 61_440 } else { 0 },
        copied_bytes: 0,
        single_us: Some(100.25),
        evc_hyb: None,
    };
    Record {
        variant: if staged { "cpu" } else { "" }.to_owned(),
        device: devices[0].to_owned(),
        details: Details::Hetero(hetero),
        ..sample(matrix, algorithm)
    }
}

/// What `bench hetero` adds to a record that has it.
pub(crate) fn hetero_mut(record: &mut Record) -> &mut Hetero {
    match &mut record.details {
        Details::Hetero(hetero) => hetero,
        other => panic!("{other:?}"),
    }
}

/// What the model says in a record that has it.
pub(crate) fn model_mut(record: &mut Record) -> &mut ModelRecord {
    match &mut record.details {
        Details::Spmv(SpmvRecord { model: Some(model), .. }) => model,
        other => panic!("{other:?}"),
    }
}
