//! Conversions on the device between formats whose types the compiler knows.

use std::marker::PhantomData;
use std::ops::Deref;

use bytemuck::TransparentWrapper as _;
use cl_runtime::{
    AnyCooToCsr, AnyDenseMatrix, AnyDenseToCsr, AnyTransposedMatrix, DeviceArray, Duplicates,
    Error, Event, Queue,
};
use csr_core::{Accumulator as _, DenseShape, Offset, PatternView, Value};

use super::Matrix;

type Result<T> = std::result::Result<T, Error>;

impl<V: Value, O: Offset> Matrix<V, O> {
    /// Writes all elements into `dense`, which lies as `shape` says, as
    /// [`AnyMatrix::write_dense`](cl_runtime::AnyMatrix::write_dense).
    ///
    /// # Errors
    /// As there.
    pub fn write_dense(
        &self,
        queue: &Queue,
        shape: DenseShape,
        dense: &mut DeviceArray<V>,
    ) -> Result<Event> {
        self.as_any().write_dense(queue, shape, dense.as_any_mut())
    }
}

/// The transposed copy of a matrix, which is the matrix in compressed columns: its own pattern, rows in order of their
/// columns, and where each of its values comes from.
#[derive(Debug)]
pub struct TransposedMatrix<V, O> {
    any: AnyTransposedMatrix,
    types: PhantomData<fn() -> (V, O)>,
}

impl<V, O> Deref for TransposedMatrix<V, O> {
    type Target = AnyTransposedMatrix;

    fn deref(&self) -> &AnyTransposedMatrix {
        &self.any
    }
}

impl<V: Value, O: Offset> TransposedMatrix<V, O> {
    fn wrap(any: AnyTransposedMatrix) -> Self {
        TransposedMatrix { any, types: PhantomData }
    }

    /// Transposes where it is faster, as [`AnyTransposedMatrix::new_blocking`].
    ///
    /// # Errors
    /// As there.
    pub fn new_blocking(
        queue: &Queue,
        matrix: &Matrix<V, O>,
        pattern: Option<PatternView<'_, O>>,
    ) -> Result<Self> {
        AnyTransposedMatrix::new_blocking(queue, matrix, pattern.map(Into::into)).map(Self::wrap)
    }

    /// Transposes on the device, as [`AnyTransposedMatrix::on_device_blocking`].
    ///
    /// # Errors
    /// As there.
    pub fn on_device_blocking(queue: &Queue, matrix: &Matrix<V, O>) -> Result<Self> {
        AnyTransposedMatrix::on_device_blocking(queue, matrix).map(Self::wrap)
    }

    /// Transposes `pattern`, which is the matrix's, on the host, as [`AnyTransposedMatrix::on_host_blocking`].
    ///
    /// # Errors
    /// As there.
    pub fn on_host_blocking(
        queue: &Queue,
        matrix: &Matrix<V, O>,
        pattern: PatternView<'_, O>,
    ) -> Result<Self> {
        AnyTransposedMatrix::on_host_blocking(queue, matrix, pattern.into()).map(Self::wrap)
    }

    /// Fetches the values of `matrix`, whose pattern is the one that was transposed.
    ///
    /// # Errors
    /// As [`AnyTransposedMatrix::update_values_blocking`].
    pub fn update_values_blocking(&mut self, queue: &Queue, matrix: &Matrix<V, O>) -> Result<()> {
        self.any.update_values_blocking(queue, matrix)
    }

    /// The transposed matrix.
    pub fn matrix(&self) -> &Matrix<V, O> {
        Matrix::wrap_ref(self.any.matrix())
    }

    /// The transposed matrix alone; new values are then the caller's own affair.
    pub fn into_matrix(self) -> Matrix<V, O> {
        Matrix::wrap(self.any.into_matrix())
    }

    /// Where each of its values comes from, as an index into the matrix's: nnz.
    pub fn sources(&self) -> &DeviceArray<O> {
        DeviceArray::wrap_ref(self.any.sources())
    }
}

/// The order that makes compressed rows of entries, found once and good for any values.
///
/// What it is and costs, [`AnyCooToCsr`] says.
#[derive(Debug)]
pub struct CooToCsr {
    any: AnyCooToCsr,
}

impl Deref for CooToCsr {
    type Target = AnyCooToCsr;

    fn deref(&self) -> &AnyCooToCsr {
        &self.any
    }
}

impl CooToCsr {
    /// Checks and sorts the entries of a matrix of `rows` x `cols`, as [`AnyCooToCsr::new_blocking`].
    ///
    /// # Errors
    /// As there.
    pub fn new_blocking(
        queue: &Queue,
        shape: (usize, usize),
        row_indices: &DeviceArray<u32>,
        column_indices: &DeviceArray<u32>,
        duplicates: Duplicates,
    ) -> Result<Self> {
        let any = AnyCooToCsr::new_blocking(queue, shape, row_indices, column_indices, duplicates)?;
        Ok(CooToCsr { any })
    }

    /// Writes row offsets (rows + 1) and columns (nnz), as [`AnyCooToCsr::write_pattern`].
    ///
    /// # Errors
    /// As there.
    pub fn write_pattern<O: Offset>(
        &self,
        queue: &Queue,
        offsets: &mut DeviceArray<O>,
        columns: &mut DeviceArray<u32>,
    ) -> Result<Event> {
        self.any.write_pattern(queue, offsets.as_any_mut(), columns)
    }

    /// Writes the value of each stored entry (nnz) from the values of the entries, as [`AnyCooToCsr::write_values`].
    ///
    /// # Errors
    /// As there.
    pub fn write_values<V: Value>(
        &self,
        queue: &Queue,
        from: &DeviceArray<V>,
        to: &mut DeviceArray<V>,
    ) -> Result<Event> {
        self.any.write_values(queue, from, to.as_any_mut())
    }

    /// The matrix, in arrays of its own, as [`AnyCooToCsr::matrix_blocking`].
    ///
    /// # Errors
    /// As there.
    pub fn matrix_blocking<V: Value, O: Offset>(
        &self,
        queue: &Queue,
        values: &DeviceArray<V>,
    ) -> Result<Matrix<V, O>> {
        self.any.matrix_blocking(queue, O::TYPE, values).map(Matrix::wrap)
    }
}

/// What of a dense matrix is stored in compressed rows: counted, and then written into arrays that are as long.
///
/// What it is and costs, [`AnyDenseToCsr`] says.
#[derive(Debug)]
pub struct DenseToCsr<V, O> {
    any: AnyDenseToCsr,
    types: PhantomData<fn() -> (V, O)>,
}

impl<V, O> Deref for DenseToCsr<V, O> {
    type Target = AnyDenseToCsr;

    fn deref(&self) -> &AnyDenseToCsr {
        &self.any
    }
}

impl<V: Value, O: Offset> DenseToCsr<V, O> {
    /// Counts the elements of `dense` whose size is above `tolerance`, and NaN, as [`AnyDenseToCsr::new_blocking`].
    ///
    /// # Errors
    /// As there.
    pub fn new_blocking(
        queue: &Queue,
        shape: DenseShape,
        dense: &DeviceArray<V>,
        tolerance: V::Accum,
    ) -> Result<Self> {
        let (dense, tolerance) = ((shape, dense.as_any()), tolerance.number().to_f64());
        let any = AnyDenseToCsr::new_blocking(queue, dense, O::TYPE, tolerance)?;
        Ok(DenseToCsr { any, types: PhantomData })
    }

    /// Writes row offsets (rows + 1), columns and values (nnz each) from `dense`, as [`AnyDenseToCsr::write`].
    ///
    /// # Errors
    /// As there.
    pub fn write(
        &self,
        queue: &Queue,
        dense: &DeviceArray<V>,
        offsets: &mut DeviceArray<O>,
        columns: &mut DeviceArray<u32>,
        values: &mut DeviceArray<V>,
    ) -> Result<Event> {
        let (offsets, values) = (offsets.as_any_mut(), values.as_any_mut());
        self.any.write(queue, dense, offsets, columns, values)
    }

    /// The matrix, in arrays of its own, as [`AnyDenseToCsr::matrix_blocking`].
    ///
    /// # Errors
    /// As there.
    pub fn matrix_blocking(&self, queue: &Queue, dense: &DeviceArray<V>) -> Result<Matrix<V, O>> {
        self.any.matrix_blocking(queue, dense).map(Matrix::wrap)
    }
}

/// A dense matrix on the device, row-major, in slabs of rows that each fit one allocation.
#[derive(Debug)]
pub struct DenseMatrix<T> {
    any: AnyDenseMatrix,
    element: PhantomData<fn() -> T>,
}

impl<T> Deref for DenseMatrix<T> {
    type Target = AnyDenseMatrix;

    fn deref(&self) -> &AnyDenseMatrix {
        &self.any
    }
}

impl<T: Value<Accum = T>> DenseMatrix<T> {
    /// Writes out the zeros of a sparse matrix, as [`AnyDenseMatrix::write_out_blocking`].
    ///
    /// # Errors
    /// As there.
    pub fn write_out_blocking<V: Value<Accum = T>, O: Offset>(
        queue: &Queue,
        matrix: &Matrix<V, O>,
    ) -> Result<Self> {
        let any = AnyDenseMatrix::write_out_blocking(queue, matrix)?;
        Ok(DenseMatrix { any, element: PhantomData })
    }

    /// Enqueues C = A B, with B and C row-major and packed, `width` columns each, as [`AnyDenseMatrix::launch`].
    ///
    /// # Errors
    /// As there.
    pub fn launch(
        &mut self,
        queue: &Queue,
        b: &DeviceArray<T>,
        c: &mut DeviceArray<T>,
        width: usize,
    ) -> Result<()> {
        self.any.launch(queue, b, c.as_any_mut(), width)
    }
}
