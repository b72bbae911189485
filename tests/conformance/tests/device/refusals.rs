//! What cannot be right is refused before anything reaches the device, by name, value and limit.

#![expect(clippy::unwrap_used, reason = "a test panics when its claim is broken")]

use conformance::{Fixture, device, options, queue, say};
use sparrow::{
    Accumulate, Algorithm, Coefficient, Context, Csr, DeviceArray, Matrix, Operands, Plan,
    PlanOptions, Queue, RuntimeError, Tables, Value, Variant,
};

/// Says why, and makes sure that the words are there.
#[track_caller]
fn assert_says(error: &impl std::fmt::Display, words: &[&str]) {
    let message = error.to_string();
    for word in words {
        assert!(message.contains(word), "\"{message}\" does not say \"{word}\"");
    }
}

/// A product that would be right, to be spoiled in one place.
struct Scene {
    queue: Queue,
    fixture: Fixture<f32>,
    plan: Plan<f32>,
    workspace: sparrow::Workspace,
    y: DeviceArray<f32>,
}

impl Scene {
    fn new(options: &PlanOptions) -> Self {
        let queue = queue();
        let fixture = Fixture::new(&queue, 1);
        let (plan, workspace) = fixture.plan(&queue, options);
        let y = fixture.poisoned_y(&queue);
        Scene { queue, fixture, plan, workspace, y }
    }

    fn adaptive() -> Self {
        Self::new(&options(Algorithm::CsrAdaptive, Variant::Full, Accumulate::Plain))
    }

    /// y is still what it was, and a right launch still works.
    #[track_caller]
    fn assert_unharmed(mut self) {
        self.queue.finish_blocking().unwrap();
        let y = self.y.read_blocking(&self.queue).unwrap();
        assert!(y.iter().all(|value| value.is_nan()), "a refused launch wrote y");
        let with = (&self.plan, &mut self.workspace);
        self.fixture.launch(&self.queue, with, &mut self.y, &[]).unwrap().wait().unwrap();
        self.fixture.check(&self.y.read_blocking(&self.queue).unwrap(), Accumulate::Plain);
    }
}

#[test]
fn an_x_of_the_wrong_length() {
    let mut scene = Scene::adaptive();
    let cols = scene.fixture.host.cols();
    for wrong in [0, 1, cols - 1, cols + 1] {
        let x = DeviceArray::upload_blocking(&scene.queue, &vec![1.0; wrong]).unwrap();
        let right = std::mem::replace(&mut scene.fixture.x, x);
        let with = (&scene.plan, &mut scene.workspace);
        let refused = scene.fixture.launch(&scene.queue, with, &mut scene.y, &[]);
        let refused = refused.unwrap_err();
        assert_says(
            &refused,
            &[
                &format!("x has {}", sparrow::counted(wrong, "element")),
                &format!("{cols} are needed"),
            ],
        );
        scene.fixture.x = right;
    }
    scene.assert_unharmed();
}

#[test]
fn a_y_of_the_wrong_length() {
    let mut scene = Scene::adaptive();
    let rows = scene.fixture.host.rows();
    let whole = DeviceArray::upload_blocking(&scene.queue, &vec![f32::NAN; rows + 1]).unwrap();
    for wrong in [0, rows - 1, rows + 1] {
        let mut y = whole.slice(0..wrong).unwrap();
        let with = (&scene.plan, &mut scene.workspace);
        let refused = scene.fixture.launch(&scene.queue, with, &mut y, &[]).unwrap_err();
        assert_says(&refused, &[&format!("y has {wrong} elements"), &format!("{rows} are needed")]);
    }
    let whole = whole.read_blocking(&scene.queue).unwrap();
    assert!(whole.iter().all(|value| value.is_nan()), "a refused launch wrote y");
    scene.assert_unharmed();
}

#[test]
fn a_matrix_of_another_pattern() {
    let mut scene = Scene::adaptive();
    // Equal on the host, but another upload: the plan cannot know.
    let other = Fixture::<f32>::new(&scene.queue, 1);
    let with = (&scene.plan, &mut scene.workspace);
    let refused = other.launch(&scene.queue, with, &mut scene.y, &[]).unwrap_err();
    assert_says(&refused, &["matrix", "pattern the plan was made for"]);
    scene.assert_unharmed();
}

#[test]
fn a_pattern_of_another_shape_for_a_plan() {
    let scene = Scene::adaptive();
    let other: Csr<f32> = Csr::new(2, vec![0, 1], vec![1], vec![1.0]).unwrap();
    let (a, pattern) = (&scene.fixture.a, other.pattern().view());
    let options = PlanOptions::default();
    let refused = Plan::with_pattern_blocking(&scene.queue, a, pattern, &options).unwrap_err();
    let needed = format!("{} are needed", scene.fixture.host.rows());
    assert_says(&refused, &["the pattern has 1 row", &needed]);
    scene.assert_unharmed();
}

#[test]
fn a_workspace_of_another_plan() {
    let mut scene = Scene::adaptive();
    for algorithm in Algorithm::ALL {
        let options = options(algorithm, Variant::Full, Accumulate::Plain);
        let (_, mut foreign) = scene.fixture.plan(&scene.queue, &options);
        let with = (&scene.plan, &mut foreign);
        let refused = scene.fixture.launch(&scene.queue, with, &mut scene.y, &[]).unwrap_err();
        assert_says(&refused, &["the workspace was made by another plan"]);
    }
    scene.assert_unharmed();
}

#[test]
fn a_queue_of_another_context() {
    let mut scene = Scene::adaptive();
    let foreign = Queue::new(&Context::new(&device()).unwrap()).unwrap();
    let with = (&scene.plan, &mut scene.workspace);
    let refused = scene.fixture.launch(&foreign, with, &mut scene.y, &[]).unwrap_err();
    assert_says(&refused, &["queue belongs to another context than the matrix"]);
    let refused = scene.plan.workspace_blocking(&foreign).unwrap_err();
    assert_says(&refused, &["queue belongs to another context than the plan"]);
    let options = PlanOptions::default();
    let refused = Plan::new_blocking(&foreign, &scene.fixture.a, &options).unwrap_err();
    assert_says(&refused, &["queue belongs to another context than the matrix"]);
    #[expect(unsafe_code, reason = "stands for an application with a queue of its own")]
    // SAFETY: the queue is valid.
    let refused = unsafe { Queue::from_raw(scene.queue.context(), foreign.as_raw()).unwrap_err() };
    assert_says(&refused, &["queue belongs to another context"]);
    scene.assert_unharmed();
}

#[test]
fn arrays_of_another_context() {
    let mut scene = Scene::adaptive();
    let foreign = Queue::new(&Context::new(&device()).unwrap()).unwrap();
    let x = DeviceArray::upload_blocking(&foreign, &scene.fixture.host_x).unwrap();
    // However it came by its memory.
    let same = DeviceArray::of_memory(x.memory().0.clone(), 0, x.len()).unwrap();
    let part = same.slice(0..same.len()).unwrap();
    for foreign_x in [x, same, part] {
        let right = std::mem::replace(&mut scene.fixture.x, foreign_x);
        let with = (&scene.plan, &mut scene.workspace);
        let refused = scene.fixture.launch(&scene.queue, with, &mut scene.y, &[]).unwrap_err();
        assert_says(&refused, &["x belongs to another context"]);
        scene.fixture.x = right;
    }
    let mut y = scene.fixture.poisoned_y(&foreign);
    let with = (&scene.plan, &mut scene.workspace);
    let refused = scene.fixture.launch(&scene.queue, with, &mut y, &[]).unwrap_err();
    assert_says(&refused, &["y belongs to another context"]);
    let values = DeviceArray::upload_blocking(&foreign, scene.fixture.host.values()).unwrap();
    let refused = scene.fixture.a.with_values(values).unwrap_err();
    assert_says(&refused, &["array of values belongs to another context"]);
    let queue = &scene.queue;
    for refused in [
        y.read_blocking(queue).unwrap_err(),
        y.write_blocking(queue, &[1.0]).unwrap_err(),
        y.fill(queue, 1.0).unwrap_err(),
        y.copy_from(&foreign, &scene.y).unwrap_err(),
    ] {
        assert_says(&refused, &["belongs to another context"]);
    }
    scene.assert_unharmed();
}

#[test]
fn values_that_are_not_one_a_nonzero() {
    let mut scene = Scene::adaptive();
    let nnz = scene.fixture.host.nnz();
    let expected = [&*format!("values has {} elements", nnz - 1), &*format!("{nnz} are needed")];
    let short = vec![1.0; nnz - 1];
    let refused = scene.fixture.a.write_values_blocking(&scene.queue, &short).unwrap_err();
    assert_says(&refused, &expected);
    let short = DeviceArray::upload_blocking(&scene.queue, &short).unwrap();
    assert_says(&scene.fixture.a.with_values(short).unwrap_err(), &expected);
    scene.assert_unharmed();
}

#[test]
fn an_allocation_above_the_devices_largest() {
    let context = Context::new(&device()).unwrap();
    let traits = context.device().traits();
    let largest = traits.max_allocation_bytes;
    let len = (largest / 8 + 1) as usize;
    let refused = DeviceArray::<f64>::allocate(&context, len).unwrap_err();
    assert!(matches!(refused, RuntimeError::Allocation { .. }), "{refused}");
    let (needed, largest) =
        (format!("needs {} bytes", 8 * len), format!("{largest} bytes at once"));
    let total = format!("{} in all", traits.global_bytes);
    assert_says(&refused, &[&format!("{len} f64"), &needed, &largest, &total, &traits.name]);
    // So large that the bytes cannot be counted.
    let refused = DeviceArray::<f64>::allocate(&context, usize::MAX).unwrap_err();
    assert!(matches!(refused, RuntimeError::Allocation { .. }), "{refused}");
}

#[test]
fn ranges_that_do_not_fit_their_memory() {
    let queue = queue();
    let array = DeviceArray::upload_blocking(&queue, &[0.0f64; 4]).unwrap();
    let (memory, _) = array.memory();
    let of = |byte_offset, len| DeviceArray::<f64>::of_memory(memory.clone(), byte_offset, len);
    assert!(of(8, 3).is_ok() && of(32, 0).is_ok());
    assert_says(&of(12, 1).unwrap_err(), &["byte offset", "12", "multiple", "8 bytes"]);
    let past = ["length of an array", "end beyond the buffer's 32 bytes"];
    assert_says(&of(8, 4).unwrap_err(), &[past[0], past[1], "4 elements", "from byte 8"]);
    assert_says(&of(40, 0).unwrap_err(), &past);
    assert_says(&of(8, usize::MAX).unwrap_err(), &past);
    assert_says(&array.slice(2..5).unwrap_err(), &["end of a slice", "5", "4 elements"]);
    #[expect(clippy::reversed_empty_ranges, reason = "that is what is refused")]
    let refused = array.slice(3..2).unwrap_err();
    assert_says(&refused, &["slice", "2", "starts at 3"]);
    let mut array = array;
    let refused = array.write_blocking(&queue, &[1.0; 5]).unwrap_err();
    assert_says(&refused, &["length of the data", "5", "4 elements"]);
    let refused = array.read_into_blocking(&queue, &mut [1.0; 5]).unwrap_err();
    assert_says(&refused, &["elements to read", "5", "4 elements"]);
    assert_eq!(array.read_blocking(&queue).unwrap(), [0.0; 4]);
}

#[test]
fn scalars_that_come_another_way_than_the_plan_takes_them() {
    let options = options(Algorithm::CsrScalar, Variant::Full, Accumulate::Plain);
    let mut by_value = Scene::new(&options);
    let Scene { queue, fixture, plan, workspace, y } = &mut by_value;
    let one = DeviceArray::upload_blocking(queue, &[1.0f32]).unwrap();
    let (a, x) = (&fixture.a, &fixture.x);
    let product = Operands { alpha: (&one).into(), a, x, beta: 0.0.into(), y };
    let refused = plan.launch(queue, workspace, product, &[]).unwrap_err();
    assert_says(&refused, &["alpha came as a device array", "by value", "scalars_on_device"]);

    let on_device = PlanOptions { scalars_on_device: true, ..options };
    let (plan, mut workspace) = fixture.plan(queue, &on_device);
    let none = one.slice(0..0).unwrap();
    let on_device = Coefficient::Device(&one);
    for (alpha, beta, words) in [
        (on_device, Coefficient::Value(0.0), ["beta came by value", "from the device"]),
        (Coefficient::Value(1.0), on_device, ["alpha came by value", "from the device"]),
        (Coefficient::Device(&none), on_device, ["alpha has 0 elements", "1 is needed"]),
    ] {
        let product = Operands { alpha, a, x, beta, y };
        let refused = plan.launch(queue, &mut workspace, product, &[]).unwrap_err();
        assert_says(&refused, &words);
    }
    by_value.assert_unharmed();
}

#[test]
fn parameters_that_break_a_rule() {
    let queue = queue();
    let traits = device().traits().clone();
    let fixture = Fixture::<f32>::new(&queue, 1);
    let too_many = u32::try_from(2 * traits.max_group_size).unwrap().next_power_of_two();
    let at_most = format!("at most {}", traits.max_group_size);
    let local = format!("{} has {}", traits.name, traits.local_bytes);
    let (scalar, vector, adaptive) =
        (Algorithm::CsrScalar, Algorithm::CsrVector, Algorithm::CsrAdaptive);
    let cases: [(Algorithm, &str, u32, &str); 13] = [
        (scalar, "group_size", 0, "power of two"),
        (scalar, "group_size", 96, "power of two"),
        (scalar, "group_size", too_many, &at_most),
        (vector, "group_size", too_many, &at_most),
        (vector, "items_per_row", 3, "power of two, at most 64"),
        (vector, "items_per_row", 128, "power of two, at most 64"),
        (adaptive, "group_size", too_many, &at_most),
        (adaptive, "nnz_per_wg", 100, "multiple of group_size = 64"),
        (adaptive, "nnz_per_wg", 0, "multiple of group_size = 64"),
        (adaptive, "nnz_per_wg", 1 << 26, &local),
        (adaptive, "num_rows_stream", 1, "2 or more"),
        (adaptive, "num_rows_stream", 100_000, "at most group_size + 1"),
        (adaptive, "nnz_multiplier", 0, "between 1 and 4294967295"),
    ];
    for (algorithm, name, value, rule) in cases {
        let mut options = options(algorithm, Variant::Full, Accumulate::Plain);
        options.parameters.push((name.to_owned(), value));
        let refused = Plan::new_blocking(&queue, &fixture.a, &options).unwrap_err();
        assert_says(&refused, &[algorithm.name(), &format!("{name} = "), rule]);
        if rule != local {
            assert_says(&refused, &[&format!("{name} = {value},")]);
        }
    }
    let mut options = options(vector, Variant::Full, Accumulate::Plain);
    options.parameters.push(("rows_per_item".to_owned(), 2));
    let refused = Plan::new_blocking(&queue, &fixture.a, &options).unwrap_err();
    assert_says(&refused, &["csr_vector", "\"rows_per_item\"", "group_size, items_per_row"]);
}

#[test]
fn the_spin_variant_where_groups_are_not_known_to_progress() {
    let queue = queue();
    let fixture = Fixture::<f32>::new(&queue, 1);
    let tables = Some(Tables::with_user(None));
    let plain = options(Algorithm::CsrAdaptive, Variant::Spin, Accumulate::Plain);
    let plain = PlanOptions { tables, ..plain };
    // Where the device table says that groups make progress, spin.rs holds the variant to it.
    if !Tables::with_user(None).groups_progress(device().traits()) {
        let refused = Plan::new_blocking(&queue, &fixture.a, &plain).unwrap_err();
        assert_says(
            &refused,
            &[&device().traits().name, "device table", "groups make progress", "spin"],
        );
    }
    let compensated = PlanOptions { accumulate: Accumulate::Compensated, ..plain };
    let refused = Plan::new_blocking(&queue, &fixture.a, &compensated).unwrap_err();
    assert_says(&refused, &["csr_adaptive", "spin", "compensated"]);
}

#[test]
fn double_precision_on_a_device_without_it() {
    let queue = queue();
    let traits = queue.context().device().traits();
    if traits.has_f64 {
        say(&format!("skipped: {} has double precision", traits.name));
        return;
    }
    let host: Csr<f64> = Csr::new(1, vec![0, 1], vec![0], vec![1.0]).unwrap();
    let a = Matrix::upload_blocking(&queue, host.view()).unwrap();
    for algorithm in Algorithm::ALL {
        let options = options(algorithm, Variant::Full, Accumulate::Plain);
        let refused = Plan::new_blocking(&queue, &a, &options).unwrap_err();
        assert_says(&refused, &[&traits.name, "double precision", "cl_khr_fp64"]);
    }
}

#[test]
fn a_kernel_that_does_not_build_shows_the_compilers_log() {
    let queue = queue();
    let context = queue.context();
    let fixture = Fixture::<f32>::new(&queue, 1);
    let options = options(Algorithm::CsrScalar, Variant::Full, Accumulate::Plain);
    let (plan, _) = fixture.plan(&queue, &options);
    // Defined as what no compiler takes for a number.
    let mut key = plan.key().clone().with_feature("GROUP_SIZE=no_such_number");
    key.parameters.clear();
    for _ in 0..2 {
        let refused = context.program(&key).unwrap_err();
        let RuntimeError::Build { log, .. } = &refused else { panic!("{refused}") };
        assert!(log.contains("no_such_number"), "the log does not say why: {log}");
        assert_says(&refused, &["csr_scalar.f32", &context.device().traits().name, log]);
    }
    // The context goes on.
    assert!(context.program(plan.key()).is_ok());
    assert_eq!(f32::TYPE, plan.key().value_type);
}
