//! All 67 functions, with every pointer null in turn, and with structures of zeros: a status, never a crash.

use std::cell::Cell;
use std::ffi::{CString, c_void};
use std::ptr;

use clSPARSE::*;
use conformance::queue;
use sparrow::DeviceArray;

use super::problem::{Control, raw};

/// Gives the pointers of a call, one of them null.
struct Pointers {
    null: usize,
    given: Cell<usize>,
}

impl Pointers {
    /// The next pointer of the call.
    fn next<T>(&self, pointer: *mut T) -> *mut T {
        let place = self.given.replace(self.given.get() + 1);
        if place == self.null { ptr::null_mut() } else { pointer }
    }
}

/// What functions are called with. Zeros stand for structures that nobody filled in, which lets every function that
/// computes end before it does.
struct Arguments {
    queue: *mut c_void,
    control: *mut c_void,
    solver: *mut c_void,
    scalar: *mut clsparseScalar,
    vector: *mut cldenseVector,
    csr: *mut clsparseCsrMatrix,
    coo: *mut clsparseCooMatrix,
    dense: *mut cldenseMatrix,
    index: *mut u32,
    path: *mut std::ffi::c_char,
}

type Call = fn(&Pointers, &Arguments) -> Status;

/// A function's name, how many pointers it takes, and a call of it.
macro_rules! table {
    ($($name:ident($($kind:ident $argument:tt),*) $(.$field:ident)?;)*) => {
        vec![$((
            stringify!($name),
            [$(is_pointer!($kind)),*].into_iter().filter(|is| *is).count(),
            (|p: &Pointers, a: &Arguments| {
                let _ = (p, a);
                // SAFETY: every pointer is null, or points to what its type says.
                unsafe { $name($(argument!($kind $argument, p, a)),*)$(.$field)? }
            }) as Call,
        )),*]
    };
}

macro_rules! is_pointer {
    (p) => {
        true
    };
    (v) => {
        false
    };
}

macro_rules! argument {
    (p $field:ident, $p:ident, $a:ident) => {
        $p.next($a.$field)
    };
    (v $value:tt, $p:ident, $a:ident) => {
        $value
    };
}

#[expect(unused_unsafe, reason = "some functions are safe to call")]
const FUNCTIONS: fn() -> Vec<(&'static str, usize, Call)> = || {
    table! {
        clsparseSetup();
        clsparseGetVersion(p index, p index, p index, p index);
        clsparseInitScalar(p scalar);
        clsparseInitVector(p vector);
        clsparseInitCooMatrix(p coo);
        clsparseInitCsrMatrix(p csr);
        cldenseInitMatrix(p dense);
        clsparseCreateControl(p queue).status;
        clsparseEnableAsync(p control, v 0);
        clsparseEnableExtendedPrecision(p control, v 0);
        clsparseGetEvent(p control).status;
        clsparseCreateSolverControl(v 0, v 1, v 0.5, v 0.5).status;
        clsparseSetSolverParams(p solver, v 0, v 1, v 0.5, v 0.5);
        clsparseSolverPrintMode(p solver, v 0);
        clsparseHeaderfromFile(p index, p index, p index, p path);
        clsparseSCooMatrixfromFile(p coo, p path, p control, v 1);
        clsparseSCsrMatrixfromFile(p csr, p path, p control, v 1);
        clsparseDCooMatrixfromFile(p coo, p path, p control, v 1);
        clsparseDCsrMatrixfromFile(p csr, p path, p control, v 1);
        clsparseCsrMetaSize(p csr, p control).status;
        clsparseCsrMetaCreate(p csr, p control);
        clsparseCsrMetaDelete(p csr);
        cldenseSscale(p vector, p scalar, p vector, p control);
        cldenseDscale(p vector, p scalar, p vector, p control);
        cldenseSaxpy(p vector, p scalar, p vector, p vector, p control);
        cldenseDaxpy(p vector, p scalar, p vector, p vector, p control);
        cldenseSaxpby(p vector, p scalar, p vector, p scalar, p vector, p control);
        cldenseDaxpby(p vector, p scalar, p vector, p scalar, p vector, p control);
        cldenseIreduce(p scalar, p vector, p control);
        cldenseSreduce(p scalar, p vector, p control);
        cldenseDreduce(p scalar, p vector, p control);
        cldenseSnrm1(p scalar, p vector, p control);
        cldenseDnrm1(p scalar, p vector, p control);
        cldenseSnrm2(p scalar, p vector, p control);
        cldenseDnrm2(p scalar, p vector, p control);
        cldenseSdot(p scalar, p vector, p vector, p control);
        cldenseDdot(p scalar, p vector, p vector, p control);
        cldenseSadd(p vector, p vector, p vector, p control);
        cldenseDadd(p vector, p vector, p vector, p control);
        cldenseSsub(p vector, p vector, p vector, p control);
        cldenseDsub(p vector, p vector, p vector, p control);
        cldenseSmul(p vector, p vector, p vector, p control);
        cldenseDmul(p vector, p vector, p vector, p control);
        cldenseSdiv(p vector, p vector, p vector, p control);
        cldenseDdiv(p vector, p vector, p vector, p control);
        clsparseScsrmv(p scalar, p csr, p vector, p scalar, p vector, p control);
        clsparseDcsrmv(p scalar, p csr, p vector, p scalar, p vector, p control);
        clsparseScoomv(p scalar, p coo, p vector, p scalar, p vector, p control);
        clsparseDcoomv(p scalar, p coo, p vector, p scalar, p vector, p control);
        clsparseScsrmm(p scalar, p csr, p dense, p scalar, p dense, p control);
        clsparseDcsrmm(p scalar, p csr, p dense, p scalar, p dense, p control);
        clsparseScsrSpGemm(p csr, p csr, p csr, p control);
        clsparseScsrcg(p vector, p csr, p vector, p solver, p control);
        clsparseDcsrcg(p vector, p csr, p vector, p solver, p control);
        clsparseScsrbicgStab(p vector, p csr, p vector, p solver, p control);
        clsparseDcsrbicgStab(p vector, p csr, p vector, p solver, p control);
        clsparseScsr2coo(p csr, p coo, p control);
        clsparseDcsr2coo(p csr, p coo, p control);
        clsparseScoo2csr(p coo, p csr, p control);
        clsparseDcoo2csr(p coo, p csr, p control);
        clsparseScsr2dense(p csr, p dense, p control);
        clsparseDcsr2dense(p csr, p dense, p control);
        clsparseSdense2csr(p dense, p csr, p control);
        clsparseDdense2csr(p dense, p csr, p control);
        clsparseReleaseSolverControl(p solver);
        clsparseReleaseControl(p control);
        clsparseTeardown();
    }
};

/// What lives while functions are called.
fn with_arguments(test: impl Fn(&dyn Fn() -> Arguments)) {
    let queue = queue();
    let path = CString::new("no such file.mtx").unwrap();
    let (mut scalar, mut vector) = (zeroed::<clsparseScalar>(), zeroed::<cldenseVector>());
    let (mut csr, mut coo) = (zeroed::<clsparseCsrMatrix>(), zeroed::<clsparseCooMatrix>());
    let (mut dense, mut index) = (zeroed::<cldenseMatrix>(), 0);
    let arguments = Arguments {
        queue: queue.as_raw(),
        control: ptr::null_mut(),
        solver: ptr::null_mut(),
        scalar: &raw mut scalar,
        vector: &raw mut vector,
        csr: &raw mut csr,
        coo: &raw mut coo,
        dense: &raw mut dense,
        index: &raw mut index,
        path: path.as_ptr().cast_mut(),
    };
    test(&|| {
        // Whatever the last call did to them.
        // SAFETY: all of them live, and nobody else uses them.
        unsafe {
            *arguments.scalar = zeroed();
            *arguments.vector = zeroed();
            *arguments.csr = zeroed();
            *arguments.coo = zeroed();
            *arguments.dense = zeroed();
        }
        Arguments {
            control: Control::new(&queue).forget(),
            solver: clsparseCreateSolverControl(0, 1, 0.5, 0.5).control,
            ..arguments
        }
    });
}

fn zeroed<T>() -> T {
    // SAFETY: only called for structures of numbers and pointers.
    unsafe { std::mem::zeroed() }
}

#[test]
fn there_are_67_functions_and_all_are_called_here() {
    let listed = include_str!("../../../../../crates/sparrow-clsparse/abi/symbols.txt");
    let mut called: Vec<_> = FUNCTIONS().into_iter().map(|(name, _, _)| name).collect();
    called.sort_unstable();
    assert_eq!(called.len(), 67);
    // Those that are known under another name where programs name shared virtual memory: svm.rs calls them.
    let (shared, listed): (Vec<_>, Vec<_>) = listed.lines().partition(|name| name.ends_with("Svm"));
    assert_eq!(shared.len(), 7);
    assert_eq!(called, listed);
}

#[test]
fn every_null_pointer_is_a_status() {
    with_arguments(|fresh| {
        for (name, pointers, call) in FUNCTIONS() {
            for null in 0..pointers {
                let arguments = fresh();
                let status = call(&Pointers { null, given: Cell::new(0) }, &arguments);
                // Four numbers of a version are asked for one by one.
                let is_allowed = name == "clsparseGetVersion";
                assert_eq!(status == Status::Success, is_allowed, "{name}, pointer {null}");
                release(&arguments);
            }
        }
    });
}

#[test]
fn structures_of_zeros_are_a_status() {
    with_arguments(|fresh| {
        for (name, _, call) in FUNCTIONS() {
            let arguments = fresh();
            let nothing_null = Pointers { null: usize::MAX, given: Cell::new(0) };
            let status = call(&nothing_null, &arguments);
            let computes = [
                "csrmv",
                "coomv",
                "csrmm",
                "SpGemm",
                "fromFile",
                "MetaCreate",
                "2coo",
                "2csr",
                "2dense",
                "cg",
                "bicgStab",
            ];
            if computes.iter().any(|end| name.ends_with(end)) {
                // No rows: nothing to do, or nothing to do it with.
                let expected = [
                    Status::Success,
                    Status::InvalidMemObj,
                    Status::InvalidFile,
                    Status::InvalidValue,
                ];
                assert!(expected.contains(&status), "{name}: {status:?}");
            }
            release(&arguments);
            clsparseSetup();
        }
    });
}

#[test]
fn nothing_is_absent() {
    with_arguments(|fresh| {
        for (name, _, call) in FUNCTIONS() {
            let arguments = fresh();
            let nothing_null = Pointers { null: usize::MAX, given: Cell::new(0) };
            let status = call(&nothing_null, &arguments);
            release(&arguments);
            clsparseSetup();
            assert_ne!(status, Status::NotImplemented, "{name}");
        }
    });
}

#[test]
fn handles_that_never_were_are_told() {
    let queue = queue();
    let control = Control::new(&queue);
    let never = ptr::without_provenance_mut(0xdead_beef);
    assert_eq!(clsparseEnableAsync(never, 1), Status::InvalidControlObject);
    assert_eq!(clsparseReleaseControl(never), Status::InvalidControlObject);
    assert_eq!(clsparseSolverPrintMode(never, 0), Status::InvalidSolverControlObject);
    let offsets = DeviceArray::upload_blocking(&queue, &[0u32, 1]).unwrap();
    let mut csr: clsparseCsrMatrix = zeroed();
    (csr.num_rows, csr.num_cols, csr.num_nonzeros) = (1, 1, 1);
    (csr.values, csr.col_indices, csr.row_pointer) = (raw(&offsets), raw(&offsets), raw(&offsets));
    csr.meta = never;
    // SAFETY: the structure lives.
    unsafe {
        assert_eq!(clsparseCsrMetaDelete(&raw mut csr), Status::StructInvalid);
        csr.meta = never;
        // As where nobody called Init: what was there before is taken for nothing.
        assert_eq!(clsparseCsrMetaCreate(&raw mut csr, control.0), Status::Success);
        assert_eq!(clsparseCsrMetaDelete(&raw mut csr), Status::Success);
    }
}

/// Ends what [`with_arguments`] made for one call.
fn release(arguments: &Arguments) {
    clsparseReleaseControl(arguments.control);
    clsparseReleaseSolverControl(arguments.solver);
}
