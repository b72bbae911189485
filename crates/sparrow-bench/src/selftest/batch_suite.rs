//! The conformance suite of batches: every algorithm on problems of every kind, at once.

use std::ops::ControlFlow;

use csr_core::batch::{Ell, HostBatch};
use csr_core::{Csr, RealValue, Value, ValueType, for_value_type};
use sparrow::{BatchedAlgorithm, BatchedVariant, ColumnWidth, DeviceTraits, Queue};

use super::batch_forms::run_forms;
use super::report::parameter_text;
use super::shapes::csr_of_lengths;
use super::suite::spoil_values;
use super::{
    BatchCase, BatchCoefficients, CaseError, Count, Extent, Failure, Progress, Report, Tally,
    Tested, run_batch,
};

/// An algorithm of batches and its variant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BatchConfiguration {
    /// What runs; `None` chooses for each problem.
    pub algorithm: Option<BatchedAlgorithm>,
    /// How cut rows come together.
    pub variant: BatchedVariant,
}

impl BatchConfiguration {
    /// Everything there is.
    pub fn all() -> Vec<Self> {
        let ordered = |algorithm| Self { algorithm, variant: BatchedVariant::Ordered };
        let atomic = |algorithm| Self { algorithm, variant: BatchedVariant::Atomic };
        let algorithms = BatchedAlgorithm::ALL.map(Some);
        let with_atomics = [BatchedAlgorithm::Coo, BatchedAlgorithm::CsrI].map(Some);
        let each = std::iter::once(None).chain(algorithms).map(ordered);
        each.chain(with_atomics.into_iter().map(atomic)).collect()
    }

    fn tested(&self, parameters: &[(String, u32)]) -> Tested {
        let algorithm = self.algorithm.map_or("batched", BatchedAlgorithm::name).to_owned();
        let (name, variant) = match self.variant {
            BatchedVariant::Atomic => (format!("{algorithm}/atomic"), "atomic"),
            _ => (algorithm.clone(), ""),
        };
        let parameters = parameter_text(parameters);
        let name = if parameters.is_empty() { format!("{name} tuned") } else { name };
        Tested { name, algorithm, variant: variant.to_owned(), parameters }
    }

    /// The hyper-parameters of [`SMALL`], [`DEFAULTS`] and, of CSR-I without atomics, [`IN_STEP`].
    fn settings(&self) -> Vec<Vec<(String, u32)>> {
        let mut settings = vec![small_parameters(), Vec::new()];
        settings.extend(self.has_in_step().then(in_step_parameters));
        settings
    }

    fn has_in_step(&self) -> bool {
        (self.algorithm, self.variant) == (Some(BatchedAlgorithm::CsrI), BatchedVariant::Ordered)
    }

    fn obstacle(&self, device: &DeviceTraits, value_type: ValueType) -> Option<&'static str> {
        let is_f64 = value_type == ValueType::F64;
        if is_f64 && !device.has_f64 {
            return Some("the device has no f64");
        }
        let is_atomic = self.variant == BatchedVariant::Atomic;
        (is_atomic && is_f64 && !device.has_int64_atomics)
            .then_some("the device has no 64-bit atomics")
    }
}

/// Groups, steps and local memory so small that small problems exceed all of them.
pub fn small_parameters() -> Vec<(String, u32)> {
    let parameters = [
        ("sub_group_size", 8),
        ("sub_groups_per_group", 4),
        ("nnz_per_item", 2),
        ("x_local", 64),
        ("rows_per_task", 64),
    ];
    parameters.map(|(name, value)| (name.to_owned(), value)).to_vec()
}

/// Sub-groups of one item, which run in step on every device: CSR-I computes problems by the kernel for such
/// (`cl/batched/batched_csr_i_in_step.cl`), problems of one pattern in pairs, and x of some does not fit local memory.
fn in_step_parameters() -> Vec<(String, u32)> {
    let parameters = [
        ("sub_group_size", 1),
        ("sub_groups_per_group", 4),
        ("nnz_per_item", 4),
        ("x_local", 64),
        ("rows_per_task", 64),
        ("pairs", 1),
    ];
    parameters.map(|(name, value)| (name.to_owned(), value)).to_vec()
}

/// Nothing at all, one entry, rows around every limit, long runs of empty rows, one row with nearly everything, and
/// one large problem among small ones. For half of the cover, which has small hyper-parameters, large is less.
///
/// # Errors
/// None in practice: the shapes fit every type.
pub fn mixed_problems<V: RealValue>(extent: Extent) -> csr_core::Result<Vec<Csr<V>>> {
    let (many, huge_rows) = if extent.is_for_slow_devices() { (150, 250) } else { (700, 900) };
    let mut heap = vec![2; 90];
    heap[40] = 400;
    let mut long_row = vec![0; 300];
    long_row[170] = 1024;
    let mut shapes: Vec<(usize, Vec<usize>)> = vec![
        (0, vec![]),
        (5, vec![]),
        (0, vec![0; 5]),
        (1, vec![1]),
        (7, vec![0; 70]),
        (3, vec![0, 0, 3]),
        (9, vec![4, 0, 0, 0, 0]),
        (64, vec![3; 64]),
        (65, [1, 9, 0, 5, 17].repeat(13)),
        (90, heap),
        (1024, long_row),
        (33, (0..33).collect()),
        (40, vec![200, 1, 0, 64, 63, 65, 128]),
        (1500, [vec![0; 70], vec![1; many], vec![0; 30], vec![5; many]].concat()),
    ];
    for order in [2, 8, 15, 16, 17, 31, 32, 63, 100, 130] {
        shapes.push((order, (0..order).map(|row| 1 + row * 5 % 7).collect()));
    }
    // Larger than all others together.
    let huge = (0..huge_rows).map(|row| if row % 97 == 0 { 150 } else { row % 9 }).collect();
    shapes.insert(6, (400, huge));
    let all = shapes.iter().enumerate();
    all.map(|(seed, (cols, lengths))| csr_of_lengths(*cols, lengths, seed as u64)).collect()
}

/// The problems in the format that an algorithm reads; in all of them for the choice.
///
/// # Errors
/// None in practice: the problems are small.
pub fn mixed_batch<V: RealValue>(
    algorithm: Option<BatchedAlgorithm>,
    problems: &[Csr<V>],
) -> csr_core::Result<HostBatch<V>> {
    let mut batch = HostBatch::new();
    for (number, problem) in problems.iter().enumerate() {
        match (algorithm, number % 3) {
            (Some(BatchedAlgorithm::Coo), _) | (None, 1) => batch.push_coo(&problem.to_coo())?,
            // Some as they come, filled up however much that takes.
            (Some(BatchedAlgorithm::Ell), 0) if problem.nnz() < 500 => {
                batch.push_ell(&Ell::from_csr(problem.view())?)?;
            }
            (Some(BatchedAlgorithm::Ell), _) | (None, 2) => {
                batch.push_as_ell(problem.view())?;
            }
            _ => batch.push_csr(problem.view())?,
        }
    }
    Ok(batch)
}

/// How alpha and beta come, and whether y is read.
const WAYS: [(BatchCoefficients, bool); 5] = [
    (BatchCoefficients::Value, false),
    (BatchCoefficients::Each, true),
    (BatchCoefficients::One, false),
    (BatchCoefficients::Value, true),
    (BatchCoefficients::Each, false),
];

/// Indices of the settings of a configuration: small hyper-parameters, a user's, and those of sub-groups in step.
const SMALL: usize = 0;
const DEFAULTS: usize = 1;
const IN_STEP: usize = 2;

/// What is chosen for one case of a configuration in one type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Choice {
    /// Index into [`WAYS`].
    way: usize,
    /// Index into [`BatchConfiguration::settings`].
    setting: usize,
    has_32_bit_columns: bool,
}

/// The cases of the configuration with index `number` in the type with index `value_type`. Of a cover these are two with
/// different ways, the first with small hyper-parameters and the second with a user's. Half of it has the first and the
/// other half the second, which is the same code in larger groups. With `has_in_step` each extent has one more.
fn choices_of(
    extent: Extent,
    number: usize,
    value_type: usize,
    has_in_step: bool,
) -> impl Iterator<Item = Choice> {
    let cases = match extent {
        Extent::Quarter | Extent::Half => 0..1,
        Extent::OtherHalf => 1..2,
        Extent::Brief | Extent::Cover => 0..2,
        Extent::Programs | Extent::Full => 0..WAYS.len(),
    };
    let in_step = has_in_step.then_some((cases.start + 2, IN_STEP));
    cases.map(|case| (case, [SMALL, DEFAULTS][case % 2])).chain(in_step).map(
        move |(case, setting)| Choice {
            way: (case + number + value_type) % WAYS.len(),
            setting,
            // By half of the number, since a quarter of the cover has the type with the index `number` modulo all.
            has_32_bit_columns: (case + number / 2 + value_type) % 2 == 1,
        },
    )
}

/// Runs `configurations` on the queue's device, in each of `value_types`: with small hyper-parameters and a user's
/// in turn, CSR-I with those of sub-groups in step too, 16-bit columns and 32, finite numbers and others. Half of the cover
/// has no user's and the other half no small ones; a quarter has one of the types for each. `observe` is as
/// [`super::run_suite`]'s.
///
/// # Errors
/// None in practice: the problems are small. What a case finds is in the report.
pub fn run_batches(
    queue: &Queue,
    configurations: &[BatchConfiguration],
    value_types: &[ValueType],
    extent: Extent,
    observe: &mut dyn FnMut(Progress<'_>) -> ControlFlow<()>,
) -> sparrow::Result<Report> {
    let device = queue.context().device().traits();
    let is_interpreted = super::is_interpreted(device);
    let cases_of_type = |configuration: &BatchConfiguration| {
        choices_of(extent, 0, 0, configuration.has_in_step()).count()
    };
    let types = if extent == Extent::Quarter { 1 } else { value_types.len() };
    let all = configurations.iter().map(cases_of_type).sum::<usize>() * types;
    let mut count = Count { done: 0, all, failed: 0 };
    let mut report = Report::new(device, extent);
    for (number, configuration) in configurations.iter().enumerate() {
        let mut tallies: Vec<_> = configuration
            .settings()
            .into_iter()
            .map(|parameters| (configuration.tested(&parameters), parameters, Tally::default()))
            .collect();
        let choices = |turn| choices_of(extent, number, turn, configuration.has_in_step());
        // A quarter of the cover has types in turn.
        let in_order = value_types.iter().enumerate().cycle().skip(number).take(types);
        let cases = in_order.flat_map(|(turn, &value_type)| {
            choices(turn).map(move |choice| (turn, value_type, choice))
        });
        let mut ends = false;
        for (turn, value_type, Choice { way, setting, has_32_bit_columns }) in cases {
            if observe(Progress { count, report: &report, has_failed: false }).is_break() {
                ends = true;
                break;
            }
            count.done += 1;
            let (tested, parameters, tally) = &mut tallies[setting];
            if let Some(why) = configuration.obstacle(device, value_type) {
                *tally.not_applicable.entry(why).or_default() += 1;
                continue;
            }
            let (coefficients, reads_y) = WAYS[way];
            let case = BatchCase {
                algorithm: configuration.algorithm,
                variant: configuration.variant,
                parameters: parameters.clone(),
                coefficients,
                reads_y,
                width: [ColumnWidth::Automatic, ColumnWidth::U32][usize::from(has_32_bit_columns)],
                // On an interpreter a launch takes long, and what one leaves in memory is the same in every type.
                launches: if is_interpreted && turn % 2 == 1 { 1 } else { 2 },
            };
            let is_finite = !(way + number).is_multiple_of(3);
            let found = for_value_type!(value_type, V => {
                run_one::<V>(queue, &case, is_finite, count.done, extent)
            });
            match found {
                Ok(error) => {
                    tally.passed += 1;
                    tally.error_in_tolerance = tally.error_in_tolerance.max(error);
                }
                Err((problem, error)) => {
                    let seen = Progress { count, report: &report, has_failed: true };
                    if observe(seen).is_break() {
                        ends = true;
                        break;
                    }
                    count.failed += 1;
                    tally.failures.push(Failure {
                        tested: tested.name.clone(),
                        shape: problem.map_or_else(
                            || "a batch".to_owned(),
                            |problem| format!("problem {problem} of a batch"),
                        ),
                        case: format!("{value_type} {case:?}, finite: {is_finite}"),
                        error,
                    });
                }
            }
        }
        for (setting, (tested, _, tally)) in tallies.into_iter().enumerate() {
            if choices(0).any(|choice| choice.setting == setting) {
                report.push(tested, tally, ends);
            }
        }
        if ends {
            break;
        }
    }
    Ok(report)
}

/// Runs a case on the mixed problems, and if CSR-I has a part in it on batches of its forms.
fn run_one<V: RealValue>(
    queue: &Queue,
    case: &BatchCase,
    is_finite: bool,
    turn: usize,
    extent: Extent,
) -> Result<f64, (Option<usize>, CaseError)> {
    let mixed = run_mixed::<V>(queue, case, is_finite, extent)?;
    let has_forms = matches!(case.algorithm, None | Some(BatchedAlgorithm::CsrI));
    let others =
        if has_forms { run_forms::<V>(queue, case, is_finite, turn, extent)? } else { 0.0 };
    Ok(mixed.max(others))
}

/// Runs a case on the mixed problems; without `is_finite` some have an infinity and a NaN, others an infinity first in
/// x, which padding must not reach.
fn run_mixed<V: RealValue>(
    queue: &Queue,
    case: &BatchCase,
    is_finite: bool,
    extent: Extent,
) -> Result<f64, (Option<usize>, CaseError)> {
    let host_error = |error: csr_core::Error| (None, error.into());
    let mut problems = mixed_problems::<V>(extent).map_err(host_error)?;
    if !is_finite {
        for problem in problems.iter_mut().step_by(4) {
            spoil_values(problem.values_mut());
        }
    }
    let host = mixed_batch(case.algorithm, &problems).map_err(host_error)?;
    let mut x: Vec<V::Accum> = csr_core::random_vector(11, host.x_len());
    if !is_finite {
        for place in host.problems().iter().skip(1).step_by(4).filter(|place| place.cols > 0) {
            x[place.x as usize] = V::Accum::from_f64(f64::NEG_INFINITY);
        }
    }
    run_batch(queue, &problems, &host, &x, case)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    const TYPES: usize = ValueType::ALL.len();

    fn each_configuration() -> impl Iterator<Item = (usize, bool)> {
        let all = BatchConfiguration::all().into_iter().enumerate();
        all.map(|(number, configuration)| (number, configuration.has_in_step()))
    }

    #[test]
    fn both_halves_have_every_case_of_the_cover_once() {
        for (number, has_in_step) in each_configuration() {
            for turn in 0..TYPES {
                let of = |extent| choices_of(extent, number, turn, has_in_step);
                let settings = |extent| of(extent).map(|one| one.setting).collect::<Vec<_>>();
                let in_step = has_in_step.then_some(IN_STEP);
                let with = |settings: &[usize]| -> Vec<usize> {
                    settings.iter().copied().chain(in_step).collect()
                };
                assert_eq!(settings(Extent::Half), with(&[SMALL]));
                assert_eq!(settings(Extent::OtherHalf), with(&[DEFAULTS]));
                assert_eq!(settings(Extent::Cover), with(&[SMALL, DEFAULTS]));
                let halves: Vec<_> = of(Extent::Half).chain(of(Extent::OtherHalf)).collect();
                let distinct: HashSet<_> = halves.iter().copied().collect();
                assert_eq!(distinct.len(), halves.len(), "{halves:?}");
                assert!(of(Extent::Cover).all(|choice| distinct.contains(&choice)));
            }
        }
    }

    #[test]
    fn each_configuration_has_both_widths_of_columns_and_reads_y_or_not_with_either_setting() {
        for (number, _) in each_configuration() {
            for extent in [Extent::Half, Extent::OtherHalf] {
                let choices = (0..TYPES).flat_map(|turn| choices_of(extent, number, turn, false));
                let of = |choice: Choice| (choice.has_32_bit_columns, WAYS[choice.way].1);
                let (widths, reads): (HashSet<_>, HashSet<_>) = choices.map(of).unzip();
                assert_eq!((widths.len(), reads.len()), (2, 2), "configuration {number}");
            }
        }
        let of_quarter = each_configuration()
            .flat_map(|(number, _)| choices_of(Extent::Quarter, number, number % TYPES, false));
        let widths = of_quarter.filter(|choice| choice.has_32_bit_columns).count();
        assert!((3..7).contains(&widths), "{widths}");
    }
}
