//! One product with a dense matrix, computed in one way and judged element by element.

use csr_core::verify::{Oracle, Summation};
use csr_core::{
    AnyCsrView, AnyVector, CsrView, DenseShape, Layout, Number, Offset, Real as _, RealValue,
    Value, ValueType, for_csr, for_value_type,
};
use sparrow::{
    AnyArray, AnyCoefficient, AnyMatrix, AnySpmmOperands, AnySpmmPlan, DenseOperands, Queue,
    SpmmAlgorithm, SpmmOptions, SpmmVariant,
};

use super::case::{first_difference, judge};
use super::{AnyGuarded, CaseError};

/// How C = alpha A B + beta C is computed.
#[derive(Clone, Debug)]
pub struct SpmmCase {
    /// What runs; `None` is the choice.
    pub algorithm: Option<SpmmAlgorithm>,
    /// In which form.
    pub variant: SpmmVariant,
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
            variant: SpmmVariant::Default,
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
/// each column against the oracle. B stores `b_type`; with `has_infinity` an infinity comes first in it. `Ok` holds the
/// largest error as a multiple of the tolerance.
///
/// # Errors
/// The library refuses, an element is wrong, C's gaps or surroundings were overwritten, or bits changed.
pub fn run_spmm(
    queue: &Queue,
    matrix: AnyCsrView<'_>,
    b_type: ValueType,
    has_infinity: bool,
    case: &SpmmCase,
) -> Result<f64, CaseError> {
    let (value_type, rows, cols) =
        (matrix.value_type(), matrix.pattern().rows(), matrix.pattern().cols());
    let b_shape = case.shape(cols, case.b)?;
    let c_shape = case.shape(rows, case.c)?;
    let mut b = vec![GAP; b_shape.span()];
    let drawn = csr_core::random_vector::<f64>(21, cols * case.columns);
    for (at, value) in drawn.into_iter().enumerate() {
        b[b_shape.at(at / case.columns, at % case.columns)] = value;
    }
    if has_infinity && let Some(first) = b.first_mut() {
        *first = f64::NEG_INFINITY;
    }
    let b = Stored::new(b_type, &b);
    let mut c_before = vec![GAP; c_shape.span()];
    if case.beta != 0.0 {
        let drawn = csr_core::random_vector::<f64>(22, rows * case.columns);
        for (at, value) in drawn.into_iter().enumerate() {
            c_before[c_shape.at(at / case.columns, at % case.columns)] = value;
        }
    }
    let c_before = AnyVector::rounded(value_type, &c_before);
    let dense = DenseOperands { b: b_shape, b_type, c: c_shape };
    let a = AnyMatrix::upload_blocking(queue, matrix)?;
    let [first, then] = launch_twice(queue, &a, dense, (&b.bytes, &c_before), case)?;

    let mut largest = 0.0f64;
    let mut in_gap = vec![true; c_shape.span()];
    for column in 0..case.columns {
        let of_column = |elements: &AnyVector, shape: &DenseShape| {
            elements.gathered((0..shape.rows()).map(|row| shape.at(row, column)))
        };
        let (x, before) = (of_column(&b.in_sums, &b_shape), of_column(&c_before, &c_shape));
        let oracle = for_csr!(matrix, matrix => oracle(matrix, case, &x, &before))?;
        let found = of_column(&then, &c_shape);
        largest = largest.max(match &found {
            AnyVector::F32(found) => judge(&oracle, found, Summation::Plain)?,
            AnyVector::F64(found) => judge(&oracle, found, Summation::Plain)?,
        });
        (0..rows).for_each(|row| in_gap[c_shape.at(row, column)] = false);
    }
    let element = value_type.accumulator().size_bytes();
    let is_other = |at: &usize| {
        let bytes = at * element..(at + 1) * element;
        in_gap[*at] && then.bytes()[bytes.clone()] != c_before.bytes()[bytes]
    };
    if let Some(at) = (0..then.len()).find(is_other) {
        return Err(CaseError::Overwritten { array: "C's gaps", at: at as i64 });
    }
    let difference = match (&first, &then) {
        (AnyVector::F32(first), AnyVector::F32(then)) => first_difference(first, then),
        _ => first_difference(first.of::<f64>(), then.of::<f64>()),
    };
    if let Some(row) = difference {
        let (first, then) = (first.number(row).to_f64(), then.number(row).to_f64());
        return Err(CaseError::Unrepeated { row, first, then });
    }
    Ok(largest)
}

/// Elements of B: as they are stored, and as sums see them.
struct Stored {
    bytes: Vec<u8>,
    in_sums: AnyVector,
}

impl Stored {
    /// These numbers, rounded to `b_type`.
    fn new(b_type: ValueType, numbers: &[f64]) -> Self {
        for_value_type!(b_type, D => {
            let stored: Vec<D> = numbers.iter().map(|&number| D::from_f64(number)).collect();
            let exact: Vec<f64> = stored.iter().map(|number| number.to_f64()).collect();
            Stored {
                bytes: bytemuck::cast_slice(&stored).to_vec(),
                in_sums: AnyVector::rounded(b_type, &exact),
            }
        })
    }
}

fn oracle<V: RealValue, O: Offset>(
    matrix: CsrView<'_, V, O>,
    case: &SpmmCase,
    x: &AnyVector,
    before: &AnyVector,
) -> csr_core::Result<Oracle> {
    let number = <V::Accum as Value>::from_f64;
    Oracle::new(number(case.alpha), matrix, x.of(), number(case.beta), before.of())
}

/// What C holds after each of two launches.
fn launch_twice(
    queue: &Queue,
    a: &AnyMatrix,
    dense: DenseOperands,
    (b, c_before): (&[u8], &AnyVector),
    case: &SpmmCase,
) -> Result<[AnyVector; 2], CaseError> {
    let (value_type, accumulator) = (a.value_type(), c_before.value_type());
    let b = AnyGuarded::upload_blocking(queue, dense.b_type, b, case.shift)?;
    let mut c = AnyGuarded::upload_blocking(queue, accumulator, c_before.bytes(), case.shift)?;
    let on_device = |value| {
        let number = AnyVector::filled(value_type, value, 1);
        AnyArray::upload_blocking(queue, accumulator, number.bytes())
    };
    let (device_alpha, device_beta) = (on_device(case.alpha)?, on_device(case.beta)?);
    let options = SpmmOptions {
        algorithm: case.algorithm,
        variant: case.variant,
        scalars_on_device: case.scalars_on_device,
        parameters: case.parameters.clone(),
        ..SpmmOptions::default()
    };
    let plan = AnySpmmPlan::new_blocking(queue, a, dense, &options)?;
    let mut workspace = plan.workspace_blocking(queue)?;
    let mut launch = || -> Result<AnyVector, CaseError> {
        c.restore_blocking(queue)?;
        let (alpha, beta) = match case.scalars_on_device {
            true => (AnyCoefficient::Device(&device_alpha), AnyCoefficient::Device(&device_beta)),
            false => {
                let number = |value| AnyCoefficient::Value(Number::of(value_type, value));
                (number(case.alpha), number(case.beta))
            }
        };
        let product = AnySpmmOperands { alpha, a, b: b.array(), beta, c: c.array_mut() };
        plan.launch(queue, &mut workspace, product, &[])?.wait()?;
        Ok(c.read_numbers_blocking(queue, value_type)?)
    };
    let found = [launch()?, launch()?];
    for (array, damage) in
        [("B", b.damaged_anywhere(queue)?), ("C's surroundings", c.damaged_canary(queue)?)]
    {
        if let Some(at) = damage {
            return Err(CaseError::Overwritten { array, at });
        }
    }
    Ok(found)
}
