//! The conformance suite of SpMM: both algorithms and the choice, on every shape, with columns of every number.

use std::ops::ControlFlow;

use csr_core::{Csr, Layout, ValueType, for_offset_type, for_value_type};
use sparrow::{DeviceTraits, OffsetType, Queue, SpmmAlgorithm, SpmmVariant};

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
}

impl SpmmConfiguration {
    /// Everything there is on a device: with a user's hyper-parameters, and with groups and pieces so small that small
    /// matrices exceed them.
    pub fn all(device: &DeviceTraits) -> Vec<Self> {
        let named = |parameters: &[(&str, u32)]| -> Vec<(String, u32)> {
            parameters.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect()
        };
        let of = |algorithm, parameters: &[(&str, u32)]| SpmmConfiguration {
            algorithm,
            parameters: named(parameters),
        };
        let (row_split, merge) = (Some(SpmmAlgorithm::RowSplit), Some(SpmmAlgorithm::Merge));
        let mut all = vec![
            of(None, &[]),
            of(row_split, &[]),
            of(
                row_split,
                &[("group_size", 32), ("nnz_at_once", 4), ("rows_at_once", 2), ("part_nnz", 8)],
            ),
            of(merge, &[]),
            of(merge, &[("group_size", 32), ("tile_length", 64), ("slack", 8), ("nnz_at_once", 2)]),
        ];
        all.extend(device.shuffle_sizes.iter().map(|size| {
            of(row_split, &[("group_size", 128), ("shuffles", *size), ("nnz_at_once", 4)])
        }));
        all
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

const COLUMNS: [usize; 13] = [32, 3, 1, 33, 8, 100, 2, 31, 64, 7, 4, 0, 130];
/// On an interpreter, where each takes long.
const FEW_COLUMNS: usize = 9;
const GAPS: [usize; 4] = [0, 4, 1, 8];
const SHIFTS: [usize; 4] = [0, 3, 4, 1];
const ALPHAS: [f64; 4] = [1.0, -1.0, 0.0, 2.5];
const BETAS: [f64; 4] = [0.0, 0.5, 0.0, -1.0];

/// Kernels turn at small numbers under the small hyper-parameters; under a user's, the larger shapes have a few.
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
    let (programs, repeats) = match extent {
        Extent::Brief => (1, 1),
        Extent::Quarter | Extent::Half | Extent::OtherHalf => (COVERED - 1, 1),
        Extent::Cover => (COVERED, 1),
        Extent::Programs => (PROGRAMS.len(), 1),
        Extent::Full => (PROGRAMS.len(), 4),
    };
    // In a quarter of the cover the choice, whose kernels are those that are named, has every third shape.
    let step_of = |configuration: &SpmmConfiguration| match (extent, configuration.algorithm) {
        (Extent::Quarter, None) => 3,
        _ => 1,
    };
    let cases = |configuration| shapes.len().div_ceil(step_of(configuration));
    let all = configurations.iter().map(cases).sum::<usize>() * repeats;
    let per_shape = if extent == Extent::Full { programs } else { 1 };
    let mut count = Count { done: 0, all: all * per_shape, failed: 0 };
    let mut report = Report::new(device, extent);
    let most_columns = if is_interpreted(device) { FEW_COLUMNS } else { usize::MAX };
    // Counts cases, so that what varies along does so in steps of its own.
    let mut turn = 0;
    for (number, configuration) in configurations.iter().enumerate() {
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
                let axes = if extent == Extent::Full {
                    PROGRAMS[repeat % PROGRAMS.len()]
                } else {
                    PROGRAMS[(number * programs + place % programs) % PROGRAMS.len()]
                };
                if axes.0 == ValueType::F64 && !device.has_f64 {
                    *tally.not_applicable.entry("the device has no f64").or_default() += 1;
                    continue;
                }
                let layouts = [Layout::RowMajor, Layout::RowMajor, Layout::ColumnMajor];
                let case = SpmmCase {
                    algorithm: configuration.algorithm,
                    variant: SpmmVariant::Usual,
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
