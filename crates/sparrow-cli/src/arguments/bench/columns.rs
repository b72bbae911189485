//! Numbers of columns: a list of numbers and of ranges of them.

use std::str::FromStr;

use crate::arguments::count;

/// What `--columns` names: `8`, `1,8,32`, `1-33`, `1-4,32`. In the order given, none of them twice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Columns(pub(crate) Vec<usize>);

/// Each number is an operation to time: more than that is a slip of the pen.
const MOST: usize = 1 << 10;

impl FromStr for Columns {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut all = Vec::new();
        for part in text.split(',') {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let (first, last): (usize, usize) = (count(first)?, count(last)?);
            if last < first {
                return Err(format!("the range {part} ends below its beginning"));
            }
            if (last - first).saturating_add(all.len()) >= MOST {
                return Err(format!("that is more than {MOST} numbers of columns"));
            }
            all.extend(first..=last);
        }
        let mut seen = std::collections::BTreeSet::new();
        all.retain(|&columns| seen.insert(columns));
        Ok(Columns(all))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_lists_of_numbers_and_ranges() {
        let of = |text: &str| text.parse::<Columns>().map(|columns| columns.0);
        assert_eq!(of("32"), Ok(vec![32]));
        assert_eq!(of("8,1,8"), Ok(vec![8, 1]));
        assert_eq!(of("1-33"), Ok((1..=33).collect()));
        assert_eq!(of("2-4,16,3-5"), Ok(vec![2, 3, 4, 16, 5]));
        for wrong in ["", "0", "-1", "1-", "1-2-3", "0-3", "x", "1,,2", "1..3"] {
            let said = of(wrong).unwrap_err();
            assert!(said.starts_with("it must be a whole number from 1 to"), "{wrong}: {said}");
        }
        assert_eq!(of("4-3").unwrap_err(), "the range 4-3 ends below its beginning");
        for many in ["1-1025", "1-18446744073709551615"] {
            assert_eq!(of(many).unwrap_err(), "that is more than 1024 numbers of columns");
        }
    }
}
