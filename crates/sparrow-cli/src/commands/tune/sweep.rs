//! `sparrow tune --sweep`: the papers' figures of how hyper-parameters matter, on this device.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use sparrow::{Device, Queue, ValueType, default_tables};
use sparrow_bench::figures::{Work, spread};
use sparrow_bench::tune::{SWEEP_FIGURES, SweepFigure, SweepTiming, sweep, sweep_picture};
use sparrow_bench::{Input, Look, sweep_html};

use crate::arguments::{BenchFigure, GeneratorOptions, Global, Reading, Tune};
use crate::commands::clock::{Clock, is_scaled, nonzeros};
use crate::commands::{check_making, load_compact};
use crate::failure::Failure;
use crate::interrupt::Findings;
use crate::output::{JsonLines, Words, note, progress_bar, write_text};
use crate::target::queue_on;

/// Milliseconds of a sample.
const SAMPLE_MS: f64 = 1.0;

/// The timings so far.
struct Found {
    timings: Vec<SweepTiming>,
    lines: JsonLines,
    html: Option<PathBuf>,
    again: String,
}

impl Found {
    fn extend(&mut self, timings: Vec<SweepTiming>) -> Result<(), Failure> {
        timings.into_iter().try_for_each(|timing| {
            let written = self.lines.push(&timing);
            self.timings.push(timing);
            written
        })
    }

    fn write_html(&self) -> Result<(), Failure> {
        let Some(path) = &self.html else { return Ok(()) };
        write_text(path, &sweep_html(&self.timings, "Sparrow: hyper-parameters", &self.again))
    }
}

/// What is asked for.
pub(super) struct Ask<'a> {
    figures: Vec<&'static SweepFigure>,
    /// Instead of the figures' own.
    matrices: &'a [OsString],
    value_types: Vec<ValueType>,
    budget: Duration,
    generator: GeneratorOptions,
    reading: Reading,
    html: Option<&'a Path>,
    /// The command that draws it again, but for matrices, `--scale` and `--html`.
    again: String,
}

/// Time for all figures, or for one.
const BUDGET: Duration = Duration::from_secs(240);

impl<'a> Ask<'a> {
    /// `tune --sweep`.
    pub(super) fn of(arguments: &'a Tune) -> Self {
        let is_asked = |figure: &&SweepFigure| {
            arguments.figure.is_empty() || arguments.figure.iter().any(|key| key == figure.key)
        };
        let named = match arguments.figure.is_empty() {
            true => String::new(),
            false => format!(" --figure {}", arguments.figure.join(",")),
        };
        Ask {
            figures: SWEEP_FIGURES.iter().filter(is_asked).collect(),
            matrices: &arguments.matrices,
            value_types: arguments.value_type.clone(),
            budget: arguments.budget.map_or(BUDGET, |budget| budget.0),
            generator: arguments.generator(),
            reading: arguments.reading,
            html: arguments.html.as_deref(),
            again: format!("sparrow tune --sweep{named}"),
        }
    }

    /// `bench figure`.
    pub(super) fn of_figure(arguments: &'a BenchFigure) -> Self {
        let is_asked = |figure: &&SweepFigure| figure.key == arguments.figure;
        Ask {
            figures: SWEEP_FIGURES.iter().filter(is_asked).collect(),
            matrices: &arguments.matrices,
            value_types: match arguments.value_type.is_empty() {
                true => vec![ValueType::F32, ValueType::F64],
                false => arguments.value_type.clone(),
            },
            budget: arguments.budget.0,
            generator: arguments.generator(),
            reading: arguments.reading,
            html: arguments.report.html.as_deref(),
            again: format!("sparrow bench figure {}", arguments.figure),
        }
    }

    /// The matrices of a figure.
    fn inputs(&self, figure: &SweepFigure) -> Result<Vec<Input>, Failure> {
        match self.matrices.is_empty() {
            true => Ok(figure.suite.classes().into_iter().map(Input::Class).collect()),
            false => self.matrices.iter().map(|name| Ok(Input::parse(name)?)).collect(),
        }
    }

    /// The work on a matrix of a figure in one type, at a scale; of its first, programs are built.
    fn work(figure: &SweepFigure, input: &Input, is_first: bool, scale: f64) -> Work {
        /// Products of a point: itself and the reference, in turn.
        const PRODUCTS: usize = 14;
        let programs = figure.algorithm.spec().build_weight;
        let points = figure.points();
        Work {
            nnz: nonzeros(input, scale),
            // A point takes less than a result of its own: it is not uploaded, and has no set-up.
            results: points.div_ceil(2),
            programs: if is_first { points * programs } else { 0 },
            products: PRODUCTS * points,
            oracles: 1 + points / 10,
            orders: 0,
            is_fixed: !is_scaled(input),
        }
    }

    /// The command that draws this again.
    fn again(&self, scale: f64) -> String {
        let mut words = vec![self.again.clone()];
        words.extend(self.matrices.iter().map(|name| name.to_string_lossy().into_owned()));
        format!("{} --scale {scale} --html FILE", words.join(" "))
    }
}

pub(super) fn run(
    global: &Global,
    ask: &Ask<'_>,
    words: Words,
    devices: &[Device],
) -> Result<(), Failure> {
    if let Some(value_type) =
        ask.value_types.iter().find(|value_type| value_type.accumulator() != **value_type)
    {
        let text = format!("{value_type} is not swept: its sums are those of f32");
        return Err(Failure::input(text));
    }
    let mut parts = Vec::new();
    for figure in &ask.figures {
        let inputs = ask.inputs(figure)?.into_iter().enumerate();
        parts.extend(inputs.map(|(index, input)| (*figure, input, index == 0)));
    }
    let inputs = parts.iter().map(|(_, input, _)| input);
    check_making(&[("--scale", ask.generator.scale.is_some())], inputs)?;
    let count = parts.len() * ask.value_types.len() * devices.len();
    let works = |scale| -> Vec<Work> {
        let work = |(figure, input, is_first): &(&SweepFigure, Input, bool)| {
            Ask::work(figure, input, *is_first, scale)
        };
        parts.iter().map(work).cycle().take(count).collect()
    };
    let Some(first) = devices.first() else { return Ok(()) };
    let clock = Clock::new(Some(ask.budget), Some(first));
    let generator = clock.generator(ask.generator, works);
    let types: Vec<_> = ask.value_types.iter().map(ToString::to_string).collect();
    let keys: Vec<_> = ask.figures.iter().map(|figure| figure.key).collect();
    let what = format!("{} at scale {}, {}", keys.join(", "), generator.scale, types.join(" and "));
    clock.announce(&what, &works(generator.scale));
    let (lines, html) = (JsonLines::new(global.json.as_deref()), ask.html.map(Path::to_owned));
    let found = Found { timings: Vec::new(), lines, html, again: ask.again(generator.scale) };
    let findings = Findings::keep(found, |found| {
        if !found.timings.is_empty() {
            // It ends with the status of an interrupt in any case.
            let _ = found.write_html();
        }
    });
    let ended = all(&Sweeping { ask, generator, words, findings: &findings }, devices, clock);
    findings.finish(|found| {
        if ended.is_err() && found.timings.is_empty() {
            return ended;
        }
        let lines = if ended.is_ok() { found.lines.finish() } else { Ok(()) };
        let html = found.write_html();
        ended.and(lines).and(html)
    })
}

/// A sweep under way.
struct Sweeping<'a> {
    ask: &'a Ask<'a>,
    generator: sparrow_bench::GeneratorOptions,
    words: Words,
    findings: &'a Findings<Found>,
}

/// Every figure on every device.
fn all(sweeping: &Sweeping<'_>, devices: &[Device], mut clock: Clock) -> Result<(), Failure> {
    let Sweeping { ask, words, .. } = sweeping;
    for device in devices {
        let queue = queue_on(device)?;
        let mut value_types = ask.value_types.clone();
        value_types.retain(|value_type| {
            let is_there = *value_type != ValueType::F64 || device.traits().has_f64;
            if !is_there {
                let device = &device.traits().name;
                note(format_args!("{value_type}: left out, which {device} has not"));
            }
            is_there
        });
        for figure in &ask.figures {
            let timings = sweeping.one(&queue, figure, &value_types, &mut clock)?;
            for value_type in &value_types {
                let picture = sweep_picture(&timings, figure, value_type.name());
                let look = Look { width: words.width(), legend: false };
                let none = || {
                    format!(
                        "{}, {value_type}: no point was measured on every matrix\n",
                        figure.name
                    )
                };
                let text = picture.map_or_else(none, |picture| picture.text(look));
                words.print(&format!("{}: {text}\n", device.traits().name))?;
            }
        }
    }
    Ok(())
}

impl Sweeping<'_> {
    /// A figure over all of its matrices, as far as there is time: all types on one before the next.
    fn one(
        &self,
        queue: &Queue,
        figure: &SweepFigure,
        value_types: &[ValueType],
        clock: &mut Clock,
    ) -> Result<Vec<SweepTiming>, Failure> {
        let Sweeping { ask, generator, findings, .. } = self;
        let tables = default_tables();
        let mut timings = Vec::new();
        let inputs = ask.inputs(figure)?;
        let bar = progress_bar(inputs.len() * value_types.len() * figure.points());
        let mut points = 0;
        for index in spread(inputs.len()) {
            let input = &inputs[index];
            let is_first = index == 0;
            let work = Ask::work(figure, input, is_first, generator.scale);
            let mut matrix = None;
            // Of what is measured first, programs are built: each type has its share of the time.
            let is_begin = is_first && findings.with(|found| found.timings.is_empty());
            for (done, &value_type) in value_types.iter().enumerate() {
                let name = format!("{}, {value_type}, {}", figure.name, input.name());
                bar.set_message(name.clone());
                let mut of_matrix = Vec::new();
                if clock.has_time(&work) || is_begin {
                    let matrix = match &mut matrix {
                        Some(matrix) => matrix,
                        none => none.insert(load_compact(input, *generator, ask.reading)?),
                    };
                    let share = match is_begin {
                        true => (done + 1) as f64 / value_types.len() as f64,
                        false => 1.0,
                    };
                    // It is asked before each point.
                    let goes_on = || {
                        bar.inc(1);
                        !clock.is_past(share)
                    };
                    of_matrix = matrix.with_value_type(value_type, |matrix| {
                        sweep(queue, &input.name(), matrix, figure, &tables, SAMPLE_MS, &goes_on)
                    })?;
                    clock.done(&work);
                }
                // A matrix that lacks points would take them from the means of all.
                if of_matrix.is_empty() || clock.is_over() && !is_first {
                    bar.suspend(|| note(clock.left_out(&name)));
                } else {
                    timings.extend(of_matrix.iter().cloned());
                    findings.with(|found| found.extend(of_matrix))?;
                }
                points += figure.points();
                bar.set_position(points as u64);
            }
        }
        bar.finish_and_clear();
        Ok(timings)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn building_a_points_program_is_expected_to_take_its_time() {
        let pace = sparrow_bench::figures::Pace::new(2, false);
        let input = Input::parse("cant").unwrap();
        let first = |figure: usize, is_first| {
            pace.expected(&Ask::work(&SWEEP_FIGURES[figure], &input, is_first, 0.05)).as_secs_f64()
        };
        // Measured: 35 s of 6 points and the device's own, 37 s of 36 points.
        let [adaptive, sum] = [0, 2].map(|figure| first(figure, true) - first(figure, false));
        assert!(
            (25.0..50.0).contains(&sum) && (35.0..70.0).contains(&adaptive),
            "{sum}, {adaptive}"
        );
    }
}
