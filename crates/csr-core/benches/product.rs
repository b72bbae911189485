//! The host's own product: `cargo bench --bench product`. Throughput is in nonzeros.

#![expect(clippy::expect_used, reason = "a benchmark of its own inputs")]

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use csr_core::Csr;
use csr_core::generate::{Class, DEFAULT_SEED};

fn product(criterion: &mut Criterion) {
    for name in ["poisson5", "elasticity", "webbase-1M"] {
        let class: Class = name.parse().expect("a class of the suite");
        let matrix: Csr<f64> = class.generate(1.0, DEFAULT_SEED).expect("a matrix of the suite");
        let x: Vec<f64> = csr_core::random_vector(1, matrix.cols());
        let mut y = vec![0.0; matrix.rows()];
        let mut group = criterion.benchmark_group("product");
        group.throughput(Throughput::Elements(matrix.nnz() as u64));
        group.bench_function(name, |bencher| {
            bencher.iter(|| csr_core::product(1.0, matrix.view(), &x, 0.0, &mut y));
        });
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(20);
    targets = product
}
criterion_main!(benches);
