//! One product by both devices.

use std::ops::Range;
use std::time::Instant;

use cl_kernels::Scalar;
use cl_runtime::raw::{Memory, copied_bytes};
use cl_runtime::spmv;
use cl_runtime::{After, DeviceArray, Event, Queue};
use csr_core::{Accumulator as _, CsrView, Offset, Value, product_of_rows};

use super::cut::Cut;
use super::partner::{Chunk, Worker};
use super::share::Timing;
use super::target::Target;
use super::{HeteroPlan, Shared};
use crate::{Operands, Result};

impl<V: Value, O: Offset> HeteroPlan<'_, V, O> {
    /// The product, all of it by the first device.
    ///
    /// # Safety
    /// The operands were checked.
    #[expect(unsafe_code, reason = "operands are trusted")]
    pub(super) unsafe fn by_the_first(
        &mut self,
        queue: &Queue,
        operands: &spmv::Operands<'_>,
        wait: &[Event],
    ) -> Result<Shared> {
        let start = Instant::now();
        // SAFETY: the caller's promise.
        let event = unsafe {
            let after = After::Events(wait);
            self.alone.spmv().launch(queue, &mut self.alone_workspace, operands, after)?
        };
        event.iter().try_for_each(Event::wait)?;
        let total = start.elapsed();
        self.learner.learn(Timing { total: total.as_secs_f64(), partner: 0.0 });
        Ok(Shared { total, ..Shared::default() })
    }

    /// The product, cut in two.
    ///
    /// # Safety
    /// The operands were checked, and nothing else touches them.
    #[expect(unsafe_code, reason = "operands are trusted")]
    pub(super) unsafe fn by_both(
        &mut self,
        queue: &Queue,
        (alpha, beta): (V::Accum, V::Accum),
        product: &mut Operands<'_, V, O>,
        cut: Cut,
        wait: &[Event],
    ) -> Result<Shared> {
        let (start, copied_before) = (Instant::now(), copied_bytes());
        for event in wait {
            event.wait()?;
        }
        // What x and y wait for in this queue, the partner's part waits for too.
        queue.finish_blocking()?;
        let traits = queue.context().device().traits();
        let has_shared = traits.host_access().is_shared();
        let zero = V::Accum::from_f64(0.0);
        let its_rows = cut.first_row..product.a.rows();
        let tiles = cut.tiles(self.spmv.tile());
        let y = &mut *product.y;
        let mut target = match (&self.worker, has_shared) {
            // What is no memory of the host's is written once, as a whole; a device has its rows of y itself.
            (_, false) | (Worker::Device(_), _) if !is_fine_grained(y) => Target::Aside,
            _ => {
                let align = (traits.base_align_bytes as usize).max(size_of::<V::Accum>());
                Target::of(y, its_rows.start, tiles > 0, align)?
            }
        };
        if matches!(target, Target::Aside) {
            self.results.resize(its_rows.len(), zero);
            if beta != zero {
                y.slice(its_rows.clone())?.read_into_blocking(queue, &mut self.results)?;
            }
        }
        let operands = spmv::Operands {
            y: target.of_first(y),
            ..operands_of(product.a, product.x, y, alpha, beta)
        };
        let mut first = None;
        if tiles > 0 {
            // SAFETY: the caller's promise, and the tiles are the matrix's.
            first = unsafe {
                let after = After::Events(&[]);
                self.spmv.launch_tiles(queue, &mut self.workspace, &operands, 0..tiles, after)?
            };
        }
        queue.flush()?;

        let begin = Instant::now();
        // SAFETY: nothing writes the matrix, as the caller has promised.
        let a = unsafe { self.seen.csr() };
        // SAFETY: the first device reads x, and others leave it alone, as the caller has promised.
        let x = unsafe { product.x.view_blocking(&self.side)? };
        let (its_first_row, is_aside) = match &target {
            Target::Part { first_row, .. } => (*first_row, false),
            Target::Direct(_) => (its_rows.start, false),
            Target::Aside => (its_rows.start, true),
        };
        let chunk = Chunk {
            nonzero: cut.nonzero,
            cut_row: cut.row,
            first_row: its_first_row,
            alpha,
            beta,
            x: &x,
            y: &mut self.results[..],
        };
        let part = match &mut target {
            Target::Direct(its) | Target::Part { its, .. } => {
                // SAFETY: the first device has no part in these rows.
                let mut view = unsafe { its.view_mut_blocking(&self.side)? };
                let chunk = Chunk { y: &mut view[..], ..chunk };
                let part = self.worker.compute_blocking(a, chunk)?;
                view.unmap_blocking()?;
                part
            }
            Target::Aside => self.worker.compute_blocking(a, chunk)?,
        };
        let mut partner = begin.elapsed();
        if let Some(event) = first {
            event.wait()?;
        }
        let begin = Instant::now();
        if is_aside {
            y.slice(its_rows.clone())?.write_blocking(queue, &self.results)?;
        }
        let sum = match cut.row {
            Some(_) => {
                // SAFETY: the first device has ended.
                let found =
                    unsafe { self.spmv.boundaries_blocking::<V::Accum>(queue, &self.workspace)? };
                Some(found.tail + part)
            }
            None => None,
        };
        // Rows of neither so far: the one that is cut, and those between where no sub-buffer may begin.
        let rows = cut.row.unwrap_or(its_rows.start)..its_first_row;
        let rest = Rest { a, x: &x, alpha, beta, sum, rows };
        // SAFETY: the first device has ended, and others leave y alone, as the caller has promised.
        unsafe { rest.finish_blocking(queue, has_shared, y)? };
        let x_bytes = if x.is_in_place() { size_of_val(&x[..]) } else { 0 };
        x.unmap_blocking()?;
        partner += begin.elapsed();
        let total = start.elapsed();
        let is_in_place = has_shared && !is_aside;
        let its_bytes = if is_in_place { its_rows.len() * size_of::<V::Accum>() } else { 0 };
        let timing = Timing { total: total.as_secs_f64(), partner: partner.as_secs_f64() };
        self.learner.learn(timing);
        Ok(Shared {
            share: cut.share(),
            total,
            partner,
            shared_bytes: x_bytes + its_bytes,
            copied_bytes: copied_bytes().wrapping_sub(copied_before) as usize,
        })
    }
}

/// The rows of y that are computed when both sides have ended.
struct Rest<'r, V: Value, O> {
    a: CsrView<'r, V, O>,
    x: &'r [V::Accum],
    alpha: V::Accum,
    beta: V::Accum,
    /// A x of the row that is cut, which is the first of them.
    sum: Option<V::Accum>,
    rows: Range<usize>,
}

impl<V: Value, O: Offset> Rest<'_, V, O> {
    /// Computes them, in y itself if the memory is the host's too.
    ///
    /// # Safety
    /// Nothing else touches y.
    #[expect(unsafe_code, reason = "commands in flight are not seen from here")]
    unsafe fn finish_blocking(
        &self,
        queue: &Queue,
        is_shared: bool,
        y: &DeviceArray<V::Accum>,
    ) -> Result<()> {
        if self.rows.is_empty() {
            return Ok(());
        }
        let mut rows = y.slice(self.rows.clone())?;
        let zero = V::Accum::from_f64(0.0);
        if is_shared {
            // SAFETY: the caller's promise.
            let mut view = unsafe { rows.view_mut_blocking(queue)? };
            self.compute(&mut view)?;
            view.unmap_blocking()?;
            return Ok(());
        }
        let mut results = vec![zero; rows.len()];
        if self.beta != zero {
            rows.read_into_blocking(queue, &mut results)?;
        }
        self.compute(&mut results)?;
        Ok(rows.write_blocking(queue, &results)?)
    }

    fn compute(&self, y: &mut [V::Accum]) -> Result<()> {
        let (cut, others) = y.split_at_mut(usize::from(self.sum.is_some()));
        let first_row = self.rows.start + cut.len();
        let is_zero = self.beta == V::Accum::from_f64(0.0);
        for (y, sum) in cut.iter_mut().zip(self.sum) {
            *y = if is_zero { self.alpha * sum } else { self.alpha * sum + self.beta * *y };
        }
        Ok(product_of_rows(self.alpha, self.a, self.x, self.beta, first_row, others)?)
    }
}

/// A product's operands for a launch.
pub(super) fn operands_of<'o, V: Value, O: Offset>(
    a: &'o crate::Matrix<V, O>,
    x: &'o DeviceArray<V::Accum>,
    y: &'o DeviceArray<V::Accum>,
    alpha: V::Accum,
    beta: V::Accum,
) -> spmv::Operands<'o> {
    spmv::Operands {
        rows: a.rows(),
        cols: a.cols(),
        offsets: a.offsets().argument(),
        columns: a.columns().argument(),
        values: a.values().argument(),
        x: x.argument(),
        y: y.argument(),
        alpha: Scalar::from(alpha.number()),
        beta: Scalar::from(beta.number()),
    }
}

fn is_fine_grained<T>(array: &DeviceArray<T>) -> bool {
    matches!(array.memory().0, Memory::Svm(allocation) if allocation.is_fine_grained())
}
