//! C = A B of sparse matrices: the right pattern exactly, every value within what it may be off, the same bits always.

#![expect(clippy::unwrap_used, reason = "a test panics when its claim is broken")]

use conformance::{bits, device, is_interpreter, queue};
use csr_core::verify::SparseOracle;
use csr_core::{Accumulator, Csr, Offset, Real};
use sparrow::{Matrix, Queue, SpgemmOptions, SpgemmPlan};

/// Small limits, so that small matrices have rows of every class, which groups compute on every device.
pub(crate) fn options() -> SpgemmOptions {
    let parameters = [
        ("group_size", 64),
        ("tiny", 4),
        ("brief", 6),
        ("short", 8),
        ("few", 16),
        ("scattered", 32),
        ("near", 1),
        ("middle", 2),
        ("wide", 4),
        ("small_outputs", 12),
        ("middle_outputs", 40),
        ("window_outputs", 48),
        ("items_per_unit", 0),
    ];
    let parameters = parameters.map(|(name, value)| (name.to_owned(), value)).to_vec();
    SpgemmOptions { parameters, ..SpgemmOptions::default() }
}

/// The same, and every row of more than 4 entries of A, or of much work, is long; with 5 entries or more a row whose
/// values are summed in windows is crowded, however few looks that spares.
pub(crate) fn long_options() -> SpgemmOptions {
    let long = [("least_long", 64), ("unit_shares", 1 << 20), ("crowded", 5), ("crowded_looks", 1)];
    with(options(), &long)
}

pub(crate) fn with(mut options: SpgemmOptions, parameters: &[(&str, u32)]) -> SpgemmOptions {
    options.parameters.extend(parameters.iter().map(|&(name, value)| (name.to_owned(), value)));
    options
}

/// Rows of these lengths whose columns are `step` apart, beginning anywhere; what is longer than the row repeats.
pub(crate) fn matrix<V: Accumulator + Real, O: Offset>(
    cols: usize,
    lengths: &[usize],
    step: usize,
    seed: u64,
) -> Csr<V, O> {
    let (mut offsets, mut columns) = (vec![0], Vec::new());
    for (row, &length) in lengths.iter().enumerate() {
        columns.extend((0..length).map(|k| ((row * 13 + k * step) % cols) as u32));
        offsets.push(columns.len());
    }
    let offsets = offsets.into_iter().map(|at| O::try_from_usize(at).unwrap()).collect();
    let values = csr_core::random_vector(seed, columns.len());
    Csr::new(cols, offsets, columns, values).unwrap()
}

/// The product with these options, on the host.
fn multiply<V: Accumulator + Real, O: Offset>(
    queue: &Queue,
    a: &Csr<V, O>,
    b: &Csr<V, O>,
    options: &SpgemmOptions,
) -> Csr<V, O> {
    let a = Matrix::upload_blocking(queue, a.view()).unwrap();
    let b = Matrix::upload_blocking(queue, b.view()).unwrap();
    let mut plan = SpgemmPlan::new_blocking(queue, &a, &b, options).unwrap();
    let c = plan.multiply_blocking(queue, &a, &b).unwrap();
    assert_eq!((c.rows(), c.cols(), c.nnz()), (a.rows(), b.cols(), plan.nnz()));
    download(queue, &c)
}

pub(crate) fn download<V: Accumulator + Real, O: Offset>(
    queue: &Queue,
    c: &Matrix<V, O>,
) -> Csr<V, O> {
    let offsets = c.offsets().read_blocking(queue).unwrap();
    let columns = c.columns().read_blocking(queue).unwrap();
    let values = c.values().read_blocking(queue).unwrap();
    Csr::new(c.cols(), offsets, columns, values).unwrap()
}

/// Multiplies and holds C against the oracle.
fn check<V: Accumulator + Real, O: Offset>(
    queue: &Queue,
    a: &Csr<V, O>,
    b: &Csr<V, O>,
    options: &SpgemmOptions,
) -> Csr<V, O> {
    let c = multiply(queue, a, b, options);
    let oracle = SparseOracle::new(a.view(), b.view()).unwrap();
    let found = oracle.verify(c.view()).unwrap();
    assert!(found.passed(), "{} x {} x {}: {found:?}", a.rows(), a.cols(), b.cols());
    c
}

/// `default`, or on an interpreter, to which each item of each group is a loop, `few`.
fn size(default: usize, few: usize) -> usize {
    if is_interpreter(&device()) { few } else { default }
}

/// Rows of B of 0 to 40 entries, for an A whose rows reach every class.
pub(crate) fn lengths(rows: usize, pattern: &[usize]) -> Vec<usize> {
    pattern.iter().copied().cycle().take(rows).collect()
}

/// On an interpreter every second shape, from the `first` on.
fn rows_of_every_class<V: Accumulator + Real, O: Offset>(queue: &Queue, first: usize) {
    let options = options();
    let a = matrix::<V, O>(60, &lengths(size(90, 8), &[1, 2, 0, 3, 5, 8, 13, 40]), 7, 1);
    let shapes = [(300, 1), (300, 11), (size(5000, 700), 331), (40, 3)];
    for &(cols, step) in shapes.iter().skip(size(0, first)).step_by(size(1, 2)) {
        let b = matrix::<V, O>(cols, &lengths(60, &[1, 2, 0, 3, 2, 9, 1, 33]), step, 2);
        check(queue, &a, &b, &options);
    }
}

#[test]
fn rows_of_every_class_are_right() {
    let queue = queue();
    rows_of_every_class::<f32, u32>(&queue, 0);
    if device().traits().has_f64 {
        rows_of_every_class::<f64, u64>(&queue, 1);
    }
}

#[test]
fn the_default_parameters_are_right_too() {
    let queue = queue();
    let rows = size(700, 20);
    let a = matrix::<f32, u32>(rows, &lengths(rows, &[3, 17, 0, 64, 5]), 29, 1);
    check(&queue, &a, &a, &SpgemmOptions::default());
}

#[test]
fn rows_at_each_limit_are_right() {
    let queue = queue();
    // Row i of A names i rows of B, all of one entry, and one of two: products of 0 to 60.
    let near_limits =
        (0..60).filter(|at| size(1, 0) == 1 || [3, 4, 5, 6, 7, 8, 15, 31, 39].contains(at));
    let a = matrix::<f32, u32>(80, &near_limits.collect::<Vec<_>>(), 1, 1);
    for step in [1, 33] {
        let mut of_b = vec![1; 80];
        of_b[7] = 2;
        let b = matrix::<f32, u32>(size(9000, 600), &of_b, step, 2);
        check(&queue, &a, &b, &options());
    }
}

#[test]
fn rows_of_few_products_are_right_however_many_items_they_have() {
    let queue = queue();
    let rows = size(300, 24);
    // Rows of A that name more rows of B than there are items, most of them empty; and columns that repeat in C.
    let a = matrix::<f32, u32>(60, &lengths(rows, &[1, 40, 0, 3, 60, 7, 2]), 11, 1);
    for (number, (cols, step)) in [(500, 3), (9, 1)].into_iter().enumerate() {
        let b = matrix::<f32, u32>(cols, &lengths(60, &[0, 1, 0, 2, 0, 0, 3]), step, 2);
        let of_items = |tiny_items, brief_items, short_items| {
            let items = [
                ("tiny_items", tiny_items),
                ("brief_items", brief_items),
                ("short_items", short_items),
                ("items_per_unit", 0),
            ];
            with(SpgemmOptions::default(), &items)
        };
        let alone = check(&queue, &a, &b, &of_items(1, 1, 1));
        // On an interpreter the first two of one shape, the last of the other, once each.
        let of_items_each = [(2, 2, 4), (4, 8, 16), (16, 32, 64)];
        let taken = if size(1, 0) == 1 { 0..3 } else { [0..2, 2..3][number].clone() };
        for &(tiny_items, brief_items, short_items) in &of_items_each[taken] {
            let options = of_items(tiny_items, brief_items, short_items);
            let together = check(&queue, &a, &b, &options);
            assert_eq!(together.pattern(), alone.pattern());
            if size(1, 0) == 0 {
                continue;
            }
            assert_eq!(bits(multiply(&queue, &a, &b, &options).values()), bits(together.values()));
        }
    }
}

#[test]
fn dense_rows_of_a_and_of_b_are_right() {
    let queue = queue();
    let inner = size(1500, 300);
    let mut of_a = lengths(50, &[2, 0, 1]);
    of_a[20] = inner;
    let a = matrix::<f32, u32>(inner, &of_a, 7, 1);
    let mut of_b = lengths(inner, &[1, 0, 2, 0, 0]);
    of_b[0] = 700;
    let b = matrix::<f32, u32>(700, &of_b, 3, 2);
    let alone = check(&queue, &a, &b, &options());
    // More parts than are sorted at once where there is no memory.
    for &scratch_bytes in &[30, 64 << 20][..size(2, 1)] {
        let long = SpgemmOptions { scratch_bytes, ..long_options() };
        assert_eq!(bits(multiply(&queue, &a, &b, &long).values()), bits(alone.values()));
    }
}

#[test]
fn crowded_rows_whose_parts_are_sorted_or_not_have_the_same_bits() {
    let queue = queue();
    let inner = size(700, 24);
    let cols = size(1201, 201);
    // Rows of B of more entries than C's rows have windows, and of fewer; entries of A in no order, and twice.
    let all_lengths = [&[1, 90, 2, 0, 7][..], &[1, 0, 2, 3], &[60]];
    for (number, lengths_of_b) in all_lengths[..size(3, 2)].iter().enumerate() {
        let a = matrix::<f32, u32>(inner, &[inner, 3, inner + size(40, 4), 0, 6, 20], 11, 1);
        let b = matrix::<f32, u32>(cols, &lengths(inner, lengths_of_b), 59, 2);
        let alone = check(&queue, &a, &b, &options());
        let looks = [1, 1 << 20, 2];
        let taken = if size(1, 0) == 1 { 0..3 } else { number..number + 1 };
        for &looks in &looks[taken] {
            let options = with(long_options(), &[("crowded_looks", looks)]);
            let c = multiply(&queue, &a, &b, &options);
            assert_eq!(alone.pattern(), c.pattern());
            assert_eq!(bits(alone.values()), bits(c.values()), "{looks}");
        }
    }
}

#[test]
fn long_rows_of_every_shape_are_right_and_have_the_same_bits() {
    let queue = queue();
    let a = matrix::<f32, u32>(60, &lengths(size(90, 8), &[1, 2, 0, 3, 5, 8, 13, 40]), 7, 1);
    for &(cols, step) in &[(size(5000, 700), 331), (40, 3), (300, 1)][..size(3, 2)] {
        let b = matrix::<f32, u32>(cols, &lengths(60, &[1, 2, 0, 3, 2, 9, 1, 33]), step, 2);
        let long = check(&queue, &a, &b, &long_options());
        let alone = multiply(&queue, &a, &b, &options());
        assert_eq!(long.pattern(), alone.pattern());
        assert_eq!(bits(long.values()), bits(alone.values()));
    }
    if device().traits().has_f64 {
        let a = matrix::<f64, u64>(60, &lengths(size(30, 8), &[1, 7, 40]), 7, 1);
        let b = matrix::<f64, u64>(300, &lengths(60, &[1, 2, 0, 33]), 11, 2);
        check(&queue, &a, &b, &long_options());
    }
}

/// Columns on both sides of the borders of windows of 65,536, in the first and in the last; windows 2 and 3 are empty
/// but for what `more` puts there. Row 3 is empty.
fn borders(more: &[u32]) -> Csr<f32, u32> {
    const WINDOW: u32 = 1 << 16;
    let last = 4 * WINDOW + 99;
    let rows = [
        vec![0, WINDOW - 1, WINDOW, 2 * WINDOW - 1],
        vec![4 * WINDOW, last],
        vec![31, 32, 63, 64, WINDOW + 31, WINDOW + 32],
        vec![],
        more.to_vec(),
        (0..500).map(|k| k * 131).collect(),
    ];
    let mut offsets = vec![0];
    offsets.extend(rows.iter().scan(0, |sum, row: &Vec<u32>| {
        *sum += row.len() as u32;
        Some(*sum)
    }));
    let columns = rows.concat();
    let values = csr_core::random_vector(3, columns.len());
    Csr::new(last as usize + 1, offsets, columns, values).unwrap()
}

#[test]
fn long_rows_across_windows_and_empty_ones_are_right() {
    let queue = queue();
    let columns: [&[u32]; 6] = [
        &[0, 1, 2, 3, 4, 5],
        &[3, 3, 3, 3, 3, 3], // names an empty row alone
        &[5],
        &[1, 1, 0, 1, 0, 2, 2, 4, 5, 5, 3],
        &[],
        &[4, 3, 2, 1, 0],
    ];
    let lengths: Vec<_> = columns.iter().map(|row| row.len() as u32).collect();
    let offsets = (0..=lengths.len()).map(|row| lengths[..row].iter().sum()).collect();
    let columns = columns.concat();
    let values = csr_core::random_vector(4, columns.len());
    let a = Csr::new(6, offsets, columns, values).unwrap();
    for more in &[vec![2 << 16, (3 << 16) - 1], vec![], vec![3 << 16]][..size(3, 2)] {
        check(&queue, &a, &borders(more), &long_options());
    }
}

#[test]
fn batches_and_chunks_of_long_rows_change_no_bit() {
    let queue = queue();
    let a = matrix::<f32, u32>(60, &lengths(size(60, 8), &[1, 2, 0, 13, 40]), 7, 1);
    // Unsorted too, and with a column twice.
    for (cols, step) in [(700, 331), (11, 4)] {
        let b = matrix::<f32, u32>(cols, &lengths(60, &[1, 2, 0, 3, 2, 9, 1, 33]), step, 2);
        let first = check(&queue, &a, &b, &long_options());
        for &scratch_bytes in &[30, 60_000, 20_000][..size(3, 1)] {
            let c = multiply(&queue, &a, &b, &SpgemmOptions { scratch_bytes, ..long_options() });
            assert_eq!(first.pattern(), c.pattern());
            assert_eq!(bits(first.values()), bits(c.values()));
        }
    }
}

#[test]
fn what_is_empty_gives_an_empty_product() {
    let queue = queue();
    for (rows, inner, cols) in [(0, 3, 4), (3, 0, 4), (3, 4, 0), (5, 6, 7), (0, 0, 0)] {
        let a = Csr::<f32>::new(inner, vec![0; rows + 1], vec![], vec![]).unwrap();
        let b = Csr::<f32>::new(cols, vec![0; inner + 1], vec![], vec![]).unwrap();
        assert_eq!(check(&queue, &a, &b, &options()).nnz(), 0);
        assert_eq!(check(&queue, &a, &b, &set_options()).nnz(), 0);
    }
    // Entries of A that name empty rows of B.
    let a = matrix::<f32, u32>(6, &[3, 2], 2, 1);
    let b = matrix::<f32, u32>(5, &[0, 0, 0, 0, 0, 2], 2, 1);
    check(&queue, &a, &b, &options());
}

#[test]
fn columns_of_b_may_stand_in_any_order_and_repeat() {
    let queue = queue();
    let a = matrix::<f32, u32>(20, &lengths(size(30, 5), &[1, 2, 5, 20, 33]), 3, 1);
    // Unsorted without repeats, then rows longer than B is wide.
    let unsorted = matrix::<f32, u32>(101, &lengths(20, &[1, 7, 30]), 37, 2);
    check(&queue, &a, &unsorted, &options());
    let repeated = matrix::<f32, u32>(11, &lengths(20, &[3, 15, 29]), 4, 2);
    check(&queue, &a, &repeated, &options());
}

/// Every item of a few computes rows by itself, on every device.
fn set_options() -> SpgemmOptions {
    with(SpgemmOptions::default(), &[("items_per_unit", 2)])
}

#[test]
fn items_with_sets_of_columns_find_what_groups_find() {
    let queue = queue();
    let a = matrix::<f32, u32>(60, &lengths(size(90, 16), &[1, 2, 0, 3, 5, 8, 13, 40]), 7, 1);
    // One word of columns; words at both ends of a second level, and of a third; rows that do not ascend, and repeat.
    let shapes = [(40, 3), (64 * 64 + 1, 331), (size(64 * 64 * 64 + 1, 9000), 4099), (1, 1)];
    for (number, (cols, step)) in shapes.into_iter().enumerate() {
        let b = matrix::<f32, u32>(cols, &lengths(60, &[1, 2, 0, 3, 2, 9, 1, 33]), step, 2);
        let of_sets = check(&queue, &a, &b, &set_options());
        // On an interpreter one of the three that have the same pattern for each shape.
        let is_taken = |at: usize| size(1, 0) == 1 || number % 3 == at;
        if is_taken(0) {
            let again = multiply(&queue, &a, &b, &set_options());
            assert_eq!(bits(of_sets.values()), bits(again.values()));
        }
        if is_taken(1) {
            assert_eq!(of_sets.pattern(), multiply(&queue, &a, &b, &options()).pattern());
        }
        if !is_taken(2) {
            continue;
        }
        // One set alone, and memory for none: groups then.
        for scratch_bytes in [3 * cols as u64 / 8 + 256, 1] {
            let c = check(&queue, &a, &b, &SpgemmOptions { scratch_bytes, ..set_options() });
            assert_eq!(of_sets.pattern(), c.pattern());
        }
    }
    if device().traits().has_f64 {
        let a = matrix::<f64, u64>(60, &lengths(30, &[1, 7, 40]), 7, 1);
        let b = matrix::<f64, u64>(300, &lengths(60, &[1, 2, 0, 33]), 11, 2);
        check(&queue, &a, &b, &set_options());
    }
}

#[test]
fn chunks_of_rows_and_a_second_run_change_no_bit() {
    let queue = queue();
    let a = matrix::<f32, u32>(60, &lengths(size(90, 8), &[1, 2, 0, 3, 5, 8, 13, 40]), 7, 1);
    let b = matrix::<f32, u32>(size(5000, 700), &lengths(60, &[1, 2, 0, 3, 2, 9, 1, 33]), 331, 2);
    let first = check(&queue, &a, &b, &options());
    let second = multiply(&queue, &a, &b, &options());
    let chunked = SpgemmOptions { scratch_bytes: 30, ..options() };
    let chunked = multiply(&queue, &a, &b, &chunked);
    for other in [second, chunked] {
        assert_eq!(first.pattern(), other.pattern());
        assert_eq!(bits(first.values()), bits(other.values()));
    }
}

#[test]
fn entries_that_cancel_stay_and_what_is_no_number_goes_through() {
    let queue = queue();
    // Row 0: 1 x 2 + 1 x -2; row 1: inf and NaN beside numbers.
    let a = Csr::<f32>::new(3, vec![0, 2, 3], vec![0, 1, 2], vec![1.0, 1.0, 1.0]).unwrap();
    let columns = vec![0, 0, 0, 1, 2];
    let values = vec![2.0, -2.0, f32::INFINITY, f32::NAN, 0.0];
    let b = Csr::new(3, vec![0, 1, 2, 5], columns, values).unwrap();
    let c = check(&queue, &a, &b, &options());
    assert_eq!(c.pattern().offsets(), [0, 1, 4]);
    assert_eq!(c.values()[0], 0.0);
    // In rows of every class.
    let mut a = matrix::<f32, u32>(60, &lengths(size(24, 6), &[2, 3, 5, 8, 13, 40]), 7, 1);
    a.values_mut()[60] = f32::NAN;
    a.values_mut()[30] = f32::NEG_INFINITY;
    let b = matrix::<f32, u32>(300, &lengths(60, &[1, 2, 0, 3, 2, 9, 1, 33]), 11, 2);
    check(&queue, &a, &b, &options());
    check(&queue, &a, &b, &long_options());
    check(&queue, &a, &b, &set_options());
}

#[test]
fn new_values_of_the_same_patterns_need_no_new_count() {
    let queue = queue();
    let all = [(1, options()), (4, options()), (1, long_options()), (4, set_options())];
    for (step, options) in all {
        let mut a = matrix::<f32, u32>(20, &lengths(size(30, 4), &[1, 2, 5, 20]), 3, 1);
        let mut b = matrix::<f32, u32>(50, &lengths(20, &[3, 15, 29]), step, 2);
        let on_device = Matrix::upload_blocking(&queue, a.view()).unwrap();
        let b_on_device = Matrix::upload_blocking(&queue, b.view()).unwrap();
        let mut plan =
            SpgemmPlan::new_blocking(&queue, &on_device, &b_on_device, &options).unwrap();
        plan.multiply_blocking(&queue, &on_device, &b_on_device).unwrap();
        a.values_mut().iter_mut().for_each(|value| *value *= 3.0);
        b.values_mut().iter_mut().for_each(|value| *value -= 1.0);
        let mut new_a = on_device;
        new_a.write_values_blocking(&queue, a.values()).unwrap();
        let mut new_b = b_on_device;
        new_b.write_values_blocking(&queue, b.values()).unwrap();
        let c = download(&queue, &plan.multiply_blocking(&queue, &new_a, &new_b).unwrap());
        let oracle = SparseOracle::new(a.view(), b.view()).unwrap();
        assert!(oracle.verify(c.view()).unwrap().passed());
        let other = Matrix::upload_blocking(&queue, b.view()).unwrap();
        let refusal = plan.multiply_blocking(&queue, &new_a, &other).unwrap_err().to_string();
        assert!(refusal.contains("B does not share the pattern"), "{refusal}");
    }
}

#[test]
fn what_does_not_fit_is_refused_by_name() {
    let (queue, other) = (self::queue(), self::queue());
    let a = matrix::<f32, u32>(2, &[1, 2], 1, 1);
    let on_device = Matrix::upload_blocking(&queue, a.view()).unwrap();
    let elsewhere = Matrix::upload_blocking(&other, a.view()).unwrap();
    let refusal = |b: &Matrix<f32>, options: &SpgemmOptions| {
        SpgemmPlan::new_blocking(&queue, &on_device, b, options).unwrap_err().to_string()
    };
    let options = options();
    let b = matrix::<f32, u32>(2, &[1, 2, 1], 1, 1);
    let text = refusal(&Matrix::upload_blocking(&queue, b.view()).unwrap(), &options);
    assert_eq!(text, "B has 3 rows where 2 are needed: as many as A has columns");
    let text = refusal(&elsewhere, &options);
    assert_eq!(text, "the queue belongs to another context than the matrix B");
    for (name, value, rule) in [
        ("scattered", 48, "power of two"),
        ("wide", 1 << 30, "bytes of local memory"),
        ("group_size", 48, "power of two"),
        ("near", 0, "at least 1"),
        ("nothing", 1, "has no parameter"),
    ] {
        let parameters = vec![(name.to_owned(), value)];
        let text = refusal(&on_device, &SpgemmOptions { parameters, ..SpgemmOptions::default() });
        assert!(text.contains(name) && text.contains(rule), "{text}");
    }
}
