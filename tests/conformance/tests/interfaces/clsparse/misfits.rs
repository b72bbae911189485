//! Every buffer of every function that computes, too small in turn, and of another context in turn: a status that
//! says so, and nothing is written.

use std::ffi::{CString, c_void};

use clSPARSE::{
    Status, cldenseMatrix, clsparseCooMatrix, clsparseCsrMatrix, clsparseCsrMetaCreate,
    clsparseCsrMetaSize, clsparseSCooMatrixfromFile, clsparseSCsrMatrixfromFile, clsparseScalar,
};
use conformance::queue;
use sparrow::{DeviceArray, Queue};

use super::problem::{Control, Problem, Real, matrices, raw};

/// Everything that a call takes.
#[derive(Clone, Copy)]
struct Operands {
    csr: clsparseCsrMatrix,
    coo: clsparseCooMatrix,
    alpha: clsparseScalar,
    beta: clsparseScalar,
    x: clSPARSE::cldenseVector,
    y: clSPARSE::cldenseVector,
    b: cldenseMatrix,
    c: cldenseMatrix,
}

/// One place for a buffer.
type Place = fn(&mut Operands) -> &mut *mut c_void;

/// A function, and the buffers it looks at.
struct Function {
    name: &'static str,
    call: fn(&mut Operands, &Control, &CString) -> Status,
    places: &'static [Place],
}

const FUNCTIONS: &[Function] = &[
    Function {
        name: "clsparseScsrmv",
        // SAFETY: all of them live.
        call: |o, control, _| unsafe {
            f32::CSRMV(
                &raw const o.alpha,
                &raw const o.csr,
                &raw const o.x,
                &raw const o.beta,
                &raw mut o.y,
                control.0,
            )
        },
        places: &[
            |o| &mut o.csr.values,
            |o| &mut o.csr.col_indices,
            |o| &mut o.csr.row_pointer,
            |o| &mut o.alpha.value,
            |o| &mut o.beta.value,
            |o| &mut o.x.values,
            |o| &mut o.y.values,
        ],
    },
    Function {
        name: "clsparseScoomv",
        // SAFETY: all of them live.
        call: |o, control, _| unsafe {
            f32::COOMV(
                &raw const o.alpha,
                &raw const o.coo,
                &raw const o.x,
                &raw const o.beta,
                &raw mut o.y,
                control.0,
            )
        },
        places: &[
            |o| &mut o.coo.values,
            |o| &mut o.coo.col_indices,
            |o| &mut o.coo.row_indices,
            |o| &mut o.alpha.value,
            |o| &mut o.beta.value,
            |o| &mut o.x.values,
            |o| &mut o.y.values,
        ],
    },
    Function {
        name: "clsparseScsrmm",
        // SAFETY: all of them live.
        call: |o, control, _| unsafe {
            f32::CSRMM(
                &raw const o.alpha,
                &raw const o.csr,
                &raw const o.b,
                &raw const o.beta,
                &raw mut o.c,
                control.0,
            )
        },
        places: &[
            |o| &mut o.csr.values,
            |o| &mut o.csr.col_indices,
            |o| &mut o.csr.row_pointer,
            |o| &mut o.alpha.value,
            |o| &mut o.beta.value,
            |o| &mut o.b.values,
            |o| &mut o.c.values,
        ],
    },
    Function {
        name: "clsparseCsrMetaCreate",
        // SAFETY: all of them live.
        call: |o, control, _| unsafe { clsparseCsrMetaCreate(&raw mut o.csr, control.0) },
        places: &[|o| &mut o.csr.col_indices, |o| &mut o.csr.row_pointer],
    },
    Function {
        name: "clsparseCsrMetaSize",
        // SAFETY: all of them live.
        call: |o, control, _| unsafe { clsparseCsrMetaSize(&raw mut o.csr, control.0).status },
        places: &[|o| &mut o.csr.col_indices, |o| &mut o.csr.row_pointer],
    },
    Function {
        name: "clsparseSCsrMatrixfromFile",
        // SAFETY: all of them live.
        call: |o, control, path| unsafe {
            clsparseSCsrMatrixfromFile(&raw mut o.csr, path.as_ptr(), control.0, 1)
        },
        places: &[|o| &mut o.csr.values, |o| &mut o.csr.col_indices, |o| &mut o.csr.row_pointer],
    },
    Function {
        name: "clsparseSCooMatrixfromFile",
        // SAFETY: all of them live.
        call: |o, control, path| unsafe {
            clsparseSCooMatrixfromFile(&raw mut o.coo, path.as_ptr(), control.0, 1)
        },
        places: &[|o| &mut o.coo.values, |o| &mut o.coo.col_indices, |o| &mut o.coo.row_indices],
    },
];

fn operands(problem: &Problem<f32>, b: &DeviceArray<f32>, c: &DeviceArray<f32>) -> Operands {
    let dense = |array, rows| cldenseMatrix {
        num_rows: rows,
        num_cols: 2,
        lead_dim: 2,
        major: 1,
        values: raw(array),
        off_values: 0,
    };
    let csr = problem.csr();
    Operands {
        csr,
        coo: problem.coo(),
        alpha: problem.alpha(),
        beta: problem.beta(),
        x: problem.x(),
        y: problem.y(),
        b: dense(b, csr.num_cols),
        c: dense(c, csr.num_rows),
    }
}

/// Puts `stranger` into each place of each function in turn.
fn each_is(expected: Status, stranger: &DeviceArray<f32>, queue: &Queue) {
    let control = Control::new(queue);
    let (_, matrix) = matrices::<f32>().swap_remove(0);
    let problem = Problem::new(queue, matrix.view(), 1.0, 0.0);
    let dense = |rows: usize| DeviceArray::upload_blocking(queue, &vec![5f32; 2 * rows]).unwrap();
    let (b, c) = (dense(matrix.cols()), dense(matrix.rows()));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.mtx");
    let text = "%%MatrixMarket matrix coordinate real general\n9 9 9\n";
    let entries: String = (1..=9).map(|k| format!("{k} {k} 1\n")).collect();
    std::fs::write(&path, format!("{text}{entries}")).unwrap();
    let path = CString::new(path.to_str().unwrap()).unwrap();
    for function in FUNCTIONS {
        for (place, of) in function.places.iter().enumerate() {
            let mut operands = operands(&problem, &b, &c);
            *of(&mut operands) = raw(stranger);
            let before = problem.csr();
            let status = (function.call)(&mut operands, &control, &path);
            assert_eq!(status, expected, "{}, buffer {place}", function.name);
            assert!(operands.csr.meta.is_null(), "{}", function.name);
            assert_eq!(operands.csr.num_rows, before.num_rows, "{}", function.name);
        }
    }
    assert!(problem.result().iter().all(|element| element.is_nan()), "y was written");
    assert!(c.read_blocking(queue).unwrap().iter().all(|element| *element == 5.0));
}

#[test]
fn each_buffer_too_small_is_an_invalid_size() {
    let queue = queue();
    // With the offsets of the arrays there is room for nothing.
    let small = DeviceArray::<f32>::allocate(queue.context(), 1).unwrap();
    each_is(Status::InvalidSize, &small, &queue);
}

#[test]
fn each_buffer_of_another_context_is_an_invalid_context() {
    let (queue, other) = (queue(), conformance::queue());
    let large = DeviceArray::<f32>::allocate(other.context(), 1 << 14).unwrap();
    each_is(Status::InvalidContext, &large, &queue);
}
