//! Sparrow for Python: the extension module `sparrow._sparrow`, on which the package's few lines of Python stand.
#![expect(unsafe_code, reason = "handles of pyopencl's, and arrays of the interpreter's")]

mod call;
mod cl_array;
mod cl_product;
mod construct;
mod dtype;
mod errors;
mod fork;
mod home;
mod host_array;
mod host_memory;
mod host_product;
mod inner;
mod loader;
mod matrix;
mod numpy;
mod pool;

use pyo3::prelude::*;

/// The extension module.
#[pymodule]
mod _sparrow {
    #[pymodule_export]
    use crate::errors::DeviceError;
    #[pymodule_export]
    use crate::matrix::Matrix;
}
