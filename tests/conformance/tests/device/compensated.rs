//! On rows whose large products cancel, plain sums keep no digit and compensated sums do, by every way of
//! summing.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test panics when its claim is broken, and says what it measured or skipped"
)]

use conformance::{LIMITS, Parts, options, queue, say};
use csr_core::Accumulator;
use csr_core::plan::csr_adaptive::{
    BlockKind, LengthBreak, RowBlockRules, RowBlocks, StreamReduction,
};
use num_traits::Float;
use sparrow::{
    Accumulate, Algorithm, Csr, DeviceArray, Matrix, Operands, Plan, Queue, Real, Variant,
};

/// What each row really sums to.
const SMALL: f64 = 1.0 / 65536.0;

/// Rows of `length` nonzeros, an odd number: pairs of large products that cancel exactly, in disorder,
/// and a small one somewhere between them. `large` is so that its last bit is above the small one.
fn cancelling_rows<V: Accumulator + Real + Float>(
    rows: usize,
    length: usize,
    large: f64,
) -> (Csr<V>, Vec<V>) {
    let cols = length;
    let noise: Vec<f64> = csr_core::random_vector(11, rows * length);
    let (mut columns, mut values) = (Vec::new(), Vec::new());
    for row in 0..rows {
        let noise = &noise[row * length..(row + 1) * length];
        let mut entries = vec![(cols - 1, V::from_f64(SMALL))];
        for (column, &noise) in noise.iter().enumerate().take(length / 2) {
            let value = V::from_f64(large * (1.0 + noise.abs()));
            entries.extend([(column, value), (column, V::zero() - value)]);
        }
        let mut order: Vec<usize> = (0..entries.len()).collect();
        order.sort_by(|&a, &b| noise[a].total_cmp(&noise[b]));
        columns.extend(order.iter().map(|&at| entries[at].0 as u32));
        values.extend(order.iter().map(|&at| entries[at].1));
    }
    let offsets = (0..=rows).map(|row| (row * length) as u32).collect();
    let mut x: Vec<V> = csr_core::random_vector(12, cols);
    x[cols - 1] = V::one();
    (Csr::new(cols, offsets, columns, values).unwrap(), x)
}

fn multiply<V: Accumulator + Real + Float>(
    queue: &Queue,
    (matrix, x): &(Csr<V>, Vec<V>),
    (algorithm, variant): (Algorithm, Variant),
    accumulate: Accumulate,
) -> Vec<V> {
    let a = Matrix::upload_blocking(queue, matrix.view()).unwrap();
    let x = DeviceArray::upload_blocking(queue, x).unwrap();
    let mut y = DeviceArray::upload_blocking(queue, &vec![V::nan(); matrix.rows()]).unwrap();
    let options = options(algorithm, variant, accumulate);
    let plan = Plan::new_blocking(queue, &a, &options).unwrap();
    let mut workspace = plan.workspace_blocking(queue).unwrap();
    let (alpha, beta) = (V::one().into(), V::zero().into());
    let product = Operands { alpha, a: &a, x: &x, beta, y: &mut y };
    if variant.blocks() {
        // SAFETY: nothing is in flight.
        #[expect(unsafe_code, reason = "nothing that was enqueued touches the operands")]
        unsafe {
            plan.launch_in_place_blocking(queue, &mut workspace, product, &[]).unwrap()
        };
    } else {
        plan.launch(queue, &mut workspace, product, &[]).unwrap().wait().unwrap();
    }
    y.read_blocking(queue).unwrap()
}

/// The largest and the least relative error of the rows.
fn relative_errors<V: Accumulator + Real + Float>(y: &[V]) -> (f64, f64) {
    let errors = y.iter().map(|&value| (value.to_f64() - SMALL).abs() / SMALL);
    errors.fold((0.0, f64::INFINITY), |(most, least), error| (error.max(most), error.min(least)))
}

/// Plain sums lose every digit and compensated ones keep them.
fn check<V: Accumulator + Real + Float>(
    queue: &Queue,
    (rows, length): (usize, usize),
    implementation: (Algorithm, Variant),
) {
    // 2^12 in f32, 2^41 in f64: an ulp of it is above 2^-12, and the square of eps times it below 2^-34.
    let large = 1.0 / V::EPSILON / 2048.0;
    let problem = cancelling_rows::<V>(rows, length, large);
    let name = format!("{} {implementation:?}, {rows} rows of {length}", V::TYPE);
    let plain = multiply(queue, &problem, implementation, Accumulate::Plain);
    let (_, least) = relative_errors(&plain);
    assert!(least > 0.5, "{name}: plain sums keep a row to {least}, so the rows prove nothing");
    let compensated = multiply(queue, &problem, implementation, Accumulate::Compensated);
    let (most, _) = relative_errors(&compensated);
    println!("{name}: plain at least {least:e}, compensated at most {most:e}");
    // About half the digits of the type, where plain sums have none.
    assert!(most < 10.0 * V::EPSILON.sqrt(), "{name}: compensated sums lose a row to {most}");
}

/// In f32 and f64, which compilers share: one has each algorithm and variant in one type.
fn on_each_type(shapes: &[(usize, usize)], algorithm: Algorithm, variants: &[Variant]) {
    let queue = queue();
    let has_f64 = queue.context().device().traits().has_f64;
    let mut parts = Parts::of("types of compensated sums");
    for (number, &variant) in variants.iter().enumerate() {
        let implementation = (algorithm, variant);
        let first = algorithm as usize + number;
        let (in_f32, in_f64) = (parts.takes(first), parts.takes(first + 1));
        for &shape in shapes {
            if in_f32 {
                check::<f32>(&queue, shape, implementation);
            }
            if in_f64 && has_f64 {
                check::<f64>(&queue, shape, implementation);
            }
        }
        if in_f64 && !has_f64 {
            say("skipped in f64: the device has none");
        }
    }
}

/// Makes sure that a plan sums these rows this way: `width` is the fewest rows that take Stream.
fn check_blocks(
    kind: BlockKind,
    (rows, length): (usize, usize),
    share: Option<usize>,
    width: usize,
) {
    let rules = RowBlockRules {
        nnz_per_block: LIMITS.nnz_per_wg,
        num_rows_stream: width,
        share,
        length_break: LengthBreak::On,
        reduction: StreamReduction::Scalar,
    };
    let offsets: Vec<u32> = (0..=rows).map(|row| (row * length) as u32).collect();
    let blocks = RowBlocks::from_offsets(&offsets, rules).unwrap();
    let kinds: Vec<_> = (0..blocks.count()).map(|block| blocks.kind(block)).collect();
    assert!(kinds.iter().all(|found| *found == kind), "{kinds:?} where all were to be {kind:?}");
}

#[test]
fn csr_scalar_keeps_digits() {
    on_each_type(&[(5, 301)], Algorithm::CsrScalar, &[Variant::Full]);
}

#[test]
fn csr_vector_keeps_digits() {
    on_each_type(&[(5, 301)], Algorithm::CsrVector, &[Variant::Full]);
}

#[test]
fn csr_pieces_keeps_digits_where_rows_are_cut_and_where_they_are_not() {
    // Pieces of 128 nonzeros.
    on_each_type(&[(12, 21), (5, 301)], Algorithm::CsrPieces, &[Variant::Full]);
}

#[test]
fn sell_keeps_digits() {
    on_each_type(&[(5, 301)], Algorithm::Sell, &[Variant::Full]);
}

#[test]
fn sell_sigma_keeps_digits_in_one_lane_and_in_many() {
    on_each_type(&[(12, 21), (5, 301)], Algorithm::SellSigma, &[Variant::Full]);
}

#[test]
fn csr_tiles_keeps_digits_in_a_slice_and_across_slices_and_tiles() {
    on_each_type(&[(12, 21), (5, 301)], Algorithm::CsrTiles, &[Variant::Full]);
}

#[test]
fn csr_adaptive_keeps_digits_in_stream_with_the_scalar_reduction() {
    let shape = (12, 21);
    for width in [2, 3] {
        check_blocks(BlockKind::Stream, shape, None, width);
    }
    on_each_type(&[shape], Algorithm::CsrAdaptive, &[Variant::Baseline, Variant::Nrs]);
}

#[test]
fn csr_adaptive_keeps_digits_in_stream_with_the_logarithmic_reduction() {
    let shape = (12, 21);
    check_blocks(BlockKind::Stream, shape, Some(LIMITS.share), 3);
    on_each_type(&[shape], Algorithm::CsrAdaptive, &[Variant::NrsLog, Variant::Full]);
}

#[test]
fn csr_adaptive_keeps_digits_in_vector() {
    let shape = (4, 201);
    check_blocks(BlockKind::Vector, shape, Some(LIMITS.share), 2);
    on_each_type(&[shape], Algorithm::CsrAdaptive, &[Variant::Full]);
}

#[test]
fn csr_adaptive_keeps_digits_where_few_rows_share_a_group() {
    // num_rows_stream is 3 in f64: two rows are too few for Stream. In f32 they stream.
    let shape = (4, 61);
    check_blocks(BlockKind::Vector, shape, Some(LIMITS.share), 3);
    on_each_type(&[shape], Algorithm::CsrAdaptive, &[Variant::Full]);
}

#[test]
fn csr_adaptive_keeps_digits_in_vector_l() {
    let shape = (2, 1001);
    check_blocks(BlockKind::VectorL, shape, Some(LIMITS.share), 2);
    on_each_type(&[shape], Algorithm::CsrAdaptive, &[Variant::Full]);
}

#[test]
fn segmented_sum_keeps_digits_in_a_tile_and_across_bunches() {
    // A tile has 32 nonzeros, a bunch has two of them at most.
    let shapes = [(7, 9), (5, 51), (3, 301), (1, 1001)];
    let variants = Variant::of(Algorithm::SegmentedSum);
    on_each_type(&shapes, Algorithm::SegmentedSum, variants);
}
