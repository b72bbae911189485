//! What changes formats: scans, sorts and conversions.

use csr_core::{OffsetType, ValueType};

use super::List;
use crate::scan::{self, Scan};

impl List<'_> {
    pub(super) fn formats(&mut self) {
        for offset_type in [OffsetType::U32, OffsetType::U64] {
            let parameters = Scan { group_size: 256, counts_per_item: 8 };
            self.helper(scan::SOURCE, ValueType::F32, offset_type, &parameters);
        }
    }
}
