//! One product with a dense matrix, computed in one way and judged element by element.

use csr_core::verify::{Oracle, Summation};
use csr_core::{Csr, DenseShape, Layout, Offset, Value};
use sparrow::{DenseProduct, DeviceArray, Matrix, Queue, SpmmAlgorithm, SpmmOptions, SpmmPlan};

use super::case::{first_difference, judge};
use super::{CaseError, Guarded};

/// How C = alpha A B + beta C is computed.
#[derive(Clone, Debug)]
pub struct SpmmCase {
    /// What runs; `None` is the choice.
    pub algorithm: Option<SpmmAlgorithm>,
    /// Hyper-parameters over the table's.
    pub parameters: Vec<(String, u32)>,
    /// Columns of B and C.
    pub columns: usize,
    /// How B lies, and elements between its rows (columns).
    pub b: (Layout, usize),
    /// How C lies, and elements between its rows (columns).
    pub c: (Layout, usize),
    /// Elements beyond an aligned address at which B and C start.
    pub shift: usize,
    /// Whether alpha and beta are read on the device.
    pub scalars_on_device: bool,
    /// Scales A B.
    pub alpha: f64,
    /// Scales C.
    pub beta: f64,
}

impl SpmmCase {
    /// Row-major and packed, C = A B, with a user's hyper-parameters.
    pub fn new(algorithm: Option<SpmmAlgorithm>, columns: usize) -> Self {
        SpmmCase {
            algorithm,
            parameters: Vec::new(),
            columns,
            b: (Layout::RowMajor, 0),
            c: (Layout::RowMajor, 0),
            shift: 0,
            scalars_on_device: false,
            alpha: 1.0,
            beta: 0.0,
        }
    }

    /// How a dense matrix of `rows` rows lies.
    fn shape(&self, rows: usize, (layout, gap): (Layout, usize)) -> csr_core::Result<DenseShape> {
        let length = if layout == Layout::RowMajor { self.columns } else { rows };
        DenseShape::new(rows, self.columns, layout, length + gap)
    }
}

/// What lies in gaps: if it were multiplied, the result would be NaN.
const GAP: f64 = f64::NAN;

/// Computes the product twice, in a C between canaries with NaN in its gaps, and at beta = 0 full of NaN, and holds
/// each column against the oracle. B stores `D`; with `has_infinity` an infinity comes first in it. `Ok` holds the
/// largest error as a multiple of the tolerance.
///
/// # Errors
/// The library refuses, an element is wrong, C's gaps or surroundings were overwritten, or bits changed.
pub fn run_spmm<V: Value, O: Offset, D: Value<Accum = V::Accum>>(
    queue: &Queue,
    matrix: &Csr<V, O>,
    has_infinity: bool,
    case: &SpmmCase,
) -> Result<f64, CaseError> {
    let number = <V::Accum as Value>::from_f64;
    let b_shape = case.shape(matrix.cols(), case.b)?;
    let c_shape = case.shape(matrix.rows(), case.c)?;
    let mut b = vec![D::from_f64(GAP); b_shape.span()];
    let drawn = csr_core::random_vector::<f64>(21, matrix.cols() * case.columns);
    for (at, value) in drawn.into_iter().enumerate() {
        b[b_shape.at(at / case.columns, at % case.columns)] = D::from_f64(value);
    }
    if has_infinity && let Some(first) = b.first_mut() {
        *first = D::from_f64(f64::NEG_INFINITY);
    }
    let mut c_before = vec![number(GAP); c_shape.span()];
    if case.beta != 0.0 {
        let drawn: Vec<V::Accum> = csr_core::random_vector(22, matrix.rows() * case.columns);
        for (at, value) in drawn.into_iter().enumerate() {
            c_before[c_shape.at(at / case.columns, at % case.columns)] = value;
        }
    }
    let [first, then] = launch_twice(queue, matrix, (b_shape, &b), (c_shape, &c_before), case)?;

    let mut largest = 0.0f64;
    let mut in_gap = vec![true; c_shape.span()];
    for column in 0..case.columns {
        let x: Vec<_> = b_shape.column(&b, column)?.into_iter().map(D::to_accum).collect();
        let before = c_shape.column(&c_before, column)?;
        let (alpha, beta) = (number(case.alpha), number(case.beta));
        let oracle = Oracle::new(alpha, matrix.view(), &x, beta, &before)?;
        largest = largest.max(judge(&oracle, &c_shape.column(&then, column)?, Summation::Plain)?);
        (0..matrix.rows()).for_each(|row| in_gap[c_shape.at(row, column)] = false);
    }
    let is_overwritten = |at: &usize| in_gap[*at] && !is_same(then[*at], c_before[*at]);
    if let Some(at) = (0..then.len()).find(is_overwritten) {
        return Err(CaseError::Overwritten { array: "C's gaps", at: at as i64 });
    }
    if let Some(row) = first_difference(&first, &then) {
        let (first, then) = (first[row].to_f64(), then[row].to_f64());
        return Err(CaseError::Unrepeated { row, first, then });
    }
    Ok(largest)
}

fn is_same<T: Value>(a: T, b: T) -> bool {
    bytemuck::bytes_of(&a) == bytemuck::bytes_of(&b)
}

/// What C holds after each of two launches.
fn launch_twice<V: Value, O: Offset, D: Value<Accum = V::Accum>>(
    queue: &Queue,
    matrix: &Csr<V, O>,
    (b_shape, b): (DenseShape, &[D]),
    (c_shape, c_before): (DenseShape, &[V::Accum]),
    case: &SpmmCase,
) -> Result<[Vec<V::Accum>; 2], CaseError> {
    let number = <V::Accum as Value>::from_f64;
    let a = Matrix::upload_blocking(queue, matrix.view())?;
    let b = Guarded::upload_blocking(queue, b, case.shift)?;
    let mut c = Guarded::upload_blocking(queue, c_before, case.shift)?;
    let alpha = DeviceArray::upload_blocking(queue, &[number(case.alpha)])?;
    let beta = DeviceArray::upload_blocking(queue, &[number(case.beta)])?;
    let options = SpmmOptions {
        algorithm: case.algorithm,
        scalars_on_device: case.scalars_on_device,
        parameters: case.parameters.clone(),
        ..SpmmOptions::default()
    };
    let plan = SpmmPlan::<V, O, D>::new_blocking(queue, &a, b_shape, c_shape, &options)?;
    let mut workspace = plan.workspace_blocking(queue)?;
    let mut found = [Vec::new(), Vec::new()];
    for found in &mut found {
        c.restore_blocking(queue)?;
        let (alpha, beta) = match case.scalars_on_device {
            true => ((&alpha).into(), (&beta).into()),
            false => (number(case.alpha).into(), number(case.beta).into()),
        };
        let product = DenseProduct { alpha, a: &a, b: b.array(), beta, c: c.array_mut() };
        plan.launch(queue, &mut workspace, product, &[])?.wait()?;
        *found = c.read_blocking(queue)?;
    }
    for (array, damage) in
        [("B", b.damaged_anywhere(queue)?), ("C's surroundings", c.damaged_canary(queue)?)]
    {
        if let Some(at) = damage {
            return Err(CaseError::Overwritten { array, at });
        }
    }
    Ok(found)
}
