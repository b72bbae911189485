//! One product by two kinds of cores at once: the step that Liu and Vinter (2015, section 6) leave open.
//!
//! The nonzeros are cut at the boundary of a tile of `segmented_sum`. The first device takes those before the
//! cut, its partner (host threads or a second OpenCL device) those after it, both at once. No plan depends
//! on where the cut is, so it may lie elsewhere in each product. The row that the cut goes through is put
//! together at the end.
//!
//! There is one matrix, the first device's. Where host and device share their memory, the partner reads its arrays and x
//! where they lie, and writes its rows of y there while the first device computes: y of fine-grained shared virtual memory
//! at any address, a buffer's through sub-buffers that do not overlap. A device that has memory of its own costs a copy of
//! the matrix for the host ([`HeteroPlan::matrix_copied_bytes`]). What each product copies is counted where it is copied.

mod cut;
mod partner;
mod product;
mod share;
mod target;

use std::time::Duration;

use cl_kernels::{Accumulate, Experiment, Variant};
use cl_runtime::spmv::{SegmentedSum, Specialisation, Spmv, Workspace};
use cl_runtime::{Event, HostMatrix, Queue, check_apart};
use csr_core::{Offset, Value, spelled};

use crate::plan::{check_context, check_device, check_length, fitting, segmented_sum};
use crate::{AnyPlan, Coefficient, Error, Matrix, Operands, PlanOptions, Result, RuntimeError};

/// What refuses some options.
const OF_TWO: &str = "a product of two devices";

use cut::{Cut, least_common_multiple};
use partner::{OnDevice, Worker};
use product::operands_of;
use share::Learner;
pub use share::{PRODUCTS as LEARNING_PRODUCTS, Share};

/// What computes with the first device.
#[derive(Clone, Copy, Debug)]
pub enum Partner<'q> {
    /// The threads of this process.
    Host,
    /// A second device, through this queue. The matrix and x are lent to it where both devices share the host's memory;
    /// else, as its rows of y always, they are copied.
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
    /// Bytes that were copied, counted where they are copied.
    pub copied_bytes: usize,
}

/// A matrix on two devices, with what each needs for its part of a product.
#[derive(Debug)]
pub struct HeteroPlan<'a, V: Value, O = u32> {
    /// Computes what the first device does not. It may read what `seen` shows, and so comes before it.
    worker: Worker<V, O>,
    /// The matrix as the host reads it.
    seen: HostMatrix<'a, V, O>,
    /// Computes parts of the matrix.
    spmv: SegmentedSum,
    workspace: Workspace,
    /// Computes all of it, by the algorithm that is chosen for the matrix on this device.
    alone: AnyPlan,
    alone_workspace: Workspace,
    /// For what is read while the first device computes.
    side: Queue,
    learner: Learner,
    is_fixed: bool,
    values_id: u64,
    pattern_id: u64,
    /// Nonzeros between two boundaries at which the matrix can be cut.
    quantum: usize,
    results: Vec<V::Accum>,
}

/// What a plan is made of on its devices.
struct Built<V: Value, O> {
    spmv: SegmentedSum,
    workspace: Workspace,
    alone: AnyPlan,
    alone_workspace: Workspace,
    worker: Worker<V, O>,
    quantum: usize,
}

impl<'a, V: Value, O: Offset> HeteroPlan<'a, V, O> {
    /// For a matrix on the queue's device: also the partner's, where both share their memory, and copied for it elsewhere.
    /// Where the first device computes alone, it does so as an [`AnyPlan`] by default options would. Of `options`, the
    /// parameters count for the parts, and the tables for all.
    ///
    /// The host may have the matrix mapped while the plan lives: from now on until then, no command may write its arrays, in
    /// whatever queue. The plan borrows the matrix, so that no function that changes a matrix can; arrays that the matrix
    /// was made of are the application's to leave alone. What is mapped is read by [`HeteroPlan::product_blocking`] alone,
    /// whose Safety asks for that again, and here, to check the pattern, which never changes.
    ///
    /// # Errors
    /// A matrix of another context, or whose pattern breaks an invariant; compensated sums, a fixed share outside 0 to 1, or
    /// the driver's own failure.
    pub fn new_blocking(
        queue: &Queue,
        matrix: &'a Matrix<V, O>,
        partner: Partner<'_>,
        share: Share,
        options: &PlanOptions,
    ) -> Result<Self> {
        check_context(queue, matrix.context(), "matrix")?;
        if options.accumulate != Accumulate::Plain {
            let (what, rule) = (format!("{} sums", options.accumulate), "it makes plain sums");
            return Err(RuntimeError::combination(what, OF_TWO, rule).into());
        }
        if options.scalars_on_device {
            return Err(scalars_on_device());
        }
        if let Share::Fixed(share) = share
            && !(0.0..=1.0).contains(&share)
        {
            let (value, rule) = (spelled(share), "0 to 1".to_owned());
            return Err(RuntimeError::Value { name: "the partner's share", value, rule }.into());
        }
        let specialisation = Specialisation {
            value_type: V::TYPE,
            offset_type: O::TYPE,
            accumulate: Accumulate::Plain,
            scalars_on_device: false,
            experiment: Experiment::Off,
        };
        // A queue of its own: what is mapped there stays so while others come and go.
        let side = Queue::new(queue.context())?;
        queue.finish_blocking()?;
        // SAFETY: what was in `queue` has ended; the matrix is borrowed for as long as the view lives, and who made it of
        // arrays of its own leaves those alone, as said above.
        #[expect(unsafe_code, reason = "commands in flight are not seen from here")]
        let seen = unsafe { HostMatrix::view_blocking(&side, matrix)? };
        let built = fitting(queue, |queue| {
            Self::build(queue, matrix, &seen, partner, specialisation, options)
        })?;
        let Built { spmv, workspace, alone, alone_workspace, worker, quantum } = built;
        Ok(HeteroPlan {
            seen,
            workspace,
            spmv,
            alone_workspace,
            alone,
            side,
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
        seen: &HostMatrix<'_, V, O>,
        partner: Partner<'_>,
        specialisation: Specialisation,
        options: &PlanOptions,
    ) -> Result<Built<V, O>> {
        let whole = PlanOptions { tables: options.tables.clone(), ..PlanOptions::default() };
        let alone = AnyPlan::new_blocking(queue, matrix, &whole)?;
        // Chunks are launched in two stages.
        let options = &PlanOptions { variant: Variant::Device, ..options.clone() };
        let spmv = segmented_sum(queue, matrix, specialisation, options)?;
        let (worker, quantum) = match partner {
            Partner::Host => (Worker::Host, spmv.tile()),
            Partner::Device(its_queue) => {
                // SAFETY: the matrix is borrowed for as long as the plan lives, and the worker is dropped before what it
                // sees of it.
                #[expect(unsafe_code, reason = "the compiler does not see how long commands take")]
                let device = unsafe { OnDevice::new_blocking(its_queue, seen.csr(), options)? };
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

    /// Bytes of the workspaces on the first device, and of the plan by which it computes alone.
    pub fn workspace_bytes(&self) -> usize {
        self.spmv.workspace_bytes() + self.alone.plan_bytes() + self.alone.workspace_bytes()
    }

    /// Bytes of the matrix that were copied for the host, which has no share of the first device's memory; 0 where it has,
    /// and reads the arrays where they lie.
    pub fn matrix_copied_bytes(&self) -> usize {
        self.seen.copied_bytes()
    }

    /// Bytes that it takes beyond matrix, x and y, on all sides: workspaces, what was copied, and what products keep.
    pub fn extra_bytes(&self) -> usize {
        let results = self.results.capacity() * size_of::<V::Accum>();
        self.workspace_bytes() + self.matrix_copied_bytes() + self.worker.bytes() + results
    }

    /// Computes y = alpha A x + beta y after the events in `wait`, and returns when y is there.
    ///
    /// # Safety
    /// The host reaches the operands where they lie: no other command writes the matrix or x, or touches y, between the
    /// events in `wait` and the return of this function, in whatever queue; nor has one written the matrix since the plan
    /// was made. What is in `queue` already is waited for.
    ///
    /// # Errors
    /// Operands of another pattern, length or context; y that overlaps x or the matrix's arrays; values that are not those the plan was made with;
    /// coefficients on the device; or a driver's own failure, and then y is not what it was.
    #[expect(unsafe_code, reason = "commands in flight are not seen from here")]
    pub unsafe fn product_blocking(
        &mut self,
        queue: &Queue,
        product: Operands<'_, V, O>,
        wait: &[Event],
    ) -> Result<Shared> {
        let Operands { alpha, a, x, beta, y } = product;
        let (Coefficient::Value(alpha), Coefficient::Value(beta)) = (alpha, beta) else {
            return Err(scalars_on_device());
        };
        if a.pattern_id() != self.pattern_id {
            return Err(RuntimeError::Pattern { what: "the matrix" }.into());
        }
        if a.values_id() != self.values_id {
            let (copy, remedy) = ("the plan", "another plan has to be made");
            return Err(RuntimeError::StaleValues { copy, remedy }.into());
        }
        check_context(queue, a.context(), "matrix")?;
        check_device(queue, self.side.context(), "plan")?;
        check_length("x", x.len(), "column", a.cols())?;
        check_length("y", y.len(), "row", a.rows())?;
        queue.context().check_array("x", x)?;
        queue.context().check_array("y", y)?;
        check_apart(("y", y), [("x", &**x)])?;
        check_apart(("y", y), a.named_arrays())?;
        let mut product = Operands { alpha: alpha.into(), a, x, beta: beta.into(), y };
        // SAFETY: nothing writes the matrix, as the caller has promised; of what else the operands are, this was checked:
        // the matrix shares the plan's pattern, x and y are as long as it demands and apart, and all of it lives in the
        // queue's context.
        unsafe {
            let cut = Cut::new(self.seen.csr(), self.quantum, self.learner.share());
            if cut.is_shared() {
                let shared = self.by_both(queue, (alpha, beta), &mut product, cut, wait);
                if shared.is_err() {
                    // What was enqueued may still read x and write y, which are the caller's again.
                    let _ = queue.finish_blocking();
                    self.worker.settle_blocking();
                }
                return shared;
            }
            let operands = operands_of(a, x, product.y, alpha, beta);
            self.by_the_first(queue, &operands, wait)
        }
    }
}

/// Refuses alpha and beta that the host cannot see.
fn scalars_on_device() -> Error {
    let rule = "it takes both by value";
    RuntimeError::combination("alpha and beta on the device", OF_TWO, rule).into()
}
