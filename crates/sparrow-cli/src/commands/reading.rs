//! Matrices from files, and what is said of files: what changes on the way is told, once, on standard error.

use std::collections::BTreeSet;
use std::ops::Deref;
use std::sync::Mutex;

use csr_core::io::{ReadOptions, ReadReport};
use csr_core::{
    AnyCsr, AnyCsrView, Csr, Error, Narrowing, Number, Occurrences, Offset, PatternView, ValueType,
    check_narrowing,
};
use sparrow_bench::{GeneratorOptions, Input};

use crate::arguments::Reading;
use crate::failure::Failure;
use crate::output::{BytesProgress, note};

/// A matrix as it was read or generated.
pub(crate) struct ReadMatrix {
    pub(crate) matrix: Csr<f64, u64>,
    /// Whether a file says that its values are integers.
    pub(crate) is_integer: bool,
}

/// Reads or generates a matrix, with a progress bar on large files.
pub(crate) fn load(
    input: &Input,
    generator: GeneratorOptions,
    reading: Reading,
) -> Result<ReadMatrix, Failure> {
    let progress = BytesProgress::new(&format!("reading {}", input.name()));
    let hook = |done, total| progress.update(done, total);
    let heard = Heard::default();
    let hear = heard.hook();
    let options = reading.options().progress(&hook).report(&hear);
    let matrix: Csr<f64, u64> = input.load_by(generator, options)?;
    let pattern = matrix.view().pattern();
    let report = heard.tell(&input.name(), |entry| pattern.place(entry));
    Ok(ReadMatrix { matrix, is_integer: report.is_integer })
}

/// As [`load`], with 32-bit row offsets wherever they count far enough: what an application would store.
pub(crate) fn load_compact(
    input: &Input,
    generator: GeneratorOptions,
    reading: Reading,
) -> Result<Loaded, Failure> {
    let ReadMatrix { matrix, is_integer } = load(input, generator, reading)?;
    let matrix = AnyCsr::compact(matrix).allow_overflow(reading.allow_overflow);
    Ok(Loaded { matrix, name: input.name(), is_integer })
}

/// Where an element of a vector stands, in words.
pub(crate) fn row_in_words(element: usize) -> String {
    format!("row {}", element + 1)
}

/// Refuses a vector with an element that is beyond the type which sums of `value_type` are made in, and says which
/// elements become others in it. `is_integer`: whether its file says that its values are integers.
pub(super) fn check_vector(
    option: &str,
    (vector, is_integer): (&[f64], bool),
    value_type: ValueType,
    reading: Reading,
) -> Result<(), Failure> {
    let sums = value_type.accumulator();
    if !reading.allow_overflow {
        check_narrowing(vector, sums, row_in_words).map_err(|error| named(error, option))?;
    }
    tell_narrowing(option, sums, &Narrowing::of(vector, sums), is_integer, row_in_words);
    Ok(())
}

/// Refuses a coefficient that is beyond the type which sums of `value_type` are made in, or becomes 0 in it; says so
/// where it is a whole number that becomes another.
pub(crate) fn check_coefficient(
    option: &str,
    value: f64,
    value_type: ValueType,
) -> Result<(), Failure> {
    let sums = value_type.accumulator();
    let rounded = Number::of(sums, value).to_f64();
    let what = match () {
        () if !rounded.is_finite() => "too large for",
        () if rounded == 0.0 && value != 0.0 => "so small that it is 0 in",
        () => {
            if value.fract() == 0.0 && rounded != value {
                note(format_args!("{option} {value} is rounded to {sums}, {rounded}"));
            }
            return Ok(());
        }
    };
    Err(Failure::input(format!("{option} {value:e} is {what} {sums}, the type of sums")))
}

/// A matrix whose values are looked at when a narrower type takes them.
pub(crate) struct Loaded {
    matrix: AnyCsr,
    name: String,
    is_integer: bool,
}

impl Loaded {
    /// One that was generated here.
    pub(crate) fn generated(name: String, matrix: AnyCsr) -> Self {
        Loaded { matrix, name, is_integer: false }
    }

    /// As it is called.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// What `work` makes of the matrix with values of a type; says which of them change by more than rounding.
    pub(crate) fn with_value_type<R, E: Into<Failure>>(
        &self,
        value_type: ValueType,
        work: impl FnOnce(AnyCsrView<'_>) -> Result<R, E>,
    ) -> Result<R, Failure> {
        let mut work = Some(work);
        let narrowed = self.matrix.with_value_type(value_type, |matrix| {
            let found = self.matrix.narrowing(value_type);
            let place = |entry| self.matrix.place(entry);
            tell_narrowing(&self.name, value_type, &found, self.is_integer, place);
            work.take().map(|work| work(matrix))
        });
        let result = narrowed.map_err(|error| named(error, &self.name))?;
        // `with_value_type` calls once.
        result.map_or_else(|| Err(Failure::run("the matrix was not used")), |r| r.map_err(E::into))
    }
}

impl Deref for Loaded {
    type Target = AnyCsr;

    fn deref(&self) -> &AnyCsr {
        &self.matrix
    }
}

/// Refuses a matrix with a value that is beyond a type, and says which of its values change by more than rounding.
pub(crate) fn check_matrix<O: Offset>(
    name: &str,
    (pattern, values): (PatternView<'_, O>, &[f64]),
    is_integer: bool,
    value_type: ValueType,
    reading: Reading,
) -> Result<(), Failure> {
    let place = |entry: usize| pattern.place(entry);
    if !reading.allow_overflow {
        check_narrowing(values, value_type, place).map_err(|error| named(error, name))?;
    }
    tell_narrowing(name, value_type, &Narrowing::of(values, value_type), is_integer, place);
    Ok(())
}

/// The same error, with a name before row and column.
fn named(error: Error, name: &str) -> Error {
    match error {
        Error::Overflow { place, value, value_type } => {
            Error::Overflow { place: format!("{name}, {place}"), value, value_type }
        }
        other => other,
    }
}

/// Says which numbers are infinite or NaN; `what`: one of them, and many.
pub(crate) fn tell_non_finite(
    name: &str,
    values: &[f64],
    what: [&str; 2],
    place: impl Fn(usize) -> String,
) {
    let mut found = values.iter().enumerate().filter(|(_, value)| !value.is_finite());
    let first = found.next().map(|(index, _)| index as u64);
    let count = found.count() as u64 + u64::from(first.is_some());
    let place = |index: u64| format!("in {}", place(index as usize));
    say(name, Occurrences { count, first }, what, "infinite or NaN", place);
}

/// What a reader reports.
#[derive(Default)]
pub(super) struct Heard(Mutex<ReadReport>);

impl Heard {
    /// What hears the report.
    pub(super) fn hook(&self) -> impl Fn(&ReadReport) + Sync {
        |found| *locked(&self.0) = *found
    }

    /// Says what reading `name` has changed, and returns the report; `place` says where an entry or element stands.
    pub(super) fn tell(&self, name: &str, place: impl Fn(usize) -> String) -> ReadReport {
        let report = *locked(&self.0);
        tell(name, &report, place);
        report
    }
}

fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    // What a panicking thread leaves here is whole.
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

impl Reading {
    pub(super) fn options(self) -> ReadOptions<'static> {
        ReadOptions::new().allow_overflow(self.allow_overflow)
    }
}

/// Says what reading has changed.
fn tell(name: &str, report: &ReadReport, place: impl Fn(usize) -> String) {
    let in_words = |entry: u64| format!("in {}", place(entry as usize));
    let place = |line: u64| format!("on line {line}");
    say(name, report.inexact_integers, INTEGERS, "rounded to f64", place);
    say(name, report.inexact_sums, SUMS, "rounded to f64", in_words);
    say(name, report.underflows, TINY, "f64, and read as 0", place);
    say(name, report.overflows, HUGE, "f64, and read as infinite", place);
}

/// Says what a narrower type has changed.
fn tell_narrowing(
    name: &str,
    value_type: ValueType,
    found: &Narrowing,
    is_integer: bool,
    place: impl Fn(usize) -> String,
) {
    let place = |entry: u64| format!("in {}", place(entry as usize));
    let integers = if is_integer { found.inexact_integers } else { Occurrences::default() };
    let rounded = format!("rounded to {value_type}");
    say(name, integers, INTEGERS, &rounded, place);
    say(name, found.underflows, TINY, &format!("{value_type}, and taken as 0"), place);
    say(name, found.overflows, HUGE, &format!("{value_type}, and taken as infinite"), place);
}

const INTEGERS: [&str; 2] = ["integer is", "integers are"];
const SUMS: [&str; 2] = ["sum of integers is", "sums of integers are"];
const TINY: [&str; 2] = ["value is too small for", "values are too small for"];
const HUGE: [&str; 2] = ["value is too large for", "values are too large for"];

/// A line about values that something happened to, where there are any; the same line only once.
fn say(
    name: &str,
    found: Occurrences,
    [one, many]: [&str; 2],
    what: &str,
    place: impl Fn(u64) -> String,
) {
    static SAID: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    let Some(first) = found.first else { return };
    let (which, first) = (if found.count == 1 { one } else { many }, place(first));
    let line = format!("{name}: {} {which} {what}; the first {first}", found.count);
    if locked(&SAID).insert(line.clone()) {
        note(line);
    }
}
