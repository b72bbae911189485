//! The kernels that plan, look at matrices and measure.

use csr_core::{OffsetType, ValueType};

use super::list::List;
use crate::batched_plan::{self, BatchedPlan};
use crate::csr_adaptive_plan::{self, CsrAdaptivePlan};
use crate::csr_flat_plan::{self, CsrFlatPlan};
use crate::dense_product::{self, DenseProductKernel};
use crate::dense_rows::{self, DenseRows};
use crate::gather_rate::{self, GatherRate};
use crate::gather_values::{self, GatherValues};
use crate::hyb_plan::{self, HybPlan};
use crate::launch_cost::{self, LaunchCost};
use crate::rates::{self, Rates};
use crate::reorder::{self, Reorder};
use crate::row_lengths::{self, RowLengthsKernel};
use crate::row_offsets::{self, RowOffsetsKernel};
use crate::spmm_merge_plan::{self, SpmmMergePlan};
use crate::spmm_row_split_plan::{self, SpmmRowSplitPlan};
use crate::value_coding::{self, ValueCodingKernel};

impl List<'_> {
    /// Kernels beside the products: few enough for all of them. Group sizes are those that the runtime
    /// takes on a GPU.
    pub(super) fn helpers(&mut self) {
        let offsets = [OffsetType::U32, OffsetType::U64];
        for offset_type in offsets {
            // As many items as the device allows: a driver for AMD may allow 256, others more.
            for group_size in [256, 512] {
                let parameters = CsrAdaptivePlan { group_size };
                self.helper(csr_adaptive_plan::SOURCE, ValueType::F32, offset_type, &parameters);
            }
            let parameters = CsrFlatPlan { group_size: 64 };
            self.helper(csr_flat_plan::SOURCE, ValueType::F32, offset_type, &parameters);
            let parameters = SpmmMergePlan { group_size: 64, tile_length: 512, slack: 64 };
            self.helper(spmm_merge_plan::SOURCE, ValueType::F32, offset_type, &parameters);
            let parameters = SpmmMergePlan { group_size: 64, tile_length: 32, slack: 0 };
            self.helper(spmm_merge_plan::SOURCE, ValueType::F32, offset_type, &parameters);
            if let Some(key) = self.keys.last_mut() {
                key.features.push(spmm_merge_plan::FEATURE_BY_NONZEROS);
            }
            let parameters = SpmmRowSplitPlan { group_size: 256 };
            self.helper(spmm_row_split_plan::SOURCE, ValueType::F32, offset_type, &parameters);
            let parameters = BatchedPlan { group_size: 64 };
            self.helper(batched_plan::SOURCE, ValueType::F32, offset_type, &parameters);
            let parameters = RowLengthsKernel { group_size: 256 };
            self.helper(row_lengths::SOURCE, ValueType::F32, offset_type, &parameters);
            for value_type in ValueType::ALL {
                let parameters = GatherValues { group_size: 256 };
                self.helper(gather_values::SOURCE, value_type, offset_type, &parameters);
                let parameters = HybPlan { group_size: 64 };
                self.helper(hyb_plan::SOURCE, value_type, offset_type, &parameters);
                let parameters = DenseProductKernel { group_size: 256 };
                self.helper(dense_product::SOURCE, value_type, offset_type, &parameters);
            }
        }
        for value_type in ValueType::ALL {
            let parameters = ValueCodingKernel { group_size: 256 };
            self.helper(value_coding::SOURCE, value_type, OffsetType::U32, &parameters);
            for whole_rows in [0, 1] {
                let parameters = DenseRows { group_size: 256, whole_rows };
                for feature in [None, Some(dense_rows::FEATURE_ROW_MAJOR)] {
                    self.helper(dense_rows::SOURCE, value_type, OffsetType::U32, &parameters);
                    if let Some(key) = self.keys.last_mut() {
                        key.features.extend(feature);
                    }
                }
            }
        }
        for value_type in [ValueType::F32, ValueType::F64] {
            let parameters = GatherRate { group_size: 256 };
            self.helper(gather_rate::SOURCE, value_type, OffsetType::U32, &parameters);
            let parameters = Reorder { group_size: 256 };
            self.helper(reorder::SOURCE, value_type, OffsetType::U32, &parameters);
        }
        let parameters = RowOffsetsKernel { group_size: 256 };
        self.helper(row_offsets::SOURCE, ValueType::F32, OffsetType::U32, &parameters);
        let parameters = LaunchCost { group_size: 64 };
        self.helper(launch_cost::SOURCE, ValueType::F32, OffsetType::U32, &parameters);
        let parameters = Rates { group_size: 256 };
        self.helper(rates::SOURCE, ValueType::F32, OffsetType::U32, &parameters);
    }
}
