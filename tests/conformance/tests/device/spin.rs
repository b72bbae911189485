//! The published barrier: right a thousand launches in a row where the device table says that groups make
//! progress, refused everywhere else.

#![expect(clippy::panic, clippy::unwrap_used, reason = "a test panics when its claim is broken")]

use conformance::{queue, shapes};
use csr_core::{Csr, RealValue};
use sparrow::{Accumulate, Algorithm, Queue, Variant, default_tables};
use sparrow_bench::selftest::{Case, Limits, Placement, run};

const LIMITS: Limits = Limits { group_size: 64, nnz_per_wg: 128, share: 256, tile: 32 };

fn case(beta: f64) -> Case {
    let named = |name: &str, value: u32| (name.to_owned(), value);
    Case {
        algorithm: Algorithm::CsrAdaptive,
        variant: Variant::Spin,
        parameters: vec![
            named("group_size", 64),
            named("nnz_per_wg", 128),
            named("nnz_multiplier", 2),
        ],
        accumulate: Accumulate::Plain,
        scalars_on_device: false,
        alpha: -1.5,
        beta,
        placement: Placement::Buffers,
        launches: 1000,
    }
}

fn check<V: RealValue>(queue: &Queue) {
    for shape in shapes(&LIMITS).iter().filter(|shape| shape.nnz() > 4 * LIMITS.share) {
        let matrix: Csr<V> = shape.matrix().unwrap();
        let x = csr_core::random_vector(5, matrix.cols());
        for beta in [0.0, 0.5] {
            if let Err(error) = run(queue, &matrix, &x, &case(beta)) {
                panic!("{} in {}, beta {beta}: {error}", shape.name, V::TYPE);
            }
        }
    }
}

#[test]
fn the_published_barrier_holds_a_thousand_launches_or_is_refused() {
    let queue = queue();
    let device = queue.context().device().traits();
    if default_tables().groups_progress(device) {
        check::<f32>(&queue);
        check::<f64>(&queue);
        return;
    }
    let matrix: Csr<f32> = shapes(&LIMITS)[3].matrix().unwrap();
    let refusal = run(&queue, &matrix, &[1.0], &case(0.0)).unwrap_err().to_string();
    assert!(refusal.contains("make progress while others wait"), "{refusal}");
}
