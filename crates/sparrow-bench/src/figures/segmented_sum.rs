//! The speculative segmented sum (W. Liu, B. Vinter, Parallel Computing 49, 2015): Figures 4 to 6. Figures 7 and 8 are
//! sweeps.

use csr_core::ValueType;
use csr_core::generate::Suite;
use sparrow::{Algorithm, Variant};

use super::grid::{Grid, Results};
use super::means::harmonic;
use super::{Cases, HOST, Measured, Method, PaperFigure, Picture, Row, SPMV_PEERS};
use crate::hetero_figures::paper_gbytes_per_s;
use crate::record::Record;

const METHODS: Measured = Measured::Spmv {
    methods: &[
        Method::by_default(Algorithm::CsrScalar),
        Method::by_default(Algorithm::CsrVector),
        Method::by_default(Algorithm::CsrAdaptive),
        Method::of(Algorithm::SegmentedSum, Variant::Cpu),
        Method::of(Algorithm::SegmentedSum, Variant::Fused),
    ],
    has_host: true,
    is_modelled: false,
};

const DIFFERS: &str = "Methods are our own: the host's product for the paper's CPU, csr_scalar, csr_vector and \
                       csr_adaptive for the libraries it compares with, of which cuSPARSE and MKL are bars where --peers \
                       names their results; segmented_sum/cpu is the published form with \
                       stage 2 on the CPU, fused the one that needs none. Matrices are likenesses of the 20 of the \
                       paper's Table 3 unless others are named.";

/// Figure 4.
pub(super) const SINGLE: PaperFigure = PaperFigure {
    name: "segmented-sum-4",
    title: "Speculative segmented sum, Figure 4: throughput (of f32 in the paper)",
    differs: DIFFERS,
    value_types: &[ValueType::F32],
    cases: Cases::Suite(Suite::Hetero),
    measured: METHODS,
    peers: &SPMV_PEERS,
    draw: throughput,
};

/// Figure 5.
pub(super) const DOUBLE: PaperFigure = PaperFigure {
    name: "segmented-sum-5",
    title: "Speculative segmented sum, Figure 5: throughput (of f64 in the paper)",
    value_types: &[ValueType::F64],
    ..SINGLE
};

/// Names of bars, and the results' series.
const NAMES: [(&str, &str); 6] = [
    (HOST, HOST),
    ("csr_scalar", "csr_scalar"),
    ("csr_vector", "csr_vector"),
    ("csr_adaptive", "csr_adaptive/full"),
    ("segmented_sum, stage 2 on the CPU", "segmented_sum/cpu"),
    ("segmented_sum, one launch", "segmented_sum/fused"),
];

fn throughput(records: &[&Record]) -> Vec<Picture> {
    let picture = |grid: Grid<'_>| {
        let peers = grid.peers(&SPMV_PEERS);
        let figures = |row: Results<'_, '_>| -> Row {
            let ours = NAMES.iter().map(|(_, series)| row.find(series)?.gflops);
            let theirs = peers.iter().map(|peer| row.peer(*peer)?.gflops);
            (row.name(), ours.chain(theirs).collect())
        };
        let mut rows: Vec<Row> = grid.rows().map(figures).collect();
        let mean = |method: usize| {
            let all: Option<Vec<f64>> = rows.iter().map(|(_, figures)| figures[method]).collect();
            harmonic(&all?)
        };
        let means = (0..NAMES.len() + peers.len()).map(mean).collect();
        rows.push((format!("harmonic mean, {}", grid.len()), means));
        let title = format!("Throughput, {}", grid.value_type);
        let names = NAMES.iter().map(|(name, _)| *name);
        let names: Vec<_> = names.chain(peers.iter().map(|peer| peer.label())).collect();
        Picture::blocks(title, "GFLOP/s", &names, rows)
    };
    Grid::by_type(records).into_iter().map(picture).collect()
}

/// Figure 6.
pub(super) const BANDWIDTH: PaperFigure = PaperFigure {
    name: "segmented-sum-6",
    title: "Speculative segmented sum, Figure 6: bandwidth",
    differs: "Bytes as the paper counts them, x once for each nonzero; the line is the measured rate of a stream where \
              the paper has the data sheet's. Matrices are likenesses of the 20 of the paper's Table 3 unless others \
              are named.",
    value_types: &[ValueType::F32, ValueType::F64],
    cases: Cases::Suite(Suite::Hetero),
    measured: Measured::Spmv {
        methods: &[
            Method::of(Algorithm::SegmentedSum, Variant::Cpu),
            Method::of(Algorithm::SegmentedSum, Variant::Fused),
        ],
        has_host: false,
        is_modelled: false,
    },
    peers: &[],
    draw: bandwidth,
};

fn bandwidth(records: &[&Record]) -> Vec<Picture> {
    let picture = |grid: Grid<'_>| {
        let names = &NAMES[4..];
        let rows = grid.rows().map(|row| {
            let figure = |(_, series): &(&str, &str)| row.find(series).and_then(paper_gbytes_per_s);
            (row.name(), names.iter().map(figure).collect())
        });
        let rate = grid.largest(|record| record.stream_gbytes_per_s);
        let title = format!("Bandwidth, {}", grid.value_type);
        let names: Vec<&str> = names.iter().map(|(name, _)| *name).collect();
        Picture::blocks(title, "GB/s", &names, rows.collect())
            .with_levels(rate.into_iter().collect(), "what reading a stream reaches")
    };
    Grid::by_type(records).into_iter().map(picture).collect()
}
