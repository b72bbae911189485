//! What the class `sparrow.Matrix` does.

use pyo3::prelude::*;
use pyo3::types::PyDict;
use sparrow::Op;

use crate::call::Call;
use crate::construct::{self, Wishes};
use crate::dtype;
use crate::errors::Result;
use crate::matrix::Matrix;
use crate::multiply::{Target, multiply};
use crate::options::{Asked, counts, parameters};
use crate::plan::Plan;
use crate::values;

impl Matrix {
    fn target(&self) -> Target<'_> {
        Target { inner: &self.inner, op: self.op, plan: None }
    }

    fn other_op(&self) -> Op {
        match self.op {
            Op::Normal => Op::Transpose,
            Op::Transpose => Op::Normal,
        }
    }
}

#[pymethods]
impl Matrix {
    #[new]
    #[pyo3(signature = (matrix, *, shape=None, dtype=None, device=None, queue=None, check=true))]
    fn new(
        py: Python<'_>,
        matrix: &Bound<'_, PyAny>,
        shape: Option<(i64, i64)>,
        dtype: Option<&Bound<'_, PyAny>>,
        device: Option<&str>,
        queue: Option<&Bound<'_, PyAny>>,
        check: bool,
    ) -> Result<Self> {
        let value_type = dtype.map(dtype::asked).transpose()?;
        let wishes = Wishes { shape: counts(shape)?, value_type, check };
        let inner = construct::matrix(py, matrix, &wishes, device, queue)?;
        Ok(Matrix { inner, op: Op::Normal })
    }

    /// Rows and columns.
    #[getter]
    fn shape(&self) -> (usize, usize) {
        self.inner.facts().shape(self.op)
    }

    /// Stored entries.
    #[getter]
    fn nnz(&self) -> usize {
        self.inner.facts().nnz
    }

    /// 2, as every matrix.
    #[getter]
    fn ndim(&self) -> usize {
        2
    }

    /// What is stored.
    #[getter]
    fn dtype<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyAny>> {
        Ok(dtype::numpy_type(py, self.inner.facts().value_type)?.clone())
    }

    /// Bytes of the matrix on the device, without its plans.
    #[getter]
    fn nbytes(&self) -> Result<usize> {
        self.inner.look(|matrix| Ok(matrix.size_bytes()))
    }

    /// The device's name.
    #[getter]
    fn device(&self) -> String {
        self.inner.home().context().device().traits().name.clone()
    }

    /// The transpose: the same arrays, seen the other way round. Its first product makes a transposed copy, which the plan
    /// keeps.
    #[getter(T)]
    fn transposed(&self) -> Matrix {
        Matrix { inner: self.inner.clone(), op: self.other_op() }
    }

    /// As ``T``.
    fn transpose(&self) -> Matrix {
        self.transposed()
    }

    /// alpha A x + beta out.
    ///
    /// Parameters
    /// ----------
    /// x : array of numpy's or of pyopencl's, or Matrix
    ///     A vector, as long as the matrix has columns; a matrix of that many rows, in whatever layout; or a sparse matrix
    ///     on the same device, without other arguments. numpy's arrays are converted where nothing is lost by it (integers
    ///     to float64, float32 to float64).
    /// out : array, optional
    ///     Where the result goes: of numpy's if x is, else of pyopencl's; float64 for float64, else float32. It may not
    ///     overlap x. Left out, a new array.
    /// alpha, beta : float
    ///     With beta = 0, out is never read.
    /// queue : pyopencl.CommandQueue, optional
    ///     Where the product is enqueued; left out, the queue of x, or of the matrix for numpy's arrays.
    /// wait_for : list of pyopencl.Event, optional
    ///     What the product comes after, beside the events of the arrays.
    ///
    /// Returns
    /// -------
    /// array or Matrix
    ///     ``out``, or the new array. Of numpy's, it is finished; of pyopencl's, it is enqueued, and the array has the
    ///     event. With a sparse x, the sparse product.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     Lengths, layouts or contexts that do not fit, by name, value and limit.
    /// TypeError
    ///     Elements of another type than sums are made in.
    /// DeviceError
    ///     What the driver answered.
    ///
    /// Examples
    /// --------
    /// >>> import numpy, scipy.sparse, sparrow
    /// >>> A = sparrow.Matrix(scipy.sparse.eye_array(3))
    /// >>> y = numpy.ones(3)
    /// >>> A.dot(numpy.arange(3.0), out=y, alpha=2.0, beta=10.0)
    /// array([10., 12., 14.])
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
        multiply(py, &self.target(), x, &Call { out, alpha, beta, queue, wait_for })
    }

    fn __matmul__<'py>(&self, py: Python<'py>, x: &Bound<'py, PyAny>) -> Result<Bound<'py, PyAny>> {
        multiply(py, &self.target(), x, &Call::plain())
    }

    fn __rmatmul__<'py>(
        &self,
        py: Python<'py>,
        x: &Bound<'py, PyAny>,
    ) -> Result<Bound<'py, PyAny>> {
        let target = Target { op: self.other_op(), ..self.target() };
        let turned = x.getattr(pyo3::intern!(py, "T"))?;
        let product = multiply(py, &target, &turned, &Call::plain())?;
        Ok(product.getattr(pyo3::intern!(py, "T"))?)
    }

    /// numpy leaves ``array @ matrix`` to the matrix.
    #[classattr]
    fn __array_ufunc__() -> Option<()> {
        None
    }

    /// A plan: an algorithm chosen and prepared for more than a few products.
    ///
    /// Parameters
    /// ----------
    /// reuse : {"once", "several", "many"}, default "many"
    ///     How many products will follow: one; some tens, as ``A @ x`` assumes; or hundreds, which pay for a copy of the
    ///     matrix in another layout, and for trying the best few candidates on it.
    /// algorithm : str, optional
    ///     One by name, such as "csr_vector" or "sell"; left out, the one that suits matrix and device.
    /// variant : str, optional
    ///     In which way that algorithm runs.
    /// choice : str, optional
    ///     What an earlier plan chose (:attr:`Plan.choice`): that runs, and nothing is chosen or timed.
    /// compensated : bool, default False
    ///     Whether sums keep what each addition rounds off.
    /// measure : int, optional
    ///     How many products may be spent on choosing with ``reuse="many"``, 40 if left out; with 0 nothing is timed, nor
    ///     where a product takes much less than its launch.
    /// parameters : dict of str to int, optional
    ///     Hyper-parameters, over what the device table says.
    /// reordering : {"rcm", "clusters"}, optional
    ///     Puts rows and columns in another order first, in a copy that the plan keeps: reverse Cuthill-McKee, for square
    ///     matrices, or clusters of rows that share columns. The product is the same; each moves x and y.
    /// queue : pyopencl.CommandQueue, optional
    ///     Where it is computed; left out, the matrix's.
    ///
    /// Returns
    /// -------
    /// Plan
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     A word that stands for nothing, or parameters that break a rule.
    /// DeviceError
    ///     A kernel that does not build, with the compiler's log; what the driver answered.
    ///
    /// Examples
    /// --------
    /// >>> import scipy.sparse, sparrow
    /// >>> plan = sparrow.Matrix(scipy.sparse.eye_array(3)).plan(algorithm="csr_scalar")
    /// >>> plan.algorithm
    /// 'csr_scalar'
    #[pyo3(signature = (reuse="many", *, algorithm=None, variant=None, choice=None, compensated=false, measure=None,
        parameters=None, reordering=None, queue=None))]
    #[expect(clippy::too_many_arguments, reason = "keywords of Python's")]
    fn plan(
        &self,
        py: Python<'_>,
        reuse: &str,
        algorithm: Option<&str>,
        variant: Option<&str>,
        choice: Option<&str>,
        compensated: bool,
        measure: Option<u32>,
        parameters: Option<&Bound<'_, PyDict>>,
        reordering: Option<&str>,
        queue: Option<Bound<'_, PyAny>>,
    ) -> Result<Plan> {
        let parameters = self::parameters(parameters)?;
        let asked = Asked {
            reuse,
            algorithm,
            variant,
            choice,
            compensated,
            measure,
            parameters,
            reordering,
        };
        let options = asked.options(self.op)?;
        let queue = Call { queue, ..Call::plain() }.named_queue(self.inner.home())?;
        let queue = queue.as_ref().unwrap_or_else(|| self.inner.home().queue());
        let plan = crate::errors::detached(py, || self.inner.new_plan(queue, options))?;
        Ok(Plan { inner: self.inner.clone(), plan })
    }

    /// Overwrites the stored values; returns when they are in place.
    ///
    /// Parameters
    /// ----------
    /// data : array of numpy's
    ///     One for each stored entry, in the order of compressed rows (scipy's ``csr.data``), converted to the matrix's
    ///     dtype as in the constructor. Of a matrix over arrays of pyopencl's, it is those that are written.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     Another number of values than entries, or one that the dtype does not hold.
    fn update_values(&self, py: Python<'_>, data: &Bound<'_, PyAny>) -> Result<()> {
        values::update(py, &self.inner, data)
    }

    /// Says that the array of pyopencl's that holds the values has been written. Plans with a copy of them take the new
    /// ones at the next product; others read the array anyway.
    fn values_changed(&self) -> Result<()> {
        self.inner.change(|matrix| {
            matrix.values_changed();
            Ok(())
        })
    }

    /// The matrix as scipy's, read back from the device; ``T`` as its transpose.
    ///
    /// Returns
    /// -------
    /// scipy.sparse.csr_array
    ///     16-bit values become float32, since scipy has no arithmetic for them.
    fn to_scipy<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyAny>> {
        let read = values::to_scipy(py, &self.inner)?;
        match self.op {
            Op::Normal => Ok(read),
            Op::Transpose => Ok(read.getattr("T")?.call_method0("tocsr")?),
        }
    }

    /// For scipy's solvers: the matrix as their kind of operator, by a plan for many products.
    ///
    /// Returns
    /// -------
    /// scipy.sparse.linalg.LinearOperator
    ///     Of the type that sums are made in, with ``matvec``, ``rmatvec`` and ``matmat``.
    fn as_linear_operator<'py>(slf: &Bound<'py, Self>) -> Result<Bound<'py, PyAny>> {
        let module = slf.py().import("sparrow._scipy")?;
        Ok(module.call_method1("linear_operator", (slf,))?)
    }

    /// The queue of the matrix as pyopencl's, which shares context and queue: arrays that are made with it can be
    /// multiplied.
    ///
    /// Returns
    /// -------
    /// pyopencl.CommandQueue
    #[getter]
    fn queue<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyAny>> {
        let address = self.inner.home().queue().as_raw().expose_provenance();
        let class = py.import("pyopencl")?.getattr("CommandQueue")?;
        Ok(class.call_method1("from_int_ptr", (address,))?)
    }

    fn __repr__(&self) -> String {
        let ((rows, cols), facts) = (self.shape(), self.inner.facts());
        let (nnz, dtype) = (facts.nnz, dtype::name(facts.value_type));
        let device = self.device();
        format!(
            "<sparrow.Matrix of {rows} x {cols} with {nnz} stored entries of {dtype} on {device}>"
        )
    }
}
