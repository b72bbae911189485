//! The two algorithms of SpMM, by name.

/// A way of computing C = alpha A B + beta C (Yang, Buluc, Owens 2018). Both give the same bits every time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum SpmmAlgorithm {
    /// A sub-group of items a row; neighbouring rows with the same columns together.
    RowSplit,
    /// Equal rows and nonzeros a group, wherever rows begin and end.
    Merge,
}

impl SpmmAlgorithm {
    /// Every one, in the paper's order.
    pub const ALL: [SpmmAlgorithm; 2] = [SpmmAlgorithm::RowSplit, SpmmAlgorithm::Merge];

    /// The name: of its files, in `--algorithms`, records, tuning tables and tests.
    pub fn name(self) -> &'static str {
        match self {
            SpmmAlgorithm::RowSplit => "spmm_row_split",
            SpmmAlgorithm::Merge => "spmm_merge",
        }
    }
}

impl std::fmt::Display for SpmmAlgorithm {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.name())
    }
}

impl std::str::FromStr for SpmmAlgorithm {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let all = SpmmAlgorithm::ALL;
        all.into_iter().find(|algorithm| algorithm.name() == text).ok_or_else(|| {
            let names: Vec<_> = all.iter().map(|algorithm| algorithm.name()).collect();
            format!("algorithm \"{text}\" is none of {}", names.join(", "))
        })
    }
}
