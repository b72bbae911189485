//! CSR-Adaptive (M. Daga, J. L. Greathouse, HiPC 2015): Figures 10, 13 and 14.

use csr_core::ValueType;
use csr_core::generate::Suite;
use sparrow::{Algorithm, Variant, VectorOrder};

use super::grid::Grid;
use super::means::{arithmetic, geometric};
use super::{Cases, Measured, Method, PaperFigure, Picture, Row};
use crate::hetero_figures::paper_gbytes_per_s;
use crate::record::Record;

const fn step(variant: Variant) -> Method {
    Method {
        algorithm: Algorithm::CsrAdaptive,
        variant,
        order: VectorOrder::Original,
        parameters: &[("nnz_per_wg", 1024)],
    }
}

/// The whole algorithm with the device's own hyper-parameters.
const FULL: Measured = Measured::Spmv {
    methods: &[Method::of(Algorithm::CsrAdaptive, Variant::Full)],
    has_host: false,
    is_modelled: false,
};

/// Figure 10.
pub(super) const STEPS: PaperFigure = PaperFigure {
    name: "csr-adaptive-10",
    title: "CSR-Adaptive, Figure 10: what each step gains over the one before",
    differs: "Speed-ups of launches on this device, all with row blocks of 1,024 nonzeros, as the paper's Figure 10b has \
              them. Matrices are likenesses of the 32 of the paper's Table II unless others are named.",
    value_types: &[ValueType::F32, ValueType::F64],
    cases: Cases::Suite(Suite::CsrAdaptive),
    measured: Measured::Spmv {
        methods: &[
            step(Variant::Baseline),
            step(Variant::Nrs),
            step(Variant::NrsLog),
            step(Variant::Full),
        ],
        has_host: false,
        is_modelled: false,
    },
    peers: &[],
    draw: steps,
};

/// Names of bars, and the two results whose times are compared.
const STEP_GAINS: [(&str, &str, &str); 4] = [
    ("nrs over baseline", "csr_adaptive/nrs", "csr_adaptive/baseline"),
    ("nrs-log over nrs", "csr_adaptive/nrs-log", "csr_adaptive/nrs"),
    ("full over nrs-log", "csr_adaptive/full", "csr_adaptive/nrs-log"),
    ("full over baseline", "csr_adaptive/full", "csr_adaptive/baseline"),
];

fn steps(records: &[&Record]) -> Vec<Picture> {
    let picture = |grid: Grid<'_>| {
        let gains = grid.rows().map(|row| {
            (row.name(), STEP_GAINS.map(|(_, fast, slow)| row.gain(fast, slow)).to_vec())
        });
        let mut rows: Vec<Row> = gains.collect();
        let matrices = rows.len();
        for (name, mean) in [
            ("arithmetic mean", arithmetic as fn(&[f64]) -> Option<f64>),
            ("geometric mean", geometric),
        ] {
            let of = |step: usize| {
                let gains: Option<Vec<f64>> =
                    rows[..matrices].iter().map(|(_, gains)| gains[step]).collect();
                // A step that is wrong on a matrix has no mean.
                mean(&gains?)
            };
            rows.push((name.to_owned(), (0..STEP_GAINS.len()).map(of).collect()));
        }
        let title = format!("Each step against the one before, {}", grid.value_type);
        Picture::blocks(title, "times as fast", &STEP_GAINS.map(|(name, ..)| name), rows)
            .with_levels(vec![1.0], "no gain")
    };
    Grid::by_type(records).into_iter().map(picture).collect()
}

/// Figure 13.
pub(super) const SET_UP: PaperFigure = PaperFigure {
    name: "csr-adaptive-13",
    title: "CSR-Adaptive, Figure 13: set-up in products",
    differs: "Set-up counts allocation, and row blocks are cut on all cores or by the device, where the paper has one \
              core. Matrices are likenesses of the 32 of the paper's Table II unless others are named.",
    value_types: &[ValueType::F32],
    cases: Cases::Suite(Suite::CsrAdaptive),
    measured: FULL,
    peers: &[],
    draw: set_up,
};

fn set_up(records: &[&Record]) -> Vec<Picture> {
    let picture = |grid: Grid<'_>| {
        let of = |record: &Record| record.setup_in_products;
        let mut rows: Vec<Row> = grid
            .rows()
            .map(|row| (row.name(), vec![row.find("csr_adaptive/full").and_then(of)]))
            .collect();
        let all: Option<Vec<f64>> = rows.iter().map(|(_, values)| values[0]).collect();
        rows.push(("arithmetic mean".to_owned(), vec![all.and_then(|all| arithmetic(&all))]));
        let title = format!("Set-up, {}", grid.value_type);
        Picture::blocks(title, "products", &["set-up"], rows)
            .read_as("in products by csr_adaptive; shorter is better")
    };
    Grid::by_type(records).into_iter().map(picture).collect()
}

/// Figure 14.
pub(super) const BANDWIDTH: PaperFigure = PaperFigure {
    name: "csr-adaptive-14",
    title: "CSR-Adaptive, Figure 14: bandwidth, with x loaded once and for each nonzero",
    differs: "The line is a read-only stream of our own where the paper has SHOC's DeviceMemory.",
    value_types: &[ValueType::F32],
    cases: Cases::Suite(Suite::CsrAdaptive),
    measured: FULL,
    peers: &[],
    draw: bandwidth,
};

fn bandwidth(records: &[&Record]) -> Vec<Picture> {
    let picture = |grid: Grid<'_>| {
        let rows = grid.rows().map(|row| {
            let found = row.find("csr_adaptive/full");
            let once = found.and_then(|record| record.gbytes_per_s);
            (row.name(), vec![once, found.and_then(paper_gbytes_per_s)])
        });
        let rate = grid.largest(|record| record.stream_gbytes_per_s);
        let title = format!("Bandwidth of csr_adaptive, {}", grid.value_type);
        let names = ["x loaded once", "x loaded for each nonzero"];
        Picture::blocks(title, "GB/s", &names, rows.collect())
            .with_levels(rate.into_iter().collect(), "what reading a stream reaches")
    };
    Grid::by_type(records).into_iter().map(picture).collect()
}
