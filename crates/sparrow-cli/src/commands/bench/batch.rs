//! `sparrow bench batch`: thousands of small problems at once, beside a loop of single products and the
//! block-diagonal product.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use csr_core::generate::{
    SmallProblem, Suite, dense_problem, dense_row_problem, drawn_problem, tiny_problem,
};
use csr_core::{Csr, RealValue, ValueType, for_value_type};
use sparrow::{BatchedAlgorithm, BatchedVariant, Queue, Rates};
use sparrow_bench::figures::Work;
use sparrow_bench::{
    BatchForm, BatchPeers, BatchProblems, BatchSubject, Budget, Input, Making, Origin, counted,
    measure_batch, measure_batch_loop, measure_batch_peers,
};

use super::paced::{self, Paced, Piece};
use super::{Results, hint_of_default, inputs};
use crate::arguments::{Algorithms, BatchKind, BenchBatch, Global, Matrices, Reading};
use crate::commands::{ReadMatrix, check_matrix, load};
use crate::failure::Failure;
use crate::target::{one_device, queue_on};

/// Problems drawn where no matrix is named: as many as the paper has.
const DRAWN: usize = 32;
/// Mean nonzeros of problems of controlled density.
const DENSITIES: [usize; 5] = [1, 4, 16, 32, 64];

/// What one batch is made of.
pub(super) struct Case {
    pub(super) name: String,
    pub(super) source: &'static str,
    pub(super) kind: String,
    pub(super) matrices: Vec<Csr<f64>>,
    /// For each problem the index of its matrix, for a batch of some size.
    pub(super) order: fn(&[Csr<f64>], usize) -> Vec<usize>,
}

impl Case {
    /// Nonzeros of a batch of so many problems, each matrix as often as any other.
    pub(super) fn nnz(&self, size: usize) -> u64 {
        let nnz: usize = self.matrices.iter().map(Csr::nnz).sum();
        (nnz * size / self.matrices.len().max(1)) as u64
    }
}

/// Every case in every size; `work` says what a batch takes, and whether it is the first.
pub(super) fn batches_pieces<'a>(
    cases: &'a [Case],
    sizes: &[usize],
    work: impl Fn(&Case, usize, bool) -> Work,
) -> Vec<Piece<(&'a Case, usize)>> {
    let all = cases.iter().flat_map(|case| sizes.iter().map(move |size| (case, *size)));
    let piece = |(place, (case, size)): (usize, (&'a Case, usize))| Piece {
        name: format!("{} x {size}, {}", case.name, case.kind),
        work: work(case, size, place == 0),
        of: (case, size),
    };
    all.enumerate().map(piece).collect()
}

/// What batches are compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Peers {
    /// Nothing.
    None,
    /// Single products, one after the other.
    Loop,
    /// Those, and the block-diagonal product.
    All,
}

/// How batches are measured.
pub(super) struct Batches {
    pub(super) making: Making,
    pub(super) queue: Queue,
    pub(super) rates: Rates,
    pub(super) subjects: Vec<(Option<BatchedAlgorithm>, BatchForm, BatchedVariant)>,
    pub(super) parameters: Vec<(String, u32)>,
    pub(super) peers: Peers,
}

pub(super) fn run(
    global: &Global,
    arguments: &BenchBatch,
    results: &Results,
) -> Result<(), Failure> {
    if arguments.matrices.making().scale.is_some() && !arguments.matrices.are_named() {
        return Err(Failure::input(
            "--scale is for matrices of a class, and problems that are drawn are of none: leave it out",
        ));
    }
    check_options(arguments)?;
    let device = one_device(global, "bench batch")?;
    let making: Making = arguments.matrices.making().into();
    let drawn = arguments.draw.unwrap_or(if arguments.matrices.are_named() { 0 } else { DRAWN });
    if arguments.draw.is_none() && drawn > 0 && needs_problems(&arguments.batch_kind) {
        let problems = counted(drawn, "problem");
        hint_of_default(format_args!("{problems}, drawn from the published ranges"));
    }
    let subjects = subjects(arguments);
    let problems = problems(arguments, making, drawn)?;
    let cases = cases(arguments, making, &problems)?;
    let (sizes, value_types) = (&arguments.batch_size, &arguments.values.value_type);
    let mut paced = Paced::new(arguments.matrices.budget(), Some(&device), results);
    let queue = queue_on(&device)?;
    let rates = results.rates(&queue, arguments.shown.measure)?;
    let parameters = arguments.parameters.to_vec();
    let peers = if arguments.alone { Peers::None } else { Peers::All };
    let batches = Batches { making, queue, rates, subjects, parameters, peers };
    check(arguments, &problems)?;
    let each = batches.results() * value_types.len();
    let work = |case: &Case, size, is_first| Work::of_results(case.nnz(size), each, is_first);
    let pieces = batches_pieces(&cases, sizes, work);
    let what = paced::in_words("batch", &counted(pieces.len(), "batch"), making);
    paced.announce(&what, &pieces);
    paced.each(&pieces, |paced, &(case, size)| {
        value_types
            .iter()
            .try_for_each(|&value_type| batches.measure(case, size, value_type, (paced, results)))
    })
}

/// Refuses options that would do nothing with the others.
fn check_options(arguments: &BenchBatch) -> Result<(), Failure> {
    let has_atomics = |one: &BatchedAlgorithm| HAVE_ATOMICS.contains(one);
    let can_have = match &arguments.algorithms {
        Algorithms::Auto => false,
        Algorithms::All => true,
        Algorithms::These(these) => these.iter().any(has_atomics),
    };
    if arguments.atomic && !can_have {
        let names = HAVE_ATOMICS.map(BatchedAlgorithm::name);
        return Err(Failure::input(format!(
            "--atomic is of {}: add --algorithms {}",
            names.join(" and "),
            names.join(",")
        )));
    }
    let has_ell = match &arguments.algorithms {
        Algorithms::Auto => false,
        Algorithms::All => true,
        Algorithms::These(these) => these.contains(&BatchedAlgorithm::Ell),
    };
    if arguments.pure_ell && !has_ell {
        let name = BatchedAlgorithm::Ell;
        return Err(Failure::input(format!("--pure-ell is of {name}: add --algorithms {name}")));
    }
    let has_problems = arguments.matrices.are_named() || arguments.draw.is_some();
    if has_problems && !needs_problems(&arguments.batch_kind) {
        return Err(Failure::input(
            "--batch-kind density and dense-row make problems of their own: leave matrices, --suite and --draw out, or \
             add homogeneous, mixed or sorted",
        ));
    }
    Ok(())
}

/// Whether a batch of these kinds is made of problems that are named or drawn.
fn needs_problems(kinds: &[BatchKind]) -> bool {
    kinds.iter().any(|kind| !matches!(kind, BatchKind::Density | BatchKind::DenseRow))
}

/// Algorithms that have the published way of adding cut rows, too.
const HAVE_ATOMICS: [BatchedAlgorithm; 2] = [BatchedAlgorithm::Coo, BatchedAlgorithm::CsrI];

/// Every algorithm in every form it reads.
fn subjects(arguments: &BenchBatch) -> Vec<(Option<BatchedAlgorithm>, BatchForm, BatchedVariant)> {
    let mut subjects = Vec::new();
    for algorithm in arguments.algorithms.with_choice(&BatchedAlgorithm::ALL) {
        for form in [BatchForm::AsGiven, BatchForm::Short, BatchForm::Pattern] {
            subjects.push((algorithm, form, BatchedVariant::Ordered));
        }
        if arguments.pure_ell && algorithm == Some(BatchedAlgorithm::Ell) {
            subjects.push((algorithm, BatchForm::PureEll, BatchedVariant::Ordered));
        }
        if arguments.atomic && algorithm.is_some_and(|one| HAVE_ATOMICS.contains(&one)) {
            subjects.push((algorithm, BatchForm::AsGiven, BatchedVariant::Atomic));
        }
    }
    subjects
}

/// A problem that is named or drawn.
pub(super) struct Problem {
    pub(super) name: String,
    pub(super) source: &'static str,
    pub(super) matrix: Csr<f64>,
    /// Whether its file says that its values are integers.
    is_integer: bool,
}

impl Problem {
    /// A likeness of one of the paper's.
    pub(super) fn like(small: &SmallProblem, making: Making) -> Result<Self, Failure> {
        let matrix = small.generate(making.seed)?;
        Ok(Problem { name: small.display_name(), source: "likeness", matrix, is_integer: false })
    }

    /// A matrix that is named.
    pub(super) fn of(input: &Input, making: Making, reading: Reading) -> Result<Self, Failure> {
        let ReadMatrix { matrix, is_integer } = load(input, making, reading)?;
        let (name, source) = (input.name(), input.source());
        Ok(Problem { name, source, matrix: matrix.with_u32_offsets()?, is_integer })
    }
}

/// The problem of the paper's that a name asks for; a file of that name goes before.
pub(super) fn small(name: &OsStr) -> Option<&'static SmallProblem> {
    let is_file = Path::new(name).exists();
    name.to_str().filter(|_| !is_file).and_then(SmallProblem::named)
}

fn problems(arguments: &BenchBatch, making: Making, drawn: usize) -> Result<Vec<Problem>, Failure> {
    let mut problems = Vec::new();
    if arguments.matrices.are_named() {
        let is_small = |name: &&OsString| small(name).is_some();
        let (likenesses, others): (Vec<_>, Vec<_>) =
            arguments.matrices.matrices.iter().partition(is_small);
        for one in likenesses.into_iter().filter_map(|name| small(name)) {
            problems.push(Problem::like(one, making)?);
        }
        let others = Matrices {
            matrices: others.into_iter().cloned().collect(),
            ..arguments.matrices.clone()
        };
        if others.are_named() {
            for input in inputs(&others, Suite::Quick)? {
                problems.push(Problem::of(&input, making, arguments.matrices.reading)?);
            }
        }
    }
    for number in 0..drawn {
        let matrix = drawn_problem(number as u64, making.seed)?;
        let name = format!("drawn-{}", number + 1);
        problems.push(Problem { name, source: "assembled", matrix, is_integer: false });
    }
    Ok(problems)
}

fn cases(
    arguments: &BenchBatch,
    making: Making,
    problems: &[Problem],
) -> Result<Vec<Case>, Failure> {
    if problems.is_empty() && needs_problems(&arguments.batch_kind) {
        return Err(Failure::input("bench batch has no problems: name matrices, or --draw some"));
    }
    let mut cases = Vec::new();
    for kind in &arguments.batch_kind {
        match kind {
            BatchKind::Homogeneous => cases.extend(problems.iter().map(|problem| Case {
                name: problem.name.clone(),
                source: problem.source,
                kind: "homogeneous".to_owned(),
                matrices: vec![problem.matrix.clone()],
                order: |_, size| vec![0; size],
            })),
            BatchKind::Mixed | BatchKind::Sorted => cases.push(Case {
                name: counted(problems.len(), "problem"),
                source: problems.last().map_or("assembled", |last| last.source),
                kind: if *kind == BatchKind::Mixed { "mixed" } else { "sorted" }.to_owned(),
                matrices: problems.iter().map(|problem| problem.matrix.clone()).collect(),
                order: if *kind == BatchKind::Mixed { at_random } else { by_size },
            }),
            BatchKind::Density => cases.extend(density_cases(making)?),
            BatchKind::DenseRow => cases.extend(dense_row_cases(making)?),
        }
    }
    Ok(cases)
}

pub(super) fn density_cases(making: Making) -> Result<Vec<Case>, Failure> {
    let mut cases = Vec::new();
    for (is_heaped, word) in [(false, "balanced"), (true, "heaped")] {
        for mean in DENSITIES {
            cases.push(Case {
                name: "order-1024".to_owned(),
                source: "assembled",
                kind: format!("{word} {mean}"),
                matrices: vec![dense_problem(mean, is_heaped, making.seed)?],
                order: |_, size| vec![0; size],
            });
        }
    }
    Ok(cases)
}

fn dense_row_cases(making: Making) -> Result<[Case; 2], Failure> {
    let tiny = tiny_problem(making.seed)?;
    let matrices = vec![tiny.clone(), dense_row_problem(making.seed)?];
    let case = |kind: &str, matrices, order| {
        let (name, kind) = ("tiny problems".to_owned(), kind.to_owned());
        Case { name, source: "assembled", kind, matrices, order }
    };
    Ok([
        case("alone", vec![tiny], |_, size| vec![0; size]),
        case("with a dense row", matrices, |_, size| {
            (0..size).map(|problem| usize::from(problem == size / 2)).collect()
        }),
    ])
}

/// Matrices in random order, the same every time.
pub(super) fn at_random(matrices: &[Csr<f64>], size: usize) -> Vec<usize> {
    let drawn = csr_core::random_vector::<f64>(17, size);
    let count = matrices.len();
    // Between -1 and 1.
    drawn.iter().map(|at| (((at + 1.0) / 2.0 * count as f64) as usize).min(count - 1)).collect()
}

/// The same problems, the largest first.
fn by_size(matrices: &[Csr<f64>], size: usize) -> Vec<usize> {
    let mut order = at_random(matrices, size);
    order.sort_by_key(|&matrix| std::cmp::Reverse(matrices[matrix].nnz()));
    order
}

/// Refuses problems with a value that is beyond a type, and says which of their values change by more than rounding.
fn check(arguments: &BenchBatch, problems: &[Problem]) -> Result<(), Failure> {
    for &value_type in &arguments.values.value_type {
        for Problem { name, matrix, is_integer, .. } in problems {
            let parts = (matrix.view().pattern(), matrix.values());
            check_matrix(name, parts, *is_integer, value_type, arguments.matrices.reading)?;
        }
    }
    Ok(())
}

impl Batches {
    /// A batch of so many problems in one type, by everything that is asked for.
    pub(super) fn measure(
        &self,
        case: &Case,
        size: usize,
        value_type: ValueType,
        to: (&Paced<'_>, &Results),
    ) -> Result<(), Failure> {
        for_value_type!(value_type, V => {
            self.one_type::<V>(case, &rounded(case), size, to)
        })
    }

    /// Results on a batch in one type, with what it is compared with.
    fn results(&self) -> usize {
        let peers = match self.peers {
            Peers::None => 0,
            Peers::Loop => 1,
            Peers::All => 2,
        };
        self.subjects.len() + peers
    }

    fn one_type<V: RealValue>(
        &self,
        case: &Case,
        matrices: &[Csr<V>],
        size: usize,
        (paced, results): (&Paced<'_>, &Results),
    ) -> Result<(), Failure> {
        let order = (case.order)(&case.matrices, size);
        let problems = BatchProblems { matrices, order };
        let budget = Budget::default();
        let measured = match self.peers {
            Peers::None => Ok(BatchPeers::default()),
            Peers::Loop => measure_batch_loop(&self.queue, &problems, &budget),
            Peers::All => measure_batch_peers(&self.queue, &problems, &budget),
        };
        let peers = match measured {
            Ok(peers) => peers,
            Err(error) => {
                let what = "loop and block-diagonal product";
                results.refuse(format_args!("{}, {what}", case.name), error)?;
                BatchPeers::default()
            }
        };
        let origin = Origin { name: case.name.clone(), source: case.source, making: self.making };
        for &(algorithm, form, variant) in &self.subjects {
            // One pattern is what it says; COO and ELL have none of their own to share here.
            let shares = !matches!(algorithm, Some(BatchedAlgorithm::Coo | BatchedAlgorithm::Ell));
            if form == BatchForm::Pattern && (matrices.len() > 1 || !shares) {
                continue;
            }
            let subject = BatchSubject {
                kind: case.kind.clone(),
                form,
                algorithm,
                variant,
                parameters: self.parameters.clone(),
                budget,
            };
            let (queue, rates) = (&self.queue, &self.rates);
            let by = algorithm.map_or("auto", BatchedAlgorithm::name);
            let name = format!("{}, {by} {}", case.name, form.name());
            paced
                .take(name, || measure_batch(queue, &problems, &origin, &subject, rates, peers))?;
        }
        Ok(())
    }
}

fn rounded<V: RealValue>(case: &Case) -> Vec<Csr<V>> {
    case.matrices.iter().map(Csr::map_values).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_problem_among_the_tiny_ones_has_a_full_row() {
        let [alone, mixed] = dense_row_cases(Making { scale: 1.0, seed: 1 }).unwrap();
        assert_eq!((alone.order)(&alone.matrices, 5), [0; 5]);
        assert_eq!((mixed.order)(&mixed.matrices, 5), [0, 0, 1, 0, 0]);
        assert_eq!(mixed.matrices[0], alone.matrices[0]);
        let nnz: Vec<_> = mixed.matrices.iter().map(Csr::nnz).collect();
        assert_eq!(nnz, [76, 2047]);
        assert!((mixed.order)(&mixed.matrices, 0).is_empty());
    }
}
