//! Launches of operations among others.

use conformance::{Gate, device, is_interpreter, queue};
use sparrow::{Accumulate, DeviceArray, NoEvent, Queue, Reduction, VectorOptions, Vectors};

use super::{both_kinds, place, random};

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
