//! Copies that store values in fewer bytes: products have the bits they have with values as they are, whatever the values;
//! new values keep the coding or end it; and who looks at the values finds the same.

#![expect(clippy::unwrap_used, reason = "a test panics when its claim is broken")]

use conformance::{Parts, is_interpreter, queue};
use sparrow::{
    Algorithm, Csr, DeviceArray, Matrix, Operands, Plan, PlanOptions, Planned, Planning, Queue,
    Real, RealValue, Value, ValueCoding, Workspace,
};

const COLS: usize = 4_000;

/// An algorithm with small parameters, which may code values or not.
fn options(algorithm: Algorithm, planning: Planning, coded_values: u32) -> PlanOptions {
    // Tiles of columns are not so small that there is more padding than nonzeros.
    let wider = |name: &str, value: u32| if name == "tile_columns" { 1024 } else { value };
    let own = |(name, value): &(&str, u32)| ((*name).to_owned(), wider(name, *value));
    let mut parameters: Vec<_> = algorithm.spec().test_parameters.iter().map(own).collect();
    parameters.push(("coded_values".to_owned(), coded_values));
    PlanOptions { algorithm: Some(algorithm), planning, parameters, ..PlanOptions::default() }
}

/// Each algorithm that codes values.
fn coding() -> Vec<Algorithm> {
    let codes =
        |one: &Algorithm| one.spec().space.iter().any(|parameter| parameter.name == "coded_values");
    let all: Vec<_> = Algorithm::ALL.into_iter().filter(codes).collect();
    assert!(!all.is_empty());
    all
}

/// Where an algorithm looks at values; on an interpreter not on the host, which does it everywhere alike.
fn places(queue: &Queue, algorithm: Algorithm) -> &'static [Planning] {
    match algorithm.spec().planned {
        Planned::OnHost => &[Planning::OnHost],
        _ if is_interpreter(queue.context().device()) => &[Planning::OnDevice],
        _ => &[Planning::OnHost, Planning::OnDevice],
    }
}

/// What an algorithm makes of values that a dictionary could store: on CPUs that is not worth looking entries up.
fn taken(algorithm: Algorithm, coding: ValueCoding) -> ValueCoding {
    match (algorithm.spec().is_for_cpus, coding) {
        (true, ValueCoding::Dictionary) => ValueCoding::AsTheyAre,
        _ => coding,
    }
}

/// Rows of every kind, and some more nonzeros than are looked at first, with these values in turn and `last` for the last.
fn matrix<V: RealValue>(values: &[V], last: V) -> Csr<V> {
    let found = matrix_of(170, values, Some(last));
    assert!((4_100..5_000).contains(&found.nnz()), "{}", found.nnz());
    found
}

/// The same, of some hundred nonzeros.
fn small<V: RealValue>(values: &[V]) -> Csr<V> {
    let found = matrix_of(40, values, None);
    assert!((500..1_500).contains(&found.nnz()), "{}", found.nnz());
    found
}

fn matrix_of<V: RealValue>(rows: u32, values: &[V], last: Option<V>) -> Csr<V> {
    let lengths = [0, 1, 3, 4, 6, 7, 12, 13, 24, 25, 48, 49, 96, 97, 193, 700];
    let (mut offsets, mut columns) = (vec![0u32], Vec::new());
    for row in 0..rows {
        let length = match row % 3 {
            2 => lengths[(row * 7 % 16) as usize],
            _ => 2 + row % 4,
        };
        let stride = if row / 50 % 2 == 0 { 3 } else { 31 };
        columns.extend((0..length).map(|at| (row + at * stride) % COLS as u32));
        offsets.push(columns.len() as u32);
    }
    let mut all: Vec<V> = values.iter().copied().cycle().take(columns.len()).collect();
    if let Some(last) = last {
        *all.last_mut().unwrap() = last;
    }
    Csr::new(COLS, offsets, columns, all).unwrap()
}

/// The bits of y = 1.5 A x - y, those of every NaN alike.
fn product<V: RealValue>(queue: &Queue, plan: &Plan<V>, a: &Matrix<V>) -> Vec<u64> {
    let mut workspace = plan.workspace_blocking(queue).unwrap();
    product_in(queue, plan, a, &mut workspace)
}

fn product_in<V: RealValue>(
    queue: &Queue,
    plan: &Plan<V>,
    a: &Matrix<V>,
    workspace: &mut Workspace,
) -> Vec<u64> {
    let x: Vec<V::Accum> = csr_core::random_vector(5, COLS);
    let x = DeviceArray::upload_blocking(queue, &x).unwrap();
    let y: Vec<V::Accum> = csr_core::random_vector(6, a.rows());
    let mut y = DeviceArray::upload_blocking(queue, &y).unwrap();
    let (alpha, beta) = (V::Accum::from_f64(1.5), V::Accum::from_f64(-1.0));
    let product = Operands { alpha: alpha.into(), a, x: &x, beta: beta.into(), y: &mut y };
    plan.launch(queue, workspace, product, &[]).unwrap().wait().unwrap();
    let found = y.read_blocking(queue).unwrap();
    let bits = |y: &V::Accum| {
        let y = y.to_f64();
        if y.is_nan() { f64::NAN.to_bits() } else { y.to_bits() }
    };
    found.iter().map(bits).collect()
}

/// A device, and what it takes of the algorithms with small parameters.
struct Tested {
    queue: Queue,
    parts: Parts,
    /// How often a matrix was checked.
    turn: usize,
}

impl Tested {
    fn new() -> Self {
        Tested { queue: queue(), parts: Parts::of("algorithms with coded values"), turn: 0 }
    }

    fn has_f64(&self) -> bool {
        self.queue.context().device().traits().has_f64
    }

    /// Those for the next matrix: of two matrices side by side the same, of those behind them the others, since a coding
    /// comes every second time.
    fn algorithms(&mut self) -> Vec<Algorithm> {
        self.turn += 1;
        let numbered = (self.turn / 2..).zip(coding());
        numbered.filter(|(number, _)| self.parts.takes(*number)).map(|(_, one)| one).collect()
    }
}

/// Holds a matrix's products to those with values as they are, and its coding to what is expected.
fn check<V: RealValue>(tested: &mut Tested, host: &Csr<V>, expected: ValueCoding) {
    let algorithms = tested.algorithms();
    let queue = &tested.queue;
    let a = Matrix::upload_blocking(queue, host.view()).unwrap();
    for algorithm in algorithms {
        let own = |planning, coded| {
            Plan::new_blocking(queue, &a, &options(algorithm, planning, coded)).unwrap()
        };
        let plain = own(Planning::Automatic, 0);
        assert_eq!(plain.value_coding(), Some(ValueCoding::AsTheyAre), "{algorithm}");
        let wanted = product(queue, &plain, &a);
        let expected = taken(algorithm, expected);
        for &planning in places(queue, algorithm) {
            let coded = own(planning, 2);
            let what = format!("{algorithm} {planning:?} {}: {expected}", V::TYPE);
            assert_eq!(coded.value_coding(), Some(expected), "{what}");
            assert_eq!(product(queue, &coded, &a), wanted, "{what}");
            let saved = plain.plan_bytes() as i64 - coded.plan_bytes() as i64;
            assert_eq!(saved > 0, expected != ValueCoding::AsTheyAre, "{what}");
            assert_eq!(coded.saved_bytes() as i64, saved, "{what}");
        }
    }
}

/// So many values of which none is an f32, nor two alike.
fn distinct<V: RealValue>(count: u32) -> Vec<V> {
    (0..count).map(|at| V::from_f64(1.1 + f64::from(at) / 256.0)).collect()
}

fn check_limit<V: RealValue>(tested: &mut Tested) {
    // The last value is found by those alone who look at all.
    check::<V>(tested, &matrix(&distinct(255), V::from_f64(9.1)), ValueCoding::Dictionary);
    check::<V>(tested, &matrix(&distinct(256), V::from_f64(9.1)), ValueCoding::AsTheyAre);
}

#[test]
fn one_value_two_and_256_are_coded_and_257_are_not() {
    let tested = &mut Tested::new();
    let (one, other) = (distinct::<f32>(1), 9.1);
    check(tested, &small(&one), ValueCoding::OneValue);
    check(tested, &matrix(&one, other), ValueCoding::Dictionary);
    check_limit::<f32>(tested);
    if tested.has_f64() {
        check(tested, &small(&distinct::<f64>(1)), ValueCoding::OneValue);
        check_limit::<f64>(tested);
    }
}

#[test]
fn values_of_16_bits_are_coded_too() {
    let tested = &mut Tested::new();
    let halves: Vec<_> = (0..100).map(|at| half::f16::from_f32(at as f32 + 0.5)).collect();
    check(tested, &small(&halves), ValueCoding::Dictionary);
    check(tested, &small(&halves[..1]), ValueCoding::OneValue);
    let brains: Vec<_> = (0..100).map(|at| half::bf16::from_f32(at as f32 + 0.5)).collect();
    check(tested, &small(&brains), ValueCoding::Dictionary);
    check(tested, &small(&brains[..1]), ValueCoding::OneValue);
}

#[test]
fn zeros_of_both_signs_infinities_and_nan_are_what_they_were() {
    let tested = &mut Tested::new();
    let payload = f32::from_bits(f32::NAN.to_bits() | 5);
    let all = [0.5, -0.0, 0.0, f32::INFINITY, f32::NEG_INFINITY, f32::NAN, payload, -1.5];
    check(tested, &small(&all), ValueCoding::Dictionary);
    // One NaN at the end: rows have numbers.
    check(tested, &matrix(&[-0.0, 0.0, 2.1], payload), ValueCoding::Dictionary);
    check(tested, &small(&[-0.0f32]), ValueCoding::OneValue);
    check(tested, &small(&[f32::INFINITY]), ValueCoding::AsTheyAre);
}

#[test]
fn f64_that_are_f32_are_stored_so_where_no_dictionary_is_smaller() {
    let tested = &mut Tested::new();
    if !tested.has_f64() {
        return;
    }
    let mut singles = vec![f64::INFINITY, -0.0, f64::from(f32::MAX)];
    singles.extend((0..4_000).map(|at| f64::from(at as f32 / 7.0)));
    check(tested, &small(&singles), ValueCoding::F32);
    // One that is none, where the first looked at are; and one that an f32 has for a subnormal number.
    check(tested, &matrix(&singles, 0.1), ValueCoding::AsTheyAre);
    let subnormal = f64::from(f32::from_bits(5));
    check(tested, &matrix(&singles, subnormal), ValueCoding::AsTheyAre);
}

/// What a plan has after new values, with the workspace it had before.
fn check_update<V: RealValue>(
    tested: &mut Tested,
    old: &Csr<V>,
    new: &Csr<V>,
    expected: ValueCoding,
) {
    let algorithms = tested.algorithms();
    let queue = &tested.queue;
    for algorithm in algorithms {
        let expected = taken(algorithm, expected);
        // Where values are looked at otherwise than by default.
        let planning = *places(queue, algorithm).last().unwrap();
        let mut a = Matrix::upload_blocking(queue, old.view()).unwrap();
        let own = options(algorithm, planning, 2);
        let mut plan = Plan::new_blocking(queue, &a, &own).unwrap();
        let mut workspace = plan.workspace_blocking(queue).unwrap();
        product_in(queue, &plan, &a, &mut workspace);
        a.write_values_blocking(queue, new.values()).unwrap();
        plan.update_values_blocking(queue, &a).unwrap();
        let what = format!("{algorithm} {planning:?}");
        assert_eq!(plan.value_coding(), Some(expected), "{what}");
        let plain = Plan::new_blocking(queue, &a, &options(algorithm, planning, 0)).unwrap();
        let wanted = product(queue, &plain, &a);
        assert_eq!(product_in(queue, &plan, &a, &mut workspace), wanted, "{what}: {expected}");
        assert_eq!(product(queue, &plan, &a), wanted, "{what}: {expected}, a new workspace");
        let saved = plain.plan_bytes() as i64 - plan.plan_bytes() as i64;
        assert_eq!(saved > 0, expected != ValueCoding::AsTheyAre, "{what}: {expected}");
    }
}

#[test]
fn new_values_that_keep_the_coding_are_stored_in_it() {
    let tested = &mut Tested::new();
    let negated = |values: Vec<f32>| values.iter().map(|value| -value).collect::<Vec<_>>();
    let (one, other) = (small(&[2.5f32]), small(&[-7.1f32]));
    check_update(tested, &one, &other, ValueCoding::OneValue);
    let (few, others) = (small(&distinct::<f32>(9)), small(&negated(distinct(200))));
    check_update(tested, &few, &others, ValueCoding::Dictionary);
    // The same values at other nonzeros.
    let turned: Vec<f32> = distinct(9).into_iter().rev().collect();
    check_update(tested, &few, &small(&turned), ValueCoding::Dictionary);
    // A smaller coding would do, which a new plan would take.
    check_update(tested, &few, &one, ValueCoding::Dictionary);
}

#[test]
fn new_values_that_break_the_coding_are_stored_as_they_are() {
    let tested = &mut Tested::new();
    let many = small(&distinct::<f32>(2_000));
    let one = small(&[2.5f32]);
    let few = small(&distinct::<f32>(9));
    check_update(tested, &one, &many, ValueCoding::AsTheyAre);
    check_update(tested, &one, &few, ValueCoding::AsTheyAre);
    check_update(tested, &few, &many, ValueCoding::AsTheyAre);
    check_update(tested, &few, &small(&[f32::NAN]), ValueCoding::AsTheyAre);
    // And back, they stay so.
    check_update(tested, &many, &few, ValueCoding::AsTheyAre);
    if tested.has_f64() {
        let singles: Vec<f64> = (0..4_000).map(f64::from).collect();
        let mut broken = singles.clone();
        broken[499] = 0.1;
        let broken = small(&broken);
        check_update(tested, &small(&singles), &broken, ValueCoding::AsTheyAre);
    }
}
