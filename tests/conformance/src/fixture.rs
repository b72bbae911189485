//! A matrix on which every way of summing runs, on the host and on the device, with x.

#![expect(clippy::unwrap_used, reason = "support code of tests")]

use crate::is_interpreter;
use csr_core::verify::{Oracle, Summation};
use sparrow::{
    Accumulate, Csr, DeviceArray, Event, Matrix, NoEvent, Operands, Plan, PlanOptions, Queue,
    RealValue, Value, Workspace,
};

/// Rows of every kind that [`crate::LIMITS`] tells apart: empty, short, one that fills a group, one that
/// several groups share. Square, so that products can be chained.
#[derive(Debug)]
pub struct Fixture<V: RealValue> {
    /// On the host.
    pub host: Csr<V>,
    /// On the device.
    pub a: Matrix<V>,
    /// x on the host.
    pub host_x: Vec<V::Accum>,
    /// x on the device.
    pub x: DeviceArray<V::Accum>,
}

impl<V: RealValue> Fixture<V> {
    /// Makes the matrix and uploads it; other seeds have other values in the same pattern.
    ///
    /// # Panics
    /// The driver's own failure.
    pub fn new(queue: &Queue, seed: u64) -> Self {
        Self::of(queue, matrix(seed, is_interpreter(queue.context().device())), seed)
    }

    /// A matrix of a few rows, one of which several groups share: for claims about objects and events, not about sums.
    ///
    /// # Panics
    /// The driver's own failure.
    pub fn small(queue: &Queue, seed: u64) -> Self {
        let lengths = [2, 2, 0, 33, 1, 270, 0, 3, 3, 100, 1, 2];
        Self::of(queue, csr(lengths.len(), &lengths, seed), seed)
    }

    fn of(queue: &Queue, host: Csr<V>, seed: u64) -> Self {
        let a = Matrix::upload_blocking(queue, host.view()).unwrap();
        let host_x: Vec<V::Accum> = csr_core::random_vector(seed + 1, host.cols());
        let x = DeviceArray::upload_blocking(queue, &host_x).unwrap();
        Fixture { host, a, host_x, x }
    }

    /// A y that holds NaN.
    ///
    /// # Panics
    /// The driver's own failure.
    pub fn poisoned_y(&self, queue: &Queue) -> DeviceArray<V::Accum> {
        let poison = vec![V::Accum::from_f64(f64::NAN); self.host.rows()];
        DeviceArray::upload_blocking(queue, &poison).unwrap()
    }

    /// A plan with a workspace.
    ///
    /// # Panics
    /// The library refuses.
    pub fn plan(&self, queue: &Queue, options: &PlanOptions) -> (Plan<V>, Workspace) {
        let plan = Plan::new_blocking(queue, &self.a, options).unwrap();
        let workspace = plan.workspace_blocking(queue).unwrap();
        (plan, workspace)
    }

    /// Enqueues y = A x after `wait`.
    ///
    /// # Errors
    /// What the launch says.
    pub fn launch(
        &self,
        queue: &Queue,
        (plan, workspace): (&Plan<V>, &mut Workspace),
        y: &mut DeviceArray<V::Accum>,
        wait: &[Event],
    ) -> sparrow::Result<Event> {
        let (one, zero) = (V::Accum::from_f64(1.0), V::Accum::from_f64(0.0));
        let product = Operands { alpha: one.into(), a: &self.a, x: &self.x, beta: zero.into(), y };
        plan.launch(queue, workspace, product, wait)
    }

    /// As [`Fixture::launch`], without an event.
    pub fn launch_without_event(
        &self,
        queue: &Queue,
        (plan, workspace): (&Plan<V>, &mut Workspace),
        y: &mut DeviceArray<V::Accum>,
    ) -> sparrow::Result<()> {
        let (one, zero) = (V::Accum::from_f64(1.0), V::Accum::from_f64(0.0));
        let product = Operands { alpha: one.into(), a: &self.a, x: &self.x, beta: zero.into(), y };
        plan.launch(queue, workspace, product, NoEvent)
    }

    /// Holds y against A x.
    ///
    /// # Panics
    /// A row is wrong.
    pub fn check(&self, y: &[V::Accum], accumulate: Accumulate) {
        let (one, zero) = (V::Accum::from_f64(1.0), V::Accum::from_f64(0.0));
        check_product(&self.host, one, &self.host_x, zero, y, y, accumulate);
    }
}

/// Holds y against alpha A x + beta y.
///
/// # Panics
/// A row is wrong.
pub fn check_product<V: RealValue>(
    host: &Csr<V>,
    alpha: V::Accum,
    x: &[V::Accum],
    beta: V::Accum,
    y_before: &[V::Accum],
    y: &[V::Accum],
    accumulate: Accumulate,
) {
    let oracle = Oracle::new(alpha, host.view(), x, beta, y_before).unwrap();
    let summation = match accumulate {
        Accumulate::Plain => Summation::Plain,
        Accumulate::Compensated => Summation::Compensated,
    };
    let found = oracle.verify(y, summation).unwrap();
    let row = found.worst_row;
    assert!(
        found.passed(),
        "row {row} is {:?} where {} is right: {} times what it may be off",
        y[row],
        oracle.value(row),
        found.error_in_tolerance
    );
}

/// What tells two results apart that are equal to a comparison: the bits, widened.
pub fn bits<T: RealValue>(y: &[T]) -> Vec<u64> {
    y.iter().map(|&value| value.to_f64().to_bits()).collect()
}

/// Of each kind fewer rows, and shorter ones, where an interpreter takes them one by one.
fn matrix<V: RealValue>(seed: u64, is_small: bool) -> Csr<V> {
    let of = |default: usize, small: usize| if is_small { small } else { default };
    let mut lengths = vec![2; of(100, 40)];
    lengths.extend([0; 70]);
    lengths.extend(vec![33; of(7, 3)]);
    lengths.extend([200, 1, 0, of(900, 520), 3]);
    lengths.extend(vec![5; of(30, 10)]);
    lengths.push(of(600, 300));
    let cols = lengths.len();
    let (mut offsets, mut columns) = (vec![0], Vec::new());
    for (row, &length) in lengths.iter().enumerate() {
        // Rows longer than the matrix is wide repeat columns.
        columns.extend((0..length).map(|k| ((row + k * 7) % cols) as u32));
        offsets.push(columns.len() as u32);
    }
    let values = csr_core::random_vector::<f64>(seed, columns.len());
    Csr::new(cols, offsets, columns, values.into_iter().map(V::from_f64).collect()).unwrap()
}

/// A matrix with rows of these lengths, whose columns are anywhere.
pub fn csr<V: RealValue>(cols: usize, lengths: &[usize], seed: u64) -> Csr<V> {
    let (mut offsets, mut columns) = (vec![0], Vec::new());
    for (row, &length) in lengths.iter().enumerate() {
        columns.extend((0..length).map(|k| ((row * 31 + k * 7) % cols) as u32));
        offsets.push(columns.len() as u32);
    }
    let values = csr_core::random_vector::<f64>(seed, columns.len());
    Csr::new(cols, offsets, columns, values.into_iter().map(V::from_f64).collect()).unwrap()
}
