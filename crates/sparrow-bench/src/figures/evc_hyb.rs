//! EVC-HYB (D. Guo, W. Gropp, L. N. Olson): Figures 3, 4, 5 and 15 on speed. Those of the bandwidth model are in
//! `evc_hyb_model`.

use csr_core::ValueType;
use csr_core::generate::Suite;
use sparrow::{Algorithm, Variant, VectorOrder};

use super::grid::{Grid, Results};
use super::{
    Cases, Lengths, Made, Measured, Method, PaperFigure, PeerProduct, Picture, Row, SPMV_PEERS,
    Series,
};
use crate::GeneratorOptions;
use crate::record::Record;

/// The algorithm with y in the matrix's order, and in its own.
const REORDERED: Method = Method::of(Algorithm::EvcHyb, Variant::Hybrid);
pub(super) const IN_ORDER: Method = Method { order: VectorOrder::Permuted, ..REORDERED };

/// Series of results.
const WITH: &str = "evc_hyb/hybrid";
pub(super) const WITHOUT: &str = "evc_hyb/hybrid permuted";
const CSR: &str = "csr_vector";
const HYB: &str = "hyb";

const COMPARED: Measured = Measured::Spmv {
    methods: &[
        REORDERED,
        IN_ORDER,
        Method::by_default(Algorithm::CsrVector),
        Method::by_default(Algorithm::Hyb),
    ],
    has_host: false,
    is_modelled: false,
};

/// Figure 3, and the last column of Table 3.
pub(super) const SPEED_UP: PaperFigure = PaperFigure {
    name: "evc-hyb-3",
    title: "EVC-HYB, Figure 3: speed-up over the better of two formats (Table 3, last column)",
    differs: "The paper compares with cuSPARSE's CSR and HYB; here csr_vector stands for CSR, and cuSPARSE's where \
              --peers names its results; for HYB, which cuSPARSE dropped, our own (hyb). Which of the two is faster stands before a matrix's name. Matrices \
              are likenesses of the 22 of the paper's Table 3 unless others are named.",
    value_types: &[ValueType::F64],
    cases: Cases::Suite(Suite::EvcHyb),
    measured: COMPARED,
    // MKL's product is a CPU's: no CSR that a GPU's EVC-HYB could be held against.
    peers: &[PeerProduct::CusparseSpmv],
    draw: speed_up,
};

fn speed_up(records: &[&Record]) -> Vec<Picture> {
    let row = |results: Results<'_, '_>| -> Row {
        let cusparse = results.peer(PeerProduct::CusparseSpmv).and_then(|record| record.median_us);
        let csr = cusparse.or(results.us(CSR));
        let hyb = results.us(HYB);
        let better = csr.into_iter().chain(hyb).min_by(f64::total_cmp);
        let gain = |name| Some(better? / results.us(name)?);
        let name = match better {
            Some(_) if better == csr => format!("CSR, {}", results.name()),
            Some(_) => format!("HYB, {}", results.name()),
            None => results.name(),
        };
        (name, vec![gain(WITH), gain(WITHOUT)])
    };
    let picture = |grid: Grid<'_>| {
        let title = format!("Speed-up over the better of CSR and HYB, {}", grid.value_type);
        let names = ["with reordering", "without reordering"];
        Picture::blocks(title, "times as fast", &names, grid.rows().map(row).collect())
            .with_levels(vec![1.0], "as fast")
    };
    Grid::by_type(records).into_iter().map(picture).collect()
}

/// Figure 4.
pub(super) const REORDERING: PaperFigure = PaperFigure {
    name: "evc-hyb-4",
    title: "EVC-HYB, Figure 4: what reordering y costs, over nonzeros a row",
    differs: "The kernel writes y in the matrix's order itself, where the paper has a second kernel. Matrices are \
              likenesses of the 22 of the paper's Table 3 unless others are named.",
    measured: Measured::Spmv {
        methods: &[REORDERED, IN_ORDER],
        has_host: false,
        is_modelled: false,
    },
    peers: &[],
    draw: reordering,
    ..SPEED_UP
};

fn reordering(records: &[&Record]) -> Vec<Picture> {
    let picture = |grid: Grid<'_>| {
        let points = grid
            .rows()
            .map(|row| {
                let first = row.first();
                let loss = row.gain(WITHOUT, WITH).map(|gain| 100.0 * (1.0 - 1.0 / gain));
                (row.name(), (first.nnz as f64 / first.rows.max(1) as f64, loss))
            })
            .collect();
        let title = format!("Loss by reordering, {}", grid.value_type);
        let series = vec![Series::of_matrices("a matrix each", points)];
        Picture::lines(title, "% of the speed", "nonzeros a row", series)
            .read_as("% of the speed without reordering, over nonzeros a row; lower is better; below 0 noise is larger than the loss")
    };
    Grid::by_type(records).into_iter().map(picture).collect()
}

/// Figure 5.
pub(super) const RATES: PaperFigure = PaperFigure {
    name: "evc-hyb-5",
    title: "EVC-HYB, Figure 5: FLOP rates",
    peers: &SPMV_PEERS,
    draw: rates,
    ..SPEED_UP
};

/// Names of bars and lines, and the results' series.
pub(super) const NAMES: [(&str, &str); 4] = [
    ("EVC-HYB with reordering", WITH),
    ("EVC-HYB without reordering", WITHOUT),
    ("CSR (csr_vector)", CSR),
    ("HYB (our own)", HYB),
];

fn rates(records: &[&Record]) -> Vec<Picture> {
    let picture = |grid: Grid<'_>| {
        let peers = grid.peers(&SPMV_PEERS);
        let row = |results: Results<'_, '_>| -> Row {
            let ours = NAMES.iter().map(|(_, series)| results.find(series)?.gflops);
            let theirs = peers.iter().map(|peer| results.peer(*peer)?.gflops);
            (results.name(), ours.chain(theirs).collect())
        };
        let title = format!("FLOP rates, {}", grid.value_type);
        let names = NAMES.iter().map(|(name, _)| *name);
        let names: Vec<_> = names.chain(peers.iter().map(|peer| peer.label())).collect();
        Picture::blocks(title, "GFLOP/s", &names, grid.rows().map(row).collect())
    };
    Grid::by_type(records).into_iter().map(picture).collect()
}

/// Figure 15.
pub(super) const RANDOM: PaperFigure = PaperFigure {
    name: "evc-hyb-15",
    title: "EVC-HYB, Figure 15: random matrices",
    differs: "Orders from 5,000 to 65,000 (times the scale), rows of 1 to 5% of the order, as published; csr_vector \
              stands for CSR, and our own hyb for HYB; a library's CSR is a line where --peers names its results.",
    cases: Cases::Made(random),
    peers: &SPMV_PEERS,
    draw: over_nonzeros,
    ..SPEED_UP
};

/// Orders of the random matrices.
const ORDERS: [usize; 7] = [5_000, 10_000, 20_000, 30_000, 40_000, 50_000, 65_000];

fn random(generator: GeneratorOptions) -> Vec<Made> {
    let made = |order: usize| {
        let order = ((order as f64 * generator.scale).round() as usize).max(20);
        Made {
            name: format!("random {order}"),
            rows: order,
            cols: order,
            lengths: Lengths::UpTo(order.div_ceil(20)),
        }
    };
    ORDERS.into_iter().map(made).collect()
}

fn over_nonzeros(records: &[&Record]) -> Vec<Picture> {
    let picture = |grid: Grid<'_>| {
        let over = |name: &str, rate: &dyn Fn(&Results<'_, '_>) -> Option<f64>| {
            let point = |row: Results<'_, '_>| (row.first().nnz as f64, rate(&row));
            Series::line(name, grid.rows().map(point).collect())
        };
        let ours = NAMES.map(|(name, series)| over(name, &|row| row.find(series)?.gflops));
        let peers = grid.peers(&SPMV_PEERS).into_iter();
        let theirs = peers.map(|peer| over(peer.label(), &|row| row.peer(peer)?.gflops));
        let title = format!("Random matrices, {}", grid.value_type);
        Picture::lines(title, "GFLOP/s", "nonzeros", ours.into_iter().chain(theirs).collect())
    };
    Grid::by_type(records).into_iter().map(picture).collect()
}
