//! The registry: every algorithm, under the one name it has at every station.

use crate::{
    ParameterError, Parameters, csr_adaptive, csr_flat, csr_pieces, csr_scalar, csr_vector,
    evc_hyb, segmented_sum, sell, sell_sigma,
};

/// A way of computing y = alpha A x + beta y. One line here adds it to `--algorithms`, to bench rows and
/// to the device table.
///
/// | algorithm | the same bits every time |
/// |---|---|
/// | `csr_scalar`, `csr_vector` | yes: one item, or one group of items, sums each row in a fixed order |
/// | `csr_adaptive` | yes: sums that cross from group to group are added in a fixed order |
/// | `csr_flat`, `csr_pieces` | yes: the same |
/// | `segmented_sum` | yes: segments are cut by place alone, and parts of a row are added in their order |
/// | `evc_hyb` | yes: the items of a row sum it in a fixed order |
/// | `sell` | yes: one item sums each row in a fixed order |
/// | `sell_sigma` | yes: the lanes of a row sum it in a fixed order |
/// | `csr_adaptive`, variant `spin` | no, where rows are cut: groups add by float atomics as they come |
///
/// "Every time" is: the same plan, hyper-parameters, device and driver. A plan says it of itself
/// (`is_repeatable`), and so does each record of `sparrow bench`.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize,
)]
#[serde(try_from = "String", into = "&'static str")]
#[non_exhaustive]
pub enum Algorithm {
    /// One work-item a row; no plan; never cuts a row (Bell and Garland 2009).
    CsrScalar,
    /// Several items a row; no plan; never cuts a row (Bell and Garland 2009).
    CsrVector,
    /// One group a row block, three ways of summing (Daga and Greathouse 2015).
    CsrAdaptive,
    /// Equal nonzeros a group, wherever rows begin and end; long rows alone are cut.
    CsrFlat,
    /// Equal nonzeros an item, one contiguous piece: for CPUs; no plan; long rows alone are cut.
    CsrPieces,
    /// Equal nonzeros an item, rows put together afterwards; no plan (Liu and Vinter 2015).
    SegmentedSum,
    /// Rows in order of length, in two parts: a sorted, padded copy (Guo, Gropp and Olson).
    EvcHyb,
    /// Some rows a vector, in slices: for CPUs; a copy with fewer bytes (after Kreutzer and others 2014).
    Sell,
    /// Rows sorted by length within windows, in slices: for GPUs; a copy with fewer bytes (Kreutzer and others 2014).
    SellSigma,
}

impl Algorithm {
    /// Every algorithm, in the order reports list them.
    pub const ALL: [Algorithm; 9] = [
        Algorithm::CsrScalar,
        Algorithm::CsrVector,
        Algorithm::CsrAdaptive,
        Algorithm::CsrFlat,
        Algorithm::CsrPieces,
        Algorithm::SegmentedSum,
        Algorithm::EvcHyb,
        Algorithm::Sell,
        Algorithm::SellSigma,
    ];

    /// Whether a plan holds A's values in an order of its own: it takes A's room once more, and must be told of new values.
    pub fn copies_values(self) -> bool {
        matches!(self, Algorithm::EvcHyb | Algorithm::Sell | Algorithm::SellSigma)
    }

    /// The name: of its files, in `--algorithms`, records, tuning tables and tests.
    pub fn name(self) -> &'static str {
        match self {
            Algorithm::CsrScalar => "csr_scalar",
            Algorithm::CsrVector => "csr_vector",
            Algorithm::CsrAdaptive => "csr_adaptive",
            Algorithm::CsrFlat => "csr_flat",
            Algorithm::CsrPieces => "csr_pieces",
            Algorithm::SegmentedSum => "segmented_sum",
            Algorithm::EvcHyb => "evc_hyb",
            Algorithm::Sell => "sell",
            Algorithm::SellSigma => "sell_sigma",
        }
    }

    /// Refuses a hyper-parameter that the algorithm does not have.
    ///
    /// # Errors
    /// The name, with the names there are.
    pub fn check_parameter(self, name: &str) -> Result<(), ParameterError> {
        match self {
            Algorithm::CsrScalar => known::<csr_scalar::CsrScalar>(name),
            Algorithm::CsrVector => known::<csr_vector::CsrVector>(name),
            Algorithm::CsrAdaptive => known::<csr_adaptive::CsrAdaptive>(name),
            Algorithm::CsrFlat => known::<csr_flat::CsrFlat>(name),
            Algorithm::CsrPieces => known::<csr_pieces::CsrPieces>(name),
            Algorithm::SegmentedSum => known::<segmented_sum::SegmentedSum>(name),
            Algorithm::EvcHyb => known::<evc_hyb::EvcHyb>(name),
            Algorithm::Sell => known::<sell::Sell>(name),
            Algorithm::SellSigma => known::<sell_sigma::SellSigma>(name),
        }
    }
}

/// Refuses a hyper-parameter that `P` does not have.
pub(crate) fn known<P: Parameters>(name: &str) -> Result<(), ParameterError> {
    if P::SPACE.iter().any(|space| space.name == name) {
        return Ok(());
    }
    let names: Vec<_> = P::SPACE.iter().map(|space| space.name).collect();
    Err(ParameterError::Unknown {
        algorithm: P::ALGORITHM,
        name: name.to_owned(),
        known: names.join(", "),
    })
}

impl From<Algorithm> for &'static str {
    fn from(algorithm: Algorithm) -> Self {
        algorithm.name()
    }
}

impl TryFrom<String> for Algorithm {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl std::fmt::Display for Algorithm {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.name())
    }
}

impl std::str::FromStr for Algorithm {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Algorithm::ALL.into_iter().find(|algorithm| algorithm.name() == text).ok_or_else(|| {
            let names: Vec<_> = Algorithm::ALL.iter().map(|algorithm| algorithm.name()).collect();
            format!("algorithm \"{text}\" is none of {}", names.join(", "))
        })
    }
}
