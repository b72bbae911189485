//! Cutting rows into the row blocks of CSR-Adaptive, on one thread and on all: `cargo bench --bench plan`.
//! Throughput is in rows; the goal is 2 ns a row on one thread.

#![expect(clippy::expect_used, reason = "a benchmark of its own inputs")]

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use csr_core::Csr;
use csr_core::generate::{Class, DEFAULT_SEED};
use csr_core::plan::csr_adaptive::{LengthBreak, RowBlockRules, RowBlocks, StreamReduction};

const RULES: RowBlockRules = RowBlockRules {
    nnz_per_block: 1024,
    num_rows_stream: 2,
    share: Some(3072),
    length_break: LengthBreak::On,
    reduction: StreamReduction::Logarithmic { group_size: 256 },
};

fn plan(criterion: &mut Criterion) {
    for name in ["poisson5", "webbase-1M", "pwtk"] {
        let class: Class = name.parse().expect("a class of the suite");
        let matrix: Csr<f32> = class.generate(1.0, DEFAULT_SEED).expect("a matrix of the suite");
        let mut group = criterion.benchmark_group(format!("row_blocks/{name}"));
        group.throughput(Throughput::Elements(matrix.rows() as u64));
        for threads in [1, rayon::current_num_threads()] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
            let pool = pool.expect("a thread pool");
            group.bench_function(format!("{threads} threads"), |bencher| {
                let offsets = matrix.pattern().offsets();
                bencher.iter(|| pool.install(|| RowBlocks::from_offsets(offsets, RULES)));
            });
        }
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(20);
    targets = plan
}
criterion_main!(benches);
