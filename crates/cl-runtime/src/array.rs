//! Arrays on the device, owned or the application's, whose type is known at run time.

use std::ops::Range;
use std::sync::Arc;

use bytemuck::{Pod, TransparentWrapper as _};
use cl_kernels::Array;
use csr_core::{OffsetType, ValueType, counted};

use crate::raw::{Memory, MemoryFlags, Origin, SvmAllocation};
use crate::{Context, DeviceArray, ElementType, Error, Event, Queue, Result, check_apart};

/// Elements in device memory, from an element offset on; what they are is known at run time.
///
/// Kernels in flight keep a buffer's memory alive. Shared virtual memory has no such count, so an owned
/// allocation waits for the launches that use it before it is freed.
#[derive(Debug)]
pub struct AnyArray {
    memory: Memory,
    element: ElementType,
    start: usize,
    len: usize,
    /// [`Context::address`]; the memory keeps its context alive. `None` where only the application knows.
    context: Option<usize>,
    /// Of the memory.
    origin: Origin,
}

impl AnyArray {
    /// Memory for `len` elements, with undefined content.
    ///
    /// # Errors
    /// More than the device allocates at once, or the driver's own failure.
    pub fn allocate(
        context: &Context,
        element: impl Into<ElementType>,
        len: usize,
    ) -> Result<Self> {
        let element = element.into();
        let memory = match checked_bytes(context, element, len)? {
            0 => context.nothing()?,
            bytes => Memory::create(context.handle(), MemoryFlags::ReadWrite, bytes)?,
        };
        Ok(Self::of_created(memory, element, len, Some(context.address())))
    }

    /// Shared virtual memory for `len` elements, at the finest level the device has.
    ///
    /// # Errors
    /// A device without shared virtual memory; else as [`AnyArray::allocate`].
    pub fn allocate_svm(
        context: &Context,
        element: impl Into<ElementType>,
        len: usize,
    ) -> Result<Self> {
        let element = element.into();
        let traits = context.device().traits();
        if !traits.svm.coarse_grain_buffer {
            let (device, what) = (traits.name.clone(), "shared virtual memory".to_owned());
            return Err(Error::Unsupported { device, what });
        }
        let bytes = checked_bytes(context, element, len)?;
        let fine_grained = traits.svm.fine_grain_buffer;
        let allocation = SvmAllocation::new(context.handle(), bytes, fine_grained)?;
        let memory = Memory::Svm(Arc::new(allocation));
        Ok(Self::of_created(memory, element, len, Some(context.address())))
    }

    /// A copy of the bytes of some elements; returns when it is there.
    ///
    /// # Errors
    /// As [`AnyArray::allocate`].
    pub fn upload_blocking(
        queue: &Queue,
        element: impl Into<ElementType>,
        bytes: &[u8],
    ) -> Result<Self> {
        let element = element.into();
        let len = bytes.len() / element.size_bytes();
        let mut array = Self::allocate(queue.context(), element, len)?;
        array.write_bytes_blocking(queue, bytes)?;
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
        element: impl Into<ElementType>,
        byte_offset: usize,
        len: usize,
    ) -> Result<Self> {
        // SAFETY: the caller's promise.
        Self::of_memory(unsafe { Memory::from_raw(memory)? }, element, byte_offset, len)
    }

    /// As [`AnyArray::from_raw`], without a reference of its own: for the length of a call.
    ///
    /// # Safety
    /// As there; and the buffer lives until the array, and every clone and slice of it, is gone.
    ///
    /// # Errors
    /// As there.
    #[expect(unsafe_code, reason = "takes a raw handle")]
    pub unsafe fn borrow_raw(
        memory: opencl3::types::cl_mem,
        element: impl Into<ElementType>,
        byte_offset: usize,
        len: usize,
    ) -> Result<Self> {
        // SAFETY: the caller's promise.
        Self::of_memory(unsafe { Memory::borrow_raw(memory) }, element, byte_offset, len)
    }

    /// `len` elements of `memory` from `byte_offset` on.
    ///
    /// # Errors
    /// An offset that is no multiple of the element's size, or a range beyond the end.
    pub fn of_memory(
        memory: Memory,
        element: impl Into<ElementType>,
        byte_offset: usize,
        len: usize,
    ) -> Result<Self> {
        let element = element.into();
        let bytes = element.size_bytes();
        let refuse = |what: &str, value: usize, rule: String| {
            Err(Error::Range { what: what.to_owned(), value: value as u64, rule })
        };
        if !byte_offset.is_multiple_of(bytes) {
            let rule = format!("it must be a multiple of the element's {}", counted(bytes, "byte"));
            return refuse("the byte offset of an array", byte_offset, rule);
        }
        let size = memory.size_bytes()?;
        let end = len.checked_mul(bytes).and_then(|bytes| bytes.checked_add(byte_offset));
        match end {
            Some(end) if end <= size => {
                let context = memory.context()?.map(|context| context.addr());
                let (start, origin) = (byte_offset / bytes, memory.origin()?);
                Ok(AnyArray { memory, element, start, len, context, origin })
            }
            _ => {
                let rule = format!(
                    "{} of {} from byte {byte_offset} on {} beyond the buffer's {}",
                    counted(len, "element"),
                    counted(bytes, "byte"),
                    if len == 1 { "ends" } else { "end" },
                    counted(size, "byte")
                );
                refuse("the length of an array", len, rule)
            }
        }
    }

    pub(crate) fn of_created(
        memory: Memory,
        element: ElementType,
        len: usize,
        context: Option<usize>,
    ) -> Self {
        let origin = Origin::of_created(&memory);
        AnyArray { memory, element, start: 0, len, context, origin }
    }

    /// The same elements under another handle.
    pub fn alias(&self) -> Self {
        AnyArray { memory: self.memory.clone(), ..*self }
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
                    "the array has {} and it starts at {}",
                    counted(self.len, "element"),
                    range.start
                ),
            });
        }
        Ok(AnyArray { start: self.start + range.start, len: range.len(), ..self.alias() })
    }

    /// `len` elements of another type on the same memory, from the byte `first` of this array on: a multiple of their
    /// size, as the array's own first byte is.
    ///
    /// # Errors
    /// A range beyond the end.
    pub(crate) fn view(&self, element: ElementType, first: usize, len: usize) -> Result<Self> {
        let bytes = element.size_bytes();
        let end = len.checked_mul(bytes).and_then(|bytes| bytes.checked_add(first));
        if end.is_none_or(|end| end > self.size_bytes()) {
            let what = "the end of a part of an array".to_owned();
            let bytes = counted(self.size_bytes(), "byte");
            let rule = format!("the array has {bytes}, and it starts at {first}");
            return Err(Error::Range { what, value: end.map_or(u64::MAX, |end| end as u64), rule });
        }
        let start = self.byte_start() + first;
        debug_assert!(start.is_multiple_of(bytes), "a part of an array is aligned");
        Ok(AnyArray { element, start: start / bytes, len, ..self.alias() })
    }

    /// What the elements are.
    pub fn element(&self) -> ElementType {
        self.element
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
        self.len * self.element.size_bytes()
    }

    /// The memory and the byte the array starts at, for the application's own calls.
    pub fn memory(&self) -> (&Memory, usize) {
        (&self.memory, self.byte_start())
    }

    /// Refuses elements of another type than `element`, by the array's name `what`.
    ///
    /// # Errors
    /// Another type.
    pub fn check_element(&self, what: &str, element: impl Into<ElementType>) -> Result<()> {
        let element = element.into();
        if self.element != element {
            return Err(Error::element_type(what, self.element, element));
        }
        Ok(())
    }

    /// The type of row offsets that the elements are.
    ///
    /// # Errors
    /// Elements that are no row offsets.
    pub fn offset_type(&self) -> Result<OffsetType> {
        match self.element {
            ElementType::U32 => Ok(OffsetType::U32),
            ElementType::U64 => Ok(OffsetType::U64),
            element => Err(Error::element_type("the array of row offsets", element, "u32 or u64")),
        }
    }

    /// The type of values that the elements are; `what` names the array.
    ///
    /// # Errors
    /// Elements that are no values.
    pub fn value_type(&self, what: &str) -> Result<ValueType> {
        match self.element {
            ElementType::Value(value_type) => Ok(value_type),
            element => Err(Error::element_type(what, element, "f32, f64, f16 or bf16")),
        }
    }

    /// As an array of `T`.
    ///
    /// # Errors
    /// Elements of another type.
    pub fn typed<T: Pod>(&self) -> Result<&DeviceArray<T>> {
        self.check_element("the array", ElementType::of::<T>())?;
        Ok(DeviceArray::wrap_ref(self))
    }

    /// As an array of `T`.
    ///
    /// # Errors
    /// Elements of another type.
    pub fn typed_mut<T: Pod>(&mut self) -> Result<&mut DeviceArray<T>> {
        self.check_element("the array", ElementType::of::<T>())?;
        Ok(DeviceArray::wrap_mut(self))
    }

    /// As an array of `T`.
    ///
    /// # Errors
    /// Elements of another type.
    pub fn into_typed<T: Pod>(self) -> Result<DeviceArray<T>> {
        self.check_element("the array", ElementType::of::<T>())?;
        Ok(DeviceArray::wrap(self))
    }

    /// Overwrites the first elements with the bytes of some; returns when they are there.
    ///
    /// # Errors
    /// More data than elements, a queue of another context, or the driver's own failure.
    pub fn write_bytes_blocking(&mut self, queue: &Queue, bytes: &[u8]) -> Result<()> {
        self.check_count("the length of the data", bytes)?;
        queue.context().check_array("the array", self)?;
        queue.handle().write_blocking(&self.memory, self.byte_start(), bytes)
    }

    /// Copies the first elements to the host, after everything before in `queue`.
    ///
    /// # Errors
    /// More asked for than there is, a queue of another context, or the driver's own failure.
    pub fn read_bytes_blocking(&self, queue: &Queue, bytes: &mut [u8]) -> Result<()> {
        self.check_count("the number of elements to read", bytes)?;
        queue.context().check_array("the array", self)?;
        queue.handle().read_blocking(&self.memory, self.byte_start(), bytes)
    }

    fn check_count(&self, what: &str, bytes: &[u8]) -> Result<()> {
        if bytes.len() > self.size_bytes() {
            return Err(Error::Range {
                what: what.to_owned(),
                value: (bytes.len() / self.element.size_bytes()) as u64,
                rule: format!("the array has {}", counted(self.len, "element")),
            });
        }
        Ok(())
    }

    /// Sets every element to that of these bytes. The event is `None` for an array without elements.
    ///
    /// # Errors
    /// The driver's own failure.
    pub fn fill_bytes(&mut self, queue: &Queue, element: &[u8]) -> Result<Option<Event>> {
        queue.context().check_array("the array", self)?;
        queue.handle().fill(&self.memory, element, self.byte_start(), self.size_bytes())
    }

    /// Copies all elements from `source`, which is as long. The event is `None` where there are none. Between a buffer and
    /// shared virtual memory that is not fine-grained, the host copies, after everything before in `queue`, and waits.
    ///
    /// # Errors
    /// Another type, length or context, a source that overlaps, or the driver's own failure.
    pub fn copy_from(&mut self, queue: &Queue, source: &Self) -> Result<Option<Event>> {
        source.check_element("the source", self.element)?;
        if source.len != self.len {
            return Err(Error::Range {
                what: "the length of the source".to_owned(),
                value: source.len as u64,
                rule: format!("the array has {}", counted(self.len, "element")),
            });
        }
        queue.context().check_array("the source", source)?;
        queue.context().check_array("the array", self)?;
        check_apart(("the array", self), [("the source", source)])?;
        queue.handle().copy(source.memory(), self.memory(), self.size_bytes())
    }

    /// As a kernel's argument.
    pub fn argument(&self) -> Array<&Memory> {
        Array::new(&self.memory, self.start as u64)
    }

    pub(crate) fn origin(&self) -> Origin {
        self.origin
    }

    pub(crate) fn context_address(&self) -> Option<usize> {
        self.context
    }

    fn byte_start(&self) -> usize {
        self.start * self.element.size_bytes()
    }
}

fn checked_bytes(context: &Context, element: ElementType, len: usize) -> Result<usize> {
    let bytes = len.saturating_mul(element.size_bytes());
    context.check_allocation(&format!("an array of {len} {element}"), bytes as u64)?;
    Ok(bytes)
}
