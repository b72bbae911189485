//! A run of a bench, job by job: it says first how long it will take, shows how far it is, and ends within `--budget`.

use std::cell::{Cell, RefCell};
use std::fmt::Display;
use std::time::Duration;

use sparrow::Device;
use sparrow_bench::figures::{Work, spread};
use sparrow_bench::{GeneratorOptions, Input, MeasureError, Record};

use super::Results;
use crate::arguments;
use crate::commands::clock::{Clock, is_scaled, nonzeros};
use crate::failure::Failure;
use crate::output::progress_bar;

/// What is measured one after the other.
pub(super) struct Job<T> {
    /// As the bar and what is left out name it.
    pub(super) name: String,
    /// What it takes.
    pub(super) work: Work,
    /// What it is.
    pub(super) of: T,
}

/// A run that goes by a clock.
pub(super) struct Paced<'a> {
    clock: Clock,
    results: &'a Results,
    /// Whether something was measured: the first always has time.
    is_begun: Cell<bool>,
    /// Why matrices could not be read.
    unread: RefCell<Vec<Failure>>,
}

impl<'a> Paced<'a> {
    /// Starts; the pace is that of `device`, or without one of the host.
    pub(super) fn new(
        budget: Option<Duration>,
        device: Option<&Device>,
        results: &'a Results,
    ) -> Self {
        let clock = Clock::new(budget, device);
        Paced { clock, results, is_begun: Cell::new(false), unread: RefCell::default() }
    }

    /// As generated matrices are asked for, or as large as the budget allows; `work` says what a scale takes.
    pub(super) fn generator(
        &self,
        asked: arguments::GeneratorOptions,
        work: impl Fn(f64) -> Vec<Work>,
    ) -> GeneratorOptions {
        self.clock.generator(asked, work)
    }

    /// As [`Paced::generator`], of matrices that are named or a suite's, for `each` of which there is so much to do.
    pub(super) fn making_of(
        &self,
        asked: arguments::GeneratorOptions,
        inputs: &[Input],
        each: impl Into<Each>,
    ) -> GeneratorOptions {
        let each = each.into();
        if !inputs.iter().any(is_scaled) {
            return asked.into();
        }
        self.generator(asked, |scale| inputs_works(inputs, scale, each))
    }

    /// Says how long all of it will take.
    pub(super) fn announce<T>(&self, what: &str, jobs: &[Job<T>]) {
        self.clock.announce(what, jobs.iter().map(|job| &job.work));
    }

    /// Measures job by job; what does not fit into the budget is left out and named. With a budget jobs are measured
    /// in an order that leaves out some of all rather than the last; results stand in the order of the jobs.
    ///
    /// # Errors
    /// The first of `measure`; else, when all jobs were measured, why the first one that was not read was not.
    pub(super) fn each<T>(
        &mut self,
        jobs: &[Job<T>],
        mut measure: impl FnMut(&Self, &T) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let bar = progress_bar(jobs.len());
        let order = match self.clock.has_budget() {
            true => spread(jobs.len()),
            false => (0..jobs.len()).collect(),
        };
        for index in order {
            let Job { name, work, of } = &jobs[index];
            self.results.set_index(index);
            bar.set_message(name.clone());
            if self.clock.has_time(work) {
                measure(self, of)?;
                self.clock.done(work);
            } else {
                self.leave_out(name);
            }
            bar.inc(1);
        }
        bar.finish_and_clear();
        let mut unread = self.unread.take().into_iter();
        let first = unread.next();
        unread.filter_map(|failure| failure.message()).for_each(|why| self.results.leave_out(why));
        first.map_or(Ok(()), Err)
    }

    /// What was read of a job. One that cannot be read fails the run when the others were measured.
    ///
    /// # Errors
    /// What ends the run at once.
    pub(super) fn read<M>(&self, read: Result<M, Failure>) -> Result<Option<M>, Failure> {
        match read {
            Ok(matrix) => Ok(Some(matrix)),
            Err(failure @ (Failure::Input(_) | Failure::Run(_))) => {
                self.unread.borrow_mut().push(failure);
                Ok(None)
            }
            Err(failure) => Err(failure),
        }
    }

    /// Takes what `measure` gives into the results, unless the time is over.
    ///
    /// # Errors
    /// As [`Results::take`].
    pub(super) fn take(
        &self,
        name: impl Display,
        measure: impl FnOnce() -> Result<Record, MeasureError>,
    ) -> Result<(), Failure> {
        if !self.has_time_left(&name) {
            return Ok(());
        }
        self.results.take(name, measure())
    }

    /// Whether the time is not over; else what is called so is left out and named.
    pub(super) fn has_time_left(&self, name: impl Display) -> bool {
        self.has_time_for(name, &Work::default())
    }

    /// Whether there is time for work that was not known before; else what is called so is left out and named.
    pub(super) fn has_time_for(&self, name: impl Display, work: &Work) -> bool {
        let fits = !self.is_begun.replace(true) || self.clock.fits(work);
        if !fits {
            self.leave_out(&name.to_string());
        }
        fits
    }

    /// Whether something was measured and the time is over.
    pub(super) fn is_over(&self) -> bool {
        self.is_begun.get() && self.clock.is_over()
    }

    /// Names what is left out.
    pub(super) fn leave_out(&self, name: &str) {
        self.results.leave_out(self.clock.left_out(name));
    }
}

/// What there is to do for a matrix.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Each {
    /// Results.
    pub(super) results: usize,
    /// Orders of its rows.
    pub(super) orders: usize,
}

impl From<usize> for Each {
    fn from(results: usize) -> Self {
        Each { results, orders: 0 }
    }
}

/// Matrices that are named or a suite's as jobs, for `each` of which there is so much to do.
pub(super) fn inputs_jobs(inputs: &[Input], scale: f64, each: impl Into<Each>) -> Vec<Job<&Input>> {
    let works = inputs_works(inputs, scale, each.into());
    let job = |(input, work): (&'_ Input, Work)| (input.name(), work);
    let named = inputs.iter().zip(works).map(job);
    named.zip(inputs).map(|((name, work), of)| Job { name, work, of }).collect()
}

fn inputs_works(inputs: &[Input], scale: f64, each: Each) -> Vec<Work> {
    let work = |(index, input): (usize, &Input)| {
        let work = Work::of_results(nonzeros(input, scale), each.results, index == 0);
        Work { orders: each.orders, is_fixed: !is_scaled(input), ..work }
    };
    inputs.iter().enumerate().map(work).collect()
}

/// "spmv: 12 matrices at scale 0.5", with the scale only where it is not 1.
pub(super) fn in_words(operation: &str, counted: &str, generator: GeneratorOptions) -> String {
    match generator.scale {
        1.0 => format!("{operation}: {counted}"),
        scale => format!("{operation}: {counted} at scale {scale}"),
    }
}
