//! The results of a run: each is kept and written as it comes, and all are shown at its end, whatever ends it.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};

use sparrow::{Queue, Rates, default_tables};
use sparrow_bench::figures::PaperFigure;
use sparrow_bench::{
    Look, MeasureError, Record, above_the_limit, counted, failure_in_words, rates_blocking,
};

use crate::arguments::Global;
use crate::failure::Failure;
use crate::interrupt::Findings;
use crate::output::{JsonLines, Stream, Words, note, shown, write_text};

/// The results so far.
pub(super) struct Results(Findings<Found>);

struct Found {
    records: Vec<Record>,
    /// What was asked for and not measured, or not as it was asked for; a line each, with the reason.
    left_out: Vec<String>,
    /// The indices of both in the order in which things were asked for, ascending.
    indices: [Vec<usize>; 2],
    /// The index of what comes next.
    index: usize,
    /// The statuses that would say so of those which the library has refused.
    refused: Vec<u8>,
    lines: JsonLines,
    html: Option<PathBuf>,
    words: Words,
    legend: bool,
    frame: Frame,
    /// Names of the devices whose rates of memory are known, with bytes of the last cache.
    caches: BTreeMap<String, u64>,
}

/// What is said around the table.
pub(super) struct Frame {
    /// Before it.
    pub(super) head: String,
    /// After it.
    pub(super) foot: fn(&[Record]) -> String,
    /// What is shown.
    pub(super) page: Page,
}

/// How results are shown.
pub(super) enum Page {
    /// As a table of results, and the report.
    Results,
    /// As a paper's figure; the command that draws it again.
    Figure(&'static PaperFigure, String),
}

impl Default for Frame {
    fn default() -> Self {
        Frame { head: String::new(), foot: |_| String::new(), page: Page::Results }
    }
}

impl Results {
    /// None yet. `html` is where a report goes; `legend`, whether the table's columns are explained.
    pub(super) fn new(global: &Global, html: Option<&Path>, words: Words, legend: bool) -> Self {
        let found = Found {
            records: Vec::new(),
            left_out: Vec::new(),
            indices: [Vec::new(), Vec::new()],
            index: 0,
            refused: Vec::new(),
            lines: JsonLines::new(global.json.as_deref()),
            html: html.map(Path::to_owned),
            words,
            legend,
            frame: Frame::default(),
            caches: BTreeMap::new(),
        };
        Results(Findings::keep(found, |found| {
            if std::io::stderr().is_terminal() {
                // After the bar.
                let _ = Stream::Error.write("\n");
            }
            note(format_args!("interrupted after {}", counted(found.records.len(), "result")));
            if !found.records.is_empty() {
                // It ends with the status of an interrupt in any case.
                let is_written = found.write_html().is_ok();
                let _ = found.say(is_written);
            }
        }))
    }

    pub(super) fn set_frame(&self, frame: Frame) {
        self.0.with(|found| found.frame = frame);
    }

    /// What comes next belongs to what was asked for at this index, whenever it is measured.
    pub(super) fn set_index(&self, index: usize) {
        self.0.with(|found| found.index = index);
    }

    /// The rates of a queue's device, measured where they are not kept or are asked for `again`; what is above them is
    /// explained below the table.
    ///
    /// # Errors
    /// The driver's own failure.
    pub(super) fn rates(&self, queue: &Queue, again: bool) -> Result<Rates, Failure> {
        let traits = queue.context().device().traits();
        let cache_bytes = default_tables().cache_bytes(traits);
        self.0.with(|found| found.caches.insert(traits.name.clone(), cache_bytes));
        Ok(rates_blocking(queue, again)?)
    }

    /// Adds results, and writes their lines.
    ///
    /// # Errors
    /// A line that cannot be written.
    pub(super) fn extend(&self, records: impl IntoIterator<Item = Record>) -> Result<(), Failure> {
        self.0.with(|found| {
            records.into_iter().try_for_each(|record| {
                let written = found.lines.push(&record);
                let at = insert_index(&mut found.indices[0], found.index);
                found.records.insert(at, record);
                written
            })
        })
    }

    /// Adds a result.
    ///
    /// # Errors
    /// As [`Results::extend`].
    pub(super) fn push(&self, record: Record) -> Result<(), Failure> {
        self.extend([record])
    }

    /// Adds what measuring gave; what the library refuses is noted under `name`, and the run goes on.
    ///
    /// # Errors
    /// As [`Results::extend`]; or another error of measuring.
    pub(super) fn take(
        &self,
        name: impl Display,
        measured: Result<Record, MeasureError>,
    ) -> Result<(), Failure> {
        match measured {
            Ok(record) => self.push(record),
            Err(error) => self.refuse(name, error),
        }
    }

    /// Notes what the library refuses.
    ///
    /// # Errors
    /// What is no refusal.
    pub(super) fn refuse(&self, name: impl Display, error: MeasureError) -> Result<(), Failure> {
        let is_refusal = error.is_refusal();
        let failure = Failure::from(error);
        match failure.message().filter(|_| is_refusal) {
            None => Err(failure),
            Some(reason) => {
                self.leave_out(format!("{name}: left out, {reason}"));
                self.0.with(|found| found.refused.push(failure.exit_code()));
                Ok(())
            }
        }
    }

    /// Notes something that is not measured, once.
    pub(super) fn leave_out(&self, line: String) {
        self.0.with(|found| {
            if !found.left_out.contains(&line) {
                let at = insert_index(&mut found.indices[1], found.index);
                found.left_out.insert(at, line);
            }
        });
    }

    /// Shows the results of a run that has ended so: all, or those before an error.
    ///
    /// # Errors
    /// How the run ended; else no result, results that did not verify, or an output that cannot be written.
    pub(super) fn finish(self, ended: Result<(), Failure>) -> Result<(), Failure> {
        self.0.finish(|found| {
            found.left_out.iter().for_each(note);
            if ended.is_err() && found.records.is_empty() {
                return ended;
            }
            if let Some(path) = found.html.as_ref().filter(|_| found.records.is_empty()) {
                note(format_args!("{}: not written, as there is no result", shown(path)));
            }
            let is_read = !matches!(ended, Err(Failure::Closed));
            let points = found.write_points();
            let lines = if ended.is_ok() { found.lines.finish() } else { Ok(()) };
            let html = if found.records.is_empty() { Ok(()) } else { found.write_html() };
            let said = if is_read { found.say(html.is_ok()) } else { Ok(()) };
            ended.and(points).and(lines).and(html)?;
            match failure_in_words(&found.records) {
                None if found.records.is_empty() => {
                    let nothing = "nothing was measured";
                    // Where bad usage is all that there was, that it is.
                    let is_usage = !found.refused.is_empty()
                        && found.refused.iter().all(|status| *status == 2);
                    Err(if is_usage { Failure::input(nothing) } else { Failure::run(nothing) })
                }
                None => said,
                Some(words) => Err(Failure::run(words)),
            }
        })
    }
}

/// Enters an index after those up to it; returns where that is.
fn insert_index(indices: &mut Vec<usize>, index: usize) -> usize {
    let at = indices.partition_point(|other| *other <= index);
    indices.insert(at, index);
    at
}

impl Found {
    fn write_html(&self) -> Result<(), Failure> {
        let Some(path) = &self.html else { return Ok(()) };
        let html = match &self.frame.page {
            Page::Results => sparrow_bench::html(&self.records, "Sparrow benchmark"),
            Page::Figure(figure, again) => sparrow_bench::figure_html(figure, &self.records, again),
        };
        match html {
            Ok(html) => write_text(path, &html),
            Err(error) => Err(Failure::Run(error.into())),
        }
    }

    /// The numbers of a figure, which follow from all results.
    fn write_points(&mut self) -> Result<(), Failure> {
        let Page::Figure(figure, _) = &self.frame.page else { return Ok(()) };
        let points = figure.points(&self.records);
        points.iter().try_for_each(|point| self.lines.push(point))
    }

    /// Says what was found, and where the report is if it was written.
    fn say(&self, is_written: bool) -> Result<(), Failure> {
        if self.records.is_empty() {
            return Ok(());
        }
        let Frame { head, foot, page } = &self.frame;
        let look = Look { width: self.words.width(), legend: self.legend };
        let table = match page {
            Page::Results => sparrow_bench::table(&self.records, look),
            Page::Figure(figure, _) => {
                let pictures = figure.pictures(&self.records);
                let text: String = pictures.iter().map(|one| one.text(look) + "\n").collect();
                format!("{}\n{}\n\n{text}", figure.title, figure.differs)
            }
        };
        self.words.print(&format!("{head}{table}"))?;
        if let Some(path) = self.html.as_ref().filter(|_| is_written) {
            self.words.say(format_args!("report: {}", shown(path)))?;
        }
        self.words.print(&foot(&self.records))?;
        self.caches.iter().try_for_each(|(device, cache_bytes)| {
            let own = self.records.iter().filter(|record| record.device == *device);
            above_the_limit(own, *cache_bytes).iter().try_for_each(|line| self.words.say(line))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_measured_in_another_order_stands_where_it_was_asked_for() {
        let (mut indices, mut names) = (Vec::new(), Vec::new());
        for (index, name) in [(0, "a"), (4, "e"), (2, "c"), (2, "c too"), (0, "a too")] {
            names.insert(insert_index(&mut indices, index), name);
        }
        assert_eq!(names, ["a", "a too", "c", "c too", "e"]);
    }
}
