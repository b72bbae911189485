//! The conformance suite of SpMM: both algorithms and the choice, on every shape, with columns of every number.

use std::ops::{ControlFlow, Range};

use csr_core::{Csr, Layout, ValueType, for_offset_type, for_value_type};
use sparrow::{DeviceTraits, DeviceType, OffsetType, Queue, SpmmAlgorithm, SpmmVariant};

use super::report::parameter_text;
use super::suite::spoil_values;
use super::{
    Amount, CaseError, Count, Extent, Failure, Limits, Progress, Report, Shape, SpmmCase, Tally,
    Tested, is_interpreted, run_spmm, shapes,
};

/// An algorithm of SpMM and its hyper-parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpmmConfiguration {
    /// What runs; `None` is the choice.
    pub algorithm: Option<SpmmAlgorithm>,
    /// Hyper-parameters; none are those a user gets.
    pub parameters: Vec<(String, u32)>,
    /// Its index in [`SpmmConfiguration::all`]: which programs a cover has of it, whatever else is left out.
    number: usize,
}

impl SpmmConfiguration {
    /// Everything there is on a device: with a user's hyper-parameters, and with groups and tiles so small that small
    /// matrices exceed them.
    pub fn all(device: &DeviceTraits) -> Vec<Self> {
        Self::all_with(device.device_type, &device.shuffle_sizes)
    }

    /// Of a device of a kind, with shuffles within sub-groups of `shuffle_sizes` items.
    fn all_with(device_type: DeviceType, shuffle_sizes: &[u32]) -> Vec<Self> {
        let named = |parameters: &[(&str, u32)]| -> Vec<(String, u32)> {
            parameters.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect()
        };
        let of = |algorithm, parameters: &[(&str, u32)]| SpmmConfiguration {
            algorithm,
            parameters: named(parameters),
            number: 0,
        };
        let (row_split, merge) = (Some(SpmmAlgorithm::RowSplit), Some(SpmmAlgorithm::Merge));
        let mut all = vec![
            of(None, &[]),
            of(row_split, &[]),
            of(
                row_split,
                &[
                    ("group_size", 32),
                    ("nnz_at_once", 4),
                    ("rows_at_once", 2),
                    ("part_nnz", 8),
                    ("items_per_row", 8),
                ],
            ),
            of(merge, &[]),
            of(
                merge,
                &[
                    ("group_size", 32),
                    ("tile_length", 64),
                    ("slack", 8),
                    ("nnz_at_once", 2),
                    ("sub_groups", 8),
                ],
            ),
        ];
        if device_type != DeviceType::Cpu {
            // Small matrices leave a GPU idle, which shares rows otherwise.
            all.push(of(row_split, &[("group_size", 32), ("items_per_row", 1)]));
        }
        all.extend(shuffle_sizes.iter().map(|size| {
            let shuffling = [
                ("group_size", 128),
                ("shuffles", *size),
                ("nnz_at_once", 4),
                ("items_per_row", 1),
            ];
            of(row_split, &shuffling)
        }));
        all.iter_mut().enumerate().for_each(|(number, one)| one.number = number);
        all
    }

    /// Whether an algorithm runs by name with a user's hyper-parameters: larger groups and no other code than with small
    /// ones, so that half of the cover goes without ([`Extent::is_for_slow_devices`]).
    pub fn is_by_name_with_defaults(&self) -> bool {
        self.algorithm.is_some() && self.parameters.is_empty()
    }

    /// Which of [`PROGRAMS`], modulo their number, shapes have in turn; `index` is among those that are run.
    fn programs(&self, extent: Extent, index: usize) -> Range<usize> {
        let first = COVERED * self.number;
        match extent {
            Extent::Brief => index..index + 1,
            Extent::Quarter | Extent::Half => first..first + HALF,
            // Half of the cover has none of it.
            Extent::OtherHalf if self.is_by_name_with_defaults() => first..first + COVERED,
            Extent::OtherHalf => first + HALF..first + 2 * HALF,
            Extent::Cover => first..first + COVERED,
            Extent::Programs | Extent::Full => 0..PROGRAMS.len(),
        }
    }

    fn tested(&self) -> Tested {
        let algorithm = self.algorithm.map_or("spmm", SpmmAlgorithm::name).to_owned();
        let parameters = parameter_text(&self.parameters);
        let name =
            if parameters.is_empty() { format!("{algorithm} tuned") } else { algorithm.clone() };
        Tested { name, algorithm, variant: String::new(), parameters }
    }
}

/// What programs are built for: what A and B store, whether offsets have 64 bits, where alpha and beta lie, how C does.
type ProgramAxes = (ValueType, ValueType, bool, bool, Layout);

const PROGRAMS: [ProgramAxes; 10] = {
    use Layout::{ColumnMajor, RowMajor};
    use ValueType::{Bf16, F16, F32, F64};
    [
        (F32, F32, false, false, RowMajor),
        (F64, F64, true, true, RowMajor),
        (F16, F16, true, false, ColumnMajor),
        (Bf16, F32, false, true, RowMajor),
        (F64, F64, false, false, ColumnMajor),
        (F32, F16, false, false, RowMajor),
        (F32, F32, true, true, ColumnMajor),
        (F16, F32, false, true, RowMajor),
        (F32, Bf16, true, false, ColumnMajor),
        (Bf16, F16, false, false, RowMajor),
    ]
};

/// Of those, how many [`Extent::Cover`] takes of each configuration, others of the next.
const COVERED: usize = 3;

/// How many [`Extent::Half`] takes of each, and [`Extent::OtherHalf`] others.
const HALF: usize = 2;

const COLUMNS: [usize; 13] = [32, 3, 1, 33, 8, 100, 2, 31, 64, 7, 4, 0, 130];
/// On an interpreter, where each takes long.
const FEW_COLUMNS: usize = 9;
const GAPS: [usize; 4] = [0, 4, 1, 8];
const SHIFTS: [usize; 4] = [0, 3, 4, 1];
const ALPHAS: [f64; 4] = [1.0, -1.0, 0.0, 2.5];
const BETAS: [f64; 4] = [0.0, 0.5, 0.0, -1.0];

/// Kernels change their ways at small numbers under the small hyper-parameters; under a user's, the larger shapes have
/// a few.
const LIMITS: Limits = Limits { group_size: 32, nnz_per_wg: 64, share: 48, tile: 64 };

/// Runs `configurations` on every shape; columns, gaps, layouts, alpha, beta and where arrays start vary along.
/// `observe` is as [`super::run_suite`]'s.
///
/// # Errors
/// None in practice. What a case finds is in the report.
pub fn run_spmms(
    queue: &Queue,
    configurations: &[SpmmConfiguration],
    extent: Extent,
    observe: &mut dyn FnMut(Progress<'_>) -> ControlFlow<()>,
) -> sparrow::Result<Report> {
    let device = queue.context().device().traits();
    let mut shapes = shapes(&LIMITS, Amount::of(device, extent));
    shapes.extend(Shape::alike_rows());
    let repeats = if extent == Extent::Full { 4 } else { 1 };
    // In a quarter of the cover the choice, whose kernels are those that are named, has every third shape.
    let step_of = |configuration: &SpmmConfiguration| match (extent, configuration.algorithm) {
        (Extent::Quarter, None) => 3,
        _ => 1,
    };
    let cases = |configuration| shapes.len().div_ceil(step_of(configuration));
    let all = configurations.iter().map(cases).sum::<usize>() * repeats;
    let per_shape = if extent == Extent::Full { PROGRAMS.len() } else { 1 };
    let mut count = Count { done: 0, all: all * per_shape, failed: 0 };
    let mut report = Report::new(device, extent);
    let most_columns = if is_interpreted(device) { FEW_COLUMNS } else { usize::MAX };
    // Counts cases, so that what varies along does so in steps of its own.
    let mut turn = 0;
    for (index, configuration) in configurations.iter().enumerate() {
        let programs = configuration.programs(extent, index);
        let mut tally = Tally::default();
        let tested = configuration.tested();
        let mut ends = false;
        'cases: for (place, shape) in shapes.iter().enumerate().step_by(step_of(configuration)) {
            for repeat in 0..repeats * per_shape {
                if observe(Progress { count, report: &report, has_failed: false }).is_break() {
                    ends = true;
                    break 'cases;
                }
                count.done += 1;
                turn += 1;
                let nth = if extent == Extent::Full { repeat } else { place };
                let axes = PROGRAMS[(programs.start + nth % programs.len()) % PROGRAMS.len()];
                if axes.0 == ValueType::F64 && !device.has_f64 {
                    *tally.not_applicable.entry("the device has no f64").or_default() += 1;
                    continue;
                }
                let layouts = [Layout::RowMajor, Layout::RowMajor, Layout::ColumnMajor];
                let case = SpmmCase {
                    algorithm: configuration.algorithm,
                    variant: SpmmVariant::Default,
                    parameters: configuration.parameters.clone(),
                    columns: COLUMNS[turn % COLUMNS.len()].min(most_columns),
                    b: (layouts[turn / 2 % 3], GAPS[turn / 5 % 4]),
                    c: (axes.4, GAPS[turn / 3 % 4]),
                    shift: SHIFTS[turn / 4 % 4],
                    scalars_on_device: axes.3,
                    alpha: ALPHAS[turn / 2 % 4],
                    beta: BETAS[turn / 6 % 4],
                };
                let is_finite = !turn.is_multiple_of(4);
                match run_axes(queue, shape, axes, is_finite, &case) {
                    Ok(error) => {
                        tally.passed += 1;
                        tally.error_in_tolerance = tally.error_in_tolerance.max(error);
                    }
                    Err(error) => {
                        let seen = Progress { count, report: &report, has_failed: true };
                        if observe(seen).is_break() {
                            ends = true;
                            break 'cases;
                        }
                        count.failed += 1;
                        tally.failures.push(Failure {
                            tested: tested.name.clone(),
                            shape: shape.name.to_owned(),
                            case: format!(
                                "A {}, B {}, {case:?}, finite: {is_finite}",
                                axes.0, axes.1
                            ),
                            error,
                        });
                    }
                }
            }
        }
        report.push(tested, tally, ends);
        if ends {
            break;
        }
    }
    Ok(report)
}

fn run_axes(
    queue: &Queue,
    shape: &Shape,
    (value_type, storage, is_wide, ..): ProgramAxes,
    is_finite: bool,
    case: &SpmmCase,
) -> Result<f64, CaseError> {
    let offset_type = if is_wide { OffsetType::U64 } else { OffsetType::U32 };
    for_value_type!(value_type, V => {
        for_offset_type!(offset_type, O => {
            let mut matrix: Csr<V, O> = shape.matrix()?;
            if !is_finite {
                spoil_values(matrix.values_mut());
            }
            run_spmm(queue, matrix.view().into(), storage, !is_finite, case)
        })
    })
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::hash::Hash;

    use super::*;

    /// A CPU's configurations: no shuffles.
    fn all() -> Vec<SpmmConfiguration> {
        SpmmConfiguration::all_with(DeviceType::Cpu, &[])
    }

    /// What both halves have of those that `is_of`, by numbers; each once of a configuration.
    fn of_both_halves(is_of: impl Fn(&SpmmConfiguration) -> bool) -> HashSet<usize> {
        let (mut union, mut all) = (HashSet::new(), all());
        all.retain(is_of);
        for (index, one) in all.iter().enumerate() {
            let of = |extent| -> HashSet<usize> {
                one.programs(extent, index).map(|number| number % PROGRAMS.len()).collect()
            };
            let half =
                if one.is_by_name_with_defaults() { HashSet::new() } else { of(Extent::Half) };
            let other = of(Extent::OtherHalf);
            assert!(half.is_disjoint(&other), "{one:?}");
            let both: HashSet<usize> = half.union(&other).copied().collect();
            assert!(both.is_superset(&of(Extent::Cover)), "{one:?}: {both:?}");
            union.extend(both);
        }
        union
    }

    #[test]
    fn both_halves_have_every_program_of_the_cover_once() {
        assert_eq!(of_both_halves(|_| true).len(), PROGRAMS.len());
        // Whatever else is left out, its programs are the same.
        let named: Vec<_> = all().into_iter().filter(|one| one.algorithm.is_some()).collect();
        assert_eq!(named[0].programs(Extent::Half, 0), all()[1].programs(Extent::Half, 1));
    }

    #[test]
    fn both_halves_have_every_value_of_every_axis_of_each_algorithm() {
        fn values<T: Eq + Hash>(
            programs: &HashSet<usize>,
            of: impl Fn(&ProgramAxes) -> T,
        ) -> usize {
            programs.iter().map(|&number| of(&PROGRAMS[number])).collect::<HashSet<_>>().len()
        }
        for algorithm in SpmmAlgorithm::ALL.map(Some) {
            let programs = of_both_halves(|one| one.algorithm == algorithm);
            assert!(programs.len() >= 7, "{algorithm:?}: {programs:?}");
            assert_eq!(values(&programs, |axes| axes.0), 4, "{algorithm:?}: types of A");
            assert!(values(&programs, |axes| axes.1) >= 3, "{algorithm:?}: types of B");
            assert_eq!(values(&programs, |axes| axes.2), 2, "{algorithm:?}: offsets");
            assert_eq!(values(&programs, |axes| axes.3), 2, "{algorithm:?}: scalars");
            assert_eq!(values(&programs, |axes| axes.4 == Layout::RowMajor), 2, "{algorithm:?}: C");
        }
    }
}
