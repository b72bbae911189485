//! The operands of all calls, in f64: the five-point stencil on 100 x 100 points, or a class of the suite.

use std::sync::OnceLock;

use sparrow::host::generate::Class;
use sparrow::{Context, Csr, Device, DeviceArray, Matrix, Queue};

/// Points along a side.
const SIDE: usize = 100;

/// A class and its scale, `rmat@0.1`, where the stencil is not wanted.
static MATRIX: OnceLock<(Class, f64)> = OnceLock::new();

/// Takes `CLASS` or `CLASS@SCALE` for all calls of this process, instead of the stencil.
///
/// # Errors
/// No such class, or no number after `@`.
pub(super) fn take(text: &str) -> Result<(), String> {
    let (name, scale) = text.split_once('@').unwrap_or((text, "1"));
    let class = name.parse::<Class>().map_err(|error| error.to_string())?;
    let scale = scale.parse().map_err(|_| format!("{text}: {scale:?} after @ is no number"))?;
    MATRIX.get_or_init(|| (class, scale));
    Ok(())
}

/// A queue of Sparrow's own on the best device (`SPARROW_DEVICE` names another).
pub(super) fn queue() -> Queue {
    let device = Device::best().expect("an OpenCL device");
    Queue::new(&Context::new(&device).expect("a context")).expect("a queue")
}

/// The stencil on a square grid of `side` x `side` points.
pub(super) fn stencil(side: usize) -> Csr<f64> {
    let (mut offsets, mut columns, mut values) = (vec![0u32], Vec::new(), Vec::new());
    for row in 0..side * side {
        let (i, j) = (row / side, row % side);
        for (is_inside, column, value) in [
            (i > 0, row.wrapping_sub(side), -1.0),
            (j > 0, row.wrapping_sub(1), -1.0),
            (true, row, 4.0),
            (j + 1 < side, row + 1, -1.0),
            (i + 1 < side, row + side, -1.0),
        ] {
            if is_inside {
                columns.push(column as u32);
                values.push(value);
            }
        }
        offsets.push(columns.len() as u32);
    }
    Csr::new(side * side, offsets, columns, values).expect("a valid matrix")
}

/// The matrix on the host and on the device, and two vectors that fit it.
pub(super) struct Problem {
    pub(super) queue: Queue,
    pub(super) host: Csr<f64>,
    pub(super) a: Matrix<f64>,
    pub(super) x: DeviceArray<f64>,
    pub(super) y: DeviceArray<f64>,
}

impl Problem {
    pub(super) fn new(queue: Queue) -> Self {
        let host = match MATRIX.get() {
            None => stencil(SIDE),
            Some((class, scale)) => class.generate(*scale, 1).expect("a matrix of this scale"),
        };
        let vector =
            |value, len| DeviceArray::upload_blocking(&queue, &vec![value; len]).expect("a vector");
        let a = Matrix::upload_blocking(&queue, host.view()).expect("a matrix");
        Problem { x: vector(1.0, host.cols()), y: vector(0.0, host.rows()), a, host, queue }
    }
}
