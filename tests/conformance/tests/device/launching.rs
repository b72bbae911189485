//! Launches keep their order across queues and threads, on the library's objects and on its own.

#![expect(clippy::unwrap_used, reason = "a test panics when its claim is broken")]

use std::time::Duration;

use conformance::{Fixture, Gate, bits, check_product, options, queue, say};
use sparrow::{
    Accumulate, Algorithm, Csr, DeviceArray, Matrix, Operands, PlanOptions, Queue, Variant,
};

fn adaptive() -> PlanOptions {
    options(Algorithm::CsrAdaptive, Variant::Full, Accumulate::Plain)
}

fn second(queue: &Queue) -> Queue {
    Queue::new(queue.context()).unwrap()
}

#[test]
fn a_launch_waits_for_its_wait_list() {
    let queue = queue();
    let fixture = Fixture::<f32>::new(&queue, 1);
    let (plan, mut workspace) = fixture.plan(&queue, &adaptive());
    let mut y = fixture.poisoned_y(&queue);
    let gate = Gate::new(queue.context());
    let event = fixture.launch(&queue, (&plan, &mut workspace), &mut y, &[gate.event()]).unwrap();
    let opening = gate.open_soon();
    queue.flush().unwrap();
    assert!(!opening.was_passed_by(&event), "the launch ran before what it waits for");
    event.wait().unwrap();
    assert!(event.is_complete());
    fixture.check(&y.read_blocking(&queue).unwrap(), Accumulate::Plain);
}

#[test]
fn a_launch_on_no_rows_waits_for_its_wait_list() {
    let queue = queue();
    let host: Csr<f32> = Csr::new(3, vec![0], vec![], vec![]).unwrap();
    let a = Matrix::upload_blocking(&queue, host.view()).unwrap();
    let plan = sparrow::Plan::new_blocking(&queue, &a, &PlanOptions::default()).unwrap();
    let mut workspace = plan.workspace_blocking(&queue).unwrap();
    let x = DeviceArray::upload_blocking(&queue, &[1.0, 2.0, 3.0]).unwrap();
    let mut y = DeviceArray::allocate(queue.context(), 0).unwrap();
    let gate = Gate::new(queue.context());
    let product = Operands { alpha: 1.0.into(), a: &a, x: &x, beta: 0.0.into(), y: &mut y };
    let event = plan.launch(&queue, &mut workspace, product, &[gate.event()]).unwrap();
    let opening = gate.open_soon();
    queue.flush().unwrap();
    assert!(!opening.was_passed_by(&event), "the event came before what it waits for");
    event.wait().unwrap();
}

#[test]
fn events_order_a_chain_of_products_across_two_queues() {
    let first = queue();
    let queues = [second(&first), first];
    let fixture = Fixture::<f32>::new(&queues[0], 1);
    let (plan, workspace) = fixture.plan(&queues[0], &adaptive());
    // A workspace a queue: only the events order these launches.
    let mut workspaces = [workspace, plan.workspace_blocking(&queues[0]).unwrap()];
    let mut vectors = [&fixture.x, &fixture.x]
        .map(|x| DeviceArray::upload_blocking(&queues[0], &x.read_blocking(&queues[0]).unwrap()))
        .map(Result::unwrap);
    let gate = Gate::new(queues[0].context());
    let mut last = gate.event();
    for link in 0..8 {
        let (queue, workspace) = (&queues[link % 2], &mut workspaces[link % 2]);
        let [even, odd] = &mut vectors;
        let (x, y) = if link % 2 == 0 { (&*even, odd) } else { (&*odd, even) };
        // A half keeps the numbers small.
        let product = Operands { alpha: 0.5.into(), a: &fixture.a, x, beta: 0.0.into(), y };
        last = plan.launch(queue, workspace, product, &[last]).unwrap();
    }
    gate.open();
    for queue in &queues {
        queue.flush().unwrap();
    }
    last.wait().unwrap();
    let found = vectors[0].read_blocking(&queues[0]).unwrap();

    // The same chain with a wait after every product.
    let mut x = fixture.x.read_blocking(&queues[0]).unwrap();
    for _ in 0..8 {
        let device_x = DeviceArray::upload_blocking(&queues[0], &x).unwrap();
        let mut y = fixture.poisoned_y(&queues[0]);
        let product = Operands {
            alpha: 0.5.into(),
            a: &fixture.a,
            x: &device_x,
            beta: 0.0.into(),
            y: &mut y,
        };
        plan.launch(&queues[0], &mut workspaces[0], product, &[]).unwrap().wait().unwrap();
        let y = y.read_blocking(&queues[0]).unwrap();
        check_product(&fixture.host, 0.5, &x, 0.0, &y, &y, Accumulate::Plain);
        x = y;
    }
    assert_eq!(bits(&found), bits(&x));
}

#[test]
fn a_workspace_on_a_second_queue_waits_for_the_first() {
    let first = queue();
    let second = second(&first);
    let fixture = Fixture::<f32>::new(&first, 1);
    let (plan, mut workspace) = fixture.plan(&first, &adaptive());
    let mut results = [fixture.poisoned_y(&first), fixture.poisoned_y(&first)];
    let [y1, y2] = &mut results;
    let gate = Gate::new(first.context());
    let on_first = fixture.launch(&first, (&plan, &mut workspace), y1, &[gate.event()]).unwrap();
    let opening = gate.open_soon();
    let on_second = fixture.launch(&second, (&plan, &mut workspace), y2, &[]).unwrap();
    second.flush().unwrap();
    assert!(!opening.was_passed_by(&on_second), "the second launch did not wait for the first");
    on_second.wait().unwrap();
    assert!(on_first.is_complete());
    for y in &results {
        fixture.check(&y.read_blocking(&second).unwrap(), Accumulate::Plain);
    }
}

#[test]
fn threads_share_a_plan_with_a_workspace_each() {
    let first = queue();
    if first.context().device().traits().platform.contains("Oclgrind") {
        say("skipped: Oclgrind 21.10 crashes when a second thread calls it, even in turn");
        return;
    }
    let fixture = Fixture::<f32>::new(&first, 1);
    let (plan, mut workspace) = fixture.plan(&first, &adaptive());
    let mut y = fixture.poisoned_y(&first);
    fixture.launch(&first, (&plan, &mut workspace), &mut y, &[]).unwrap().wait().unwrap();
    let expected = bits(&y.read_blocking(&first).unwrap());
    let start = std::sync::Barrier::new(2);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let queue = second(&first);
                let mut workspace = plan.workspace_blocking(&queue).unwrap();
                let mut y = fixture.poisoned_y(&queue);
                start.wait();
                for launch in 0..20 {
                    let with = (&plan, &mut workspace);
                    fixture.launch(&queue, with, &mut y, &[]).unwrap().wait().unwrap();
                    let found = bits(&y.read_blocking(&queue).unwrap());
                    assert_eq!(found, expected, "launch {launch}");
                }
            });
        }
    });
}

#[test]
fn values_change_and_the_plan_stays() {
    let queue = queue();
    let mut fixture = Fixture::<f32>::new(&queue, 1);
    let (plan, mut workspace) = fixture.plan(&queue, &adaptive());
    let mut y = fixture.poisoned_y(&queue);
    fixture.launch(&queue, (&plan, &mut workspace), &mut y, &[]).unwrap().wait().unwrap();
    fixture.check(&y.read_blocking(&queue).unwrap(), Accumulate::Plain);

    // Written over the old ones.
    let rewritten = Fixture::<f32>::new(&queue, 31).host;
    fixture.a.write_values_blocking(&queue, rewritten.values()).unwrap();
    fixture.launch(&queue, (&plan, &mut workspace), &mut y, &[]).unwrap().wait().unwrap();
    let found = y.read_blocking(&queue).unwrap();
    let x = &fixture.host_x;
    check_product(&rewritten, 1.0, x, 0.0, &found, &found, Accumulate::Plain);

    // In an array of their own, beside the old ones.
    let beside = Fixture::<f32>::new(&queue, 32).host;
    let values = DeviceArray::upload_blocking(&queue, beside.values()).unwrap();
    let a = fixture.a.with_values(values).unwrap();
    for (a, host) in [(&a, &beside), (&fixture.a, &rewritten)] {
        let product = Operands { alpha: 1.0.into(), a, x: &fixture.x, beta: 0.0.into(), y: &mut y };
        plan.launch(&queue, &mut workspace, product, &[]).unwrap().wait().unwrap();
        let found = y.read_blocking(&queue).unwrap();
        check_product(host, 1.0, x, 0.0, &found, &found, Accumulate::Plain);
    }
}

#[test]
fn alpha_and_beta_are_read_where_the_device_pointer_says_when_the_launch_runs() {
    let queue = queue();
    let platform = &queue.context().device().traits().platform;
    if platform.contains("Intel(R) OpenCL") {
        say(&format!(
            "skipped: {platform} does not order this by user events (docs/portability.md)"
        ));
        return;
    }
    let fixture = Fixture::<f32>::new(&queue, 1);
    for algorithm in Algorithm::ALL {
        let options = PlanOptions {
            scalars_on_device: true,
            ..options(algorithm, Variant::Full, Accumulate::Plain)
        };
        let (plan, mut workspace) = fixture.plan(&queue, &options);
        let before: Vec<f32> = csr_core::random_vector(8, fixture.host.rows());
        let mut y = DeviceArray::upload_blocking(&queue, &before).unwrap();
        let nan = f32::NAN;
        let mut scalars = DeviceArray::upload_blocking(&queue, &[nan; 5]).unwrap();
        let (alpha, beta) = (scalars.slice(3..4).unwrap(), scalars.slice(1..2).unwrap());
        let gate = Gate::new(queue.context());
        let product = Operands {
            alpha: (&alpha).into(),
            a: &fixture.a,
            x: &fixture.x,
            beta: (&beta).into(),
            y: &mut y,
        };
        let event = plan.launch(&queue, &mut workspace, product, &[gate.event()]).unwrap();
        // Known only after the launch was enqueued: written from another queue.
        scalars.write_blocking(&second(&queue), &[nan, -0.75, nan, 2.5, nan]).unwrap();
        gate.open();
        event.wait().unwrap();
        let found = y.read_blocking(&queue).unwrap();
        let x = &fixture.host_x;
        check_product(&fixture.host, 2.5, x, -0.75, &before, &found, Accumulate::Plain);
    }
}

#[test]
fn alpha_and_beta_are_read_where_the_device_pointer_says_launch_by_launch() {
    let queue = queue();
    let fixture = Fixture::<f32>::new(&queue, 1);
    for algorithm in Algorithm::ALL {
        let options = PlanOptions {
            scalars_on_device: true,
            ..options(algorithm, Variant::Full, Accumulate::Plain)
        };
        let (plan, mut workspace) = fixture.plan(&queue, &options);
        let before: Vec<f32> = csr_core::random_vector(8, fixture.host.rows());
        let mut y = DeviceArray::upload_blocking(&queue, &before).unwrap();
        let nan = f32::NAN;
        let mut scalars = DeviceArray::upload_blocking(&queue, &[nan; 5]).unwrap();
        let (alpha, beta) = (scalars.slice(3..4).unwrap(), scalars.slice(1..2).unwrap());
        // What an earlier launch read does not stick.
        for (new_alpha, new_beta) in [(-9.0, 4.0), (2.5, -0.75)] {
            scalars.write_blocking(&queue, &[nan, new_beta, nan, new_alpha, nan]).unwrap();
            y.write_blocking(&queue, &before).unwrap();
            let product = Operands {
                alpha: (&alpha).into(),
                a: &fixture.a,
                x: &fixture.x,
                beta: (&beta).into(),
                y: &mut y,
            };
            plan.launch(&queue, &mut workspace, product, &[]).unwrap().wait().unwrap();
        }
        let found = y.read_blocking(&queue).unwrap();
        let x = &fixture.host_x;
        check_product(&fixture.host, 2.5, x, -0.75, &before, &found, Accumulate::Plain);
    }
}

#[test]
fn x_and_y_in_shared_virtual_memory_work_as_buffers_do() {
    let queue = queue();
    let context = queue.context();
    let traits = context.device().traits();
    if !traits.svm.coarse_grain_buffer {
        let refused = DeviceArray::<f32>::allocate_svm(context, 4).unwrap_err().to_string();
        assert_eq!(refused, format!("{} has no shared virtual memory", traits.name));
        say(&format!("skipped: {refused}"));
        return;
    }
    let mut fixture = Fixture::<f32>::new(&queue, 1);
    for algorithm in Algorithm::ALL {
        let options = options(algorithm, Variant::Full, Accumulate::Plain);
        let (plan, mut workspace) = fixture.plan(&queue, &options);
        // Slices: the element offset counts in shared memory too.
        let mut whole_x = DeviceArray::allocate_svm(context, 5 + fixture.host_x.len()).unwrap();
        let padded: Vec<f32> =
            [f32::NAN; 5].into_iter().chain(fixture.host_x.iter().copied()).collect();
        whole_x.write_blocking(&queue, &padded).unwrap();
        fixture.x = whole_x.slice(5..padded.len()).unwrap();
        let rows = fixture.host.rows();
        let mut whole_y = DeviceArray::allocate_svm(context, rows + 6).unwrap();
        whole_y.write_blocking(&queue, &vec![f32::NAN; rows + 6]).unwrap();
        let mut y = whole_y.slice(3..3 + rows).unwrap();
        fixture.launch(&queue, (&plan, &mut workspace), &mut y, &[]).unwrap().wait().unwrap();
        let found = whole_y.read_blocking(&queue).unwrap();
        fixture.check(&found[3..3 + rows], Accumulate::Plain);
        let around = found[..3].iter().chain(&found[3 + rows..]);
        assert!(around.into_iter().all(|value| value.is_nan()), "written outside y");
    }
}

#[test]
fn shared_virtual_memory_dropped_during_a_launch_lives_until_its_end() {
    let queue = queue();
    if !queue.context().device().traits().svm.coarse_grain_buffer {
        println!(
            "skipped: {} has no shared virtual memory",
            queue.context().device().traits().name
        );
        return;
    }
    let mut fixture = Fixture::<f32>::new(&queue, 1);
    let (plan, mut workspace) = fixture.plan(&queue, &adaptive());
    let mut x = DeviceArray::allocate_svm(queue.context(), fixture.host_x.len()).unwrap();
    x.write_blocking(&queue, &fixture.host_x).unwrap();
    let plain_x = std::mem::replace(&mut fixture.x, x);
    let mut y = fixture.poisoned_y(&queue);
    let gate = Gate::new(queue.context());
    let event = fixture.launch(&queue, (&plan, &mut workspace), &mut y, &[gate.event()]).unwrap();
    std::thread::scope(|scope| {
        let x = std::mem::replace(&mut fixture.x, plain_x);
        let dropping = scope.spawn(move || drop(x));
        std::thread::sleep(Duration::from_millis(50));
        assert!(!dropping.is_finished(), "freed under a launch that will read it");
        gate.open();
    });
    event.wait().unwrap();
    fixture.check(&y.read_blocking(&queue).unwrap(), Accumulate::Plain);
}
