//! What the layout holds, read as the kernel reads it.

use super::*;
use crate::Csr;

/// A pattern in slices.
struct Filled<'a> {
    layout: SellLayout<'a, u32>,
    words: Vec<u16>,
    nonzero_order: Vec<u16>,
    values: Vec<f64>,
}

/// y = A x, read as the kernel reads it.
fn product(filled: &Filled<'_>, matrix: &Csr<f64>, rows_of_slice: usize, x: &[f64]) -> Vec<f64> {
    let rows = matrix.rows();
    let Filled { layout, words, nonzero_order, values: in_place } = filled;
    let pair = |at: usize| u32::from(words[at]) | u32::from(words[at + 1]) << 16;
    let mut y = vec![f64::NAN; rows];
    for chunk in layout.chunks().windows(2) {
        let (mut word, mut iteration) = (chunk[0].word as usize, chunk[0].iteration as usize);
        let mut at = chunk[0].value as usize;
        for slice in chunk[0].slice..chunk[1].slice {
            let first_row = slice as usize * rows_of_slice;
            let own_rows = rows_of_slice.min(rows - first_row);
            let header = word;
            let (is_wide, is_strip) = (words[header] & WIDE != 0, words[header] & ROWS == 0);
            let base = pair(header + 4);
            word += HEADER_WORDS;
            let column_at = |word: &mut usize| {
                let at = *word;
                *word += if is_wide { 2 } else { 1 };
                if is_wide { pair(at) } else { base + u32::from(words[at]) }
            };
            let row_of = |row: usize| {
                let range = matrix.pattern().offsets()[row] as usize
                    ..matrix.pattern().offsets()[row + 1] as usize;
                (&matrix.pattern().columns()[range.clone()], &matrix.values()[range])
            };
            let mut add = |at: usize, lane: usize, nonzero: usize, column: u32| {
                let (columns, values) = row_of(first_row + lane);
                assert_eq!(columns[nonzero], column, "row {} nonzero {nonzero}", first_row + lane);
                assert_eq!(
                    values[nonzero],
                    in_place[at],
                    "row {} nonzero {nonzero}",
                    first_row + lane
                );
                let sum = &mut y[first_row + lane];
                *sum = if sum.is_nan() { 0.0 } else { *sum } + values[nonzero] * x[column as usize];
            };
            if is_strip {
                let [runs, full, tail] = [1, 2, 3].map(|at| usize::from(words[header + at]));
                for done in 0..runs + full + tail {
                    let nonzero = usize::from(nonzero_order[iteration + done]);
                    if done < runs {
                        (0..rows_of_slice).for_each(|lane| {
                            add(at + lane, lane, nonzero, pair(word) + lane as u32)
                        });
                        word += 2;
                        at += rows_of_slice;
                        continue;
                    }
                    let mut mask = u32::MAX;
                    if done >= runs + full {
                        mask = pair(word);
                        word += 2;
                    }
                    for lane in 0..rows_of_slice {
                        let column = column_at(&mut word);
                        if mask >> lane & 1 != 0 {
                            add(at + lane, lane, nonzero, column);
                        } else {
                            assert_eq!(in_place[at + lane], 0.0, "padding");
                        }
                    }
                    at += rows_of_slice;
                }
                iteration += runs + full + tail;
            } else {
                let (lengths, shared) = (word, words[header + 1]);
                word += 2 * own_rows;
                let mut lane = 0;
                while lane < own_rows {
                    let rows = 1 + (u32::from(shared) >> (lane + 1)).trailing_ones() as usize;
                    assert!(rows <= NODE_ROWS);
                    let length = pair(lengths + 2 * lane) as usize;
                    let columns: Vec<_> = (0..length).map(|_| column_at(&mut word)).collect();
                    // Interleaved: as many of each row as a slice has rows, then what is left of each.
                    for first in (0..length).step_by(rows_of_slice) {
                        for lane in lane..lane + rows {
                            let its = columns.iter().enumerate().skip(first).take(rows_of_slice);
                            for (nonzero, &column) in its {
                                add(at, lane, nonzero, column);
                                at += 1;
                            }
                        }
                    }
                    lane += rows;
                }
                if word & 1 == 1 {
                    assert_eq!(words[word], 0);
                    word += 1;
                }
            }
            for sum in &mut y[first_row..first_row + own_rows] {
                *sum = if sum.is_nan() { 0.0 } else { *sum };
            }
        }
        assert_eq!((word, iteration), (chunk[1].word as usize, chunk[1].iteration as usize));
    }
    y
}

fn check(matrix: &Csr<f64>, slice_rows: u32, chunks: u32) -> SellLayout<'_, u32> {
    let rules = SellRules { slice_rows, chunks };
    let layout = SellLayout::new(matrix.pattern().view(), rules, 8).unwrap();
    // Whatever was there is written over.
    let (mut words, mut nonzero_order) =
        (vec![0xabcd; layout.words()], vec![0xabcd; layout.iterations()]);
    layout.fill(&mut words, &mut nonzero_order).unwrap();
    let mut values = vec![f64::NAN; layout.elements()];
    layout.fill_values(matrix.values(), &nonzero_order, &mut values).unwrap();
    let filled = Filled { layout, words, nonzero_order, values };
    let x: Vec<f64> = (0..matrix.cols()).map(|column| 1.0 + (column % 7) as f64).collect();
    let mut expected = vec![0.0; matrix.rows()];
    for (row, sum) in expected.iter_mut().enumerate() {
        for at in
            matrix.pattern().offsets()[row] as usize..matrix.pattern().offsets()[row + 1] as usize
        {
            *sum += matrix.values()[at] * x[matrix.pattern().columns()[at] as usize];
        }
    }
    // All numbers are small integers, so their order does not matter.
    assert_eq!(product(&filled, matrix, slice_rows as usize, &x), expected);
    filled.layout
}

/// Rows with these columns; values are small integers.
fn matrix(cols: usize, rows: &[Vec<u32>]) -> Csr<f64> {
    let mut offsets = vec![0];
    let mut columns = Vec::new();
    for row in rows {
        columns.extend(row);
        offsets.push(columns.len() as u32);
    }
    let values = (0..columns.len()).map(|at| 1.0 + (at % 5) as f64).collect();
    Csr::new(cols, offsets, columns, values).unwrap()
}

#[test]
fn neighbouring_columns_are_stored_once() {
    let rows: Vec<_> = (0..64).map(|row| vec![row, row + 3, row + 70]).collect();
    let matrix = matrix(200, &rows);
    let layout = check(&matrix, 8, 3);
    assert_eq!(layout.words(), 8 * (HEADER_WORDS + 3 * 2));
    assert_eq!(layout.elements(), 64 * 3);
}

#[test]
fn every_kind_of_slice_holds_every_nonzero() {
    for slice_rows in [4, 8, 16] {
        // Lengths all the same, nearly the same, and far apart; near columns, far ones, runs among them; unsorted.
        let mut rows = Vec::new();
        for row in 0..150u32 {
            let length = match row / 40 {
                0 => 6,
                1 => 8 - u32::from(row % 5 == 0),
                2 => (row * row) % 23,
                _ => 0,
            };
            let stride = if row % 64 < 32 { 5 } else { 40_009 };
            let columns = (0..length).map(|at| match at {
                0 => row,
                at => (at * stride + row * 13) % 200_000,
            });
            rows.push(columns.rev().collect());
        }
        for chunks in [1, 7, 1000] {
            check(&matrix(200_000, &rows), slice_rows, chunks);
        }
    }
}

/// Rows in groups of `of_node` that have the same columns, whose lengths differ.
fn nodes(rows: u32, of_node: u32, cols: u32) -> Vec<Vec<u32>> {
    let row = |row: u32| {
        let node = row / of_node;
        (0..20 + node % 24).map(|at| (node * 7 + at * 5) % cols).collect()
    };
    (0..rows).map(row).collect()
}

#[test]
fn rows_that_have_the_same_columns_share_them() {
    let rows = nodes(160, 4, 3000);
    let nnz: usize = rows.iter().map(Vec::len).sum();
    let matrix = matrix(3000, &rows);
    let layout = check(&matrix, 16, 3);
    assert_eq!(layout.elements(), nnz, "no padding");
    assert_eq!(layout.words(), 10 * (HEADER_WORDS + 2 * 16) + nnz / 4);
}

#[test]
fn slices_of_short_rows_are_padded_up_to_twice_and_others_by_a_quarter() {
    // Every second row has two, the others as many nonzeros as `longest`; in columns that no two rows share.
    let elements = |longest: u32| {
        let row = |row: u32| -> Vec<u32> {
            let length = if row.is_multiple_of(2) { 2 } else { longest };
            (0..length).map(|at| row + at * 31).collect()
        };
        let matrix = matrix(400, &(0..32).map(row).collect::<Vec<_>>());
        check(&matrix, 16, 3).elements()
    };
    assert_eq!(elements(8), 32 * 8, "padded");
    assert_eq!(elements(9), 16 * (2 + 9), "one after another");
}

#[test]
fn nodes_of_any_size_hold_every_nonzero() {
    for slice_rows in [4, 8, 16] {
        for of_node in [2, 3, 4, 5, 6, 9, 40] {
            check(&matrix(3000, &nodes(123, of_node, 3000)), slice_rows, 5);
            let far: Vec<Vec<u32>> = nodes(123, of_node, 3000)
                .into_iter()
                .map(|row| row.into_iter().map(|column| column * 60).collect())
                .collect();
            check(&matrix(180_000, &far), slice_rows, 5);
        }
    }
}

#[test]
fn a_row_that_is_far_longer_than_its_neighbours_pads_nothing() {
    let mut rows = vec![vec![1, 2]; 16];
    rows[3] = (0..70_000).collect();
    let matrix = matrix(70_000, &rows);
    assert_eq!(check(&matrix, 8, 4).elements(), 15 * 2 + 70_000);
}

#[test]
fn a_matrix_without_rows_or_nonzeros_has_chunks_that_end() {
    assert_eq!(check(&matrix(3, &[]), 8, 4).chunks().len(), 1);
    let empty_rows = matrix(3, &vec![vec![]; 20]);
    let layout = check(&empty_rows, 8, 4);
    assert_eq!((layout.elements(), layout.chunks().len()), (0, 4));
}

#[test]
fn chunks_have_about_equal_bytes() {
    let rows: Vec<_> =
        (0..8000).map(|row| (0..1 + row % 9).map(|at| at * 7 + row).collect()).collect();
    let matrix = matrix(9000, &rows);
    let layout = check(&matrix, 8, 16);
    let bytes: Vec<u64> = layout
        .chunks()
        .windows(2)
        .map(|chunk| (chunk[1].value - chunk[0].value) * 8 + (chunk[1].word - chunk[0].word) * 2)
        .collect();
    let mean = bytes.iter().sum::<u64>() / 16;
    assert!(bytes.iter().all(|own| own.abs_diff(mean) < 2000), "{bytes:?}");
}

#[test]
fn arrays_of_other_lengths_are_refused() {
    let matrix = matrix(3, &[vec![0]]);
    let pattern = matrix.pattern().view();
    let layout = SellLayout::new(pattern, SellRules { slice_rows: 8, chunks: 1 }, 8).unwrap();
    let (mut words, mut nonzero_order) =
        (vec![0; layout.words() + 1], vec![0; layout.iterations()]);
    let text = layout.fill(&mut words, &mut nonzero_order).unwrap_err().to_string();
    assert!(text.contains("words"), "{text}");
}

#[test]
fn slices_of_no_rows_are_refused() {
    let matrix = matrix(3, &[vec![0]]);
    for rules in [
        SellRules { slice_rows: 0, chunks: 1 },
        SellRules { slice_rows: 5, chunks: 1 },
        SellRules { slice_rows: 17, chunks: 1 },
        SellRules { slice_rows: 8, chunks: 0 },
    ] {
        let text = SellLayout::new(matrix.pattern().view(), rules, 8).unwrap_err().to_string();
        assert!(text.contains(if rules.chunks == 0 { "chunks" } else { "slice_rows" }), "{text}");
    }
}
