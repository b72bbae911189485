//! clsparseScsrSpGemm: the right product in buffers that it makes.

use clSPARSE::{Status, clsparseCsrMatrix, clsparseScsrSpGemm};
use conformance::queue;
use csr_core::verify::SparseOracle;
use opencl3::memory::release_mem_object;
use sparrow::{Csr, DeviceArray};

use super::problem::{Control, Problem, matrices, raw};

fn multiply(control: &Control, a: &clsparseCsrMatrix, b: &clsparseCsrMatrix) -> clsparseCsrMatrix {
    // Offsets of buffers that the structure no longer has.
    let mut c = clsparseCsrMatrix { off_values: 5, off_col_indices: 5, off_row_pointer: 5, ..*a };
    // SAFETY: the structures and buffers live.
    let status = unsafe { clsparseScsrSpGemm(a, b, &raw mut c, control.0) };
    assert_eq!(status, Status::Success);
    c
}

#[test]
fn products_are_right_and_their_buffers_the_applications() {
    let queue = queue();
    let control = Control::new(&queue);
    for (name, host) in matrices::<f32>() {
        let a = Problem::new(&queue, host.view(), 1.0, 0.0);
        let transposed = host.view().transpose();
        let b = Problem::new(&queue, transposed.view(), 1.0, 0.0);
        let c = multiply(&control, &a.csr(), &b.csr());
        assert_eq!((c.off_values, c.off_col_indices, c.off_row_pointer), (0, 0, 0), "{name}");
        let (rows, nnz) = (c.num_rows as usize, c.num_nonzeros as usize);
        // SAFETY: each array keeps a reference of its own, and ours is released once.
        let (offsets, columns, values) = unsafe {
            let offsets = DeviceArray::<u32>::from_raw(c.row_pointer, 0, rows + 1).unwrap();
            let columns = DeviceArray::<u32>::from_raw(c.col_indices, 0, nnz).unwrap();
            let values = DeviceArray::<f32>::from_raw(c.values, 0, nnz).unwrap();
            for buffer in [c.row_pointer, c.col_indices, c.values] {
                release_mem_object(buffer).unwrap();
            }
            (offsets, columns, values)
        };
        let offsets = offsets.read_blocking(&queue).unwrap();
        let columns = columns.read_blocking(&queue).unwrap();
        let values = values.read_blocking(&queue).unwrap();
        let c = Csr::new(c.num_cols as usize, offsets, columns, values).unwrap();
        let oracle = SparseOracle::new(host.view(), transposed.view()).unwrap();
        let found = oracle.verify(c.view()).unwrap();
        assert!(found.passed(), "{name}: {found:?}");
    }
}

#[test]
fn a_call_that_fails_changes_nothing() {
    let queue = queue();
    let control = Control::new(&queue);
    let host = Csr::new(3, vec![0, 1], vec![2], vec![1.0f32]).unwrap();
    let problem = Problem::new(&queue, host.view(), 1.0, 0.0);
    let a = problem.csr();
    let mut c = a;
    // SAFETY: the structures and buffers live.
    let status = unsafe { clsparseScsrSpGemm(&raw const a, &raw const a, &raw mut c, control.0) };
    assert_eq!(status, Status::InvalidSize);
    assert_eq!((c.num_rows, c.num_cols, c.values), (a.num_rows, a.num_cols, a.values));
    let short = DeviceArray::upload_blocking(&queue, &[0u32]).unwrap();
    let b = clsparseCsrMatrix { num_rows: 3, row_pointer: raw(&short), ..a };
    // SAFETY: as before.
    let status = unsafe { clsparseScsrSpGemm(&raw const a, &raw const b, &raw mut c, control.0) };
    assert_ne!(status, Status::Success);
    assert_eq!((c.num_rows, c.num_cols, c.values), (a.num_rows, a.num_cols, a.values));
}
