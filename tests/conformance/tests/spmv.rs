//! Every algorithm on every shape, right to the bound, within its arrays, without reading y at beta = 0.

#![expect(clippy::panic, clippy::unwrap_used, reason = "a test panics when its claim is broken")]

use conformance::{LIMITS, implementations, is_full, parameters, queue};
use csr_core::{OffsetType, ValueType, bf16, f16};
use sparrow::{Accumulate, Algorithm, Csr, Offset, Queue, Value, Variant};
use sparrow_bench::selftest::{Case, Placement, Shape, run, shapes};

/// Everything a kernel is specialised by besides the algorithm.
#[derive(Clone, Copy, Debug)]
struct Axes {
    value_type: ValueType,
    offset_type: OffsetType,
    accumulate: Accumulate,
    scalars_on_device: bool,
    alpha: f64,
    beta: f64,
    placement: Placement,
}

/// All combinations, or with few cases a cover in which values of different axes keep meeting anew.
fn axes(turn: usize) -> Vec<Axes> {
    let value_types = ValueType::ALL;
    let offset_types = [OffsetType::U32, OffsetType::U64];
    let accumulates = [Accumulate::Plain, Accumulate::Compensated];
    let coefficients = [(1.0, 0.0), (0.0, 1.0), (-1.0, 0.5), (2.5, -1.0), (0.0, 0.0)];
    let placements = [
        Placement::Buffers,
        Placement::SubBuffers(1),
        Placement::SubBuffers(3),
        Placement::SubBuffers(5),
    ];
    let axes = |number: usize| Axes {
        value_type: value_types[number % 4],
        offset_type: offset_types[number / 4 % 2],
        accumulate: accumulates[number / 8 % 2],
        scalars_on_device: number / 16 % 2 == 1,
        alpha: coefficients[number / 32 % 5].0,
        beta: coefficients[number / 32 % 5].1,
        placement: placements[number / 160 % 4],
    };
    if is_full() {
        (0..640).map(axes).collect()
    } else {
        // 7 and 211 are coprime to 640: consecutive turns differ in every axis.
        (0..4).map(|step| axes((turn * 211 + step * 7 * 23) % 640)).collect()
    }
}

fn case(algorithm: Algorithm, variant: Variant, axes: &Axes) -> Case {
    Case {
        algorithm,
        variant,
        parameters: parameters(algorithm),
        accumulate: axes.accumulate,
        scalars_on_device: axes.scalars_on_device,
        alpha: axes.alpha,
        beta: axes.beta,
        placement: axes.placement,
        launches: 2,
    }
}

fn run_shape(queue: &Queue, shape: &Shape, case: &Case, axes: &Axes) {
    fn run_typed<V: Value, O: Offset>(queue: &Queue, shape: &Shape, case: &Case) {
        let matrix: Csr<V, O> = shape.matrix().unwrap();
        let x = csr_core::random_vector(5, matrix.cols());
        if let Err(error) = run(queue, &matrix, &x, case) {
            panic!("{} in {} u{}: {error}\n{case:?}", shape.name, V::TYPE, 8 * size_of::<O>());
        }
    }
    match (axes.value_type, axes.offset_type) {
        (ValueType::F32, OffsetType::U32) => run_typed::<f32, u32>(queue, shape, case),
        (ValueType::F32, OffsetType::U64) => run_typed::<f32, u64>(queue, shape, case),
        (ValueType::F64, OffsetType::U32) => run_typed::<f64, u32>(queue, shape, case),
        (ValueType::F64, OffsetType::U64) => run_typed::<f64, u64>(queue, shape, case),
        (ValueType::F16, OffsetType::U32) => run_typed::<f16, u32>(queue, shape, case),
        (ValueType::F16, OffsetType::U64) => run_typed::<f16, u64>(queue, shape, case),
        (ValueType::Bf16, OffsetType::U32) => run_typed::<bf16, u32>(queue, shape, case),
        (ValueType::Bf16, OffsetType::U64) => run_typed::<bf16, u64>(queue, shape, case),
    }
}

#[test]
fn every_algorithm_is_right_on_every_shape() {
    let queue = queue();
    let mut turn = 0;
    for (algorithm, variant) in implementations() {
        for shape in shapes(&LIMITS) {
            for axes in axes(turn) {
                run_shape(&queue, &shape, &case(algorithm, variant, &axes), &axes);
            }
            turn += 1;
        }
    }
}

#[test]
fn default_parameters_are_right_on_every_shape() {
    let queue = queue();
    for shape in shapes(&LIMITS) {
        for algorithm in Algorithm::ALL {
            let axes = Axes {
                value_type: ValueType::F32,
                offset_type: OffsetType::U32,
                accumulate: Accumulate::Plain,
                scalars_on_device: false,
                alpha: 1.5,
                beta: 0.0,
                placement: Placement::Buffers,
            };
            let case = Case { parameters: Vec::new(), ..case(algorithm, Variant::Full, &axes) };
            run_shape(&queue, &shape, &case, &axes);
        }
    }
}

#[test]
fn infinity_and_nan_reach_exactly_the_rows_that_depend_on_them() {
    let queue = queue();
    for (algorithm, variant) in implementations() {
        for shape in shapes(&LIMITS).iter().filter(|shape| shape.nnz() > 0) {
            let mut matrix: Csr<f32> = shape.matrix().unwrap();
            let mut x: Vec<f32> = csr_core::random_vector(5, matrix.cols());
            let nnz = matrix.nnz();
            matrix.values_mut()[nnz / 2] = f32::INFINITY;
            matrix.values_mut()[nnz - 1] = f32::NAN;
            x[0] = f32::NEG_INFINITY;
            for accumulate in [Accumulate::Plain, Accumulate::Compensated] {
                let case = Case {
                    algorithm,
                    variant,
                    parameters: parameters(algorithm),
                    accumulate,
                    scalars_on_device: false,
                    alpha: 1.0,
                    beta: 0.0,
                    placement: Placement::Buffers,
                    launches: 1,
                };
                if let Err(error) = run(&queue, &matrix, &x, &case) {
                    panic!("{}: {error}\n{case:?}", shape.name);
                }
            }
        }
    }
}
