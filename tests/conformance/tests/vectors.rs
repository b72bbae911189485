//! Dense vectors on the device: every operation on every length at which something changes, wherever arrays begin.

#![expect(clippy::unwrap_used, reason = "a test panics when its claim is broken")]

use bytemuck::Pod;
use conformance::{bits, check_product, device, is_interpreter, queue};
use csr_core::Accumulator;
use csr_core::verify::Oracle;
use sparrow::{
    Accumulate, Coefficient, Combination, Csr, DeviceArray, Event, KernelBuild, Queue, Reduction,
    VectorOptions, Vectors,
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

fn place<T: Accumulator>(queue: &Queue, data: &[T], offset: usize) -> Placed<T> {
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

fn random<T: Accumulator>(seed: u64, length: usize) -> Vec<T> {
    csr_core::random_vector(seed, length)
}

fn nan<T: Accumulator>(length: usize) -> Vec<T> {
    vec![T::nan(); length]
}

/// Holds the elements of r against what they should be; `ulps` is what each may be off.
fn check_elements<T: Accumulator>(what: &str, r: &[T], expected: &[T], ulps: f64) {
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
fn written<T: Accumulator>(
    queue: &Queue,
    (length, offset): (usize, usize),
    launch: impl FnOnce(&mut DeviceArray<T>) -> sparrow::Result<Event>,
) -> Vec<T> {
    let mut r = place(queue, &nan::<T>(length), offset);
    launch(&mut r.part).unwrap();
    r.read(queue)
}

/// alpha x + beta y rounded as a whole, but for the last bit in rare cases.
fn sum_of_products<T: Accumulator>((alpha, x): (T, T), (beta, y): (T, T)) -> T {
    let (of_x, of_y) = (alpha * x, beta * y);
    let sum = of_x + of_y;
    let of_second = sum - of_x;
    let error = (of_x - (sum - of_second)) + (of_y - of_second);
    let of_products = alpha.mul_add(x, T::zero() - of_x) + beta.mul_add(y, T::zero() - of_y);
    sum + (error + of_products)
}

fn elementwise_is_right<T: Accumulator>(
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
                let all: [(Combination, &dyn Fn(T, T) -> T, f64); 4] = [
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
fn reduced<T: Accumulator>(
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
fn check_sum<T: Accumulator>(x: &[T], y: &[T], found: T, accumulate: Accumulate) {
    let columns = (0..x.len() as u32).collect();
    let row = Csr::<T>::new(x.len(), vec![0, x.len() as u32], columns, x.to_vec()).unwrap();
    check_product(&row, T::one(), y, T::zero(), &[T::zero()], &[found], accumulate);
}

/// Holds the square root of the sum of x_i^2 against the exact one.
fn check_norm2<T: Accumulator>(x: &[T], found: T, accumulate: Accumulate) {
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

fn reductions_are_right<T: Accumulator>(
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
