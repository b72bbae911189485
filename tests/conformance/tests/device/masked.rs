//! Every operation with default options is right on devices smaller than any at hand: the device at hand, masked.

#![expect(clippy::unwrap_used, reason = "a test panics when its claim is broken")]

use std::panic::{AssertUnwindSafe, catch_unwind};

use conformance::host_solvers::{self, class};
use conformance::{
    Fixture, check_product, compiles_slowly, csr, device, is_full, is_interpreter, is_shared, say,
};
use csr_core::verify::SparseOracle;
use csr_core::{Accumulator, Real};
use sparrow::{
    Accumulate, Context, CooToCsr, Csr, DenseShape, DenseToCsr, Device, DeviceArray, DeviceTraits,
    DeviceType, Duplicates, HeteroPlan, KernelBuild, Layout, Matrix, Op, Operands, Partner, Plan,
    PlanOptions, Preconditioner, Queue, RealValue, Reduction, Reuse, RowOffsets, Share,
    SolverMethod, SpgemmOptions, SpgemmPlan, StopRule, TransposedMatrix, ValueType, VectorOptions,
    Vectors,
};
use sparrow_bench::selftest::{BatchCase, SpmmCase, mixed_batch, run_batch, run_spmm};

/// What a device is made to report.
#[derive(Clone, Copy)]
struct Mask {
    device_type: Option<DeviceType>,
    /// Items of a work-group.
    group_size: u64,
    /// Items of a work-group of any compiled kernel, where those are fewer.
    kernel_group_size: u64,
    local_kib: u64,
    compute_units: u32,
    has_f64: bool,
    has_svm: bool,
    /// The largest allocation.
    allocation_kib: u64,
}

/// What takes nothing away but the kind of device.
const GPU: Mask = Mask {
    device_type: Some(DeviceType::Gpu),
    group_size: 1024,
    kernel_group_size: u64::MAX,
    local_kib: 64,
    compute_units: 100,
    has_f64: true,
    has_svm: true,
    allocation_kib: 1 << 20,
};

/// Each limit at both ends, and in the combinations that have been met.
const MASKS: [(&str, Mask); 10] = [
    ("a group of 128", Mask { group_size: 128, ..GPU }),
    ("4 KiB of local memory", Mask { group_size: 256, local_kib: 4, has_f64: false, ..GPU }),
    ("one item", Mask { group_size: 1, local_kib: 32, compute_units: 1, has_svm: false, ..GPU }),
    ("the least", Mask { group_size: 16, local_kib: 1, allocation_kib: 1024, ..GPU }),
    ("1,000 units", Mask { compute_units: 1000, local_kib: 32, has_svm: false, ..GPU }),
    ("kernels of 64", Mask { kernel_group_size: 64, ..GPU }),
    ("1 KiB", Mask { local_kib: 1, ..GPU }),
    ("a group of 2", Mask { group_size: 2, local_kib: 32, ..GPU }),
    ("a CPU of 16", Mask { device_type: None, group_size: 16, has_f64: false, ..GPU }),
    ("a CPU of 1", Mask { device_type: None, group_size: 1, local_kib: 1, ..GPU }),
];

impl Mask {
    /// A queue on `device` so masked.
    fn queue(&self, device: &Device) -> Queue {
        let masked = device.masked(|traits| {
            let of = traits.clone();
            *traits = DeviceTraits {
                device_type: self.device_type.unwrap_or(of.device_type),
                max_group_size: of.max_group_size.min(self.group_size),
                local_bytes: of.local_bytes.min(self.local_kib << 10),
                compute_units: self.compute_units,
                has_f64: of.has_f64 && self.has_f64,
                svm: if self.has_svm { of.svm } else { Default::default() },
                max_allocation_bytes: of.max_allocation_bytes.min(self.allocation_kib << 10),
                ..of
            };
        });
        Queue::new(&Context::new(&masked.with_kernel_groups(self.kernel_group_size)).unwrap())
            .unwrap()
    }
}

/// Whether f64 is tried: not where each kernel takes long to compile or to run.
fn has_f64(queue: &Queue) -> bool {
    queue.context().device().traits().has_f64 && !is_slow()
}

/// Whether a cover is run, since each kernel takes long to compile or to run.
fn is_slow() -> bool {
    (compiles_slowly(&device()) || is_interpreter(&device())) && !is_full()
}

/// Runs `claim` in f32, and in f64 where that is tried.
macro_rules! in_both {
    ($claim:ident, $queue:expr) => {
        $claim::<f32>($queue);
        if has_f64($queue) {
            $claim::<f64>($queue);
        }
    };
}

fn products(queue: &Queue) {
    fn are_right<V: RealValue>(queue: &Queue) {
        let fixture = Fixture::<V>::new(queue, 3);
        for products in [Reuse::Once, Reuse::Many] {
            let options = PlanOptions { reuse: products, ..PlanOptions::default() };
            let (plan, mut workspace) = fixture.plan(queue, &options);
            let mut y = fixture.poisoned_y(queue);
            fixture.launch(queue, (&plan, &mut workspace), &mut y, &[]).unwrap();
            fixture.check(&y.read_blocking(queue).unwrap(), Accumulate::Plain);
        }
    }
    in_both!(are_right, queue);
}

fn compensated_products(queue: &Queue) {
    let fixture = Fixture::<f32>::new(queue, 3);
    let accumulate = Accumulate::Compensated;
    let options = PlanOptions { accumulate, ..PlanOptions::default() };
    let (plan, mut workspace) = fixture.plan(queue, &options);
    let mut y = fixture.poisoned_y(queue);
    fixture.launch(queue, (&plan, &mut workspace), &mut y, &[]).unwrap();
    fixture.check(&y.read_blocking(queue).unwrap(), accumulate);
}

fn transposed_products(queue: &Queue) {
    let fixture = Fixture::<f32>::new(queue, 3);
    let options = PlanOptions { op: Op::Transpose, ..PlanOptions::default() };
    let (plan, mut workspace) = fixture.plan(queue, &options);
    let mut y = fixture.poisoned_y(queue);
    fixture.launch(queue, (&plan, &mut workspace), &mut y, &[]).unwrap();
    let y = y.read_blocking(queue).unwrap();
    let host = fixture.host.view().transpose();
    check_product(&host, 1.0, &fixture.host_x, 0.0, &y, &y, Accumulate::Plain);
}

fn products_of_any_pattern(queue: &Queue) {
    let fixture = Fixture::<f32>::new(queue, 3);
    let plan = Plan::for_any_pattern(queue, &fixture.a, &PlanOptions::default()).unwrap();
    let mut workspace = plan.workspace_blocking(queue).unwrap();
    let mut y = fixture.poisoned_y(queue);
    fixture.launch(queue, (&plan, &mut workspace), &mut y, &[]).unwrap();
    fixture.check(&y.read_blocking(queue).unwrap(), Accumulate::Plain);
}

fn products_of_two_devices(queue: &Queue) {
    let host = csr::<f32>(60, &[3, 0, 70, 5, 1, 9, 0, 2], 3);
    let a = Matrix::upload_blocking(queue, host.view()).unwrap();
    let x = vec![1.5; host.cols()];
    let device_x = DeviceArray::upload_blocking(queue, &x).unwrap();
    let mut y = DeviceArray::upload_blocking(queue, &vec![f32::NAN; host.rows()]).unwrap();
    let (partner, share) = (Partner::Host, Share::Fixed(0.5));
    let options = PlanOptions::default();
    let mut plan = HeteroPlan::new_blocking(queue, &a, partner, share, &options).unwrap();
    let product = Operands { alpha: 1.0.into(), a: &a, x: &device_x, beta: 0.0.into(), y: &mut y };
    // SAFETY: the host's arrays are those that were uploaded, and nothing else uses x and y meanwhile.
    #[expect(unsafe_code, reason = "the host's copy of the matrix is trusted")]
    unsafe {
        plan.product_blocking(queue, product, &[]).unwrap();
    }
    let y = y.read_blocking(queue).unwrap();
    check_product(&host, 1.0, &x, 0.0, &y, &y, Accumulate::Plain);
}

/// Layouts of B and C that the case of this number has: one where kernels take long, and by a compiler beside such a one
/// the other.
fn layouts_of(number: usize, is_slow: bool, is_shared: bool) -> &'static [Layout] {
    const BOTH: [Layout; 2] = [Layout::RowMajor, Layout::ColumnMajor];
    match (is_slow, is_shared) {
        (true, _) => &BOTH[number % 2..][..1],
        (false, true) => &BOTH[(number + 1) % 2..][..1],
        (false, false) => &BOTH,
    }
}

#[test]
fn two_compilers_have_both_layouts_of_each_dense_product() {
    for number in 0..3 {
        let [slow, other] = [true, false].map(|is_slow| layouts_of(number, is_slow, true));
        assert_eq!((slow.len(), other.len()), (1, 1));
        assert_ne!(slow, other, "case {number}");
        assert_eq!(layouts_of(number, false, false).len(), 2);
    }
}

/// Rows of B and C side by side and apart; of A alike, uneven and long.
fn dense_products(queue: &Queue) {
    let alike: Vec<usize> = vec![6; 40];
    let uneven: Vec<usize> = (0..70).map(|row| [0, 1, 3, 40][row % 4]).collect();
    let long = vec![2, 0, 700, 1, 3];
    let value_type = if has_f64(queue) { ValueType::F64 } else { ValueType::F32 };
    for (number, (lengths, columns)) in
        [(alike, 4), (uneven, 33), (long, 3)].into_iter().enumerate()
    {
        for &layout in layouts_of(number, is_slow(), is_shared()) {
            let sides = ((layout, 0), (layout, 0));
            let case = SpmmCase { b: sides.0, c: sides.1, ..SpmmCase::new(None, columns) };
            let run = if value_type == ValueType::F64 {
                let matrix = csr::<f64>(97, &lengths, 3);
                run_spmm(queue, matrix.view().into(), value_type, false, &case)
            } else {
                let matrix = csr::<f32>(97, &lengths, 3);
                run_spmm(queue, matrix.view().into(), value_type, false, &case)
            };
            run.unwrap();
        }
    }
}

/// Rows of every class, and B's columns in no order.
fn sparse_products(queue: &Queue) {
    fn are_right<V: RealValue + Real + Accumulator>(queue: &Queue) {
        let lengths: Vec<usize> = (0..60).map(|row| [1, 2, 0, 3, 9, 40, 90][row % 7]).collect();
        let a: Csr<V> = csr(60, &lengths, 1);
        // Columns of its longest rows begin again, and repeat.
        let b: Csr<V> = csr(550, &lengths, 2);
        let (on_device_a, on_device_b) = (
            Matrix::upload_blocking(queue, a.view()).unwrap(),
            Matrix::upload_blocking(queue, b.view()).unwrap(),
        );
        let options = SpgemmOptions::default();
        let mut plan =
            SpgemmPlan::new_blocking(queue, &on_device_a, &on_device_b, &options).unwrap();
        let c = plan.multiply_blocking(queue, &on_device_a, &on_device_b).unwrap();
        let found: Csr<V> = Csr::new(
            c.cols(),
            c.offsets().read_blocking(queue).unwrap(),
            c.columns().read_blocking(queue).unwrap(),
            c.values().read_blocking(queue).unwrap(),
        )
        .unwrap();
        let verified = SparseOracle::new(a.view(), b.view()).unwrap().verify(found.view()).unwrap();
        assert!(verified.passed(), "{verified:?}");
    }
    in_both!(are_right, queue);
}

fn batches(queue: &Queue) {
    fn are_right<V: RealValue>(queue: &Queue) {
        let problems: Vec<Csr<V>> = vec![
            csr(9, &[3, 0, 8, 2], 1),
            csr(90, &[70, 1, 2], 2),
            csr(40, &[4; 40], 3),
            csr(700, &[500, 300, 2], 4),
            csr(4, &[], 5),
        ];
        let host = mixed_batch(None, &problems).unwrap();
        let x: Vec<V::Accum> = csr_core::random_vector(11, host.x_len());
        run_batch(queue, &problems, &host, &x, &BatchCase::new(None)).unwrap();
    }
    in_both!(are_right, queue);
}

fn solves(queue: &Queue) {
    fn are_right<V: RealValue>(queue: &Queue) {
        let both = [(SolverMethod::Cg, "poisson5"), (SolverMethod::BiCgStab, "convection")];
        for &(method, name) in if is_slow() { &both[..1] } else { &both[..] } {
            let matrix = class(name, 60);
            let (b, x) = (vec![1.0; matrix.rows()], vec![0.0; matrix.rows()]);
            let stop = StopRule { relative: 1e-3, ..StopRule::default() };
            let options = host_solvers::options(method, Preconditioner::Jacobi);
            let (_, solution) =
                host_solvers::solve(queue, &matrix.map_values::<V>(), &options, &b, &x, &stop);
            assert!(solution.true_relative_residual() < 2e-3, "{name}: {solution:?}");
        }
    }
    in_both!(are_right, queue);
}

fn vectors(queue: &Queue) {
    fn are_right<V: RealValue<Accum = V> + Accumulator>(queue: &Queue) {
        let build = KernelBuild::AtFirstUse;
        let options = VectorOptions { build, ..VectorOptions::default() };
        let mut vectors = Vectors::<V>::new_blocking(queue, &options).unwrap();
        let number = V::from_f64;
        let host: Vec<V> = (0..3000).map(|k| number(f64::from(k % 7) - 3.0)).collect();
        let x = DeviceArray::upload_blocking(queue, &host).unwrap();
        let mut r = DeviceArray::upload_blocking(queue, &[number(f64::NAN); 3000]).unwrap();
        vectors.axpy(queue, (number(2.0).into(), &x), &x, &mut r, &[]).unwrap();
        let expected: Vec<V> = host.iter().map(|value| number(3.0 * value.to_f64())).collect();
        assert!(r.read_blocking(queue).unwrap() == expected, "axpy");
        let squares: f64 = host.iter().map(|value| value.to_f64() * value.to_f64()).sum();
        let dot = vectors.dot_blocking(queue, &x, &x, &[]).unwrap();
        assert!(dot.to_f64() == squares, "dot is {dot:?} and not {squares}");
        let norm1 = vectors.reduce_blocking(queue, Reduction::Norm1, &x, &[]).unwrap();
        let magnitudes: f64 = host.iter().map(|value| value.to_f64().abs()).sum();
        assert!(norm1.to_f64() == magnitudes, "norm1");
        let integers = DeviceArray::upload_blocking(queue, &[3i32; 1000]).unwrap();
        assert_eq!(vectors.sum_integers_blocking(queue, &integers, &[]).unwrap(), 3000);
    }
    in_both!(are_right, queue);
}

/// From entries in no order, to entries, to its transpose, to a dense matrix and back.
fn conversions(queue: &Queue) {
    let host = csr::<f32>(50, &[3, 0, 50, 5, 1, 9, 0, 2].repeat(6), 3);
    let mut sorted = host.clone();
    sorted.sort_rows();
    let coo = host.to_coo();
    let reversed = |indices: &[u32]| indices.iter().rev().copied().collect::<Vec<_>>();
    let upload = |indices: &[u32]| DeviceArray::upload_blocking(queue, indices).unwrap();
    let (rows, columns) =
        (upload(&reversed(coo.row_indices())), upload(&reversed(coo.column_indices())));
    let values: Vec<f32> = coo.values().iter().rev().copied().collect();
    let values = DeviceArray::upload_blocking(queue, &values).unwrap();
    let shape = (host.rows(), host.cols());
    let order = CooToCsr::new_blocking(queue, shape, &rows, &columns, Duplicates::Keep).unwrap();
    let matrix: Matrix<f32> = order.matrix_blocking(queue, &values).unwrap();
    assert_holds(queue, &matrix, &sorted);

    let mut row_indices = upload(&vec![u32::MAX; host.nnz()]);
    matrix.write_row_indices(queue, &mut row_indices).unwrap();
    assert_eq!(row_indices.read_blocking(queue).unwrap(), sorted.to_coo().row_indices());
    let offsets = RowOffsets::new(queue.context()).unwrap();
    let mut offsets = offsets;
    let found = offsets.find_blocking(queue, host.rows(), &row_indices, &[]).unwrap().unwrap();
    assert_eq!(found.read_blocking(queue).unwrap(), host.pattern().offsets());

    let transposed = TransposedMatrix::on_device_blocking(queue, &matrix).unwrap();
    assert_holds(queue, transposed.matrix(), &sorted.view().transpose());

    for layout in [Layout::RowMajor, Layout::ColumnMajor] {
        let length = if layout == Layout::RowMajor { host.cols() } else { host.rows() };
        let shape = DenseShape::new(host.rows(), host.cols(), layout, length).unwrap();
        let mut dense = DeviceArray::upload_blocking(queue, &vec![7.0f32; shape.span()]).unwrap();
        matrix.write_dense(queue, shape, &mut dense).unwrap();
        let counted = DenseToCsr::<f32, u32>::new_blocking(queue, shape, &dense, 0.0).unwrap();
        assert_holds(queue, &counted.matrix_blocking(queue, &dense).unwrap(), &sorted);
    }
}

fn assert_holds(queue: &Queue, found: &Matrix<f32>, expected: &Csr<f32>) {
    assert_eq!(found.offsets().read_blocking(queue).unwrap(), expected.pattern().offsets());
    assert_eq!(found.columns().read_blocking(queue).unwrap(), expected.pattern().columns());
    assert_eq!(found.values().read_blocking(queue).unwrap(), expected.values());
}

type Operation = (&'static str, fn(&Queue));

const OPERATIONS: [Operation; 11] = [
    ("products", products),
    ("compensated products", compensated_products),
    ("transposed products", transposed_products),
    ("products of any pattern", products_of_any_pattern),
    ("products of two devices", products_of_two_devices),
    ("dense products", dense_products),
    ("sparse products", sparse_products),
    ("batches", batches),
    ("solves", solves),
    ("vectors", vectors),
    ("conversions", conversions),
];

#[test]
fn every_operation_with_default_options_is_right_on_every_small_device() {
    let device = device();
    // All of them under SPARROW_TEST_FULL; else a third. Where kernels take long each operation once, on one compiler and an
    // interpreter on different masks, and twice on others by a compiler beside them.
    let is_run = |number: usize, at: usize| {
        let is_one_of = |masks: &[usize]| masks.contains(&((number + 3 * at) % MASKS.len()));
        match (is_full(), is_slow(), is_shared()) {
            (true, ..) => true,
            (false, true, _) if is_interpreter(&device) => is_one_of(&[2]),
            (false, true, _) => is_one_of(&[5]),
            (false, false, true) => is_one_of(&[8, 9]),
            (false, false, false) => (number + at).is_multiple_of(3),
        }
    };
    let (mut run, mut failures) = (0, Vec::new());
    for (number, (mask_name, mask)) in MASKS.iter().enumerate() {
        let queue = mask.queue(&device);
        for (at, (name, operation)) in OPERATIONS.iter().enumerate() {
            if !is_run(number, at) {
                continue;
            }
            run += 1;
            if catch_unwind(AssertUnwindSafe(|| operation(&queue))).is_err() {
                failures.push(format!("{name} on {mask_name}"));
            }
        }
    }
    let all = MASKS.len() * OPERATIONS.len();
    say(&format!("masked devices: {run} of {all} operations on {} masks", MASKS.len()));
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
