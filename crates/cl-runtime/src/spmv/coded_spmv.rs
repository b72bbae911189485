//! A product that reads a copy of values, by a program in the form that reads them as they are stored.

use std::sync::Arc;

use cl_kernels::value_coding::feature;
use cl_kernels::{Algorithm, Array, KernelKey};
use csr_core::ValueCoding;

use super::{CopiedValues, Operands, Spmv, ValueOrder};
use crate::launch::After;
use crate::raw::{Kernel, Memory};
use crate::workspace::{Direction, OwnerId, Parts, Workspace};
use crate::{AnyMatrix, Context, Event, Program, Queue, Result};

/// A pattern in an order of the algorithm's own, and how the product reads a copy of values in it.
pub(super) trait CopyLayout: ValueOrder + Send + Sync {
    const ALGORITHM: Algorithm;

    /// Bytes on the device, those of values not among them.
    fn size_bytes(&self) -> usize;

    /// 32-bit words that a launch of the program with this key writes besides y.
    fn workspace_words(&self, key: &KernelKey) -> usize;

    /// Enqueues the kernels of the product.
    ///
    /// # Safety
    /// As [`Spmv::launch`]; the copy of values is in this order.
    #[expect(unsafe_code, reason = "operands are trusted")]
    unsafe fn launch(
        &self,
        parts: Parts<'_>,
        values: Array<&Memory>,
        operands: &Operands<'_>,
        direction: Direction,
    ) -> Result<Option<Event>>;
}

/// An algorithm on a copy of the matrix, ready to launch.
#[derive(Debug)]
pub(super) struct CodedSpmv<L> {
    pub(super) program: CodedProgram,
    pub(super) layout: L,
    pub(super) values: CopiedValues,
}

/// Its program.
#[derive(Debug)]
pub(super) struct CodedProgram {
    owner: OwnerId,
    /// Of the form that reads values as they are.
    key: KernelKey,
    coding: ValueCoding,
    program: Arc<Program>,
    /// Its kernels.
    names: &'static [&'static str],
    /// How often it has changed: workspaces with kernels of a form before take the new ones.
    form: u32,
}

impl CodedProgram {
    /// Builds the form for values stored so; `names` are its kernels.
    ///
    /// # Errors
    /// A kernel that does not build.
    pub(super) fn new(
        context: &Context,
        key: KernelKey,
        coding: ValueCoding,
        names: &'static [&'static str],
    ) -> Result<Self> {
        let program = context.program(&key_for(&key, coding))?;
        Ok(CodedProgram { owner: OwnerId::new(), key, coding, program, names, form: 0 })
    }

    /// Takes the form for a copy that has been brought up to date, where it is stored in another way from then on.
    ///
    /// # Errors
    /// A kernel that does not build: the copy is invalid then.
    fn follow(&mut self, queue: &Queue, copy: &mut CopiedValues) -> Result<()> {
        if self.coding == copy.coding() {
            return Ok(());
        }
        match queue.context().program(&key_for(&self.key, copy.coding())) {
            Ok(program) => {
                self.program = program;
                self.coding = copy.coding();
                self.form += 1;
                Ok(())
            }
            Err(error) => {
                copy.invalidate();
                Err(error)
            }
        }
    }

    fn kernels(&self) -> Result<Vec<Kernel>> {
        self.names.iter().map(|name| self.program.kernel(name)).collect()
    }
}

#[expect(unsafe_code, reason = "implements an unsafe method")]
impl<L: CopyLayout> Spmv for CodedSpmv<L> {
    fn algorithm(&self) -> Algorithm {
        L::ALGORITHM
    }

    fn key(&self) -> &KernelKey {
        self.program.program.key()
    }

    fn plan_bytes(&self) -> usize {
        self.layout.size_bytes() + self.values.size_bytes()
    }

    fn workspace_bytes(&self) -> usize {
        self.layout.workspace_words(self.key()) * 4
    }

    fn is_repeatable(&self) -> bool {
        true
    }

    fn copied_values(&self) -> Option<&CopiedValues> {
        Some(&self.values)
    }

    fn update_values_blocking(
        &mut self,
        queue: &Queue,
        matrix: &AnyMatrix,
        values_id: u64,
    ) -> Result<()> {
        let Self { program, layout, values } = self;
        values.update_blocking(queue, layout, matrix, values_id)?;
        program.follow(queue, values)
    }

    fn workspace_blocking(&self, queue: &Queue) -> Result<Workspace> {
        let CodedProgram { owner, form, .. } = self.program;
        let words = self.layout.workspace_words(self.key());
        let workspace = Workspace::new_blocking(queue, owner, self.program.kernels()?, words)?;
        Ok(workspace.of_form(form))
    }

    unsafe fn launch(
        &self,
        queue: &Queue,
        workspace: &mut Workspace,
        operands: &Operands<'_>,
        after: After<'_>,
    ) -> Result<Option<Event>> {
        let CodedProgram { owner, form, .. } = self.program;
        workspace.renew(owner, form, || self.program.kernels())?;
        let direction = workspace.next_direction();
        let values = self.values.array().argument();
        // SAFETY: the caller's promise about operands; the copy was made in the layout's order.
        workspace.run(owner, queue, after, |parts| unsafe {
            self.layout.launch(parts, values, operands, direction)
        })
    }
}

/// The key of the form that reads values stored so.
fn key_for(key: &KernelKey, coding: ValueCoding) -> KernelKey {
    match feature(coding) {
        Some(feature) => key.clone().with_feature(feature),
        None => key.clone(),
    }
}
