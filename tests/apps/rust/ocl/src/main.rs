//! y = A x on a context, a queue and buffers of `ocl`: lent to Sparrow, and used by `ocl` again.

use ocl::ffi::c_void;
use ocl::{Buffer, Context, Device, Platform, Queue};
use sparrow::{BinaryCache, Csr, DeviceArray, Matrix, Operands, Plan, PlanOptions};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // The application's own.
    let platform = Platform::first()?;
    let device = Device::first(platform)?;
    let own_context = Context::builder().platform(platform).devices(device).build()?;
    let own_queue = Queue::new(&own_context, device, None)?;
    let buffer = |elements: &[f64]| {
        Buffer::builder().queue(own_queue.clone()).len(5).copy_host_slice(elements).build()
    };
    let (own_x, own_y) = (buffer(&[1.0, 2.0, 3.0, 4.0, 5.0])?, buffer(&[f64::NAN; 5])?);

    // Lent to Sparrow, which adds references of its own. SAFETY: the handles are valid and belong together.
    let raw = |pointer: *mut c_void| pointer.cast();
    let context = unsafe {
        let id = device.as_raw().cast();
        sparrow::Context::from_raw(raw(own_context.as_ptr()), id, BinaryCache::Default)?
    };
    let queue = unsafe { sparrow::Queue::from_raw(&context, raw(own_queue.as_ptr()))? };
    let x = unsafe { DeviceArray::<f64>::from_raw(raw(own_x.as_ptr()), 0, 5)? };
    let mut y = unsafe { DeviceArray::<f64>::from_raw(raw(own_y.as_ptr()), 0, 5)? };

    let offsets = vec![0, 3, 5, 6, 8, 9];
    let columns = vec![0, 1, 4, 0, 1, 3, 2, 3, 0];
    let values = vec![4.0, -1.0, 3.0, -1.0, 5.0, 2.0, 2.0, 7.0, 3.0];
    let a: Csr<f64> = Csr::new(5, offsets, columns, values)?;
    let a = Matrix::upload_blocking(&queue, a.view())?;
    let plan = Plan::new_blocking(&queue, &a, &PlanOptions::default())?;
    let mut workspace = plan.workspace_blocking(&queue)?;
    let operands = Operands { alpha: 1.0.into(), a: &a, x: &x, beta: 0.0.into(), y: &mut y };
    plan.launch(&queue, &mut workspace, operands, &[])?;

    // And back: `ocl` reads its own buffer in its own queue, after the product.
    let mut result = vec![0.0; 5];
    own_y.read(&mut result).enq()?;
    result.iter().for_each(|element| println!("{element}"));
    Ok(())
}
