//! Specialisations of SpGEMM.

use csr_core::{OffsetType, ValueType};

use super::list::List;
use crate::spgemm_long::{self, SpgemmLong};
use crate::spgemm_order::{self, SpgemmOrder};
use crate::spgemm_rows::{CROWDED_ROWS, LONG_ROWS, RowKernel, SpgemmRows};
use crate::{spgemm_bitmap, spgemm_hash, spgemm_parts, spgemm_rows, spgemm_tiny, spgemm_values};

/// Items of a group at most: what drivers for AMD may allow.
const MAX_GROUP_SIZE: u64 = 256;

impl List<'_> {
    /// What each class of rows asks for, on a device with room for the larger bitmap.
    pub(super) fn spgemm(&mut self) {
        let rows = SpgemmRows::defaults(MAX_GROUP_SIZE, true);
        let numbers = [ValueType::F32, ValueType::F64];
        for offset_type in [OffsetType::U32, OffsetType::U64] {
            self.helper(spgemm_rows::SOURCE, ValueType::F32, offset_type, &rows);
            for class in 1..LONG_ROWS {
                match rows.row_kernel(class, MAX_GROUP_SIZE) {
                    RowKernel::Tiny(tiny) => {
                        for value_type in numbers {
                            self.helper(spgemm_tiny::SOURCE, value_type, offset_type, &tiny);
                        }
                    }
                    RowKernel::Hash(hash) => {
                        self.helper(spgemm_hash::SOURCE, ValueType::F32, offset_type, &hash);
                    }
                    RowKernel::Bitmap(bitmap) => {
                        self.helper(spgemm_bitmap::SOURCE, ValueType::F32, offset_type, &bitmap);
                    }
                }
            }
            let long = SpgemmLong::for_groups(MAX_GROUP_SIZE);
            self.helper(spgemm_long::SOURCE, ValueType::F32, offset_type, &long);
            for value_type in numbers {
                let order = SpgemmOrder { group_size: 256 };
                self.helper(spgemm_order::SOURCE, value_type, offset_type, &order);
                for class in 1..CROWDED_ROWS {
                    let values = rows.value_kernel(class, MAX_GROUP_SIZE);
                    self.helper(spgemm_values::SOURCE, value_type, offset_type, &values);
                }
                // The last of these comes in windows alone.
                let windows = self.keys.pop().map(|key| key.with_feature(spgemm_values::WINDOWS));
                self.keys.extend(windows);
                let parts = rows.part_kernel(MAX_GROUP_SIZE);
                self.helper(spgemm_parts::SOURCE, value_type, offset_type, &parts);
            }
        }
    }
}
