//! The class `sparrow.Batch`.

use std::sync::{Arc, PoisonError, RwLock};

use pyo3::prelude::*;
use sparrow::{AnyBatch, AnyBatchOperands, BatchOptions, BatchPlan, ValueType, counted};

use crate::batch_rows::Parts;
use crate::call::Call;
use crate::cl_array::{self, ClArray};
use crate::cl_empty::Order;
use crate::cl_product::{Ordered, check_kind, result};
use crate::construct;
use crate::dtype;
use crate::errors::{Failure, Result, detached};
use crate::fork::{self, OfProcess};
use crate::home::Home;
use crate::host_array::HostArray;
use crate::host_memory::{Span, through};
use crate::numpy;
use crate::options::{counts, parameters, parsed};
use crate::pool::Pool;
use crate::rows::values;

/// Thousands of small sparse matrices, multiplied at once.
///
/// Parameters
/// ----------
/// matrices : list of scipy sparse matrices, tuple of three arrays, or array of three dimensions
///     Matrices of any shapes; or ``(data, indices, indptr)`` of one pattern, with a row of ``data`` for each problem;
///     or dense problems ``(problems, rows, cols)``, whose common pattern is every place where one of them is not 0.
/// shape : tuple of int, optional
///     Rows and columns of a problem; needed with three arrays.
/// dtype, device, queue : optional
///     As in :class:`Matrix`.
/// algorithm : str, optional
///     One by name for the problems whose format it reads, such as "batched_csr_vector"; left out, each has its own.
/// parameters : dict of str to int, optional
///     Hyper-parameters, over what the device table says.
///
/// Raises
/// ------
/// ValueError
///     A pattern that is none, by its matrix and first broken entry; values that the dtype does not hold.
/// TypeError
///     Something that is no batch.
///
/// Examples
/// --------
/// >>> import numpy, sparrow
/// >>> problems = numpy.array([[[1.0, 0.0], [2.0, 3.0]], [[4.0, 0.0], [0.0, 5.0]]])
/// >>> sparrow.Batch(problems) @ numpy.ones((2, 2))
/// array([[1., 5.],
///        [4., 5.]])
#[pyclass(module = "sparrow", name = "Batch", frozen, weakref)]
pub(crate) struct Batch {
    home: Arc<Home>,
    of: OfProcess<Objects>,
    facts: Facts,
}

struct Objects {
    batch: RwLock<AnyBatch>,
    pool: Pool<BatchPlan>,
}

#[derive(Clone, Copy)]
struct Facts {
    problems: usize,
    /// Rows and columns of each, where all have the same.
    shape: Option<(usize, usize)>,
    x_len: usize,
    y_len: usize,
    value_type: ValueType,
}

impl Facts {
    fn of(batch: &AnyBatch) -> Self {
        let problems = batch.problems();
        let of = |index: usize| (problems[index].rows as usize, problems[index].cols as usize);
        let first = (!problems.is_empty()).then(|| of(0));
        Facts {
            problems: problems.len(),
            shape: first.filter(|first| (1..problems.len()).all(|index| of(index) == *first)),
            x_len: batch.x_len(),
            y_len: batch.y_len(),
            value_type: batch.value_type(),
        }
    }

    /// The shape of the result for an x of some shape: a row for each problem, or all one after the other.
    fn of_result(&self, x: &[usize]) -> Result<Vec<usize>> {
        match (x, self.shape) {
            (&[len], _) if len == self.x_len => Ok(vec![self.y_len]),
            (&[problems, len], Some((rows, cols))) if (problems, len) == (self.problems, cols) => {
                Ok(vec![problems, rows])
            }
            (_, Some((_, cols))) => Err(Failure::value(format!(
                "x has the shape {x:?}, and {} of {} need ({}, {cols}) or ({},)",
                counted(self.problems, "problem"),
                counted(cols, "column"),
                self.problems,
                self.x_len
            ))),
            (_, None) => Err(Failure::value(format!(
                "x has the shape {x:?}, and problems of different shapes need ({},), one after the other",
                self.x_len
            ))),
        }
    }
}

#[pymethods]
impl Batch {
    #[new]
    #[pyo3(signature = (matrices, *, shape=None, dtype=None, device=None, queue=None, algorithm=None, parameters=None))]
    #[expect(clippy::too_many_arguments, reason = "keywords of Python's")]
    fn new(
        py: Python<'_>,
        matrices: &Bound<'_, PyAny>,
        shape: Option<(i64, i64)>,
        dtype: Option<&Bound<'_, PyAny>>,
        device: Option<&str>,
        queue: Option<&Bound<'_, PyAny>>,
        algorithm: Option<&str>,
        parameters: Option<&Bound<'_, pyo3::types::PyDict>>,
    ) -> Result<Self> {
        let value_type = dtype.map(dtype::asked).transpose()?;
        let parts = Parts::of(matrices, counts(shape)?, value_type)?;
        let algorithm = algorithm.map(|text| parsed(text, "algorithm")).transpose()?;
        let parameters = self::parameters(parameters)?.unwrap_or_default();
        let home = construct::home(py, device, queue)?;
        let batch = parts.upload(py, home.queue())?;
        let tables = Some(home.tables());
        let options = BatchOptions { algorithm, parameters, tables, ..BatchOptions::default() };
        let plan = detached(py, || Ok(BatchPlan::new_blocking(home.queue(), &batch, &options)?))?;
        let facts = Facts::of(&batch);
        let pool = Pool::new(plan, &batch);
        let objects = Objects { batch: RwLock::new(batch), pool };
        Ok(Batch { home, of: OfProcess::new(objects), facts })
    }

    /// Problems.
    fn __len__(&self) -> usize {
        self.facts.problems
    }

    /// Rows and columns of each problem; None where they differ.
    #[getter]
    fn shape(&self) -> Option<(usize, usize)> {
        self.facts.shape
    }

    /// What is stored.
    #[getter]
    fn dtype<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyAny>> {
        Ok(dtype::numpy_type(py, self.facts.value_type)?.clone())
    }

    /// The algorithms that run, and on how many problems.
    #[getter]
    fn algorithms(&self) -> Vec<(&'static str, usize)> {
        let name = |(algorithm, problems): &(sparrow::BatchedAlgorithm, usize)| {
            (algorithm.name(), *problems)
        };
        self.of.pool.look(|plan| plan.algorithms().iter().map(name).collect())
    }

    /// alpha A x + beta out, of every problem.
    ///
    /// Parameters
    /// ----------
    /// x : array of numpy's or of pyopencl's
    ///     A row for each problem, or all vectors one after the other (the only way where shapes differ).
    /// out : array, optional
    ///     Where the results go, laid out as x is.
    /// alpha, beta, queue, wait_for : optional
    ///     As in :meth:`Matrix.dot`.
    ///
    /// Returns
    /// -------
    /// array
    ///     ``out``, or a new array, laid out as x is.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     Shapes, layouts or contexts that do not fit.
    /// TypeError
    ///     Elements of another type than sums are made in.
    #[pyo3(signature = (x, out=None, *, alpha=1.0, beta=0.0, queue=None, wait_for=None))]
    #[expect(clippy::too_many_arguments, reason = "keywords of Python's")]
    fn dot<'py>(
        &self,
        py: Python<'py>,
        x: &Bound<'py, PyAny>,
        out: Option<Bound<'py, PyAny>>,
        alpha: f64,
        beta: f64,
        queue: Option<Bound<'py, PyAny>>,
        wait_for: Option<Bound<'py, PyAny>>,
    ) -> Result<Bound<'py, PyAny>> {
        let call = Call { out, alpha, beta, queue, wait_for };
        match cl_array::is_array(x)? {
            true => self.on_device(py, x, &call),
            false => self.on_host(py, x, &call),
        }
    }

    fn __matmul__<'py>(&self, py: Python<'py>, x: &Bound<'py, PyAny>) -> Result<Bound<'py, PyAny>> {
        match cl_array::is_array(x)? {
            true => self.on_device(py, x, &Call::plain()),
            false => self.on_host(py, x, &Call::plain()),
        }
    }

    /// Overwrites the stored values; returns when they are in place.
    ///
    /// Parameters
    /// ----------
    /// data : array of numpy's
    ///     The values of all problems one after the other, or a row for each.
    fn update_values(&self, py: Python<'_>, data: &Bound<'_, PyAny>) -> Result<()> {
        fork::check()?;
        let (data, _) = values(data, Some(self.facts.value_type))?;
        detached(py, || {
            let mut batch = self.of.batch.write().unwrap_or_else(PoisonError::into_inner);
            // SAFETY: they lie side by side, and nobody is to change what is being read.
            Ok(batch.write_values_blocking(self.home.queue(), unsafe { data.bytes() })?)
        })
    }

    fn __repr__(&self) -> String {
        format!("<sparrow.Batch of {}>", counted(self.facts.problems, "problem"))
    }
}

impl Batch {
    fn on_host<'py>(
        &self,
        py: Python<'py>,
        x: &Bound<'py, PyAny>,
        call: &Call<'py>,
    ) -> Result<Bound<'py, PyAny>> {
        fork::check()?;
        let accumulator = self.facts.value_type.accumulator();
        let (alpha, beta) = call.numbers(self.facts.value_type)?;
        let x = HostArray::converted(x, "x", accumulator)?;
        let shape = self.facts.of_result(x.shape())?;
        let out = match &call.out {
            Some(out) => out.clone(),
            None => numpy::empty(py, &shape, accumulator)?,
        };
        let y = HostArray::result(&out, "out", accumulator)?;
        if y.shape() != shape || !y.is_plain() {
            let text =
                format!("out has the shape {:?}, and the result {shape:?} side by side", y.shape());
            return Err(Failure::value(text));
        }
        let queue = call.named_queue(&self.home)?;
        let queue = queue.as_ref().unwrap_or_else(|| self.home.queue());
        let events = call.events()?;
        let span = |array, len| Span { array, element: accumulator.into(), len };
        detached(py, || {
            let a = self.of.batch.read().unwrap_or_else(PoisonError::into_inner);
            self.of.pool.with_slot(queue, &a, |plan, slot| {
                let (workspace, staged) = (&mut slot.workspace, &mut slot.staged);
                let wait = (queue.in_order().is_none() || !events.is_empty()).then_some(&*events);
                let launch = |x: &_, y: &mut _| {
                    let (alpha, beta) = (alpha.into(), beta.into());
                    let product = AnyBatchOperands { alpha, a: &a, x, beta, y };
                    Ok(plan.launch(queue, workspace, product, wait)?)
                };
                let (x, y) = (span(&x, x.len()), span(&y, y.len()));
                // SAFETY: the buffers pin both arrays until this returns, and both are plain.
                unsafe { through(queue, staged, &x, &y, beta.to_f64() != 0.0, launch) }
            })
        })?;
        Ok(out)
    }

    fn on_device<'py>(
        &self,
        py: Python<'py>,
        x: &Bound<'py, PyAny>,
        call: &Call<'py>,
    ) -> Result<Bound<'py, PyAny>> {
        fork::check()?;
        let accumulator = self.facts.value_type.accumulator();
        let (alpha, beta) = call.numbers(self.facts.value_type)?;
        let x = ClArray::of(x, "x")?;
        check_kind(&x, accumulator)?;
        let shape = self.facts.of_result(&x.shape()?)?;
        let out = call.out.as_ref().map(result).transpose()?;
        let ordered = match &out {
            Some(out) => Ordered::of(&self.home, call, &[&x, out])?,
            None => Ordered::of(&self.home, call, &[&x])?,
        };
        let y = match out {
            Some(out) => out,
            None => ordered.new_array(&self.home, &x, (&shape, Order::Rows), accumulator)?,
        };
        check_kind(&y, accumulator)?;
        if y.shape()? != shape {
            let text = format!("out has the shape {:?}, and the result {shape:?}", y.shape()?);
            return Err(Failure::value(text));
        }
        x.check_side_by_side()?;
        y.check_side_by_side()?;
        let of_x = x.borrowed(&self.home, self.facts.x_len)?;
        let mut of_y = y.borrowed(&self.home, self.facts.y_len)?;
        let (queue, events) = (&ordered.queue, &ordered.events);
        let event = detached(py, || {
            let a = self.of.batch.read().unwrap_or_else(PoisonError::into_inner);
            self.of.pool.with_slot(queue, &a, |plan, slot| {
                let (alpha, beta) = (alpha.into(), beta.into());
                let product = AnyBatchOperands { alpha, a: &a, x: &of_x, beta, y: &mut of_y };
                Ok(plan.launch(queue, &mut slot.workspace, product, events)?)
            })
        })?;
        y.wait_for(&event)?;
        Ok(y.object().clone())
    }
}
