//! A copy of A's values in an order of the algorithm's own: whose values they are, and how they are stored.

use std::fmt::Debug;

use cl_kernels::KernelKey;
use cl_kernels::value_coding::{FEATURE_CODES, FEATURE_VALUES_ALONE};
use csr_core::{ValueCoding, ValueType};

use super::value_coding::{CODE, Coder, FoundCoding, shared};
use crate::matrix::NO_VALUES;
use crate::scratch::{any_for_a_kernel_to_write, any_zeros_blocking};
use crate::{AnyArray, AnyMatrix, ElementType, Queue, Result};

/// The order in which a copy has values: how those of compressed rows get there.
pub trait ValueOrder: Debug {
    /// Elements of the copy, those of padding among them.
    fn elements(&self) -> usize;

    /// Whether moving writes padding too; else the copy has zeros there from the beginning.
    fn writes_padding(&self) -> bool {
        true
    }

    /// Moves `source`, an element for each nonzero of `matrix`, to where `target` has them, bit for bit, and waits.
    /// Elements are values of the matrix's, or what stands for them: codes, or f32 (`moving_key`).
    ///
    /// # Errors
    /// The driver's own failure; what `target` holds is unknown then.
    fn move_blocking(
        &self,
        queue: &Queue,
        matrix: &AnyMatrix,
        source: &AnyArray,
        target: &AnyArray,
    ) -> Result<()>;
}

/// The key of a program that moves elements of this type, where `key` is that of one that moves the matrix's values.
pub(super) fn moving_key(key: &KernelKey, element: ElementType) -> KernelKey {
    match element {
        ElementType::Value(value_type) if value_type == key.value_type => key.clone(),
        ElementType::Value(value_type) => {
            KernelKey { value_type, ..key.clone() }.with_feature(FEATURE_VALUES_ALONE)
        }
        // Of f32, which every device has: no value is looked at.
        _ => KernelKey { value_type: ValueType::F32, ..key.clone() }
            .with_feature(FEATURE_VALUES_ALONE)
            .with_feature(FEATURE_CODES),
    }
}

/// A copy of values in such an order.
#[derive(Debug)]
pub struct CopiedValues {
    /// What a product reads: what codes refer to, and then an element for each nonzero.
    array: AnyArray,
    /// Its elements for nonzeros; `None` where one value stands for all.
    each: Option<AnyArray>,
    shared: Vec<u8>,
    coding: ValueCoding,
    coder: Coder,
    value_type: ValueType,
    elements: usize,
    values_id: u64,
}

impl CopiedValues {
    /// Of the values of `matrix`, stored as was found best for them; `values_id` says whose they are.
    ///
    /// # Errors
    /// The driver's own failure.
    pub(super) fn new_blocking(
        queue: &Queue,
        order: &dyn ValueOrder,
        matrix: &AnyMatrix,
        values_id: u64,
        found: FoundCoding,
    ) -> Result<Self> {
        let FoundCoding { coding, survey, coder } = found;
        let value_type = matrix.value_type();
        let shared =
            survey.as_ref().map_or(Vec::new(), |survey| shared(survey, value_type, coding));
        let (array, each) = allocate_blocking(queue, order, value_type, coding, &shared)?;
        let elements = order.elements();
        let mut copy = CopiedValues {
            array,
            each,
            shared,
            coding,
            coder,
            value_type,
            elements,
            values_id: NO_VALUES,
        };
        match survey {
            Some(survey) if coding != ValueCoding::AsTheyAre => {
                let coded = coder.code_blocking(queue, matrix, &survey, coding)?;
                copy.fill_blocking(queue, order, matrix, coded.each.as_ref())?;
            }
            _ => copy.fill_blocking(queue, order, matrix, Some(matrix.values()))?,
        }
        copy.values_id = values_id;
        Ok(copy)
    }

    /// Of values that the host has in their order: the bytes of `elements` elements, stored as was found best, which is no
    /// dictionary.
    ///
    /// # Errors
    /// The driver's own failure.
    pub(super) fn of_bytes_blocking(
        queue: &Queue,
        (matrix, values_id): (&AnyMatrix, u64),
        elements: usize,
        each: &[u8],
        found: &FoundCoding,
    ) -> Result<Self> {
        let (value_type, coding) = (matrix.value_type(), found.coding);
        let shared =
            found.survey.as_ref().map_or(Vec::new(), |survey| shared(survey, value_type, coding));
        let (array, each) = match coding {
            ValueCoding::OneValue => (AnyArray::upload_blocking(queue, value_type, &shared)?, None),
            _ => whole(AnyArray::upload_blocking(queue, stored_type(coding, value_type), each)?),
        };
        let coder = found.coder;
        Ok(CopiedValues { array, each, shared, coding, coder, value_type, elements, values_id })
    }

    /// Brings the copy up to date. Where the coding does not hold for new values, they are stored as they are from then
    /// on: the copy has another coding, and its product needs another form.
    ///
    /// # Errors
    /// The driver's own failure; the copy is invalid then.
    pub(super) fn update_blocking(
        &mut self,
        queue: &Queue,
        order: &dyn ValueOrder,
        matrix: &AnyMatrix,
        values_id: u64,
    ) -> Result<()> {
        // Until the wait ends well, it is unknown which values the copy holds.
        self.values_id = NO_VALUES;
        let each = match self.coding {
            ValueCoding::AsTheyAre => Some(matrix.values().alias()),
            coding => {
                let survey = self.coder.survey_blocking(queue, matrix.values())?;
                let kept = if survey.allows(coding) { coding } else { ValueCoding::AsTheyAre };
                let coded = self.coder.code_blocking(queue, matrix, &survey, kept)?;
                if kept != coding {
                    tracing::warn!(%coding, "new values do not keep the coding: they are stored as they are");
                }
                if kept != coding || coded.shared != self.shared {
                    let (array, each) =
                        allocate_blocking(queue, order, self.value_type, kept, &coded.shared)?;
                    (self.array, self.each) = (array, each);
                    (self.coding, self.shared) = (kept, coded.shared);
                }
                coded.each
            }
        };
        self.fill_blocking(queue, order, matrix, each.as_ref())?;
        self.values_id = values_id;
        Ok(())
    }

    fn fill_blocking(
        &self,
        queue: &Queue,
        order: &dyn ValueOrder,
        matrix: &AnyMatrix,
        source: Option<&AnyArray>,
    ) -> Result<()> {
        match source.zip(self.each.as_ref()) {
            Some((source, target)) => order.move_blocking(queue, matrix, source, target),
            None => Ok(()),
        }
    }

    /// Says that the copy is of no matrix's values.
    pub(super) fn invalidate(&mut self) {
        self.values_id = NO_VALUES;
    }

    /// What the product reads.
    pub(super) fn array(&self) -> &AnyArray {
        &self.array
    }

    /// How values are stored.
    pub fn coding(&self) -> ValueCoding {
        self.coding
    }

    /// [`AnyMatrix::values_id`] of the values.
    pub fn values_id(&self) -> u64 {
        self.values_id
    }

    /// Bytes of the copy on the device.
    pub fn size_bytes(&self) -> usize {
        self.array.size_bytes()
    }

    /// Bytes that values would take as they are.
    pub fn plain_bytes(&self) -> usize {
        self.elements * self.value_type.size_bytes()
    }
}

/// What each value is stored as, where that is a value.
fn stored_type(coding: ValueCoding, value_type: ValueType) -> ValueType {
    if coding == ValueCoding::F32 { ValueType::F32 } else { value_type }
}

/// An array of nothing but elements for nonzeros.
fn whole(array: AnyArray) -> (AnyArray, Option<AnyArray>) {
    (array.alias(), Some(array))
}

/// An array with `shared` at its beginning, and its part for nonzeros.
fn allocate_blocking(
    queue: &Queue,
    order: &dyn ValueOrder,
    value_type: ValueType,
    coding: ValueCoding,
    shared: &[u8],
) -> Result<(AnyArray, Option<AnyArray>)> {
    let elements = order.elements();
    let empty = |element: ElementType, len: usize| match order.writes_padding() {
        true => any_for_a_kernel_to_write(queue, element, len),
        false => any_zeros_blocking(queue, element, len),
    };
    match coding {
        ValueCoding::AsTheyAre | ValueCoding::F32 => {
            Ok(whole(empty(stored_type(coding, value_type).into(), elements)?))
        }
        ValueCoding::OneValue => Ok((AnyArray::upload_blocking(queue, value_type, shared)?, None)),
        ValueCoding::Dictionary => {
            let bytes = shared.len() + elements;
            // Oclgrind takes for undefined what the host writes into a part of a buffer.
            let array = if queue.context().device().traits().is_written_by_host() {
                let mut all = shared.to_vec();
                all.resize(bytes, 0);
                AnyArray::upload_blocking(queue, CODE, &all)?
            } else {
                let mut array = empty(CODE, bytes)?;
                array.write_bytes_blocking(queue, shared)?;
                array
            };
            let each = array.view(CODE, shared.len(), elements)?;
            Ok((array, Some(each)))
        }
    }
}
