//! Numbers as Matrix Market files spell them, read straight from bytes.
//!
//! Indices and mantissas are read eight digits at a time where eight stand together. A value whose
//! digits fit 53 bits and whose power of ten is exact in f64 is one correctly rounded multiplication
//! or division; one of up to 19 digits without a large exponent is one division of integers. Every
//! other spelling (more digits, large exponents, nan, inf) goes to the standard library's parser. All
//! three round correctly, so which road a value takes changes no bit.

use crate::{Value, ValueType};

/// Powers of ten that f64 holds exactly.
const EXACT_POWERS: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
    1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
];

/// A `u64` holds every number of this many digits.
const MAX_DIGITS: usize = 19;

/// The largest whole number that is read.
pub(super) const MAX_WHOLE: u64 = 9_999_999_999_999_999_999;

/// The byte at `at`; past the end, the line end that every last line may lack.
#[inline(always)]
pub(super) fn byte_at(text: &[u8], at: usize) -> u8 {
    if at < text.len() { text[at] } else { b'\n' }
}

/// Blanks between the numbers of a line. A carriage return counts: it stands before a line end.
#[inline(always)]
pub(super) fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r')
}

/// The position of the first byte from `at` on that is no blank.
#[inline(always)]
pub(super) fn skip_blanks(text: &[u8], mut at: usize) -> usize {
    while is_blank(byte_at(text, at)) {
        at += 1;
    }
    at
}

/// Reads an unsigned whole number; `None` without a digit or with more digits than a `u64` holds.
#[inline(always)]
pub(super) fn whole(text: &[u8], start: usize) -> Option<(u64, usize)> {
    let (number, end) = digits(text, start, 0);
    (end > start && end - start <= MAX_DIGITS).then_some((number, end))
}

/// Appends the digits from `at` on to `number`, which wraps when there are too many: callers count.
#[inline(always)]
fn digits(text: &[u8], mut at: usize, mut number: u64) -> (u64, usize) {
    while let Some(eight) = eight_digits(text, at) {
        number = number.wrapping_mul(100_000_000).wrapping_add(eight);
        at += 8;
    }
    loop {
        let digit = byte_at(text, at).wrapping_sub(b'0');
        if digit > 9 {
            return (number, at);
        }
        number = number.wrapping_mul(10).wrapping_add(u64::from(digit));
        at += 1;
    }
}

/// The number that eight digits at `at` spell, all eight at once in one 64-bit word.
#[inline(always)]
fn eight_digits(text: &[u8], at: usize) -> Option<u64> {
    const ZEROS: u64 = 0x3030_3030_3030_3030;
    let bytes: [u8; 8] = text.get(at..at + 8)?.try_into().ok()?;
    let word = u64::from_le_bytes(bytes);
    // A digit's byte is 0x30..=0x39: its high half is 3, and stays 3 when 6 is added.
    let high_halves = 0xf0f0_f0f0_f0f0_f0f0;
    if word & high_halves != ZEROS
        || word.wrapping_add(0x0606_0606_0606_0606) & high_halves != ZEROS
    {
        return None;
    }
    // Neighbours join: first digits to pairs, then pairs to fours, then fours to the eight.
    let pairs = (word - ZEROS).wrapping_mul(1 + (10 << 8)) >> 8 & 0x00ff_00ff_00ff_00ff;
    let fours = pairs.wrapping_mul(1 + (100 << 16)) >> 16 & 0x0000_ffff_0000_ffff;
    Some(fours.wrapping_mul(1 + (10_000 << 32)) >> 32)
}

/// Reads a real value and rounds it to `V`; `None` where no number ends at a blank or the line's end.
///
/// f64 and f32 are rounded once, from the decimal text; the 16-bit types by way of f64.
#[inline(always)]
pub(super) fn real<V: Value>(text: &[u8], start: usize) -> Option<(V, usize)> {
    let sign = byte_at(text, start);
    let mut at = start + usize::from(matches!(sign, b'-' | b'+'));
    let first = at;
    let (mut mantissa, end) = digits(text, at, 0);
    let mut digit_count = end - first;
    let mut power = 0i64;
    at = end;
    if byte_at(text, at) == b'.' {
        let (all, end) = digits(text, at + 1, mantissa);
        let decimals = end - (at + 1);
        mantissa = all;
        digit_count += decimals;
        power = -(decimals as i64);
        at = end;
    }
    if matches!(byte_at(text, at), b'e' | b'E' | b'd' | b'D') {
        let sign = byte_at(text, at + 1);
        let from = at + 1 + usize::from(matches!(sign, b'-' | b'+'));
        let Some((exponent, end)) = whole(text, from) else { return slow_real(text, start) };
        let exponent = exponent.min(1 << 40) as i64;
        power += if sign == b'-' { -exponent } else { exponent };
        at = end;
    }
    let ends = matches!(byte_at(text, at), b' ' | b'\n' | b'\t' | b'\r');
    if !ends || digit_count == 0 || digit_count > MAX_DIGITS {
        return slow_real(text, start);
    }
    let size = match EXACT_POWERS.get(power.unsigned_abs() as usize) {
        Some(scale) if mantissa <= 1 << 53 && power < 0 => mantissa as f64 / scale,
        Some(scale) if mantissa <= 1 << 53 => mantissa as f64 * scale,
        _ if mantissa > 1 << 53 && (-MAX_DIVIDED..=0).contains(&power) => {
            divided(mantissa, power.unsigned_abs() as u32)
        }
        _ => return slow_real(text, start),
    };
    let value = if sign == b'-' { -size } else { size };
    Some((rounded(value, &text[start..at])?, at))
}

/// Powers of ten that [`divided`] divides by: with a larger one the quotient has too few bits.
const MAX_DIVIDED: i64 = 18;

/// mantissa / 10^power, rounded once, where the mantissa is above 2^53 and the power at most
/// [`MAX_DIVIDED`]: the quotient of integers then has 57 bits or more, so that its last bit, set where
/// there is a remainder, lies below the one that decides a tie.
#[inline]
fn divided(mantissa: u64, power: u32) -> f64 {
    const TWO_TO_64: f64 = 18_446_744_073_709_551_616.0;
    let divisor = u128::from(10u64.pow(power));
    let dividend = u128::from(mantissa) << 64;
    let quotient = dividend / divisor;
    let remains = quotient * divisor != dividend;
    (quotient | u128::from(remains)) as f64 / TWO_TO_64
}

/// Any spelling of a value: through the standard library, with Fortran's `D` read as `e`.
#[cold]
#[inline(never)]
fn slow_real<V: Value>(text: &[u8], start: usize) -> Option<(V, usize)> {
    let word = word_at(text, start);
    let value = parse_f64(word)?;
    Some((rounded(value, word)?, start + word.len()))
}

/// Reads a whole number with a sign into `V`; beyond 2^53 it is rounded like a real value.
pub(super) fn integer<V: Value>(text: &[u8], start: usize) -> Option<(V, usize)> {
    let word = word_at(text, start);
    let unsigned = word.strip_prefix(b"-").or(word.strip_prefix(b"+")).unwrap_or(word);
    if unsigned.is_empty() || !unsigned.iter().all(u8::is_ascii_digit) {
        return None;
    }
    real(text, start)
}

/// The bytes from `start` up to a blank or the line's end.
pub(super) fn word_at(text: &[u8], start: usize) -> &[u8] {
    let rest = text.get(start..).unwrap_or_default();
    let len = rest.iter().position(|&byte| is_blank(byte) || byte == b'\n');
    &rest[..len.unwrap_or(rest.len())]
}

fn parse_f64(word: &[u8]) -> Option<f64> {
    with_text(word, |text| text.parse().ok())
}

/// Rounds to `V` what was rounded to f64 before, as if it had been rounded once: where the f64 lies
/// on the boundary between two f32, only the text knows the side.
#[inline(always)]
fn rounded<V: Value>(value: f64, word: &[u8]) -> Option<V> {
    const BELOW_F32: u64 = (1 << 29) - 1;
    const BOUNDARY: u64 = 1 << 28;
    if V::TYPE == ValueType::F32 {
        let subnormal = value != 0.0 && value.abs() < f64::from(f32::MIN_POSITIVE);
        if subnormal || value.to_bits() & BELOW_F32 == BOUNDARY {
            let once: f32 = with_text(word, |text| text.parse().ok())?;
            return Some(V::from_f64(once.into()));
        }
    }
    Some(V::from_f64(value))
}

/// Hands a word to the standard library's parser, which knows `e` but not Fortran's `D`.
fn with_text<T>(word: &[u8], parse: impl FnOnce(&str) -> Option<T>) -> Option<T> {
    let text = std::str::from_utf8(word).ok()?;
    // nan, inf and infinity hold no d, so what holds one is Fortran's or no number at all.
    if text.contains(['d', 'D']) { parse(&text.replace(['d', 'D'], "e")) } else { parse(text) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn real_of<V: Value>(text: &str) -> Option<V> {
        let (value, end) = real(text.as_bytes(), 0)?;
        (end == text.len()).then_some(value)
    }

    #[test]
    fn words_that_are_no_number_are_none() {
        for text in ["", "-", "+", ".", "e5", "1e", "1e+", "1.5x", "--1", "0x10", "1,5", "1d", "dd"]
        {
            assert_eq!(real_of::<f64>(text), None, "{text:?}");
        }
    }

    #[test]
    fn every_spelling_of_a_value_is_read() {
        let cases = [
            ("1.0D+02", 100.0),
            ("-2d-1", -0.2),
            (".5", 0.5),
            ("5.", 5.0),
            ("+7", 7.0),
            ("1E400", f64::INFINITY),
            ("-INF", f64::NEG_INFINITY),
            ("+infinity", f64::INFINITY),
            ("1e-400", 0.0),
            ("123456789012345678901234567890", 123456789012345678901234567890.0),
            ("0.000000000000000000000000000001", 1e-30),
            // Halfway between two f64: the even one; and a hair above it.
            ("9007199254740993", 9007199254740992.0),
            ("9007199254740995", 9007199254740996.0),
            ("9007199254740993000e-3", 9007199254740992.0),
            ("9007199254740993001e-3", 9007199254740994.0),
            // Above halfway by what only the remainder of the division knows.
            ("9007199254740997e-18", 9007199254740997e-18),
            ("1e99999999999999999999", f64::INFINITY),
        ];
        for (text, value) in cases {
            assert_eq!(real_of::<f64>(text), Some(value), "{text:?}");
        }
        assert!(real_of::<f64>("NaN").unwrap().is_nan());
        assert_eq!(real_of::<f64>("-0").unwrap().to_bits(), (-0.0f64).to_bits());
    }

    #[test]
    fn f32_is_rounded_once_from_the_text() {
        // Just above the boundary between 1 and its successor, by less than f64 can tell.
        let text = "1.000000059604644775390625000001";
        assert_eq!(text.parse::<f64>().unwrap() as f32, 1.0);
        assert_eq!(real_of::<f32>(text), Some(1.0 + f32::EPSILON));
    }

    #[test]
    fn integers_take_digits_and_a_sign_only() {
        let of = |text: &str| integer::<f64>(text.as_bytes(), 0).map(|(value, _)| value);
        assert_eq!(of("-12"), Some(-12.0));
        assert_eq!(of("18446744073709551617"), Some(18446744073709551616.0));
        assert_eq!((of("1.5"), of("1e3"), of("nan"), of("-")), (None, None, None, None));
    }

    #[test]
    fn whole_numbers_of_twenty_digits_are_none() {
        assert_eq!(whole(b"0000000000000000012", 0), Some((12, 19)));
        assert_eq!(whole(b"00000000000000000012", 0), None);
        assert_eq!(whole(b"99999999", 0), Some((99999999, 8)));
        assert_eq!(whole(b"1234567:", 0), Some((1234567, 7)));
        assert_eq!(whole(b"/2345678", 0), None);
    }

    proptest! {
        #[test]
        fn decimals_get_the_bits_of_the_standard_library(
            text in "[-+]?[0-9]{1,20}(\\.[0-9]{0,20})?([eE][-+]?[0-9]{1,3})?"
        ) {
            let expected: f64 = text.parse().unwrap();
            prop_assert_eq!(real_of::<f64>(&text).unwrap().to_bits(), expected.to_bits());
            let expected: f32 = text.parse().unwrap();
            prop_assert_eq!(real_of::<f32>(&text).unwrap().to_bits(), expected.to_bits());
        }

        #[test]
        fn values_of_seventeen_digits_get_the_bits_of_the_standard_library(
            // The smallest mantissas leave the fewest bits to round by.
            mantissa in prop_oneof![(1u64 << 53)..MAX_WHOLE, (1u64 << 53)..1 << 54],
            power in prop_oneof![-20..=1, Just(-MAX_DIVIDED as i32)]
        ) {
            let text = format!("{mantissa}e{power}");
            let expected: f64 = text.parse().unwrap();
            prop_assert_eq!(real_of::<f64>(&text).unwrap().to_bits(), expected.to_bits());
        }

        #[test]
        fn shortest_text_reads_back_to_the_same_bits(bits in any::<u64>()) {
            let value = f64::from_bits(bits);
            prop_assume!(!value.is_nan());
            prop_assert_eq!(real_of::<f64>(&format!("{value:e}")).unwrap().to_bits(), bits);
        }
    }
}
