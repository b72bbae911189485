//! What a plan is asked for.

use cl_kernels::{Accumulate, Algorithm, Experiment, Products, Tables, Variant};
use cl_runtime::spmv::{Planning, VectorOrder};

/// Which matrix multiplies x.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Op {
    /// A itself.
    #[default]
    Normal,
    /// A transposed, through a transposed copy that the plan keeps: x has `rows` elements and y `cols`,
    /// and [`AnyPlan::plan_bytes`](crate::AnyPlan::plan_bytes) counts the copy. New values reach it by
    /// [`Plan::update_values_blocking`](crate::Plan::update_values_blocking).
    Transpose,
}

/// What a plan is asked for; the default is the automatic choice.
#[derive(Clone, Debug, Default)]
pub struct PlanOptions {
    /// The algorithm; `None` chooses one for the matrix and the device.
    pub algorithm: Option<Algorithm>,
    /// Which matrix multiplies x.
    pub op: Op,
    /// The way in which the algorithm runs ([`Variant::of`]); one that it does not have means its usual way.
    pub variant: Variant,
    /// How products are summed.
    pub accumulate: Accumulate,
    /// Whether alpha and beta will come as device pointers.
    pub scalars_on_device: bool,
    /// How many products will follow: what the automatic choice may spend on a plan.
    pub products: Products,
    /// Which order x and y are in; another than the matrix's is for [`Algorithm::EvcHyb`], whose plan says which
    /// ([`AnyPlan::row_order`](crate::AnyPlan::row_order)).
    pub order: VectorOrder,
    /// Where the plan is computed. An algorithm that is laid out on the host alone ([`Algorithm::Sell`]) is refused on the
    /// device, and not chosen.
    pub planning: Planning,
    /// Hyper-parameters by name, over what the device table says.
    pub parameters: Vec<(String, u32)>,
    /// The device tables; `None` takes the environment's.
    pub tables: Option<Tables>,
    /// Loads left out so that `sparrow bench --model` can time the rest: y is wrong, by design.
    #[doc(hidden)]
    pub experiment: Experiment,
}
