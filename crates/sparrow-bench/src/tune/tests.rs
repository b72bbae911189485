//! The whole way from trials to rules, on a device that is a formula.

use std::collections::BTreeMap;

use cl_kernels::{Algorithm, DeviceTraits, DeviceType, Reuse, SvmSupport};
use csr_core::generate::{Rung, Skew};
use csr_core::{RowLengths, ValueType};

use super::*;

/// A device to tune for.
pub(super) fn device() -> DeviceTraits {
    DeviceTraits {
        name: "Formula".to_owned(),
        board_name: None,
        vendor: "No vendor".to_owned(),
        platform: "Test".to_owned(),
        driver: "1".to_owned(),
        version: "OpenCL 1.2".to_owned(),
        architecture: String::new(),
        device_type: DeviceType::Gpu,
        compute_units: 8,
        simd_width: 32,
        max_group_size: 1024,
        local_bytes: 48 << 10,
        global_bytes: 1 << 30,
        max_allocation_bytes: 1 << 28,
        cache_bytes: 4 << 20,
        cache_line_bytes: 64,
        base_align_bytes: 128,
        has_f64: true,
        has_int64_atomics: true,
        has_sub_groups: false,
        shuffle_sizes: Vec::new(),
        keeps_f32_subnormals: true,
        has_host_memory: false,
        svm: SvmSupport::default(),
    }
}

/// Microseconds by formula: short rows suit `csr_vector` with about as many items, giants `csr_adaptive`; a copy in
/// order of length is the fastest of all and takes sixty products to make; one candidate is wrong, one hangs.
pub(super) struct Formula {
    pub(super) trials: usize,
    pub(super) most: usize,
    pub(super) ended: Vec<Timing>,
    pub(super) lengths: Lengths,
}

/// Rows, nonzeros and row lengths of rungs, each of which is made once.
#[derive(Default)]
pub(super) struct Lengths(BTreeMap<String, (u64, u64, RowLengths)>);

impl Lengths {
    /// Those of a rung of 60,000 nonzeros that is like this one.
    pub(super) fn of(&mut self, rung: Rung) -> (u64, u64, RowLengths) {
        let small = self.0.entry(Rung { nnz: 60_000, ..rung }.to_string());
        *small.or_insert_with_key(|name| {
            let small = name.parse::<Rung>().unwrap().generate(1).unwrap();
            let lengths = RowLengths::of(small.pattern().offsets());
            (small.rows() as u64, small.nnz() as u64, lengths)
        })
    }
}

impl Formula {
    /// The outcome compared with a reference, which takes what it takes by itself.
    fn outcome_of(trial: &Trial, lengths: RowLengths, rows: u64, nnz: u64) -> Outcome {
        let outcome = |candidate| Self::outcome(candidate, lengths, rows, nnz);
        match (outcome(&trial.candidate), outcome(&trial.reference)) {
            (Outcome::Timed(times), Outcome::Timed(reference)) => {
                Outcome::Timed(Times { reference_us: reference.samples_us, ..times })
            }
            (outcome, _) => outcome,
        }
    }

    fn outcome(candidate: &Candidate, lengths: RowLengths, rows: u64, nnz: u64) -> Outcome {
        let mean = nnz as f64 / rows as f64;
        let base = nnz as f64 / 1000.0;
        let is_giant = lengths.longest > nnz / 50;
        let product = match candidate.algorithm {
            Algorithm::CsrScalar => base * (1.0 + mean / 4.0) + lengths.longest as f64 / 50.0,
            Algorithm::CsrVector => {
                let items = f64::from(candidate.parameters["items_per_row"]);
                base * (1.1 + (items / (mean / 2.0)).log2().abs() / 4.0)
                    + lengths.longest as f64 / 50.0
            }
            Algorithm::CsrAdaptive => {
                let block = f64::from(candidate.parameters["nnz_per_wg"]);
                base * (1.3 + (block / 2048.0).log2().abs() / 10.0)
            }
            Algorithm::SegmentedSum if candidate.parameters["nnz_per_item"] == 8 => {
                return Outcome::Wrong { message: "row 1 is 2".to_owned() };
            }
            Algorithm::SegmentedSum => return Outcome::Hung { seconds: 1.0 },
            Algorithm::CsrFlat | Algorithm::CsrPieces => base * 2.0,
            Algorithm::EvcHyb => base * if is_giant { 3.0 } else { 1.0 },
            _ => base * 4.0,
        };
        let setup_us = if candidate.algorithm == Algorithm::EvcHyb { 60.0 * product } else { 1.0 };
        let rounded = |us: f64| (us * 1e3).round() / 1e3;
        Outcome::Timed(Times {
            samples_us: vec![rounded(product); 3],
            reference_us: vec![100.0; 3],
            setup_us: rounded(setup_us),
        })
    }
}

impl Trials for Formula {
    fn run(&mut self, trial: &Trial) -> Result<Option<TrialReport>, TuneError> {
        self.trials += 1;
        if self.trials > self.most {
            return Ok(None);
        }
        let rung: Rung = trial.matrix.parse().unwrap();
        let (rows, nnz, lengths) = self.lengths.of(rung);
        let outcome = Self::outcome_of(trial, lengths, rows, nnz);
        let RowLengths { longest: longest_row, in_step, changes } = lengths;
        Ok(Some(TrialReport { rows, nnz, longest_row, in_step, changes, outcome }))
    }

    fn spent(&self) -> f64 {
        self.trials as f64 / self.most as f64
    }

    fn ended(&mut self, timing: &Timing, _: &'static str, _: Option<(&Candidate, f64)>) {
        self.ended.push(timing.clone());
    }
}

pub(super) fn tuned(most: usize) -> (Board, Formula) {
    tuned_on(&device(), most)
}

fn tuned_on(traits: &DeviceTraits, most: usize) -> (Board, Formula) {
    let tuned = TunedDevice::of(traits, traits.cache_bytes);
    let rung = |(mean_row, skew)| Rung { mean_row, skew, nnz: 60_000 };
    let ladder = [
        (3, Skew::Even),
        (6, Skew::Even),
        (20, Skew::Even),
        (70, Skew::Even),
        (8, Skew::Giants),
        (20, Skew::Giants),
        (40, Skew::Giants),
        (200, Skew::Even),
    ];
    let ladder = ladder.map(|one| rung(one).into()).to_vec();
    let effort = Effort {
        ladder,
        validation: Vec::new(),
        budget: std::time::Duration::ZERO,
        sampling_ms: 1,
        winners: 7,
    };
    let mut trials = Formula { trials: 0, most, ended: Vec::new(), lengths: Lengths::default() };
    let board = tune(traits, &tuned, &[ValueType::F32], &effort, &mut trials).unwrap();
    (board, trials)
}

#[test]
fn the_rules_take_nearly_the_best_on_every_matrix_and_weigh_set_up_against_products() {
    let (board, trials) = tuned(4000);
    assert!(trials.trials < 1500, "{} trials: the search does not stop by itself", trials.trials);
    let tuned = trials.ended[0].device.clone();
    let entry = entry_of(&board, &tuned, "a formula".to_owned());
    for products in Reuse::ALL {
        let ratios = ratios(&entry, &board, ValueType::F32, products);
        assert_eq!(ratios.len(), 8);
        for (matrix, ratio) in ratios {
            assert!(ratio < 1.15, "{matrix}, {products}: {ratio}");
        }
    }
    let algorithms = |products| {
        let rules = entry.rules(ValueType::F32).unwrap();
        rules.own(products).iter().map(|rule| rule.algorithm).collect::<Vec<_>>()
    };
    assert!(algorithms(Reuse::Many).contains(&Algorithm::EvcHyb));
    assert!(!algorithms(Reuse::Several).contains(&Algorithm::EvcHyb));
    // What was wrong or hung is in nothing that is kept.
    assert!(!entry.kernel.contains_key("segmented_sum"));
    assert!(!algorithms(Reuse::Several).contains(&Algorithm::SegmentedSum));
    // Refining has left the default block size.
    assert_eq!(entry.kernel["csr_adaptive"]["f32"]["nnz_per_wg"], 2048);
}

#[test]
fn trials_that_are_missing_here_and_there_cost_no_rules() {
    let (board, trials) = tuned(4000);
    let pair = |timing: &Timing| (timing.matrix.clone(), timing.candidate.clone());
    let pairs: std::collections::BTreeSet<_> = trials.ended.iter().map(pair).collect();
    let is_kept = |timing: &&Timing| {
        let place = pairs.iter().position(|one| *one == pair(timing)).unwrap();
        place % 6 != 1 || timing.candidate == timing.reference
    };
    let gappy = Board::of(trials.ended.iter().filter(is_kept));
    let entry = entry_of(&gappy, &trials.ended[0].device, "a formula".to_owned());
    let ratios = ratios(&entry, &board, ValueType::F32, Reuse::Several);
    assert_eq!(ratios.len(), 8);
    for (matrix, ratio) in ratios {
        assert!(ratio < 1.25, "{matrix}: {ratio}");
    }
}

#[test]
fn a_launch_that_found_the_caches_cold_counts_only_where_nothing_was_sampled() {
    let (_, trials) = tuned(8);
    let candidate = Candidate::by_default(Algorithm::CsrScalar, &device(), ValueType::F32, 3.0);
    let timing =
        |outcome| Timing { outcome, candidate: candidate.clone(), ..trials.ended[0].clone() };
    let times = |us: f64| Times { samples_us: vec![us], reference_us: vec![100.0], setup_us: 0.0 };
    let cost = |outcomes: Vec<Outcome>| {
        let timings: Vec<_> = outcomes.into_iter().map(timing).collect();
        let board = Board::of(&timings);
        let matrix = board.matrix(ValueType::F32, &timings[0].matrix).unwrap();
        matrix.cost_us(&timings[0].candidate, Reuse::Many)
    };
    let (cold, warm) = (|| Outcome::Slow(times(300.0)), Outcome::Timed(times(50.0)));
    assert_eq!(cost(vec![cold()]), Some(300.0));
    assert_eq!(cost(vec![cold(), warm, cold()]), Some(50.0));
}

#[test]
fn a_reference_takes_the_median_of_all_its_samples_unless_it_was_compared_with_another() {
    let (_, trials) = tuned(8);
    let first = &trials.ended[0];
    assert_eq!(first.candidate, first.reference);
    let other = Candidate::by_default(Algorithm::CsrScalar, &device(), ValueType::F32, 3.0);
    let timing = |candidate: &Candidate, us: f64, reference_us: f64| Timing {
        outcome: Outcome::Timed(Times {
            samples_us: vec![us],
            reference_us: vec![reference_us],
            setup_us: 0.0,
        }),
        candidate: candidate.clone(),
        ..first.clone()
    };
    let timings = [
        timing(&first.candidate, 130.0, 100.0),
        timing(&other, 55.0, 110.0),
        timing(&other, 55.0, 110.0),
    ];
    let board = Board::of(&timings);
    let matrix = board.matrix(ValueType::F32, &first.matrix).unwrap();
    let cost = |candidate| matrix.cost_us(candidate, Reuse::Many);
    assert_eq!((cost(&first.candidate), cost(&other)), (Some(110.0), Some(55.0)));
    // A first look at 40 by itself does not outweigh three trials compared with the reference.
    let alone = Timing { reference: other.clone(), ..timing(&other, 40.0, 40.0) };
    let trials = [alone, timing(&first.candidate, 100.0, 100.0)];
    let in_turn = std::iter::repeat_n(timing(&other, 200.0, 100.0), 3);
    let board = Board::of(&trials.into_iter().chain(in_turn).collect::<Vec<_>>());
    let matrix = board.matrix(ValueType::F32, &first.matrix).unwrap();
    assert_eq!(matrix.cost_us(&other, Reuse::Many), Some(200.0));
}

#[test]
fn a_copy_of_a_is_best_for_many_products_alone() {
    let (_, trials) = tuned(8);
    let first = &trials.ended[0];
    let times = |us: f64| Times { samples_us: vec![us], reference_us: vec![100.0], setup_us: 0.0 };
    let copy = Candidate { algorithm: Algorithm::SellSigma, ..first.candidate.clone() };
    let timings =
        [(first.candidate.clone(), 100.0), (copy.clone(), 50.0)].map(|(candidate, us)| Timing {
            outcome: Outcome::Timed(times(us)),
            candidate,
            ..first.clone()
        });
    let board = Board::of(&timings);
    let matrix = board.matrix(ValueType::F32, &first.matrix).unwrap();
    let best = |products| matrix.best(products, |_| true).unwrap().0;
    assert_eq!(best(Reuse::Many), &copy);
    assert_eq!(best(Reuse::Several), &first.candidate);
    assert_eq!(best(Reuse::Once), &first.candidate);
}

#[test]
fn what_the_shipped_tables_choose_is_tried_before_the_defaults_of_algorithms() {
    let h200 = DeviceTraits {
        name: "NVIDIA H200".to_owned(),
        platform: "NVIDIA CUDA".to_owned(),
        vendor: "NVIDIA Corporation".to_owned(),
        architecture: "sm_90".to_owned(),
        ..device()
    };
    let is_shipped = |timing: &Timing| {
        let candidate = &timing.candidate;
        candidate.algorithm == Algorithm::CsrFlat && candidate.parameters["tile_nnz"] == 4096
    };
    // Eight matrices: what would run untuned on each, then what is shipped.
    let (_, trials) = tuned_on(&h200, 60);
    assert!(trials.ended[8..16].iter().any(is_shipped));
    let (_, trials) = tuned(60);
    assert!(!trials.ended[..16].iter().any(is_shipped));
}

#[test]
fn a_search_that_is_cut_short_keeps_what_it_verified() {
    for most in [8, 30, 90] {
        let (board, trials) = tuned(most);
        assert!(!trials.ended.is_empty() && trials.ended.len() <= most);
        let entry = entry_of(&board, &trials.ended[0].device, "a formula".to_owned());
        let rules = entry.rules(ValueType::F32).unwrap();
        assert!(rules.several.last().unwrap().when.is_empty());
    }
}

#[test]
fn timings_read_as_they_are_written_and_make_the_same_entry() {
    let (board, trials) = tuned(600);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("raw.jsonl");
    let lines = trials.ended.iter().map(|timing| serde_json::to_string(timing).unwrap());
    std::fs::write(&path, lines.collect::<Vec<_>>().join("\n")).unwrap();
    let read = read_timings(&path).unwrap();
    assert!(read == trials.ended);
    let device = &read[0].device;
    let entry = |board: &Board| entry_of(board, device, "a formula".to_owned());
    assert_eq!(entry(&Board::of(&read)), entry(&board));
    // A few KB.
    assert!(toml::to_string(&entry(&board)).unwrap().len() < 4096);

    std::fs::write(&path, "{\"schema\":\"sparrow-tune/2\"}").unwrap();
    let error = read_timings(&path).unwrap_err().to_string();
    assert!(error.contains("raw.jsonl: line 1: "), "{error}");
}
