//! What A's values have in common, and their codes: found by the host where the device's memory is its own, else on the
//! device, and a few kilobytes are read back.

use std::sync::Arc;

use cl_kernels::value_coding::{
    CodeArguments, FindArguments, NarrowArguments, RUN, SOURCE, TABLE_SLOTS, TableArguments,
    ValueCodingKernel, dictionary_pays,
};
use cl_kernels::{Accumulate, KernelKey};
use csr_core::{OffsetType, Real, ValueCoding, ValueSurvey, ValueType, for_value_type};

use super::{BindRequest, Planning};
use crate::launch::LaunchSequence;
use crate::row_lengths::is_for_the_host;
use crate::scratch::any_for_a_kernel_to_write;
use crate::{AnyArray, AnyMatrix, DeviceArray, ElementType, Error, Program, Queue, Result};

/// Values that are looked at first: where these have nothing in common, nothing is built for the others.
const FIRST_VALUES: usize = 4096;

/// Values that a kernel looks at: an item counts them in 32 bits, by steps of a group, which must not wrap around.
const MOST_ON_DEVICE: usize = (u32::MAX - 1024) as usize;

/// Who looks at values and codes them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Coder {
    Host,
    Device,
}

/// How values may be stored, and what is known of them.
#[derive(Debug)]
pub(super) struct FoundCoding {
    pub(super) coding: ValueCoding,
    pub(super) survey: Option<ValueSurvey>,
    pub(super) coder: Coder,
}

impl FoundCoding {
    /// Values as they are, not looked at.
    pub(super) fn as_they_are() -> Self {
        FoundCoding { coding: ValueCoding::AsTheyAre, survey: None, coder: Coder::Host }
    }
}

impl BindRequest<'_> {
    /// How an algorithm's copy is to store the matrix's values, by its parameter `coded_values`: as they are (0), in the
    /// coding of the fewest bytes, a dictionary where that pays (1), or wherever it holds (2). Without
    /// `has_dictionaries` its product reads none.
    ///
    /// # Errors
    /// The driver's own failure, or a kernel that does not build.
    pub(super) fn found_coding_blocking(
        &self,
        coded_values: u32,
        has_dictionaries: bool,
    ) -> Result<FoundCoding> {
        if coded_values == 0 {
            return Ok(FoundCoding::as_they_are());
        }
        let traits = self.context().device().traits();
        let coder = match self.planning {
            Planning::Automatic if is_for_the_host(traits) => Coder::Host,
            Planning::OnHost => Coder::Host,
            Planning::Automatic | Planning::OnDevice => Coder::Device,
        };
        let (values, nnz) = (self.matrix.values(), self.matrix.nnz() as u64);
        let pays = || dictionary_pays(self.specialisation.value_type, nnz, self.cache_bytes);
        let may_look_up = has_dictionaries && (coded_values > 1 || pays());
        let survey = coder.survey_blocking(self.queue, values)?;
        let coding = survey.coding_of(|coding| may_look_up || coding != ValueCoding::Dictionary);
        Ok(FoundCoding { coding, survey: Some(survey), coder })
    }
}

/// The coding that the values of a matrix may have by the first few, which alone are looked at, and where it pays with a
/// last cache of `cache_bytes`.
///
/// # Errors
/// The driver's own failure.
pub fn promised_coding_blocking(
    queue: &Queue,
    matrix: &AnyMatrix,
    cache_bytes: u64,
) -> Result<ValueCoding> {
    let pays = dictionary_pays(matrix.value_type(), matrix.nnz() as u64, cache_bytes);
    let survey = survey_of_first(queue, matrix.values())?.with_count(matrix.nnz());
    Ok(survey.coding_of(|coding| pays || coding != ValueCoding::Dictionary))
}

/// What the first few have in common.
fn survey_of_first(queue: &Queue, values: &AnyArray) -> Result<ValueSurvey> {
    survey_on_host(queue, &values.slice(0..values.len().min(FIRST_VALUES))?)
}

/// Values coded, in the order of compressed rows.
pub(super) struct Coded {
    /// What codes refer to: the one value, or the dictionary; nothing else.
    pub(super) shared: Vec<u8>,
    /// An element for each nonzero; `None` where there is one value.
    pub(super) each: Option<AnyArray>,
}

impl Coder {
    /// What values have in common; once they have nothing, no more of them are looked at.
    ///
    /// # Errors
    /// The driver's own failure, or a kernel that does not build.
    pub(super) fn survey_blocking(self, queue: &Queue, values: &AnyArray) -> Result<ValueSurvey> {
        let first = survey_of_first(queue, values)?;
        if values.len() <= FIRST_VALUES || !first.has_promise() {
            return Ok(first.with_count(values.len()));
        }
        match self {
            Coder::Host => survey_on_host(queue, values),
            // Their numbers have 32 bits there.
            Coder::Device if values.len() <= MOST_ON_DEVICE => {
                queue.fitting(Error::kernel_group_limit, |queue| survey_on_device(queue, values))
            }
            Coder::Device => Ok(ValueSurvey::of_parts(type_of(values)?, values.len(), None, false)),
        }
    }

    /// The values of `matrix` in `coding`, which `survey` allows.
    ///
    /// # Errors
    /// The driver's own failure, or a kernel that does not build.
    pub(super) fn code_blocking(
        self,
        queue: &Queue,
        matrix: &AnyMatrix,
        survey: &ValueSurvey,
        coding: ValueCoding,
    ) -> Result<Coded> {
        let values = matrix.values();
        let each = match (coding, self) {
            (ValueCoding::AsTheyAre, _) => Some(values.alias()),
            (ValueCoding::OneValue, _) => None,
            (_, Coder::Host) => Some(code_on_host(queue, values, survey, coding)?),
            (_, Coder::Device) => {
                let code = |queue: &Queue| code_on_device(queue, values, survey, coding);
                Some(queue.fitting(Error::kernel_group_limit, code)?)
            }
        };
        Ok(Coded { shared: shared(survey, matrix.value_type(), coding), each })
    }
}

/// What codes refer to.
pub(super) fn shared(survey: &ValueSurvey, value_type: ValueType, coding: ValueCoding) -> Vec<u8> {
    if !matches!(coding, ValueCoding::OneValue | ValueCoding::Dictionary) {
        return Vec::new();
    }
    let mut shared = bytes_of(survey.distinct(), value_type);
    shared.resize(coding.shared_bytes(value_type), 0);
    shared
}

/// The bytes of values that are known by their bits.
fn bytes_of(bits: &[u64], value_type: ValueType) -> Vec<u8> {
    let bytes = |bits: &u64| match value_type.size_bytes() {
        8 => bits.to_ne_bytes().to_vec(),
        4 => (*bits as u32).to_ne_bytes().to_vec(),
        _ => (*bits as u16).to_ne_bytes().to_vec(),
    };
    bits.iter().flat_map(bytes).collect()
}

fn type_of(values: &AnyArray) -> Result<ValueType> {
    values.value_type("the array of values")
}

fn survey_on_host(queue: &Queue, values: &AnyArray) -> Result<ValueSurvey> {
    for_value_type!(type_of(values)?, V => {
        Ok(ValueSurvey::of(&values.typed::<V>()?.read_blocking(queue)?))
    })
}

/// Values as f32, which they are.
pub(super) fn narrow<V: Real>(values: &[V]) -> Vec<f32> {
    values.iter().map(|value| value.to_f64() as f32).collect()
}

fn code_on_host(
    queue: &Queue,
    values: &AnyArray,
    survey: &ValueSurvey,
    coding: ValueCoding,
) -> Result<AnyArray> {
    for_value_type!(type_of(values)?, V => {
        let values = values.typed::<V>()?.read_blocking(queue)?;
        if coding == ValueCoding::F32 {
            return Ok(DeviceArray::upload_blocking(queue, &narrow(&values))?.into_any());
        }
        Ok(DeviceArray::upload_blocking(queue, &survey.codes(&values))?.into_any())
    })
}

/// The program for values of a type, and the items of its groups.
fn program(queue: &Queue, value_type: ValueType) -> Result<(Arc<Program>, usize)> {
    let most = queue.context().device().traits().max_group_size;
    let parameters = ValueCodingKernel { group_size: 1 << most.clamp(1, 256).ilog2() };
    let (plain, offsets) = (Accumulate::Plain, OffsetType::U32);
    let key = KernelKey::new(SOURCE, value_type, offsets, plain, false, &parameters);
    Ok((queue.context().program(&key)?, parameters.group_size as usize))
}

fn survey_on_device(queue: &Queue, values: &AnyArray) -> Result<ValueSurvey> {
    let value_type = type_of(values)?;
    let (program, group_size) = program(queue, value_type)?;
    let mut sequence = LaunchSequence::new(queue, &program, group_size);
    // The table, and what was found.
    let words = DeviceArray::upload_blocking(queue, &[0_u32; TABLE_SLOTS + 2])?;
    let (table, found) = (words.slice(0..TABLE_SLOTS)?, words.slice(TABLE_SLOTS..words.len())?);
    let occurring = any_for_a_kernel_to_write(queue, value_type, TABLE_SLOTS)?;
    let finding = FindArguments {
        count: values.len() as u32,
        source: values.argument(),
        table: table.argument(),
        found: found.argument(),
    };
    let fetching = TableArguments {
        source: values.argument(),
        table: table.argument(),
        values: occurring.argument(),
    };
    let groups = sequence.groups(values.len().div_ceil(RUN));
    // SAFETY: the table has its slots, each with an index among the values, and there is a value for each.
    #[expect(unsafe_code, reason = "arguments and arrays are this module's own")]
    unsafe {
        sequence.run(&finding, groups)?;
        sequence.run(&fetching, TABLE_SLOTS.div_ceil(group_size))?;
    }
    let words = words.read_blocking(queue)?;
    let are_f32 = value_type == ValueType::F64 && words[TABLE_SLOTS + 1] == 0;
    let distinct = if words[TABLE_SLOTS] as usize <= ValueCoding::MOST_DISTINCT {
        let size = value_type.size_bytes();
        let mut bytes = vec![0; TABLE_SLOTS * size];
        occurring.read_bytes_blocking(queue, &mut bytes)?;
        let bits =
            |bytes: &[u8]| bytes.iter().rev().fold(0, |bits, byte| bits << 8 | u64::from(*byte));
        let all = bytes.chunks_exact(size).map(bits).zip(&words);
        Some(all.filter(|(_, slot)| **slot > 0).map(|(bits, _)| bits).collect())
    } else {
        None
    };
    Ok(ValueSurvey::of_parts(value_type, values.len(), distinct, are_f32))
}

fn code_on_device(
    queue: &Queue,
    values: &AnyArray,
    survey: &ValueSurvey,
    coding: ValueCoding,
) -> Result<AnyArray> {
    let value_type = type_of(values)?;
    let (program, group_size) = program(queue, value_type)?;
    let mut sequence = LaunchSequence::new(queue, &program, group_size);
    let groups = sequence.groups(values.len().div_ceil(RUN));
    let count = values.len() as u32;
    let source = values.argument();
    let (coded, done) = if coding == ValueCoding::F32 {
        let narrow = any_for_a_kernel_to_write(queue, ValueType::F32, values.len())?;
        let arguments = NarrowArguments { count, source, narrow: narrow.argument() };
        // SAFETY: an f32 for each value.
        #[expect(unsafe_code, reason = "arguments and arrays are this module's own")]
        let done = unsafe { sequence.run(&arguments, groups)? };
        (narrow, done)
    } else {
        let distinct = survey.distinct();
        let bytes = bytes_of(distinct, value_type);
        let dictionary = AnyArray::upload_blocking(queue, value_type, &bytes)?;
        let codes = any_for_a_kernel_to_write(queue, CODE, values.len())?;
        let arguments = CodeArguments {
            count,
            entries: distinct.len() as u32,
            dictionary: dictionary.argument(),
            source,
            codes: codes.argument(),
        };
        // SAFETY: a code for each value, and the dictionary is as long as it says.
        #[expect(unsafe_code, reason = "arguments and arrays are this module's own")]
        let done = unsafe { sequence.run(&arguments, groups)? };
        // Before the dictionary is gone.
        done.wait()?;
        (codes, done)
    };
    done.wait()?;
    Ok(coded)
}

/// A code of a value.
pub(super) const CODE: ElementType = ElementType::Other(1);
