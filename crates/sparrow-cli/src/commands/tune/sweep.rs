//! `sparrow tune --sweep`: the papers' figures of how hyper-parameters matter, on this device.

use sparrow::{Device, Queue, Value, ValueType, usual_tables};
use sparrow_bench::tune::{SWEEP_FIGURES, SweepFigure, SweepTiming, harmonic_means, sweep};
use sparrow_bench::{Making, sweep_html};

use crate::arguments::{Global, Tune};
use crate::failure::Failure;
use crate::output::{check_writable, words_on_stdout, write_json_lines, write_text};
use crate::target::queue_on;

/// Milliseconds of a sample.
const SAMPLE_MS: f64 = 1.0;

pub(super) fn run(global: &Global, arguments: &Tune, devices: &[Device]) -> Result<(), Failure> {
    if let Some(path) = &arguments.html {
        check_writable(path)?;
    }
    let words = words_on_stdout(global.json.as_deref());
    let mut timings = Vec::new();
    for device in devices {
        let queue = queue_on(device)?;
        for &value_type in &arguments.value_type {
            if value_type == ValueType::F64 && !device.traits().has_f64 {
                continue;
            }
            for figure in &SWEEP_FIGURES {
                let of_figure = match value_type {
                    ValueType::F32 => one::<f32>(&queue, figure, arguments.making.into())?,
                    ValueType::F64 => one::<f64>(&queue, figure, arguments.making.into())?,
                    other => {
                        let text = format!("{other} is not swept: its sums are those of f32");
                        return Err(Failure::input(text));
                    }
                };
                if words {
                    println!("{}", describe(device, figure, value_type, &of_figure));
                }
                timings.extend(of_figure);
            }
        }
    }
    if let Some(path) = &arguments.html {
        write_text(path, &sweep_html(&timings, "Sparrow: hyper-parameters"))?;
    }
    let lines: Result<Vec<_>, _> = timings.iter().map(serde_json::to_value).collect();
    write_json_lines(global.json.as_deref(), &lines.map_err(|e| Failure::run(e.to_string()))?)
}

/// A figure over all of its matrices.
fn one<V: Value>(
    queue: &Queue,
    figure: &SweepFigure,
    making: Making,
) -> Result<Vec<SweepTiming>, Failure> {
    let tables = usual_tables();
    let mut timings = Vec::new();
    for class in figure.suite.classes() {
        let matrix = class.generate::<V, u32>(making.scale, making.seed)?;
        let name = class.display_name();
        timings.extend(sweep(queue, &name, &matrix, figure, &tables, SAMPLE_MS)?);
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
        "{}, {value_type}, {}: harmonic mean over {} matrices, of the best ({best:.2} GFLOP/s)\n  {over:>20}",
        figure.name,
        device.traits().name,
        figure.suite.classes().len()
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
