//! Functions of dense vectors: right at every offset, in place, in both precisions; and what they refuse.

use clSPARSE::{self as cl, Status, cldenseVector, clsparseControl, clsparseScalar};
use conformance::{device, queue};
use num_traits::Float;
use sparrow::Real;
use sparrow::host::Accumulator;
use sparrow::{DeviceArray, Queue};

use super::problem::{Control, padded, raw};

type Scaled = unsafe extern "C" fn(
    *mut cldenseVector,
    *const clsparseScalar,
    *const cldenseVector,
    clsparseControl,
) -> Status;
type Added = unsafe extern "C" fn(
    *mut cldenseVector,
    *const clsparseScalar,
    *const cldenseVector,
    *const cldenseVector,
    clsparseControl,
) -> Status;
type BothScaled = unsafe extern "C" fn(
    *mut cldenseVector,
    *const clsparseScalar,
    *const cldenseVector,
    *const clsparseScalar,
    *const cldenseVector,
    clsparseControl,
) -> Status;
type Combined = unsafe extern "C" fn(
    *mut cldenseVector,
    *const cldenseVector,
    *const cldenseVector,
    clsparseControl,
) -> Status;
type Reduced =
    unsafe extern "C" fn(*mut clsparseScalar, *const cldenseVector, clsparseControl) -> Status;
type Multiplied = unsafe extern "C" fn(
    *mut clsparseScalar,
    *const cldenseVector,
    *const cldenseVector,
    clsparseControl,
) -> Status;

/// The functions of a precision.
struct Functions {
    scale: Scaled,
    axpy: Added,
    axpby: BothScaled,
    /// add, sub, mul, div.
    combined: [Combined; 4],
    /// reduce, nrm1, nrm2.
    reduced: [Reduced; 3],
    dot: Multiplied,
}

const SINGLE: Functions = Functions {
    scale: cl::cldenseSscale,
    axpy: cl::cldenseSaxpy,
    axpby: cl::cldenseSaxpby,
    combined: [cl::cldenseSadd, cl::cldenseSsub, cl::cldenseSmul, cl::cldenseSdiv],
    reduced: [cl::cldenseSreduce, cl::cldenseSnrm1, cl::cldenseSnrm2],
    dot: cl::cldenseSdot,
};

const DOUBLE: Functions = Functions {
    scale: cl::cldenseDscale,
    axpy: cl::cldenseDaxpy,
    axpby: cl::cldenseDaxpby,
    combined: [cl::cldenseDadd, cl::cldenseDsub, cl::cldenseDmul, cl::cldenseDdiv],
    reduced: [cl::cldenseDreduce, cl::cldenseDnrm1, cl::cldenseDnrm2],
    dot: cl::cldenseDdot,
};

/// What [`padded`] puts before an array.
const BEFORE: u32 = 3;

fn vector<T: bytemuck::Pod>(array: &DeviceArray<T>, length: usize) -> cldenseVector {
    cldenseVector { num_values: length as u32, values: raw(array), off_values: BEFORE }
}

fn number<T: bytemuck::Pod>(array: &DeviceArray<T>, place: u32) -> clsparseScalar {
    clsparseScalar { value: raw(array), off_value: BEFORE + place }
}

/// What is between the canaries of a padded array, once those were looked at.
fn inside<T: Accumulator + Real + Float>(
    queue: &Queue,
    array: &DeviceArray<T>,
    length: usize,
) -> Vec<T> {
    let all = array.read_blocking(queue).unwrap();
    let begin = BEFORE as usize;
    let around = all[..begin].iter().chain(&all[begin + length..]);
    assert!(around.into_iter().all(|one| one.is_nan()), "canaries");
    all[begin..begin + length].to_vec()
}

/// All numbers and results are exact: halves of small whole numbers.
#[expect(
    clippy::undocumented_unsafe_blocks,
    reason = "what each pointer points to lives; all of them would say so"
)]
fn all_are_right<T: Accumulator + Real + Float>(functions: &Functions) {
    let queue = queue();
    let control = Control::new(&queue);
    for length in [1usize, 5, 1000, 20_001] {
        let of =
            |f: fn(usize) -> f64| -> Vec<T> { (0..length).map(|k| T::from_f64(f(k))).collect() };
        let (x, y) = (of(|k| (k % 7) as f64 / 2.0 - 1.0), of(|k| [1.0, -2.0, 0.5][k % 3]));
        let nan = T::nan();
        let on = |data: &[T]| padded(&queue, data, nan).unwrap();
        let (on_x, on_y, scalars) = (on(&x), on(&y), on(&[T::from_f64(3.0), T::from_f64(-0.5)]));
        let (vx, vy) = (vector(&on_x, length), vector(&on_y, length));
        let (alpha, beta) = (number(&scalars, 0), number(&scalars, 1));
        let pairs = |f: &dyn Fn(f64, f64) -> f64| -> Vec<T> {
            x.iter().zip(&y).map(|(&x, &y)| T::from_f64(f(x.to_f64(), y.to_f64()))).collect()
        };

        // Apart, with the length of r not set; and in the place of x.
        for in_place in [false, true] {
            let check = |name: &str, expected: Vec<T>, call: &dyn Fn(*mut cldenseVector, *const cldenseVector) -> Status| {
                let r = on(if in_place { &x } else { &y });
                let mut vr = vector(&r, if in_place { length } else { 0 });
                let of_x = if in_place { vr } else { vx };
                assert_eq!(call(&raw mut vr, &raw const of_x), Status::Success, "{name}");
                assert_eq!(inside(&queue, &r, length), expected, "{name} of {length}");
            };
            check("scale", pairs(&|x, _| 3.0 * x), &|r, x| unsafe {
                (functions.scale)(r, &raw const alpha, x, control.0)
            });
            check("axpy", pairs(&|x, y| 3.0 * x + y), &|r, x| unsafe {
                (functions.axpy)(r, &raw const alpha, x, &raw const vy, control.0)
            });
            check("axpby", pairs(&|x, y| 3.0 * x - 0.5 * y), &|r, x| unsafe {
                let (alpha, beta) = (&raw const alpha, &raw const beta);
                (functions.axpby)(r, alpha, x, beta, &raw const vy, control.0)
            });
            let expected: [&dyn Fn(f64, f64) -> f64; 4] =
                [&|x, y| x + y, &|x, y| x - y, &|x, y| x * y, &|x, y| x / y];
            for (function, expected) in functions.combined.iter().zip(expected) {
                check("combined", pairs(expected), &|r, x| unsafe {
                    function(r, x, &raw const vy, control.0)
                });
            }
        }

        let sum = |f: &dyn Fn(f64, f64) -> f64| -> f64 {
            x.iter().zip(&y).map(|(&x, &y)| f(x.to_f64(), y.to_f64())).sum()
        };
        let result = on(&[T::from_f64(-77.0)]);
        let mut s = number(&result, 0);
        let is_right = |name: &str, status: Status, expected: f64| {
            assert_eq!(status, Status::Success, "{name}");
            let found = inside(&queue, &result, 1)[0].to_f64();
            let near = (found - expected).abs() <= 4.0 * T::EPSILON * expected.abs();
            assert!(near, "{name} of {length} is {found} and not {expected}");
        };
        let expected = [sum(&|x, _| x), sum(&|x, _| x.abs()), sum(&|x, _| x * x).sqrt()];
        for (function, expected) in functions.reduced.iter().zip(expected) {
            // SAFETY: as before.
            let status = unsafe { function(&raw mut s, &raw const vx, control.0) };
            is_right("a reduction", status, expected);
        }
        // SAFETY: as before.
        let status =
            unsafe { (functions.dot)(&raw mut s, &raw const vx, &raw const vy, control.0) };
        is_right("dot", status, sum(&|x, y| x * y));
    }
}

#[test]
fn functions_of_vectors_are_right_at_offsets_and_in_place() {
    all_are_right::<f32>(&SINGLE);
    if device().traits().has_f64 {
        all_are_right::<f64>(&DOUBLE);
    }
}

#[test]
fn nrm2_of_1024_fours_is_128_and_the_sum_of_integers_wraps() {
    let queue = queue();
    let control = Control::new(&queue);
    let fours = padded(&queue, &[4f32; 1024], f32::NAN).unwrap();
    let result = padded(&queue, &[0f32], f32::NAN).unwrap();
    let (x, mut s) = (vector(&fours, 1024), number(&result, 0));
    // SAFETY: all of them live.
    let status = unsafe { cl::cldenseSnrm2(&raw mut s, &raw const x, control.0) };
    assert_eq!((status, inside(&queue, &result, 1)[0]), (Status::Success, 128.0));
    let integers = padded(&queue, &[i32::MAX, 2, -5], 99).unwrap();
    let sum = padded(&queue, &[0i32], 99).unwrap();
    let (x, mut s) = (vector(&integers, 3), number(&sum, 0));
    // SAFETY: all of them live.
    let status = unsafe { cl::cldenseIreduce(&raw mut s, &raw const x, control.0) };
    assert_eq!(status, Status::Success);
    let expected = i32::MAX.wrapping_add(2).wrapping_sub(5);
    assert_eq!(sum.read_blocking(&queue).unwrap(), [99, 99, 99, expected, 99, 99]);
}

#[test]
fn extended_precision_keeps_what_plain_sums_of_vectors_lose() {
    let queue = queue();
    let control = Control::new(&queue);
    cl::clsparseEnableExtendedPrecision(control.0, 1);
    let mut x = vec![2f32.powi(-30); 4096];
    (x[0], x[4095]) = (1.0, -1.0);
    let on_x = padded(&queue, &x, f32::NAN).unwrap();
    let result = padded(&queue, &[0f32], f32::NAN).unwrap();
    let (x, mut s) = (vector(&on_x, 4096), number(&result, 0));
    // SAFETY: all of them live.
    let status = unsafe { cl::cldenseSreduce(&raw mut s, &raw const x, control.0) };
    assert_eq!(status, Status::Success);
    assert_eq!(inside(&queue, &result, 1)[0], 4094.0 * 2f32.powi(-30));
}

#[test]
fn vectors_that_do_not_fit_are_told_and_nothing_is_written() {
    let queue = queue();
    let control = Control::new(&queue);
    let array = padded(&queue, &[1f32; 64], f32::NAN).unwrap();
    let scalars = padded(&queue, &[2f32, 3.0], f32::NAN).unwrap();
    let elsewhere = conformance::queue();
    let foreign = padded(&elsewhere, &[1f32; 64], f32::NAN).unwrap();
    let other = padded(&queue, &[1f32; 64], f32::NAN).unwrap();
    let alpha = number(&scalars, 0);
    let scale = |mut r: cldenseVector, alpha: clsparseScalar, y: cldenseVector| {
        // SAFETY: all of them live.
        unsafe { cl::cldenseSscale(&raw mut r, &raw const alpha, &raw const y, control.0) }
    };
    let (whole, source) = (vector(&array, 64), vector(&other, 64));
    // Lengths, buffers, contexts, overlaps.
    assert_eq!(scale(whole, alpha, vector(&other, 63)), Status::InvalidSize);
    assert_eq!(scale(vector(&array, 1000), alpha, vector(&other, 1000)), Status::InvalidSize);
    assert_eq!(scale(whole, number(&scalars, 9), source), Status::InvalidSize);
    assert_eq!(scale(whole, alpha, vector(&foreign, 64)), Status::InvalidContext);
    assert_eq!(scale(whole, number(&foreign, 0), source), Status::InvalidContext);
    let null = cldenseVector { values: std::ptr::null_mut(), ..source };
    assert_eq!(scale(whole, alpha, null), Status::InvalidMemObj);
    let shifted = cldenseVector { off_values: BEFORE + 1, ..whole };
    assert_eq!(scale(whole, alpha, shifted), Status::InvalidValue);
    assert_eq!(scale(whole, number(&array, 5), source), Status::InvalidValue);
    let mut inside_x = number(&array, 7);
    // SAFETY: all of them live.
    let status = unsafe { cl::cldenseSreduce(&raw mut inside_x, &raw const whole, control.0) };
    assert_eq!(status, Status::InvalidValue);
    assert_eq!(inside(&queue, &array, 64), [1f32; 64]);
    assert_eq!(scale(whole, alpha, source), Status::Success);
    assert_eq!(inside(&queue, &array, 64), [2f32; 64]);
}
