//! y = A x on a context, a queue and buffers of `opencl3`: lent to Sparrow, and used by `opencl3` again.

use std::ptr;

use opencl3::command_queue::CommandQueue;
use opencl3::context::Context;
use opencl3::device::{CL_DEVICE_TYPE_ALL, Device, get_all_devices};
use opencl3::memory::{Buffer, CL_MEM_READ_WRITE, ClMem};
use opencl3::types::CL_BLOCKING;
use sparrow::{BinaryCache, Csr, DeviceArray, Event, Matrix, Operands, Plan, PlanOptions};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // The application's own.
    let devices = get_all_devices(CL_DEVICE_TYPE_ALL)?;
    let device = Device::new(*devices.first().ok_or("no OpenCL device")?);
    let own_context = Context::from_device(&device)?;
    let own_queue = CommandQueue::create_default(&own_context, 0)?;
    let none = ptr::null_mut();
    // SAFETY: no host pointer is passed.
    let buffer = || unsafe { Buffer::<f32>::create(&own_context, CL_MEM_READ_WRITE, 5, none) };
    let (mut own_x, own_y, numbers) = (buffer()?, buffer()?, [1.0, 2.0, 3.0, 4.0, 5.0]);
    // SAFETY: the numbers live until the write has ended, which blocks.
    let written =
        unsafe { own_queue.enqueue_write_buffer(&mut own_x, CL_BLOCKING, 0, &numbers, &[])? };

    // Lent to Sparrow, which adds references of its own. SAFETY: the handles are valid and belong together.
    let context =
        unsafe { sparrow::Context::from_raw(own_context.get(), device.id(), BinaryCache::Default)? };
    let queue = unsafe { sparrow::Queue::from_raw(&context, own_queue.get())? };
    let x = unsafe { DeviceArray::<f32>::from_raw(own_x.get(), 0, 5)? };
    let mut y = unsafe { DeviceArray::<f32>::from_raw(own_y.get(), 0, 5)? };
    let wait = unsafe { [Event::retain(written.get())?] };

    let offsets = vec![0, 3, 5, 6, 8, 9];
    let columns = vec![0, 1, 4, 0, 1, 3, 2, 3, 0];
    let values = vec![4.0, -1.0, 3.0, -1.0, 5.0, 2.0, 2.0, 7.0, 3.0];
    let a: Csr<f32> = Csr::new(5, offsets, columns, values)?;
    let a = Matrix::upload_blocking(&queue, a.view())?;
    let plan = Plan::new_blocking(&queue, &a, &PlanOptions::default())?;
    let mut workspace = plan.workspace_blocking(&queue)?;
    let operands = Operands { alpha: 1.0.into(), a: &a, x: &x, beta: 0.0.into(), y: &mut y };
    let done = plan.launch(&queue, &mut workspace, operands, &wait)?;

    // And back: `opencl3` reads its own buffer, after the product's event.
    let mut result = [0.0; 5];
    // SAFETY: the event lives, and so does the result until it was read, which blocks.
    unsafe { own_queue.enqueue_read_buffer(&own_y, CL_BLOCKING, 0, &mut result, &[done.as_raw()])? };
    result.iter().for_each(|element| println!("{element}"));
    Ok(())
}
