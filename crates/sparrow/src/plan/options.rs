//! What a plan is asked for.

use cl_kernels::{Accumulate, Algorithm, Choice, Experiment, Reuse, Tables, Variant};
use cl_runtime::spmv::{Planning, VectorOrder};
use csr_core::Reordering;

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

/// Whether the best few candidates for a matrix are timed on it. It is done for [`Reuse::Many`] alone, where tables have
/// the numbers of the cost model for the device (`docs/tuning.md`) and a product is not estimated to take much less than
/// its launch, or it is a CPU and columns and values take 16 MiB or more, on vectors of the plan's own, and is over when
/// the plan is there. What it finds may be another on another day: a choice that shall stay is stored, and given back in
/// [`PlanOptions::choice`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Measuring {
    /// By [`Measuring::DEFAULT_PRODUCTS`] products at most.
    #[default]
    Automatic,
    /// Nothing is timed: tables choose.
    Never,
    /// By so many products at most, all candidates together.
    AtMost(u32),
}

impl Measuring {
    /// What many products can well spare.
    pub const DEFAULT_PRODUCTS: u32 = 40;
}

/// What a plan is asked for; the default is the automatic choice.
#[derive(Clone, Debug, Default)]
pub struct PlanOptions {
    /// The algorithm; `None` chooses one for the matrix and the device.
    pub algorithm: Option<Algorithm>,
    /// What an earlier plan chose ([`AnyPlan::choice`](crate::AnyPlan::choice)), from its text or as it is: that runs, whatever
    /// tables say now. Before `algorithm` and `variant`; `parameters` go over it.
    pub choice: Option<Choice>,
    /// How many products may be spent on choosing where `products` is many and no algorithm is named.
    pub measuring: Measuring,
    /// Which matrix multiplies x.
    pub op: Op,
    /// The way in which the algorithm runs ([`Variant::of`]); one that it does not have means its default way.
    pub variant: Variant,
    /// How products are summed.
    pub accumulate: Accumulate,
    /// Whether alpha and beta will come as device pointers.
    pub scalars_on_device: bool,
    /// How many products will follow: what the automatic choice may spend on a plan.
    pub reuse: Reuse,
    /// Whether rows and columns are put in another order first, in a copy that the plan keeps: the product is that of the
    /// matrix as it is. It pays where many products follow and neighbouring rows gather x far apart; `sparrow info --explain`
    /// says whether they do. New values reach the copy by
    /// [`Plan::update_values_blocking`](crate::Plan::update_values_blocking).
    pub reordering: Reordering,
    /// Which order x and y are in; another than the matrix's is for a `reordering` and for [`Algorithm::EvcHyb`], whose plan
    /// says which ([`AnyPlan::row_order`](crate::AnyPlan::row_order)). With a `reordering` and the matrix's own order a
    /// launch has up to three kernels more, which move x and y.
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

impl PlanOptions {
    /// Products that choosing may take.
    pub(super) fn measured_products(&self) -> u32 {
        match (self.reuse, self.measuring) {
            (Reuse::Many, Measuring::Automatic) => Measuring::DEFAULT_PRODUCTS,
            (Reuse::Many, Measuring::AtMost(most)) => most,
            (Reuse::Many, Measuring::Never) | (Reuse::Once | Reuse::Several, _) => 0,
        }
    }

    /// The same with the choice, where there is one, as what is asked for by name.
    pub(super) fn pinned(&self) -> PlanOptions {
        let mut options = self.clone();
        if let Some(choice) = options.choice.take() {
            options.algorithm = Some(choice.algorithm);
            options.variant = choice.variant.unwrap_or_default();
            options.parameters = choice.parameters;
            options.parameters.extend(self.parameters.iter().cloned());
        }
        options
    }
}
