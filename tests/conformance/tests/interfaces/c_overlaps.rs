//! `sparrow.h` from the side of an application whose operands share memory by one handle or another.
#![expect(unsafe_code, reason = "stands for an application in C")]
#![expect(clippy::unwrap_used, reason = "a test panics when its claim is broken")]

use std::ptr::{null, null_mut};

use conformance::c_application::*;
use conformance::device;
use opencl3::memory as cl_memory;
use opencl3::types::{cl_buffer_region, cl_mem};
use sparrow_c::*;

use sparrow_status::SPARROW_STATUS_MISMATCH as MISMATCH;

/// A part of `parent` from a byte on, which the caller releases.
fn sub_buffer(parent: cl_mem, origin: usize, size: usize) -> cl_mem {
    let region = cl_buffer_region { origin, size };
    let (flags, kind) = (cl_memory::CL_MEM_READ_WRITE, cl_memory::CL_BUFFER_CREATE_TYPE_REGION);
    // SAFETY: the buffer is valid, and the region lives through the call.
    unsafe {
        cl_memory::create_sub_buffer(parent, flags, kind, (&raw const region).cast()).unwrap()
    }
}

#[test]
fn a_y_over_x_alpha_beta_or_the_matrix_is_refused_and_one_after_x_is_right() {
    let mut application = Application::new();
    let buffers = application.csr::<f32, u32>();
    let a = application.over(&buffers);
    let on_device = sparrow_plan_options { scalars_on_device: 1, ..plan_options() };
    let (plan, workspace) = application.plan(a, &on_device);
    let queue = application.queue;
    let unit = device().traits().base_align_bytes as usize;
    let arena = application.vector::<f32>(0, &vec![0.0; unit]);
    let memory = arena.memory;
    let [first, second] = [0, 1].map(|index| sub_buffer(memory, index * unit, unit));
    let numbers = application.vector::<f32>(0, &[1.0, 0.0]);
    let of = |memory: cl_mem, element: usize| sparrow_buffer {
        memory,
        byte_offset: 4 * element as u64,
        svm: std::ptr::null_mut(),
    };
    let scalar = |device: sparrow_buffer| sparrow_scalar { value: 9.0, device };
    let (one, zero) = (scalar(numbers), scalar(of(numbers.memory, 1)));
    let launch = |product: &sparrow_product| {
        let mut event = null_mut();
        // SAFETY: everything is valid.
        let status = unsafe {
            sparrow_plan_launch(plan, queue, workspace, product, 0, null(), &raw mut event)
        };
        assert_eq!(event.is_null(), status != sparrow_status::SPARROW_STATUS_SUCCESS);
        (status, event)
    };
    let second_start = unit / 4;
    let cases = [
        (of(memory, 0), of(memory, 0)),
        (of(memory, 0), of(memory, 2)),
        (of(memory, 3), of(memory, 0)),
        (of(first, 0), of(memory, 1)),
        (of(memory, second_start + 1), of(second, 0)),
        (of(second, 1), of(memory, second_start + 3)),
    ];
    for (x, y) in cases {
        let text = refusal(launch(&product(one, a, x, zero, y)).0, MISMATCH);
        assert!(text.starts_with("x and y overlap (bytes "), "{text}");
    }
    let x = application.vector::<f32>(0, &X);
    let y = of(memory, 0);
    for (name, alpha, beta) in
        [("alpha", scalar(of(first, 3)), zero), ("beta", one, scalar(of(memory, 0)))]
    {
        let text = refusal(launch(&product(alpha, a, x, beta, y)).0, MISMATCH);
        assert!(text.starts_with(&format!("{name} and y overlap (bytes ")), "{text}");
    }
    for (name, y) in
        [("row offsets", buffers.offsets), ("columns", buffers.columns), ("values", buffers.values)]
    {
        let text = refusal(launch(&product(one, a, x, zero, y)).0, MISMATCH);
        assert!(text.starts_with(&format!("the matrix's {name} and y overlap (bytes ")), "{text}");
    }
    assert_eq!(application.read::<f32>(arena, 16, null_mut()), [0.0; 16]);

    // Next to each other in one buffer.
    let both = application.vector::<f32>(0, &[X[0], X[1], X[2], 0.0, 0.0, 0.0, 0.0]);
    let y = of(both.memory, 3);
    let (status, event) = launch(&product(one, a, both, zero, y));
    expect_success(status);
    let found: Vec<f32> = application.read(y, ROWS, event);
    assert_eq!(found, AX.map(|number| number as f32));
    // SAFETY: each is released once.
    unsafe {
        for part in [first, second] {
            cl_memory::release_mem_object(part).unwrap();
        }
        expect_success(sparrow_workspace_release(workspace));
        expect_success(sparrow_plan_release(plan));
        expect_success(sparrow_matrix_release(a));
    }
}

#[test]
fn two_buffers_over_one_memory_of_the_host_are_found_out() {
    let mut application = Application::new();
    let a = application.matrix::<f32, u32>();
    let (plan, workspace) = application.plan(a, &plan_options());
    let mut memory = vec![0u64; 1 << 12];
    let buffer = |memory: *mut u64| {
        let (flags, bytes) = (cl_memory::CL_MEM_USE_HOST_PTR, 1 << 14);
        // SAFETY: the memory is longer, and outlives the buffer.
        unsafe {
            cl_memory::create_buffer(application.context, flags, bytes, memory.cast()).unwrap()
        }
    };
    let (x, y) = (buffer(memory.as_mut_ptr()), buffer(memory[1..].as_mut_ptr()));
    let [x_there, y_there] =
        [x, y].map(|memory| sparrow_buffer { memory, byte_offset: 0, svm: std::ptr::null_mut() });
    let product = product(by_value(1.0), a, x_there, by_value(0.0), y_there);
    // SAFETY: everything is valid.
    unsafe {
        let queue = application.queue;
        let status =
            sparrow_plan_launch(plan, queue, workspace, &raw const product, 0, null(), null_mut());
        let text = refusal(status, MISMATCH);
        assert!(text.starts_with("x and y overlap (bytes "), "{text}");
        for buffer in [x, y] {
            cl_memory::release_mem_object(buffer).unwrap();
        }
        expect_success(sparrow_workspace_release(workspace));
        expect_success(sparrow_plan_release(plan));
        expect_success(sparrow_matrix_release(a));
    }
}

#[test]
fn parts_of_a_matrix_are_copied_to_buffers_that_lie_apart() {
    let mut application = Application::new();
    let buffers = application.csr::<f32, u32>();
    let a = application.over(&buffers);
    let target = application.buffer(0, &[0u32; 16]);
    let nowhere = NOWHERE;
    let parts = sparrow_matrix_parts {
        size: size_of::<sparrow_matrix_parts>(),
        offsets: nowhere,
        row_indices: nowhere,
        columns: nowhere,
        values: nowhere,
    };
    let refused = |parts: sparrow_matrix_parts| {
        let queue = application.queue;
        // SAFETY: everything is valid.
        let status = unsafe { sparrow_matrix_copy_blocking(a, queue, &raw const parts, 0, null()) };
        refusal(status, MISMATCH)
    };
    let after = sparrow_buffer { byte_offset: 16, ..target };
    let text = refused(sparrow_matrix_parts { offsets: target, columns: after, ..parts });
    assert!(text.starts_with("parts->offsets and parts->columns overlap (bytes "), "{text}");
    let text = refused(sparrow_matrix_parts { row_indices: buffers.columns, ..parts });
    assert!(text.starts_with("the matrix's columns and parts->row_indices overlap"), "{text}");
    assert_eq!(application.read::<u32>(target, 16, null_mut()), [0; 16]);
    // SAFETY: released once.
    unsafe { expect_success(sparrow_matrix_release(a)) };
}
