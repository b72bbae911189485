//! Binds and launches `sell_sigma`: the copy is made on the device, and 20 bytes are read back.

use cl_kernels::sell_sigma::{Arguments, SLICE_LANES, SOURCE, SellSigma as Parameters};
use cl_kernels::sell_sigma_plan::{
    self, ColumnArguments, OrderArguments, ShapeArguments, SliceArguments, ValueArguments,
};
use cl_kernels::{Accumulate, Algorithm, Array, Checked, KernelKey};
use csr_core::OffsetType;

use super::coded_spmv::{CodedProgram, CodedSpmv, CopyLayout};
use super::copied_values::moving_key;
use super::partial_sums::PartialSums;
use super::{BindRequest, Bound, CopiedValues, Operands, ValueOrder};
use crate::arena::{Arena, bytes_of};
use crate::launch::{LaunchSequence, Size};
use crate::raw::Memory;
use crate::scan::Scan;
use crate::scratch::for_a_kernel_to_write;
use crate::workspace::{Direction, Parts};
use crate::{AnyArray, AnyMatrix, DeviceArray, Event, Queue, Result};

/// A pattern in slices, in device memory.
#[derive(Debug)]
struct Slices {
    rows: usize,
    count: usize,
    /// All arrays below, which are parts of it, the slices first.
    layout: DeviceArray<u32>,
    slices: DeviceArray<u64>,
    starts: DeviceArray<u32>,
    bases: DeviceArray<u32>,
    order: DeviceArray<u32>,
    low_columns: DeviceArray<u32>,
    high_columns: DeviceArray<u32>,
    /// Of the kernels that make the copy.
    plan_key: KernelKey,
    group_size: usize,
}

/// Nonzeros of a pair.
const PAIR: usize = 2;

impl Slices {
    /// Puts rows in order, cuts slices and reorders columns.
    fn make_blocking(
        queue: &Queue,
        plan_key: KernelKey,
        parameters: &Parameters,
        matrix: &AnyMatrix,
    ) -> Result<Self> {
        let group_size = parameters.group_size as usize;
        let plan_program = queue.context().program(&plan_key)?;
        let mut sequence = LaunchSequence::new(queue, &plan_program, group_size);
        let rows = matrix.rows();
        let windows = rows.div_ceil(parameters.window_rows as usize);
        let (offsets, columns) = (matrix.offsets().argument(), matrix.columns().argument());
        let order = for_a_kernel_to_write::<u32>(queue, rows)?;
        let window_slices = for_a_kernel_to_write::<u32>(queue, windows)?;
        let ordering = OrderArguments {
            rows: rows as u32,
            offsets,
            order: order.argument(),
            window_slices: window_slices.argument(),
        };
        // SAFETY: an index for each row and a word for each window, and the matrix's arrays are a pattern's.
        #[expect(unsafe_code, reason = "arguments and arrays are this module's own")]
        unsafe {
            sequence.run(&ordering, windows)?
        };
        let mut scan = Scan::new_blocking(queue, OffsetType::U32)?;
        let window_starts = for_a_kernel_to_write::<u32>(queue, windows + 1)?;
        scan.run(queue, &window_slices, &window_starts)?;
        let count = scan.total_blocking(queue)? as usize;
        let slices = for_a_kernel_to_write::<u64>(queue, count + 1)?;
        let slicing = SliceArguments {
            rows: rows as u32,
            offsets,
            order: order.argument(),
            window_starts: window_starts.argument(),
            slices: slices.argument(),
        };
        let bases = for_a_kernel_to_write::<u32>(queue, count)?;
        let pairs = for_a_kernel_to_write::<u32>(queue, count)?;
        let wide = DeviceArray::upload_blocking(queue, &[0_u32])?;
        let starts = for_a_kernel_to_write::<u32>(queue, count + 1)?;
        let shaping = ShapeArguments {
            rows: rows as u32,
            slice_count: count as u32,
            offsets,
            columns,
            order: order.argument(),
            slices: slices.argument(),
            pairs: pairs.argument(),
            bases: bases.argument(),
            wide: wide.argument(),
        };
        let of_lanes = sequence.groups(count * SLICE_LANES as usize);
        // SAFETY: windows end with the slices there are, and each has a word, a base and an entry.
        #[expect(unsafe_code, reason = "arguments and arrays are this module's own")]
        unsafe {
            sequence.run(&slicing, windows)?;
            sequence.run(&shaping, of_lanes)?;
        }
        scan.run(queue, &pairs, &starts)?;
        let words = scan.total_blocking(queue)? as usize * SLICE_LANES as usize;
        let has_wide = wide.read_blocking(queue)? != [0];
        let wide_words = if has_wide { words } else { 0 };
        let bytes = bytes_of::<u64>(count + 1)
            + [count + 1, count, rows, words, wide_words]
                .map(bytes_of::<u32>)
                .iter()
                .sum::<usize>();
        let is_by_host = queue.context().device().traits().is_written_by_host();
        let mut arena = if is_by_host {
            let mut held = padded_blocking(queue, &slices)?;
            for array in [&starts, &bases, &order] {
                held.extend(padded_blocking(queue, array)?);
            }
            held.resize(bytes, 0);
            Arena::of(DeviceArray::upload_blocking(queue, &held)?)
        } else {
            Arena::new(queue, bytes)?
        };
        let layout = arena.all()?;
        let parts =
            (arena.take(count + 1)?, arena.take(count + 1)?, arena.take(count)?, arena.take(rows)?);
        let (slices, starts, bases, order) = if is_by_host {
            parts
        } else {
            (
                kept(queue, parts.0, &slices)?,
                kept(queue, parts.1, &starts)?,
                kept(queue, parts.2, &bases)?,
                kept(queue, parts.3, &order)?,
            )
        };
        let made = Slices {
            rows,
            count,
            layout,
            slices,
            starts,
            bases,
            order,
            low_columns: arena.take(words)?,
            high_columns: arena.take(wide_words)?,
            plan_key,
            group_size,
        };
        let placing = ColumnArguments {
            rows: rows as u32,
            slice_count: count as u32,
            offsets,
            columns,
            order: made.order.argument(),
            slices: made.slices.argument(),
            starts: made.starts.argument(),
            bases: made.bases.argument(),
            low_columns: made.low_columns.argument(),
            high_columns: made.high_columns.argument(),
        };
        // SAFETY: starts end with the words there are, and wide slices have their upper halves.
        #[expect(unsafe_code, reason = "arguments and arrays are this module's own")]
        unsafe {
            sequence.run(&placing, of_lanes)?
        };
        Ok(made)
    }

    /// Where in the layout an array begins, in 32-bit words.
    fn offset_of(&self, array: &DeviceArray<u32>) -> u64 {
        array.argument().start - self.layout.argument().start
    }

    /// An item for each lane.
    fn size(&self) -> Size {
        let groups = (self.count * SLICE_LANES as usize).div_ceil(self.group_size);
        Size { groups, group_size: self.group_size }
    }
}

impl ValueOrder for Slices {
    fn elements(&self) -> usize {
        self.low_columns.len() * PAIR
    }

    fn move_blocking(
        &self,
        queue: &Queue,
        matrix: &AnyMatrix,
        source: &AnyArray,
        target: &AnyArray,
    ) -> Result<()> {
        let arguments = ValueArguments {
            rows: self.rows as u32,
            slice_count: self.count as u32,
            offsets: matrix.offsets().argument(),
            order: self.order.argument(),
            slices: self.slices.argument(),
            starts: self.starts.argument(),
            source: source.argument(),
            target: target.argument(),
        };
        let program = queue.context().program(&moving_key(&self.plan_key, source.element()))?;
        let mut sequence = LaunchSequence::new(queue, &program, self.group_size);
        // SAFETY: order and starts name the arrays of this plan; offsets and values were made or checked for it.
        #[expect(unsafe_code, reason = "arguments and arrays are this module's own")]
        let moved = unsafe { sequence.run(&arguments, self.size().groups)? };
        moved.wait()
    }
}

#[expect(unsafe_code, reason = "implements an unsafe method")]
impl CopyLayout for Slices {
    const ALGORITHM: Algorithm = Algorithm::SellSigma;

    fn size_bytes(&self) -> usize {
        self.layout.size_bytes()
    }

    /// For partial sums of cut rows.
    fn workspace_words(&self, key: &KernelKey) -> usize {
        PartialSums::new(key, self.count).words()
    }

    unsafe fn launch(
        &self,
        mut parts: Parts<'_>,
        values: Array<&Memory>,
        operands: &Operands<'_>,
        direction: Direction,
    ) -> Result<Option<Event>> {
        let size = self.size();
        let arguments = Arguments {
            rows: self.rows as u32,
            slice_count: self.count as u32,
            starts_at: self.offset_of(&self.starts),
            bases_at: self.offset_of(&self.bases),
            order_at: self.offset_of(&self.order),
            low_columns_at: self.offset_of(&self.low_columns),
            high_columns_at: self.offset_of(&self.high_columns),
            layout: self.layout.argument(),
            offsets: operands.offsets,
            values,
            x: operands.x,
            y: operands.y,
            alpha: operands.alpha,
            beta: operands.beta,
            zero: 0,
            first_group: direction.first_of(size.groups),
            workspace: parts.scratch.argument(),
        };
        // SAFETY: the caller's promise about offsets, x and y; the rest is this plan's own.
        unsafe { parts.launch(0, &arguments, size) }
    }
}

/// A part of an arena with what an array holds.
fn kept<T: bytemuck::Pod>(
    queue: &Queue,
    mut part: DeviceArray<T>,
    array: &DeviceArray<T>,
) -> Result<DeviceArray<T>> {
    if let Some(copied) = part.copy_from(queue, array)? {
        queue.settle_blocking(&copied)?;
    }
    Ok(part)
}

/// As many zeros as [`bytes_of`] an array, which begin with what it holds.
fn padded_blocking<T: bytemuck::Pod>(queue: &Queue, array: &DeviceArray<T>) -> Result<Vec<u8>> {
    let held = array.read_blocking(queue)?;
    let mut bytes = bytemuck::cast_slice(&held).to_vec();
    bytes.resize(bytes_of::<T>(array.len()), 0);
    Ok(bytes)
}

/// `sell_sigma` as a plan asks for it.
pub(super) fn bind(request: &BindRequest<'_>) -> Result<Bound> {
    let parameters = request.parameters::<Parameters>()?;
    Ok(Bound::new(new_blocking(request, parameters)?, *parameters))
}

/// Builds the programs and copies the matrix.
///
/// # Errors
/// A device without the value type, a kernel that does not build, no memory for the copy, or more pairs of nonzeros than 2^32 x 32.
fn new_blocking(
    request: &BindRequest<'_>,
    parameters: Checked<Parameters>,
) -> Result<CodedSpmv<Slices>> {
    let BindRequest { queue, matrix, specialisation, values_id, .. } = *request;
    let context = queue.context();
    context.check_value_type(specialisation.value_type)?;
    let has_memory = parameters.holds_a_dictionary(&request.fit());
    let found = request.found_coding_blocking(parameters.coded_values, has_memory)?;
    let key = specialisation.key(SOURCE, &*parameters);
    let program = CodedProgram::new(context, key, found.coding, &["sell_sigma"])?;
    let (plan, plain, source) = (parameters.plan(), Accumulate::Plain, sell_sigma_plan::SOURCE);
    let (value_type, offset_type) = (matrix.value_type(), matrix.offset_type());
    let plan_key = KernelKey::new(source, value_type, offset_type, plain, false, &plan);
    let layout = Slices::make_blocking(queue, plan_key, &parameters, matrix)?;
    let values = CopiedValues::new_blocking(queue, &layout, matrix, values_id, found)?;
    Ok(CodedSpmv { program, layout, values })
}
