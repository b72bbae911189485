//! Binds and launches `sell`: the pattern laid out on the host, values reordered on the device. A processor's first values
//! are reordered by the host with the pattern, where they are not many, and the kernel for that is built when values change.

use bytemuck::Pod;
use cl_kernels::sell::{
    Arguments, FEATURE_NARROW_COLUMNS, FEATURE_STRIPS, SOURCE, Sell as Parameters, VALUES_SOURCE,
    ValuesArguments,
};
use cl_kernels::{Accumulate, Algorithm, Array, Checked, KernelKey};
use csr_core::plan::sell::{SellChunk, SellLayout, SellRules};
use csr_core::{AnyPatternView, Offset, OffsetType, ValueCoding, for_pattern, for_value_type};

use super::coded_spmv::{CodedProgram, CodedSpmv, CopyLayout};
use super::copied_values::moving_key;
use super::value_coding::{FoundCoding, narrow};
use super::{BindRequest, Bound, CopiedValues, Operands, Planning, Specialisation, ValueOrder};
use crate::launch::{LaunchSequence, Size};
use crate::raw::Memory;
use crate::row_lengths::is_for_the_host;
use crate::workspace::{Direction, Parts};
use crate::{AnyArray, AnyMatrix, DeviceArray, Error, Event, Queue, Result};

/// A pattern in slices, in device memory.
#[derive(Debug)]
struct DeviceSell {
    rows: usize,
    chunks: DeviceArray<SellChunk>,
    words: DeviceArray<u16>,
    nonzero_order: DeviceArray<u16>,
    /// Of a copy of values.
    elements: usize,
    /// Of the kernel that reorders values.
    values_key: KernelKey,
}

/// Values of so many bytes take the host less time to reorder than a kernel that does so takes to be built.
const HOST_VALUES_BYTES: usize = 1 << 26;

/// Whether the host reorders the values of a matrix with its pattern.
fn is_reordered_by_host(queue: &Queue, matrix: &AnyMatrix) -> bool {
    is_for_the_host(queue.context().device().traits())
        && matrix.values().size_bytes() <= HOST_VALUES_BYTES
}

impl DeviceSell {
    /// What takes a chunk each.
    fn items(&self) -> usize {
        self.chunks.len() - 1
    }

    /// Brings a pattern and the values of `matrix`, which has it, into slices on the host.
    fn with_values_blocking<O: Offset>(
        queue: &Queue,
        (matrix, values_id): (&AnyMatrix, u64),
        layout: &SellLayout<'_, O>,
        values_key: KernelKey,
        found: FoundCoding,
    ) -> Result<(Self, CopiedValues)> {
        let (words, nonzero_order) = layout.filled()?;
        let values = for_value_type!(matrix.value_type(), V => {
            let values = matrix.values().typed::<V>()?.read_blocking(queue)?;
            let make = |each: &[u8]| {
                let of = (matrix, values_id);
                CopiedValues::of_bytes_blocking(queue, of, layout.elements(), each, &found)
            };
            let in_order = (layout, &nonzero_order[..]);
            match found.coding {
                ValueCoding::OneValue => make(&[])?,
                ValueCoding::F32 => make_reordered(in_order, &narrow(&values), make)?,
                _ => make_reordered(in_order, &values, make)?,
            }
        });
        let pattern = DeviceSell {
            rows: matrix.rows(),
            chunks: DeviceArray::upload_blocking(queue, layout.chunks())?,
            words: DeviceArray::upload_blocking(queue, &words)?,
            nonzero_order: DeviceArray::upload_blocking(queue, &nonzero_order)?,
            elements: layout.elements(),
            values_key,
        };
        Ok((pattern, values))
    }

    /// Brings a pattern into slices, in the device's memory where the host reaches it there.
    fn fill_blocking<O: Offset>(
        queue: &Queue,
        rows: usize,
        layout: &SellLayout<'_, O>,
        values_key: KernelKey,
    ) -> Result<Self> {
        let traits = queue.context().device().traits();
        let chunks = DeviceArray::upload_blocking(queue, layout.chunks())?;
        let elements = layout.elements();
        // Oclgrind knows of what is uploaded that it was written; that is not known of what is written through a map.
        if !traits.has_host_memory || traits.is_oclgrind() {
            let (words, nonzero_order) = layout.filled()?;
            let words = DeviceArray::upload_blocking(queue, &words)?;
            let nonzero_order = DeviceArray::upload_blocking(queue, &nonzero_order)?;
            return Ok(DeviceSell { rows, chunks, words, nonzero_order, elements, values_key });
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
        Ok(DeviceSell { rows, chunks, words, nonzero_order, elements, values_key })
    }
}

impl ValueOrder for DeviceSell {
    fn elements(&self) -> usize {
        self.elements
    }

    fn move_blocking(
        &self,
        queue: &Queue,
        matrix: &AnyMatrix,
        source: &AnyArray,
        target: &AnyArray,
    ) -> Result<()> {
        let arguments = ValuesArguments {
            rows: self.rows as u32,
            chunks: self.chunks.argument(),
            words: self.words.argument(),
            nonzero_order: self.nonzero_order.argument(),
            offsets: matrix.offsets().argument(),
            source: source.argument(),
            target: target.argument(),
        };
        let program = queue.context().program(&moving_key(&self.values_key, source.element()))?;
        let mut sequence = LaunchSequence::new(queue, &program, 1);
        // SAFETY: chunks name the words, the order and the values of this plan; offsets and values were made or checked
        // for it.
        #[expect(unsafe_code, reason = "arguments and arrays are this module's own")]
        let moved = unsafe { sequence.run(&arguments, self.items())? };
        moved.wait()
    }
}

#[expect(unsafe_code, reason = "implements an unsafe method")]
impl CopyLayout for DeviceSell {
    const ALGORITHM: Algorithm = Algorithm::Sell;

    fn size_bytes(&self) -> usize {
        self.chunks.size_bytes() + self.words.size_bytes() + self.nonzero_order.size_bytes()
    }

    fn workspace_words(&self, _: &KernelKey) -> usize {
        0
    }

    unsafe fn launch(
        &self,
        mut parts: Parts<'_>,
        values: Array<&Memory>,
        operands: &Operands<'_>,
        _: Direction,
    ) -> Result<Option<Event>> {
        let arguments = Arguments {
            rows: self.rows as u32,
            chunks: self.chunks.argument(),
            words: self.words.argument(),
            values,
            x: operands.x,
            y: operands.y,
            alpha: operands.alpha,
            beta: operands.beta,
        };
        // An item is a group: what a core of a CPU takes at a time.
        let size = Size { groups: self.items(), group_size: 1 };
        // SAFETY: the caller's promise about x and y; the rest is this plan's own.
        unsafe { parts.launch(0, &arguments, size) }
    }
}

/// Makes something of the bytes of what stands for values, in the order of a layout.
fn make_reordered<O: Offset, E: Pod + Send + Sync, T>(
    (layout, nonzero_order): (&SellLayout<'_, O>, &[u16]),
    elements: &[E],
    make: impl FnOnce(&[u8]) -> Result<T>,
) -> Result<T> {
    let mut target = vec![E::zeroed(); layout.elements()];
    layout.fill_values(elements, nonzero_order, &mut target)?;
    make(bytemuck::cast_slice(&target))
}

/// The key of a product without what the layout has none of.
fn key_for<O: Offset>(layout: &SellLayout<'_, O>, key: KernelKey) -> KernelKey {
    let features = [
        (layout.is_all_strips(), FEATURE_STRIPS),
        (layout.is_all_narrow(), FEATURE_NARROW_COLUMNS),
    ];
    let on = features.into_iter().filter(|(is_on, _)| *is_on);
    on.fold(key, |key, (_, feature)| key.with_feature(feature))
}

/// `sell` as a plan asks for it.
pub(super) fn bind(request: &BindRequest<'_>) -> Result<Bound> {
    let parameters = request.parameters::<Parameters>()?;
    let BindRequest { queue, matrix, .. } = *request;
    let lay_out = |pattern: AnyPatternView<'_>| new_blocking(request, parameters, pattern);
    let spmv = match (request.planning, request.pattern) {
        (Planning::OnDevice, _) => {
            let rule = "it is laid out on the host";
            return Err(Error::combination("a plan made on the device", "sell", rule));
        }
        (_, Some(pattern)) => lay_out(pattern)?,
        (_, None) => matrix.with_host_pattern_blocking(queue, lay_out)?,
    };
    Ok(Bound::new(spmv, *parameters))
}

/// Builds the programs, lays out `pattern`, which is that of `matrix`, and reorders its values; `values_id`
/// says whose they are.
///
/// # Errors
/// A device without the value type, a kernel that does not build, no memory for the copy.
fn new_blocking(
    request: &BindRequest<'_>,
    parameters: Checked<Parameters>,
    pattern: AnyPatternView<'_>,
) -> Result<CodedSpmv<DeviceSell>> {
    let BindRequest { queue, matrix, specialisation, values_id, prefetches, .. } = *request;
    let context = queue.context();
    context.check_value_type(specialisation.value_type)?;
    let plain = Accumulate::Plain;
    let (value_type, offset_type) = (matrix.value_type(), matrix.offset_type());
    let values_key =
        KernelKey::new(VALUES_SOURCE, value_type, offset_type, plain, false, &*parameters);
    let rules = SellRules {
        slice_rows: parameters.slice_rows,
        chunks: parameters.chunks(context.device().traits().compute_units),
    };
    let by_host = is_reordered_by_host(queue, matrix);
    // Entries of a dictionary are looked up one by one, which takes longer than whole values.
    let found = request.found_coding_blocking(parameters.coded_values, false)?;
    // The product reads no offsets.
    let of_product = Specialisation { offset_type: OffsetType::U32, ..specialisation };
    let key = of_product.key(SOURCE, &*parameters).prefetching(prefetches);
    for_pattern!(pattern, pattern => {
        // As if values were as they are: new ones may have to be, and sums are the same either way.
        let layout = SellLayout::new(pattern, rules, value_type.size_bytes())?;
        // Before memory is taken: a kernel that does not build is told first.
        let key = key_for(&layout, key);
        let program = CodedProgram::new(context, key, found.coding, &["sell"])?;
        let (layout, values) = if by_host {
            let of = (matrix, values_id);
            DeviceSell::with_values_blocking(queue, of, &layout, values_key, found)?
        } else {
            let filled = DeviceSell::fill_blocking(queue, pattern.rows(), &layout, values_key)?;
            let values = CopiedValues::new_blocking(queue, &filled, matrix, values_id, found)?;
            (filled, values)
        };
        Ok(CodedSpmv { program, layout, values })
    })
}
