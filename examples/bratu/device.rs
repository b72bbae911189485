//! What lies on the device: the application's buffers and kernels, and Sparrow's matrix over the same buffers.

use std::error::Error;

use opencl3::command_queue::CommandQueue;
use opencl3::context::Context as OwnContext;
use opencl3::device::Device as OwnDevice;
use opencl3::error_codes::ClError;
use opencl3::kernel::{ExecuteKernel, Kernel};
use opencl3::memory::{Buffer, CL_MEM_READ_WRITE, ClMem};
use opencl3::program::Program;
use opencl3::types::{CL_BLOCKING, cl_uint};
use sparrow::{
    BinaryCache, Context, Device, DeviceArray, Matrix, Operands, Plan, Queue, Workspace,
};

use crate::problem::Problem;

const VECTORS: &str = include_str!("vectors.cl");
const GROUP_SIZE: usize = 256;
/// Or more: on a CPU device the sums of a group cost more than its rows where these are few.
const ROWS_AN_ITEM: usize = 16;
/// Enough to fill a large GPU, and few enough for each group to add up what all of them found.
const MOST_GROUPS: usize = 512;

/// How far conjugate gradients are.
pub(crate) struct Progress {
    pub(crate) squared_norm: f64,
    /// p A p of the last step.
    pub(crate) curvature: f64,
    pub(crate) steps: usize,
}

pub(crate) struct OnDevice {
    problem: Problem,
    groups: usize,
    own_context: OwnContext,
    own_queue: CommandQueue,
    residual: Kernel,
    jacobian: Kernel,
    curvature: Kernel,
    advance: Kernel,
    turn: Kernel,
    enter: Kernel,
    leave: Kernel,
    u: Buffer<f64>,
    r: Buffer<f64>,
    p: Buffer<f64>,
    q: Buffer<f64>,
    /// Sums by group: of p q, and of r r before and after a step, which change places.
    pq: Buffer<f64>,
    rr: [Buffer<f64>; 2],
    progress: Buffer<f64>,
    /// The order of a plan's rows and columns that vectors are in while a linear system is solved, and u in it.
    ordered: Option<(Buffer<u32>, Buffer<f64>)>,
    diagonal: Buffer<u32>,
    values: Buffer<f64>,
    // Sparrow's view of the same.
    queue: Queue,
    matrix: Matrix<f64>,
    shared_p: DeviceArray<f64>,
    shared_q: DeviceArray<f64>,
}

impl OnDevice {
    pub(crate) fn new_blocking(problem: Problem, device: &Device) -> Result<Self, Box<dyn Error>> {
        let (laplacian, diagonals) = problem.laplacian()?;
        let (rows, nnz) = (laplacian.rows(), laplacian.nnz());
        let groups = rows.div_ceil(ROWS_AN_ITEM * GROUP_SIZE).min(MOST_GROUPS);

        // The application's own objects.
        let own_device = OwnDevice::new(device.id().as_raw());
        let own_context = OwnContext::from_device(&own_device)?;
        let own_queue = CommandQueue::create_default(&own_context, 0)?;
        let options = format!("-D GROUP_SIZE={GROUP_SIZE}");
        let program = Program::create_and_build_from_source(&own_context, VECTORS, &options)?;
        let buffer = |len| allocate::<f64>(&own_context, len);
        let (p, q, mut values) = (buffer(rows)?, buffer(rows)?, buffer(nnz)?);
        let mut diagonal = allocate::<u32>(&own_context, rows)?;
        // SAFETY: the vectors are as long as the buffers, and the calls block.
        unsafe {
            let of_laplacian = laplacian.values();
            own_queue.enqueue_write_buffer(&mut values, CL_BLOCKING, 0, of_laplacian, &[])?;
            own_queue.enqueue_write_buffer(&mut diagonal, CL_BLOCKING, 0, &diagonals, &[])?;
        }

        // Sparrow works in the same context and queue, on the same buffers.
        // SAFETY: the handles are valid and belong together, and the buffers hold as many numbers as said.
        let (queue, shared_p, shared_q, shared_values) = unsafe {
            let id = device.id().as_raw();
            let context = Context::from_raw(own_context.get(), id, BinaryCache::Default)?;
            let queue = Queue::from_raw(&context, own_queue.get())?;
            let p = DeviceArray::from_raw(p.get(), 0, rows)?;
            let q = DeviceArray::from_raw(q.get(), 0, rows)?;
            (queue, p, q, DeviceArray::from_raw(values.get(), 0, nnz)?)
        };
        let pattern = laplacian.view().pattern();
        let matrix = Matrix::from_pattern_blocking(&queue, pattern, shared_values)?;
        Ok(OnDevice {
            problem,
            groups,
            residual: Kernel::create(&program, "residual")?,
            jacobian: Kernel::create(&program, "jacobian")?,
            curvature: Kernel::create(&program, "curvature")?,
            advance: Kernel::create(&program, "advance")?,
            turn: Kernel::create(&program, "turn")?,
            enter: Kernel::create(&program, "enter_order")?,
            leave: Kernel::create(&program, "leave_order")?,
            ordered: None,
            u: buffer(rows)?,
            r: buffer(rows)?,
            p,
            q,
            pq: buffer(groups)?,
            rr: [buffer(groups)?, buffer(groups)?],
            progress: buffer(3)?,
            diagonal,
            values,
            own_context,
            own_queue,
            queue,
            matrix,
            shared_p,
            shared_q,
        })
    }

    pub(crate) fn problem(&self) -> Problem {
        self.problem
    }

    pub(crate) fn queue(&self) -> &Queue {
        &self.queue
    }

    pub(crate) fn matrix(&self) -> &Matrix<f64> {
        &self.matrix
    }

    /// From now on vectors are in this order while a linear system is solved; `None`: in the matrix's.
    pub(crate) fn take_order_blocking(&mut self, order: Option<&[u32]>) -> Result<(), ClError> {
        self.ordered = None;
        let Some(order) = order else { return Ok(()) };
        let mut rows = allocate::<u32>(&self.own_context, order.len())?;
        // SAFETY: the order is as long as the buffer, and the call blocks.
        unsafe { self.own_queue.enqueue_write_buffer(&mut rows, CL_BLOCKING, 0, order, &[])? };
        self.ordered = Some((rows, allocate::<f64>(&self.own_context, order.len())?));
        Ok(())
    }

    /// u = 0.
    pub(crate) fn reset_blocking(&mut self) -> Result<(), ClError> {
        let bytes = self.rows() as usize * size_of::<f64>();
        // SAFETY: the buffer has so many bytes, and the pattern outlives the wait.
        unsafe { self.own_queue.enqueue_fill_buffer(&mut self.u, &[0.0], 0, bytes, &[])? };
        self.own_queue.finish()
    }

    /// r = p = -F(u) on the device, ready for conjugate gradients; the norm of F.
    pub(crate) fn residual_blocking(&self) -> Result<f64, ClError> {
        let [rr, _] = &self.rr;
        let mut sums = vec![0.0; self.groups];
        // SAFETY: the arguments are those the kernel declares, and as long as it reads and writes; the vector is as
        // long as the buffer, and the read blocks.
        unsafe {
            let mut kernel = ExecuteKernel::new(&self.residual);
            kernel.set_arg(&(self.problem.edge as cl_uint)).set_arg(&self.problem.source());
            kernel.set_arg(&self.u).set_arg(&self.r).set_arg(&self.p).set_arg(rr);
            self.enqueue(kernel.set_arg(&self.progress))?;
            self.own_queue.enqueue_read_buffer(rr, CL_BLOCKING, 0, &mut sums, &[])?;
        }
        Ok(sums.iter().sum::<f64>().sqrt())
    }

    /// Writes the Jacobian's diagonal at u into the matrix's values, and says so to Sparrow.
    pub(crate) fn write_jacobian_blocking(&mut self) -> Result<(), ClError> {
        // SAFETY: as above; places of the diagonal are below the number of values.
        unsafe {
            let mut kernel = ExecuteKernel::new(&self.jacobian);
            kernel.set_arg(&self.rows()).set_arg(&self.problem.source()).set_arg(&self.u);
            self.enqueue(kernel.set_arg(&self.diagonal).set_arg(&self.values))?;
        }
        self.matrix.values_changed();
        self.own_queue.finish()
    }

    /// Enqueues q = A p.
    pub(crate) fn product(
        &mut self,
        plan: &Plan<f64>,
        workspace: &mut Workspace,
    ) -> Result<(), sparrow::Error> {
        let operands = Operands {
            alpha: 1.0.into(),
            a: &self.matrix,
            x: &self.shared_p,
            beta: 0.0.into(),
            y: &mut self.shared_q,
        };
        plan.launch(&self.queue, workspace, operands, &[])?;
        Ok(())
    }

    /// Enqueues what follows the product in step number `step`: new u, r and p.
    pub(crate) fn linear_step(&self, step: usize, target: f64) -> Result<(), ClError> {
        let [first, second] = &self.rr;
        let (before, after) =
            if step.is_multiple_of(2) { (first, second) } else { (second, first) };
        let rows = self.rows();
        let u = self.ordered.as_ref().map_or(&self.u, |(_, ordered_u)| ordered_u);
        // SAFETY: as above.
        unsafe {
            let mut kernel = ExecuteKernel::new(&self.curvature);
            self.enqueue(
                kernel.set_arg(&rows).set_arg(&self.p).set_arg(&self.q).set_arg(&self.pq),
            )?;
            let mut kernel = ExecuteKernel::new(&self.advance);
            kernel.set_arg(&rows).set_arg(&target).set_arg(&self.p).set_arg(&self.q);
            kernel.set_arg(&self.pq).set_arg(before).set_arg(u).set_arg(&self.r);
            self.enqueue(kernel.set_arg(after))?;
            let mut kernel = ExecuteKernel::new(&self.turn);
            kernel.set_arg(&rows).set_arg(&target).set_arg(&self.r).set_arg(&self.pq);
            kernel.set_arg(before).set_arg(after).set_arg(&self.p);
            self.enqueue(kernel.set_arg(&self.progress))
        }
    }

    /// Before a linear system is solved: vectors into the plan's order, where that is another.
    pub(crate) fn enter_order(&mut self) -> Result<(), ClError> {
        let Some((order, ordered_u)) = &self.ordered else { return Ok(()) };
        let bytes = self.rows() as usize * size_of::<f64>();
        // SAFETY: as above; the order has every row once. The queue is in order.
        unsafe {
            let mut kernel = ExecuteKernel::new(&self.enter);
            kernel.set_arg(&self.rows()).set_arg(order).set_arg(&self.r).set_arg(&self.u);
            self.enqueue(kernel.set_arg(&self.p).set_arg(ordered_u))?;
            self.own_queue.enqueue_copy_buffer(&self.p, &mut self.r, 0, 0, bytes, &[])?;
        }
        Ok(())
    }

    /// Once it is solved: u back into the matrix's order. Nothing else is looked at in that.
    pub(crate) fn leave_order(&self) -> Result<(), ClError> {
        let Some((order, ordered_u)) = &self.ordered else { return Ok(()) };
        // SAFETY: as above.
        unsafe {
            let mut kernel = ExecuteKernel::new(&self.leave);
            kernel.set_arg(&self.rows()).set_arg(order).set_arg(ordered_u);
            self.enqueue(kernel.set_arg(&self.u))
        }
    }

    /// Waits for all that was enqueued.
    pub(crate) fn progress_blocking(&self) -> Result<Progress, ClError> {
        let mut progress = [0.0; 3];
        // SAFETY: the array is as long as the buffer, and the call blocks.
        unsafe {
            let buffer = &self.progress;
            self.own_queue.enqueue_read_buffer(buffer, CL_BLOCKING, 0, &mut progress, &[])?;
        }
        let [squared_norm, curvature, steps] = progress;
        Ok(Progress { squared_norm, curvature, steps: steps as usize })
    }

    /// NaN where an element is.
    pub(crate) fn largest_u_blocking(&self) -> Result<f64, ClError> {
        let mut u = vec![0.0; self.problem.rows()];
        // SAFETY: the vector is as long as the buffer, and the call blocks.
        unsafe { self.own_queue.enqueue_read_buffer(&self.u, CL_BLOCKING, 0, &mut u, &[])? };
        let larger = |a: f64, b: f64| if b > a || b.is_nan() { b } else { a };
        Ok(u.into_iter().fold(f64::NEG_INFINITY, larger))
    }

    fn rows(&self) -> cl_uint {
        self.problem.rows() as cl_uint
    }

    /// # Safety
    /// The kernel has all its arguments, and they are as long as it reads and writes.
    unsafe fn enqueue(&self, kernel: &mut ExecuteKernel<'_>) -> Result<(), ClError> {
        kernel.set_global_work_size(self.groups * GROUP_SIZE).set_local_work_size(GROUP_SIZE);
        // SAFETY: the caller's promise.
        unsafe { kernel.enqueue_nd_range(&self.own_queue)? };
        Ok(())
    }
}

fn allocate<T>(context: &OwnContext, len: usize) -> Result<Buffer<T>, ClError> {
    // SAFETY: no host memory is given.
    unsafe { Buffer::create(context, CL_MEM_READ_WRITE, len, std::ptr::null_mut()) }
}
