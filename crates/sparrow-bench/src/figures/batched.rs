//! Batches (H. Anzt, G. Collins, J. Dongarra, G. Flegar, E. S. Quintana-Ortí, ScalA 2017): Figures 3 to 7.

use std::collections::BTreeSet;

use csr_core::ValueType;
use sparrow::BatchedAlgorithm;

use super::picture::OfMatrix;
use super::{Batches, Cases, Measured, PaperFigure, PeerProduct, Picture, Row, Series};
use crate::BatchForm;
use crate::record::{BatchRecord, Record};

/// Every kernel of the paper, and ELL in the form that ours takes.
const KERNELS: &[(BatchedAlgorithm, BatchForm)] = &[
    (BatchedAlgorithm::Coo, BatchForm::AsGiven),
    (BatchedAlgorithm::CsrScalar, BatchForm::AsGiven),
    (BatchedAlgorithm::CsrVector, BatchForm::AsGiven),
    (BatchedAlgorithm::CsrSmart, BatchForm::AsGiven),
    (BatchedAlgorithm::CsrI, BatchForm::AsGiven),
    (BatchedAlgorithm::Ell, BatchForm::PureEll),
    (BatchedAlgorithm::Ell, BatchForm::AsGiven),
];

/// The twelve of order 800 to 1,024.
const LARGE: &[&str] = &[
    "west0989", "G45", "ex25", "dwt_918", "gr_30_30", "cage8", "ex27", "can_838", "bp_1600",
    "nos3", "G2", "dwt_992",
];

/// Figure 3.
pub(super) const GROWING: PaperFigure = PaperFigure {
    name: "batched-3",
    title: "Batches, Figure 3: batches of growing size, each of one problem",
    differs: "Likenesses of the paper's twelve matrices unless others are named. The loop is of our own single products; \
              cuSPARSE's, which the paper has, is a line where --peers names its results, with its block-diagonal and its \
              batched product. MAGMA's is not here. Sizes are multiplied by the scale. \"ELL, sliced\" is the form that \
              is taken where pure ELL would pad more than a fifth.",
    value_types: &[ValueType::F64],
    cases: Cases::Problems(LARGE),
    measured: Measured::Batch {
        kind: Batches::Homogeneous,
        sizes: &[1, 10, 100, 1000, 10_000],
        forms: KERNELS,
        has_loop: true,
    },
    peers: &PEERS,
    draw: growing,
};

/// Names of lines and bars, and the results' algorithms and forms.
const NAMES: [(&str, &str, &str); 7] = [
    ("COO", "batched_coo", "as given"),
    ("CSR_scal", "batched_csr_scalar", "as given"),
    ("CSR_vec", "batched_csr_vector", "as given"),
    ("CSR_smart", "batched_csr_smart", "as given"),
    ("CSRI", "batched_csr_i", "as given"),
    ("ELL", "batched_ell", "pure ELL"),
    ("ELL, sliced", "batched_ell", "as given"),
];
const LOOP: &str = "a loop of single products";

/// Products of other libraries.
const PEERS: [PeerProduct; 3] =
    [PeerProduct::CusparseLoop, PeerProduct::CusparseBlockDiagonal, PeerProduct::CusparseBatched];

/// The verified results of a batch by the name of a line.
fn of_name<'a>(
    records: &'a [(&'a Record, &'a BatchRecord)],
    name: usize,
) -> impl Iterator<Item = (&'a Record, &'a BatchRecord)> {
    let (_, algorithm, form) = NAMES[name];
    let is_it = move |(record, batch): &(&Record, &BatchRecord)| {
        record.verified && record.algorithm == algorithm && batch.batch_form == form
    };
    records.iter().copied().filter(is_it)
}

/// Throughput of the loop that a batch was compared with.
fn of_loop(record: &Record, batch: &BatchRecord) -> Option<f64> {
    batch.loop_us.filter(|us| *us > 0.0).map(|us| 2.0 * record.nnz as f64 / us / 1e3)
}

/// A line a kernel that was measured, one of the loop, and one a product of another library, over the axis on which
/// `position` says where a batch is.
fn kernels_over(
    records: &[(&Record, &BatchRecord)],
    position: impl Fn(&Record, &BatchRecord) -> f64,
    series: fn(&str, Vec<OfMatrix>) -> Series,
) -> Vec<Series> {
    let point = |record: &Record, batch: &BatchRecord, gflops| {
        (record.matrix.clone(), (position(record, batch), gflops))
    };
    let mut all: Vec<Series> = (0..NAMES.len())
        .map(|name| {
            let own = of_name(records, name);
            let points = own.map(|(record, batch)| point(record, batch, record.gflops));
            series(NAMES[name].0, points.collect())
        })
        .collect();
    // Every kernel's record has the loop that its batch was compared with: one of them is enough.
    let mut batches = BTreeSet::new();
    let looped = records.iter().filter_map(|(record, batch)| {
        let point = point(record, batch, Some(of_loop(record, batch)?));
        batches.insert((&record.matrix, &batch.batch_kind, batch.batch_size)).then_some(point)
    });
    all.push(series(LOOP, looped.collect()));
    all.extend(PEERS.into_iter().map(|product| {
        let own = records.iter().filter(|(record, _)| record.verified && product.is_of(record));
        let points = own.map(|(record, batch)| point(record, batch, record.gflops));
        series(product.label(), points.collect())
    }));
    all.retain(|series| !series.points.is_empty());
    all
}

fn mean_row(record: &Record) -> f64 {
    record.nnz as f64 / record.rows.max(1) as f64
}

/// One matrix, or matrices of one family, along a line.
fn joined(name: &str, points: Vec<OfMatrix>) -> Series {
    Series::line(name, points.into_iter().map(|(_, point)| point).collect())
}

/// Records of batches in groups of one text each, in the order in which they come.
fn grouped<'a>(
    records: &[&'a Record],
    key: impl Fn(&Record, &BatchRecord) -> String,
) -> Vec<(String, Vec<(&'a Record, &'a BatchRecord)>)> {
    let mut groups: Vec<(String, Vec<(&Record, &BatchRecord)>)> = Vec::new();
    for &record in records {
        let Some(batch) = record.batch() else { continue };
        let key = key(record, batch);
        match groups.iter_mut().find(|(known, _)| *known == key) {
            Some((_, group)) => group.push((record, batch)),
            None => groups.push((key, vec![(record, batch)])),
        }
    }
    groups
}

fn growing(records: &[&Record]) -> Vec<Picture> {
    let of_matrix =
        grouped(records, |record, _| format!("{}, {}", record.matrix, record.value_type));
    let picture = |(title, records): (String, Vec<(&Record, &BatchRecord)>)| {
        let series = kernels_over(&records, |_, batch| batch.batch_size as f64, joined);
        Picture::lines(title, "GFLOP/s", "problems", series)
    };
    of_matrix.into_iter().map(picture).collect()
}

/// Figure 4.
pub(super) const CONTROLLED: PaperFigure = PaperFigure {
    name: "batched-4",
    title: "Batches, Figure 4: kernels of CSR on balanced problems and on ones whose nonzeros are heaped in few rows",
    differs: "1,000 problems (times the scale) of order 1,024, as in the paper; the loop is of our own single products, and \
              cuSPARSE's are lines where --peers names its results.",
    cases: Cases::Problems(&[]),
    measured: Measured::Batch {
        kind: Batches::Density,
        sizes: &[1000],
        forms: &[
            (BatchedAlgorithm::CsrScalar, BatchForm::AsGiven),
            (BatchedAlgorithm::CsrVector, BatchForm::AsGiven),
            (BatchedAlgorithm::CsrSmart, BatchForm::AsGiven),
            (BatchedAlgorithm::CsrI, BatchForm::AsGiven),
        ],
        has_loop: true,
    },
    draw: controlled,
    ..GROWING
};

fn controlled(records: &[&Record]) -> Vec<Picture> {
    let word =
        |batch: &BatchRecord| batch.batch_kind.split(' ').next().unwrap_or_default().to_owned();
    let of_kind =
        grouped(records, |record, batch| format!("{}, {}", word(batch), record.value_type));
    let picture = |(title, records): (String, Vec<(&Record, &BatchRecord)>)| {
        let series = kernels_over(&records, |record, _| mean_row(record), joined);
        Picture::lines(title, "GFLOP/s", "nonzeros a row", series)
    };
    of_kind.into_iter().map(picture).collect()
}

/// Figure 5.
pub(super) const ALL: PaperFigure = PaperFigure {
    name: "batched-5",
    title: "Batches, Figure 5: batches of one problem each, over nonzeros a row",
    differs: "Likenesses of the paper's 32 matrices unless others are named; 10,000 problems times the scale. The paper \
              has the matrices side by side in this order.",
    cases: Cases::Problems(&[]),
    measured: Measured::Batch {
        kind: Batches::Homogeneous,
        sizes: &[10_000],
        forms: KERNELS,
        has_loop: false,
    },
    draw: over_mean_row,
    ..GROWING
};

fn over_mean_row(records: &[&Record]) -> Vec<Picture> {
    let of_type = grouped(records, |record, _| record.value_type.clone());
    let picture = |(value_type, records): (String, Vec<(&Record, &BatchRecord)>)| {
        let series = kernels_over(&records, |record, _| mean_row(record), Series::of_matrices);
        let size = records.iter().map(|(_, batch)| batch.batch_size).max().unwrap_or(0);
        let title = format!("Batches of {size}, {value_type}");
        Picture::lines(title, "GFLOP/s", "nonzeros a row", series)
    };
    of_type.into_iter().map(picture).collect()
}

/// Figure 6.
pub(super) const MIXED: PaperFigure = PaperFigure {
    name: "batched-6",
    title: "Batches, Figure 6: problems in random order (twelve in the paper)",
    differs: "Likenesses of the paper's matrices unless others are named; 10,000 problems times the scale, whose number \
              the paper does not tell. Bandwidth counts what a form stores, padding included, as in the paper.",
    measured: Measured::Batch {
        kind: Batches::Mixed,
        sizes: &[10_000],
        forms: KERNELS,
        has_loop: false,
    },
    draw: mixed,
    ..GROWING
};

/// Figure 7.
pub(super) const ALL_MIXED: PaperFigure = PaperFigure {
    name: "batched-7",
    title: "Batches, Figure 7: problems in random order (all 32 in the paper)",
    cases: Cases::Problems(&[]),
    ..MIXED
};

fn mixed(records: &[&Record]) -> Vec<Picture> {
    let mut pictures = Vec::new();
    for (value_type, records) in grouped(records, |record, _| record.value_type.clone()) {
        let rate = records.iter().filter_map(|(record, _)| record.stream_gbytes_per_s);
        let rate = rate.max_by(f64::total_cmp);
        let rows = |value: fn(&Record) -> Option<f64>| -> Vec<Row> {
            let of = |name: usize| {
                let found = of_name(&records, name).next();
                (NAMES[name].0.to_owned(), vec![found.and_then(|(record, _)| value(record))])
            };
            (0..NAMES.len()).map(of).collect()
        };
        let speed = rows(|record| record.gflops);
        let title = format!("Performance, {value_type}");
        pictures.push(Picture::blocks(title, "GFLOP/s", &["performance"], speed).of("kernel"));
        let bandwidth = rows(|record| record.gbytes_per_s);
        let title = format!("Bandwidth, {value_type}");
        pictures.push(
            Picture::blocks(title, "GB/s", &["bandwidth"], bandwidth)
                .of("kernel")
                .with_levels(rate.into_iter().collect(), "what reading a stream reaches"),
        );
    }
    pictures
}
