//! `sparrow.h` from a careless application's side: a status and a text that names what was wrong, never a crash.
#![expect(unsafe_code, reason = "stands for an application in C")]
#![expect(clippy::unwrap_used, reason = "a test panics when its claim is broken")]

mod functions;
mod valid;

use std::collections::BTreeSet;
use std::ffi::CString;
use std::ptr::{null, null_mut};

use conformance::c_application::{self, *};
use sparrow_c::*;

use functions::*;
use valid::*;

use sparrow_status::SPARROW_STATUS_INVALID_ARGUMENT as INVALID;
use sparrow_status::SPARROW_STATUS_INVALID_MATRIX as INVALID_MATRIX;
use sparrow_status::SPARROW_STATUS_MISMATCH as MISMATCH;

#[test]
fn every_function_with_every_pointer_null_in_turn_gives_a_status_that_names_it() {
    let valid = Valid::new();
    for &(function, pointers, call) in FUNCTIONS {
        for (place, name) in pointers.iter().enumerate() {
            let status = call(&valid, Null(place));
            match name.strip_suffix('?') {
                Some(_) => expect_success(status),
                None => {
                    assert_eq!(status, INVALID, "{function}, {name}");
                    assert_eq!(last_error(), format!("{name} is NULL"), "{function}");
                }
            }
        }
        assert_eq!(
            call(&valid, Null(usize::MAX)),
            sparrow_status::SPARROW_STATUS_SUCCESS,
            "{function}"
        );
    }
}

#[test]
fn the_table_of_functions_has_every_symbol_that_is_exported() {
    let symbols = include_str!("../../../../../crates/sparrow-capi/abi/symbols.txt");
    let told =
        ["version_number", "version_text", "status_name", "last_error", "last_opencl_status"];
    let expected: BTreeSet<_> = symbols
        .lines()
        .filter(|name| !name.ends_with("_release") && !told.iter().any(|end| name.ends_with(end)))
        .collect();
    let table: BTreeSet<_> = FUNCTIONS.iter().map(|(name, _, _)| *name).collect();
    assert_eq!(table, expected);
}

#[test]
fn buffers_and_wait_lists_that_are_null_are_named() {
    let valid = Valid::new();
    let csr = valid.csr;
    let needed = |buffers: sparrow_csr_buffers| valid.matrix_refusal(&buffers, INVALID);
    assert_eq!(
        needed(sparrow_csr_buffers { offsets: NOWHERE, ..csr }),
        "buffers->offsets.memory and .svm are NULL, and 5 elements are needed"
    );
    assert_eq!(
        needed(sparrow_csr_buffers { columns: NOWHERE, ..csr }),
        "buffers->columns.memory and .svm are NULL, and 5 elements are needed"
    );
    assert_eq!(
        needed(sparrow_csr_buffers { values: NOWHERE, ..csr }),
        "buffers->values.memory and .svm are NULL, and 5 elements are needed"
    );
    let launch = |product| refusal(valid.launch(&product), INVALID);
    let right = valid.product;
    let text = launch(sparrow_product { x: NOWHERE, ..right });
    assert_eq!(text, "product->x.memory and .svm are NULL, and 3 elements are needed");
    let text = launch(sparrow_product { y: NOWHERE, ..right });
    assert_eq!(text, "product->y.memory and .svm are NULL, and 4 elements are needed");
    assert_eq!(launch(sparrow_product { a: null(), ..right }), "product->a is NULL");
    let queue = valid.application.queue;
    // SAFETY: everything is valid but the lists.
    unsafe {
        let status = sparrow_matrix_check_blocking(valid.matrix, queue, 2, null());
        let text = refusal(status, INVALID);
        assert_eq!(text, "event_wait_list is NULL, and num_events_in_wait_list is 2");
        let none = [null_mut()];
        let status = sparrow_matrix_check_blocking(valid.matrix, queue, 1, none.as_ptr());
        assert_eq!(refusal(status, INVALID), "event_wait_list[0] is NULL");
    }
}

#[test]
fn a_struct_of_another_size_is_refused_and_left_alone() {
    let valid = Valid::new();
    // None of them is the size of any struct.
    for size in [0, 4, size_of::<sparrow_product>() - 1, 1000, usize::MAX] {
        let text = refusal(valid.launch(&sparrow_product { size, ..valid.product }), INVALID);
        assert!(text.starts_with(&format!("product->size is {size}, and sparrow_product has")));
        let text = valid.plan_refusal(&sparrow_plan_options { size, ..plan_options() }, INVALID);
        assert!(text.starts_with(&format!("options->size is {size}, and")), "{text}");
        let text = valid.matrix_refusal(&sparrow_csr_buffers { size, ..valid.csr }, INVALID);
        assert!(text.starts_with(&format!("buffers->size is {size}, and")), "{text}");
        let mut info = sparrow_matrix_info { size, ..empty_matrix_info() };
        // SAFETY: the matrix is valid.
        let status = unsafe { sparrow_matrix_get_info(valid.matrix, &raw mut info) };
        refusal(status, INVALID);
        assert_eq!((info.size, info.rows), (size, 0));
    }
}

#[test]
fn numbers_that_stand_for_nothing_are_refused_with_those_that_do() {
    let valid = Valid::new();
    let csr = valid.csr;
    let matrix = |buffers: sparrow_csr_buffers| valid.matrix_refusal(&buffers, INVALID);
    let text = matrix(sparrow_csr_buffers { value_type: 0, ..csr });
    assert!(text.starts_with("buffers->value_type is 0, and none of SPARROW_VALUE_TYPE_F32 (1)"));
    let text = matrix(sparrow_csr_buffers { offset_type: 3, ..csr });
    assert!(text.starts_with("buffers->offset_type is 3, and none of"), "{text}");
    let text = matrix(sparrow_csr_buffers { rows: u64::MAX, ..csr });
    assert_eq!(text, "buffers->rows is 18446744073709551615, above the limit of 4294967295");
    let text = matrix(sparrow_csr_buffers { cols: 1 << 32, ..csr });
    assert_eq!(text, "buffers->cols is 4294967296, above the limit of 4294967295");
    let text = matrix(sparrow_csr_buffers { nnz: 1 << 32, ..csr });
    assert_eq!(text, "nnz is 4294967296, above the limit of 4294967295 of u32 offsets");
    let plan = |options: sparrow_plan_options| valid.plan_refusal(&options, INVALID);
    let default = plan_options();
    assert!(
        plan(sparrow_plan_options { products: 3, ..default }).contains("options->products is 3")
    );
    let text = plan(sparrow_plan_options { accumulate: 2, ..default });
    assert!(text.contains("options->accumulate is 2"), "{text}");
    let text = plan(sparrow_plan_options { operation: 2, ..default });
    assert!(text.contains("options->operation is 2"), "{text}");
    assert!(
        plan(sparrow_plan_options { planning: 9, ..default }).contains("options->planning is 9")
    );
    let text = plan(sparrow_plan_options { scalars_on_device: 7, ..default });
    assert_eq!(text, "options->scalars_on_device is 7, and must be 0 or 1");
}

#[test]
fn names_that_nothing_has_are_refused_with_those_there_are() {
    let valid = Valid::new();
    let default = plan_options();
    let plan = |options: sparrow_plan_options| valid.plan_refusal(&options, INVALID);
    let text = plan(sparrow_plan_options { algorithm: c"merge_path".as_ptr(), ..default });
    assert!(text.starts_with("options->algorithm: algorithm \"merge_path\" is none of csr_scalar"));
    let text = plan(sparrow_plan_options { algorithm: c"\xff".as_ptr(), ..default });
    assert!(text.starts_with("options->algorithm is no UTF-8"), "{text}");
    let scalar = sparrow_plan_options { algorithm: c"csr_scalar".as_ptr(), ..default };
    let text = plan(sparrow_plan_options { variant: c"spin".as_ptr(), ..scalar });
    assert!(text.contains("csr_scalar has none, and \"spin\" was asked for"), "{text}");
    let text = plan(sparrow_plan_options { parameters: c"group_size".as_ptr(), ..scalar });
    assert!(text.contains("\"group_size\" is not NAME=VALUE"), "{text}");
    let parameter = sparrow_status::SPARROW_STATUS_INVALID_PARAMETER;
    let unknown = sparrow_plan_options { parameters: c"speed=9".as_ptr(), ..scalar };
    assert!(valid.plan_refusal(&unknown, parameter).contains("speed"));
    let huge = sparrow_plan_options { parameters: c"group_size=1048576".as_ptr(), ..scalar };
    assert!(valid.plan_refusal(&huge, parameter).contains("1048576"));
    let file = sparrow_status::SPARROW_STATUS_INVALID_FILE;
    let absent = sparrow_plan_options { device_table: c"no/such/table.toml".as_ptr(), ..default };
    let text = valid.plan_refusal(&absent, file);
    assert!(text.starts_with("device table no/such/table.toml: "), "{text}");
}

#[test]
fn buffers_that_are_too_small_or_misplaced_are_refused_with_their_sizes() {
    let valid = Valid::new();
    let moved = |buffer: sparrow_buffer, bytes: u64| sparrow_buffer {
        byte_offset: buffer.byte_offset + bytes,
        ..buffer
    };
    let right = valid.product;
    let text = refusal(valid.launch(&sparrow_product { y: moved(right.y, 4), ..right }), INVALID);
    assert!(text.starts_with("product->y: the length of an array: 4 is not allowed, 4 elements of 4 bytes from byte 8 on end beyond the buffer's 20 bytes"), "{text}");
    let text = refusal(valid.launch(&sparrow_product { x: moved(right.x, 2), ..right }), INVALID);
    assert!(text.contains("product->x: the byte offset of an array: 6 is not allowed"), "{text}");
    let far = sparrow_buffer { byte_offset: u64::MAX - 3, ..right.x };
    refusal(valid.launch(&sparrow_product { x: far, ..right }), INVALID);
    let text = valid.matrix_refusal(&sparrow_csr_buffers { nnz: 6, ..valid.csr }, INVALID);
    assert!(text.starts_with("buffers->columns: the length of an array: 6"), "{text}");
    let text = valid.matrix_refusal(&sparrow_csr_buffers { rows: 5, ..valid.csr }, INVALID);
    assert!(text.starts_with("buffers->offsets: the length of an array: 6"), "{text}");
}

#[test]
fn a_finite_number_beyond_float_is_refused_and_an_infinite_one_is_not() {
    let valid = Valid::new();
    let by_value = |value| sparrow_scalar { value, ..valid.product.alpha };
    let product = sparrow_product { alpha: by_value(-1e300), ..valid.product };
    let text = refusal(valid.launch(&product), INVALID);
    assert_eq!(
        text,
        "product->alpha.value: -1e300 is beyond the largest f32, 3.4028234663852886e38"
    );
    let product = sparrow_product { beta: by_value(3.5e38), ..valid.product };
    assert!(refusal(valid.launch(&product), INVALID).starts_with("product->beta.value: 3.5e38"));
    expect_success(
        valid.launch(&sparrow_product { alpha: by_value(f64::INFINITY), ..valid.product }),
    );
}

#[test]
fn objects_of_another_context_plan_or_pattern_are_refused() {
    let mut valid = Valid::new();
    let mut other = Valid::new();
    let right = valid.product;
    let launch = |product| refusal(valid.launch(&product), MISMATCH);
    let text = launch(sparrow_product { x: other.product.x, ..right });
    assert_eq!(text, "product->x belongs to another context than the one it is used in");
    let text = launch(sparrow_product { y: other.product.y, ..right });
    assert_eq!(text, "product->y belongs to another context than the one it is used in");
    let text = launch(sparrow_product { a: other.matrix, ..right });
    assert_eq!(text, "the matrix does not share the pattern the plan was made for");
    let foreign = sparrow_csr_buffers { values: other.csr.values, ..valid.csr };
    let text = valid.matrix_refusal(&foreign, MISMATCH);
    assert_eq!(text, "buffers->values belongs to another context than the one it is used in");
    let (own, product) = (valid.application.queue, &raw const valid.product);
    // SAFETY: everything is valid, but does not belong together.
    unsafe {
        let (queue, workspace) = (other.application.queue, valid.workspace);
        let status =
            sparrow_plan_launch(valid.plan, queue, workspace, product, 0, null(), null_mut());
        let text = refusal(status, MISMATCH);
        assert_eq!(text, "the queue belongs to another context than the one given");
        let workspace = valid.spmm_workspace;
        let status =
            sparrow_plan_launch(valid.plan, own, workspace, product, 0, null(), null_mut());
        let text = refusal(status, MISMATCH);
        assert!(text.contains("made by another plan"), "{text}");
    }
    let doubles = other.application.matrix::<f32, u64>();
    let text = refusal(valid.launch(&sparrow_product { a: doubles, ..right }), MISMATCH);
    assert!(text.starts_with("the matrix stores f32 with offsets of u64, and the plan"), "{text}");
    let on_device = valid.application.vector::<f32>(0, &[1.0]);
    let alpha = sparrow_scalar { value: 0.0, device: on_device };
    let text = refusal(valid.launch(&sparrow_product { alpha, ..right }), MISMATCH);
    assert!(text.contains("scalars_on_device"), "{text}");
    // SAFETY: released once.
    expect_success(unsafe { sparrow_matrix_release(doubles) });
}

#[test]
fn what_host_arrays_break_is_named_with_its_place() {
    let valid = Valid::new();
    let upload = |arrays: sparrow_csr_arrays, status| {
        let mut matrix = null_mut();
        let (context, queue) = (valid.application.sparrow, valid.application.queue);
        // SAFETY: arrays are as long as they say.
        let uploaded = unsafe {
            sparrow_matrix_upload_blocking(context, queue, &raw const arrays, &raw mut matrix)
        };
        assert!(matrix.is_null());
        refusal(uploaded, status)
    };
    let right = host_arrays();
    let columns = [0u32, 2, 1, 3, 0];
    let text = upload(sparrow_csr_arrays { columns: columns.as_ptr(), ..right }, INVALID_MATRIX);
    assert_eq!(text, "column 3 of entry 3 is outside 0..3");
    let offsets = [0u32, 2, 1, 4, 5];
    let offsets = offsets.as_ptr();
    let falling = sparrow_csr_arrays { offsets: offsets.cast(), ..right };
    assert!(upload(falling, INVALID_MATRIX).starts_with("row offset 2 is 1"));
    let text = upload(sparrow_csr_arrays { nnz: 4, ..right }, INVALID_MATRIX);
    assert!(text.starts_with("row offset 4 is 5"), "{text}");
    let odd = right.offsets.wrapping_byte_add(1);
    let text = upload(sparrow_csr_arrays { offsets: odd, ..right }, INVALID);
    assert!(text.ends_with("and must be at a multiple of 4"), "{text}");
    let text = upload(sparrow_csr_arrays { values: null(), ..right }, INVALID);
    assert_eq!(text, "arrays->values is NULL, and 5 elements are needed");
}

#[test]
fn a_pattern_on_the_device_is_checked_on_demand() {
    let mut valid = Valid::new();
    let columns = valid.application.buffer(1, &[0u32, 2, 9, 2, 0]);
    let (context, queue) = (valid.application.sparrow, valid.application.queue);
    let wrong = sparrow_csr_buffers { columns, ..valid.csr };
    // SAFETY: the pattern is broken, but nothing multiplies with it.
    unsafe {
        let matrix = made(|out| {
            let buffers = &raw const wrong;
            sparrow_matrix_from_buffers_blocking(context, queue, buffers, 0, null(), out)
        });
        let status = sparrow_matrix_check_blocking(matrix, queue, 0, null());
        assert_eq!(refusal(status, INVALID_MATRIX), "column 9 of entry 2 is outside 0..3");
        expect_success(sparrow_matrix_check_blocking(valid.matrix, queue, 0, null()));
        expect_success(sparrow_matrix_release(matrix));
    }
}

#[test]
fn a_matrix_without_entries_needs_no_buffers_for_them() {
    let mut valid = Valid::new();
    let offsets = valid.application.buffer(1, &[0u32; 5]);
    let empty =
        sparrow_csr_buffers { nnz: 0, offsets, columns: NOWHERE, values: NOWHERE, ..valid.csr };
    let (context, queue) = (valid.application.sparrow, valid.application.queue);
    // SAFETY: everything is valid.
    let a = unsafe {
        made(|out| {
            let buffers = &raw const empty;
            sparrow_matrix_from_buffers_blocking(context, queue, buffers, 0, null(), out)
        })
    };
    let plan = valid.application.plan(a, &plan_options());
    let scalars = (by_value(1.0), by_value(0.5));
    let y = valid.application.multiply::<f32>(plan, a, (&X, &Y), scalars);
    assert_eq!(y, [1.0, 2.0, 3.0, 4.0]);
    // SAFETY: each is released once.
    unsafe {
        expect_success(sparrow_matrix_release(a));
        expect_success(sparrow_plan_release(plan.0));
        expect_success(sparrow_workspace_release(plan.1));
    }
}

#[test]
fn a_context_takes_its_device_table_and_its_cache_from_where_it_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mine.toml");
    let kind = format!("{:?}", conformance::device().traits().device_type).to_lowercase();
    let table = format!(
        "format = 2\n[[device]]\ntype = \"{kind}\"\norigin = \"a test\"\n\
         [device.kernel.csr_scalar.f32]\ngroup_size = 16\nspeed = 3\n"
    );
    std::fs::write(&path, table).unwrap();
    let path = CString::new(path.to_str().unwrap()).unwrap();
    let cache = folder.path().join("cache");
    let cache_path = CString::new(cache.to_str().unwrap()).unwrap();
    let options = sparrow_context_options {
        size: size_of::<sparrow_context_options>(),
        device_table: path.as_ptr(),
        binary_cache: cache_path.as_ptr(),
    };
    let mut application = Application::with_options(&raw const options);
    let mut info = sparrow_context_info {
        size: size_of::<sparrow_context_info>(),
        device: null(),
        platform: null(),
        table_problems: null(),
    };
    // SAFETY: the context is valid.
    expect_success(unsafe { sparrow_context_get_info(application.sparrow, &raw mut info) });
    assert_eq!(text(info.device), conformance::device().traits().name);
    assert!(text(info.table_problems).contains("speed"), "{}", text(info.table_problems));

    let a = application.matrix::<f32, u32>();
    let algorithm = c"csr_scalar".as_ptr();
    let (plan, workspace) =
        application.plan(a, &sparrow_plan_options { algorithm, ..plan_options() });
    assert_eq!(c_application::info(plan).1[3], "group_size=16");
    assert!(std::fs::read_dir(&cache).unwrap().count() > 0, "binaries are kept there");
    let device_table = c"off".as_ptr();
    let without = sparrow_plan_options { algorithm, device_table, ..plan_options() };
    let (other, other_workspace) = application.plan(a, &without);
    assert_ne!(c_application::info(other).1[3], "group_size=16");
    // SAFETY: each is released once.
    unsafe {
        for plan in [plan, other] {
            expect_success(sparrow_plan_release(plan));
        }
        for workspace in [workspace, other_workspace] {
            expect_success(sparrow_workspace_release(workspace));
        }
        expect_success(sparrow_matrix_release(a));
    }
    let absent = sparrow_context_options { device_table: c"no/table.toml".as_ptr(), ..options };
    let mut context = null_mut();
    // SAFETY: the queue is valid.
    let status = unsafe {
        let out = &raw mut context;
        sparrow_context_from_queue(application.queue, &raw const absent, out)
    };
    refusal(status, sparrow_status::SPARROW_STATUS_INVALID_FILE);
}
