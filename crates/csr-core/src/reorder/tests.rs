//! Orders of small matrices, and that nothing is lost in them.

use proptest::prelude::*;

use super::{MatrixOrder, Reordered, Reordering};
use crate::generate::random::mix;
use crate::{Coo, Csr, CsrPattern, PatternView};

/// A grid of `side`^2 points, each with its neighbours, numbered at random.
fn shuffled_grid(side: usize) -> CsrPattern {
    let points = side * side;
    let mut number: Vec<u32> = (0..points as u32).collect();
    number.sort_by_key(|point| mix(u64::from(*point)));
    let mut entries = Vec::new();
    for row in 0..side {
        for column in 0..side {
            let point = row * side + column;
            entries.push((point, point));
            if column + 1 < side {
                entries.extend([(point, point + 1), (point + 1, point)]);
            }
            if row + 1 < side {
                entries.extend([(point, point + side), (point + side, point)]);
            }
        }
    }
    pattern(points, points, entries.iter().map(|(a, b)| (number[*a], number[*b])))
}

fn pattern(rows: usize, cols: usize, entries: impl Iterator<Item = (u32, u32)>) -> CsrPattern {
    let (rows_of, columns): (Vec<u32>, Vec<u32>) = entries.unzip();
    let values = vec![1.0f32; columns.len()];
    let coo = Coo::new(rows, cols, rows_of, columns, values).unwrap();
    Csr::<f32, u32>::from_coo(coo).unwrap().pattern().clone()
}

/// The largest distance of an entry from the diagonal.
fn bandwidth(pattern: PatternView<'_, u32>) -> usize {
    let of_row = |row: usize| {
        let columns = &pattern.columns()[pattern.row_range(row)];
        columns.iter().map(|column| (*column as usize).abs_diff(row)).max().unwrap_or(0)
    };
    (0..pattern.rows()).map(of_row).max().unwrap_or(0)
}

fn reordered(reordering: Reordering, pattern: &CsrPattern) -> Reordered<u32> {
    let order = reordering.order(pattern.view()).unwrap().unwrap();
    Reordered::new(pattern.view(), &order)
}

#[test]
fn rcm_brings_a_shuffled_grid_back_to_a_band_of_its_side() {
    let shuffled = shuffled_grid(30);
    assert!(bandwidth(shuffled.view()) > 700);
    let found = bandwidth(reordered(Reordering::Rcm, &shuffled).pattern.view());
    assert!((30..=60).contains(&found), "{found}");
}

#[test]
fn rows_that_share_columns_come_together() {
    // Eight groups of eight rows with eight columns each, dealt out one after the other, and a column that all have.
    let entries = (0..64u32).flat_map(|row| {
        let group = row % 8;
        (0..8).map(move |k| (row, group + 8 * k)).chain([(row, 64)])
    });
    let found = Reordering::Clusters.order(pattern(64, 65, entries).view()).unwrap().unwrap();
    for eight in found.rows.chunks(8) {
        assert!(eight.iter().all(|row| row % 8 == eight[0] % 8), "{:?}", found.rows);
    }
    let changes = found.columns().windows(2).filter(|pair| pair[0] % 8 != pair[1] % 8).count();
    assert!(changes <= 9, "{:?}", found.columns());
}

#[test]
fn rows_without_nonzeros_and_parts_that_nothing_joins_are_ordered_too() {
    let apart = pattern(7, 7, [(1, 1), (2, 5), (5, 2), (3, 3)].into_iter());
    for reordering in Reordering::CHANGING {
        let MatrixOrder { mut rows, columns } = reordering.order(apart.view()).unwrap().unwrap();
        let (two, five) = (index_of(&rows, 2), index_of(&rows, 5));
        assert_eq!(two.abs_diff(five), 1, "{reordering}: {rows:?}");
        assert_eq!(columns, None);
        rows.sort_unstable();
        assert_eq!(rows, [0, 1, 2, 3, 4, 5, 6], "{reordering}");
        let empty = pattern(0, 0, [].into_iter());
        assert_eq!(reordering.order(empty.view()).unwrap().unwrap().rows, []);
    }
}

fn index_of(rows: &[u32], row: u32) -> usize {
    rows.iter().position(|found| *found == row).unwrap()
}

#[test]
fn a_matrix_that_is_not_square_has_no_band() {
    let flat = pattern(2, 3, [(0, 2)].into_iter());
    let refused = Reordering::Rcm.order(flat.view()).unwrap_err().to_string();
    assert_eq!(refused, "reverse Cuthill-McKee is of square matrices, and this one is 2 x 3");
    assert_eq!(Reordering::None.order(flat.view()).unwrap(), None);
}

#[test]
fn names_are_read_as_they_are_written() {
    for reordering in [Reordering::None, Reordering::Rcm, Reordering::Clusters] {
        assert_eq!(reordering.name().parse(), Ok(reordering));
    }
    assert!("RCM".parse::<Reordering>().unwrap_err().contains("none, rcm, clusters"));
}

proptest! {
    #[test]
    fn every_entry_comes_from_its_row_and_column(
        rows in 1u32..30,
        cols in 1u32..30,
        is_square: bool,
        seed: u64,
        count in 0usize..120,
    ) {
        let cols = if is_square { rows } else { cols };
        let entry = |at: usize| {
            let random = mix(seed ^ at as u64);
            ((random % u64::from(rows)) as u32, (random >> 32) as u32 % cols)
        };
        let original = pattern(rows as usize, cols as usize, (0..count).map(entry));
        for reordering in Reordering::CHANGING {
            let Ok(Some(order)) = reordering.order(original.view()) else {
                prop_assert!(rows != cols && reordering == Reordering::Rcm);
                continue;
            };
            for (order, len) in [(&order.rows[..], rows), (order.columns(), cols)] {
                let mut sorted = order.to_vec();
                sorted.sort_unstable();
                prop_assert_eq!(sorted, (0..len).collect::<Vec<_>>());
            }
            let Reordered { pattern: found, sources } = Reordered::new(original.view(), &order);
            CsrPattern::new(cols as usize, found.offsets().to_vec(), found.columns().to_vec()).unwrap();
            prop_assert_eq!(sources.len(), original.nnz());
            for row in 0..rows as usize {
                let range = found.view().row_range(row);
                let is_sorted = found.columns()[range.clone()].is_sorted();
                prop_assert!(is_sorted);
                for at in range {
                    let source = sources[at] as usize;
                    let from = order.rows[row] as usize;
                    prop_assert!(original.view().row_range(from).contains(&source));
                    let column = order.columns()[found.columns()[at] as usize];
                    prop_assert_eq!(original.columns()[source], column);
                }
            }
        }
    }
}
