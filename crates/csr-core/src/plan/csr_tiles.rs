//! How `csr_tiles` cuts its tiles of columns into slices, and the slices into the tasks of work-groups.
//!
//! Nonzeros lie in the order of tiles. A tile begins with a slice of its own, so its last one may be padded; a group's
//! task is some neighbouring slices of one tile.

use crate::{Error, Result};

/// What tasks are cut by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TaskRules {
    /// Nonzeros of a slice.
    pub slice_nnz: u32,
    /// Slices that a group has at least, where its tile has them.
    pub least_slices: u32,
    /// Groups that would share all slices, were there one tile.
    pub groups: u32,
}

/// Tiles, slices and tasks of a matrix.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TileTasks {
    /// Of each tile: nonzeros of padding before it, modulo 2^32, and tiles before it that are padded.
    pub padding: Vec<[u32; 2]>,
    /// Of each group: its tile, its first slice, and the one after its last.
    pub tasks: Vec<[u32; 3]>,
    /// Slices of all tiles.
    pub slices: u32,
    /// Tiles that are padded.
    pub padded: u32,
}

impl TileTasks {
    /// Cuts tiles, of which `starts` counts the nonzeros before each, and at the end all.
    ///
    /// # Errors
    /// More nonzeros and padding than 32 bits count.
    pub fn new(starts: &[u32], rules: TaskRules) -> Result<Self> {
        let of_tile = |tile: &[u32]| u64::from((tile[1] - tile[0]).div_ceil(rules.slice_nnz));
        let slices: u64 = starts.windows(2).map(of_tile).sum();
        let (value, limit) = (slices * u64::from(rules.slice_nnz), u64::from(u32::MAX));
        if value > limit {
            return Err(Error::TooLarge { what: "the number of nonzeros in slices", value, limit });
        }
        let share = slices.div_ceil(u64::from(rules.groups.max(1)));
        let share = share.max(u64::from(rules.least_slices)).max(1);
        let mut made = TileTasks { padding: Vec::new(), tasks: Vec::new(), slices: 0, padded: 0 };
        for (tile, ends) in starts.windows(2).enumerate() {
            let (before, nnz) = (ends[0], ends[1] - ends[0]);
            // Below 2^32, as all of them are.
            let own = u64::from(nnz.div_ceil(rules.slice_nnz));
            let first = made.slices;
            made.padding.push([(first * rules.slice_nnz).wrapping_sub(before), made.padded]);
            let groups = own.div_ceil(share);
            let cut = |group: u64| first + (own * group / groups) as u32;
            made.tasks.extend((0..groups).map(|g| [tile as u32, cut(g), cut(g + 1)]));
            made.slices += own as u32;
            made.padded += u32::from(!nnz.is_multiple_of(rules.slice_nnz));
        }
        Ok(made)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULES: TaskRules = TaskRules { slice_nnz: 64, least_slices: 2, groups: 5 };

    #[test]
    fn tasks_have_every_slice_once_in_order_and_none_of_two_tiles() {
        // Tiles of 0, 640, 1, 64 and 0 nonzeros: 0, 10, 1, 1 and 0 slices.
        let made = TileTasks::new(&[0, 0, 640, 641, 705, 705], RULES).unwrap();
        assert_eq!(made.slices, 12);
        assert_eq!(made.padded, 1);
        assert_eq!(made.padding, [[0, 0], [0, 0], [0, 0], [63, 1], [63, 1]]);
        assert_eq!(
            made.tasks,
            [[1, 0, 2], [1, 2, 5], [1, 5, 7], [1, 7, 10], [2, 10, 11], [3, 11, 12]]
        );
    }

    #[test]
    fn a_group_has_as_many_slices_as_its_tile_has_up_to_the_least() {
        let rules = TaskRules { least_slices: 8, ..RULES };
        let made = TileTasks::new(&[0, 64 * 20], rules).unwrap();
        assert_eq!(made.tasks, [[0, 0, 6], [0, 6, 13], [0, 13, 20]]);
    }

    #[test]
    fn no_nonzeros_make_no_task() {
        let made = TileTasks::new(&[0, 0], RULES).unwrap();
        assert_eq!((made.tasks.len(), made.slices, made.padded), (0, 0, 0));
    }

    #[test]
    fn more_than_32_bits_count_are_refused() {
        let starts = [0, u32::MAX - 10, u32::MAX - 5];
        let error = TileTasks::new(&starts, RULES).unwrap_err().to_string();
        assert!(error.contains("nonzeros in slices"), "{error}");
    }
}
