//! What a plan is asked for, in Python's words.

use std::str::FromStr;

use pyo3::prelude::*;
use sparrow::{
    Accumulate, Algorithm, Choice, Measuring, Op, PlanOptions, Reordering, Reuse, Variant,
};

use crate::errors::{Failure, Result};

/// The keyword arguments of `Matrix.plan`.
pub(crate) struct Asked<'a> {
    pub(crate) reuse: &'a str,
    pub(crate) algorithm: Option<&'a str>,
    pub(crate) variant: Option<&'a str>,
    pub(crate) choice: Option<&'a str>,
    pub(crate) compensated: bool,
    pub(crate) measure: Option<u32>,
    pub(crate) parameters: Option<Vec<(String, u32)>>,
    pub(crate) reordering: Option<&'a str>,
}

impl Asked<'_> {
    /// As the library has them; its tables are the context's.
    ///
    /// # Errors
    /// A word that stands for nothing; two that contradict each other.
    pub(crate) fn options(self, op: Op) -> Result<PlanOptions> {
        let algorithm =
            self.algorithm.map(|text| parsed::<Algorithm>(text, "algorithm")).transpose()?;
        let variant = self.variant.map(|text| parsed::<Variant>(text, "variant")).transpose()?;
        let choice = self.choice.map(|text| parsed::<Choice>(text, "choice")).transpose()?;
        if choice.is_some() && (algorithm.is_some() || variant.is_some()) {
            let text = "choice says what runs: algorithm and variant must be None";
            return Err(Failure::value(text));
        }
        Ok(PlanOptions {
            algorithm,
            choice,
            variant: variant_of(algorithm, variant)?,
            op,
            measuring: self.measure.map_or(Measuring::Automatic, |most| match most {
                0 => Measuring::Never,
                most => Measuring::AtMost(most),
            }),
            accumulate: match self.compensated {
                true => Accumulate::Compensated,
                false => Accumulate::Plain,
            },
            reuse: parsed::<Reuse>(self.reuse, "reuse")?,
            parameters: self.parameters.unwrap_or_default(),
            reordering: reordering_of(self.reordering)?,
            ..PlanOptions::default()
        })
    }
}

/// What a word for an order stands for; without one rows stay as they are.
pub(crate) fn reordering_of(text: Option<&str>) -> Result<Reordering> {
    text.map_or(Ok(Reordering::None), |text| parsed(text, "reordering"))
}

/// A variant that the algorithm has; the face takes any other for the default one, which here would hide a mistake.
fn variant_of(algorithm: Option<Algorithm>, variant: Option<Variant>) -> Result<Variant> {
    match (algorithm, variant) {
        (_, None) => Ok(Variant::default()),
        (None, Some(variant)) => {
            Err(Failure::value(format!("variant is \"{variant}\", and needs an algorithm")))
        }
        (Some(algorithm), Some(variant)) => {
            let known = Variant::of(algorithm);
            if known.contains(&variant) {
                return Ok(variant);
            }
            let names: Vec<_> = known.iter().map(|variant| variant.name()).collect();
            let names = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
            Err(Failure::value(format!("variant is \"{variant}\", and {algorithm} has {names}")))
        }
    }
}

/// What a word stands for.
///
/// # Errors
/// Nothing; `name` is the argument's.
pub(crate) fn parsed<T: FromStr<Err = String>>(text: &str, name: &str) -> Result<T> {
    text.parse().map_err(|error| Failure::value(format!("{name}: {error}")))
}

/// Hyper-parameters from a dict.
///
/// # Errors
/// A key that is no text, or a value that is no number of 32 bits.
pub(crate) fn parameters(
    dict: Option<&Bound<'_, pyo3::types::PyDict>>,
) -> Result<Option<Vec<(String, u32)>>> {
    let Some(dict) = dict else { return Ok(None) };
    let pairs = dict.iter().map(|(name, value)| Ok((name.extract()?, value.extract()?)));
    Ok(Some(pairs.collect::<PyResult<_>>()?))
}

/// A `shape=` argument as rows and columns, which are counted in 32 bits.
///
/// # Errors
/// One below 0, or above the limit.
pub(crate) fn counts(shape: Option<(i64, i64)>) -> Result<Option<(usize, usize)>> {
    let Some((rows, cols)) = shape else { return Ok(None) };
    let count = |value: i64| u32::try_from(value).ok().map(|value| value as usize);
    match (count(rows), count(cols)) {
        (Some(rows), Some(cols)) => Ok(Some((rows, cols))),
        _ => Err(Failure::value(format!(
            "shape is ({rows}, {cols}), and rows and columns are in 0..={}",
            u32::MAX
        ))),
    }
}
