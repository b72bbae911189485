//! `sparrow bench batch`: thousands of small problems at once, compared with a loop of single products and the
//! block-diagonal product.

mod cases;

use csr_core::{Csr, RealValue, ValueType, for_value_type};
use sparrow::{BatchedAlgorithm, BatchedVariant, Queue, Rates};
use sparrow_bench::figures::{BatchCase, Work};
use sparrow_bench::{
    BatchForm, BatchPeers, BatchProblems, BatchSubject, Budget, GeneratorOptions, Origin, counted,
    measure_batch, measure_batch_loop, measure_batch_peers,
};

use super::paced::{self, Job, Paced};
use super::{Results, hint_of_default};
use crate::arguments::{Algorithms, BenchBatch, Global};
use crate::failure::Failure;
use crate::target::{one_device, queue_on};
pub(super) use cases::{Problem, small};
use cases::{cases, check, needs_problems, problems};

/// Problems drawn where no matrix is named: as many as the paper has.
const DRAWN: usize = 32;
/// Every case in every size; `work` says what a batch takes, and whether it is the first.
pub(super) fn batches_jobs<'a>(
    cases: &'a [BatchCase],
    sizes: &[usize],
    work: impl Fn(&BatchCase, usize, bool) -> Work,
) -> Vec<Job<(&'a BatchCase, usize)>> {
    let all = cases.iter().flat_map(|case| sizes.iter().map(move |size| (case, *size)));
    let job = |(index, (case, size)): (usize, (&'a BatchCase, usize))| Job {
        name: format!("{} x {size}, {}", case.name, case.kind),
        work: work(case, size, index == 0),
        of: (case, size),
    };
    all.enumerate().map(job).collect()
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
    pub(super) generator: GeneratorOptions,
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
    if arguments.matrices.generator().scale.is_some() && !arguments.matrices.are_named() {
        return Err(Failure::input(
            "--scale is for matrices of a class, and problems that are drawn are of none: leave it out",
        ));
    }
    check_options(arguments)?;
    let device = one_device(global, "bench batch")?;
    let generator: GeneratorOptions = arguments.matrices.generator().into();
    let drawn = arguments.draw.unwrap_or(if arguments.matrices.are_named() { 0 } else { DRAWN });
    if arguments.draw.is_none() && drawn > 0 && needs_problems(&arguments.batch_kind) {
        let problems = counted(drawn, "problem");
        hint_of_default(format_args!("{problems}, drawn from the published ranges"));
    }
    let subjects = subjects(arguments);
    let problems = problems(arguments, generator, drawn)?;
    let cases = cases(arguments, generator, &problems)?;
    let (sizes, value_types) = (&arguments.batch_size, &arguments.values.value_type);
    let mut paced = Paced::new(arguments.matrices.budget(), Some(&device), results);
    let queue = queue_on(&device)?;
    let rates = results.rates(&queue, arguments.shown.measure)?;
    let parameters = arguments.parameters.to_vec();
    let peers = if arguments.alone { Peers::None } else { Peers::All };
    let batches = Batches { generator, queue, rates, subjects, parameters, peers };
    check(arguments, &problems)?;
    let each = batches.results() * value_types.len();
    let work = |case: &BatchCase, size, is_first| Work::of_results(case.nnz(size), each, is_first);
    let jobs = batches_jobs(&cases, sizes, work);
    let what = paced::in_words("batch", &counted(jobs.len(), "batch"), generator);
    paced.announce(&what, &jobs);
    paced.each(&jobs, |paced, &(case, size)| {
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

impl Batches {
    /// A batch of so many problems in one type, by everything that is asked for.
    pub(super) fn measure(
        &self,
        case: &BatchCase,
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
        case: &BatchCase,
        matrices: &[Csr<V>],
        size: usize,
        (paced, results): (&Paced<'_>, &Results),
    ) -> Result<(), Failure> {
        let batch = format!("{} x {size}, {}, {}", case.name, case.kind, V::TYPE);
        if paced.is_over() {
            paced.leave_out(&batch);
            return Ok(());
        }
        let entries = usize::try_from(case.nnz(size)).unwrap_or(usize::MAX);
        if let Err(error) = csr_core::check_memory::<[u64; 2]>("the batch", entries.max(size)) {
            return results.refuse(batch, error.into());
        }
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
        let origin =
            Origin { name: case.name.clone(), source: case.source, generator: self.generator };
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
            if paced.has_time_left(format_args!("{batch}, {by} {}", form.name())) {
                let measured = measure_batch(queue, &problems, &origin, &subject, rates, peers);
                results.take(name, measured)?;
            }
        }
        Ok(())
    }
}

fn rounded<V: RealValue>(case: &BatchCase) -> Vec<Csr<V>> {
    case.matrices.iter().map(Csr::map_values).collect()
}
