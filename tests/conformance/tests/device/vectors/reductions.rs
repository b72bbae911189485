//! Reductions, each held against the bound of a product.

use conformance::{Parts, bits, check_product, queue};
use csr_core::Accumulator;
use csr_core::verify::Oracle;
use num_traits::Float;
use sparrow::{Accumulate, Csr, DeviceArray, Queue, Real, Reduction, Vectors};

use super::{FORMS, lengths, options, place, places, random};

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
    for length in lengths(tiling) {
        let (x, y): (Vec<T>, Vec<T>) = (random(1, length), random(2, length));
        let ones = vec![T::one(); length];
        let sizes: Vec<T> = x.iter().map(|x| x.abs()).collect();
        let mut aligned = None;
        for [x_at, y_at, _] in places(length).iter().copied() {
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
    let mut parts = Parts::of("types and forms of vectors");
    for (number, form) in FORMS.into_iter().enumerate() {
        // What a device is given by itself is no part.
        if number == 0 || parts.takes(number) {
            reductions_are_right::<f32>(&queue, form);
        }
        let has_f64 = queue.context().device().traits().has_f64;
        if has_f64 && (number == 0 || parts.takes(number + 1)) {
            reductions_are_right::<f64>(&queue, form);
        }
    }
}
