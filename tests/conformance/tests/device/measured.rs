//! Plans for many products, whose candidates are timed on the matrix: that it is told, bounded, only done where it was asked
//! for, and that what was found can be given back.

#![expect(clippy::unwrap_used, reason = "a test panics when its claim is broken")]

use std::path::Path;

use conformance::{check_product, device, is_interpreter, queue, say};
use sparrow::{
    Accumulate, Algorithm, Choice, Csr, DeviceArray, DeviceType, Matrix, Measuring, Op, Operands,
    Plan, PlanOptions, Queue, Reordering, Reuse, Tables, parse_device_table,
};

/// Rows of the matrix: products are counted, and no time is judged, so an interpreter has few.
fn rows() -> usize {
    if is_interpreter(&device()) { 80 } else { 600 }
}

/// Rows of 3 to 11 nonzeros.
fn host_matrix() -> Csr<f32> {
    let (mut offsets, mut columns) = (vec![0u32], Vec::new());
    let count = rows() as u32;
    for row in 0..count {
        let length = 3 + row * 7 % 9;
        columns.extend((0..length).map(|at| (row + 13 * at) % count));
        let begin = offsets[row as usize] as usize;
        columns[begin..].sort_unstable();
        offsets.push(columns.len() as u32);
    }
    let values = csr_core::random_vector(3, columns.len());
    Csr::new(rows(), offsets, columns, values).unwrap()
}

/// A table by which the device under test has a cost model, under which items with a row each cost nothing.
fn tables() -> Tables {
    tables_with(1000, "")
}

/// The same where a launch takes the host so many nanoseconds, with rules.
fn tables_with(launch: u32, rules: &str) -> Tables {
    let kind = queue().context().device().traits().device_type;
    let text = format!(
        "format = 2\n[[device]]\ntype = \"{kind}\"\norigin = \"this test\"\n[device.model.f32]\n\
         launch = {launch}\nlatency = 1000\ncached_kb = 0.1\nmemory_kb = 0.2\nnonzero = 1\n\
         item = 1\ngather = 0\nrow = 0\nstep = 0\nline = 0\nchain = 1\ncopied = 1\n{rules}"
    );
    let (table, problems) = parse_device_table(Path::new("test.toml"), &text);
    assert_eq!(problems, []);
    Tables::with_user(Some(("test.toml".into(), table)))
}

fn options(products: Reuse, measuring: Measuring) -> PlanOptions {
    PlanOptions { reuse: products, measuring, tables: Some(tables()), ..PlanOptions::default() }
}

fn check(queue: &Queue, host: &Csr<f32>, a: &Matrix<f32>, plan: &Plan<f32>) {
    let numbers: Vec<f32> = csr_core::random_vector(5, rows());
    let before = vec![f32::NAN; rows()];
    let x = DeviceArray::upload_blocking(queue, &numbers).unwrap();
    let mut y = DeviceArray::upload_blocking(queue, &before).unwrap();
    let mut workspace = plan.workspace_blocking(queue).unwrap();
    let product = Operands { alpha: 1.0.into(), a, x: &x, beta: 0.0.into(), y: &mut y };
    plan.launch(queue, &mut workspace, product, &[]).unwrap().wait().unwrap();
    let found = y.read_blocking(queue).unwrap();
    check_product(host, 1.0, &numbers, 0.0, &before, &found, Accumulate::Plain);
}

#[test]
fn only_many_products_are_measured_for_by_no_more_than_was_allowed_and_the_plan_tells_it() {
    let queue = queue();
    let host = host_matrix();
    let a = Matrix::upload_blocking(&queue, host.view()).unwrap();
    let plan = |products, measuring| {
        Plan::new_blocking(&queue, &a, &options(products, measuring)).unwrap()
    };
    for (products, measuring) in [
        (Reuse::Once, Measuring::Automatic),
        (Reuse::Several, Measuring::AtMost(100)),
        (Reuse::Many, Measuring::Never),
        (Reuse::Many, Measuring::AtMost(0)),
        // Too few for anybody to be timed.
        (Reuse::Many, Measuring::AtMost(3)),
    ] {
        let plan = plan(products, measuring);
        assert_eq!(plan.measured_products(), 0, "{products} {measuring:?}");
        assert!(!plan.choice().reason.contains("timed"), "{}", plan.choice().reason);
    }
    for (measuring, most) in [(Measuring::Automatic, 40), (Measuring::AtMost(17), 17)] {
        let plan = plan(Reuse::Many, measuring);
        assert!((1..=most).contains(&plan.measured_products()), "{}", plan.measured_products());
        let told = format!("timed on the matrix by {} products", plan.measured_products());
        assert!(plan.choice().reason.starts_with(&told), "{}", plan.choice().reason);
        check(&queue, &host, &a, &plan);
    }
}

#[test]
fn nothing_is_measured_where_a_launch_takes_longer_than_a_product_unless_a_rule_is_for_many() {
    let queue = queue();
    let a = Matrix::upload_blocking(&queue, host_matrix().view()).unwrap();
    let plan = |rules: &str, products, measuring| {
        let tables = Some(tables_with(1_000_000, rules));
        let options = PlanOptions { reuse: products, measuring, tables, ..PlanOptions::default() };
        Plan::new_blocking(&queue, &a, &options).unwrap()
    };
    let several = plan("", Reuse::Several, Measuring::Automatic);
    let many = plan("", Reuse::Many, Measuring::AtMost(100));
    assert_eq!(many.measured_products(), 0, "{}", many.choice().reason);
    assert!(many.choice().is_same(several.choice()), "{} {}", many.choice(), several.choice());
    assert!(many.choice().reason.contains("nothing is timed"), "{}", many.choice().reason);
    let rule = "[[device.choice.f32.many]]\nalgorithm = \"csr_adaptive\"\n";
    let by_rule = plan(rule, Reuse::Many, Measuring::Automatic);
    assert!(by_rule.measured_products() > 0, "{}", by_rule.choice().reason);
    // What a rule for some tens says counts for many where its entry has no model.
    let name = device().traits().name.clone();
    let rule = format!(
        "[[device]]\nname = {name:?}\norigin = \"this test\"\n\
         [[device.choice.f32.several]]\nalgorithm = \"csr_vector\"\n"
    );
    let for_both = plan(&rule, Reuse::Many, Measuring::Automatic);
    assert_eq!(for_both.measured_products(), 0, "{}", for_both.choice().reason);
    assert_eq!(for_both.algorithm(), Algorithm::CsrVector);
}

/// Rows of 8 nonzeros anywhere: columns and values take 64 bytes a row.
fn large_matrix(rows: usize) -> Csr<f32> {
    let offsets = (0..=rows as u32).map(|row| 8 * row).collect();
    let mut columns: Vec<u32> =
        (0..8 * rows as u32).map(|at| at.wrapping_mul(2_654_435_761) % rows as u32).collect();
    columns.chunks_mut(8).for_each(<[u32]>::sort_unstable);
    let values = csr_core::random_vector(3, columns.len());
    Csr::new(rows, offsets, columns, values).unwrap()
}

/// A CPU device of which tables have rules and no model.
#[test]
fn a_cpu_times_large_matrices_alone_where_many_products_follow() {
    let queue = queue();
    if queue.context().device().traits().device_type != DeviceType::Cpu {
        say("large matrices timed by rules: not applicable, no CPU");
        return;
    }
    let enough = 16 << 20;
    for (bytes, is_timed) in [(enough + 64, true), (1 << 16, false)] {
        if is_timed && is_interpreter(&device()) {
            continue;
        }
        let host = large_matrix(bytes / 64);
        let a = Matrix::upload_blocking(&queue, host.view()).unwrap();
        let tables = Some(Tables::with_user(None));
        let options = PlanOptions { reuse: Reuse::Many, tables, ..PlanOptions::default() };
        let plan = Plan::new_blocking(&queue, &a, &options).unwrap();
        let products = plan.measured_products();
        assert_eq!((1..=40).contains(&products), is_timed, "{products}: {}", plan.choice().reason);
        // Too few for all: what the tables say of many products, as if nothing were to be timed.
        let by_tables = |measuring| {
            let options = PlanOptions { measuring, ..options.clone() };
            let plan = Plan::new_blocking(&queue, &a, &options).unwrap();
            assert_eq!(plan.measured_products(), 0);
            plan.choice().clone()
        };
        let (few, never) = (by_tables(Measuring::AtMost(5)), by_tables(Measuring::Never));
        assert!(few.is_same(&never), "{few} and {never}");
    }
}

#[test]
fn what_was_timed_on_a_copy_in_another_order_multiplies_by_it() {
    let queue = queue();
    let mut host = host_matrix();
    let mut a = Matrix::upload_blocking(&queue, host.view()).unwrap();
    for op in [Op::Normal, Op::Transpose] {
        let of_many = options(Reuse::Many, Measuring::Automatic);
        let options = PlanOptions { reordering: Reordering::Clusters, op, ..of_many };
        let mut plan = Plan::new_blocking(&queue, &a, &options).unwrap();
        assert!(plan.measured_products() > 0, "{}", plan.choice().reason);
        let check = |host: &Csr<f32>, a: &Matrix<f32>, plan: &Plan<f32>| match op {
            Op::Normal => check(&queue, host, a, plan),
            Op::Transpose => check(&queue, &host.view().transpose(), a, plan),
        };
        check(&host, &a, &plan);
        host.values_mut().iter_mut().for_each(|value| *value *= -3.0);
        a.write_values_blocking(&queue, host.values()).unwrap();
        plan.update_values_blocking(&queue, &a).unwrap();
        check(&host, &a, &plan);
    }
}

#[test]
fn a_choice_given_back_as_text_runs_the_same_and_nothing_is_measured() {
    let queue = queue();
    let host = host_matrix();
    let a = Matrix::upload_blocking(&queue, host.view()).unwrap();
    let found =
        Plan::new_blocking(&queue, &a, &options(Reuse::Many, Measuring::Automatic)).unwrap();
    for products in Reuse::ALL {
        let choice: Choice = found.choice().to_string().parse().unwrap();
        let pinned =
            PlanOptions { choice: Some(choice), reuse: products, ..PlanOptions::default() };
        let again = Plan::new_blocking(&queue, &a, &pinned).unwrap();
        assert!(again.choice().is_same(found.choice()), "{} {}", again.choice(), found.choice());
        assert_eq!(again.parameters(), found.parameters());
        assert_eq!(again.measured_products(), 0);
        check(&queue, &host, &a, &again);
    }
}

#[test]
fn parameters_go_over_a_choice_and_what_a_device_cannot_run_is_an_error() {
    let queue = queue();
    let a = Matrix::upload_blocking(&queue, host_matrix().view()).unwrap();
    let plan = |text: &str, parameters: &[(&str, u32)]| {
        let owned = |(name, value): &(&str, u32)| ((*name).to_owned(), *value);
        let parameters = parameters.iter().map(owned).collect();
        let choice = Some(text.parse().unwrap());
        Plan::new_blocking(
            &queue,
            &a,
            &PlanOptions { choice, parameters, ..PlanOptions::default() },
        )
    };
    let found = plan("csr_vector(group_size=16,items_per_row=4)", &[("items_per_row", 2)]).unwrap();
    assert_eq!(found.choice().to_string(), "csr_vector(group_size=16,items_per_row=2)");
    let refused = plan("csr_vector(group_size=16,items_per_row=3)", &[]).unwrap_err();
    assert!(refused.to_string().contains("items_per_row"), "{refused}");
}

#[test]
fn a_transposed_copy_is_measured_on_too_and_new_values_reach_it() {
    let queue = queue();
    let host = host_matrix();
    let mut a = Matrix::upload_blocking(&queue, host.view()).unwrap();
    let options = PlanOptions { op: Op::Transpose, ..options(Reuse::Many, Measuring::Automatic) };
    let mut plan = Plan::new_blocking(&queue, &a, &options).unwrap();
    assert!(plan.measured_products() > 0);
    let transposed = host.view().transpose();
    check(&queue, &transposed, &a, &plan);
    let values: Vec<f32> = csr_core::random_vector(8, host.nnz());
    a.write_values_blocking(&queue, &values).unwrap();
    plan.update_values_blocking(&queue, &a).unwrap();
    let (offsets, columns) = (host.pattern().offsets().to_vec(), host.pattern().columns().to_vec());
    let changed = Csr::new(rows(), offsets, columns, values).unwrap();
    check(&queue, &changed.view().transpose(), &a, &plan);
}

#[test]
fn segmented_sum_says_how_many_tiles_a_bunch_takes_and_not_how_many_it_might() {
    let queue = queue();
    let host = host_matrix();
    let a = Matrix::upload_blocking(&queue, host.view()).unwrap();
    let asked = PlanOptions {
        algorithm: Some(Algorithm::SegmentedSum),
        parameters: vec![("tiles_per_bunch".to_owned(), 64)],
        ..PlanOptions::default()
    };
    let plan = Plan::new_blocking(&queue, &a, &asked).unwrap();
    // So few rows do not fill a device that has a bunch take several tiles.
    assert!(plan.parameters().contains("tiles_per_bunch=1,"), "{}", plan.parameters());
    let pinned = PlanOptions { choice: Some(plan.choice().clone()), ..PlanOptions::default() };
    let again = Plan::new_blocking(&queue, &a, &pinned).unwrap();
    assert_eq!(again.parameters(), plan.parameters());
    check(&queue, &host, &a, &again);
}
