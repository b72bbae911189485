//! How structs lie in memory does not change unseen: programs were compiled with it.
//!
//! `abi/layouts.txt` lists sizes and offsets; `tests/apps/sparrow-layout` prints the same list as a C compiler sees the header.
//! `UPDATE_HEADER=1 cargo test -p sparrow-capi --test layouts` writes both anew.
#![expect(clippy::unwrap_used, reason = "a test panics when its claim is broken")]

use std::mem::offset_of;
use std::path::Path;

use sparrow_c::*;

/// A struct: its name, its size, and its fields with their offsets.
type Layout = (&'static str, usize, Vec<(&'static str, usize)>);

/// The layout of a struct with these fields, all of them.
macro_rules! layout {
    ($name:ident { $($field:ident),* }) => {{
        // A field that is missing here does not compile.
        let _all = |$name { $($field: _),* }: $name| {};
        (stringify!($name), size_of::<$name>(), vec![
            $((stringify!($field), offset_of!($name, $field))),*
        ])
    }};
}

fn layouts() -> Vec<Layout> {
    vec![
        layout!(sparrow_buffer { memory, byte_offset, svm }),
        layout!(sparrow_scalar { value, device }),
        layout!(sparrow_context_options { size, device_table, binary_cache }),
        layout!(sparrow_context_info { size, device, platform, table_problems }),
        layout!(sparrow_csr_buffers {
            size,
            rows,
            cols,
            nnz,
            value_type,
            offset_type,
            offsets,
            columns,
            values
        }),
        layout!(sparrow_csr_arrays {
            size,
            rows,
            cols,
            nnz,
            value_type,
            offset_type,
            offsets,
            columns,
            values
        }),
        layout!(sparrow_coo_buffers {
            size,
            rows,
            cols,
            entries,
            value_type,
            offset_type,
            duplicates,
            reserved,
            row_indices,
            column_indices,
            values
        }),
        layout!(sparrow_dense_source { size, shape, value_type, offset_type, tolerance, elements }),
        layout!(sparrow_matrix_parts { size, offsets, row_indices, columns, values }),
        layout!(sparrow_matrix_info {
            size,
            rows,
            cols,
            nnz,
            longest_row,
            size_bytes,
            value_type,
            offset_type
        }),
        layout!(sparrow_plan_options {
            size,
            algorithm,
            variant,
            parameters,
            device_table,
            products,
            accumulate,
            operation,
            planning,
            scalars_on_device,
            choice,
            never_measure,
            reordering,
            vectors_in_order
        }),
        layout!(sparrow_plan_info {
            size,
            algorithm,
            variant,
            reason,
            parameters,
            plan_bytes,
            workspace_bytes,
            repeatable,
            choice,
            measured_products,
            value_coding,
            saved_bytes
        }),
        layout!(sparrow_product { size, alpha, a, x, beta, y }),
        layout!(sparrow_recording_info { size, products, kernels, command_buffer, reason }),
        layout!(sparrow_stages {
            size,
            stage1_nanoseconds,
            stage2_nanoseconds,
            shared_bytes,
            copied_bytes
        }),
        layout!(sparrow_hyb_buffers {
            size,
            rows,
            cols,
            ell_width,
            ell_pitch,
            coo_entries,
            value_type,
            reserved,
            ell_columns,
            ell_values,
            coo_rows,
            coo_columns,
            coo_values
        }),
        layout!(sparrow_hyb_options { size, parameters, accumulate, scalars_on_device }),
        layout!(sparrow_hyb_product { size, alpha, x, beta, y }),
        layout!(sparrow_dense_shape { rows, cols, leading, layout }),
        layout!(sparrow_spmm_options {
            size,
            b,
            c,
            algorithm,
            parameters,
            device_table,
            b_type,
            operation,
            scalars_on_device
        }),
        layout!(sparrow_dense_product { size, alpha, a, b, beta, c }),
        layout!(sparrow_problem {
            rows,
            cols,
            entries,
            format,
            ell_width,
            reserved,
            index,
            columns,
            values,
            x,
            y
        }),
        layout!(sparrow_batch_buffers {
            size,
            problems,
            num_problems,
            value_type,
            offset_type,
            column_bits,
            reserved,
            offsets,
            num_offsets,
            indices,
            num_indices,
            columns,
            num_columns,
            values,
            num_values
        }),
        layout!(sparrow_batch_options {
            size,
            algorithm,
            variant,
            parameters,
            device_table,
            scalars_on_device
        }),
        layout!(sparrow_batch_scalar { value, device, each }),
        layout!(sparrow_batch_product { size, alpha, a, x, beta, y }),
        layout!(sparrow_vectors_options { size, value_type, accumulate, scalars_on_device }),
        layout!(sparrow_elementwise { size, elements, alpha, x, beta, y, r, operation, gamma }),
        layout!(sparrow_reduction { size, elements, x, y, result, kind }),
        layout!(sparrow_solver_options {
            size,
            plan,
            parameters,
            method,
            preconditioner,
            norm,
            check_every,
            verdict
        }),
        layout!(sparrow_stop_rule { size, relative, relative_to_first, absolute, max_iterations }),
        layout!(sparrow_linear_system {
            size,
            a,
            b,
            x,
            stop,
            observe,
            user_data,
            history,
            history_room
        }),
        layout!(sparrow_solver_progress { size, history, threshold, b_norm, iteration }),
        layout!(sparrow_solution {
            size,
            true_residual,
            residual,
            b_norm,
            threshold,
            nanoseconds,
            nanoseconds_per_iteration,
            iterations,
            launched,
            outcome,
            breakdown,
            breakdown_iteration,
            x_iteration
        }),
        layout!(sparrow_solver_info {
            size,
            algorithm,
            reason,
            plan_parameters,
            parameters,
            size_bytes,
            bytes_per_iteration,
            check_every
        }),
    ]
}

fn check(path: &str, made: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    if std::env::var_os("UPDATE_HEADER").is_some_and(|value| value == "1") {
        std::fs::write(&path, made).unwrap();
    }
    let stored = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(stored, made, "{} is stale: UPDATE_HEADER=1 writes it anew", path.display());
}

#[test]
#[cfg(target_pointer_width = "64")]
fn structs_lie_in_memory_as_they_did() {
    let mut list = String::new();
    for (name, size, fields) in layouts() {
        list += &format!("{name} {size}\n");
        for (field, offset) in fields {
            list += &format!("{name}.{field} {offset}\n");
        }
    }
    check("abi/layouts.txt", &list);
}

#[test]
fn the_program_that_prints_them_knows_every_field() {
    let mut program = String::from(
        "/* Prints abi/layouts.txt as a C compiler sees sparrow.h. Made by tests/layouts.rs. */\n\
         #define CL_TARGET_OPENCL_VERSION 120\n#include <sparrow.h>\n#include <stdio.h>\n\n\
         #define STRUCT(type) printf(\"%s %zu\\n\", #type, sizeof(type));\n\
         #define FIELD(type, field) printf(\"%s.%s %zu\\n\", #type, #field, offsetof(type, field));\n\n\
         int main(void) {\n",
    );
    for (name, _, fields) in layouts() {
        program += &format!("    STRUCT({name})\n");
        for (field, _) in fields {
            program += &format!("    FIELD({name}, {field})\n");
        }
    }
    program += "    return 0;\n}\n";
    check("../../tests/apps/sparrow-layout/main.c", &program);
}

#[test]
fn every_struct_of_the_header_is_listed() {
    let header = include_str!("../include/sparrow.h");
    let defined =
        header.lines().filter_map(|line| line.strip_prefix("typedef struct ")?.strip_suffix(" {"));
    let mut defined: Vec<_> = defined.collect();
    let mut listed: Vec<_> = layouts().into_iter().map(|(name, _, _)| name).collect();
    defined.sort_unstable();
    listed.sort_unstable();
    assert_eq!(listed, defined);
}
