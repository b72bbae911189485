//! A run of a bench, piece by piece: it says first how long it will take, shows how far it is, and ends within `--budget`.

use std::cell::{Cell, RefCell};
use std::fmt::Display;
use std::time::Duration;

use sparrow::Device;
use sparrow_bench::figures::{Work, spread};
use sparrow_bench::{Input, Making, MeasureError, Record};

use super::Results;
use crate::arguments;
use crate::commands::clock::{Clock, is_scaled, nonzeros};
use crate::failure::Failure;
use crate::output::progress_bar;

/// What is measured one after the other.
pub(super) struct Piece<T> {
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
    pub(super) fn making(
        &self,
        asked: arguments::Making,
        work: impl Fn(f64) -> Vec<Work>,
    ) -> Making {
        self.clock.making(asked, work)
    }

    /// As [`Paced::making`], of matrices that are named or a suite's, for `each` of which there is so much to do.
    pub(super) fn making_of(
        &self,
        asked: arguments::Making,
        inputs: &[Input],
        each: impl Into<Each>,
    ) -> Making {
        let each = each.into();
        if !inputs.iter().any(is_scaled) {
            return asked.into();
        }
        self.making(asked, |scale| inputs_works(inputs, scale, each))
    }

    /// Says how long all of it will take.
    pub(super) fn announce<T>(&self, what: &str, pieces: &[Piece<T>]) {
        self.clock.announce(what, pieces.iter().map(|piece| &piece.work));
    }

    /// Measures piece by piece; what does not fit into the budget is left out and named. With a budget pieces are measured
    /// in an order that leaves out some of all rather than the last; results stand in the order of the pieces.
    ///
    /// # Errors
    /// The first of `measure`; else, when all pieces were measured, why the first one that was not read was not.
    pub(super) fn each<T>(
        &mut self,
        pieces: &[Piece<T>],
        mut measure: impl FnMut(&Self, &T) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let bar = progress_bar(pieces.len());
        let order = match self.clock.has_budget() {
            true => spread(pieces.len()),
            false => (0..pieces.len()).collect(),
        };
        for index in order {
            let Piece { name, work, of } = &pieces[index];
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

    /// What was read of a piece. One that cannot be read fails the run when the others were measured.
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

/// Matrices that are named or a suite's as pieces, for `each` of which there is so much to do.
pub(super) fn inputs_pieces(
    inputs: &[Input],
    scale: f64,
    each: impl Into<Each>,
) -> Vec<Piece<&Input>> {
    let works = inputs_works(inputs, scale, each.into());
    let piece = |(input, work): (&'_ Input, Work)| (input.name(), work);
    let named = inputs.iter().zip(works).map(piece);
    named.zip(inputs).map(|((name, work), of)| Piece { name, work, of }).collect()
}

fn inputs_works(inputs: &[Input], scale: f64, each: Each) -> Vec<Work> {
    let work = |(index, input): (usize, &Input)| {
        let work = Work::of_results(nonzeros(input, scale), each.results, index == 0);
        Work { orders: each.orders, is_fixed: !is_scaled(input), ..work }
    };
    inputs.iter().enumerate().map(work).collect()
}

/// "spmv: 12 matrices at scale 0.5", with the scale only where it is not 1.
pub(super) fn in_words(operation: &str, counted: &str, making: Making) -> String {
    match making.scale {
        1.0 => format!("{operation}: {counted}"),
        scale => format!("{operation}: {counted} at scale {scale}"),
    }
}
