//! What programs for clSPARSE lean on: events, modes, contexts beside each other.

use std::ptr;

use cl_runtime::raw::fault::live;
use clSPARSE::{
    Status, clsparseCreateControl, clsparseCsrMetaCreate, clsparseCsrMetaDelete,
    clsparseCsrMetaSize, clsparseEnableAsync, clsparseGetEvent, clsparseGetVersion,
    clsparseInitCsrMatrix, clsparseReleaseControl, clsparseSetup, clsparseTeardown,
};
use conformance::{queue, queues_on_two_devices, say};
use sparrow::{DeviceArray, Event, Queue};

use super::problem::{Control, Problem, Real, matrices, raw};

#[test]
fn the_version_is_one_that_the_original_never_reached() {
    let mut numbers = [0; 4];
    let [major, minor, patch, tweak] = &mut numbers;
    // SAFETY: all of them live.
    assert_eq!(unsafe { clsparseGetVersion(major, minor, patch, tweak) }, Status::Success);
    assert!(numbers > [0, 10, 2, 0], "{numbers:?}");
}

#[test]
fn without_async_the_event_is_null_and_with_it_the_callers() {
    let queue = queue();
    let control = Control::new(&queue);
    let event = clsparseGetEvent(control.0);
    assert!(event.status == Status::Success && event.event.is_null(), "before any call");
    let (_, matrix) = matrices::<f32>().swap_remove(0);
    let problem = Problem::new(&queue, matrix.view(), 1.0, 0.0);
    assert_eq!(problem.multiply(&control, f32::CSRMV, &problem.csr()), Status::Success);
    assert!(clsparseGetEvent(control.0).event.is_null(), "synchronous");

    assert_eq!(clsparseEnableAsync(control.0, 1), Status::Success);
    assert_eq!(problem.multiply(&control, f32::CSRMV, &problem.csr()), Status::Success);
    let event = clsparseGetEvent(control.0);
    assert!(!event.event.is_null());
    // SAFETY: the event is this test's, whose reference goes over.
    let event = unsafe { Event::from_owned(event.event) };
    event.wait().unwrap();
    problem.check(1.0, 0.0, "async");

    assert_eq!(clsparseEnableAsync(control.0, 0), Status::Success);
    assert_eq!(problem.multiply(&control, f32::CSRMV, &problem.csr()), Status::Success);
    assert!(clsparseGetEvent(control.0).event.is_null(), "synchronous again");
}

#[test]
fn two_contexts_do_not_share_what_belongs_to_one() {
    let queues = [queue(), queue()];
    let controls = queues.each_ref().map(Control::new);
    let (_, matrix) = matrices::<f32>().swap_remove(0);
    let problems = queues.each_ref().map(|queue| Problem::new(queue, matrix.view(), 1.0, 0.0));
    for _ in 0..2 {
        for (problem, control) in problems.iter().zip(&controls) {
            assert_eq!(problem.multiply(control, f32::CSRMV, &problem.csr()), Status::Success);
            problem.check(1.0, 0.0, "two contexts");
        }
    }
    // Buffers, and a meta, of the other's.
    let status = problems[0].multiply(&controls[1], f32::CSRMV, &problems[0].csr());
    assert_eq!(status, Status::InvalidContext);
    let mut csr = problems[0].csr();
    // SAFETY: the structure lives.
    unsafe { clsparseCsrMetaCreate(&raw mut csr, controls[0].0) };
    let mut other = problems[1].csr();
    other.meta = csr.meta;
    let status = problems[1].multiply(&controls[1], f32::CSRMV, &other);
    assert_eq!(status, Status::InvalidContext);
    // SAFETY: as before.
    unsafe { clsparseCsrMetaDelete(&raw mut csr) };
}

#[test]
fn products_in_two_queues_share_a_meta() {
    let queue = queue();
    let second = Queue::new(queue.context()).unwrap();
    let (_, matrix) = matrices::<f32>().swap_remove(2);
    let problem = Problem::new(&queue, matrix.view(), 1.0, 0.0);
    let mut csr = problem.csr();
    let controls = [Control::new(&queue), Control::new(&second)];
    // SAFETY: the structure lives.
    unsafe { clsparseCsrMetaCreate(&raw mut csr, controls[0].0) };
    for control in controls.iter().cycle().take(6) {
        assert_eq!(problem.multiply(control, f32::CSRMV, &csr), Status::Success);
        problem.check(1.0, 0.0, "two queues and one meta");
    }
    // SAFETY: as before.
    unsafe { clsparseCsrMetaDelete(&raw mut csr) };
}

#[test]
fn a_meta_serves_every_device_of_its_context() {
    let Some(queues) = queues_on_two_devices() else {
        return say("one device that cannot be parted: no meta was used on two");
    };
    let (_, matrix) = matrices::<f32>().swap_remove(2);
    let problem = Problem::new(&queues[0], matrix.view(), 1.0, 0.0);
    let mut csr = problem.csr();
    let controls = queues.each_ref().map(Control::new);
    // SAFETY: the structure lives.
    let made = unsafe { clsparseCsrMetaCreate(&raw mut csr, controls[0].0) };
    assert_eq!(made, Status::Success);
    let nan = vec![f32::NAN; problem.y.len()];
    for control in controls.iter().rev().cycle().take(4) {
        let rows = problem.host.rows();
        let mut y = problem.y.slice(3..3 + rows).unwrap();
        y.write_blocking(&queues[0], &nan[..rows]).unwrap();
        assert_eq!(problem.multiply(control, f32::CSRMV, &csr), Status::Success);
        problem.check(1.0, 0.0, "two devices and one meta");
    }
    // SAFETY: as before.
    unsafe { clsparseCsrMetaDelete(&raw mut csr) };
}

#[test]
fn a_meta_is_made_without_a_kernel_and_its_first_product_plans() {
    let queue = queue();
    let control = Control::new(&queue);
    let (_, matrix) = matrices::<f32>().swap_remove(2);
    let problem = Problem::new(&queue, matrix.view(), 1.0, 0.0);
    let mut csr = problem.csr();
    let before = live();
    // SAFETY: the structure lives.
    unsafe {
        assert_eq!(clsparseCsrMetaCreate(&raw mut csr, control.0), Status::Success);
        assert_eq!((live().programs, live().memory), (before.programs, before.memory));
        assert_eq!(problem.multiply(&control, f32::CSRMV, &csr), Status::Success);
        problem.check(1.0, 0.0, "the first product of a meta");
        let built = live().programs;
        assert!(built > before.programs);
        assert_eq!(problem.multiply(&control, f32::CSRMV, &csr), Status::Success);
        assert_eq!(live().programs, built, "the second product built a program");
        assert_eq!(clsparseCsrMetaDelete(&raw mut csr), Status::Success);
    }
}

#[test]
fn a_meta_has_a_size_before_and_after_and_is_made_again() {
    let queue = queue();
    let control = Control::new(&queue);
    let (_, matrix) = matrices::<f32>().swap_remove(2);
    let problem = Problem::new(&queue, matrix.view(), 1.0, 0.0);
    let mut csr = problem.csr();
    // SAFETY: the structure lives.
    unsafe {
        let before = clsparseCsrMetaSize(&raw mut csr, control.0);
        assert!(before.status == Status::Success && before.metaSize > 0);
        assert!(csr.meta.is_null());
        clsparseCsrMetaCreate(&raw mut csr, control.0);
        let first = csr.meta;
        let after = clsparseCsrMetaSize(&raw mut csr, control.0);
        assert!(after.status == Status::Success && after.metaSize > 0);
        assert_eq!(clsparseCsrMetaCreate(&raw mut csr, control.0), Status::Success);
        assert_ne!(csr.meta, first);
        let made = csr.meta;
        clsparseInitCsrMatrix(&raw mut csr);
        assert!(csr.meta.is_null());
        // What Init left alone lives on.
        let mut again = problem.csr();
        again.meta = made;
        assert_eq!(problem.multiply(&control, f32::CSRMV, &again), Status::Success);
        assert_eq!(clsparseCsrMetaDelete(&raw mut again), Status::Success);
    }
}

#[test]
fn lengths_that_nobody_set_are_not_held_against_a_program() {
    let queue = queue();
    let control = Control::new(&queue);
    let (_, matrix) = matrices::<f32>().swap_remove(0);
    let problem = Problem::new(&queue, matrix.view(), 1.0, 0.0);
    let (alpha, beta, csr) = (problem.alpha(), problem.beta(), problem.csr());
    let (mut x, mut y) = (problem.x(), problem.y());
    (x.num_values, y.num_values) = (0, 0);
    // SAFETY: all of them live.
    let status = unsafe {
        f32::CSRMV(
            &raw const alpha,
            &raw const csr,
            &raw const x,
            &raw const beta,
            &raw mut y,
            control.0,
        )
    };
    assert_eq!(status, Status::Success);
    problem.check(1.0, 0.0, "no lengths");
}

#[test]
fn matrices_without_rows_are_nothing_to_do() {
    let queue = queue();
    let control = Control::new(&queue);
    let empty = sparrow::Csr::<f32>::new(4, vec![0], vec![], vec![]).unwrap();
    let problem = Problem::new(&queue, empty.view(), 1.0, 0.0);
    let mut csr = problem.csr();
    (csr.values, csr.col_indices, csr.row_pointer) =
        (ptr::null_mut(), ptr::null_mut(), ptr::null_mut());
    assert_eq!(problem.multiply(&control, f32::CSRMV, &csr), Status::Success);
    assert_eq!(problem.multiply(&control, f32::COOMV, &problem.coo()), Status::Success);
    problem.result();
}

#[test]
fn a_control_outlives_the_applications_queue_and_a_released_one_is_told() {
    let queue = queue();
    clsparseSetup();
    // SAFETY: the queue lives.
    let control = unsafe { clsparseCreateControl(queue.as_raw()) }.control;
    let (_, matrix) = matrices::<f32>().swap_remove(0);
    let problem = Problem::new(&queue, matrix.view(), 1.0, 0.0);
    let held = Control(control);
    drop(queue);
    assert_eq!(problem.multiply(&held, f32::CSRMV, &problem.csr()), Status::Success);
    assert_eq!(clsparseReleaseControl(control), Status::Success);
    assert_eq!(clsparseReleaseControl(control), Status::InvalidControlObject);
    let status = problem.multiply(&held, f32::CSRMV, &problem.csr());
    assert_eq!(status, Status::InvalidControlObject);
}

#[test]
fn a_buffer_too_small_is_told_whichever_it_is() {
    let queue = queue();
    let control = Control::new(&queue);
    let (_, matrix) = matrices::<f32>().swap_remove(0);
    let problem = Problem::new(&queue, matrix.view(), 1.0, 0.0);
    let small = DeviceArray::<f32>::allocate(queue.context(), 1).unwrap();
    let small = raw(&small);
    let whole = problem.csr();
    for csr in [
        clSPARSE::clsparseCsrMatrix { values: small, ..whole },
        clSPARSE::clsparseCsrMatrix { col_indices: small, ..whole },
        clSPARSE::clsparseCsrMatrix { row_pointer: small, ..whole },
        clSPARSE::clsparseCsrMatrix { num_rows: whole.num_rows + 9, ..whole },
        clSPARSE::clsparseCsrMatrix { num_cols: whole.num_cols + 9, ..whole },
        clSPARSE::clsparseCsrMatrix { num_nonzeros: whole.num_nonzeros + 9, ..whole },
        clSPARSE::clsparseCsrMatrix { off_values: u32::MAX, ..whole },
        clSPARSE::clsparseCsrMatrix { off_row_pointer: u32::MAX, ..whole },
    ] {
        assert_eq!(problem.multiply(&control, f32::CSRMV, &csr), Status::InvalidSize);
    }
    assert_eq!(problem.multiply(&control, f32::CSRMV, &whole), Status::Success);
}

/// The one test that tears down, and no other runs meanwhile: device tests are serial.
#[test]
fn nothing_computes_before_it_is_set_up() {
    let queue = queue();
    let control = Control::new(&queue);
    let (_, matrix) = matrices::<f32>().swap_remove(0);
    let problem = Problem::new(&queue, matrix.view(), 1.0, 0.0);
    assert_eq!(clsparseTeardown(), Status::Success);
    assert_eq!(clsparseTeardown(), Status::Success);
    let status = problem.multiply(&control, f32::CSRMV, &problem.csr());
    assert_eq!(status, Status::NotInitialized);
    assert_eq!(clsparseSetup(), Status::Success);
    assert_eq!(problem.multiply(&control, f32::CSRMV, &problem.csr()), Status::Success);
}
