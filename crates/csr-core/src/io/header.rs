//! The banner and the size line: what a Matrix Market file says about itself before its first entry.
//!
//! ```text
//! %%MatrixMarket matrix coordinate real symmetric      banner: object, format, field, symmetry
//! % any number of comments and blank lines
//! 1000 1000 5423                                       size line: rows, columns, entries
//! ```

use super::number::{MAX_WHOLE, is_blank, whole};
use crate::counted;
use crate::csr::Symmetry;

/// How the entries of a file are laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    /// One row, column and value a line.
    Coordinate,
    /// All values of a dense matrix, column by column.
    Array,
}

/// What the values of a file are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Field {
    Real,
    Integer,
    /// No values: each entry is 1.
    Pattern,
}

/// Banner and size line, checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) format: Format,
    pub(super) field: Field,
    pub(super) symmetry: Symmetry,
    pub(super) rows: u32,
    pub(super) cols: u32,
    /// Entries that the file itself must hold, before mirror images.
    pub(super) entries: u64,
}

/// The first line, checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Banner {
    format: Format,
    field: Field,
    symmetry: Symmetry,
}

impl Banner {
    /// Reads the first line of a file.
    ///
    /// # Errors
    /// What is wrong with it, in words that follow "line 1: ".
    pub(super) fn parse(line: &[u8]) -> Result<Self, String> {
        let words: Vec<String> =
            words(line).map(|word| String::from_utf8_lossy(word).to_ascii_lowercase()).collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        // One % is what some programs write, and SciPy reads it.
        if !matches!(words.first(), Some(&"%%matrixmarket" | &"%matrixmarket")) {
            return Err(format!(
                "{} is not the banner \"%%MatrixMarket matrix FORMAT FIELD SYMMETRY\", which such a file begins with",
                quoted(line)
            ));
        }
        // What follows the fifth word is a comment, as in SciPy.
        let &[_, object, format, field, symmetry, ..] = words.as_slice() else {
            let count = words.len();
            return Err(format!(
                "the banner has {count} words where 5 are needed: %%MatrixMarket matrix FORMAT FIELD SYMMETRY"
            ));
        };
        if object != "matrix" {
            return Err(format!("object \"{object}\" is not \"matrix\""));
        }
        let format = match format {
            "coordinate" => Format::Coordinate,
            "array" => Format::Array,
            _ => return Err(format!("format \"{format}\" is neither coordinate nor array")),
        };
        let field = match field {
            "real" | "double" => Field::Real,
            "integer" | "unsigned-integer" => Field::Integer,
            "pattern" => Field::Pattern,
            "complex" => {
                return Err(
                    "complex values are not supported; real, integer and pattern are".to_owned()
                );
            }
            _ => return Err(format!("field \"{field}\" is none of real, integer, pattern")),
        };
        let symmetry = match symmetry {
            "general" => Symmetry::General,
            "symmetric" => Symmetry::Symmetric,
            "skew-symmetric" => Symmetry::SkewSymmetric,
            "hermitian" => {
                return Err("hermitian matrices are complex, which is not supported; \
                            general, symmetric and skew-symmetric are"
                    .to_owned());
            }
            _ => {
                return Err(format!(
                    "symmetry \"{symmetry}\" is none of general, symmetric, skew-symmetric"
                ));
            }
        };
        if field == Field::Pattern && format == Format::Array {
            return Err("a pattern has no values to list, so it cannot be an array".to_owned());
        }
        if field == Field::Pattern && symmetry == Symmetry::SkewSymmetric {
            return Err("a pattern has no signs, so it cannot be skew-symmetric".to_owned());
        }
        Ok(Banner { format, field, symmetry })
    }

    /// Reads the size line.
    ///
    /// # Errors
    /// What is wrong with it, in words that follow "line N: ".
    pub(super) fn with_sizes(self, line: &[u8]) -> Result<Header, String> {
        let Banner { format, field, symmetry } = self;
        let words: Vec<&[u8]> = words(line).collect();
        let (names, needed) = match format {
            Format::Coordinate => ("rows, columns and entries", 3),
            Format::Array => ("rows and columns", 2),
        };
        if words.len() != needed {
            return Err(format!(
                "the size line {} has {} where {needed} are needed: {names}",
                quoted(line),
                counted(words.len(), "number")
            ));
        }
        let rows = dimension("rows", words[0])?;
        let cols = dimension("columns", words[1])?;
        if symmetry != Symmetry::General && rows != cols {
            return Err(format!("a {symmetry} matrix must be square, and {rows} x {cols} is not"));
        }
        let entries = match format {
            Format::Coordinate => count("the number of entries", words[2], MAX_WHOLE)?,
            Format::Array => {
                let (rows, cols) = (u64::from(rows), u64::from(cols));
                match symmetry {
                    // (2^32 - 1)^2 fits, and so do its halves.
                    Symmetry::General => rows * cols,
                    Symmetry::Symmetric => (u128::from(rows) * u128::from(rows + 1) / 2) as u64,
                    Symmetry::SkewSymmetric => rows * rows.saturating_sub(1) / 2,
                }
            }
        };
        Ok(Header { format, field, symmetry, rows, cols, entries })
    }
}

/// The words of a line, without the blanks between them.
pub(super) fn words(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(|&byte| is_blank(byte) || byte == b'\n').filter(|word| !word.is_empty())
}

/// A part of a file as a message shows it: in quotes, unprintable bytes escaped, cut when long.
pub(super) fn quoted(bytes: &[u8]) -> String {
    const SHOWN: usize = 60;
    let bytes = bytes.trim_ascii();
    match bytes.get(..SHOWN) {
        Some(start) if bytes.len() > SHOWN => format!("\"{}...\"", start.escape_ascii()),
        _ => format!("\"{}\"", bytes.escape_ascii()),
    }
}

/// A whole number; one of too many digits is above `limit`.
fn count(what: &str, word: &[u8], limit: u64) -> Result<u64, String> {
    if let Some((number, end)) = whole(word, 0)
        && end == word.len()
    {
        return Ok(number);
    }
    let signed = word.strip_prefix(b"-").is_some_and(|rest| rest.iter().all(u8::is_ascii_digit));
    let digits = word.iter().all(u8::is_ascii_digit);
    Err(match (signed, digits) {
        (true, _) => format!("{what}, {}, is negative", quoted(word)),
        (_, true) => format!("{what}, {}, is above the limit of {}", quoted(word), limit),
        _ => format!("{what}, {}, is not a whole number", quoted(word)),
    })
}

fn dimension(what: &str, word: &[u8]) -> Result<u32, String> {
    let what = format!("the number of {what}");
    let number = count(&what, word, u32::MAX.into())?;
    u32::try_from(number)
        .map_err(|_| format!("{what}, {number}, is above the limit of {}", u32::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(banner: &str, sizes: &str) -> Result<Header, String> {
        Banner::parse(banner.as_bytes())?.with_sizes(sizes.as_bytes())
    }

    #[test]
    fn arrays_count_the_triangle_they_list() {
        let entries = |symmetry: &str, sizes: &str| {
            header(&format!("%%MatrixMarket matrix array real {symmetry}"), sizes).unwrap().entries
        };
        assert_eq!(entries("general", "3 4"), 12);
        assert_eq!(entries("symmetric", "4 4"), 10);
        assert_eq!(entries("skew-symmetric", "4 4"), 6);
        assert_eq!(entries("skew-symmetric", "0 0"), 0);
        assert_eq!(entries("symmetric", "4294967295 4294967295"), 9223372034707292160);
    }

    #[test]
    fn wrong_banners_are_refused_by_the_word_that_is_wrong() {
        let refusal = |banner: &str| Banner::parse(banner.as_bytes()).unwrap_err();
        let of = |rest: &str| refusal(&format!("%%MatrixMarket {rest}"));
        assert_eq!(
            refusal("MatrixMarket matrix coordinate real general\r"),
            "\"MatrixMarket matrix coordinate real general\" is not the banner \
             \"%%MatrixMarket matrix FORMAT FIELD SYMMETRY\", which such a file begins with"
        );
        assert_eq!(
            of("matrix coordinate real"),
            "the banner has 4 words where 5 are needed: %%MatrixMarket matrix FORMAT FIELD SYMMETRY"
        );
        assert_eq!(of("vector array real general"), "object \"vector\" is not \"matrix\"");
        assert_eq!(of("matrix csr real general"), "format \"csr\" is neither coordinate nor array");
        assert_eq!(
            of("matrix array float general"),
            "field \"float\" is none of real, integer, pattern"
        );
        assert_eq!(
            of("matrix array real square"),
            "symmetry \"square\" is none of general, symmetric, skew-symmetric"
        );
        assert!(of("matrix array pattern general").contains("cannot be an array"));
        assert!(of("matrix coordinate pattern skew-symmetric").contains("cannot be skew"));
        assert!(of("matrix coordinate complex general").contains("complex values"));
        assert!(of("matrix coordinate real hermitian").contains("hermitian"));
    }

    #[test]
    fn one_percent_sign_and_words_after_the_fifth_are_read_as_scipy_does() {
        let right = Banner::parse(b"%%MatrixMarket matrix array real general").unwrap();
        for banner in [
            "%MatrixMarket matrix array real general",
            "%%MatrixMarket matrix array real general written by hand\r",
            "%MATRIXMARKET matrix array real general %",
        ] {
            assert_eq!(Banner::parse(banner.as_bytes()), Ok(right), "{banner}");
        }
        assert!(Banner::parse(b"%%%MatrixMarket matrix array real general").is_err());
    }

    #[test]
    fn wrong_sizes_are_refused_with_their_value_and_limit() {
        let refusal = |symmetry: &str, sizes: &str| {
            let banner = format!("%%MatrixMarket matrix coordinate real {symmetry}");
            header(&banner, sizes).unwrap_err()
        };
        assert_eq!(refusal("general", "-2 2 1"), "the number of rows, \"-2\", is negative");
        assert_eq!(
            refusal("general", "2 4294967296 1"),
            "the number of columns, 4294967296, is above the limit of 4294967295"
        );
        assert_eq!(
            refusal("general", "99999999999999999999 2 1"),
            "the number of rows, \"99999999999999999999\", is above the limit of 4294967295"
        );
        assert_eq!(
            refusal("general", "2 2 99999999999999999999"),
            "the number of entries, \"99999999999999999999\", is above the limit of \
             9999999999999999999"
        );
        assert_eq!(
            refusal("general", "2 2 1.5"),
            "the number of entries, \"1.5\", is not a whole number"
        );
        assert_eq!(
            refusal("general", "2 2"),
            "the size line \"2 2\" has 2 numbers where 3 are needed: rows, columns and entries"
        );
        assert_eq!(
            refusal("symmetric", "2 3 1"),
            "a symmetric matrix must be square, and 2 x 3 is not"
        );
    }
}
