//! `sparrow bench`: times products on matrices of any source, each verified, beside the device's limit.

use csr_core::generate::Suite;
use csr_core::{Csr, Offset, Value, ValueType, bf16, f16};
use indicatif::{ProgressBar, ProgressStyle};
use sparrow::{Accumulate, Algorithm, Device, Queue, Rates, Variant, VectorOrder};
use sparrow_bench::{
    Budget, Input, Making, MeasureError, Model, Origin, Record, Subject, host_rates,
    measure_on_device, measure_on_host,
};

use super::load;
use crate::arguments::{Algorithms, Bench, Global, Op};
use crate::failure::Failure;
use crate::output::{check_writable, words_on_stdout, write_text};
use crate::target::queue_on;

/// Where products are timed.
enum Bencher {
    Host(Rates),
    Device(Box<OnDevice>),
}

/// A device, and what was measured of it beforehand.
struct OnDevice {
    queue: Queue,
    rates: Rates,
    /// With `--model`.
    model: Option<Model>,
}

impl Bencher {
    fn all(global: &Global, arguments: &Bench) -> Result<Vec<Self>, Failure> {
        let on_device = |device: &Device| -> Result<Self, Failure> {
            let queue = queue_on(device)?;
            let rates = Rates::measure_blocking(&queue)?;
            let measure = || Model::measure_blocking(&queue, &arguments.value_type);
            let model = arguments.model.then(measure).transpose()?;
            Ok(Bencher::Device(Box::new(OnDevice { queue, rates, model })))
        };
        match global.device.as_deref() {
            None => Ok(vec![on_device(&Device::best()?)?]),
            Some("host") => Ok(vec![Bencher::Host(host_rates())]),
            Some("all") => sparrow::find_devices("all")?.iter().map(on_device).collect(),
            Some(text) => Ok(vec![on_device(&sparrow::find_device(text)?)?]),
        }
    }

    fn measure<V: Value, O: Offset>(
        &self,
        matrix: &Csr<V, O>,
        origin: &Origin,
        subject: &Subject,
    ) -> Result<Record, MeasureError> {
        match self {
            Bencher::Host(rates) => measure_on_host(matrix, origin, subject, rates),
            Bencher::Device(device) => {
                let OnDevice { queue, rates, model } = &**device;
                let mut record = measure_on_device(queue, matrix, origin, subject, rates)?;
                if let Some(model) = model {
                    model.add(queue, matrix, origin, subject, &mut record)?;
                }
                Ok(record)
            }
        }
    }

    /// What to time: on the host there is one product, whatever algorithms are asked for.
    fn subjects(&self, arguments: &Bench) -> Vec<Subject> {
        let ordered = |algorithm, variant, order| Subject {
            algorithm,
            variant,
            order,
            products: arguments.products,
            accumulate: arguments.accumulate,
            parameters: arguments.parameters.iter().flat_map(|list| list.0.clone()).collect(),
            is_cold: arguments.cold,
            budget: Budget::default(),
        };
        let subject = |algorithm, variant| ordered(algorithm, variant, VectorOrder::Original);
        let first_variant = arguments.variant[0];
        match (self, &arguments.algorithms) {
            (Bencher::Host(_), _) => vec![subject(None, first_variant)],
            (_, Algorithms::Auto) => vec![subject(None, first_variant)],
            (_, algorithms) => algorithms
                .of_one_matrix()
                .into_iter()
                .flat_map(|algorithm| {
                    // Those that the algorithm has, or its usual way.
                    let has = |variant: &Variant| Variant::of(algorithm).contains(variant);
                    let mut variants: Vec<_> =
                        arguments.variant.iter().copied().filter(has).collect();
                    if variants.is_empty() {
                        variants.push(Variant::Full.or_usual(algorithm));
                    }
                    let orders = match algorithm {
                        Algorithm::EvcHyb => arguments.order.clone(),
                        _ => vec![VectorOrder::Original],
                    };
                    let in_orders = variants.into_iter().flat_map(move |variant| {
                        orders.clone().into_iter().map(move |order| (variant, order))
                    });
                    in_orders.map(move |(variant, order)| ordered(Some(algorithm), variant, order))
                })
                .collect(),
        }
    }
}

pub(crate) fn run(global: &Global, arguments: &Bench) -> Result<(), Failure> {
    if global.device.as_deref() == Some("host") && arguments.accumulate != Accumulate::Plain {
        return Err(Failure::input("--device host has plain sums only: leave --accumulate out"));
    }
    if arguments.model && (global.device.as_deref() == Some("host") || arguments.op != Op::Spmv) {
        let text = "--model is for products with a vector on an OpenCL device";
        return Err(Failure::input(text));
    }
    for path in global.json.iter().chain(&arguments.html) {
        check_writable(path)?;
    }
    if arguments.batch {
        return super::batch::run(global, arguments);
    }
    if let Algorithms::Batched(_) = arguments.algorithms {
        return Err(Failure::input("batched algorithms need --batch"));
    }
    if arguments.op == Op::Spmm {
        return super::spmm::run(global, arguments);
    }
    if arguments.op == Op::Vector {
        return super::vector::run(global, arguments);
    }
    if arguments.op == Op::Spgemm {
        return super::spgemm::run(global, arguments);
    }
    if arguments.op == Op::Convert {
        return super::convert::run(global, arguments);
    }
    if arguments.sweep.is_some() {
        return Err(Failure::input("--sweep needs --op spmm"));
    }
    if let Algorithms::Spmm(_) = arguments.algorithms {
        return Err(Failure::input("algorithms of SpMM need --op spmm"));
    }
    if arguments.hetero {
        return super::hetero::run(global, arguments);
    }
    let inputs = inputs(arguments, Suite::Quick)?;
    let benchers = Bencher::all(global, arguments)?;
    let making: Making = arguments.making.into();
    let bar = progress_bar(inputs.len());
    let mut records = Vec::new();
    for input in &inputs {
        bar.set_message(input.name());
        let matrix: Csr<f64, u64> = load(input, making)?;
        let origin = Origin { name: input.name(), source: input.source(), making };
        let mut bench =
            MatrixBench { arguments, benchers: &benchers, origin: &origin, records: &mut records };
        // 32-bit offsets wherever they count far enough: what an application would store.
        match narrow(&matrix) {
            Some(matrix) => bench.all_types(&matrix)?,
            None => bench.all_types(&matrix)?,
        }
        bar.inc(1);
    }
    bar.finish_and_clear();
    report(global, arguments, &records)
}

pub(super) fn progress_bar(inputs: usize) -> ProgressBar {
    let bar = ProgressBar::new(inputs as u64);
    if let Ok(style) = ProgressStyle::with_template("{pos}/{len} {wide_bar} {msg} {elapsed}") {
        bar.set_style(style);
    }
    bar
}

/// The records as table, JSON and HTML, wherever they are asked for; an error if one did not verify.
pub(super) fn report(
    global: &Global,
    arguments: &Bench,
    records: &[Record],
) -> Result<(), Failure> {
    if words_on_stdout(global.json.as_deref()) {
        print!("{}", sparrow_bench::table(records));
    }
    if let Some(path) = &global.json {
        let lines = sparrow_bench::json_lines(records);
        write_text(path, &lines.map_err(|error| Failure::Run(error.into()))?)?;
    }
    if let Some(path) = &arguments.html {
        let html = sparrow_bench::html(records, "Sparrow benchmark");
        write_text(path, &html.map_err(|error| Failure::Run(error.into()))?)?;
        if words_on_stdout(global.json.as_deref()) {
            println!("report: {}", path.display());
        }
    }
    let failed = records.iter().filter(|record| !record.verified).count();
    match failed {
        0 => Ok(()),
        _ => {
            Err(Failure::run(format!("{failed} of {} results failed verification", records.len())))
        }
    }
}

/// The matrices asked for; without any, those of `usual`.
pub(super) fn inputs(arguments: &Bench, usual: Suite) -> Result<Vec<Input>, Failure> {
    let named = arguments.matrices.iter().map(|text| Input::parse(text));
    let mut inputs = named.collect::<csr_core::Result<Vec<_>>>()?;
    let suite = match (arguments.suite, inputs.is_empty()) {
        (Some(suite), _) => Some(suite),
        (None, true) => Some(usual),
        (None, false) => None,
    };
    inputs.extend(suite.into_iter().flat_map(Suite::classes).map(Input::Class));
    Ok(inputs)
}

/// With 32-bit offsets, where they count far enough.
pub(super) fn narrow(matrix: &Csr<f64, u64>) -> Option<Csr<f64, u32>> {
    let pattern = matrix.pattern();
    let offsets = pattern.offsets().iter().map(|&offset| u32::try_from(offset));
    let offsets = offsets.collect::<Result<Vec<_>, _>>().ok()?;
    Csr::new(matrix.cols(), offsets, pattern.columns().to_vec(), matrix.values().to_vec()).ok()
}

/// One matrix against every value type, device and algorithm asked for.
struct MatrixBench<'a> {
    arguments: &'a Bench,
    benchers: &'a [Bencher],
    origin: &'a Origin,
    records: &'a mut Vec<Record>,
}

impl MatrixBench<'_> {
    fn all_types<O: Offset>(&mut self, matrix: &Csr<f64, O>) -> Result<(), Failure> {
        for value_type in &self.arguments.value_type {
            match value_type {
                ValueType::F64 => self.one_type(matrix)?,
                ValueType::F32 => self.one_type(&matrix.map_values::<f32>())?,
                ValueType::F16 => self.one_type(&matrix.map_values::<f16>())?,
                ValueType::Bf16 => self.one_type(&matrix.map_values::<bf16>())?,
            }
        }
        Ok(())
    }

    fn one_type<V: Value, O: Offset>(&mut self, matrix: &Csr<V, O>) -> Result<(), Failure> {
        for bencher in self.benchers {
            for subject in bencher.subjects(self.arguments) {
                let record = bencher.measure(matrix, self.origin, &subject);
                self.records.push(record?);
            }
        }
        Ok(())
    }
}
