//! What batches are made of: problems that are named, drawn or made, and the order in which they stand.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use csr_core::Csr;
use csr_core::generate::{SmallProblem, Suite, dense_row_problem, drawn_problem, tiny_problem};
use sparrow_bench::figures::{BatchCase, at_random, density_batches};
use sparrow_bench::{GeneratorOptions, Input, counted};

use super::super::inputs;
use crate::arguments::{BatchKind, BenchBatch, Matrices, Reading};
use crate::commands::{ReadMatrix, check_matrix, load};
use crate::failure::Failure;

/// Whether a batch of these kinds is made of problems that are named or drawn.
pub(super) fn needs_problems(kinds: &[BatchKind]) -> bool {
    kinds.iter().any(|kind| !matches!(kind, BatchKind::Density | BatchKind::DenseRow))
}

/// A problem that is named or drawn.
pub(in crate::commands::bench) struct Problem {
    pub(in crate::commands::bench) name: String,
    pub(in crate::commands::bench) source: &'static str,
    pub(in crate::commands::bench) matrix: Csr<f64>,
    /// Whether its file says that its values are integers.
    is_integer: bool,
}

impl Problem {
    /// A likeness of one of the paper's.
    pub(in crate::commands::bench) fn like(
        small: &SmallProblem,
        generator: GeneratorOptions,
    ) -> Result<Self, Failure> {
        let matrix = small.generate(generator.seed)?;
        Ok(Problem { name: small.display_name(), source: "likeness", matrix, is_integer: false })
    }

    /// A matrix that is named.
    pub(in crate::commands::bench) fn of(
        input: &Input,
        generator: GeneratorOptions,
        reading: Reading,
    ) -> Result<Self, Failure> {
        let ReadMatrix { matrix, is_integer } = load(input, generator, reading)?;
        let (name, source) = (input.name(), input.source());
        Ok(Problem { name, source, matrix: matrix.with_u32_offsets()?, is_integer })
    }
}

/// The problem of the paper's that a name asks for; a file of that name goes before.
pub(in crate::commands::bench) fn small(name: &OsStr) -> Option<&'static SmallProblem> {
    let is_file = Path::new(name).exists();
    name.to_str().filter(|_| !is_file).and_then(SmallProblem::named)
}

pub(super) fn problems(
    arguments: &BenchBatch,
    generator: GeneratorOptions,
    drawn: usize,
) -> Result<Vec<Problem>, Failure> {
    let mut problems = Vec::new();
    if arguments.matrices.are_named() {
        let is_small = |name: &&OsString| small(name).is_some();
        let (likenesses, others): (Vec<_>, Vec<_>) =
            arguments.matrices.matrices.iter().partition(is_small);
        for one in likenesses.into_iter().filter_map(|name| small(name)) {
            problems.push(Problem::like(one, generator)?);
        }
        let others = Matrices {
            matrices: others.into_iter().cloned().collect(),
            ..arguments.matrices.clone()
        };
        if others.are_named() {
            for input in inputs(&others, Suite::Quick)? {
                problems.push(Problem::of(&input, generator, arguments.matrices.reading)?);
            }
        }
    }
    for number in 0..drawn {
        let matrix = drawn_problem(number as u64, generator.seed)?;
        let name = format!("drawn-{}", number + 1);
        problems.push(Problem { name, source: "assembled", matrix, is_integer: false });
    }
    Ok(problems)
}

pub(super) fn cases(
    arguments: &BenchBatch,
    generator: GeneratorOptions,
    problems: &[Problem],
) -> Result<Vec<BatchCase>, Failure> {
    if problems.is_empty() && needs_problems(&arguments.batch_kind) {
        return Err(Failure::input("bench batch has no problems: name matrices, or --draw some"));
    }
    let mut cases = Vec::new();
    for kind in &arguments.batch_kind {
        match kind {
            BatchKind::Homogeneous => {
                let case = |problem: &Problem| {
                    let Problem { name, source, matrix, .. } = problem;
                    BatchCase::homogeneous(name.clone(), source, matrix.clone())
                };
                cases.extend(problems.iter().map(case));
            }
            BatchKind::Mixed | BatchKind::Sorted => cases.push(BatchCase {
                name: counted(problems.len(), "problem"),
                source: problems.last().map_or("assembled", |last| last.source),
                kind: if *kind == BatchKind::Mixed { "mixed" } else { "sorted" }.to_owned(),
                matrices: problems.iter().map(|problem| problem.matrix.clone()).collect(),
                order: if *kind == BatchKind::Mixed { at_random } else { by_size },
            }),
            BatchKind::Density => cases.extend(density_batches(generator)?),
            BatchKind::DenseRow => cases.extend(dense_row_cases(generator)?),
        }
    }
    Ok(cases)
}

fn dense_row_cases(generator: GeneratorOptions) -> Result<[BatchCase; 2], Failure> {
    let tiny = tiny_problem(generator.seed)?;
    let matrices = vec![tiny.clone(), dense_row_problem(generator.seed)?];
    let case = |kind: &str, matrices, order| {
        let (name, kind) = ("tiny problems".to_owned(), kind.to_owned());
        BatchCase { name, source: "assembled", kind, matrices, order }
    };
    Ok([
        case("alone", vec![tiny], |_, size| vec![0; size]),
        case("with a dense row", matrices, |_, size| {
            (0..size).map(|problem| usize::from(problem == size / 2)).collect()
        }),
    ])
}

/// The same problems, the largest first.
fn by_size(matrices: &[Csr<f64>], size: usize) -> Vec<usize> {
    let mut order = at_random(matrices, size);
    order.sort_by_key(|&matrix| std::cmp::Reverse(matrices[matrix].nnz()));
    order
}

/// Refuses problems with a value that is beyond a type, and says which of their values change by more than rounding.
pub(super) fn check(arguments: &BenchBatch, problems: &[Problem]) -> Result<(), Failure> {
    for &value_type in &arguments.values.value_type {
        for Problem { name, matrix, is_integer, .. } in problems {
            let parts = (matrix.view().pattern(), matrix.values());
            check_matrix(name, parts, *is_integer, value_type, arguments.matrices.reading)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_problem_among_the_tiny_ones_has_a_full_row() {
        let [alone, mixed] = dense_row_cases(GeneratorOptions { scale: 1.0, seed: 1 }).unwrap();
        assert_eq!((alone.order)(&alone.matrices, 5), [0; 5]);
        assert_eq!((mixed.order)(&mixed.matrices, 5), [0, 0, 1, 0, 0]);
        assert_eq!(mixed.matrices[0], alone.matrices[0]);
        let nnz: Vec<_> = mixed.matrices.iter().map(Csr::nnz).collect();
        assert_eq!(nnz, [76, 2047]);
        assert!((mixed.order)(&mixed.matrices, 0).is_empty());
    }
}
