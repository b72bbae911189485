//! Numbers as a person reads them: three significant digits, thousands apart, bytes in powers of two.
//!
//! The terminal table, the HTML report and the command share these, so that the same record reads the same in all.

pub use csr_core::counted;

/// What stands where a record has no value.
pub(crate) const ABSENT: &str = "–";

/// An integer with a comma every three digits: `11,634,424`.
pub(crate) fn grouped(value: u64) -> String {
    let digits = value.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (position, digit) in digits.chars().enumerate() {
        if position > 0 && (digits.len() - position).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// What follows "right" where a result was verified, from its largest error as a multiple of what its row allows.
pub fn error_in_words(error_in_tolerance: f64) -> String {
    match error_in_tolerance {
        0.0 => "exact to rounding".to_owned(),
        error => format!("the largest error is {} of what its row allows", multiple(error)),
    }
}

/// A multiple of something at any size: `0.271`, `41.5`, `2.1e-7`.
pub fn multiple(value: f64) -> String {
    match value {
        v if v == 0.0 || (0.0005..1e12).contains(&v) => significant(v),
        v => format!("{v:.1e}"),
    }
}

/// A number of at least 0 with three significant digits: `0.123`, `7.50`, `84.2`, `12,345`.
pub(crate) fn significant(value: f64) -> String {
    match value {
        v if v <= -0.0005 => format!("-{}", significant(-v)),
        v if v <= 0.0 => "0".to_owned(),
        v if v < 0.0005 => "<0.001".to_owned(),
        v if v < 0.9995 => format!("{v:.3}"),
        v if v < 9.995 => format!("{v:.2}"),
        v if v < 99.95 => format!("{v:.1}"),
        v if v < 1e12 => grouped(v.round() as u64),
        v => format!("{v:.2e}"),
    }
}

/// [`significant`], or [`ABSENT`].
pub(crate) fn significant_or_absent(value: Option<f64>) -> String {
    value.map_or_else(|| ABSENT.to_owned(), significant)
}

/// A fraction in percent with one decimal and no sign: `61.3`; [`ABSENT`] without a value.
pub(crate) fn percent_or_absent(fraction: Option<f64>) -> String {
    fraction.map_or_else(|| ABSENT.to_owned(), |f| format!("{:.1}", 100.0 * f))
}

/// An integer with a letter for its power of a thousand: `958k`, `11.6M`.
pub(crate) fn short(value: u64) -> String {
    scaled(value, 1000, &["", "k", "M", "G", "T", "P", "E"], "")
}

/// Bytes in powers of 1024: `512 B`, `12.3 MiB`.
pub(crate) fn bytes(value: u64) -> String {
    scaled(value, 1024, &["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"], " ")
}

fn scaled(value: u64, base: u64, units: &[&str], space: &str) -> String {
    let (mut rest, mut power) = (value as f64, 0);
    // 999.5 would print as a four-digit 1000: it belongs to the next unit.
    while rest >= base as f64 - 0.5 && power + 1 < units.len() && value >= base {
        rest /= base as f64;
        power += 1;
    }
    let unit = units[power];
    let digits = match rest {
        r if power == 0 || r >= 99.95 => format!("{r:.0}"),
        r => trim_zeros(&format!("{r:.0$}", if r < 9.995 { 2 } else { 1 })),
    };
    format!("{digits}{space}{unit}")
}

/// A decimal without the zeros, and the point, that say nothing: `2.50` is `2.5`, `10.0` is `10`.
pub(crate) fn trim_zeros(decimal: &str) -> String {
    match decimal.contains('.') {
        true => decimal.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => decimal.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_stand_apart() {
        let texts = [0, 999, 1000, 11_634_424].map(grouped);
        assert_eq!(texts, ["0", "999", "1,000", "11,634,424"]);
    }

    #[test]
    fn one_of_a_kind_has_no_plural() {
        assert_eq!(
            ["row", "matrix", "entry"].map(|noun| counted(1, noun)),
            ["1 row", "1 matrix", "1 entry"]
        );
        assert_eq!(
            ["row", "matrix", "entry"].map(|noun| counted(grouped(1000), noun)),
            ["1,000 rows", "1,000 matrices", "1,000 entries"]
        );
        assert_eq!(counted(0, "result"), "0 results");
    }

    #[test]
    fn an_error_reads_as_a_number_however_small() {
        assert_eq!(error_in_words(0.0), "exact to rounding");
        let words = [0.2714, 2.1e-7, 3e15].map(multiple);
        assert_eq!(words, ["0.271", "2.1e-7", "3.0e15"]);
        assert_eq!(multiple(f64::NAN), "NaN");
    }

    #[test]
    fn three_digits_are_kept_at_every_size() {
        let values = [0.0, 0.0001, 0.1234, 0.9996, 7.5, 9.996, 84.23, 99.96, 1234.4, 3e13];
        assert_eq!(
            values.map(significant),
            ["0", "<0.001", "0.123", "1.00", "7.50", "10.0", "84.2", "100", "1,234", "3.00e13"]
        );
    }

    #[test]
    fn letters_and_byte_units_change_at_their_powers() {
        assert_eq!(
            [7, 999, 1000, 958_936, 999_600, 11_634_424].map(short),
            ["7", "999", "1k", "959k", "1M", "11.6M"]
        );
        assert_eq!(
            [0, 1023, 1024, 1536, 12_900_000, 1 << 40].map(bytes),
            ["0 B", "1023 B", "1 KiB", "1.5 KiB", "12.3 MiB", "1 TiB"]
        );
    }

    #[test]
    fn a_missing_value_is_a_dash_and_never_a_zero() {
        assert_eq!(significant_or_absent(None), ABSENT);
        assert_eq!(percent_or_absent(None), ABSENT);
        assert_eq!(percent_or_absent(Some(0.6128)), "61.3");
    }
}
