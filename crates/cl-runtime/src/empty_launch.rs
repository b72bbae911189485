//! A launch with nothing to do, which what others take is held against.

use cl_kernels::DeviceType;
use cl_kernels::launch_cost::{Arguments, LaunchCost, SOURCE};
use csr_core::ValueType;

use crate::launch::{Size, launch_next};
use crate::rates::measure_key;
use crate::raw::Kernel;
use crate::{DeviceArray, Queue, Result};

/// A kernel that does nothing, ready to launch.
#[derive(Debug)]
pub struct EmptyLaunch {
    kernel: Kernel,
    target: DeviceArray<u32>,
    group_size: usize,
}

impl EmptyLaunch {
    /// Builds the kernel.
    ///
    /// # Errors
    /// A kernel that does not build, or the driver's own failure.
    pub fn new_blocking(queue: &Queue) -> Result<Self> {
        let traits = queue.context().device().traits();
        let group_size = match traits.device_type {
            DeviceType::Cpu => 1,
            _ => 1 << traits.max_group_size.clamp(1, 64).ilog2(),
        };
        let parameters = LaunchCost { group_size: group_size as u32 };
        let key = measure_key(SOURCE, ValueType::F32, &parameters);
        let kernel = queue.context().program(&key)?.kernel("launch_cost")?;
        let target = DeviceArray::upload_blocking(queue, &[0])?;
        Ok(EmptyLaunch { kernel, target, group_size })
    }

    /// Enqueues one group, for which an event is made in a queue out of order alone.
    ///
    /// # Errors
    /// The driver's own failure.
    pub fn launch_unobserved(&mut self, queue: &Queue) -> Result<()> {
        queue.context().check_array("the empty launch", &self.target)?;
        let arguments = Arguments { busy: 1, target: self.target.argument() };
        let size = Size { groups: 1, group_size: self.group_size };
        // SAFETY: the target has the one word that the kernel would write.
        #[expect(unsafe_code, reason = "arguments and arrays are this module's own")]
        unsafe {
            launch_next(queue, &mut self.kernel, &arguments, size)
        }
    }
}
