//! Programs that were compiled for shared virtual memory (BUILD_CLVERSION of 200): every group of functions, on structures
//! without offsets.

use std::ffi::c_void;
use std::ptr::{null_mut, with_exposed_provenance_mut};

use bytemuck::Pod;
use cl_runtime::raw::fault::live;
use clSPARSE::*;
use conformance::c_application::has_shared_memory;
use conformance::{device, queue, say};
use opencl3::memory as cl_memory;
use sparrow::{Csr, DeviceArray, Queue};

/// An allocation of the application's, which lives as long as the queue has something to do.
struct Shared<T> {
    queue: Queue,
    address: *mut T,
    len: usize,
}

impl<T: Pod> Shared<T> {
    fn new(queue: &Queue, data: &[T]) -> Self {
        let (flags, bytes) = (cl_memory::CL_MEM_READ_WRITE, size_of_val(data).max(1));
        // SAFETY: the context is valid.
        let address = unsafe { cl_memory::svm_alloc(queue.context().as_raw(), flags, bytes, 0) };
        let shared =
            Shared { queue: queue.clone(), address: address.unwrap().cast(), len: data.len() };
        shared.array().write_blocking(queue, data).unwrap();
        shared
    }

    fn array(&self) -> DeviceArray<T> {
        // SAFETY: it was allocated in this context, as long, and tests do not keep the array.
        unsafe { DeviceArray::from_svm(self.address, self.len, false).unwrap() }
    }

    fn read(&self) -> Vec<T> {
        self.array().read_blocking(&self.queue).unwrap()
    }

    fn at(&self, element: usize) -> *mut c_void {
        self.address.wrapping_add(element).cast()
    }
}

impl<T> Drop for Shared<T> {
    fn drop(&mut self) {
        self.queue.finish_blocking().unwrap();
        // SAFETY: it was allocated there, and nothing uses it any more.
        unsafe { cl_memory::svm_free(self.queue.context().as_raw(), self.address.cast()).unwrap() };
    }
}

/// A control as such a program makes it; released with the test.
struct SvmControl(clsparseControl);

impl SvmControl {
    fn new(queue: &Queue) -> Self {
        assert_eq!(clsparseSetup(), Status::Success);
        // SAFETY: the queue lives.
        let created = unsafe { clsparseCreateControlSvm(queue.as_raw()) };
        assert_eq!(created.status, Status::Success);
        SvmControl(created.control)
    }
}

impl Drop for SvmControl {
    fn drop(&mut self) {
        clsparseReleaseControl(self.0);
    }
}

/// The pointer as the functions that both kinds of programs call declare it.
fn seen<S, T>(structure: &mut S) -> *mut T {
    std::ptr::from_mut(structure).cast()
}

/// | 4 1 . |
/// | 1 3 . |
/// | . . 2 |
struct Problem {
    offsets: Shared<u32>,
    rows: Shared<u32>,
    columns: Shared<u32>,
    values: Shared<f64>,
    x: Shared<f64>,
    y: Shared<f64>,
    /// 2, 0.5 and a place for a result.
    scalars: Shared<f64>,
}

impl Problem {
    fn new(queue: &Queue) -> Self {
        Problem {
            offsets: Shared::new(queue, &[0, 2, 4, 5]),
            rows: Shared::new(queue, &[0, 0, 1, 1, 2]),
            columns: Shared::new(queue, &[0, 1, 0, 1, 2]),
            values: Shared::new(queue, &[4.0, 1.0, 1.0, 3.0, 2.0]),
            x: Shared::new(queue, &[1.0, 2.0, 3.0]),
            y: Shared::new(queue, &[10.0, 20.0, 30.0]),
            scalars: Shared::new(queue, &[2.0, 0.5, -1.0]),
        }
    }

    fn csr(&self) -> clsparseCsrMatrixSvm {
        clsparseCsrMatrixSvm {
            num_rows: 3,
            num_cols: 3,
            num_nonzeros: 5,
            values: self.values.at(0),
            col_indices: self.columns.at(0),
            row_pointer: self.offsets.at(0),
            meta: null_mut(),
        }
    }

    fn coo(&self) -> clsparseCooMatrixSvm {
        clsparseCooMatrixSvm {
            num_rows: 3,
            num_cols: 3,
            num_nonzeros: 5,
            values: self.values.at(0),
            col_indices: self.columns.at(0),
            row_indices: self.rows.at(0),
        }
    }

    fn scalar(&self, number: usize) -> clsparseScalarSvm {
        clsparseScalarSvm { value: self.scalars.at(number) }
    }

    fn vector(of: &Shared<f64>) -> cldenseVectorSvm {
        cldenseVectorSvm { num_values: of.len as u32, values: of.at(0) }
    }
}

/// What a test needs, where the device has shared virtual memory and doubles.
fn with(test: impl FnOnce(&Queue, &Problem, clsparseControl)) {
    if !has_shared_memory() {
        return;
    }
    if !device().traits().has_f64 {
        say("shared virtual memory in double precision: not applicable, the device has no f64");
        return;
    }
    let queue = queue();
    let control = SvmControl::new(&queue);
    test(&queue, &Problem::new(&queue), control.0);
}

/// 2 A x + 0.5 y.
const RIGHT: [f64; 3] = [2.0 * 6.0 + 5.0, 2.0 * 7.0 + 10.0, 2.0 * 6.0 + 15.0];

#[test]
fn products_with_vectors_are_right_with_and_without_a_meta() {
    with(|queue, problem, control| {
        let mut csr = problem.csr();
        for form in ["csr", "meta", "coo"] {
            problem.y.array().write_blocking(queue, &[10.0, 20.0, 30.0]).unwrap();
            let (mut alpha, mut beta) = (problem.scalar(0), problem.scalar(1));
            let (mut x, mut y) = (Problem::vector(&problem.x), Problem::vector(&problem.y));
            let (alpha, beta) = (seen(&mut alpha), seen(&mut beta));
            let (x, y) = (seen(&mut x), seen(&mut y));
            // SAFETY: the structures and memory live.
            let status = unsafe {
                match form {
                    "coo" => clsparseDcoomv(alpha, seen(&mut problem.coo()), x, beta, y, control),
                    _ => {
                        if form == "meta" {
                            let made = clsparseCsrMetaCreate(seen(&mut csr), control);
                            assert_eq!(made, Status::Success);
                            assert!(!csr.meta.is_null());
                            let size = clsparseCsrMetaSize(seen(&mut csr), control);
                            assert!(size.status == Status::Success && size.metaSize > 0);
                        }
                        clsparseDcsrmv(alpha, seen(&mut csr), x, beta, y, control)
                    }
                }
            };
            assert_eq!((status, &problem.y.read()[..]), (Status::Success, &RIGHT[..]), "{form}");
        }
        // SAFETY: as above.
        let deleted = unsafe { clsparseCsrMetaDeleteSvm(&raw mut csr) };
        assert!(deleted == Status::Success && csr.meta.is_null());
    });
}

#[test]
fn a_meta_of_values_that_do_not_tell_their_precision_is_sized_for_single() {
    with(|queue, problem, control| {
        let singles = Shared::new(queue, &[4.0f32, 1.0, 1.0, 3.0, 2.0]);
        let (x, y) = (Shared::new(queue, &[1.0f32, 2.0, 3.0]), Shared::new(queue, &[f32::NAN; 3]));
        let scalars = Shared::new(queue, &[1.0f32, 0.0]);
        assert_eq!(singles.at(0).addr() % 8, 0, "doubles could lie there");
        let mut csr = clsparseCsrMatrixSvm { values: singles.at(0), ..problem.csr() };
        let mut alpha = clsparseScalarSvm { value: scalars.at(0) };
        let mut beta = clsparseScalarSvm { value: scalars.at(1) };
        let mut of_x = cldenseVectorSvm { num_values: 3, values: x.at(0) };
        let mut of_y = cldenseVectorSvm { num_values: 3, values: y.at(0) };
        // SAFETY: the structures and memory live.
        unsafe {
            assert_eq!(clsparseCsrMetaCreate(seen(&mut csr), control), Status::Success);
            let size = clsparseCsrMetaSize(seen(&mut csr), control);
            assert!(size.status == Status::Success && size.metaSize > 0);
            let (alpha, beta) = (seen(&mut alpha), seen(&mut beta));
            let (x, y, a) = (seen(&mut of_x), seen(&mut of_y), seen(&mut csr));
            let planned = live().programs;
            assert_eq!(clsparseScsrmv(alpha, a, x, beta, y, control), Status::Success);
            assert_eq!(live().programs, planned, "the product takes the plan that was sized");
            assert_eq!(clsparseCsrMetaDeleteSvm(&raw mut csr), Status::Success);
        }
        assert_eq!(y.read(), [6.0, 7.0, 6.0]);
    });
}

#[test]
fn dense_and_sparse_products_are_right() {
    with(|queue, problem, control| {
        let b = Shared::new(queue, &[1.0, 0.0, 2.0, 1.0, 3.0, 2.0]);
        let c = Shared::new(queue, &[f64::NAN; 6]);
        let dense = |of: &Shared<f64>| cldenseMatrixSvm {
            num_rows: 3,
            num_cols: 2,
            lead_dim: 2,
            major: 1,
            values: of.at(0),
        };
        let zero = Shared::new(queue, &[0.0]);
        let (mut alpha, mut beta) = (problem.scalar(0), clsparseScalarSvm { value: zero.at(0) });
        let (alpha, beta) = (seen(&mut alpha), seen(&mut beta));
        let (mut of_b, mut of_c) = (dense(&b), dense(&c));
        // SAFETY: the structures and memory live.
        let status = unsafe {
            let a = seen(&mut problem.csr());
            clsparseDcsrmm(alpha, a, seen(&mut of_b), beta, seen(&mut of_c), control)
        };
        assert_eq!(status, Status::Success);
        assert_eq!(c.read(), [12.0, 2.0, 14.0, 6.0, 12.0, 8.0]);

        // A A in single precision: its memory is ours to free.
        let singles = Shared::new(queue, &[4.0f32, 1.0, 1.0, 3.0, 2.0]);
        let mut a = clsparseCsrMatrixSvm { values: singles.at(0), ..problem.csr() };
        let mut square = clsparseCsrMatrixSvm { num_rows: 9, ..a };
        // SAFETY: as above.
        let status = unsafe {
            let a: *mut clsparseCsrMatrix = seen(&mut a);
            clsparseScsrSpGemm(a, a, seen(&mut square), control)
        };
        assert_eq!((status, square.num_rows, square.num_nonzeros), (Status::Success, 3, 5));
        // SAFETY: the library made them so long.
        let (offsets, columns, values) = unsafe {
            let offsets = DeviceArray::<u32>::from_svm(square.row_pointer.cast(), 4, false);
            let columns = DeviceArray::<u32>::from_svm(square.col_indices.cast(), 5, false);
            let values = DeviceArray::<f32>::from_svm(square.values.cast(), 5, false);
            let (offsets, columns) = (offsets.unwrap(), columns.unwrap());
            let offsets = offsets.read_blocking(queue).unwrap();
            let columns = columns.read_blocking(queue).unwrap();
            (offsets, columns, values.unwrap().read_blocking(queue).unwrap())
        };
        let found = Csr::new(3, offsets, columns, values).unwrap();
        let (offsets, columns) = (vec![0, 2, 4, 5], vec![0, 1, 0, 1, 2]);
        let right = Csr::new(3, offsets, columns, vec![17.0f32, 7.0, 7.0, 10.0, 4.0]).unwrap();
        assert_eq!(found, right);
        for memory in [square.row_pointer, square.col_indices, square.values] {
            // SAFETY: they are the application's now, and nothing uses them any more.
            unsafe { cl_memory::svm_free(queue.context().as_raw(), memory).unwrap() };
        }
    });
}

#[test]
fn operations_on_vectors_are_right() {
    with(|queue, problem, control| {
        let r = Shared::new(queue, &[f64::NAN; 3]);
        let result = problem.scalar(2);
        let (mut of_r, mut result) = (Problem::vector(&r), result);
        let (mut x, mut y) = (Problem::vector(&problem.x), Problem::vector(&problem.y));
        let (mut alpha, mut beta) = (problem.scalar(0), problem.scalar(1));
        let (of_r, x, y) = (seen(&mut of_r), seen(&mut x), seen(&mut y));
        let (alpha, beta, result) = (seen(&mut alpha), seen(&mut beta), seen(&mut result));
        // SAFETY: the structures and memory live.
        unsafe {
            assert_eq!(cldenseDaxpby(of_r, alpha, x, beta, y, control), Status::Success);
            assert_eq!(r.read(), [7.0, 14.0, 21.0]);
            assert_eq!(cldenseDscale(of_r, alpha, x, control), Status::Success);
            assert_eq!(r.read(), [2.0, 4.0, 6.0]);
            assert_eq!(cldenseDaxpy(of_r, alpha, x, y, control), Status::Success);
            assert_eq!(r.read(), [12.0, 24.0, 36.0]);
            assert_eq!(cldenseDmul(of_r, x, y, control), Status::Success);
            assert_eq!(r.read(), [10.0, 40.0, 90.0]);
            assert_eq!(cldenseDdot(result, x, y, control), Status::Success);
            assert_eq!(problem.scalars.read()[2], 140.0);
            assert_eq!(cldenseDnrm1(result, y, control), Status::Success);
            assert_eq!(problem.scalars.read()[2], 60.0);
        }
    });
}

#[test]
fn conversions_there_and_back_are_right() {
    with(|queue, problem, control| {
        let (rows, columns) = (Shared::new(queue, &[9u32; 5]), Shared::new(queue, &[9u32; 5]));
        let (offsets, values) = (Shared::new(queue, &[9u32; 4]), Shared::new(queue, &[0.0; 5]));
        let mut coo = clsparseCooMatrixSvm {
            num_rows: 0,
            num_cols: 0,
            num_nonzeros: 0,
            values: values.at(0),
            col_indices: columns.at(0),
            row_indices: rows.at(0),
        };
        // SAFETY: the structures and memory live.
        let status = unsafe { clsparseDcsr2coo(seen(&mut problem.csr()), seen(&mut coo), control) };
        assert_eq!((status, coo.num_rows, coo.num_nonzeros), (Status::Success, 3, 5));
        assert_eq!(rows.read(), problem.rows.read());
        let mut csr = clsparseCsrMatrixSvm {
            num_rows: 0,
            num_cols: 0,
            num_nonzeros: 0,
            values: values.at(0),
            col_indices: columns.at(0),
            row_pointer: offsets.at(0),
            meta: null_mut(),
        };
        // SAFETY: as above.
        let status = unsafe { clsparseDcoo2csr(seen(&mut problem.coo()), seen(&mut csr), control) };
        assert_eq!((status, csr.num_rows, csr.num_nonzeros), (Status::Success, 3, 5));
        assert_eq!((offsets.read(), values.read()), (vec![0, 2, 4, 5], problem.values.read()));
        let all = Shared::new(queue, &[f64::NAN; 9]);
        let mut dense =
            cldenseMatrixSvm { num_rows: 3, num_cols: 3, lead_dim: 3, major: 1, values: all.at(0) };
        // SAFETY: as above.
        let status = unsafe { clsparseDcsr2dense(seen(&mut csr), seen(&mut dense), control) };
        assert_eq!(status, Status::Success);
        assert_eq!(all.read(), [4.0, 1.0, 0.0, 1.0, 3.0, 0.0, 0.0, 0.0, 2.0]);
        values.array().write_blocking(queue, &[0.0; 5]).unwrap();
        // SAFETY: as above.
        let status = unsafe { clsparseDdense2csr(seen(&mut dense), seen(&mut csr), control) };
        assert_eq!((status, csr.num_nonzeros), (Status::Success, 5));
        assert_eq!(values.read(), problem.values.read());
    });
}

#[test]
fn both_solvers_solve() {
    with(|queue, problem, control| {
        let b = Shared::new(queue, &[6.0, 7.0, 6.0]);
        for solve in [clsparseDcsrcg, clsparseDcsrbicgStab] {
            problem.x.array().write_blocking(queue, &[0.0; 3]).unwrap();
            let told = clsparseCreateSolverControl(0, 50, 1e-12, 1e-12);
            let (mut x, mut b) = (Problem::vector(&problem.x), Problem::vector(&b));
            // SAFETY: the structures and memory live.
            let status = unsafe {
                let a = seen(&mut problem.csr());
                solve(seen(&mut x), a, seen(&mut b), told.control, control)
            };
            assert_eq!(status, Status::Success);
            let x = problem.x.read();
            assert!((0..3).all(|i| (x[i] - (i + 1) as f64).abs() < 1e-9), "{x:?}");
            clsparseReleaseSolverControl(told.control);
        }
    });
}

#[test]
fn structures_begin_empty_and_addresses_that_cannot_be_are_a_status() {
    with(|_, problem, control| {
        let nothing = with_exposed_provenance_mut::<c_void>(8);
        let mut matrix = clsparseCsrMatrixSvm { values: nothing, meta: nothing, ..problem.csr() };
        let mut vector = Problem::vector(&problem.x);
        let (mut coo, mut scalar) = (problem.coo(), problem.scalar(0));
        let mut dense =
            cldenseMatrixSvm { num_rows: 1, num_cols: 1, lead_dim: 1, major: 2, values: nothing };
        // SAFETY: the structures live.
        unsafe {
            assert_eq!(clsparseInitCsrMatrixSvm(&raw mut matrix), Status::Success);
            assert_eq!(clsparseInitVectorSvm(&raw mut vector), Status::Success);
            assert_eq!(clsparseInitCooMatrixSvm(&raw mut coo), Status::Success);
            assert_eq!(clsparseInitScalarSvm(&raw mut scalar), Status::Success);
            assert_eq!(cldenseInitMatrixSvm(&raw mut dense), Status::Success);
            assert_eq!(clsparseInitScalarSvm(null_mut()), Status::InvalidValue);
            assert_eq!(clsparseCsrMetaDeleteSvm(null_mut()), Status::InvalidValue);
        }
        assert!(matrix.values.is_null() && matrix.meta.is_null() && matrix.num_rows == 0);
        assert!(vector.values.is_null() && coo.values.is_null() && scalar.value.is_null());
        assert!(dense.values.is_null() && dense.major == 1);

        let odd = problem.y.at(0).wrapping_byte_add(4);
        for (values, expected) in [(null_mut(), Status::InvalidMemObj), (odd, Status::InvalidValue)]
        {
            let mut y = cldenseVectorSvm { num_values: 3, values };
            let (mut alpha, mut beta) = (problem.scalar(0), problem.scalar(1));
            let mut x = Problem::vector(&problem.x);
            // SAFETY: the structures live; the address is refused.
            let status = unsafe {
                let (alpha, a) = (seen(&mut alpha), seen(&mut problem.csr()));
                let (x, beta, y) = (seen(&mut x), seen(&mut beta), seen(&mut y));
                clsparseDcsrmv(alpha, a, x, beta, y, control)
            };
            assert_eq!(status, expected);
        }
    });
}

#[test]
fn a_device_without_shared_memory_makes_no_such_control() {
    if device().traits().svm.coarse_grain_buffer {
        say("a device without shared virtual memory: not applicable, this one has it");
        return;
    }
    assert_eq!(clsparseSetup(), Status::Success);
    // SAFETY: the queue lives.
    let created = unsafe { clsparseCreateControlSvm(queue().as_raw()) };
    assert!(created.status == Status::InvalidDevice && created.control.is_null());
}
