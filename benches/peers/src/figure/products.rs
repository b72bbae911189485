//! A matrix of a figure by another library, with a vector or with a dense matrix: the fastest algorithm whose whole result
//! is right.

use anyhow::{Context as _, Result, bail};
use csr_core::verify::{Oracle, Summation, Verification, verify_dense};
use csr_core::{AnyVector, Csr, DenseShape, Layout, ValueType, random_vector};
use sparrow_bench::figures::{Measured, PaperFigure, PeerProduct};
use sparrow_bench::{Details, Origin, PeerRun, Record, SpmmRecord, SpmvRecord, peer_record};

use super::libraries::Libraries;
use crate::mkl::MklValue;
use crate::spmm::BUDGET;
use crate::timed::Timed;

/// Everything that the figure has of one matrix.
pub fn measure(
    matrix: &Csr<f64, u32>,
    origin: &Origin,
    figure: &PaperFigure,
    types: &[ValueType],
    libraries: &Libraries,
) -> Result<Vec<Record>> {
    let scene = Scene { origin, libraries };
    each_type(&origin.name, types, |value_type| match value_type {
        ValueType::F64 => scene.measure(matrix, figure),
        ValueType::F32 => scene.measure(&matrix.narrowed::<f32>()?, figure),
        other => bail!("{other} is not compared"),
    })
}

/// What is found of each type. Those that fail are named; it is an error if nothing is left.
pub fn each_type<R>(
    name: &str,
    types: &[ValueType],
    mut measure: impl FnMut(ValueType) -> Result<Vec<R>>,
) -> Result<Vec<R>> {
    let (mut found, mut failures) = (Vec::new(), Vec::new());
    for &value_type in types {
        match measure(value_type) {
            Ok(some) => found.extend(some),
            Err(error) => failures.push((value_type, error)),
        }
    }
    if found.is_empty() && !failures.is_empty() {
        let (value_type, error) = failures.swap_remove(0);
        return Err(error.context(value_type));
    }
    for (value_type, error) in failures {
        eprintln!("{name}, {value_type}: left out: {error:#}");
    }
    Ok(found)
}

struct Scene<'a> {
    origin: &'a Origin,
    libraries: &'a Libraries,
}

/// Some algorithms, and what became of the result of each.
pub type Judged<T> = Vec<(Timed<T>, Verification)>;

impl Scene<'_> {
    fn measure<T: MklValue>(
        &self,
        matrix: &Csr<T, u32>,
        figure: &PaperFigure,
    ) -> Result<Vec<Record>> {
        match figure.measured {
            Measured::Spmv { .. } => {
                let judged = self.of_vector(matrix)?;
                let (timed, found) = best(&judged).context("no algorithm")?;
                let product = self.libraries.spmv_product();
                let run = run(product, self.libraries, timed, *found);
                let details = Details::Spmv(SpmvRecord::default());
                Ok(vec![peer_record(matrix.view().into(), self.origin, details, &run)])
            }
            Measured::Spmm { columns, with_dense, with_vector, .. } => {
                self.dense(matrix, columns, (with_dense, with_vector))
            }
            Measured::Batch { .. } => bail!("{} is a figure of batches", figure.name),
        }
    }

    /// Products with so many columns, of A as it is and with its zeros written out, and with a vector.
    fn dense<T: MklValue>(
        &self,
        matrix: &Csr<T, u32>,
        columns: usize,
        (with_dense, with_vector): (bool, bool),
    ) -> Result<Vec<Record>> {
        let Scene { origin, libraries } = *self;
        let (seed, row_major) = (origin.generator.seed, Layout::RowMajor);
        let b_shape = DenseShape::packed(matrix.cols(), columns, row_major)?;
        let c_shape = DenseShape::packed(matrix.rows(), columns, row_major)?;
        let b: Vec<T> = random_vector(seed, b_shape.span());
        let sparse = libraries.spmm(matrix, &b, columns, &BUDGET)?;
        let dense = match with_dense {
            true => match libraries.dense(matrix, &b, columns, &BUDGET) {
                Ok(dense) => Some(dense),
                Err(error) => {
                    eprintln!("{}, dense product: left out: {error:#}", origin.name);
                    None
                }
            },
            false => None,
        };
        let count = sparse.len();
        let mut all: Vec<Timed<T>> = sparse.into_iter().chain(dense).collect();
        let erased = |one: &mut Timed<T>| T::erased(std::mem::take(&mut one.y));
        let cs: Vec<AnyVector> = all.iter_mut().map(erased).collect();
        let cs: Vec<&AnyVector> = cs.iter().collect();
        let b = T::erased(b);
        let found = verify_dense(matrix.view().into(), (&b, &b_shape), (&cs, &c_shape))?;
        let mut sparse: Judged<T> = all.into_iter().zip(found).collect();
        let dense = sparse.split_off(count);
        let single_us = match with_vector {
            true => self.single_us(matrix)?,
            false => None,
        };
        let products = [(libraries.spmm_product(), sparse), (libraries.dense_product(), dense)];
        let measured = products.into_iter().filter(|(_, judged)| !judged.is_empty());
        measured
            .map(|(product, judged)| {
                let best = best(&judged).context("no algorithm")?;
                let single_us = single_us.filter(|_| product == libraries.spmm_product());
                Ok(self.record((matrix, columns), product, best, single_us))
            })
            .collect()
    }

    /// Products with a vector.
    fn of_vector<T: MklValue>(&self, matrix: &Csr<T, u32>) -> Result<Judged<T>> {
        let x: Vec<T> = random_vector(self.origin.generator.seed, matrix.cols());
        let timed = self.libraries.spmv(matrix, &x, &BUDGET)?;
        judged(matrix, &x, timed)
    }

    /// Median microseconds of the fastest right product with a vector.
    fn single_us<T: MklValue>(&self, matrix: &Csr<T, u32>) -> Result<Option<f64>> {
        let judged = self.of_vector(matrix)?;
        let best = best(&judged).filter(|(_, found)| found.passed());
        if best.is_none() {
            eprintln!("{}, product with a vector: left out: its result is wrong", self.origin.name);
        }
        Ok(best.map(|(timed, _)| timed.samples.median_us()))
    }

    fn record<T: MklValue>(
        &self,
        (matrix, columns): (&Csr<T, u32>, usize),
        product: PeerProduct,
        (timed, found): &(Timed<T>, Verification),
        single_us: Option<f64>,
    ) -> Record {
        let row = || Layout::RowMajor.name().to_owned();
        let details = Details::Spmm(SpmmRecord {
            columns: columns as u64,
            layout_b: row(),
            layout_c: row(),
            chosen: timed.algorithm.to_owned(),
            mean_inode: 1.0,
            single_us,
        });
        let run = run(product, self.libraries, timed, *found);
        peer_record(matrix.view().into(), self.origin, details, &run)
    }
}

/// How a product went.
pub fn run<'a, T>(
    product: PeerProduct,
    libraries: &'a Libraries,
    timed: &'a Timed<T>,
    found: Verification,
) -> PeerRun<'a> {
    PeerRun {
        product,
        algorithm: timed.algorithm,
        library: &libraries.name,
        device: &libraries.device,
        driver: &libraries.driver,
        samples: &timed.samples,
        setup_us: timed.setup_us,
        found,
    }
}

/// Holds every y = A x against the oracle.
pub fn judged<T: MklValue>(
    matrix: &Csr<T, u32>,
    x: &[T],
    timed: Vec<Timed<T>>,
) -> Result<Judged<T>> {
    let (one, zero) = (T::from_f64(1.0), T::from_f64(0.0));
    let zeros = vec![zero; matrix.rows()];
    let oracle = Oracle::new(one, matrix.view(), x, zero, &zeros)?;
    let judge = |timed: Timed<T>| -> Result<(Timed<T>, Verification)> {
        let found = oracle.verify(&timed.y, Summation::Plain)?;
        Ok((timed, found))
    };
    timed.into_iter().map(judge).collect()
}

/// The fastest of those that are right; where none is, any.
pub fn best<T>(judged: &[(Timed<T>, Verification)]) -> Option<&(Timed<T>, Verification)> {
    let key =
        |(timed, found): &(Timed<T>, Verification)| (!found.passed(), timed.samples.median_us());
    judged.iter().min_by(|a, b| {
        let ((a_wrong, a_us), (b_wrong, b_us)) = (key(a), key(b));
        a_wrong.cmp(&b_wrong).then(a_us.total_cmp(&b_us))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use sparrow_bench::{Budget, Samples};

    fn timed(algorithm: &'static str, y: f64, us: u64) -> Timed<f64> {
        let once =
            Budget { min_samples: 1, max_samples: 1, sample: std::time::Duration::ZERO, ..BUDGET };
        let launch = || {
            std::thread::sleep(std::time::Duration::from_micros(us));
            Ok(())
        };
        let samples = Samples::take::<anyhow::Error>(&once, launch, || Ok(())).unwrap();
        Timed { algorithm, samples, setup_us: 0.0, y: vec![y] }
    }

    #[test]
    fn a_type_that_fails_leaves_the_others_results_and_none_at_all_is_an_error() {
        let measure = |value_type| match value_type {
            ValueType::F64 => Ok(vec![1, 2]),
            other => bail!("no memory for {other}"),
        };
        let all = [ValueType::F32, ValueType::F64, ValueType::F16];
        assert_eq!(each_type("a", &all, measure).unwrap(), [1, 2]);
        let error = each_type("a", &all[..1], measure).unwrap_err();
        assert_eq!(format!("{error:#}"), "f32: no memory for f32");
    }

    #[test]
    fn a_fast_algorithm_with_a_wrong_result_is_not_the_best() {
        let matrix: Csr<f64, u32> = Csr::new(1, vec![0, 1], vec![0], vec![2.0]).unwrap();
        let all =
            vec![timed("wrong", 7.0, 0), timed("right", 6.0, 20_000), timed("slow", 6.0, 90_000)];
        let judged = judged(&matrix, &[3.0], all).unwrap();
        assert_eq!(best(&judged).unwrap().0.algorithm, "right");
        assert_eq!(best(&judged[..1]).map(|(_, found)| found.passed()), Some(false));
    }
}
