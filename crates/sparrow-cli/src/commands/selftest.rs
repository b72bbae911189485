//! `sparrow selftest`: the conformance suite, on a device that it may never have run on.

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
use crate::output::{Files, JsonLines, Words, quiet_bar};
use crate::target::{Named, named, queue_on};

/// Failures told in full; the rest are counted.
const TOLD: usize = 5;

pub(crate) fn run(global: &Global, arguments: &Selftest) -> Result<(), Failure> {
    let words = Files::new(global).check()?;
    // A run that is interrupted reports the cases there were.
    interrupt::end_myself();
    let devices = match named(global) {
        Named::Best => vec![Device::best()?],
        Named::Host => {
            return Err(Failure::input(
                "selftest runs kernels, and --device host has none: name an OpenCL device",
            ));
        }
        Named::All => sparrow::find_devices("all")?,
        Named::Text(text) => vec![sparrow::find_device(text)?],
    };
    let extent = if arguments.full { Extent::Full } else { Extent::Cover };
    let (mut lines, mut failed) = (JsonLines::new(global.json.as_deref()), 0);
    let mut said = Ok(());
    for device in &devices {
        let report = run_on(device, extent, &mut lines)?;
        said = said.and_then(|()| say(words, &report));
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

/// Runs all suites; each configuration's line is written when it is done.
fn run_on(device: &Device, extent: Extent, lines: &mut JsonLines) -> Result<Report, Failure> {
    let queue = queue_on(device)?;
    let bar = quiet_bar(ProgressBar::no_length());
    if let Ok(style) = ProgressStyle::with_template("{msg} {wide_bar} {pos} of {len}, {eta} left") {
        bar.set_style(style);
    }
    let name = &device.traits().name;
    let mut watch = Watch { bar: &bar, lines, written: 0, said: Ok(()) };
    bar.set_message(name.clone());
    let mut report =
        watch.over(|observe| run_suite(&queue, &Configuration::all(), extent, observe))?;
    bar.set_message(format!("{name}, batches"));
    let batches = BatchConfiguration::all();
    report.append(
        watch.over(|observe| run_batches(&queue, &batches, &ValueType::ALL, extent, observe))?,
    );
    bar.set_message(format!("{name}, SpMM"));
    let spmms = SpmmConfiguration::all(device.traits());
    report.append(watch.over(|observe| run_spmms(&queue, &spmms, extent, observe))?);
    bar.finish_and_clear();
    Ok(report)
}

/// Looks on while a suite runs.
struct Watch<'a> {
    bar: &'a ProgressBar,
    lines: &'a mut JsonLines,
    /// Configurations of the suite whose lines are written.
    written: usize,
    /// How writing them went.
    said: Result<(), Failure>,
}

impl Watch<'_> {
    /// Runs one suite, and writes its lines as they come.
    fn over(
        &mut self,
        suite: impl FnOnce(&mut dyn FnMut(Progress<'_>) -> ControlFlow<()>) -> sparrow::Result<Report>,
    ) -> Result<Report, Failure> {
        self.written = 0;
        let report = suite(&mut |progress| self.see(progress))?;
        std::mem::replace(&mut self.said, Ok(()))?;
        self.write(&report)?;
        Ok(report)
    }

    fn see(&mut self, Progress { count, report, has_failed }: Progress<'_>) -> ControlFlow<()> {
        self.bar.set_length(count.all as u64);
        self.bar.set_position(count.done as u64);
        self.said = self.write(report);
        let signal = if has_failed { interrupt::signal_soon() } else { interrupt::signal() };
        match signal {
            None if self.said.is_ok() => ControlFlow::Continue(()),
            _ => ControlFlow::Break(()),
        }
    }

    fn write(&mut self, report: &Report) -> Result<(), Failure> {
        if report.tallies.len() == self.written {
            return Ok(());
        }
        let new = records(report, self.written);
        self.written = report.tallies.len();
        new.iter().try_for_each(|record| self.lines.push(record))
    }
}

fn say(words: Words, report: &Report) -> Result<(), Failure> {
    words.print(&in_words(report))?;
    let mut failures = report.failures().take(TOLD);
    failures.try_for_each(|failure| words.insist(format_args!("FAILED: {failure}")))
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
    text
}
