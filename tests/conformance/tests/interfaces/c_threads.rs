//! `sparrow.h` from an application's side: what several threads share.
#![expect(unsafe_code, reason = "stands for an application in C")]

use std::ptr::{null, null_mut};

use conformance::c_application::*;
use sparrow_c::*;

use super::c_interface::release;

/// Whether only one thread may call the device's driver.
fn is_for_one_thread() -> bool {
    let is_interpreter = conformance::is_interpreter(&conformance::device());
    if is_interpreter {
        conformance::say(
            "skipped: Oclgrind 21.10 crashes when a second thread calls it, even in turn",
        );
    }
    is_interpreter
}

#[test]
pub(crate) fn threads_share_a_matrix_and_a_plan_and_have_their_own_workspaces_and_error_texts() {
    if is_for_one_thread() {
        return;
    }
    struct Shared(*mut sparrow_plan, *mut sparrow_matrix, [usize; 2]);
    // SAFETY: plans, matrices and queues may be used by several threads, which is what is tested.
    unsafe impl Sync for Shared {}
    let mut application = Application::new();
    let a = application.matrix::<f32, u32>();
    let (plan, workspace) = application.plan(a, &plan_options());
    let shared = Shared(plan, a, [application.context as usize, application.queue as usize]);
    let operands: Vec<_> = (0..4)
        .map(|thread| {
            let x = application.vector::<f32>(thread, &X.map(|n| n * (thread + 1) as f64));
            let y = application.vector::<f32>(thread, &[f64::NAN; 4]);
            [x, y].map(|buffer| (buffer.memory as usize, buffer.byte_offset))
        })
        .collect();
    let shared = &shared;
    std::thread::scope(|scope| {
        for operands in &operands {
            scope.spawn(move || {
                let [x, y] = operands.map(|(memory, byte_offset)| sparrow_buffer {
                    memory: memory as *mut _,
                    byte_offset,
                    svm: std::ptr::null_mut(),
                });
                let Shared(plan, a, [_, queue]) = shared;
                let queue = *queue as *mut _;
                assert_eq!(last_error(), "", "nothing has failed in this thread");
                // SAFETY: everything is valid; the workspace is this thread's.
                unsafe {
                    let own = made(|out| sparrow_plan_workspace_blocking(*plan, queue, out));
                    let product = product(by_value(1.0), *a, x, by_value(0.0), y);
                    for _ in 0..20 {
                        expect_success(sparrow_plan_launch_blocking(
                            *plan,
                            queue,
                            own,
                            &raw const product,
                            0,
                            null(),
                            null_mut(),
                        ));
                    }
                    let misplaced = sparrow_buffer {
                        memory: x.memory,
                        byte_offset: x.byte_offset + 1,
                        svm: std::ptr::null_mut(),
                    };
                    let wrong = sparrow_product { x: misplaced, ..product };
                    let invalid = sparrow_status::SPARROW_STATUS_INVALID_ARGUMENT;
                    let status = sparrow_plan_launch(
                        *plan,
                        queue,
                        own,
                        &raw const wrong,
                        0,
                        null(),
                        null_mut(),
                    );
                    let text = refusal(status, invalid);
                    assert!(text.contains(&format!("{} is not", x.byte_offset + 1)), "{text}");
                    expect_success(sparrow_workspace_release(own));
                }
            });
        }
    });
    for (thread, [_, (memory, byte_offset)]) in operands.into_iter().enumerate() {
        let y = sparrow_buffer { memory: memory as *mut _, byte_offset, svm: std::ptr::null_mut() };
        let expected = AX.map(|number| (number * (thread + 1) as f64) as f32);
        assert_eq!(application.read::<f32>(y, 4, null_mut()), expected);
    }
    assert_eq!(last_error(), "", "failures of other threads are theirs");
    release((plan, workspace), a);
}

#[test]
pub(crate) fn threads_that_share_a_workspace_take_turns() {
    if is_for_one_thread() {
        return;
    }
    struct Shared(*mut sparrow_plan, *mut sparrow_workspace, *mut sparrow_matrix, usize);
    // SAFETY: that they take turns is what is tested.
    unsafe impl Sync for Shared {}
    let mut application = Application::new();
    let a = application.matrix::<f32, u32>();
    let (plan, workspace) = application.plan(a, &plan_options());
    let shared = Shared(plan, workspace, a, application.queue as usize);
    let operands: Vec<_> = (0..2)
        .map(|_| {
            let (x, y) = (application.vector::<f32>(0, &X), application.vector::<f32>(0, &Y));
            [x.memory as usize, y.memory as usize]
        })
        .collect();
    let shared = &shared;
    std::thread::scope(|scope| {
        for operands in &operands {
            scope.spawn(move || {
                let [x, y] = operands.map(|memory| sparrow_buffer {
                    memory: memory as *mut _,
                    byte_offset: 0,
                    svm: std::ptr::null_mut(),
                });
                let Shared(plan, workspace, a, queue) = shared;
                let product = product(by_value(1.0), *a, x, by_value(0.0), y);
                for _ in 0..50 {
                    // SAFETY: everything is valid.
                    expect_success(unsafe {
                        let (queue, product) = (*queue as *mut _, &raw const product);
                        sparrow_plan_launch(
                            *plan,
                            queue,
                            *workspace,
                            product,
                            0,
                            null(),
                            null_mut(),
                        )
                    });
                }
            });
        }
    });
    for [_, memory] in operands {
        let y =
            sparrow_buffer { memory: memory as *mut _, byte_offset: 0, svm: std::ptr::null_mut() };
        assert_eq!(application.read::<f32>(y, 4, null_mut()), AX.map(|number| number as f32));
    }
    release((plan, workspace), a);
}
