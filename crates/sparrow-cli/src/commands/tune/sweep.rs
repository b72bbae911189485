//! `sparrow tune --sweep`: the papers' figures of how hyper-parameters matter, on this device.

use std::path::PathBuf;

use csr_core::AnyCsr;
use sparrow::{Device, Queue, ValueType, usual_tables};
use sparrow_bench::tune::{SWEEP_FIGURES, SweepFigure, SweepTiming, harmonic_means, sweep};
use sparrow_bench::{Making, counted, sweep_html};

use crate::arguments::{Global, Tune};
use crate::failure::Failure;
use crate::interrupt::Findings;
use crate::output::{JsonLines, Words, note, write_text};
use crate::target::queue_on;

/// Milliseconds of a sample.
const SAMPLE_MS: f64 = 1.0;

/// The timings so far.
struct Found {
    timings: Vec<SweepTiming>,
    lines: JsonLines,
    html: Option<PathBuf>,
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
        write_text(path, &sweep_html(&self.timings, "Sparrow: hyper-parameters"))
    }
}

pub(super) fn run(
    global: &Global,
    arguments: &Tune,
    words: Words,
    devices: &[Device],
) -> Result<(), Failure> {
    if let Some(value_type) =
        arguments.value_type.iter().find(|value_type| value_type.accumulator() != **value_type)
    {
        let text = format!("{value_type} is not swept: its sums are those of f32");
        return Err(Failure::input(text));
    }
    let (lines, html) = (JsonLines::new(global.json.as_deref()), arguments.html.clone());
    let findings = Findings::keep(Found { timings: Vec::new(), lines, html }, |found| {
        if !found.timings.is_empty() {
            // It ends with the status of an interrupt in any case.
            let _ = found.write_html();
        }
    });
    let ended = all(arguments, words, devices, &findings);
    findings.finish(|found| {
        if ended.is_err() && found.timings.is_empty() {
            return ended;
        }
        let lines = if ended.is_ok() { found.lines.finish() } else { Ok(()) };
        let html = found.write_html();
        ended.and(lines).and(html)
    })
}

/// Every figure on every device.
fn all(
    arguments: &Tune,
    words: Words,
    devices: &[Device],
    findings: &Findings<Found>,
) -> Result<(), Failure> {
    for device in devices {
        let queue = queue_on(device)?;
        for &value_type in &arguments.value_type {
            if value_type == ValueType::F64 && !device.traits().has_f64 {
                let device = &device.traits().name;
                note(format_args!("{value_type}: left out, which {device} has not"));
                continue;
            }
            for figure in &SWEEP_FIGURES {
                let of_figure = one(&queue, figure, value_type, arguments.making.into(), findings)?;
                words.say(describe(device, figure, value_type, &of_figure))?;
            }
        }
    }
    Ok(())
}

/// A figure over all of its matrices.
fn one(
    queue: &Queue,
    figure: &SweepFigure,
    value_type: ValueType,
    making: Making,
    findings: &Findings<Found>,
) -> Result<Vec<SweepTiming>, Failure> {
    let tables = usual_tables();
    let mut timings = Vec::new();
    for class in figure.suite.classes() {
        let matrix = AnyCsr::compact(class.generate(making.scale, making.seed)?);
        let name = class.display_name();
        let of_matrix = matrix.with_value_type(value_type, |matrix| {
            sweep(queue, &name, matrix, figure, &tables, SAMPLE_MS)
        })??;
        timings.extend(of_matrix.iter().cloned());
        findings.with(|found| found.extend(of_matrix))?;
    }
    Ok(timings)
}

/// Harmonic means, a line a value of the legend.
fn describe(
    device: &Device,
    figure: &SweepFigure,
    value_type: ValueType,
    timings: &[SweepTiming],
) -> String {
    let means = harmonic_means(timings, figure.name, value_type.name());
    let best = means.values().copied().fold(0.0, f64::max);
    let (over, values) = figure.over;
    let mut text = format!(
        "{}, {value_type}, {}: harmonic mean over {}, of the best ({best:.2} GFLOP/s)\n  {over:>20}",
        figure.name,
        device.traits().name,
        counted(figure.suite.classes().len(), "matrix")
    );
    values.iter().for_each(|value| text.push_str(&format!("{value:>8}")));
    for &series in figure.by.map_or(&[0][..], |(_, values)| values) {
        let name = figure.by.map_or(String::new(), |(by, _)| format!("{by} {series}"));
        text.push_str(&format!("\n  {name:>20}"));
        for &at in values {
            match means.get(&(series, at)) {
                Some(mean) => text.push_str(&format!("{:>8.3}", mean / best)),
                None => text.push_str(&format!("{:>8}", "-")),
            }
        }
    }
    text
}
