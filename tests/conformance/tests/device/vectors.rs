//! Dense vectors on the device: every operation on every length at which something changes, wherever arrays begin.

#![expect(clippy::unwrap_used, reason = "a test panics when its claim is broken")]

use bytemuck::Pod;
use conformance::{Gate, bits, check_product, device, is_interpreter, queue};
use csr_core::Accumulator;
use csr_core::verify::Oracle;
use num_traits::Float;
use sparrow::{
    Accumulate, Coefficient, Combination, Csr, DeviceArray, Event, KernelBuild, NoEvent, Queue,
    Real, Reduction, VectorOptions, Vectors,
};

/// Elements on either side of an array, which nothing may touch.
const CANARIES: usize = 16;

/// An array between canaries, `offset` elements behind a place that is aligned.
struct Placed<T> {
    whole: DeviceArray<T>,
    part: DeviceArray<T>,
    start: usize,
    canary: T,
}

impl<T: Pod + PartialEq + std::fmt::Debug> Placed<T> {
    fn new(queue: &Queue, data: &[T], offset: usize, canary: T) -> Self {
        let start = CANARIES + offset;
        let mut all = vec![canary; start];
        all.extend_from_slice(data);
        all.extend([canary; CANARIES]);
        let whole = DeviceArray::upload_blocking(queue, &all).unwrap();
        let part = whole.slice(start..start + data.len()).unwrap();
        Placed { whole, part, start, canary }
    }

    /// The elements, once the canaries were seen alive.
    fn read(&self, queue: &Queue) -> Vec<T> {
        let all = self.whole.read_blocking(queue).unwrap();
        let end = self.start + self.part.len();
        let around = all[..self.start].iter().chain(&all[end..]);
        assert!(around.into_iter().all(|&element| element == self.canary), "a canary is dead");
        all[self.start..end].to_vec()
    }
}

fn place<T: Accumulator + Real + Float>(queue: &Queue, data: &[T], offset: usize) -> Placed<T> {
    Placed::new(queue, data, offset, T::from_f64(-77.0))
}

/// Groups as a GPU has them; `None` is what the device is given by itself.
const TILINGS: [Option<[u32; 3]>; 3] = [None, Some([64, 4, 2]), Some([16, 2, 4])];

fn options(tiling: Option<[u32; 3]>, accumulate: Accumulate, on_device: bool) -> VectorOptions {
    let names = ["group_size", "lanes", "loads"];
    let parameters = tiling.map_or(Vec::new(), |values| {
        names.into_iter().zip(values).map(|(name, value)| (name.to_owned(), value)).collect()
    });
    let (build, scalars_on_device) = (KernelBuild::AtFirstUse, on_device);
    VectorOptions { accumulate, scalars_on_device, build, parameters }
}

/// Around tiles, pieces and groups of [`TILINGS`], and more than one group for each.
fn lengths() -> Vec<usize> {
    let mut lengths = vec![0, 1, 2, 15, 17, 63, 64, 127, 128, 129, 511, 512, 513, 1025, 8192, 8193];
    if !is_interpreter(&device()) {
        lengths.extend([16_384, 40_961, 1_100_003]);
    }
    lengths
}

/// Where x, y and r begin: aligned, each elsewhere, all a little off.
const PLACES: [[usize; 3]; 3] = [[0, 0, 0], [1, 0, 3], [5, 5, 5]];

fn random<T: Accumulator + Real + Float>(seed: u64, length: usize) -> Vec<T> {
    csr_core::random_vector(seed, length)
}

fn nan<T: Accumulator + Real + Float>(length: usize) -> Vec<T> {
    vec![T::nan(); length]
}

/// An element of r, of those of x and y.
type Elementwise<'a, T> = &'a dyn Fn(T, T) -> T;

/// Holds the elements of r against what they should be; `ulps` is what each may be off.
fn check_elements<T: Accumulator + Real + Float>(what: &str, r: &[T], expected: &[T], ulps: f64) {
    assert_eq!(r.len(), expected.len(), "{what}");
    for (at, (&found, &right)) in r.iter().zip(expected).enumerate() {
        let (found, right) = (found.to_f64(), right.to_f64());
        let may_be_off = ulps * T::EPSILON * right.abs();
        assert!(
            (found - right).abs() <= may_be_off,
            "{what}: element {at} of {} is {found:e}, and {right:e} is right",
            r.len()
        );
    }
}

/// What a launch writes to an r of NaN that begins `offset` elements off.
fn written<T: Accumulator + Real + Float>(
    queue: &Queue,
    (length, offset): (usize, usize),
    launch: impl FnOnce(&mut DeviceArray<T>) -> sparrow::Result<Event>,
) -> Vec<T> {
    let mut r = place(queue, &nan::<T>(length), offset);
    launch(&mut r.part).unwrap();
    r.read(queue)
}

/// alpha x + beta y rounded as a whole, but for the last bit in rare cases.
fn sum_of_products<T: Accumulator + Real + Float>((alpha, x): (T, T), (beta, y): (T, T)) -> T {
    let (of_x, of_y) = (alpha * x, beta * y);
    let sum = of_x + of_y;
    let of_second = sum - of_x;
    let error = (of_x - (sum - of_second)) + (of_y - of_second);
    let of_products = alpha.mul_add(x, T::zero() - of_x) + beta.mul_add(y, T::zero() - of_y);
    sum + (error + of_products)
}

fn elementwise_is_right<T: Accumulator + Real + Float>(
    queue: &Queue,
    (tiling, accumulate, on_device): (Option<[u32; 3]>, Accumulate, bool),
) {
    let options = options(tiling, accumulate, on_device);
    let mut vectors = Vectors::<T>::new_blocking(queue, &options).unwrap();
    let (alpha, beta) = (T::from_f64(1.7), T::from_f64(-0.3));
    let scalars = DeviceArray::upload_blocking(queue, &[T::nan(), alpha, beta]).unwrap();
    let (on_alpha, on_beta) = (scalars.slice(1..2).unwrap(), scalars.slice(2..3).unwrap());
    let alpha_of = || if on_device { Coefficient::from(&on_alpha) } else { alpha.into() };
    let beta_of = || if on_device { Coefficient::from(&on_beta) } else { beta.into() };
    for length in lengths() {
        let (x, y): (Vec<T>, Vec<T>) = (random(1, length), random(2, length));
        let pairs =
            |f: &dyn Fn(T, T) -> T| x.iter().zip(&y).map(|(&x, &y)| f(x, y)).collect::<Vec<T>>();
        for [x_at, y_at, r_at] in PLACES {
            let (on_x, on_y) = (place(queue, &x, x_at), place(queue, &y, y_at));
            let at = (length, r_at);
            let what = format!("{} {tiling:?} {accumulate} at {x_at}, {y_at}, {r_at}", T::TYPE);

            let r = written(queue, at, |r| vectors.scale(queue, (alpha_of(), &on_x.part), r, &[]));
            check_elements(&format!("{what}: scale"), &r, &pairs(&|x, _| alpha * x), 0.0);
            let r = written(queue, at, |r| {
                vectors.axpy(queue, (alpha_of(), &on_x.part), &on_y.part, r, &[])
            });
            check_elements(&format!("{what}: axpy"), &r, &pairs(&|x, y| alpha.mul_add(x, y)), 0.0);
            let r = written(queue, at, |r| {
                let (of_x, of_y) = ((alpha_of(), &on_x.part), (beta_of(), &on_y.part));
                vectors.axpby(queue, of_x, of_y, r, &[])
            });
            let (expected, ulps) = match accumulate {
                Accumulate::Plain => (pairs(&|x, y| beta.mul_add(y, alpha * x)), 0.0),
                Accumulate::Compensated => {
                    (pairs(&|x, y| sum_of_products((alpha, x), (beta, y))), 1.0)
                }
            };
            check_elements(&format!("{what}: axpby"), &r, &expected, ulps);
            // The others have no scalars: one way of reading them is enough.
            if !on_device {
                let all: [(Combination, Elementwise<'_, T>, f64); 4] = [
                    (Combination::Add, &|x, y| x + y, 0.0),
                    (Combination::Subtract, &|x, y| x - y, 0.0),
                    (Combination::Multiply, &|x, y| x * y, 0.0),
                    (Combination::Divide, &|x, y| x / y, 2.5),
                ];
                for (combination, expected, ulps) in all {
                    let operands = (&on_x.part, &on_y.part);
                    let r = written(queue, at, |r| {
                        vectors.combine(queue, combination, operands, r, &[])
                    });
                    check_elements(&format!("{what}: {combination:?}"), &r, &pairs(expected), ulps);
                }
            }
            assert_eq!((on_x.read(queue), on_y.read(queue)), (x.clone(), y.clone()), "{what}");
        }
    }
}

/// Each tiling, each way of summing and each way of reading scalars, but not all of them together.
const FORMS: [(Option<[u32; 3]>, Accumulate, bool); 3] = [
    (TILINGS[0], Accumulate::Plain, false),
    (TILINGS[1], Accumulate::Compensated, true),
    (TILINGS[2], Accumulate::Plain, false),
];

#[test]
fn every_operation_element_by_element_is_right_on_every_length_and_place() {
    let queue = queue();
    for form in FORMS {
        elementwise_is_right::<f32>(&queue, form);
        if queue.context().device().traits().has_f64 {
            elementwise_is_right::<f64>(&queue, form);
        }
    }
}

/// What a reduction says, of x and y.
fn reduced<T: Accumulator + Real + Float>(
    queue: &Queue,
    vectors: &mut Vectors<T>,
    reduction: Option<Reduction>,
    (x, y): (&DeviceArray<T>, &DeviceArray<T>),
) -> T {
    let mut result = place(queue, &[T::nan()], 1);
    match reduction {
        Some(reduction) => vectors.reduce(queue, reduction, x, &mut result.part, &[]).unwrap(),
        None => vectors.dot(queue, x, y, &mut result.part, &[]).unwrap(),
    };
    result.read(queue)[0]
}

/// Holds a sum of x_i y_i against the bound of products: a row x of a matrix, times y.
fn check_sum<T: Accumulator + Real + Float>(x: &[T], y: &[T], found: T, accumulate: Accumulate) {
    let columns = (0..x.len() as u32).collect();
    let row = Csr::<T>::new(x.len(), vec![0, x.len() as u32], columns, x.to_vec()).unwrap();
    check_product(&row, T::one(), y, T::zero(), &[T::zero()], &[found], accumulate);
}

/// Holds the square root of the sum of x_i^2 against the exact one.
fn check_norm2<T: Accumulator + Real + Float>(x: &[T], found: T, accumulate: Accumulate) {
    let columns = (0..x.len() as u32).collect();
    let row = Csr::<T>::new(x.len(), vec![0, x.len() as u32], columns, x.to_vec()).unwrap();
    let oracle = Oracle::new(T::one(), row.view(), x, T::zero(), &[T::zero()]).unwrap();
    let right = oracle.value(0).sqrt();
    let terms = match accumulate {
        Accumulate::Plain => x.len() as f64 + 2.0,
        Accumulate::Compensated => 2.0,
    };
    let error = (found.to_f64() - right).abs();
    assert!(error <= terms * T::EPSILON * right, "{found:?}, and {right:e} is right");
}

fn reductions_are_right<T: Accumulator + Real + Float>(
    queue: &Queue,
    (tiling, accumulate, on_device): (Option<[u32; 3]>, Accumulate, bool),
) {
    let options = options(tiling, accumulate, on_device);
    let mut vectors = Vectors::<T>::new_blocking(queue, &options).unwrap();
    for length in lengths() {
        let (x, y): (Vec<T>, Vec<T>) = (random(1, length), random(2, length));
        let ones = vec![T::one(); length];
        let sizes: Vec<T> = x.iter().map(|x| x.abs()).collect();
        let mut aligned = None;
        for [x_at, y_at, _] in PLACES {
            let (on_x, on_y) = (place(queue, &x, x_at), place(queue, &y, y_at));
            let mut reduce =
                |reduction| reduced(queue, &mut vectors, reduction, (&on_x.part, &on_y.part));
            let found = [
                reduce(Some(Reduction::Sum)),
                reduce(None),
                reduce(Some(Reduction::Norm1)),
                reduce(Some(Reduction::Norm2)),
            ];
            check_sum(&x, &ones, found[0], accumulate);
            check_sum(&x, &y, found[1], accumulate);
            check_sum(&sizes, &ones, found[2], accumulate);
            check_norm2(&x, found[3], accumulate);
            let expected = *aligned.get_or_insert(found);
            assert_eq!(bits(&found), bits(&expected), "{length} elements at {x_at}, {y_at}");
        }
    }
}

#[test]
fn every_reduction_is_right_on_every_length_and_the_same_wherever_arrays_begin() {
    let queue = queue();
    for form in FORMS {
        reductions_are_right::<f32>(&queue, form);
        if queue.context().device().traits().has_f64 {
            reductions_are_right::<f64>(&queue, form);
        }
    }
}

/// Vectors with what the device is given by itself, and with groups of many items.
fn both_kinds<T: Accumulator + Real + Float>(
    queue: &Queue,
    accumulate: Accumulate,
) -> [Vectors<T>; 2] {
    [TILINGS[0], TILINGS[1]]
        .map(|tiling| Vectors::new_blocking(queue, &options(tiling, accumulate, false)).unwrap())
}

#[test]
fn a_result_may_take_the_place_of_either_operand_or_both() {
    let queue = queue();
    for mut vectors in both_kinds::<f32>(&queue, Accumulate::Plain) {
        for length in lengths() {
            let (x, y): (Vec<f32>, Vec<f32>) = (random(1, length), random(2, length));
            let (mut r, other) = (place(&queue, &x, 1), place(&queue, &y, 0));
            let itself = r.part.slice(0..length).unwrap();
            vectors.scale(&queue, (2.0.into(), &itself), &mut r.part, &[]).unwrap();
            vectors.axpy(&queue, (0.5.into(), &itself), &other.part, &mut r.part, &[]).unwrap();
            let operands = (&other.part, &itself);
            vectors.combine(&queue, Combination::Multiply, operands, &mut r.part, &[]).unwrap();
            let (of_x, of_y) = ((3.0.into(), &itself), ((-1.0).into(), &itself));
            vectors.axpby(&queue, of_x, of_y, &mut r.part, &[]).unwrap();
            let expected: Vec<f32> =
                x.iter().zip(&y).map(|(x, y)| 2.0 * (y * 0.5f32.mul_add(2.0 * x, *y))).collect();
            check_elements("in place", &r.read(&queue), &expected, 1.0);
        }
    }
}

#[test]
fn beta_zero_never_reads_y_and_alpha_zero_still_reads_x() {
    let queue = queue();
    for mut vectors in both_kinds::<f32>(&queue, Accumulate::Compensated) {
        let (x, y) = (place(&queue, &[1.0, f32::NAN, 3.0], 0), place(&queue, &nan::<f32>(3), 0));
        let mut r = place(&queue, &nan::<f32>(3), 0);
        let (of_x, of_y) = ((2.0.into(), &x.part), (0.0.into(), &y.part));
        vectors.axpby(&queue, of_x, of_y, &mut r.part, &[]).unwrap();
        let found = r.read(&queue);
        assert!(found[0] == 2.0 && found[1].is_nan() && found[2] == 6.0, "{found:?}");
        vectors.scale(&queue, (0.0.into(), &x.part), &mut r.part, &[]).unwrap();
        let found = r.read(&queue);
        assert!(found[0] == 0.0 && found[1].is_nan() && found[2] == 0.0, "{found:?}");
    }
}

/// NaN, infinities and both, somewhere in a vector of several groups.
#[test]
fn nan_and_infinity_reach_the_result() {
    let queue = queue();
    let (infinity, nan) = (f32::INFINITY, f32::NAN);
    for accumulate in [Accumulate::Plain, Accumulate::Compensated] {
        for mut vectors in both_kinds::<f32>(&queue, accumulate) {
            let mut check = |special: &[f32], [sum, norm1, norm2]: [f32; 3]| {
                let mut x = vec![1.0f32; 9000];
                for (number, &special) in special.iter().enumerate() {
                    x[700 + number * 8200] = special;
                }
                let on_x = DeviceArray::upload_blocking(&queue, &x).unwrap();
                let kinds = [Reduction::Sum, Reduction::Norm1, Reduction::Norm2];
                for (kind, expected) in kinds.into_iter().zip([sum, norm1, norm2]) {
                    let found = vectors.reduce_blocking(&queue, kind, &on_x, &[]).unwrap();
                    let is_right = found == expected || (found.is_nan() && expected.is_nan());
                    assert!(is_right, "{kind:?} of {special:?} is {found} and not {expected}");
                }
                let found = vectors.dot_blocking(&queue, &on_x, &on_x, &[]).unwrap();
                assert_eq!(
                    (found.is_nan(), found.is_infinite()),
                    (norm1.is_nan(), !norm1.is_nan())
                );
            };
            check(&[infinity], [infinity; 3]);
            check(&[-infinity], [-infinity, infinity, infinity]);
            check(&[infinity, -infinity], [nan, infinity, infinity]);
            check(&[nan], [nan; 3]);
            check(&[nan, infinity], [nan; 3]);
        }
    }
}

/// Squares of what is stored do not fit the type, by far.
fn norm2_keeps_its_digits<T: Accumulator + Real + Float>(queue: &Queue, accumulate: Accumulate) {
    let (least, most) = (T::min_positive_value(), T::max_value());
    for mut vectors in both_kinds::<T>(queue, accumulate) {
        let mut check = |parts: &[(usize, T)], expected: f64| {
            let x: Vec<T> = parts.iter().flat_map(|&(count, value)| vec![value; count]).collect();
            let on_x = DeviceArray::upload_blocking(queue, &x).unwrap();
            let found = vectors.reduce_blocking(queue, Reduction::Norm2, &on_x, &[]).unwrap();
            let error = (found.to_f64() / expected - 1.0).abs();
            let may_be = match accumulate {
                Accumulate::Plain => 16.0 * T::EPSILON,
                Accumulate::Compensated => 2.0 * T::EPSILON,
            };
            assert!(error <= may_be, "{found:?} and not {expected:e}, of {parts:?}");
        };
        let sixteenth = most.to_f64() / 16.0;
        check(&[(64, T::from_f64(sixteenth))], 8.0 * sixteenth);
        check(&[(64, T::from_f64(-sixteenth)), (1000, T::one())], 8.0 * sixteenth);
        check(&[(4096, least)], 64.0 * least.to_f64());
        check(&[(4096, least), (1, T::one()), (3, T::zero())], 1.0);
        check(&[(4096, least), (4, T::one()), (64, T::from_f64(sixteenth))], 8.0 * sixteenth);
        // Either side of where scaling begins.
        for exponent in [-51, -50, -49, 43, 44, 45, 46] {
            let size = 2f64.powi(exponent);
            check(&[(16, T::from_f64(3.0 * size)), (16, T::from_f64(4.0 * size))], 20.0 * size);
        }
        let far = T::from_f64(least.to_f64() * 1024.0);
        check(&[(2, T::zero()), (1, far)], far.to_f64());
        let zeros = DeviceArray::upload_blocking(queue, &[T::zero(); 700]).unwrap();
        let found = vectors.reduce_blocking(queue, Reduction::Norm2, &zeros, &[]).unwrap();
        assert_eq!(found, T::zero());
        let all = DeviceArray::upload_blocking(queue, &[most; 2]).unwrap();
        let found = vectors.reduce_blocking(queue, Reduction::Norm2, &all, &[]).unwrap();
        assert_eq!(found, T::infinity(), "what is too large for the type");
    }
}

#[test]
fn norm2_neither_overflows_nor_underflows_on_the_way() {
    let queue = queue();
    for accumulate in [Accumulate::Plain, Accumulate::Compensated] {
        norm2_keeps_its_digits::<f32>(&queue, accumulate);
        if queue.context().device().traits().has_f64 {
            norm2_keeps_its_digits::<f64>(&queue, accumulate);
        }
    }
}

#[test]
fn compensated_sums_keep_what_plain_ones_lose() {
    let queue = queue();
    // Large ones that cancel, in disorder, and a small one.
    let mut x: Vec<f32> = random(3, 5000);
    let negative: Vec<f32> = x.iter().rev().map(|x| -x).collect();
    x.extend(negative);
    x.push(2f32.powi(-30));
    let on_x = DeviceArray::upload_blocking(&queue, &x).unwrap();
    let ones = DeviceArray::upload_blocking(&queue, &vec![1f32; x.len()]).unwrap();
    for mut vectors in both_kinds::<f32>(&queue, Accumulate::Compensated) {
        for _ in 0..2 {
            let sum = vectors.reduce_blocking(&queue, Reduction::Sum, &on_x, &[]).unwrap();
            assert_eq!(sum, 2f32.powi(-30));
            let dot = vectors.dot_blocking(&queue, &on_x, &ones, &[]).unwrap();
            assert_eq!(dot, 2f32.powi(-30));
        }
    }
}

#[test]
fn integers_are_summed_modulo_two_to_the_thirty_second() {
    let queue = queue();
    for mut vectors in both_kinds::<f32>(&queue, Accumulate::Plain) {
        for length in lengths() {
            for offset in [0, 1] {
                let x: Vec<i32> =
                    (0..length as i32).map(|k| k.wrapping_mul(0x1234_5677) ^ 0x0f0f).collect();
                let expected = x.iter().fold(0i32, |sum, x| sum.wrapping_add(*x));
                let on_x = Placed::new(&queue, &x, offset, -7);
                let mut result = Placed::new(&queue, &[99], offset, -7);
                // Among sums of numbers, which work in the same memory.
                let ones = DeviceArray::upload_blocking(&queue, &vec![1f32; 3000]).unwrap();
                for _ in 0..2 {
                    vectors.sum_integers(&queue, &on_x.part, &mut result.part, &[]).unwrap();
                    assert_eq!(result.read(&queue), [expected], "{length} integers");
                    let sum = vectors.reduce_blocking(&queue, Reduction::Sum, &ones, &[]);
                    assert_eq!(sum.unwrap(), 3000.0);
                }
                let read = vectors.sum_integers_blocking(&queue, &on_x.part, &[]).unwrap();
                assert_eq!(read, expected);
            }
        }
    }
}

#[test]
fn the_same_launch_gives_the_same_bits_on_any_queue_observed_or_not() {
    let first = queue();
    let second = Queue::new(first.context()).unwrap();
    let length = if is_interpreter(&device()) { 3001 } else { 300_001 };
    let x = DeviceArray::upload_blocking(&first, &random::<f32>(5, length)).unwrap();
    let y = DeviceArray::upload_blocking(&first, &random::<f32>(6, length)).unwrap();
    for mut vectors in both_kinds::<f32>(&first, Accumulate::Plain) {
        let expected = vectors.dot_blocking(&first, &x, &y, &[]).unwrap();
        let mut results: Vec<_> = (0..20).map(|_| place(&first, &[f32::NAN], 0)).collect();
        // On Intel's runtime what a blocking write brings can come after a launch in another queue.
        first.finish_blocking().unwrap();
        for (number, result) in results.iter_mut().enumerate() {
            let queue = if number % 3 == 0 { &second } else { &first };
            match number % 2 {
                0 => vectors.dot(queue, &x, &y, &mut result.part, NoEvent).unwrap(),
                _ => drop(vectors.dot(queue, &x, &y, &mut result.part, &[]).unwrap()),
            }
        }
        first.finish_blocking().unwrap();
        second.finish_blocking().unwrap();
        for result in &results {
            assert_eq!(result.read(&first)[0].to_bits(), expected.to_bits());
        }
    }
}

#[test]
fn a_launch_waits_for_its_wait_list_and_one_that_fails_leaves_the_next_right() {
    let queue = queue();
    let mut vectors = Vectors::<f32>::new_blocking(&queue, &VectorOptions::default()).unwrap();
    let x = DeviceArray::upload_blocking(&queue, &vec![1f32; 30_000]).unwrap();
    assert_eq!(vectors.dot_blocking(&queue, &x, &x, &[]).unwrap(), 30_000.0);
    let mut result = place(&queue, &[f32::NAN], 0);
    let gate = Gate::new(queue.context());
    let event = vectors.dot(&queue, &x, &x, &mut result.part, &[gate.event()]).unwrap();
    let opening = gate.open_soon();
    assert!(!opening.was_passed_by(&event));
    assert_eq!(result.read(&queue), [30_000.0]);
    let other = Queue::new(queue.context()).unwrap();
    let gate = Gate::new(queue.context());
    let failing = vectors.dot(&other, &x, &x, &mut result.part, &[gate.event()]).unwrap();
    gate.fail();
    if is_interpreter(&device()) {
        // Which reports a wait that fails as misuse.
        other.finish_blocking().unwrap();
    } else {
        failing.wait().unwrap_err();
    }
    let sum = vectors.reduce_blocking(&queue, Reduction::Sum, &x, &[]).unwrap();
    assert_eq!(sum, 30_000.0);
    assert!(failing.is_complete());
}

/// A refusal that says all of `words`.
#[track_caller]
fn assert_refused<R>(refused: sparrow::Result<R>, words: &[&str]) {
    let message = refused.err().map(|error| error.to_string()).unwrap_or_default();
    for word in words {
        assert!(message.contains(word), "\"{message}\" does not say \"{word}\"");
    }
}

#[test]
fn operands_that_cannot_be_right_are_refused_and_nothing_is_written() {
    let queue = queue();
    let mut vectors =
        Vectors::<f32>::new_blocking(&queue, &options(None, Accumulate::Plain, false)).unwrap();
    let whole = DeviceArray::upload_blocking(&queue, &vec![1f32; 100]).unwrap();
    let part = |begin: usize, end: usize| whole.slice(begin..end).unwrap();
    let x = DeviceArray::upload_blocking(&queue, &[2f32; 40]).unwrap();
    let (short, mut r) = (part(0, 39), part(40, 80));
    let one = || Coefficient::from(1f32);

    // Lengths.
    let refused = vectors.scale(&queue, (one(), &short), &mut r, &[]);
    assert_refused(refused, &["r has 40 elements", "x has 39"]);
    let refused = vectors.axpy(&queue, (one(), &x), &short, &mut r, &[]);
    assert_refused(refused, &["y has 39 elements", "x has 40"]);
    let refused = vectors.axpby(&queue, (one(), &x), (one(), &short), &mut r, &[]);
    assert_refused(refused, &["y has 39 elements"]);
    let refused = vectors.combine(&queue, Combination::Add, (&short, &x), &mut r, &[]);
    assert_refused(refused, &["y has 40 elements", "x has 39"]);
    assert_refused(vectors.dot_blocking(&queue, &x, &short, &[]), &["y has 39", "x has 40"]);
    let refused = vectors.reduce(&queue, Reduction::Sum, &x, &mut part(5, 5), &[]);
    assert_refused(refused, &["the result has no element"]);

    // Overlaps: one element is enough, and the same is allowed.
    for (begin, end) in [(1, 41), (39, 79), (41, 81), (60, 100)] {
        let x = part(begin, end);
        let refused = vectors.scale(&queue, (one(), &x), &mut r, &[]);
        assert_refused(refused, &["x and r overlap in part", "bytes"]);
        let refused = vectors.combine(&queue, Combination::Divide, (&part(0, 40), &x), &mut r, &[]);
        assert_refused(refused, &["y and r overlap in part"]);
    }
    let refused = vectors.dot(&queue, &x, &part(0, 40), &mut part(39, 40), &[]);
    assert_refused(refused, &["y and the result overlap"]);
    let refused = vectors.reduce(&queue, Reduction::Norm2, &part(0, 40), &mut part(0, 1), &[]);
    assert_refused(refused, &["x and the result overlap"]);

    // Scalars.
    let on_device = part(90, 91);
    let refused = vectors.scale(&queue, ((&on_device).into(), &x), &mut r, &[]);
    assert_refused(refused, &["alpha came as a device array"]);
    let mut by_array =
        Vectors::<f32>::new_blocking(&queue, &options(None, Accumulate::Plain, true)).unwrap();
    let refused = by_array.scale(&queue, (one(), &x), &mut r, &[]);
    assert_refused(refused, &["alpha came by value"]);
    let refused = by_array.scale(&queue, ((&part(45, 46)).into(), &x), &mut r, &[]);
    assert_refused(refused, &["alpha and r overlap"]);
    let refused = by_array.scale(&queue, ((&part(3, 3)).into(), &x), &mut r, &[]);
    assert_refused(refused, &["alpha is an array without elements"]);

    // Other contexts.
    let elsewhere = conformance::queue();
    let foreign = DeviceArray::upload_blocking(&elsewhere, &[1f32; 40]).unwrap();
    let refused = vectors.scale(&queue, (one(), &foreign), &mut r, &[]);
    assert_refused(refused, &["x belongs to another context"]);
    let refused = vectors.scale(&elsewhere, (one(), &x), &mut r, &[]);
    assert_refused(refused, &["queue belongs to another context", "vector kernels"]);
    let refused =
        vectors.reduce(&queue, Reduction::Sum, &x, &mut foreign.slice(0..1).unwrap(), &[]);
    assert_refused(refused, &["the result belongs to another context"]);

    // Parameters.
    for (name, value, words) in [
        ("group_size", 24, "power of two"),
        ("lanes", 3, "2, 4, 8 or 16"),
        ("loads", 17, "1 to 16"),
        ("tiles", 1, "no parameter \"tiles\""),
    ] {
        let parameters = vec![(name.to_owned(), value)];
        let options = VectorOptions { parameters, ..VectorOptions::default() };
        assert_refused(Vectors::<f32>::new_blocking(&queue, &options), &[words]);
    }

    queue.finish_blocking().unwrap();
    assert_eq!(whole.read_blocking(&queue).unwrap(), vec![1f32; 100], "a refused launch wrote");
    vectors.scale(&queue, (one(), &x), &mut r, &[]).unwrap();
    assert_eq!(r.read_blocking(&queue).unwrap(), [2f32; 40]);
}
