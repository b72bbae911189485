//! The plan of a batch: which parts of which problems are computed together, those with most work first.
//!
//! A problem is one task, unless it is large: then it is several, each some of its rows, so that it neither holds up
//! the launch nor exceeds what a group keeps in local memory. Small problems, of which several share a group, come
//! last.

mod by_work;

use crate::batch::{Format, Problem};
use by_work::{Rank, in_order};

/// What a task may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TaskRules {
    /// Nonzeros from which on a problem is cut; parts have about half to all of it.
    pub nnz_per_task: usize,
    /// The most rows of a task.
    pub rows_per_task: usize,
    /// The most entries of a problem that shares a group.
    pub small_entries: usize,
    /// Problems that are long compared with the others.
    pub long: LongRules,
}

/// What is cut earlier, because the other problems would be done before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LongRules {
    /// Rows and nonzeros of a problem from which on it is long.
    pub work: u64,
    /// Nonzeros of its parts: they have about half to all of it.
    pub nnz_per_task: usize,
    /// About how many parts it has at most: each fetches x again.
    pub most_parts: usize,
}

impl LongRules {
    /// No problem is long.
    pub const NONE: LongRules =
        LongRules { work: u64::MAX, nnz_per_task: usize::MAX, most_parts: 1 };
}

/// Part `part` of `parts` of a problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Task {
    /// The problem's index.
    pub problem: u32,
    /// Which part of it.
    pub part: u32,
    /// Of how many.
    pub parts: u32,
    /// Of a CSR problem, the work of a part, where a nonzero counts 1.
    pub part_work: u32,
    /// And a row this.
    pub row_weight: u32,
}

/// Tasks in the order in which groups take them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tasks {
    /// All of them.
    pub tasks: Vec<Task>,
    /// The first of them, which have a group each; the others share groups.
    pub whole: usize,
}

impl TaskRules {
    /// Whether a problem with so much work is long compared with the others.
    fn is_long(&self, work: u64) -> bool {
        work >= self.long.work
    }

    fn nnz_per_task(&self, problem: &Problem) -> usize {
        if !self.is_long(work(problem)) {
            return self.nnz_per_task;
        }
        let LongRules { nnz_per_task, most_parts, .. } = self.long;
        let of_long = nnz_per_task.max((problem.entries as usize).div_ceil(most_parts.max(1)));
        self.nnz_per_task.min(of_long)
    }

    /// Whether a problem is cut into several tasks.
    pub fn cuts(&self, problem: &Problem) -> bool {
        let most = self.nnz_per_task(problem);
        problem.rows as usize > self.rows_per_task || problem.entries as usize > most
    }

    /// Whether a problem can share a group.
    pub fn is_small(&self, problem: &Problem) -> bool {
        problem.entries as usize <= self.small_entries
    }
}

/// Rows and nonzeros of a problem.
pub fn work(problem: &Problem) -> u64 {
    u64::from(problem.entries) + u64::from(problem.rows)
}

impl Tasks {
    /// The tasks of those of `problems` that `takes` names; `may_share` says of which that it can share a group.
    pub fn new(
        problems: &[Problem],
        rules: &TaskRules,
        takes: impl Fn(&Problem) -> bool,
        may_share: impl Fn(&Problem) -> bool,
    ) -> Self {
        let shares = |problem| rules.is_small(problem) && may_share(problem);
        let taken = (0..).zip(problems).filter(|(_, problem)| takes(problem));
        let (taken, ranks): (Vec<u32>, Vec<Rank>) = taken
            .map(|(index, problem)| (index, Rank::new(work(problem), shares(problem))))
            .unzip();
        let mut tasks = Vec::with_capacity(taken.len());
        let mut whole = 0;
        for number in in_order(&ranks) {
            let (index, first) = (taken[number as usize], tasks.len());
            cut(index, &problems[index as usize], rules, &mut tasks);
            if !ranks[number as usize].shares() {
                whole += tasks.len() - first;
            }
        }
        Tasks { tasks, whole }
    }
}

/// Adds the tasks of one problem.
fn cut(index: u32, problem: &Problem, rules: &TaskRules, tasks: &mut Vec<Task>) {
    let (rows, entries) = (problem.rows as usize, problem.entries as usize);
    let nnz_per_task = rules.nnz_per_task(problem);
    let whole = Task { problem: index, part: 0, parts: 1, part_work: 0, row_weight: 0 };
    if !rules.cuts(problem) {
        tasks.push(whole);
        return;
    }
    let (parts, part_work, row_weight) = match problem.format {
        // Where rows could be too many for a task, or parts are the small ones of a long problem, rows count as much as
        // their mean nonzeros: a part of 2 nnz_per_task then has no more than rows_per_task, and about as many nonzeros
        // as nnz_per_task. Else nonzeros are shared out. There are no more parts than rows.
        Format::Csr => {
            let by_nnz = rows <= rules.rows_per_task && !rules.is_long(work(problem));
            let row_weight = if by_nnz { 1 } else { entries.div_ceil(rows).max(1) };
            let work = entries + rows * row_weight;
            let parts = if by_nnz {
                entries.div_ceil(nnz_per_task)
            } else {
                work.div_ceil((2 * nnz_per_task).min(row_weight * rules.rows_per_task))
            };
            let part_work = work.div_ceil(parts.min(rows)).min(u32::MAX as usize);
            (work.div_ceil(part_work), part_work, row_weight)
        }
        Format::Coo => (entries.div_ceil(nnz_per_task).max(1), 0, 0),
        Format::Ell { .. } | Format::SlicedEll => {
            let by_rows = rows.div_ceil(rules.rows_per_task);
            (by_rows.max(entries.div_ceil(nnz_per_task)).min(rows.div_ceil(32)), 0, 0)
        }
    };
    let numbers = 0..parts as u32;
    let (parts, part_work, row_weight) = (parts as u32, part_work as u32, row_weight as u32);
    tasks.extend(numbers.map(|part| Task { part, parts, part_work, row_weight, ..whole }));
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULES: TaskRules = TaskRules {
        nnz_per_task: 1000,
        rows_per_task: 100,
        small_entries: 10,
        long: LongRules::NONE,
    };

    fn problem(rows: u32, entries: u32) -> Problem {
        let format = Format::Csr;
        let (index, columns, values, x, y) = (0, 0, 0, 0, 0);
        Problem { rows, cols: rows, entries, format, index, columns, values, x, y }
    }

    #[test]
    fn most_work_comes_first_and_small_problems_share_the_last_groups() {
        let problems = [problem(5, 10), problem(50, 100), problem(1, 1), problem(50, 900)];
        let found = Tasks::new(&problems, &RULES, |_| true, |_| true);
        let order: Vec<_> = found.tasks.iter().map(|task| task.problem).collect();
        assert_eq!(order, [3, 1, 0, 2]);
        assert_eq!(found.whole, 2);
        assert_eq!(Tasks::new(&problems, &RULES, |_| true, |_| false).whole, 4);
        assert_eq!(Tasks::new(&[], &RULES, |_| true, |_| true), Tasks::default());
    }

    #[test]
    fn a_problem_that_is_long_compared_with_the_others_is_cut_finer() {
        let parts = |most_parts, problems: &[Problem]| {
            let long = LongRules { work: 500, nnz_per_task: 100, most_parts };
            let found = Tasks::new(problems, &TaskRules { long, ..RULES }, |_| true, |_| true);
            found.tasks.iter().map(|task| (task.problem, task.parts)).collect::<Vec<_>>()
        };
        let problems = [problem(50, 449), problem(50, 450)];
        assert_eq!(parts(9, &problems), [[(1, 5); 5].as_slice(), &[(0, 1)]].concat());
        assert_eq!(parts(3, &problems), [(1, 3), (1, 3), (1, 3), (0, 1)]);
        assert_eq!(parts(99, &[problem(2, 5000)]), [(0, 2), (0, 2)], "no more parts than rows");
        assert!(parts(1, &[problem(1, u32::MAX)]).len() <= 2);
    }

    /// The rows that the parts of a CSR problem end at, as the device finds them.
    fn ends(lengths: &[usize]) -> Vec<usize> {
        let entries = lengths.iter().sum::<usize>();
        let found = Tasks::new(
            &[problem(lengths.len() as u32, entries as u32)],
            &RULES,
            |_| true,
            |_| true,
        );
        let work = |row: usize, task: &Task| {
            lengths[..row].iter().sum::<usize>() + row * task.row_weight as usize
        };
        let end = |task: &Task| match task.part + 1 == task.parts {
            true => lengths.len(),
            false => (0..lengths.len())
                .find(|&row| work(row, task) >= ((task.part + 1) * task.part_work) as usize)
                .unwrap_or(lengths.len()),
        };
        found.tasks.iter().map(end).collect()
    }

    #[test]
    fn nonzeros_heaped_in_few_rows_are_shared_out() {
        let mut heap = vec![0; 90];
        heap[3..33].fill(100);
        assert_eq!(ends(&heap), [14, 24, 90]);
        assert_eq!(ends(&[50; 90]), [18, 36, 54, 72, 90]);
    }

    #[test]
    fn no_part_of_a_large_problem_has_too_many_rows_or_nonzeros() {
        let mut heap = vec![1; 5000];
        heap[7] = 3000;
        for lengths in [vec![5; 1000], vec![50; 90], vec![0; 950], heap, vec![2000; 3]] {
            let ends = ends(&lengths);
            let mut begin = 0;
            for &end in &ends {
                assert!(end >= begin && end - begin <= 100, "{begin}..{end} of {ends:?}");
                let nnz: usize = lengths[begin..end].iter().sum();
                let longest = lengths[begin..end].iter().max().copied().unwrap_or(0);
                assert!(nnz <= 2 * RULES.nnz_per_task + longest, "{nnz} in {begin}..{end}");
                begin = end;
            }
            assert_eq!(begin, lengths.len());
        }
    }
}
