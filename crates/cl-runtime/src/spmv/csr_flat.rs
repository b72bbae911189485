//! Binds and launches `csr_flat`: where its tiles begin is found on the device, and nothing is read back.

use std::sync::{Arc, Mutex, PoisonError};

use cl_kernels::csr_flat::{Arguments, CsrFlat as Parameters, SOURCE};
use cl_kernels::csr_flat_plan::{self, CsrFlatPlan};
use cl_kernels::{Accumulate, Algorithm, Checked, DeviceType, KernelArguments, KernelKey};
use csr_core::plan::csr_flat::{TileRules, TileStart};
use csr_core::{AnyOffsets, ValueType, counted, for_offsets};

use super::partial_sums::PartialSums;
use super::{BindRequest, Bound, Operands, Specialisation, Spmv, Workspace, accumulator_words};
use crate::launch::{After, Size, launch_next};
use crate::raw::{Kernel, Memory};
use crate::scratch::small_for_a_kernel_to_write;
use crate::workspace::{Direction, OwnerId};
use crate::{AnyArray, Context, DeviceArray, Event, Program, Queue, Result};

/// `csr_flat`, ready to launch.
#[derive(Debug)]
pub struct CsrFlat {
    owner: OwnerId,
    program: Arc<Program>,
    tiles: DeviceTiles,
    nnz: usize,
    group_size: usize,
}

/// Where the tiles of a pattern begin, in device memory: the first part of the arena of a launch. The arena they were
/// found in is the first workspace's, which so needs no memory and no launch of its own.
#[derive(Debug)]
pub struct DeviceTiles {
    rules: TileRules,
    layout: Layout,
    starts: DeviceArray<TileStart>,
    first_arena: Mutex<Option<DeviceArray<u32>>>,
    /// The in-order queue in which the arena is filled; `None` if that was waited for.
    filled_in: Option<Queue>,
}

/// What lies where in the arena of a launch: starts, then the slots of partial sums of cut rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Layout {
    tiles: usize,
    sum_words: usize,
}

impl Layout {
    fn starts_words(self) -> usize {
        (self.tiles + 1) * (size_of::<TileStart>() / size_of::<u32>())
    }

    fn words(self) -> usize {
        self.starts_words() + PartialSums::of_sums(self.sum_words, self.tiles).words()
    }

    /// An arena with these starts, whose other words are 0.
    fn upload_blocking(self, queue: &Queue, starts: &[TileStart]) -> Result<DeviceArray<u32>> {
        let mut words = vec![0; self.words()];
        words[..self.starts_words()].copy_from_slice(bytemuck::cast_slice(starts));
        DeviceArray::upload_blocking(queue, &words)
    }
}

impl DeviceTiles {
    /// Finds the boundaries on the host, from row offsets that a pattern's check has passed, and copies them; sums have
    /// `sum_words` 32-bit words.
    ///
    /// # Errors
    /// As [`DeviceTiles::find`].
    pub fn upload_blocking(
        queue: &Queue,
        offsets: AnyOffsets<'_>,
        rules: TileRules,
        sum_words: usize,
    ) -> Result<Self> {
        let starts = for_offsets!(offsets, offsets => rules.starts(offsets))?;
        let layout = Layout { tiles: starts.len() - 1, sum_words };
        let arena = layout.upload_blocking(queue, &starts)?;
        Self::in_arena(rules, layout, arena, None)
    }

    /// Finds the boundaries of a matrix of `nnz` nonzeros from its row offsets, as [`TileRules::starts`] does; sums
    /// have `sum_words` 32-bit words. It is begun when this returns: workspaces see to what comes after it.
    ///
    /// # Errors
    /// More tiles than can be counted, or the driver's own failure.
    pub fn find(
        queue: &Queue,
        offsets: &AnyArray,
        nnz: usize,
        rules: TileRules,
        sum_words: usize,
    ) -> Result<Self> {
        let rows = offsets.len().saturating_sub(1);
        let tiles = rules.tiles(rows, nnz)?;
        if tiles == 0 {
            return Self::upload_blocking(queue, AnyOffsets::U32(&[0]), rules, sum_words);
        }
        let layout = Layout { tiles, sum_words };
        let parameters = CsrFlatPlan::default_for(queue.context().device().traits());
        parameters.check(queue.context().device().traits())?;
        let source = csr_flat_plan::SOURCE;
        let plain = Accumulate::Plain;
        let key = KernelKey::new(
            source,
            ValueType::F32,
            offsets.offset_type()?,
            plain,
            false,
            &parameters,
        );
        let program = queue.context().program(&key)?;
        let arena = small_for_a_kernel_to_write::<u32>(queue, layout.words())?;
        let arguments = csr_flat_plan::Arguments {
            rows: rows as u32,
            nnz: nnz as u64,
            tile_nnz: rules.tile_nnz,
            whole_row: rules.whole_row,
            tiles: tiles as u32,
            arena_words: layout.words() as u64,
            offsets: offsets.argument(),
            arena: arena.argument(),
        };
        let mut kernel = program.kernel(csr_flat_plan::Arguments::<&Memory>::KERNEL)?;
        let group_size = parameters.group_size as usize;
        let size = Size { groups: (tiles + 1).div_ceil(group_size), group_size };
        // SAFETY: the offsets are a pattern's, and the arena has a start for each tile and one more.
        #[expect(unsafe_code, reason = "arguments and arrays are this module's own")]
        unsafe {
            launch_next(queue, &mut kernel, &arguments, size)?
        };
        Self::in_arena(rules, layout, arena, queue.is_in_order().then(|| queue.clone()))
    }

    fn in_arena(
        rules: TileRules,
        layout: Layout,
        arena: DeviceArray<u32>,
        filled_in: Option<Queue>,
    ) -> Result<Self> {
        let starts = arena.view(0, layout.tiles + 1)?;
        Ok(DeviceTiles { rules, layout, starts, first_arena: Mutex::new(Some(arena)), filled_in })
    }

    /// One entry a tile, and one after them.
    pub fn starts(&self) -> &DeviceArray<TileStart> {
        &self.starts
    }

    /// Tiles, each one work-group of a launch.
    pub fn count(&self) -> usize {
        self.layout.tiles
    }

    /// A workspace with an arena: that of the plan for the first caller.
    fn workspace_blocking(
        &self,
        queue: &Queue,
        owner: OwnerId,
        kernels: Vec<Kernel>,
    ) -> Result<Workspace> {
        let first = self.first_arena.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(arena) = first {
            return Ok(Workspace::in_memory(owner, kernels, arena, self.filled_in.clone()));
        }
        if let Some(queue) = &self.filled_in {
            queue.finish_blocking()?;
        }
        let arena = self.layout.upload_blocking(queue, &self.starts.read_blocking(queue)?)?;
        Ok(Workspace::in_memory(owner, kernels, arena, None))
    }
}

/// `csr_flat` as a plan asks for it.
pub(super) fn bind(request: &BindRequest<'_>) -> Result<Bound> {
    let parameters = request.parameters::<Parameters>()?;
    let tiles = tiles(request, parameters.rules())?;
    let nnz = request.matrix.nnz();
    let spmv = CsrFlat::new(request.context(), request.specialisation, parameters, nnz, tiles)?;
    Ok(Bound::new(spmv, *parameters))
}

/// Where tiles begin. A CPU device's memory is the host's, which finds them faster.
fn tiles(request: &BindRequest<'_>, rules: TileRules) -> Result<DeviceTiles> {
    let BindRequest { queue, matrix, specialisation, .. } = *request;
    let sum_words = specialisation.sum_words();
    if request.context().device().traits().device_type == DeviceType::Cpu {
        return matrix.with_host_offsets_blocking(queue, |offsets| {
            DeviceTiles::upload_blocking(queue, offsets, rules, sum_words)
        });
    }
    DeviceTiles::find(queue, matrix.offsets(), matrix.nnz(), rules, sum_words)
}

impl CsrFlat {
    /// Builds the program for `tiles` of a matrix of `nnz` nonzeros, which were found by the parameters' rules.
    ///
    /// # Errors
    /// Tiles of other rules, a device without the value type, a kernel that does not build.
    pub fn new(
        context: &Context,
        specialisation: Specialisation,
        parameters: Checked<Parameters>,
        nnz: usize,
        tiles: DeviceTiles,
    ) -> Result<Self> {
        context.check_value_type(specialisation.value_type)?;
        if tiles.rules != parameters.rules() {
            return Err(crate::Error::combination(
                format_args!("tiles cut by {:?}", tiles.rules),
                format_args!("csr_flat with {}", *parameters),
                format_args!("it takes tiles cut by {:?}", parameters.rules()),
            ));
        }
        let program = context.program(&specialisation.key(SOURCE, &*parameters))?;
        let (words, needed) = (tiles.layout.sum_words, accumulator_words(program.key()));
        if words != needed {
            return Err(crate::Error::combination(
                format_args!("tiles with slots for sums of {}", counted(words, "word")),
                program.key(),
                format_args!("its sums have {}", counted(needed, "word")),
            ));
        }
        let group_size = parameters.group_size as usize;
        Ok(CsrFlat { owner: OwnerId::new(), program, tiles, nnz, group_size })
    }

    /// What the kernel is given.
    fn arguments<'a>(
        &'a self,
        scratch: &'a DeviceArray<u32>,
        operands: &Operands<'a>,
        direction: Direction,
    ) -> Arguments<&'a Memory> {
        Arguments {
            rows: operands.rows as u32,
            nnz: self.nnz as u64,
            offsets: operands.offsets,
            columns: operands.columns,
            values: operands.values,
            x: operands.x,
            y: operands.y,
            alpha: operands.alpha,
            beta: operands.beta,
            zero: 0,
            first_tile: direction.first_of(self.tiles.count()),
            arena: scratch.argument(),
        }
    }

    fn size(&self) -> Size {
        Size { groups: self.tiles.count(), group_size: self.group_size }
    }
}

#[expect(unsafe_code, reason = "implements an unsafe method")]
impl Spmv for CsrFlat {
    fn algorithm(&self) -> Algorithm {
        Algorithm::CsrFlat
    }

    fn key(&self) -> &KernelKey {
        self.program.key()
    }

    fn plan_bytes(&self) -> usize {
        self.tiles.starts.size_bytes()
    }

    fn workspace_bytes(&self) -> usize {
        self.tiles.layout.words() * size_of::<u32>()
    }

    fn is_repeatable(&self) -> bool {
        true
    }

    fn workspace_blocking(&self, queue: &Queue) -> Result<Workspace> {
        let kernels = vec![self.program.kernel("csr_flat")?];
        self.tiles.workspace_blocking(queue, self.owner, kernels)
    }

    unsafe fn launch(
        &self,
        queue: &Queue,
        workspace: &mut Workspace,
        operands: &Operands<'_>,
        after: After<'_>,
    ) -> Result<Option<Event>> {
        let direction = workspace.next_direction();
        // SAFETY: the caller's promise about the operands; the arena was made for as many tiles.
        workspace.run(self.owner, queue, after, |mut parts| unsafe {
            let arguments = self.arguments(parts.scratch, operands, direction);
            parts.launch(0, &arguments, self.size())
        })
    }
}
