//! C = A B: which memory counts and products are in.

#![expect(clippy::unwrap_used, reason = "a test panics when its claim is broken")]

use conformance::{bits, device, is_interpreter, queue};
use csr_core::Csr;
use csr_core::verify::SparseOracle;
use sparrow::{Matrix, Queue, SpgemmOptions, SpgemmPlan};

use crate::spgemm::{download, lengths, long_options, matrix, options};

/// A plan with its operands, on the host and on the device.
struct Product {
    operands: [Csr<f32, u32>; 2],
    on_device: [Matrix<f32, u32>; 2],
    plan: SpgemmPlan<f32, u32>,
}

impl Product {
    /// Rows of lengths that repeat, from number `first` on.
    fn new(queue: &Queue, rows: usize, first: usize, options: &SpgemmOptions) -> Self {
        let lengths_of_a = lengths(rows + first, &[1, 2, 0, 5, 20]);
        let a = matrix(20, &lengths_of_a[first..], 3, 1);
        let b = matrix(400, &lengths(20, &[3, 15, 29, 1]), 7, 2);
        let on_device = [&a, &b].map(|m| Matrix::upload_blocking(queue, m.view()).unwrap());
        let plan = SpgemmPlan::new_blocking(queue, &on_device[0], &on_device[1], options).unwrap();
        Product { operands: [a, b], on_device, plan }
    }

    /// C, held against the oracle.
    fn checked(&mut self, queue: &Queue) -> Csr<f32, u32> {
        let [a, b] = &self.on_device;
        let c = download(queue, &self.plan.multiply_blocking(queue, a, b).unwrap());
        let [a, b] = &self.operands;
        let oracle = SparseOracle::new(a.view(), b.view()).unwrap();
        assert!(oracle.verify(c.view()).unwrap().passed());
        c
    }
}

#[test]
fn plans_that_live_at_once_and_one_after_another_keep_to_memory_of_their_own() {
    let queue = queue();
    let sizes = if is_interpreter(&device()) { [6, 7, 5] } else { [200, 190, 210] };
    for options in [options(), long_options()] {
        let mut first = Product::new(&queue, sizes[0], 0, &options);
        let of_first = first.checked(&queue);
        let mut second = Product::new(&queue, sizes[1], 1, &options);
        second.checked(&queue);
        // What the second leaves is for the third, and not for the fourth.
        drop(second);
        let mut third = Product::new(&queue, sizes[2], 0, &options);
        let mut fourth = Product::new(&queue, sizes[1], 1, &options);
        fourth.checked(&queue);
        third.checked(&queue);
        assert_eq!(bits(first.checked(&queue).values()), bits(of_first.values()));
        // A third party's array on a plan's memory outlives the plan.
        let offsets = third.plan.offsets().alias();
        let before = offsets.read_bytes(&queue);
        drop(third);
        Product::new(&queue, sizes[2], 2, &options).checked(&queue);
        assert_eq!(offsets.read_bytes(&queue), before);
    }
}

/// For comparisons.
trait ReadBytes {
    fn read_bytes(&self, queue: &Queue) -> Vec<u8>;
}

impl ReadBytes for sparrow::AnyArray {
    fn read_bytes(&self, queue: &Queue) -> Vec<u8> {
        let mut bytes = vec![0; self.size_bytes()];
        self.read_bytes_blocking(queue, &mut bytes).unwrap();
        bytes
    }
}

#[test]
fn the_arrays_of_c_have_a_buffer_each_where_that_is_asked_for() {
    let queue = queue();
    let rows = if is_interpreter(&device()) { 6 } else { 100 };
    let separate = SpgemmOptions { separate_buffers: true, ..options() };
    for (is_separate, options) in [(true, separate), (is_interpreter(&device()), options())] {
        let mut product = Product::new(&queue, rows, 0, &options);
        product.checked(&queue);
        let [a, b] = &product.on_device;
        let c = product.plan.multiply_blocking(&queue, a, b).unwrap();
        let arrays = [c.offsets().as_any(), c.columns().as_any(), c.values().as_any()];
        let memories = arrays.map(|array| array.memory());
        assert_eq!(memories[0].0.is_same(memories[1].0), !is_separate);
        assert_eq!(memories[0].0.is_same(memories[2].0), !is_separate);
        assert_eq!(memories.map(|(_, start)| start == 0), [true, is_separate, is_separate]);
    }
}
