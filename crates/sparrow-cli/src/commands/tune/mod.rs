//! `sparrow tune`: tries candidates on a device, and writes what suits it into the device table.

mod judge;
mod merge;
mod runs;
mod sweep;

use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Duration;

use csr_core::io::STANDARD_INPUT;
use sparrow::{
    Device, DeviceEntry, DeviceTraits, Reuse, ValueType, default_tables, last_cache_bytes_blocking,
    user_table_path, write_entry,
};
use sparrow_bench::counted;
use sparrow_bench::tune::{
    Arena, Board, Effort, Timing, TuneError, TunedDevice, Validation, entry_of, held_out_ratio,
    models_of, parse_timings, ratios, read_timings, serve, tune, validate,
};

use crate::arguments::{BenchFigure, Global, Tune, TuneCommand};
use crate::failure::Failure;
use crate::interrupt;
use crate::output::{Files, JsonLines, Stream, Words, is_standard_output, note};
use crate::target::{Named, Target, one_device, queue_on};
use runs::Runs;

/// Time for a device that is tuned.
const DEFAULT_BUDGET: Duration = Duration::from_secs(120);

/// The hidden command: answers trials on standard input until it ends.
pub(crate) fn serve_trials(global: &Global) -> Result<(), Failure> {
    let Target::Device(device) = Target::one(global)? else {
        return Err(Failure::input("trials run on an OpenCL device"));
    };
    let mut arena = Arena::new(queue_on(&device)?);
    match serve(&mut arena, std::io::stdin().lock(), Stream::Output.open()?) {
        // The tuning has ended.
        Err(TuneError::Io(error)) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
        served => Ok(served?),
    }
}

pub(crate) fn run(global: &Global, arguments: &Tune) -> Result<(), Failure> {
    match &arguments.command {
        Some(TuneCommand::Merge(arguments)) => return merge::run(global, arguments),
        Some(TuneCommand::Judge(arguments)) => return judge::run(global, arguments),
        None => {}
    }
    let generator = [
        ("--scale", arguments.generator().scale.is_some()),
        ("--seed", arguments.generator().seed.is_some()),
        ("--allow-overflow", arguments.reading.allow_overflow),
    ];
    if let Some((option, _)) = generator.iter().find(|(_, is_given)| *is_given && !arguments.sweep)
    {
        let text = format!("{option} is for the matrices of --sweep: leave it out, or add --sweep");
        return Err(Failure::input(text));
    }
    let words = Files::new(global)
        .reads_matrices(&arguments.matrices)
        .updates("--into", arguments.into.as_deref())
        .writes("--raw", arguments.raw.as_deref())
        .writes("--html", arguments.html.as_deref())
        .check()?;
    let environment: Vec<_> = std::env::vars_os().collect();
    let devices = devices(global)?;
    if arguments.sweep {
        return sweep::run(global, &sweep::Ask::of(arguments), words, &devices);
    }
    // An interrupt ends the trials, and the entry is made from those there are.
    interrupt::end_myself();
    let mut lines = JsonLines::new(global.json.as_deref());
    let mut keeper = Keeper::new(arguments.into.as_deref(), words);
    let mut unwritten = Ok(());
    for device in &devices {
        let mut runs = Runs::new(device, arguments, environment.clone(), &mut lines)?;
        let tuned = tune_device(&mut keeper, arguments, device, &mut runs);
        let written = runs.into_written();
        match tuned.and(written) {
            Ok(()) => {}
            Err(failure @ (Failure::Run(_) | Failure::Closed)) => unwritten = Err(failure),
            Err(failure) => return Err(failure),
        }
    }
    lines.finish()?;
    keeper.finish()?;
    unwritten
}

/// `bench figure` with a figure of a sweep.
pub(crate) fn sweep_figure(global: &Global, arguments: &BenchFigure) -> Result<(), Failure> {
    if arguments.measure {
        let text = format!(
            "--measure is not for {}, which no rate is compared with: leave it out",
            arguments.figure
        );
        return Err(Failure::input(text));
    }
    let words = Files::new(global)
        .reads_matrices(&arguments.matrices)
        .writes("--html", arguments.report.html.as_deref())
        .check()?;
    let device = one_device(global, "bench figure")?;
    sweep::run(global, &sweep::Ask::of_figure(arguments), words, &[device])
}

/// The devices that are named, or all.
fn devices(global: &Global) -> Result<Vec<Device>, Failure> {
    let devices = match Named::by_option(global) {
        Named::Host => {
            return Err(Failure::input("--device host has nothing to tune: it runs no kernels"));
        }
        Named::Text(text) => sparrow::find_devices(text)?,
        Named::Best | Named::All => sparrow::devices()?,
    };
    match devices.is_empty() {
        true => Err(sparrow::RuntimeError::NoDevice.into()),
        false => Ok(devices),
    }
}

/// Tunes one device and writes its entry.
fn tune_device(
    keeper: &mut Keeper<'_>,
    arguments: &Tune,
    device: &Device,
    runs: &mut Runs<'_>,
) -> Result<(), Failure> {
    let traits = device.traits();
    let measured = last_cache_bytes_blocking(&queue_on(device)?)?;
    let cache_bytes = measured.unwrap_or_else(|| default_tables().cache_bytes(traits));
    let tuned = TunedDevice::of(traits, cache_bytes);
    let mut value_types = arguments.value_type.clone();
    value_types.retain(|value_type| {
        let why = not_tuned(traits, *value_type);
        why.iter().for_each(|why| note(format_args!("{value_type}: left out, {why}")));
        why.is_none()
    });
    if value_types.is_empty() {
        let text = "of the value types named there is none to tune: f32 and f64 are, the latter where the \
                    device has it";
        return Err(Failure::input(text));
    }
    let effort = effort(arguments, &tuned);
    runs.begin(&effort);
    let board = tune(traits, &tuned, &value_types, &effort, runs)?;
    let mut entry = entry_of(&board, &tuned, runs.origin(&effort));
    entry.cache_bytes = measured;
    let is_found = !entry.choice.is_empty();
    let models = models_of(&board, traits, &tuned);
    let validation = validate(traits, &tuned, &mut entry, &models, &effort, runs)?;
    entry.origin = runs.origin(&effort);
    runs.end();
    if !is_found {
        return Err(Failure::run(format!(
            "{}: nothing could be verified in the time there was, so no entry was written; raw timings: {}",
            traits.name,
            runs.raw_path_text()
        )));
    }
    let mut text = summary(traits, &board, &entry, &validation);
    text.push_str(&format!("  {}; raw timings: {}\n", runs.counts(), runs.raw_path_text()));
    text.push_str(
        "  to tune others' devices of this kind: send that file to the project (`sparrow tune merge` reads it)\n",
    );
    let said = keeper.words.print(&text);
    keeper.keep(entry)?;
    said
}

/// Why values of a type are not tuned on a device, if they are not.
fn not_tuned(traits: &DeviceTraits, value_type: ValueType) -> Option<String> {
    match value_type {
        ValueType::F32 => None,
        ValueType::F64 if traits.has_f64 => None,
        ValueType::F64 => Some(format!("which {} has not", traits.name)),
        value_type => Some(format!("{value_type} takes what suits f32")),
    }
}

fn effort(arguments: &Tune, device: &TunedDevice) -> Effort {
    match arguments {
        Tune { quick: true, .. } => Effort::quick(device),
        Tune { full: true, .. } => Effort::full(device),
        _ => Effort::of_budget(device, arguments.budget.map_or(DEFAULT_BUDGET, |budget| budget.0)),
    }
}

/// Where entries go: into a table, or for `-` as one table to standard output.
struct Keeper<'a> {
    into: Option<&'a Path>,
    words: Words,
    /// The entries of standard output's table.
    printed: Option<Vec<DeviceEntry>>,
}

impl<'a> Keeper<'a> {
    fn new(into: Option<&'a Path>, words: Words) -> Self {
        let printed = into.is_some_and(is_standard_output).then(Vec::new);
        Keeper { into, words, printed }
    }

    /// Writes an entry into the table, or says where it could not and prints it.
    fn keep(&mut self, entry: DeviceEntry) -> Result<(), Failure> {
        if let Some(printed) = &mut self.printed {
            printed.push(entry);
            return Ok(());
        }
        let path: Option<PathBuf> = self.into.map(Path::to_owned).or_else(user_table_path);
        let failure = match &path {
            None => {
                "there is no device table to write to: SPARROW_TABLE is off, or there is no home"
                    .to_owned()
            }
            Some(path) => match write_entry(path, &entry) {
                Ok(()) => return self.words.say(format_args!("  written to {}", path.display())),
                Err(error) => error.to_string(),
            },
        };
        self.words.insist(format_args!("\n{}", table_text(vec![entry])?))?;
        let text = format!("{failure}; the entry is printed above, to be put there by hand");
        Err(Failure::run(text))
    }

    /// All entries are there.
    fn finish(self) -> Result<(), Failure> {
        match self.printed {
            Some(entries) if !entries.is_empty() => Stream::Output.write(&table_text(entries)?),
            _ => Ok(()),
        }
    }
}

/// A device table of these entries.
fn table_text(devices: Vec<DeviceEntry>) -> Result<String, Failure> {
    let table = sparrow::DeviceTable { format: sparrow::DeviceTable::FORMAT, devices };
    toml::to_string(&table).map_err(|error| Failure::run(error.to_string()))
}

/// The raw timings of a file, `-` for standard input.
fn timings_of(path: &Path) -> Result<Vec<Timing>, Failure> {
    if path != Path::new("-") {
        return Ok(read_timings(path)?);
    }
    let (mut text, name) = (String::new(), Path::new(STANDARD_INPUT));
    match std::io::stdin().read_to_string(&mut text) {
        Ok(_) => Ok(parse_timings(&text, name)?),
        Err(error) => Err(Failure::input(format!("cannot read standard input: {error}"))),
    }
}

/// What was gained over no tuning on the matrices of the validation, and the rules.
fn summary(
    traits: &DeviceTraits,
    board: &Board,
    entry: &DeviceEntry,
    validation: &Validation,
) -> String {
    let mut text = format!("{}\n", traits.name);
    for value_type in board.value_types() {
        let of_type: Vec<_> =
            validation.gains.iter().filter(|(other, ..)| *other == value_type).collect();
        text.push_str(&format!(
            "  {value_type}: matrix that nothing was fitted to, time untuned over time tuned\n"
        ));
        for (_, name, gain) in &of_type {
            text.push_str(&format!("    {name:<24} {gain:.2}\n"));
        }
        let gains: Vec<f64> = of_type.iter().map(|(_, _, gain)| *gain).collect();
        let gained = match (gains.is_empty(), validation.complete.contains(&value_type)) {
            (false, is_complete) => format!(
                "geometric mean: {:.2} times as fast as untuned, {:.2} at least{}",
                geometric_mean(&gains),
                gains.iter().copied().fold(f64::INFINITY, f64::min),
                if is_complete { "" } else { ", as far as there was time" }
            ),
            (true, true) => {
                "nothing gains without losing somewhere: what is shipped stays".to_owned()
            }
            (true, false) => {
                "not validated in the time there was: what is shipped stays".to_owned()
            }
        };
        text.push_str(&format!("    {gained}{}", choice_text(board, entry, value_type)));
    }
    text.push_str(&format!(
        "  {} kept, {} taken out: slower than untuned somewhere, chosen for fewer than two matrices of the validation, or not \
         validated in the time there was\n",
        counted(validation.kept, "rule"),
        validation.removed
    ));
    text
}

/// How good the rules' choice is by what was timed, and the rules.
fn choice_text(board: &Board, entry: &DeviceEntry, value_type: ValueType) -> String {
    let ratios: Vec<f64> = ratios(entry, board, value_type, Reuse::Several)
        .into_iter()
        .map(|(_, ratio)| ratio)
        .collect();
    if let Some(numbers) = entry.model.get(value_type.name()) {
        let mut text = format!("; the cost model chooses, with {numbers}\n");
        for rule in entry.rules(value_type).into_iter().flat_map(|rules| &rules.several) {
            text.push_str(&format!("    before it: {rule}\n"));
        }
        return text;
    }
    let mut text = match ratios.is_empty() {
        true => "; no rule of its own for some tens of products\n".to_owned(),
        false => format!(
            "; on the ladder the rules' choice takes {:.3} times the best that was tried, at most {:.2}; {:.3} on kinds \
             of matrices that were held out\n",
            geometric_mean(&ratios),
            ratios.iter().copied().fold(1.0, f64::max),
            held_out_ratio(board, value_type).unwrap_or(f64::NAN)
        ),
    };
    let Some(rules) = entry.rules(value_type) else { return text };
    for products in Reuse::ALL {
        for rule in rules.own(products) {
            text.push_str(&format!("    {products}: {rule}\n"));
        }
    }
    text
}

fn geometric_mean(values: &[f64]) -> f64 {
    (values.iter().map(|value| value.ln()).sum::<f64>() / values.len().max(1) as f64).exp()
}
