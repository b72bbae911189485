//! What plans that are made on the device leave for the next to work with; the context keeps it.

use cl_kernels::KernelKey;

use crate::DeviceArray;
use crate::raw::Kernel;

/// What cutting row blocks scribbles on, an eighth of a byte a row, and the kernel objects it sets up. The context
/// keeps it from one plan to the next.
#[derive(Debug)]
pub(crate) struct PlanWorkspace {
    /// That of the program.
    pub(crate) key: KernelKey,
    pub(crate) mark: Kernel,
    pub(crate) write: Kernel,
    /// Results, counts and begins, one after the other.
    pub(crate) words: DeviceArray<u32>,
}
