//! Measuring products with a dense matrix.

use std::time::Instant;

use csr_core::verify::{Verification, verify_dense};
use csr_core::{AnyCsrView, AnyVector, DenseShape, Layout, Number};
use sparrow::{
    AnyArray, AnyDenseMatrix, AnyMatrix, AnySpmmOperands, AnySpmmPlan, DenseOperands, NoEvent,
    PlanOptions, Queue, Rates, SpmmAlgorithm, SpmmOptions, SpmmVariant, Workspace,
};

use super::device::Instance;
use super::operands::{read_blocking, shape_of, uploaded};
use super::{Budget, MeasureError, Origin, Samples, Shape, add_times, bytes_once, untimed_record};
use crate::Record;
use crate::record::{Details, SpmmRecord};

/// What is measured besides the matrix.
#[derive(Clone, Debug)]
pub struct SpmmSubject {
    /// What runs, one after the other on the same B, and in which form; `None` chooses for matrix and device.
    pub algorithms: Vec<(Option<SpmmAlgorithm>, SpmmVariant)>,
    /// Columns of B and C.
    pub columns: usize,
    /// How B lies.
    pub layout_b: Layout,
    /// How C lies.
    pub layout_c: Layout,
    /// Hyper-parameters over the device table's.
    pub parameters: Vec<(String, u32)>,
    /// Whether to measure the dense product too, with A's zeros written out; B and C are row-major then.
    pub with_dense: bool,
    /// Whether to measure each in turn with a product with one vector.
    pub with_vector: bool,
    /// How long to measure each.
    pub budget: Budget,
}

/// The name of the dense product in records.
const DENSE_PRODUCT: &str = "dense_product";

/// One algorithm's record without times, its times, and the C it left.
struct Timed {
    record: Record,
    samples: Samples,
    setup_us: f64,
    c: AnyVector,
}

/// A and B on the device, and what is measured with them.
struct Scene<'a> {
    queue: &'a Queue,
    a: AnyMatrix,
    b: AnyArray,
    shape: Shape,
    b_shape: DenseShape,
    c_shape: DenseShape,
    origin: &'a Origin,
    subject: &'a SpmmSubject,
    rates: &'a Rates,
}

/// What came of the algorithms.
#[derive(Debug)]
pub struct SpmmResults {
    /// Of those that were measured.
    pub records: Vec<Record>,
    /// Those that the library refuses, by name, with the reason ([`MeasureError::is_refusal`]).
    pub refused: Vec<(&'static str, MeasureError)>,
}

/// Measures each algorithm on `matrix`, C = A B with a random B; every element of every C is verified.
///
/// # Errors
/// A call of the driver fails, or the library refuses what all of them need; a wrong result is a record without times.
pub fn measure_spmm(
    queue: &Queue,
    matrix: AnyCsrView<'_>,
    origin: &Origin,
    subject: &SpmmSubject,
    rates: &Rates,
) -> Result<SpmmResults, MeasureError> {
    let shape = shape_of(matrix);
    let b_shape = DenseShape::packed(shape.cols, subject.columns, subject.layout_b)?;
    let c_shape = DenseShape::packed(shape.rows, subject.columns, subject.layout_c)?;
    let b = AnyVector::random(shape.value_type, origin.generator.seed, b_shape.span())?;
    let a = AnyMatrix::upload_blocking(queue, matrix)?;
    let on_device = uploaded(queue, &b)?;
    let scene = Scene { queue, a, b: on_device, shape, b_shape, c_shape, origin, subject, rates };
    let mut single = match subject.with_vector {
        true => {
            let x = AnyVector::random(shape.value_type, origin.generator.seed, shape.cols)?;
            Some(Instance::new(queue, matrix, &x, &PlanOptions::default())?)
        }
        false => None,
    };
    let (mut timed, mut refused) = (Vec::new(), Vec::new());
    let mut add = |name, result: Result<Timed, MeasureError>| match result {
        Ok(one) => {
            timed.push(one);
            Ok(())
        }
        Err(error) if error.is_refusal() => {
            refused.push((name, error));
            Ok(())
        }
        Err(error) => Err(error),
    };
    for &(algorithm, variant) in &subject.algorithms {
        let name = algorithm.map_or("auto", SpmmAlgorithm::name);
        add(name, scene.time(algorithm, variant, single.as_mut()))?;
    }
    if subject.with_dense {
        add(DENSE_PRODUCT, scene.time_dense())?;
    }

    let cs: Vec<&AnyVector> = timed.iter().map(|timed| &timed.c).collect();
    let found = verify_dense(matrix, (&b, &b_shape), (&cs, &c_shape))?;
    let bytes = spmm_bytes(&shape, subject.columns);
    let finish = |(Timed { mut record, samples, setup_us, .. }, found): (Timed, Verification)| {
        record.verified = found.passed();
        record.error_in_tolerance =
            Some(found.error_in_tolerance).filter(|error| error.is_finite());
        record.non_finite = found.non_finite as u64;
        if record.verified {
            add_times(&mut record, &shape, bytes, &samples, rates, setup_us);
            // Two operations for each nonzero and column.
            record.gflops = record.gflops.map(|gflops| gflops * subject.columns as f64);
        }
        record
    };
    let records = timed.into_iter().zip(found).map(finish).collect();
    Ok(SpmmResults { records, refused })
}

/// Bytes that must move once: A, B and C.
pub(super) fn spmm_bytes(shape: &Shape, columns: usize) -> f64 {
    let accumulator = shape.value_type.accumulator().size_bytes() as f64;
    let vectors = (shape.rows as f64 + shape.cols as f64) * accumulator;
    bytes_once(shape) - vectors + vectors * columns as f64
}

impl Scene<'_> {
    /// A C that is all NaN.
    fn poisoned_c(&self) -> Result<AnyArray, MeasureError> {
        let bytes =
            self.c_shape.span().saturating_mul(self.shape.value_type.accumulator().size_bytes());
        csr_core::check_memory::<u8>("C", bytes)?;
        let poison = AnyVector::filled(self.shape.value_type, f64::NAN, self.c_shape.span());
        uploaded(self.queue, &poison)
    }

    fn time(
        &self,
        algorithm: Option<SpmmAlgorithm>,
        variant: SpmmVariant,
        single: Option<&mut Instance>,
    ) -> Result<Timed, MeasureError> {
        let Scene { queue, a, b, shape, b_shape, c_shape, subject, .. } = self;
        let (value_type, parameters) = (shape.value_type, subject.parameters.clone());
        let options = SpmmOptions { algorithm, variant, parameters, ..SpmmOptions::default() };
        let dense = DenseOperands { b: *b_shape, b_type: value_type.accumulator(), c: *c_shape };
        let set_up = || -> Result<(AnySpmmPlan, Workspace), MeasureError> {
            let plan = AnySpmmPlan::new_blocking(queue, a, dense, &options)?;
            let workspace = plan.workspace_blocking(queue)?;
            Ok((plan, workspace))
        };
        let (plan, mut workspace) = set_up()?;
        let start = Instant::now();
        drop(set_up()?);
        let setup_us = start.elapsed().as_secs_f64() * 1e6;
        let mut c = self.poisoned_c()?;
        let number = |value| Number::of(value_type, value).into();
        let mut launch = || -> Result<(), MeasureError> {
            let (alpha, beta) = (number(1.0), number(0.0));
            let product = AnySpmmOperands { alpha, a, b, beta, c: &mut c };
            plan.launch(queue, &mut workspace, product, NoEvent)?;
            Ok(())
        };
        let finish = || Ok(queue.finish_blocking()?);
        let (samples, single_us) = match single {
            Some(single) => {
                let mut of_vector = || single.launch(queue);
                let [samples, of_vector] =
                    Samples::take_in_turn(&subject.budget, [&mut launch, &mut of_vector], finish)?;
                (samples, Some(of_vector.median_us()))
            }
            None => (Samples::take(&subject.budget, launch, finish)?, None),
        };
        let details = SpmmRecord {
            columns: subject.columns as u64,
            layout_b: subject.layout_b.name().to_owned(),
            layout_c: subject.layout_c.name().to_owned(),
            chosen: plan.algorithm_name().to_owned(),
            mean_inode: plan.mean_inode(),
            single_us,
        };
        let record = Record {
            // The choice's records say what was chosen in their parameters' key.
            algorithm: algorithm.map_or("spmm", SpmmAlgorithm::name).to_owned(),
            variant: match variant {
                SpmmVariant::Default => String::new(),
                SpmmVariant::Published => variant.to_string(),
            },
            params: plan.parameters(),
            kernel_key: plan.key().to_string(),
            plan_bytes: (plan.plan_bytes() + plan.workspace_bytes()) as u64,
            repeatable: plan.is_repeatable(),
            ..self.device_record(details)
        };
        // C held NaN before the first launch: what is verified is what was timed.
        Ok(Timed { record, samples, setup_us, c: read_blocking(queue, &c, value_type)? })
    }

    /// Times the dense product; writing out the zeros is its set-up.
    fn time_dense(&self) -> Result<Timed, MeasureError> {
        let Scene { queue, a, b, shape, subject, .. } = self;
        let start = Instant::now();
        let mut dense = AnyDenseMatrix::write_out_blocking(queue, a)?;
        let setup_us = start.elapsed().as_secs_f64() * 1e6;
        let mut c = self.poisoned_c()?;
        let samples = Samples::take::<MeasureError>(
            &subject.budget,
            || Ok(dense.launch(queue, b, &mut c, subject.columns)?),
            || Ok(queue.finish_blocking()?),
        )?;
        let row_major = Layout::RowMajor.name().to_owned();
        let details = SpmmRecord {
            columns: subject.columns as u64,
            layout_b: row_major.clone(),
            layout_c: row_major,
            chosen: DENSE_PRODUCT.to_owned(),
            mean_inode: 1.0,
            single_us: None,
        };
        let record = Record {
            algorithm: DENSE_PRODUCT.to_owned(),
            plan_bytes: dense.size_bytes() as u64,
            repeatable: true,
            ..self.device_record(details)
        };
        Ok(Timed { record, samples, setup_us, c: read_blocking(queue, &c, shape.value_type)? })
    }

    /// A record of this device and these rates, without an algorithm and times.
    fn device_record(&self, details: SpmmRecord) -> Record {
        let traits = self.queue.context().device().traits();
        Record {
            device: traits.name.clone(),
            platform: traits.platform.clone(),
            driver: traits.driver.clone(),
            stream_gbytes_per_s: Some(self.rates.read / 1e9),
            copy_gbytes_per_s: Some(self.rates.copy / 1e9),
            ..untimed_record(self.origin, &self.shape, Details::Spmm(details))
        }
    }
}
