//! A launch with nothing to do, which what others take is held against.

use cl_kernels::DeviceType;
use cl_kernels::launch_cost::{Arguments, ArgumentsOfFour, ArgumentsOfThree, LaunchCost, SOURCE};
use csr_core::ValueType;

use crate::launch::{Size, launch_next};
use crate::rates::measure_key;
use crate::raw::Kernel;
use crate::{DeviceArray, Queue, Result};

/// How many buffers a launch has. Drivers do something for each: on an H200, 0.4 us.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Buffers {
    /// As few as there can be.
    One,
    /// As an operation on vectors, element by element.
    Three,
    /// As a sum of vectors: with its result and its workspace.
    Four,
}

/// A kernel that does nothing, ready to launch.
#[derive(Debug)]
pub struct EmptyLaunch {
    buffers: Buffers,
    kernel: Kernel,
    /// One word each.
    arrays: [DeviceArray<u32>; 4],
    group_size: usize,
}

impl EmptyLaunch {
    /// Builds the kernel.
    ///
    /// # Errors
    /// A kernel that does not build, or the driver's own failure.
    pub fn new_blocking(queue: &Queue, buffers: Buffers) -> Result<Self> {
        let traits = queue.context().device().traits();
        let group_size = match traits.device_type {
            DeviceType::Cpu => 1,
            _ => 1 << traits.max_group_size.clamp(1, 64).ilog2(),
        };
        let parameters = LaunchCost { group_size: group_size as u32 };
        let key = measure_key(SOURCE, ValueType::F32, &parameters);
        let kernel = queue.context().program(&key)?.kernel(match buffers {
            Buffers::One => "launch_cost",
            Buffers::Three => "launch_cost_of_three",
            Buffers::Four => "launch_cost_of_four",
        })?;
        let word = || DeviceArray::upload_blocking(queue, &[0]);
        let arrays = [word()?, word()?, word()?, word()?];
        Ok(EmptyLaunch { buffers, kernel, arrays, group_size })
    }

    /// Enqueues one group, for which an event is made in a queue out of order alone.
    ///
    /// # Errors
    /// The driver's own failure.
    pub fn launch(&mut self, queue: &Queue) -> Result<()> {
        let [target, x, y, z] = &self.arrays;
        queue.context().check_array("the empty launch", target)?;
        let [target, x, y, z] = [target, x, y, z].map(|array| array.argument());
        let size = Size { groups: 1, group_size: self.group_size };
        let kernel = &mut self.kernel;
        // SAFETY: each array has the one word that the kernel would read or write.
        #[expect(unsafe_code, reason = "arguments and arrays are this module's own")]
        unsafe {
            match self.buffers {
                Buffers::One => launch_next(queue, kernel, &Arguments { busy: 1, target }, size),
                Buffers::Three => {
                    let arguments = ArgumentsOfThree { busy: 1, x, y, target };
                    launch_next(queue, kernel, &arguments, size)
                }
                Buffers::Four => {
                    let arguments = ArgumentsOfFour { busy: 1, x, y, z, target };
                    launch_next(queue, kernel, &arguments, size)
                }
            }
        }
    }
}
