//! The whole way from trials to the cost model's numbers, on a device of which the model is true.

use std::collections::BTreeMap;
use std::sync::OnceLock;
use std::time::Duration;

use csr_core::generate::{Rung, Skew};

use super::*;
use crate::tune::{
    Effort, Outcome, Times, Timing, Trial, TrialReport, Trials, TuneError, TunedDevice, models_of,
    tests, tune, validate,
};

const KINDS: [(u32, Skew); 12] = [
    (3, Skew::Even),
    (9, Skew::Even),
    (30, Skew::Even),
    (90, Skew::Even),
    (400, Skew::Even),
    (6, Skew::Giants),
    (25, Skew::Giants),
    (5, Skew::Mixed),
    (40, Skew::Mixed),
    (12, Skew::Spread),
    (60, Skew::Spread),
    (250, Skew::Spread),
];

/// A device of which the model is true, with numbers that no table has.
struct Modelled {
    traits: DeviceTraits,
    cache_bytes: u64,
    numbers: CostNumbers,
    spent: usize,
    lengths: tests::Lengths,
}

impl Modelled {
    /// Launches are cheap, rows of an item's own dear.
    fn new() -> Self {
        let traits = tests::device();
        let baseline = Tables::untuned().default_model(&traits, ValueType::F32).unwrap();
        let numbers = CostNumbers {
            launch: baseline.launch / 3.0,
            nonzero: baseline.nonzero * 2.0,
            row: baseline.row * 2.5,
            step: baseline.step * 3.0,
            chain: baseline.chain / 2.0,
            ..baseline
        };
        let lengths = tests::Lengths::default();
        Modelled { traits, cache_bytes: 8 << 20, numbers, spent: 0, lengths }
    }

    fn tuned(&self) -> TunedDevice {
        TunedDevice::of(&self.traits, self.cache_bytes)
    }

    /// Microseconds of product and set-up; none of what the model does not compare, but for the baseline.
    fn times_us(&self, candidate: &Candidate, shape: &MatrixShape) -> Option<(f64, f64)> {
        let model = candidate.algorithm.spec().model?;
        let fit = Fit::plain(&self.traits, ValueType::F32, shape.mean_row());
        let baseline = candidate.algorithm.default_parameters(&fit);
        let mut all = std::iter::once(baseline).chain((model.candidates)(&fit));
        let named =
            all.find(|named| *candidate == Candidate::of_named(candidate.algorithm, named))?;
        let question =
            CostQuestion::new(shape, ValueType::F32, &self.traits, self.cache_bytes, &self.numbers);
        let cost = (model.cost)(&question, &named);
        Some((1e-3 * cost.product_ns(), 1e-3 * cost.setup_ns))
    }

    fn matrices(kinds: &[(u32, Skew)], nnz: &[u64]) -> Vec<crate::tune::LadderMatrix> {
        let rung = |nnz: &u64| {
            let nnz = *nnz;
            kinds.iter().map(move |&(mean_row, skew)| Rung { mean_row, skew, nnz }.into())
        };
        nnz.iter().flat_map(rung).collect()
    }
}

impl Trials for Modelled {
    fn run(&mut self, trial: &Trial) -> Result<Option<TrialReport>, TuneError> {
        self.spent += 1;
        let rung: Rung = trial.matrix.parse().unwrap();
        // The row lengths of a small one stand for those of all.
        let (rows, nnz, lengths) = self.lengths.of(rung);
        let times = rung.nnz / 60_000;
        let shape = MatrixShape {
            rows: rows * times,
            nnz: nnz * times,
            longest_row: lengths.longest,
            in_step: lengths.in_step * times,
            changes: lengths.changes * times,
        };
        let outcome = match self.times_us(&trial.candidate, &shape) {
            Some((product_us, setup_us)) => {
                let reference_us =
                    self.times_us(&trial.reference, &shape).map_or(100.0, |(us, _)| us);
                Outcome::Timed(Times {
                    samples_us: vec![product_us; 3],
                    reference_us: vec![reference_us; 3],
                    setup_us,
                })
            }
            None => Outcome::Refused { message: "not modelled".to_owned() },
        };
        let MatrixShape { rows, nnz, longest_row, in_step, changes } = shape;
        Ok(Some(TrialReport { rows, nnz, longest_row, in_step, changes, outcome }))
    }

    fn spent(&self) -> f64 {
        self.spent as f64 / 20_000.0
    }

    fn ended(&mut self, _: &Timing, _: &'static str, _: Option<(&Candidate, f64)>) {}
}

/// What a search finds.
fn board() -> &'static Board {
    static BOARD: OnceLock<Board> = OnceLock::new();
    BOARD.get_or_init(|| {
        let mut device = Modelled::new();
        let (traits, tuned) = (device.traits.clone(), device.tuned());
        tune(&traits, &tuned, &[ValueType::F32], &effort(), &mut device).unwrap()
    })
}

fn effort() -> Effort {
    Effort {
        ladder: Modelled::matrices(&KINDS, &[120_000, 6_000_000]),
        validation: Modelled::matrices(
            &[(7, Skew::Even), (50, Skew::Even), (15, Skew::Mixed), (100, Skew::Giants)],
            &[240_000, 12_000_000],
        ),
        budget: Duration::ZERO,
        sampling_ms: 1,
        winners: 7,
    }
}

#[test]
fn a_device_whose_numbers_no_table_has_is_chosen_for_as_well_as_one_that_tables_know() {
    let device = Modelled::new();
    let (traits, tuned, board) = (device.traits.clone(), device.tuned(), board());
    let start = Tables::untuned().default_model(&traits, ValueType::F32).unwrap();
    let fitted = models_of(board, &traits, &tuned)[&ValueType::F32].numbers;
    // What a choice takes over the best, in the mean and at most.
    let loss = |numbers: CostNumbers| {
        let ratios = board.matrices(ValueType::F32).map(|(_, matrix)| {
            let case = Case::new(matrix, &traits, ValueType::F32).unwrap();
            let question = CostQuestion::new(
                &case.shape,
                ValueType::F32,
                &traits,
                tuned.cache_bytes,
                &numbers,
            );
            let estimate = |one: &&Tried| (one.model.cost)(&question, &one.parameters).product_ns();
            let may = |one: &&Tried| one.candidate.may_be_chosen(Reuse::Several);
            let chosen = case.tried.iter().filter(may);
            let chosen = chosen.min_by(|a, b| estimate(a).total_cmp(&estimate(b))).unwrap();
            let best = case.tried.iter().filter(may).map(|one| one.product_us);
            chosen.product_us / best.fold(f64::INFINITY, f64::min)
        });
        let ratios: Vec<f64> = ratios.collect();
        let logs: f64 = ratios.iter().map(|ratio| ratio.ln()).sum();
        let most = ratios.iter().copied().fold(0.0, f64::max);
        ((logs / ratios.len() as f64).exp(), most)
    };
    let ((before, _), (after, most)) = (loss(start), loss(fitted));
    assert!(before > 1.03 && after < 1.01 && most < 1.1, "{before} {after} {most}");
}

#[test]
fn a_model_that_gains_more_than_rules_takes_their_place_and_is_written() {
    let mut device = Modelled::new();
    let (traits, tuned) = (device.traits.clone(), device.tuned());
    let models = models_of(board(), &traits, &tuned);
    // An item a row is slow here.
    let scalar = Candidate::by_default(Algorithm::CsrScalar, &traits, ValueType::F32, 8.0).rule();
    let mut entry = tuned.entry("a test".to_owned());
    entry.choice.entry("f32".to_owned()).or_default().several.push(scalar);
    let found = validate(&traits, &tuned, &mut entry, &models, &effort(), &mut device).unwrap();
    let (model, numbers) = (&models[&ValueType::F32], entry.model["f32"]);
    assert_eq!(CostNumbers { margin: 0.0, ..numbers }, model.numbers);
    assert!(numbers.margin > 0.0);
    // What stays where nothing promises the margin more is written too.
    let baseline = Candidate::by_default(Algorithm::CsrFlat, &traits, ValueType::F32, 8.0);
    let line = &entry.kernel["csr_flat"]["f32"];
    assert!(model.baselines.iter().chain([&baseline]).any(|one| one.parameters == *line));
    assert!(entry.choice.is_empty());
    assert_eq!(found.gains.len(), effort().validation.len());
    assert!(found.gains.iter().all(|(.., gain)| *gain > 0.98), "{:?}", found.gains);
    // A table that a user may read and give back.
    let table =
        cl_kernels::DeviceTable { devices: vec![entry], ..cl_kernels::DeviceTable::empty() };
    let text = toml::to_string(&table).unwrap();
    let read = cl_kernels::parse_device_table(std::path::Path::new("tuned"), &text);
    assert_eq!(read, (table, Vec::new()));
}

#[test]
fn too_few_matrices_make_no_model_and_a_cpu_has_none() {
    let mut device = Modelled::new();
    let (traits, tuned) = (device.traits.clone(), device.tuned());
    let few = Effort { ladder: Modelled::matrices(&KINDS[..3], &[120_000]), ..effort() };
    let small = tune(&traits, &tuned, &[ValueType::F32], &few, &mut device).unwrap();
    assert_eq!(models_of(&small, &traits, &tuned), BTreeMap::new());
    let cpu = DeviceTraits { device_type: cl_kernels::DeviceType::Cpu, ..traits };
    assert_eq!(models_of(board(), &cpu, &tuned), BTreeMap::new());
}
