//! Every allocation, enqueue and wait of a recording and of its replays fails in turn: each is an error that names its
//! call, or by default launches one by one take the place of a command buffer that could not be recorded and the recording
//! says so; nothing is left behind.

#![expect(clippy::unwrap_used, reason = "a test panics when its claim is broken")]

use cl_runtime::raw::fault::{Kind, arm, live};
use conformance::{
    Fixture, alone, bits, device, fail_each, is_interpreter, names, options, queue_on, say,
};
use sparrow::{
    Accumulate, Algorithm, AnyRecording, DeviceArray, DeviceType, NoEvent, Operands, Plan,
    PlanOptions, Queue, Reordering, Replay, Result, Variant,
};

/// Of two kernels each product where stage 2 runs on the device.
fn staged() -> PlanOptions {
    options(Algorithm::SegmentedSum, Variant::Device, Accumulate::Plain)
}

/// A matrix with a plan, and what its product is.
struct Problem {
    fixture: Fixture<f32>,
    plan: Plan<f32>,
}

impl Problem {
    fn new(queue: &Queue, options: &PlanOptions) -> Self {
        let fixture = Fixture::small(queue, 1);
        let (plan, _) = fixture.plan(queue, options);
        Problem { fixture, plan }
    }

    /// y = A x twice over, into two arrays.
    fn record(
        &self,
        queue: &Queue,
        results: &mut [DeviceArray<f32>; 2],
        replay: Replay,
    ) -> Result<AnyRecording> {
        let mut recorder = self.plan.recorder_blocking(queue)?;
        for y in results {
            let (a, x) = (&self.fixture.a, &self.fixture.x);
            recorder.product(Operands { alpha: 1.0.into(), a, x, beta: 0.0.into(), y })?;
        }
        recorder.finish_blocking(replay)
    }

    fn results(&self, queue: &Queue) -> Result<[DeviceArray<f32>; 2]> {
        let new = || DeviceArray::upload_blocking(queue, &vec![f32::NAN; self.fixture.host.rows()]);
        Ok([new()?, new()?])
    }

    /// Recorded, replayed three times with one call and once with another, and read.
    fn run(&self, queue: &Queue, replay: Replay) -> Result<Vec<u64>> {
        let mut results = self.results(queue)?;
        let mut recording = self.record(queue, &mut results, replay)?;
        self.plan.launch_many(&mut recording, &self.fixture.a, 3, NoEvent)?;
        self.plan.launch_many(&mut recording, &self.fixture.a, 1, &[])?.wait()?;
        let [first, second] = &results;
        let found = bits(&first.read_blocking(queue)?);
        assert_eq!(found, bits(&second.read_blocking(queue)?));
        Ok(found)
    }
}

/// The ways that the device has.
fn replays(problem: &Problem, queue: &Queue) -> Vec<Replay> {
    let mut results = problem.results(queue).unwrap();
    match problem.record(queue, &mut results, Replay::CommandBuffer) {
        Ok(_) => vec![Replay::Launches, Replay::CommandBuffer],
        Err(error) => {
            say(&format!("skipped: command buffers: {error}"));
            vec![Replay::Launches]
        }
    }
}

#[test]
fn a_recording_fails_at_any_allocation_enqueue_or_wait_and_the_next_is_right() {
    let _turn = alone();
    if is_interpreter(&device()) {
        return say(
            "skipped: Oclgrind takes what kernels write to memory used before for uninitialised",
        );
    }
    let queue = queue_on(&device());
    let problem = Problem::new(&queue, &staged());
    for replay in replays(&problem, &queue) {
        let run = |queue: &Queue| problem.run(queue, replay);
        let expected = run(&queue).unwrap();
        let at = format!("{replay:?}");
        let fail = |kind| fail_each(&at, (kind, None), || queue.clone(), run, &expected);
        let allocations = fail(Kind::Allocation);
        let mut allocating = names(&["clCreateBuffer", "clCreateKernel"]);
        let mut enqueuing = names(&["clEnqueueNDRangeKernel"]);
        if replay == Replay::CommandBuffer {
            let recording = [
                "clCreateCommandBufferKHR",
                "clCommandNDRangeKernelKHR",
                "clFinalizeCommandBufferKHR",
            ];
            allocating.extend(names(&recording));
            enqueuing = names(&["clEnqueueCommandBufferKHR"]);
            let recorded = allocations.iter().filter(|call| **call == recording[1]);
            // Two products of two kernels.
            assert_eq!(recorded.count(), 4, "{allocations:?}");
        }
        assert_eq!(names(&allocations), allocating);
        let enqueues = fail(Kind::Enqueue);
        assert!(names(&enqueues).is_superset(&enqueuing), "{enqueues:?}");
        assert!(names(&fail(Kind::Wait)).contains("clWaitForEvents"));
    }
}

#[test]
fn a_replay_that_fails_part_way_leaves_a_workspace_that_the_next_can_use() {
    let _turn = alone();
    if is_interpreter(&device()) {
        return say(
            "skipped: Oclgrind takes what kernels write to memory used before for uninitialised",
        );
    }
    let queue = queue_on(&device());
    let plain = |algorithm| options(algorithm, Variant::Full, Accumulate::Plain);
    // Those whose second kernel clears what the first has left are among them, one of them within another workspace.
    let within = |options| PlanOptions { reordering: Reordering::Clusters, ..options };
    let within = [staged(), plain(Algorithm::CsrAdaptive), plain(Algorithm::CsrFlat)].map(within);
    for options in Algorithm::ALL.map(plain).into_iter().chain([staged()]).chain(within) {
        let problem = Problem::new(&queue, &options);
        let way = (problem.plan.algorithm(), problem.plan.variant());
        if !problem.plan.is_repeatable() {
            say(&format!("skipped: {way:?} does not give the same bits twice"));
            continue;
        }
        for replay in replays(&problem, &queue) {
            fail_part_way(&problem, &queue, replay, &format!("{way:?}, {replay:?}"));
        }
    }
}

/// Has each enqueue of three replays fail in turn, on one recording, and holds the replay after it to the product.
fn fail_part_way(problem: &Problem, queue: &Queue, replay: Replay, at: &str) {
    let expected = problem.run(queue, replay).unwrap();
    let mut results = problem.results(queue).unwrap();
    let mut recording = problem.record(queue, &mut results, replay).unwrap();
    let a = &problem.fixture.a;
    for k in 1.. {
        let armed = arm(Kind::Enqueue, k);
        let launched = problem.plan.launch_many(&mut recording, a, 3, NoEvent);
        let failed = armed.disarm();
        assert_eq!(failed.is_some(), launched.is_err(), "{at}, {k}: {launched:?}");
        for y in &mut results {
            y.write_blocking(queue, &vec![f32::NAN; expected.len()]).unwrap();
        }
        problem.plan.launch_many(&mut recording, a, 1, &[]).unwrap().wait().unwrap();
        for y in &results {
            let found = bits(&y.read_blocking(queue).unwrap());
            assert_eq!(found, expected, "{at}, after the failure of enqueue {k}");
        }
        if failed.is_none() {
            assert!(k > 3, "{at}: {k} enqueues");
            break;
        }
    }
}

#[test]
fn launches_take_the_place_of_a_command_buffer_that_cannot_be_recorded() {
    let _turn = alone();
    let queue = queue_on(&device().masked(|traits| traits.device_type = DeviceType::Gpu));
    let problem = Problem::new(&queue, &staged());
    if replays(&problem, &queue).len() < 2 {
        return;
    }
    let expected = problem.run(&queue, Replay::Launches).unwrap();
    let mut results = problem.results(&queue).unwrap();
    let before = live();
    let mut failures = Vec::new();
    loop {
        let mut recorder = problem.plan.recorder_blocking(&queue).unwrap();
        let [y, _] = &mut results;
        let (a, x) = (&problem.fixture.a, &problem.fixture.x);
        recorder.product(Operands { alpha: 1.0.into(), a, x, beta: 0.0.into(), y }).unwrap();
        let armed = arm(Kind::Allocation, failures.len() + 1);
        let mut recording = recorder.finish_blocking(Replay::Automatic).unwrap();
        let failed = armed.disarm();
        assert_eq!(recording.is_command_buffer(), failed.is_none(), "{}", recording.reason());
        assert_eq!(live().command_buffers - before.command_buffers, isize::from(failed.is_none()));
        problem.plan.launch_many(&mut recording, a, 2, &[]).unwrap().wait().unwrap();
        assert_eq!(bits(&results[0].read_blocking(&queue).unwrap()), expected);
        let Some(call) = failed else {
            assert_eq!(recording.reason(), "a command buffer: the device has them");
            break;
        };
        let reason = recording.reason();
        assert!(reason.starts_with("launches one by one: recording"), "{reason}");
        assert!(reason.contains(call), "{reason}");
        failures.push(call);
    }
    let calls = ["clCreateCommandBufferKHR", "clCommandNDRangeKernelKHR"];
    assert_eq!(failures[..2], calls);
    assert_eq!(failures.last(), Some(&"clFinalizeCommandBufferKHR"));
    let after = live();
    assert_eq!((after.command_buffers, after.memory), (before.command_buffers, before.memory));
    assert_eq!((after.events, after.queues), (before.events, before.queues));
}
