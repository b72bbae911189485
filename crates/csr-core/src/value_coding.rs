//! Fewer bytes for values that repeat, or that a narrower type holds: how a copy of A's values may store them, bit for
//! bit what they are.

use crate::{Value, ValueType};

/// How a copy stores values. What a product reads is what was stored, payloads of NaN and signs of zeros included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ValueCoding {
    /// As they are.
    #[default]
    AsTheyAre,
    /// One value, which all of them are.
    OneValue,
    /// At most [`ValueCoding::MOST_DISTINCT`] values, and for each nonzero 8 bits that say which.
    Dictionary,
    /// f64 values as f32, which each of them is.
    F32,
}

impl ValueCoding {
    /// Entries of a dictionary: what 8 bits count.
    pub const MOST_DISTINCT: usize = 256;

    /// Bytes of each value.
    pub fn bytes_of_value(self, value_type: ValueType) -> usize {
        match self {
            ValueCoding::AsTheyAre => value_type.size_bytes(),
            ValueCoding::OneValue => 0,
            ValueCoding::Dictionary => 1,
            ValueCoding::F32 => ValueType::F32.size_bytes(),
        }
    }

    /// Bytes that do not depend on how many values there are: those that others refer to.
    pub fn shared_bytes(self, value_type: ValueType) -> usize {
        let entries = match self {
            ValueCoding::AsTheyAre | ValueCoding::F32 => 0,
            ValueCoding::OneValue => 1,
            ValueCoding::Dictionary => ValueCoding::MOST_DISTINCT,
        };
        entries * value_type.size_bytes()
    }

    /// Bytes of `count` values.
    pub fn bytes(self, value_type: ValueType, count: usize) -> usize {
        self.shared_bytes(value_type) + count * self.bytes_of_value(value_type)
    }
}

/// `as they are`, `one value`, `a dictionary`, `f32`.
impl std::fmt::Display for ValueCoding {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(match self {
            ValueCoding::AsTheyAre => "as they are",
            ValueCoding::OneValue => "one value",
            ValueCoding::Dictionary => "a dictionary",
            ValueCoding::F32 => "f32",
        })
    }
}

/// What some values have in common.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValueSurvey {
    value_type: ValueType,
    /// How many values there are.
    count: usize,
    /// The bits of each value that occurs, in order of size and then of sign; empty where they are too many.
    distinct: Vec<u64>,
    are_f32: bool,
}

impl ValueSurvey {
    /// Of `values`; it looks no further once they have nothing in common.
    pub fn of<V: Value>(values: &[V]) -> Self {
        let mut found = DistinctBits::default();
        let mut are_f32 = V::TYPE == ValueType::F64;
        let mut last = None;
        for value in values {
            let bits = bits_of(value);
            // Neighbours are often alike.
            if last == Some(bits) {
                continue;
            }
            last = Some(bits);
            found.add(bits);
            are_f32 = are_f32 && is_f32(bits);
            if found.is_full && !are_f32 {
                break;
            }
        }
        Self::of_parts(V::TYPE, values.len(), found.into_distinct(), are_f32)
    }

    /// From what was found elsewhere: the bits of each value that occurs, in any order, or none where they are more than
    /// [`ValueCoding::MOST_DISTINCT`]; and whether each is an f32.
    pub fn of_parts(
        value_type: ValueType,
        count: usize,
        distinct: Option<Vec<u64>>,
        are_f32: bool,
    ) -> Self {
        let mut distinct = distinct.unwrap_or_default();
        let width = 8 * value_type.size_bytes() as u32;
        distinct.sort_unstable_by_key(|bits| size_before_sign(*bits, width));
        ValueSurvey {
            value_type,
            count,
            distinct,
            are_f32: are_f32 && value_type == ValueType::F64,
        }
    }

    /// The bits of each value that occurs, the smallest first, where they are few.
    pub fn distinct(&self) -> &[u64] {
        &self.distinct
    }

    /// Whether values can be stored so. What padding is read as, the first that occurs, is finite.
    pub fn allows(&self, coding: ValueCoding) -> bool {
        let begins_finite =
            self.distinct.first().is_some_and(|bits| is_finite(*bits, self.value_type));
        match coding {
            ValueCoding::AsTheyAre => true,
            ValueCoding::OneValue => begins_finite && self.distinct.len() == 1,
            ValueCoding::Dictionary => begins_finite,
            ValueCoding::F32 => self.are_f32,
        }
    }

    /// The same of `count` values, of which those looked at were the first.
    #[must_use]
    pub fn with_count(self, count: usize) -> Self {
        ValueSurvey { count, ..self }
    }

    /// Whether more values might have something in common with these.
    pub fn has_promise(&self) -> bool {
        !self.distinct.is_empty() || self.are_f32
    }

    /// The coding of the fewest bytes.
    pub fn coding(&self) -> ValueCoding {
        self.coding_of(|_| true)
    }

    /// The coding of the fewest bytes of those that are `allowed`.
    pub fn coding_of(&self, allowed: impl Fn(ValueCoding) -> bool) -> ValueCoding {
        let bytes = |coding: &ValueCoding| coding.bytes(self.value_type, self.count);
        // Of two that take as many, the first: what asks for less work.
        [ValueCoding::AsTheyAre, ValueCoding::OneValue, ValueCoding::F32, ValueCoding::Dictionary]
            .into_iter()
            .filter(|coding| self.allows(*coding) && allowed(*coding))
            .min_by_key(bytes)
            .unwrap_or_default()
    }

    /// The index of each value among the distinct ones, which all of them are.
    pub fn codes<V: Value>(&self, values: &[V]) -> Vec<u8> {
        let width = 8 * self.value_type.size_bytes() as u32;
        let keys: Vec<_> =
            self.distinct.iter().map(|bits| size_before_sign(*bits, width)).collect();
        let mut last = (None, 0);
        let mut code = |value: &V| {
            let key = size_before_sign(bits_of(value), width);
            if last.0 != Some(key) {
                last = (Some(key), keys.partition_point(|other| *other < key) as u8);
            }
            last.1
        };
        values.iter().map(&mut code).collect()
    }
}

/// The bits of a value, the first byte the lowest.
fn bits_of<V: Value>(value: &V) -> u64 {
    match bytemuck::bytes_of(value) {
        bytes if bytes.len() == 8 => u64::from_ne_bytes(bytes.try_into().unwrap_or_default()),
        bytes if bytes.len() == 4 => {
            u32::from_ne_bytes(bytes.try_into().unwrap_or_default()).into()
        }
        bytes => bytes.try_into().map_or(0, |bytes| u16::from_ne_bytes(bytes).into()),
    }
}

/// What numbers are sorted by: their size, then their sign. So infinities and NaN come after all others.
fn size_before_sign(bits: u64, width: u32) -> u64 {
    let without_sign = bits & (u64::MAX >> (65 - width));
    without_sign << 1 | bits >> (width - 1)
}

/// Whether bits are those of a number.
fn is_finite(bits: u64, value_type: ValueType) -> bool {
    let infinity = match value_type {
        ValueType::F64 => f64::INFINITY.to_bits(),
        ValueType::F32 => f32::INFINITY.to_bits().into(),
        ValueType::F16 => half::f16::INFINITY.to_bits().into(),
        ValueType::Bf16 => half::bf16::INFINITY.to_bits().into(),
    };
    bits & infinity != infinity
}

/// Whether the bits of an f64 are those of an f32 that was widened: a zero, an infinity, a number that is normal in f32,
/// or a quiet NaN whose payload f32 has bits for. Numbers that are subnormal in f32 are not: devices may take them for 0.
fn is_f32(bits: u64) -> bool {
    const MANTISSA_BITS: u32 = f64::MANTISSA_DIGITS - 1;
    let mantissa = bits & ((1 << MANTISSA_BITS) - 1);
    let dropped = mantissa & ((1 << (f64::MANTISSA_DIGITS - f32::MANTISSA_DIGITS)) - 1);
    let is_quiet = mantissa >> (MANTISSA_BITS - 1) == 1;
    let is_of_range = match bits >> MANTISSA_BITS & 0x7ff {
        0 => mantissa == 0,
        0x7ff => mantissa == 0 || is_quiet,
        exponent => (1023 - 126..=1023 + 127).contains(&exponent),
    };
    dropped == 0 && is_of_range
}

/// The values seen so far, until they are too many.
struct DistinctBits {
    /// A hash table: 1 + the index among `found`, or 0.
    slots: Vec<u16>,
    found: Vec<u64>,
    is_full: bool,
}

/// Four times as many as there are entries: few slots are looked at.
const SLOTS: usize = 4 * ValueCoding::MOST_DISTINCT;

impl Default for DistinctBits {
    fn default() -> Self {
        DistinctBits { slots: vec![0; SLOTS], found: Vec::new(), is_full: false }
    }
}

impl DistinctBits {
    fn add(&mut self, bits: u64) {
        if self.is_full {
            return;
        }
        // The golden ratio's bits spread what differs anywhere over the highest.
        let mut slot = (bits.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 54) as usize % SLOTS;
        while self.slots[slot] != 0 {
            if self.found[self.slots[slot] as usize - 1] == bits {
                return;
            }
            slot = (slot + 1) % SLOTS;
        }
        if self.found.len() == ValueCoding::MOST_DISTINCT {
            self.is_full = true;
            return;
        }
        self.found.push(bits);
        self.slots[slot] = self.found.len() as u16;
    }

    fn into_distinct(self) -> Option<Vec<u64>> {
        (!self.is_full).then_some(self.found)
    }
}

#[cfg(test)]
mod tests {
    use half::f16;

    use super::*;

    /// So many different values, none of them an f32, often enough that a dictionary pays.
    fn distinct(count: usize) -> Vec<f64> {
        (0..20 * count.max(100)).map(|at| 0.1 + (at % count) as f64).collect()
    }

    #[test]
    fn the_coding_of_the_fewest_bytes_is_taken() {
        let coding = |count| ValueSurvey::of(&distinct(count)).coding();
        assert_eq!(coding(1), ValueCoding::OneValue);
        assert_eq!(coding(2), ValueCoding::Dictionary);
        assert_eq!(coding(256), ValueCoding::Dictionary);
        assert_eq!(coding(257), ValueCoding::AsTheyAre);
        let integers: Vec<f64> = (0..10_000).map(f64::from).collect();
        assert_eq!(ValueSurvey::of(&integers).coding(), ValueCoding::F32);
        let singles: Vec<f32> = (0..10_000).map(|at| at as f32).collect();
        assert_eq!(ValueSurvey::of(&singles).coding(), ValueCoding::AsTheyAre);
    }

    #[test]
    fn few_values_are_left_as_they_are() {
        // A dictionary has 256 entries of 8 bytes, and saves 7 bytes a value.
        let some = |count: u32| (0..count).map(|at| f64::from(at % 2) + 0.1).collect::<Vec<_>>();
        assert_eq!(ValueSurvey::of(&some(292)).coding(), ValueCoding::AsTheyAre);
        assert_eq!(ValueSurvey::of(&some(293)).coding(), ValueCoding::Dictionary);
        assert_eq!(ValueSurvey::of::<f64>(&[]).coding(), ValueCoding::AsTheyAre);
        assert_eq!(ValueSurvey::of(&[0.1]).coding(), ValueCoding::AsTheyAre);
        assert_eq!(ValueSurvey::of(&[0.1, 0.1]).coding(), ValueCoding::OneValue);
    }

    #[test]
    fn zeros_of_both_signs_and_nan_of_different_payloads_are_different_values() {
        let payload = f64::from_bits(f64::NAN.to_bits() | 5);
        let all = [0.0, -0.0, f64::NAN, payload, f64::INFINITY, 0.1].repeat(100);
        let survey = ValueSurvey::of(&all);
        assert_eq!(survey.coding(), ValueCoding::Dictionary);
        let codes = survey.codes(&all);
        let decoded: Vec<u64> =
            codes.iter().map(|code| survey.distinct()[*code as usize]).collect();
        let bits: Vec<u64> = all.iter().map(|value| value.to_bits()).collect();
        assert_eq!(decoded, bits);
    }

    #[test]
    fn padding_is_never_read_as_infinity_or_nan() {
        let negative = [-f64::INFINITY, f64::NAN, -2.1, f64::INFINITY].repeat(100);
        assert_eq!(ValueSurvey::of(&negative).distinct()[0], (-2.1f64).to_bits());
        for alone in [f64::INFINITY, f64::NAN] {
            let values = vec![alone; 1_000];
            assert_eq!(ValueSurvey::of(&values).coding(), ValueCoding::F32);
            assert!(!ValueSurvey::of(&values).allows(ValueCoding::OneValue));
        }
        assert_eq!(ValueSurvey::of(&[f32::INFINITY; 1_000]).coding(), ValueCoding::AsTheyAre);
        let halves = [f16::NEG_INFINITY, f16::from_f32(-1.0)].repeat(1_000);
        assert_eq!(ValueSurvey::of(&halves).distinct().len(), 2);
        assert!(ValueSurvey::of(&halves).allows(ValueCoding::Dictionary));
    }

    #[test]
    fn an_f64_is_an_f32_where_its_bits_come_back() {
        let least = f64::from(f32::MIN_POSITIVE);
        let f32s = [0.0, -0.0, 1.5, f64::from(f32::MAX), least, f64::INFINITY, f64::NAN];
        assert!(f32s.iter().all(|value| is_f32(value.to_bits())));
        let quiet = f64::from(f32::from_bits(f32::NAN.to_bits() | 5));
        assert!(is_f32(quiet.to_bits()));
        let signalling = f64::INFINITY.to_bits() | 1 << 40;
        let subnormal = f64::from_bits(1 << 40);
        let others = [0.1, 1e300, least / 2.0, subnormal, 1.0 + f64::EPSILON];
        assert!(others.iter().all(|value| !is_f32(value.to_bits())));
        assert!(!is_f32(signalling) && !is_f32(f64::NAN.to_bits() | 5));
        for value in f32s {
            assert_eq!(f64::from(value as f32).to_bits(), value.to_bits());
        }
    }

    #[test]
    fn codes_say_which_value_each_is() {
        let values = distinct(256);
        let survey = ValueSurvey::of(&values);
        let codes = survey.codes(&values);
        assert!(codes.contains(&0) && codes.contains(&255));
        for (value, code) in values.iter().zip(codes) {
            assert_eq!(survey.distinct()[code as usize], value.to_bits());
        }
    }

    #[test]
    fn what_was_found_elsewhere_is_put_in_the_same_order() {
        let values = distinct(50);
        let survey = ValueSurvey::of(&values);
        let mut found = survey.distinct().to_vec();
        found.reverse();
        let other = ValueSurvey::of_parts(ValueType::F64, values.len(), Some(found), false);
        assert_eq!(other, survey);
    }
}
