//! What is written shares no byte with what the same launch reads, whatever handles they go by: such operands are refused
//! by name, and nothing is written. What lies apart in one buffer is right.

#![expect(clippy::unwrap_used, reason = "a test panics when its claim is broken")]

use cl_runtime::raw::Memory;
use conformance::{queue, say};
use sparrow::{
    Algorithm, AnyArray, AnyBatch, AnyBatchOperands, AnyCooToCsr, AnyDenseToCsr, AnyLinearSystem,
    AnyMatrix, AnyOperands, AnyPlan, AnySolver, AnySpmmOperands, AnySpmmPlan, AnyVectors,
    BatchOptions, BatchPlan, ColumnWidth, Csr, CsrView, DenseOperands, DenseShape, DeviceArray,
    Duplicates, ElementType, HeteroPlan, HostBatch, Layout, Matrix, Number, OffsetType, Op,
    Operands, Partner, PlanOptions, Queue, Share, SolverOptions, SpmmOptions, StopRule, ValueType,
    Variant, VectorOptions,
};

/// Rows and columns.
const N: usize = 64;

/// -u'' with a multiple of u.
fn host_matrix() -> Csr<f32> {
    let (mut offsets, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
    for row in 0..N {
        for (column, value) in [(row.wrapping_sub(1), -1.0), (row, 2.5), (row + 1, -1.0)] {
            if column < N {
                columns.push(column as u32);
                values.push(value);
            }
        }
        offsets.push(columns.len() as u32);
    }
    Csr::new(N, offsets, columns, values).unwrap()
}

fn product_of(a: CsrView<'_, f32, u32>, x: &[f32]) -> Vec<f32> {
    let mut y = vec![0.0; a.rows()];
    csr_core::product(1.0, a, x, 0.0, &mut y).unwrap();
    y
}

/// `len` floats of a memory from a byte on.
fn floats(memory: &Memory, byte: usize, len: usize) -> AnyArray {
    AnyArray::of_memory(memory.clone(), ValueType::F32, byte, len).unwrap()
}

/// The same bytes as floats.
fn as_floats(array: &AnyArray, len: usize) -> AnyArray {
    let (memory, start) = array.memory();
    floats(memory, start, len)
}

/// Two arrays of `N` floats that share bytes, in every way there is, with what the way is called.
fn overlapping(queue: &Queue) -> Vec<(&'static str, AnyArray, AnyArray)> {
    let all = [0.5f32; 64 * N];
    let whole = DeviceArray::upload_blocking(queue, &all).unwrap().into_any();
    let unit = queue.context().device().traits().base_align_bytes as usize / 4;
    let part = |start: usize| whole.slice(start..start + N).unwrap();
    let memory = whole.memory().0;
    let sub = |start: usize| memory.sub_buffer(4 * unit * start, 4 * (unit + 2 * N)).unwrap();
    let mut ways = vec![
        ("the same", part(0), part(0)),
        ("one element", part(0), part(N - 1)),
        ("a sub-buffer's whole", part(unit), floats(&sub(1), 0, N)),
        ("a sub-buffer's part", part(unit + N - 1), floats(&sub(1), 0, N)),
        ("two sub-buffers", floats(&sub(0), 4 * unit, N), floats(&sub(1), 4 * (N - 1), N)),
    ];
    if queue.context().device().traits().svm.coarse_grain_buffer {
        let mut shared = AnyArray::allocate_svm(queue.context(), ValueType::F32, 2 * N).unwrap();
        shared.write_bytes_blocking(queue, bytemuck::cast_slice(&all[..2 * N])).unwrap();
        ways.push(("shared memory", shared.slice(0..N).unwrap(), shared.slice(1..N + 1).unwrap()));
    } else {
        say("overlaps in shared virtual memory: not applicable, the device has none");
    }
    ways
}

/// Refused in these words.
#[track_caller]
fn assert_refused<T>(way: &str, result: sparrow::Result<T>, words: &str) {
    let text = result.err().map(|error| error.to_string()).unwrap_or_default();
    assert!(text.starts_with(words), "{way}: \"{text}\" does not begin with \"{words}\"");
    assert!(text.contains("bytes"), "{way}: {text}");
}

#[test]
fn a_result_that_shares_bytes_with_what_is_multiplied_is_refused_in_every_product() {
    let queue = queue();
    let host = host_matrix();
    let a = AnyMatrix::upload_blocking(&queue, host.view().into()).unwrap();
    let [one, zero] = [1.0, 0.0].map(|number| Number::of(ValueType::F32, number));
    let dense = DenseShape::new(N, 1, Layout::ColumnMajor, N).unwrap();
    let dense = DenseOperands { b: dense, b_type: ValueType::F32, c: dense };
    let wide = DenseShape::new(N, 2, Layout::RowMajor, 2).unwrap();
    let wide = DenseOperands { b: wide, b_type: ValueType::F32, c: wide };
    let mut batch = HostBatch::<f32>::new();
    batch.push_csr(host.view()).unwrap();
    let batch = AnyBatch::upload_blocking(&queue, (&batch).into(), ColumnWidth::Automatic).unwrap();
    let of_batch = BatchPlan::new_blocking(&queue, &batch, &BatchOptions::default()).unwrap();
    let mut batch_workspace = of_batch.workspace_blocking(&queue).unwrap();
    let plans = [Op::Normal, Op::Transpose].map(|op| {
        let algorithm = Some(Algorithm::CsrVector);
        let options = PlanOptions { op, algorithm, ..PlanOptions::default() };
        let plan = AnyPlan::new_blocking(&queue, &a, &options).unwrap();
        let workspace = plan.workspace_blocking(&queue).unwrap();
        (plan, workspace)
    });
    let spmm = [dense, wide].map(|dense| {
        let plan = AnySpmmPlan::new_blocking(&queue, &a, dense, &SpmmOptions::default()).unwrap();
        let workspace = plan.workspace_blocking(&queue).unwrap();
        (plan, workspace)
    });
    let (mut plans, mut spmm) = (plans, spmm);
    for (way, x, mut y) in overlapping(&queue) {
        for (plan, workspace) in &mut plans {
            let (alpha, beta) = (one.into(), zero.into());
            let product = AnyOperands { alpha, a: &a, x: &x, beta, y: &mut y };
            let launched = plan.launch(&queue, workspace, product, &[]);
            assert_refused(way, launched, "x and y overlap (bytes ");
            let product = AnyOperands { alpha, a: &a, x: &x, beta, y: &mut y };
            let launched = plan.launch_blocking(&queue, workspace, product, &[]);
            assert_refused(way, launched, "x and y overlap (bytes ");
        }
        let (alpha, beta) = (one.into(), zero.into());
        let product = AnyBatchOperands { alpha, a: &batch, x: &x, beta, y: &mut y };
        let launched = of_batch.launch(&queue, &mut batch_workspace, product, &[]);
        assert_refused(way, launched, "x of problem 0 and y of problem 0 overlap (bytes ");
        let (plan, workspace) = &mut spmm[0];
        let (alpha, beta) = (one.into(), zero.into());
        let product = AnySpmmOperands { alpha, a: &a, b: &x, beta, c: &mut y };
        let launched = plan.launch(&queue, workspace, product, &[]);
        assert_refused(way, launched, "B and C overlap (bytes ");
        let read = |array: &AnyArray| {
            let mut found = vec![0.0f32; N];
            let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut found);
            array.read_bytes_blocking(&queue, bytes).unwrap();
            found
        };
        assert_eq!([read(&x), read(&y)], [[0.5; N]; 2], "{way}: a refused launch has written");
    }
    let (plan, workspace) = &mut spmm[1];
    let both = DeviceArray::upload_blocking(&queue, &[0.5f32; 4 * N]).unwrap().into_any();
    for (start, is_apart) in [(2 * N - 1, false), (2 * N, true)] {
        let (b, mut c) = (both.slice(0..2 * N).unwrap(), both.slice(start..start + 2 * N).unwrap());
        let (alpha, beta) = (one.into(), zero.into());
        let product = AnySpmmOperands { alpha, a: &a, b: &b, beta, c: &mut c };
        let launched = plan.launch(&queue, workspace, product, &[]);
        match is_apart {
            true => launched.unwrap().wait().unwrap(),
            false => assert_refused("wide", launched, "B and C overlap (bytes "),
        }
    }
}

#[test]
fn alpha_and_beta_in_a_result_and_a_result_in_the_matrix_are_refused() {
    let queue = queue();
    let host = host_matrix();
    let a = AnyMatrix::upload_blocking(&queue, host.view().into()).unwrap();
    let algorithm = Some(Algorithm::CsrVector);
    let options = PlanOptions { algorithm, scalars_on_device: true, ..PlanOptions::default() };
    let plan = AnyPlan::new_blocking(&queue, &a, &options).unwrap();
    let mut workspace = plan.workspace_blocking(&queue).unwrap();
    let arena = DeviceArray::upload_blocking(&queue, &[1.0f32; 4 * N]).unwrap().into_any();
    let (x, mut y) = (arena.slice(0..N).unwrap(), arena.slice(N..2 * N).unwrap());
    let apart = arena.slice(2 * N..2 * N + 1).unwrap();
    for (name, at) in [("alpha", 0), ("beta", 0), ("alpha", N - 1), ("beta", N - 1)] {
        // Of an array that is longer than one element, the first alone is read.
        let inside = arena.slice(N + at..2 * N + 5).unwrap();
        let [alpha, beta] = if name == "alpha" { [&inside, &apart] } else { [&apart, &inside] };
        let product =
            AnyOperands { alpha: alpha.into(), a: &a, x: &x, beta: beta.into(), y: &mut y };
        let launched = plan.launch(&queue, &mut workspace, product, &[]);
        assert_refused(name, launched, &format!("{name} and y overlap (bytes "));
    }
    let before = arena.slice(N - 1..2 * N).unwrap();
    let product = AnyOperands {
        alpha: (&before).into(),
        a: &a,
        x: &apart_x(&queue),
        beta: (&apart).into(),
        y: &mut y,
    };
    plan.launch(&queue, &mut workspace, product, &[]).unwrap().wait().unwrap();

    let mut solver = AnySolver::new_blocking(&queue, &a, &SolverOptions::default()).unwrap();
    for (name, array) in a.named_arrays() {
        let mut y = as_floats(array, N);
        let words = format!("{name} and y overlap (bytes ");
        let product =
            AnyOperands { alpha: (&apart).into(), a: &a, x: &x, beta: (&apart).into(), y: &mut y };
        let launched = plan.launch(&queue, &mut workspace, product, &[]);
        assert_refused(name, launched, &words);
        let words = format!("{name} and x overlap (bytes ");
        let system = AnyLinearSystem { a: &a, b: &x, x: &mut y };
        let solved = solver.solve_blocking(&queue, system, &StopRule::default(), &[]);
        assert_refused(name, solved, &words);
        let shape = DenseShape::new(N, N, Layout::RowMajor, N).unwrap();
        if array.size_bytes() >= 4 * N * N {
            let mut dense = as_floats(array, N * N);
            let written = a.write_dense(&queue, shape, &mut dense).map_err(Into::into);
            assert_refused(name, written, &format!("{name} and the dense matrix overlap (bytes "));
        }
        if array.size_bytes() >= 4 * a.nnz() {
            let (memory, start) = array.memory();
            let rows = AnyArray::of_memory(memory.clone(), ElementType::U32, start, a.nnz());
            let mut rows = rows.unwrap().into_typed().unwrap();
            let written = a.write_row_indices(&queue, &mut rows).map_err(Into::into);
            assert_refused(name, written, &format!("{name} and the array of row indices overlap "));
        }
    }
    a.check_blocking(&queue).unwrap();
}

fn apart_x(queue: &Queue) -> AnyArray {
    DeviceArray::upload_blocking(queue, &[1.0f32; N]).unwrap().into_any()
}

#[test]
fn problems_whose_x_and_y_take_turns_in_one_array_are_right_and_one_element_more_is_named() {
    let queue = queue();
    let host = host_matrix();
    let mut batch = HostBatch::<f32>::new();
    batch.push_csr(host.view()).unwrap();
    batch.push_csr(host.view()).unwrap();
    let mut problems = batch.problems().to_vec();
    // x, y, x, y.
    for (index, problem) in problems.iter_mut().enumerate() {
        problem.x = (2 * index * N) as u64;
        problem.y = ((2 * index + 1) * N) as u64;
    }
    let with = |problems: &[sparrow::Problem]| {
        let offsets = DeviceArray::upload_blocking(&queue, batch.offsets()).unwrap().into_any();
        let indices = DeviceArray::upload_blocking(&queue, &[0u32; 0]).unwrap();
        let columns = DeviceArray::upload_blocking(&queue, batch.columns()).unwrap();
        let columns = sparrow::BatchColumns::U32(columns);
        let values = DeviceArray::upload_blocking(&queue, batch.values()).unwrap().into_any();
        // SAFETY: the arrays are a checked batch's.
        #[expect(unsafe_code, reason = "problems that lie as none that were pushed do")]
        unsafe {
            AnyBatch::from_arrays(
                queue.context(),
                problems.into(),
                offsets,
                indices,
                columns,
                values,
            )
            .unwrap()
        }
    };
    let numbers: Vec<f32> = csr_core::random_vector(7, 4 * N);
    let [one, zero] = [1.0, 0.0].map(|number| Number::of(ValueType::F32, number));
    let a = with(&problems);
    let plan = BatchPlan::new_blocking(&queue, &a, &BatchOptions::default()).unwrap();
    let mut workspace = plan.workspace_blocking(&queue).unwrap();
    let all = DeviceArray::upload_blocking(&queue, &numbers).unwrap();
    let (x, mut y) = (all.as_any().alias(), all.as_any().alias());
    let product =
        AnyBatchOperands { alpha: one.into(), a: &a, x: &x, beta: zero.into(), y: &mut y };
    plan.launch(&queue, &mut workspace, product, &[]).unwrap().wait().unwrap();
    let found = all.read_blocking(&queue).unwrap();
    for index in [0, 2] {
        let x = &numbers[index * N..(index + 1) * N];
        assert_eq!(found[index * N..(index + 1) * N], *x, "x was written");
        let expected = product_of(host.view(), x);
        for (found, expected) in found[(index + 1) * N..].iter().zip(expected) {
            assert!((found - expected).abs() < 1e-5, "{found} and {expected}");
        }
    }

    problems[1].x -= 1;
    let a = with(&problems);
    let plan = BatchPlan::new_blocking(&queue, &a, &BatchOptions::default()).unwrap();
    let mut workspace = plan.workspace_blocking(&queue).unwrap();
    let product =
        AnyBatchOperands { alpha: one.into(), a: &a, x: &x, beta: zero.into(), y: &mut y };
    let launched = plan.launch(&queue, &mut workspace, product, &[]);
    assert_refused("", launched, "x of problem 1 and y of problem 0 overlap (bytes ");
    let mut y = as_floats(a.values(), 4 * N);
    let other = apart_x(&queue);
    let long = DeviceArray::upload_blocking(&queue, &[1.0f32; 4 * N]).unwrap().into_any();
    let product =
        AnyBatchOperands { alpha: one.into(), a: &a, x: &long, beta: zero.into(), y: &mut y };
    let launched = plan.launch(&queue, &mut workspace, product, &[]);
    assert_refused("", launched, "the batch's values of problem 0 and y of problem 0 overlap");
    let options = BatchOptions { scalars_on_device: true, ..BatchOptions::default() };
    let plan = BatchPlan::new_blocking(&queue, &a, &options).unwrap();
    let mut workspace = plan.workspace_blocking(&queue).unwrap();
    let mut y = DeviceArray::upload_blocking(&queue, &[1.0f32; 4 * N]).unwrap().into_any();
    let each = y.slice(N - 1..4 * N).unwrap();
    let product = AnyBatchOperands {
        alpha: sparrow::AnyBatchCoefficient::One(&other),
        a: &a,
        x: &long,
        beta: sparrow::AnyBatchCoefficient::Each(&each),
        y: &mut y,
    };
    let launched = plan.launch(&queue, &mut workspace, product, &[]);
    assert_refused("", launched, "beta of problem 1 and y of problem 0 overlap (bytes ");
}

#[test]
fn vectors_may_be_the_same_by_any_handle_and_else_lie_apart() {
    let queue = queue();
    let mut vectors =
        AnyVectors::new_blocking(&queue, ValueType::F32, &VectorOptions::default()).unwrap();
    let two = Number::of(ValueType::F32, 2.0);
    for (way, x, mut r) in overlapping(&queue) {
        let read = |array: &AnyArray| {
            let mut found = vec![0.0f32; N];
            array.read_bytes_blocking(&queue, bytemuck::cast_slice_mut(&mut found)).unwrap();
            found
        };
        let before = read(&x);
        let scaled = vectors.scale(&queue, (two.into(), &x), &mut r, &[]);
        if ["the same", "a sub-buffer's whole"].contains(&way) {
            scaled.unwrap().wait().unwrap();
            let twice: Vec<f32> = before.iter().map(|number| 2.0 * number).collect();
            assert_eq!(read(&x), twice, "{way}");
            let mut result = r.slice(N - 1..N).unwrap();
            let summed = vectors.reduce(&queue, sparrow::Reduction::Sum, &x, &mut result, &[]);
            assert_refused(way, summed, "x and the result overlap (bytes ");
        } else {
            assert_refused(way, scaled, "x and r overlap in part (bytes ");
            assert_eq!(read(&x), before, "{way}");
        }
    }
}

#[test]
fn what_conversions_write_lies_apart_from_what_they_read_and_from_each_other() {
    let queue = queue();
    let host = host_matrix();
    let nnz = host.nnz();
    let rows = DeviceArray::upload_blocking(&queue, &vec![0u32; nnz]).unwrap();
    let columns = DeviceArray::upload_blocking(&queue, host.pattern().columns()).unwrap();
    let values = DeviceArray::upload_blocking(&queue, host.values()).unwrap().into_any();
    let order = AnyCooToCsr::new_blocking(&queue, (N, N), &rows, &columns, Duplicates::Keep);
    let order = order.unwrap();
    let written = order.write_values(&queue, &values, &mut values.alias()).map_err(Into::into);
    assert_refused(
        "",
        written,
        "the array of the entries' values and the array of values overlap ",
    );
    let target = DeviceArray::upload_blocking(&queue, &vec![0u32; nnz + N]).unwrap();
    let mut offsets = target.slice(0..N + 1).unwrap().into_any();
    let mut over = target.slice(N..N + nnz).unwrap();
    let written = order.write_pattern(&queue, &mut offsets, &mut over).map_err(Into::into);
    assert_refused("", written, "the array of columns and the array of row offsets overlap ");

    let shape = DenseShape::new(2, N, Layout::RowMajor, N).unwrap();
    let dense = DeviceArray::upload_blocking(&queue, &[1.0f32; 2 * N]).unwrap().into_any();
    let counted =
        AnyDenseToCsr::new_blocking(&queue, (shape, &dense), OffsetType::U32, 0.0).unwrap();
    let own = || DeviceArray::upload_blocking(&queue, &[0u32; 4 * N]).unwrap();
    let (mut offsets, mut columns) =
        (own().slice(0..3).unwrap().into_any(), own().slice(0..2 * N).unwrap());
    let mut values = dense.alias();
    let written = counted.write(&queue, &dense, &mut offsets, &mut columns, &mut values);
    let written = written.map_err(Into::into);
    assert_refused("", written, "the dense matrix and the array of values overlap (bytes ");
    let mut values = as_floats(&columns, 2 * N);
    let written = counted.write(&queue, &dense, &mut offsets, &mut columns, &mut values);
    let written = written.map_err(Into::into);
    assert_refused("", written, "the array of values and the array of columns overlap (bytes ");
    let copied = dense.slice(0..N).unwrap().copy_from(&queue, &dense.slice(1..N + 1).unwrap());
    assert_refused("", copied.map_err(Into::into), "the source and the array overlap (bytes ");
}

#[test]
fn two_devices_refuse_what_overlaps_too() {
    let queue = queue();
    let host = host_matrix();
    let a = Matrix::upload_blocking(&queue, host.view()).unwrap();
    let options = PlanOptions { variant: Variant::Device, ..PlanOptions::default() };
    let share = Share::Fixed(0.5);
    let mut plan = HeteroPlan::new_blocking(&queue, &a, Partner::Host, share, &options).unwrap();
    for (way, x, y) in overlapping(&queue) {
        let (x, mut y) = (x.into_typed().unwrap(), y.into_typed().unwrap());
        let product = Operands { alpha: 1.0.into(), a: &a, x: &x, beta: 0.0.into(), y: &mut y };
        // SAFETY: nothing is in flight.
        #[expect(unsafe_code, reason = "nothing that was enqueued touches x or y")]
        let done = unsafe { plan.product_blocking(&queue, product, &[]) };
        assert_refused(way, done, "x and y overlap (bytes ");
    }
    let x: DeviceArray<f32> = apart_x(&queue).into_typed().unwrap();
    let mut y = a.values().slice(0..N).unwrap();
    let product = Operands { alpha: 1.0.into(), a: &a, x: &x, beta: 0.0.into(), y: &mut y };
    // SAFETY: nothing is in flight.
    #[expect(unsafe_code, reason = "nothing that was enqueued touches x or y")]
    let done = unsafe { plan.product_blocking(&queue, product, &[]) };
    assert_refused("", done, "the matrix's values and y overlap (bytes ");
}
