//! Every allocation, build, enqueue and wait of a product fails in turn: each failure is an error that
//! names its call, nothing leaks, and what comes next on the same objects is right bit for bit.

#![expect(clippy::unwrap_used, reason = "a test panics when its claim is broken")]

use cl_runtime::raw::Memory;
use cl_runtime::raw::fault::{Kind, arm};
use conformance::{
    alone, assert_names, bits, check_product, device, fail_each, is_full, is_interpreter, names,
    options, say,
};
use sparrow::{
    Accumulate, Algorithm, BinaryCache, Context, Csr, DeviceArray, DeviceType, Error, Matrix, Op,
    Operands, Plan, PlanOptions, Planning, Queue, Reordering, Result, Variant,
};

/// y = 2.5 A x - 0.75 y on a matrix with empty, short and cut rows, small enough for Oclgrind.
struct Problem {
    a: Csr<f32>,
    x: Vec<f32>,
    y: Vec<f32>,
}

const ALPHA: f32 = 2.5;
const BETA: f32 = -0.75;

impl Problem {
    fn new() -> Self {
        let lengths = [2, 2, 0, 33, 1, 270, 0, 3, 3, 100, 1, 2];
        let cols = 40;
        let (mut offsets, mut columns) = (vec![0u32], Vec::new());
        for (row, length) in lengths.into_iter().enumerate() {
            columns.extend((0..length).map(|k| ((row + k * 7) % cols) as u32));
            offsets.push(columns.len() as u32);
        }
        let values = csr_core::random_vector(1, columns.len());
        let a = Csr::new(cols, offsets, columns, values).unwrap();
        Problem { a, x: csr_core::random_vector(2, cols), y: csr_core::random_vector(3, cols) }
    }

    /// x and y before, for A or its transposed.
    fn vectors(&self, op: Op) -> (&[f32], &[f32]) {
        let rows = self.a.rows();
        match op {
            Op::Normal => (&self.x, &self.y[..rows]),
            Op::Transpose => (&self.x[..rows], &self.y),
        }
    }

    /// All of it: upload, plan, workspace, two launches one after the other, read back.
    fn multiply(&self, queue: &Queue, case: &Case) -> Result<Vec<f32>> {
        let options = &case.options;
        let mut a = Matrix::upload_blocking(queue, self.a.view())?;
        if case.borrowed {
            a = borrow(queue, &a)?;
        }
        let (x, y_before) = self.vectors(options.op);
        let x = DeviceArray::upload_blocking(queue, x)?;
        let mut y = DeviceArray::upload_blocking(queue, y_before)?;
        let scalars = DeviceArray::upload_blocking(queue, &[ALPHA, BETA])?;
        let (alpha, beta) = (scalars.slice(0..1)?, scalars.slice(1..2)?);
        let plan = Plan::new_blocking(queue, &a, options)?;
        let mut workspace = plan.workspace_blocking(queue)?;
        for _ in 0..2 {
            y.write_blocking(queue, y_before)?;
            let (alpha, beta) = match options.scalars_on_device {
                true => ((&alpha).into(), (&beta).into()),
                false => (ALPHA.into(), BETA.into()),
            };
            let product = Operands { alpha, a: &a, x: &x, beta, y: &mut y };
            if options.variant.blocks() {
                // SAFETY: nothing is in flight.
                #[expect(unsafe_code, reason = "nothing that was enqueued touches the operands")]
                unsafe {
                    plan.launch_in_place_blocking(queue, &mut workspace, product, &[])?
                };
            } else {
                plan.launch(queue, &mut workspace, product, &[])?.wait()?;
            }
        }
        Ok(y.read_blocking(queue)?)
    }

    /// What [`Problem::multiply`] gives without a failure, held against the oracle.
    fn expected(&self, case: &Case) -> Vec<u64> {
        let y = self.multiply(&stage(BinaryCache::Off), case).unwrap();
        let transposed;
        let a = match case.options.op {
            Op::Normal => &self.a,
            Op::Transpose => {
                transposed = self.a.view().transpose();
                &transposed
            }
        };
        let (x, before) = self.vectors(case.options.op);
        check_product(a, ALPHA, x, BETA, before, &y, Accumulate::Plain);
        bits(&y)
    }
}

/// The same arrays through the door for those that are on the device already.
fn borrow(queue: &Queue, a: &Matrix<f32>) -> Result<Matrix<f32>> {
    let part = |array: &DeviceArray<u32>| array.slice(0..array.len());
    let values = a.values().slice(0..a.nnz())?;
    let (offsets, columns) = (part(a.offsets())?, part(a.columns())?);
    #[expect(unsafe_code, reason = "stands for an application with arrays of its own")]
    // SAFETY: the arrays of a matrix that was checked on the host.
    let borrowed =
        unsafe { Matrix::from_arrays_blocking(queue, a.cols(), offsets, columns, values) };
    Ok(borrowed?)
}

/// Why tests that release memory and have kernels write to what takes its place cannot run there.
const SHADOW: &str = "Oclgrind takes what kernels write to memory used before for uninitialised";

struct Case {
    name: &'static str,
    borrowed: bool,
    options: PlanOptions,
}

/// Every algorithm, and every way a plan is made and a launch is fed.
fn cases() -> Vec<Case> {
    let plain = |algorithm| options(algorithm, Variant::Full, Accumulate::Plain);
    let (scalar, vector, adaptive) =
        (plain(Algorithm::CsrScalar), plain(Algorithm::CsrVector), plain(Algorithm::CsrAdaptive));
    let segmented = plain(Algorithm::SegmentedSum);
    let (pieces, sliced) = (plain(Algorithm::CsrPieces), plain(Algorithm::Sell));
    let sorted = plain(Algorithm::SellSigma);
    let in_stages = PlanOptions { variant: Variant::Device, ..segmented.clone() };
    let on_cpu = PlanOptions { variant: Variant::Cpu, ..segmented.clone() };
    let on_host = PlanOptions { planning: Planning::OnHost, ..adaptive.clone() };
    let on_device = PlanOptions { planning: Planning::OnDevice, ..adaptive.clone() };
    let transposed = PlanOptions { op: Op::Transpose, ..adaptive };
    let copied = PlanOptions {
        planning: Planning::OnHost,
        ..options(Algorithm::EvcHyb, Variant::Hybrid, Accumulate::Plain)
    };
    let converted = PlanOptions { planning: Planning::OnDevice, ..copied.clone() };
    let reordered = PlanOptions { reordering: Reordering::Clusters, ..plain(Algorithm::CsrScalar) };
    let case = |name, borrowed, options| Case { name, borrowed, options };
    let mut cases = vec![
        case(
            "csr_scalar, scalars on the device",
            false,
            PlanOptions { scalars_on_device: true, ..scalar },
        ),
        case("csr_vector, borrowed arrays", true, vector),
        case("csr_pieces, borrowed arrays", true, pieces),
        case("sell, own arrays", false, sliced.clone()),
        case("sell, borrowed arrays", true, sliced),
        case("segmented_sum, one launch", false, segmented),
        case("segmented_sum, stage 2 on the device", false, in_stages),
        case("segmented_sum, stage 2 on the CPU", false, on_cpu),
        case("csr_adaptive, planned on the host", false, on_host),
        case("evc_hyb, converted on the host", false, copied),
        case("evc_hyb, converted on the device", false, converted),
        case("sell_sigma, made on the device", false, sorted),
        case("csr_adaptive, planned on the device", false, on_device),
        case("csr_adaptive, transposed", false, transposed),
        case("csr_scalar, in another order", false, reordered),
    ];
    // Algorithms that are not above, by their names.
    let others = Algorithm::ALL
        .into_iter()
        .filter(|algorithm| !cases.iter().any(|case| case.options.algorithm == Some(*algorithm)));
    let others: Vec<_> = others.collect();
    cases.extend(
        others.into_iter().map(|algorithm| case(algorithm.name(), false, plain(algorithm))),
    );
    if is_interpreter(&device()) {
        say(&format!("skipped: device plans and transposed copies: {SHADOW}"));
        // What fails is the host's side, which is the same on every implementation: two cases show that it is.
        cases.truncate(if is_full() { 7 } else { 2 });
    }
    cases
}

/// Whether a case is one of launches that return before they have ended.
fn is_launched(case: &Case) -> bool {
    case.options.op == Op::Normal && !case.options.variant.blocks()
}

/// A new context and queue.
fn stage(cache: BinaryCache) -> Queue {
    Queue::new(&Context::with_cache(&device(), cache).unwrap()).unwrap()
}

#[test]
fn a_product_fails_at_any_allocation_enqueue_or_wait_and_the_next_is_right() {
    let _turn = alone();
    let problem = Problem::new();
    for case in cases() {
        let expected = problem.expected(&case);
        // One context for all: its programs are built, and it keeps what cutting rows needs.
        let queue = stage(BinaryCache::Off);
        let run = |queue: &Queue| Ok(bits(&problem.multiply(queue, &case)?));
        run(&queue).unwrap();
        let fail = |kind| fail_each(case.name, (kind, None), || queue.clone(), run, &expected);
        let allocations = fail(Kind::Allocation);
        let mut allocating = names(&["clCreateBuffer", "clCreateKernel"]);
        if case.options.variant.blocks() && device().traits().svm.coarse_grain_buffer {
            allocating.extend(names(&["clSVMAlloc"]));
        }
        assert_eq!(names(&allocations), allocating);
        assert!(allocations.len() >= 7, "{}: {allocations:?}", case.name);
        let enqueues = names(&fail(Kind::Enqueue));
        for call in ["clEnqueueWriteBuffer", "clEnqueueNDRangeKernel", "clEnqueueReadBuffer"] {
            assert!(enqueues.contains(call), "{}: {enqueues:?}", case.name);
        }
        let waits = fail(Kind::Wait);
        assert!(names(&waits).contains("clWaitForEvents"), "{}: {waits:?}", case.name);
        assert!(waits.len() >= 2, "{}: {waits:?}", case.name);
    }
}

#[test]
fn a_product_fails_at_any_build_and_the_next_is_right() {
    let _turn = alone();
    let problem = Problem::new();
    for case in cases() {
        let expected = problem.expected(&case);
        let run = |queue: &Queue| Ok(bits(&problem.multiply(queue, &case)?));
        let new_queue = || stage(BinaryCache::Off);
        let calls = fail_each(case.name, (Kind::Build, None), new_queue, run, &expected);
        // A program for the product; others for the plan on the device, where a transposed copy is planned
        // too unless that is a CPU; and for what finds the longest row or moves values.
        let is_cpu = device().traits().device_type == DeviceType::Cpu;
        // What arranges values is the plan's too; a sort and its scan are others.
        let programs = match case.name {
            "evc_hyb, converted on the host" => 2,
            "evc_hyb, converted on the device" => 4,
            // The copy, its scan, and the product.
            "sell, borrowed arrays" | "sell_sigma, made on the device" => 3,
            // Whatever an algorithm needs that has no way of its own here.
            name if name.parse::<Algorithm>().is_ok() => calls.len() / 2,
            // What gathers values, and what moves vectors.
            "csr_scalar, in another order" => 3,
            name if ["host", "scalar", "segmented"].iter().any(|word| name.contains(word)) => 1,
            // The copy itself: a sort and its scan, columns and their offsets, and a look at row lengths.
            name if name.contains("transposed") && !is_cpu => 8,
            _ => 2,
        };
        // A processor's host looks at borrowed rows and arranges the first values of `sell` by itself.
        let by_host = usize::from(case.borrowed)
            + usize::from(case.options.algorithm == Some(Algorithm::Sell));
        let is_by_host = is_cpu && device().traits().has_host_memory;
        let programs = if is_by_host { programs - by_host } else { programs };
        let each = ["clCreateProgramWithSource", "clBuildProgram"];
        assert!(programs > 0, "{}", case.name);
        assert_eq!(calls, each.repeat(programs), "{}", case.name);
    }
    // A compiler without memory has no log to show.
    let case = &cases()[0];
    let (expected, no_memory) = (problem.expected(case), (Kind::Build, Some(-6)));
    let run = |queue: &Queue| Ok(bits(&problem.multiply(queue, case)?));
    fail_each(case.name, no_memory, || stage(BinaryCache::Off), run, &expected);
}

#[test]
fn a_first_plan_on_the_device_fails_at_any_allocation() {
    let _turn = alone();
    let (problem, cases) = (Problem::new(), cases());
    let Some(case) = cases.iter().find(|case| case.name.contains("planned on the device")) else {
        return;
    };
    let expected = problem.expected(case);
    let folder = tempfile::tempdir().unwrap();
    let new_queue = || stage(BinaryCache::Folder(folder.path().join("sparrow")));
    let run = |queue: &Queue| Ok(bits(&problem.multiply(queue, case)?));
    let calls = fail_each(case.name, (Kind::Allocation, None), new_queue, run, &expected);
    // The kernels that cut rows are made once in a context's life; and each kernel of a program when that is built, to ask
    // in which groups it runs, which is kept for the first launch unless its creation is to fail.
    assert_eq!(calls.iter().filter(|&&call| call == "clCreateKernel").count(), 6, "{calls:?}");
}

#[test]
fn a_context_or_a_queue_that_cannot_be_made_is_an_error() {
    let _turn = alone();
    let shared = stage(BinaryCache::Off);
    let run = |_: &Queue| {
        let context = Context::with_cache(&device(), BinaryCache::Off)?;
        let (plain, profiling) = (Queue::new(&context)?, Queue::with_profiling(&context)?);
        profiling.flush()?;
        Ok(plain.finish_blocking()?)
    };
    let fail = |kind| fail_each("a context", (kind, None), || shared.clone(), run, &());
    let create = ["clCreateContext", "clCreateCommandQueue", "clCreateCommandQueue"];
    assert_eq!(fail(Kind::Allocation), create);
    assert_eq!(fail(Kind::Wait), ["clFlush", "clFinish"]);
}

/// What else arrays can do: sub-buffers, fills, copies, shared virtual memory where there is some.
fn use_arrays(queue: &Queue) -> Result<Vec<u32>> {
    let context = queue.context();
    let traits = context.device().traits();
    let source = DeviceArray::upload_blocking(queue, &[7u32; 256])?;
    let part = source.memory().0.sub_buffer(0, 512)?;
    let part = DeviceArray::of_memory(part, 0, 128)?;
    let mut target = DeviceArray::upload_blocking(queue, &[0u32; 128])?;
    target.copy_from(queue, &part)?.unwrap().wait()?;
    let mut found = target.read_blocking(queue)?;
    target.fill(queue, 9)?.unwrap().wait()?;
    queue.finish_blocking()?;
    if traits.svm.coarse_grain_buffer {
        let mut shared = DeviceArray::<u32>::allocate_svm(context, 128)?;
        shared.write_blocking(queue, &[5; 128])?;
        found.extend(shared.read_blocking(queue)?);
        shared.fill(queue, 6)?.unwrap().wait()?;
        found.extend(shared.read_blocking(queue)?);
        // As an application's that is not fine-grained, whatever the device has: mapped for the copies.
        let Memory::Svm(allocation) = shared.memory().0 else { unreachable!("allocated as such") };
        let address = allocation.as_raw().cast::<u32>();
        #[expect(unsafe_code, reason = "stands for an application with memory of its own")]
        // SAFETY: the memory is as long, and lives longer.
        let coarse = unsafe { DeviceArray::from_svm(address, 128, false)? };
        coarse.slice(8..72)?.copy_from(queue, &source.slice(0..64)?)?.unwrap().wait()?;
        target.copy_from(queue, &coarse)?.unwrap().wait()?;
        found.extend(target.read_blocking(queue)?);
    }
    // A product without rows is a marker in the queue.
    let host: Csr<f32> = Csr::new(3, vec![0], vec![], vec![])?;
    let a = Matrix::upload_blocking(queue, host.view())?;
    let x = DeviceArray::upload_blocking(queue, &[1.0, 2.0, 3.0])?;
    let mut y = DeviceArray::allocate(context, 0)?;
    let options = options(Algorithm::CsrScalar, Variant::Full, Accumulate::Plain);
    let plan = Plan::new_blocking(queue, &a, &options)?;
    let product = Operands { alpha: 1.0.into(), a: &a, x: &x, beta: 0.0.into(), y: &mut y };
    plan.launch(queue, &mut plan.workspace_blocking(queue)?, product, &[])?.wait()?;
    Ok(found)
}

#[test]
fn arrays_fail_at_any_allocation_enqueue_or_wait_and_the_next_are_right() {
    let _turn = alone();
    let queue = stage(BinaryCache::Off);
    let expected = use_arrays(&queue).unwrap();
    let fail =
        |kind| names(&fail_each("arrays", (kind, None), || queue.clone(), use_arrays, &expected));
    let has_svm = queue.context().device().traits().svm.coarse_grain_buffer;
    if has_svm {
        assert_eq!(expected[3 * 128..], [&[6; 8][..], &[7; 64], &[6; 56]].concat());
    }
    let mut allocations = names(&["clCreateBuffer", "clCreateSubBuffer", "clCreateKernel"]);
    let mut enqueues = names(&[
        "clEnqueueWriteBuffer",
        "clEnqueueReadBuffer",
        "clEnqueueCopyBuffer",
        "clEnqueueFillBuffer",
        "clEnqueueMarkerWithWaitList",
    ]);
    if has_svm {
        allocations.insert("clSVMAlloc");
        enqueues.extend(["clEnqueueSVMMemcpy", "clEnqueueSVMMemFill"]);
        enqueues.extend(["clEnqueueSVMMap", "clEnqueueSVMUnmap"]);
    }
    assert_eq!(fail(Kind::Allocation), allocations);
    assert_eq!(fail(Kind::Enqueue), enqueues);
    assert_eq!(fail(Kind::Wait), names(&["clWaitForEvents", "clFinish"]));
}

#[test]
fn a_workspace_outlives_launches_that_were_refused() {
    let _turn = alone();
    let problem = Problem::new();
    for case in cases().into_iter().filter(is_launched) {
        let queue = stage(BinaryCache::Off);
        let second = Queue::new(queue.context()).unwrap();
        let options = PlanOptions { scalars_on_device: false, ..case.options };
        let a = Matrix::upload_blocking(&queue, problem.a.view()).unwrap();
        let (x, y_before) = problem.vectors(Op::Normal);
        let x = DeviceArray::upload_blocking(&queue, x).unwrap();
        let mut y = DeviceArray::upload_blocking(&queue, y_before).unwrap();
        let plan = Plan::new_blocking(&queue, &a, &options).unwrap();
        let mut workspace = plan.workspace_blocking(&queue).unwrap();
        let mut launch = |queue: &Queue, y: &mut DeviceArray<f32>| {
            let product = Operands { alpha: 1.0.into(), a: &a, x: &x, beta: 0.0.into(), y };
            Ok::<_, Error>(plan.launch(queue, &mut workspace, product, &[])?.wait()?)
        };
        launch(&queue, &mut y).unwrap();
        let expected = bits(&y.read_blocking(&queue).unwrap());
        for (queue, kind, call) in [
            (&queue, Kind::Enqueue, "clEnqueueNDRangeKernel"),
            (&queue, Kind::Wait, "clWaitForEvents"),
            (&second, Kind::Enqueue, "clEnqueueNDRangeKernel"),
            (&queue, Kind::Wait, "clWaitForEvents"),
        ] {
            y.write_blocking(queue, &vec![f32::NAN; y.len()]).unwrap();
            let armed = arm(kind, 1);
            let refused = launch(queue, &mut y).unwrap_err();
            assert_eq!(armed.disarm(), Some(call));
            assert_names(&refused, call, None, case.name);
            launch(queue, &mut y).unwrap();
            assert_eq!(bits(&y.read_blocking(queue).unwrap()), expected, "{}", case.name);
        }
    }
}

#[test]
fn values_of_a_transposed_copy_that_could_not_be_fetched_are_not_used() {
    let _turn = alone();
    let problem = Problem::new();
    let queue = stage(BinaryCache::Off);
    if is_interpreter(queue.context().device()) {
        say(&format!("skipped: {SHADOW}"));
        return;
    }
    let options = PlanOptions { op: Op::Transpose, ..cases()[1].options.clone() };
    let a = Matrix::upload_blocking(&queue, problem.a.view()).unwrap();
    let new_values = vec![1.0; problem.a.nnz()];
    let new_values = DeviceArray::upload_blocking(&queue, &new_values).unwrap();
    let changed = a.with_values(new_values).unwrap();
    let (x, y_before) = problem.vectors(Op::Transpose);
    let x = DeviceArray::upload_blocking(&queue, x).unwrap();
    let mut y = DeviceArray::upload_blocking(&queue, y_before).unwrap();
    let mut plan = Plan::new_blocking(&queue, &a, &options).unwrap();
    let mut workspace = plan.workspace_blocking(&queue).unwrap();
    let mut launch = |plan: &Plan<f32>, a: &Matrix<f32>| {
        let product = Operands { alpha: 1.0.into(), a, x: &x, beta: 0.0.into(), y: &mut y };
        plan.launch(&queue, &mut workspace, product, &[])?.wait()?;
        Ok::<_, Error>(bits(&y.read_blocking(&queue)?))
    };
    let expected = launch(&plan, &a).unwrap();
    for (kind, call) in [(Kind::Enqueue, "clEnqueueNDRangeKernel"), (Kind::Wait, "clWaitForEvents")]
    {
        let armed = arm(kind, 1);
        let failed = plan.update_values_blocking(&queue, &changed).unwrap_err();
        assert_eq!(armed.disarm(), Some(call));
        assert_names(&failed, call, None, "new values");
        queue.finish_blocking().unwrap();
        // Where the fetch never began, the copy is what it was. Where it may have, nobody knows whose
        // values it holds, and it serves neither matrix.
        let refused = launch(&plan, &changed).unwrap_err().to_string();
        assert!(refused.contains("update_values_blocking"), "{call} failed: {refused}");
        match kind {
            Kind::Enqueue => assert_eq!(launch(&plan, &a).unwrap(), expected),
            _ => assert_eq!(launch(&plan, &a).unwrap_err().to_string(), refused),
        }
        plan.update_values_blocking(&queue, &a).unwrap();
        assert_eq!(launch(&plan, &a).unwrap(), expected);
    }
}

#[test]
fn a_thread_whose_launches_fail_does_not_disturb_another_with_the_same_plan() {
    let _turn = alone();
    let problem = Problem::new();
    let queue = stage(BinaryCache::Off);
    if is_interpreter(queue.context().device()) {
        say("skipped: Oclgrind 21.10 crashes when a second thread calls it, even in turn");
        return;
    }
    let options = options(Algorithm::CsrAdaptive, Variant::Full, Accumulate::Plain);
    let a = Matrix::upload_blocking(&queue, problem.a.view()).unwrap();
    let (x, y_before) = problem.vectors(Op::Normal);
    let x = DeviceArray::upload_blocking(&queue, x).unwrap();
    let plan = Plan::new_blocking(&queue, &a, &options).unwrap();
    let multiply = |is_failing: bool| {
        let queue = Queue::new(queue.context()).unwrap();
        let mut workspace = plan.workspace_blocking(&queue).unwrap();
        let mut y = DeviceArray::upload_blocking(&queue, y_before).unwrap();
        let mut found = Vec::new();
        for _ in 0..20 {
            let mut launch = || {
                let product =
                    Operands { alpha: 1.0.into(), a: &a, x: &x, beta: 0.0.into(), y: &mut y };
                Ok::<_, Error>(plan.launch(&queue, &mut workspace, product, &[])?.wait()?)
            };
            if is_failing {
                let armed = arm(Kind::Enqueue, 1);
                assert!(launch().is_err() && armed.disarm().is_some());
            }
            launch().unwrap();
            found.push(bits(&y.read_blocking(&queue).unwrap()));
        }
        found
    };
    let expected = multiply(false);
    let found = std::thread::scope(|scope| {
        let threads = [true, false].map(|is_failing| scope.spawn(move || multiply(is_failing)));
        threads.map(|thread| thread.join().unwrap())
    });
    assert_eq!(found, [expected.clone(), expected]);
}
