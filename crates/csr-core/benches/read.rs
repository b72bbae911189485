//! Reading a Matrix Market file of a few MiB, from memory so that no disk is measured.

use std::fmt::Write;
use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use csr_core::io::ReadOptions;
use csr_core::{Coo, Csr};

const ROWS: u64 = 10_000;
const ENTRIES: u64 = 200_000;

/// Entries all over the matrix, values of 16 digits.
fn scattered() -> String {
    let mut text =
        format!("%%MatrixMarket matrix coordinate real general\n{ROWS} {ROWS} {ENTRIES}\n");
    let mut state = 1u64;
    let mut random = move || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        state >> 33
    };
    for _ in 0..ENTRIES {
        let (row, column) = (random() % ROWS + 1, random() % ROWS + 1);
        let value = random() as f64 / (1u64 << 31) as f64;
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{row} {column} {value:.15e}");
    }
    text
}

fn read(criterion: &mut Criterion) {
    let text = scattered();
    let options = ReadOptions::new();
    let mut group = criterion.benchmark_group("read");
    group.throughput(Throughput::Bytes(text.len() as u64));
    group.bench_function("coo f64", |bencher| {
        bencher.iter(|| {
            let coo: Result<Coo<f64>, _> = options.coo_from(black_box(text.as_bytes()), "bench");
            coo.map(|coo| coo.nnz()).unwrap_or(0)
        });
    });
    group.bench_function("csr f64", |bencher| {
        bencher.iter(|| {
            let csr: Result<Csr<f64>, _> = options.csr_from(black_box(text.as_bytes()), "bench");
            csr.map(|csr| csr.nnz()).unwrap_or(0)
        });
    });
    group.finish();
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(20);
    targets = read
}
criterion_main!(benches);
