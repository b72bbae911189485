//! EVC-HYB's figures of the bandwidth model and its three experiments: 9 to 14, but for those of a profiler's counters.

use csr_core::ValueType;
use csr_core::generate::Suite;
use sparrow::Algorithm;

use super::evc_hyb::{IN_ORDER, NAMES, WITHOUT};
use super::grid::{Grid, Results};
use super::{Cases, Measured, Method, PaperFigure, Picture, Row};
use crate::ModelRecord;
use crate::model_figures::{gflops, p_max, parts};
use crate::record::Record;

/// Figure 9.
pub(super) const MEMORY: PaperFigure = PaperFigure {
    name: "evc-hyb-9",
    title: "EVC-HYB, Figure 9: rates of memory",
    differs: "From the bandwidth model's simulated bytes and sectors over measured times, where the paper has a \
              profiler's counters; HYB is our own. The matrix is a likeness of the paper's Stanford_Berkeley unless others \
              are named.",
    cases: Cases::Classes(&["Stanford_Berkeley"]),
    measured: Measured::Spmv {
        methods: &[
            IN_ORDER,
            Method::by_default(Algorithm::CsrVector),
            Method::by_default(Algorithm::Hyb),
        ],
        has_host: false,
        is_modelled: true,
    },
    draw: memory,
    ..TIMES
};

/// Bytes of a sector of x.
const SECTOR: f64 = 32.0;

fn memory(records: &[&Record]) -> Vec<Picture> {
    let picture = |grid: Grid<'_>| {
        let names = [NAMES[1], NAMES[2], NAMES[3]];
        let mut rows: Vec<Row> = Vec::new();
        for results in grid.rows() {
            let rate = |series, bytes: fn(&ModelRecord) -> f64| {
                let record = results.find(series)?;
                Some(bytes(record.model()?) / record.median_us? / 1e3)
            };
            let of = |bytes| names.iter().map(|(_, series)| rate(series, bytes)).collect();
            let name = results.name();
            rows.push((format!("memory, {name}"), of(|model| model.dram_bytes)));
            rows.push((format!("x, {name}"), of(|model| model.l2_sectors * SECTOR)));
        }
        let rate = grid.largest(|record| record.stream_gbytes_per_s);
        let title = format!("Bytes from memory, and of x from the last cache, {}", grid.value_type);
        Picture::blocks(title, "GB/s", &names.map(|(name, _)| name), rows)
            .of("what is read")
            .with_levels(rate.into_iter().collect(), "what reading a stream reaches")
    };
    Grid::by_type(records).into_iter().map(picture).collect()
}

/// Figure 12.
pub(super) const TIMES: PaperFigure = PaperFigure {
    name: "evc-hyb-12",
    title: "EVC-HYB, Figure 12: T_A + T_X + T_Y over the whole time",
    differs: "Each part from an experiment that leaves loads out, as in the paper. Matrices are likenesses of the 22 of \
              the paper's Table 3 unless others are named.",
    value_types: &[ValueType::F64],
    cases: Cases::Suite(Suite::EvcHyb),
    measured: Measured::Spmv { methods: &[IN_ORDER], has_host: false, is_modelled: true },
    peers: &[],
    draw: times,
};

fn times(records: &[&Record]) -> Vec<Picture> {
    let row = |results: Results<'_, '_>| -> Row {
        let ratio = || {
            let record = results.find(WITHOUT)?;
            let model = record.model()?;
            // T_A + T_Y, T_X + T_Y and T_Y were measured.
            let total = model.x_constant_us? + model.a_constant_us? - model.both_constant_us?;
            Some(total / record.median_us?)
        };
        (results.name(), vec![ratio()])
    };
    let picture = |grid: Grid<'_>| {
        let title = format!("Sum of the parts over the whole, {}", grid.value_type);
        let names = ["(T_A + T_X + T_Y) / T"];
        Picture::blocks(title, "times", &names, grid.rows().map(row).collect())
            .read_as("times the whole; above 1 where loads overlap; below 0 an experiment failed, and there is no bar")
            .with_levels(vec![1.0], "nothing overlaps")
    };
    Grid::by_type(records).into_iter().map(picture).collect()
}

/// A picture a value type, with bars for each matrix.
fn bars(
    records: &[&Record],
    (title, unit, how): (&str, &str, &str),
    names: &[&str],
    values: fn(&Record, &ModelRecord) -> Vec<Option<f64>>,
) -> Vec<Picture> {
    let row = |results: Results<'_, '_>| -> Row {
        let found = results.find(WITHOUT).and_then(|record| Some(values(record, record.model()?)));
        (results.name(), found.unwrap_or_default())
    };
    let picture = |grid: Grid<'_>| {
        let title = format!("{title}, {}", grid.value_type);
        Picture::blocks(title, unit, names, grid.rows().map(row).collect()).read_as(how)
    };
    Grid::by_type(records).into_iter().map(picture).collect()
}

/// Figure 10.
pub(super) const BALANCE: PaperFigure = PaperFigure {
    name: "evc-hyb-10",
    title: "EVC-HYB, Figure 10: code balance and alpha",
    differs: "Loads of x from memory are simulated, where the paper measures them by counters. Matrices are likenesses \
              of the 22 of the paper's Table 3 unless others are named.",
    draw: |records| {
        let words = ("Code balance and alpha", "bytes an operation", "shorter is less to move");
        let names = ["code balance B, bytes an operation", "alpha"];
        bars(records, words, &names, |_, model| vec![Some(model.code_balance), Some(model.alpha)])
    },
    ..TIMES
};

/// Figure 11.
pub(super) const ROOFLINE: PaperFigure = PaperFigure {
    name: "evc-hyb-11",
    title: "EVC-HYB, Figure 11: measured and modelled speed",
    differs: "Besides the paper's P_max our own prediction, which sees gathers and the launch too. Matrices are \
              likenesses of the 22 of the paper's Table 3 unless others are named.",
    draw: |records| {
        let how = "GFLOP/s of 2 nnz + 3 rows operations; longer is better";
        let names = ["measured", "P_max: copy rate over B", "predicted"];
        bars(records, ("Speed", "GFLOP/s", how), &names, |record, model| {
            let measured = record.median_us.map(|us| gflops(record, us));
            vec![measured, p_max(record), Some(gflops(record, model.predicted_us))]
        })
    },
    ..TIMES
};

/// Figure 13.
pub(super) const SHARES: PaperFigure = PaperFigure {
    name: "evc-hyb-13",
    title: "EVC-HYB, Figure 13: shares of T_A, T_X and T_Y",
    draw: |records| {
        let how = "% of T_A + T_X + T_Y, each from an experiment; where one is below 0, which has no bar, an experiment failed";
        let names = ["T_A: values", "T_X: x and columns", "T_Y: y and the rest"];
        bars(records, ("Where the time goes", "%", how), &names, |_, model| {
            parts(model)
                .map(|parts| parts.map(|part| Some(100.0 * part)).to_vec())
                .unwrap_or_default()
        })
    },
    ..TIMES
};

/// Figure 14.
pub(super) const WITHOUT_LOADS: PaperFigure = PaperFigure {
    name: "evc-hyb-14",
    title: "EVC-HYB, Figure 14: speed complete, with x constant and with A constant",
    draw: |records| {
        let how = "GFLOP/s of 2 nnz + 3 rows operations; longer is better";
        let names = ["complete", "x constant", "A constant"];
        bars(records, ("What leaving out loads gains", "GFLOP/s", how), &names, |record, model| {
            let times = [record.median_us, model.x_constant_us, model.a_constant_us];
            times.map(|us| us.map(|us| gflops(record, us))).to_vec()
        })
    },
    ..TIMES
};
