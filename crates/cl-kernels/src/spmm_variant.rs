//! In which form SpMM runs: with what was found to gain, or as its paper has it (Yang, Buluc, Owens 2018).

use crate::spmm_algorithm::SpmmAlgorithm;

/// In which form SpMM runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum SpmmVariant {
    /// With what was found to gain since: the switch of the device, i-nodes, rows in order of length, long rows cut.
    #[default]
    Default,
    /// As published: the mean row alone decides ([`published_choice`]), row split takes rows as they come, each whole (up
    /// to 2^20 nonzeros), and merge is a nonzero split (`spmm_nonzero_split`).
    Published,
}

impl SpmmVariant {
    /// Both.
    pub const ALL: [SpmmVariant; 2] = [SpmmVariant::Default, SpmmVariant::Published];

    /// The spelling in options; records of the default form have none.
    pub fn name(self) -> &'static str {
        match self {
            SpmmVariant::Default => "default",
            SpmmVariant::Published => "published",
        }
    }
}

impl std::fmt::Display for SpmmVariant {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.name())
    }
}

impl std::str::FromStr for SpmmVariant {
    type Err = String;

    /// Also `usual`, which the default form was called.
    fn from_str(text: &str) -> Result<Self, String> {
        if text == "usual" {
            return Ok(SpmmVariant::Default);
        }
        SpmmVariant::ALL
            .into_iter()
            .find(|variant| variant.name() == text)
            .ok_or_else(|| format!("variant \"{text}\" is none of default, published"))
    }
}

/// Nonzeros of a mean row from which on the paper splits by rows (section 5.4).
pub const PUBLISHED_MEAN_ROW: f64 = 9.35;

/// The paper's heuristic as it stands: merge where the mean row has fewer nonzeros than [`PUBLISHED_MEAN_ROW`].
pub fn published_choice(rows: u64, nnz: u64) -> (SpmmAlgorithm, String) {
    let mean = nnz as f64 / rows.max(1) as f64;
    match mean < PUBLISHED_MEAN_ROW {
        true => (
            SpmmAlgorithm::Merge,
            format!("as published: the mean row has {mean:.2} nonzeros, fewer than 9.35"),
        ),
        false => (
            SpmmAlgorithm::RowSplit,
            format!("as published: the mean row has {mean:.2} nonzeros, at least 9.35"),
        ),
    }
}
