//! Binds and launches `csr_adaptive`: row blocks on the device, counters and carries in the workspace.

use std::sync::Arc;

use cl_kernels::csr_adaptive::{
    Arguments, CsrAdaptive as Parameters, FEATURE_SPIN, LongRows, SOURCE,
};
use cl_kernels::{
    Accumulate, Algorithm, Array, Checked, DeviceType, KernelKey, ParameterError, Variant,
};
use csr_core::plan::csr_adaptive::{RowBlockRules, RowBlocks};
use csr_core::{AnyOffsets, for_offsets};

use super::{
    BindRequest, Bound, DeviceRowBlocks, Operands, Planning, Specialisation, Spmv, Workspace,
    accumulator_words,
};
use crate::launch::{After, Size};
use crate::raw::Memory;
use crate::workspace::OwnerId;
use crate::{Context, DeviceArray, Error, Event, Program, Queue, Result};

/// `csr_adaptive`, ready to launch.
#[derive(Debug)]
struct CsrAdaptive {
    owner: OwnerId,
    program: Arc<Program>,
    variant: Variant,
    row_blocks: DeviceRowBlocks,
    group_size: usize,
}

/// `csr_adaptive` as a plan asks for it.
pub(super) fn bind(request: &BindRequest<'_>) -> Result<Bound> {
    let parameters = request.parameters::<Parameters>()?;
    let variant = request.variant.or_default(Algorithm::CsrAdaptive);
    let row_blocks = row_blocks_blocking(request, variant.rules(&parameters))?;
    let spmv = CsrAdaptive::new(
        request.context(),
        request.specialisation,
        parameters,
        variant,
        request.groups_progress,
        row_blocks,
    )?;
    Ok(Bound::new(spmv, variant.parameters(*parameters)))
}

/// Row blocks, cut where the plan shall be made. A CPU device's memory is the host's, and the host cuts faster.
fn row_blocks_blocking(request: &BindRequest<'_>, rules: RowBlockRules) -> Result<DeviceRowBlocks> {
    let BindRequest { queue, matrix, .. } = *request;
    let offsets = request.pattern.map(|pattern| pattern.offsets());
    let traits = request.context().device().traits();
    let is_faster = offsets.is_some() || traits.device_type == DeviceType::Cpu;
    let on_host = match request.planning {
        Planning::Automatic => is_faster || !DeviceRowBlocks::can_cut_on(traits),
        Planning::OnHost => true,
        Planning::OnDevice => false,
    };
    if !on_host {
        return DeviceRowBlocks::cut_blocking(queue, matrix.offsets(), matrix.nnz(), rules);
    }
    let cut = |offsets: AnyOffsets<'_>| -> Result<RowBlocks> {
        Ok(for_offsets!(offsets, offsets => RowBlocks::from_offsets(offsets, rules))?)
    };
    let row_blocks = match offsets {
        Some(offsets) => cut(offsets)?,
        None => matrix.with_host_offsets_blocking(queue, cut)?,
    };
    DeviceRowBlocks::upload_blocking(queue, &row_blocks)
}

impl CsrAdaptive {
    /// Builds the program for `row_blocks`, which were cut by the variant's rules ([`Variant::rules`])
    /// for the matrix to come.
    ///
    /// # Errors
    /// Row blocks of other rules, a device without the value type, a kernel that does not build; with [`Variant::Spin`], a device whose groups are not known to make
    /// progress (`groups_progress` is false), or compensated sums, which no float atomic can add.
    fn new(
        context: &Context,
        specialisation: Specialisation,
        parameters: Checked<Parameters>,
        variant: Variant,
        groups_progress: bool,
        row_blocks: DeviceRowBlocks,
    ) -> Result<Self> {
        let variant = variant.or_default(Algorithm::CsrAdaptive);
        let parameters = variant.parameters(*parameters);
        context.check_value_type(specialisation.value_type)?;
        if *row_blocks.rules() != variant.rules(&parameters) {
            return Err(Error::combination(
                format_args!("row blocks cut by {:?}", row_blocks.rules()),
                format_args!("the variant {variant} of csr_adaptive with {parameters}"),
                format_args!("it takes row blocks cut by {:?}", variant.rules(&parameters)),
            ));
        }
        let mut key = specialisation.key(SOURCE, &parameters);
        if variant.long_rows() == LongRows::Spin {
            check_spin(context, &specialisation, groups_progress)?;
            key = key.with_feature(FEATURE_SPIN);
        }
        Ok(CsrAdaptive {
            owner: OwnerId::new(),
            program: context.program(&key)?,
            variant,
            row_blocks,
            group_size: parameters.group_size as usize,
        })
    }

    fn blocks(&self) -> usize {
        self.row_blocks.count()
    }

    /// 32-bit words of the workspace: a counter and an accumulator a block, where rows are cut.
    fn scratch_words(&self) -> usize {
        let accumulator_words = accumulator_words(self.key());
        if self.row_blocks.cut_rows() > 0 { self.blocks() * (1 + accumulator_words) } else { 0 }
    }

    /// What the kernel is given.
    fn arguments<'a>(
        &'a self,
        scratch: &'a DeviceArray<u32>,
        operands: &Operands<'a>,
    ) -> Arguments<&'a Memory> {
        let counters = scratch.argument();
        Arguments {
            row_blocks: self.row_blocks.entries().argument(),
            offsets: operands.offsets,
            columns: operands.columns,
            values: operands.values,
            x: operands.x,
            y: operands.y,
            alpha: operands.alpha,
            beta: operands.beta,
            zero: 0,
            counters,
            carries: Array { start: counters.start + self.blocks() as u64, ..counters },
        }
    }

    fn size(&self) -> Size {
        Size { groups: self.blocks(), group_size: self.group_size }
    }
}

fn check_spin(
    context: &Context,
    specialisation: &Specialisation,
    groups_progress: bool,
) -> Result<()> {
    let traits = context.device().traits();
    if specialisation.accumulate == Accumulate::Compensated {
        return Err(Error::Parameter(ParameterError::Invalid {
            algorithm: "csr_adaptive",
            name: "accumulate",
            value: 0,
            rule: "the spin variant adds by float atomics, which cannot be compensated".to_owned(),
        }));
    }
    let lacks =
        |what: &str| Err(Error::Unsupported { device: traits.name.clone(), what: what.to_owned() });
    if !groups_progress {
        return lacks(
            "entry in the device table that says its groups make progress while others wait, which \
             the spin variant needs",
        );
    }
    if specialisation.value_type.accumulator() == csr_core::ValueType::F64
        && !traits.has_int64_atomics
    {
        return lacks("64-bit atomics, which the spin variant needs in f64");
    }
    Ok(())
}

#[expect(unsafe_code, reason = "implements an unsafe method")]
impl Spmv for CsrAdaptive {
    fn algorithm(&self) -> Algorithm {
        Algorithm::CsrAdaptive
    }

    fn variant(&self) -> &'static str {
        self.variant.name()
    }

    fn key(&self) -> &KernelKey {
        self.program.key()
    }

    fn plan_bytes(&self) -> usize {
        self.row_blocks.size_bytes()
    }

    fn workspace_bytes(&self) -> usize {
        self.scratch_words() * 4
    }

    fn is_repeatable(&self) -> bool {
        !(self.row_blocks.cut_rows() > 0 && self.variant.long_rows() == LongRows::Spin)
    }

    fn workspace_blocking(&self, queue: &Queue) -> Result<Workspace> {
        let kernels = vec![self.program.kernel("csr_adaptive")?];
        Workspace::new_blocking(queue, self.owner, kernels, self.scratch_words())
    }

    unsafe fn launch(
        &self,
        queue: &Queue,
        workspace: &mut Workspace,
        operands: &Operands<'_>,
        after: After<'_>,
    ) -> Result<Option<Event>> {
        // SAFETY: the caller's promise about the operands; row blocks, counters and carries are as long as the blocks
        // they were made for.
        workspace.run(self.owner, queue, after, |mut parts| unsafe {
            let arguments = self.arguments(parts.scratch, operands);
            parts.launch(0, &arguments, self.size())
        })
    }
}
