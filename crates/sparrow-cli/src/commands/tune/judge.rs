//! `sparrow tune judge`: the automatic choice compared with the best of everything on the tuner's list.

use std::collections::BTreeSet;
use std::path::PathBuf;

use csr_core::generate::Suite;
use sparrow::{DeviceTraits, ValueType, default_tables, raw_timings_folder};
use sparrow_bench::tune::{Candidate, Judge, Judgement, judge};
use sparrow_bench::{GeneratorOptions, Input, counted};

use super::{not_tuned, timings_of};
use crate::arguments::{Global, JudgeArguments};
use crate::commands::{check_making, load_compact};
use crate::failure::Failure;
use crate::interrupt::Findings;
use crate::output::{Files, JsonLines, Words, note};
use crate::target::{Target, queue_on};

pub(crate) fn run(global: &Global, arguments: &JudgeArguments) -> Result<(), Failure> {
    let words = Files::new(global)
        .reads_matrices(&arguments.matrices)
        .reads("--from", arguments.from.iter().map(|path| &**path))
        .check()?;
    let Target::Device(device) = Target::one(global)? else {
        return Err(Failure::input("--device host has no choice to judge"));
    };
    let traits = device.traits();
    let inputs = match (arguments.matrices.is_empty(), arguments.suite) {
        (false, _) => arguments.matrices.iter().map(Input::parse).collect::<Result<Vec<_>, _>>()?,
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
    let mut judges = Vec::new();
    for &value_type in &arguments.value_type {
        if let Some(why) = not_tuned(traits, value_type) {
            note(format_args!("{value_type}: left out, {why}"));
            continue;
        }
        let by = Judge {
            list: tuned_list(&files, traits, value_type)?,
            tables: default_tables(),
            products: arguments.products,
            sample_ms: arguments.sample_ms,
        };
        judges.push((value_type, by));
    }
    if judges.is_empty() {
        return Err(Failure::input(
            "of the value types named there is none to judge: f32 and f64 are",
        ));
    }
    let found =
        Found { judgements: Vec::new(), lines: JsonLines::new(global.json.as_deref()), words };
    let findings = Findings::keep(found, |found| {
        // It ends with the status of an interrupt in any case.
        let _ = found.words.print(&summary(&found.judgements));
    });
    let options = [
        ("--scale", arguments.generator.scale.is_some()),
        ("--seed", arguments.generator.seed.is_some()),
    ];
    check_making(&options, &inputs)?;
    let generator = GeneratorOptions::from(arguments.generator);
    let ended = inputs.iter().try_for_each(|input| {
        let matrix = load_compact(input, generator, arguments.reading)?;
        judges.iter().try_for_each(|(value_type, by)| {
            let judgement = matrix
                .with_value_type(*value_type, |matrix| judge(&queue, &input.name(), matrix, by))?;
            findings.with(|found| found.add(judgement))
        })
    });
    findings.finish(|found| {
        let summed = found.words.print(&summary(&found.judgements));
        let lines = if ended.is_ok() { found.lines.finish() } else { Ok(()) };
        ended.and(lines).and(summed)
    })
}

/// The judgements so far.
struct Found {
    judgements: Vec<Judgement>,
    lines: JsonLines,
    words: Words,
}

impl Found {
    fn add(&mut self, judgement: Judgement) -> Result<(), Failure> {
        self.lines.push(&judgement)?;
        let said = self.words.say(line(&judgement));
        self.judgements.push(judgement);
        said
    }
}

/// Every candidate that a tuning of this device has tried.
fn tuned_list(
    files: &[PathBuf],
    traits: &DeviceTraits,
    value_type: ValueType,
) -> Result<BTreeSet<Candidate>, Failure> {
    let mut list = BTreeSet::new();
    for file in files {
        for timing in timings_of(file)? {
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
        "{:<22} {:<4} chosen/best {:.3} (best/itself {:.3}), untuned/chosen {:.3}; chosen {}; best {} {:.1} µs",
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
        let products = &first.products;
        text.push_str(&format!(
            "{value_type}, {products} products, {}, {}: chosen/best {:.3} in the geometric mean, {worst} at \
             most; best/itself {:.3}; untuned/chosen {:.3}, {:.3} at least\n",
            counted(of.len(), "matrix"),
            counted(first.candidates, "candidate"),
            mean(|one| one.auto_over_best),
            mean(|one| one.best_over_itself.max(1.0 / one.best_over_itself)),
            mean(|one| one.untuned_over_auto),
            of.iter().map(|one| one.untuned_over_auto).fold(f64::INFINITY, f64::min)
        ));
    }
    text
}
