//! y = alpha A x + beta y, with A in compressed rows.
//!
//! With a meta, by its plan. Without one, by an algorithm that has no plan, and nothing is read from the device.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use sparrow::{
    Accumulate, DeviceArray, Event, Matrix, Plan, PlanOptions, Product, Products, Workspace,
};

use crate::boundary::{read, status_of};
use crate::control::Control;
use crate::meta::Meta;
use crate::operands::{CsrArrays, Real, scalar, vector};
use crate::status::{Result, Status};
use crate::types::{cldenseVector, clsparseControl, clsparseCsrMatrix, clsparseScalar};

/// The numbers and vectors of a product.
pub(crate) struct Operands<T> {
    pub(crate) alpha: DeviceArray<T>,
    pub(crate) x: DeviceArray<T>,
    pub(crate) beta: DeviceArray<T>,
    pub(crate) y: DeviceArray<T>,
}

impl<T: Real> Operands<T> {
    /// Those of a product with a matrix of these sizes.
    pub(crate) fn of(
        control: &Control,
        (rows, cols): (u32, u32),
        (alpha, x): (&clsparseScalar, &cldenseVector),
        (beta, y): (&clsparseScalar, &cldenseVector),
    ) -> Result<Self> {
        Ok(Operands {
            alpha: scalar(control, alpha)?,
            x: vector(control, x, cols as usize)?,
            beta: scalar(control, beta)?,
            y: vector(control, y, rows as usize)?,
        })
    }

    /// Enqueues the product by a plan that fits the matrix.
    pub(crate) fn launch(
        &mut self,
        control: &Control,
        (plan, workspace): (&Plan<T>, &mut Workspace),
        a: &Matrix<T>,
    ) -> Result<Event> {
        let product = Product {
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
pub(crate) struct FreePlans<T> {
    /// By the way of summing and the mean row, to a power of two.
    known: HashMap<(Accumulate, u64), (Plan<T>, Workspace)>,
}

impl<T> Default for FreePlans<T> {
    fn default() -> Self {
        FreePlans { known: HashMap::new() }
    }
}

impl<T: Real> FreePlans<T> {
    /// Enqueues a product with a matrix of any pattern.
    pub(crate) fn launch(
        &mut self,
        control: &Control,
        accumulate: Accumulate,
        a: &Matrix<T>,
        operands: &mut Operands<T>,
    ) -> Result<Event> {
        let mean_row = (a.nnz() as u64).div_ceil(a.rows().max(1) as u64).next_power_of_two();
        let key = (accumulate, mean_row);
        let (plan, workspace) = match self.known.entry(key) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(place) => {
                let options = PlanOptions {
                    accumulate,
                    scalars_on_device: true,
                    products: Products::Once,
                    ..PlanOptions::default()
                };
                let plan = Plan::for_any_pattern(&control.queue, a, &options)?;
                let workspace = plan.workspace_blocking(&control.queue)?;
                place.insert((plan, workspace))
            }
        };
        operands.launch(control, (plan, workspace), a)
    }
}

/// # Safety
/// As types.rs says of all functions.
unsafe fn csrmv<T: Real>(
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
            return Ok(());
        }
        let arrays = CsrArrays::of(&control, matrix)?;
        let sizes = (matrix.num_rows, matrix.num_cols);
        let mut operands = Operands::of(&control, sizes, (alpha, x), (beta, y))?;
        let mut state = control.state();
        let accumulate = state.accumulate();
        let event = match Meta::of(matrix)? {
            Some(meta) => meta.launch(&control, accumulate, arrays, &mut operands)?,
            None => {
                let CsrArrays { offsets, columns, values } = arrays;
                let (context, cols) = (control.context(), matrix.num_cols as usize);
                // SAFETY: that the pattern is one is the application's promise.
                let a = unsafe { Matrix::from_arrays(context, cols, offsets, columns, values)? };
                let plans = T::free_plans(&mut state);
                plans.launch(&control, accumulate, &a, &mut operands)?
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
    unsafe { csrmv::<f32>(alpha, matx, x, beta, y, control) }
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
    unsafe { csrmv::<f64>(alpha, matx, x, beta, y, control) }
}
