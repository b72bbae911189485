//! The same launch gives the same bits: fifty times, on two queues, among other launches, from a new plan,
//! from a new process.

#![expect(clippy::unwrap_used, reason = "a test panics when its claim is broken")]

use conformance::{
    Fixture, bits, device, implementations, is_full, is_interpreter, options, queue, say,
};
use sparrow::{Accumulate, Algorithm, Context, Plan, PlanOptions, Queue, RealValue, Variant};

/// Two on an interpreter, whose order is the same each time: what one launch leaves behind is seen in the next.
fn launches() -> usize {
    if is_full() || !is_interpreter(&device()) { 50 } else { 2 }
}

/// The bits of one launch of a plan and workspace of its own.
fn first_bits<V: RealValue>(
    queue: &Queue,
    fixture: &Fixture<V>,
    options: &PlanOptions,
) -> Vec<u64> {
    let (plan, mut workspace) = fixture.plan(queue, options);
    assert!(plan.is_repeatable(), "{:?} says it is not repeatable", plan.key());
    let mut y = fixture.poisoned_y(queue);
    fixture.launch(queue, (&plan, &mut workspace), &mut y, &[]).unwrap().wait().unwrap();
    let y = y.read_blocking(queue).unwrap();
    fixture.check(&y, options.accumulate);
    bits(&y)
}

/// Launches in turn on two queues, each beside a launch of another plan that
/// nobody waits for. On an interpreter every second algorithm and variant, from the `first` on.
fn repeats_among_others<V: RealValue>(queues: &[Queue; 2], accumulate: Accumulate, first: usize) {
    let fixture = Fixture::<V>::new(&queues[0], 1);
    let other = Fixture::<V>::new(&queues[0], 5);
    let busy = options(Algorithm::CsrAdaptive, Variant::Full, accumulate);
    let (other_plan, mut other_workspace) = other.plan(&queues[0], &busy);
    let mut other_y = other.poisoned_y(&queues[0]);
    let (skipped, step) = match !is_full() && is_interpreter(&device()) {
        true => (first, 2),
        false => (0, 1),
    };
    for (algorithm, variant) in implementations().into_iter().skip(skipped).step_by(step) {
        let options = options(algorithm, variant, accumulate);
        let expected = first_bits(&queues[0], &fixture, &options);
        let (plan, mut workspace) = fixture.plan(&queues[0], &options);
        let mut y = fixture.poisoned_y(&queues[0]);
        for launch in 0..launches() {
            let (queue, beside) = (&queues[launch % 2], &queues[(launch + 1) % 2]);
            let others = (&other_plan, &mut other_workspace);
            other.launch(beside, others, &mut other_y, &[]).unwrap();
            let event = fixture.launch(queue, (&plan, &mut workspace), &mut y, &[]).unwrap();
            event.wait().unwrap();
            let found = bits(&y.read_blocking(queue).unwrap());
            assert_eq!(found, expected, "launch {launch} of {algorithm} {variant} {accumulate}");
        }
        for queue in queues {
            queue.finish_blocking().unwrap();
        }
    }
}

fn two_queues() -> [Queue; 2] {
    let first = queue();
    let second = Queue::new(first.context()).unwrap();
    [first, second]
}

#[test]
fn every_algorithm_repeats_its_bits_among_other_launches_on_two_queues() {
    let queues = two_queues();
    repeats_among_others::<f32>(&queues, Accumulate::Plain, 0);
    if queues[0].context().device().traits().has_f64 {
        repeats_among_others::<f64>(&queues, Accumulate::Compensated, 1);
    } else {
        say("skipped in f64: the device has none");
    }
}

#[test]
fn new_plans_and_new_contexts_repeat_the_bits() {
    let first = queue();
    if !is_full() && is_interpreter(first.context().device()) {
        say("new plans and contexts: skipped, an interpreter's order is the same each time");
        return;
    }
    let second = Queue::new(&Context::new(first.context().device()).unwrap()).unwrap();
    for (algorithm, variant) in implementations() {
        let options = options(algorithm, variant, Accumulate::Plain);
        let fixture = Fixture::<f32>::new(&first, 1);
        let expected = first_bits(&first, &fixture, &options);
        assert_eq!(first_bits(&first, &fixture, &options), expected, "{algorithm} {variant}");
        let elsewhere = Fixture::<f32>::new(&second, 1);
        assert_eq!(first_bits(&second, &elsewhere, &options), expected, "{algorithm} {variant}");
    }
}

#[test]
fn launches_follow_each_other_without_waiting_and_repeat_the_bits() {
    let queue = queue();
    let fixture = Fixture::<f32>::new(&queue, 1);
    let options = options(Algorithm::CsrAdaptive, Variant::Full, Accumulate::Plain);
    let expected = first_bits(&queue, &fixture, &options);
    let (plan, mut workspace): (Plan<f32>, _) = fixture.plan(&queue, &options);
    let mut results: Vec<_> = (0..launches()).map(|_| fixture.poisoned_y(&queue)).collect();
    for y in &mut results {
        fixture.launch(&queue, (&plan, &mut workspace), y, &[]).unwrap();
    }
    for y in &results {
        assert_eq!(bits(&y.read_blocking(&queue).unwrap()), expected);
    }
}

/// Names the file that a child process writes its bits to.
const BITS_TO: &str = "SPARROW_TEST_BITS_TO";

/// Every implementation's bits, as text.
fn all_bits() -> String {
    let queue = queue();
    let fixture = Fixture::<f32>::new(&queue, 1);
    let lines = implementations().into_iter().map(|(algorithm, variant)| {
        let options = options(algorithm, variant, Accumulate::Plain);
        format!("{algorithm} {variant} {:x?}\n", first_bits(&queue, &fixture, &options))
    });
    lines.collect()
}

#[test]
fn a_restarted_process_repeats_the_bits() {
    if let Some(path) = std::env::var_os(BITS_TO) {
        std::fs::write(path, all_bits()).unwrap();
        return;
    }
    if !is_full() && is_interpreter(&device()) {
        say("a restarted process: skipped, an interpreter's order is the same each time");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bits");
    let child = std::process::Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "repeatability::a_restarted_process_repeats_the_bits",
            "--test-threads=1",
        ])
        .env(BITS_TO, &path)
        .output()
        .unwrap();
    assert!(child.status.success(), "{}", String::from_utf8_lossy(&child.stdout));
    assert_eq!(std::fs::read_to_string(&path).unwrap(), all_bits());
}
