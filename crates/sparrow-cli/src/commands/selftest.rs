//! `sparrow selftest`: the conformance suite, on a device that nobody else may ever have seen.

use std::ops::ControlFlow;

use indicatif::{ProgressBar, ProgressStyle};
use sparrow::{Device, ValueType};
use sparrow_bench::selftest::{
    BatchConfiguration, Configuration, Extent, Progress, Report, SpmmConfiguration, records,
    run_batches, run_spmms, run_suite,
};
use sparrow_bench::{counted, multiple};

use crate::arguments::{Global, Selftest};
use crate::failure::Failure;
use crate::interrupt;
use crate::output::{Files, JsonLines, quiet_bar};
use crate::target::queue_on;

/// Failures told in full; the rest are counted.
const TOLD: usize = 5;

pub(crate) fn run(global: &Global, arguments: &Selftest) -> Result<(), Failure> {
    let words = Files::new(global).check()?;
    // A run that is interrupted reports the cases there were.
    interrupt::end_myself();
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
    let (mut lines, mut failed) = (JsonLines::new(global.json.as_deref()), 0);
    let mut said = Ok(());
    for device in &devices {
        let report = run_on(device, extent)?;
        for record in records(&report) {
            lines.push(&record)?;
        }
        said = said.and_then(|()| words.print(&in_words(&report)));
        failed += report.failures().count();
        if interrupt::signal().is_some() {
            break;
        }
    }
    lines.finish()?;
    if failed > 0 {
        return Err(Failure::run(format!(
            "{} failed; `sparrow selftest --json FILE` writes a report that can be sent",
            counted(failed, "case")
        )));
    }
    match interrupt::signal() {
        Some(signal) => {
            let error = anyhow::Error::msg("interrupted: the other cases were not run");
            Err(Failure::Interrupted(signal, error))
        }
        None => said,
    }
}

fn run_on(device: &Device, extent: Extent) -> Result<Report, Failure> {
    let queue = queue_on(device)?;
    let bar = quiet_bar(ProgressBar::no_length());
    if let Ok(style) = ProgressStyle::with_template("{msg} {wide_bar} {pos} of {len}, {eta} left") {
        bar.set_style(style);
    }
    bar.set_message(device.traits().name.clone());
    let observe = &mut |progress: Progress| {
        bar.set_length(progress.all as u64);
        bar.set_position(progress.done as u64);
        match interrupt::signal() {
            Some(_) => ControlFlow::Break(()),
            None => ControlFlow::Continue(()),
        }
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

fn in_words(report: &Report) -> String {
    let mut text = format!(
        "{:<24} {:>7} {:>7} {:>15}  largest error\n",
        "", "passed", "failed", "not applicable"
    );
    for (tested, tally) in &report.tallies {
        text.push_str(&format!(
            "{:<24} {:>7} {:>7} {:>15}  {} of the tolerance\n",
            tested.name,
            tally.passed,
            tally.failures.len(),
            tally.not_applicable.values().sum::<usize>(),
            multiple(tally.error_in_tolerance)
        ));
    }
    text.push_str(&format!("{}\n", report.line()));
    for failure in report.failures().take(TOLD) {
        text.push_str(&format!("FAILED: {failure}\n"));
    }
    text
}
