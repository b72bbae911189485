//! `sparrow bench spmv`: products with a vector.

use csr_core::AnyCsrView;
use csr_core::generate::Suite;
use sparrow::{
    Accumulate, Algorithm, Device, Measuring, Queue, Rates, Reordering, Reuse, Variant, VectorOrder,
};
use sparrow_bench::{
    Budget, Details, MeasureError, Model, Origin, Record, SpmvRecord, Subject, add_launches,
    counted, host_rates, measure_on_device, measure_on_host,
};

use super::paced::{self, Each, Paced, inputs_jobs};
use super::{Frame, Results, inputs};
use crate::arguments::{Algorithms, BenchSpmv, Global};
use crate::commands::{
    check_host, check_order, check_variant, load_compact, tell_products_of_named,
};
use crate::failure::Failure;
use crate::target::{Named, named, queue_on};

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
    /// With `--launches`.
    launches: Option<u32>,
}

/// The devices that are named; `None` is the host.
fn targets(global: &Global) -> Result<Vec<Option<Device>>, Failure> {
    Ok(match named(global) {
        Named::Best => vec![Some(Device::best()?)],
        Named::Host => vec![None],
        Named::All => sparrow::find_devices("all")?.into_iter().map(Some).collect(),
        Named::Text(text) => vec![Some(sparrow::find_device(text)?)],
    })
}

impl Bencher {
    fn new(
        target: Option<&Device>,
        arguments: &BenchSpmv,
        results: &Results,
    ) -> Result<Self, Failure> {
        let Some(device) = target else { return Ok(Bencher::Host(host_rates())) };
        let queue = queue_on(device)?;
        let rates = results.rates(&queue, arguments.shown.measure)?;
        let measure = || Model::measure_blocking(&queue, &arguments.values.value_type);
        let model = arguments.model.then(measure).transpose()?;
        Ok(Bencher::Device(Box::new(OnDevice {
            queue,
            rates,
            model,
            launches: arguments.launches,
        })))
    }

    /// The device, as it stands after what is left out there.
    fn on(&self) -> String {
        match self {
            Bencher::Host(_) => " on the host".to_owned(),
            Bencher::Device(device) => {
                format!(" on {}", device.queue.context().device().traits().name)
            }
        }
    }

    /// What there is to do for a matrix in one type: each experiment of the model is a result, and products by one call
    /// are another.
    fn each(&self, arguments: &BenchSpmv) -> Each {
        let each = if arguments.model { 4 } else { 1 } + usize::from(arguments.launches.is_some());
        let subjects = self.subjects(arguments);
        let is_reordered = |subject: &&Subject| subject.reordering != Reordering::None;
        let reordered = subjects.iter().filter(is_reordered).count();
        Each { results: subjects.len() * each, orders: reordered * each }
    }

    fn measure(
        &self,
        matrix: AnyCsrView<'_>,
        origin: &Origin,
        subject: &Subject,
    ) -> Result<Record, MeasureError> {
        match self {
            Bencher::Host(rates) => measure_on_host(matrix, origin, subject, rates),
            Bencher::Device(device) => {
                let OnDevice { queue, rates, model, launches } = &**device;
                let mut record = measure_on_device(queue, matrix, origin, subject, rates)?;
                if let Some(model) = model {
                    model.add(queue, matrix, origin, subject, &mut record)?;
                }
                if let Some(launches) = *launches {
                    add_launches(queue, matrix, origin, subject, launches, &mut record)?;
                }
                Ok(record)
            }
        }
    }

    /// What to time: on the host there is one product, whatever algorithms are asked for.
    fn subjects(&self, arguments: &BenchSpmv) -> Vec<Subject> {
        let ordered = |algorithm, variant, (reordering, order)| Subject {
            algorithm,
            variant,
            reordering,
            order,
            reuse: arguments.products.unwrap_or_default(),
            choice: arguments.choice.clone(),
            measuring: match arguments.measured_products {
                None => Measuring::Automatic,
                Some(most) => Measuring::AtMost(most),
            },
            accumulate: arguments.accumulate,
            parameters: arguments.parameters.to_vec(),
            is_cold: arguments.cold,
            budget: Budget::default(),
        };
        let default = |order| ordered(None, Variant::default(), order);
        match (self, &arguments.algorithms) {
            (Bencher::Host(_), _) => vec![default((Reordering::None, VectorOrder::Original))],
            // A choice of an earlier run may have an order.
            (_, Algorithms::Auto) => orders(arguments, true).into_iter().map(default).collect(),
            (_, algorithms) => algorithms
                .named_or(&Algorithm::ALL)
                .into_iter()
                .flat_map(|algorithm| {
                    // Those that the algorithm has, or its default way.
                    let has = |variant: &Variant| Variant::of(algorithm).contains(variant);
                    let mut variants: Vec<_> =
                        arguments.variant.iter().copied().filter(has).collect();
                    if variants.is_empty() {
                        variants.push(Variant::Full.or_default(algorithm));
                    }
                    let orders = orders(arguments, algorithm.spec().reorders_rows);
                    let in_orders = variants.into_iter().flat_map(move |variant| {
                        orders.clone().into_iter().map(move |order| (variant, order))
                    });
                    in_orders.map(move |(variant, order)| ordered(Some(algorithm), variant, order))
                })
                .collect(),
        }
    }
}

/// Each reordering with each order of vectors; without a reordering the matrix's own alone, unless the algorithm has one of
/// its own.
fn orders(arguments: &BenchSpmv, has_own: bool) -> Vec<(Reordering, VectorOrder)> {
    let of_one = |reordering: Reordering| {
        let orders = match has_own || reordering != Reordering::None {
            true => &arguments.order[..],
            false => &[VectorOrder::Original],
        };
        orders.iter().map(move |order| (reordering, *order))
    };
    arguments.reordering.iter().copied().flat_map(of_one).collect()
}

/// What is asked for of algorithms that are named and have no such variant or order: left out where others are asked for
/// too, else measured in another way.
fn other_than_asked(arguments: &BenchSpmv) -> Vec<String> {
    let Algorithms::These(algorithms) = &arguments.algorithms else { return Vec::new() };
    let mut lines = Vec::new();
    for &algorithm in algorithms {
        let variants = Variant::of(algorithm);
        let (has, lacks): (Vec<_>, Vec<_>) =
            arguments.variant.iter().copied().partition(|variant| variants.contains(variant));
        if has.is_empty() && !lacks.is_empty() {
            let lacks = names_or(&lacks);
            let instead = match variants {
                [] | [_] => "in its only way".to_owned(),
                _ => format!("as variant {}", Variant::Full.or_default(algorithm)),
            };
            lines.push(format!("{algorithm}: measured {instead}: it has no variant {lacks}"));
        } else {
            lines.extend(lacks.iter().map(|variant| {
                format!("{algorithm}: variant {variant} is left out: it has no such variant")
            }));
        }
        if algorithm.spec().reorders_rows || !arguments.reordering.contains(&Reordering::None) {
            continue;
        }
        let (original, others): (Vec<_>, Vec<_>) =
            arguments.order.iter().copied().partition(|order| *order == VectorOrder::Original);
        if original.is_empty() {
            let others = names_or(&others);
            lines.push(format!(
                "{algorithm}: measured in the original order: it has no order {others}"
            ));
        } else {
            lines.extend(others.iter().map(|order| {
                format!("{algorithm}: order {order} is left out: it has no order of its own")
            }));
        }
    }
    lines
}

fn names_or(names: &[impl std::fmt::Display]) -> String {
    names.iter().map(ToString::to_string).collect::<Vec<_>>().join(" or ")
}

pub(super) fn run(
    global: &Global,
    arguments: &BenchSpmv,
    results: &Results,
) -> Result<(), Failure> {
    check_options(global, arguments)?;
    let (matrices, value_types) = (&arguments.matrices, &arguments.values.value_type);
    let inputs = inputs(matrices, Suite::Quick)?;
    let targets = targets(global)?;
    let first = targets.first().and_then(Option::as_ref);
    let mut paced = Paced::new(matrices.budget(), first, results);
    let bencher = |target: &Option<Device>| Bencher::new(target.as_ref(), arguments, results);
    let benchers = targets.iter().map(bencher).collect::<Result<Vec<_>, _>>()?;
    other_than_asked(arguments).into_iter().for_each(|line| results.leave_out(line));
    if arguments.products == Some(Reuse::Many) || arguments.launches.is_some() {
        results.set_frame(Frame { foot, ..Frame::default() });
    }
    let each = benchers.iter().map(|bencher| bencher.each(arguments)).fold(
        Each::default(),
        |sum, each| Each {
            results: sum.results + each.results * value_types.len(),
            orders: sum.orders + each.orders * value_types.len(),
        },
    );
    let generator = paced.making_of(matrices.generator(), &inputs, each);
    let what = paced::in_words("spmv", &counted(inputs.len(), "matrix"), generator);
    let jobs = inputs_jobs(&inputs, generator.scale, each);
    paced.announce(&what, &jobs);
    paced.each(&jobs, |paced, input| {
        let read = load_compact(input, generator, matrices.reading);
        let Some(matrix) = paced.read(read)? else { return Ok(()) };
        let origin = Origin { name: input.name(), source: input.source(), generator };
        value_types.iter().try_for_each(|&value_type| {
            matrix.with_value_type(value_type, |matrix| {
                benchers.iter().try_for_each(|bencher| {
                    bencher.subjects(arguments).iter().try_for_each(|subject| {
                        let name = format!("{}, {}", origin.name, label(subject));
                        let on = if benchers.len() > 1 { bencher.on() } else { String::new() };
                        if !paced.has_time_left(format_args!("{name}, {value_type}{on}")) {
                            return Ok(());
                        }
                        results.take(name, bencher.measure(matrix, &origin, subject))
                    })
                })
            })
        })
    })
}

/// Refuses options that would do nothing with the others.
fn check_options(global: &Global, arguments: &BenchSpmv) -> Result<(), Failure> {
    let is_named = matches!(arguments.algorithms, Algorithms::These(_));
    if named(global) == Named::Host {
        check_host(&[
            (is_named, "--algorithms"),
            (!arguments.variant.is_empty(), "--variant"),
            (arguments.accumulate != Accumulate::Plain, "--accumulate compensated"),
            (!arguments.parameters.to_vec().is_empty(), "--parameters"),
            (arguments.reordering != [Reordering::None], "--reordering"),
            (arguments.order != [VectorOrder::Original], "--order"),
            (arguments.choice.is_some(), "--choice"),
            (arguments.measured_products.is_some(), "--measured-products"),
            (arguments.model, "--model"),
            (arguments.cold, "--cold"),
            (arguments.launches.is_some(), "--launches"),
        ])?;
        return Ok(());
    }
    if arguments.model && arguments.reordering != [Reordering::None] {
        let text = "--model looks at the matrix as it is: leave --reordering or --model out";
        return Err(Failure::input(text));
    }
    let chosen = arguments.choice.as_ref().map(|choice| choice.algorithm);
    if matches!(arguments.algorithms, Algorithms::Auto) {
        let (variants, orders) = (&arguments.variant, &arguments.order);
        variants.iter().try_for_each(|one| check_variant(*one, chosen, "--algorithms"))?;
        if arguments.reordering.contains(&Reordering::None) {
            orders.iter().try_for_each(|one| check_order(*one, chosen, "--algorithms"))?;
        }
    }
    let is_automatic = matches!(arguments.algorithms, Algorithms::Auto) && chosen.is_none();
    if arguments.measured_products.is_some()
        && (arguments.products != Some(Reuse::Many) || !is_automatic)
    {
        let text = "--measured-products is for --products many where the algorithm is chosen: leave it out, or add \
                    --products many and leave out --algorithms and --choice";
        return Err(Failure::input(text));
    }
    if arguments.products.is_some() && !is_automatic {
        tell_products_of_named();
    }
    Ok(())
}

/// What is measured, by the words that ask for it.
fn label(subject: &Subject) -> String {
    let Subject { algorithm, variant, choice, reordering, order, .. } = subject;
    let mut text = match (algorithm, choice) {
        (Some(algorithm), _) => algorithm.to_string(),
        (None, Some(choice)) => choice.algorithm.to_string(),
        (None, None) => "auto".to_owned(),
    };
    if algorithm.is_some_and(|algorithm| Variant::of(algorithm).len() > 1) {
        text.push_str(&format!(" {variant}"));
    }
    if *reordering != Reordering::None {
        text.push_str(&format!(" reordered by {reordering}"));
    }
    if *order != VectorOrder::Original {
        text.push_str(&format!(" in {order} order"));
    }
    text
}

/// What stands below the table.
fn foot(records: &[Record]) -> String {
    choices(records) + &records.iter().map(launches).collect::<String>()
}

/// What products take that follow each other, as a line.
fn launches(record: &Record) -> String {
    let Some(found) = record.launches() else { return String::new() };
    let of = |us: Option<f64>, host: Option<f64>| match (us, host) {
        (Some(us), Some(host)) => format!("{us:.2} \u{b5}s (host {host:.2})"),
        _ => "not measured".to_owned(),
    };
    let (matrix, value_type, algorithm) = (&record.matrix, &record.value_type, &record.algorithm);
    let buffer = match &found.no_command_buffer {
        Some(why) => why.clone(),
        None => format!(
            "by a command buffer {}",
            of(found.command_buffer_us, found.command_buffer_host_us)
        ),
    };
    format!(
        "{matrix} {value_type} {algorithm}, a product of {}: one by one {}, recorded {}, an empty launch {}; {buffer}\n",
        found.launches,
        of(found.one_by_one_us, found.one_by_one_host_us),
        of(found.recorded_us, found.recorded_host_us),
        of(found.empty_us, found.empty_host_us),
    )
}

/// What was chosen by timing, a line each, as `--choice` takes it.
fn choices(records: &[Record]) -> String {
    let line = |record: &Record| {
        let Details::Spmv(SpmvRecord { choice: Some(choice), measured_products, .. }) =
            &record.details
        else {
            return String::new();
        };
        measured_products.map_or(String::new(), |products| {
            let (matrix, value_type) = (&record.matrix, &record.value_type);
            format!("{matrix} {value_type}: {choice}, by {products} products on it\n")
        })
    };
    records.iter().map(line).collect()
}
