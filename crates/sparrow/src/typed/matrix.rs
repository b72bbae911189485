//! A matrix on the device whose types the compiler knows.

use std::marker::PhantomData;
use std::ops::Deref;

use bytemuck::TransparentWrapper;
use cl_runtime::{AnyMatrix, Context, DeviceArray, Error, KnownPattern, Queue};
use csr_core::{CsrView, Offset, PatternView, Value};

/// A sparse matrix in compressed rows in device memory.
///
/// Values can change; the pattern cannot. Plans belong to the pattern, which every matrix made from
/// another by [`Matrix::with_values`] shares.
#[derive(Debug, TransparentWrapper)]
#[repr(transparent)]
#[transparent(AnyMatrix)]
pub struct Matrix<V, O = u32> {
    any: AnyMatrix,
    types: PhantomData<fn() -> (V, O)>,
}

impl<V, O> Deref for Matrix<V, O> {
    type Target = AnyMatrix;

    fn deref(&self) -> &AnyMatrix {
        &self.any
    }
}

type Result<T> = std::result::Result<T, Error>;

impl<V: Value, O: Offset> Matrix<V, O> {
    /// Uploads a matrix; returns when it is on the device.
    ///
    /// # Errors
    /// An array above the device's largest allocation, or a device without the value type's arithmetic.
    pub fn upload_blocking(queue: &Queue, matrix: CsrView<'_, V, O>) -> Result<Self> {
        AnyMatrix::upload_blocking(queue, matrix.into()).map(Self::wrap)
    }

    /// Uploads a pattern and joins it with values that are on the device.
    ///
    /// # Errors
    /// An array above the device's largest allocation, not one value a nonzero, or values of another
    /// context.
    pub fn from_pattern_blocking(
        queue: &Queue,
        pattern: PatternView<'_, O>,
        values: DeviceArray<V>,
    ) -> Result<Self> {
        let values = values.into_any();
        AnyMatrix::from_pattern_blocking(queue, pattern.into(), values).map(Self::wrap)
    }

    /// Borrows a matrix whose arrays the application already has on the device: `rows + 1` offsets,
    /// and as many columns as values. Looks at row lengths
    /// there and reads 12 bytes back.
    ///
    /// # Safety
    /// The arrays hold a valid pattern: offsets from 0 to nnz that never fall, columns below `cols`.
    /// [`AnyMatrix::check_blocking`] makes sure where that is in doubt.
    ///
    /// # Errors
    /// Lengths or contexts that do not belong together.
    #[expect(unsafe_code, reason = "trusts device memory")]
    pub unsafe fn from_arrays_blocking(
        queue: &Queue,
        cols: usize,
        offsets: DeviceArray<O>,
        columns: DeviceArray<u32>,
        values: DeviceArray<V>,
    ) -> Result<Self> {
        let (offsets, columns, values) =
            (offsets.into_any(), columns.into_any(), values.into_any());
        // SAFETY: the caller's promise.
        let any =
            unsafe { AnyMatrix::from_arrays_blocking(queue, cols, offsets, columns, values)? };
        Ok(Self::wrap(any))
    }

    /// As [`Matrix::from_arrays_blocking`], and nothing is looked at: rows are taken to be of one length. For
    /// algorithms without a plan, which do not ask; an automatic choice would know no better.
    ///
    /// # Safety
    /// As [`Matrix::from_arrays_blocking`].
    ///
    /// # Errors
    /// As [`Matrix::from_arrays_blocking`].
    #[expect(unsafe_code, reason = "trusts device memory")]
    pub unsafe fn from_arrays(
        context: &Context,
        cols: usize,
        offsets: DeviceArray<O>,
        columns: DeviceArray<u32>,
        values: DeviceArray<V>,
    ) -> Result<Self> {
        let (offsets, columns, values) =
            (offsets.into_any(), columns.into_any(), values.into_any());
        // SAFETY: the caller's promise.
        Ok(Self::wrap(unsafe { AnyMatrix::from_arrays(context, cols, offsets, columns, values)? }))
    }

    /// Borrows a matrix whose pattern is known: every plan of that pattern fits. Nothing is looked at.
    ///
    /// # Safety
    /// The arrays hold that pattern.
    ///
    /// # Errors
    /// Other lengths than the pattern's, or another context.
    #[expect(unsafe_code, reason = "trusts device memory")]
    pub unsafe fn of_known_pattern(
        context: &Context,
        pattern: &KnownPattern,
        offsets: DeviceArray<O>,
        columns: DeviceArray<u32>,
        values: DeviceArray<V>,
    ) -> Result<Self> {
        let (offsets, columns, values) =
            (offsets.into_any(), columns.into_any(), values.into_any());
        // SAFETY: the caller's promise.
        let any =
            unsafe { AnyMatrix::of_known_pattern(context, pattern, offsets, columns, values)? };
        Ok(Self::wrap(any))
    }

    /// A matrix whose types are known at run time, as one of these types.
    ///
    /// # Errors
    /// Other types.
    pub fn from_any(any: AnyMatrix) -> Result<Self> {
        check_types::<V, O>(&any)?;
        Ok(Self::wrap(any))
    }

    /// A matrix whose types are known at run time, as one of these types.
    ///
    /// # Errors
    /// Other types.
    pub fn of(any: &AnyMatrix) -> Result<&Self> {
        check_types::<V, O>(any)?;
        Ok(Self::wrap_ref(any))
    }

    /// The matrix, with its types known at run time.
    pub fn as_any(&self) -> &AnyMatrix {
        &self.any
    }

    /// The matrix, with its types known at run time.
    pub fn into_any(self) -> AnyMatrix {
        self.any
    }

    /// The same pattern with other values; every plan of this matrix fits the new one.
    ///
    /// # Errors
    /// Not one value a nonzero, or values of another context.
    pub fn with_values(&self, values: DeviceArray<V>) -> Result<Self> {
        self.any.with_values(values.into_any()).map(Self::wrap)
    }

    /// Overwrites the values; returns when they are on the device.
    ///
    /// # Errors
    /// Not one value a nonzero, or the driver's own failure.
    pub fn write_values_blocking(&mut self, queue: &Queue, values: &[V]) -> Result<()> {
        self.any.write_values_blocking(queue, bytemuck::cast_slice(values))
    }

    /// Says that the application has changed the values in its own buffer, as [`AnyMatrix::values_changed`].
    pub fn values_changed(&mut self) {
        self.any.values_changed();
    }

    /// The row offsets: rows + 1.
    pub fn offsets(&self) -> &DeviceArray<O> {
        DeviceArray::wrap_ref(self.any.offsets())
    }

    /// The column indices: nnz.
    pub fn columns(&self) -> &DeviceArray<u32> {
        DeviceArray::wrap_ref(self.any.columns())
    }

    /// The values: nnz.
    pub fn values(&self) -> &DeviceArray<V> {
        DeviceArray::wrap_ref(self.any.values())
    }
}

fn check_types<V: Value, O: Offset>(any: &AnyMatrix) -> Result<()> {
    any.values().check_element("the array of values", V::TYPE)?;
    any.offsets().check_element("the array of row offsets", O::TYPE)
}
