//! `sparrow selftest`: the conformance suite, on a device that nobody else may ever have seen.

use std::ops::ControlFlow;

use indicatif::{ProgressBar, ProgressStyle};
use sparrow::{Device, ValueType};
use sparrow_bench::selftest::{
    BatchConfiguration, Configuration, Extent, Progress, Report, SpmmConfiguration, records,
    run_batches, run_spmms, run_suite,
};

use crate::arguments::{Global, Selftest};
use crate::failure::Failure;
use crate::output::{check_writable, words_on_stdout, write_json_lines};
use crate::target::queue_on;

/// Failures told in full; the rest are counted.
const TOLD: usize = 5;

pub(crate) fn run(global: &Global, arguments: &Selftest) -> Result<(), Failure> {
    global.json.as_deref().map_or(Ok(()), check_writable)?;
    let devices = match global.device.as_deref() {
        None => vec![Device::best()?],
        Some("host") => {
            return Err(Failure::input(
                "selftest runs kernels, and --device host has none: name an OpenCL device",
            ));
        }
        Some("all") => sparrow::find_devices("all")?,
        Some(text) => vec![sparrow::find_device(text)?],
    };
    let extent = if arguments.full { Extent::Full } else { Extent::Cover };
    let talks = words_on_stdout(global.json.as_deref());
    let (mut lines, mut failed) = (Vec::new(), 0);
    for device in &devices {
        let report = run_on(device, extent)?;
        for record in records(&report) {
            let line = serde_json::to_value(record).map_err(|error| Failure::Run(error.into()))?;
            lines.push(line);
        }
        if talks {
            tell(&report);
        }
        failed += report.failures().count();
    }
    write_json_lines(global.json.as_deref(), &lines)?;
    if failed > 0 {
        return Err(Failure::run(format!(
            "{failed} cases failed; `sparrow selftest --json FILE` writes a report that can be sent"
        )));
    }
    Ok(())
}

fn run_on(device: &Device, extent: Extent) -> Result<Report, Failure> {
    let queue = queue_on(device)?;
    let bar = ProgressBar::no_length();
    if let Ok(style) = ProgressStyle::with_template("{msg} {wide_bar} {pos} of {len}, {eta} left") {
        bar.set_style(style);
    }
    bar.set_message(device.traits().name.clone());
    let observe = &mut |progress: Progress| {
        bar.set_length(progress.all as u64);
        bar.set_position(progress.done as u64);
        ControlFlow::Continue(())
    };
    let mut report = run_suite(&queue, &Configuration::all(), extent, observe)?;
    bar.set_message(format!("{}, batches", device.traits().name));
    let (batches, value_types) = (BatchConfiguration::all(), ValueType::ALL);
    report.append(run_batches(&queue, &batches, &value_types, extent, observe)?);
    bar.set_message(format!("{}, SpMM", device.traits().name));
    let spmms = SpmmConfiguration::all(device.traits());
    report.append(run_spmms(&queue, &spmms, extent, observe)?);
    bar.finish_and_clear();
    Ok(report)
}

fn tell(report: &Report) {
    println!("{:<24} {:>7} {:>7} {:>15}  largest error", "", "passed", "failed", "not applicable");
    for (tested, tally) in &report.tallies {
        println!(
            "{:<24} {:>7} {:>7} {:>15}  {:.3} of the tolerance",
            tested.name,
            tally.passed,
            tally.failures.len(),
            tally.not_applicable.values().sum::<usize>(),
            tally.error_in_tolerance
        );
    }
    println!("{}", report.line());
    for failure in report.failures().take(TOLD) {
        println!("FAILED: {failure}");
    }
}
