//! Metas: what is known of a pattern, and the plans for products with matrices that have it.
//!
//! An application copies its `clsparseCsrMatrix`, frees it, puts other buffers into it; so a meta keeps no buffers of
//! the application's, and its `void*` is a handle. Plans are made for a precision when it is first met, and for the
//! one that the values' buffer has room for when the meta is made. Products from several queues at once have a
//! workspace each.

use std::ffi::c_void;
use std::ptr;
use std::sync::{Arc, Mutex, PoisonError};

use sparrow::{
    Accumulate, Algorithm, Context, DenseShape, Event, KnownPattern, Matrix, Plan, PlanOptions,
    Queue, SpmmOptions, SpmmPlan, Workspace,
};

use crate::boundary::{read, status_of, value_of, write};
use crate::control::Control;
use crate::csrmm::DenseOperands;
use crate::csrmv::Operands;
use crate::handles::Handles;
use crate::operands::{CsrArrays, Real, array};
use crate::status::{Result, Status};
use crate::types::{clsparseControl, clsparseCsrMatrix, clsparseMetaSizeResult};

static METAS: Handles<Meta> = Handles::new();

/// Workspaces, and plans for dense matrices, that a meta keeps at most: the oldest gives way.
const KEPT: usize = 8;

/// What lives behind `clsparseCsrMatrix::meta`.
pub(crate) struct Meta {
    context: Context,
    pattern: KnownPattern,
    pub(crate) f32: Mutex<MetaPlans<f32>>,
    pub(crate) f64: Mutex<MetaPlans<f64>>,
}

/// How B and C lie.
pub(crate) type DenseShapes = (DenseShape, DenseShape);

/// A plan for products with dense matrices.
pub(crate) type DensePlan<T> = SpmmPlan<T, u32, T>;

/// The plans of one precision.
pub(crate) struct MetaPlans<T> {
    vector: Vec<(Accumulate, Planned<Plan<T>>)>,
    dense: Vec<(DenseShapes, Planned<DensePlan<T>>)>,
}

impl<T> Default for MetaPlans<T> {
    fn default() -> Self {
        MetaPlans { vector: Vec::new(), dense: Vec::new() }
    }
}

/// A plan with a workspace for each queue.
struct Planned<P> {
    plan: P,
    workspaces: Vec<(usize, Workspace)>,
}

impl<P> Planned<P> {
    fn new(plan: P) -> Self {
        Planned { plan, workspaces: Vec::new() }
    }

    /// The plan, and the workspace for launches in `queue`.
    fn for_queue(
        &mut self,
        queue: &Queue,
        make: impl FnOnce(&P) -> sparrow::Result<Workspace>,
    ) -> Result<(&P, &mut Workspace)> {
        let address = queue.as_raw().addr();
        let known = self.workspaces.iter().position(|(of, _)| *of == address);
        let at = match known {
            Some(at) => at,
            None => {
                if self.workspaces.len() == KEPT {
                    self.workspaces.remove(0);
                }
                self.workspaces.push((address, make(&self.plan)?));
                self.workspaces.len() - 1
            }
        };
        Ok((&self.plan, &mut self.workspaces[at].1))
    }
}

impl Meta {
    /// The meta that a matrix names; none where it names none.
    pub(crate) fn of(matrix: &clsparseCsrMatrix) -> Result<Option<Arc<Meta>>> {
        if matrix.meta.is_null() {
            return Ok(None);
        }
        METAS.get(matrix.meta).map(Some).ok_or(Status::StructInvalid)
    }

    /// Looks at the pattern of `matrix`.
    fn new(control: &Control, matrix: &clsparseCsrMatrix) -> Result<Self> {
        let (rows, nnz) = (matrix.num_rows as usize, matrix.num_nonzeros as usize);
        let offsets = array::<u32>(control, matrix.row_pointer, matrix.off_row_pointer, rows + 1)?;
        let columns = || array::<u32>(control, matrix.col_indices, matrix.off_col_indices, nnz);
        // Values play no part, and may not be there yet: columns stand for them.
        let values = array::<f32>(control, matrix.col_indices, matrix.off_col_indices, nnz)?;
        let cols = matrix.num_cols as usize;
        // SAFETY: that the pattern is one is the application's promise.
        let a = unsafe {
            Matrix::from_arrays_blocking(&control.queue, cols, offsets, columns()?, values)?
        };
        let meta = Meta {
            context: control.context().clone(),
            pattern: a.known_pattern(),
            f32: Mutex::default(),
            f64: Mutex::default(),
        };
        meta.foresee(control, matrix)?;
        Ok(meta)
    }

    /// Plans for the precision that the values' buffer has room for.
    fn foresee(&self, control: &Control, matrix: &clsparseCsrMatrix) -> Result<()> {
        let nnz = matrix.num_nonzeros as usize;
        if nnz == 0 || matrix.values.is_null() {
            return Ok(());
        }
        let has_f64 = control.context().device().traits().has_f64;
        if has_f64 && array::<f64>(control, matrix.values, matrix.off_values, nnz).is_ok() {
            self.plan::<f64>(control, matrix)
        } else {
            self.plan::<f32>(control, matrix)
        }
    }

    fn plan<T: Real>(&self, control: &Control, matrix: &clsparseCsrMatrix) -> Result<()> {
        let a = self.matrix::<T>(control, CsrArrays::of(control, matrix)?)?;
        let mut plans = T::meta_plans(self).lock().unwrap_or_else(PoisonError::into_inner);
        plans.vector(&control.queue, Accumulate::Plain, &a).map(drop)
    }

    /// The matrix of these arrays, as one that has this pattern.
    pub(crate) fn matrix<T: Real>(
        &self,
        control: &Control,
        arrays: CsrArrays<T>,
    ) -> Result<Matrix<T>> {
        if !self.context.is_same(control.context()) {
            return Err(Status::InvalidContext);
        }
        let CsrArrays { offsets, columns, values } = arrays;
        // SAFETY: that the pattern has not changed since the meta was made is the application's promise.
        let a = unsafe {
            Matrix::of_known_pattern(&self.context, &self.pattern, offsets, columns, values)
        };
        a.map_err(|_| Status::StructInvalid)
    }

    /// Enqueues a product with a vector.
    pub(crate) fn launch<T: Real>(
        &self,
        control: &Control,
        accumulate: Accumulate,
        arrays: CsrArrays<T>,
        operands: &mut Operands<T>,
    ) -> Result<Event> {
        let a = self.matrix(control, arrays)?;
        let mut plans = T::meta_plans(self).lock().unwrap_or_else(PoisonError::into_inner);
        let planned = plans.vector(&control.queue, accumulate, &a)?;
        let ready =
            planned.for_queue(&control.queue, |plan| plan.workspace_blocking(&control.queue))?;
        operands.launch(control, ready, &a)
    }

    /// Enqueues a product with a dense matrix.
    pub(crate) fn launch_dense<T: Real>(
        &self,
        control: &Control,
        arrays: CsrArrays<T>,
        operands: &mut DenseOperands<T>,
    ) -> Result<Event> {
        let a = self.matrix(control, arrays)?;
        let mut plans = T::meta_plans(self).lock().unwrap_or_else(PoisonError::into_inner);
        let planned = plans.dense(&control.queue, &a, operands.shapes)?;
        let (plan, workspace) =
            planned.for_queue(&control.queue, |plan| plan.workspace_blocking(&control.queue))?;
        operands.launch(control, plan, workspace, &a)
    }

    /// Bytes of its plans.
    fn size_bytes(&self) -> usize {
        fn of<T: Real>(meta: &Meta) -> usize {
            let plans = T::meta_plans(meta).lock().unwrap_or_else(PoisonError::into_inner);
            plans.vector.iter().map(|(_, planned)| planned.plan.plan_bytes()).sum()
        }
        of::<f32>(self) + of::<f64>(self)
    }
}

impl<T: Real> MetaPlans<T> {
    fn vector(
        &mut self,
        queue: &Queue,
        accumulate: Accumulate,
        a: &Matrix<T>,
    ) -> Result<&mut Planned<Plan<T>>> {
        if let Some(at) = self.vector.iter().position(|(of, _)| *of == accumulate) {
            return Ok(&mut self.vector[at].1);
        }
        let options = PlanOptions { accumulate, scalars_on_device: true, ..PlanOptions::default() };
        let mut plan = Plan::new_blocking(queue, a, &options)?;
        if plan.algorithm() == Algorithm::EvcHyb {
            // Its copy of the values would not hear of new ones.
            let options = PlanOptions { algorithm: Some(Algorithm::CsrAdaptive), ..options };
            plan = Plan::new_blocking(queue, a, &options)?;
        }
        self.vector.push((accumulate, Planned::new(plan)));
        let at = self.vector.len() - 1;
        Ok(&mut self.vector[at].1)
    }

    fn dense(
        &mut self,
        queue: &Queue,
        a: &Matrix<T>,
        shapes: DenseShapes,
    ) -> Result<&mut Planned<DensePlan<T>>> {
        if let Some(at) = self.dense.iter().position(|(of, _)| *of == shapes) {
            return Ok(&mut self.dense[at].1);
        }
        if self.dense.len() == KEPT {
            self.dense.remove(0);
        }
        self.dense.push((shapes, Planned::new(spmm_plan(queue, a, shapes)?)));
        let at = self.dense.len() - 1;
        Ok(&mut self.dense[at].1)
    }
}

/// A plan for C = alpha A B + beta C with alpha and beta on the device.
pub(crate) fn spmm_plan<T: Real>(
    queue: &Queue,
    a: &Matrix<T>,
    (b, c): DenseShapes,
) -> Result<DensePlan<T>> {
    let options = SpmmOptions { scalars_on_device: true, ..SpmmOptions::default() };
    Ok(SpmmPlan::new_blocking(queue, a, b, c, &options)?)
}

/// How large a meta is, or would be: in entries of 8 bytes. It is for information; nobody has to allocate it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clsparseCsrMetaSize(
    csrMatx: *mut clsparseCsrMatrix,
    control: clsparseControl,
) -> clsparseMetaSizeResult {
    let (status, metaSize) = value_of(0, || {
        let control = Control::of_any(control)?;
        // SAFETY: as types.rs says of all functions.
        let matrix = unsafe { read(csrMatx)? };
        let bytes = match Meta::of(matrix) {
            Ok(Some(meta)) => meta.size_bytes(),
            _ => Meta::new(&control, matrix)?.size_bytes(),
        };
        // Never 0: somebody may ask OpenCL for a buffer of this size.
        Ok(u32::try_from(bytes.div_ceil(8)).unwrap_or(u32::MAX).max(2))
    });
    clsparseMetaSizeResult { status, metaSize }
}

/// Looks at the pattern and plans for it; takes the place of a meta that was there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clsparseCsrMetaCreate(
    csrMatx: *mut clsparseCsrMatrix,
    control: clsparseControl,
) -> Status {
    status_of(|| {
        let control = Control::of_any(control)?;
        // SAFETY: as types.rs says of all functions.
        let matrix = unsafe { write(csrMatx)? };
        let meta = Meta::new(&control, matrix)?;
        METAS.remove(matrix.meta);
        matrix.meta = METAS.add(meta);
        Ok(())
    })
}

/// Ends a meta; a matrix without one is left as it is.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clsparseCsrMetaDelete(csrMatx: *mut clsparseCsrMatrix) -> Status {
    status_of(|| {
        // SAFETY: as types.rs says of all functions.
        let matrix = unsafe { write(csrMatx)? };
        let meta: *mut c_void = std::mem::replace(&mut matrix.meta, ptr::null_mut());
        if meta.is_null() || METAS.remove(meta).is_some() {
            return Ok(());
        }
        Err(Status::StructInvalid)
    })
}
