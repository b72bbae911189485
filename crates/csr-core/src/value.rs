//! The types a matrix stores, and the types products and sums are made in.

use half::{bf16, f16};

mod sealed {
    use super::{Value, bf16, f16};
    use crate::host_sell::{Chunk, HostSell, copy_into_sell, multiply_chunk};
    use crate::product::{Rows, multiply_rows};
    use crate::{AnyPatternView, Result};

    /// What no other crate implements. Its functions are what the host computes with, each compiled in this crate for
    /// each type: once, and as fast as can be, however the crates that call it are compiled.
    pub trait Sealed: Sized {
        /// Some rows of [`crate::product()`].
        fn multiply_rows(rows: Rows<'_, Self>)
        where
            Self: Value;

        /// What [`HostSell`] is made by.
        fn copy_into_sell(pattern: AnyPatternView<'_>, values: &[Self]) -> Result<HostSell<Self>>
        where
            Self: Value;

        /// One thread's share of its product.
        fn multiply_chunk(chunk: Chunk<'_, Self>)
        where
            Self: Value;
    }

    macro_rules! seal {
        ($($type:ty),*) => {$(
            impl Sealed for $type {
                fn multiply_rows(rows: Rows<'_, Self>) {
                    multiply_rows(rows);
                }

                fn copy_into_sell(
                    pattern: AnyPatternView<'_>,
                    values: &[Self],
                ) -> Result<HostSell<Self>> {
                    copy_into_sell(pattern, values)
                }

                fn multiply_chunk(chunk: Chunk<'_, Self>) {
                    multiply_chunk(chunk);
                }
            }
        )*};
    }

    seal!(f32, f64, f16, bf16);
}

/// Names a [`Value`] at run time, as the command, the records and the kernel keys spell it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ValueType {
    /// 32-bit IEEE floating point.
    F32,
    /// 64-bit IEEE floating point.
    F64,
    /// 16-bit IEEE floating point: storage of A only, products and sums are f32.
    F16,
    /// The upper half of an f32: storage of A only, products and sums are f32.
    Bf16,
}

impl ValueType {
    /// Every value type, in the order reports list them.
    pub const ALL: [ValueType; 4] =
        [ValueType::F32, ValueType::F64, ValueType::F16, ValueType::Bf16];

    /// The spelling in `--value-type`, records and kernel keys.
    pub fn name(self) -> &'static str {
        match self {
            ValueType::F32 => "f32",
            ValueType::F64 => "f64",
            ValueType::F16 => "f16",
            ValueType::Bf16 => "bf16",
        }
    }

    /// Bytes of one stored value of A.
    pub fn size_bytes(self) -> usize {
        match self {
            ValueType::F32 => 4,
            ValueType::F64 => 8,
            ValueType::F16 | ValueType::Bf16 => 2,
        }
    }

    /// The largest finite number of the type, exactly.
    pub fn largest(self) -> f64 {
        match self {
            ValueType::F32 => f32::MAX.into(),
            ValueType::F64 => f64::MAX,
            ValueType::F16 => f16::MAX.to_f64(),
            ValueType::Bf16 => bf16::MAX.to_f64(),
        }
    }

    /// The power of two up to which the type holds every whole number.
    pub fn exact_whole_numbers(self) -> f64 {
        match self {
            ValueType::F32 => 2f64.powi(f32::MANTISSA_DIGITS as i32),
            ValueType::F64 => 2f64.powi(f64::MANTISSA_DIGITS as i32),
            ValueType::F16 => 2f64.powi(f16::MANTISSA_DIGITS as i32),
            ValueType::Bf16 => 2f64.powi(bf16::MANTISSA_DIGITS as i32),
        }
    }

    /// The type of x, y, alpha, beta, products and sums: f64 for f64, f32 for everything else.
    pub fn accumulator(self) -> ValueType {
        match self {
            ValueType::F64 => ValueType::F64,
            ValueType::F32 | ValueType::F16 | ValueType::Bf16 => ValueType::F32,
        }
    }
}

impl std::fmt::Display for ValueType {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.name())
    }
}

impl std::str::FromStr for ValueType {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        ValueType::ALL
            .into_iter()
            .find(|t| t.name() == text)
            .ok_or_else(|| format!("value type \"{text}\" is none of f32, f64, f16, bf16"))
    }
}

/// A type a matrix can store its values in: `f64`, `f32`, [`f16`](struct@f16) or [`bf16`].
///
/// The 16-bit types are storage only: x, y, alpha, beta and every sum are in [`Value::Accum`].
pub trait Value:
    sealed::Sealed + bytemuck::Pod + PartialEq + std::fmt::Debug + Send + Sync + 'static
{
    /// The type of x, y, products and sums.
    type Accum: Accumulator;

    /// This type's name at run time.
    const TYPE: ValueType;

    /// A real number, rounded to nearest.
    fn from_f64(value: f64) -> Self;

    /// The absolute value, rounded to f64.
    fn norm(self) -> f64;

    /// With the other sign; exact.
    fn negated(self) -> Self;

    /// Exact: the accumulator is never narrower than the storage.
    fn to_accum(self) -> Self::Accum;

    /// Rounds to nearest.
    fn from_accum(value: Self::Accum) -> Self;
}

/// A value that is a real number.
pub trait Real: Value {
    /// Exact.
    fn to_f64(self) -> f64;
}

/// A real value whose sums are real numbers too: what oracles and files take.
pub trait RealValue: Real + Value<Accum: Real> {}

impl<V: Real + Value<Accum: Real>> RealValue for V {}

/// A number of a type that sums are made in, known at run time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    /// Of 32 bits.
    F32(f32),
    /// Of 64 bits.
    F64(f64),
}

impl Number {
    /// `value` rounded to the type that sums of a value type are made in.
    pub fn of(value_type: ValueType, value: f64) -> Self {
        match value_type.accumulator() {
            ValueType::F64 => Number::F64(value),
            _ => Number::F32(value as f32),
        }
    }

    /// The type: [`ValueType::F32`] or [`ValueType::F64`].
    pub fn value_type(self) -> ValueType {
        match self {
            Number::F32(_) => ValueType::F32,
            Number::F64(_) => ValueType::F64,
        }
    }

    /// Exact.
    pub fn to_f64(self) -> f64 {
        match self {
            Number::F32(value) => value.into(),
            Number::F64(value) => value,
        }
    }
}

/// A type that products and sums are made in: `f32` or `f64`.
pub trait Accumulator:
    Value<Accum = Self> + num_traits::NumAssign + std::ops::Neg<Output = Self>
{
    /// The distance from 1 to the next larger number.
    const EPSILON: f64;
    /// The smallest number that is not subnormal.
    const SMALLEST_NORMAL: f64;

    /// The same number, with its type known at run time.
    fn number(self) -> Number;

    /// self x + y; of real numbers, rounded once.
    fn multiplied_added(self, x: Self, y: Self) -> Self;
}

impl Accumulator for f32 {
    const EPSILON: f64 = f32::EPSILON as f64;
    const SMALLEST_NORMAL: f64 = f32::MIN_POSITIVE as f64;

    fn number(self) -> Number {
        Number::F32(self)
    }

    fn multiplied_added(self, x: Self, y: Self) -> Self {
        self.mul_add(x, y)
    }
}

impl Accumulator for f64 {
    const EPSILON: f64 = f64::EPSILON;
    const SMALLEST_NORMAL: f64 = f64::MIN_POSITIVE;

    fn number(self) -> Number {
        Number::F64(self)
    }

    fn multiplied_added(self, x: Self, y: Self) -> Self {
        self.mul_add(x, y)
    }
}

impl Value for f32 {
    type Accum = f32;
    const TYPE: ValueType = ValueType::F32;

    fn from_f64(value: f64) -> Self {
        value as f32
    }

    fn norm(self) -> f64 {
        f64::from(self.abs())
    }

    fn negated(self) -> Self {
        -self
    }

    fn to_accum(self) -> f32 {
        self
    }

    fn from_accum(value: f32) -> Self {
        value
    }
}

impl Real for f32 {
    fn to_f64(self) -> f64 {
        self.into()
    }
}

impl Value for f64 {
    type Accum = f64;
    const TYPE: ValueType = ValueType::F64;

    fn from_f64(value: f64) -> Self {
        value
    }

    fn norm(self) -> f64 {
        self.abs()
    }

    fn negated(self) -> Self {
        -self
    }

    fn to_accum(self) -> f64 {
        self
    }

    fn from_accum(value: f64) -> Self {
        value
    }
}

impl Real for f64 {
    fn to_f64(self) -> f64 {
        self
    }
}

impl Value for f16 {
    type Accum = f32;
    const TYPE: ValueType = ValueType::F16;

    fn from_f64(value: f64) -> Self {
        f16::from_f64(value)
    }

    fn norm(self) -> f64 {
        f16::to_f64(self).abs()
    }

    fn negated(self) -> Self {
        -self
    }

    fn to_accum(self) -> f32 {
        self.to_f32()
    }

    fn from_accum(value: f32) -> Self {
        f16::from_f32(value)
    }
}

impl Real for f16 {
    fn to_f64(self) -> f64 {
        f16::to_f64(self)
    }
}

impl Value for bf16 {
    type Accum = f32;
    const TYPE: ValueType = ValueType::Bf16;

    fn from_f64(value: f64) -> Self {
        bf16::from_f64(value)
    }

    fn norm(self) -> f64 {
        bf16::to_f64(self).abs()
    }

    fn negated(self) -> Self {
        -self
    }

    fn to_accum(self) -> f32 {
        self.to_f32()
    }

    fn from_accum(value: f32) -> Self {
        bf16::from_f32(value)
    }
}

impl Real for bf16 {
    fn to_f64(self) -> f64 {
        bf16::to_f64(self)
    }
}

/// A number as files and messages spell it: as shortly as reads back to the same bits, huge and tiny ones with an
/// exponent.
pub fn spelled(value: f64) -> String {
    let is_plain = value == 0.0 || (1e-5..1e16).contains(&value.abs()) || !value.is_finite();
    if is_plain { value.to_string() } else { format!("{value:e}") }
}
