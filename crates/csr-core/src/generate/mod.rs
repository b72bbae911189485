//! Matrices made on the spot: assembled problems, and likenesses of the papers' matrices.
//!
//! *Assembled problems* are real discretisations, graphs, circuits and linear programmes. *Likenesses*
//! imitate matrices that cannot travel with the project, from their published figures, and always say so:
//! `pwtk` is asked for, `pwtk-like` is what output calls it.
//!
//! A matrix is a function of class, scale and seed: every row draws from random streams of its own, so
//! it is the same on any number of threads. Columns are distinct and ascend within a row.

mod assemble;
mod columns;
mod elasticity;
mod entries;
mod graph;
mod lengths;
mod likeness;
mod problem;
pub(crate) mod random;
mod resistor;
mod rung;
mod setcover;
mod small;
mod stencil;
mod suite;
mod sweep;
mod table;

use likeness::Likeness;
use problem::Problem;
use table::LIKENESSES;

use crate::{Csr, Error, Offset, Result, Value};

pub use entries::{scattered_entries, shuffled};
pub use rung::{Rung, Skew};
pub use small::{
    SMALL_PROBLEMS, SmallProblem, dense_problem, dense_row_problem, drawn_problem, tiny_problem,
};
pub use suite::Suite;
pub use sweep::{even_matrix, uneven_matrix};

/// The seed a class is generated from unless another is asked for.
pub const DEFAULT_SEED: u64 = 1;

/// One kind of matrix that the suite can generate; parse it from its name.
///
/// ```
/// use csr_core::generate::{Class, DEFAULT_SEED};
///
/// let class: Class = "pwtk".parse()?;
/// let matrix = class.generate::<f32, u32>(0.01, DEFAULT_SEED)?;
/// assert_eq!((matrix.rows(), class.display_name()), (2179, "pwtk-like".to_owned()));
/// # Ok::<(), csr_core::Error>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Class(Kind);

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Kind {
    Problem(Problem),
    /// Position in [`LIKENESSES`].
    Likeness(usize),
}

/// Where a generated matrix comes from; records tell these apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Source {
    /// Computed from a definition of its own.
    Assembled,
    /// Imitates a matrix of a paper by its published figures.
    Likeness,
}

impl Source {
    /// The spelling in records: `assembled` or `likeness`.
    pub fn name(self) -> &'static str {
        match self {
            Source::Assembled => "assembled",
            Source::Likeness => "likeness",
        }
    }
}

impl std::fmt::Display for Source {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.name())
    }
}

impl Class {
    /// Every class in the suite's order: assembled problems, then likenesses, then `uniform16`.
    pub fn all() -> impl Iterator<Item = Class> {
        let problems = Problem::ALL.into_iter().map(Kind::Problem);
        problems.chain((0..LIKENESSES.len()).map(Kind::Likeness)).map(Class)
    }

    /// The name that asks for this class.
    pub fn name(self) -> &'static str {
        match self.0 {
            Kind::Problem(problem) => problem.name(),
            Kind::Likeness(index) => LIKENESSES[index].name,
        }
    }

    /// The name that output uses: `NAME-like` for likenesses, the plain name otherwise.
    pub fn display_name(self) -> String {
        match self.source() {
            Source::Assembled => self.name().to_owned(),
            Source::Likeness => format!("{}-like", self.name()),
        }
    }

    /// Whether this is a problem in its own right or imitates another matrix.
    pub fn source(self) -> Source {
        match self.likeness() {
            Some(likeness) if !likeness.papers.is_empty() => Source::Likeness,
            _ => Source::Assembled,
        }
    }

    /// Rows and nonzeros at scale 1 of a likeness, as published; `None` for what is assembled.
    pub fn published_size(self) -> Option<(usize, u64)> {
        self.likeness().map(|likeness| (likeness.rows, likeness.nnz))
    }

    /// One line of prose: what is assembled, or whose likeness this is.
    pub fn description(self) -> String {
        match self.0 {
            Kind::Problem(problem) => problem.description().to_owned(),
            Kind::Likeness(index) => match LIKENESSES[index] {
                Likeness { papers: "", .. } => {
                    "the worst gather: 16 nonzeros in each row, anywhere".to_owned()
                }
                Likeness { name, also: "", papers, .. } => format!("likeness of {name} ({papers})"),
                Likeness { name, also, papers, .. } => {
                    format!("likeness of {name}, \"{also}\" ({papers})")
                }
            },
        }
    }

    /// Generates the matrix; `scale` multiplies its rows, 1 being the suite's size.
    ///
    /// Likenesses keep mean and spread of their row lengths: columns, and rows that span a share of
    /// them, scale alike, and the longest row stays within the columns. Grids keep their proportions.
    ///
    /// # Errors
    /// A scale that is not a positive number; rows, columns or nonzeros beyond `u32` or the offset type.
    pub fn generate<V: Value, O: Offset>(self, scale: f64, seed: u64) -> Result<Csr<V, O>> {
        if !(scale > 0.0 && scale.is_finite()) {
            return Err(Error::Scale { scale });
        }
        let base_rows = match self.0 {
            Kind::Problem(problem) => problem.base_rows(),
            Kind::Likeness(index) => LIKENESSES[index].rows,
        };
        // Before anything is computed from the scale: the product may not even fit an integer.
        let rows = base_rows as f64 * scale;
        let limit = u32::MAX.into();
        if rows > f64::from(u32::MAX) {
            return Err(Error::TooLarge { what: "the number of rows", value: rows as u64, limit });
        }
        match self.0 {
            Kind::Problem(problem) => problem.generate(scale, seed),
            Kind::Likeness(index) => LIKENESSES[index].generate(scale, seed),
        }
    }

    /// The same in the types that files are read in, compiled in this crate: as fast as can be, however the caller is
    /// compiled.
    ///
    /// # Errors
    /// As [`Class::generate`].
    pub fn generate_wide(self, scale: f64, seed: u64) -> Result<Csr<f64, u64>> {
        self.generate(scale, seed)
    }

    fn likeness(self) -> Option<&'static Likeness> {
        match self.0 {
            Kind::Problem(_) => None,
            Kind::Likeness(index) => Some(&LIKENESSES[index]),
        }
    }
}

impl std::str::FromStr for Class {
    type Err = Error;

    /// Takes the name of any class, in any case, and of a likeness also with `-like` after it.
    fn from_str(text: &str) -> Result<Self> {
        let named = |class: &Class| {
            class.name().eq_ignore_ascii_case(text)
                || class.display_name().eq_ignore_ascii_case(text)
        };
        Class::all().find(named).ok_or_else(|| Error::UnknownClass {
            name: text.to_owned(),
            nearest: nearest_names(text).join(", "),
        })
    }
}

impl std::fmt::Display for Class {
    /// As [`Class::display_name`].
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(&self.display_name())
    }
}

impl std::fmt::Debug for Class {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Class({})", self.name())
    }
}

/// The three names that take the fewest edits to reach, ignoring case.
fn nearest_names(text: &str) -> Vec<&'static str> {
    let wanted = text.to_lowercase();
    let mut names: Vec<&str> = Class::all().map(Class::name).collect();
    names.sort_by_key(|name| edit_distance(&wanted, &name.to_lowercase()));
    names.truncate(3);
    names
}

/// Levenshtein's distance: insertions, deletions and replacements from one text to the other.
fn edit_distance(from: &str, to: &str) -> usize {
    let mut row: Vec<usize> = (0..=to.chars().count()).collect();
    for (i, a) in from.chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, b) in to.chars().enumerate() {
            let replaced = diagonal + usize::from(a != b);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests;
