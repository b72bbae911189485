//! Other libraries' results next to a figure's: how they are called, and the file in which their own program
//! (`benches/peers`) hands them over.
//!
//! The file has a head, [`PeersHeader`], and then a [`Record`] a line. Sparrow itself calls no vendor's library: a run
//! that draws a figure reads such a file.

use serde::{Deserialize, Serialize};

use super::{Measured, PAPER_FIGURES, PaperFigure};
use crate::GeneratorOptions;
use crate::record::{Operation, Record, SCHEMA};

/// The form's name.
pub const PEERS_SCHEMA: &str = "sparrow-figure-peers/1";

/// A product of another library.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PeerProduct {
    /// cuSPARSE's product with a vector.
    CusparseSpmv,
    /// MKL's.
    MklSpmv,
    /// cuSPARSE's product with a dense matrix.
    CusparseSpmm,
    /// MKL's.
    MklSpmm,
    /// cuBLAS's product of two dense matrices.
    CublasGemm,
    /// MKL's.
    MklGemm,
    /// cuSPARSE's products with a vector, one problem after the other.
    CusparseLoop,
    /// cuSPARSE's product of the block-diagonal matrix of all problems.
    CusparseBlockDiagonal,
    /// cuSPARSE's batched product with a dense matrix, of one column.
    CusparseBatched,
}

impl PeerProduct {
    /// Every one.
    pub const ALL: [PeerProduct; 9] = [
        PeerProduct::CusparseSpmv,
        PeerProduct::MklSpmv,
        PeerProduct::CusparseSpmm,
        PeerProduct::MklSpmm,
        PeerProduct::CublasGemm,
        PeerProduct::MklGemm,
        PeerProduct::CusparseLoop,
        PeerProduct::CusparseBlockDiagonal,
        PeerProduct::CusparseBatched,
    ];

    /// The algorithm's name in records.
    pub fn name(self) -> &'static str {
        match self {
            PeerProduct::CusparseSpmv => "cusparse_spmv",
            PeerProduct::MklSpmv => "mkl_spmv",
            PeerProduct::CusparseSpmm => "cusparse_spmm",
            PeerProduct::MklSpmm => "mkl_spmm",
            PeerProduct::CublasGemm => "cublas_gemm",
            PeerProduct::MklGemm => "mkl_gemm",
            PeerProduct::CusparseLoop => "cusparse_loop",
            PeerProduct::CusparseBlockDiagonal => "cusparse_block_diagonal",
            PeerProduct::CusparseBatched => "cusparse_batched",
        }
    }

    /// The name of its line.
    pub(super) fn label(self) -> &'static str {
        match self {
            PeerProduct::CusparseSpmv | PeerProduct::CusparseSpmm => "cuSPARSE",
            PeerProduct::MklSpmv | PeerProduct::MklSpmm => "MKL",
            PeerProduct::CublasGemm => "cuBLAS, dense product",
            PeerProduct::MklGemm => "MKL, dense product",
            PeerProduct::CusparseLoop => "cuSPARSE in a loop",
            PeerProduct::CusparseBlockDiagonal => "cuSPARSE, block-diagonal",
            PeerProduct::CusparseBatched => "cuSPARSE, batched",
        }
    }

    /// Whether it runs on the host's cores, whatever device ours runs on.
    pub fn is_on_host(self) -> bool {
        matches!(self, PeerProduct::MklSpmv | PeerProduct::MklSpmm | PeerProduct::MklGemm)
    }

    /// The product that a result is of; none where it is ours.
    pub fn of(record: &Record) -> Option<PeerProduct> {
        PeerProduct::ALL.into_iter().find(|product| product.is_of(record))
    }

    /// Whether a result is of this product.
    pub(super) fn is_of(self, record: &Record) -> bool {
        record.algorithm == self.name()
    }
}

/// Products with a vector.
pub(super) const SPMV_PEERS: [PeerProduct; 2] = [PeerProduct::CusparseSpmv, PeerProduct::MklSpmv];

/// Whether a result is another library's.
pub(super) fn is_peer(record: &Record) -> bool {
    PeerProduct::of(record).is_some()
}

/// The head of a file of peers: which figure they are for, and of which matrices.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PeersHeader {
    /// [`PEERS_SCHEMA`].
    pub schema: String,
    /// The figure's name.
    pub figure: String,
    /// What multiplies the rows of generated matrices, or problems of a batch.
    pub scale: f64,
    /// The seed of generated matrices and of vectors.
    pub seed: u64,
}

/// Other libraries' results for a figure.
#[derive(Clone, Debug, PartialEq)]
pub struct Peers {
    /// Whose matrices they are of.
    pub generator: GeneratorOptions,
    /// One each.
    pub records: Vec<Record>,
}

/// Why a file of peers cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PeersError {
    /// No other library has a product that the figure shows.
    #[error("{figure} takes no results of other libraries: {others} do")]
    Figure {
        /// The figure.
        figure: String,
        /// Those that do.
        others: String,
    },

    /// The first line is no head.
    #[error(
        "line 1 is not the head of results of other libraries, as sparrow-peers figure writes it: {reason}"
    )]
    Head {
        /// What is wrong with it.
        reason: String,
    },

    /// It is for another figure.
    #[error("its results are for the figure {found}, not for {wanted}")]
    OtherFigure {
        /// Its figure.
        found: String,
        /// The one that is drawn.
        wanted: String,
    },

    /// A line is no result of another library for this figure.
    #[error("line {line}: {reason}")]
    Line {
        /// Counted from 1.
        line: usize,
        /// What is wrong with it.
        reason: String,
    },

    /// There is a head alone.
    #[error("it has no results")]
    Empty,
}

impl PaperFigure {
    /// Names of the figures that other libraries' results can be shown with, with commas.
    pub fn with_peers() -> String {
        let all = PAPER_FIGURES.iter().filter(|figure| !figure.peers.is_empty());
        all.map(|figure| figure.name).collect::<Vec<_>>().join(", ")
    }

    /// Names of other libraries' products that it shows, with commas.
    pub fn peer_names(&self) -> String {
        self.peers.iter().map(|product| product.name()).collect::<Vec<_>>().join(", ")
    }

    fn operation(&self) -> Operation {
        match self.measured {
            Measured::Spmv { .. } => Operation::Spmv,
            Measured::Spmm { .. } => Operation::Spmm,
            Measured::Batch { .. } => Operation::Batch,
        }
    }
}

impl PeersHeader {
    /// Of a figure on matrices that are made so.
    pub fn of(figure: &PaperFigure, generator: GeneratorOptions) -> Self {
        let GeneratorOptions { scale, seed } = generator;
        PeersHeader { schema: PEERS_SCHEMA.to_owned(), figure: figure.name.to_owned(), scale, seed }
    }
}

impl Peers {
    /// Reads a file's text, for a figure.
    ///
    /// # Errors
    /// The figure takes none; the text has no head, is for another figure, or has a line that is no such result, or none. A
    /// result is of a product that the figure shows, and of the head's scale and seed.
    pub fn parse(text: &str, figure: &PaperFigure) -> Result<Self, PeersError> {
        if figure.peers.is_empty() {
            let (figure, others) = (figure.name.to_owned(), PaperFigure::with_peers());
            return Err(PeersError::Figure { figure, others });
        }
        let mut lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
        let (_, head) = lines.next().unwrap_or_default();
        let head: PeersHeader = serde_json::from_str(head)
            .map_err(|error| PeersError::Head { reason: error.to_string() })?;
        if head.schema != PEERS_SCHEMA {
            let reason = format!("its schema is {:?}, not {PEERS_SCHEMA:?}", head.schema);
            return Err(PeersError::Head { reason });
        }
        if head.figure != figure.name {
            let wanted = figure.name.to_owned();
            return Err(PeersError::OtherFigure { found: head.figure, wanted });
        }
        let read = |(index, line): (usize, &str)| {
            record(line, figure, &head)
                .map_err(|reason| PeersError::Line { line: index + 1, reason })
        };
        let records = lines.map(read).collect::<Result<Vec<_>, _>>()?;
        if records.is_empty() {
            return Err(PeersError::Empty);
        }
        Ok(Peers { generator: GeneratorOptions { scale: head.scale, seed: head.seed }, records })
    }
}

/// A line's result.
fn record(line: &str, figure: &PaperFigure, head: &PeersHeader) -> Result<Record, String> {
    let record: Record = serde_json::from_str(line).map_err(|error| error.to_string())?;
    if record.schema != SCHEMA {
        return Err(format!("its schema is {:?}, not {SCHEMA:?}", record.schema));
    }
    let Some(product) = PeerProduct::of(&record) else {
        return Err(format!("{} is no product of another library", record.algorithm));
    };
    let operation = figure.operation();
    if record.op != operation {
        return Err(format!("its op is \"{}\", the figure's \"{operation}\"", record.op));
    }
    if !figure.peers.contains(&product) {
        let (name, shown) = (figure.name, figure.peer_names());
        return Err(format!("{name} does not show {}: of others it shows {shown}", product.name()));
    }
    // A file's matrix has no scale.
    let scale = record.scale.unwrap_or(if record.source == "file" { head.scale } else { 1.0 });
    if scale != head.scale {
        return Err(format!("its scale is {scale}, the head's {}", head.scale));
    }
    if record.seed != head.seed {
        return Err(format!("its seed is {}, the head's {}", record.seed, head.seed));
    }
    Ok(record)
}

#[cfg(test)]
mod tests;
