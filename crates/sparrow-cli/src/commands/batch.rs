//! `sparrow bench --batch`: thousands of small problems in one launch, beside a loop of single products and the
//! block-diagonal product.

use csr_core::generate::{dense_problem, dense_row_problem, drawn_problem, tiny_problem};
use csr_core::{Csr, Value, ValueType, bf16, f16};
use sparrow::{BatchedAlgorithm, BatchedVariant, Device, Queue, Rates};
use sparrow_bench::{
    BatchForm, BatchPeers, BatchProblems, BatchSubject, Budget, Making, Origin, Record,
    measure_batch, measure_batch_peers,
};

use super::bench::{inputs, progress_bar, report};
use super::load;
use crate::arguments::{Algorithms, BatchKind, Bench, Global};
use crate::failure::Failure;
use crate::target::queue_on;

/// Problems drawn where no matrix is named: as many as the paper has.
const DRAWN: usize = 32;
/// Mean nonzeros of problems of controlled density.
const DENSITIES: [usize; 5] = [1, 4, 16, 32, 64];

/// What one batch is made of.
struct Case {
    name: String,
    source: &'static str,
    kind: String,
    matrices: Vec<Csr<f64>>,
    /// For each problem the index of its matrix, for a batch of some size.
    order: fn(&[Csr<f64>], usize) -> Vec<usize>,
}

struct Batches<'a> {
    arguments: &'a Bench,
    making: Making,
    queue: Queue,
    rates: Rates,
    subjects: Vec<(Option<BatchedAlgorithm>, BatchForm, BatchedVariant)>,
}

pub(super) fn run(global: &Global, arguments: &Bench) -> Result<(), Failure> {
    let device = match global.device.as_deref() {
        None => Device::best()?,
        Some("host" | "all") => {
            return Err(Failure::input("--batch takes one OpenCL device"));
        }
        Some(text) => sparrow::find_device(text)?,
    };
    let making: Making = arguments.making.into();
    let named = if arguments.matrices.is_empty() { 0 } else { inputs_count(arguments)? };
    let drawn = arguments.draw.unwrap_or(if named == 0 { DRAWN } else { 0 });
    let subjects = subjects(arguments)?;
    let cases = cases(arguments, making, drawn)?;
    let queue = queue_on(&device)?;
    let rates = Rates::measure_blocking(&queue)?;
    let batches = Batches { arguments, making, queue, rates, subjects };
    let bar = progress_bar(cases.len());
    let mut records = Vec::new();
    for case in &cases {
        bar.set_message(format!("{}, {}", case.name, case.kind));
        for &size in &arguments.batch_size {
            batches.all_types(case, size, &mut records)?;
        }
        bar.inc(1);
    }
    bar.finish_and_clear();
    report(global, arguments, &records)
}

fn inputs_count(arguments: &Bench) -> Result<usize, Failure> {
    Ok(inputs(arguments, csr_core::generate::Suite::Quick)?.len())
}

/// Every algorithm in every form it reads.
fn subjects(
    arguments: &Bench,
) -> Result<Vec<(Option<BatchedAlgorithm>, BatchForm, BatchedVariant)>, Failure> {
    let algorithms: Vec<_> = match &arguments.algorithms {
        Algorithms::Auto => vec![None],
        Algorithms::All => std::iter::once(None).chain(BatchedAlgorithm::ALL.map(Some)).collect(),
        Algorithms::Batched(algorithms) => algorithms.iter().copied().map(Some).collect(),
        Algorithms::These(_) | Algorithms::Spmm(_) => {
            let names = BatchedAlgorithm::ALL.map(BatchedAlgorithm::name).join(", ");
            return Err(Failure::input(format!(
                "--batch takes --algorithms auto, all, or of {names}"
            )));
        }
    };
    let mut subjects = Vec::new();
    for algorithm in algorithms {
        for form in [BatchForm::AsGiven, BatchForm::Short, BatchForm::Pattern] {
            subjects.push((algorithm, form, BatchedVariant::Ordered));
        }
        let has_atomics = matches!(algorithm, Some(BatchedAlgorithm::Coo | BatchedAlgorithm::CsrI));
        if has_atomics && arguments.atomic {
            subjects.push((algorithm, BatchForm::AsGiven, BatchedVariant::Atomic));
        }
    }
    Ok(subjects)
}

fn cases(arguments: &Bench, making: Making, drawn: usize) -> Result<Vec<Case>, Failure> {
    let mut problems: Vec<(String, &'static str, Csr<f64>)> = Vec::new();
    if !arguments.matrices.is_empty() {
        for input in inputs(arguments, csr_core::generate::Suite::Quick)? {
            problems.push((input.name(), input.source(), load(&input, making)?));
        }
    }
    for number in 0..drawn {
        let problem = drawn_problem(number as u64, making.seed)?;
        problems.push((format!("drawn-{}", number + 1), "assembled", problem));
    }
    let needs_problems =
        |kind: &BatchKind| !matches!(kind, BatchKind::Density | BatchKind::DenseRow);
    if problems.is_empty() && arguments.batch_kind.iter().any(needs_problems) {
        return Err(Failure::input("--batch has no problems: name matrices, or --draw some"));
    }
    let mut cases = Vec::new();
    for kind in &arguments.batch_kind {
        match kind {
            BatchKind::Homogeneous => {
                cases.extend(problems.iter().map(|(name, source, matrix)| Case {
                    name: name.clone(),
                    source,
                    kind: "homogeneous".to_owned(),
                    matrices: vec![matrix.clone()],
                    order: |_, size| vec![0; size],
                }))
            }
            BatchKind::Mixed | BatchKind::Sorted => cases.push(Case {
                name: format!("{} problems", problems.len()),
                source: if drawn == 0 { "file" } else { "assembled" },
                kind: if *kind == BatchKind::Mixed { "mixed" } else { "sorted" }.to_owned(),
                matrices: problems.iter().map(|(_, _, matrix)| matrix.clone()).collect(),
                order: if *kind == BatchKind::Mixed { at_random } else { by_size },
            }),
            BatchKind::Density => cases.extend(density_cases(making)?),
            BatchKind::DenseRow => cases.extend(dense_row_cases(making)?),
        }
    }
    Ok(cases)
}

fn density_cases(making: Making) -> Result<Vec<Case>, Failure> {
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
fn at_random(matrices: &[Csr<f64>], size: usize) -> Vec<usize> {
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

impl Batches<'_> {
    fn all_types(
        &self,
        case: &Case,
        size: usize,
        records: &mut Vec<Record>,
    ) -> Result<(), Failure> {
        for value_type in &self.arguments.value_type {
            match value_type {
                ValueType::F64 => self.one_type(case, &case.matrices, size, records)?,
                ValueType::F32 => self.one_type(case, &narrowed::<f32>(case), size, records)?,
                ValueType::F16 => self.one_type(case, &narrowed::<f16>(case), size, records)?,
                ValueType::Bf16 => self.one_type(case, &narrowed::<bf16>(case), size, records)?,
            }
        }
        Ok(())
    }

    fn one_type<V: Value>(
        &self,
        case: &Case,
        matrices: &[Csr<V>],
        size: usize,
        records: &mut Vec<Record>,
    ) -> Result<(), Failure> {
        let order = (case.order)(&case.matrices, size);
        let problems = BatchProblems { matrices, order };
        let budget = Budget::default();
        let peers = match self.arguments.alone {
            true => BatchPeers::default(),
            false => measure_batch_peers(&self.queue, &problems, &budget)?,
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
                parameters: self.arguments.parameters.iter().flat_map(|l| l.0.clone()).collect(),
                budget,
            };
            let (queue, rates) = (&self.queue, &self.rates);
            records.push(measure_batch(queue, &problems, &origin, &subject, rates, peers)?);
        }
        Ok(())
    }
}

fn narrowed<V: Value>(case: &Case) -> Vec<Csr<V>> {
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
