//! Every call to OpenCL fails in turn: a module a subject. Objects alive are counted in the whole process, so
//! these tests have one to themselves.

mod batched_faults;
mod c_faults;
mod convert_faults;
mod faults;
mod recording_faults;
mod solve_faults;
mod spgemm_faults;
mod spmm_faults;
mod vector_faults;
