//! Binds and launches `sell`: the pattern laid out on the host, values brought into place on the device.

use std::sync::Arc;

use cl_kernels::sell::{Arguments, SOURCE, Sell as Parameters, VALUES_SOURCE, ValuesArguments};
use cl_kernels::{Accumulate, Algorithm, Array, KernelKey};
use csr_core::plan::sell::{SellLayout, SellPiece, SellRules};
use csr_core::{Offset, OffsetType, PatternView, Value};

use super::workspace::{OwnerId, for_a_kernel_to_write};
use super::{Operands, Specialisation, Spmv, Workspace, check_value_type};
use crate::launch::{Size, Steps, launch, launch_unobserved};
use crate::raw::Memory;
use crate::{DeviceArray, Event, InOrder, Matrix, Program, Queue, Result};

/// `sell`, ready to launch: a copy of the matrix in slices.
#[derive(Debug)]
pub struct Sell<V, O> {
    owner: OwnerId,
    program: Arc<Program>,
    values_program: Arc<Program>,
    pattern: DeviceSell,
    values: DeviceArray<V>,
    /// Of the values the copy was made from.
    values_id: u64,
    offsets: std::marker::PhantomData<O>,
}

/// A pattern in slices, in device memory.
#[derive(Debug)]
struct DeviceSell {
    rows: usize,
    pieces: DeviceArray<SellPiece>,
    words: DeviceArray<u16>,
    steps: DeviceArray<u16>,
}

impl DeviceSell {
    /// Brings a pattern into slices, in the device's memory where the host reaches it there.
    fn fill_blocking<O: Offset>(
        queue: &Queue,
        rows: usize,
        layout: &SellLayout<'_, O>,
    ) -> Result<Self> {
        let traits = queue.context().device().traits();
        let pieces = DeviceArray::upload_blocking(queue, layout.pieces())?;
        // Oclgrind knows of what is uploaded that it was written; of what is written through a map nobody has tried.
        if !traits.has_host_memory || traits.is_oclgrind() {
            let (words, steps) = layout.filled()?;
            let words = DeviceArray::upload_blocking(queue, &words)?;
            let steps = DeviceArray::upload_blocking(queue, &steps)?;
            return Ok(DeviceSell { rows, pieces, words, steps });
        }
        let mut words = DeviceArray::allocate(queue.context(), layout.words())?;
        let mut steps = DeviceArray::allocate(queue.context(), layout.steps())?;
        // SAFETY: nobody else has seen these arrays.
        #[expect(unsafe_code, reason = "commands in flight are not seen from there")]
        let (mut all_words, mut all_steps) =
            unsafe { (words.view_mut_blocking(queue)?, steps.view_mut_blocking(queue)?) };
        layout.fill(&mut all_words, &mut all_steps)?;
        all_words.unmap_blocking()?;
        all_steps.unmap_blocking()?;
        Ok(DeviceSell { rows, pieces, words, steps })
    }
}

/// [`Matrix::values_id`] of no matrix.
const NOBODYS: u64 = 0;

impl<V: Value, O: Offset> Sell<V, O> {
    /// Builds the programs, lays out `pattern`, which is that of `matrix`, and brings its values into place; `values_id`
    /// says whose they are.
    ///
    /// # Errors
    /// Parameters that break a rule, a device without the value type, a kernel that does not build, no memory for the
    /// copy.
    pub fn new_blocking(
        queue: &Queue,
        specialisation: Specialisation,
        parameters: Parameters,
        pattern: PatternView<'_, O>,
        matrix: &Matrix<V, O>,
        values_id: u64,
    ) -> Result<Self> {
        let context = queue.context();
        check_value_type(context, specialisation.value_type)?;
        parameters.check()?;
        let kernel = parameters.kernel();
        // The product reads no offsets.
        let of_product = Specialisation { offset_type: OffsetType::U32, ..specialisation };
        let key = of_product.key(SOURCE, &kernel).for_streams_of(context.device().traits());
        let program = context.program(&key)?;
        let plain = Accumulate::Plain;
        let key = KernelKey::new(VALUES_SOURCE, V::TYPE, O::TYPE, plain, false, &kernel);
        let values_program = context.program(&key)?;
        let rules = SellRules {
            slice_rows: parameters.slice_rows,
            pieces: parameters.pieces(context.device().traits().compute_units),
        };
        let layout = SellLayout::new(pattern, rules, V::TYPE.size_bytes())?;
        let mut found = Sell {
            owner: OwnerId::new(),
            program,
            values_program,
            pattern: DeviceSell::fill_blocking(queue, pattern.rows(), &layout)?,
            values: for_a_kernel_to_write(queue, layout.elements())?,
            values_id: NOBODYS,
            offsets: std::marker::PhantomData,
        };
        let (offsets, values) = (matrix.offsets().argument(), matrix.values().argument());
        found.update_values_blocking(queue, offsets, values, values_id)?;
        Ok(found)
    }

    /// What the kernel is given.
    fn arguments<'a>(&'a self, operands: &Operands<'a>) -> Arguments<&'a Memory> {
        Arguments {
            rows: self.pattern.rows as u32,
            pieces: self.pattern.pieces.argument(),
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
        Size { groups: self.pattern.pieces.len() - 1, group_size: 1 }
    }
}

#[expect(unsafe_code, reason = "implements an unsafe method")]
impl<V: Value, O: Offset> Spmv for Sell<V, O> {
    fn algorithm(&self) -> Algorithm {
        Algorithm::Sell
    }

    fn key(&self) -> &KernelKey {
        self.program.key()
    }

    fn plan_bytes(&self) -> usize {
        let DeviceSell { pieces, words, steps, .. } = &self.pattern;
        pieces.size_bytes() + words.size_bytes() + steps.size_bytes() + self.values.size_bytes()
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
        // Until the wait ends well, nobody knows whose values the copy holds.
        self.values_id = NOBODYS;
        let arguments = ValuesArguments {
            rows: self.pattern.rows as u32,
            pieces: self.pattern.pieces.argument(),
            words: self.pattern.words.argument(),
            steps: self.pattern.steps.argument(),
            offsets,
            source: values,
            target: self.values.argument(),
        };
        let groups = self.size().groups;
        // SAFETY: pieces name the words, steps and values of this plan; offsets and values were made or checked for it.
        let moved = unsafe { Steps::new(queue, &self.values_program, 1).run(&arguments, groups)? };
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
        wait: &[Event],
    ) -> Result<Event> {
        // SAFETY: the caller's promise about x and y; the rest is this plan's own.
        workspace.run(self.owner, queue, wait, |parts| unsafe {
            let arguments = self.arguments(operands);
            launch(queue, &mut parts.kernels[0], &arguments, self.size(), &parts.wait)
        })
    }

    unsafe fn launch_unobserved(
        &self,
        queue: InOrder<'_>,
        workspace: &mut Workspace,
        operands: &Operands<'_>,
    ) -> Result<()> {
        // SAFETY: as for `launch`.
        workspace.run_unobserved(self.owner, queue, |kernels, _| unsafe {
            launch_unobserved(&queue, &mut kernels[0], &self.arguments(operands), self.size())
        })
    }
}
