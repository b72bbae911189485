//! Pieces of `csr_flat`: equal nonzeros a work-group, wherever rows begin and end.
//!
//! Every [`PieceRules::piece_nnz`] nonzeros there is a border. The row that lies across it stays whole where it has
//! at most [`PieceRules::whole_row`] nonzeros: the piece in which it begins goes on to its end. A longer row is cut
//! at the border. Empty rows at a border belong to the piece behind it.

use crate::{Error, Offset, Result};

/// Where a piece begins, as the kernel reads it (`cl/spmv/csr_flat_piece.h`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(transparent)]
pub struct PieceStart(u64);

impl PieceStart {
    const ROW_SHIFT: u32 = 32;
    const CUT: u64 = 1 << 31;

    fn new(row: usize, is_cut: bool, past: usize) -> Self {
        debug_assert!(row <= u32::MAX as usize && (past as u64) < Self::CUT);
        let cut = if is_cut { Self::CUT } else { 0 };
        PieceStart((row as u64) << Self::ROW_SHIFT | cut | past as u64)
    }

    /// The piece's first row.
    pub fn row(self) -> usize {
        (self.0 >> Self::ROW_SHIFT) as usize
    }

    /// Whether that row began in an earlier piece.
    pub fn is_cut(self) -> bool {
        self.0 & Self::CUT != 0
    }

    /// Nonzeros behind the border that still belong to the piece before.
    pub fn past(self) -> usize {
        (self.0 & (Self::CUT - 1)) as usize
    }
}

/// How nonzeros are cut into pieces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PieceRules {
    /// Nonzeros of a piece.
    pub piece_nnz: u32,
    /// Rows of at most this many nonzeros are never cut: at most `piece_nnz`, so that a row lies across one border
    /// at most.
    pub whole_row: u32,
}

impl PieceRules {
    /// Pieces of a matrix of `rows` rows and `nnz` nonzeros: one at least, so that empty rows have an owner, and none
    /// without rows.
    ///
    /// # Errors
    /// More pieces or rows than the kernel can count, which is 2^31 - 1.
    pub fn pieces(&self, rows: usize, nnz: usize) -> Result<usize> {
        let pieces = if rows == 0 { 0 } else { nnz.div_ceil(self.piece_nnz as usize).max(1) };
        let limit = u64::from(u32::MAX >> 1);
        for (what, value) in [("the number of pieces", pieces), ("the number of rows", rows)] {
            if value as u64 > limit {
                return Err(Error::TooLarge { what, value: value as u64, limit });
            }
        }
        Ok(pieces)
    }

    /// Where each piece begins, and behind them an entry that ends the last, from row offsets that a pattern's check
    /// has passed. What the device finds by `csr_flat_plan`, in plain words.
    ///
    /// # Errors
    /// As [`PieceRules::pieces`].
    pub fn starts<O: Offset>(&self, offsets: &[O]) -> Result<Vec<PieceStart>> {
        let rows = offsets.len().saturating_sub(1);
        let nnz = offsets.last().map_or(0, |last| last.to_usize());
        let pieces = self.pieces(rows, nnz)?;
        let inner = (1..pieces).map(|piece| {
            let border = piece * self.piece_nnz as usize;
            let row = offsets.partition_point(|offset| offset.to_usize() < border);
            let (begin, end) = (offsets[row - 1].to_usize(), offsets[row].to_usize());
            if end > border && end - begin > self.whole_row as usize {
                PieceStart::new(row - 1, true, 0)
            } else {
                PieceStart::new(row, false, end - border)
            }
        });
        let first = std::iter::once(PieceStart::new(0, false, 0)).filter(|_| pieces > 0);
        Ok(first.chain(inner).chain([PieceStart::new(rows, false, 0)]).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULES: PieceRules = PieceRules { piece_nnz: 8, whole_row: 4 };

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
    fn a_row_that_ends_at_a_border_is_not_cut_and_empty_rows_there_belong_behind() {
        assert_eq!(starts(&[8, 0, 0, 8]), [(0, false, 0), (1, false, 0), (4, false, 0)]);
    }

    #[test]
    fn a_long_row_goes_through_whole_pieces() {
        assert_eq!(
            starts(&[4, 20, 1]),
            [(0, false, 0), (1, true, 0), (1, true, 0), (2, false, 0), (3, false, 0)]
        );
    }

    #[test]
    fn empty_rows_alone_are_one_piece_and_no_rows_are_none() {
        assert_eq!(starts(&[0, 0, 0]), [(0, false, 0), (3, false, 0)]);
        assert_eq!(starts(&[]), [(0, false, 0)]);
    }

    #[test]
    fn more_rows_than_the_kernel_counts_are_refused_by_name() {
        let found = RULES.pieces(1 << 31, 5).map_err(|error| error.to_string());
        assert!(found.as_ref().is_err_and(|text| text.contains("the number of rows")), "{found:?}");
    }
}
