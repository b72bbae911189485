//! What clSPARSE's interface costs a call, and what csrmv reaches through it.
//!
//! `call/...`: one small product enqueued, through the interface and by the plan that it calls; the difference is the
//! interface's. The queue is held back meanwhile, so that the device's own work is not in the way. `stencil/...`: a whole product on the five-point stencil of 512 by 512, waited
//! for, with its floating-point operations.

#![expect(unsafe_code, reason = "calls a C interface")]
#![expect(clippy::unwrap_used, reason = "a bench without a device has nothing to say")]

use std::time::{Duration, Instant};

use clSPARSE::{
    Status, cldenseVector, clsparseControl, clsparseCreateControl, clsparseCsrMatrix,
    clsparseCsrMetaCreate, clsparseCsrMetaDelete, clsparseDcsrmv, clsparseEnableAsync,
    clsparseReleaseControl, clsparseScalar, clsparseScsrmv, clsparseSetup,
};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use opencl3::command_queue::enqueue_barrier_with_wait_list;
use opencl3::event::{CL_COMPLETE, create_user_event, release_event, set_user_event_status};
use sparrow::{
    Algorithm, Context, Csr, Device, DeviceArray, Matrix, Operands, Plan, PlanOptions, Queue, Value,
};

type Csrmv = unsafe extern "C" fn(
    *const clsparseScalar,
    *const clsparseCsrMatrix,
    *const cldenseVector,
    *const clsparseScalar,
    *mut cldenseVector,
    clsparseControl,
) -> Status;

/// Calls that are enqueued before the queue is emptied.
const CALLS: u64 = 64;

/// The five-point stencil on a square grid.
fn stencil<T: Value>(side: usize) -> Csr<T> {
    let (mut offsets, mut columns, mut values) = (vec![0u32], Vec::new(), Vec::new());
    for row in 0..side * side {
        let (i, j) = (row / side, row % side);
        let around = [
            (i > 0, row.wrapping_sub(side), -1.0),
            (j > 0, row.wrapping_sub(1), -1.0),
            (true, row, 4.0),
            (j + 1 < side, row + 1, -1.0),
            (i + 1 < side, row + side, -1.0),
        ];
        for (_, column, value) in around.into_iter().filter(|(is_there, _, _)| *is_there) {
            columns.push(column as u32);
            values.push(T::from_f64(value));
        }
        offsets.push(columns.len() as u32);
    }
    Csr::new(side * side, offsets, columns, values).unwrap()
}

/// A product in both forms.
struct Setting<T> {
    queue: Queue,
    matrix: Matrix<T>,
    scalars: [DeviceArray<T>; 2],
    x: DeviceArray<T>,
    y: DeviceArray<T>,
}

impl<T: Value<Accum = T>> Setting<T> {
    fn new(side: usize) -> Self {
        let queue = Queue::new(&Context::new(&Device::best().unwrap()).unwrap()).unwrap();
        let host: Csr<T> = stencil(side);
        let upload = |data: &[T]| DeviceArray::upload_blocking(&queue, data).unwrap();
        let scalars = [1.0, 0.0].map(|number| upload(&[T::from_f64(number)]));
        let x = upload(&vec![T::from_f64(0.5); host.cols()]);
        let y = upload(&vec![T::from_f64(0.0); host.rows()]);
        let matrix = Matrix::upload_blocking(&queue, host.view()).unwrap();
        Setting { queue, matrix, scalars, x, y }
    }

    /// The product by the interface.
    fn call(&self, csrmv: Csrmv, csr: &clsparseCsrMatrix, control: clsparseControl) {
        let raw = |array: &DeviceArray<T>| array.memory().0.as_raw().unwrap();
        let [alpha, beta] =
            self.scalars.each_ref().map(|one| clsparseScalar { value: raw(one), off_value: 0 });
        let vector = |array: &DeviceArray<T>| cldenseVector {
            num_values: array.len() as u32,
            values: raw(array),
            off_values: 0,
        };
        let (x, mut y) = (vector(&self.x), vector(&self.y));
        // SAFETY: all of them live.
        let status = unsafe {
            csrmv(&raw const alpha, csr, &raw const x, &raw const beta, &raw mut y, control)
        };
        assert_eq!(status, Status::Success);
    }

    fn csr(&self) -> clsparseCsrMatrix {
        clsparseCsrMatrix {
            num_rows: self.matrix.rows() as u32,
            num_cols: self.matrix.cols() as u32,
            num_nonzeros: self.matrix.nnz() as u32,
            values: self.matrix.values().memory().0.as_raw().unwrap(),
            col_indices: self.matrix.columns().memory().0.as_raw().unwrap(),
            row_pointer: self.matrix.offsets().memory().0.as_raw().unwrap(),
            off_values: 0,
            off_col_indices: 0,
            off_row_pointer: 0,
            meta: std::ptr::null_mut(),
        }
    }

    fn control(&self) -> clsparseControl {
        clsparseSetup();
        // SAFETY: the queue lives.
        let created = unsafe { clsparseCreateControl(self.queue.as_raw()) };
        assert_eq!(created.status, Status::Success);
        created.control
    }

    /// Time for so many enqueued products, which begin once they have been counted.
    fn enqueue(&self, count: u64, mut product: impl FnMut()) -> Duration {
        let mut spent = Duration::ZERO;
        let mut left = count;
        while left > 0 {
            let now = left.min(CALLS);
            let gate = create_user_event(self.queue.context().as_raw()).unwrap();
            // SAFETY: queue and event live, and the barrier's own event is not used.
            let closed = unsafe {
                enqueue_barrier_with_wait_list(self.queue.as_raw(), 1, &raw const gate).unwrap()
            };
            let start = Instant::now();
            (0..now).for_each(|_| product());
            spent += start.elapsed();
            set_user_event_status(gate, CL_COMPLETE).unwrap();
            self.queue.finish_blocking().unwrap();
            // SAFETY: both are this function's, and nothing waits for them any more.
            unsafe { (release_event(gate).unwrap(), release_event(closed).unwrap()) };
            left -= now;
        }
        spent
    }
}

fn call(criterion: &mut Criterion) {
    let setting = Setting::<f32>::new(4);
    let control = setting.control();
    clsparseEnableAsync(control, 1);
    let mut group = criterion.benchmark_group("call");
    let csr = setting.csr();
    group.bench_function("interface", |bencher| {
        bencher.iter_custom(|count| {
            setting.enqueue(count, || setting.call(clsparseScsrmv, &csr, control))
        });
    });
    let mut with_meta = setting.csr();
    // SAFETY: the structure lives.
    unsafe { clsparseCsrMetaCreate(&raw mut with_meta, control) };
    group.bench_function("interface, with a meta", |bencher| {
        bencher.iter_custom(|count| {
            setting.enqueue(count, || setting.call(clsparseScsrmv, &with_meta, control))
        });
    });
    let options = PlanOptions {
        algorithm: Some(Algorithm::CsrScalar),
        scalars_on_device: true,
        ..PlanOptions::default()
    };
    let plan = Plan::new_blocking(&setting.queue, &setting.matrix, &options).unwrap();
    let mut workspace = plan.workspace_blocking(&setting.queue).unwrap();
    let mut y = setting.y.slice(0..setting.y.len()).unwrap();
    group.bench_function("plan", |bencher| {
        bencher.iter_custom(|count| {
            setting.enqueue(count, || {
                let [alpha, beta] = &setting.scalars;
                let (a, x) = (&setting.matrix, &setting.x);
                let (alpha, beta, y) = (alpha.into(), beta.into(), &mut y);
                let product = Operands { alpha, a, x, beta, y };
                plan.launch(&setting.queue, &mut workspace, product, &[]).unwrap();
            })
        });
    });
    group.finish();
    // SAFETY: as before.
    unsafe { clsparseCsrMetaDelete(&raw mut with_meta) };
    clsparseReleaseControl(control);
}

fn stencils<T: Value<Accum = T>>(criterion: &mut Criterion, name: &str, csrmv: Csrmv) {
    let setting = Setting::<T>::new(512);
    let control = setting.control();
    let mut csr = setting.csr();
    let mut group = criterion.benchmark_group("stencil");
    group.throughput(Throughput::Elements(2 * setting.matrix.nnz() as u64));
    group.bench_function(name, |bencher| bencher.iter(|| setting.call(csrmv, &csr, control)));
    // SAFETY: the structure lives.
    unsafe { clsparseCsrMetaCreate(&raw mut csr, control) };
    let with_meta = format!("{name}, with a meta");
    group.bench_function(with_meta, |bencher| bencher.iter(|| setting.call(csrmv, &csr, control)));
    group.finish();
    // SAFETY: as before.
    unsafe { clsparseCsrMetaDelete(&raw mut csr) };
    clsparseReleaseControl(control);
}

fn stencil_in_both(criterion: &mut Criterion) {
    stencils::<f32>(criterion, "f32", clsparseScsrmv);
    stencils::<f64>(criterion, "f64", clsparseDcsrmv);
}

criterion_group!(benches, call, stencil_in_both);
criterion_main!(benches);
