//! The program of a product that reads a copy of values, in the form that reads them as they are stored.

use std::sync::Arc;

use cl_kernels::KernelKey;
use cl_kernels::value_coding::feature;
use csr_core::ValueCoding;

use super::{CopiedValues, ValueOrder};
use crate::raw::Kernel;
use crate::workspace::{OwnerId, Workspace};
use crate::{AnyMatrix, Context, Program, Queue, Result};

/// A product's program.
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

    /// Brings a copy up to date, and the program where values are stored in another way from then on.
    ///
    /// # Errors
    /// The driver's own failure, or a kernel that does not build: the copy is invalid then.
    pub(super) fn update_blocking(
        &mut self,
        queue: &Queue,
        copy: &mut CopiedValues,
        order: &dyn ValueOrder,
        (matrix, values_id): (&AnyMatrix, u64),
    ) -> Result<()> {
        copy.update_blocking(queue, order, matrix, values_id)?;
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

    pub(super) fn key(&self) -> &KernelKey {
        self.program.key()
    }

    /// Whose workspaces serve it.
    pub(super) fn owner(&self) -> OwnerId {
        self.owner
    }

    fn kernels(&self) -> Result<Vec<Kernel>> {
        self.names.iter().map(|name| self.program.kernel(name)).collect()
    }

    /// A new workspace of `words` 32-bit words.
    ///
    /// # Errors
    /// The driver's own failure.
    pub(super) fn workspace_blocking(&self, queue: &Queue, words: usize) -> Result<Workspace> {
        let workspace = Workspace::new_blocking(queue, self.owner, self.kernels()?, words)?;
        Ok(workspace.of_form(self.form))
    }

    /// Has a workspace launch this form, where it was made before new values asked for it.
    ///
    /// # Errors
    /// A workspace of another plan, or the driver's own failure.
    pub(super) fn renew(&self, workspace: &mut Workspace) -> Result<()> {
        workspace.renew(self.owner, self.form, || self.kernels())
    }
}

/// The key of the form that reads values stored so.
fn key_for(key: &KernelKey, coding: ValueCoding) -> KernelKey {
    match feature(coding) {
        Some(feature) => key.clone().with_feature(feature),
        None => key.clone(),
    }
}
