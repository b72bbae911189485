//! Metas: what is known of a pattern, and the plans for products with matrices that have it.
//!
//! An application copies its `clsparseCsrMatrix`, frees it, puts other buffers into it; so a meta keeps no buffers of
//! the application's, and its `void*` is a handle. Making one computes nothing: its first product looks at the pattern,
//! plans for the precision and the device, and has the kernels built. Products from several queues at once have a workspace
//! each.

use std::ffi::c_void;
use std::ptr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sparrow::{
    Accumulate, Algorithm, AnyMatrix, AnyPlan, AnySpmmPlan, ColumnType, Context, Event,
    KnownPattern, OffsetType, PlanOptions, Queue, SpmmOptions, ValueType, Workspace,
};

use crate::boundary::{status_of, value_of};
use crate::control::Control;
use crate::handles::Handles;
use crate::operands::{CsrArrays, array};
use crate::product::{DenseOperands, DenseShapes, Operands};
use crate::status::{Result, Status};
use crate::structures::Naming;
use crate::types::{
    clsparseControl, clsparseCsrMatrix, clsparseCsrMatrixSvm, clsparseMetaSizeResult,
};

static METAS: Handles<Meta> = Handles::new();

/// Workspaces, and plans for dense matrices, that a meta keeps at most: the oldest gives way.
const KEPT: usize = 8;

/// What lives behind `clsparseCsrMatrix::meta`.
pub(crate) struct Meta {
    context: Context,
    rows: usize,
    cols: usize,
    nnz: usize,
    /// Once it was looked at.
    pattern: Mutex<Option<KnownPattern>>,
    f32: Mutex<MetaPlans>,
    f64: Mutex<MetaPlans>,
}

/// The plans of one precision, each for one device of the context.
#[derive(Default)]
struct MetaPlans {
    vector: Vec<((Device, Accumulate), Planned<AnyPlan>)>,
    dense: Vec<((Device, DenseShapes), Planned<AnySpmmPlan>)>,
}

/// The address of a device's handle.
type Device = usize;

fn device_of(queue: &Queue) -> Device {
    queue.context().device().id().as_raw().addr()
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

    /// For the pattern of `matrix`, which is not looked at yet.
    fn new(control: &Control, matrix: &clsparseCsrMatrix) -> Result<Self> {
        let (rows, nnz) = (matrix.num_rows as usize, matrix.num_nonzeros as usize);
        array(control, OffsetType::U32, (matrix.row_pointer, matrix.off_row_pointer), rows + 1)?;
        array(control, ColumnType::U32, (matrix.col_indices, matrix.off_col_indices), nnz)?;
        Ok(Meta {
            context: control.context().clone(),
            rows,
            cols: matrix.num_cols as usize,
            nnz,
            pattern: Mutex::default(),
            f32: Mutex::default(),
            f64: Mutex::default(),
        })
    }

    /// Plans for the precision that the values' buffer can hold; in single precision where the values are in shared
    /// virtual memory, whose length cannot be asked for.
    fn foresee(&self, control: &Control, matrix: &clsparseCsrMatrix) -> Result<()> {
        let nnz = matrix.num_nonzeros as usize;
        if nnz == 0 || matrix.values.is_null() {
            return Ok(());
        }
        let has_f64 = control.context().device().traits().has_f64;
        let values = (matrix.values, matrix.off_values);
        let is_f64 = has_f64
            && control.naming() == Naming::Buffers
            && array(control, ValueType::F64, values, nnz).is_ok();
        let value_type = if is_f64 { ValueType::F64 } else { ValueType::F32 };
        let a = self.matrix(control, CsrArrays::of(control, value_type, matrix)?)?;
        self.plans(value_type).vector(&control.queue, Accumulate::Plain, &a).map(drop)
    }

    /// The plans for values of this type.
    fn plans(&self, value_type: ValueType) -> MutexGuard<'_, MetaPlans> {
        let plans = match value_type {
            ValueType::F64 => &self.f64,
            _ => &self.f32,
        };
        plans.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The matrix of these arrays, as one that has this pattern.
    pub(crate) fn matrix(&self, control: &Control, arrays: CsrArrays) -> Result<AnyMatrix> {
        let context = control.context();
        if !self.context.shares_memory_with(context) {
            return Err(Status::InvalidContext);
        }
        let CsrArrays { offsets, columns, values } = arrays;
        if offsets.len() != self.rows + 1 || columns.len() != self.nnz {
            return Err(Status::StructInvalid);
        }
        // Held while it is looked at, so that two threads do not take it for two patterns.
        let mut pattern = self.pattern.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(pattern) = &*pattern {
            // SAFETY: that the pattern has not changed since the meta was made is the application's promise.
            let a =
                unsafe { AnyMatrix::of_known_pattern(context, pattern, offsets, columns, values) };
            return a.map_err(|_| Status::StructInvalid);
        }
        // SAFETY: that the pattern is one is the application's promise.
        let a = unsafe {
            AnyMatrix::from_arrays_blocking(&control.queue, self.cols, offsets, columns, values)?
        };
        *pattern = Some(a.known_pattern());
        Ok(a)
    }

    /// Enqueues a product with a vector.
    pub(crate) fn launch(
        &self,
        control: &Control,
        accumulate: Accumulate,
        arrays: CsrArrays,
        operands: &mut Operands,
    ) -> Result<Event> {
        let a = self.matrix(control, arrays)?;
        let mut plans = self.plans(a.value_type());
        let planned = plans.vector(&control.queue, accumulate, &a)?;
        let ready =
            planned.for_queue(&control.queue, |plan| plan.workspace_blocking(&control.queue))?;
        operands.launch(control, ready, &a)
    }

    /// Enqueues a product with a dense matrix.
    pub(crate) fn launch_dense(
        &self,
        control: &Control,
        arrays: CsrArrays,
        operands: &mut DenseOperands,
    ) -> Result<Event> {
        let a = self.matrix(control, arrays)?;
        let mut plans = self.plans(a.value_type());
        let planned = plans.dense(&control.queue, &a, operands.shapes)?;
        let (plan, workspace) =
            planned.for_queue(&control.queue, |plan| plan.workspace_blocking(&control.queue))?;
        operands.launch(control, plan, workspace, &a)
    }

    /// Bytes of its plans, of which there is one at least, for `matrix`.
    fn planned_bytes(&self, control: &Control, matrix: &clsparseCsrMatrix) -> Result<usize> {
        self.foresee(control, matrix)?;
        Ok(self.size_bytes())
    }

    /// Bytes of its plans.
    fn size_bytes(&self) -> usize {
        let of = |value_type| -> usize {
            let plans = self.plans(value_type);
            plans.vector.iter().map(|(_, planned)| planned.plan.plan_bytes()).sum()
        };
        of(ValueType::F32) + of(ValueType::F64)
    }
}

impl MetaPlans {
    fn vector(
        &mut self,
        queue: &Queue,
        accumulate: Accumulate,
        a: &AnyMatrix,
    ) -> Result<&mut Planned<AnyPlan>> {
        let key = (device_of(queue), accumulate);
        if let Some(at) = self.vector.iter().position(|(of, _)| *of == key) {
            return Ok(&mut self.vector[at].1);
        }
        let options = PlanOptions { accumulate, scalars_on_device: true, ..PlanOptions::default() };
        let mut plan = AnyPlan::new_blocking(queue, a, &options)?;
        if plan.algorithm().copies_values() {
            // Its copy of the values would not hear of new ones.
            let options = PlanOptions { algorithm: Some(Algorithm::CsrAdaptive), ..options };
            plan = AnyPlan::new_blocking(queue, a, &options)?;
        }
        self.vector.push((key, Planned::new(plan)));
        let at = self.vector.len() - 1;
        Ok(&mut self.vector[at].1)
    }

    fn dense(
        &mut self,
        queue: &Queue,
        a: &AnyMatrix,
        shapes: DenseShapes,
    ) -> Result<&mut Planned<AnySpmmPlan>> {
        let key = (device_of(queue), shapes);
        if let Some(at) = self.dense.iter().position(|(of, _)| *of == key) {
            return Ok(&mut self.dense[at].1);
        }
        if self.dense.len() == KEPT {
            self.dense.remove(0);
        }
        self.dense.push((key, Planned::new(spmm_plan(queue, a, shapes)?)));
        let at = self.dense.len() - 1;
        Ok(&mut self.dense[at].1)
    }
}

/// A plan for C = alpha A B + beta C with alpha and beta on the device.
pub(crate) fn spmm_plan(queue: &Queue, a: &AnyMatrix, (b, c): DenseShapes) -> Result<AnySpmmPlan> {
    let options = SpmmOptions { scalars_on_device: true, ..SpmmOptions::default() };
    let dense = sparrow::DenseOperands { b, b_type: a.value_type(), c };
    Ok(AnySpmmPlan::new_blocking(queue, a, dense, &options)?)
}

/// How large a meta is, or would be, with a plan for `csrMatx`, which is made for that: in entries of 8 bytes. It is for
/// information; it need not be allocated.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clsparseCsrMetaSize(
    csrMatx: *mut clsparseCsrMatrix,
    control: clsparseControl,
) -> clsparseMetaSizeResult {
    let (status, metaSize) = value_of(0, || {
        let control = Control::of_any(control)?;
        // SAFETY: as types.rs says of all functions.
        let matrix = &unsafe { control.read(csrMatx)? };
        let bytes = match Meta::of(matrix) {
            Ok(Some(meta)) => meta.planned_bytes(&control, matrix)?,
            _ => Meta::new(&control, matrix)?.planned_bytes(&control, matrix)?,
        };
        control.state().end_blocking(&control.queue)?;
        // Never 0: somebody may ask OpenCL for a buffer of this size.
        Ok(u32::try_from(bytes.div_ceil(8)).unwrap_or(u32::MAX).max(2))
    });
    clsparseMetaSizeResult { status, metaSize }
}

/// Makes a meta, whose first product looks at the pattern and plans for it; takes the place of a meta that was there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clsparseCsrMetaCreate(
    csrMatx: *mut clsparseCsrMatrix,
    control: clsparseControl,
) -> Status {
    status_of(|| {
        let control = Control::of_any(control)?;
        // SAFETY: as types.rs says of all functions.
        let mut matrix = unsafe { control.write(csrMatx)? };
        let meta = Meta::new(&control, &matrix)?;
        control.state().end_blocking(&control.queue)?;
        METAS.remove(matrix.meta);
        matrix.meta = METAS.add(meta);
        Ok(())
    })
}

/// Ends a meta; a matrix without one is left as it is.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clsparseCsrMetaDelete(csrMatx: *mut clsparseCsrMatrix) -> Status {
    // SAFETY: the caller's promise.
    unsafe { delete(csrMatx, Naming::Buffers) }
}

/// [`clsparseCsrMetaDelete`] as programs know it that name shared virtual memory.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clsparseCsrMetaDeleteSvm(csrMatx: *mut clsparseCsrMatrixSvm) -> Status {
    // SAFETY: the caller's promise.
    unsafe { delete(csrMatx.cast(), Naming::Shared) }
}

/// # Safety
/// As types.rs says of all functions.
unsafe fn delete(csrMatx: *mut clsparseCsrMatrix, naming: Naming) -> Status {
    status_of(|| {
        // SAFETY: the caller's promise.
        let mut matrix = unsafe { naming.write(csrMatx)? };
        if matrix.meta.is_null() {
            return Ok(());
        }
        let meta: *mut c_void = std::mem::replace(&mut matrix.meta, ptr::null_mut());
        METAS.remove(meta).map(|_| ()).ok_or(Status::StructInvalid)
    })
}
