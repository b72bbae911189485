//! Buffers that deny the host access are read, written and planned for all the same: by copies that the device makes.

#![expect(clippy::unwrap_used, reason = "a test panics when its claim is broken")]
#![expect(unsafe_code, reason = "buffers of the application's, with flags of its own")]

use bytemuck::Pod;
use cl_runtime::raw::{MemHandle, Memory};
use conformance::c_application::before_what_is_written;
use conformance::{check_product, queue};
use opencl3::memory as cl;
use sparrow::{
    Accumulate, Algorithm, AnyArray, AnyCooToCsr, AnyLinearSystem, AnyMatrix, AnyOperands, AnyPlan,
    AnySolver, AnySpgemmPlan, AnyTransposedMatrix, Csr, DeviceArray, Duplicates, HeteroPlan,
    Matrix, Op, Operands, Partner, Plan, PlanOptions, Planning, Queue, Reuse, Share, SolverOptions,
    SpgemmOptions, StopRule, Variant,
};

/// What an application may deny the host.
const DENIED: [(&str, u64); 3] = [
    ("all access", cl::CL_MEM_HOST_NO_ACCESS),
    ("reads", cl::CL_MEM_HOST_WRITE_ONLY),
    ("writes", cl::CL_MEM_HOST_READ_ONLY),
];

const N: usize = 50;

/// Rows of 1 to 3 entries and one of many, which groups share.
fn host_matrix() -> Csr<f32> {
    let (mut offsets, mut columns) = (vec![0], Vec::new());
    for row in 0..N {
        let len = if row == N / 2 { N } else { row % 3 + 1 };
        // On the diagonal too.
        columns.extend((0..len).map(|k| ((row + k * (N / len)) % N) as u32));
        offsets.push(columns.len() as u32);
    }
    let values = csr_core::random_vector(3, columns.len());
    Csr::new(N, offsets, columns, values).unwrap()
}

/// A buffer with these flags that holds `data`, from element 1 on where what the host writes there is seen.
fn buffer<T: Pod>(queue: &Queue, flags: u64, data: &[T]) -> DeviceArray<T> {
    let before = before_what_is_written(1);
    let content = [&vec![T::zeroed(); before], data].concat();
    let bytes = size_of_val(&content[..]);
    let flags = flags | cl::CL_MEM_READ_WRITE | cl::CL_MEM_COPY_HOST_PTR;
    // SAFETY: the context is valid, and the content lives through the call, which copies it.
    let memory = unsafe {
        let host = content.as_ptr().cast_mut().cast();
        let made = cl::create_buffer(queue.context().as_raw(), flags, bytes, host).unwrap();
        Memory::Buffer(MemHandle::from_owned(made))
    };
    DeviceArray::of_memory(memory, before * size_of::<T>(), data.len()).unwrap()
}

/// The matrix in buffers with these flags.
fn matrix_in(queue: &Queue, flags: u64, host: &Csr<f32>) -> Matrix<f32> {
    let offsets = buffer(queue, flags, host.pattern().offsets());
    let columns = buffer(queue, flags, host.pattern().columns());
    let values = buffer(queue, flags, host.values());
    // SAFETY: a checked matrix's arrays.
    unsafe { Matrix::from_arrays_blocking(queue, host.cols(), offsets, columns, values).unwrap() }
}

#[test]
fn arrays_that_deny_the_host_access_are_read_written_and_seen() {
    let queue = queue();
    for (denied, flags) in DENIED {
        let mut array = buffer(&queue, flags, &[1.0f32, 2.0, 3.0, 4.0]);
        assert_eq!(array.read_blocking(&queue).unwrap(), [1.0, 2.0, 3.0, 4.0], "{denied}");
        array.slice(1..3).unwrap().write_blocking(&queue, &[8.0, 9.0]).unwrap();
        assert_eq!(array.read_blocking(&queue).unwrap(), [1.0, 8.0, 9.0, 4.0], "{denied}");
        // SAFETY: nothing is in flight.
        unsafe {
            let view = array.view_blocking(&queue).unwrap();
            assert_eq!(*view, [1.0, 8.0, 9.0, 4.0], "{denied}");
            assert_eq!(view.is_copy(), denied != "writes");
            view.unmap_blocking().unwrap();
            let mut view = array.view_mut_blocking(&queue).unwrap();
            view[3] = 7.0;
            view.unmap_blocking().unwrap();
            // Dropped, it goes back too.
            array.view_mut_blocking(&queue).unwrap()[0] = 5.0;
        }
        assert_eq!(array.read_blocking(&queue).unwrap(), [5.0, 8.0, 9.0, 7.0], "{denied}");
        // A part of it that says nothing of its own denies the same.
        let unit = queue.context().device().traits().base_align_bytes as usize;
        let long = buffer(&queue, flags, &vec![6u8; 2 * unit]);
        let part = long.memory().0.sub_buffer(unit, unit).unwrap();
        let mut part = DeviceArray::<u8>::of_memory(part, 0, 4).unwrap();
        part.write_blocking(&queue, &[1, 2, 3]).unwrap();
        assert_eq!(part.read_blocking(&queue).unwrap(), [1, 2, 3, 6], "{denied}");
    }
}

#[test]
fn every_algorithm_plans_for_and_multiplies_a_matrix_that_the_host_must_not_see() {
    let queue = queue();
    let host = host_matrix();
    let numbers: Vec<f32> = csr_core::random_vector(4, N);
    let poison = vec![f32::NAN; N];
    for (_, flags) in [DENIED[0], DENIED[1]] {
        let a = matrix_in(&queue, flags, &host);
        a.check_blocking(&queue).unwrap();
        let x = buffer(&queue, flags, &numbers);
        let automatic = [Reuse::Once, Reuse::Several, Reuse::Many]
            .map(|products| PlanOptions { reuse: products, ..PlanOptions::default() });
        let named = Algorithm::ALL.map(|algorithm| {
            conformance::options(algorithm, Variant::default(), Accumulate::Plain)
        });
        let transposed = PlanOptions { op: Op::Transpose, ..PlanOptions::default() };
        let on_host = PlanOptions {
            planning: Planning::OnHost,
            ..conformance::options(Algorithm::CsrAdaptive, Variant::default(), Accumulate::Plain)
        };
        for options in automatic.into_iter().chain(named).chain([transposed, on_host]) {
            let plan = Plan::new_blocking(&queue, &a, &options).unwrap();
            let mut workspace = plan.workspace_blocking(&queue).unwrap();
            let mut y = buffer(&queue, flags, &poison);
            let product = Operands { alpha: 1.0.into(), a: &a, x: &x, beta: 0.0.into(), y: &mut y };
            plan.launch(&queue, &mut workspace, product, &[]).unwrap().wait().unwrap();
            let found = y.read_blocking(&queue).unwrap();
            if options.op == Op::Normal {
                check_product(&host, 1.0, &numbers, 0.0, &poison, &found, Accumulate::Plain);
            } else {
                let whole = host.view().transpose();
                check_product(&whole, 1.0, &numbers, 0.0, &poison, &found, Accumulate::Plain);
            }
        }
    }
}

#[test]
fn what_the_cpu_finishes_or_shares_is_right_and_counted_as_copied() {
    let queue = queue();
    let host = host_matrix();
    let numbers: Vec<f32> = csr_core::random_vector(4, N);
    let poison = vec![f32::NAN; N];
    for (denied, flags) in DENIED {
        let a = matrix_in(&queue, flags, &host);
        let x = buffer(&queue, flags, &numbers);
        let mut y = buffer(&queue, flags, &poison);
        let options =
            conformance::options(Algorithm::SegmentedSum, Variant::Cpu, Accumulate::Plain);
        let plan = Plan::new_blocking(&queue, &a, &options).unwrap();
        let mut workspace = plan.workspace_blocking(&queue).unwrap();
        let product = Operands { alpha: 1.0.into(), a: &a, x: &x, beta: 0.0.into(), y: &mut y };
        // SAFETY: nothing is in flight.
        let stages = unsafe { plan.launch_in_place_blocking(&queue, &mut workspace, product, &[]) };
        assert!(stages.unwrap().copied_bytes >= 4 * N, "{denied}");
        let found = y.read_blocking(&queue).unwrap();
        check_product(&host, 1.0, &numbers, 0.0, &poison, &found, Accumulate::Plain);

        y.write_blocking(&queue, &poison).unwrap();
        let (partner, share) = (Partner::Host, Share::Fixed(0.5));
        let options =
            conformance::options(Algorithm::SegmentedSum, Variant::Device, Accumulate::Plain);
        let mut plan = HeteroPlan::new_blocking(&queue, &a, partner, share, &options).unwrap();
        let product = Operands { alpha: 1.0.into(), a: &a, x: &x, beta: 0.0.into(), y: &mut y };
        // SAFETY: nothing is in flight.
        let shared = unsafe { plan.product_blocking(&queue, product, &[]) }.unwrap();
        assert!(shared.copied_bytes >= if denied == "writes" { 4 } else { 4 * N }, "{denied}");
        let found = y.read_blocking(&queue).unwrap();
        check_product(&host, 1.0, &numbers, 0.0, &poison, &found, Accumulate::Plain);
    }
}

#[test]
fn conversions_products_and_solvers_take_what_the_host_must_not_see() {
    let queue = queue();
    let host = host_matrix();
    let flags = cl::CL_MEM_HOST_NO_ACCESS;
    let a = matrix_in(&queue, flags, &host);
    let transposed = AnyTransposedMatrix::new_blocking(&queue, &a, None).unwrap();
    transposed.matrix().check_blocking(&queue).unwrap();
    let b = AnyMatrix::upload_blocking(&queue, host.view().transpose().view().into()).unwrap();
    let options = SpgemmOptions::default();
    let mut plan = AnySpgemmPlan::new_blocking(&queue, &a, &b, &options).unwrap();
    plan.multiply_blocking(&queue, &a, &b).unwrap().check_blocking(&queue).unwrap();

    let rows: Vec<u32> = vec![2, 0, 1, 7];
    let shape = (3, 3);
    let (rows, columns) = (buffer(&queue, flags, &rows), buffer(&queue, flags, &[0u32; 4]));
    let refused = AnyCooToCsr::new_blocking(&queue, shape, &rows, &columns, Duplicates::Keep);
    let text = refused.unwrap_err().to_string();
    assert!(text.contains("row 7 of entry 3"), "{text}");

    // b = 0 is answered by the host.
    let mut solver = AnySolver::new_blocking(&queue, &a, &SolverOptions::default()).unwrap();
    let zeros = buffer(&queue, flags, &[0.0f32; N]).into_any();
    let mut x: AnyArray = buffer(&queue, flags, &[1.0f32; N]).into_any();
    let system = AnyLinearSystem { a: &a, b: &zeros, x: &mut x };
    solver.solve_blocking(&queue, system, &StopRule::default(), &[]).unwrap();
    assert_eq!(x.typed::<f32>().unwrap().read_blocking(&queue).unwrap(), [0.0; N]);

    // New values, and alpha that stage 2 on the CPU reads.
    let mut a = matrix_in(&queue, flags, &host);
    let twice: Vec<f32> = host.values().iter().map(|value| 2.0 * value).collect();
    a.write_values_blocking(&queue, &twice).unwrap();
    let options = PlanOptions {
        scalars_on_device: true,
        ..conformance::options(Algorithm::SegmentedSum, Variant::Cpu, Accumulate::Plain)
    };
    let plan = AnyPlan::new_blocking(&queue, &a, &options).unwrap();
    let mut workspace = plan.workspace_blocking(&queue).unwrap();
    let [half, zero] = [0.5f32, 0.0].map(|number| buffer(&queue, flags, &[number]).into_any());
    let numbers: Vec<f32> = csr_core::random_vector(4, N);
    let (x, mut y) = (
        buffer(&queue, flags, &numbers).into_any(),
        buffer(&queue, flags, &[f32::NAN; N]).into_any(),
    );
    let product =
        AnyOperands { alpha: (&half).into(), a: &a, x: &x, beta: (&zero).into(), y: &mut y };
    // SAFETY: nothing is in flight.
    unsafe { plan.launch_in_place_blocking(&queue, &mut workspace, product, &[]).unwrap() };
    let found = y.typed::<f32>().unwrap().read_blocking(&queue).unwrap();
    let poison = vec![f32::NAN; N];
    check_product(&host, 1.0, &numbers, 0.0, &poison, &found, Accumulate::Plain);
}
