//! EVC-HYB: a product that is compiled with a group size alone, and the kernels that make its copy.

use csr_core::{OffsetType, ValueType};

use super::{Extent, List};
use crate::evc_hyb::{EvcHyb, FEATURE_PERMUTED, SOURCE};
use crate::evc_hyb_plan::{self, EvcHybPlan, FEATURE_RENUMBER};
use crate::{Accumulate, DeviceType, KernelKey, ParameterError};

impl List<'_> {
    /// The product, y in both orders; in the cover, forms and pairs go in turn. Offsets are not read.
    pub(super) fn evc_hyb(&mut self) -> Result<(), ParameterError> {
        let sums = [Accumulate::Plain, Accumulate::Compensated];
        let mut group_sizes = Vec::new();
        let mut turn = 0;
        for value_type in ValueType::ALL {
            let mut kernels = Vec::new();
            for set in self.parameter_sets(
                value_type,
                vec![EvcHyb::usual(DeviceType::Gpu), EvcHyb::usual(DeviceType::Cpu)],
            )? {
                if !kernels.contains(&set.kernel()) {
                    kernels.push(set.kernel());
                    group_sizes.push((value_type, set.group_size));
                }
            }
            for kernel in &kernels {
                for accumulate in sums {
                    turn += 1;
                    for (offset_type, on_device) in self.pairs(turn, kernels.len()) {
                        let types = (value_type, offset_type);
                        let key =
                            KernelKey::new(SOURCE, types.0, types.1, accumulate, on_device, kernel);
                        let permuted = key.clone().with_feature(FEATURE_PERMUTED);
                        match self.extent {
                            Extent::Product => self.keys.extend([key, permuted]),
                            Extent::Cover if on_device => self.keys.push(permuted),
                            Extent::Cover => self.keys.push(key),
                        }
                    }
                }
            }
        }
        self.evc_hyb_plans(&group_sizes);
        Ok(())
    }

    /// What makes the copy, for each group size that a product has.
    fn evc_hyb_plans(&mut self, group_sizes: &[(ValueType, u32)]) {
        for offset_type in [OffsetType::U32, OffsetType::U64] {
            let before = self.keys.len();
            for &(value_type, group_size) in group_sizes {
                // Columns are as wide as f32.
                for value_type in [value_type, ValueType::F32] {
                    let parameters = EvcHybPlan { group_size };
                    let source = evc_hyb_plan::SOURCE;
                    self.helper(source, value_type, offset_type, &parameters);
                    let key = &self.keys[self.keys.len() - 1];
                    let is_known = self.keys[before..self.keys.len() - 1].contains(key);
                    let renumber = key.clone().with_feature(FEATURE_RENUMBER);
                    match (is_known, value_type) {
                        (true, _) => drop(self.keys.pop()),
                        (false, ValueType::F32) => self.keys.push(renumber),
                        (false, _) => {}
                    }
                }
            }
        }
    }
}
