//! What a control keeps from call to call: plans for matrices without a meta, and kernels on dense vectors.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use sparrow::{
    Accumulate, AnyMatrix, AnyPlan, AnyVectors, KernelBuild, PlanOptions, Queue, Reuse, ValueType,
    VectorOptions, Workspace,
};

use crate::status::Result;

/// Plans for matrices of which nothing is known but how long their rows are in the mean.
#[derive(Default)]
pub(crate) struct FreePlans {
    /// By the type of values, the way of summing, and the mean row, to a power of two.
    known: HashMap<(ValueType, Accumulate, u64), (AnyPlan, Workspace)>,
}

impl FreePlans {
    /// The plan for a matrix of any pattern, with the workspace for its launches.
    pub(crate) fn get(
        &mut self,
        queue: &Queue,
        accumulate: Accumulate,
        a: &AnyMatrix,
    ) -> Result<(&AnyPlan, &mut Workspace)> {
        let mean_row = (a.nnz() as u64).div_ceil(a.rows().max(1) as u64).next_power_of_two();
        let key = (a.value_type(), accumulate, mean_row);
        let (plan, workspace) = match self.known.entry(key) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(place) => {
                let options = PlanOptions {
                    accumulate,
                    scalars_on_device: true,
                    reuse: Reuse::Once,
                    ..PlanOptions::default()
                };
                let plan = AnyPlan::for_any_pattern(queue, a, &options)?;
                let workspace = plan.workspace_blocking(queue)?;
                place.insert((plan, workspace))
            }
        };
        Ok((plan, workspace))
    }
}

/// The kernels that a control keeps, by the type of elements and the way of summing; each is built when it is asked for
/// first.
#[derive(Default)]
pub(crate) struct KnownVectors {
    known: HashMap<(ValueType, Accumulate), AnyVectors>,
}

impl KnownVectors {
    /// The kernels for elements of `value_type`.
    pub(crate) fn get(
        &mut self,
        queue: &Queue,
        value_type: ValueType,
        accumulate: Accumulate,
    ) -> Result<&mut AnyVectors> {
        match self.known.entry((value_type, accumulate)) {
            Entry::Occupied(known) => Ok(known.into_mut()),
            Entry::Vacant(place) => {
                let options = VectorOptions {
                    accumulate,
                    scalars_on_device: true,
                    build: KernelBuild::AtFirstUse,
                    parameters: Vec::new(),
                };
                Ok(place.insert(AnyVectors::new_blocking(queue, value_type, &options)?))
            }
        }
    }
}
