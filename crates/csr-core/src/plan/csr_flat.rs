//! Tiles of `csr_flat`: equal nonzeros a work-group, wherever rows begin and end.
//!
//! Every [`TileRules::tile_nnz`] nonzeros there is a boundary. The row that lies across it stays whole where it has
//! at most [`TileRules::whole_row`] nonzeros: the tile in which it begins continues to its end. A longer row is cut
//! at the boundary. Empty rows at a boundary belong to the tile after it.

use crate::{Error, Offset, Result};

/// Where a tile begins, as the kernel reads it (`cl/spmv/csr_flat_tile.h`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(transparent)]
pub struct TileStart(u64);

impl TileStart {
    const ROW_SHIFT: u32 = 32;
    const CUT: u64 = 1 << 31;

    fn new(row: usize, is_cut: bool, past: usize) -> Self {
        debug_assert!(row <= u32::MAX as usize && (past as u64) < Self::CUT);
        let cut = if is_cut { Self::CUT } else { 0 };
        TileStart((row as u64) << Self::ROW_SHIFT | cut | past as u64)
    }

    /// The tile's first row.
    pub fn row(self) -> usize {
        (self.0 >> Self::ROW_SHIFT) as usize
    }

    /// Whether that row began in an earlier tile.
    pub fn is_cut(self) -> bool {
        self.0 & Self::CUT != 0
    }

    /// Nonzeros after the boundary that still belong to the tile before.
    pub fn past(self) -> usize {
        (self.0 & (Self::CUT - 1)) as usize
    }
}

/// How nonzeros are cut into tiles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TileRules {
    /// Nonzeros of a tile.
    pub tile_nnz: u32,
    /// Rows of at most this many nonzeros are never cut: at most `tile_nnz`, so that a row lies across one boundary
    /// at most.
    pub whole_row: u32,
}

impl TileRules {
    /// Tiles of a matrix of `rows` rows and `nnz` nonzeros: one at least, so that empty rows have an owner, and none
    /// without rows.
    ///
    /// # Errors
    /// More tiles or rows than the kernel can count, which is 2^31 - 1.
    pub fn tiles(&self, rows: usize, nnz: usize) -> Result<usize> {
        let tiles = if rows == 0 { 0 } else { nnz.div_ceil(self.tile_nnz as usize).max(1) };
        let limit = u64::from(u32::MAX >> 1);
        for (what, value) in [("the number of tiles", tiles), ("the number of rows", rows)] {
            if value as u64 > limit {
                return Err(Error::TooLarge { what, value: value as u64, limit });
            }
        }
        Ok(tiles)
    }

    /// Where each tile begins, and after them an entry that ends the last, from row offsets that a pattern's check
    /// has passed. What the device finds by `csr_flat_plan`, in plain words.
    ///
    /// # Errors
    /// As [`TileRules::tiles`].
    pub fn starts<O: Offset>(&self, offsets: &[O]) -> Result<Vec<TileStart>> {
        let rows = offsets.len().saturating_sub(1);
        let nnz = offsets.last().map_or(0, |last| last.to_usize());
        let tiles = self.tiles(rows, nnz)?;
        let inner = (1..tiles).map(|tile| {
            let boundary = tile * self.tile_nnz as usize;
            let row = offsets.partition_point(|offset| offset.to_usize() < boundary);
            let (begin, end) = (offsets[row - 1].to_usize(), offsets[row].to_usize());
            if end > boundary && end - begin > self.whole_row as usize {
                TileStart::new(row - 1, true, 0)
            } else {
                TileStart::new(row, false, end - boundary)
            }
        });
        let first = std::iter::once(TileStart::new(0, false, 0)).filter(|_| tiles > 0);
        Ok(first.chain(inner).chain([TileStart::new(rows, false, 0)]).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULES: TileRules = TileRules { tile_nnz: 8, whole_row: 4 };

    fn starts(lengths: &[usize]) -> Vec<(usize, bool, usize)> {
        let mut offsets = vec![0_u32];
        for length in lengths {
            offsets.push(offsets[offsets.len() - 1] + *length as u32);
        }
        let starts = RULES.starts(&offsets).unwrap_or_default();
        starts.into_iter().map(|start| (start.row(), start.is_cut(), start.past())).collect()
    }

    #[test]
    fn a_row_of_the_limit_stays_whole_and_a_longer_one_is_cut() {
        assert_eq!(starts(&[6, 4, 6]), [(0, false, 0), (2, false, 2), (3, false, 0)]);
        assert_eq!(starts(&[6, 5, 5]), [(0, false, 0), (1, true, 0), (3, false, 0)]);
    }

    #[test]
    fn a_row_that_ends_at_a_boundary_is_not_cut_and_empty_rows_there_belong_to_the_tile_after() {
        assert_eq!(starts(&[8, 0, 0, 8]), [(0, false, 0), (1, false, 0), (4, false, 0)]);
    }

    #[test]
    fn a_long_row_goes_through_whole_tiles() {
        assert_eq!(
            starts(&[4, 20, 1]),
            [(0, false, 0), (1, true, 0), (1, true, 0), (2, false, 0), (3, false, 0)]
        );
    }

    #[test]
    fn empty_rows_alone_are_one_tile_and_no_rows_are_none() {
        assert_eq!(starts(&[0, 0, 0]), [(0, false, 0), (3, false, 0)]);
        assert_eq!(starts(&[]), [(0, false, 0)]);
    }

    #[test]
    fn more_rows_than_the_kernel_counts_are_refused_by_name() {
        let found = RULES.tiles(1 << 31, 5).map_err(|error| error.to_string());
        assert!(found.as_ref().is_err_and(|text| text.contains("the number of rows")), "{found:?}");
    }
}
