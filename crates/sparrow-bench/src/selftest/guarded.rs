//! Arrays between canaries: what a kernel writes outside its arrays is seen.

use std::marker::PhantomData;
use std::ops::Deref;

use bytemuck::Pod;
use csr_core::{AnyVector, ValueType};
use sparrow::{AnyArray, DeviceArray, ElementType, Queue, RuntimeError};

type Result<T> = std::result::Result<T, RuntimeError>;

/// Elements of canary before and after the array, at least.
const GUARD: usize = 64;

/// What every byte of a canary is. As an f32 it is -2.9e-16, as a column far outside any matrix.
const CANARY: u8 = 0xA5;

/// An array on the device between canaries, and what it held at first; its type is known at run time.
#[derive(Debug)]
pub struct AnyGuarded {
    whole: AnyArray,
    array: AnyArray,
    /// Bytes of all, canaries included.
    before: Vec<u8>,
    /// The array's first element.
    start: usize,
}

impl AnyGuarded {
    /// Puts the bytes of some elements between canaries, `shift` elements beyond where they would start by themselves.
    ///
    /// # Errors
    /// The driver's own failure.
    pub fn upload_blocking(
        queue: &Queue,
        element: impl Into<ElementType>,
        data: &[u8],
        shift: usize,
    ) -> Result<Self> {
        let element = element.into();
        let (start, bytes) = (GUARD + shift, element.size_bytes());
        let mut before = vec![CANARY; (start + GUARD) * bytes + data.len()];
        before[start * bytes..start * bytes + data.len()].copy_from_slice(data);
        let whole = AnyArray::upload_blocking(queue, element, &before)?;
        let array = whole.slice(start..start + data.len() / bytes)?;
        Ok(AnyGuarded { whole, array, before, start })
    }

    /// As [`AnyGuarded::upload_blocking`], but the array is reached through a sub-buffer that starts at the
    /// smallest legal origin after 0, and from there by an element offset of `shift`.
    ///
    /// # Errors
    /// The driver's own failure.
    pub fn upload_in_sub_buffer_blocking(
        queue: &Queue,
        element: impl Into<ElementType>,
        data: &[u8],
        shift: usize,
    ) -> Result<Self> {
        let element = element.into();
        let align = queue.context().device().traits().base_align_bytes.max(8) as usize;
        // Elements of any type here divide the alignment or are divided by it.
        let first = align / element.size_bytes() + shift;
        let guarded = Self::upload_blocking(queue, element, data, first - GUARD.min(first))?;
        let (memory, _) = guarded.whole.memory();
        let sub_bytes = guarded.whole.size_bytes() - align;
        let sub_buffer = memory.sub_buffer(align, sub_bytes)?;
        let byte_offset = guarded.start * element.size_bytes() - align;
        let len = guarded.array.len();
        let array = AnyArray::of_memory(sub_buffer, element, byte_offset, len)?;
        Ok(AnyGuarded { array, ..guarded })
    }

    /// The array, for operands.
    pub fn array(&self) -> &AnyArray {
        &self.array
    }

    /// The array, to be written.
    pub fn array_mut(&mut self) -> &mut AnyArray {
        &mut self.array
    }

    /// What the array holds now: numbers of the type that sums of `value_type` are made in.
    ///
    /// # Errors
    /// The driver's own failure.
    pub fn read_numbers_blocking(&self, queue: &Queue, value_type: ValueType) -> Result<AnyVector> {
        let mut numbers = AnyVector::filled(value_type, 0.0, self.array.len());
        self.array.read_bytes_blocking(queue, numbers.bytes_mut())?;
        Ok(numbers)
    }

    /// Puts array and canaries back to what they held at first. The whole buffer at once: after a write
    /// to a part of a buffer, Oclgrind takes the rest for uninitialised.
    ///
    /// # Errors
    /// The driver's own failure.
    pub fn restore_blocking(&mut self, queue: &Queue) -> Result<()> {
        self.whole.write_bytes_blocking(queue, &self.before)
    }

    /// The first element outside the array that is not what it was, relative to the array's start.
    ///
    /// # Errors
    /// The driver's own failure.
    pub fn damaged_canary(&self, queue: &Queue) -> Result<Option<i64>> {
        let inside = self.start..self.start + self.array.len();
        self.first_change(queue, |at| !inside.contains(&at))
    }

    /// The first element in or around the array that is not what it was, relative to its start.
    ///
    /// # Errors
    /// The driver's own failure.
    pub fn damaged_anywhere(&self, queue: &Queue) -> Result<Option<i64>> {
        self.first_change(queue, |_| true)
    }

    fn first_change(&self, queue: &Queue, looks_at: impl Fn(usize) -> bool) -> Result<Option<i64>> {
        let mut after = vec![0; self.before.len()];
        self.whole.read_bytes_blocking(queue, &mut after)?;
        let bytes = self.whole.element().size_bytes();
        let mut elements = self.before.chunks_exact(bytes).zip(after.chunks_exact(bytes));
        let changed = elements
            .by_ref()
            .enumerate()
            .position(|(at, (before, after))| looks_at(at) && before != after);
        Ok(changed.map(|at| at as i64 - self.start as i64))
    }
}

/// An [`AnyGuarded`] of elements whose type the compiler knows.
#[derive(Debug)]
pub struct Guarded<T> {
    any: AnyGuarded,
    element: PhantomData<fn() -> T>,
}

impl<T> Deref for Guarded<T> {
    type Target = AnyGuarded;

    fn deref(&self) -> &AnyGuarded {
        &self.any
    }
}

impl<T: Pod> Guarded<T> {
    /// As [`AnyGuarded::upload_blocking`].
    ///
    /// # Errors
    /// As there.
    pub fn upload_blocking(queue: &Queue, data: &[T], shift: usize) -> Result<Self> {
        let (element, data) = (ElementType::of::<T>(), bytemuck::cast_slice(data));
        let any = AnyGuarded::upload_blocking(queue, element, data, shift)?;
        Ok(Guarded { any, element: PhantomData })
    }

    /// As [`AnyGuarded::upload_in_sub_buffer_blocking`].
    ///
    /// # Errors
    /// As there.
    pub fn upload_in_sub_buffer_blocking(queue: &Queue, data: &[T], shift: usize) -> Result<Self> {
        let (element, data) = (ElementType::of::<T>(), bytemuck::cast_slice(data));
        let any = AnyGuarded::upload_in_sub_buffer_blocking(queue, element, data, shift)?;
        Ok(Guarded { any, element: PhantomData })
    }

    /// The array, for operands.
    ///
    /// # Panics
    /// Never: it was made of elements of `T`.
    #[expect(clippy::expect_used, reason = "made of elements of this type")]
    pub fn array(&self) -> &DeviceArray<T> {
        self.any.array.typed().expect("an array of this type")
    }

    /// The array, to be written.
    ///
    /// # Panics
    /// Never: it was made of elements of `T`.
    #[expect(clippy::expect_used, reason = "made of elements of this type")]
    pub fn array_mut(&mut self) -> &mut DeviceArray<T> {
        self.any.array.typed_mut().expect("an array of this type")
    }

    /// As [`AnyGuarded::restore_blocking`].
    ///
    /// # Errors
    /// As there.
    pub fn restore_blocking(&mut self, queue: &Queue) -> Result<()> {
        self.any.restore_blocking(queue)
    }

    /// What the array holds now.
    ///
    /// # Errors
    /// The driver's own failure.
    pub fn read_blocking(&self, queue: &Queue) -> Result<Vec<T>> {
        self.array().read_blocking(queue)
    }
}
