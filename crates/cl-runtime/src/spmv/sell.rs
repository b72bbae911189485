//! Binds and launches `sell`: the pattern laid out on the host, values reordered on the device.

use std::sync::Arc;

use cl_kernels::sell::{Arguments, SOURCE, Sell as Parameters, VALUES_SOURCE, ValuesArguments};
use cl_kernels::{Accumulate, Algorithm, Array, Checked, KernelKey};
use csr_core::plan::sell::{SellChunk, SellLayout, SellRules};
use csr_core::{AnyPatternView, Offset, OffsetType, for_pattern};

use super::{BindRequest, Bound, Operands, Planning, Specialisation, Spmv, Workspace};
use crate::launch::{After, LaunchSequence, Size};
use crate::raw::Memory;
use crate::scratch::any_for_a_kernel_to_write;
use crate::workspace::OwnerId;
use crate::{AnyArray, AnyMatrix, DeviceArray, Error, Event, Program, Queue, Result};

/// `sell`, ready to launch: a copy of the matrix in slices.
#[derive(Debug)]
struct Sell {
    owner: OwnerId,
    program: Arc<Program>,
    values_program: Arc<Program>,
    pattern: DeviceSell,
    values: AnyArray,
    /// Of the values the copy was made from.
    values_id: u64,
}

/// A pattern in slices, in device memory.
#[derive(Debug)]
struct DeviceSell {
    rows: usize,
    chunks: DeviceArray<SellChunk>,
    words: DeviceArray<u16>,
    nonzero_order: DeviceArray<u16>,
}

impl DeviceSell {
    /// Brings a pattern into slices, in the device's memory where the host reaches it there.
    fn fill_blocking<O: Offset>(
        queue: &Queue,
        rows: usize,
        layout: &SellLayout<'_, O>,
    ) -> Result<Self> {
        let traits = queue.context().device().traits();
        let chunks = DeviceArray::upload_blocking(queue, layout.chunks())?;
        // Oclgrind knows of what is uploaded that it was written; that is not known of what is written through a map.
        if !traits.has_host_memory || traits.is_oclgrind() {
            let (words, nonzero_order) = layout.filled()?;
            let words = DeviceArray::upload_blocking(queue, &words)?;
            let nonzero_order = DeviceArray::upload_blocking(queue, &nonzero_order)?;
            return Ok(DeviceSell { rows, chunks, words, nonzero_order });
        }
        let mut words = DeviceArray::allocate(queue.context(), layout.words())?;
        let mut nonzero_order = DeviceArray::allocate(queue.context(), layout.iterations())?;
        // SAFETY: these arrays are not shared yet.
        #[expect(unsafe_code, reason = "commands in flight are not seen from there")]
        let (mut all_words, mut all_order) =
            unsafe { (words.view_mut_blocking(queue)?, nonzero_order.view_mut_blocking(queue)?) };
        layout.fill(&mut all_words, &mut all_order)?;
        all_words.unmap_blocking()?;
        all_order.unmap_blocking()?;
        Ok(DeviceSell { rows, chunks, words, nonzero_order })
    }
}

/// [`AnyMatrix::values_id`] of no matrix.
const NO_VALUES: u64 = 0;

/// `sell` as a plan asks for it.
pub(super) fn bind(request: &BindRequest<'_>) -> Result<Bound> {
    let parameters = request.parameters::<Parameters>()?;
    let BindRequest { queue, matrix, specialisation, values_id, .. } = *request;
    let lay_out = |pattern: AnyPatternView<'_>| -> Result<Sell> {
        Sell::new_blocking(queue, specialisation, parameters, pattern, matrix, values_id)
    };
    let spmv = match (request.planning, request.pattern) {
        (Planning::OnDevice, _) => {
            let text = "sell is laid out on the host: its plan cannot be made on the device";
            return Err(Error::Mismatch(text.to_owned()));
        }
        (_, Some(pattern)) => lay_out(pattern)?,
        (_, None) => matrix.with_host_pattern_blocking(queue, lay_out)?,
    };
    Ok(Bound::new(spmv, *parameters))
}

impl Sell {
    /// Builds the programs, lays out `pattern`, which is that of `matrix`, and reorders its values; `values_id`
    /// says whose they are.
    ///
    /// # Errors
    /// A device without the value type, a kernel that does not build, no memory for the copy.
    fn new_blocking(
        queue: &Queue,
        specialisation: Specialisation,
        parameters: Checked<Parameters>,
        pattern: AnyPatternView<'_>,
        matrix: &AnyMatrix,
        values_id: u64,
    ) -> Result<Self> {
        let context = queue.context();
        context.check_value_type(specialisation.value_type)?;
        // The product reads no offsets.
        let of_product = Specialisation { offset_type: OffsetType::U32, ..specialisation };
        let key = of_product.key(SOURCE, &*parameters).for_streams_of(context.device().traits());
        let program = context.program(&key)?;
        let plain = Accumulate::Plain;
        let (value_type, offset_type) = (matrix.value_type(), matrix.offset_type());
        let key =
            KernelKey::new(VALUES_SOURCE, value_type, offset_type, plain, false, &*parameters);
        let values_program = context.program(&key)?;
        let rules = SellRules {
            slice_rows: parameters.slice_rows,
            chunks: parameters.chunks(context.device().traits().compute_units),
        };
        let (pattern, elements) = for_pattern!(pattern, pattern => {
            let layout = SellLayout::new(pattern, rules, value_type.size_bytes())?;
            (DeviceSell::fill_blocking(queue, pattern.rows(), &layout)?, layout.elements())
        });
        let mut found = Sell {
            owner: OwnerId::new(),
            program,
            values_program,
            pattern,
            values: any_for_a_kernel_to_write(queue, value_type, elements)?,
            values_id: NO_VALUES,
        };
        let (offsets, values) = (matrix.offsets().argument(), matrix.values().argument());
        found.update_values_blocking(queue, offsets, values, values_id)?;
        Ok(found)
    }

    /// What the kernel is given.
    fn arguments<'a>(&'a self, operands: &Operands<'a>) -> Arguments<&'a Memory> {
        Arguments {
            rows: self.pattern.rows as u32,
            chunks: self.pattern.chunks.argument(),
            words: self.pattern.words.argument(),
            values: self.values.argument(),
            x: operands.x,
            y: operands.y,
            alpha: operands.alpha,
            beta: operands.beta,
        }
    }

    /// An item is a group: what a core of a CPU takes at a time.
    fn size(&self) -> Size {
        Size { groups: self.pattern.chunks.len() - 1, group_size: 1 }
    }
}

#[expect(unsafe_code, reason = "implements an unsafe method")]
impl Spmv for Sell {
    fn algorithm(&self) -> Algorithm {
        Algorithm::Sell
    }

    fn key(&self) -> &KernelKey {
        self.program.key()
    }

    fn plan_bytes(&self) -> usize {
        let DeviceSell { chunks, words, nonzero_order, .. } = &self.pattern;
        chunks.size_bytes()
            + words.size_bytes()
            + nonzero_order.size_bytes()
            + self.values.size_bytes()
    }

    fn workspace_bytes(&self) -> usize {
        0
    }

    fn is_repeatable(&self) -> bool {
        true
    }

    fn values_id(&self) -> Option<u64> {
        Some(self.values_id)
    }

    fn update_values_blocking(
        &mut self,
        queue: &Queue,
        offsets: Array<&Memory>,
        values: Array<&Memory>,
        values_id: u64,
    ) -> Result<()> {
        // Until the wait ends well, it is unknown which values the copy holds.
        self.values_id = NO_VALUES;
        let arguments = ValuesArguments {
            rows: self.pattern.rows as u32,
            chunks: self.pattern.chunks.argument(),
            words: self.pattern.words.argument(),
            nonzero_order: self.pattern.nonzero_order.argument(),
            offsets,
            source: values,
            target: self.values.argument(),
        };
        let groups = self.size().groups;
        // SAFETY: chunks name the words, the order and the values of this plan; offsets and values were made or checked
        // for it.
        let moved =
            unsafe { LaunchSequence::new(queue, &self.values_program, 1).run(&arguments, groups)? };
        moved.wait()?;
        self.values_id = values_id;
        Ok(())
    }

    fn workspace_blocking(&self, queue: &Queue) -> Result<Workspace> {
        let kernels = vec![self.program.kernel("sell")?];
        Workspace::new_blocking(queue, self.owner, kernels, 0)
    }

    unsafe fn launch(
        &self,
        queue: &Queue,
        workspace: &mut Workspace,
        operands: &Operands<'_>,
        after: After<'_>,
    ) -> Result<Option<Event>> {
        // SAFETY: the caller's promise about x and y; the rest is this plan's own.
        workspace.run(self.owner, queue, after, |mut parts| unsafe {
            parts.launch(0, &self.arguments(operands), self.size())
        })
    }
}
