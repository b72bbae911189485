//! A pattern with its rows and columns in another order.

use super::MatrixOrder;
use crate::parallel::for_each_chunk;
use crate::{CsrPattern, Offset, PatternView};

/// A pattern with its rows and columns in another order, with the source of each of its entries so that new values need no new sort.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reordered<O> {
    /// Offsets and columns; columns ascend within a row.
    pub pattern: CsrPattern<O>,
    /// For each entry its index in the original: nnz long.
    pub sources: Vec<O>,
}

/// Rows that are filled in one call.
const GRAIN: usize = 1024;

impl<O: Offset> Reordered<O> {
    /// Row `order.rows[i]` of `pattern` becomes row i, and column `order.columns()[i]` column i.
    pub fn new(pattern: PatternView<'_, O>, order: &MatrixOrder) -> Self {
        let row_order = &order.rows;
        let mut offsets = Vec::with_capacity(row_order.len() + 1);
        offsets.push(O::zeroed());
        let mut total = 0;
        for &row in row_order {
            total += pattern.row_len(row as usize);
            // nnz fits the offset type in the original, so it does here.
            offsets.push(O::try_from_usize(total).unwrap_or(O::zeroed()));
        }
        let column_index = inverse(order.columns());
        let mut entries = vec![(0u32, O::zeroed()); total];
        let mut rest = &mut entries[..];
        let mut rows: Vec<(u32, &mut [(u32, O)])> = Vec::with_capacity(row_order.len());
        for &row in row_order {
            let (of_row, after) = rest.split_at_mut(pattern.row_len(row as usize));
            rows.push((row, of_row));
            rest = after;
        }
        for_each_chunk(&mut rows, GRAIN, |_, rows| {
            for (row, entries) in rows {
                let range = pattern.row_range(*row as usize);
                for (entry, at) in entries.iter_mut().zip(range) {
                    let column = column_index[pattern.columns()[at] as usize];
                    *entry = (column, O::try_from_usize(at).unwrap_or(O::zeroed()));
                }
                // Entries that repeat a column stay in their order.
                entries.sort_by_key(|(column, _)| *column);
            }
        });
        drop(rows);
        let (columns, sources) = entries.into_iter().unzip();
        Reordered { pattern: CsrPattern::new_trusted(pattern.cols(), offsets, columns), sources }
    }
}

/// The index of each number in an order of all of them.
fn inverse(order: &[u32]) -> Vec<u32> {
    let mut index_of = vec![0; order.len()];
    for (index, &number) in order.iter().enumerate() {
        index_of[number as usize] = index as u32;
    }
    index_of
}
