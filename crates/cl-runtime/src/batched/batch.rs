//! A batch on the device: uploaded, or borrowed from the application.

use std::sync::Arc;

use cl_kernels::Array;
use cl_kernels::batched::MOST_RANGES;
use csr_core::batch::{
    AnyHostBatch, Lengths, PADDING, Problem, StridedRange, check_problems, find_ranges,
};
use csr_core::{OffsetType, ValueType};

use crate::matrix::next_id;
use crate::raw::Memory;
use crate::{AnyArray, Context, DeviceArray, ElementType, Error, Queue, Result, check_size};

/// Column indices of a batch.
#[derive(Debug)]
pub enum BatchColumns {
    /// 16 bits each, for problems of at most 65,536 columns; 65,535 fills up rows of ELL.
    U16(DeviceArray<u16>),
    /// 32 bits each; 2^32 - 1 fills up rows of ELL.
    U32(DeviceArray<u32>),
}

/// How wide uploaded column indices are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ColumnWidth {
    /// 16 bits where every problem's columns fit, else 32.
    #[default]
    Automatic,
    /// 32 bits.
    U32,
}

/// Many small matrices in device memory, whose types are known at run time.
///
/// Values can change; the patterns cannot. Plans belong to the patterns, which every batch made from another by
/// [`AnyBatch::with_values`] shares.
#[derive(Debug)]
pub struct AnyBatch {
    context: Context,
    problems: Arc<[Problem]>,
    /// `None` where they are too many.
    ranges: Option<Arc<[StridedRange]>>,
    value_type: ValueType,
    offset_type: OffsetType,
    offsets: AnyArray,
    indices: DeviceArray<u32>,
    columns: BatchColumns,
    values: AnyArray,
    pattern_id: u64,
    x_len: usize,
    y_len: usize,
}

const _: () = assert!(PADDING as u16 == u16::MAX);

impl AnyBatch {
    /// Uploads a batch; returns when it is on the device.
    ///
    /// # Errors
    /// An array above the device's largest allocation, or the driver's own failure.
    pub fn upload_blocking(
        queue: &Queue,
        batch: AnyHostBatch<'_>,
        width: ColumnWidth,
    ) -> Result<Self> {
        let columns = if width == ColumnWidth::Automatic && batch.has_short_columns() {
            // Padding becomes the largest 16-bit number, as PADDING is the largest of 32.
            let short: Vec<u16> = batch.columns().iter().map(|&column| column as u16).collect();
            BatchColumns::U16(DeviceArray::upload_blocking(queue, &short)?)
        } else {
            BatchColumns::U32(DeviceArray::upload_blocking(queue, batch.columns())?)
        };
        let offsets = DeviceArray::upload_blocking(queue, batch.offsets())?.into_any();
        let indices = DeviceArray::upload_blocking(queue, batch.indices())?;
        let values = batch.values();
        let values = AnyArray::upload_blocking(queue, values.value_type(), values.bytes())?;
        let problems = batch.problems().into();
        // SAFETY: a host batch is made of checked matrices, and was just copied.
        #[expect(unsafe_code, reason = "arrays that were just copied from checked ones")]
        unsafe {
            Self::from_arrays(queue.context(), problems, offsets, indices, columns, values)
        }
    }

    /// Borrows a batch whose arrays the application already has on the device; nothing is copied. Where no problem
    /// needs one of the first two arrays, it may be empty.
    ///
    /// # Safety
    /// The arrays hold valid patterns at the places that `problems` name: row offsets that never fall and span
    /// `entries`, row indices below `rows` in order, columns below `cols` or padding.
    ///
    /// # Errors
    /// A problem that reaches beyond an array or into another's part, by its index; arrays of another context, or row
    /// offsets or values of no such type.
    #[expect(unsafe_code, reason = "trusts device memory")]
    pub unsafe fn from_arrays(
        context: &Context,
        problems: Arc<[Problem]>,
        offsets: AnyArray,
        indices: DeviceArray<u32>,
        columns: BatchColumns,
        values: AnyArray,
    ) -> Result<Self> {
        let (offset_type, value_type) =
            (offsets.offset_type()?, values.value_type("the array of values")?);
        context.check_array("the array of row offsets", &offsets)?;
        context.check_array("the array of row indices", &indices)?;
        context.check_array("the array of values", &values)?;
        match &columns {
            BatchColumns::U16(columns) => context.check_array("the array of columns", columns)?,
            BatchColumns::U32(columns) => context.check_array("the array of columns", columns)?,
        }
        let lengths = Lengths {
            offsets: offsets.len(),
            indices: indices.len(),
            columns: columns.len(),
            values: values.len(),
        };
        check_problems(&problems, lengths)?;
        u32::try_from(problems.len()).map_err(|_| Error::Range {
            what: "the number of problems".to_owned(),
            value: problems.len() as u64,
            rule: format!("it must be at most {}", u32::MAX),
        })?;
        let end = |range: fn(&Problem) -> std::ops::Range<u64>| {
            problems.iter().map(|problem| range(problem).end).max().unwrap_or(0) as usize
        };
        let (x_len, y_len) = (end(Problem::x_range), end(Problem::y_range));
        let (context, pattern_id) = (context.clone(), next_id());
        let ranges = find_ranges(&problems, MOST_RANGES).map(Arc::from);
        Ok(AnyBatch {
            context,
            problems,
            ranges,
            value_type,
            offset_type,
            offsets,
            indices,
            columns,
            values,
            pattern_id,
            x_len,
            y_len,
        })
    }

    /// The same patterns with other values; every plan of this batch fits the new one.
    ///
    /// # Errors
    /// Not as many values, or values of another type or context.
    pub fn with_values(&self, values: AnyArray) -> Result<Self> {
        self.check_values(values.len())?;
        values.check_element("the array of values", self.value_type)?;
        self.context.check_array("the array of values", &values)?;
        Ok(AnyBatch {
            context: self.context.clone(),
            problems: self.problems.clone(),
            ranges: self.ranges.clone(),
            offsets: self.offsets.alias(),
            indices: self.indices.slice(0..self.indices.len())?,
            columns: match &self.columns {
                BatchColumns::U16(columns) => BatchColumns::U16(columns.slice(0..columns.len())?),
                BatchColumns::U32(columns) => BatchColumns::U32(columns.slice(0..columns.len())?),
            },
            values,
            ..*self
        })
    }

    /// Overwrites the values, which are given as they lie in memory; returns when they are on the device.
    ///
    /// # Errors
    /// Not as many values, or the driver's own failure.
    pub fn write_values_blocking(&mut self, queue: &Queue, bytes: &[u8]) -> Result<()> {
        self.check_values(bytes.len() / self.value_type.size_bytes())?;
        self.values.write_bytes_blocking(queue, bytes)
    }

    fn check_values(&self, found: usize) -> Result<()> {
        let rule = "one for each that the batch stores";
        check_size("the array of values", (found, "element"), self.values.len(), rule)
    }

    /// The problems, in the application's order.
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }

    /// One problem of each strided range of problems that are alike, and how many those are; where strided ranges are
    /// many, every problem by itself.
    pub fn kinds(&self) -> impl Iterator<Item = (&Problem, usize)> {
        let few = self.ranges.iter().flat_map(|ranges| ranges.iter());
        let few = few.map(|its| (&self.problems[its.first as usize], its.count as usize));
        let all = if self.ranges.is_none() { &*self.problems } else { &[] };
        few.chain(all.iter().map(|problem| (problem, 1)))
    }

    pub(super) fn ranges(&self) -> Option<&[StridedRange]> {
        self.ranges.as_deref()
    }

    /// The context the batch lives in.
    pub fn context(&self) -> &Context {
        &self.context
    }

    /// The type of the values.
    pub fn value_type(&self) -> ValueType {
        self.value_type
    }

    /// The type of the row offsets.
    pub fn offset_type(&self) -> OffsetType {
        self.offset_type
    }

    /// Row offsets of problems in compressed rows.
    pub fn offsets(&self) -> &AnyArray {
        &self.offsets
    }

    /// Row indices of problems in coordinates, and slice starts.
    pub fn indices(&self) -> &DeviceArray<u32> {
        &self.indices
    }

    /// Column indices.
    pub fn columns(&self) -> &BatchColumns {
        &self.columns
    }

    /// Values.
    pub fn values(&self) -> &AnyArray {
        &self.values
    }

    /// Elements that an array of all x has at least.
    pub fn x_len(&self) -> usize {
        self.x_len
    }

    /// Elements that an array of all y has at least.
    pub fn y_len(&self) -> usize {
        self.y_len
    }

    /// Bytes of the four arrays.
    pub fn size_bytes(&self) -> usize {
        let columns = self.columns.len() * self.columns.element_bytes();
        self.offsets.size_bytes() + self.indices.size_bytes() + columns + self.values.size_bytes()
    }

    /// Equal for batches that share their patterns.
    pub fn pattern_id(&self) -> u64 {
        self.pattern_id
    }
}

impl BatchColumns {
    /// Column indices of an array whose type is known at run time.
    ///
    /// # Errors
    /// Elements of another type than `u16` and `u32`.
    pub fn of(columns: AnyArray) -> Result<Self> {
        match columns.element() {
            ElementType::U16 => Ok(BatchColumns::U16(columns.into_typed()?)),
            _ => Ok(BatchColumns::U32(columns.into_typed()?)),
        }
    }

    /// Column indices.
    pub fn len(&self) -> usize {
        match self {
            BatchColumns::U16(columns) => columns.len(),
            BatchColumns::U32(columns) => columns.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes of one.
    pub fn element_bytes(&self) -> usize {
        match self {
            BatchColumns::U16(_) => 2,
            BatchColumns::U32(_) => 4,
        }
    }

    pub(crate) fn argument(&self) -> Array<&Memory> {
        match self {
            BatchColumns::U16(columns) => columns.argument(),
            BatchColumns::U32(columns) => columns.argument(),
        }
    }
}
