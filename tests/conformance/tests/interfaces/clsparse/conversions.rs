//! Conversions: with offsets, empty rows, entries in any order, and leading dimensions.

use clSPARSE::{
    Status, cldenseInitMatrix, cldenseMatrix, clsparseCooMatrix, clsparseCsrMatrix,
    clsparseDcoo2csr, clsparseDcsr2dense, clsparseScoo2csr, clsparseScsr2coo, clsparseScsr2dense,
    clsparseSdense2csr,
};
use conformance::queue;
use sparrow::{Coo, Csr, DeviceArray, Queue};

use super::problem::{Control, padded, raw};

/// Elements before each array that belong to nobody, as `padded` puts them.
const BEFORE: u32 = 3;
const POISON: u32 = 0xdead_beef;

/// What a padded array holds; its canaries are looked at.
fn unpadded<T: bytemuck::Pod + PartialEq + std::fmt::Debug>(
    queue: &Queue,
    array: &DeviceArray<T>,
    canary: T,
) -> Vec<T> {
    let all = array.read_blocking(queue).unwrap();
    let (before, rest) = all.split_at(BEFORE as usize);
    let (data, after) = rest.split_at(rest.len() - 2);
    assert!(before.iter().chain(after).all(|element| *element == canary), "{all:?}");
    data.to_vec()
}

/// Rows 0, 2 and 5 of six are empty, and one place comes twice.
fn entries() -> Coo<f32> {
    let rows = vec![4, 1, 3, 1, 4, 1];
    let columns = vec![0, 2, 1, 0, 3, 2];
    Coo::new(6, 4, rows, columns, vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0]).unwrap()
}

struct Arrays {
    offsets: DeviceArray<u32>,
    rows: DeviceArray<u32>,
    columns: DeviceArray<u32>,
    values: DeviceArray<f32>,
}

impl Arrays {
    fn poisoned(queue: &Queue, rows: usize, nnz: usize) -> Self {
        Arrays {
            offsets: padded(queue, &vec![POISON; rows + 1], POISON).unwrap(),
            rows: padded(queue, &vec![POISON; nnz], POISON).unwrap(),
            columns: padded(queue, &vec![POISON; nnz], POISON).unwrap(),
            values: padded(queue, &vec![-1.0; nnz], -1.0).unwrap(),
        }
    }

    fn of_entries(queue: &Queue, entries: &Coo<f32>) -> Self {
        Arrays {
            offsets: padded(queue, &[], POISON).unwrap(),
            rows: padded(queue, entries.row_indices(), POISON).unwrap(),
            columns: padded(queue, entries.column_indices(), POISON).unwrap(),
            values: padded(queue, entries.values(), -1.0).unwrap(),
        }
    }

    fn csr(&self) -> clsparseCsrMatrix {
        clsparseCsrMatrix {
            num_rows: 0,
            num_cols: 0,
            num_nonzeros: 0,
            values: raw(&self.values),
            col_indices: raw(&self.columns),
            row_pointer: raw(&self.offsets),
            off_values: BEFORE,
            off_col_indices: BEFORE,
            off_row_pointer: BEFORE,
            meta: std::ptr::null_mut(),
        }
    }

    fn coo(&self, (rows, cols, nnz): (u32, u32, u32)) -> clsparseCooMatrix {
        clsparseCooMatrix {
            num_rows: rows,
            num_cols: cols,
            num_nonzeros: nnz,
            values: raw(&self.values),
            col_indices: raw(&self.columns),
            row_indices: raw(&self.rows),
            off_values: BEFORE,
            off_col_indices: BEFORE,
            off_row_indices: BEFORE,
        }
    }
}

fn dense_matrix(
    array: &DeviceArray<f32>,
    (rows, cols, lead_dim): (u32, u32, u32),
    major: i32,
) -> cldenseMatrix {
    cldenseMatrix {
        num_rows: rows,
        num_cols: cols,
        lead_dim,
        major,
        values: raw(array),
        off_values: BEFORE,
    }
}

#[test]
fn entries_in_any_order_and_empty_rows_become_compressed_rows_and_entries_again() {
    let queue = queue();
    let control = Control::new(&queue);
    let entries = entries();
    let (from, to) = (Arrays::of_entries(&queue, &entries), Arrays::poisoned(&queue, 6, 6));
    let (coo, mut csr) = (from.coo((6, 4, 6)), to.csr());
    // SAFETY: the structures live.
    assert_eq!(unsafe { clsparseScoo2csr(&coo, &mut csr, control.0) }, Status::Success);
    assert_eq!((csr.num_rows, csr.num_cols, csr.num_nonzeros), (6, 4, 6));
    let mut expected: Csr<f32> = Csr::from_coo_keeping_duplicates(entries).unwrap();
    expected.sort_rows();
    assert_eq!(unpadded(&queue, &to.offsets, POISON), expected.pattern().offsets());
    assert_eq!(unpadded(&queue, &to.columns, POISON), expected.pattern().columns());
    assert_eq!(unpadded(&queue, &to.values, -1.0), expected.values());

    let back = Arrays::poisoned(&queue, 6, 6);
    let mut coo = back.coo((0, 0, 0));
    // SAFETY: the structures live.
    assert_eq!(unsafe { clsparseScsr2coo(&csr, &mut coo, control.0) }, Status::Success);
    assert_eq!((coo.num_rows, coo.num_cols, coo.num_nonzeros), (6, 4, 6));
    assert_eq!(unpadded(&queue, &back.rows, POISON), expected.to_coo().row_indices());
    assert_eq!(unpadded(&queue, &back.columns, POISON), expected.pattern().columns());
    assert_eq!(unpadded(&queue, &back.values, -1.0), expected.values());
}

#[test]
fn compressed_rows_may_take_the_place_of_their_entries() {
    let queue = queue();
    let control = Control::new(&queue);
    let from = Arrays::of_entries(&queue, &entries());
    let to = Arrays::poisoned(&queue, 6, 0);
    let coo = from.coo((6, 4, 6));
    let mut csr =
        clsparseCsrMatrix { values: coo.values, col_indices: coo.col_indices, ..to.csr() };
    // SAFETY: the structures live.
    assert_eq!(unsafe { clsparseScoo2csr(&coo, &mut csr, control.0) }, Status::Success);
    assert_eq!(unpadded(&queue, &from.columns, POISON), [0, 2, 2, 1, 0, 3]);
    assert_eq!(unpadded(&queue, &from.values, -1.0), [4.0, 2.0, 6.0, 3.0, 1.0, 5.0]);
}

#[test]
fn dense_matrices_keep_their_leading_dimension_and_layout() {
    let queue = queue();
    let control = Control::new(&queue);
    let host: Csr<f32> = Csr::from_coo(entries()).unwrap();
    let from = Arrays {
        offsets: padded(&queue, host.pattern().offsets(), POISON).unwrap(),
        rows: padded(&queue, &[], POISON).unwrap(),
        columns: padded(&queue, host.pattern().columns(), POISON).unwrap(),
        values: padded(&queue, host.values(), -1.0).unwrap(),
    };
    let csr = clsparseCsrMatrix { num_rows: 6, num_cols: 4, num_nonzeros: 5, ..from.csr() };
    // Row- and column-major, with gaps; and a leading dimension that no row fits into, which clSPARSE ignored.
    for (major, lead_dim, step, length) in
        [(1, 5, (5, 1), 29), (2, 8, (1, 8), 30), (1, 0, (4, 1), 24)]
    {
        let array = padded(&queue, &vec![-1.0f32; length], -1.0).unwrap();
        let mut dense = dense_matrix(&array, (6, 4, lead_dim), major);
        // SAFETY: the structures live.
        assert_eq!(unsafe { clsparseScsr2dense(&csr, &mut dense, control.0) }, Status::Success);
        let mut expected = vec![-1.0; length];
        for row in 0..6 {
            (0..4).for_each(|col| expected[row * step.0 + col * step.1] = 0.0);
            let (columns, values) = host.view().row(row);
            for (&column, &value) in columns.iter().zip(values) {
                expected[row * step.0 + column as usize * step.1] = value;
            }
        }
        assert_eq!(unpadded(&queue, &array, -1.0), expected);

        let to = Arrays::poisoned(&queue, 6, 5);
        let mut back = to.csr();
        // SAFETY: the structures live.
        assert_eq!(unsafe { clsparseSdense2csr(&dense, &mut back, control.0) }, Status::Success);
        assert_eq!((back.num_rows, back.num_cols, back.num_nonzeros), (6, 4, 5));
        assert_eq!(unpadded(&queue, &to.offsets, POISON), host.pattern().offsets());
        assert_eq!(unpadded(&queue, &to.columns, POISON), host.pattern().columns());
        assert_eq!(unpadded(&queue, &to.values, -1.0), host.values());

        // Four entries are too few: told, and nothing is written.
        let small = Arrays {
            columns: DeviceArray::upload_blocking(&queue, &[POISON; 4]).unwrap(),
            ..Arrays::poisoned(&queue, 6, 5)
        };
        let mut csr = clsparseCsrMatrix { off_col_indices: 0, ..small.csr() };
        // SAFETY: the structures live.
        let status = unsafe { clsparseSdense2csr(&dense, &mut csr, control.0) };
        assert_eq!((status, csr.num_nonzeros), (Status::InvalidSize, 0));
        assert_eq!(unpadded(&queue, &small.offsets, POISON), [POISON; 7]);
    }
}

#[test]
fn conversions_that_cannot_be_are_refused() {
    let queue = queue();
    let control = Control::new(&queue);
    let (from, to) = (Arrays::of_entries(&queue, &entries()), Arrays::poisoned(&queue, 6, 6));
    let mut csr = to.csr();
    // An entry lies outside.
    let coo = from.coo((4, 4, 6));
    // SAFETY: the structures live.
    assert_eq!(unsafe { clsparseScoo2csr(&coo, &mut csr, control.0) }, Status::InvalidSize);
    assert_eq!((csr.num_rows, csr.num_nonzeros), (0, 0));
    assert_eq!(unpadded(&queue, &to.offsets, POISON), [POISON; 7]);
    // Values in double precision need more room.
    let coo = from.coo((6, 4, 6));
    // SAFETY: as before.
    assert_eq!(unsafe { clsparseDcoo2csr(&coo, &mut csr, control.0) }, Status::InvalidSize);
    let mut dense = dense_matrix(&from.values, (5, 5, 5), 1);
    // SAFETY: as before.
    assert_eq!(unsafe { clsparseDcsr2dense(&csr, &mut dense, control.0) }, Status::InvalidSize);
    // SAFETY: as before.
    unsafe { cldenseInitMatrix(&mut dense) };
    dense.major = 7;
    // SAFETY: as before.
    assert_eq!(unsafe { clsparseScsr2dense(&csr, &mut dense, control.0) }, Status::InvalidValue);
}
