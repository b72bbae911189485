//! SpMM (C. Yang, A. Buluç, J. D. Owens, Euro-Par 2018): Figures 1 and 4 to 7.

use csr_core::ValueType;
use csr_core::generate::Suite;
use sparrow::{SpmmAlgorithm, SpmmVariant};

use super::grid::{Grid, Results};
use super::means::geometric;
use super::{Cases, Lengths, Made, Measured, PaperFigure, PeerProduct, Picture, Row, Series};
use crate::GeneratorOptions;
use crate::record::Record;
use crate::units::{counted, grouped};

/// What the paper multiplies by.
const COLUMNS: usize = 64;

const ROWS: (Option<SpmmAlgorithm>, SpmmVariant) =
    (Some(SpmmAlgorithm::RowSplit), SpmmVariant::Default);
const PUBLISHED_ROWS: (Option<SpmmAlgorithm>, SpmmVariant) =
    (Some(SpmmAlgorithm::RowSplit), SpmmVariant::Published);
const NONZERO_SPLIT: (Option<SpmmAlgorithm>, SpmmVariant) =
    (Some(SpmmAlgorithm::Merge), SpmmVariant::Published);
const MERGE: (Option<SpmmAlgorithm>, SpmmVariant) =
    (Some(SpmmAlgorithm::Merge), SpmmVariant::Default);

/// log2 of the nonzeros of the sweep over the aspect ratio, as published: 2 x 8.3 million to 8.3 million x 2.
const ASPECT_NONZEROS: f64 = 24.0;
/// The order in the sweep over density, and nonzeros of each row in ten thousands of it.
const DENSITY_ORDER: f64 = 100_000.0;
const DENSITIES: [usize; 10] = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000];

/// Matrices without zeros of equally many nonzeros, 2^24 times the scale rounded to a power of two, from 2 rows to 2 columns.
pub fn aspect(generator: GeneratorOptions) -> Vec<Made> {
    let log = (ASPECT_NONZEROS + generator.scale.log2()).round().clamp(2.0, 31.0) as u32;
    let made = |log_rows: u32| {
        let (rows, cols) = (1usize << log_rows, 1usize << (log - log_rows));
        Made { name: format!("full {rows} x {cols}"), rows, cols, lengths: Lengths::Even(cols) }
    };
    (1..log).step_by(2).map(made).collect()
}

/// Square matrices of order 100,000 times the scale, with 0.01 to 10% nonzeros in every row.
pub fn density(generator: GeneratorOptions) -> Vec<Made> {
    let order = (DENSITY_ORDER * generator.scale).round().max(1.0) as usize;
    let made = |density: usize| {
        let length = (order * density).div_ceil(10_000);
        Made {
            // Of a small order a nonzero is more than the density that is asked for.
            name: format!("{:.2}% of {order} x {order}", 100.0 * length as f64 / order as f64),
            rows: order,
            cols: order,
            lengths: Lengths::Even(length),
        }
    };
    let mut all: Vec<Made> = DENSITIES.into_iter().map(made).collect();
    // Of a small order, the lowest densities are all one nonzero a row.
    all.dedup_by_key(|made| made.lengths);
    all
}

/// Figure 1a.
pub(super) const ASPECT: PaperFigure = PaperFigure {
    name: "spmm-1",
    title: "SpMM, Figure 1a: products with a vector and with 64 columns over the aspect ratio",
    differs: "Our products by the automatic choice, with cuSPARSE's next to them where --peers names its results; the paper \
              has cuSPARSE's alone. Nonzeros are 2^24 times the scale, rounded to a power of two. Figure 1b is of a profiler's counters.",
    value_types: &[ValueType::F32],
    cases: Cases::Made(aspect),
    measured: Measured::Spmm {
        methods: &[(None, SpmmVariant::Default)],
        columns: COLUMNS,
        with_dense: false,
        with_vector: true,
    },
    peers: &SPARSE_PEERS,
    draw: over_aspect,
};

fn over_aspect(records: &[&Record]) -> Vec<Picture> {
    let vector = |record: &Record| {
        let us = record.spmm()?.single_us.filter(|us| *us > 0.0)?;
        Some(2.0 * record.nnz as f64 / us / 1e3)
    };
    let picture = |grid: Grid<'_>| {
        let mut series = vec![
            over_shape("with a vector", &grid, |row| row.find(CHOICE).and_then(vector)),
            over_shape("with 64 columns", &grid, |row| row.find(CHOICE)?.gflops),
        ];
        for product in grid.peers(&SPARSE_PEERS) {
            let name = |what| format!("{}, {what}", product.label());
            let of_vector = |row: &Results<'_, '_>| row.peer(product).and_then(vector);
            series.push(over_shape(&name("with a vector"), &grid, of_vector));
            let of_columns = |row: &Results<'_, '_>| row.peer(product)?.gflops;
            series.push(over_shape(&name("with 64 columns"), &grid, of_columns));
        }
        aspect_picture(&grid, series)
    };
    Grid::by_type(records).into_iter().map(picture).collect()
}

/// Series of results with 64 columns.
const CHOICE: &str = "spmm, 64 columns";
const PUBLISHED: &str = "spmm/published, 64 columns";
const OF_ROWS: &str = "spmm_row_split, 64 columns";
const OF_PUBLISHED_ROWS: &str = "spmm_row_split/published, 64 columns";
const OF_NONZERO_SPLIT: &str = "spmm_merge/published, 64 columns";
const OF_MERGE: &str = "spmm_merge, 64 columns";

/// What sparse products of other libraries are called in records.
const SPARSE_PEERS: [PeerProduct; 2] = [PeerProduct::CusparseSpmm, PeerProduct::MklSpmm];
/// The same, and those of dense ones.
const ALL_PEERS: [PeerProduct; 4] = [
    PeerProduct::CusparseSpmm,
    PeerProduct::MklSpmm,
    PeerProduct::CublasGemm,
    PeerProduct::MklGemm,
];

fn over_shape(
    name: &str,
    grid: &Grid<'_>,
    value: impl Fn(&Results<'_, '_>) -> Option<f64>,
) -> Series {
    let point = |row: Results<'_, '_>| {
        let first = row.first();
        (first.rows as f64 / first.cols.max(1) as f64, value(&row))
    };
    Series::line(name, grid.rows().map(point).collect())
}

fn aspect_picture(grid: &Grid<'_>, series: Vec<Series>) -> Picture {
    let nnz = grid.rows().map(|row| row.first().nnz).max().unwrap_or(0);
    let title = format!("{}, {}", counted(grouped(nnz), "nonzero"), grid.value_type);
    Picture::lines(title, "GFLOP/s", "rows a column", series)
}

/// Figure 4.
pub(super) const ROW_SPLIT: PaperFigure = PaperFigure {
    name: "spmm-4",
    title: "SpMM, Figure 4: row split over the aspect ratio, 64 columns",
    differs: "Besides the published row split the published nonzero split, and ours of today: a row split that cuts long \
              rows, and merge path; cuSPARSE, as in the paper, where --peers names its results. Nonzeros are 2^24 times the \
              scale, rounded to a power of two.",
    measured: Measured::Spmm {
        methods: &[PUBLISHED_ROWS, NONZERO_SPLIT, ROWS, MERGE],
        columns: COLUMNS,
        with_dense: false,
        with_vector: false,
    },
    draw: methods_over_aspect,
    ..ASPECT
};

/// Names of lines and bars, and the results' series.
const NAMES: [(&str, &str); 4] = [
    ("row split as published", OF_PUBLISHED_ROWS),
    ("nonzero split as published", OF_NONZERO_SPLIT),
    ("our row split", OF_ROWS),
    ("merge path", OF_MERGE),
];

fn methods_over_aspect(records: &[&Record]) -> Vec<Picture> {
    let picture =
        |grid: Grid<'_>| {
            let ours =
                NAMES.map(|(name, series)| over_shape(name, &grid, |row| row.find(series)?.gflops));
            let mut series = ours.to_vec();
            series.extend(grid.peers(&SPARSE_PEERS).into_iter().map(|product| {
                over_shape(product.label(), &grid, |row| row.peer(product)?.gflops)
            }));
            aspect_picture(&grid, series)
        };
    Grid::by_type(records).into_iter().map(picture).collect()
}

/// Ten likenesses with mean rows of 21.7 to 80.9, and ten of 3.1 to 12.2: 58.6 and 7.4 in the mean, where the paper's sets
/// have 62.5 and 7.92.
const LONG_AND_SHORT: [&str; 20] = [
    "consph",
    "cant",
    "pwtk",
    "rma10",
    "shipsec1",
    "raefsky3",
    "msdoor",
    "Ga41As41H72",
    "Si41Ge41H72",
    "cop20k_A",
    "scircuit",
    "mac_econ_fwd500",
    "mc2depi",
    "web-Google",
    "Stanford",
    "pre2",
    "webbase-1M",
    "Stanford_Berkeley",
    "in-2004",
    "ins2",
];

/// Figure 5.
pub(super) const LENGTHS: PaperFigure = PaperFigure {
    name: "spmm-5",
    title: "SpMM, Figure 5: matrices of long rows (a) and of short ones (b), 64 columns",
    differs: "The paper does not name its twenty matrices: these are likenesses of other papers' with about the same \
              mean rows, a matrix of at least 20 nonzeros a row among the long ones. The published algorithms stand \
              next to ours, and cuSPARSE where --peers names its results.",
    value_types: &[ValueType::F32],
    cases: Cases::Classes(&LONG_AND_SHORT),
    measured: Measured::Spmm {
        methods: &[PUBLISHED_ROWS, NONZERO_SPLIT, ROWS, MERGE],
        columns: COLUMNS,
        with_dense: false,
        with_vector: false,
    },
    peers: &SPARSE_PEERS,
    draw: by_length,
};

/// Nonzeros of a mean row from which on rows are long.
const LONG: f64 = 20.0;

fn mean_row(results: &Results<'_, '_>) -> f64 {
    results.first().nnz as f64 / results.first().rows.max(1) as f64
}

fn by_length(records: &[&Record]) -> Vec<Picture> {
    let mut pictures = Vec::new();
    for grid in Grid::by_type(records) {
        for (is_long, what) in [(true, "a: long rows"), (false, "b: short rows")] {
            let of: Vec<_> = grid.rows().filter(|row| (mean_row(row) >= LONG) == is_long).collect();
            if of.is_empty() {
                continue;
            }
            let is_there = |peer: &PeerProduct| of.iter().any(|row| row.peer(*peer).is_some());
            let peers: Vec<_> = SPARSE_PEERS.into_iter().filter(is_there).collect();
            let figure = |row: &Results<'_, '_>| -> Row {
                let ours = NAMES.iter().map(|(_, series)| row.find(series)?.gflops);
                let theirs = peers.iter().map(|peer| row.peer(*peer)?.gflops);
                (row.name(), ours.chain(theirs).collect())
            };
            let mut rows: Vec<Row> = of.iter().map(figure).collect();
            let mean = |method: usize| {
                let all: Option<Vec<f64>> = rows.iter().map(|(_, rates)| rates[method]).collect();
                geometric(&all?)
            };
            let means = (0..NAMES.len() + peers.len()).map(mean).collect();
            rows.push(("geometric mean".to_owned(), means));
            let mean = of.iter().map(mean_row).sum::<f64>() / of.len() as f64;
            let title = format!("{what}, {mean:.1} nonzeros in the mean, {}", grid.value_type);
            let ours = NAMES.iter().map(|(name, _)| *name);
            let names: Vec<_> = ours.chain(peers.iter().map(|peer| peer.label())).collect();
            pictures.push(Picture::blocks(title, "GFLOP/s", &names, rows));
        }
    }
    pictures
}

/// Figure 6.
pub(super) const EACH: PaperFigure = PaperFigure {
    name: "spmm-6",
    title: "SpMM, Figure 6: each algorithm over the mean row (a), and both by the rule (b)",
    differs: "On likenesses of other papers' matrices, since the paper does not name its own. Compared with as many \
              products with a vector, where the paper has cuSPARSE's csrmm2, which is a line of its own where --peers \
              names its results. The published algorithms and their rule (9.35 nonzeros a row) stand next to ours.",
    value_types: &[ValueType::F32],
    cases: Cases::Suite(Suite::Papers),
    measured: Measured::Spmm {
        methods: &[
            PUBLISHED_ROWS,
            NONZERO_SPLIT,
            ROWS,
            MERGE,
            (None, SpmmVariant::Published),
            (None, SpmmVariant::Default),
        ],
        columns: COLUMNS,
        with_dense: false,
        with_vector: true,
    },
    peers: &SPARSE_PEERS,
    draw: over_mean_row,
};

fn over_mean_row(records: &[&Record]) -> Vec<Picture> {
    let mut pictures = Vec::new();
    for grid in Grid::by_type(records) {
        let gain = |row: &Results<'_, '_>, series: &str| {
            let record: &Record = row.find(series)?;
            let spmm = record.spmm()?;
            Some(spmm.single_us? * spmm.columns as f64 / record.median_us?)
        };
        let over = |(name, series): (&str, &str)| {
            let point = |row: Results<'_, '_>| (row.name(), (mean_row(&row), gain(&row, series)));
            Series::of_matrices(name, grid.rows().map(point).collect())
        };
        let rules = [("the published rule", PUBLISHED), ("the choice", CHOICE)];
        // As many of our own products with a vector are what theirs are compared with, too.
        let theirs = |product: PeerProduct| {
            let gain = |row: &Results<'_, '_>| {
                let ours = row.find(CHOICE)?.spmm()?.single_us?;
                let record = row.peer(product)?;
                Some(ours * record.spmm()?.columns as f64 / record.median_us?)
            };
            let point = |row: Results<'_, '_>| (row.name(), (mean_row(&row), gain(&row)));
            Series::of_matrices(product.label(), grid.rows().map(point).collect())
        };
        for (part, names) in [("a: each algorithm", &NAMES[..]), ("b: by a rule", &rules)] {
            let mut series: Vec<Series> = names.iter().copied().map(over).collect();
            series.extend(grid.peers(&SPARSE_PEERS).into_iter().map(theirs));
            let means = series.iter().filter_map(|series| {
                let all: Option<Vec<f64>> = series.points.iter().map(|(_, gain)| *gain).collect();
                Some(format!("{} {:.2}", series.name, geometric(&all?)?))
            });
            let means: Vec<_> = means.collect();
            let title = format!("{part}, {}", grid.value_type);
            let how = format!(
                "times as fast as 64 products with a vector, over nonzeros a row; geometric means: {}",
                means.join(", ")
            );
            let picture = Picture::lines(title, "times", "nonzeros a row", series).read_as(&how);
            pictures.push(picture.with_levels(vec![1.0], "as fast"));
        }
    }
    pictures
}

/// Figure 7.
pub(super) const DENSITY: PaperFigure = PaperFigure {
    name: "spmm-7",
    title: "SpMM, Figure 7: sparse and dense products over density, 64 columns",
    differs: "Our dense product is a plain kernel, left out where the dense matrix finds no memory (40 GB at the published \
              order of 100,000). cuBLAS's, which the paper has, and cuSPARSE are lines where --peers names their results. \
              The order is 100,000 times the scale.",
    value_types: &[ValueType::F32],
    cases: Cases::Made(density),
    measured: Measured::Spmm {
        methods: &[NONZERO_SPLIT, ROWS, MERGE],
        columns: COLUMNS,
        with_dense: true,
        with_vector: false,
    },
    peers: &ALL_PEERS,
    draw: over_density,
};

fn over_density(records: &[&Record]) -> Vec<Picture> {
    let picture = |grid: Grid<'_>| {
        let names = [NAMES[1], NAMES[2], NAMES[3], ("dense product", "dense_product, 64 columns")];
        let over = |name: &str, us: &dyn Fn(&Results<'_, '_>) -> Option<f64>| {
            let point = |row: Results<'_, '_>| {
                let density = 100.0 * mean_row(&row) / row.first().cols.max(1) as f64;
                (density, us(&row).map(|us| us / 1e3))
            };
            Series::line(name, grid.rows().map(point).collect())
        };
        let ours = names.map(|(name, series)| over(name, &|row| row.us(series)));
        let mut series = ours.to_vec();
        let peers = grid.peers(&ALL_PEERS).into_iter();
        series.extend(peers.map(|peer| over(peer.label(), &|row| row.peer(peer)?.median_us)));
        let order = grid.rows().map(|row| row.first().rows).max().unwrap_or(0);
        let title = format!("Order {order}, {}", grid.value_type);
        let picture = Picture::lines(title, "ms", "% of nonzeros", series);
        Picture {
            is_logarithmic: true,
            ..picture.read_as("ms over % of nonzeros; lower is better")
        }
    };
    Grid::by_type(records).into_iter().map(picture).collect()
}
