//! An algorithm with its hyper-parameters, built and bound to a pattern.

use cl_kernels::{Algorithm, Checked, Fit, FittedParameters, NamedParameters, Variant};
use csr_core::AnyPatternView;

use super::{Specialisation, Spmv, VectorOrder};
use crate::{AnyMatrix, Context, Error, Queue, Result};

/// Where a plan is computed; the plan is the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Planning {
    /// On the host where it has the pattern or the device is a CPU, else on the device.
    #[default]
    Automatic,
    /// On the host; row offsets it does not have are read back.
    OnHost,
    /// On the device; a few bytes are read back.
    OnDevice,
}

/// What an algorithm is bound to and built with.
#[derive(Clone, Copy, Debug)]
pub struct BindRequest<'a> {
    /// Where programs are built and plans are computed.
    pub queue: &'a Queue,
    /// The matrix, on the device.
    pub matrix: &'a AnyMatrix,
    /// Its pattern, where the host has it.
    pub pattern: Option<AnyPatternView<'a>>,
    /// Of the values that a copy is made from.
    pub values_id: u64,
    /// The types and sums of the kernel.
    pub specialisation: Specialisation,
    /// The way in which the algorithm runs; one that it does not have means its default.
    pub variant: Variant,
    /// All hyper-parameters of the algorithm. They are checked here, and nowhere later.
    pub parameters: &'a NamedParameters,
    /// Where the plan is computed.
    pub planning: Planning,
    /// Which order vectors are in.
    pub order: VectorOrder,
    /// Whether groups of one launch are known to make progress while others wait.
    pub groups_progress: bool,
    /// Whether kernels for CPUs prefetch.
    pub prefetches: bool,
    /// Bytes of the last cache before memory.
    pub cache_bytes: u64,
}

impl<'a> BindRequest<'a> {
    /// The queue's context.
    pub(super) fn context(&self) -> &'a Context {
        self.queue.context()
    }

    /// What hyper-parameters are fitted to.
    pub fn fit(&self) -> Fit<'a> {
        let Specialisation { value_type, accumulate, .. } = self.specialisation;
        let device = self.context().device().traits();
        Fit { device, value_type, accumulate, mean_row: self.matrix.shape().mean_row() }
    }

    /// The hyper-parameters, checked.
    pub(super) fn parameters<P: FittedParameters>(&self) -> Result<Checked<P>> {
        Ok(Checked::of_named(self.parameters, &self.fit())?)
    }
}

/// An algorithm that is ready to launch.
#[derive(Debug)]
pub struct Bound {
    /// What launches it.
    pub spmv: Box<dyn Spmv>,
    /// The hyper-parameters it runs with, as text.
    pub parameters: String,
}

impl Bound {
    pub(super) fn new(spmv: impl Spmv + 'static, parameters: impl std::fmt::Display) -> Self {
        Bound { spmv: Box::new(spmv), parameters: parameters.to_string() }
    }
}

type Bind = fn(&BindRequest<'_>) -> Result<Bound>;

/// The function of each algorithm's file.
macro_rules! binders {
    ($( $(#[$doc:meta])* $algorithm:ident => $module:ident, )*) => {
        const BINDERS: [Bind; Algorithm::ALL.len()] = [$(super::$module::bind),*];
    };
}
cl_kernels::for_each_algorithm!(binders);

/// Builds the program of `algorithm` and computes its plan.
///
/// # Errors
/// Hyper-parameters that break a rule, vectors in an order that the algorithm does not have, a device without the value
/// type, a plan that cannot be made where it is asked for, a kernel that does not build, or the driver's own failure.
pub fn bind(algorithm: Algorithm, request: &BindRequest<'_>) -> Result<Bound> {
    if request.order != VectorOrder::Original && !algorithm.spec().reorders_rows {
        let all = Algorithm::ALL.into_iter().filter(|one| one.spec().reorders_rows);
        let names: Vec<_> = all.map(Algorithm::name).collect();
        return Err(Error::combination(
            format_args!("the order {}", request.order),
            algorithm,
            format_args!(
                "it keeps rows as they are, and other orders are for {}",
                names.join(", ")
            ),
        ));
    }
    request.order.check_shape(request.matrix)?;
    BINDERS[algorithm.index()](request)
}
