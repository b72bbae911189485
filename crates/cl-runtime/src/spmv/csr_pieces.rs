//! Binds and launches `csr_pieces`: no plan, and a workspace in which partial sums of cut rows are combined.

use std::sync::Arc;

use cl_kernels::csr_pieces::{Arguments, CsrPieces as Parameters, SOURCE};
use cl_kernels::{Algorithm, Checked, KernelKey};

use super::partial_sums::PartialSums;
use super::{BindRequest, Bound, Operands, Spmv, Workspace};
use crate::launch::{After, Size};
use crate::raw::Memory;
use crate::workspace::OwnerId;
use crate::{DeviceArray, Event, Program, Queue, Result};

/// `csr_pieces`, ready to launch.
#[derive(Debug)]
struct CsrPieces {
    owner: OwnerId,
    program: Arc<Program>,
    nnz: usize,
    chunk_nnz: u64,
}

/// `csr_pieces` as a plan asks for it.
pub(super) fn bind(request: &BindRequest<'_>) -> Result<Bound> {
    let parameters = request.parameters::<Parameters>()?;
    let spmv = CsrPieces::new(request, parameters)?;
    Ok(Bound::new(spmv, *parameters))
}

impl CsrPieces {
    /// Builds the program for a matrix.
    ///
    /// # Errors
    /// A device without the value type, a kernel that does not build.
    fn new(request: &BindRequest<'_>, parameters: Checked<Parameters>) -> Result<Self> {
        let BindRequest { specialisation, prefetches, .. } = *request;
        let (context, nnz) = (request.context(), request.matrix.nnz());
        context.check_value_type(specialisation.value_type)?;
        let key = specialisation.key(SOURCE, &*parameters).prefetching(prefetches);
        let program = context.program(&key)?;
        let compute_units = context.device().traits().compute_units;
        let chunk_nnz = parameters.chunk_nnz(nnz as u64, compute_units);
        Ok(CsrPieces { owner: OwnerId::new(), program, nnz, chunk_nnz })
    }

    /// Chunks, each one item of a launch: one at least, so that empty rows have an owner.
    fn chunks(&self) -> usize {
        (self.nnz as u64).div_ceil(self.chunk_nnz).max(1) as usize
    }

    /// Where partial sums of cut rows are combined.
    fn partial_sums(&self) -> PartialSums {
        PartialSums::new(self.key(), self.chunks())
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
            chunk_nnz: self.chunk_nnz,
            offsets: operands.offsets,
            columns: operands.columns,
            values: operands.values,
            x: operands.x,
            y: operands.y,
            alpha: operands.alpha,
            beta: operands.beta,
            zero: 0,
            workspace: scratch.argument(),
        }
    }

    /// An item is a group: what a core of a CPU takes at a time. None where there are no rows.
    fn size(&self, operands: &Operands<'_>) -> Size {
        Size { groups: if operands.rows == 0 { 0 } else { self.chunks() }, group_size: 1 }
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
        self.partial_sums().words() * 4
    }

    fn is_repeatable(&self) -> bool {
        true
    }

    fn workspace_blocking(&self, queue: &Queue) -> Result<Workspace> {
        let kernels = vec![self.program.kernel("csr_pieces")?];
        Workspace::new_blocking(queue, self.owner, kernels, self.partial_sums().words())
    }

    unsafe fn launch(
        &self,
        queue: &Queue,
        workspace: &mut Workspace,
        operands: &Operands<'_>,
        after: After<'_>,
    ) -> Result<Option<Event>> {
        // SAFETY: the caller's promise about the operands; the workspace has a slot for each chunk.
        workspace.run(self.owner, queue, after, |mut parts| unsafe {
            let arguments = self.arguments(parts.scratch, operands);
            parts.launch(0, &arguments, self.size(operands))
        })
    }
}
