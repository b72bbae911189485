//! Binds and launches `segmented_sum`: stage 1 on the device, stage 2 there too or on the CPU.

mod parts;
mod stage2;

use std::ops::Range;
use std::sync::Arc;
use std::time::Instant;

use cl_kernels::segmented_sum::{
    self, Arguments, FEATURE_FUSED, Stage2Arguments, WorkspaceLayout, fused_words,
};
use cl_kernels::{Algorithm, Checked, KernelKey, Variant};

use super::{
    BindRequest, Bound, Operands, Specialisation, Spmv, Stages, Workspace, accumulator_words,
};
use crate::launch::{After, Size};
use crate::on_host::OnHost;
use crate::raw::{Memory, copied_bytes};
use crate::workspace::OwnerId;
use crate::{Context, DeviceArray, Error, Event, Program, Queue, Result};

pub use parts::Boundaries;
use stage2::Stage2;

/// Groups of a compute unit that keep it busy.
const BUSY_GROUPS: usize = 4;

/// Items that a compute unit holds at once, as registers allow; fewer of sums of more than one word.
const RESIDENT_ITEMS: usize = 896;
const RESIDENT_ITEMS_OF_WIDE_SUMS: usize = 640;

/// Rows in which an item looks for empty ones, at most, where that is not left to stage 2.
const ROWS_PER_ITEM: usize = 32;

/// `segmented_sum`, ready to launch; it has no plan.
#[derive(Debug)]
pub struct SegmentedSum {
    owner: OwnerId,
    program: Arc<Program>,
    parameters: Checked<segmented_sum::SegmentedSum>,
    variant: Variant,
    rows: usize,
    nnz: usize,
    tiles: u32,
    tiles_per_bunch: u32,
    layout: WorkspaceLayout,
    stage2_groups: usize,
}

/// `segmented_sum` as a plan asks for it.
pub(super) fn bind(request: &BindRequest<'_>) -> Result<Bound> {
    let spmv = SegmentedSum::bind(request)?;
    // What is said is what runs: a bunch may take fewer tiles than it might.
    let tiles_per_bunch = spmv.tiles_per_bunch;
    let parameters = segmented_sum::SegmentedSum { tiles_per_bunch, ..*spmv.parameters };
    Ok(Bound::new(spmv, parameters))
}

impl SegmentedSum {
    /// As [`bind`](super::bind) makes it, for a caller that launches parts of a product.
    ///
    /// # Errors
    /// As [`SegmentedSum::new`], and parameters that break a rule.
    pub fn bind(request: &BindRequest<'_>) -> Result<Self> {
        let BindRequest { matrix, specialisation, variant, .. } = *request;
        let parameters = request.parameters()?;
        let (rows, nnz) = (matrix.rows(), matrix.nnz());
        Self::new(request.context(), specialisation, parameters, variant, rows, nnz)
    }

    /// Builds the program, for a matrix of `rows` rows and `nnz` nonzeros.
    ///
    /// # Errors
    /// A device without the value type, a kernel that does not build.
    pub fn new(
        context: &Context,
        specialisation: Specialisation,
        parameters: Checked<segmented_sum::SegmentedSum>,
        variant: Variant,
        rows: usize,
        nnz: usize,
    ) -> Result<Self> {
        context.check_value_type(specialisation.value_type)?;
        let traits = context.device().traits();
        let variant = variant.or_default(Algorithm::SegmentedSum);
        let mut key = specialisation.key(segmented_sum::SOURCE, &*parameters);
        if variant == Variant::Fused {
            key = key.with_feature(FEATURE_FUSED);
        }
        let program = context.program(&key)?;
        // One at least, which finds the rows of a matrix without nonzeros.
        let tiles = nnz.div_ceil(parameters.tile()).max(1);
        let compute_units = traits.compute_units.max(1) as usize;
        // The device should be full, but no group wait until others have ended: such groups make a second wave,
        // however few they are.
        let one_word = accumulator_words(program.key()) == 1;
        let resident = if one_word { RESIDENT_ITEMS } else { RESIDENT_ITEMS_OF_WIDE_SUMS };
        let resident_bunches = resident * compute_units / parameters.bunch_size as usize;
        let tiles_per_bunch =
            tiles.div_ceil(resident_bunches).clamp(1, parameters.tiles_per_bunch as usize);
        // A range a dirty tile, those that long ones are cut into, and the rows before the first nonzero.
        let capacity = tiles + 1 + rows.div_ceil(parameters.chunk_rows());
        if u32::try_from(capacity).is_err() {
            return Err(Error::Range {
                what: "the tiles of segmented_sum".to_owned(),
                value: tiles as u64,
                rule: format!("there are {} at most, and larger tiles make fewer", u32::MAX),
            });
        }
        let bunches = tiles.div_ceil(tiles_per_bunch);
        let layout =
            WorkspaceLayout { bunches, capacity, sum_words: accumulator_words(program.key()) };
        // Enough for a bunch an item; and for dirty tiles, whose number is not known before, as
        // many as keep the device busy.
        let for_bunches = (bunches + 1).div_ceil(parameters.group_size());
        Ok(SegmentedSum {
            owner: OwnerId::new(),
            program,
            parameters,
            variant,
            rows,
            nnz,
            tiles: tiles as u32,
            tiles_per_bunch: tiles_per_bunch as u32,
            layout,
            stage2_groups: for_bunches.max((BUSY_GROUPS * compute_units).min(tiles / 8)),
        })
    }

    /// Groups of stage 1 for these tiles.
    fn groups(&self, tiles: &Range<u32>) -> usize {
        let of_a_group = self.tiles_per_bunch * self.parameters.bunches_per_group;
        let for_tiles = (tiles.end - tiles.start).div_ceil(of_a_group) as usize;
        match self.variant {
            Variant::Fused => {
                for_tiles.max(self.rows.div_ceil(ROWS_PER_ITEM * self.parameters.group_size()))
            }
            _ => for_tiles,
        }
    }

    /// Words of the workspace.
    fn scratch_words(&self) -> usize {
        match self.variant {
            Variant::Fused => fused_words(self.groups(&(0..self.tiles)), self.layout.sum_words),
            _ => self.layout.words(),
        }
    }

    /// Stage 1, or with [`Variant::Fused`] everything.
    fn stage1<'a>(
        &self,
        scratch: &'a DeviceArray<u32>,
        operands: &Operands<'a>,
        tiles: &Range<u32>,
    ) -> (Arguments<&'a Memory>, Size) {
        let arguments = Arguments {
            rows: operands.rows as u32,
            nnz: self.nnz as u64,
            first_tile: tiles.start,
            tiles: tiles.end - tiles.start,
            offsets: operands.offsets,
            columns: operands.columns,
            values: operands.values,
            x: operands.x,
            y: operands.y,
            alpha: operands.alpha,
            beta: operands.beta,
            tiles_per_bunch: self.tiles_per_bunch,
            bunch_capacity: self.layout.bunches as u32,
            capacity: self.layout.capacity as u32,
            zero: 0,
            scratch: scratch.argument(),
        };
        let size = Size { groups: self.groups(tiles), group_size: self.parameters.group_size() };
        (arguments, size)
    }

    /// Stage 2 on the device.
    fn stage2<'a>(
        &self,
        scratch: &'a DeviceArray<u32>,
        operands: &Operands<'a>,
        tiles: &Range<u32>,
    ) -> (Stage2Arguments<&'a Memory>, Size) {
        let arguments = Stage2Arguments {
            tiles: tiles.end - tiles.start,
            tiles_per_bunch: self.tiles_per_bunch,
            offsets: operands.offsets,
            columns: operands.columns,
            values: operands.values,
            x: operands.x,
            y: operands.y,
            alpha: operands.alpha,
            beta: operands.beta,
            bunch_capacity: self.layout.bunches as u32,
            capacity: self.layout.capacity as u32,
            zero: 0,
            scratch: scratch.argument(),
        };
        let size = Size { groups: self.stage2_groups, group_size: self.parameters.group_size() };
        (arguments, size)
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
        self.scratch_words() * 4
    }

    fn is_repeatable(&self) -> bool {
        true
    }

    fn workspace_blocking(&self, queue: &Queue) -> Result<Workspace> {
        let names: &[&str] = match self.variant {
            Variant::Fused => &["segmented_sum"],
            _ => &["segmented_sum", "segmented_sum_stage2"],
        };
        let kernels = names.iter().map(|name| self.program.kernel(name)).collect::<Result<_>>()?;
        let new_blocking = match self.variant {
            Variant::Cpu => Workspace::new_shared_blocking,
            _ => Workspace::new_blocking,
        };
        new_blocking(queue, self.owner, kernels, self.scratch_words())
    }

    unsafe fn launch(
        &self,
        queue: &Queue,
        workspace: &mut Workspace,
        operands: &Operands<'_>,
        after: After<'_>,
    ) -> Result<Option<Event>> {
        if self.variant.blocks() {
            let (what, with) = ("a launch that does not block", "stage 2 on the CPU");
            let rule =
                "launch_in_place_blocking (in C, sparrow_plan_launch_blocking) makes such products";
            return Err(Error::combination(what, with, rule));
        }
        let tiles = 0..self.tiles;
        if self.variant == Variant::Fused {
            return workspace.run(self.owner, queue, after, |mut parts| {
                let (arguments, size) = self.stage1(parts.scratch, operands, &tiles);
                // SAFETY: the caller's promise about the operands; the workspace is as large as they demand.
                unsafe { parts.launch(0, &arguments, size) }
            });
        }
        // SAFETY: the caller's promise.
        unsafe { self.launch_tiles(queue, workspace, operands, tiles, after) }
    }

    unsafe fn launch_blocking(
        &self,
        queue: &Queue,
        workspace: &mut Workspace,
        operands: &Operands<'_>,
        wait: &[Event],
    ) -> Result<Stages> {
        let tiles = 0..self.tiles;
        let start = Instant::now();
        let stage1 = workspace.run(self.owner, queue, After::Events(wait), |mut parts| {
            let (arguments, size) = self.stage1(parts.scratch, operands, &tiles);
            // SAFETY: the caller's promise about the operands; the workspace is as large as they demand.
            unsafe { parts.launch(0, &arguments, size) }
        })?;
        stage1.iter().try_for_each(Event::wait)?;
        let stage1 = start.elapsed();
        if self.variant == Variant::Fused {
            return Ok(Stages { stage1, ..Stages::default() });
        }
        let (start, copied_before) = (Instant::now(), copied_bytes());
        // SAFETY: the caller's promise, and stage 1 has ended.
        let finished = unsafe { self.finish_blocking(queue, workspace, operands) };
        if finished.is_err() {
            workspace.set_dirty();
        }
        let found = finished?;
        let stage2 = start.elapsed();
        let copied_bytes = copied_bytes().wrapping_sub(copied_before) as usize;
        Ok(Stages { stage1, stage2, tiles: self.tiles as usize, copied_bytes, ..found })
    }
}

impl SegmentedSum {
    /// Stage 2 on either side.
    ///
    /// # Safety
    /// As [`Spmv::launch_blocking`], after stage 1 of the same operands has ended.
    #[expect(unsafe_code, reason = "operands are trusted")]
    unsafe fn finish_blocking(
        &self,
        queue: &Queue,
        workspace: &mut Workspace,
        operands: &Operands<'_>,
    ) -> Result<Stages> {
        if self.variant == Variant::Cpu {
            let (key, layout, nnz) = (self.program.key(), self.layout, self.nnz);
            let scratch = workspace.scratch();
            let stage2 = Stage2 { queue, key, layout, nnz, scratch, operands };
            // SAFETY: the caller's promise; the workspace is used by this launch alone.
            return unsafe { stage2.finish_blocking() };
        }
        let counters = self.layout.counters();
        let counters = workspace.scratch().slice(counters..counters + 3)?;
        // SAFETY: stage 1 has ended, and the workspace is used by this launch alone.
        let counters = unsafe { OnHost::read_blocking(queue, &counters)? };
        let dirty_tiles = (counters[0] + counters[2]) as usize;
        counters.release_blocking()?;
        let stage2 = workspace.run(self.owner, queue, After::Events(&[]), |mut parts| {
            let (arguments, size) = self.stage2(parts.scratch, operands, &(0..self.tiles));
            // SAFETY: the caller's promise.
            unsafe { parts.launch(1, &arguments, size) }
        })?;
        stage2.iter().try_for_each(Event::wait)?;
        Ok(Stages { dirty_tiles, ..Stages::default() })
    }
}
