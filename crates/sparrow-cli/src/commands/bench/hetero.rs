//! `sparrow bench hetero`: a chip's two kinds of cores, each alone, in the two stages of `segmented_sum`, and
//! both at once on one product.

use csr_core::AnyCsrView;
use csr_core::generate::Suite;
use sparrow::{
    Accumulate, Algorithm, Device, DeviceType, Measuring, Partner, Queue, Rates, Reordering, Reuse,
    Variant, VectorOrder,
};
use sparrow_bench::{
    Budget, ChipRates, Origin, Record, Subject, add_stages, as_hetero, counted, host_rates,
    measure_both, measure_on_device, measure_on_host,
};

use super::paced::{self, Paced, inputs_jobs};
use super::{Frame, Results, inputs};
use crate::arguments::{BenchHetero, Global};
use crate::commands::load_compact;
use crate::failure::Failure;
use crate::target::{Named, one_device, queue_on};

/// The devices that take part.
struct Chip<'a> {
    arguments: &'a BenchHetero,
    queue: Queue,
    partner: Option<Queue>,
    /// OpenCL devices that are the chip's CPU, with their rates: measured alone, for comparison.
    cpus: Vec<(Queue, Rates)>,
    host: Rates,
    rates: ChipRates,
}

pub(super) fn run(
    global: &Global,
    arguments: &BenchHetero,
    results: &Results,
) -> Result<(), Failure> {
    let device = one_device(global, "bench hetero (--partner names the other)")?;
    let (matrices, value_types) = (&arguments.matrices, &arguments.values.value_type);
    let inputs = inputs(matrices, Suite::Hetero)?;
    let mut paced = Paced::new(matrices.budget(), Some(&device), results);
    let chip = Chip::new(&device, arguments, results)?;
    let (head, foot) = (format!("{}\n", chip.bandwidths()), verdict as fn(&[Record]) -> String);
    results.set_frame(Frame { head, foot, ..Frame::default() });
    let each = chip.results() * value_types.len();
    let generator = paced.making_of(matrices.generator(), &inputs, each);
    let what = paced::in_words("hetero", &counted(inputs.len(), "matrix"), generator);
    let jobs = inputs_jobs(&inputs, generator.scale, each);
    paced.announce(&what, &jobs);
    paced.each(&jobs, |paced, input| {
        let read = load_compact(input, generator, matrices.reading);
        let Some(matrix) = paced.read(read)? else { return Ok(()) };
        let origin = Origin { name: input.name(), source: input.source(), generator };
        value_types.iter().try_for_each(|&value_type| {
            matrix.with_value_type(value_type, |matrix| chip.all(matrix, &origin, paced))
        })
    })
}

impl<'a> Chip<'a> {
    fn new(
        device: &Device,
        arguments: &'a BenchHetero,
        results: &Results,
    ) -> Result<Self, Failure> {
        let (queue, again) = (queue_on(device)?, arguments.shown.measure);
        let partner = match Named::of(&arguments.partner) {
            Named::Host => None,
            _ => Some(queue_on(&sparrow::find_device(&arguments.partner)?)?),
        };
        let host = host_rates();
        let partner_rates = match &partner {
            None => host,
            Some(partner) => results.rates(partner, again)?,
        };
        let alone = results.rates(&queue, again)?;
        let rates = match &partner {
            None => ChipRates::measure_blocking(&queue, alone, host),
            // Two devices have memories of their own, or nothing tells them apart.
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
            let rates = results.rates(&queue, again)?;
            Ok((queue, rates))
        });
        let cpus = cpus.collect::<Result<_, Failure>>()?;
        let rates = rates.map_err(Failure::from)?;
        Ok(Chip { arguments, queue, partner, cpus, host, rates })
    }

    /// What the device alone is asked for, each in its variants.
    fn forms(&self) -> Vec<(Option<Algorithm>, Variant)> {
        let algorithms = self.arguments.algorithms.with_choice_if_auto(&Algorithm::ALL);
        let variants = |algorithm: Option<Algorithm>| match algorithm {
            None => vec![(None, Variant::Full)],
            Some(one) if one.spec().storage.staged.is_empty() => {
                vec![(algorithm, Variant::Full.or_default(one))]
            }
            // In stages, where both kinds of cores may take part.
            Some(one) => one.spec().variants.iter().map(|variant| (algorithm, *variant)).collect(),
        };
        algorithms.into_iter().flat_map(variants).collect()
    }

    /// Results on a matrix in one type; a share that is found by trying counts as several.
    fn results(&self) -> usize {
        let both = if self.arguments.share.is_some() { 1 } else { 3 };
        1 + self.cpus.len() + self.forms().len() + both
    }

    /// Every algorithm on every device, and both at once.
    fn all(
        &self,
        matrix: AnyCsrView<'_>,
        origin: &Origin,
        paced: &Paced<'_>,
    ) -> Result<(), Failure> {
        let subject = |algorithm: Option<Algorithm>, variant: Variant| Subject {
            algorithm,
            variant,
            accumulate: Accumulate::Plain,
            parameters: Vec::new(),
            reordering: Reordering::None,
            order: VectorOrder::default(),
            reuse: Reuse::default(),
            choice: None,
            measuring: Measuring::default(),
            is_cold: false,
            budget: Budget::default(),
        };
        let auto = subject(None, Variant::Full);
        let name = |what: &str| format!("{}, {what}", origin.name);
        let mut host_us = None;
        paced.take(name("host"), || {
            let on_host = measure_on_host(matrix, origin, &auto, &self.host).map(as_hetero);
            host_us = on_host.as_ref().ok().and_then(|record| record.median_us);
            on_host
        })?;
        for (queue, rates) in &self.cpus {
            paced.take(name(&queue.context().device().traits().name), || {
                measure_on_device(queue, matrix, origin, &auto, rates).map(as_hetero)
            })?;
        }
        let (queue, rates) = (&self.queue, &self.rates.device);
        for (algorithm, variant) in self.forms() {
            let subject = subject(algorithm, variant);
            let what = algorithm.map_or("auto".to_owned(), |one| format!("{one} {variant}"));
            paced.take(name(&what), || {
                let record = measure_on_device(queue, matrix, origin, &subject, rates)?;
                let is_staged =
                    algorithm.is_some_and(|one| one.spec().storage.staged.contains(&variant));
                match is_staged {
                    true => add_stages(queue, matrix, origin, &subject, record),
                    false => Ok(as_hetero(record)),
                }
            })?;
        }
        let partner = self.partner.as_ref().map_or(Partner::Host, Partner::Device);
        let (chip, share) = (&self.rates, self.arguments.share);
        paced.take(name("both"), || {
            measure_both((queue, partner), matrix, origin, &auto, (chip, share), host_us)
        })
    }

    fn bandwidths(&self) -> String {
        let gigabytes = |rate: f64| format!("{:.1} GB/s", rate / 1e9);
        let (partner, both) = match &self.partner {
            None => ("host", format!(", both at once {}", gigabytes(self.rates.together))),
            Some(queue) => (&*queue.context().device().traits().name, String::new()),
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
    let shares = both.iter().filter_map(|record| record.hetero());
    let helped = shares.filter(|hetero| hetero.share > 0.0).count();
    match helped {
        0 => "The partner helps on no matrix: its share is 0 on each.\n".to_owned(),
        helped => {
            let products = counted(both.len(), "product");
            format!("The partner has a share on {helped} of {products}.\n")
        }
    }
}
