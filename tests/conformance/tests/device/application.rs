//! An application that made its context, queue and buffers itself lends them and has them back.
#![expect(unsafe_code, reason = "stands for an application with raw handles of its own")]
#![expect(clippy::unwrap_used, reason = "a test panics when its claim is broken")]

use std::ffi::c_void;
use std::ptr;

use conformance::{
    Fixture, algorithms, check_product, device, eventually, options, queue, whole_device,
};
use opencl3::command_queue as cl_queue;
use opencl3::context::context as cl_context;
use opencl3::event as cl_event;
use opencl3::memory as cl_memory;
use opencl3::types;
use sparrow::{
    Accumulate, Algorithm, BinaryCache, Context, Csr, Device, DeviceArray, Event, Matrix, Operands,
    Plan, PlanOptions, Queue, Reordering, Variant,
};

const BLOCKING: u32 = 1;
const NON_BLOCKING: u32 = 0;

/// What the application has before it has heard of the library.
struct Application {
    device: types::cl_device_id,
    context: types::cl_context,
    queue: types::cl_command_queue,
    buffers: Vec<types::cl_mem>,
}

impl Application {
    fn new(out_of_order: bool) -> Self {
        let device = device().id().as_raw();
        let context =
            cl_context::create_context(&[device], ptr::null(), None, ptr::null_mut()).unwrap();
        let order = cl_queue::CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE;
        let properties = if out_of_order { order } else { 0 };
        // SAFETY: the device belongs to the context.
        let queue = unsafe { cl_queue::create_command_queue(context, device, properties) };
        Application { device, context, queue: queue.unwrap(), buffers: Vec::new() }
    }

    /// A buffer that holds `padding` elements of no meaning and then `data`.
    fn buffer<T: Copy>(&mut self, padding: &[T], data: &[T]) -> types::cl_mem {
        let content = [padding, data].concat();
        let bytes = size_of_val(&content[..]);
        // SAFETY: the context is valid; the content lives through the write, which blocks, and then is waited for: in a
        // queue out of order, what is enqueued next may not find it otherwise.
        unsafe {
            let flags = cl_memory::CL_MEM_READ_WRITE;
            let buffer =
                cl_memory::create_buffer(self.context, flags, bytes, ptr::null_mut()).unwrap();
            let data = content.as_ptr().cast::<c_void>();
            let (wait, none) = (0, ptr::null());
            let written = cl_queue::enqueue_write_buffer(
                self.queue, buffer, BLOCKING, 0, bytes, data, wait, none,
            );
            let written = written.unwrap();
            cl_event::wait_for_events(&[written]).unwrap();
            cl_event::release_event(written).unwrap();
            self.buffers.push(buffer);
            buffer
        }
    }

    /// Begins to write `data` over the buffer. The data must outlive the event.
    fn write_later(&self, buffer: types::cl_mem, data: &[f32]) -> types::cl_event {
        let (bytes, data) = (size_of_val(data), data.as_ptr().cast::<c_void>());
        // SAFETY: the caller keeps the data until the event is complete.
        let written = unsafe {
            cl_queue::enqueue_write_buffer(
                self.queue,
                buffer,
                NON_BLOCKING,
                0,
                bytes,
                data,
                0,
                ptr::null(),
            )
        };
        written.unwrap()
    }

    /// Reads the buffer from `byte_offset` on, after the events in `wait`.
    fn read(
        &self,
        buffer: types::cl_mem,
        byte_offset: usize,
        len: usize,
        wait: &[types::cl_event],
    ) -> Vec<f32> {
        let mut data = vec![0.0f32; len];
        // SAFETY: the data lives until the read has ended, which is waited for.
        unsafe {
            let read = cl_queue::enqueue_read_buffer(
                self.queue,
                buffer,
                NON_BLOCKING,
                byte_offset,
                4 * len,
                data.as_mut_ptr().cast(),
                wait.len() as u32,
                if wait.is_empty() { ptr::null() } else { wait.as_ptr() },
            );
            let read = read.unwrap();
            cl_event::wait_for_events(&[read]).unwrap();
            cl_event::release_event(read).unwrap();
        }
        data
    }

    /// References to the context, the queue and each buffer. Drivers count commands in a queue too.
    fn references(&self) -> (u32, u32, Vec<u32>) {
        let count =
            |bytes: Result<Vec<u8>, i32>| u32::from_ne_bytes(bytes.unwrap().try_into().unwrap());
        let buffers = self.buffers.iter().map(|&buffer| {
            cl_memory::get_mem_object_data(buffer, cl_memory::CL_MEM_REFERENCE_COUNT)
        });
        (
            count(cl_context::get_context_data(
                self.context,
                cl_context::CL_CONTEXT_REFERENCE_COUNT,
            )),
            count(cl_queue::get_command_queue_data(self.queue, cl_queue::CL_QUEUE_REFERENCE_COUNT)),
            buffers.map(count).collect(),
        )
    }
}

impl Drop for Application {
    fn drop(&mut self) {
        // SAFETY: the application's own references, each given up once.
        unsafe {
            for &buffer in &self.buffers {
                let _ = cl_memory::release_mem_object(buffer);
            }
            let _ = cl_queue::release_command_queue(self.queue);
            let _ = cl_context::release_context(self.context);
        }
    }
}

/// A small CSR and its right product.
fn problem() -> (Csr<f32>, Vec<f32>, Vec<f32>) {
    let offsets = vec![0, 2, 2, 5, 6];
    let columns = vec![0, 2, 0, 1, 2, 1];
    let values = vec![5.0, 1.0, 2.0, -3.0, 4.0, 0.5];
    let matrix = Csr::new(3, offsets, columns, values).unwrap();
    (matrix, vec![1.0, 2.0, 3.0], vec![8.0, 0.0, 8.0, 1.0])
}

/// One product on the application's objects, between commands of the application's.
fn multiply(application: &mut Application, algorithm: Algorithm, reordering: Reordering) {
    let (matrix, x, expected) = problem();
    let pattern = matrix.pattern();
    // Everything behind a few elements of something else.
    let offsets = application.buffer(&[77; 3], pattern.offsets());
    let columns = application.buffer(&[88; 1], pattern.columns());
    let values = application.buffer(&[f32::NAN; 5], matrix.values());
    // Whole buffers are written: Oclgrind takes the rest of a buffer written in part for uninitialised.
    let host_x = [&[f32::NAN; 3], &x[..]].concat();
    let x_buffer = application.buffer(&[f32::NAN; 3], &[f32::NAN; 3]);
    let y_buffer = application.buffer(&[-1.0; 7], &[f32::NAN; 5]);
    let before = application.references();
    {
        // SAFETY: the handles are the application's own and valid, the device the context's only one.
        let (context, queue) = unsafe {
            let context =
                Context::from_raw(application.context, application.device, BinaryCache::Default)
                    .unwrap();
            let queue = Queue::from_raw(&context, application.queue).unwrap();
            (context, queue)
        };
        assert_eq!(context.as_raw(), application.context);
        assert_eq!(queue.as_raw(), application.queue);
        assert_eq!(context.device().id().as_raw(), application.device);

        // SAFETY: buffers of this context that hold what was just written: a valid pattern.
        let (a, x, mut y) = unsafe {
            let offsets = DeviceArray::<u32>::from_raw(offsets, 12, 5).unwrap();
            let columns = DeviceArray::from_raw(columns, 4, 6).unwrap();
            let values = DeviceArray::<f32>::from_raw(values, 20, 6).unwrap();
            let a = Matrix::from_arrays_blocking(&queue, 3, offsets, columns, values).unwrap();
            let x = DeviceArray::from_raw(x_buffer, 12, 3).unwrap();
            (a, x, DeviceArray::from_raw(y_buffer, 28, 4).unwrap())
        };
        a.check_blocking(&queue).unwrap();
        let (memory, byte_offset) = y.memory();
        assert_eq!(memory.size_bytes().unwrap(), 48);
        assert_eq!(byte_offset, 28);
        // Small hyper-parameters: an adopted device has groups as large as it says, and memcheck follows each item.
        let own = options(algorithm, algorithm.spec().default_variant, Accumulate::Plain);
        let options = PlanOptions { reordering, ..own };
        let plan = Plan::new_blocking(&queue, &a, &options).unwrap();
        let mut workspace = plan.workspace_blocking(&queue).unwrap();

        // An event of the application's in the wait list, ours in the application's.
        let written = application.write_later(x_buffer, &host_x);
        // SAFETY: the event is valid, and the application keeps its reference.
        let waits_for = unsafe { Event::retain(written).unwrap() };
        let product = Operands { alpha: 1.0.into(), a: &a, x: &x, beta: 0.0.into(), y: &mut y };
        let event = plan.launch(&queue, &mut workspace, product, &[waits_for]).unwrap();
        let found = application.read(y_buffer, 28, 4, &[event.as_raw()]);
        assert_eq!(found, expected, "{algorithm}");
        let around = application.read(y_buffer, 0, 12, &[]);
        assert_eq!(around[..7], [-1.0; 7], "{algorithm} wrote before y");
        assert!(around[11].is_nan(), "{algorithm} wrote behind y");
        // SAFETY: the application's own reference.
        unsafe { cl_event::release_event(written).unwrap() };
        queue.finish_blocking().unwrap();
    }
    // A driver may show a command as complete a moment before it lets go of its arguments (PoCL).
    let is_back = || application.references().2 == before.2;
    assert!(eventually(is_back), "{algorithm} kept or lost references");
    // The application goes on as if nothing had been.
    assert_eq!(application.read(y_buffer, 28, 4, &[]), expected);
}

#[test]
fn an_applications_objects_are_used_in_place_and_given_back() {
    for algorithm in Algorithm::ALL {
        multiply(&mut Application::new(false), algorithm, Reordering::None);
    }
}

#[test]
fn an_applications_queue_may_be_out_of_order() {
    let mut application = Application::new(true);
    for algorithm in algorithms() {
        multiply(&mut application, algorithm, Reordering::None);
    }
    // Kernels of a launch that have nothing but events to come one after the other.
    multiply(&mut application, Algorithm::CsrAdaptive, Reordering::Clusters);
}

#[test]
fn adopted_objects_have_one_reference_more_until_they_are_dropped() {
    let application = Application::new(false);
    let (context_before, queue_before, _) = application.references();
    // SAFETY: the handles are the application's own and valid, the device the context's only one.
    let (context, queue) = unsafe {
        let (context, device) = (application.context, application.device);
        let context = Context::from_raw(context, device, BinaryCache::Off).unwrap();
        let queue = Queue::from_raw(&context, application.queue).unwrap();
        (context, queue)
    };
    let clones = (context.clone(), queue.clone());
    let during = application.references();
    assert_eq!((during.0, during.1), (context_before + 1, queue_before + 1));
    drop((clones, queue, context));
    let after = application.references();
    assert_eq!((after.0, after.1), (context_before, queue_before));
}

#[test]
fn an_adopted_device_says_of_itself_what_the_listed_one_says() {
    let listed = whole_device();
    // SAFETY: a listed device is a valid root device.
    let adopted = unsafe { Device::from_raw(listed.id().as_raw()).unwrap() };
    assert_eq!(adopted.traits(), listed.traits());
    assert_eq!(adopted.position(), "");
}

/// What the check says of a matrix of 2 rows and 4 columns that is borrowed from these arrays.
fn check_borrowed(offsets: &[u32], columns: &[u32]) -> Result<(), String> {
    let queue = queue();
    let values = vec![1.0f32; columns.len()];
    // SAFETY: no launch reads the arrays.
    let matrix = unsafe {
        Matrix::from_arrays_blocking(
            &queue,
            4,
            DeviceArray::upload_blocking(&queue, offsets).unwrap(),
            DeviceArray::upload_blocking(&queue, columns).unwrap(),
            DeviceArray::upload_blocking(&queue, &values).unwrap(),
        )
    };
    let matrix = matrix.map_err(|error| error.to_string())?;
    matrix.check_blocking(&queue).map_err(|error| error.to_string())
}

#[test]
fn the_check_of_borrowed_arrays_names_the_broken_invariant() {
    assert_eq!(check_borrowed(&[0, 1, 3], &[3, 0, 2]), Ok(()));
    let broken: [(&[u32], &[u32], &str); 5] = [
        (&[0, 1, 3], &[3, 4, 2], "column 4 of entry 1 is outside 0..4"),
        (&[1, 2, 3], &[3, 0, 2], "row offset 0 is 1 where"),
        (&[0, 3, 1], &[3, 0, 2], "row offset 2 is 1 where"),
        (&[0, 1, 2], &[3, 0, 2], "row offset 2 is 2 where"),
        (&[0, 1, 4], &[3, 0, 2], "row offset 2 is 4 where"),
    ];
    for (offsets, columns, expected) in broken {
        let message = check_borrowed(offsets, columns).unwrap_err();
        assert!(message.starts_with(expected), "{offsets:?} {columns:?}: {message}");
    }
    // What no check is needed for is refused at once.
    let message = check_borrowed(&[], &[]).unwrap_err();
    assert!(message.contains("row offsets has 0 elements"), "{message}");
}

#[test]
fn a_borrowed_matrix_multiplies_as_an_uploaded_one() {
    let queue = queue();
    let fixture = Fixture::<f32>::new(&queue, 1);
    let part = |array: &DeviceArray<u32>| array.slice(0..array.len()).unwrap();
    let values = fixture.a.values().slice(0..fixture.host.nnz()).unwrap();
    let (offsets, columns) = (part(fixture.a.offsets()), part(fixture.a.columns()));
    // SAFETY: the arrays of a matrix that was checked on the host.
    let a = unsafe {
        Matrix::from_arrays_blocking(&queue, fixture.host.cols(), offsets, columns, values)
    };
    let a = a.unwrap();
    assert_eq!(a.shape(), fixture.a.shape());
    let options = options(Algorithm::CsrAdaptive, Variant::Full, Accumulate::Plain);
    let plan = Plan::new_blocking(&queue, &a, &options).unwrap();
    let mut workspace = plan.workspace_blocking(&queue).unwrap();
    let mut y = fixture.poisoned_y(&queue);
    let (alpha, beta) = (1.0.into(), 0.0.into());
    let product = Operands { alpha, a: &a, x: &fixture.x, beta, y: &mut y };
    plan.launch(&queue, &mut workspace, product, &[]).unwrap().wait().unwrap();
    let y = y.read_blocking(&queue).unwrap();
    check_product(&fixture.host, 1.0, &fixture.host_x, 0.0, &y, &y, Accumulate::Plain);
}
