//! What is compared on: classes of the suite at a scale, files, and one matrix that the suite does not have.

use anyhow::{Context as _, Result, bail};
use std::str::FromStr;

/// A matrix by name, and how large.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Matrix {
    /// A class or a path, as `sparrow bench` takes it; or [`EVEN`].
    pub(super) input: String,
    /// Multiplies the rows of a class.
    pub(super) scale: f64,
}

/// A million rows of 8 nonzeros, anywhere.
pub(super) const EVEN: &str = "even8";
/// Rows and columns of [`EVEN`].
pub(super) const EVEN_ROWS: u32 = 1_000_000;
/// Nonzeros of its rows.
pub(super) const EVEN_LENGTH: u32 = 8;

/// The five-point stencil on 1000^2 points, the 27-point one on 100^3, random rows of 8; and of the suite a mesh, a web
/// and a circuit.
pub(super) const DEFAULT: [&str; 6] = [
    "poisson5@2.0408163265306123",
    "stencil27@0.244140625",
    EVEN,
    "cant",
    "webbase-1M",
    "scircuit",
];

impl FromStr for Matrix {
    type Err = anyhow::Error;

    /// `NAME` or `NAME@SCALE`.
    fn from_str(text: &str) -> Result<Self> {
        let Some((input, scale)) = text.rsplit_once('@') else {
            return Ok(Matrix { input: text.to_owned(), scale: 1.0 });
        };
        let number: f64 =
            scale.parse().with_context(|| format!("{text}: \"{scale}\" after @ is no number"))?;
        if !(number.is_finite() && number > 0.0) {
            bail!("{text}: a scale of {scale} is not above 0");
        }
        if input == EVEN {
            bail!("{text}: {EVEN} has one size");
        }
        Ok(Matrix { input: input.to_owned(), scale: number })
    }
}

impl Matrix {
    /// The matrix for a program, with `--scale` where it has one: programs refuse that for files.
    pub(super) fn arguments(&self) -> Vec<String> {
        let mut arguments = vec![self.input.clone()];
        if self.scale != 1.0 {
            arguments.extend(["--scale".to_owned(), self.scale.to_string()]);
        }
        arguments
    }

    /// For tables: the name, with the scale if it is not 1.
    pub(super) fn label(&self, name: &str) -> String {
        if self.scale == 1.0 { name.to_owned() } else { format!("{name} x {:.3}", self.scale) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_matrix_is_a_name_with_or_without_a_scale() {
        let matrix = |input: &str, scale| Matrix { input: input.to_owned(), scale };
        assert_eq!("cant".parse::<Matrix>().unwrap(), matrix("cant", 1.0));
        assert_eq!("pwtk@0.5".parse::<Matrix>().unwrap(), matrix("pwtk", 0.5));
        assert_eq!("a/b.mtx".parse::<Matrix>().unwrap(), matrix("a/b.mtx", 1.0));
        assert_eq!(matrix("pwtk", 0.5).label("pwtk-like"), "pwtk-like x 0.500");
        assert_eq!(matrix("pwtk", 0.5).arguments(), ["pwtk", "--scale", "0.5"]);
        assert_eq!(matrix("a/b.mtx", 1.0).arguments(), ["a/b.mtx"]);
        for default in DEFAULT {
            default.parse::<Matrix>().unwrap();
        }
    }

    #[test]
    fn a_scale_that_no_matrix_has_is_refused_by_name() {
        for (text, expected) in
            [("pwtk@big", "\"big\" after @"), ("pwtk@0", "not above 0"), ("even8@2", "one size")]
        {
            let error = format!("{:#}", text.parse::<Matrix>().unwrap_err());
            assert!(error.contains(text) && error.contains(expected), "{error}");
        }
    }
}
