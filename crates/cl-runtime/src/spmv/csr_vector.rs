//! Binds and launches `csr_vector`.

use std::sync::Arc;

use cl_kernels::csr_vector::{self, Arguments};
use cl_kernels::{Algorithm, KernelKey};

use super::workspace::OwnerId;
use super::{Operands, Specialisation, Spmv, Workspace, check_value_type};
use crate::launch::{Size, launch, launch_unobserved};
use crate::raw::Memory;
use crate::{Context, Event, InOrder, Program, Queue, Result};

/// `csr_vector`, ready to launch; it has no plan.
#[derive(Debug)]
pub struct CsrVector {
    owner: OwnerId,
    program: Arc<Program>,
    group_size: usize,
    rows_per_group: usize,
}

impl CsrVector {
    /// Builds the program.
    ///
    /// # Errors
    /// Parameters that break a rule, a device without the value type, a kernel that does not build.
    pub fn new(
        context: &Context,
        specialisation: Specialisation,
        parameters: csr_vector::CsrVector,
    ) -> Result<Self> {
        check_value_type(context, specialisation.value_type)?;
        parameters.check(
            context.device().traits(),
            specialisation.value_type,
            specialisation.accumulate,
        )?;
        let program = context.program(&specialisation.key(csr_vector::SOURCE, &parameters))?;
        Ok(CsrVector {
            owner: OwnerId::new(),
            program,
            group_size: parameters.group_size as usize,
            rows_per_group: (parameters.group_size / parameters.items_per_row) as usize,
        })
    }

    /// What the kernel is given.
    fn arguments<'a>(&'a self, operands: &Operands<'a>) -> Arguments<&'a Memory> {
        Arguments {
            rows: operands.rows as u32,
            offsets: operands.offsets,
            columns: operands.columns,
            values: operands.values,
            x: operands.x,
            y: operands.y,
            alpha: operands.alpha,
            beta: operands.beta,
        }
    }

    fn size(&self, rows: usize) -> Size {
        Size { groups: rows.div_ceil(self.rows_per_group), group_size: self.group_size }
    }
}

#[expect(unsafe_code, reason = "implements an unsafe method")]
impl Spmv for CsrVector {
    fn algorithm(&self) -> Algorithm {
        Algorithm::CsrVector
    }

    fn key(&self) -> &KernelKey {
        self.program.key()
    }

    fn plan_bytes(&self) -> usize {
        0
    }

    fn workspace_bytes(&self) -> usize {
        0
    }

    fn is_repeatable(&self) -> bool {
        true
    }

    fn workspace_blocking(&self, queue: &Queue) -> Result<Workspace> {
        let kernels = vec![self.program.kernel("csr_vector")?];
        Workspace::new_blocking(queue, self.owner, kernels, 0)
    }

    unsafe fn launch(
        &self,
        queue: &Queue,
        workspace: &mut Workspace,
        operands: &Operands<'_>,
        wait: &[Event],
    ) -> Result<Event> {
        let size = self.size(operands.rows);
        // SAFETY: the caller's promise about the operands; the kernel reads nothing else.
        workspace.run(self.owner, queue, wait, |parts| unsafe {
            let arguments = self.arguments(operands);
            launch(queue, &mut parts.kernels[0], &arguments, size, &parts.wait)
        })
    }

    unsafe fn launch_unobserved(
        &self,
        queue: InOrder<'_>,
        workspace: &mut Workspace,
        operands: &Operands<'_>,
    ) -> Result<()> {
        let size = self.size(operands.rows);
        // SAFETY: as for `launch`.
        workspace.run_unobserved(self.owner, queue, |kernels, _| unsafe {
            launch_unobserved(&queue, &mut kernels[0], &self.arguments(operands), size)
        })
    }
}
