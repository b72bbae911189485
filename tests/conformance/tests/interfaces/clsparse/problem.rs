//! A product in clSPARSE's structures, with every array at an offset and canaries around it.

use std::ffi::c_void;
use std::ptr;

use clSPARSE::{
    Status, cldenseMatrix, cldenseVector, clsparseControl, clsparseCooMatrix,
    clsparseCreateControl, clsparseCsrMatrix, clsparseDcoomv, clsparseDcsrmm, clsparseDcsrmv,
    clsparseReleaseControl, clsparseScalar, clsparseScoomv, clsparseScsrmm, clsparseScsrmv,
    clsparseSetup,
};
use conformance::{device, is_interpreter};
use sparrow::host::io::ReadOptions;
use sparrow::{Csr, CsrView, DeviceArray, Queue, RuntimeError, Value};

/// A buffer as C names it.
pub(crate) fn raw<T: bytemuck::Pod>(array: &DeviceArray<T>) -> *mut c_void {
    array.memory().0.as_raw().unwrap()
}

type Multiply<M> = unsafe extern "C" fn(
    *const clsparseScalar,
    *const M,
    *const cldenseVector,
    *const clsparseScalar,
    *mut cldenseVector,
    clsparseControl,
) -> Status;

type MultiplyDense = unsafe extern "C" fn(
    *const clsparseScalar,
    *const clsparseCsrMatrix,
    *const cldenseMatrix,
    *const clsparseScalar,
    *mut cldenseMatrix,
    clsparseControl,
) -> Status;

/// The functions of a precision.
pub(crate) trait Real: sparrow::RealValue + Value<Accum = Self> {
    const CSRMV: Multiply<clsparseCsrMatrix>;
    const COOMV: Multiply<clsparseCooMatrix>;
    const CSRMM: MultiplyDense;
}

impl Real for f32 {
    const CSRMV: Multiply<clsparseCsrMatrix> = clsparseScsrmv;
    const COOMV: Multiply<clsparseCooMatrix> = clsparseScoomv;
    const CSRMM: MultiplyDense = clsparseScsrmm;
}

impl Real for f64 {
    const CSRMV: Multiply<clsparseCsrMatrix> = clsparseDcsrmv;
    const COOMV: Multiply<clsparseCooMatrix> = clsparseDcoomv;
    const CSRMM: MultiplyDense = clsparseDcsrmm;
}

/// A control that ends with its test.
pub(crate) struct Control(pub(crate) clsparseControl);

impl Control {
    pub(crate) fn new(queue: &Queue) -> Self {
        assert_eq!(clsparseSetup(), Status::Success);
        // SAFETY: the queue lives.
        let created = unsafe { clsparseCreateControl(queue.as_raw()) };
        assert_eq!(created.status, Status::Success);
        Control(created.control)
    }

    /// The handle, for whoever ends it.
    pub(crate) fn forget(self) -> clsparseControl {
        let handle = self.0;
        std::mem::forget(self);
        handle
    }
}

impl Drop for Control {
    fn drop(&mut self) {
        clsparseReleaseControl(self.0);
    }
}

/// Elements of no meaning before and after each array.
const BEFORE: usize = 3;
const AFTER: usize = 2;

/// `data` on the device with canaries around it.
pub(crate) fn padded<T: bytemuck::Pod>(
    queue: &Queue,
    data: &[T],
    canary: T,
) -> Result<DeviceArray<T>, RuntimeError> {
    let all = [&[canary; BEFORE][..], data, &[canary; AFTER]].concat();
    DeviceArray::upload_blocking(queue, &all)
}

/// Operands on the device: alpha and beta in one buffer.
pub(crate) struct Problem<T> {
    pub(crate) queue: Queue,
    pub(crate) offsets: DeviceArray<u32>,
    pub(crate) row_indices: DeviceArray<u32>,
    pub(crate) columns: DeviceArray<u32>,
    pub(crate) values: DeviceArray<T>,
    pub(crate) scalars: DeviceArray<T>,
    pub(crate) x: DeviceArray<T>,
    pub(crate) y: DeviceArray<T>,
    pub(crate) host: Csr<T>,
    pub(crate) host_x: Vec<T>,
}

impl<T: Real> Problem<T> {
    /// Of a matrix, with y poisoned.
    pub(crate) fn new(queue: &Queue, host: CsrView<'_, T>, alpha: f64, beta: f64) -> Self {
        let (rows, cols) = (host.rows(), host.cols());
        let host_x: Vec<T> =
            (0..cols).map(|j| T::from_f64(((j * 7 + 3) % 11) as f64 / 8.0 - 0.5)).collect();
        let pattern = host.pattern();
        let row_of = |row: usize| std::iter::repeat_n(row as u32, pattern.row_len(row));
        let row_indices: Vec<u32> = (0..rows).flat_map(row_of).collect();
        let scalars = [alpha, beta].map(T::from_f64);
        let nan = T::from_f64(f64::NAN);
        let initial: Vec<T> = match beta {
            0.0 => vec![nan; rows],
            _ => (0..rows).map(|i| T::from_f64((i % 5) as f64 - 1.0)).collect(),
        };
        // What lies outside of an array points outside of the matrix.
        let outside = u32::MAX;
        let (offsets, columns) = (pattern.offsets().to_vec(), pattern.columns().to_vec());
        Problem {
            queue: queue.clone(),
            offsets: padded(queue, &offsets, outside).unwrap(),
            row_indices: padded(queue, &row_indices, outside).unwrap(),
            columns: padded(queue, &columns, outside).unwrap(),
            values: padded(queue, host.values(), nan).unwrap(),
            scalars: padded(queue, &scalars, nan).unwrap(),
            x: padded(queue, &host_x, nan).unwrap(),
            y: padded(queue, &initial, T::from_f64(-77.0)).unwrap(),
            host: Csr::new(cols, offsets, columns, host.values().to_vec()).unwrap(),
            host_x,
        }
    }

    pub(crate) fn csr(&self) -> clsparseCsrMatrix {
        clsparseCsrMatrix {
            num_rows: self.host.rows() as u32,
            num_cols: self.host.cols() as u32,
            num_nonzeros: self.host.nnz() as u32,
            values: raw(&self.values),
            col_indices: raw(&self.columns),
            row_pointer: raw(&self.offsets),
            off_values: BEFORE as u32,
            off_col_indices: BEFORE as u32,
            off_row_pointer: BEFORE as u32,
            meta: ptr::null_mut(),
        }
    }

    pub(crate) fn coo(&self) -> clsparseCooMatrix {
        clsparseCooMatrix {
            num_rows: self.host.rows() as u32,
            num_cols: self.host.cols() as u32,
            num_nonzeros: self.host.nnz() as u32,
            values: raw(&self.values),
            col_indices: raw(&self.columns),
            row_indices: raw(&self.row_indices),
            off_values: BEFORE as u32,
            off_col_indices: BEFORE as u32,
            off_row_indices: BEFORE as u32,
        }
    }

    pub(crate) fn alpha(&self) -> clsparseScalar {
        clsparseScalar { value: raw(&self.scalars), off_value: BEFORE as u32 }
    }

    pub(crate) fn beta(&self) -> clsparseScalar {
        clsparseScalar { value: raw(&self.scalars), off_value: BEFORE as u32 + 1 }
    }

    pub(crate) fn x(&self) -> cldenseVector {
        let num_values = self.host.cols() as u32;
        cldenseVector { num_values, values: raw(&self.x), off_values: BEFORE as u32 }
    }

    pub(crate) fn y(&self) -> cldenseVector {
        let num_values = self.host.rows() as u32;
        cldenseVector { num_values, values: raw(&self.y), off_values: BEFORE as u32 }
    }

    /// y = alpha A x + beta y, with A as `matrix` says.
    pub(crate) fn multiply<M>(&self, control: &Control, by: Multiply<M>, matrix: &M) -> Status {
        let (alpha, beta) = (self.alpha(), self.beta());
        let (x, mut y) = (self.x(), self.y());
        // SAFETY: all of them live.
        unsafe {
            by(&raw const alpha, matrix, &raw const x, &raw const beta, &raw mut y, control.0)
        }
    }

    /// What is in y, once canaries were looked at.
    pub(crate) fn result(&self) -> Vec<T> {
        let all = self.y.read_blocking(&self.queue).unwrap();
        let rows = self.host.rows();
        let canaries = all[..BEFORE].iter().chain(&all[BEFORE + rows..]);
        assert!(canaries.into_iter().all(|one| one.to_f64() == -77.0), "canaries around y");
        all[BEFORE..BEFORE + rows].to_vec()
    }

    /// Holds every row of y to the sum in double precision.
    pub(crate) fn check(&self, alpha: f64, beta: f64, what: &str) {
        for (row, found) in self.result().into_iter().enumerate() {
            let (columns, values) = self.host.view().row(row);
            let of = |k: usize| values[k].to_f64() * self.host_x[columns[k] as usize].to_f64();
            let sum: f64 = (0..columns.len()).map(of).sum();
            let size: f64 = (0..columns.len()).map(|k| of(k).abs()).sum();
            let before = if beta == 0.0 { 0.0 } else { beta * ((row % 5) as f64 - 1.0) };
            let epsilon = if size_of::<T>() == 4 { f64::from(f32::EPSILON) } else { f64::EPSILON };
            let bound =
                2.0 * (columns.len() as f64 + 2.0) * epsilon * (alpha.abs() * size + before.abs())
                    + 1e-30;
            let expected = alpha * sum + before;
            let difference = (found.to_f64() - expected).abs();
            assert!(difference <= bound, "{what}: row {row} is {found:?} and not {expected}");
        }
    }
}

/// Matrices at the edges: rows that are no multiple of a group, none, empty ones, long ones, one entry. On an
/// interpreter, where each row takes long, a quarter of the rows.
pub(crate) fn matrices<T: Real>() -> Vec<(&'static str, Csr<T>)> {
    let few = if is_interpreter(&device()) { 4 } else { 1 };
    let of_lengths = |cols: usize, lengths: Vec<usize>| {
        let mut offsets = vec![0u32];
        let mut columns = Vec::new();
        for (row, length) in lengths.into_iter().enumerate() {
            columns.extend((0..length).map(|k| ((k * 13 + row * 5) % cols) as u32));
            offsets.push(columns.len() as u32);
        }
        let value = |k: usize| T::from_f64(((k * 5 + 1) % 17) as f64 / 4.0 - 2.0);
        let values = (0..columns.len()).map(value).collect();
        Csr::new(cols, offsets, columns, values).unwrap()
    };
    let text = "%%MatrixMarket matrix coordinate real general\n3 4 2\n1 4 2\n3 1 -3\n";
    vec![
        ("rows of 3", of_lengths(997, vec![3; 1000 / few + 1])),
        ("rows of 0 to 40", of_lengths(501, (0..300 / few).map(|row| row % 41).collect())),
        ("a long row", of_lengths(700, vec![1, 5000 / few, 0, 2, 7])),
        ("empty rows at both ends", of_lengths(9, vec![0, 0, 4, 0, 0])),
        ("no entries", of_lengths(5, vec![0; 70])),
        ("rows of 20", of_lengths(400, vec![20; 333 / few])),
        ("of a text", ReadOptions::new().csr_from(text.as_bytes(), "text").unwrap()),
    ]
}
