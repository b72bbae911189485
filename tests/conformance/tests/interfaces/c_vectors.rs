//! `sparrow.h` from an application's side: dense vectors.
#![expect(unsafe_code, reason = "stands for an application in C")]

use std::ptr::{null, null_mut};

use conformance::c_application::*;
use sparrow::RealValue;
use sparrow_c::*;

/// Kernels for vectors of a type, made by `application`.
fn vectors_of(
    application: &Application,
    value_type: sparrow_value_type,
    scalars_on_device: u32,
) -> *mut sparrow_vectors {
    let options = sparrow_vectors_options {
        size: size_of::<sparrow_vectors_options>(),
        value_type,
        accumulate: SPARROW_ACCUMULATE_COMPENSATED,
        scalars_on_device,
    };
    let (context, queue) = (application.sparrow, application.queue);
    // SAFETY: everything is valid.
    made(|out| unsafe { sparrow_vectors_create_blocking(context, queue, &raw const options, out) })
}

/// An element of r, of those of x and y.
type Elementwise<'a> = &'a dyn Fn(f64, f64) -> f64;

fn operations_on_vectors_are_right<V: RealValue<Accum = V>>(on_device: bool) {
    let mut application = Application::new();
    let queue = application.queue;
    let vectors = vectors_of(&application, value_number(V::TYPE), on_device.into());
    let (x_host, y_host) = ([3.0, -1.0, 4.0, 0.5, 2.0], [2.0, 4.0, -0.5, 1.0, 8.0]);
    let (x, y) = (application.vector::<V>(1, &x_host), application.vector::<V>(3, &y_host));
    let number = |application: &mut Application, value: f64| match on_device {
        true => sparrow_scalar { value: f64::NAN, device: application.vector::<V>(1, &[value]) },
        false => by_value(value),
    };
    let (alpha, beta) = (number(&mut application, 2.0), number(&mut application, -0.5));
    let gamma = number(&mut application, 0.25);
    // Where r is not read it is NaN, else 8.
    let expected: [(f64, Elementwise<'_>); 9] = [
        (f64::NAN, &|x, _| 2.0 * x),
        (f64::NAN, &|x, y| 2.0 * x + y),
        (f64::NAN, &|x, y| 2.0 * x - 0.5 * y),
        (f64::NAN, &|x, y| x + y),
        (f64::NAN, &|x, y| x - y),
        (f64::NAN, &|x, y| x * y),
        (f64::NAN, &|x, y| x / y),
        (8.0, &|x, y| 2.0 * x - 0.5 * y + 2.0),
        (8.0, &|x, y| 2.0 * x * y - 4.0),
    ];
    for (number, (before, expected)) in expected.into_iter().enumerate() {
        let before = vec![before; 5];
        let elementwise = sparrow_elementwise {
            size: size_of::<sparrow_elementwise>(),
            elements: 5,
            alpha,
            x,
            beta,
            y,
            r: application.vector::<V>(2, &before),
            operation: SPARROW_ELEMENTARY_SCALE + number as u32,
            gamma,
        };
        let (operands, mut event) = (&raw const elementwise, null_mut());
        // SAFETY: everything is valid.
        unsafe {
            let out = &raw mut event;
            expect_success(sparrow_vectors_elementwise(vectors, queue, operands, 0, null(), out));
        }
        let found: Vec<V> = application.read(elementwise.r, 5, event);
        let right = x_host.iter().zip(y_host).map(|(&x, y)| V::from_f64(expected(x, y)));
        assert_eq!(found, right.collect::<Vec<V>>(), "operation {}", elementwise.operation);
    }
    let squares: f64 = x_host.iter().map(|x| x * x).sum();
    for (kind, expected) in [
        (SPARROW_REDUCTION_SUM, 8.5),
        (SPARROW_REDUCTION_DOT, 16.5),
        (SPARROW_REDUCTION_NORM1, 10.5),
        (SPARROW_REDUCTION_NORM2, squares.sqrt()),
    ] {
        let reduction = sparrow_reduction {
            size: size_of::<sparrow_reduction>(),
            elements: 5,
            x,
            y,
            result: application.vector::<V>(1, &[f64::NAN]),
            kind,
        };
        let (operands, mut event) = (&raw const reduction, null_mut());
        // SAFETY: everything is valid.
        unsafe {
            let out = &raw mut event;
            expect_success(sparrow_vectors_reduce(vectors, queue, operands, 0, null(), out));
        }
        let found = application.read::<V>(reduction.result, 1, event)[0];
        assert_eq!(found, V::from_f64(expected), "reduction {kind}");
    }
    // SAFETY: released once.
    expect_success(unsafe { sparrow_vectors_release(vectors) });
}

#[test]
pub(crate) fn operations_on_dense_vectors_are_right_in_both_precisions() {
    for on_device in [false, true] {
        operations_on_vectors_are_right::<f32>(on_device);
        if conformance::device().traits().has_f64 {
            operations_on_vectors_are_right::<f64>(on_device);
        }
    }
}

#[test]
pub(crate) fn integers_are_summed_and_what_vectors_cannot_be_is_refused() {
    let mut application = Application::new();
    let queue = application.queue;
    let vectors = vectors_of(&application, SPARROW_VALUE_TYPE_F32, 0);
    let right = sparrow_reduction {
        size: size_of::<sparrow_reduction>(),
        elements: 3,
        x: application.buffer(1, &[i32::MAX, 2, -5]),
        y: NOWHERE,
        result: application.buffer(1, &[77i32]),
        kind: SPARROW_REDUCTION_SUM_INTEGERS,
    };
    let reduce = |reduction: sparrow_reduction| {
        // SAFETY: everything is valid but what the test made wrong.
        unsafe {
            let (operands, none) = (&raw const reduction, null_mut());
            sparrow_vectors_reduce(vectors, queue, operands, 0, null(), none)
        }
    };
    expect_success(reduce(right));
    let found = application.read::<i32>(right.result, 1, null_mut());
    assert_eq!(found, [i32::MAX.wrapping_add(2).wrapping_sub(5)]);

    let invalid = sparrow_status::SPARROW_STATUS_INVALID_ARGUMENT;
    let mismatch = sparrow_status::SPARROW_STATUS_MISMATCH;
    let text = refusal(reduce(sparrow_reduction { kind: 6, ..right }), invalid);
    assert!(
        text.starts_with("reduction->kind is 6, and none of SPARROW_REDUCTION_SUM (1)"),
        "{text}"
    );
    let text = refusal(reduce(sparrow_reduction { elements: 4, ..right }), invalid);
    assert!(text.starts_with("reduction->x: the length of an array: 4"), "{text}");
    let dot = sparrow_reduction { kind: SPARROW_REDUCTION_DOT, ..right };
    let text = refusal(reduce(dot), invalid);
    assert_eq!(text, "reduction->y.memory and .svm are NULL, and 3 elements are needed");
    let text = refusal(reduce(sparrow_reduction { result: right.x, ..right }), mismatch);
    assert!(text.starts_with("x and the result overlap"), "{text}");

    let numbers = application.buffer(0, &[1f32; 8]);
    let later = sparrow_buffer { byte_offset: 4, ..numbers };
    let elementwise = sparrow_elementwise {
        size: size_of::<sparrow_elementwise>(),
        elements: 4,
        alpha: by_value(1.0),
        x: numbers,
        beta: by_value(1.0),
        y: numbers,
        r: later,
        operation: SPARROW_ELEMENTARY_ADD,
        gamma: by_value(0.0),
    };
    let launch = |elementwise: sparrow_elementwise| {
        // SAFETY: everything is valid but what the test made wrong.
        unsafe {
            let (operands, none) = (&raw const elementwise, null_mut());
            sparrow_vectors_elementwise(vectors, queue, operands, 0, null(), none)
        }
    };
    let text = refusal(launch(elementwise), mismatch);
    assert!(text.starts_with("x and r overlap in part"), "{text}");
    let text = refusal(launch(sparrow_elementwise { operation: 0, ..elementwise }), invalid);
    assert!(text.starts_with("elementwise->operation is 0, and none of"), "{text}");
    assert_eq!(application.read::<f32>(numbers, 8, null_mut()), [1f32; 8]);

    let options = sparrow_vectors_options {
        size: size_of::<sparrow_vectors_options>(),
        value_type: SPARROW_VALUE_TYPE_F16,
        accumulate: 0,
        scalars_on_device: 0,
    };
    let mut none = null_mut();
    // SAFETY: everything is valid.
    let status = unsafe {
        let (options, out) = (&raw const options, &raw mut none);
        sparrow_vectors_create_blocking(application.sparrow, queue, options, out)
    };
    let text = refusal(status, invalid);
    assert!(text.starts_with("options->value_type is f16") && none.is_null(), "{text}");
    // SAFETY: released once.
    expect_success(unsafe { sparrow_vectors_release(vectors) });
}
