//! What changes formats: scans, sorts and conversions.

use csr_core::{OffsetType, ValueType};

use super::List;
use crate::scan::{self, Scan};
use crate::sort::{self, Sort};

impl List<'_> {
    pub(super) fn formats(&mut self) {
        for offset_type in [OffsetType::U32, OffsetType::U64] {
            let parameters = Scan { group_size: 256, counts_per_item: 8 };
            self.helper(scan::SOURCE, ValueType::F32, offset_type, &parameters);
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
