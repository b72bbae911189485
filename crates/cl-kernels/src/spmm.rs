//! SpMM: C = alpha A B + beta C with B and C dense. Its two algorithms, how columns are dealt to items, and the switch.

use csr_core::{ValueType, counted};

use crate::parameters::parameters;
pub use crate::spmm_algorithm::SpmmAlgorithm;
pub(crate) use crate::spmm_tiling::{LEAST_IDLE, idle};
pub use crate::spmm_tiling::{
    Tiling, apart_width, halves_width, padded_width, shared_apart_width, shared_width, vector_width,
};
pub use crate::spmm_variant::{PUBLISHED_MEAN_ROW, SpmmVariant, published_choice};
use crate::{DeviceTraits, DeviceType, ParameterError};

/// Groups that a compute unit should have, so that some work while others wait: what an H200's hold of row split.
pub(crate) const GROUPS_PER_UNIT: u32 = 5;

/// C is column-major.
pub const FEATURE_C_COLUMN_MAJOR: &str = "C_COLUMN_MAJOR";

/// An item's columns are apart, not side by side: B and C may begin anywhere and have any number of columns.
pub const FEATURE_COLUMNS_APART: &str = "COLUMNS_APART";

/// An item's columns are side by side and loaded as two half vectors, which may overlap: B and C may begin anywhere and
/// have any number of columns.
pub const FEATURE_COLUMNS_IN_HALVES: &str = "COLUMNS_IN_HALVES";

/// B's rows lie where vectors may, and C's do not.
pub const FEATURE_C_BY_ELEMENT: &str = "C_BY_ELEMENT";

/// The feature a program needs to read a B that stores `storage`; `None` where B stores what sums are made in.
pub fn storage_feature(storage: ValueType) -> Option<&'static str> {
    match storage {
        ValueType::F16 => Some("DENSE_F16"),
        ValueType::Bf16 => Some("DENSE_BF16"),
        ValueType::F32 | ValueType::F64 => None,
    }
}

/// Refuses widths that are no vectors of OpenCL.
pub(crate) fn check_vector_width(
    algorithm: &'static str,
    vector_width: u32,
) -> Result<(), ParameterError> {
    if ![1, 2, 4, 8, 16].contains(&vector_width) {
        return Err(ParameterError::Invalid {
            algorithm,
            name: "vector_width",
            value: vector_width.into(),
            rule: "vectors have 1, 2, 4, 8 or 16 elements".to_owned(),
        });
    }
    Ok(())
}

/// Refuses what is no rule of when B is copied.
pub(crate) fn check_copy_b(algorithm: &'static str, copy_b: u32) -> Result<(), ParameterError> {
    if copy_b > 2 {
        return Err(ParameterError::Invalid {
            algorithm,
            name: "copy_b",
            value: copy_b.into(),
            rule: "it must be 0, 1 or 2".to_owned(),
        });
    }
    Ok(())
}

/// Columns an item takes at once where nothing is known of the device: 16 bytes of sums, which a GPU stores at once,
/// and a CPU's vector.
pub(crate) fn default_vector_width(device_type: DeviceType, value_type: ValueType) -> u32 {
    let bytes = if device_type == DeviceType::Cpu { 64 } else { 16 };
    bytes / value_type.accumulator().size_bytes() as u32
}

/// What the switch between the two looks at.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SpmmShape {
    /// Rows of A.
    pub rows: u64,
    /// Nonzeros of A.
    pub nnz: u64,
    /// Nonzeros of the longest row.
    pub longest_row: u64,
    /// The part of items that would have work where sub-groups run in step, with nodes as they come and long ones cut.
    pub busy: f64,
    /// Rows per i-node, in the mean: so many rows share what row split loads of B, and merge loads it for each.
    pub mean_inode: f64,
}

parameters! {
    /// The switch between row split and merge. Row split where rows are long enough, or those of C narrow, and neighbours
    /// have the same columns or none is long compared with all; or where one is so long that merge would have a group add
    /// up too much.
    pub struct SpmmSwitch for "spmm" {
        /// Rows are long enough if the mean one has as many hundredths of a nonzero, times the part of items that have
        /// work where sub-groups run in step; the paper's switch is 935, without the latter.
        mean_row_hundredths: [0, 200, 400, 935],
        /// Rows may be shorter where none is long and one of C takes at most as many bytes; 0 where that does not count.
        narrow_row_bytes: [0, 32, 64, 128],
        /// None is long if rows and nonzeros together are at least as many times the longest row.
        longest_share: [1, 1000, 3000, 10_000, 30_000, 60_000],
        /// Nor is one if it has at most as many times the mean row; 0 where that does not count.
        longest_of_mean: [0, 3, 5, 10],
        /// Nor is any if the mean one has at least as many nonzeros; 0 where that does not count.
        long_mean: [0, 32, 64, 128, 256],
        /// One is so long if they are less than as many times the longest row; 0 where merge does not mind.
        giant_share: [0, 10, 20, 40, 80],
        /// And if they are at least as many thousands.
        giant_thousands: [0, 1000, 3000, 10_000],
    }
}

impl SpmmSwitch {
    /// The paper's switch; for a CPU, whose items run one after another, rows are whole until one outweighs a compute
    /// unit's share.
    pub fn default_for(device: &DeviceTraits) -> Self {
        let longest_share = match device.device_type {
            DeviceType::Cpu => 2 * device.compute_units.max(1),
            _ => 30_000,
        };
        let (mean_row_hundredths, longest_of_mean) = match device.device_type {
            DeviceType::Cpu => (0, 0),
            _ => (935, 5),
        };
        SpmmSwitch {
            mean_row_hundredths,
            narrow_row_bytes: 0,
            longest_share,
            longest_of_mean,
            long_mean: 0,
            giant_share: 0,
            giant_thousands: 0,
        }
    }

    /// Chooses for rows of C of `row_bytes` bytes, with the reason in words.
    pub fn select(&self, shape: &SpmmShape, row_bytes: u64) -> (SpmmAlgorithm, String) {
        let SpmmShape { rows, nnz, longest_row, busy, mean_inode } = *shape;
        let mean = nnz as f64 / rows.max(1) as f64;
        let path = rows + nnz;
        let least_mean = f64::from(self.mean_row_hundredths) / 100.0;
        let (merge, row_split) = (SpmmAlgorithm::Merge, SpmmAlgorithm::RowSplit);
        let is_above = |share: u32| longest_row.saturating_mul(share.into()) > path;
        let longest =
            format!("the longest row ({}) is more than 1/", counted(longest_row, "nonzero"));
        if is_above(self.giant_share) && path >= u64::from(self.giant_thousands) * 1000 {
            let reason = format!(
                "{longest}{} of all rows and nonzeros, too much for merge",
                self.giant_share
            );
            return (row_split, reason);
        }
        let all_are_long = self.long_mean > 0 && mean >= f64::from(self.long_mean);
        let one_is_long = is_above(self.longest_share)
            && longest_row as f64 > f64::from(self.longest_of_mean) * mean;
        let is_narrow = row_bytes <= self.narrow_row_bytes.into();
        let rows_are = format!(
            "rows have {mean:.2} nonzeros in the mean, times {busy:.2} of items with work in step"
        );
        let are_short = mean * busy < least_mean;
        if are_short && (one_is_long || !is_narrow) {
            return (merge, format!("{rows_are}: fewer than {least_mean:.2}"));
        }
        if mean_inode > 1.0 {
            let reason =
                format!("{mean_inode:.2} neighbouring rows have the same columns, in the mean");
            return (row_split, reason);
        }
        let reason = match (one_is_long, all_are_long) {
            (true, false) => {
                return (
                    merge,
                    format!("{longest}{} of all rows and nonzeros", self.longest_share),
                );
            }
            (true, true) => format!(
                "{rows_are}: at least {}, so that the longest ({longest_row}) matters little",
                self.long_mean
            ),
            (false, _) if are_short => {
                let bytes = counted(row_bytes, "byte");
                let most = self.narrow_row_bytes;
                format!(
                    "a row of C has {bytes}, at most {most}, and no row is long: {longest_row} at most"
                )
            }
            (false, _) => {
                format!("{rows_are}, and none is long compared with all: {longest_row} at most")
            }
        };
        (row_split, reason)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_published_rule_looks_at_the_mean_row_alone() {
        assert_eq!(published_choice(100, 934).0, SpmmAlgorithm::Merge);
        assert_eq!(published_choice(100, 935).0, SpmmAlgorithm::RowSplit);
        assert_eq!(published_choice(0, 0).0, SpmmAlgorithm::Merge);
    }

    /// Bytes of a row of C: 32 columns in f32.
    const WIDE: u64 = 128;

    #[test]
    fn uneven_rows_are_merged() {
        let gpu = crate::tests::gpu();
        let switch = SpmmSwitch::default_for(&gpu);
        let (rows, nnz, longest_row, busy) = (100_000, 5_000_000, 60, 0.9);
        let even = SpmmShape { rows, nnz, longest_row, busy, mean_inode: 1.0 };
        assert_eq!(switch.select(&even, WIDE).0, SpmmAlgorithm::RowSplit);
        for uneven in [
            SpmmShape { nnz: 900_000, ..even },
            SpmmShape { nnz: 900_000, mean_inode: 2.0, ..even },
            SpmmShape { longest_row: 300, ..even },
            SpmmShape { busy: 0.1, ..even },
        ] {
            assert_eq!(switch.select(&uneven, WIDE).0, SpmmAlgorithm::Merge, "{uneven:?}");
        }
        // Four times the mean row.
        let short = SpmmShape { longest_row: 200, ..even };
        assert_eq!(switch.select(&short, WIDE).0, SpmmAlgorithm::RowSplit);
        let alike = SpmmShape { longest_row: 300, mean_inode: 3.0, ..even };
        assert_eq!(switch.select(&alike, WIDE).0, SpmmAlgorithm::RowSplit);
        // One row is half of all.
        let giant = SpmmShape { longest_row: 2_500_000, ..even };
        assert_eq!(switch.select(&giant, WIDE).0, SpmmAlgorithm::Merge);
        let switch = SpmmSwitch { giant_share: 40, giant_thousands: 5000, ..switch };
        assert_eq!(switch.select(&giant, WIDE).0, SpmmAlgorithm::RowSplit);
        let small = SpmmShape { nnz: 2_500_000, ..giant };
        assert_eq!(switch.select(&small, WIDE).0, SpmmAlgorithm::Merge);
    }

    #[test]
    fn short_rows_are_split_where_those_of_c_are_narrow_and_long_ones_where_all_are() {
        use SpmmAlgorithm::{Merge, RowSplit};
        let switch = SpmmSwitch::default_for(&crate::tests::gpu());
        let short =
            SpmmShape { rows: 100_000, nnz: 200_000, longest_row: 6, busy: 0.9, mean_inode: 1.0 };
        let one_is_long = SpmmShape { longest_row: 5_000, ..short };
        let long = SpmmShape { nnz: 10_000_000, longest_row: 20_000, ..short };
        let set = SpmmSwitch { narrow_row_bytes: 64, long_mean: 64, ..switch };
        for (switch, shape, row_bytes, expected) in [
            (&switch, &short, 4, Merge),
            (&set, &short, 64, RowSplit),
            (&set, &short, 65, Merge),
            (&set, &one_is_long, 64, Merge),
            (&set, &SpmmShape { mean_inode: 2.0, ..one_is_long }, 64, Merge),
            (&switch, &long, WIDE, Merge),
            (&set, &long, WIDE, RowSplit),
            (&set, &SpmmShape { nnz: 6_300_000, ..long }, WIDE, Merge),
        ] {
            assert_eq!(switch.select(shape, row_bytes).0, expected, "{shape:?}, {row_bytes} bytes");
        }
        let reason = set.select(&short, 32).1;
        assert!(reason.contains("a row of C has 32 bytes, at most 64"), "{reason}");
        let reason = set.select(&long, WIDE).1;
        assert!(reason.contains("at least 64, so that the longest (20000)"), "{reason}");
    }
}
