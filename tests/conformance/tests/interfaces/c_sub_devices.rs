//! `sparrow.h` from the side of an application that has a part of a device.
#![expect(unsafe_code, reason = "stands for an application in C")]

use std::ptr::{null, null_mut};

use conformance::c_application::*;
use conformance::{device, is_interpreter, say};
use opencl3::command_queue as cl_queue;
use opencl3::context::context as cl_context;
use opencl3::device as cl_device;
use sparrow_c::*;

use sparrow_status::SPARROW_STATUS_MISMATCH as MISMATCH;

#[test]
fn a_part_of_a_device_is_a_device() {
    if is_interpreter(&device()) {
        say("parts of a device: not applicable, Oclgrind has none and reports the question");
        return;
    }
    let whole = device().id().as_raw();
    let equally = [cl_device::CL_DEVICE_PARTITION_EQUALLY, 1, 0];
    let Ok(parts) = cl_device::create_sub_devices(whole, &equally) else {
        say("parts of a device: not applicable, it is not divided");
        return;
    };
    let part = parts[0];
    let offsets = OFFSETS.map(|offset| offset as u32);
    let context = cl_context::create_context(&[part], null(), None, null_mut()).unwrap();
    // SAFETY: everything is valid, and released once.
    unsafe {
        let queue = cl_queue::create_command_queue(context, part, 0).unwrap();
        let sparrow = made(|out| sparrow_context_from_device(context, part, null(), out));
        let csr = sparrow_csr_arrays {
            size: size_of::<sparrow_csr_arrays>(),
            rows: ROWS as u64,
            cols: COLS as u64,
            nnz: VALUES.len() as u64,
            value_type: SPARROW_VALUE_TYPE_F64,
            offset_type: SPARROW_OFFSET_TYPE_U32,
            offsets: offsets.as_ptr().cast(),
            columns: COLUMNS.as_ptr(),
            values: VALUES.as_ptr().cast(),
        };
        let a = made(|out| sparrow_matrix_upload_blocking(sparrow, queue, &raw const csr, out));
        let plan = made(|out| sparrow_plan_create_blocking(a, queue, null(), 0, null(), out));
        expect_success(sparrow_plan_release(plan));
        expect_success(sparrow_matrix_release(a));
        expect_success(sparrow_context_release(sparrow));
        cl_queue::release_command_queue(queue).unwrap();
        cl_context::release_context(context).unwrap();
        for part in parts {
            cl_device::release_device(part).unwrap();
        }
    }
    // Of another device it is none.
    let other = conformance::queue();
    let Ok(Some(foreign)) =
        sparrow::devices().map(|found| found.into_iter().find(|one| one.id().as_raw() != whole))
    else {
        say("a device of another context: not applicable, there is one device");
        return;
    };
    let mut sparrow = null_mut();
    // SAFETY: the context and the device are valid.
    let status = unsafe {
        let context = other.context().as_raw();
        sparrow_context_from_device(context, foreign.id().as_raw(), null(), &raw mut sparrow)
    };
    assert_eq!(refusal(status, MISMATCH), "the device is none of the 1 of the context");
}
