//! What changes formats: scans, sorts and conversions.

use csr_core::{OffsetType, ValueType};

use super::list::List;
use crate::coo_to_csr::{self, CooToCsrKernel};
use crate::csr_to_coo::{self, CsrToCoo};
use crate::csr_to_dense::{self, CsrToDense};
use crate::dense_to_csr::{self, DenseToCsrKernel};
use crate::scan::{self, Scan};
use crate::sort::{self, Sort};

impl List<'_> {
    pub(super) fn formats(&mut self) {
        for offset_type in [OffsetType::U32, OffsetType::U64] {
            let parameters = Scan { group_size: 256, counts_per_item: 8 };
            self.helper(scan::SOURCE, ValueType::F32, offset_type, &parameters);
            let parameters = CsrToCoo { group_size: 256, nnz_per_item: 8 };
            self.helper(csr_to_coo::SOURCE, ValueType::F32, offset_type, &parameters);
            let parameters = CooToCsrKernel { group_size: 256 };
            self.helper(coo_to_csr::SOURCE, ValueType::F32, offset_type, &parameters);
            self.with_feature(sort::FEATURE_NARROW_KEYS);
            for value_type in ValueType::ALL {
                let parameters = CsrToDense { group_size: 256, elements_per_item: 8 };
                self.helper(csr_to_dense::SOURCE, value_type, offset_type, &parameters);
                let parameters = DenseToCsrKernel { group_size: 256, cell: 8 };
                self.helper(dense_to_csr::SOURCE, value_type, offset_type, &parameters);
            }
        }
        for value_type in [ValueType::F64, ValueType::F16, ValueType::Bf16] {
            let parameters = CooToCsrKernel { group_size: 256 };
            self.helper(coo_to_csr::SOURCE, value_type, OffsetType::U32, &parameters);
            self.with_feature(sort::FEATURE_NARROW_KEYS);
        }
        let parameters = Sort { group_size: 128, keys_per_item: 16 };
        self.helper(sort::SOURCE, ValueType::F32, OffsetType::U32, &parameters);
        self.with_feature(sort::FEATURE_NARROW_KEYS);
    }

    /// The last one once more, with a feature on.
    fn with_feature(&mut self, feature: &'static str) {
        let key = self.keys.last().map(|key| key.clone().with_feature(feature));
        self.keys.extend(key);
    }
}
