//! `sparrow tune judge`: the automatic choice beside the best of everything on the tuner's list.

use std::collections::BTreeSet;
use std::path::PathBuf;

use csr_core::generate::Suite;
use sparrow::{DeviceTraits, Queue, Value, ValueType, raw_timings_folder, usual_tables};
use sparrow_bench::tune::{Candidate, Judge, Judgement, judge, read_timings};
use sparrow_bench::{Input, Making};

use crate::arguments::{Global, JudgeArguments};
use crate::commands::load;
use crate::failure::Failure;
use crate::output::{words_on_stdout, write_json_lines};
use crate::target::{Target, queue_on};

pub(crate) fn run(global: &Global, arguments: &JudgeArguments) -> Result<(), Failure> {
    let Target::Device(device) = Target::one(global)? else {
        return Err(Failure::input("--device host has no choice to judge"));
    };
    let traits = device.traits();
    let inputs = match (arguments.matrices.is_empty(), arguments.suite) {
        (false, _) => arguments
            .matrices
            .iter()
            .map(|text| Input::parse(text))
            .collect::<Result<Vec<_>, _>>()?,
        (true, suite) => {
            let classes = suite.unwrap_or(Suite::Quick).classes();
            classes.into_iter().map(Input::Class).collect()
        }
    };
    let files = match arguments.from.is_empty() {
        false => arguments.from.clone(),
        true => files_of_the_user(),
    };
    let queue = queue_on(&device)?;
    let words = words_on_stdout(global.json.as_deref());
    let mut judgements = Vec::new();
    for &value_type in &arguments.value_type {
        if value_type == ValueType::F64 && !traits.has_f64 {
            continue;
        }
        let by = Judge {
            list: tuned_list(&files, traits, value_type)?,
            tables: usual_tables(),
            products: arguments.products,
            sample_ms: arguments.sample_ms,
        };
        for input in &inputs {
            let making = Making::from(arguments.making);
            let found = match value_type {
                ValueType::F64 => one::<f64>(&queue, input, making, &by)?,
                ValueType::F32 => one::<f32>(&queue, input, making, &by)?,
                other => {
                    return Err(Failure::input(format!(
                        "{other} takes what suits f32: judge that"
                    )));
                }
            };
            if words {
                println!("{}", line(&found));
            }
            judgements.push(found);
        }
    }
    if words {
        print!("{}", summary(&judgements));
    }
    let lines: Result<Vec<_>, _> = judgements.iter().map(serde_json::to_value).collect();
    let lines = lines.map_err(|error| Failure::run(error.to_string()))?;
    write_json_lines(global.json.as_deref(), &lines)
}

fn one<V: Value>(
    queue: &Queue,
    input: &Input,
    making: Making,
    by: &Judge,
) -> Result<Judgement, Failure> {
    let matrix = load::<V, u32>(input, making)?;
    Ok(judge(queue, &input.name(), &matrix, by)?)
}

/// Every candidate that a tuning of this device has tried.
fn tuned_list(
    files: &[PathBuf],
    traits: &DeviceTraits,
    value_type: ValueType,
) -> Result<BTreeSet<Candidate>, Failure> {
    let mut list = BTreeSet::new();
    for file in files {
        for timing in read_timings(file)? {
            let device = &timing.device;
            let is_same =
                device.device == traits.table_name() && device.platform == traits.platform;
            if is_same && timing.value_type == value_type && timing.outcome.times().is_some() {
                list.insert(timing.candidate);
            }
        }
    }
    if list.is_empty() {
        return Err(Failure::input(format!(
            "no raw timings of {} in {value_type} to take the list of candidates from: run sparrow tune first, or \
             name files by --from",
            traits.name
        )));
    }
    Ok(list)
}

/// The files of the user's data folder.
fn files_of_the_user() -> Vec<PathBuf> {
    let folder = raw_timings_folder().and_then(|folder| std::fs::read_dir(folder).ok());
    let paths = folder.into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path()));
    let mut paths: Vec<_> =
        paths.filter(|path| path.extension().is_some_and(|end| end == "jsonl")).collect();
    paths.sort();
    paths
}

fn line(found: &Judgement) -> String {
    format!(
        "{:<22} {:<4} chosen/best {:.3} (best/itself {:.3}), untuned/chosen {:.3}; chosen {}; best {} {:.1} us",
        found.matrix,
        found.value_type,
        found.auto_over_best,
        found.best_over_itself,
        found.untuned_over_auto,
        found.auto,
        found.best,
        found.best_us
    )
}

fn summary(judgements: &[Judgement]) -> String {
    let mut text = String::new();
    for value_type in [ValueType::F32, ValueType::F64] {
        let of: Vec<_> =
            judgements.iter().filter(|one| one.value_type == value_type.name()).collect();
        let Some(first) = of.first() else { continue };
        let mean = |figure: fn(&Judgement) -> f64| {
            let logs: f64 = of.iter().map(|one| figure(one).ln()).sum();
            (logs / of.len() as f64).exp()
        };
        let worst = of.iter().max_by(|a, b| a.auto_over_best.total_cmp(&b.auto_over_best));
        let worst = worst.map_or(String::new(), |worst| {
            format!("{:.3} ({})", worst.auto_over_best, worst.matrix)
        });
        text.push_str(&format!(
            "{value_type}, {} products, {} matrices, {} candidates: chosen/best {:.3} in the geometric mean, {worst} at \
             most; best/itself {:.3}; untuned/chosen {:.3}, {:.3} at least\n",
            first.products,
            of.len(),
            first.candidates,
            mean(|one| one.auto_over_best),
            mean(|one| one.best_over_itself.max(1.0 / one.best_over_itself)),
            mean(|one| one.untuned_over_auto),
            of.iter().map(|one| one.untuned_over_auto).fold(f64::INFINITY, f64::min)
        ));
    }
    text
}
