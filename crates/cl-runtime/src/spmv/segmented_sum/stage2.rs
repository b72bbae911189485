//! Stage 2 on the CPU: arrays are reached where they lie where memory is shared, and mapped elsewhere.

use cl_kernels::segmented_sum::WorkspaceLayout;
use cl_kernels::{Accumulate, Array, KernelKey, Scalar};
use csr_core::segmented_sum::{Arrays, LeftOver, NO_ROW, finish};
use csr_core::{Offset, RealValue, for_offset_type, for_value_type};

use crate::host_view::{HostView, HostViewMut};
use crate::raw::Memory;
use crate::spmv::{Operands, Stages};
use crate::{DeviceArray, Error, Queue, Result};

/// What stage 2 works on.
#[derive(Debug)]
pub(super) struct Stage2<'a> {
    pub(super) queue: &'a Queue,
    pub(super) key: &'a KernelKey,
    pub(super) layout: WorkspaceLayout,
    pub(super) nnz: usize,
    pub(super) scratch: &'a DeviceArray<u32>,
    pub(super) operands: &'a Operands<'a>,
}

/// Bytes that the CPU has reached where they lie.
#[derive(Debug, Default)]
struct Reached(usize);

impl Reached {
    fn add(&mut self, bytes: usize, is_in_place: bool) {
        self.0 += if is_in_place { bytes } else { 0 };
    }
}

impl Stage2<'_> {
    /// Finishes y, once stage 1 has ended. What it did, but for times.
    ///
    /// # Safety
    /// The operands are as long as they say, and no command in flight touches them or the scratch memory.
    ///
    /// # Errors
    /// The driver's own failure.
    #[expect(unsafe_code, reason = "operands are trusted")]
    pub(super) unsafe fn finish_blocking(&self) -> Result<Stages> {
        // SAFETY: the caller's promise, in each arm.
        unsafe {
            for_value_type!(self.key.value_type, V => {
                for_offset_type!(self.key.offset_type, O => self.typed::<V, O>())
            })
        }
    }

    /// # Safety
    /// As [`Stage2::finish_blocking`], for a kernel of these types.
    #[expect(unsafe_code, reason = "operands are trusted")]
    unsafe fn typed<V: RealValue, O: Offset>(&self) -> Result<Stages> {
        let mut reached = Reached::default();
        let (layout, operands) = (&self.layout, self.operands);
        // SAFETY: the caller's promise, here and below.
        let mut words = unsafe {
            let whole = self.scratch.argument();
            self.view_mut::<u32>(&whole, layout.words(), &mut reached)?
        };
        let counters = &mut words[layout.counters()..];
        let [misplaced, left, left_tiles] = [0, 1, 2].map(|counter| counters[counter] as usize);
        counters.fill(0);
        if misplaced + left > layout.capacity {
            return Err(Error::Range {
                what: "the ranges of rows that stage 1 left".to_owned(),
                value: (misplaced + left) as u64,
                rule: format!("there is capacity for {}", layout.capacity),
            });
        }
        let ranges: &[[u32; 2]] =
            bytemuck::cast_slice(&words[layout.speculator()..layout.head_rows()]);
        let left_over = LeftOver {
            head_rows: &words[layout.head_rows()..layout.counters()],
            heads: bytemuck::cast_slice(&words[..layout.tails()]),
            tails: bytemuck::cast_slice(&words[layout.tails()..layout.boundaries()]),
            parts: if self.key.accumulate == Accumulate::Compensated { 2 } else { 1 },
            misplaced: &ranges[..misplaced],
            left: &ranges[layout.capacity - left..],
        };
        let is_dirty = misplaced + left > 0;
        if is_dirty || left_over.head_rows.iter().any(|&row| row != NO_ROW) {
            let nnz = if left > 0 { self.nnz } else { 0 };
            let cols = if left > 0 { operands.cols } else { 0 };
            let rows_beyond = if is_dirty { operands.rows + 1 } else { 0 };
            // SAFETY: as above.
            unsafe {
                let offsets = self.view::<O>(&operands.offsets, rows_beyond, &mut reached)?;
                let columns = self.view::<u32>(&operands.columns, nnz, &mut reached)?;
                let values = self.view::<V>(&operands.values, nnz, &mut reached)?;
                let x = self.view::<V::Accum>(&operands.x, cols, &mut reached)?;
                let mut y = self.view_mut::<V::Accum>(&operands.y, operands.rows, &mut reached)?;
                let arrays = Arrays::<V, O> {
                    offsets: &offsets,
                    columns: &columns,
                    values: &values,
                    x: &x,
                    alpha: self.scalar(&operands.alpha)?,
                    beta: self.scalar(&operands.beta)?,
                };
                finish(&arrays, &left_over, &mut y);
                y.unmap_blocking()?;
                x.unmap_blocking()?;
                values.unmap_blocking()?;
                columns.unmap_blocking()?;
                offsets.unmap_blocking()?;
            }
        }
        words.unmap_blocking()?;
        let (dirty_tiles, shared_bytes) = (misplaced + left_tiles, reached.0);
        Ok(Stages { dirty_tiles, shared_bytes, ..Stages::default() })
    }

    /// # Safety
    /// As [`HostView::map_blocking`], and the array holds `len` elements.
    #[expect(unsafe_code, reason = "operands are trusted")]
    unsafe fn view<'v, T: bytemuck::Pod>(
        &self,
        array: &Array<&'v Memory>,
        len: usize,
        reached: &mut Reached,
    ) -> Result<HostView<'v, T>> {
        // SAFETY: the caller's promise.
        let view = unsafe { HostView::map_blocking(self.queue, array, len, false)? };
        reached.add(len * size_of::<T>(), view.is_in_place());
        Ok(view)
    }

    /// # Safety
    /// As [`Stage2::view`].
    #[expect(unsafe_code, reason = "operands are trusted")]
    unsafe fn view_mut<'v, T: bytemuck::Pod>(
        &self,
        array: &Array<&'v Memory>,
        len: usize,
        reached: &mut Reached,
    ) -> Result<HostViewMut<'v, T>> {
        // SAFETY: the caller's promise.
        let view = unsafe { HostView::map_mut_blocking(self.queue, array, len)? };
        reached.add(len * size_of::<T>(), view.is_in_place());
        Ok(view)
    }

    /// alpha or beta, wherever it is.
    ///
    /// # Safety
    /// As [`Stage2::view`].
    #[expect(unsafe_code, reason = "operands are trusted")]
    unsafe fn scalar<T: csr_core::Accumulator>(&self, scalar: &Scalar<&Memory>) -> Result<T> {
        Ok(match scalar {
            Scalar::F32(value) => T::from_f64(f64::from(*value)),
            Scalar::F64(value) => T::from_f64(*value),
            // SAFETY: the caller's promise.
            Scalar::Device(array) => unsafe {
                let view = self.view::<T>(array, 1, &mut Reached::default())?;
                let value = view[0];
                view.unmap_blocking()?;
                value
            },
        })
    }
}
