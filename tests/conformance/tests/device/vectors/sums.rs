//! Sums of numbers that are hard to add up.

use conformance::queue;
use csr_core::Accumulator;
use num_traits::Float;
use sparrow::{Accumulate, DeviceArray, Queue, Real, Reduction};

use super::{BOTH, Placed, both_kinds, lengths, random};

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
    for (mut vectors, tiling) in both_kinds::<f32>(&queue, Accumulate::Plain).into_iter().zip(BOTH)
    {
        for length in lengths(tiling) {
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
