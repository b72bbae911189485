//! The split of HYB: how many slots each row has, and how many nonzeros that leaves.
//!
//! Rows get one slot more as long as at least [`HybRules::least_rows`] rows fill it, and one in [`BREAK_EVEN`] of all: then
//! a slot costs no more than the entries that it saves, as an entry of the rest was found to take about so many times as
//! long (Bell and Garland 2009).

use crate::{Error, Offset, Result};

/// Of so many rows at most one fills a slot that pays.
pub const BREAK_EVEN: usize = 3;

/// When a slot pays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HybRules {
    /// The least number of rows that fill a slot.
    pub least_rows: usize,
}

/// How nonzeros are dealt to slots and to the rest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HybSplit {
    /// Slots of each row.
    pub width: usize,
    /// Nonzeros beyond the slots before each row: rows + 1.
    pub rest_offsets: Vec<u32>,
}

impl HybSplit {
    /// For rows that begin where `offsets` says: rows + 1 of them.
    ///
    /// # Errors
    /// More nonzeros beyond the slots than 32 bits count.
    pub fn new<O: Offset>(offsets: &[O], rules: HybRules) -> Result<Self> {
        let lengths = || {
            let length = |ends: &[O]| ends[1].to_usize().saturating_sub(ends[0].to_usize());
            offsets.windows(2).map(length)
        };
        let rows = lengths().len();
        // A slot that pays is filled by a third of the rows, so that no more than three times the mean row are.
        let nnz = offsets.last().map_or(0, |last| last.to_usize());
        let least = rules.least_rows.max(rows.div_ceil(BREAK_EVEN)).max(1);
        let longest = lengths().max().unwrap_or(0);
        let most = if rows < least { 0 } else { (BREAK_EVEN * nnz / rows).min(longest) };
        let mut of_length = vec![0usize; most + 1];
        lengths().for_each(|length| of_length[length.min(most)] += 1);
        let mut filled = rows - of_length[0];
        let mut width = 0;
        while width < most && filled >= least {
            width += 1;
            filled -= of_length[width];
        }
        let mut rest = 0usize;
        let mut rest_offsets = Vec::with_capacity(rows + 1);
        rest_offsets.push(0);
        for length in lengths() {
            rest += length.saturating_sub(width);
            let what = "the number of nonzeros beyond the slots of HYB";
            let too_large =
                Error::TooLarge { what, value: rest as u64, limit: u64::from(u32::MAX) };
            rest_offsets.push(u32::try_from(rest).map_err(|_| too_large)?);
        }
        Ok(HybSplit { width, rest_offsets })
    }

    /// Nonzeros beyond the slots.
    pub fn rest(&self) -> usize {
        self.rest_offsets.last().map_or(0, |&last| last as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(lengths: &[u32], least_rows: usize) -> (usize, Vec<u32>) {
        let mut offsets = vec![0u32];
        for length in lengths {
            offsets.push(offsets.last().unwrap() + length);
        }
        let split = HybSplit::new(&offsets, HybRules { least_rows }).unwrap();
        assert_eq!(split.rest(), *split.rest_offsets.last().unwrap() as usize);
        (split.width, split.rest_offsets)
    }

    #[test]
    fn slots_end_where_fewer_than_a_third_of_the_rows_fill_them() {
        // Slots are filled by 5, 4, 2 and 1 rows, of 6.
        assert_eq!(split(&[2, 0, 3, 1, 9, 2], 1), (3, vec![0, 0, 0, 0, 0, 6, 6]));
        assert_eq!(split(&[2, 0, 3, 1, 9, 2], 4), (2, vec![0, 0, 0, 1, 1, 8, 8]));
        assert_eq!(split(&[2, 2, 2], 1), (2, vec![0; 4]));
    }

    #[test]
    fn few_rows_have_no_slots_and_no_rows_are_no_trouble() {
        assert_eq!(split(&[2, 2], 4096), (0, vec![0, 2, 4]));
        assert_eq!(split(&[], 1), (0, vec![0]));
        assert_eq!(split(&[0, 0], 1), (0, vec![0, 0, 0]));
        assert_eq!(split(&[0, 0, 0, 0, 0, 7], 1), (0, vec![0, 0, 0, 0, 0, 0, 7]));
    }
}
