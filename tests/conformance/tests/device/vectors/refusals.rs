//! What operations refuse.

use conformance::queue;
use sparrow::{
    Accumulate, Coefficient, Combination, DeviceArray, Reduction, VectorOptions, Vectors,
};

use super::options;

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
    assert_refused(refused, &["r has 40 elements", "39 are needed: as many as x has"]);
    let refused = vectors.axpy(&queue, (one(), &x), &short, &mut r, &[]);
    assert_refused(refused, &["y has 39 elements", "40 are needed: as many as x has"]);
    let refused = vectors.axpby(&queue, (one(), &x), (one(), &short), &mut r, &[]);
    assert_refused(refused, &["y has 39 elements"]);
    let refused = vectors.combine(&queue, Combination::Add, (&short, &x), &mut r, &[]);
    assert_refused(refused, &["y has 40 elements", "39 are needed: as many as x has"]);
    let refused = vectors.dot_blocking(&queue, &x, &short, &[]);
    assert_refused(refused, &["y has 39 elements", "40 are needed: as many as x has"]);
    let refused = vectors.reduce(&queue, Reduction::Sum, &x, &mut part(5, 5), &[]);
    assert_refused(refused, &["the result has 0 elements where 1 is needed"]);

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
    assert_refused(refused, &["alpha has 0 elements where 1 is needed"]);

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
