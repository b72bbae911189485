//! Binds and launches `segmented_sum`: stage 1 on the device, stage 2 there too or on the CPU.

mod scratch;

use std::sync::Arc;

use cl_kernels::segmented_sum::{self, Arguments, Stage2Arguments};
use cl_kernels::{Algorithm, KernelKey};

use super::workspace::{OwnerId, Parts};
use super::{Operands, Specialisation, Spmv, Variant, Workspace, check_value_type};
use crate::launch::{Size, launch};
use crate::{Context, Event, Program, Queue, Result};

use scratch::{Scratch, Sizes};

/// `segmented_sum`, ready to launch; it has no plan.
#[derive(Debug)]
pub struct SegmentedSum {
    owner: OwnerId,
    program: Arc<Program>,
    parameters: segmented_sum::SegmentedSum,
    variant: Variant,
    nnz: usize,
    sizes: Sizes,
    stage2_groups: usize,
}

impl SegmentedSum {
    /// Builds the program, for a matrix of `rows` rows and `nnz` nonzeros.
    ///
    /// # Errors
    /// Parameters that break a rule, a device without the value type, a kernel that does not build.
    pub fn new(
        context: &Context,
        specialisation: Specialisation,
        parameters: segmented_sum::SegmentedSum,
        variant: Variant,
        rows: usize,
        nnz: usize,
    ) -> Result<Self> {
        check_value_type(context, specialisation.value_type)?;
        let traits = context.device().traits();
        parameters.check(traits, specialisation.value_type, specialisation.accumulate)?;
        let program = context.program(&specialisation.key(segmented_sum::SOURCE, &parameters))?;
        let sizes = Sizes::new(rows, nnz, &parameters, program.key())?;
        // Enough for a bunch an item; and for dirty tiles, of which nobody knows how many there will be, as
        // many as keep the device busy.
        let for_bunches = (sizes.bunches as usize + 1).div_ceil(parameters.group_size());
        let busy = 8 * traits.compute_units.max(1) as usize;
        Ok(SegmentedSum {
            owner: OwnerId::new(),
            program,
            parameters,
            variant: variant.or_usual(Algorithm::SegmentedSum),
            nnz,
            sizes,
            stage2_groups: for_bunches.max(busy.min(sizes.tiles as usize / 8)),
        })
    }

    /// # Safety
    /// As [`Spmv::launch`].
    #[expect(unsafe_code, reason = "operands are trusted")]
    unsafe fn stage1(
        &self,
        queue: &Queue,
        parts: &mut Parts<'_>,
        operands: &Operands<'_>,
    ) -> Result<Event> {
        let scratch = Scratch::new(parts.scratch, self.sizes);
        let arguments = Arguments {
            rows: operands.rows as u32,
            nnz: self.nnz as u64,
            first_tile: 0,
            tiles: self.sizes.tiles,
            offsets: operands.offsets,
            columns: operands.columns,
            values: operands.values,
            x: operands.x,
            y: operands.y,
            alpha: operands.alpha,
            beta: operands.beta,
            capacity: self.sizes.capacity,
            heads: scratch.heads(),
            tails: scratch.tails(),
            speculator: scratch.speculator(),
            head_rows: scratch.head_rows(),
            counters: scratch.counters(),
        };
        let size = Size {
            groups: self.sizes.bunches.div_ceil(self.parameters.bunches_per_group) as usize,
            group_size: self.parameters.group_size(),
        };
        // SAFETY: the caller's promise about the operands; the workspace is as large as `sizes`, which
        // hold for the pattern.
        unsafe { launch(queue, &mut parts.kernels[0], &arguments, size, &parts.wait) }
    }

    /// # Safety
    /// As [`Spmv::launch`], after stage 1 of the same operands.
    #[expect(unsafe_code, reason = "operands are trusted")]
    unsafe fn stage2(
        &self,
        queue: &Queue,
        parts: &mut Parts<'_>,
        operands: &Operands<'_>,
        wait: &[Event],
    ) -> Result<Event> {
        let scratch = Scratch::new(parts.scratch, self.sizes);
        let arguments = Stage2Arguments {
            bunches: self.sizes.bunches,
            offsets: operands.offsets,
            columns: operands.columns,
            values: operands.values,
            x: operands.x,
            y: operands.y,
            alpha: operands.alpha,
            beta: operands.beta,
            capacity: self.sizes.capacity,
            zero: 0,
            heads: scratch.heads(),
            tails: scratch.tails(),
            borders: scratch.borders(),
            speculator: scratch.speculator(),
            head_rows: scratch.head_rows(),
            counters: scratch.counters(),
        };
        let size =
            Size { groups: self.stage2_groups, group_size: self.parameters.group_size() };
        // SAFETY: as for stage 1.
        unsafe { launch(queue, &mut parts.kernels[1], &arguments, size, wait) }
    }
}

#[expect(unsafe_code, reason = "implements an unsafe method")]
impl Spmv for SegmentedSum {
    fn algorithm(&self) -> Algorithm {
        Algorithm::SegmentedSum
    }

    fn variant(&self) -> &'static str {
        self.variant.name()
    }

    fn key(&self) -> &KernelKey {
        self.program.key()
    }

    fn plan_bytes(&self) -> usize {
        0
    }

    fn workspace_bytes(&self) -> usize {
        self.sizes.words() * 4
    }

    fn is_repeatable(&self) -> bool {
        true
    }

    fn workspace_blocking(&self, queue: &Queue) -> Result<Workspace> {
        let names = ["segmented_sum", "segmented_sum_stage2"];
        let kernels = names.map(|name| self.program.kernel(name)).into_iter().collect::<Result<_>>()?;
        Workspace::new_blocking(queue, self.owner, kernels, self.sizes.words())
    }

    unsafe fn launch(
        &self,
        queue: &Queue,
        workspace: &mut Workspace,
        operands: &Operands<'_>,
        wait: &[Event],
    ) -> Result<Event> {
        workspace.run(self.owner, queue, wait, |mut parts| {
            // SAFETY: the caller's promise.
            let stage1 = unsafe { self.stage1(queue, &mut parts, operands)? };
            // A stage 1 that never ran, since what it waits for ended in error, must take stage 2 with it;
            // otherwise the order of the queue is enough, and costs less than an event.
            let follows = queue.is_in_order() && parts.wait.is_empty();
            let after = if follows { &[][..] } else { std::slice::from_ref(&stage1) };
            // SAFETY: the caller's promise.
            let stage2 = unsafe { self.stage2(queue, &mut parts, operands, after) };
            if stage2.is_err() {
                // Stage 1 has counted what nobody will look at.
                let _ = stage1.wait();
                *parts.is_torn = true;
            }
            stage2
        })
    }
}
