//! Binds and launches `csr_pieces`: no plan, and a workspace in which parts of cut rows meet.

use std::sync::Arc;

use cl_kernels::csr_pieces::{Arguments, CsrPieces as Parameters, SOURCE};
use cl_kernels::{Algorithm, KernelKey};

use super::meetings::Meetings;
use super::workspace::OwnerId;
use super::{Operands, Specialisation, Spmv, Workspace, check_value_type};
use crate::launch::{Size, launch, launch_unobserved};
use crate::raw::Memory;
use crate::{Context, DeviceArray, Event, InOrder, Program, Queue, Result};

/// `csr_pieces`, ready to launch.
#[derive(Debug)]
pub struct CsrPieces {
    owner: OwnerId,
    program: Arc<Program>,
    nnz: usize,
    piece_nnz: u64,
}

impl CsrPieces {
    /// Builds the program for a matrix of `nnz` nonzeros.
    ///
    /// # Errors
    /// Parameters that break a rule, a device without the value type, a kernel that does not build.
    pub fn new(
        context: &Context,
        specialisation: Specialisation,
        parameters: Parameters,
        nnz: usize,
    ) -> Result<Self> {
        check_value_type(context, specialisation.value_type)?;
        parameters.check()?;
        let traits = context.device().traits();
        let key = specialisation.key(SOURCE, &parameters.kernel()).for_streams_of(traits);
        let program = context.program(&key)?;
        let compute_units = traits.compute_units;
        let piece_nnz = parameters.piece_nnz(nnz as u64, compute_units);
        Ok(CsrPieces { owner: OwnerId::new(), program, nnz, piece_nnz })
    }

    /// Pieces, each one item of a launch: one at least, so that empty rows have an owner.
    fn pieces(&self) -> usize {
        (self.nnz as u64).div_ceil(self.piece_nnz).max(1) as usize
    }

    /// Where parts of cut rows meet.
    fn meetings(&self) -> Meetings {
        Meetings::new(self.key(), self.pieces())
    }

    /// What the kernel is given.
    fn arguments<'a>(
        &self,
        scratch: &'a DeviceArray<u32>,
        operands: &Operands<'a>,
    ) -> Arguments<&'a Memory> {
        Arguments {
            rows: operands.rows as u32,
            nnz: self.nnz as u64,
            piece_nnz: self.piece_nnz,
            offsets: operands.offsets,
            columns: operands.columns,
            values: operands.values,
            x: operands.x,
            y: operands.y,
            alpha: operands.alpha,
            beta: operands.beta,
            zero: 0,
            room: scratch.argument(),
        }
    }

    /// An item is a group: what a core of a CPU takes at a time. None where there are no rows.
    fn size(&self, operands: &Operands<'_>) -> Size {
        Size { groups: if operands.rows == 0 { 0 } else { self.pieces() }, group_size: 1 }
    }
}

#[expect(unsafe_code, reason = "implements an unsafe method")]
impl Spmv for CsrPieces {
    fn algorithm(&self) -> Algorithm {
        Algorithm::CsrPieces
    }

    fn key(&self) -> &KernelKey {
        self.program.key()
    }

    fn plan_bytes(&self) -> usize {
        0
    }

    fn workspace_bytes(&self) -> usize {
        self.meetings().words() * 4
    }

    fn is_repeatable(&self) -> bool {
        true
    }

    fn workspace_blocking(&self, queue: &Queue) -> Result<Workspace> {
        let kernels = vec![self.program.kernel("csr_pieces")?];
        Workspace::new_blocking(queue, self.owner, kernels, self.meetings().words())
    }

    unsafe fn launch(
        &self,
        queue: &Queue,
        workspace: &mut Workspace,
        operands: &Operands<'_>,
        wait: &[Event],
    ) -> Result<Event> {
        let size = self.size(operands);
        // SAFETY: the caller's promise about the operands; the room is as long as there are pieces.
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
        let size = self.size(operands);
        // SAFETY: as for `launch`.
        workspace.run_unobserved(self.owner, queue, |kernels, scratch| unsafe {
            launch_unobserved(&queue, &mut kernels[0], &self.arguments(scratch, operands), size)
        })
    }
}
