//! In which order an algorithm gathers x, and which gathers are one load of a sub-group.

use crate::{Offset, PatternView};

/// An item that gathers nothing while its neighbours do: padding, or the end of a shorter row.
pub const NO_COLUMN: u32 = u32::MAX;

/// Nonzeros of a tile of [`GatherOrder::InOrder`] and [`GatherOrder::Listed`], and rows of one of
/// [`GatherOrder::RowPerItem`]: about what a work-group takes.
const TILE_NNZ: usize = 1024;
const TILE_ROWS: usize = 256;

/// The order in which an algorithm gathers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GatherOrder<'a> {
    /// As nonzeros are stored, neighbours by neighbouring items.
    InOrder,
    /// Neighbouring items iterate over neighbouring rows in step.
    RowPerItem,
    /// As these columns come, neighbours by neighbouring items: for formats that store them in an order of their
    /// own. [`NO_COLUMN`] where an item has nothing.
    Listed(&'a [u32]),
}

impl<'a> GatherOrder<'a> {
    /// Tiles, which work-groups take.
    pub fn tiles<O: Offset>(&self, pattern: PatternView<'a, O>) -> usize {
        match self {
            GatherOrder::RowPerItem => pattern.rows().div_ceil(TILE_ROWS),
            _ => self.columns(pattern).len().div_ceil(TILE_NNZ),
        }
    }

    /// The columns in the order in which they lie, or `pattern`'s own.
    pub fn columns<O: Offset>(&self, pattern: PatternView<'a, O>) -> &'a [u32] {
        match self {
            GatherOrder::Listed(columns) => columns,
            _ => pattern.columns(),
        }
    }

    /// Hands every load of a tile to `load`: the columns that up to `lanes` items gather at once. Returns how many
    /// nonzeros that were.
    pub fn loads<O: Offset>(
        &self,
        pattern: PatternView<'a, O>,
        lanes: usize,
        tile: usize,
        mut load: impl FnMut(&[u32]),
    ) -> usize {
        if *self != GatherOrder::RowPerItem {
            let columns = self.columns(pattern);
            let first = (tile * TILE_NNZ).min(columns.len());
            let columns = &columns[first..(first + TILE_NNZ).min(columns.len())];
            columns.chunks(lanes).for_each(load);
            return columns.iter().filter(|&&column| column != NO_COLUMN).count();
        }
        let first = (tile * TILE_ROWS).min(pattern.rows());
        let last = (first + TILE_ROWS).min(pattern.rows());
        let mut at_once = Vec::with_capacity(lanes);
        let mut nnz = 0;
        for begin in (first..last).step_by(lanes) {
            let rows = begin..(begin + lanes).min(last);
            let longest = rows.clone().map(|row| pattern.row_len(row)).max().unwrap_or(0);
            for index in 0..longest {
                at_once.clear();
                for row in rows.clone() {
                    if index < pattern.row_len(row) {
                        at_once.push(pattern.columns()[pattern.row_range(row).start + index]);
                    }
                }
                nnz += at_once.len();
                load(&at_once);
            }
        }
        nnz
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn loads(order: GatherOrder<'_>, lanes: usize) -> Vec<Vec<u32>> {
        let (offsets, columns) = ([0u32, 2, 2, 5], [0, 1, 2, 3, 4]);
        let pattern = PatternView::new(5, &offsets, &columns).unwrap();
        let mut loads = Vec::new();
        let nnz = order.loads(pattern, lanes, 0, |load| loads.push(load.to_vec()));
        assert_eq!((nnz, order.tiles(pattern)), (5, 1));
        loads
    }

    #[test]
    fn items_side_by_side_take_neighbours_or_rows_in_step() {
        assert_eq!(loads(GatherOrder::InOrder, 4), [vec![0, 1, 2, 3], vec![4]]);
        assert_eq!(loads(GatherOrder::RowPerItem, 4), [vec![0, 2], vec![1, 3], vec![4]]);
        let listed = [0, 2, 1, 3, NO_COLUMN, 4];
        assert_eq!(loads(GatherOrder::Listed(&listed), 2), [[0, 2], [1, 3], [NO_COLUMN, 4]]);
    }
}
