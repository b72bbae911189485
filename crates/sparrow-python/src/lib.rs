//! Sparrow for Python: the extension module `sparrow._sparrow`, on which the package's few lines of Python stand.
//!
//! It computes nothing: behind the classes stand `sparrow::AnyMatrix`, `AnyPlan` and their like. What it adds is where
//! arrays come from (`host_array`, `cl_array`), which plan a product takes (`inner`, `pool`), and that the interpreter
//! goes on while a device works (`errors::detached`).
//!
//! **What unsafe code relies on**: a handle that an object of pyopencl's gives (`int_ptr`) is valid while the object is
//! held, a buffer of the buffer protocol stays where it is until it is released, and nobody writes an array that is being
//! multiplied. The last is the caller's, as everywhere in numpy.
#![expect(unsafe_code, reason = "handles of pyopencl's, and arrays of the interpreter's")]

mod alive;
mod batch;
mod batch_rows;
mod call;
mod cl_array;
mod cl_empty;
mod cl_product;
mod columns;
mod construct;
mod dense_product;
mod devices;
mod dtype;
mod errors;
mod fork;
mod functions;
mod home;
mod host_array;
mod host_memory;
mod host_product;
mod inner;
mod loader;
mod matrix;
mod matrix_methods;
mod multiply;
mod numpy;
mod numpy_module;
mod options;
mod plan;
mod pool;
mod relayout;
mod rows;
mod solution;
mod solver;
mod sparse_product;
mod values;

use pyo3::prelude::*;

/// The extension module below the package `sparrow`.
#[pymodule]
mod _sparrow {
    /// Of the package.
    #[pymodule_export]
    #[expect(non_upper_case_globals, reason = "the name is Python's")]
    const __version__: &str = env!("CARGO_PKG_VERSION");
    #[pymodule_export]
    use crate::batch::Batch;
    #[pymodule_export]
    use crate::devices::Device;
    #[pymodule_export]
    use crate::errors::DeviceError;
    #[pymodule_export]
    use crate::functions::{devices, read, set_default_device};
    #[pymodule_export]
    use crate::home::{_default_device, _follow_table, _user_table};
    #[pymodule_export]
    use crate::host_memory::_stage_all;
    #[pymodule_export]
    use crate::matrix::Matrix;
    #[pymodule_export]
    use crate::plan::Plan;
    #[pymodule_export]
    use crate::solution::Solution;
    #[pymodule_export]
    use crate::solver::{Solver, solve};
}
