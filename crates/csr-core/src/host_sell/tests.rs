//! Every kind of slice against the oracle, and what must not reach a row.

use super::*;
use crate::verify::{Oracle, Summation};
use crate::{Csr, f16, random_vector};

/// Rows with these columns, and random values.
fn matrix<V: Value>(cols: usize, rows: &[Vec<u32>]) -> Csr<V, u64> {
    let mut offsets = vec![0];
    let mut columns = Vec::new();
    for row in rows {
        columns.extend(row);
        offsets.push(columns.len() as u64);
    }
    let values = random_vector::<f64>(3, columns.len()).into_iter().map(V::from_f64).collect();
    Csr::new(cols, offsets, columns, values).unwrap()
}

/// Lengths all the same, nearly the same, and far apart; near columns, far ones, neighbours among them; unsorted; and
/// nodes of one to five rows that have the same columns.
fn rows_of_every_kind() -> Vec<Vec<u32>> {
    let row = |row: u32| {
        let length = match row / 80 {
            0 => 6,
            1 => 8 - u32::from(row.is_multiple_of(5)),
            2 => (row * row) % 53,
            _ => 0,
        };
        let stride = if row % 128 < 64 { 5 } else { 40_009 };
        let column = |at| if at == 0 { row } else { (at * stride + row * 13) % 200_000 };
        (0..length).map(column).rev().collect()
    };
    let of_node = |row: u32| {
        let node = row / 48 * 100 + row % 48 / (1 + row / 48);
        let stride = if row % 96 < 48 { 3 } else { 2_003 };
        (0..16 + node % 29).map(|at| (node * 11 + at * stride) % 200_000).collect()
    };
    (0..299).map(row).chain((0..240).map(of_node)).collect()
}

/// Holds alpha A x + beta y against the oracle.
fn check<V: crate::RealValue>(matrix: &Csr<V, u64>, alpha: f64, beta: f64) {
    let [alpha, beta] = [alpha, beta].map(V::Accum::from_f64);
    let x: Vec<V::Accum> = random_vector(5, matrix.cols());
    let before = if beta == V::Accum::from_f64(0.0) {
        vec![V::Accum::from_f64(f64::NAN); matrix.rows()]
    } else {
        random_vector(6, matrix.rows())
    };
    let mut y = before.clone();
    let sell = HostSell::new(matrix.view()).unwrap();
    sell.product(alpha, &x, beta, &mut y).unwrap();
    let oracle = Oracle::new(alpha, matrix.view(), &x, beta, &before).unwrap();
    let found = oracle.verify(&y, Summation::Plain).unwrap();
    assert!(found.passed(), "{found:?}");
}

#[test]
fn rows_of_every_kind_are_right_in_every_type() {
    let rows = rows_of_every_kind();
    for (alpha, beta) in [(1.0, 0.0), (-1.5, 0.5)] {
        check(&matrix::<f64>(200_000, &rows), alpha, beta);
        check(&matrix::<f32>(200_000, &rows), alpha, beta);
        check(&matrix::<f16>(200_000, &rows), alpha, beta);
    }
}

#[test]
fn long_rows_and_none_are_right() {
    let mut rows = vec![vec![1, 2]; 40];
    rows[19] = (0..70_000).collect();
    check(&matrix::<f32>(70_000, &rows), 1.0, 0.0);
    check(&matrix::<f64>(3, &vec![vec![]; 20]), 1.0, 2.0);
    check(&matrix::<f64>(0, &vec![vec![]; 20]), 1.0, 0.0);
    check(&matrix::<f64>(5, &[]), 1.0, 0.0);
}

#[test]
fn what_is_not_finite_in_x_reaches_its_own_rows_only() {
    // Row 7 of each strip is one shorter, so its lane is padded, from the lowest column.
    let rows: Vec<Vec<u32>> =
        (0..64).map(|row| (0..8 - u32::from(row % 16 == 7)).map(|at| at * 9).collect()).collect();
    let mut rows = rows;
    for row in &mut rows {
        if row.len() == 7 {
            row.remove(0);
            row.push(70);
        }
    }
    let matrix = matrix::<f64>(100, &rows);
    let mut x = vec![1.0; 100];
    x[0] = f64::INFINITY;
    let mut y = vec![0.0; 64];
    HostSell::new(matrix.view()).unwrap().product(1.0, &x, 0.0, &mut y).unwrap();
    for (row, sum) in y.iter().enumerate() {
        assert_eq!(sum.is_finite(), row % 16 == 7, "row {row}: {sum}");
    }
}

#[test]
fn what_is_read_after_a_short_row_counts_nothing() {
    // Rows of 1 to 8 nonzeros in a matrix so wide that columns are indices into a window; row 20 alone reads infinity.
    let row =
        |row: u32| (0..1 + (row * 5) % 8).map(move |at| row + at * 3 + u32::from(row == 20) * 500);
    let rows: Vec<Vec<u32>> = (0..64).map(|number| row(number).collect()).collect();
    let matrix = matrix::<f64>(100_000, &rows);
    let mut x = vec![1.0; 100_000];
    x[500..600].fill(f64::INFINITY);
    let mut y = vec![0.0; 64];
    HostSell::new(matrix.view()).unwrap().product(1.0, &x, 0.0, &mut y).unwrap();
    for (row, sum) in y.iter().enumerate() {
        assert_eq!(sum.is_finite(), row != 20, "row {row}: {sum}");
    }
    check(&matrix, 2.0, 1.0);
}

#[test]
fn columns_at_the_end_of_x_are_right_whether_a_window_fits_or_not() {
    // 65,536 elements are a window: one that begins at the slice's lowest column, one that must begin before it, and an x
    // that is too short for any; in strips, in rows and in short rows.
    for cols in [200_000, 66_000, 65_536, 65_535, 700] {
        for length in [5, 6, 40] {
            let row = |row: u32| -> Vec<u32> {
                let length = if length == 5 { 1 + row % 8 } else { length };
                (0..length).map(|at| cols - 1 - row - at * 11 * (1 + row % 3) % 600).collect()
            };
            let rows: Vec<Vec<u32>> = (0..64).map(row).collect();
            check(&matrix::<f32>(cols as usize, &rows), 1.0, 0.0);
            check(&matrix::<f64>(cols as usize, &rows), -1.0, 0.5);
        }
    }
}

#[test]
fn y_has_the_same_bits_with_any_number_of_threads() {
    let matrix = matrix::<f32>(200_000, &rows_of_every_kind());
    let x: Vec<f32> = random_vector(5, matrix.cols());
    let sell = HostSell::new(matrix.view()).unwrap();
    let product = || {
        let mut y = vec![0.0; matrix.rows()];
        sell.product(1.0, &x, 0.0, &mut y).unwrap();
        y.into_iter().map(f32::to_bits).collect::<Vec<_>>()
    };
    let alone = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap().install(product);
    let many = rayon::ThreadPoolBuilder::new().num_threads(5).build().unwrap().install(product);
    assert_eq!(alone, many);
}

#[test]
fn y_has_the_same_bits_by_gathers_and_by_loads() {
    fn check<V: crate::RealValue>() {
        let matrix = matrix::<V>(200_000, &rows_of_every_kind());
        let x: Vec<V::Accum> = random_vector(5, matrix.cols());
        let sell = HostSell::new(matrix.view()).unwrap();
        let [one, zero] = [1.0, 0.0].map(V::Accum::from_f64);
        let [mut by_gathers, mut by_loads] = [0, 1].map(|_| vec![zero; matrix.rows()]);
        sell.product_by(chunk::with_gathers, one, &x, zero, &mut by_gathers).unwrap();
        sell.product_by(chunk::with_loads, one, &x, zero, &mut by_loads).unwrap();
        assert!(by_gathers.iter().any(|sum| *sum != zero));
        assert_eq!(by_gathers, by_loads);
    }
    check::<f64>();
    check::<f32>();
    check::<f16>();
}

#[test]
fn vectors_of_another_length_are_refused() {
    let matrix = matrix::<f64>(3, &[vec![0]]);
    let sell = HostSell::new(matrix.view()).unwrap();
    let text = sell.product(1.0, &[1.0; 2], 0.0, &mut [0.0]).unwrap_err().to_string();
    assert_eq!(text, "x has 2 elements where 3 are needed");
    let text = sell.product(1.0, &[1.0; 3], 0.0, &mut [0.0; 2]).unwrap_err().to_string();
    assert_eq!(text, "y has 2 elements where 1 is needed");
}
