//! Other libraries' results beside a figure's: how they are called, and the file in which their own program
//! (`benches/peers`) hands them over.
//!
//! The file has a head, [`PeersHeader`], and then a [`Record`] a line. Sparrow itself calls no vendor's library: whoever
//! draws a figure reads such a file.

use serde::{Deserialize, Serialize};

use super::{Measured, PaperFigure};
use crate::Making;
use crate::record::{Operation, Record, SCHEMA};

/// The form's name.
pub const PEERS_SCHEMA: &str = "sparrow-figure-peers/1";

/// A product of another library.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PeerProduct {
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
    pub const ALL: [PeerProduct; 7] = [
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
            PeerProduct::CusparseSpmm => "cuSPARSE",
            PeerProduct::MklSpmm => "MKL",
            PeerProduct::CublasGemm => "cuBLAS, dense product",
            PeerProduct::MklGemm => "MKL, dense product",
            PeerProduct::CusparseLoop => "cuSPARSE in a loop",
            PeerProduct::CusparseBlockDiagonal => "cuSPARSE, block-diagonal",
            PeerProduct::CusparseBatched => "cuSPARSE, batched",
        }
    }

    /// Whether a result is of this product.
    pub(super) fn is_of(self, record: &Record) -> bool {
        record.algorithm == self.name()
    }
}

/// Whether a result is another library's.
pub(super) fn is_peer(record: &Record) -> bool {
    PeerProduct::ALL.iter().any(|product| product.is_of(record))
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
    pub making: Making,
    /// One each.
    pub records: Vec<Record>,
}

/// Why a file of peers cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PeersError {
    /// No other library has a product that the figure shows.
    #[error(
        "{figure} takes no results of other libraries: figures of SpMM and of batches do (spmm-4, batched-3)"
    )]
    Figure {
        /// The figure.
        figure: String,
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
    /// Whether other libraries' results can stand beside this figure's.
    pub fn takes_peers(&self) -> bool {
        self.peers_operation().is_some()
    }

    fn peers_operation(&self) -> Option<Operation> {
        match self.measured {
            Measured::Spmv { .. } => None,
            Measured::Spmm { .. } => Some(Operation::Spmm),
            Measured::Batch { .. } => Some(Operation::Batch),
        }
    }
}

impl PeersHeader {
    /// Of a figure on matrices that are made so.
    pub fn of(figure: &PaperFigure, making: Making) -> Self {
        let Making { scale, seed } = making;
        PeersHeader { schema: PEERS_SCHEMA.to_owned(), figure: figure.name.to_owned(), scale, seed }
    }
}

impl Peers {
    /// Reads a file's text, for a figure.
    ///
    /// # Errors
    /// The figure takes none; the text has no head, is for another figure, or has a line that is no such result, or none.
    pub fn parse(text: &str, figure: &PaperFigure) -> Result<Self, PeersError> {
        let Some(operation) = figure.peers_operation() else {
            return Err(PeersError::Figure { figure: figure.name.to_owned() });
        };
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
            record(line, operation).map_err(|reason| PeersError::Line { line: index + 1, reason })
        };
        let records = lines.map(read).collect::<Result<Vec<_>, _>>()?;
        if records.is_empty() {
            return Err(PeersError::Empty);
        }
        Ok(Peers { making: Making { scale: head.scale, seed: head.seed }, records })
    }
}

fn record(line: &str, operation: Operation) -> Result<Record, String> {
    let record: Record = serde_json::from_str(line).map_err(|error| error.to_string())?;
    if record.schema != SCHEMA {
        return Err(format!("its schema is {:?}, not {SCHEMA:?}", record.schema));
    }
    if !is_peer(&record) {
        return Err(format!("{} is no product of another library", record.algorithm));
    }
    if record.op != operation {
        return Err(format!("its op is \"{}\", the figure's \"{operation}\"", record.op));
    }
    Ok(record)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::Picture;
    use crate::json_lines;
    use crate::record::{BatchRecord, Details, SpmmRecord};
    use crate::samples::sample;

    const MAKING: Making = Making { scale: 0.25, seed: 3 };

    fn figure(name: &str) -> &'static PaperFigure {
        PaperFigure::named(name).unwrap()
    }

    /// A product with 64 columns that takes 100 us, with a vector 10.
    fn spmm(algorithm: &str) -> Record {
        let row = || "row".to_owned();
        let details = Details::Spmm(SpmmRecord {
            columns: 64,
            layout_b: row(),
            layout_c: row(),
            chosen: String::new(),
            mean_inode: 1.0,
            single_us: Some(10.0),
        });
        let mut record = sample("full 10 x 1000", algorithm).with_details(details);
        (record.rows, record.cols, record.nnz) = (10, 1000, 10_000);
        (record.median_us, record.gflops) = (Some(100.0), Some(12.8));
        record
    }

    /// A record as its program writes it: of another platform.
    fn peer(product: PeerProduct, record: Record) -> Record {
        Record {
            algorithm: product.name().to_owned(),
            platform: "cuSPARSE 12.6.3".to_owned(),
            driver: "CUDA 13.0".to_owned(),
            ..record
        }
    }

    fn batch(algorithm: &str) -> Record {
        let details = Details::Batch(BatchRecord {
            batch_size: 100,
            batch_kind: "balanced 4".to_owned(),
            batch_form: "as given".to_owned(),
            batch_bytes: 0,
            padding: 0,
            not_ell: 0,
            loop_us: Some(1000.0),
            block_diagonal_us: None,
        });
        sample("nos3-like", algorithm).with_details(details)
    }

    fn text(figure: &PaperFigure, records: &[Record]) -> String {
        let head = serde_json::to_string(&PeersHeader::of(figure, MAKING)).unwrap();
        format!("{head}\n{}", json_lines(records).unwrap())
    }

    fn names(picture: &Picture) -> Vec<&str> {
        picture.series.iter().map(|series| series.name.as_str()).collect()
    }

    #[test]
    fn a_file_of_peers_reads_back_with_its_scale_and_seed() {
        let records = [peer(PeerProduct::CusparseSpmm, spmm(""))];
        let peers = Peers::parse(&text(figure("spmm-4"), &records), figure("spmm-4")).unwrap();
        assert_eq!(peers, Peers { making: MAKING, records: records.into() });
    }

    #[test]
    fn a_file_of_another_figure_and_lines_that_are_none_of_it_are_refused() {
        let of = |records: &[Record]| text(figure("spmm-4"), records);
        let good = of(&[peer(PeerProduct::CusparseSpmm, spmm(""))]);
        let ours = of(&[spmm("spmm_merge")]);
        let batches = of(&[peer(PeerProduct::CusparseLoop, batch(""))]);
        let headless = good.split_once('\n').unwrap().1;
        let old = good.replace(PEERS_SCHEMA, "sparrow-figure-peers/0");
        let cut = &good[..good.len() - 9];
        let complaint =
            |text: &str, name: &str| Peers::parse(text, figure(name)).unwrap_err().to_string();
        let cases = [
            (&*good, "spmm-1", "for the figure spmm-4, not for spmm-1"),
            (&good, "evc-hyb-3", "evc-hyb-3 takes no results of other libraries"),
            ("", "spmm-4", "line 1 is not the head"),
            (headless, "spmm-4", "line 1 is not the head"),
            (&old, "spmm-4", "its schema is \"sparrow-figure-peers/0\""),
            (&ours, "spmm-4", "line 2: spmm_merge is no product of another library"),
            (&batches, "spmm-4", "line 2: its op is \"batch\", the figure's \"spmm\""),
            (cut, "spmm-4", "line 2: EOF"),
            (&of(&[]), "spmm-4", "it has no results"),
        ];
        for (text, name, expected) in cases {
            let complaint = complaint(text, name);
            assert!(complaint.contains(expected), "{complaint}");
        }
    }

    #[test]
    fn cusparse_is_two_lines_beside_ours_over_the_aspect_ratio_and_no_device_of_its_own() {
        let records = [spmm("spmm"), peer(PeerProduct::CusparseSpmm, spmm(""))];
        let pictures = figure("spmm-1").pictures(&records);
        assert_eq!(pictures.len(), 1);
        let theirs = ["cuSPARSE, with a vector", "cuSPARSE, with 64 columns"];
        assert_eq!(names(&pictures[0])[2..], theirs);
        assert_eq!(pictures[0].series[2].points, [(0.01, Some(2.0))]);
        assert_eq!(pictures[0].series[3].points, [(0.01, Some(12.8))]);
        let points = figure("spmm-1").points(&records);
        assert!(points.iter().all(|point| point.platform == "Example Platform"));
        // Without them there is no line of theirs.
        assert_eq!(names(&figure("spmm-1").pictures(&records[..1])[0]).len(), 2);
    }

    #[test]
    fn a_wrong_result_of_another_library_is_no_line() {
        let wrong = Record { verified: false, ..peer(PeerProduct::CusparseSpmm, spmm("")) };
        let pictures = figure("spmm-4").pictures(&[spmm("spmm_merge"), wrong]);
        assert_eq!(names(&pictures[0]).len(), 4);
    }

    #[test]
    fn sparse_and_dense_products_of_both_vendors_stand_over_density() {
        use PeerProduct::{CublasGemm, CusparseSpmm, MklGemm, MklSpmm};
        let mut records = vec![spmm("spmm_merge")];
        let all = [CusparseSpmm, CublasGemm, MklSpmm, MklGemm];
        records.extend(all.map(|product| peer(product, spmm(""))));
        let pictures = figure("spmm-7").pictures(&records);
        let theirs = ["cuSPARSE", "MKL", "cuBLAS, dense product", "MKL, dense product"];
        assert_eq!(names(&pictures[0])[4..], theirs);
        assert_eq!(pictures[0].series[6].points, [(100.0, Some(0.1))]);
    }

    #[test]
    fn gains_of_cusparse_are_over_as_many_of_our_products_with_a_vector() {
        let theirs = Record { median_us: Some(320.0), ..peer(PeerProduct::CusparseSpmm, spmm("")) };
        let pictures = figure("spmm-6").pictures(&[spmm("spmm"), theirs]);
        assert_eq!(names(&pictures[1]), ["the published rule", "the choice", "cuSPARSE"]);
        assert_eq!(pictures[1].series[2].points, [(1000.0, Some(2.0))]);
    }

    #[test]
    fn cusparse_in_a_loop_in_one_matrix_and_batched_are_lines_of_a_batch() {
        use PeerProduct::{CusparseBatched, CusparseBlockDiagonal, CusparseLoop};
        let mut records = vec![batch("batched_csr_i")];
        let all = [CusparseLoop, CusparseBlockDiagonal, CusparseBatched];
        records.extend(all.map(|product| peer(product, batch(""))));
        let theirs = ["cuSPARSE in a loop", "cuSPARSE, block-diagonal", "cuSPARSE, batched"];
        for name in ["batched-3", "batched-4"] {
            let pictures = figure(name).pictures(&records);
            assert_eq!(names(&pictures[0])[2..], theirs, "{name}");
        }
    }
}
