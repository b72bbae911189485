//! `sparrow bench --hetero`: a chip's two kinds of cores, each alone, in the two stages of `segmented_sum`, and
//! both at once on one product.

use csr_core::generate::Suite;
use csr_core::{Csr, Offset, Value, ValueType, bf16, f16};
use sparrow::{
    Accumulate, Algorithm, Device, DeviceType, Partner, Products, Queue, Rates, Variant,
    VectorOrder,
};
use sparrow_bench::{
    Budget, ChipRates, Making, Origin, Record, Subject, add_stages, as_hetero, host_rates,
    measure_both, measure_on_device, measure_on_host,
};

use super::bench::{inputs, narrow, progress_bar, report};
use super::load;
use crate::arguments::{Algorithms, Bench, Global};
use crate::failure::Failure;
use crate::output::words_on_stdout;
use crate::target::queue_on;

/// The devices that take part.
struct Chip<'a> {
    arguments: &'a Bench,
    queue: Queue,
    partner: Option<Queue>,
    /// OpenCL devices that are the chip's CPU, with their rates: measured alone, for comparison.
    cpus: Vec<(Queue, Rates)>,
    host: Rates,
    rates: ChipRates,
}

pub(super) fn run(global: &Global, arguments: &Bench) -> Result<(), Failure> {
    let device = match global.device.as_deref() {
        None => Device::best()?,
        Some("host" | "all") => {
            return Err(Failure::input(
                "--hetero takes one OpenCL device; --partner names the other",
            ));
        }
        Some(text) => sparrow::find_device(text)?,
    };
    if arguments.accumulate != Accumulate::Plain {
        return Err(Failure::input("--hetero has plain sums only: leave --accumulate out"));
    }
    if let Some(share) = arguments.share
        && !(0.0..=1.0).contains(&share)
    {
        return Err(Failure::input(format!("--share {share}: it must be 0 to 1")));
    }
    let inputs = inputs(arguments, Suite::Hetero)?;
    let chip = Chip::new(&device, arguments)?;
    let making: Making = arguments.making.into();
    let bar = progress_bar(inputs.len());
    let mut records = Vec::new();
    for input in &inputs {
        bar.set_message(input.name());
        let matrix: Csr<f64, u64> = load(input, making)?;
        let origin = Origin { name: input.name(), source: input.source(), making };
        match narrow(&matrix) {
            Some(matrix) => chip.all_types(&matrix, &origin, &mut records)?,
            None => chip.all_types(&matrix, &origin, &mut records)?,
        }
        bar.inc(1);
    }
    bar.finish_and_clear();
    if words_on_stdout(global.json.as_deref()) {
        println!("{}", chip.bandwidths());
    }
    report(global, arguments, &records)?;
    if words_on_stdout(global.json.as_deref()) {
        println!("{}", verdict(&records));
    }
    Ok(())
}

impl<'a> Chip<'a> {
    fn new(device: &Device, arguments: &'a Bench) -> Result<Self, Failure> {
        let queue = queue_on(device)?;
        let partner = match arguments.partner.as_str() {
            "host" => None,
            text => Some(queue_on(&sparrow::find_device(text)?)?),
        };
        let host = host_rates();
        let partner_rates = match &partner {
            None => host,
            Some(partner) => Rates::measure_blocking(partner)?,
        };
        let alone = Rates::measure_blocking(&queue)?;
        let rates = match &partner {
            None => ChipRates::measure_blocking(&queue, alone, host),
            // Two devices have memories of their own, or are told apart by nobody.
            Some(_) => Ok(ChipRates {
                device: alone,
                partner: partner_rates,
                together: alone.best().max(partner_rates.best()),
            }),
        };
        let is_other_cpu = |other: &Device| {
            other.traits().device_type == DeviceType::Cpu && other.position() != device.position()
        };
        let cpus = sparrow::devices()?.into_iter().filter(is_other_cpu).map(|cpu| {
            let queue = queue_on(&cpu)?;
            let rates = Rates::measure_blocking(&queue)?;
            Ok((queue, rates))
        });
        let cpus = cpus.collect::<Result<_, Failure>>()?;
        let rates = rates.map_err(Failure::from)?;
        Ok(Chip { arguments, queue, partner, cpus, host, rates })
    }

    fn all_types<O: Offset>(
        &self,
        matrix: &Csr<f64, O>,
        origin: &Origin,
        records: &mut Vec<Record>,
    ) -> Result<(), Failure> {
        for value_type in &self.arguments.value_type {
            let of_type = match value_type {
                ValueType::F64 => self.one_type(matrix, origin)?,
                ValueType::F32 => self.one_type(&matrix.map_values::<f32>(), origin)?,
                ValueType::F16 => self.one_type(&matrix.map_values::<f16>(), origin)?,
                ValueType::Bf16 => self.one_type(&matrix.map_values::<bf16>(), origin)?,
            };
            records.extend(of_type);
        }
        Ok(())
    }

    fn one_type<V: Value, O: Offset>(
        &self,
        matrix: &Csr<V, O>,
        origin: &Origin,
    ) -> Result<Vec<Record>, Failure> {
        let subject = |algorithm: Option<Algorithm>, variant: Variant| Subject {
            algorithm,
            variant,
            accumulate: self.arguments.accumulate,
            parameters: Vec::new(),
            order: VectorOrder::default(),
            products: Products::default(),
            is_cold: false,
            budget: Budget::default(),
        };
        let auto = subject(None, Variant::Full);
        let mut records = vec![as_hetero(measure_on_host(matrix, origin, &auto, &self.host)?)];
        for (queue, rates) in &self.cpus {
            let record = measure_on_device(queue, matrix, origin, &auto, rates)?;
            records.push(as_hetero(record));
        }
        let algorithms = match &self.arguments.algorithms {
            Algorithms::Auto => Algorithm::ALL.to_vec(),
            algorithms => algorithms.of_one_matrix(),
        };
        let rates = &self.rates.device;
        for algorithm in algorithms {
            let usual = [Variant::Full.or_usual(algorithm)];
            let variants = match algorithm {
                Algorithm::SegmentedSum => Variant::of(algorithm),
                _ => &usual[..],
            };
            for &variant in variants {
                let subject = subject(Some(algorithm), variant);
                let record = measure_on_device(&self.queue, matrix, origin, &subject, rates)?;
                records.push(match variant {
                    Variant::Device | Variant::Cpu => {
                        add_stages(&self.queue, matrix, origin, &subject, record)?
                    }
                    _ => as_hetero(record),
                });
            }
        }
        let host_us = records[0].median_us;
        let partner = self.partner.as_ref().map_or(Partner::Host, Partner::Device);
        let (chip, share) = (&self.rates, self.arguments.share);
        let devices = (&self.queue, partner);
        records.push(measure_both(devices, matrix, origin, &auto, (chip, share), host_us)?);
        Ok(records)
    }

    fn bandwidths(&self) -> String {
        let gigabytes = |rate: f64| format!("{:.1} GB/s", rate / 1e9);
        let partner = &self.arguments.partner;
        let both = match self.partner {
            None => format!(", both at once {}", gigabytes(self.rates.together)),
            Some(_) => String::new(),
        };
        format!(
            "reading memory: {} {}, {partner} {}{both}",
            self.queue.context().device().traits().name,
            gigabytes(self.rates.device.read),
            gigabytes(self.rates.partner.read),
        )
    }
}

/// On how many matrices two devices are better than one.
fn verdict(records: &[Record]) -> String {
    let both: Vec<_> = records.iter().filter(|record| record.algorithm == "hetero").collect();
    let shares = both.iter().filter_map(|record| record.hetero.as_ref());
    let helped = shares.filter(|hetero| hetero.share > 0.0).count();
    match helped {
        0 => "The partner helps on no matrix: its share is 0 on each.".to_owned(),
        helped => format!("The partner has a share on {helped} of {} products.", both.len()),
    }
}
