//! Batches: every algorithm on problems of every kind, at once.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test panics when its claim is broken")]

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use cl_kernels::parse_device_table;
use conformance::{bits, csr, extent, is_interpreter, queue, queue_on, say, whole_device};
use csr_core::batch::Ell;
use sparrow::{
    Batch, BatchCoefficient, BatchColumns, BatchOperands, BatchOptions, BatchPlan,
    BatchedAlgorithm, BatchedVariant, ColumnWidth, Csr, DeviceArray, HostBatch, NoEvent, Problem,
    Queue, RealValue, Tables, ValueType,
};
use sparrow_bench::selftest::{
    BatchCase, BatchCoefficients, BatchConfiguration, Progress, mixed_batch, run_batch,
    run_batches, small_parameters,
};

/// Holds a batch against the oracle, problem by problem.
fn check<V: RealValue>(queue: &Queue, problems: &[Csr<V>], host: &HostBatch<V>, case: &BatchCase) {
    let x: Vec<V::Accum> = csr_core::random_vector(11, host.x_len());
    if let Err((problem, error)) = run_batch(queue, problems, host, &x, case) {
        panic!("problem {problem:?}: {error}; {case:?}");
    }
}

#[test]
fn every_algorithm_is_right_on_problems_of_every_kind() {
    let queue = queue();
    let extent = extent(queue.context().device());
    let types = &[ValueType::F32, ValueType::F64, ValueType::F16, ValueType::Bf16];
    let observe = &mut |_: Progress<'_>| ControlFlow::Continue(());
    let report = run_batches(&queue, &BatchConfiguration::all(), types, extent, observe).unwrap();
    say(&format!("batches ({}): {}", extent.name(), report.line()));
    let failures: Vec<String> = report.failures().take(5).map(ToString::to_string).collect();
    assert!(failures.is_empty(), "{}\n{}", report.line(), failures.join("\n"));
    assert!(report.passed() > 0);
}

/// The choice with a user's hyper-parameters, and by name with small ones: the same code, which compiles in a fraction of
/// the time. The suite has a user's where that is fast.
fn case_of(algorithm: Option<BatchedAlgorithm>) -> BatchCase {
    let parameters = if algorithm.is_some() { small_parameters() } else { Vec::new() };
    BatchCase { parameters, ..BatchCase::new(algorithm) }
}

#[test]
fn a_batch_of_no_problems_and_one_of_empty_ones_are_launched() {
    let queue = queue();
    for problems in [vec![], vec![csr::<f32>(0, &[], 0); 3]] {
        for algorithm in every_algorithm() {
            let host = mixed_batch(algorithm, &problems).unwrap();
            let case = BatchCase {
                coefficients: BatchCoefficients::Each,
                reads_y: true,
                ..case_of(algorithm)
            };
            check(&queue, &problems, &host, &case);
        }
    }
}

/// The choice, and each by name.
fn every_algorithm() -> impl Iterator<Item = Option<BatchedAlgorithm>> {
    std::iter::once(None).chain(BatchedAlgorithm::ALL.map(Some))
}

/// One batch of every order from 1 to 1,500, up to 300 by every algorithm and beyond by each in turn; on an interpreter of
/// every 83rd up to 300, and of 1,025, by name of every 331st and 1,025.
#[test]
fn problems_of_every_order_are_right() {
    fn are_right<V: RealValue>(
        queue: &Queue,
        algorithm: Option<BatchedAlgorithm>,
        orders: &[usize],
    ) {
        let lengths = |order: usize| (0..order).map(|row| (row + order) % 4).collect::<Vec<_>>();
        let problems: Vec<Csr<V>> =
            orders.iter().map(|&order| csr(order, &lengths(order), order as u64)).collect();
        let host = mixed_batch(algorithm, &problems).unwrap();
        check(queue, &problems, &host, &case_of(algorithm));
    }

    let queue = queue();
    for (number, algorithm) in every_algorithm().enumerate() {
        let step = match (is_interpreter(queue.context().device()), algorithm) {
            (false, _) => 1,
            (true, None) => 83,
            (true, Some(_)) => 331,
        };
        let is_taken = |order: &usize| match step {
            1 => *order <= 300 || (*order + number).is_multiple_of(3),
            _ => (order % step == 1 && *order < 300) || *order == 1025,
        };
        let orders: Vec<usize> = (1..=1500).filter(is_taken).collect();
        are_right::<f32>(&queue, algorithm, &orders);
        if step < 100 {
            are_right::<f64>(&queue, algorithm, &orders);
        }
    }
}

/// A device table's own numbers, and what a plan says of them.
#[test]
fn a_device_table_chooses_algorithms_by_entries() {
    let queue = queue();
    let problems = [csr::<f32>(20, &[1; 20], 1), csr(20, &[4; 20], 2), csr(20, &[9; 20], 3)];
    let mut host = HostBatch::new();
    problems.iter().for_each(|problem| host.push_csr(problem.view()).unwrap());
    let text = "format = 2\n[[device]]\norigin = \"a test\"\n[device.kernel.batched_switch.f32]\n\
                scalar_entries = 20\nsmart_entries = 80\n";
    let (table, problems_of_text) = parse_device_table(Path::new("t.toml"), text);
    assert!(problems_of_text.is_empty());
    let tables = Tables::with_user(Some(("t.toml".into(), table)));
    let batch = Batch::upload_blocking(&queue, &host, ColumnWidth::Automatic).unwrap();
    let options = BatchOptions { tables: Some(tables), ..BatchOptions::default() };
    let plan = BatchPlan::new_blocking(&queue, &batch, &options).unwrap();
    let one_each =
        [BatchedAlgorithm::CsrScalar, BatchedAlgorithm::CsrSmart, BatchedAlgorithm::CsrI];
    assert_eq!(plan.algorithms(), one_each.map(|algorithm| (algorithm, 1)));
}

/// A wish for a format that no problem has is refused, ELL's too.
#[test]
fn an_algorithm_that_reads_no_problem_is_refused() {
    let queue = queue();
    let mut host = HostBatch::new();
    host.push_csr(csr::<f32>(20, &[4; 20], 1).view()).unwrap();
    let batch = Batch::upload_blocking(&queue, &host, ColumnWidth::Automatic).unwrap();
    for asked in [BatchedAlgorithm::Ell, BatchedAlgorithm::Coo] {
        let options = BatchOptions { algorithm: Some(asked), ..BatchOptions::default() };
        let error = BatchPlan::new_blocking(&queue, &batch, &options).unwrap_err().to_string();
        let said = format!("{asked} cannot go with the batch: no problem of it is in");
        assert!(error.contains(&said), "{error}");
    }
}

#[test]
fn one_pattern_serves_many_values() {
    let queue = queue();
    let one = csr::<f32>(70, &[1, 9, 0, 5, 17, 30].repeat(11), 1);
    let (host, problems) = of_one_pattern(&one, 20);
    assert_eq!(host.columns().len(), one.nnz());
    for algorithm in [None, Some(BatchedAlgorithm::CsrI), Some(BatchedAlgorithm::CsrSmart)] {
        let case = BatchCase {
            parameters: small_parameters(),
            coefficients: BatchCoefficients::Each,
            reads_y: true,
            ..BatchCase::new(algorithm)
        };
        check(&queue, &problems, &host, &case);
    }
}

/// A batch of one pattern, and its problems.
fn of_one_pattern<V: RealValue>(one: &Csr<V>, count: usize) -> (HostBatch<V>, Vec<Csr<V>>) {
    let values = |seed| -> Vec<V> {
        let numbers = csr_core::random_vector::<f64>(seed, one.nnz());
        numbers.into_iter().map(V::from_f64).collect()
    };
    let problems: Vec<Csr<V>> = (0..count as u64)
        .map(|seed| Csr::from_pattern(one.pattern().clone(), values(seed)).unwrap())
        .collect();
    let all: Vec<V> = problems.iter().flat_map(|problem| problem.values()).copied().collect();
    let mut host = HostBatch::new();
    host.push_pattern(one.view().pattern(), &all, count).unwrap();
    (host, problems)
}

/// Pairs by sub-groups of one item, which run in step on every device.
fn in_pairs(others: &[(&str, u32)]) -> Vec<(String, u32)> {
    let pairs = [("pairs", 1), ("sub_group_size", 1)];
    pairs.iter().chain(others).map(|&(name, value)| (name.to_owned(), value)).collect()
}

fn pairs_are_right<V: RealValue>(queue: &Queue, width: ColumnWidth) {
    // Empty rows first and last, one that spans steps and chunks, and nonzeros that no cache line divides.
    let lengths = [vec![0, 1, 9, 0, 61], [5, 17, 3, 0, 1].repeat(9), vec![0; 3]].concat();
    let one = csr::<V>(61, &lengths, 1);
    let enough = 4 * queue.context().device().traits().compute_units as usize;
    let little = [("x_local", 64), ("rows_per_task", 64)];
    let few = [little.as_slice(), &[("sub_groups_per_group", 2), ("nnz_per_item", 2)]].concat();
    for (count, coefficients) in
        [(enough, BatchCoefficients::Value), (enough + 1, BatchCoefficients::Each)]
    {
        let (host, problems) = of_one_pattern(&one, count);
        for parameters in [in_pairs(&few), in_pairs(&little)] {
            let case = BatchCase {
                parameters,
                coefficients,
                reads_y: coefficients == BatchCoefficients::Each,
                width,
                ..BatchCase::new(Some(BatchedAlgorithm::CsrI))
            };
            check(queue, &problems, &host, &case);
        }
    }
}

#[test]
fn pairs_are_right_and_so_is_the_last_of_an_odd_number() {
    let queue = queue_on(&whole_device());
    pairs_are_right::<f32>(&queue, ColumnWidth::U32);
    pairs_are_right::<half::f16>(&queue, ColumnWidth::Automatic);
    let device = queue.context().device();
    if is_interpreter(device) {
        // Of the suite's pairs, which take two entries a load in f64, Oclgrind has the right sums.
        say(
            "skipped: pairs with four entries a load in f64, which Oclgrind 21.10 adds up otherwise than all others",
        );
    } else if device.traits().has_f64 {
        pairs_are_right::<f64>(&queue, ColumnWidth::Automatic);
    }
}

#[test]
fn pairs_are_made_of_one_pattern_and_of_enough_problems_alone() {
    let queue = queue_on(&whole_device());
    let enough = 4 * queue.context().device().traits().compute_units as usize;
    let one = csr::<f32>(40, &[1, 9, 0, 5, 17, 2].repeat(5), 1);
    let taken = |host: &HostBatch<f32>, algorithm, variant, x_local| {
        let batch = Batch::upload_blocking(&queue, host, ColumnWidth::Automatic).unwrap();
        let parameters = in_pairs(&[("x_local", x_local), ("rows_per_task", 64)]);
        let options = BatchOptions { algorithm, variant, parameters, ..BatchOptions::default() };
        let plan = BatchPlan::new_blocking(&queue, &batch, &options).unwrap();
        plan.parameters().contains("pairs=1")
    };
    let csr_i = Some(BatchedAlgorithm::CsrI);
    let ordered = BatchedVariant::Ordered;
    let (host, problems) = of_one_pattern(&one, enough);
    assert!(taken(&host, csr_i, ordered, 40));
    assert!(!taken(&host, csr_i, ordered, 39), "x does not fit local memory");
    assert!(!taken(&host, csr_i, BatchedVariant::Atomic, 40));
    assert!(!taken(&host, Some(BatchedAlgorithm::CsrSmart), ordered, 40));
    assert!(!taken(&of_one_pattern(&one, enough - 1).0, csr_i, ordered, 40), "too few");
    assert!(!taken(&formatted(csr_i, &problems, 0), csr_i, ordered, 40), "a pattern each");
}

#[test]
fn large_problems_are_cut_unless_enough_are_alike() {
    let queue = queue();
    let one = csr::<f32>(700, &[67; 301], 1);
    let enough = 6 * queue.context().device().traits().compute_units as usize;
    for (count, parts) in [(enough, 1), (enough - 1, 2)] {
        let (host, problems) = of_one_pattern(&one, count);
        let batch = Batch::upload_blocking(&queue, &host, ColumnWidth::Automatic).unwrap();
        let plan = BatchPlan::new_blocking(&queue, &batch, &BatchOptions::default()).unwrap();
        assert_eq!(plan.tasks(), (parts * count, parts * count));
        if !is_interpreter(queue.context().device()) {
            check(&queue, &problems, &host, &BatchCase::new(Some(BatchedAlgorithm::CsrI)));
        }
    }
}

/// The bits of y, and the bytes of the plan.
fn product(queue: &Queue, host: &HostBatch<f32>, case: &BatchCase) -> (Vec<u64>, usize) {
    let batch = Batch::upload_blocking(queue, host, ColumnWidth::Automatic).unwrap();
    let options = BatchOptions {
        algorithm: case.algorithm,
        parameters: case.parameters.clone(),
        ..BatchOptions::default()
    };
    let plan = BatchPlan::new_blocking(queue, &batch, &options).unwrap();
    let mut workspace = plan.workspace_blocking(queue).unwrap();
    let x: Vec<f32> = (0..host.x_len()).map(|at| 1.0 + (at % 40) as f32 / 7.0).collect();
    let x = DeviceArray::upload_blocking(queue, &x).unwrap();
    let mut launched = || {
        let mut y = DeviceArray::upload_blocking(queue, &vec![f32::NAN; host.y_len()]).unwrap();
        let product =
            BatchOperands { alpha: 1.5.into(), a: &batch, x: &x, beta: 0.0.into(), y: &mut y };
        plan.launch(queue, &mut workspace, product, NoEvent).unwrap();
        bits(&y.read_blocking(queue).unwrap())
    };
    let found = launched();
    // An interpreter launches the longest batch twice, in `check`, and that is enough.
    if !is_interpreter(queue.context().device()) {
        assert_eq!(launched(), found, "the next launch: {case:?}");
    }
    (found, plan.plan_bytes())
}

/// The batch in the format that the algorithm reads, and the last problems in another.
fn formatted(
    algorithm: Option<BatchedAlgorithm>,
    problems: &[Csr<f32>],
    others: usize,
) -> HostBatch<f32> {
    let mut host = HostBatch::new();
    for (number, problem) in problems.iter().enumerate() {
        let is_other = number + others >= problems.len();
        match algorithm {
            Some(BatchedAlgorithm::Coo) if !is_other => host.push_coo(&problem.to_coo()).unwrap(),
            Some(BatchedAlgorithm::Ell) if !is_other => {
                host.push_ell(&Ell::from_csr(problem.view()).unwrap()).unwrap();
            }
            Some(BatchedAlgorithm::Coo | BatchedAlgorithm::Ell) => {
                host.push_csr(problem.view()).unwrap();
            }
            _ if is_other => host.push_coo(&problem.to_coo()).unwrap(),
            _ => host.push_csr(problem.view()).unwrap(),
        }
    }
    host
}

/// Problems alike alone, with one of another size among them, among many kinds, with two of another format, and with one
/// that is cut.
#[test]
fn tasks_that_follow_from_their_numbers_are_those_that_are_listed() {
    let queue = queue();
    let alike: Vec<Csr<f32>> =
        (0..21).map(|seed| csr(40, &[1, 9, 0, 5, 17, 2].repeat(5), seed)).collect();
    let other = |rows: usize| csr::<f32>(40, &vec![2; rows], rows as u64);
    let mut with_one = alike.clone();
    with_one.insert(9, csr(40, &[40; 30], 1));
    let mut among_many = alike.clone();
    among_many.extend((0..20).map(other));
    let mut with_long = among_many.clone();
    let on_interpreter = is_interpreter(queue.context().device());
    let long = if on_interpreter { vec![24; 130] } else { vec![40; 300] };
    with_long.push(csr(40, &long, 3));
    let rows: usize = alike.iter().map(Csr::rows).sum();
    for algorithm in std::iter::once(None).chain(BatchedAlgorithm::ALL.map(Some)) {
        let all_parameters = [small_parameters(), Vec::new()];
        let few = if on_interpreter { 1 } else { 2 };
        for parameters in &all_parameters[..few] {
            let case = BatchCase {
                parameters: parameters.clone(),
                coefficients: BatchCoefficients::Each,
                reads_y: true,
                ..BatchCase::new(algorithm)
            };
            let batches =
                [(&alike, 0), (&with_one, 0), (&among_many, 0), (&among_many, 2), (&with_long, 0)];
            let made = batches.map(|(problems, others)| {
                let host = formatted(algorithm, problems, others);
                if !on_interpreter || problems.len() == with_long.len() {
                    check(&queue, problems, &host, &case);
                }
                product(&queue, &host, &case)
            });
            let [(alone, nothing), (_, few), (many, _), (mixed, _), (cut, all)] = made;
            for others in [many, mixed, cut] {
                assert_eq!(alone, others[..rows], "{case:?}");
            }
            // The choice may compute the one by another kernel.
            assert!(nothing == 0 && (few == 22 * 64 || few == 0), "{few}; {case:?}");
            assert!(all >= 43 * 64 && all % 64 == 0, "{all}; {case:?}");
        }
    }
}

#[test]
fn a_problem_that_is_long_beside_the_others_is_cut() {
    let queue = queue();
    let count = if is_interpreter(queue.context().device()) { 40 } else { 300 };
    let mut problems = vec![csr::<f32>(9, &[3; 9], 1); count];
    problems.insert(count / 3, csr(60, &[20; 60], 2));
    for algorithm in std::iter::once(None).chain(BatchedAlgorithm::ALL.map(Some)) {
        let host = formatted(algorithm, &problems, 0);
        check(&queue, &problems, &host, &BatchCase::new(algorithm));
        let batch = Batch::upload_blocking(&queue, &host, ColumnWidth::Automatic).unwrap();
        let options = BatchOptions { algorithm, ..BatchOptions::default() };
        let plan = BatchPlan::new_blocking(&queue, &batch, &options).unwrap();
        let parts = plan.tasks().0 - count;
        // Where another kernel computes the others, they are a strided range.
        let listed = plan.plan_bytes() / 64;
        assert!(parts > 1 && [parts, parts + count].contains(&listed), "{parts}; {algorithm:?}");
    }
}

#[test]
fn new_values_need_no_new_plan() {
    let queue = queue();
    let problems: Vec<_> = (0..5).map(|seed| csr::<f32>(20, &[4; 20], seed)).collect();
    let mut host = HostBatch::new();
    problems.iter().for_each(|problem| host.push_csr(problem.view()).unwrap());
    let mut batch = Batch::upload_blocking(&queue, &host, ColumnWidth::Automatic).unwrap();
    let plan = BatchPlan::new_blocking(&queue, &batch, &BatchOptions::default()).unwrap();
    let mut workspace = plan.workspace_blocking(&queue).unwrap();
    let x = DeviceArray::upload_blocking(&queue, &vec![1.0f32; host.x_len()]).unwrap();
    let mut y = DeviceArray::upload_blocking(&queue, &vec![0.0f32; host.y_len()]).unwrap();
    batch.write_values_blocking(&queue, &vec![0.25; host.values().len()]).unwrap();
    let product =
        BatchOperands { alpha: 1.0.into(), a: &batch, x: &x, beta: 0.0.into(), y: &mut y };
    plan.launch(&queue, &mut workspace, product, &[]).unwrap();
    assert_eq!(y.read_blocking(&queue).unwrap(), vec![1.0; 100]);
    let values = DeviceArray::upload_blocking(&queue, &vec![0.5f32; 400]).unwrap();
    let other = batch.with_values(values).unwrap();
    let product =
        BatchOperands { alpha: 1.0.into(), a: &other, x: &x, beta: 0.0.into(), y: &mut y };
    plan.launch(&queue, &mut workspace, product, &[]).unwrap();
    assert_eq!(y.read_blocking(&queue).unwrap(), vec![2.0; 100]);
}

#[test]
fn what_does_not_belong_together_is_refused_by_name() {
    let queue = queue();
    let problem = csr::<f32>(20, &[4; 20], 1);
    let mut host = HostBatch::new();
    host.push_csr(problem.view()).unwrap();
    host.push_csr(problem.view()).unwrap();
    let batch = Batch::upload_blocking(&queue, &host, ColumnWidth::Automatic).unwrap();
    let other = Batch::upload_blocking(&queue, &host, ColumnWidth::Automatic).unwrap();
    let plan = BatchPlan::new_blocking(&queue, &batch, &BatchOptions::default()).unwrap();
    let mut workspace = plan.workspace_blocking(&queue).unwrap();
    let long = DeviceArray::upload_blocking(&queue, &[1.0f32; 40]).unwrap();
    let short = DeviceArray::upload_blocking(&queue, &[1.0f32; 39]).unwrap();
    let mut y = DeviceArray::upload_blocking(&queue, &[1.0f32; 40]).unwrap();
    let mut refusal = |alpha, a, x| {
        let product = BatchOperands { alpha, a, x, beta: 0.0.into(), y: &mut y };
        plan.launch(&queue, &mut workspace, product, &[]).unwrap_err().to_string()
    };
    for (found, part) in [
        (refusal(1.0.into(), &other, &long), "does not share the pattern"),
        (
            refusal(1.0.into(), &batch, &short),
            "x has 39 elements where 40 are needed: problem 1 ends beyond it",
        ),
        (refusal(BatchCoefficient::Each(&long), &batch, &long), "set scalars_on_device"),
    ] {
        assert!(found.contains(part), "{found}");
    }
    let beyond = Problem { values: 81, ..batch.problems()[1] };
    // SAFETY: nothing is launched.
    #[expect(unsafe_code, reason = "the second door")]
    let error = unsafe {
        Batch::from_arrays(
            queue.context(),
            Arc::new([batch.problems()[0], beyond]),
            DeviceArray::upload_blocking(&queue, host.offsets()).unwrap(),
            DeviceArray::upload_blocking(&queue, &[]).unwrap(),
            BatchColumns::U32(DeviceArray::upload_blocking(&queue, host.columns()).unwrap()),
            DeviceArray::upload_blocking(&queue, host.values()).unwrap(),
        )
        .unwrap_err()
    };
    assert!(error.to_string().starts_with("problem 1: values from 81 on"), "{error}");
}
