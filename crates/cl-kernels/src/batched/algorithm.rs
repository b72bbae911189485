//! The ways of computing one problem of a batch (Anzt et al. 2017), and which is chosen.

use csr_core::batch::{Format, Problem};

use super::SMALL_ENTRIES;
use crate::parameters::parameters;
use crate::{DeviceTraits, DeviceType, KernelKey};

/// A way of computing one problem of a batch.
///
/// Each gives the same bits every time: whatever crosses from item to item is added in a fixed order.
/// The variant `atomic` of `batched_coo` and `batched_csr_i` does not claim it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum BatchedAlgorithm {
    /// Equal entries a sub-group, runs of one row added up.
    Coo,
    /// An item a row.
    CsrScalar,
    /// A sub-group of items a row.
    CsrVector,
    /// As many items a row as the problem's mean row has nonzeros.
    CsrSmart,
    /// Equal nonzeros a sub-group, wherever rows begin and end.
    CsrI,
    /// An item a row, entries of neighbouring rows side by side.
    Ell,
}

impl BatchedAlgorithm {
    /// Every one, in the paper's order.
    pub const ALL: [BatchedAlgorithm; 6] = [
        BatchedAlgorithm::Coo,
        BatchedAlgorithm::CsrScalar,
        BatchedAlgorithm::CsrVector,
        BatchedAlgorithm::CsrSmart,
        BatchedAlgorithm::CsrI,
        BatchedAlgorithm::Ell,
    ];

    /// The name: in `--algorithms`, in records and tests; the three by rows share a file in `cl/batched/`.
    pub fn name(self) -> &'static str {
        match self {
            BatchedAlgorithm::Coo => "batched_coo",
            BatchedAlgorithm::CsrScalar => "batched_csr_scalar",
            BatchedAlgorithm::CsrVector => "batched_csr_vector",
            BatchedAlgorithm::CsrSmart => "batched_csr_smart",
            BatchedAlgorithm::CsrI => "batched_csr_i",
            BatchedAlgorithm::Ell => "batched_ell",
        }
    }

    /// Whether it computes problems in that format.
    pub fn reads(self, format: Format) -> bool {
        match format {
            Format::Coo => self == BatchedAlgorithm::Coo,
            Format::Ell { .. } | Format::SlicedEll => self == BatchedAlgorithm::Ell,
            Format::Csr => !matches!(self, BatchedAlgorithm::Coo | BatchedAlgorithm::Ell),
        }
    }

    /// Whether a sub-group can compute a problem without the others of its group.
    pub fn may_share_group(self) -> bool {
        !matches!(self, BatchedAlgorithm::Coo | BatchedAlgorithm::CsrI)
    }

    /// The number of the kind in a task (`KIND_...`).
    pub fn kind(self, format: Format) -> u32 {
        match (self, format) {
            (BatchedAlgorithm::CsrScalar, _) => 0,
            (BatchedAlgorithm::CsrVector, _) => 1,
            (BatchedAlgorithm::CsrSmart, _) => 2,
            (BatchedAlgorithm::CsrI, _) => 3,
            (BatchedAlgorithm::Coo, _) => 4,
            (BatchedAlgorithm::Ell, Format::SlicedEll) => 6,
            (BatchedAlgorithm::Ell, _) => 5,
        }
    }

    /// The kernel that computes its problems; `in_step`: sub-groups run in step and can vote.
    pub fn kernel(self, in_step: bool) -> BatchedKernel {
        match self {
            BatchedAlgorithm::Coo => BatchedKernel::Coo,
            BatchedAlgorithm::CsrI if in_step => BatchedKernel::CsrIInStep,
            BatchedAlgorithm::CsrI => BatchedKernel::CsrI,
            BatchedAlgorithm::Ell => BatchedKernel::Ell,
            _ => BatchedKernel::Rows,
        }
    }
}

/// A kernel of batches: a file of `cl/batched/`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum BatchedKernel {
    /// Equal nonzeros a sub-group, each of which runs in step.
    CsrIInStep,
    /// Equal nonzeros a sub-group, which meet at barriers.
    CsrI,
    /// Equal entries a sub-group.
    Coo,
    /// Rows of CSR by items.
    Rows,
    /// Rows of ELL by items.
    Ell,
}

impl BatchedKernel {
    /// Every one.
    pub const ALL: [BatchedKernel; 5] = [
        BatchedKernel::CsrIInStep,
        BatchedKernel::CsrI,
        BatchedKernel::Coo,
        BatchedKernel::Rows,
        BatchedKernel::Ell,
    ];

    /// Path of its source below `cl/`.
    pub fn source(self) -> &'static str {
        match self {
            BatchedKernel::CsrIInStep => "batched/batched_csr_i_in_step.cl",
            BatchedKernel::CsrI => "batched/batched_csr_i.cl",
            BatchedKernel::Coo => "batched/batched_coo.cl",
            BatchedKernel::Rows => "batched/batched_rows.cl",
            BatchedKernel::Ell => "batched/batched_ell.cl",
        }
    }

    /// A key of its source without the hyper-parameters that it does not read.
    pub fn key(self, mut key: KernelKey) -> KernelKey {
        let reads: &[&str] = match self {
            BatchedKernel::Rows | BatchedKernel::Ell => &["x_local"],
            BatchedKernel::Coo => &["x_local", "nnz_per_item"],
            BatchedKernel::CsrI => &["x_local", "nnz_per_item", "rows_per_task"],
            BatchedKernel::CsrIInStep => &["x_local", "nnz_per_item", "rows_per_task", "pairs"],
        };
        let is_read = |name: &str| name.starts_with("sub_group") || reads.contains(&name);
        key.parameters.retain(|(name, _)| is_read(name));
        key
    }
}

parameters! {
    /// Which algorithm a problem in compressed rows gets where none is asked for, by its entries: `batched_csr_i` where
    /// it has more than both. A device table's line like a kernel's.
    pub struct BatchedSwitch for "batched_switch" {
        /// Up to so many `batched_csr_scalar`.
        scalar_entries: [0, 64, u32::MAX],
        /// Up to so many `batched_csr_smart`; above `scalar_entries`, or there is none.
        smart_entries: [0, 128, 512, 2048],
    }
}

impl BatchedSwitch {
    /// On a CPU an item is a loop, so whole rows by items are soundest; elsewhere equal nonzeros a sub-group suit every
    /// pattern, but a problem of so few that it shares a group gets items by its mean row.
    pub fn default_for(device: &DeviceTraits) -> Self {
        match device.device_type {
            DeviceType::Cpu => BatchedSwitch { scalar_entries: u32::MAX, smart_entries: 0 },
            _ => BatchedSwitch { scalar_entries: 0, smart_entries: SMALL_ENTRIES as u32 },
        }
    }

    /// Chooses for one problem: the algorithm that was asked for, where it reads the problem's format.
    pub fn select(&self, asked: Option<BatchedAlgorithm>, problem: &Problem) -> BatchedAlgorithm {
        match (problem.format, asked) {
            (Format::Coo, _) => BatchedAlgorithm::Coo,
            (Format::Ell { .. } | Format::SlicedEll, _) => BatchedAlgorithm::Ell,
            (Format::Csr, Some(asked)) if asked.reads(Format::Csr) => asked,
            (Format::Csr, _) if problem.entries <= self.scalar_entries => {
                BatchedAlgorithm::CsrScalar
            }
            (Format::Csr, _) if problem.entries <= self.smart_entries => BatchedAlgorithm::CsrSmart,
            (Format::Csr, _) => BatchedAlgorithm::CsrI,
        }
    }
}

/// Small problems for each compute unit that are computed like the large ones among them: a launch for these alone would
/// take longer than the groups they fill.
const SMALL_PER_UNIT: u64 = 16;

/// Large problems are computed by rows, in the small ones' launch, where they have no more than this part of the work.
const LARGE_PART: u64 = 8;

/// Which algorithm each problem of a batch gets.
#[derive(Clone, Copy, Debug)]
pub struct BatchedChoice {
    asked: Option<BatchedAlgorithm>,
    switch: BatchedSwitch,
    /// What problems above both of the switch's numbers get.
    large: BatchedAlgorithm,
}

impl BatchedChoice {
    /// By the switch's numbers for each problem by itself.
    pub fn of_each(asked: Option<BatchedAlgorithm>, switch: BatchedSwitch) -> Self {
        BatchedChoice { asked, switch, large: BatchedAlgorithm::CsrI }
    }

    /// By the switch's numbers, but in one launch where small or large problems are few: each kernel that problems need
    /// is a launch. `problems` are given with how many there are of each.
    pub fn of_all<'a>(
        asked: Option<BatchedAlgorithm>,
        switch: BatchedSwitch,
        problems: impl Iterator<Item = (&'a Problem, usize)>,
        compute_units: u32,
    ) -> Self {
        let mut choice = Self::of_each(asked, switch);
        let (mut small, mut small_work, mut large_work) = (0, 0, 0);
        for (problem, count) in problems {
            let work = (u64::from(problem.entries) + u64::from(problem.rows)) * count as u64;
            match switch.select(asked, problem) {
                BatchedAlgorithm::CsrSmart => {
                    (small, small_work) = (small + count as u64, small_work + work)
                }
                BatchedAlgorithm::CsrI => large_work += work,
                _ => {}
            }
        }
        if asked.is_none() && small > 0 && large_work > 0 {
            if small <= SMALL_PER_UNIT * u64::from(compute_units) {
                choice.switch.smart_entries = 0;
            } else if large_work <= small_work / LARGE_PART {
                choice.large = BatchedAlgorithm::CsrVector;
            }
        }
        choice
    }

    /// The algorithm of one problem.
    pub fn select(&self, problem: &Problem) -> BatchedAlgorithm {
        match self.switch.select(self.asked, problem) {
            BatchedAlgorithm::CsrI if self.asked.is_none() => self.large,
            chosen => chosen,
        }
    }
}

impl std::fmt::Display for BatchedAlgorithm {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.name())
    }
}

impl std::str::FromStr for BatchedAlgorithm {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let all = BatchedAlgorithm::ALL;
        all.into_iter().find(|algorithm| algorithm.name() == text).ok_or_else(|| {
            let names: Vec<_> = all.iter().map(|algorithm| algorithm.name()).collect();
            format!("algorithm \"{text}\" is none of {}", names.join(", "))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_go_both_ways() {
        for algorithm in BatchedAlgorithm::ALL {
            assert_eq!(algorithm.name().parse(), Ok(algorithm));
        }
        assert!("csr_i".parse::<BatchedAlgorithm>().unwrap_err().contains("batched_csr_i"));
    }

    fn of(entries: u32, format: Format) -> Problem {
        let (index, columns, values, x, y) = (0, 0, 0, 0, 0);
        Problem { rows: 100, cols: 100, entries, format, index, columns, values, x, y }
    }

    #[test]
    fn few_small_or_few_large_problems_go_in_the_launch_of_the_others() {
        use BatchedAlgorithm::{CsrI, CsrSmart, CsrVector};
        let switch = BatchedSwitch { scalar_entries: 0, smart_entries: 512 };
        let (small, large) = (of(100, Format::Csr), of(5000, Format::Csr));
        let chosen = |asked, small_count, large_count| {
            let problems = [(&small, small_count), (&large, large_count)];
            let problems = problems.into_iter().filter(|(_, count)| *count > 0);
            let choice = BatchedChoice::of_all(asked, switch, problems, 10);
            [choice.select(&small), choice.select(&large)]
        };
        assert_eq!(chosen(None, 160, 1000), [CsrI, CsrI]);
        assert_eq!(chosen(None, 161, 1000), [CsrSmart, CsrI]);
        // 8 large problems have 40,800 of rows and entries, and 1,632 small ones eight times as many.
        assert_eq!(chosen(None, 1632, 8), [CsrSmart, CsrVector]);
        assert_eq!(chosen(None, 1631, 8), [CsrSmart, CsrI]);
        assert_eq!(chosen(None, 5, 0), [CsrSmart, CsrI]);
        assert_eq!(chosen(Some(CsrI), 5, 5), [CsrI, CsrI]);
    }

    #[test]
    fn a_problem_gets_what_its_entries_say_or_what_was_asked_for() {
        let switch = BatchedSwitch { scalar_entries: 30, smart_entries: 400 };
        for (entries, chosen) in [
            (30, BatchedAlgorithm::CsrScalar),
            (31, BatchedAlgorithm::CsrSmart),
            (400, BatchedAlgorithm::CsrSmart),
            (401, BatchedAlgorithm::CsrI),
        ] {
            let problem = of(entries, Format::Csr);
            assert_eq!(switch.select(None, &problem), chosen);
            // No program reads compressed rows as ELL or coordinates.
            assert_eq!(switch.select(Some(BatchedAlgorithm::Ell), &problem), chosen);
            let vector = BatchedAlgorithm::CsrVector;
            assert_eq!(switch.select(Some(vector), &problem), vector);
        }
        let vector = Some(BatchedAlgorithm::CsrVector);
        assert_eq!(switch.select(vector, &of(30, Format::Coo)), BatchedAlgorithm::Coo);
        assert_eq!(switch.select(vector, &of(30, Format::SlicedEll)), BatchedAlgorithm::Ell);
    }
}
