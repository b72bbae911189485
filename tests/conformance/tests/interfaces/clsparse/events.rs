//! Asynchronous controls: after each function that enqueues there is an event.

use std::ffi::CString;
use std::ptr;
use std::time::Duration;

use clSPARSE::*;
use conformance::{Gate, device, is_interpreter, queue, say};
use opencl3::command_queue::enqueue_marker_with_wait_list;
use sparrow::host::io::ReadOptions;
use sparrow::{DeviceArray, Event, Queue};

use super::problem::{Control, Problem, Real, raw};

/// What the library exports.
const SYMBOLS: &str = include_str!("../../../../../crates/sparrow-clsparse/abi/symbols.txt");

/// Those that enqueue nothing.
const ENQUEUE_NOTHING: [&str; 19] = [
    "cldenseInitMatrix",
    "clsparseCreateControl",
    "clsparseCreateSolverControl",
    "clsparseCsrMetaDelete",
    "clsparseEnableAsync",
    "clsparseEnableExtendedPrecision",
    "clsparseGetEvent",
    "clsparseGetVersion",
    "clsparseHeaderfromFile",
    "clsparseInitCooMatrix",
    "clsparseInitCsrMatrix",
    "clsparseInitScalar",
    "clsparseInitVector",
    "clsparseReleaseControl",
    "clsparseReleaseSolverControl",
    "clsparseSetSolverParams",
    "clsparseSetup",
    "clsparseSolverPrintMode",
    "clsparseTeardown",
];

/// Symmetric, with positive eigenvalues.
const TEXT: &str = "%%MatrixMarket matrix coordinate real general\n\
                    3 3 5\n1 1 4\n1 2 1\n2 1 1\n2 2 4\n3 3 4\n";
const ORDER: u32 = 3;
const NNZ: usize = 5;

/// Operands for every function.
struct Scene<T> {
    problem: Problem<T>,
    dense: [DeviceArray<T>; 2],
    values: DeviceArray<T>,
    columns: DeviceArray<u32>,
    /// Row offsets, or row indices.
    rows: DeviceArray<u32>,
    sum: DeviceArray<T>,
    path: CString,
    solver: clSParseSolverControl,
}

impl<T: Real> Scene<T> {
    fn new(queue: &Queue, path: &CString) -> Self {
        let matrix = ReadOptions::new().csr_from(TEXT.as_bytes(), "text").unwrap();
        let of = |len: usize| DeviceArray::upload_blocking(queue, &vec![T::from_f64(1.0); len]);
        let indices = || DeviceArray::upload_blocking(queue, &[0u32; 9]).unwrap();
        Scene {
            problem: Problem::new(queue, matrix.view(), 1.0, 1.0),
            dense: [of(9).unwrap(), of(9).unwrap()],
            values: of(9).unwrap(),
            columns: indices(),
            rows: indices(),
            sum: of(1).unwrap(),
            path: path.clone(),
            solver: clsparseCreateSolverControl(0, 8, 1e-3, 0.0).control,
        }
    }

    fn square(&self, of: usize) -> cldenseMatrix {
        cldenseMatrix {
            num_rows: ORDER,
            num_cols: ORDER,
            lead_dim: ORDER,
            major: 1,
            values: raw(&self.dense[of]),
            off_values: 0,
        }
    }

    fn target(&self) -> clsparseCsrMatrix {
        clsparseCsrMatrix {
            num_rows: 0,
            num_cols: 0,
            num_nonzeros: 0,
            values: raw(&self.values),
            col_indices: raw(&self.columns),
            row_pointer: raw(&self.rows),
            off_values: 0,
            off_col_indices: 0,
            off_row_pointer: 0,
            meta: ptr::null_mut(),
        }
    }

    fn coo_target(&self) -> clsparseCooMatrix {
        clsparseCooMatrix {
            num_rows: 0,
            num_cols: 0,
            num_nonzeros: 0,
            values: raw(&self.values),
            col_indices: raw(&self.columns),
            row_indices: raw(&self.rows),
            off_values: 0,
            off_col_indices: 0,
            off_row_indices: 0,
        }
    }

    fn sum(&self) -> clsparseScalar {
        clsparseScalar { value: raw(&self.sum), off_value: 0 }
    }
}

impl<T> Drop for Scene<T> {
    fn drop(&mut self) {
        clsparseReleaseSolverControl(self.solver);
    }
}

/// Calls one function in async mode; the event must be there and complete.
fn check(queue: &Queue, name: &str, call: &dyn Fn(clsparseControl) -> Status) {
    let control = Control::new(queue);
    assert_eq!(clsparseEnableAsync(control.0, 1), Status::Success);
    assert_eq!(call(control.0), Status::Success, "{name}");
    let found = clsparseGetEvent(control.0);
    assert_eq!(found.status, Status::Success, "{name}");
    assert!(!found.event.is_null(), "{name} leaves no event");
    // SAFETY: the event is this test's, whose reference goes over.
    unsafe { Event::from_owned(found.event) }.wait().unwrap();
}

/// Every function of a precision that enqueues, with operands of that precision.
macro_rules! functions {
    ($calls:ident, $T:ty:
     $scale:ident $axpy:ident $axpby:ident $add:ident $sub:ident $mul:ident $div:ident
     $reduce:ident $nrm1:ident $nrm2:ident $dot:ident $csrmv:ident $coomv:ident $csrmm:ident
     $csr2coo:ident $coo2csr:ident $csr2dense:ident $dense2csr:ident $cg:ident $bicgstab:ident
     $coo_of_file:ident $csr_of_file:ident) => {
        fn $calls(queue: &Queue, path: &CString) -> Vec<&'static str> {
            let scene = Scene::<$T>::new(queue, path);
            let problem = &scene.problem;
            let (a, coo) = (problem.csr(), problem.coo());
            let (x, alpha, beta) = (problem.x(), problem.alpha(), problem.beta());
            let mut called = Vec::new();
            let mut run = |name: &'static str, call: &dyn Fn(clsparseControl) -> Status| {
                check(queue, name, call);
                called.push(name);
            };
            // SAFETY: all operands live until the event of each call has completed.
            unsafe {
                run(stringify!($scale), &|c| $scale(&mut problem.y(), &alpha, &x, c));
                run(stringify!($axpy), &|c| $axpy(&mut problem.y(), &alpha, &x, &x, c));
                run(stringify!($axpby), &|c| $axpby(&mut problem.y(), &alpha, &x, &beta, &x, c));
                run(stringify!($add), &|c| $add(&mut problem.y(), &x, &x, c));
                run(stringify!($sub), &|c| $sub(&mut problem.y(), &x, &x, c));
                run(stringify!($mul), &|c| $mul(&mut problem.y(), &x, &x, c));
                run(stringify!($div), &|c| $div(&mut problem.y(), &x, &x, c));
                run(stringify!($reduce), &|c| $reduce(&mut scene.sum(), &x, c));
                run(stringify!($nrm1), &|c| $nrm1(&mut scene.sum(), &x, c));
                run(stringify!($nrm2), &|c| $nrm2(&mut scene.sum(), &x, c));
                run(stringify!($dot), &|c| $dot(&mut scene.sum(), &x, &x, c));
                run(stringify!($csrmv), &|c| $csrmv(&alpha, &a, &x, &beta, &mut problem.y(), c));
                run(stringify!($coomv), &|c| $coomv(&alpha, &coo, &x, &beta, &mut problem.y(), c));
                run(stringify!($csrmm), &|c| {
                    $csrmm(&alpha, &a, &scene.square(0), &beta, &mut scene.square(1), c)
                });
                run(stringify!($csr2coo), &|c| $csr2coo(&a, &mut scene.coo_target(), c));
                run(stringify!($coo2csr), &|c| $coo2csr(&coo, &mut scene.target(), c));
                run(stringify!($csr2dense), &|c| $csr2dense(&a, &mut scene.square(0), c));
                run(stringify!($dense2csr), &|c| {
                    $dense2csr(&scene.square(0), &mut scene.target(), c)
                });
                run(stringify!($cg), &|c| $cg(&mut problem.y(), &a, &x, scene.solver, c));
                run(stringify!($bicgstab), &|c| {
                    $bicgstab(&mut problem.y(), &a, &x, scene.solver, c)
                });
                run(stringify!($coo_of_file), &|c| {
                    $coo_of_file(&mut scene.coo_target(), scene.path.as_ptr(), c, 1)
                });
                run(stringify!($csr_of_file), &|c| {
                    $csr_of_file(&mut scene.target(), scene.path.as_ptr(), c, 1)
                });
            }
            called
        }
    };
}

functions! {
    single, f32:
    cldenseSscale cldenseSaxpy cldenseSaxpby cldenseSadd cldenseSsub cldenseSmul cldenseSdiv
    cldenseSreduce cldenseSnrm1 cldenseSnrm2 cldenseSdot clsparseScsrmv clsparseScoomv
    clsparseScsrmm clsparseScsr2coo clsparseScoo2csr clsparseScsr2dense clsparseSdense2csr
    clsparseScsrcg clsparseScsrbicgStab clsparseSCooMatrixfromFile clsparseSCsrMatrixfromFile
}

functions! {
    double, f64:
    cldenseDscale cldenseDaxpy cldenseDaxpby cldenseDadd cldenseDsub cldenseDmul cldenseDdiv
    cldenseDreduce cldenseDnrm1 cldenseDnrm2 cldenseDdot clsparseDcsrmv clsparseDcoomv
    clsparseDcsrmm clsparseDcsr2coo clsparseDcoo2csr clsparseDcsr2dense clsparseDdense2csr
    clsparseDcsrcg clsparseDcsrbicgStab clsparseDCooMatrixfromFile clsparseDCsrMatrixfromFile
}

/// Those that there is one of.
fn others(queue: &Queue, path: &CString) -> Vec<&'static str> {
    let scene = Scene::<f32>::new(queue, path);
    let problem = &scene.problem;
    let a = problem.csr();
    // SAFETY: all operands live until the event of each call has completed; buffers that are made are released.
    unsafe {
        check(queue, "clsparseCsrMetaSize", &|c| clsparseCsrMetaSize(&mut problem.csr(), c).status);
        check(queue, "clsparseCsrMetaCreate", &|c| {
            let mut csr = problem.csr();
            let status = clsparseCsrMetaCreate(&mut csr, c);
            clsparseCsrMetaDelete(&mut csr);
            status
        });
        check(queue, "clsparseScsrSpGemm", &|c| {
            let mut made = scene.target();
            let status = clsparseScsrSpGemm(&a, &a, &mut made, c);
            assert_eq!(made.num_nonzeros as usize, NNZ);
            for buffer in [made.values, made.col_indices, made.row_pointer] {
                opencl3::memory::release_mem_object(buffer).unwrap();
            }
            status
        });
        check(queue, "cldenseIreduce", &|c| {
            let x = cldenseVector { num_values: 9, values: raw(&scene.rows), off_values: 0 };
            cldenseIreduce(&mut scene.sum(), &x, c)
        });
    }
    vec!["clsparseCsrMetaSize", "clsparseCsrMetaCreate", "clsparseScsrSpGemm", "cldenseIreduce"]
}

#[test]
fn every_function_that_enqueues_leaves_an_event() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.mtx");
    std::fs::write(&path, TEXT).unwrap();
    let path = CString::new(path.to_str().unwrap()).unwrap();
    let queue = queue();
    let mut called = [single(&queue, &path), others(&queue, &path)].concat();
    if device().traits().has_f64 {
        called.extend(double(&queue, &path));
    } else {
        say("no double precision: the functions for it were not called");
        let doubles = SYMBOLS.lines().filter(|name| {
            let precision = name.trim_start_matches("clsparse").trim_start_matches("cldense");
            precision.starts_with('D')
        });
        called.extend(doubles);
    }
    called.extend(ENQUEUE_NOTHING);
    called.sort_unstable();
    // Under another name for programs that name shared virtual memory, the same functions.
    let mut exported: Vec<_> = SYMBOLS.lines().filter(|name| !name.ends_with("Svm")).collect();
    exported.sort_unstable();
    assert_eq!(called, exported, "every function is called, or enqueues nothing");
}

#[test]
fn calls_with_nothing_to_compute_leave_an_event_of_their_own() {
    let queue = queue();
    let scene = Scene::<f32>::new(&queue, &CString::default());
    let problem = &scene.problem;
    let (x, alpha, beta) = (problem.x(), problem.alpha(), problem.beta());
    let no_rows = clsparseCsrMatrix { num_rows: 0, num_nonzeros: 0, ..problem.csr() };
    let no_size = clsparseCsrMatrix { num_cols: 0, ..no_rows };
    let no_entries = clsparseCooMatrix { num_rows: 0, num_nonzeros: 0, ..problem.coo() };
    let no_elements = cldenseVector { num_values: 0, ..x };
    let dense = |rows| cldenseMatrix { num_rows: rows, num_cols: 0, ..scene.square(0) };
    // SAFETY: all operands live until the event of each call has completed.
    unsafe {
        check(&queue, "csrmv", &|c| {
            clsparseScsrmv(&alpha, &no_rows, &x, &beta, &mut problem.y(), c)
        });
        check(&queue, "coomv", &|c| {
            clsparseScoomv(&alpha, &no_entries, &x, &beta, &mut problem.y(), c)
        });
        check(&queue, "csrmm", &|c| {
            clsparseScsrmm(&alpha, &problem.csr(), &dense(ORDER), &beta, &mut dense(ORDER), c)
        });
        check(&queue, "csr2coo", &|c| clsparseScsr2coo(&no_rows, &mut scene.coo_target(), c));
        check(&queue, "csr2dense", &|c| clsparseScsr2dense(&no_size, &mut dense(0), c));
        check(&queue, "cg", &|c| {
            let (mut x, b) = (no_elements, no_elements);
            clsparseScsrcg(&mut x, &no_size, &b, scene.solver, c)
        });
        check(&queue, "add", &|c| cldenseSadd(&mut { no_elements }, &no_elements, &no_elements, c));
    }
}

#[test]
fn a_control_that_is_asynchronous_no_more_has_no_event() {
    let queue = queue();
    let scene = Scene::<f32>::new(&queue, &CString::default());
    let control = Control::new(&queue);
    assert_eq!(clsparseEnableAsync(control.0, 1), Status::Success);
    // SAFETY: the operands live until the queue has ended.
    let status =
        unsafe { clsparseScsr2coo(&scene.problem.csr(), &mut scene.coo_target(), control.0) };
    assert_eq!(status, Status::Success);
    assert_eq!(clsparseEnableAsync(control.0, 0), Status::Success);
    assert!(clsparseGetEvent(control.0).event.is_null());
    queue.finish_blocking().unwrap();
}

#[test]
fn a_conversion_of_an_asynchronous_control_does_not_wait_for_what_is_in_its_queue() {
    let queue = queue();
    if is_interpreter(queue.context().device()) {
        say("skipped: an interpreter runs commands as they are enqueued");
        return;
    }
    let scene = Scene::<f32>::new(&queue, &CString::default());
    let control = Control::new(&queue);
    assert_eq!(clsparseEnableAsync(control.0, 1), Status::Success);
    // SAFETY: the operands live until the queue has ended.
    let convert =
        || unsafe { clsparseScsr2coo(&scene.problem.csr(), &mut scene.coo_target(), control.0) };
    // Its kernels are built.
    assert_eq!(convert(), Status::Success);
    queue.finish_blocking().unwrap();

    let gate = Gate::new(queue.context());
    let closed = [gate.event().as_raw()];
    // SAFETY: the list lives through the call.
    let marker = unsafe { enqueue_marker_with_wait_list(queue.as_raw(), 1, closed.as_ptr()) };
    // SAFETY: the event is new, and its one reference goes over.
    drop(unsafe { Event::from_owned(marker.unwrap()) });
    let (returned, has_returned) = std::sync::mpsc::channel();
    let opener = std::thread::spawn(move || {
        let waited = has_returned.recv_timeout(Duration::from_secs(20)).is_err();
        gate.open();
        waited
    });
    assert_eq!(convert(), Status::Success);
    let _ = returned.send(());
    assert!(!opener.join().unwrap(), "csr2coo waits for the queue");
    queue.finish_blocking().unwrap();
}
