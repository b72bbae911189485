//! SELL-C-sigma: a product that is compiled without the window, and the kernels that make its copy.

use csr_core::{OffsetType, ValueType};

use super::List;
use crate::sell_sigma::{SOURCE, SellSigma};
use crate::sell_sigma_plan::{self, SellSigmaPlan};
use crate::{Accumulate, KernelKey, ParameterError};

impl List<'_> {
    /// The product, in the cover with ways of summing and pairs in turn; and its plan with both types of offsets.
    pub(super) fn sell_sigma(&mut self) -> Result<(), ParameterError> {
        let sums = [Accumulate::Plain, Accumulate::Compensated];
        let mut turn = 0;
        for value_type in ValueType::ALL {
            let sets = self.parameter_sets(value_type, vec![SellSigma::default()])?;
            let mut kernels = Vec::new();
            let mut plans = Vec::new();
            for set in &sets {
                if !kernels.contains(&set.kernel()) {
                    kernels.push(set.kernel());
                }
                if !plans.contains(&SellSigmaPlan::of(set)) {
                    plans.push(SellSigmaPlan::of(set));
                }
            }
            for kernel in &kernels {
                for accumulate in sums {
                    turn += 1;
                    for (offset_type, on_device) in self.pairs(turn, kernels.len()) {
                        let key = KernelKey::new(
                            SOURCE,
                            value_type,
                            offset_type,
                            accumulate,
                            on_device,
                            kernel,
                        );
                        self.keys.push(key);
                    }
                }
            }
            for plan in &plans {
                for offset_type in [OffsetType::U32, OffsetType::U64] {
                    self.helper(sell_sigma_plan::SOURCE, value_type, offset_type, plan);
                }
            }
        }
        Ok(())
    }
}
