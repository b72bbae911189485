//! What batches are made of: the problems of a case, and the order in which they stand.

use csr_core::Csr;
use csr_core::generate::{SMALL_PROBLEMS, SmallProblem, dense_problem};

use super::{Cases, PaperFigure};
use crate::GeneratorOptions;
use crate::units::counted;

/// Mean nonzeros of a row in problems of controlled density.
const DENSITIES: [usize; 5] = [1, 4, 16, 32, 64];

/// What one batch is made of.
#[derive(Clone, Debug)]
pub struct BatchCase {
    /// Its name in records.
    pub name: String,
    /// "file", "assembled" or "likeness".
    pub source: &'static str,
    /// "homogeneous", "mixed", "balanced 4", ...
    pub kind: String,
    /// Its matrices.
    pub matrices: Vec<Csr<f64>>,
    /// For each problem the index of its matrix, for a batch of some size.
    pub order: fn(&[Csr<f64>], usize) -> Vec<usize>,
}

impl BatchCase {
    /// Batches of one problem.
    pub fn homogeneous(name: String, source: &'static str, matrix: Csr<f64>) -> Self {
        BatchCase {
            name,
            source,
            kind: "homogeneous".to_owned(),
            matrices: vec![matrix],
            order: |_, size| vec![0; size],
        }
    }

    /// A batch of these problems in random order.
    pub fn mixed(source: &'static str, matrices: Vec<Csr<f64>>) -> Self {
        let (name, kind) = (counted(matrices.len(), "problem"), "mixed".to_owned());
        BatchCase { name, source, kind, matrices, order: at_random }
    }

    /// Nonzeros of a batch of so many problems, each matrix as often as any other.
    pub fn nnz(&self, size: usize) -> u64 {
        let nnz: usize = self.matrices.iter().map(Csr::nnz).sum();
        (nnz as u64).saturating_mul(size as u64) / self.matrices.len().max(1) as u64
    }
}

/// Batches of one problem of order 1,024 each, with 1 to 64 nonzeros a row in the mean: in every row as many, or heaped in
/// few rows.
///
/// # Errors
/// None is known; that of making a problem is passed on.
pub fn density_batches(generator: GeneratorOptions) -> csr_core::Result<Vec<BatchCase>> {
    let mut cases = Vec::new();
    for (is_heaped, word) in [(false, "balanced"), (true, "heaped")] {
        for mean in DENSITIES {
            let matrix = dense_problem(mean, is_heaped, generator.seed)?;
            let kind = format!("{word} {mean}");
            let name = "order-1024".to_owned();
            cases.push(BatchCase { kind, ..BatchCase::homogeneous(name, "assembled", matrix) });
        }
    }
    Ok(cases)
}

/// Matrices in random order, the same every time.
pub fn at_random(matrices: &[Csr<f64>], size: usize) -> Vec<usize> {
    let drawn = csr_core::random_vector::<f64>(17, size);
    let count = matrices.len();
    // Between -1 and 1.
    drawn.iter().map(|at| (((at + 1.0) / 2.0 * count as f64) as usize).min(count - 1)).collect()
}

/// Problems of a batch at a scale; sizes that it makes the same are one.
pub fn batch_sizes(sizes: &[usize], scale: f64) -> Vec<usize> {
    let scaled = |size: &usize| ((*size as f64 * scale).round() as usize).max(1);
    let mut sizes: Vec<usize> = sizes.iter().map(scaled).collect();
    sizes.dedup();
    sizes
}

impl PaperFigure {
    /// The small problems that the figure has where no others are named.
    pub fn small_problems(&self) -> impl Iterator<Item = &'static SmallProblem> {
        let names = match self.cases {
            Cases::Problems(names) => Some(names),
            _ => None,
        };
        let is_listed = move |one: &&SmallProblem| {
            names.is_some_and(|names| names.is_empty() || names.contains(&one.name))
        };
        SMALL_PROBLEMS.iter().filter(is_listed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_that_a_scale_makes_the_same_are_one() {
        assert_eq!(batch_sizes(&[1, 10, 100, 1000], 0.05), [1, 5, 50]);
    }

    #[test]
    fn a_figure_of_small_problems_has_those_that_it_names_or_all() {
        let count = |name| PaperFigure::named(name).unwrap().small_problems().count();
        assert_eq!([count("batched-3"), count("batched-5"), count("spmm-4")], [12, 32, 0]);
    }
}
