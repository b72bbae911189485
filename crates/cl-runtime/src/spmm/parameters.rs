//! Hyper-parameters of SpMM, of whichever algorithm runs.

use cl_kernels::spmm::{SpmmAlgorithm, Tiling};
use cl_kernels::spmm_merge::SpmmMerge;
use cl_kernels::spmm_nonzero_split::SpmmNonzeroSplit;
use cl_kernels::spmm_row_split::SpmmRowSplit;

/// Hyper-parameters of the algorithm that runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpmmParameters {
    /// Of `spmm_row_split`.
    RowSplit(SpmmRowSplit),
    /// Of `spmm_merge`.
    Merge(SpmmMerge),
    /// Of `spmm_nonzero_split`, the published form of `spmm_merge`.
    NonzeroSplit(SpmmNonzeroSplit),
}

impl SpmmParameters {
    /// The algorithm they are of.
    pub fn algorithm(&self) -> SpmmAlgorithm {
        match self {
            SpmmParameters::RowSplit(_) => SpmmAlgorithm::RowSplit,
            SpmmParameters::Merge(_) | SpmmParameters::NonzeroSplit(_) => SpmmAlgorithm::Merge,
        }
    }

    pub(super) fn group_size(&self) -> u32 {
        match self {
            SpmmParameters::RowSplit(parameters) => parameters.group_size,
            SpmmParameters::Merge(parameters) => parameters.group_size,
            SpmmParameters::NonzeroSplit(parameters) => parameters.group_size,
        }
    }

    /// Columns an item may take.
    pub(super) fn widths(&self) -> [u32; 2] {
        match self {
            SpmmParameters::RowSplit(parameters) => parameters.widths(),
            // Local memory holds a vector for each item.
            SpmmParameters::Merge(parameters) => [parameters.vector_width; 2],
            SpmmParameters::NonzeroSplit(parameters) => [parameters.vector_width; 2],
        }
    }

    /// Whether B is copied where it is row-major and its rows begin where vectors may not: 0 never, 1 where it pays, 2
    /// always. As published it is not.
    pub(super) fn copy_b(&self) -> u32 {
        match self {
            SpmmParameters::RowSplit(parameters) => parameters.copy_b,
            SpmmParameters::Merge(parameters) => parameters.copy_b,
            SpmmParameters::NonzeroSplit(_) => 0,
        }
    }

    pub(super) fn with_vector_width(self, vector_width: u32) -> Self {
        match self {
            SpmmParameters::RowSplit(parameters) => {
                SpmmParameters::RowSplit(SpmmRowSplit { vector_width, ..parameters })
            }
            SpmmParameters::Merge(parameters) => {
                SpmmParameters::Merge(SpmmMerge { vector_width, ..parameters })
            }
            SpmmParameters::NonzeroSplit(parameters) => {
                SpmmParameters::NonzeroSplit(SpmmNonzeroSplit { vector_width, ..parameters })
            }
        }
    }

    /// The items a sub-group lies within: those that run in step, if they shuffle, or a group.
    pub(super) fn in_step(&self) -> u32 {
        match self {
            SpmmParameters::RowSplit(parameters) => parameters.in_step(),
            SpmmParameters::Merge(parameters) => parameters.group_size,
            SpmmParameters::NonzeroSplit(parameters) => parameters.group_size,
        }
    }

    /// Sub-groups of a group, or teams of those that share rows.
    pub(super) fn sub_groups(&self, tiling: &Tiling) -> u32 {
        self.group_size() / self.in_step() * (self.in_step() / tiling.items_per_row())
    }
}

impl std::fmt::Display for SpmmParameters {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            SpmmParameters::RowSplit(parameters) => parameters.fmt(f),
            SpmmParameters::Merge(parameters) => parameters.fmt(f),
            SpmmParameters::NonzeroSplit(parameters) => parameters.fmt(f),
        }
    }
}
