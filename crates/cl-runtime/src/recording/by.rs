//! In which of the two ways a recording is replayed.

use cl_kernels::DeviceType;

use crate::raw::{CommandBuffer, CommandBufferSupport, Kernel};
use crate::recorder::Noting;
use crate::{Error, Queue, Result};

/// How a recording is replayed. What comes out is the same, bit for bit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Replay {
    /// By a command buffer where the device has them and is no CPU, else launch by launch. Of the CPU runtimes that have
    /// command buffers (PoCL, Intel's) none runs one in less time than its launches one by one.
    #[default]
    Automatic,
    /// By a command buffer of the driver's (`cl_khr_command_buffer`).
    CommandBuffer,
    /// Launch by launch, with nothing between them.
    Launches,
}

/// The command buffer, where there is to be one, and why.
pub(super) fn buffer(
    queue: &Queue,
    kernels: &[Kernel],
    launches: &[Noting],
    replay: Replay,
) -> Result<(Option<CommandBuffer>, String)> {
    let one_by_one = |why: String| Ok((None, format!("launches one by one: {why}")));
    let device = queue.context().device();
    let name = &device.traits().name;
    match replay {
        Replay::Launches => return one_by_one("asked for".to_owned()),
        Replay::Automatic if launches.is_empty() => return one_by_one("there are none".to_owned()),
        Replay::Automatic if device.traits().device_type == DeviceType::Cpu => {
            return one_by_one(format!("{name} is a CPU"));
        }
        Replay::Automatic | Replay::CommandBuffer => {}
    }
    let is_asked = replay == Replay::CommandBuffer;
    let support = match queue.is_in_order() {
        true => CommandBufferSupport::of(device.id(), queue.handle()),
        false => Err("would run them in any order in a queue out of order".to_owned()),
    };
    let support = match support {
        Ok(support) => support,
        Err(why) if is_asked => {
            let text = format!("no command buffer replays the recording: {name} {why}");
            return Err(Error::Incompatible(text));
        }
        Err(why) => return one_by_one(format!("{name} {why}")),
    };
    match record(queue, kernels, launches, &support) {
        Ok(buffer) => {
            let why = if is_asked { "asked for" } else { "the device has them" };
            Ok((Some(buffer), format!("a command buffer: {why}")))
        }
        Err(error) if is_asked => Err(error),
        Err(error) => {
            tracing::warn!(%error, "a command buffer cannot be recorded; launches are replayed one by one");
            one_by_one(format!("recording a command buffer failed, {error}"))
        }
    }
}

/// The launches in a command buffer.
fn record(
    queue: &Queue,
    kernels: &[Kernel],
    launches: &[Noting],
    support: &CommandBufferSupport,
) -> Result<CommandBuffer> {
    let mut buffer = CommandBuffer::create(queue.handle(), support)?;
    for Noting { kernel, size, .. } in launches {
        // SAFETY: arguments were set when the launch was noted, whose caller has promised the memory; the recording keeps it
        // and the kernels for longer than the buffer.
        #[expect(unsafe_code, reason = "the promise of the launch that was noted")]
        unsafe {
            buffer.record(&kernels[*kernel], size.groups, size.group_size)?;
        }
    }
    buffer.finalize()?;
    Ok(buffer)
}
