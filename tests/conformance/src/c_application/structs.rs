//! Numbers and structs of `sparrow.h`, with their defaults or to be filled in.

use std::ptr::{null, null_mut};

use sparrow::{OffsetType, ValueType};
use sparrow_c::*;

/// How `sparrow.h` numbers it.
pub fn value_number(value_type: ValueType) -> sparrow_value_type {
    match value_type {
        ValueType::F32 => SPARROW_VALUE_TYPE_F32,
        ValueType::F64 => SPARROW_VALUE_TYPE_F64,
        ValueType::F16 => SPARROW_VALUE_TYPE_F16,
        ValueType::Bf16 => SPARROW_VALUE_TYPE_BF16,
    }
}

/// How `sparrow.h` numbers it.
pub fn offset_number(offset_type: OffsetType) -> sparrow_offset_type {
    match offset_type {
        OffsetType::U32 => SPARROW_OFFSET_TYPE_U32,
        OffsetType::U64 => SPARROW_OFFSET_TYPE_U64,
    }
}

/// No buffer.
pub const NOWHERE: sparrow_buffer =
    sparrow_buffer { memory: null_mut(), byte_offset: 0, svm: std::ptr::null_mut() };

/// alpha or beta by value.
pub fn by_value(value: f64) -> sparrow_scalar {
    sparrow_scalar { value, device: NOWHERE }
}

/// All defaults.
pub fn plan_options() -> sparrow_plan_options {
    sparrow_plan_options {
        size: size_of::<sparrow_plan_options>(),
        algorithm: null(),
        variant: null(),
        parameters: null(),
        device_table: null(),
        products: 0,
        accumulate: 0,
        operation: 0,
        planning: 0,
        scalars_on_device: 0,
        choice: std::ptr::null(),
        never_measure: 0,
        reordering: null(),
        vectors_in_order: 0,
    }
}

/// All defaults.
pub fn solver_options() -> sparrow_solver_options {
    sparrow_solver_options {
        size: size_of::<sparrow_solver_options>(),
        plan: null(),
        parameters: null(),
        method: 0,
        preconditioner: 0,
        norm: 0,
        check_every: 0,
        verdict: 0,
    }
}

/// A x = b until 1e-8 of b, with nobody watching.
pub fn system(
    a: *const sparrow_matrix,
    b: sparrow_buffer,
    x: sparrow_buffer,
) -> sparrow_linear_system {
    sparrow_linear_system {
        size: size_of::<sparrow_linear_system>(),
        a,
        b,
        x,
        stop: null(),
        observe: None,
        user_data: null_mut(),
        history: null_mut(),
        history_room: 0,
    }
}

/// To be filled in; nothing in it is what a solver would say.
pub fn empty_solution() -> sparrow_solution {
    sparrow_solution {
        size: size_of::<sparrow_solution>(),
        true_residual: f64::NAN,
        residual: f64::NAN,
        b_norm: f64::NAN,
        threshold: f64::NAN,
        nanoseconds: 0,
        nanoseconds_per_iteration: 0,
        iterations: 99,
        launched: 99,
        outcome: 99,
        breakdown: 99,
        breakdown_iteration: 99,
        x_iteration: 99,
    }
}

/// To be filled in.
pub fn empty_solver_info() -> sparrow_solver_info {
    sparrow_solver_info {
        size: size_of::<sparrow_solver_info>(),
        algorithm: null(),
        reason: null(),
        plan_parameters: null(),
        parameters: null(),
        size_bytes: 0,
        bytes_per_iteration: 0,
        check_every: 0,
    }
}

/// alpha A x + beta y.
pub fn product(
    alpha: sparrow_scalar,
    a: *const sparrow_matrix,
    x: sparrow_buffer,
    beta: sparrow_scalar,
    y: sparrow_buffer,
) -> sparrow_product {
    sparrow_product { size: size_of::<sparrow_product>(), alpha, a, x, beta, y }
}

/// To be filled in.
pub fn empty_info() -> sparrow_plan_info {
    sparrow_plan_info {
        size: size_of::<sparrow_plan_info>(),
        algorithm: null(),
        variant: null(),
        reason: null(),
        parameters: null(),
        plan_bytes: 0,
        workspace_bytes: 0,
        repeatable: 9,
        choice: std::ptr::null(),
        measured_products: 0,
        value_coding: null(),
        saved_bytes: 9,
    }
}
