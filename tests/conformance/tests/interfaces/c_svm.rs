//! Every operation of `sparrow.h` takes its operands in shared virtual memory: the tests of buffers again, with all arrays
//! of the application there.
#![expect(unsafe_code, reason = "stands for an application in C")]

use std::ptr::{null, null_mut};

use conformance::c_application::*;
use sparrow_c::*;

/// A test of each of these names: the test of buffers it is called after, in shared virtual memory.
macro_rules! in_shared_memory {
    ($($module:ident: $($test:ident),+;)+) => {$(
        mod $module {
            $(
                #[test]
                fn $test() {
                    if conformance::c_application::has_shared_memory() {
                        conformance::c_application::in_shared_memory(crate::$module::$test);
                    }
                }
            )+
        }
    )+};
}

in_shared_memory! {
    c_interface: a_product_is_right_in_every_value_type_and_offset_type_at_odd_byte_offsets,
        alpha_and_beta_may_lie_on_the_device,
        each_algorithm_can_be_asked_for_by_name_with_parameters_and_says_what_it_is,
        the_blocking_product_tells_its_stages,
        the_transposed_product_takes_x_of_rows_and_gives_y_of_columns;
    c_batches: a_batch_is_right_with_numbers_by_value_one_on_the_device_and_one_for_each_problem,
        a_batch_shares_its_patterns_with_other_values;
    c_conversions: entries_in_any_order_become_a_matrix_its_transposed_and_dense_ones_and_come_back;
    c_dense: a_dense_product_is_right_in_both_layouts_with_leading_dimensions,
        a_dense_product_takes_a_b_of_16_bits,
        a_transposed_dense_product_is_right_and_takes_new_values;
    c_hyb: ell_entries_and_both_are_multiplied_where_they_lie_in_every_value_type,
        new_values_need_no_new_plan_and_alpha_and_beta_may_lie_on_the_device;
    c_solvers: both_methods_solve_in_every_type_and_say_how_it_went,
        b_may_be_where_x_is_and_new_values_are_seen;
    c_spgemm: a_matrix_times_its_transposed_is_right_in_parts_too;
    c_vectors: operations_on_dense_vectors_are_right_in_both_precisions;
}

/// The text of a product that must be refused.
fn refused(
    app: &Application,
    a: *const sparrow_matrix,
    (plan, workspace): (*mut sparrow_plan, *mut sparrow_workspace),
    [x, y]: [sparrow_buffer; 2],
    status: sparrow_status,
) -> String {
    let product = product(by_value(1.0), a, x, by_value(0.0), y);
    // SAFETY: everything is valid, or refused before it is followed.
    let launched = unsafe {
        let product = &raw const product;
        sparrow_plan_launch(plan, app.queue, workspace, product, 0, null(), null_mut())
    };
    refusal(launched, status)
}

#[test]
fn pointers_that_no_operand_can_be_are_refused_by_name() {
    if !has_shared_memory() {
        return;
    }
    in_shared_memory(|| {
        let mut app = Application::new();
        let a = app.matrix::<f32, u32>();
        let planned = app.plan(a, &plan_options());
        let (x, y) = (app.vector::<f32>(0, &X), app.vector::<f32>(0, &Y));
        let invalid = sparrow_status::SPARROW_STATUS_INVALID_ARGUMENT;
        let nothing = sparrow_buffer { svm: null_mut(), ..x };
        let text = refused(&app, a, planned, [nothing, y], invalid);
        assert_eq!(text, "product->x.memory and .svm are NULL, and 3 elements are needed");
        let odd = sparrow_buffer { svm: x.svm.wrapping_byte_add(2), ..x };
        let text = refused(&app, a, planned, [odd, y], invalid);
        let expected = format!(
            "product->x.svm and product->x.byte_offset make {:p}, and must make a multiple of 4",
            odd.svm
        );
        assert_eq!(text, expected);
        let both = sparrow_buffer { memory: x.svm, ..y };
        let text = refused(&app, a, planned, [x, both], invalid);
        assert_eq!(text, "product->y has both memory and svm, and one of them must be NULL");
        // Two pointers into one array.
        let later = sparrow_buffer { byte_offset: 4, ..x };
        let mismatch = sparrow_status::SPARROW_STATUS_MISMATCH;
        let text = refused(&app, a, planned, [x, later], mismatch);
        assert!(text.starts_with("x and y overlap"), "{text}");
        // SAFETY: each is released once.
        unsafe {
            expect_success(sparrow_workspace_release(planned.1));
            expect_success(sparrow_plan_release(planned.0));
            expect_success(sparrow_matrix_release(a));
        }
    });
}

#[test]
fn a_device_without_shared_memory_says_so() {
    let traits_have_it = conformance::device().traits().svm.coarse_grain_buffer;
    if traits_have_it {
        conformance::say("a device without shared virtual memory: not applicable, this one has it");
        return;
    }
    let mut app = Application::new();
    let a = app.matrix::<f32, u32>();
    let planned = app.plan(a, &plan_options());
    let y = app.vector::<f32>(0, &Y);
    let mut numbers = X.map(|x| x as f32);
    let x = sparrow_buffer { svm: numbers.as_mut_ptr().cast(), ..NOWHERE };
    let invalid = sparrow_status::SPARROW_STATUS_INVALID_ARGUMENT;
    let text = refused(&app, a, planned, [x, y], invalid);
    assert!(
        text.starts_with("product->x.svm is given, and ") && text.ends_with("memory"),
        "{text}"
    );
    // SAFETY: each is released once.
    unsafe {
        expect_success(sparrow_workspace_release(planned.1));
        expect_success(sparrow_plan_release(planned.0));
        expect_success(sparrow_matrix_release(a));
    }
}
