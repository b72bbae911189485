//! What stands behind a matrix of Python's: the arrays on the device, and the plans that were made for them.

use std::sync::{Arc, Mutex, PoisonError, RwLock};

use opencl3::types::cl_context;
use pyo3::prelude::*;
use sparrow::{
    Accumulate, AnyMatrix, AnyPlan, AnySpmmPlan, DenseOperands, Op, PlanOptions, Queue, Reuse,
    SpmmOptions, ValueType,
};

use crate::errors::Result;
use crate::fork::{self, OfProcess};
use crate::home::Home;
use crate::pool::Pool;
use crate::relayout::Relayouts;

/// Plans for dense matrices that are kept, at most: each belongs to two shapes.
const DENSE_PLANS: usize = 8;

/// A matrix and its plans, shared by all of Python's objects that show it.
#[derive(Debug)]
pub(crate) struct Inner {
    home: Arc<Home>,
    of: OfProcess<Objects>,
    facts: Facts,
    /// The arrays of pyopencl's whose memory it is: a pool may give it to others once they are gone.
    _arrays: Vec<Py<PyAny>>,
}

/// What does not change.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Facts {
    pub(crate) rows: usize,
    pub(crate) cols: usize,
    pub(crate) nnz: usize,
    pub(crate) value_type: ValueType,
}

impl Facts {
    /// Rows and columns of the matrix that multiplies: the transpose has them the other way round.
    pub(crate) fn shape(self, op: Op) -> (usize, usize) {
        match op {
            Op::Normal => (self.rows, self.cols),
            Op::Transpose => (self.cols, self.rows),
        }
    }
}

#[derive(Debug)]
struct Objects {
    matrix: RwLock<AnyMatrix>,
    /// For `A @ x` and `A.T @ x`, as they were first needed.
    plans: Mutex<[Option<Arc<VectorPlan>>; 2]>,
    /// For `A @ B`, those used last at the end.
    dense: Mutex<Vec<DensePlan>>,
}

/// A plan for products with dense matrices, and for which it is.
#[derive(Clone, Debug)]
struct DensePlan {
    op: Op,
    operands: DenseOperands,
    pool: Arc<Pool<AnySpmmPlan>>,
}

/// A plan for products with vectors.
#[derive(Debug)]
pub(crate) struct VectorPlan {
    pub(crate) op: Op,
    pub(crate) accumulate: Accumulate,
    pub(crate) pool: OfProcess<Pool<AnyPlan>>,
    /// Of dense matrices that do not lie as the plan takes them.
    pub(crate) relayouts: OfProcess<Relayouts>,
}

impl Inner {
    pub(crate) fn new(home: Arc<Home>, matrix: AnyMatrix, arrays: Vec<Py<PyAny>>) -> Arc<Self> {
        let facts = Facts {
            rows: matrix.rows(),
            cols: matrix.cols(),
            nnz: matrix.nnz(),
            value_type: matrix.value_type(),
        };
        let objects = Objects {
            matrix: RwLock::new(matrix),
            plans: Mutex::new([None, None]),
            dense: Mutex::new(Vec::new()),
        };
        Arc::new(Inner { home, of: OfProcess::new(objects), facts, _arrays: arrays })
    }

    pub(crate) fn home(&self) -> &Arc<Home> {
        &self.home
    }

    pub(crate) fn facts(&self) -> Facts {
        self.facts
    }

    /// The context, for telling it from others.
    pub(crate) fn context_handle(&self) -> cl_context {
        self.home.context().as_raw()
    }

    /// Looks at the matrix, which no other thread changes meanwhile.
    ///
    /// # Errors
    /// Those of `look`; a forked process.
    pub(crate) fn look<T>(&self, look: impl FnOnce(&AnyMatrix) -> Result<T>) -> Result<T> {
        fork::check()?;
        look(&self.of.matrix.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Changes the matrix.
    ///
    /// # Errors
    /// Those of `change`; a forked process.
    pub(crate) fn change<T>(&self, change: impl FnOnce(&mut AnyMatrix) -> Result<T>) -> Result<T> {
        fork::check()?;
        change(&mut self.of.matrix.write().unwrap_or_else(PoisonError::into_inner))
    }

    /// The plan of `A @ x` (or of its transpose), made when it is first needed.
    ///
    /// # Errors
    /// As [`AnyPlan::new_blocking`].
    pub(crate) fn vector_plan(&self, queue: &Queue, op: Op) -> Result<Arc<VectorPlan>> {
        fork::check()?;
        let index = usize::from(op == Op::Transpose);
        let known = || self.of.plans.lock().unwrap_or_else(PoisonError::into_inner)[index].clone();
        if let Some(plan) = known() {
            return Ok(plan);
        }
        let options = PlanOptions { op, reuse: Reuse::Several, ..PlanOptions::default() };
        let made = self.new_plan(queue, options)?;
        let mut plans = self.of.plans.lock().unwrap_or_else(PoisonError::into_inner);
        // Another thread may have been faster; all use one then.
        Ok(plans[index].get_or_insert(made).clone())
    }

    /// A plan by options, whose tables are the context's.
    ///
    /// # Errors
    /// As [`AnyPlan::new_blocking`].
    pub(crate) fn new_plan(&self, queue: &Queue, options: PlanOptions) -> Result<Arc<VectorPlan>> {
        let options = PlanOptions { tables: Some(self.home.tables()), ..options };
        self.look(|matrix| {
            let plan = AnyPlan::new_blocking(queue, matrix, &options)?;
            let (op, accumulate) = (options.op, options.accumulate);
            let pool = OfProcess::new(Pool::new(plan, matrix));
            let relayouts = OfProcess::new(Relayouts::default());
            Ok(Arc::new(VectorPlan { op, accumulate, pool, relayouts }))
        })
    }

    /// The plan of `A @ B` for a B and a C that lie so, made when it is first needed.
    ///
    /// # Errors
    /// As [`AnySpmmPlan::new_blocking`].
    pub(crate) fn dense_plan(
        &self,
        queue: &Queue,
        op: Op,
        operands: DenseOperands,
    ) -> Result<Arc<Pool<AnySpmmPlan>>> {
        fork::check()?;
        let lock = || self.of.dense.lock().unwrap_or_else(PoisonError::into_inner);
        let is_it = |plan: &DensePlan| plan.op == op && plan.operands == operands;
        {
            let mut plans = lock();
            if let Some(index) = plans.iter().position(is_it) {
                let last = plans.len() - 1;
                plans[index..].rotate_left(1);
                return Ok(plans[last].pool.clone());
            }
        }
        let tables = Some(self.home.tables());
        let options = SpmmOptions { op, tables, ..SpmmOptions::default() };
        let made = self.look(|matrix| {
            let plan = AnySpmmPlan::new_blocking(queue, matrix, operands, &options)?;
            Ok(Arc::new(Pool::new(plan, matrix)))
        })?;
        let mut plans = lock();
        if plans.len() >= DENSE_PLANS {
            plans.remove(0);
        }
        plans.push(DensePlan { op, operands, pool: made.clone() });
        Ok(made)
    }
}
