//! Arrays between canaries: what a kernel writes outside its arrays is seen.

use bytemuck::Pod;
use sparrow::{DeviceArray, Queue, RuntimeError};

type Result<T> = std::result::Result<T, RuntimeError>;

/// Elements of canary before and after the array, at least.
const GUARD: usize = 64;

/// What every byte of a canary is. As an f32 it is -2.9e-16, as a column far outside any matrix.
const CANARY: u8 = 0xA5;

/// An array on the device between canaries, and what it held at first.
#[derive(Debug)]
pub struct Guarded<T> {
    whole: DeviceArray<T>,
    array: DeviceArray<T>,
    before: Vec<T>,
    start: usize,
}

impl<T: Pod> Guarded<T> {
    /// Puts `data` between canaries, `shift` elements beyond where it would start by itself.
    ///
    /// # Errors
    /// The driver's own failure.
    pub fn upload_blocking(queue: &Queue, data: &[T], shift: usize) -> Result<Self> {
        let start = GUARD + shift;
        let canary: T = bytemuck::pod_read_unaligned(&vec![CANARY; size_of::<T>()]);
        let mut before = vec![canary; start + data.len() + GUARD];
        before[start..start + data.len()].copy_from_slice(data);
        let whole = DeviceArray::upload_blocking(queue, &before)?;
        let array = whole.slice(start..start + data.len())?;
        Ok(Guarded { whole, array, before, start })
    }

    /// As [`Guarded::upload_blocking`], but the array is reached through a sub-buffer that starts at the
    /// smallest legal origin behind 0, and from there by an element offset of `shift`.
    ///
    /// # Errors
    /// The driver's own failure.
    pub fn upload_in_sub_buffer_blocking(queue: &Queue, data: &[T], shift: usize) -> Result<Self> {
        let align = queue.context().device().traits().base_align_bytes.max(8) as usize;
        // Elements of any type here divide the alignment or are divided by it.
        let origin = align / size_of::<T>();
        let guarded =
            Self::upload_blocking(queue, data, origin + shift - GUARD.min(origin + shift))?;
        let start = guarded.start;
        let (memory, _) = guarded.whole.memory();
        let sub_bytes = guarded.whole.size_bytes() - align;
        let sub_buffer = memory.sub_buffer(align, sub_bytes)?;
        let byte_offset = start * size_of::<T>() - align;
        let array = DeviceArray::of_memory(sub_buffer, byte_offset, data.len())?;
        Ok(Guarded { array, ..guarded })
    }

    /// The array, for operands.
    pub fn array(&self) -> &DeviceArray<T> {
        &self.array
    }

    /// The array, to be written.
    pub fn array_mut(&mut self) -> &mut DeviceArray<T> {
        &mut self.array
    }

    /// Puts array and canaries back to what they held at first. The whole buffer at once: after a write
    /// to a part of a buffer, Oclgrind takes the rest for uninitialised.
    ///
    /// # Errors
    /// The driver's own failure.
    pub fn restore_blocking(&mut self, queue: &Queue) -> Result<()> {
        self.whole.write_blocking(queue, &self.before)
    }

    /// What the array holds now.
    ///
    /// # Errors
    /// The driver's own failure.
    pub fn read_blocking(&self, queue: &Queue) -> Result<Vec<T>> {
        self.array.read_blocking(queue)
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
        let after = self.whole.read_blocking(queue)?;
        let changed = self.before.iter().zip(&after).enumerate().find(|(at, (before, after))| {
            looks_at(*at) && bytemuck::bytes_of(*before) != bytemuck::bytes_of(*after)
        });
        Ok(changed.map(|(at, _)| at as i64 - self.start as i64))
    }
}
