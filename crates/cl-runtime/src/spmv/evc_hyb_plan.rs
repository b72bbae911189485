//! The plan of `evc_hyb` on the device: made there from CSR, or on the host and uploaded.

use cl_kernels::evc_hyb_plan::{
    ArrangeArguments, CountArguments, EvcHybPlan, FEATURE_RENUMBER, InvertArguments, KeyArguments,
    LengthArguments, SOURCE, StartArguments,
};
use cl_kernels::{Accumulate, Array, KernelKey};
use csr_core::evc_hyb::{EvcHybOptions, EvcHybPattern, EvcHybStatistics};
use csr_core::plan::evc_hyb::{EvcHybShape, RowCounts, Task, TaskRules};
use csr_core::{OffsetType, ValueType};

use crate::launch::LaunchSequence;
use crate::raw::Memory;
use crate::scratch::for_a_kernel_to_write;
use crate::sort::{KeyType, Keyed, bits_of};
use crate::{AnyMatrix, DeviceArray, Error, Queue, Result};

/// Which order the vectors of a product are in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum VectorOrder {
    /// x and y as the matrix has them.
    #[default]
    Original,
    /// y in the plan's row order, x as the matrix has it: y is written side by side.
    Permuted,
    /// Both in the plan's row order, of a square matrix: y can be the next product's x.
    Symmetric,
}

impl VectorOrder {
    /// The spelling in `--order` and records.
    pub fn name(self) -> &'static str {
        match self {
            VectorOrder::Original => "original",
            VectorOrder::Permuted => "permuted",
            VectorOrder::Symmetric => "symmetric",
        }
    }

    /// Refuses columns in the order of rows where there is not one for each.
    ///
    /// # Errors
    /// [`VectorOrder::Symmetric`] of a matrix that is not square.
    pub fn check_shape(self, matrix: &AnyMatrix) -> Result<()> {
        if self == VectorOrder::Symmetric && matrix.rows() != matrix.cols() {
            let (rows, cols) = (matrix.rows(), matrix.cols());
            return Err(Error::NotSquare { what: "x in the order of rows", rows, cols });
        }
        Ok(())
    }
}

impl std::fmt::Display for VectorOrder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.name())
    }
}

impl std::str::FromStr for VectorOrder {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let all = [VectorOrder::Original, VectorOrder::Permuted, VectorOrder::Symmetric];
        all.into_iter()
            .find(|order| order.name() == text)
            .ok_or_else(|| format!("order \"{text}\" is none of original, permuted, symmetric"))
    }
}

/// What EVC-HYB makes of a pattern, on the device. Values are arranged apart, any number of times.
#[derive(Debug)]
pub struct DeviceEvcHyb {
    alignment: u32,
    group_size: usize,
    statistics: EvcHybStatistics,
    order: VectorOrder,
    elements: usize,
    row_order: DeviceArray<u32>,
    row_lengths: DeviceArray<u32>,
    long_starts: DeviceArray<u64>,
    columns: DeviceArray<u32>,
    tasks: DeviceArray<Task>,
}

impl DeviceEvcHyb {
    /// Converts on the device; a few hundred words are read back. Memory while converting, besides the result and the
    /// matrix: 24 bytes a row, given back before the elements get theirs.
    ///
    /// # Errors
    /// A matrix that is not square where columns are renumbered; or the driver's own failure.
    pub fn convert_blocking(
        queue: &Queue,
        matrix: &AnyMatrix,
        options: &EvcHybOptions,
        rules: &TaskRules,
        order: VectorOrder,
    ) -> Result<Self> {
        order.check_shape(matrix)?;
        let (rows, longest) = (matrix.rows(), matrix.shape().longest_row as usize);
        let alignment = options.alignment as u32;
        let column_bits = bits_of(matrix.cols().saturating_sub(1));
        let context = queue.context();
        let offset_type = matrix.offset_type();
        let program =
            context.program(&key(ValueType::F32, offset_type, rules.group_size, false))?;
        let mut sequence = LaunchSequence::new(queue, &program, rules.group_size as usize);
        let of_rows = sequence.groups(rows);

        let unsorted = Keyed::allocate(queue, KeyType::U64, rows)?;
        let keys = KeyArguments {
            row_count: rows as u32,
            column_bits,
            offsets: matrix.offsets().argument(),
            columns: matrix.columns().argument(),
            keys: unsorted.keys.argument(),
            rows: unsorted.numbers.argument(),
        };
        // SAFETY: a key and a number for each row, and the matrix's arrays are a pattern's.
        #[expect(unsafe_code, reason = "arguments and arrays are this module's own")]
        unsafe {
            sequence.run(&keys, of_rows)?
        };
        let sorted = unsorted.sort(queue, column_bits + bits_of(longest))?;

        let boundaries = RowCounts::boundaries(longest, options, rules);
        let asked = DeviceArray::upload_blocking(queue, &boundaries)?;
        let answers = for_a_kernel_to_write::<u32>(queue, boundaries.len() + 2)?;
        let row_lengths = for_a_kernel_to_write::<u32>(queue, rows)?;
        let count = CountArguments {
            row_count: rows as u32,
            column_bits,
            long_length: options.longest_short_row.map_or(0, |most| most as u32 + 1),
            alignment,
            boundary_count: boundaries.len() as u32,
            boundaries: asked.argument(),
            keys: sorted.keys.argument(),
            counts: answers.argument(),
        };
        let lengths = LengthArguments {
            row_count: rows as u32,
            column_bits,
            keys: sorted.keys.argument(),
            row_lengths: row_lengths.argument(),
        };
        // SAFETY: an answer for each boundary and two more, and a length for each row.
        #[expect(unsafe_code, reason = "arguments and arrays are this module's own")]
        let counted = unsafe {
            sequence.run(&lengths, of_rows)?;
            sequence.run(&count, 1)?
        };
        counted.wait()?;
        let mut answers = answers.read_blocking(queue)?;
        let of_long = answers.split_off(boundaries.len());
        let long_elements = u64::from(of_long[0]) | u64::from(of_long[1]) << 32;
        // What was sorted by gives its memory back before elements take theirs.
        let Keyed { numbers: row_order, keys } = sorted;
        drop(keys);

        let counts = RowCounts::new(rows, boundaries, answers);
        let shape = EvcHybShape::new(longest, options, &counts);
        let elements = shape.short_elements + long_elements as usize;
        let long_starts = for_a_kernel_to_write::<u64>(queue, rows - shape.split_row)?;
        let columns = for_a_kernel_to_write::<u32>(queue, elements)?;
        let tasks = DeviceArray::upload_blocking(queue, &shape.tasks(&counts, rules))?;
        let starts = StartArguments {
            row_count: rows as u32,
            split: shape.split_row as u32,
            alignment,
            start: shape.short_elements as u64,
            row_lengths: row_lengths.argument(),
            long_starts: long_starts.argument(),
        };
        // SAFETY: a start for each row from the split on.
        #[expect(unsafe_code, reason = "arguments and arrays are this module's own")]
        unsafe {
            sequence.run(&starts, (rows - shape.split_row).min(1))?
        };
        let statistics = EvcHybStatistics::new(&shape, elements, matrix.nnz());
        let group_size = rules.group_size as usize;
        let plan = DeviceEvcHyb {
            alignment,
            group_size,
            statistics,
            order,
            elements,
            row_order,
            row_lengths,
            long_starts,
            columns,
            tasks,
        };
        let order_indices = plan.order_indices(queue, &mut sequence)?;
        let source = matrix.columns().argument();
        let (offsets, target) = (matrix.offsets().argument(), plan.columns.argument());
        plan.arrange_blocking(
            queue,
            (ValueType::F32, offset_type),
            offsets,
            source,
            order_indices.as_ref(),
            target,
        )?;
        Ok(plan)
    }

    /// Uploads a pattern that was converted on the host.
    ///
    /// # Errors
    /// As [`DeviceEvcHyb::convert_blocking`].
    pub fn upload_blocking(
        queue: &Queue,
        pattern: &EvcHybPattern,
        options: &EvcHybOptions,
        rules: &TaskRules,
        order: VectorOrder,
    ) -> Result<Self> {
        let lengths = pattern.row_lengths();
        let longest = lengths.last().map_or(0, |length| *length as usize);
        let counts = RowCounts::of_lengths(lengths, RowCounts::boundaries(longest, options, rules));
        let long_starts = &pattern.long_starts()[..pattern.long_starts().len() - 1];
        let columns = match order {
            VectorOrder::Symmetric => {
                DeviceArray::upload_blocking(queue, &pattern.renumbered_columns()?)?
            }
            _ => DeviceArray::upload_blocking(queue, pattern.columns())?,
        };
        Ok(DeviceEvcHyb {
            alignment: options.alignment as u32,
            group_size: rules.group_size as usize,
            statistics: pattern.statistics(),
            order,
            elements: pattern.elements(),
            row_order: DeviceArray::upload_blocking(queue, pattern.row_order())?,
            row_lengths: DeviceArray::upload_blocking(queue, lengths)?,
            long_starts: DeviceArray::upload_blocking(queue, long_starts)?,
            columns,
            tasks: DeviceArray::upload_blocking(queue, &pattern.shape().tasks(&counts, rules))?,
        })
    }

    /// The index of each row, where columns are renumbered.
    fn order_indices(
        &self,
        queue: &Queue,
        sequence: &mut LaunchSequence<'_>,
    ) -> Result<Option<DeviceArray<u32>>> {
        if self.order != VectorOrder::Symmetric {
            return Ok(None);
        }
        let order_indices = for_a_kernel_to_write::<u32>(queue, self.row_order.len())?;
        let invert = InvertArguments {
            row_count: self.row_order.len() as u32,
            row_order: self.row_order.argument(),
            order_indices: order_indices.argument(),
        };
        let groups = sequence.groups(self.row_order.len());
        // SAFETY: an index for each row, and the order holds each row once.
        #[expect(unsafe_code, reason = "arguments and arrays are this module's own")]
        unsafe {
            sequence.run(&invert, groups)?
        };
        Ok(Some(order_indices))
    }

    /// Copies what goes with the nonzeros of CSR, as wide as `value_type`, to the indices of its elements.
    pub(super) fn arrange_blocking(
        &self,
        queue: &Queue,
        (value_type, offset_type): (ValueType, OffsetType),
        offsets: Array<&Memory>,
        source: Array<&Memory>,
        order_indices: Option<&DeviceArray<u32>>,
        target: Array<&Memory>,
    ) -> Result<()> {
        let key = key(value_type, offset_type, self.group_size as u32, order_indices.is_some());
        let program = queue.context().program(&key)?;
        let arguments = ArrangeArguments {
            alignment: self.alignment,
            tasks: self.tasks.argument(),
            row_order: self.row_order.argument(),
            row_lengths: self.row_lengths.argument(),
            long_starts: self.long_starts.argument(),
            offsets,
            source,
            order_indices: order_indices.map_or_else(Array::none, |order| order.argument()),
            target,
        };
        // SAFETY: tasks name the rows and elements of this plan; `source` and `target` were made or checked for it.
        #[expect(unsafe_code, reason = "arguments and arrays are this module's own")]
        let arranged = unsafe {
            LaunchSequence::new(queue, &program, self.group_size)
                .run(&arguments, self.tasks.len())?
        };
        arranged.wait()
    }

    /// The rows, in order of length.
    pub fn row_order(&self) -> &DeviceArray<u32> {
        &self.row_order
    }

    /// The nonzeros of each row, in order of length.
    pub fn row_lengths(&self) -> &DeviceArray<u32> {
        &self.row_lengths
    }

    /// Where each long row begins.
    pub fn long_starts(&self) -> &DeviceArray<u64> {
        &self.long_starts
    }

    /// The column of each element.
    pub fn columns(&self) -> &DeviceArray<u32> {
        &self.columns
    }

    /// What each work-group takes.
    pub fn tasks(&self) -> &DeviceArray<Task> {
        &self.tasks
    }

    /// Which order vectors are in.
    pub fn order(&self) -> VectorOrder {
        self.order
    }

    /// Elements, padding included.
    pub fn elements(&self) -> usize {
        self.elements
    }

    /// How the matrix was split.
    pub fn statistics(&self) -> EvcHybStatistics {
        self.statistics
    }

    /// Bytes on the device.
    pub fn size_bytes(&self) -> usize {
        self.row_order.size_bytes()
            + self.row_lengths.size_bytes()
            + self.long_starts.size_bytes()
            + self.columns.size_bytes()
            + self.tasks.size_bytes()
    }
}

/// The kernels that plan, or with `renumber`, the one that arranges columns by indices.
fn key(
    value_type: ValueType,
    offset_type: OffsetType,
    group_size: u32,
    renumber: bool,
) -> KernelKey {
    let parameters = EvcHybPlan { group_size };
    let key =
        KernelKey::new(SOURCE, value_type, offset_type, Accumulate::Plain, false, &parameters);
    if renumber { key.with_feature(FEATURE_RENUMBER) } else { key }
}
