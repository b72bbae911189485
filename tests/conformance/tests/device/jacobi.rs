//! The inverse of a diagonal: as the host has it, however items are dealt to rows.

#![expect(clippy::unwrap_used, reason = "a test panics when its claim is broken")]

use cl_kernels::jacobi::Jacobi;
use cl_runtime::solver::inverse_diagonal_blocking;
use conformance::{bits, queue_on, whole_device};
use sparrow::{
    Csr, DeviceArray, Matrix, Offset, Queue, Real as _, RealValue, RuntimeError, Value as _,
};

/// How items are dealt to rows: on CPUs, on GPUs, and between.
const DEALS: [Jacobi; 5] = [
    Jacobi { group_size: 1, items_per_row: 1 },
    Jacobi { group_size: 16, items_per_row: 1 },
    Jacobi { group_size: 16, items_per_row: 8 },
    Jacobi { group_size: 8, items_per_row: 8 },
    Jacobi { group_size: 128, items_per_row: 8 },
];

/// Rows of 1 to 20 entries with the diagonal anywhere, in two parts where a row is even; no multiple of a group.
fn matrix<V: RealValue, O: Offset>() -> Csr<V, O> {
    let order = 77usize;
    let (mut offsets, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
    for row in 0..order {
        let length = 2 + row * 7 % 19;
        let at = row * 5 % length;
        for k in 0..length {
            let is_diagonal = k == at || (row % 2 == 0 && k == (at + length / 2) % length);
            columns.push(if is_diagonal { row } else { (row + 1 + k) % order } as u32);
            values.push(if is_diagonal { 1.0 + (row % 4) as f64 } else { 9.0 });
        }
        offsets.push(columns.len());
    }
    let offsets = offsets.into_iter().map(|offset| O::try_from_usize(offset).unwrap()).collect();
    let values = values.into_iter().map(V::from_f64).collect();
    Csr::new(order, offsets, columns, values).unwrap()
}

/// Sums of few small numbers: exact, in any order.
fn on_host<V: RealValue, O: Offset>(matrix: &Csr<V, O>) -> Vec<V::Accum> {
    (0..matrix.rows())
        .map(|row| {
            let (columns, values) = matrix.view().row(row);
            let of_row = columns.iter().zip(values).filter(|(column, _)| **column as usize == row);
            V::Accum::from_f64(1.0 / of_row.map(|(_, value)| value.to_f64()).sum::<f64>())
        })
        .collect()
}

fn on_device<V: RealValue, O: Offset>(
    queue: &Queue,
    matrix: &Csr<V, O>,
    deal: Option<Jacobi>,
) -> Result<Vec<V::Accum>, RuntimeError> {
    let a = Matrix::upload_blocking(queue, matrix.view())?;
    let poison = V::Accum::from_f64(f64::NAN);
    let mut inverse = DeviceArray::upload_blocking(queue, &vec![poison; matrix.rows()])?;
    inverse_diagonal_blocking(queue, &a, deal, inverse.as_any_mut())?;
    inverse.read_blocking(queue)
}

fn check<V: RealValue, O: Offset>(queue: &Queue) {
    let matrix = matrix::<V, O>();
    let right = on_host(&matrix);
    for deal in DEALS.map(Some).into_iter().chain([None]) {
        for (row, (found, right)) in
            on_device(queue, &matrix, deal).unwrap().into_iter().zip(&right).enumerate()
        {
            // Division may be off by a few last bits in f32.
            let (found, right) = (found.to_f64(), right.to_f64());
            assert!(
                (found / right - 1.0).abs() < 1e-6,
                "{deal:?}, row {row}: {found}, not {right}"
            );
        }
    }
}

#[test]
fn it_is_the_hosts_for_every_type_and_every_deal() {
    let queue = queue_on(&whole_device());
    check::<f32, u32>(&queue);
    check::<half::f16, u64>(&queue);
    check::<half::bf16, u32>(&queue);
    if queue.context().device().traits().has_f64 {
        check::<f64, u64>(&queue);
    }
}

#[test]
fn the_first_row_without_an_inverse_is_named() {
    let queue = queue_on(&whole_device());
    let right: Csr<f32> = matrix();
    for (bad, value) in [(3, 0.0), (76, f32::NAN), (40, f32::INFINITY), (0, 1e-40)] {
        let mut matrix = right.clone();
        for row in [bad, 76] {
            let range = matrix.pattern().offsets()[row] as usize
                ..matrix.pattern().offsets()[row + 1] as usize;
            for at in range {
                if matrix.pattern().columns()[at] as usize == row {
                    matrix.values_mut()[at] = value;
                }
            }
        }
        for deal in DEALS {
            let error = on_device(&queue, &matrix, Some(deal)).unwrap_err();
            assert!(
                matches!(error, RuntimeError::Diagonal { row } if row == bad as u32),
                "{error}"
            );
        }
    }
}

#[test]
fn deals_that_cannot_be_are_refused() {
    let queue = queue_on(&whole_device());
    let matrix: Csr<f32> = matrix();
    for (group_size, items_per_row) in [(3, 1), (8, 16), (8, 3), (8, 0), (1 << 20, 1)] {
        let error =
            on_device(&queue, &matrix, Some(Jacobi { group_size, items_per_row })).unwrap_err();
        assert!(error.to_string().starts_with("jacobi: "), "{error}");
    }
    assert_eq!(bits(&on_device(&queue, &matrix, None).unwrap()).len(), matrix.rows());
}
