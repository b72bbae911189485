//! The papers' figures: what each is measured on and by which methods, and how its numbers follow from the results.
//!
//! A figure is one entry of [`PAPER_FIGURES`]; whatever enumerates figures goes over that list. `picture` holds numbers
//! before they are drawn, `pace` says how long a run takes, `grid` finds results; a module a paper has the rest.

mod batched;
mod batches;
mod csr_adaptive;
mod evc_hyb;
mod evc_hyb_model;
mod grid;
mod means;
mod pace;
mod peers;
mod picture;
mod segmented_sum;
mod spmm;

use csr_core::generate::{Suite, even_matrix, uneven_matrix};
use csr_core::{Csr, ValueType};
use sparrow::{Algorithm, BatchedAlgorithm, SpmmAlgorithm, SpmmVariant, Variant, VectorOrder};

use crate::{BatchForm, GeneratorOptions, Record};
use peers::SPMV_PEERS;

pub use batches::{BatchCase, at_random, batch_sizes, density_batches};
pub use pace::{Pace, Work, spread};
pub use peers::{PEERS_SCHEMA, PeerProduct, Peers, PeersError, PeersHeader};
pub use picture::{Across, FIGURE_SCHEMA, FigurePoint, Picture, Row, Series};
pub use spmm::{aspect, density};

/// One figure of a paper.
#[derive(Debug)]
pub struct PaperFigure {
    /// What the command calls it: the paper's algorithm and the figure's number.
    pub name: &'static str,
    /// What it shows.
    pub title: &'static str,
    /// What is not as the paper has it.
    pub differs: &'static str,
    /// The paper's value types, unless others are asked for.
    pub value_types: &'static [ValueType],
    /// Its matrices.
    pub cases: Cases,
    /// What is measured on each.
    pub measured: Measured,
    /// Other libraries' products that it shows next to ours; none where it takes no results of theirs.
    pub peers: &'static [PeerProduct],
    /// The numbers, of the records of one device.
    draw: fn(&[&Record]) -> Vec<Picture>,
}

/// The matrices of a figure.
#[derive(Clone, Copy, Debug)]
pub enum Cases {
    /// Those of a suite.
    Suite(Suite),
    /// These classes.
    Classes(&'static [&'static str]),
    /// Small problems of these names, all 32 where none is listed.
    Problems(&'static [&'static str]),
    /// Made for this figure: no others can be named.
    Made(fn(GeneratorOptions) -> Vec<Made>),
}

/// A matrix that is made for a figure, or a sweep.
#[derive(Clone, Debug, PartialEq)]
pub struct Made {
    /// Its name in records.
    pub name: String,
    /// Rows.
    pub rows: usize,
    /// Columns.
    pub cols: usize,
    /// Nonzeros of each row.
    pub lengths: Lengths,
}

/// Nonzeros of the rows of a matrix that is made for a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lengths {
    /// Each row has so many.
    Even(usize),
    /// Each has 1 to so many, drawn at random.
    UpTo(usize),
}

impl Made {
    /// About how many nonzeros it has.
    pub fn nnz(&self) -> u64 {
        let mean = match self.lengths {
            Lengths::Even(length) => length as f64,
            Lengths::UpTo(most) => (most as f64 + 1.0) / 2.0,
        };
        (self.rows as f64 * mean) as u64
    }

    /// The matrix.
    ///
    /// # Errors
    /// More rows, columns or nonzeros than a matrix can have.
    pub fn generate(&self, seed: u64) -> csr_core::Result<Csr<f64, u64>> {
        match self.lengths {
            Lengths::Even(length) => even_matrix(self.rows, self.cols, length, seed),
            Lengths::UpTo(most) => uneven_matrix(self.rows, self.cols, most, seed),
        }
    }
}

/// What a figure measures on each of its matrices.
#[derive(Clone, Copy, Debug)]
pub enum Measured {
    /// Products with a vector.
    Spmv {
        /// By these.
        methods: &'static [Method],
        /// Whether the host's own product is timed, too.
        has_host: bool,
        /// Whether the bandwidth model and its experiments are wanted.
        is_modelled: bool,
    },
    /// Products with a dense matrix.
    Spmm {
        /// By these; `None` chooses.
        methods: &'static [(Option<SpmmAlgorithm>, SpmmVariant)],
        /// Columns of B and C.
        columns: usize,
        /// Whether the dense product is timed, too.
        with_dense: bool,
        /// Whether a product with a vector is timed in turn.
        with_vector: bool,
    },
    /// Batches of small problems.
    Batch {
        /// What batches are made of.
        kind: Batches,
        /// Problems of a batch, at scale 1.
        sizes: &'static [usize],
        /// By these, stored so.
        forms: &'static [(BatchedAlgorithm, BatchForm)],
        /// Whether a loop of single products is timed, too.
        has_loop: bool,
    },
}

/// What batches are made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Batches {
    /// Each problem a batch of its own.
    Homogeneous,
    /// All problems in random order.
    Mixed,
    /// Problems of controlled density, balanced and heaped: no others can be named.
    Density,
}

/// One way to multiply.
#[derive(Clone, Copy, Debug)]
pub struct Method {
    /// The algorithm.
    pub algorithm: Algorithm,
    /// Its variant.
    pub variant: Variant,
    /// The order of x and y.
    pub order: VectorOrder,
    /// Hyper-parameters over the device table's.
    pub parameters: &'static [(&'static str, u32)],
}

impl Method {
    const fn of(algorithm: Algorithm, variant: Variant) -> Self {
        Method { algorithm, variant, order: VectorOrder::Original, parameters: &[] }
    }

    const fn by_default(algorithm: Algorithm) -> Self {
        Method::of(algorithm, Variant::Full)
    }
}

impl Measured {
    /// Results of one matrix (of one batch) and value type.
    pub fn results(&self) -> usize {
        match self {
            Measured::Spmv { methods, has_host, is_modelled } => {
                methods.len() * if *is_modelled { 4 } else { 1 } + usize::from(*has_host)
            }
            Measured::Spmm { methods, with_dense, .. } => methods.len() + usize::from(*with_dense),
            Measured::Batch { forms, has_loop, .. } => forms.len() + usize::from(*has_loop),
        }
    }

    /// The work on a matrix, or a batch, of so many nonzeros in so many value types; of the first, programs are built.
    pub fn work(&self, nnz: u64, value_types: usize, is_first: bool) -> Work {
        let all = Work::of_results(nnz, self.results() * value_types, is_first);
        match self {
            Measured::Batch { .. } => all,
            Measured::Spmv { methods, .. } if is_first => {
                let more = |method: &Method| method.algorithm.spec().build_weight - 1;
                let more: usize = methods.iter().map(more).sum();
                Work { programs: all.programs + more * value_types, ..all }
            }
            Measured::Spmv { .. } => all,
            // The algorithms are verified together.
            Measured::Spmm { columns, .. } => {
                Work { oracles: Work::oracles_of_columns(*columns) * value_types, ..all }
            }
        }
    }
}

impl PaperFigure {
    /// The figure of a name.
    pub fn named(name: &str) -> Option<&'static PaperFigure> {
        PAPER_FIGURES.iter().copied().find(|figure| figure.name == name)
    }

    /// The figure's numbers as `records` have them: pictures of each device in turn.
    pub fn pictures(&self, records: &[Record]) -> Vec<Picture> {
        let mut pictures = Vec::new();
        for device in devices(records) {
            let of: Vec<&Record> = records.iter().filter(|r| is_of(r, device)).collect();
            pictures.extend((self.draw)(&of));
        }
        pictures
    }

    /// The same as lines of JSON.
    pub fn points(&self, records: &[Record]) -> Vec<FigurePoint> {
        let mut points = Vec::new();
        for device in devices(records) {
            let of: Vec<&Record> = records.iter().filter(|r| is_of(r, device)).collect();
            for picture in (self.draw)(&of) {
                for series in &picture.series {
                    points.extend(series.named().map(|(place, matrix, value)| FigurePoint {
                        schema: FIGURE_SCHEMA.to_owned(),
                        version: device.version.clone(),
                        figure: self.name.to_owned(),
                        picture: picture.title.clone(),
                        device: device.device.clone(),
                        platform: device.platform.clone(),
                        driver: device.driver.clone(),
                        series: series.name.clone(),
                        at: picture.place_name(place),
                        place: match picture.across {
                            Across::Numbers { .. } => Some(place),
                            _ => None,
                        },
                        matrix: (!matrix.is_empty()).then(|| matrix.to_owned()),
                        value,
                        unit: picture.unit.clone(),
                    }));
                }
            }
        }
        points
    }
}

/// A record of each device, the host's and other libraries' left out where there are others: their results stand next
/// to ours.
fn devices(records: &[Record]) -> Vec<&Record> {
    let mut devices: Vec<&Record> = Vec::new();
    for record in records.iter().filter(|record| !is_of_host(record)) {
        if !devices.iter().any(|other| is_of(other, record)) {
            devices.push(record);
        }
    }
    if devices.is_empty() { records.first().into_iter().collect() } else { devices }
}

/// The name of the host's own product in records.
const HOST: &str = "host";

fn is_of(record: &Record, device: &Record) -> bool {
    let key =
        |record: &Record| (record.device.clone(), record.platform.clone(), record.driver.clone());
    is_of_host(record) || key(record) == key(device)
}

/// Whether a result is compared with every device's.
fn is_of_host(record: &Record) -> bool {
    record.algorithm == HOST || peers::is_peer(record)
}

/// Every figure, paper by paper.
pub const PAPER_FIGURES: &[&PaperFigure] = &[
    &csr_adaptive::STEPS,
    &csr_adaptive::SET_UP,
    &csr_adaptive::BANDWIDTH,
    &segmented_sum::SINGLE,
    &segmented_sum::DOUBLE,
    &segmented_sum::BANDWIDTH,
    &evc_hyb::SPEED_UP,
    &evc_hyb::REORDERING,
    &evc_hyb::RATES,
    &evc_hyb_model::MEMORY,
    &evc_hyb_model::BALANCE,
    &evc_hyb_model::ROOFLINE,
    &evc_hyb_model::TIMES,
    &evc_hyb_model::SHARES,
    &evc_hyb_model::WITHOUT_LOADS,
    &evc_hyb::RANDOM,
    &spmm::ASPECT,
    &spmm::ROW_SPLIT,
    &spmm::LENGTHS,
    &spmm::EACH,
    &spmm::DENSITY,
    &batched::GROWING,
    &batched::CONTROLLED,
    &batched::ALL,
    &batched::MIXED,
    &batched::ALL_MIXED,
];

#[cfg(test)]
mod tests;
