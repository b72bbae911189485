//! Products that are recorded and launched many times by one call: what comes out, in what order, and what is refused.

#![expect(clippy::unwrap_used, reason = "a test panics when its claim is broken")]

use conformance::{Fixture, Gate, bits, device, is_interpreter, options, queue, queue_on, say};
use sparrow::{
    Accumulate, Algorithm, AnyRecording, DeviceArray, DeviceType, Matrix, NoEvent, Op, Operands,
    Plan, PlanOptions, Queue, Reordering, Replay, Variant, Workspace,
};

/// Every algorithm, launches that are two kernels, and one among kernels that move x and y.
fn ways() -> Vec<PlanOptions> {
    let of = |algorithm: Algorithm| {
        let spec = algorithm.spec();
        let staged = spec.storage.staged.iter().filter(|variant| !variant.blocks());
        let variants = [&spec.default_variant].into_iter().chain(staged);
        variants.map(move |variant| (algorithm, *variant))
    };
    let reordered = PlanOptions { reordering: Reordering::Clusters, ..adaptive() };
    Algorithm::ALL.into_iter().flat_map(of).map(plain).chain([reordered]).collect()
}

fn plain((algorithm, variant): (Algorithm, Variant)) -> PlanOptions {
    options(algorithm, variant, Accumulate::Plain)
}

fn adaptive() -> PlanOptions {
    plain((Algorithm::CsrAdaptive, Variant::Full))
}

fn fixture(queue: &Queue) -> Fixture<f32> {
    match is_interpreter(queue.context().device()) {
        true => Fixture::small(queue, 1),
        false => Fixture::new(queue, 1),
    }
}

/// Two arrays that products go to and fro between.
struct Pair([DeviceArray<f32>; 2]);

impl Pair {
    fn new(fixture: &Fixture<f32>, queue: &Queue) -> Self {
        let y = DeviceArray::upload_blocking(queue, &vec![0.25; fixture.host.rows()]).unwrap();
        Pair([DeviceArray::upload_blocking(queue, &fixture.host_x).unwrap(), y])
    }

    /// y = 0.5 A x - 0.25 y from the first to the second, or back; the numbers stay small.
    fn product<'a>(&'a mut self, a: &'a Matrix<f32>, back: bool) -> Operands<'a, f32, u32> {
        let [first, second] = &mut self.0;
        let (x, y) = if back { (&*second, first) } else { (&*first, second) };
        Operands { alpha: 0.5.into(), a, x, beta: (-0.25).into(), y }
    }

    fn bits(&self, queue: &Queue) -> [Vec<u64>; 2] {
        let [first, second] = &self.0;
        [bits(&first.read_blocking(queue).unwrap()), bits(&second.read_blocking(queue).unwrap())]
    }
}

/// There and back.
fn record(
    queue: &Queue,
    plan: &Plan<f32>,
    a: &Matrix<f32>,
    pair: &mut Pair,
    replay: Replay,
) -> sparrow::Result<AnyRecording> {
    let mut recorder = plan.recorder_blocking(queue)?;
    recorder.product(pair.product(a, false))?;
    recorder.product(pair.product(a, true))?;
    recorder.finish_blocking(replay)
}

/// Both ways to replay, where the device has both.
fn replays(queue: &Queue) -> Vec<Replay> {
    let fixture = Fixture::<f32>::small(queue, 1);
    let (plan, _) = fixture.plan(queue, &adaptive());
    let mut pair = Pair::new(&fixture, queue);
    match record(queue, &plan, &fixture.a, &mut pair, Replay::CommandBuffer) {
        Ok(recording) => {
            assert!(recording.is_command_buffer());
            vec![Replay::Launches, Replay::CommandBuffer]
        }
        Err(error) => {
            say(&format!("skipped: command buffers: {error}"));
            vec![Replay::Launches]
        }
    }
}

/// What `times` there and back give when each product is launched and waited for.
fn one_by_one(
    queue: &Queue,
    fixture: &Fixture<f32>,
    (plan, workspace): (&Plan<f32>, &mut Workspace),
    times: u32,
) -> [Vec<u64>; 2] {
    let mut pair = Pair::new(fixture, queue);
    for _ in 0..times {
        for back in [false, true] {
            let product = pair.product(&fixture.a, back);
            plan.launch(queue, workspace, product, &[]).unwrap().wait().unwrap();
        }
    }
    pair.bits(queue)
}

#[test]
fn a_recording_gives_what_its_products_give_one_by_one_bit_for_bit() {
    let queue = queue();
    let fixture = fixture(&queue);
    let replays = replays(&queue);
    for way in ways() {
        let (plan, mut workspace) = fixture.plan(&queue, &way);
        let way = format!("{} {} {}", plan.algorithm(), plan.variant(), way.reordering);
        if !plan.is_repeatable() {
            say(&format!("skipped: {way} does not give the same bits twice"));
            continue;
        }
        let expected =
            [1, 4].map(|times| one_by_one(&queue, &fixture, (&plan, &mut workspace), times));
        for &replay in &replays {
            let mut pair = Pair::new(&fixture, &queue);
            let mut recording = record(&queue, &plan, &fixture.a, &mut pair, replay).unwrap();
            assert_eq!(recording.products(), 2);
            assert!(recording.kernels() >= 2, "{way}: {}", recording.kernels());
            // Without a wait between: each replay comes after the one before in its queue.
            plan.launch_many(&mut recording, &fixture.a, 1, NoEvent).unwrap();
            assert_eq!(pair.bits(&queue), expected[0], "{way}, {replay:?}, once");
            plan.launch_many(&mut recording, &fixture.a, 2, NoEvent).unwrap();
            plan.launch_many(&mut recording, &fixture.a, 0, NoEvent).unwrap();
            let last = plan.launch_many(&mut recording, &fixture.a, 1, &[]).unwrap();
            last.wait().unwrap();
            assert_eq!(pair.bits(&queue), expected[1], "{way}, {replay:?}, four times");
        }
    }
}

#[test]
fn a_replay_waits_for_its_wait_list_and_each_for_the_one_before() {
    let queue = queue();
    let fixture = fixture(&queue);
    let (plan, mut workspace) = fixture.plan(&queue, &adaptive());
    let expected = one_by_one(&queue, &fixture, (&plan, &mut workspace), 6);
    for replay in replays(&queue) {
        let mut pair = Pair::new(&fixture, &queue);
        let mut recording = record(&queue, &plan, &fixture.a, &mut pair, replay).unwrap();
        let gate = Gate::new(queue.context());
        let first = plan.launch_many(&mut recording, &fixture.a, 2, &[gate.event()]).unwrap();
        let second = plan.launch_many(&mut recording, &fixture.a, 4, &[]).unwrap();
        let opening = gate.open_soon();
        queue.flush().unwrap();
        assert!(!opening.was_passed_by(&first), "{replay:?} ran before what it waits for");
        second.wait().unwrap();
        assert!(first.is_complete());
        assert_eq!(pair.bits(&queue), expected, "{replay:?}");
    }
}

#[test]
fn a_replay_whose_wait_list_fails_writes_nothing_and_the_next_is_right() {
    let queue = queue();
    let fixture = fixture(&queue);
    let (plan, mut workspace) = fixture.plan(&queue, &adaptive());
    let before = Pair::new(&fixture, &queue).bits(&queue);
    let expected = one_by_one(&queue, &fixture, (&plan, &mut workspace), 2);
    for replay in replays(&queue) {
        let mut pair = Pair::new(&fixture, &queue);
        let mut recording = record(&queue, &plan, &fixture.a, &mut pair, replay).unwrap();
        let gate = Gate::new(queue.context());
        let event = plan.launch_many(&mut recording, &fixture.a, 3, &[gate.event()]).unwrap();
        gate.fail();
        if is_interpreter(queue.context().device()) {
            // Which reports the wait that fails as misuse.
            queue.finish_blocking().unwrap();
        } else {
            assert!(event.wait().is_err(), "{replay:?}: nobody was told");
        }
        assert_eq!(pair.bits(&queue), before, "{replay:?}: what did not run wrote");
        let event = plan.launch_many(&mut recording, &fixture.a, 2, &[]).unwrap();
        event.wait().unwrap();
        assert_eq!(pair.bits(&queue), expected, "{replay:?}");
    }
}

#[test]
fn a_replay_reads_what_is_in_its_arrays_then() {
    let queue = queue();
    let mut fixture = fixture(&queue);
    let options = PlanOptions { scalars_on_device: true, ..adaptive() };
    let (plan, mut workspace) = fixture.plan(&queue, &options);
    let mut scalars = DeviceArray::upload_blocking(&queue, &[1.0f32, 0.0]).unwrap();
    for replay in replays(&queue) {
        let mut y = fixture.poisoned_y(&queue);
        let (alpha, beta) = (scalars.slice(0..1).unwrap(), scalars.slice(1..2).unwrap());
        let product = |y| Operands {
            alpha: (&alpha).into(),
            a: &fixture.a,
            x: &fixture.x,
            beta: (&beta).into(),
            y,
        };
        let mut recorder = plan.recorder_blocking(&queue).unwrap();
        recorder.product(product(&mut y)).unwrap();
        let mut recording = recorder.finish_blocking(replay).unwrap();
        // New values, x and alpha, where the old ones were.
        scalars.write_blocking(&queue, &[-2.0, 0.0]).unwrap();
        let x: Vec<f32> = csr_core::random_vector(77, fixture.host.cols());
        fixture.x.write_blocking(&queue, &x).unwrap();
        let values: Vec<f32> = csr_core::random_vector(78, fixture.host.nnz());
        fixture.a.write_values_blocking(&queue, &values).unwrap();
        plan.launch_many(&mut recording, &fixture.a, 1, &[]).unwrap().wait().unwrap();
        let found = bits(&y.read_blocking(&queue).unwrap());

        let mut y = fixture.poisoned_y(&queue);
        let product = Operands {
            alpha: (&alpha).into(),
            a: &fixture.a,
            x: &fixture.x,
            beta: (&beta).into(),
            y: &mut y,
        };
        plan.launch(&queue, &mut workspace, product, &[]).unwrap().wait().unwrap();
        assert_eq!(found, bits(&y.read_blocking(&queue).unwrap()), "{replay:?}");
    }
}

#[test]
fn a_recording_keeps_alive_what_it_works_on() {
    let queue = queue();
    let fixture = fixture(&queue);
    let (plan, mut workspace) = fixture.plan(&queue, &adaptive());
    let expected = one_by_one(&queue, &fixture, (&plan, &mut workspace), 3);
    drop(workspace);
    for replay in replays(&queue) {
        let mut pair = Pair::new(&fixture, &queue);
        let mut recording = record(&queue, &plan, &fixture.a, &mut pair, replay).unwrap();
        let second = pair.0[1].slice(0..pair.0[1].len()).unwrap();
        drop(pair);
        plan.launch_many(&mut recording, &fixture.a, 3, NoEvent).unwrap();
        // In flight still.
        drop(recording);
        assert_eq!(bits(&second.read_blocking(&queue).unwrap()), expected[1], "{replay:?}");
    }
}

#[test]
fn shared_virtual_memory_is_freed_after_the_replays_that_use_it() {
    let queue = queue();
    if !queue.context().device().traits().svm.coarse_grain_buffer {
        return say("skipped: the device has no shared virtual memory");
    }
    let fixture = fixture(&queue);
    let (plan, mut workspace) = fixture.plan(&queue, &adaptive());
    let expected = one_by_one(&queue, &fixture, (&plan, &mut workspace), 2);
    for replay in replays(&queue) {
        let shared = |data: &[f32]| {
            let mut array = DeviceArray::allocate_svm(queue.context(), data.len()).unwrap();
            array.write_blocking(&queue, data).unwrap();
            array
        };
        let mut pair = Pair([shared(&fixture.host_x), shared(&vec![0.25; fixture.host.rows()])]);
        let mut recording = record(&queue, &plan, &fixture.a, &mut pair, replay).unwrap();
        plan.launch_many(&mut recording, &fixture.a, 2, NoEvent).unwrap();
        assert_eq!(pair.bits(&queue), expected, "{replay:?}");
        plan.launch_many(&mut recording, &fixture.a, 2, NoEvent).unwrap();
        drop((pair, recording));
    }
    queue.finish_blocking().unwrap();
}

#[test]
fn a_recording_of_another_plan_matrix_or_copy_of_values_is_refused() {
    let queue = queue();
    let mut fixture = Fixture::<f32>::small(&queue, 1);
    let other = Fixture::<f32>::small(&queue, 2);
    let (mut plan, _) = fixture.plan(&queue, &plain((Algorithm::EvcHyb, Variant::Hybrid)));
    let (twin, _) = fixture.plan(&queue, &plain((Algorithm::EvcHyb, Variant::Hybrid)));
    let mut pair = Pair::new(&fixture, &queue);
    let mut recording = record(&queue, &plan, &fixture.a, &mut pair, Replay::Automatic).unwrap();
    let mut refused = |plan: &Plan<f32>, a: &Matrix<f32>, words: &str| {
        let error = plan.launch_many(&mut recording, a, 1, NoEvent).unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    };
    refused(&twin, &fixture.a, "made with another plan");
    refused(&plan, &other.a, "does not share the pattern");
    let values: Vec<f32> = csr_core::random_vector(9, fixture.host.nnz());
    fixture.a.write_values_blocking(&queue, &values).unwrap();
    refused(&plan, &fixture.a, "values have changed since the plan's copy was made");
    plan.update_values_blocking(&queue, &fixture.a).unwrap();
    refused(&plan, &fixture.a, "before the plan's copy of the values was brought up to date");

    // A plan without a copy reads the values where they lie, of the matrix that was recorded alone.
    let (plan, _) = fixture.plan(&queue, &adaptive());
    let values = DeviceArray::upload_blocking(&queue, &values).unwrap();
    let same_pattern = fixture.a.with_values(values).unwrap();
    let mut recording = record(&queue, &plan, &fixture.a, &mut pair, Replay::Automatic).unwrap();
    plan.launch_many(&mut recording, &fixture.a, 1, &[]).unwrap().wait().unwrap();
    let error = plan.launch_many(&mut recording, &same_pattern, 1, NoEvent).unwrap_err();
    assert!(error.to_string().contains("a recording has one matrix"), "{error}");
    let mut recorder = plan.recorder_blocking(&queue).unwrap();
    recorder.product(pair.product(&fixture.a, false)).unwrap();
    let error = recorder.product(pair.product(&same_pattern, true)).unwrap_err();
    assert!(error.to_string().contains("a recording has one matrix"), "{error}");
    // What was recorded before stays.
    let mut recording = recorder.finish_blocking(Replay::Launches).unwrap();
    assert_eq!(recording.products(), 1);
    plan.launch_many(&mut recording, &fixture.a, 1, &[]).unwrap().wait().unwrap();
}

#[test]
fn a_product_that_cannot_be_launched_cannot_be_recorded() {
    let queue = queue();
    let fixture = Fixture::<f32>::small(&queue, 1);
    let (plan, _) = fixture.plan(&queue, &adaptive());
    let mut pair = Pair::new(&fixture, &queue);
    let mut recorder = plan.recorder_blocking(&queue).unwrap();
    let mut short = DeviceArray::upload_blocking(&queue, &[0.0f32; 3]).unwrap();
    let product = Operands { y: &mut short, ..pair.product(&fixture.a, false) };
    let error = recorder.product(product).unwrap_err().to_string();
    assert!(error.contains('y'), "{error}");
    let elsewhere = queue_on(&device());
    let error = plan.recorder_blocking(&elsewhere).unwrap_err().to_string();
    assert!(error.contains("context"), "{error}");
    let staged = PlanOptions { op: Op::Normal, ..plain((Algorithm::SegmentedSum, Variant::Cpu)) };
    let (plan, _) = fixture.plan(&queue, &staged);
    let mut recorder = plan.recorder_blocking(&queue).unwrap();
    let error = recorder.product(pair.product(&fixture.a, false)).unwrap_err().to_string();
    assert!(error.contains("stage 2 on the CPU"), "{error}");
}

/// A queue of the application's that runs commands in any order.
fn out_of_order(queue: &Queue) -> Queue {
    use opencl3::command_queue as cl;
    let context = queue.context();
    let (raw, device) = (context.as_raw(), context.device().id().as_raw());
    let order = cl::CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE;
    #[expect(unsafe_code, reason = "stands for an application with a queue of its own")]
    // SAFETY: context and device are valid and belong together; the queue keeps a reference of its own.
    unsafe {
        let raw = cl::create_command_queue(raw, device, order).unwrap();
        let queue = Queue::from_raw(context, raw).unwrap();
        cl::release_command_queue(raw).unwrap();
        queue
    }
}

#[test]
fn in_a_queue_out_of_order_products_still_come_one_after_the_other() {
    let in_order = queue();
    let queue = out_of_order(&in_order);
    let fixture = fixture(&in_order);
    let (plan, mut workspace) = fixture.plan(&in_order, &adaptive());
    let expected = one_by_one(&in_order, &fixture, (&plan, &mut workspace), 8);
    let mut pair = Pair::new(&fixture, &in_order);
    let asked = record(&queue, &plan, &fixture.a, &mut pair, Replay::CommandBuffer).unwrap_err();
    assert!(asked.to_string().contains("no command buffer replays"), "{asked}");
    let mut recording = record(&queue, &plan, &fixture.a, &mut pair, Replay::Automatic).unwrap();
    assert!(!recording.is_command_buffer());
    plan.launch_many(&mut recording, &fixture.a, 3, NoEvent).unwrap();
    let last = plan.launch_many(&mut recording, &fixture.a, 5, &[]).unwrap();
    last.wait().unwrap();
    assert_eq!(pair.bits(&in_order), expected);
}

#[test]
fn a_recording_says_how_it_is_replayed_and_why() {
    let queue = queue();
    let fixture = Fixture::<f32>::small(&queue, 1);
    let (plan, _) = fixture.plan(&queue, &adaptive());
    let mut pair = Pair::new(&fixture, &queue);
    let asked = record(&queue, &plan, &fixture.a, &mut pair, Replay::Launches).unwrap();
    assert_eq!(
        (asked.is_command_buffer(), asked.reason()),
        (false, "launches one by one: asked for")
    );
    if device().traits().device_type == DeviceType::Cpu {
        let found = record(&queue, &plan, &fixture.a, &mut pair, Replay::Automatic).unwrap();
        assert!(!found.is_command_buffer());
        assert!(found.reason().ends_with("is a CPU"), "{}", found.reason());
    }
    // By default a GPU's driver replays it, if it can.
    let masked = device().masked(|traits| traits.device_type = DeviceType::Gpu);
    let queue = queue_on(&masked);
    let fixture = Fixture::<f32>::small(&queue, 1);
    let (plan, _) = fixture.plan(&queue, &adaptive());
    let mut pair = Pair::new(&fixture, &queue);
    let found = record(&queue, &plan, &fixture.a, &mut pair, Replay::Automatic).unwrap();
    let can = replays(&queue).contains(&Replay::CommandBuffer);
    assert_eq!(found.is_command_buffer(), can, "{}", found.reason());
    if !can {
        assert!(found.reason().contains("cl_khr_command_buffer"), "{}", found.reason());
    }
}
