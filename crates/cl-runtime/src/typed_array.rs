//! Arrays on the device whose type the compiler knows: thin wrappers of [`AnyArray`].

use std::marker::PhantomData;
use std::ops::{Deref, Range};

use bytemuck::{Pod, TransparentWrapper};

use crate::raw::Memory;
use crate::{AnyArray, Context, ElementType, Event, Queue, Result};

/// `len` elements of `T` in device memory: an [`AnyArray`] of that type.
#[derive(Debug, TransparentWrapper)]
#[repr(transparent)]
#[transparent(AnyArray)]
pub struct DeviceArray<T> {
    any: AnyArray,
    element: PhantomData<fn() -> T>,
}

impl<T> Deref for DeviceArray<T> {
    type Target = AnyArray;

    fn deref(&self) -> &AnyArray {
        &self.any
    }
}

impl<T: Pod> DeviceArray<T> {
    /// Memory for `len` elements, with undefined content.
    ///
    /// # Errors
    /// As [`AnyArray::allocate`].
    pub fn allocate(context: &Context, len: usize) -> Result<Self> {
        AnyArray::allocate(context, ElementType::of::<T>(), len).map(Self::wrap)
    }

    /// Shared virtual memory for `len` elements, at the finest level the device has.
    ///
    /// # Errors
    /// As [`AnyArray::allocate_svm`].
    pub fn allocate_svm(context: &Context, len: usize) -> Result<Self> {
        AnyArray::allocate_svm(context, ElementType::of::<T>(), len).map(Self::wrap)
    }

    /// A copy of `data` on the device; returns when it is there.
    ///
    /// # Errors
    /// As [`AnyArray::allocate`].
    pub fn upload_blocking(queue: &Queue, data: &[T]) -> Result<Self> {
        let bytes = bytemuck::cast_slice(data);
        AnyArray::upload_blocking(queue, ElementType::of::<T>(), bytes).map(Self::wrap)
    }

    /// `len` elements of a buffer of the application's, from `byte_offset` on.
    ///
    /// # Safety
    /// As [`AnyArray::from_raw`].
    ///
    /// # Errors
    /// As there.
    #[expect(unsafe_code, reason = "takes a raw handle")]
    pub unsafe fn from_raw(
        memory: opencl3::types::cl_mem,
        byte_offset: usize,
        len: usize,
    ) -> Result<Self> {
        let element = ElementType::of::<T>();
        // SAFETY: the caller's promise.
        unsafe { AnyArray::from_raw(memory, element, byte_offset, len) }.map(Self::wrap)
    }

    /// As [`DeviceArray::from_raw`], without a reference of its own: for the length of a call.
    ///
    /// # Safety
    /// As [`AnyArray::borrow_raw`].
    ///
    /// # Errors
    /// As there.
    #[expect(unsafe_code, reason = "takes a raw handle")]
    pub unsafe fn borrow_raw(
        memory: opencl3::types::cl_mem,
        byte_offset: usize,
        len: usize,
    ) -> Result<Self> {
        let element = ElementType::of::<T>();
        // SAFETY: the caller's promise.
        unsafe { AnyArray::borrow_raw(memory, element, byte_offset, len) }.map(Self::wrap)
    }

    /// `len` elements of shared virtual memory of the application's.
    ///
    /// # Safety
    /// `pointer` is shared virtual memory of the context it will be used in, holds `len` elements,
    /// outlives every launch that uses it, and holds what its use demands.
    ///
    /// # Errors
    /// As [`AnyArray::from_svm`].
    #[expect(unsafe_code, reason = "takes a raw pointer")]
    pub unsafe fn from_svm(pointer: *mut T, len: usize, fine_grained: bool) -> Result<Self> {
        let element = ElementType::of::<T>();
        // SAFETY: the caller's promise.
        unsafe { AnyArray::from_svm(pointer.cast(), element, len, fine_grained) }.map(Self::wrap)
    }

    /// `len` elements of `memory` from `byte_offset` on.
    ///
    /// # Errors
    /// As [`AnyArray::of_memory`].
    pub fn of_memory(memory: Memory, byte_offset: usize, len: usize) -> Result<Self> {
        AnyArray::of_memory(memory, ElementType::of::<T>(), byte_offset, len).map(Self::wrap)
    }

    /// The elements `range`, as an array of its own on the same memory.
    ///
    /// # Errors
    /// A range beyond the end.
    pub fn slice(&self, range: Range<usize>) -> Result<Self> {
        self.any.slice(range).map(Self::wrap)
    }

    /// `len` elements of another type, as [`AnyArray::view`] has them.
    ///
    /// # Errors
    /// A range beyond the end.
    pub(crate) fn view<U: Pod>(&self, first: usize, len: usize) -> Result<DeviceArray<U>> {
        self.any.view(ElementType::of::<U>(), first, len).map(DeviceArray::wrap)
    }

    /// The array, with its type known at run time.
    pub fn as_any(&self) -> &AnyArray {
        &self.any
    }

    /// The array, with its type known at run time. It is to remain an array of `T`: functions that take one look again.
    pub fn as_any_mut(&mut self) -> &mut AnyArray {
        &mut self.any
    }

    /// The array, with its type known at run time.
    pub fn into_any(self) -> AnyArray {
        self.any
    }

    /// Overwrites the first elements with `data`; returns when they are there.
    ///
    /// # Errors
    /// As [`AnyArray::write_bytes_blocking`].
    pub fn write_blocking(&mut self, queue: &Queue, data: &[T]) -> Result<()> {
        self.any.write_bytes_blocking(queue, bytemuck::cast_slice(data))
    }

    /// Copies all elements to the host, after everything before in `queue`.
    ///
    /// # Errors
    /// The driver's own failure.
    pub fn read_blocking(&self, queue: &Queue) -> Result<Vec<T>> {
        let mut data = vec![T::zeroed(); self.len()];
        self.read_into_blocking(queue, &mut data)?;
        Ok(data)
    }

    /// Copies the first `data.len()` elements to the host, after everything before in `queue`.
    ///
    /// # Errors
    /// As [`AnyArray::read_bytes_blocking`].
    pub fn read_into_blocking(&self, queue: &Queue, data: &mut [T]) -> Result<()> {
        self.any.read_bytes_blocking(queue, bytemuck::cast_slice_mut(data))
    }

    /// Sets every element to `value`. The event is `None` for an array without elements.
    ///
    /// # Errors
    /// The driver's own failure.
    pub fn fill(&mut self, queue: &Queue, value: T) -> Result<Option<Event>> {
        self.any.fill_bytes(queue, bytemuck::bytes_of(&value))
    }

    /// Copies all elements from `source`, which is as long. The event is `None` where there are none.
    ///
    /// # Errors
    /// As [`AnyArray::copy_from`].
    pub fn copy_from(&mut self, queue: &Queue, source: &Self) -> Result<Option<Event>> {
        self.any.copy_from(queue, &source.any)
    }
}
