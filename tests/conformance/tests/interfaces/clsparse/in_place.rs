//! Products whose y is their x, or holds their alpha: as clSPARSE's own programs mean them, of what was there before.

use clSPARSE::{
    Status, cldenseMatrix, cldenseVector, clsparseCooMatrix, clsparseCsrMatrix,
    clsparseCsrMetaCreate, clsparseCsrMetaDelete, clsparseEnableAsync, clsparseScalar,
    clsparseScoomv, clsparseScsrmm, clsparseScsrmv,
};
use conformance::queue;
use sparrow::{DeviceArray, Queue};

use super::problem::{Control, raw};

/// | 4 1 . |
/// | 1 4 . |
/// | . 1 4 |
const OFFSETS: [u32; 4] = [0, 2, 4, 6];
const ROWS: [u32; 6] = [0, 0, 1, 1, 2, 2];
const COLUMNS: [u32; 6] = [0, 1, 0, 1, 1, 2];
const VALUES: [f32; 6] = [4.0, 1.0, 1.0, 4.0, 1.0, 4.0];

struct Arrays {
    offsets: DeviceArray<u32>,
    rows: DeviceArray<u32>,
    columns: DeviceArray<u32>,
    values: DeviceArray<f32>,
    scalars: DeviceArray<f32>,
}

impl Arrays {
    fn new(queue: &Queue) -> Self {
        Arrays {
            offsets: DeviceArray::upload_blocking(queue, &OFFSETS).unwrap(),
            rows: DeviceArray::upload_blocking(queue, &ROWS).unwrap(),
            columns: DeviceArray::upload_blocking(queue, &COLUMNS).unwrap(),
            values: DeviceArray::upload_blocking(queue, &VALUES).unwrap(),
            scalars: DeviceArray::upload_blocking(queue, &[1.0, 0.0, 2.0]).unwrap(),
        }
    }

    fn csr(&self) -> clsparseCsrMatrix {
        clsparseCsrMatrix {
            num_rows: 3,
            num_cols: 3,
            num_nonzeros: 6,
            values: raw(&self.values),
            col_indices: raw(&self.columns),
            row_pointer: raw(&self.offsets),
            off_values: 0,
            off_col_indices: 0,
            off_row_pointer: 0,
            meta: std::ptr::null_mut(),
        }
    }

    fn coo(&self, rows: &DeviceArray<u32>) -> clsparseCooMatrix {
        clsparseCooMatrix {
            num_rows: 3,
            num_cols: 3,
            num_nonzeros: 6,
            values: raw(&self.values),
            col_indices: raw(&self.columns),
            row_indices: raw(rows),
            off_values: 0,
            off_col_indices: 0,
            off_row_indices: 0,
        }
    }

    fn scalar(&self, index: u32) -> clsparseScalar {
        clsparseScalar { value: raw(&self.scalars), off_value: index }
    }
}

fn vector(array: &DeviceArray<f32>, start: u32) -> cldenseVector {
    cldenseVector { num_values: 3, values: raw(array), off_values: start }
}

#[test]
fn a_product_of_what_was_in_y_is_right_by_every_function() {
    let queue = queue();
    let control = Control::new(&queue);
    let arrays = Arrays::new(&queue);
    let csr = arrays.csr();
    let mut with_meta = csr;
    // SAFETY: the structure lives.
    let status = unsafe { clsparseCsrMetaCreate(&raw mut with_meta, control.0) };
    assert_eq!(status, Status::Success);
    let unsorted = DeviceArray::upload_blocking(&queue, &[2u32, 2, 0, 0, 1, 1]).unwrap();
    let ([of_rows, of_unsorted], f32s) =
        ([arrays.coo(&arrays.rows), arrays.coo(&unsorted)], [1.0f32, 2.0, 3.0, -7.0, -7.0]);
    let [one, zero, two] = [0, 1, 2].map(|index| arrays.scalar(index));
    let check = |what: &str,
                 multiply: &dyn Fn(
        &cldenseVector,
        &clsparseScalar,
        &mut cldenseVector,
    ) -> Status,
                 expected: [f32; 3]| {
        for is_async in [0, 1] {
            assert_eq!(clsparseEnableAsync(control.0, is_async), Status::Success);
            for (x_at, y_at) in [(0, 0), (0, 1), (1, 0), (0, 2)] {
                let mut numbers = f32s;
                let at = x_at as usize;
                numbers.copy_within(0..3, at);
                let both = DeviceArray::upload_blocking(&queue, &numbers).unwrap();
                let (x, mut y) = (vector(&both, x_at), vector(&both, y_at));
                assert_eq!(multiply(&x, &zero, &mut y), Status::Success, "{what}");
                let found = both.read_blocking(&queue).unwrap();
                let start = y_at as usize;
                assert_eq!(found[start..start + 3], expected, "{what}, x at {x_at}, y at {y_at}");
            }
        }
        // And y counts as it was.
        let both = DeviceArray::upload_blocking(&queue, &f32s).unwrap();
        let (x, mut y) = (vector(&both, 0), vector(&both, 0));
        assert_eq!(multiply(&x, &two, &mut y), Status::Success, "{what}");
        let found = both.read_blocking(&queue).unwrap();
        let expected = [0, 1, 2].map(|row| expected[row] + 2.0 * f32s[row]);
        assert_eq!(found[..3], expected, "{what} with beta");
    };
    for (what, matrix) in [("csrmv", &csr), ("csrmv with a meta", &with_meta)] {
        // SAFETY: everything lives.
        let multiply = |x: &cldenseVector, beta: &clsparseScalar, y: &mut cldenseVector| unsafe {
            clsparseScsrmv(&raw const one, matrix, x, beta, y, control.0)
        };
        check(what, &multiply, [6.0, 9.0, 14.0]);
    }
    for (what, matrix, expected) in [
        ("coomv", &of_rows, [6.0, 9.0, 14.0]),
        ("coomv of entries in disorder", &of_unsorted, [9.0, 14.0, 6.0]),
    ] {
        // SAFETY: everything lives.
        let multiply = |x: &cldenseVector, beta: &clsparseScalar, y: &mut cldenseVector| unsafe {
            clsparseScoomv(&raw const one, matrix, x, beta, y, control.0)
        };
        check(what, &multiply, expected);
    }
    // SAFETY: as before.
    unsafe { clsparseCsrMetaDelete(&raw mut with_meta) };
}

#[test]
fn a_product_with_a_dense_matrix_may_take_its_place() {
    let queue = queue();
    let control = Control::new(&queue);
    let arrays = Arrays::new(&queue);
    let csr = arrays.csr();
    let [one, zero] = [0, 1].map(|index| arrays.scalar(index));
    // Two columns, side by side in each row.
    let both = DeviceArray::upload_blocking(&queue, &[1.0f32, 10.0, 2.0, 20.0, 3.0, 30.0]).unwrap();
    let b = cldenseMatrix {
        num_rows: 3,
        num_cols: 2,
        lead_dim: 2,
        major: 1,
        values: raw(&both),
        off_values: 0,
    };
    let mut c = b;
    // SAFETY: everything lives.
    let status = unsafe {
        let (alpha, beta, b, c) = (&raw const one, &raw const zero, &raw const b, &raw mut c);
        clsparseScsrmm(alpha, &raw const csr, b, beta, c, control.0)
    };
    assert_eq!(status, Status::Success);
    let found = both.read_blocking(&queue).unwrap();
    assert_eq!(found, [6.0, 60.0, 9.0, 90.0, 14.0, 140.0]);
}

#[test]
fn alpha_and_beta_in_y_are_those_that_were_there_and_y_in_the_matrix_is_refused() {
    let queue = queue();
    let control = Control::new(&queue);
    let arrays = Arrays::new(&queue);
    let (csr, coo) = (arrays.csr(), arrays.coo(&arrays.rows));
    let x = DeviceArray::upload_blocking(&queue, &[1.0f32, 2.0, 3.0]).unwrap();
    let x = vector(&x, 0);
    for (alpha_at, beta_at) in [(0, 1), (2, 0), (1, 1)] {
        let before = [2.0f32, 3.0, 5.0];
        for is_csr in [true, false] {
            let y = DeviceArray::upload_blocking(&queue, &before).unwrap();
            let scalar = |index| clsparseScalar { value: raw(&y), off_value: index };
            let (alpha, beta, mut result) = (scalar(alpha_at), scalar(beta_at), vector(&y, 0));
            // SAFETY: everything lives.
            let status = unsafe {
                let (alpha, x, beta, y) =
                    (&raw const alpha, &raw const x, &raw const beta, &raw mut result);
                match is_csr {
                    true => clsparseScsrmv(alpha, &raw const csr, x, beta, y, control.0),
                    false => clsparseScoomv(alpha, &raw const coo, x, beta, y, control.0),
                }
            };
            assert_eq!(status, Status::Success);
            let (alpha, beta) = (before[alpha_at as usize], before[beta_at as usize]);
            let expected =
                [(6.0, 2.0), (9.0, 3.0), (14.0, 5.0)].map(|(ax, y)| alpha * ax + beta * y);
            assert_eq!(y.read_blocking(&queue).unwrap(), expected);
        }
    }
    let [one, zero] = [0, 1].map(|index| arrays.scalar(index));
    let entries = [raw(&arrays.rows), raw(&arrays.columns), raw(&arrays.values)];
    for (values, is_csr) in [(raw(&arrays.columns), true), (raw(&arrays.values), true)]
        .into_iter()
        .chain(entries.map(|one| (one, false)))
    {
        let mut y = cldenseVector { num_values: 3, values, off_values: 2 };
        // SAFETY: everything lives.
        let status = unsafe {
            let (alpha, x, beta, y) = (&raw const one, &raw const x, &raw const zero, &raw mut y);
            match is_csr {
                true => clsparseScsrmv(alpha, &raw const csr, x, beta, y, control.0),
                false => clsparseScoomv(alpha, &raw const coo, x, beta, y, control.0),
            }
        };
        assert_eq!(status, Status::InvalidValue);
    }
    assert_eq!(arrays.values.read_blocking(&queue).unwrap(), VALUES);
    assert_eq!(arrays.columns.read_blocking(&queue).unwrap(), COLUMNS);
    assert_eq!(arrays.rows.read_blocking(&queue).unwrap(), ROWS);
}
