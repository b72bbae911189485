//! Binds and launches `csr_flat`: where its pieces begin is found on the device, and nothing is read back.

use std::sync::{Arc, Mutex, PoisonError};

use cl_kernels::csr_flat::{Arguments, CsrFlat as Parameters, SOURCE};
use cl_kernels::csr_flat_plan::{self, CsrFlatPlan};
use cl_kernels::{Accumulate, Algorithm, KernelArguments, KernelKey};
use csr_core::plan::csr_flat::{PieceRules, PieceStart};
use csr_core::{Offset, ValueType};

use super::meetings::Meetings;
use super::workspace::{OwnerId, Turn, small_for_a_kernel_to_write};
use super::{Operands, Specialisation, Spmv, Workspace, accumulator_words, check_value_type};
use crate::launch::{Size, launch, launch_next, launch_unobserved};
use crate::raw::{Kernel, Memory};
use crate::{Context, DeviceArray, Event, InOrder, Program, Queue, Result};

/// `csr_flat`, ready to launch.
#[derive(Debug)]
pub struct CsrFlat {
    owner: OwnerId,
    program: Arc<Program>,
    pieces: DevicePieces,
    nnz: usize,
    group_size: usize,
}

/// Where the pieces of a pattern begin, in device memory: the first part of the room that a launch takes. The room they were
/// found in is the first workspace's, which so needs no memory and no launch of its own.
#[derive(Debug)]
pub struct DevicePieces {
    rules: PieceRules,
    layout: Layout,
    starts: DeviceArray<PieceStart>,
    first_room: Mutex<Option<DeviceArray<u32>>>,
    /// The in-order queue in which the room is filled; `None` if that was waited for.
    filled_in: Option<Queue>,
}

/// What lies where in the room of a launch: starts, then places where parts of cut rows come together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Layout {
    pieces: usize,
    sum_words: usize,
}

impl Layout {
    fn starts_words(self) -> usize {
        (self.pieces + 1) * (size_of::<PieceStart>() / size_of::<u32>())
    }

    fn words(self) -> usize {
        self.starts_words() + Meetings::of_sums(self.sum_words, self.pieces).words()
    }

    /// A room with these starts, whose other words are 0.
    fn upload_blocking(self, queue: &Queue, starts: &[PieceStart]) -> Result<DeviceArray<u32>> {
        let mut words = vec![0; self.words()];
        words[..self.starts_words()].copy_from_slice(bytemuck::cast_slice(starts));
        DeviceArray::upload_blocking(queue, &words)
    }
}

impl DevicePieces {
    /// Finds the borders on the host, from row offsets that a pattern's check has passed, and copies them; sums have
    /// `sum_words` 32-bit words.
    ///
    /// # Errors
    /// As [`DevicePieces::find`].
    pub fn upload_blocking<O: Offset>(
        queue: &Queue,
        offsets: &[O],
        rules: PieceRules,
        sum_words: usize,
    ) -> Result<Self> {
        let starts = rules.starts(offsets)?;
        let layout = Layout { pieces: starts.len() - 1, sum_words };
        let room = layout.upload_blocking(queue, &starts)?;
        Self::in_room(rules, layout, room, None)
    }

    /// Finds the borders of a matrix of `nnz` nonzeros from its row offsets, as [`PieceRules::starts`] does; sums have
    /// `sum_words` 32-bit words. It is begun when this returns: workspaces see to what comes after it.
    ///
    /// # Errors
    /// More pieces than can be counted, or the driver's own failure.
    pub fn find<O: Offset>(
        queue: &Queue,
        offsets: &DeviceArray<O>,
        nnz: usize,
        rules: PieceRules,
        sum_words: usize,
    ) -> Result<Self> {
        let rows = offsets.len().saturating_sub(1);
        let pieces = rules.pieces(rows, nnz)?;
        if pieces == 0 {
            return Self::upload_blocking(queue, &[O::zeroed()], rules, sum_words);
        }
        let layout = Layout { pieces, sum_words };
        let parameters = CsrFlatPlan::default_for(queue.context().device().traits());
        parameters.check(queue.context().device().traits())?;
        let source = csr_flat_plan::SOURCE;
        let plain = Accumulate::Plain;
        let key = KernelKey::new(source, ValueType::F32, O::TYPE, plain, false, &parameters);
        let program = queue.context().program(&key)?;
        let room = small_for_a_kernel_to_write::<u32>(queue, layout.words())?;
        let arguments = csr_flat_plan::Arguments {
            rows: rows as u32,
            nnz: nnz as u64,
            piece_nnz: rules.piece_nnz,
            whole_row: rules.whole_row,
            pieces: pieces as u32,
            room_words: layout.words() as u64,
            offsets: offsets.argument(),
            room: room.argument(),
        };
        let mut kernel = program.kernel(csr_flat_plan::Arguments::<&Memory>::KERNEL)?;
        let group_size = parameters.group_size as usize;
        let size = Size { groups: (pieces + 1).div_ceil(group_size), group_size };
        // SAFETY: the offsets are a pattern's, and the room has a start for each piece and one more.
        #[expect(unsafe_code, reason = "arguments and arrays are this module's own")]
        unsafe {
            launch_next(queue, &mut kernel, &arguments, size)?
        };
        Self::in_room(rules, layout, room, queue.is_in_order().then(|| queue.clone()))
    }

    fn in_room(
        rules: PieceRules,
        layout: Layout,
        room: DeviceArray<u32>,
        filled_in: Option<Queue>,
    ) -> Result<Self> {
        let starts = room.view(0, layout.pieces + 1)?;
        Ok(DevicePieces { rules, layout, starts, first_room: Mutex::new(Some(room)), filled_in })
    }

    /// One entry a piece, and one behind them.
    pub fn starts(&self) -> &DeviceArray<PieceStart> {
        &self.starts
    }

    /// Pieces, each one work-group of a launch.
    pub fn count(&self) -> usize {
        self.layout.pieces
    }

    /// A workspace with a room: that of the plan for the first who asks.
    fn workspace_blocking(
        &self,
        queue: &Queue,
        owner: OwnerId,
        kernels: Vec<Kernel>,
    ) -> Result<Workspace> {
        let first = self.first_room.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(room) = first {
            return Ok(Workspace::in_memory(owner, kernels, room, self.filled_in.clone()));
        }
        if let Some(queue) = &self.filled_in {
            queue.finish_blocking()?;
        }
        let room = self.layout.upload_blocking(queue, &self.starts.read_blocking(queue)?)?;
        Ok(Workspace::in_memory(owner, kernels, room, None))
    }
}

impl CsrFlat {
    /// Builds the program for `pieces` of a matrix of `nnz` nonzeros, which were found by the parameters' rules.
    ///
    /// # Errors
    /// Parameters that break a rule, pieces of other rules, a device without the value type, a kernel that does not
    /// build.
    pub fn new(
        context: &Context,
        specialisation: Specialisation,
        parameters: Parameters,
        nnz: usize,
        pieces: DevicePieces,
    ) -> Result<Self> {
        check_value_type(context, specialisation.value_type)?;
        parameters.check(
            context.device().traits(),
            specialisation.value_type,
            specialisation.accumulate,
        )?;
        if pieces.rules != parameters.rules() {
            return Err(crate::Error::Mismatch(format!(
                "pieces cut by {:?} cannot serve csr_flat with {parameters}",
                pieces.rules
            )));
        }
        let program = context.program(&specialisation.key(SOURCE, &parameters))?;
        if pieces.layout.sum_words != accumulator_words(program.key()) {
            let words = pieces.layout.sum_words;
            return Err(crate::Error::Mismatch(format!(
                "pieces with room for sums of {words} words cannot serve {}",
                program.key()
            )));
        }
        let group_size = parameters.group_size as usize;
        Ok(CsrFlat { owner: OwnerId::new(), program, pieces, nnz, group_size })
    }

    /// What the kernel is given.
    fn arguments<'a>(
        &'a self,
        scratch: &'a DeviceArray<u32>,
        operands: &Operands<'a>,
        turn: Turn,
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
            first_piece: turn.first_of(self.pieces.count()),
            room: scratch.argument(),
        }
    }

    fn size(&self) -> Size {
        Size { groups: self.pieces.count(), group_size: self.group_size }
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
        self.pieces.starts.size_bytes()
    }

    fn workspace_bytes(&self) -> usize {
        self.pieces.layout.words() * size_of::<u32>()
    }

    fn is_repeatable(&self) -> bool {
        true
    }

    fn workspace_blocking(&self, queue: &Queue) -> Result<Workspace> {
        let kernels = vec![self.program.kernel("csr_flat")?];
        self.pieces.workspace_blocking(queue, self.owner, kernels)
    }

    unsafe fn launch(
        &self,
        queue: &Queue,
        workspace: &mut Workspace,
        operands: &Operands<'_>,
        wait: &[Event],
    ) -> Result<Event> {
        let size = self.size();
        let turn = workspace.next_turn();
        // SAFETY: the caller's promise about the operands; the room was made for as many pieces.
        workspace.run(self.owner, queue, wait, |parts| unsafe {
            let arguments = self.arguments(parts.scratch, operands, turn);
            launch(queue, &mut parts.kernels[0], &arguments, size, &parts.wait)
        })
    }

    unsafe fn launch_unobserved(
        &self,
        queue: InOrder<'_>,
        workspace: &mut Workspace,
        operands: &Operands<'_>,
    ) -> Result<()> {
        let size = self.size();
        let turn = workspace.next_turn();
        // SAFETY: as for `launch`.
        workspace.run_unobserved(self.owner, queue, |kernels, scratch| unsafe {
            launch_unobserved(
                &queue,
                &mut kernels[0],
                &self.arguments(scratch, operands, turn),
                size,
            )
        })
    }
}
