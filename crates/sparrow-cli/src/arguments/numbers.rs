//! Options that are numbers: each says what it takes, and takes its value, whatever that begins with.

use std::any::TypeId;
use std::fmt::Display;
use std::str::FromStr;
use std::time::Duration;

use clap::Command;

/// A number that an f64 holds: not infinite or NaN, and 0 only where it says so.
pub(crate) fn finite(text: &str) -> Result<f64, String> {
    let value: f64 = text.parse().map_err(|_| "it must be a number".to_owned())?;
    let mut mantissa = text.bytes().take_while(|byte| !matches!(byte, b'e' | b'E'));
    if !value.is_finite() {
        return Err(match text.bytes().any(|byte| byte.is_ascii_digit()) {
            true => format!("it is beyond the largest f64, {:e}", f64::MAX),
            false => "it must be finite".to_owned(),
        });
    }
    if value == 0.0 && mantissa.any(|byte| matches!(byte, b'1'..=b'9')) {
        return Err(format!("it is below the smallest f64, {:e}", f64::from_bits(1)));
    }
    Ok(value)
}

/// As [`finite`], of at least 0.
pub(crate) fn from_zero(text: &str) -> Result<f64, String> {
    match finite(text)? {
        value if value < 0.0 => Err("it must be 0 or more".to_owned()),
        value => Ok(value),
    }
}

/// As [`finite`], above 0.
pub(crate) fn positive(text: &str) -> Result<f64, String> {
    match finite(text)? {
        value if value > 0.0 => Ok(value),
        _ => Err("it must be above 0".to_owned()),
    }
}

/// A whole number that is not negative.
pub(crate) fn whole<T: FromStr + Limit>(text: &str) -> Result<T, String> {
    let refuse = || format!("it must be a whole number from 0 to {}", T::LIMIT);
    text.parse().map_err(|_| refuse())
}

/// As [`whole`], of at least 1.
pub(crate) fn count<T: FromStr + Limit + PartialEq + From<bool>>(text: &str) -> Result<T, String> {
    let refuse = || format!("it must be a whole number from 1 to {}", T::LIMIT);
    let value: T = text.parse().map_err(|_| refuse())?;
    if value == T::from(false) { Err(refuse()) } else { Ok(value) }
}

/// The largest of a type.
pub(crate) trait Limit: Display + Sized {
    /// The value.
    const LIMIT: Self;
}

impl Limit for u32 {
    const LIMIT: u32 = u32::MAX;
}

impl Limit for u64 {
    const LIMIT: u64 = u64::MAX;
}

impl Limit for usize {
    const LIMIT: usize = usize::MAX;
}

/// The same command, in which every option for a number takes what follows it as its value: `--tol -1` is a tolerance
/// that is refused, and not an option that does not exist.
pub(super) fn with_signs(command: Command) -> Command {
    let numbers = [
        TypeId::of::<f64>(),
        TypeId::of::<u32>(),
        TypeId::of::<u64>(),
        TypeId::of::<usize>(),
        TypeId::of::<Span>(),
    ];
    let command = command.mut_args(|argument| {
        let of = argument.get_value_parser().type_id();
        let is_number = numbers.iter().any(|number| of == *number);
        if is_number { argument.allow_hyphen_values(true) } else { argument }
    });
    let names: Vec<_> =
        command.get_subcommands().map(|command| command.get_name().to_owned()).collect();
    names.into_iter().fold(command, |command, name| command.mut_subcommand(name, with_signs))
}

/// A span of time as `--budget` spells it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span(pub(crate) Duration);

impl FromStr for Span {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let refuse = || format!("\"{text}\" is no span of time from 1s to 24h, as 90s, 2m or 1h");
        let unit = text.chars().last().ok_or_else(refuse)?;
        let seconds = match unit {
            's' => 1,
            'm' => 60,
            'h' => 3600,
            _ => return Err(refuse()),
        };
        let count: u64 = text[..text.len() - 1].parse().map_err(|_| refuse())?;
        let seconds = count.checked_mul(seconds).filter(|span| (1..=86_400).contains(span));
        Ok(Span(Duration::from_secs(seconds.ok_or_else(refuse)?)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_outside_what_an_option_takes_are_refused_with_the_limit() {
        assert_eq!(finite("-1e3"), Ok(-1000.0));
        assert_eq!((from_zero("0"), positive("1e-8")), (Ok(0.0), Ok(1e-8)));
        assert_eq!(from_zero("-1").unwrap_err(), "it must be 0 or more");
        assert_eq!(positive("0").unwrap_err(), "it must be above 0");
        assert_eq!(whole::<u32>("7"), Ok(7));
        for wrong in ["-1", "1.5", "", "4294967296"] {
            let said = whole::<u32>(wrong).unwrap_err();
            assert_eq!(said, "it must be a whole number from 0 to 4294967295");
        }
        assert!(
            count::<usize>("0").unwrap_err().starts_with("it must be a whole number from 1 to")
        );
    }

    #[test]
    fn spans_of_time_have_a_unit_and_an_end() {
        let seconds = |text: &str| text.parse::<Span>().map(|span| span.0.as_secs());
        assert_eq!((seconds("90s"), seconds("2m"), seconds("1h")), (Ok(90), Ok(120), Ok(3600)));
        for wrong in ["", "2", "m", "-1s", "0s", "25h", "2 m", "99999999999999999999s"] {
            assert!(seconds(wrong).unwrap_err().contains("no span of time"), "{wrong}");
        }
    }
}
