//! What is computed element by element, each held against the host.

use csr_core::Accumulator;
use num_traits::Float;
use sparrow::{Accumulate, Coefficient, Combination, DeviceArray, Event, Queue, Real, Vectors};

use super::{BOTH, FORMS, both_kinds, lengths, nan, options, place, places, random};
use conformance::{Parts, queue};

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

/// The sum of products rounded as a whole, but for the last bit in rare cases.
fn sum_of_products<T: Accumulator + Real + Float>(products: &[(T, T)]) -> T {
    let (mut sum, mut error) = (T::zero(), T::zero());
    for &(factor, element) in products {
        let product = factor * element;
        let next = sum + product;
        let of_product = next - sum;
        error += (sum - (next - of_product)) + (product - of_product);
        error += factor.mul_add(element, T::zero() - product);
        sum = next;
    }
    sum + error
}

fn elementwise_is_right<T: Accumulator + Real + Float>(
    queue: &Queue,
    (tiling, accumulate, on_device): (Option<[u32; 3]>, Accumulate, bool),
) {
    let options = options(tiling, accumulate, on_device);
    let mut vectors = Vectors::<T>::new_blocking(queue, &options).unwrap();
    let (alpha, beta, gamma) = (T::from_f64(1.7), T::from_f64(-0.3), T::from_f64(0.9));
    let scalars = DeviceArray::upload_blocking(queue, &[T::nan(), alpha, beta, gamma]).unwrap();
    let on_device_at = [1, 2, 3].map(|at| scalars.slice(at..at + 1).unwrap());
    let [on_alpha, on_beta, on_gamma] = &on_device_at;
    let alpha_of = || if on_device { Coefficient::from(on_alpha) } else { alpha.into() };
    let beta_of = || if on_device { Coefficient::from(on_beta) } else { beta.into() };
    let gamma_of = || if on_device { Coefficient::from(on_gamma) } else { gamma.into() };
    for length in lengths(tiling) {
        let (x, y): (Vec<T>, Vec<T>) = (random(1, length), random(2, length));
        let before: Vec<T> = random(3, length);
        let pairs =
            |f: &dyn Fn(T, T) -> T| x.iter().zip(&y).map(|(&x, &y)| f(x, y)).collect::<Vec<T>>();
        let threes = |f: &dyn Fn(T, T, T) -> T| {
            let with_before = x.iter().zip(&y).zip(&before);
            with_before.map(|((&x, &y), &r)| f(x, y, r)).collect::<Vec<T>>()
        };
        for [x_at, y_at, r_at] in places(length).iter().copied() {
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
                    (pairs(&|x, y| sum_of_products(&[(alpha, x), (beta, y)])), 1.0)
                }
            };
            check_elements(&format!("{what}: axpby"), &r, &expected, ulps);

            let mut r = place(queue, &before, r_at);
            let (of_x, of_y) = ((alpha_of(), &on_x.part), (beta_of(), &on_y.part));
            vectors.update(queue, of_x, of_y, (gamma_of(), &mut r.part), &[]).unwrap();
            let (expected, ulps) = match accumulate {
                Accumulate::Plain => {
                    let whole = |x, y, r| gamma.mul_add(r, beta.mul_add(y, alpha * x));
                    (threes(&whole), 0.0)
                }
                Accumulate::Compensated => {
                    let whole = |x, y, r| sum_of_products(&[(alpha, x), (beta, y), (gamma, r)]);
                    (threes(&whole), 1.0)
                }
            };
            check_elements(&format!("{what}: update"), &r.read(queue), &expected, ulps);
            let mut r = place(queue, &before, r_at);
            let product = (alpha_of(), &on_x.part, &on_y.part);
            vectors.multiply_add(queue, product, (beta_of(), &mut r.part), &[]).unwrap();
            let (expected, ulps) = match accumulate {
                Accumulate::Plain => (threes(&|x, y, r| beta.mul_add(r, alpha * x * y)), 0.0),
                Accumulate::Compensated => {
                    (threes(&|x, y, r| sum_of_products(&[(alpha * x, y), (beta, r)])), 1.0)
                }
            };
            check_elements(&format!("{what}: multiply_add"), &r.read(queue), &expected, ulps);
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

#[test]
fn every_operation_element_by_element_is_right_on_every_length_and_place() {
    let queue = queue();
    let mut parts = Parts::of("types and forms of vectors");
    for (number, form) in FORMS.into_iter().enumerate() {
        // What a device is given by itself is no part.
        if number == 0 || parts.takes(number) {
            elementwise_is_right::<f32>(&queue, form);
        }
        let has_f64 = queue.context().device().traits().has_f64;
        if has_f64 && (number == 0 || parts.takes(number + 1)) {
            elementwise_is_right::<f64>(&queue, form);
        }
    }
}

#[test]
fn a_result_may_take_the_place_of_either_operand_or_both() {
    let queue = queue();
    for (mut vectors, tiling) in both_kinds::<f32>(&queue, Accumulate::Plain).into_iter().zip(BOTH)
    {
        for length in lengths(tiling) {
            let (x, y): (Vec<f32>, Vec<f32>) = (random(1, length), random(2, length));
            let (mut r, other) = (place(&queue, &x, 1), place(&queue, &y, 0));
            let itself = r.part.slice(0..length).unwrap();
            vectors.scale(&queue, (2.0.into(), &itself), &mut r.part, &[]).unwrap();
            vectors.axpy(&queue, (0.5.into(), &itself), &other.part, &mut r.part, &[]).unwrap();
            let operands = (&other.part, &itself);
            vectors.combine(&queue, Combination::Multiply, operands, &mut r.part, &[]).unwrap();
            let (of_x, of_y) = ((3.0.into(), &itself), ((-1.0).into(), &itself));
            vectors.axpby(&queue, of_x, of_y, &mut r.part, &[]).unwrap();
            // r + r - r, and r times 1/2 of y with nothing of r added.
            let (of_x, of_y) = ((1.0.into(), &itself), (1.0.into(), &itself));
            vectors.update(&queue, of_x, of_y, ((-1.0).into(), &mut r.part), &[]).unwrap();
            let product = (0.5.into(), &itself, &other.part);
            vectors.multiply_add(&queue, product, (0.0.into(), &mut r.part), &[]).unwrap();
            let times_y = |x: &f32, y: &f32| y * (y * 0.5f32.mul_add(2.0 * x, *y));
            let expected: Vec<f32> = x.iter().zip(&y).map(|(x, y)| times_y(x, y)).collect();
            check_elements("in place", &r.read(&queue), &expected, 2.0);
        }
    }
}

#[test]
fn what_is_scaled_by_zero_is_never_read_but_for_x() {
    let queue = queue();
    for mut vectors in both_kinds::<f32>(&queue, Accumulate::Compensated) {
        let (x, y) = (place(&queue, &[1.0, f32::NAN, 3.0], 0), place(&queue, &nan::<f32>(3), 0));
        let mut r = place(&queue, &nan::<f32>(3), 0);
        let (of_x, of_y) = ((2.0.into(), &x.part), (0.0.into(), &y.part));
        vectors.axpby(&queue, of_x, of_y, &mut r.part, &[]).unwrap();
        let found = r.read(&queue);
        assert!(found[0] == 2.0 && found[1].is_nan() && found[2] == 6.0, "{found:?}");
        // Neither y nor what was there.
        let mut r = place(&queue, &nan::<f32>(3), 0);
        let (of_x, of_y) = ((2.0.into(), &x.part), (0.0.into(), &y.part));
        vectors.update(&queue, of_x, of_y, (0.0.into(), &mut r.part), &[]).unwrap();
        let found = r.read(&queue);
        assert!(found[0] == 2.0 && found[1].is_nan() && found[2] == 6.0, "{found:?}");
        let mut r = place(&queue, &nan::<f32>(3), 0);
        let product = (2.0.into(), &x.part, &x.part);
        vectors.multiply_add(&queue, product, (0.0.into(), &mut r.part), &[]).unwrap();
        let found = r.read(&queue);
        assert!(found[0] == 2.0 && found[1].is_nan() && found[2] == 18.0, "{found:?}");
        vectors.scale(&queue, (0.0.into(), &x.part), &mut r.part, &[]).unwrap();
        let found = r.read(&queue);
        assert!(found[0] == 0.0 && found[1].is_nan() && found[2] == 0.0, "{found:?}");
    }
}
