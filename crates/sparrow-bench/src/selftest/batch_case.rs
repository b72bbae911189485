//! One batch, computed in one way and judged problem by problem.

use csr_core::batch::HostBatch;
use csr_core::verify::{Oracle, Summation};
use csr_core::{Csr, Value};
use sparrow::{
    Batch, BatchCoefficient, BatchOptions, BatchPlan, BatchProduct, BatchedAlgorithm,
    BatchedVariant, ColumnWidth, DeviceArray, Queue,
};

use super::case::{first_difference, judge};
use super::{CaseError, Guarded};

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

/// Computes the batch twice, in a y between canaries and at beta = 0 full of NaN, and holds each problem against the
/// oracle; `problems` are what `host` was made of, in its order. `Ok` holds the largest error as a multiple of the
/// tolerance.
///
/// # Errors
/// With the problem's index where it is one problem's: the library refuses, a row is wrong, or y's surroundings
/// were overwritten.
pub fn run_batch<V: Value>(
    queue: &Queue,
    problems: &[Csr<V>],
    host: &HostBatch<V>,
    x: &[V::Accum],
    case: &BatchCase,
) -> Result<f64, (Option<usize>, CaseError)> {
    let whole = |error| (None, error);
    let number = <V::Accum as Value>::from_f64;
    let each = |of: &dyn Fn(f64) -> f64| -> Vec<V::Accum> {
        (0..problems.len().max(1)).map(|index| number(of(index as f64))).collect()
    };
    let alphas = each(&|index| 1.0 + index / 8.0);
    let betas = each(&|index| if case.reads_y { 0.5 - index / 16.0 } else { 0.0 });
    let y_before = match case.reads_y {
        true => csr_core::random_vector(12, host.y_len()),
        false => vec![number(f64::NAN); host.y_len()],
    };
    let arrays = Arrays { x, alphas: &alphas, betas: &betas, y_before: &y_before };
    let Launched { first, then: y, is_repeatable } =
        launch_twice(queue, host, case, &arrays).map_err(whole)?;
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
    if is_repeatable && let Some(row) = first_difference(&first, &y) {
        let (first, then) = (first[row].to_f64(), y[row].to_f64());
        return Err(whole(CaseError::Unrepeated { row, first, then }));
    }
    Ok(largest)
}

/// What a batch is multiplied with, on the host.
struct Arrays<'a, R> {
    x: &'a [R],
    alphas: &'a [R],
    betas: &'a [R],
    y_before: &'a [R],
}

/// What y is after each of two launches, and whether its bits have to be the same.
struct Launched<R> {
    first: Vec<R>,
    then: Vec<R>,
    is_repeatable: bool,
}

fn launch_twice<V: Value>(
    queue: &Queue,
    host: &HostBatch<V>,
    case: &BatchCase,
    arrays: &Arrays<'_, V::Accum>,
) -> Result<Launched<V::Accum>, CaseError> {
    let batch = Batch::upload_blocking(queue, host, case.width)?;
    let x = DeviceArray::upload_blocking(queue, arrays.x)?;
    let mut y = Guarded::upload_blocking(queue, arrays.y_before, 3)?;
    let alphas = DeviceArray::upload_blocking(queue, arrays.alphas)?;
    let betas = DeviceArray::upload_blocking(queue, arrays.betas)?;
    let plan = BatchPlan::new_blocking(queue, &batch, &case.options())?;
    let mut workspace = plan.workspace_blocking(queue)?;
    let mut found = [Vec::new(), Vec::new()];
    for found in &mut found {
        y.restore_blocking(queue)?;
        let (alpha, beta) = match case.coefficients {
            BatchCoefficients::Value => (arrays.alphas[0].into(), arrays.betas[0].into()),
            BatchCoefficients::One => {
                (BatchCoefficient::One(&alphas), BatchCoefficient::One(&betas))
            }
            BatchCoefficients::Each => {
                (BatchCoefficient::Each(&alphas), BatchCoefficient::Each(&betas))
            }
        };
        let product = BatchProduct { alpha, a: &batch, x: &x, beta, y: y.array_mut() };
        plan.launch(queue, &mut workspace, product, &[])?.wait()?;
        *found = y.read_blocking(queue)?;
    }
    if let Some(at) = y.damaged_canary(queue)? {
        return Err(CaseError::Overwritten { array: "y's surroundings", at });
    }
    let [first, then] = found;
    Ok(Launched { first, then, is_repeatable: plan.is_repeatable() })
}
