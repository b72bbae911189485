//! Matrices nobody thought of: random row lengths, columns and values under random options. A failure is
//! shrunk, and the smallest matrix that still fails is printed as a Matrix Market file.

#![expect(clippy::panic, clippy::unwrap_used, reason = "a test panics when its claim is broken")]

use conformance::{Parts, compiles_slowly, device, is_full, is_interpreter, is_shared, queue};
use csr_core::{Csr, Offset, RealValue, io};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestError, TestRng, TestRunner};
use sparrow::{Accumulate, Queue};
use sparrow_bench::selftest::{Case, CaseError, Configuration, Placement, run};

/// A matrix as numbers that shrink well, and what to do with it.
#[derive(Clone, Debug)]
struct Problem {
    /// For each row, its columns in any order, repeats allowed, modulo `cols`.
    rows: Vec<Vec<u32>>,
    cols: u32,
    seed: u64,
    configuration: Configuration,
    kind: Kind,
    alpha: i8,
    beta: i8,
    shift: usize,
}

/// What programs are built for: few kinds, since building takes longer than running. The suite has all.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    F32,
    F32CompensatedU64,
    F64ScalarsOnDevice,
}

/// What runs anywhere: of those with hyper-parameters by hand the parts that are dealt to this device.
fn configurations() -> Vec<Configuration> {
    let mut parts = Parts::of("configurations for random matrices");
    let mut number = 0;
    let mut all = Configuration::all();
    all.retain(|one| {
        number += 1;
        // A user's groups and unrolled loops take longest to compile, and have no other code.
        let is_left_out = one.parameters.is_empty() && compiles_slowly(&device()) && !is_full();
        one.runs_anywhere()
            && !is_left_out
            && (one.parameters.is_empty() || parts.takes(number - 1))
    });
    all
}

/// What any of the configurations is built for. A compiler that takes long goes without plain f32 where it has all of them,
/// and not where another one has none of its configurations.
fn kinds(is_slow: bool, is_shared: bool, has_f64: bool) -> Vec<Kind> {
    let mut kinds = vec![Kind::F32CompensatedU64, Kind::F32];
    if is_slow && !is_shared {
        kinds.truncate(1);
    }
    kinds.extend(has_f64.then_some(Kind::F64ScalarsOnDevice));
    kinds
}

#[test]
fn configurations_that_two_compilers_share_meet_every_kind_on_either() {
    let [slow, other] = [true, false].map(|is_slow| kinds(is_slow, true, true));
    assert_eq!(slow, other);
    assert!(slow.contains(&Kind::F32));
}

fn problems(has_f64: bool, configurations: Vec<Configuration>) -> impl Strategy<Value = Problem> {
    let length = prop_oneof![
        4 => Just(0_usize),
        6 => 1_usize..8,
        2 => 28_usize..36,
        2 => 120_usize..136,
        1 => 250_usize..265,
        1 => 500_usize..900,
    ];
    let row = length.prop_flat_map(|length| prop::collection::vec(0_u32..2000, length));
    let is_slow = compiles_slowly(&device()) && !is_full();
    let kinds = kinds(is_slow, is_shared(), has_f64);
    (
        prop::collection::vec(row, 0..90),
        1_u32..800,
        any::<u64>(),
        prop::sample::select(configurations),
        prop::sample::select(kinds),
        (-2_i8..3, -2_i8..3, 0_usize..6),
    )
        .prop_map(move |(rows, cols, seed, configuration, kind, (alpha, beta, shift))| {
            Problem { rows, cols, seed, configuration, kind, alpha, beta, shift }
        })
}

impl Problem {
    fn matrix<V: RealValue, O: Offset>(&self) -> Csr<V, O> {
        let (mut offsets, mut columns) = (vec![O::zeroed()], Vec::new());
        for row in &self.rows {
            columns.extend(row.iter().map(|column| column % self.cols));
            offsets.push(O::try_from_usize(columns.len()).unwrap());
        }
        let values = csr_core::random_vector::<f64>(self.seed, columns.len());
        let values = values.into_iter().map(V::from_f64).collect();
        Csr::new(self.cols as usize, offsets, columns, values).unwrap()
    }

    fn run_typed<V: RealValue, O: Offset>(&self, queue: &Queue) -> Result<(), CaseError> {
        let matrix: Csr<V, O> = self.matrix();
        let x = csr_core::random_vector(self.seed ^ 1, matrix.cols());
        let case = Case {
            algorithm: self.configuration.algorithm,
            variant: self.configuration.variant,
            parameters: self.configuration.parameters.clone(),
            accumulate: match self.kind {
                Kind::F32CompensatedU64 => Accumulate::Compensated,
                _ => Accumulate::Plain,
            },
            scalars_on_device: matches!(self.kind, Kind::F64ScalarsOnDevice),
            alpha: f64::from(self.alpha) * 0.75,
            beta: f64::from(self.beta) * 0.5,
            placement: match self.shift {
                0 => Placement::Buffers,
                shift => Placement::SubBuffers(shift),
            },
            launches: 2,
        };
        run(queue, &matrix, &x, &case).map(|_| ())
    }

    fn run(&self, queue: &Queue) -> Result<(), CaseError> {
        match self.kind {
            Kind::F32 => self.run_typed::<f32, u32>(queue),
            Kind::F32CompensatedU64 => self.run_typed::<f32, u64>(queue),
            Kind::F64ScalarsOnDevice => self.run_typed::<f64, u32>(queue),
        }
    }

    /// The matrix as a Matrix Market file, and the rest in words.
    fn told(&self) -> String {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("smallest.mtx");
        io::write_matrix_market(&path, self.matrix::<f64, u64>().view()).unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        format!("{}\n{:?}", text, Problem { rows: Vec::new(), ..self.clone() })
    }
}

/// The smallest problem that `fails`, told; `None` if none of `cases` does.
fn smallest_failure(
    cases: u32,
    has_f64: bool,
    configurations: Vec<Configuration>,
    fails: impl Fn(&Problem) -> Result<(), String>,
) -> Option<String> {
    let config =
        Config { cases, max_shrink_iters: 50_000, failure_persistence: None, ..Config::default() };
    // The same problems every time.
    let random = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let mut runner = TestRunner::new_with_rng(config, random);
    let found = runner.run(&problems(has_f64, configurations), |problem| {
        fails(&problem).map_err(TestCaseError::fail)
    });
    match found {
        Ok(()) => None,
        Err(TestError::Fail(reason, smallest)) => Some(format!("{reason}\n{}", smallest.told())),
        Err(TestError::Abort(reason)) => panic!("no problem could be made: {reason}"),
    }
}

#[test]
fn random_matrices_are_right() {
    let queue = queue();
    let cases = match (is_full(), is_interpreter(&device())) {
        (true, false) => 3000,
        (true, true) => 300,
        (false, false) => 150,
        (false, true) => 40,
    };
    let has_f64 = queue.context().device().traits().has_f64;
    let fails = |problem: &Problem| problem.run(&queue).map_err(|error| error.to_string());
    if let Some(told) = smallest_failure(cases, has_f64, configurations(), fails) {
        panic!("{told}");
    }
}

#[test]
fn a_failure_is_told_as_the_smallest_matrix_that_fails() {
    // Whatever the device does: a row of more than 30 nonzeros is said to be wrong.
    let fails = |problem: &Problem| {
        let is_long = problem.rows.iter().any(|row| row.len() > 30);
        if is_long { Err("a row is long".to_owned()) } else { Ok(()) }
    };
    let told = smallest_failure(200, false, Configuration::all(), fails).unwrap();
    let lines: Vec<&str> = told.lines().collect();
    assert_eq!(lines[0], "a row is long");
    assert_eq!(lines[1], "%%MatrixMarket matrix coordinate real general");
    // One row, one column, as few nonzeros as fail; repeats are summed by whoever reads the file.
    assert!(lines[2].starts_with("1 1 "), "{told}");
    assert!(told.contains("algorithm: CsrScalar"), "{told}");
}
