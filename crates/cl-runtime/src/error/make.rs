//! How errors of things that do not belong together are made.

use std::fmt::Display;

use csr_core::DenseShape;

use super::{Error, Result};
use crate::{ElementType, MatrixTypes};

/// Refuses what has another size than `needed`, by its name `what`: so many of a unit.
///
/// # Errors
/// [`Error::Size`].
pub fn check_size(
    what: &str,
    (found, unit): (usize, &'static str),
    needed: usize,
    rule: impl Display,
) -> Result<()> {
    if found == needed { Ok(()) } else { Err(Error::size(what, (found, unit), needed, rule)) }
}

/// Refuses a matrix of other types than the plan, or the other matrix, that it is used with, both by their names.
///
/// # Errors
/// [`Error::MatrixTypes`].
pub fn check_matrix_types(
    (what, found): (&str, MatrixTypes),
    (other, needed): (&str, MatrixTypes),
) -> Result<()> {
    if found == needed {
        return Ok(());
    }
    let (what, other) = (what.to_owned(), other.to_owned());
    Err(Error::MatrixTypes { what, found, other, needed })
}

impl Error {
    /// [`Error::Context`].
    pub fn context(what: impl Into<String>, other: impl Into<String>) -> Self {
        Error::Context { what: what.into(), other: other.into() }
    }

    /// [`Error::ElementType`].
    pub fn element_type(
        what: impl Into<String>,
        found: impl Into<ElementType>,
        needed: impl Display,
    ) -> Self {
        Error::ElementType { what: what.into(), found: found.into(), needed: needed.to_string() }
    }

    /// [`Error::Size`].
    pub fn size(
        what: impl Into<String>,
        (found, unit): (usize, &'static str),
        needed: usize,
        rule: impl Display,
    ) -> Self {
        Error::Size { what: what.into(), unit, found, needed, rule: rule.to_string() }
    }

    /// [`Error::Combination`].
    pub fn combination(what: impl Display, with: impl Display, rule: impl Display) -> Self {
        let [what, with, rule] = [what.to_string(), with.to_string(), rule.to_string()];
        Error::Combination { what, with, rule }
    }

    /// [`Error::Size`], of a dense matrix that is shorter than its shape spans.
    pub fn span(what: impl Into<String>, found: usize, shape: &DenseShape) -> Self {
        let (rows, cols, leading) = (shape.rows(), shape.cols(), shape.leading());
        let rule = format_args!("{rows} x {cols} with a leading dimension of {leading}");
        Error::size(what, (found, "element"), shape.span(), rule)
    }
}
