//! What a choice costs beyond the pass over the row offsets: matching entries, weighing rules, resolving
//! hyper-parameters.

use cl_kernels::csr_adaptive::CsrAdaptive;
use cl_kernels::{
    DeviceTraits, DeviceType, Fit, FittedParameters as _, MatrixShape, Reuse, SvmSupport, Tables,
    select,
};
use criterion::{Criterion, criterion_group, criterion_main};
use csr_core::ValueType;

fn h200() -> DeviceTraits {
    DeviceTraits {
        name: "NVIDIA H200".to_owned(),
        board_name: None,
        vendor: "NVIDIA Corporation".to_owned(),
        platform: "NVIDIA CUDA".to_owned(),
        driver: String::new(),
        version: String::new(),
        architecture: "sm_90".to_owned(),
        device_type: DeviceType::Gpu,
        compute_units: 132,
        simd_width: 32,
        max_group_size: 1024,
        local_bytes: 48 << 10,
        global_bytes: 140 << 30,
        max_allocation_bytes: 35 << 30,
        cache_bytes: 4 << 20,
        cache_line_bytes: 128,
        base_align_bytes: 512,
        has_f64: true,
        has_int64_atomics: true,
        has_sub_groups: false,
        shuffle_sizes: vec![32],
        keeps_f32_subnormals: true,
        has_host_memory: false,
        svm: SvmSupport::default(),
    }
}

fn choose(criterion: &mut Criterion) {
    let (tables, device) = (Tables::with_user(None), h200());
    let matrix = MatrixShape {
        rows: 100_000,
        nnz: 5_000_000,
        longest_row: 300,
        in_step: 6_000_000,
        changes: 0,
    };
    criterion.bench_function("look up and choose", |bencher| {
        bencher.iter(|| {
            let choice = select(&tables, &device, ValueType::F64, &matrix, Reuse::Several);
            let defaults = CsrAdaptive::default_for(ValueType::F64);
            let mean_row = matrix.nnz as f64 / matrix.rows as f64;
            let fit = Fit::plain(&device, ValueType::F64, mean_row);
            let check = |p: &CsrAdaptive| p.check(&fit);
            (choice, tables.parameters(&device, ValueType::F64, defaults, check))
        });
    });
}

criterion_group!(benches, choose);
criterion_main!(benches);
