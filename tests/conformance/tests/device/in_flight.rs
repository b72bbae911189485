//! Work in flight whose wait list fails, whose owners are dropped, or that shares a plan with other work.

#![expect(clippy::unwrap_used, reason = "a test panics when its claim is broken")]

use std::time::Duration;

use cl_runtime::raw::fault::live;
use conformance::{Fixture, Gate, algorithms, bits, is_interpreter, options, queue, say};
use sparrow::{
    Accumulate, Algorithm, Batch, BatchOperands, BatchOptions, BatchPlan, ColumnWidth, Csr,
    DenseShape, DeviceArray, Event, HostBatch, Layout, NoEvent, Plan, PlanOptions, Queue,
    SpmmAlgorithm, SpmmOperands, SpmmOptions, SpmmPlan, Variant, Workspace,
};

const ADAPTIVE: (Algorithm, Variant) = (Algorithm::CsrAdaptive, Variant::Full);

/// Every algorithm, and launches that are two kernels.
fn ways() -> Vec<(Algorithm, Variant)> {
    let of = |algorithm: Algorithm| {
        let spec = algorithm.spec();
        let staged = spec.storage.staged.iter().filter(|variant| !variant.blocks());
        let variants = [&spec.default_variant].into_iter().chain(staged);
        variants.map(move |variant| (algorithm, *variant))
    };
    algorithms().into_iter().flat_map(of).collect()
}

fn plain((algorithm, variant): (Algorithm, Variant)) -> PlanOptions {
    options(algorithm, variant, Accumulate::Plain)
}

/// A matrix of rows of every kind; of a few rows on an interpreter, which takes the nonzeros one by one.
fn fixture(queue: &Queue) -> Fixture<f32> {
    match is_interpreter(queue.context().device()) {
        true => Fixture::small(queue, 1),
        false => Fixture::new(queue, 1),
    }
}

fn second(queue: &Queue) -> Queue {
    Queue::new(queue.context()).unwrap()
}

/// A plan, a workspace, and the bits of their product.
fn planned(
    fixture: &Fixture<f32>,
    queue: &Queue,
    way: (Algorithm, Variant),
) -> (Plan<f32>, Workspace, Vec<u64>) {
    let (plan, mut workspace) = fixture.plan(queue, &plain(way));
    let mut y = fixture.poisoned_y(queue);
    fixture.launch(queue, (&plan, &mut workspace), &mut y, &[]).unwrap().wait().unwrap();
    let y = y.read_blocking(queue).unwrap();
    fixture.check(&y, Accumulate::Plain);
    (plan, workspace, bits(&y))
}

/// The event ends in error, and whoever waits for it is told.
fn assert_fails(event: &Event, queue: &Queue) {
    if is_interpreter(queue.context().device()) {
        // Which reports the wait that fails as misuse.
        queue.finish_blocking().unwrap();
        assert!(event.failure().is_some());
    } else {
        let failed = event.wait().unwrap_err().to_string();
        assert!(failed.contains("CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST"), "{failed}");
    }
    // Its status does not always say so: Intel's runtime shows what it let fail as complete.
    assert!(event.is_complete());
}

fn assert_unwritten(y: &DeviceArray<f32>, queue: &Queue, way: (Algorithm, Variant)) {
    let y = y.read_blocking(queue).unwrap();
    assert!(
        y.iter().all(|value| value.is_nan()),
        "{way:?}: a launch that did not run wrote y: {y:?}"
    );
}

#[test]
fn a_launch_whose_wait_list_fails_is_in_error_and_its_workspace_goes_on() {
    let first = queue();
    let other = second(&first);
    let fixture = fixture(&first);
    for way in ways() {
        let (plan, mut workspace, expected) = planned(&fixture, &first, way);
        for (fails_on, goes_on) in [(&first, &first), (&first, &other), (&other, &other)] {
            let mut y = fixture.poisoned_y(&first);
            let gate = Gate::new(first.context());
            let with = (&plan, &mut workspace);
            let event = fixture.launch(fails_on, with, &mut y, &[gate.event()]).unwrap();
            gate.fail();
            assert_fails(&event, fails_on);
            assert_unwritten(&y, goes_on, way);
            for launch in 0..2 {
                let mut y = fixture.poisoned_y(goes_on);
                let with = (&plan, &mut workspace);
                fixture.launch(goes_on, with, &mut y, &[]).unwrap().wait().unwrap();
                let found = bits(&y.read_blocking(goes_on).unwrap());
                assert_eq!(found, expected, "{way:?}, launch {launch} after the failed one");
            }
        }
    }
}

#[test]
fn an_event_that_has_failed_already_is_refused_by_its_place_in_the_wait_list() {
    let queue = queue();
    let fixture = fixture(&queue);
    for way in ways() {
        let (plan, mut workspace, expected) = planned(&fixture, &queue, way);
        let mut y = fixture.poisoned_y(&queue);
        let (open, failed) = (Gate::new(queue.context()), Gate::new(queue.context()));
        let wait = [open.event(), failed.event()];
        open.open();
        failed.fail();
        let refused = fixture.launch(&queue, (&plan, &mut workspace), &mut y, &wait).unwrap_err();
        let refused = refused.to_string();
        assert!(refused.starts_with("event 1 of the wait list ended in error: "), "{refused}");
        assert!(refused.ends_with(" (-1)"), "{refused}");
        assert_unwritten(&y, &queue, way);
        let with = (&plan, &mut workspace);
        fixture.launch(&queue, with, &mut y, &wait[..1]).unwrap().wait().unwrap();
        assert_eq!(bits(&y.read_blocking(&queue).unwrap()), expected, "{way:?}");
    }
}

#[test]
fn a_launch_that_failed_does_not_hide_the_one_before_it() {
    let first = queue();
    if is_interpreter(first.context().device()) {
        say("skipped: a flush of Oclgrind's waits for the gate");
        return;
    }
    let other = second(&first);
    let fixture = fixture(&first);
    let (plan, mut workspace, expected) = planned(&fixture, &first, ADAPTIVE);
    let [mut y1, mut y2, mut y3] = [(); 3].map(|()| fixture.poisoned_y(&first));
    let (holds, fails) = (Gate::new(first.context()), Gate::new(first.context()));
    let with = (&plan, &mut workspace);
    fixture.launch(&first, with, &mut y1, &[holds.event()]).unwrap();
    let with = (&plan, &mut workspace);
    let failing = fixture.launch(&other, with, &mut y2, &[fails.event()]).unwrap();
    fails.fail();
    // Long enough for a driver that fails it at all: one that does not is no failure.
    let has_failed = (0..500).any(|_| {
        std::thread::sleep(Duration::from_millis(2));
        failing.is_complete()
    });
    if !has_failed {
        say("skipped: here a command fails only when all it waits for has ended");
        return;
    }
    let opening = holds.open_soon();
    let last = fixture.launch(&other, (&plan, &mut workspace), &mut y3, &[]).unwrap();
    other.flush().unwrap();
    assert!(!opening.was_passed_by(&last), "two launches of a workspace may have met");
    last.wait().unwrap();
    assert_unwritten(&y2, &other, ADAPTIVE);
    for y in [&y1, &y3] {
        assert_eq!(bits(&y.read_blocking(&other).unwrap()), expected);
    }
}

#[test]
fn launches_of_one_plan_are_in_flight_on_two_queues() {
    let first = queue();
    let queues = [second(&first), first];
    let fixture = fixture(&queues[0]);
    for way in ways() {
        let (plan, workspace, expected) = planned(&fixture, &queues[0], way);
        let mut workspaces = [workspace, plan.workspace_blocking(&queues[1]).unwrap()];
        let mut results = [(); 2].map(|()| fixture.poisoned_y(&queues[0]));
        let gate = Gate::new(queues[0].context());
        let mut events = Vec::new();
        for ((queue, workspace), y) in queues.iter().zip(&mut workspaces).zip(&mut results) {
            let wait = [gate.event()];
            events.push(fixture.launch(queue, (&plan, workspace), y, &wait).unwrap());
        }
        gate.open();
        for (queue, event) in queues.iter().zip(events) {
            queue.flush().unwrap();
            event.wait().unwrap();
        }
        for y in &results {
            let found = bits(&y.read_blocking(&queues[0]).unwrap());
            assert_eq!(found, expected, "{way:?}");
        }
    }
}

#[test]
fn a_write_has_ended_for_another_queue_however_small() {
    let first = queue();
    let other = second(&first);
    let fixture = Fixture::small(&first, 1);
    let (plan, mut workspace, expected) =
        planned(&fixture, &first, (Algorithm::CsrScalar, Variant::default()));
    for time in 0..100 {
        let gate = Gate::new(first.context());
        let mut y = fixture.poisoned_y(&first);
        let with = (&plan, &mut workspace);
        let event = fixture.launch(&other, with, &mut y, &[gate.event()]).unwrap();
        gate.open();
        other.flush().unwrap();
        event.wait().unwrap();
        assert_eq!(bits(&y.read_blocking(&first).unwrap()), expected, "time {time}");
    }
}

#[test]
fn a_launch_without_an_event_comes_after_those_before_it_and_before_those_after_it() {
    let first = queue();
    let others = second(&first);
    let fixture = fixture(&first);
    for way in ways() {
        let (plan, mut workspace, expected) = planned(&fixture, &first, way);
        let mut results = [(); 4].map(|()| fixture.poisoned_y(&first));
        let [in_first, unobserved, in_other, last] = &mut results;
        let gate = Gate::new(first.context());
        // All share a workspace, so each has to wait for the one before, in whatever queue that is.
        fixture.launch(&first, (&plan, &mut workspace), in_first, &[gate.event()]).unwrap();
        fixture.launch_without_event(&first, (&plan, &mut workspace), unobserved).unwrap();
        // Soon: for another queue to wait, this one is flushed.
        let opening = gate.open_soon();
        let event = fixture.launch(&others, (&plan, &mut workspace), in_other, &[]).unwrap();
        fixture.launch_without_event(&first, (&plan, &mut workspace), last).unwrap();
        assert!(!opening.was_passed_by(&event), "a launch passed the one without an event");
        event.wait().unwrap();
        first.finish_blocking().unwrap();
        for y in &results {
            assert_eq!(bits(&y.read_blocking(&first).unwrap()), expected, "{way:?}");
        }
    }
}

#[test]
fn a_launch_of_one_kernel_without_an_event_makes_none() {
    let queue = queue();
    let fixture = fixture(&queue);
    for way in ways() {
        let (plan, mut workspace, expected) = planned(&fixture, &queue, way);
        let mut y = fixture.poisoned_y(&queue);
        let before = live().events;
        for _ in 0..3 {
            fixture.launch_without_event(&queue, (&plan, &mut workspace), &mut y).unwrap();
        }
        assert_eq!(live().events, before, "{way:?}");
        queue.finish_blocking().unwrap();
        assert_eq!(bits(&y.read_blocking(&queue).unwrap()), expected, "{way:?}");
    }
}

#[test]
fn an_spmm_of_several_kernels_without_an_event_makes_none() {
    let queue = queue();
    let fixture = Fixture::<f32>::small(&queue, 1);
    // B is copied to rows before the product, and after it the parts of a row that is cut are added up.
    let shape = |rows| DenseShape::packed(rows, 5, Layout::ColumnMajor).unwrap();
    let (b_shape, c_shape) = (shape(fixture.host.cols()), shape(fixture.host.rows()));
    let options = SpmmOptions {
        algorithm: Some(SpmmAlgorithm::RowSplit),
        parameters: vec![("part_nnz".to_owned(), 64)],
        ..SpmmOptions::default()
    };
    let plan =
        SpmmPlan::<f32, u32, f32>::new_blocking(&queue, &fixture.a, b_shape, c_shape, &options)
            .unwrap();
    let b: Vec<f32> = csr_core::random_vector(3, b_shape.span());
    let b = DeviceArray::upload_blocking(&queue, &b).unwrap();
    let mut c = DeviceArray::upload_blocking(&queue, &vec![f32::NAN; c_shape.span()]).unwrap();
    let mut workspace = plan.workspace_blocking(&queue).unwrap();
    let before = live().events;
    let (alpha, beta) = (1.0.into(), 0.0.into());
    for _ in 0..3 {
        let product = SpmmOperands { alpha, a: &fixture.a, b: &b, beta, c: &mut c };
        plan.launch(&queue, &mut workspace, product, NoEvent).unwrap();
    }
    assert_eq!(live().events, before);
    queue.finish_blocking().unwrap();
    let found = bits(&c.read_blocking(&queue).unwrap());
    let product = SpmmOperands { alpha, a: &fixture.a, b: &b, beta, c: &mut c };
    plan.launch(&queue, &mut workspace, product, &[]).unwrap().wait().unwrap();
    let observed = c.read_blocking(&queue).unwrap();
    assert!(observed.iter().all(|element| !element.is_nan()));
    assert_eq!(found, bits(&observed));
}

#[test]
fn a_batch_launched_without_an_event_makes_none_and_comes_after_what_was_before() {
    let queue = queue();
    let mut host = HostBatch::new();
    for seed in 0..3 {
        let values = csr_core::random_vector(seed, 4);
        let problem = Csr::<f32>::new(2, vec![0, 2, 4], vec![0, 1, 0, 1], values).unwrap();
        host.push_csr(problem.view()).unwrap();
    }
    let batch = Batch::upload_blocking(&queue, &host, ColumnWidth::Automatic).unwrap();
    let plan = BatchPlan::new_blocking(&queue, &batch, &BatchOptions::default()).unwrap();
    let mut workspace = plan.workspace_blocking(&queue).unwrap();
    let x = DeviceArray::upload_blocking(&queue, &[1.0f32; 6]).unwrap();
    let mut y = DeviceArray::upload_blocking(&queue, &[0.0f32; 6]).unwrap();
    let mut launch = |number: f32, is_observed: bool| {
        let (alpha, beta) = (1.0.into(), number.into());
        let product = BatchOperands { alpha, a: &batch, x: &x, beta, y: &mut y };
        match is_observed {
            true => drop(plan.launch(&queue, &mut workspace, product, &[]).unwrap()),
            false => plan.launch(&queue, &mut workspace, product, NoEvent).unwrap(),
        }
    };
    launch(0.0, true);
    launch(1.0, true);
    queue.finish_blocking().unwrap();
    let before = live().events;
    launch(0.0, false);
    launch(1.0, false);
    assert!(live().events <= before);
    let after_two = y.read_blocking(&queue).unwrap();
    let sums = |row: &[f32]| 2.0 * (row[0] + row[1]);
    let expected: Vec<f32> = host.values().chunks(2).map(sums).collect();
    assert_eq!(after_two, expected);
}

#[test]
fn everything_but_y_may_be_dropped_with_work_in_flight() {
    let reader = queue();
    for way in ways() {
        // The context keeps what cutting rows on the device needs.
        drop(planned(&fixture(&reader), &reader, way));
        let before = live();
        let fixture = fixture(&reader);
        let (plan, mut workspace, expected) = planned(&fixture, &reader, way);
        let queue = second(&reader);
        let mut y = fixture.poisoned_y(&queue);
        let gate = Gate::new(queue.context());
        let event =
            fixture.launch(&queue, (&plan, &mut workspace), &mut y, &[gate.event()]).unwrap();
        // Soon, from another thread: there are drivers that wait when a queue is released.
        let opening = gate.open_soon();
        drop((plan, workspace, fixture, queue));
        assert!(!opening.was_passed_by(&event), "the launch ran before what it waits for");
        event.wait().unwrap();
        assert_eq!(bits(&y.read_blocking(&reader).unwrap()), expected, "{way:?}");
        drop((event, y));
        let after = live();
        // The context keeps its programs.
        assert_eq!((after.memory, after.kernels), (before.memory, before.kernels), "{way:?}");
        assert_eq!((after.events, after.queues), (before.events, before.queues), "{way:?}");
    }
}

#[test]
fn everything_may_be_dropped_with_work_in_flight() {
    let before = live();
    for way in ways() {
        for ends_well in [true, false] {
            let queue = queue();
            let fixture = fixture(&queue);
            let (plan, mut workspace, _) = planned(&fixture, &queue, way);
            let mut y = fixture.poisoned_y(&queue);
            let gate = Gate::new(queue.context());
            let with = (&plan, &mut workspace);
            fixture.launch(&queue, with, &mut y, &[gate.event()]).unwrap();
            let opening = ends_well.then(|| gate.open_soon());
            drop((plan, workspace, fixture, y, queue));
            if let Some(opening) = opening {
                opening.wait();
            }
            assert_eq!(live(), before, "{way:?}");
        }
    }
    // And the device goes on.
    let queue = queue();
    let fixture = fixture(&queue);
    planned(&fixture, &queue, ADAPTIVE);
}

#[test]
fn shared_virtual_memory_dropped_during_a_fill_lives_until_its_end() {
    let queue = queue();
    let traits = queue.context().device().traits();
    if !traits.svm.coarse_grain_buffer {
        say(&format!("skipped: {} has no shared virtual memory", traits.name));
        return;
    }
    let fixture = fixture(&queue);
    let (plan, mut workspace, _) = planned(&fixture, &queue, (Algorithm::CsrScalar, Variant::Full));
    let mut y = fixture.poisoned_y(&queue);
    let mut shared = DeviceArray::<u32>::allocate_svm(queue.context(), 4096).unwrap();
    let gate = Gate::new(queue.context());
    fixture.launch(&queue, (&plan, &mut workspace), &mut y, &[gate.event()]).unwrap();
    // In order, so behind the launch.
    let filled = shared.fill(&queue, 7).unwrap().unwrap();
    std::thread::scope(|scope| {
        let dropping = scope.spawn(move || drop(shared));
        std::thread::sleep(Duration::from_millis(50));
        assert!(!dropping.is_finished(), "freed under a fill that will write it");
        gate.open();
    });
    filled.wait().unwrap();
}
