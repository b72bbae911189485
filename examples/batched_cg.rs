//! Solves 1,000 small systems at once by conjugate gradients: `cargo run --release --example batched_cg`.
//!
//! Each is a heat equation on a 20 x 20 grid with a conductivity of its own: one pattern, many values. A step is two
//! launches: the batched product q = A p by Sparrow, and a kernel of this program that updates x, r and p of every
//! system, a work-group each. Both share the context, the queue and the buffers.

#![expect(clippy::print_stdout, reason = "an example shows its result")]
#![expect(unsafe_code, reason = "handles and a kernel of the application's own")]

use std::time::Instant;

use opencl3::command_queue::CommandQueue;
use opencl3::context::Context as OwnContext;
use opencl3::device::Device as OwnDevice;
use opencl3::kernel::{ExecuteKernel, Kernel};
use opencl3::memory::{Buffer, CL_MEM_COPY_HOST_PTR, CL_MEM_READ_WRITE, ClMem};
use opencl3::program::Program;
use opencl3::types::{CL_BLOCKING, cl_uint};
use sparrow::{
    Batch, BatchOperands, BatchOptions, BatchPlan, BinaryCache, ColumnWidth, Context, Csr, Device,
    DeviceArray, HostBatch, Queue,
};

/// Rows and columns of a grid.
const GRID: usize = 20;
const SYSTEMS: usize = 1000;
const MOST_STEPS: usize = 200;
/// Of the norm of b.
const TOLERANCE: f64 = 1e-8;

/// One group a system: r = p = b at first; then one step of conjugate gradients from q = A p.
const VECTORS: &str = "
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
double sum_of_group(double mine, local double *scratch)
{
    const uint item = get_local_id(0);
    scratch[item] = mine;
    for (uint half_width = 32; half_width > 0; half_width >>= 1) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (item < half_width)
            scratch[item] += scratch[item + half_width];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    const double sum = scratch[0];
    barrier(CLK_LOCAL_MEM_FENCE);
    return sum;
}

__attribute__((reqd_work_group_size(64, 1, 1)))
kernel void cg_step(const uint rows, global double *x, global double *r, global double *p,
                    global const double *q, global double *rr)
{
    local double scratch[64];
    const uint system = get_group_id(0);
    const size_t first = (size_t)system * rows;
    double pq = 0;
    for (uint row = get_local_id(0); row < rows; row += 64)
        pq += p[first + row] * q[first + row];
    pq = sum_of_group(pq, scratch);
    const double before = rr[system];
    // A system that is solved stays where it is.
    const double alpha = before > 0 && pq > 0 ? before / pq : 0;
    double after = 0;
    for (uint row = get_local_id(0); row < rows; row += 64) {
        x[first + row] += alpha * p[first + row];
        r[first + row] -= alpha * q[first + row];
        after += r[first + row] * r[first + row];
    }
    after = sum_of_group(after, scratch);
    const double beta = before > 0 ? after / before : 0;
    for (uint row = get_local_id(0); row < rows; row += 64)
        p[first + row] = r[first + row] + beta * p[first + row];
    if (get_local_id(0) == 0)
        rr[system] = after;
}
";

/// The five-point Laplacian of the grid.
fn laplacian() -> Result<Csr<f64>, sparrow::Error> {
    let (mut offsets, mut columns, mut values) = (vec![0u32], Vec::new(), Vec::new());
    for row in 0..GRID * GRID {
        let (line, place) = (row / GRID, row % GRID);
        let neighbours = [
            (line > 0, row.wrapping_sub(GRID), -1.0),
            (place > 0, row.wrapping_sub(1), -1.0),
            (true, row, 4.0),
            (place + 1 < GRID, row + 1, -1.0),
            (line + 1 < GRID, row + GRID, -1.0),
        ];
        for (_, column, value) in neighbours.into_iter().filter(|(is_there, _, _)| *is_there) {
            columns.push(column as u32);
            values.push(value);
        }
        offsets.push(columns.len() as u32);
    }
    Ok(Csr::new(GRID * GRID, offsets, columns, values)?)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let device = Device::best()?;
    if !device.traits().has_f64 {
        return Err(format!("{} has no double precision", device.traits().name).into());
    }
    let laplacian = laplacian()?;
    let (rows, nnz) = (laplacian.rows(), laplacian.nnz());
    let conductivity = |system: usize| 1.0 + system as f64 / SYSTEMS as f64;
    let values = |system| laplacian.values().iter().map(move |value| value * conductivity(system));
    let values: Vec<f64> = (0..SYSTEMS).flat_map(values).collect();
    let mut host = HostBatch::new();
    host.push_pattern(laplacian.view().pattern(), &values, SYSTEMS)?;

    // The application's own objects.
    let own_device = OwnDevice::new(device.id().as_raw());
    let own_context = OwnContext::from_device(&own_device)?;
    let own_queue = CommandQueue::create_default(&own_context, 0)?;
    let program = Program::create_and_build_from_source(&own_context, VECTORS, "")?;
    let cg_step = Kernel::create(&program, "cg_step")?;
    let filled = |len: usize, value: f64| -> Result<Buffer<f64>, opencl3::error_codes::ClError> {
        let mut data = vec![value; len];
        let flags = CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR;
        // SAFETY: OpenCL copies the data before it returns.
        unsafe { Buffer::create(&own_context, flags, len, data.as_mut_ptr().cast()) }
    };
    let all = SYSTEMS * rows;
    // x = 0, so r = p = b, which is 1 everywhere.
    let (x, r, p, q) = (filled(all, 0.0)?, filled(all, 1.0)?, filled(all, 1.0)?, filled(all, 0.0)?);
    let rr = filled(SYSTEMS, rows as f64)?;

    // Sparrow works in the same context and queue, on the same buffers.
    // SAFETY: the handles are valid and belong together, and p and q hold as many numbers as said.
    let (context, queue, shared_p, mut shared_q) = unsafe {
        let id = device.id().as_raw();
        let context = Context::from_raw(own_context.get(), id, BinaryCache::Default)?;
        let queue = Queue::from_raw(&context, own_queue.get())?;
        let p = DeviceArray::<f64>::from_raw(p.get(), 0, all)?;
        let q = DeviceArray::<f64>::from_raw(q.get(), 0, all)?;
        (context, queue, p, q)
    };
    let batch = Batch::upload_blocking(&queue, &host, ColumnWidth::Automatic)?;
    let plan = BatchPlan::new_blocking(&queue, &batch, &BatchOptions::default())?;
    let mut workspace = plan.workspace_blocking(&queue)?;
    let name = &context.device().traits().name;
    println!("{SYSTEMS} systems of {rows} rows and {nnz} nonzeros on {name}");

    let start = Instant::now();
    let mut norms = vec![0.0; SYSTEMS];
    let mut worst = f64::INFINITY;
    let mut steps = 0;
    while worst > TOLERANCE && steps < MOST_STEPS {
        // The queue is in order: the two launches of a step follow each other without a wait. Norms are looked at
        // now and then.
        for _ in 0..10 {
            let product = BatchOperands {
                alpha: 1.0.into(),
                a: &batch,
                x: &shared_p,
                beta: 0.0.into(),
                y: &mut shared_q,
            };
            plan.launch(&queue, &mut workspace, product, &[])?;
            // SAFETY: the arguments are those the kernel declares, and as long as it reads and writes.
            unsafe {
                ExecuteKernel::new(&cg_step)
                    .set_arg(&(rows as cl_uint))
                    .set_arg(&x)
                    .set_arg(&r)
                    .set_arg(&p)
                    .set_arg(&q)
                    .set_arg(&rr)
                    .set_global_work_size(SYSTEMS * 64)
                    .set_local_work_size(64)
                    .enqueue_nd_range(&own_queue)?;
            }
            steps += 1;
        }
        // SAFETY: the vector is as long as the buffer, and the call blocks.
        unsafe { own_queue.enqueue_read_buffer(&rr, CL_BLOCKING, 0, &mut norms, &[])? };
        let norm_of_b = (rows as f64).sqrt();
        worst = norms.iter().map(|norm| norm.sqrt() / norm_of_b).fold(0.0, f64::max);
    }
    let time = start.elapsed();
    println!(
        "{steps} steps, largest residual {worst:.1e} of b, {:.1} ms",
        time.as_secs_f64() * 1e3
    );

    // Held against the residual that the host computes.
    let mut solution = vec![0.0; all];
    // SAFETY: as above.
    unsafe { own_queue.enqueue_read_buffer(&x, CL_BLOCKING, 0, &mut solution, &[])? };
    for system in [0, SYSTEMS / 2, SYSTEMS - 1] {
        let x = &solution[system * rows..][..rows];
        let mut residual: f64 = 0.0;
        for row in 0..rows {
            let (columns, values) = laplacian.view().row(row);
            let products = columns.iter().zip(values).map(|(&column, a)| a * x[column as usize]);
            residual = residual.max((1.0 - conductivity(system) * products.sum::<f64>()).abs());
        }
        if residual > 1e-6 {
            return Err(format!("system {system} is off by {residual}").into());
        }
    }
    println!("three of the solutions held against A x = b on the host");
    Ok(())
}
