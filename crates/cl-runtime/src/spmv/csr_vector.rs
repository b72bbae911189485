//! Binds and launches `csr_vector`.

use std::sync::Arc;

use cl_kernels::csr_vector::{Arguments, CsrVector as Parameters, SOURCE};
use cl_kernels::{Algorithm, Checked, KernelKey};

use super::{BindRequest, Bound, Operands, Specialisation, Spmv, Workspace};
use crate::launch::{After, Size};
use crate::raw::Memory;
use crate::workspace::OwnerId;
use crate::{Context, Event, Program, Queue, Result};

/// `csr_vector`, ready to launch; it has no plan.
#[derive(Debug)]
struct CsrVector {
    owner: OwnerId,
    program: Arc<Program>,
    group_size: usize,
    rows_per_group: usize,
}

/// `csr_vector` as a plan asks for it.
pub(super) fn bind(request: &BindRequest<'_>) -> Result<Bound> {
    let parameters = request.parameters::<Parameters>()?;
    let spmv = CsrVector::new(request.context(), request.specialisation, parameters)?;
    Ok(Bound::new(spmv, *parameters))
}

impl CsrVector {
    /// Builds the program.
    ///
    /// # Errors
    /// A device without the value type, a kernel that does not build.
    fn new(
        context: &Context,
        specialisation: Specialisation,
        parameters: Checked<Parameters>,
    ) -> Result<Self> {
        context.check_value_type(specialisation.value_type)?;
        let program = context.program(&specialisation.key(SOURCE, &*parameters))?;
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
        after: After<'_>,
    ) -> Result<Option<Event>> {
        let (arguments, size) = (self.arguments(operands), self.size(operands.rows));
        // SAFETY: the caller's promise about the operands; the kernel reads nothing else.
        workspace
            .run(self.owner, queue, after, |mut parts| unsafe { parts.launch(0, &arguments, size) })
    }
}
