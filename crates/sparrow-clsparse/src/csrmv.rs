//! y = alpha A x + beta y, with A in compressed rows.
//!
//! With a meta, by its plan. Without one, by an algorithm that has no plan, and nothing is read from the device.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use sparrow::{
    Accumulate, AnyArray, AnyMatrix, AnyPlan, AnyProduct, Event, PlanOptions, Products, ValueType,
    Workspace,
};

use crate::boundary::{read, status_of};
use crate::control::Control;
use crate::meta::Meta;
use crate::operands::{CsrArrays, apart, scalar, vector};
use crate::status::{Result, Status};
use crate::types::{cldenseVector, clsparseControl, clsparseCsrMatrix, clsparseScalar};

/// The numbers and vectors of a product.
pub(crate) struct Operands {
    pub(crate) alpha: AnyArray,
    pub(crate) x: AnyArray,
    pub(crate) beta: AnyArray,
    pub(crate) y: AnyArray,
}

impl Operands {
    /// Those of a product with a matrix of these sizes, which stores values of this type. What shares memory with y is
    /// copied: programs compute y = A y, and mean the y that was there.
    pub(crate) fn of(
        control: &Control,
        value_type: ValueType,
        (rows, cols): (u32, u32),
        (alpha, x): (&clsparseScalar, &cldenseVector),
        (beta, y): (&clsparseScalar, &cldenseVector),
    ) -> Result<Self> {
        let y = vector(control, value_type, y, rows as usize)?;
        let [alpha, beta] =
            [scalar(control, value_type, alpha)?, scalar(control, value_type, beta)?];
        let x = vector(control, value_type, x, cols as usize)?;
        Ok(Operands {
            alpha: apart(control, alpha, &y)?,
            x: apart(control, x, &y)?,
            beta: apart(control, beta, &y)?,
            y,
        })
    }

    /// Enqueues the product by a plan that fits the matrix.
    pub(crate) fn launch(
        &mut self,
        control: &Control,
        (plan, workspace): (&AnyPlan, &mut Workspace),
        a: &AnyMatrix,
    ) -> Result<Event> {
        let product = AnyProduct {
            alpha: (&self.alpha).into(),
            a,
            x: &self.x,
            beta: (&self.beta).into(),
            y: &mut self.y,
        };
        Ok(plan.launch(&control.queue, workspace, product, &[])?)
    }
}

/// Plans for matrices of which nothing is known but how long their rows are in the mean.
#[derive(Default)]
pub(crate) struct FreePlans {
    /// By the type of values, the way of summing, and the mean row, to a power of two.
    known: HashMap<(ValueType, Accumulate, u64), (AnyPlan, Workspace)>,
}

impl FreePlans {
    /// Enqueues a product with a matrix of any pattern.
    pub(crate) fn launch(
        &mut self,
        control: &Control,
        accumulate: Accumulate,
        a: &AnyMatrix,
        operands: &mut Operands,
    ) -> Result<Event> {
        let mean_row = (a.nnz() as u64).div_ceil(a.rows().max(1) as u64).next_power_of_two();
        let key = (a.value_type(), accumulate, mean_row);
        let (plan, workspace) = match self.known.entry(key) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(place) => {
                let options = PlanOptions {
                    accumulate,
                    scalars_on_device: true,
                    products: Products::Once,
                    ..PlanOptions::default()
                };
                let plan = AnyPlan::for_any_pattern(&control.queue, a, &options)?;
                let workspace = plan.workspace_blocking(&control.queue)?;
                place.insert((plan, workspace))
            }
        };
        operands.launch(control, (plan, workspace), a)
    }
}

/// # Safety
/// As types.rs says of all functions.
unsafe fn csrmv(
    value_type: ValueType,
    alpha: *const clsparseScalar,
    matx: *const clsparseCsrMatrix,
    x: *const cldenseVector,
    beta: *const clsparseScalar,
    y: *mut cldenseVector,
    control: clsparseControl,
) -> Status {
    status_of(|| {
        let control = Control::of(control)?;
        // SAFETY: the caller's promise.
        let (alpha, x, beta, y) = unsafe { (read(alpha)?, read(x)?, read(beta)?, read(y)?) };
        // SAFETY: as before.
        let matrix = unsafe { read(matx)? };
        if matrix.num_rows == 0 {
            return control.state().end_blocking(&control.queue);
        }
        let arrays = CsrArrays::of(&control, value_type, matrix)?;
        let sizes = (matrix.num_rows, matrix.num_cols);
        let mut operands = Operands::of(&control, value_type, sizes, (alpha, x), (beta, y))?;
        let mut state = control.state();
        let accumulate = state.accumulate();
        let event = match Meta::of(matrix)? {
            Some(meta) => meta.launch(&control, accumulate, arrays, &mut operands)?,
            None => {
                let CsrArrays { offsets, columns, values } = arrays;
                let (context, cols) = (control.context(), matrix.num_cols as usize);
                // SAFETY: that the pattern is one is the application's promise.
                let a = unsafe { AnyMatrix::from_arrays(context, cols, offsets, columns, values)? };
                state.free_plans.launch(&control, accumulate, &a, &mut operands)?
            }
        };
        state.end(event)
    })
}

/// y = alpha A x + beta y in single precision.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clsparseScsrmv(
    alpha: *const clsparseScalar,
    matx: *const clsparseCsrMatrix,
    x: *const cldenseVector,
    beta: *const clsparseScalar,
    y: *mut cldenseVector,
    control: clsparseControl,
) -> Status {
    // SAFETY: the caller's promise.
    unsafe { csrmv(ValueType::F32, alpha, matx, x, beta, y, control) }
}

/// y = alpha A x + beta y in double precision.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clsparseDcsrmv(
    alpha: *const clsparseScalar,
    matx: *const clsparseCsrMatrix,
    x: *const cldenseVector,
    beta: *const clsparseScalar,
    y: *mut cldenseVector,
    control: clsparseControl,
) -> Status {
    // SAFETY: the caller's promise.
    unsafe { csrmv(ValueType::F64, alpha, matx, x, beta, y, control) }
}
