//! A matrix in ELL, as entries, or in both (HYB), and its product.

use std::sync::Arc;

use cl_kernels::hyb::{
    Arguments, CarryArguments, EntriesArguments, FEATURE_REST, Hyb as Parameters, SOURCE,
};
use cl_kernels::{Array, Checked, KernelKey, Scalar};
use csr_core::{OffsetType, counted};

use super::{Specialisation, Workspace};
use crate::launch::{After, Size};
use crate::raw::Memory;
use crate::workspace::OwnerId;
use crate::{AnyArray, Context, DeviceArray, Error, Event, Program, Queue, Result, check_size};

/// The arrays of a matrix in slots and entries. Either part may have nothing.
#[derive(Debug)]
pub struct HybParts {
    /// Rows of the matrix.
    pub rows: usize,
    /// Columns of the matrix.
    pub cols: usize,
    /// Slots of each row.
    pub width: usize,
    /// Slots from one of a row to its next: `rows` at least.
    pub pitch: usize,
    /// The column of each slot, or `csr_core::batch::PADDING`: slot k of row i at `k * pitch + i`.
    pub columns: DeviceArray<u32>,
    /// The value of each slot.
    pub values: AnyArray,
    /// The row of each entry, none before one that is less.
    pub entry_rows: DeviceArray<u32>,
    /// The column of each entry.
    pub entry_columns: DeviceArray<u32>,
    /// The value of each entry.
    pub entry_values: AnyArray,
}

impl HybParts {
    /// The same arrays under other handles.
    pub fn alias(&self) -> Result<Self> {
        let all = |array: &DeviceArray<u32>| array.slice(0..array.len());
        Ok(HybParts {
            columns: all(&self.columns)?,
            values: self.values.alias(),
            entry_rows: all(&self.entry_rows)?,
            entry_columns: all(&self.entry_columns)?,
            entry_values: self.entry_values.alias(),
            ..*self
        })
    }

    /// Bytes of the arrays.
    pub fn size_bytes(&self) -> usize {
        self.named_arrays().iter().map(|(_, array)| array.size_bytes()).sum()
    }

    /// The arrays by their names, for what must lie apart from them.
    pub fn named_arrays(&self) -> [(&'static str, &AnyArray); 5] {
        [
            ("the columns of the matrix's slots", &self.columns),
            ("the values of the matrix's slots", &self.values),
            ("the rows of the matrix's entries", &self.entry_rows),
            ("the columns of the matrix's entries", &self.entry_columns),
            ("the values of the matrix's entries", &self.entry_values),
        ]
    }

    /// Refuses lengths, types and contexts that do not belong together.
    ///
    /// # Errors
    /// The first of them.
    pub fn check(&self, context: &Context) -> Result<()> {
        for (what, size) in [("row", self.rows), ("column", self.cols), ("slot", self.width)] {
            if u32::try_from(size).is_err() {
                return Err(Error::Range {
                    what: format!("the number of {what}s"),
                    value: size as u64,
                    rule: format!("it must be at most {}", u32::MAX),
                });
            }
        }
        if self.pitch < self.rows {
            return Err(Error::Range {
                what: "the slots from one of a row to its next".to_owned(),
                value: self.pitch as u64,
                rule: format!("there are {}", counted(self.rows, "row")),
            });
        }
        let least = match self.width {
            0 => 0,
            width => (width - 1).saturating_mul(self.pitch).saturating_add(self.rows),
        };
        for (what, found) in [
            ("the array of the slots' columns", self.columns.len()),
            ("the array of the slots' values", self.values.len()),
        ] {
            if found < least {
                let (rows, width) = (counted(self.rows, "row"), counted(self.width, "slot"));
                let rule = format_args!("{rows} of {width} each, {} apart", self.pitch);
                return Err(Error::size(what, (found, "element"), least, rule));
            }
        }
        for (what, found) in [
            ("the array of the entries' rows", self.entry_rows.len()),
            ("the array of the entries' columns", self.entry_columns.len()),
        ] {
            let values = self.entry_values.len();
            check_size(what, (found, "element"), values, "one for each value of the entries")?;
        }
        let value_type = self.values.value_type("the array of the slots' values")?;
        self.entry_values.check_element("the array of the entries' values", value_type)?;
        let mut named = self.named_arrays().into_iter();
        named.try_for_each(|(what, array)| context.check_array(what, array))
    }
}

/// What a product is made with besides its matrix.
#[derive(Clone, Copy, Debug)]
pub struct HybOperands<'a> {
    /// The vector x: cols.
    pub x: Array<&'a Memory>,
    /// The vector y: rows.
    pub y: Array<&'a Memory>,
    /// Scales A x.
    pub alpha: Scalar<&'a Memory>,
    /// Scales y; with 0, y is not read.
    pub beta: Scalar<&'a Memory>,
}

/// Products of a matrix in slots and entries, ready to launch.
#[derive(Debug)]
pub struct HybProduct {
    owner: OwnerId,
    program: Arc<Program>,
    parameters: Parameters,
    sum_words: usize,
    parts: HybParts,
}

impl HybProduct {
    /// Builds the program for a matrix that passes [`HybParts::check`].
    ///
    /// # Errors
    /// A device without the value type, or a kernel that does not build.
    pub fn new(
        context: &Context,
        specialisation: Specialisation,
        parameters: Checked<Parameters>,
        parts: HybParts,
    ) -> Result<Self> {
        context.check_value_type(specialisation.value_type)?;
        let without_offsets = Specialisation { offset_type: OffsetType::U32, ..specialisation };
        let mut key = without_offsets.key(SOURCE, &*parameters);
        if !parts.entry_rows.is_empty() {
            key = key.with_feature(FEATURE_REST);
        }
        Ok(HybProduct {
            owner: OwnerId::new(),
            program: context.program(&key)?,
            parameters: *parameters,
            sum_words: specialisation.sum_words(),
            parts,
        })
    }

    /// The matrix.
    pub fn parts(&self) -> &HybParts {
        &self.parts
    }

    /// The kernel's key: hyper-parameters included.
    pub fn key(&self) -> &KernelKey {
        self.program.key()
    }

    /// The hyper-parameters.
    pub fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    /// Groups that take the entries.
    fn groups(&self) -> usize {
        self.parts.entry_rows.len().div_ceil(self.parameters.tile())
    }

    fn scratch_words(&self) -> usize {
        match self.groups() {
            0 => 0,
            groups => (self.parts.rows + groups) * self.sum_words + groups,
        }
    }

    /// Bytes a workspace takes on the device: sums of rows, where there are entries.
    pub fn workspace_bytes(&self) -> usize {
        self.scratch_words() * size_of::<u32>()
    }

    /// A new workspace: kernel objects and scratch memory for one launch in flight.
    ///
    /// # Errors
    /// The driver's own failure.
    pub fn workspace_blocking(&self, queue: &Queue) -> Result<Workspace> {
        let names: &[&str] = match self.groups() {
            0 => &["hyb"],
            1 => &["hyb", "hyb_entries"],
            _ => &["hyb", "hyb_entries", "hyb_carry"],
        };
        let kernels = names.iter().map(|name| self.program.kernel(name)).collect::<Result<_>>()?;
        Workspace::new_blocking(queue, self.owner, kernels, self.scratch_words())
    }

    /// Enqueues the product. Allocates nothing. `None` where no event was asked for.
    ///
    /// # Safety
    /// x and y are as long as the matrix demands, and its arrays hold what they should.
    ///
    /// # Errors
    /// A workspace of another matrix, or the driver's own failure.
    #[expect(unsafe_code, reason = "operands are trusted")]
    pub unsafe fn launch(
        &self,
        queue: &Queue,
        workspace: &mut Workspace,
        operands: &HybOperands<'_>,
        after: After<'_>,
    ) -> Result<Option<Event>> {
        workspace.run(self.owner, queue, after, |mut launch| {
            if self.groups() == 0 || self.parts.rows == 0 {
                let (arguments, size) = self.slots(launch.scratch, operands);
                // SAFETY: the caller's promise; the kernel reads nothing else.
                return unsafe { launch.launch(0, &arguments, size) };
            }
            let scratch = launch.scratch;
            let (entries, entries_size) = self.entries(scratch, operands);
            let (carry, carry_size) = self.carry(scratch);
            let (slots, slots_size) = self.slots(scratch, operands);
            let has_carry = launch.kernel_count() > 2;
            let mut sequence = launch.sequence();
            // SAFETY: the caller's promise; the workspace is as large as the kernels demand.
            unsafe {
                sequence.next(1, &entries, entries_size)?;
                if has_carry {
                    sequence.next(2, &carry, carry_size)?;
                }
                sequence.last(0, &slots, slots_size)
            }
        })
    }

    fn slots<'a>(
        &'a self,
        scratch: &'a DeviceArray<u32>,
        operands: &HybOperands<'a>,
    ) -> (Arguments<&'a Memory>, Size) {
        let parts = &self.parts;
        let arguments = Arguments {
            rows: parts.rows as u32,
            width: parts.width as u32,
            pitch: parts.pitch as u64,
            columns: parts.columns.argument(),
            values: parts.values.argument(),
            x: operands.x,
            y: operands.y,
            alpha: operands.alpha,
            beta: operands.beta,
            scratch: scratch.argument(),
        };
        (arguments, self.size(parts.rows))
    }

    fn entries<'a>(
        &'a self,
        scratch: &'a DeviceArray<u32>,
        operands: &HybOperands<'a>,
    ) -> (EntriesArguments<&'a Memory>, Size) {
        let (parts, groups) = (&self.parts, self.groups());
        let arguments = EntriesArguments {
            nnz: parts.entry_rows.len() as u64,
            rows: parts.rows as u32,
            groups: groups as u32,
            row_indices: parts.entry_rows.argument(),
            columns: parts.entry_columns.argument(),
            values: parts.entry_values.argument(),
            x: operands.x,
            scratch: scratch.argument(),
        };
        (arguments, Size { groups, group_size: self.parameters.group_size as usize })
    }

    fn carry<'a>(&self, scratch: &'a DeviceArray<u32>) -> (CarryArguments<&'a Memory>, Size) {
        let (rows, groups) = (self.parts.rows as u32, self.groups() as u32);
        let arguments = CarryArguments { rows, groups, scratch: scratch.argument() };
        (arguments, self.size(groups as usize))
    }

    /// An item for each of so many.
    fn size(&self, items: usize) -> Size {
        let group_size = self.parameters.group_size as usize;
        Size { groups: items.div_ceil(group_size), group_size }
    }
}
