//! Binds and launches `csr_flat`: where its pieces begin is found on the device, and nothing is read back.

use std::sync::Arc;

use cl_kernels::csr_flat::{Arguments, CsrFlat as Parameters, SOURCE};
use cl_kernels::csr_flat_plan::{self, CsrFlatPlan};
use cl_kernels::{Accumulate, Algorithm, KernelKey};
use csr_core::plan::csr_flat::{PieceRules, PieceStart};
use csr_core::{Offset, ValueType};

use super::meetings::Meetings;
use super::workspace::{OwnerId, for_a_kernel_to_write};
use super::{Operands, Specialisation, Spmv, Workspace, check_value_type};
use crate::launch::{Size, Steps, launch, launch_unobserved};
use crate::raw::Memory;
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

/// Where the pieces of a pattern begin, in device memory.
#[derive(Debug)]
pub struct DevicePieces {
    rules: PieceRules,
    starts: DeviceArray<PieceStart>,
}

impl DevicePieces {
    /// Finds the borders on the host, from row offsets that a pattern's check has passed, and copies them.
    ///
    /// # Errors
    /// As [`DevicePieces::find_blocking`].
    pub fn upload_blocking<O: Offset>(
        queue: &Queue,
        offsets: &[O],
        rules: PieceRules,
    ) -> Result<Self> {
        let starts = DeviceArray::upload_blocking(queue, &rules.starts(offsets)?)?;
        Ok(DevicePieces { rules, starts })
    }

    /// Finds the borders of a matrix of `nnz` nonzeros from its row offsets, as [`PieceRules::starts`] does.
    ///
    /// # Errors
    /// More pieces than can be counted, or the driver's own failure.
    pub fn find_blocking<O: Offset>(
        queue: &Queue,
        offsets: &DeviceArray<O>,
        nnz: usize,
        rules: PieceRules,
    ) -> Result<Self> {
        let rows = offsets.len().saturating_sub(1);
        let pieces = rules.pieces(rows, nnz)?;
        if pieces == 0 {
            return Self::upload_blocking(queue, &[O::zeroed()], rules);
        }
        let parameters = CsrFlatPlan::default_for(queue.context().device().traits());
        parameters.check(queue.context().device().traits())?;
        let source = csr_flat_plan::SOURCE;
        let plain = Accumulate::Plain;
        let key = KernelKey::new(source, ValueType::F32, O::TYPE, plain, false, &parameters);
        let program = queue.context().program(&key)?;
        let starts = for_a_kernel_to_write(queue, pieces + 1)?;
        let arguments = csr_flat_plan::Arguments {
            rows: rows as u32,
            nnz: nnz as u64,
            piece_nnz: rules.piece_nnz,
            whole_row: rules.whole_row,
            pieces: pieces as u32,
            offsets: offsets.argument(),
            starts: starts.argument(),
        };
        let mut steps = Steps::new(queue, &program, parameters.group_size as usize);
        let groups = steps.groups(pieces + 1);
        // SAFETY: the offsets are a pattern's, and there is a start for each piece and one more.
        #[expect(unsafe_code, reason = "arguments and arrays are this module's own")]
        let found = unsafe { steps.run(&arguments, groups)? };
        // Launches may follow on other queues.
        found.wait()?;
        Ok(DevicePieces { rules, starts })
    }

    /// One entry a piece, and one behind them.
    pub fn starts(&self) -> &DeviceArray<PieceStart> {
        &self.starts
    }

    /// Pieces, each one work-group of a launch.
    pub fn count(&self) -> usize {
        self.starts.len() - 1
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
        let group_size = parameters.group_size as usize;
        Ok(CsrFlat { owner: OwnerId::new(), program, pieces, nnz, group_size })
    }

    /// Where parts of cut rows meet.
    fn meetings(&self) -> Meetings {
        Meetings::new(self.key(), self.pieces.count())
    }

    /// What the kernel is given.
    fn arguments<'a>(
        &'a self,
        scratch: &'a DeviceArray<u32>,
        operands: &Operands<'a>,
    ) -> Arguments<&'a Memory> {
        let (counters, carries) = self.meetings().arrays(scratch);
        Arguments {
            rows: operands.rows as u32,
            nnz: self.nnz as u64,
            starts: self.pieces.starts.argument(),
            offsets: operands.offsets,
            columns: operands.columns,
            values: operands.values,
            x: operands.x,
            y: operands.y,
            alpha: operands.alpha,
            beta: operands.beta,
            zero: 0,
            counters,
            carries,
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
        self.meetings().words() * 4
    }

    fn is_repeatable(&self) -> bool {
        true
    }

    fn workspace_blocking(&self, queue: &Queue) -> Result<Workspace> {
        let kernels = vec![self.program.kernel("csr_flat")?];
        Workspace::new_blocking(queue, self.owner, kernels, self.meetings().words())
    }

    unsafe fn launch(
        &self,
        queue: &Queue,
        workspace: &mut Workspace,
        operands: &Operands<'_>,
        wait: &[Event],
    ) -> Result<Event> {
        let size = self.size();
        // SAFETY: the caller's promise about the operands; starts, counters and carries are as long as the pieces
        // they were made for.
        workspace.run(self.owner, queue, wait, |parts| unsafe {
            let arguments = self.arguments(parts.scratch, operands);
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
        // SAFETY: as for `launch`.
        workspace.run_unobserved(self.owner, queue, |kernels, scratch| unsafe {
            launch_unobserved(&queue, &mut kernels[0], &self.arguments(scratch, operands), size)
        })
    }
}
