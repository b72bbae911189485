//! Sparse matrix products on every OpenCL device
