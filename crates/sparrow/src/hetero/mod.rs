//! One product by two kinds of cores at once: the step that Liu and Vinter (2015, section 6) leave open.
//!
//! The nonzeros are cut at the border of a tile of `segmented_sum`. The first device takes those before the
//! cut, its partner (host threads or a second OpenCL device) those behind it, both at once. No plan depends
//! on where the cut is, so it may lie elsewhere in each product. The row that the cut goes through is put
//! together at the end.
//!
//! x and y are arrays of the first device. Where they are fine-grained shared virtual memory, the partner
//! reads and writes them where they lie, while the first device computes; memory that can only be mapped is
//! read in place if host and device share it, and results reach y by a copy. What was copied is counted.

mod cut;
mod partner;
mod share;

use std::time::{Duration, Instant};

use cl_kernels::{Accumulate, Array, Experiment, Scalar, Variant};
use cl_runtime::raw::Memory;
use cl_runtime::spmv::{Operands, SegmentedSum, Specialisation, Spmv, Workspace};
use cl_runtime::{After, Event, Queue, check_apart};
use csr_core::{Accumulator as _, CsrView, Offset, Value, counted};

use crate::plan::{check_context, check_device, check_length, fitting, segmented_sum};
use crate::{Coefficient, Error, Matrix, PlanOptions, Product, Result};

use cut::{Cut, least_common_multiple};
use partner::{OnDevice, Piece, Worker};
use share::{Learner, Timing};
pub use share::{PRODUCTS as LEARNING_PRODUCTS, Share};

/// Who computes beside the first device.
#[derive(Clone, Copy, Debug)]
pub enum Partner<'q> {
    /// The threads of this process.
    Host,
    /// A second device, through this queue; it gets copies of its own.
    Device(&'q Queue),
}

/// What one product did.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Shared {
    /// The partner's part of the nonzeros.
    pub share: f64,
    /// Wall time of the product.
    pub total: Duration,
    /// Wall time of the partner's part, with its transfers.
    pub partner: Duration,
    /// Bytes of x and y that the partner reached where they lie.
    pub shared_bytes: usize,
    /// Bytes of x and y that were copied.
    pub copied_bytes: usize,
}

/// A matrix on two devices, with what each needs for its part of a product.
#[derive(Debug)]
pub struct HeteroPlan<'a, V: Value, O = u32> {
    a: CsrView<'a, V, O>,
    /// Computes pieces of the matrix.
    spmv: SegmentedSum,
    workspace: Workspace,
    /// Computes all of it, in one launch.
    alone: SegmentedSum,
    alone_workspace: Workspace,
    /// For what is read while the first device computes.
    side: Queue,
    worker: Worker<'a, V, O>,
    learner: Learner,
    is_fixed: bool,
    values_id: u64,
    pattern_id: u64,
    /// Nonzeros between two places where the matrix can be cut.
    quantum: usize,
    results: Vec<V::Accum>,
}

/// What a plan is made of on its devices.
struct Built<'a, V: Value, O> {
    spmv: SegmentedSum,
    workspace: Workspace,
    alone: SegmentedSum,
    alone_workspace: Workspace,
    worker: Worker<'a, V, O>,
    quantum: usize,
}

impl<'a, V: Value, O: Offset> HeteroPlan<'a, V, O> {
    /// For a matrix on the queue's device, whose arrays the host has as `a` too. Of `options`, the parameters
    /// and tables count.
    ///
    /// # Errors
    /// A view of another shape, compensated sums, a fixed share outside 0 to 1, or the driver's own failure.
    pub fn new_blocking(
        queue: &Queue,
        matrix: &Matrix<V, O>,
        a: CsrView<'a, V, O>,
        partner: Partner<'_>,
        share: Share,
        options: &PlanOptions,
    ) -> Result<Self> {
        check_context(queue, matrix.context(), "matrix")?;
        for (noun, host, device) in [
            ("row", a.rows(), matrix.rows()),
            ("column", a.cols(), matrix.cols()),
            ("nonzero", a.nnz(), matrix.nnz()),
        ] {
            if host != device {
                let host = counted(host, noun);
                let text = format!("the host's matrix has {host}, and the device's has {device}");
                return Err(Error::Mismatch(text));
            }
        }
        if options.accumulate != Accumulate::Plain || options.scalars_on_device {
            let text = "two devices make plain sums, with alpha and beta by value";
            return Err(Error::Mismatch(text.to_owned()));
        }
        if let Share::Fixed(share) = share
            && !(0.0..=1.0).contains(&share)
        {
            let text = format!("a share of {share} for the partner: it must be 0 to 1");
            return Err(Error::Mismatch(text));
        }
        let specialisation = Specialisation {
            value_type: V::TYPE,
            offset_type: O::TYPE,
            accumulate: Accumulate::Plain,
            scalars_on_device: false,
            experiment: Experiment::Off,
        };
        let built = fitting(queue, |queue| {
            Self::build(queue, matrix, a, partner, specialisation, options)
        })?;
        let Built { spmv, workspace, alone, alone_workspace, worker, quantum } = built;
        Ok(HeteroPlan {
            a,
            workspace,
            spmv,
            alone_workspace,
            alone,
            side: Queue::new(queue.context())?,
            worker,
            learner: Learner::new(share),
            is_fixed: matches!(share, Share::Fixed(_)),
            values_id: matrix.values_id(),
            pattern_id: matrix.pattern_id(),
            quantum,
            results: Vec::new(),
        })
    }

    /// What computes on both sides.
    fn build(
        queue: &Queue,
        matrix: &Matrix<V, O>,
        a: CsrView<'a, V, O>,
        partner: Partner<'_>,
        specialisation: Specialisation,
        options: &PlanOptions,
    ) -> Result<Built<'a, V, O>> {
        let in_variant = |variant| PlanOptions { variant, ..options.clone() };
        let whole = in_variant(Variant::Fused);
        let alone = segmented_sum(queue, matrix, specialisation, &whole)?;
        // Pieces are launched in two stages.
        let options = &in_variant(Variant::Device);
        let spmv = segmented_sum(queue, matrix, specialisation, options)?;
        let (worker, quantum) = match partner {
            Partner::Host => (Worker::Host(a), spmv.tile()),
            Partner::Device(its_queue) => {
                let device = OnDevice::new_blocking(its_queue, a, options)?;
                let quantum = least_common_multiple(spmv.tile(), device.tile());
                (Worker::Device(Box::new(device)), quantum)
            }
        };
        let workspace = spmv.workspace_blocking(queue)?;
        let alone_workspace = alone.workspace_blocking(queue)?;
        Ok(Built { spmv, workspace, alone, alone_workspace, worker, quantum })
    }

    /// The partner's share of the next product.
    pub fn share(&self) -> f64 {
        self.learner.share()
    }

    /// Whether the share changes no more.
    pub fn is_settled(&self) -> bool {
        self.learner.is_settled()
    }

    /// Whether the same product always gives the same bits: only with a fixed share.
    pub fn is_repeatable(&self) -> bool {
        self.is_fixed
    }

    /// The partner's name.
    pub fn partner_name(&self) -> String {
        self.worker.name()
    }

    /// Bytes of the workspaces on the first device.
    pub fn workspace_bytes(&self) -> usize {
        self.spmv.workspace_bytes() + self.alone.workspace_bytes()
    }

    /// Computes y = alpha A x + beta y after the events in `wait`, and returns when y is there.
    ///
    /// # Safety
    /// The host reaches x and y where they lie: no other command writes x or touches y between the events in `wait` and
    /// the return of this function, in whatever queue. What is in `queue` already is waited for.
    ///
    /// # Errors
    /// Operands of another pattern, length or context; y that overlaps x or the matrix's arrays; values that are not those the plan was made with;
    /// coefficients on the device; or a driver's own failure, and then y is not what it was.
    #[expect(unsafe_code, reason = "commands in flight are not seen from here")]
    pub unsafe fn product_blocking(
        &mut self,
        queue: &Queue,
        product: Product<'_, V, O>,
        wait: &[Event],
    ) -> Result<Shared> {
        let Product { alpha, a, x, beta, y } = product;
        let (Coefficient::Value(alpha), Coefficient::Value(beta)) = (alpha, beta) else {
            let text = "two devices take alpha and beta by value";
            return Err(Error::Mismatch(text.to_owned()));
        };
        if a.pattern_id() != self.pattern_id || a.values_id() != self.values_id {
            let text =
                "the matrix is not the one the plan was made with, or its values have changed";
            return Err(Error::Mismatch(text.to_owned()));
        }
        check_context(queue, a.context(), "matrix")?;
        check_device(queue, self.side.context(), "plan")?;
        check_length("x", x.len(), "column", a.cols())?;
        check_length("y", y.len(), "row", a.rows())?;
        queue.context().check_array("x", x)?;
        queue.context().check_array("y", y)?;
        check_apart(("y", y), [("x", &**x)])?;
        check_apart(("y", y), a.named_arrays())?;
        let cut = Cut::new(self.a, self.quantum, self.learner.share());
        let start = Instant::now();
        let operands = Operands {
            rows: a.rows(),
            cols: a.cols(),
            offsets: a.offsets().argument(),
            columns: a.columns().argument(),
            values: a.values().argument(),
            x: x.argument(),
            y: y.argument(),
            alpha: Scalar::from(alpha.number()),
            beta: Scalar::from(beta.number()),
        };
        if !cut.is_shared() {
            // SAFETY: the matrix shares the plan's pattern, x and y are as long as it demands and apart, and all of
            // it lives in the queue's context.
            let event = unsafe {
                let after = After::Events(wait);
                self.alone.launch(queue, &mut self.alone_workspace, &operands, after)?
            };
            event.iter().try_for_each(Event::wait)?;
            let total = start.elapsed();
            self.learner.learn(Timing { total: total.as_secs_f64(), partner: 0.0 });
            return Ok(Shared { total, ..Shared::default() });
        }
        for event in wait {
            event.wait()?;
        }
        // What x and y wait for in this queue, the partner's part waits for too.
        queue.finish_blocking()?;
        let mut done = Shared { share: cut.share(), ..Shared::default() };
        let zero = V::Accum::from_f64(0.0);
        let y_of_cut_row = match cut.row {
            Some(row) if beta != zero => y.slice(row..row + 1)?.read_blocking(queue)?[0],
            _ => zero,
        };
        let its_rows = cut.first_row..a.rows();
        let is_direct = is_fine_grained(&operands.y);
        if !is_direct {
            self.results.resize(its_rows.len(), zero);
            if beta != zero {
                y.slice(its_rows.clone())?.read_into_blocking(queue, &mut self.results)?;
                done.copied_bytes += size_of_val(&self.results[..]);
            }
        }
        let tiles = cut.tiles(self.spmv.tile());
        let mut first = None;
        if tiles > 0 {
            // SAFETY: as above, and the tiles are the matrix's.
            let launched = unsafe {
                let after = After::Events(&[]);
                self.spmv.launch_tiles(queue, &mut self.workspace, &operands, 0..tiles, after)?
            };
            first = launched;
        }
        queue.flush()?;

        let (part, is_x_copied);
        let begin = Instant::now();
        // SAFETY: the first device reads x, and writes rows of y before `first_row`; x was complete when the
        // queue had finished, and others leave both alone, as the caller has promised.
        unsafe {
            let x_there = x.view_blocking(&self.side)?;
            let mut its_y = y.slice(its_rows.clone())?;
            let mut view;
            let results = if is_direct {
                view = its_y.view_mut_blocking(&self.side)?;
                &mut view[..]
            } else {
                &mut self.results[..]
            };
            let piece = Piece {
                nonzero: cut.nonzero,
                cut_row: cut.row,
                first_row: cut.first_row,
                alpha,
                beta,
                x: &x_there,
                y: results,
            };
            part = self.worker.compute_blocking(piece)?;
            is_x_copied = x_there.is_copy();
            x_there.unmap_blocking()?;
        }
        done.partner = begin.elapsed();
        let its_y_bytes = its_rows.len() * size_of::<V::Accum>();
        let has_shared = queue.context().device().traits().host_access().is_shared();
        let is_shared = has_shared && !is_x_copied;
        for (bytes, in_place) in [(x.size_bytes(), is_shared), (its_y_bytes, is_direct)] {
            *if in_place { &mut done.shared_bytes } else { &mut done.copied_bytes } += bytes;
        }
        done.copied_bytes += self.worker.copied_bytes(x.size_bytes(), its_y_bytes, beta != zero);
        if let Some(event) = first {
            event.wait()?;
        }
        let begin = Instant::now();
        if !is_direct {
            y.slice(its_rows)?.write_blocking(queue, &self.results)?;
        }
        if let Some(row) = cut.row {
            let borders = self.spmv.boundaries_blocking::<V::Accum>(queue, &self.workspace)?;
            let sum = borders.tail + part;
            let result = if beta == zero { alpha * sum } else { alpha * sum + beta * y_of_cut_row };
            y.slice(row..row + 1)?.write_blocking(queue, &[result])?;
        }
        done.partner += begin.elapsed();
        done.total = start.elapsed();
        let seconds = |time: Duration| time.as_secs_f64();
        self.learner.learn(Timing { total: seconds(done.total), partner: seconds(done.partner) });
        Ok(done)
    }
}

fn is_fine_grained(array: &Array<&Memory>) -> bool {
    matches!(array.memory, Memory::Svm(allocation) if allocation.is_fine_grained())
}
