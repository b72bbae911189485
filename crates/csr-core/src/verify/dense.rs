//! C = A B with dense B and C, held against the right result element by element.
//!
//! Some columns of a row are computed at a time: rows of B are read as they lie, sums do not wait for one another, and a
//! matrix of two rows is work for as many threads as C has tiles.

use super::{OracleRow, Summation, Sums, Verification};
use crate::check::check_length;
use crate::{
    Accumulator, AnyCsrView, AnyVector, CsrView, DenseShape, Error, Offset, Real, RealValue,
    Result, for_csr, parallel,
};

/// Columns whose sums are made at a time.
const TILE: usize = 8;

/// Into how many parts all tiles are cut for threads.
const PARTS: usize = 4096;

/// Holds every element of some matrices C = A B against the right one, as [`Oracle`](super::Oracle) does a vector's, with
/// sums made in the accumulation type of A's values; what each is found to be, `worst_row` being a row of C.
///
/// # Errors
/// B or a C is of another size than A and the shapes say, or has elements of another type than sums have.
pub fn verify_dense(
    a: AnyCsrView<'_>,
    (b, b_shape): (&AnyVector, &DenseShape),
    (cs, c_shape): (&[&AnyVector], &DenseShape),
) -> Result<Vec<Verification>> {
    check_length("a column of B", b_shape.rows(), a.pattern().cols())?;
    check_length("a column of C", c_shape.rows(), a.pattern().rows())?;
    check_length("a row of C", c_shape.cols(), b_shape.cols())?;
    for_csr!(a, a => typed(a, (b, b_shape), (cs, c_shape)))
}

/// The elements.
///
/// # Errors
/// They are of another type, or not as many as the shape says.
fn elements<'a, T: Accumulator>(
    what: &'static str,
    vector: &'a AnyVector,
    shape: &DenseShape,
) -> Result<&'a [T]> {
    let (found, expected) = (vector.value_type(), T::TYPE);
    if found != expected {
        return Err(Error::ElementType { what, found, expected });
    }
    let elements = vector.of();
    check_length(what, elements.len(), shape.span())?;
    Ok(elements)
}

fn typed<V: RealValue, O: Offset>(
    a: CsrView<'_, V, O>,
    (b, b_shape): (&AnyVector, &DenseShape),
    (cs, c_shape): (&[&AnyVector], &DenseShape),
) -> Result<Vec<Verification>> {
    let b = elements::<V::Accum>("B", b, b_shape)?;
    let cs = cs.iter().map(|c| elements::<V::Accum>("C", c, c_shape));
    let cs = cs.collect::<Result<Vec<_>>>()?;
    if cs.is_empty() {
        return Ok(Vec::new());
    }
    let columns = c_shape.cols();
    let tiles_of_row = columns.div_ceil(TILE);
    let tiles = a.rows() * tiles_of_row;
    let tiles_of_part = tiles.div_ceil(PARTS).max(1);
    let parts = tiles.div_ceil(tiles_of_part);
    // What each part finds of every C.
    let mut found = vec![Verification::default(); parts * cs.len()];
    parallel::for_each_chunk(&mut found, cs.len(), |first, found| {
        let begin = first / cs.len() * tiles_of_part;
        for tile in begin..tiles.min(begin + tiles_of_part) {
            let (row, begin) = (tile / tiles_of_row, tile % tiles_of_row * TILE);
            let right = right_tile(a, row, (b, b_shape), begin, TILE.min(columns - begin));
            for (column, right) in (begin..columns).zip(&right) {
                let at = c_shape.at(row, column);
                for (c, found) in cs.iter().zip(found.iter_mut()) {
                    let of_one = right.judged(row, c[at], Summation::Plain);
                    *found = found.and(of_one);
                }
            }
        }
    });
    let mut all = vec![Verification::default(); cs.len()];
    for part in found.chunks(cs.len()) {
        for (all, found) in all.iter_mut().zip(part) {
            *all = all.and(*found);
        }
    }
    Ok(all)
}

/// `count` elements of a row of C from column `begin` on, at most [`TILE`]; those beyond are not looked at.
fn right_tile<V: RealValue, O: Offset>(
    a: CsrView<'_, V, O>,
    row: usize,
    (b, b_shape): (&[V::Accum], &DenseShape),
    begin: usize,
    count: usize,
) -> [OracleRow; TILE] {
    let (columns, values) = a.row(row);
    let mut sums = [Sums::default(); TILE];
    for (&of_b, value) in columns.iter().zip(values) {
        let value = value.to_f64();
        for (lane, sums) in sums[..count].iter_mut().enumerate() {
            sums.add(value, b[b_shape.at(of_b as usize, begin + lane)].to_f64());
        }
    }
    sums.map(|sums| sums.finish(1.0, columns.len() as u32, 0.0, 0.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verify::Oracle;
    use crate::{Csr, Layout, random_vector};

    /// Rows of 0 to 4 nonzeros.
    fn a() -> Csr<f32> {
        let offsets: Vec<u32> =
            (0..=50u32).map(|row| (0..row).map(|before| before % 5).sum()).collect();
        let columns = (0..100u32).map(|at| at * 7 % 30).collect();
        let columns = sorted_rows(&offsets, columns);
        Csr::new(30, offsets, columns, random_vector(3, 100)).unwrap()
    }

    fn sorted_rows(offsets: &[u32], mut columns: Vec<u32>) -> Vec<u32> {
        for row in offsets.windows(2) {
            columns[row[0] as usize..row[1] as usize].sort_unstable();
        }
        columns
    }

    /// A's product with B, as f64 sums round it.
    fn product(a: &Csr<f32>, b: &[f32], b_shape: &DenseShape, c_shape: &DenseShape) -> Vec<f32> {
        let mut c = vec![f32::NAN; c_shape.span()];
        for row in 0..a.rows() {
            let (columns, values) = a.view().row(row);
            for column in 0..c_shape.cols() {
                let terms = columns.iter().zip(values).map(|(&of_b, value)| {
                    f64::from(*value) * f64::from(b[b_shape.at(of_b as usize, column)])
                });
                c[c_shape.at(row, column)] = terms.sum::<f64>() as f32;
            }
        }
        c
    }

    #[test]
    fn every_element_is_looked_at_in_each_layout_and_number_of_columns() {
        let a = a();
        for (columns, layout) in [
            (1, Layout::RowMajor),
            (TILE - 1, Layout::ColumnMajor),
            (TILE + 1, Layout::RowMajor),
            (3 * TILE, Layout::ColumnMajor),
        ] {
            let b_shape = DenseShape::packed(30, columns, layout).unwrap();
            let c_shape = DenseShape::packed(50, columns, layout).unwrap();
            let b: Vec<f32> = random_vector(1, b_shape.span());
            let c = product(&a, &b, &b_shape, &c_shape);
            let b = AnyVector::F32(b);
            for wrong in [(0, 0), (49, columns - 1), (23, columns / 2)] {
                let mut other = c.clone();
                other[c_shape.at(wrong.0, wrong.1)] += 1.0;
                let cs = [AnyVector::F32(c.clone()), AnyVector::F32(other)];
                let cs: Vec<&AnyVector> = cs.iter().collect();
                let found = verify_dense(a.view().into(), (&b, &b_shape), (&cs, &c_shape)).unwrap();
                assert!(found[0].passed(), "{columns} columns: {:?}", found[0]);
                assert_eq!((found[1].passed(), found[1].worst_row), (false, wrong.0));
            }
        }
    }

    #[test]
    fn every_tile_is_looked_at_where_there_are_more_than_parts() {
        let (rows, columns) = (PARTS + 77, TILE + 1);
        let a: Csr<f32> =
            Csr::new(1, (0..=rows as u32).collect(), vec![0; rows], vec![2.0; rows]).unwrap();
        let shape = |rows| DenseShape::packed(rows, columns, Layout::RowMajor).unwrap();
        let (b_shape, c_shape) = (shape(1), shape(rows));
        let b = AnyVector::F32(vec![1.0; columns]);
        for row in [0, 1, 2, rows / 2, rows - 2, rows - 1] {
            for column in [0, TILE] {
                let mut c = vec![2.0f32; c_shape.span()];
                c[c_shape.at(row, column)] = f32::NAN;
                let c = AnyVector::F32(c);
                let found =
                    verify_dense(a.view().into(), (&b, &b_shape), (&[&c], &c_shape)).unwrap();
                assert_eq!((found[0].passed(), found[0].worst_row), (false, row));
            }
        }
    }

    #[test]
    fn a_column_is_judged_as_a_vector_is() {
        let a = a();
        let (b_shape, c_shape) = (
            DenseShape::packed(30, 1, Layout::RowMajor).unwrap(),
            DenseShape::packed(50, 1, Layout::RowMajor).unwrap(),
        );
        let x: Vec<f32> = random_vector(1, 30);
        let mut y = product(&a, &x, &b_shape, &c_shape);
        (y[7], y[9]) = (y[7] * (1.0 + 3.0 * f32::EPSILON), f32::INFINITY);
        let oracle = Oracle::new(1.0, a.view(), &x, 0.0, &[0.0; 50]).unwrap();
        for y in [y[..].to_vec(), y.iter().map(|y| if y.is_finite() { *y } else { 0.0 }).collect()]
        {
            let of_vector = oracle.verify(&y, Summation::Plain).unwrap();
            let (x, y) = (AnyVector::F32(x.clone()), AnyVector::F32(y));
            let of_matrix =
                verify_dense(a.view().into(), (&x, &b_shape), (&[&y], &c_shape)).unwrap();
            assert_eq!(of_matrix, [of_vector]);
        }
    }

    #[test]
    fn what_is_not_finite_is_counted_element_by_element() {
        let a: Csr<f32> = Csr::new(1, vec![0, 1], vec![0], vec![3e38]).unwrap();
        let shape = DenseShape::packed(1, 2, Layout::RowMajor).unwrap();
        let b = AnyVector::F32(vec![10.0, 0.5]);
        let c = AnyVector::F32(vec![f32::INFINITY, 1.5e38]);
        let found = verify_dense(a.view().into(), (&b, &shape), (&[&c], &shape)).unwrap();
        assert_eq!((found[0].passed(), found[0].non_finite), (true, 1));
    }

    #[test]
    fn other_sizes_and_types_are_refused_and_nothing_to_judge_is_fine() {
        let a = a();
        let of = |rows, columns| DenseShape::packed(rows, columns, Layout::RowMajor).unwrap();
        let (b_shape, c_shape) = (of(30, 2), of(50, 2));
        let (b, c) = (AnyVector::F32(vec![0.0; 60]), AnyVector::F32(vec![0.0; 100]));
        let refusal = |b: (&AnyVector, &DenseShape), c: (&AnyVector, &DenseShape)| {
            verify_dense(a.view().into(), b, (&[c.0], c.1)).unwrap_err().to_string()
        };
        let narrow = refusal((&b, &of(20, 3)), (&c, &c_shape));
        assert_eq!(narrow, "a column of B has 20 elements where 30 are needed");
        let uneven = refusal((&b, &b_shape), (&c, &of(50, 3)));
        assert_eq!(uneven, "a row of C has 3 elements where 2 are needed");
        let doubles = refusal((&b, &b_shape), (&AnyVector::F64(vec![0.0; 100]), &c_shape));
        assert_eq!(doubles, "C has elements of type f64 where f32 is needed");
        // With nothing in it, too.
        let doubles = refusal((&b, &b_shape), (&AnyVector::F64(Vec::new()), &c_shape));
        assert_eq!(doubles, "C has elements of type f64 where f32 is needed");
        let empty: Csr<f32> = Csr::new(0, vec![0], Vec::new(), Vec::new()).unwrap();
        let (none, shape) = (AnyVector::F64(Vec::new()), of(0, 2));
        let of_none =
            verify_dense(empty.view().into(), (&none, &shape), (&[&none], &shape)).unwrap_err();
        assert_eq!(of_none.to_string(), "B has elements of type f64 where f32 is needed");
        let none = verify_dense(a.view().into(), (&b, &b_shape), (&[], &c_shape)).unwrap();
        assert!(none.is_empty());
    }
}
