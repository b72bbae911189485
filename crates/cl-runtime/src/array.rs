//! Arrays on the device: typed, with a length, owned or the application's.

use std::marker::PhantomData;
use std::ops::Range;
use std::sync::Arc;

use bytemuck::Pod;
use cl_kernels::Array;

use crate::raw::{Memory, MemoryFlags, SvmAllocation};
use crate::{Context, Error, Event, Queue, Result};

/// `len` elements of `T` in device memory, from an element offset on.
///
/// Kernels in flight keep a buffer's memory alive. Shared virtual memory has no such count, so an owned
/// allocation waits for the launches that use it before it is freed.
#[derive(Debug)]
pub struct DeviceArray<T> {
    memory: Memory,
    start: usize,
    len: usize,
    /// [`Context::address`]; the memory keeps its context alive. `None` where only the application knows.
    context: Option<usize>,
    element: PhantomData<fn() -> T>,
}

impl<T: Pod> DeviceArray<T> {
    /// Memory for `len` elements, with undefined content.
    ///
    /// # Errors
    /// More than the device allocates at once, or the driver's own failure.
    pub fn allocate(context: &Context, len: usize) -> Result<Self> {
        let bytes = Self::checked_bytes(context, len)?;
        let memory = match bytes {
            0 => context.nothing()?,
            _ => Memory::create(context.handle(), MemoryFlags::ReadWrite, bytes)?,
        };
        Ok(Self::from_memory(memory, 0, len, Some(context.address())))
    }

    /// Shared virtual memory for `len` elements, at the finest level the device has.
    ///
    /// # Errors
    /// A device without shared virtual memory; else as [`DeviceArray::allocate`].
    pub fn allocate_svm(context: &Context, len: usize) -> Result<Self> {
        let traits = context.device().traits();
        if !traits.svm.coarse_grain_buffer {
            let (device, what) = (traits.name.clone(), "shared virtual memory".to_owned());
            return Err(Error::Unsupported { device, what });
        }
        let bytes = Self::checked_bytes(context, len)?;
        let fine_grained = traits.svm.fine_grain_buffer;
        let allocation = SvmAllocation::new(context.handle(), bytes, fine_grained)?;
        let memory = Memory::Svm(Arc::new(allocation));
        Ok(Self::from_memory(memory, 0, len, Some(context.address())))
    }

    /// A copy of `data` on the device; returns when it is there.
    ///
    /// # Errors
    /// As [`DeviceArray::allocate`].
    pub fn upload_blocking(queue: &Queue, data: &[T]) -> Result<Self> {
        let mut array = Self::allocate(queue.context(), data.len())?;
        array.write_blocking(queue, data)?;
        Ok(array)
    }

    /// `len` elements of a buffer of the application's, from `byte_offset` on.
    ///
    /// # Safety
    /// `memory` is a valid buffer of the context it will be used in, and what kernels read from it is
    /// what its use demands (a pattern's invariants above all).
    ///
    /// # Errors
    /// An offset that is no multiple of the element's size, or a range beyond the end.
    #[expect(unsafe_code, reason = "takes a raw handle")]
    pub unsafe fn from_raw(
        memory: opencl3::types::cl_mem,
        byte_offset: usize,
        len: usize,
    ) -> Result<Self> {
        // SAFETY: the caller's promise.
        Self::of_memory(unsafe { Memory::from_raw(memory)? }, byte_offset, len)
    }

    /// As [`DeviceArray::from_raw`], without a reference of its own: for the length of a call.
    ///
    /// # Safety
    /// As there; and the buffer lives until the array, and every clone and slice of it, is gone.
    ///
    /// # Errors
    /// As there.
    #[expect(unsafe_code, reason = "takes a raw handle")]
    pub unsafe fn borrow_raw(
        memory: opencl3::types::cl_mem,
        byte_offset: usize,
        len: usize,
    ) -> Result<Self> {
        // SAFETY: the caller's promise.
        Self::of_memory(unsafe { Memory::borrow_raw(memory) }, byte_offset, len)
    }

    /// `len` elements of shared virtual memory of the application's.
    ///
    /// # Safety
    /// `pointer` is shared virtual memory of the context it will be used in, holds `len` elements,
    /// outlives every launch that uses it, and holds what its use demands.
    #[expect(unsafe_code, reason = "takes a raw pointer")]
    pub unsafe fn from_svm(pointer: *mut T, len: usize, fine_grained: bool) -> Self {
        let bytes = len * size_of::<T>();
        // SAFETY: the caller's promise.
        let allocation = unsafe { SvmAllocation::from_raw(pointer.cast(), bytes, fine_grained) };
        Self::from_memory(Memory::Svm(Arc::new(allocation)), 0, len, None)
    }

    /// `len` elements of `memory` from `byte_offset` on.
    ///
    /// # Errors
    /// An offset that is no multiple of the element's size, or a range beyond the end.
    pub fn of_memory(memory: Memory, byte_offset: usize, len: usize) -> Result<Self> {
        let element = size_of::<T>();
        let refuse = |what: &str, value: usize, rule: String| {
            Err(Error::Range { what: what.to_owned(), value: value as u64, rule })
        };
        if !byte_offset.is_multiple_of(element) {
            let rule = format!("it must be a multiple of the element's {element} bytes");
            return refuse("the byte offset of an array", byte_offset, rule);
        }
        let size = memory.size_bytes()?;
        let end = len.checked_mul(element).and_then(|bytes| bytes.checked_add(byte_offset));
        match end {
            Some(end) if end <= size => {
                let context = memory.context()?.map(|context| context.addr());
                Ok(Self::from_memory(memory, byte_offset / element, len, context))
            }
            _ => {
                let rule = format!(
                    "{len} elements of {element} bytes from byte {byte_offset} on end beyond the \
                     buffer's {size} bytes"
                );
                refuse("the length of an array", len, rule)
            }
        }
    }

    fn from_memory(memory: Memory, start: usize, len: usize, context: Option<usize>) -> Self {
        DeviceArray { memory, start, len, context, element: PhantomData }
    }

    fn checked_bytes(context: &Context, len: usize) -> Result<usize> {
        let bytes = len.saturating_mul(size_of::<T>());
        let type_name = std::any::type_name::<T>();
        context.check_allocation(&format!("an array of {len} {type_name}"), bytes as u64)?;
        Ok(bytes)
    }

    /// The elements `range`, as an array of its own on the same memory.
    ///
    /// # Errors
    /// A range beyond the end.
    pub fn slice(&self, range: Range<usize>) -> Result<Self> {
        if range.start > range.end || range.end > self.len {
            return Err(Error::Range {
                what: "the end of a slice".to_owned(),
                value: range.end as u64,
                rule: format!(
                    "the array has {} elements and it starts at {}",
                    self.len, range.start
                ),
            });
        }
        let (memory, start) = (self.memory.clone(), self.start + range.start);
        Ok(Self::from_memory(memory, start, range.len(), self.context))
    }

    /// `len` elements of another type on the same memory, from the byte `first` of this array on: a multiple of their
    /// size, as the array's own first byte is.
    ///
    /// # Errors
    /// A range beyond the end.
    pub(crate) fn view<U: Pod>(&self, first: usize, len: usize) -> Result<DeviceArray<U>> {
        let end = len.checked_mul(size_of::<U>()).and_then(|bytes| bytes.checked_add(first));
        if end.is_none_or(|end| end > self.size_bytes()) {
            let what = "the end of a part of an array".to_owned();
            let rule =
                format!("the array has {} bytes, and it starts at {first}", self.size_bytes());
            return Err(Error::Range { what, value: end.map_or(u64::MAX, |end| end as u64), rule });
        }
        let start = self.byte_start() + first;
        debug_assert!(start.is_multiple_of(size_of::<U>()), "a part of an array is aligned");
        let memory = self.memory.clone();
        Ok(DeviceArray::from_memory(memory, start / size_of::<U>(), len, self.context))
    }

    /// Elements.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Bytes of the elements.
    pub fn size_bytes(&self) -> usize {
        self.len * size_of::<T>()
    }

    /// The memory and the byte the array starts at, for the application's own calls.
    pub fn memory(&self) -> (&Memory, usize) {
        (&self.memory, self.byte_start())
    }

    /// Overwrites the first elements with `data`; returns when they are there.
    ///
    /// # Errors
    /// More data than elements, a queue of another context, or the driver's own failure.
    pub fn write_blocking(&mut self, queue: &Queue, data: &[T]) -> Result<()> {
        if data.len() > self.len {
            return Err(Error::Range {
                what: "the length of the data".to_owned(),
                value: data.len() as u64,
                rule: format!("the array has {} elements", self.len),
            });
        }
        queue.context().check_array("the array", self)?;
        queue.handle().write_blocking(&self.memory, self.byte_start(), bytemuck::cast_slice(data))
    }

    /// Copies all elements to the host, after everything before in `queue`.
    ///
    /// # Errors
    /// The driver's own failure.
    pub fn read_blocking(&self, queue: &Queue) -> Result<Vec<T>> {
        let mut data = vec![T::zeroed(); self.len];
        self.read_into_blocking(queue, &mut data)?;
        Ok(data)
    }

    /// Copies the first `data.len()` elements to the host, after everything before in `queue`.
    ///
    /// # Errors
    /// More asked for than there is, a queue of another context, or the driver's own failure.
    pub fn read_into_blocking(&self, queue: &Queue, data: &mut [T]) -> Result<()> {
        if data.len() > self.len {
            return Err(Error::Range {
                what: "the number of elements to read".to_owned(),
                value: data.len() as u64,
                rule: format!("the array has {} elements", self.len),
            });
        }
        queue.context().check_array("the array", self)?;
        let bytes = bytemuck::cast_slice_mut(data);
        queue.handle().read_blocking(&self.memory, self.byte_start(), bytes)
    }

    /// Sets every element to `value`. The event is `None` for an array without elements.
    ///
    /// # Errors
    /// The driver's own failure.
    pub fn fill(&mut self, queue: &Queue, value: T) -> Result<Option<Event>> {
        queue.context().check_array("the array", self)?;
        let pattern = bytemuck::bytes_of(&value);
        queue.handle().fill(&self.memory, pattern, self.byte_start(), self.size_bytes())
    }

    /// Copies all elements from `source`, which is as long. The event is `None` where there are none.
    ///
    /// # Errors
    /// Another length or context, or the driver's own failure.
    pub fn copy_from(&mut self, queue: &Queue, source: &Self) -> Result<Option<Event>> {
        if source.len != self.len {
            return Err(Error::Range {
                what: "the length of the source".to_owned(),
                value: source.len as u64,
                rule: format!("the array has {} elements", self.len),
            });
        }
        queue.context().check_array("the source", source)?;
        queue.context().check_array("the array", self)?;
        queue.handle().copy(source.memory(), self.memory(), self.size_bytes())
    }

    /// As a kernel's argument.
    pub fn argument(&self) -> Array<&Memory> {
        Array { memory: &self.memory, start: self.start as u64 }
    }

    pub(crate) fn context_address(&self) -> Option<usize> {
        self.context
    }

    fn byte_start(&self) -> usize {
        self.start * size_of::<T>()
    }
}
