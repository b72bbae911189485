//! Conversions on the device give what the host's give, bit for bit.

#![expect(clippy::unwrap_used, reason = "a test panics when its claim is broken")]

use csr_core::{Coo, Csr, CsrView, DenseShape, Layout, Offset, RealValue, Value, bf16, f16};
use proptest::prelude::*;
use sparrow::{CooToCsr, DenseToCsr, DeviceArray, Duplicates, Matrix, Queue, TransposedMatrix};
use sparrow_bench::selftest::Guarded;

use conformance::{device, is_full, is_interpreter, queue};

/// Bytes, so that NaN is compared too.
fn bytes<T: bytemuck::Pod>(data: &[T]) -> &[u8] {
    bytemuck::cast_slice(data)
}

/// `len` elements of nobody's, between canaries, at an odd place.
fn poisoned<T: bytemuck::Pod>(queue: &Queue, len: usize) -> Guarded<T> {
    let poison: T = bytemuck::pod_read_unaligned(&vec![0xff; size_of::<T>()]);
    Guarded::upload_blocking(queue, &vec![poison; len], 3).unwrap()
}

fn assert_holds<T: bytemuck::Pod>(queue: &Queue, found: &Guarded<T>, expected: &[T], what: &str) {
    assert_eq!(found.damaged_canary(queue).unwrap(), None, "{what}");
    assert!(bytes(&found.read_blocking(queue).unwrap()) == bytes(expected), "{what}");
}

/// Three arrays between canaries.
struct GuardedCsr<V, O> {
    offsets: Guarded<O>,
    columns: Guarded<u32>,
    values: Guarded<V>,
}

impl<V: RealValue, O: Offset> GuardedCsr<V, O> {
    fn poisoned(queue: &Queue, rows: usize, nnz: usize) -> Self {
        GuardedCsr {
            offsets: poisoned(queue, rows + 1),
            columns: poisoned(queue, nnz),
            values: poisoned(queue, nnz),
        }
    }

    fn assert_is(&self, queue: &Queue, expected: CsrView<'_, V, O>) {
        assert_holds(queue, &self.offsets, expected.pattern().offsets(), "offsets");
        assert_holds(queue, &self.columns, expected.pattern().columns(), "columns");
        assert_holds(queue, &self.values, expected.values(), "values");
    }
}

fn assert_same<V: RealValue, O: Offset>(
    queue: &Queue,
    found: &Matrix<V, O>,
    expected: CsrView<'_, V, O>,
) {
    assert_eq!((found.rows(), found.cols()), (expected.rows(), expected.cols()));
    assert_eq!(found.offsets().read_blocking(queue).unwrap(), expected.pattern().offsets());
    assert_eq!(found.columns().read_blocking(queue).unwrap(), expected.pattern().columns());
    let values = found.values().read_blocking(queue).unwrap();
    assert!(bytes(&values) == bytes(expected.values()), "values");
    found.check_blocking(queue).unwrap();
}

/// Both ways of treating duplicates, written into the caller's arrays and into the matrix's own.
fn check_coo<V: RealValue, O: Offset>(queue: &Queue, coo: &Coo<V>) {
    let upload = |data: &[u32]| Guarded::upload_blocking(queue, data, 1).unwrap();
    let (row_indices, column_indices) = (upload(coo.row_indices()), upload(coo.column_indices()));
    let values = Guarded::upload_blocking(queue, coo.values(), 5).unwrap();
    for duplicates in [Duplicates::Sum, Duplicates::Keep] {
        let mut expected: Csr<V, O> = Csr::from_coo_keeping_duplicates(coo.clone()).unwrap();
        expected.sort_rows();
        if duplicates == Duplicates::Sum {
            expected.sum_duplicates();
        }
        let (shape, rows) = ((coo.rows(), coo.cols()), coo.rows());
        let order = CooToCsr::new_blocking(
            queue,
            shape,
            row_indices.array(),
            column_indices.array(),
            duplicates,
        )
        .unwrap();
        assert_eq!(order.nnz(), expected.nnz());
        let mut found = GuardedCsr::<V, O>::poisoned(queue, rows, order.nnz());
        let (offsets, columns) = (found.offsets.array_mut(), found.columns.array_mut());
        order.write_pattern(queue, offsets, columns).unwrap();
        order.write_values(queue, values.array(), found.values.array_mut()).unwrap();
        found.assert_is(queue, expected.view());
        let matrix: Matrix<V, O> = order.matrix_blocking(queue, values.array()).unwrap();
        assert_same(queue, &matrix, expected.view());
    }
    for input in [&row_indices, &column_indices] {
        assert_eq!(input.damaged_anywhere(queue).unwrap(), None);
    }
    assert_eq!(values.damaged_anywhere(queue).unwrap(), None);
}

/// Rows, transposed copy and dense matrices of a matrix; and back.
fn check_csr<V: RealValue, O: Offset>(queue: &Queue, host: &Csr<V, O>) {
    let matrix = Matrix::upload_blocking(queue, host.view()).unwrap();
    let mut row_indices = poisoned(queue, host.nnz());
    matrix.write_row_indices(queue, row_indices.array_mut()).unwrap();
    assert_holds(queue, &row_indices, host.to_coo().row_indices(), "row indices");

    let expected = host.view().transpose();
    let transposed = TransposedMatrix::on_device_blocking(queue, &matrix).unwrap();
    assert_same(queue, transposed.matrix(), expected.view());
    let sources = host.view().pattern().transpose().sources;
    assert_eq!(transposed.sources().read_blocking(queue).unwrap(), sources);

    for layout in [Layout::RowMajor, Layout::ColumnMajor] {
        for gap in [0, 3] {
            let length = if layout == Layout::RowMajor { host.cols() } else { host.rows() };
            let shape = DenseShape::new(host.rows(), host.cols(), layout, length + gap).unwrap();
            check_dense(queue, host.view(), &matrix, shape);
        }
    }
}

fn check_dense<V: RealValue, O: Offset>(
    queue: &Queue,
    host: CsrView<'_, V, O>,
    matrix: &Matrix<V, O>,
    shape: DenseShape,
) {
    let mut dense = poisoned::<V>(queue, shape.span() + 2);
    let mut expected = dense.read_blocking(queue).unwrap();
    for row in 0..shape.rows() {
        (0..shape.cols()).for_each(|col| expected[shape.at(row, col)] = V::from_f64(0.0));
        let (columns, values) = host.row(row);
        let mut sums = std::collections::BTreeMap::new();
        for (&column, &value) in columns.iter().zip(values) {
            let sum = sums.entry(column).or_insert((<V::Accum>::from_f64(0.0), 0, value));
            *sum = (sum.0 + value.to_accum(), sum.1 + 1, value);
        }
        for (column, (sum, count, last)) in sums {
            let value = if count > 1 { V::from_accum(sum) } else { last };
            expected[shape.at(row, column as usize)] = value;
        }
    }
    matrix.write_dense(queue, shape, dense.array_mut()).unwrap();
    assert_holds(queue, &dense, &expected, "dense");

    for tolerance in [0.0, 0.5] {
        let (mut offsets, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
        for row in 0..shape.rows() {
            for column in 0..shape.cols() {
                let value = expected[shape.at(row, column)];
                let size = value.to_f64().abs();
                if size.is_nan() || size > tolerance {
                    columns.push(column as u32);
                    values.push(value);
                }
            }
            offsets.push(columns.len());
        }
        let offsets = offsets.into_iter().map(|at| O::try_from_usize(at).unwrap()).collect();
        let expected: Csr<V, O> = Csr::new(shape.cols(), offsets, columns, values).unwrap();
        let tolerance = <V::Accum>::from_f64(tolerance);
        let counted =
            DenseToCsr::<V, O>::new_blocking(queue, shape, dense.array(), tolerance).unwrap();
        assert_eq!(counted.nnz(), expected.nnz());
        let mut found = GuardedCsr::<V, O>::poisoned(queue, shape.rows(), counted.nnz());
        let GuardedCsr { offsets, columns, values } = &mut found;
        let (offsets, columns) = (offsets.array_mut(), columns.array_mut());
        counted.write(queue, dense.array(), offsets, columns, values.array_mut()).unwrap();
        found.assert_is(queue, expected.view());
        let matrix = counted.matrix_blocking(queue, dense.array()).unwrap();
        assert_same(queue, &matrix, expected.view());
    }
}

pub(super) fn coo<V: RealValue>(rows: usize, cols: usize, entries: &[(u32, u32, f64)]) -> Coo<V> {
    Coo::new(
        rows,
        cols,
        entries.iter().map(|entry| entry.0).collect(),
        entries.iter().map(|entry| entry.1).collect(),
        entries.iter().map(|entry| V::from_f64(entry.2)).collect(),
    )
    .unwrap()
}

/// Rows, columns, and entries: row, column, value.
type Entries = (usize, usize, Vec<(u32, u32, f64)>);

/// Shapes that have tripped conversions up: clSPARSE's as soon as a row was empty.
fn corners() -> Vec<Entries> {
    let scattered = |count: u32, rows: u32, cols: u32| {
        let hash = |at: u32| at.wrapping_mul(2_654_435_761) >> 7;
        (0..count)
            .map(move |at| (hash(at) % rows, hash(at * 3 + 1) % cols, f64::from(at) * 0.37 - 9.0))
    };
    // An interpreter takes seconds to sort a tile.
    let (count, rows) = if is_interpreter(&device()) { (200, 70) } else { (3000, 700) };
    vec![
        (0, 0, vec![]),
        (0, 5, vec![]),
        (5, 0, vec![]),
        (4, 3, vec![]),
        (1, 1, vec![(0, 0, 7.0)]),
        (1, 1, vec![(0, 0, 0.1), (0, 0, 0.2), (0, 0, 0.3), (0, 0, -0.6)]),
        // Nearly all rows are empty, the first and the last too.
        (50, 9, vec![(20, 8, 1.0), (7, 0, 2.0), (20, 1, f64::NAN), (48, 4, -0.0)]),
        // All in one row, in the wrong order.
        (3, 400, (0..400).rev().map(|column| (1, column, f64::from(column) + 0.5)).collect()),
        // One column; its keys need a row's bits alone.
        (300, 1, scattered(500, 300, 1).collect()),
        // More keys than one tile, with duplicates, and some rows empty.
        (
            rows as usize,
            60,
            scattered(count, rows / 2, 60).map(|(row, col, v)| (2 * row, col, v)).collect(),
        ),
    ]
}

/// Whether f64 and 64-bit offsets are tried on everything.
fn has_more_types(queue: &Queue) -> bool {
    queue.context().device().traits().has_f64 && (is_full() || !is_interpreter(&device()))
}

#[test]
fn entries_in_any_order_become_what_the_host_makes_of_them() {
    let queue = queue();
    for (rows, cols, entries) in corners() {
        check_coo::<f32, u32>(&queue, &coo(rows, cols, &entries));
        if has_more_types(&queue) {
            check_coo::<f64, u64>(&queue, &coo(rows, cols, &entries));
        }
    }
}

#[test]
fn compressed_rows_become_entries_columns_and_dense_matrices_and_come_back() {
    let queue = queue();
    for (rows, cols, entries) in corners() {
        check_csr(&queue, &Csr::<f32, u32>::from_coo(coo(rows, cols, &entries)).unwrap());
        if has_more_types(&queue) {
            let sorted = Csr::<f64, u64>::from_coo(coo(rows, cols, &entries)).unwrap();
            check_csr(&queue, &sorted);
            // Rows in disorder and with duplicates.
            let kept = Csr::<f64, u32>::from_coo_keeping_duplicates(coo(rows, cols, &entries));
            check_csr(&queue, &kept.unwrap());
        }
    }
}

#[test]
fn sixteen_bit_values_move_bit_for_bit_and_are_summed_in_f32() {
    let queue = queue();
    let third = 1.0 / 3.0;
    let entries = [(2, 1, third), (0, 3, -0.0), (2, 1, third), (1, 1, f64::NAN), (2, 1, third)];
    check_coo::<f16, u32>(&queue, &coo(3, 4, &entries));
    check_coo::<bf16, u64>(&queue, &coo(3, 4, &entries));
    let rounded = [(0, 0, 1.0), (0, 0, 0.00390625), (1, 0, 1.0), (1, 0, 0.01171875), (2, 0, 3e38)];
    check_coo::<bf16, u32>(&queue, &coo(3, 1, &rounded));
    // Ties, overflow, subnormal sums, and one that is just not subnormal.
    let pairs = [
        (1.0, 0.000_488_281_25),
        (1.0, 0.001_464_843_75),
        (65504.0, 15.0),
        (65504.0, 16.0),
        (-65504.0, -65504.0),
        (6e-8, 6e-8),
        (3e-5, 3.1e-5),
        (0.0, -0.0),
        (f64::INFINITY, 1.0),
    ];
    let sums = pairs.into_iter().zip(0..).flat_map(|((a, b), row)| [(row, 0, a), (row, 0, b)]);
    check_coo::<f16, u32>(&queue, &coo(9, 1, &sums.collect::<Vec<_>>()));
    // One place twice, in a row that is in disorder.
    let disorder = [(0, 2, 1.5), (0, 0, 3.0), (0, 2, third)];
    let kept = |entries: &[(u32, u32, f64)]| Csr::from_coo_keeping_duplicates(coo(1, 3, entries));
    check_csr::<f16, u32>(&queue, &kept(&disorder).unwrap());
    check_csr::<f16, u32>(&queue, &Csr::from_coo(coo(3, 4, &entries)).unwrap());
    check_csr::<bf16, u32>(&queue, &Csr::from_coo(coo(3, 4, &entries)).unwrap());
}

#[test]
fn keys_use_all_64_bits_of_the_largest_matrix() {
    let queue = queue();
    let most = u32::MAX as usize;
    // Too many rows for offsets, but they can be counted.
    let upload = |data: &[u32]| DeviceArray::upload_blocking(&queue, data).unwrap();
    let rows = upload(&[u32::MAX - 1, 0, u32::MAX - 1]);
    let columns = upload(&[u32::MAX - 1, u32::MAX - 1, u32::MAX - 1]);
    let order =
        CooToCsr::new_blocking(&queue, (most, most), &rows, &columns, Duplicates::Sum).unwrap();
    assert_eq!((order.nnz(), order.was_ordered()), (2, false));
    let mut sums = poisoned(&queue, 2);
    let values = DeviceArray::upload_blocking(&queue, &[1.0f32, 2.0, 4.0]).unwrap();
    order.write_values(&queue, &values, sums.array_mut()).unwrap();
    assert_holds(&queue, &sums, &[2.0, 5.0], "sums");
}

#[test]
fn entries_in_order_are_known_as_such_and_new_values_need_no_new_order() {
    let queue = queue();
    let upload = |data: &[u32]| DeviceArray::upload_blocking(&queue, data).unwrap();
    let columns = upload(&[1, 1, 2, 0]);
    let order = |rows: &[u32]| {
        let rows = upload(rows);
        CooToCsr::new_blocking(&queue, (4, 3), &rows, &columns, Duplicates::Sum).unwrap()
    };
    assert!(order(&[0, 0, 0, 3]).was_ordered());
    assert!(!order(&[0, 1, 0, 3]).was_ordered());
    let order = order(&[0, 0, 0, 3]);
    for values in [[1.0f32, 2.0, 3.0, 4.0], [10.0, 20.0, 30.0, 40.0]] {
        let mut sums = poisoned(&queue, 3);
        let on_device = DeviceArray::upload_blocking(&queue, &values).unwrap();
        order.write_values(&queue, &on_device, sums.array_mut()).unwrap();
        assert_holds(&queue, &sums, &[values[0] + values[1], values[2], values[3]], "sums");
    }
}

#[test]
fn a_dense_matrix_that_changes_after_the_count_still_gives_a_pattern() {
    let queue = queue();
    let shape = DenseShape::packed(2, 9, Layout::RowMajor).unwrap();
    let mut dense = DeviceArray::upload_blocking(&queue, &[1.0f32; 18]).unwrap();
    let counted = DenseToCsr::<f32, u32>::new_blocking(&queue, shape, &dense, 0.0).unwrap();
    dense.write_blocking(&queue, &[0.0; 18]).unwrap();
    counted.matrix_blocking(&queue, &dense).unwrap().check_blocking(&queue).unwrap();
}

/// Entries of small matrices, dense enough to repeat.
fn entries() -> impl Strategy<Value = Entries> {
    (1_u32..60, 1_u32..60).prop_flat_map(|(rows, cols)| {
        let entry = (0..rows, 0..cols, -4.0..4.0);
        prop::collection::vec(entry, 0..200)
            .prop_map(move |entries| (rows as usize, cols as usize, entries))
    })
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: if is_interpreter(&device()) { 1 } else { 40 },
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn random_entries_go_all_the_way_round((rows, cols, entries) in entries()) {
        let queue = QUEUE.with(Clone::clone);
        check_coo::<f32, u32>(&queue, &coo(rows, cols, &entries));
        check_csr::<f32, u32>(&queue, &Csr::from_coo(coo(rows, cols, &entries)).unwrap());
    }
}

thread_local! {
    /// One for all cases: programs are built once.
    static QUEUE: Queue = queue();
}
