//! One batch, computed in one way and judged problem by problem.

use csr_core::batch::{AnyHostBatch, HostBatch};
use csr_core::verify::{Oracle, Summation};
use csr_core::{AnyVector, Csr, Real as _, RealValue};
use sparrow::{
    AnyArray, AnyBatch, AnyBatchCoefficient, AnyBatchOperands, BatchOptions, BatchPlan,
    BatchedAlgorithm, BatchedVariant, ColumnWidth, Queue,
};

use super::case::{first_difference, judge};
use super::{AnyGuarded, CaseError};

/// How alpha and beta come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BatchCoefficients {
    /// By value, for all problems.
    Value,
    /// On the device, one for all.
    One,
    /// On the device, one for each.
    Each,
}

/// How a batch is computed.
#[derive(Clone, Debug)]
pub struct BatchCase {
    /// What runs; `None` chooses for each problem.
    pub algorithm: Option<BatchedAlgorithm>,
    /// How cut rows come together.
    pub variant: BatchedVariant,
    /// Hyper-parameters over the table's.
    pub parameters: Vec<(String, u32)>,
    /// How alpha and beta come.
    pub coefficients: BatchCoefficients,
    /// Whether beta is other than 0.
    pub reads_y: bool,
    /// How wide columns are.
    pub width: ColumnWidth,
    /// Launches in a row, each of the same y; the last is judged, and must have the bits of the first. Two have either
    /// direction in which a plan may go.
    pub launches: usize,
}

impl BatchCase {
    /// The choice, by value, at beta = 0, with a user's hyper-parameters.
    pub fn new(algorithm: Option<BatchedAlgorithm>) -> Self {
        BatchCase {
            algorithm,
            variant: BatchedVariant::default(),
            parameters: Vec::new(),
            coefficients: BatchCoefficients::Value,
            reads_y: false,
            width: ColumnWidth::Automatic,
            launches: 2,
        }
    }

    fn options(&self) -> BatchOptions {
        BatchOptions {
            algorithm: self.algorithm,
            variant: self.variant,
            parameters: self.parameters.clone(),
            scalars_on_device: self.coefficients != BatchCoefficients::Value,
            ..BatchOptions::default()
        }
    }
}

/// Computes the batch as often as the case says, in a y between canaries and at beta = 0 full of NaN, and holds each problem against the
/// oracle; `problems` are what `host` was made of, in its order. `Ok` holds the largest error as a multiple of the
/// tolerance.
///
/// # Errors
/// With the problem's index where it is one problem's: the library refuses, a row is wrong, or y's surroundings
/// were overwritten.
pub fn run_batch<V: RealValue>(
    queue: &Queue,
    problems: &[Csr<V>],
    host: &HostBatch<V>,
    x: &[V::Accum],
    case: &BatchCase,
) -> Result<f64, (Option<usize>, CaseError)> {
    let whole = |error| (None, error);
    let each = |of: &dyn Fn(f64) -> f64| {
        let all: Vec<f64> = (0..problems.len().max(1)).map(|index| of(index as f64)).collect();
        AnyVector::rounded(V::TYPE, &all)
    };
    let alphas = each(&|index| 1.0 + index / 8.0);
    let betas = each(&|index| if case.reads_y { 0.5 - index / 16.0 } else { 0.0 });
    let y_before = match case.reads_y {
        true => {
            AnyVector::random(V::TYPE, 12, host.y_len()).map_err(|error| whole(error.into()))?
        }
        false => AnyVector::filled(V::TYPE, f64::NAN, host.y_len()),
    };
    let x_bytes = bytemuck::cast_slice(x);
    let arrays = Arrays { x: x_bytes, alphas: &alphas, betas: &betas, y_before: &y_before };
    let Launched { first, then, is_repeatable } =
        launch_all(queue, host.into(), case, &arrays).map_err(whole)?;
    let (first, y) = (first.of::<V::Accum>(), then.of::<V::Accum>());
    let (alphas, betas, y_before) = (alphas.of(), betas.of(), y_before.of());
    let mut largest = 0.0f64;
    for (index, (csr, place)) in problems.iter().zip(host.problems()).enumerate() {
        let own = if case.coefficients == BatchCoefficients::Each { index } else { 0 };
        let x = &x[place.x as usize..][..csr.cols()];
        let rows = place.y as usize..place.y as usize + csr.rows();
        let of_problem = |error| (Some(index), error);
        let before = &y_before[rows.clone()];
        let oracle = Oracle::new(alphas[own], csr.view(), x, betas[own], before)
            .map_err(|error| of_problem(error.into()))?;
        let error = judge(&oracle, &y[rows], Summation::Plain).map_err(of_problem)?;
        largest = largest.max(error);
    }
    if is_repeatable && let Some(row) = first_difference(first, y) {
        let (first, then) = (first[row].to_f64(), y[row].to_f64());
        return Err(whole(CaseError::Unrepeated { row, first, then }));
    }
    Ok(largest)
}

/// What a batch is multiplied with, on the host.
struct Arrays<'a> {
    /// As it lies in memory.
    x: &'a [u8],
    alphas: &'a AnyVector,
    betas: &'a AnyVector,
    y_before: &'a AnyVector,
}

/// What y is after the first launch and after the last, and whether its bits have to be the same.
struct Launched {
    first: AnyVector,
    then: AnyVector,
    is_repeatable: bool,
}

fn launch_all(
    queue: &Queue,
    host: AnyHostBatch<'_>,
    case: &BatchCase,
    arrays: &Arrays<'_>,
) -> Result<Launched, CaseError> {
    let value_type = host.values().value_type();
    let accumulator = value_type.accumulator();
    let upload = |bytes: &[u8]| AnyArray::upload_blocking(queue, accumulator, bytes);
    let batch = AnyBatch::upload_blocking(queue, host, case.width)?;
    let x = upload(arrays.x)?;
    let mut y = AnyGuarded::upload_blocking(queue, accumulator, arrays.y_before.bytes(), 3)?;
    let (alphas, betas) = (upload(arrays.alphas.bytes())?, upload(arrays.betas.bytes())?);
    let plan = BatchPlan::new_blocking(queue, &batch, &case.options())?;
    let mut workspace = plan.workspace_blocking(queue)?;
    let mut launch = || -> Result<AnyVector, CaseError> {
        use AnyBatchCoefficient::{Each, One, Value};
        y.restore_blocking(queue)?;
        let (alpha, beta) = match case.coefficients {
            BatchCoefficients::Value => {
                (Value(arrays.alphas.number(0)), Value(arrays.betas.number(0)))
            }
            BatchCoefficients::One => (One(&alphas), One(&betas)),
            BatchCoefficients::Each => (Each(&alphas), Each(&betas)),
        };
        let product = AnyBatchOperands { alpha, a: &batch, x: &x, beta, y: y.array_mut() };
        plan.launch(queue, &mut workspace, product, &[])?.wait()?;
        Ok(y.read_numbers_blocking(queue, value_type)?)
    };
    let first = launch()?;
    let mut then = first.clone();
    for _ in 1..case.launches {
        then = launch()?;
    }
    if let Some(at) = y.damaged_canary(queue)? {
        return Err(CaseError::Overwritten { array: "y's surroundings", at });
    }
    Ok(Launched { first, then, is_repeatable: plan.is_repeatable() })
}
