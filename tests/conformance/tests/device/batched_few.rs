//! Batches of few tasks, whose groups have twice the sub-groups.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test panics when its claim is broken")]

use cl_kernels::DeviceType;
use cl_kernels::batched::Batched;
use conformance::{csr, queue};
use sparrow::{
    Batch, BatchOptions, BatchPlan, BatchedAlgorithm, ColumnWidth, Csr, HostBatch, Queue, ValueType,
};
use sparrow_bench::selftest::{BatchCase, mixed_batch, run_batch};

fn few(others: &[(&str, u32)]) -> Vec<(String, u32)> {
    let own =
        [("wide_if_few", 1), ("sub_groups_per_group", 2), ("x_local", 64), ("rows_per_task", 64)];
    own.iter().chain(others).map(|&(name, value)| (name.to_owned(), value)).collect()
}

/// Sub-groups of a plan's groups, and whether they may become more.
fn groups_of(
    queue: &Queue,
    host: &HostBatch<f32>,
    algorithm: BatchedAlgorithm,
    parameters: Vec<(String, u32)>,
) -> (u32, u32) {
    let batch = Batch::upload_blocking(queue, host, ColumnWidth::Automatic).unwrap();
    let algorithm = Some(algorithm);
    let options = BatchOptions { algorithm, parameters, ..BatchOptions::default() };
    let plan = BatchPlan::new_blocking(queue, &batch, &options).unwrap();
    let text = plan.parameters();
    let number = |name: &str| -> u32 {
        let pair = text.split(',').find_map(|pair| pair.strip_prefix(name));
        pair.unwrap_or_else(|| panic!("{name} in {text}")).parse().unwrap()
    };
    (number("sub_groups_per_group="), number("wide_if_few="))
}

#[test]
fn groups_have_twice_the_sub_groups_where_tasks_are_few_or_one_is_most_of_the_work() {
    let queue = queue();
    let units = queue.context().device().traits().compute_units as usize;
    // Above the entries of those that share a group.
    let large = csr::<f32>(90, &[30; 40], 1);
    let csr_i = BatchedAlgorithm::CsrI;
    let groups = |problems: &[Csr<f32>]| {
        groups_of(&queue, &mixed_batch(Some(csr_i), problems).unwrap(), csr_i, few(&[]))
    };
    let (wide, default) = ((4, 0), (2, 1));
    assert_eq!(groups(&vec![large.clone(); 4 * units]), wide);
    assert_eq!(groups(&vec![large.clone(); 4 * units + 1]), default);
    // As many tasks, of which one has ten times the work of each other.
    let huge = csr::<f32>(900, &[300; 41], 2);
    let others = vec![large.clone(); 4 * units];
    assert_eq!(groups(&[others, vec![huge]].concat()), wide);
    // Small ones share groups, so larger ones would only be fewer.
    let small = mixed_batch(None, &[csr::<f32>(9, &[2; 4], 3)]).unwrap();
    assert_eq!(groups_of(&queue, &small, BatchedAlgorithm::CsrScalar, few(&[])), default);
    // Of COO half as many.
    let coo = BatchedAlgorithm::Coo;
    for (count, expected) in [(2 * units, wide), (2 * units + 1, default)] {
        let host = mixed_batch(Some(coo), &vec![large.clone(); count]).unwrap();
        assert_eq!(groups_of(&queue, &host, coo, few(&[])), expected);
    }
    // A range of problems alike, by every algorithm that takes their format.
    let two = [large.clone(), large];
    for algorithm in BatchedAlgorithm::ALL {
        let host = mixed_batch(Some(algorithm), &two).unwrap();
        assert_eq!(groups_of(&queue, &host, algorithm, few(&[])), wide, "{algorithm}");
    }
}

#[test]
fn a_cpu_device_keeps_its_groups_and_a_caller_gets_the_sub_groups_it_names() {
    let queue = queue();
    let traits = queue.context().device().traits();
    let csr_i = BatchedAlgorithm::CsrI;
    let host = mixed_batch(Some(csr_i), &[csr::<f32>(90, &[30; 40], 1)]).unwrap();
    let defaults = Batched::default_for(traits, ValueType::F32);
    let default = defaults.sub_groups_per_group;
    let wide = defaults.wide(traits, ValueType::F32, false);
    let (found, _) = groups_of(&queue, &host, csr_i, Vec::new());
    match traits.device_type {
        DeviceType::Cpu => assert_eq!(found, default),
        // Where twice as many fit; shipped tables have the defaults' number.
        _ => assert_eq!(found, wide.map_or(default, |wide| wide.sub_groups_per_group)),
    }
    let asked = vec![("sub_groups_per_group".to_owned(), 2)];
    assert_eq!(groups_of(&queue, &host, csr_i, asked), (2, 0));
}

#[test]
fn few_tasks_are_right_by_every_algorithm() {
    let queue = queue();
    let units = queue.context().device().traits().compute_units;
    // Most have a group each; two share groups where an algorithm lets them.
    let lengths = |rows: usize| [0, 1, 9, 0, 61, 5, 17, 3].repeat(rows / 8);
    let mut problems: Vec<_> = (1..5).map(|seed| csr::<f32>(61, &lengths(56), seed)).collect();
    problems.push(csr::<f32>(90, &[vec![2; 40], vec![90], vec![0; 30]].concat(), 8));
    problems.push(csr::<f32>(5, &[1, 0, 2], 9));
    problems.push(csr::<f32>(200, &[60; 60], 10));
    for algorithm in BatchedAlgorithm::ALL.map(Some).into_iter().chain([None]) {
        // Of one item a sub-group runs in step on every device.
        for others in [
            [("sub_group_size", 8), ("nnz_per_item", 2)],
            [("sub_group_size", 1), ("nnz_per_item", 4)],
        ] {
            let host = mixed_batch(algorithm, &problems).unwrap();
            // Of one compute unit they are too many where ELL fills up rows.
            if let Some(algorithm) = algorithm.filter(|_| units > 1) {
                let (groups, _) = groups_of(&queue, &host, algorithm, few(&others));
                assert_eq!(groups, 4, "{algorithm}");
            }
            let case = BatchCase { parameters: few(&others), ..BatchCase::new(algorithm) };
            let x: Vec<f32> = csr_core::random_vector(11, host.x_len());
            if let Err((problem, error)) = run_batch(&queue, &problems, &host, &x, &case) {
                panic!("problem {problem:?}: {error}; {case:?}");
            }
        }
    }
}
