//! What values of options of `sparrow bench` name.

use std::str::FromStr;

/// What `--sweep` names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Sweep {
    /// 2^24 nonzeros (times --scale) without zeros between, from 2 rows to 2 columns
    Aspect,
    /// Order 100,000 (times --scale), from 0.01 to 10% nonzeros; compared with the dense product
    Density,
}

/// What `--layout-b` and `--layout-c` name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Layout {
    /// Elements of a row side by side
    Row,
    /// Elements of a column side by side
    Column,
}

impl From<Layout> for sparrow::Layout {
    fn from(layout: Layout) -> Self {
        match layout {
            Layout::Row => sparrow::Layout::RowMajor,
            Layout::Column => sparrow::Layout::ColumnMajor,
        }
    }
}

/// What batches `--batch-kind` names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum BatchKind {
    /// Each matrix a batch of its own
    Homogeneous,
    /// All matrices in random order
    Mixed,
    /// The same problems, the largest first
    Sorted,
    /// Order 1,024 with 1 to 64 nonzeros a row, balanced and heaped in few rows
    Density,
    /// Tiny problems, and the same with one among them that has a full row of 1,024
    DenseRow,
}

/// What `--algorithms` names, of those of one operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Algorithms<A> {
    /// Chosen by the library.
    Auto,
    /// Every one of the operation.
    All,
    /// These.
    These(Vec<A>),
}

impl<A: Copy> Algorithms<A> {
    /// What to time, `None` for the choice, which is among `all`.
    pub(crate) fn with_choice(&self, all: &[A]) -> Vec<Option<A>> {
        match self {
            Algorithms::Auto => vec![None],
            Algorithms::All => std::iter::once(None).chain(all.iter().copied().map(Some)).collect(),
            Algorithms::These(these) => these.iter().copied().map(Some).collect(),
        }
    }

    /// What to time, `None` for the choice where that is asked for, else all or those that are named.
    pub(crate) fn with_choice_if_auto(&self, all: &[A]) -> Vec<Option<A>> {
        match self {
            Algorithms::Auto => vec![None],
            algorithms => algorithms.named_or(all).into_iter().map(Some).collect(),
        }
    }

    /// Those that are named, or all.
    pub(crate) fn named_or(&self, all: &[A]) -> Vec<A> {
        match self {
            Algorithms::Auto | Algorithms::All => all.to_vec(),
            Algorithms::These(these) => these.clone(),
        }
    }
}

impl<A: FromStr> FromStr for Algorithms<A> {
    type Err = A::Err;

    fn from_str(text: &str) -> Result<Self, A::Err> {
        match text {
            "auto" => Ok(Algorithms::Auto),
            "all" => Ok(Algorithms::All),
            _ => text.split(',').map(str::parse).collect::<Result<_, _>>().map(Algorithms::These),
        }
    }
}
