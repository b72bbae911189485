//! Hyper-parameters fitted to a device: the defaults of an algorithm as near as its limits allow, checked once.

use std::collections::{BTreeSet, VecDeque};
use std::ops::Deref;

use csr_core::ValueType;

use crate::{Accumulate, DeviceTraits, NamedParameters, ParameterError, Parameters};

/// What hyper-parameters are fitted to and checked against.
#[derive(Clone, Copy, Debug)]
pub struct Fit<'a> {
    /// The device, with its limits.
    pub device: &'a DeviceTraits,
    /// What A stores.
    pub value_type: ValueType,
    /// How products are summed.
    pub accumulate: Accumulate,
    /// Nonzeros of a row in the mean; 1 where no matrix is known.
    pub mean_row: f64,
}

impl<'a> Fit<'a> {
    /// Plain sums, for a matrix with this mean row.
    pub fn plain(device: &'a DeviceTraits, value_type: ValueType, mean_row: f64) -> Self {
        Fit { device, value_type, accumulate: Accumulate::Plain, mean_row }
    }

    /// Bytes of a sum in local memory.
    pub fn sum_bytes(&self) -> u64 {
        let parts = if self.accumulate == Accumulate::Compensated { 2 } else { 1 };
        self.value_type.accumulator().size_bytes() as u64 * parts
    }

    /// The group size, a power of two, that is nearest to `wanted`, which is one too.
    pub(crate) fn group_size(&self, wanted: u32) -> u32 {
        // At most `wanted`, so the conversion is exact.
        1 << (self.device.max_group_size.clamp(1, wanted.into()) as u32).ilog2()
    }

    /// Refuses local arrays, which a parameter of this name and value takes, that hold more sums than the device has local
    /// memory for.
    pub(crate) fn check_local_sums(
        &self,
        algorithm: &'static str,
        named: (&'static str, u64),
        sums: u64,
    ) -> Result<(), ParameterError> {
        let Fit { device, value_type, accumulate, .. } = *self;
        device.check_local_sums(algorithm, named, sums, value_type, accumulate)
    }
}

/// Hyper-parameters that know their defaults on a device and what a device allows.
pub trait FittedParameters: Parameters {
    /// The defaults, or what the device allows that is nearest to them. Where it allows nothing, the defaults, which
    /// [`FittedParameters::check`] refuses then.
    fn fitted(fit: &Fit<'_>) -> Self;

    /// Checks the parameters against the kernels' rules and the device's limits.
    ///
    /// # Errors
    /// The first rule that is broken.
    fn check(&self, fit: &Fit<'_>) -> Result<(), ParameterError>;
}

/// Hyper-parameters that have passed [`FittedParameters::check`], for the device they will run on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Checked<P>(P);

impl<P: FittedParameters> Checked<P> {
    /// Checks `parameters`.
    ///
    /// # Errors
    /// The first rule that is broken.
    pub fn new(parameters: P, fit: &Fit<'_>) -> Result<Self, ParameterError> {
        parameters.check(fit)?;
        Ok(Checked(parameters))
    }

    /// Checks the defaults with `named` over them.
    ///
    /// # Errors
    /// A name that is none of the algorithm's, or the first rule that is broken.
    pub fn of_named(named: &NamedParameters, fit: &Fit<'_>) -> Result<Self, ParameterError> {
        let mut parameters = P::fitted(fit);
        parameters.take(named)?;
        Self::new(parameters, fit)
    }
}

impl<P> Deref for Checked<P> {
    type Target = P;

    fn deref(&self) -> &P {
        &self.0
    }
}

/// `wanted` where it passes its check, else what passes with the fewest halvings of the parameters in `shrinking`; where
/// several do, what halves those that come first. `wanted` itself where nothing passes.
pub(crate) fn nearest<P: FittedParameters>(wanted: P, shrinking: &[&str], fit: &Fit<'_>) -> P {
    // Breadth first: what takes fewer halvings is looked at before what takes more.
    let mut queue = VecDeque::from([wanted.clone()]);
    let mut seen = BTreeSet::new();
    while let Some(candidate) = queue.pop_front() {
        if candidate.check(fit).is_ok() {
            return candidate;
        }
        for name in shrinking {
            let entries = candidate.entries();
            let value =
                entries.iter().find(|(entry, _)| entry == name).map_or(0, |(_, now)| now / 2);
            let mut smaller = candidate.clone();
            if value > 0 && smaller.set(name, value).is_ok() && seen.insert(smaller.entries()) {
                queue.push_back(smaller);
            }
        }
    }
    wanted
}
