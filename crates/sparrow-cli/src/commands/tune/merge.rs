//! `sparrow tune merge`: raw timings, of whichever machines, become entries of a device table.

use std::collections::{BTreeMap, BTreeSet};

use sparrow::DeviceEntry;
use sparrow_bench::counted;
use sparrow_bench::tune::{Board, Timing, TunedDevice, entry_of};

use super::{Keeper, choice_text, timings_of};
use crate::arguments::{Global, Merge};
use crate::failure::Failure;
use crate::output::Files;

pub(crate) fn run(global: &Global, arguments: &Merge) -> Result<(), Failure> {
    let files = Files::new(global).reads("the file", arguments.files.iter().map(|path| &**path));
    let words = files.updates("--into", arguments.into.as_deref()).check()?;
    let mut keeper = Keeper::new(arguments.into.as_deref(), words);
    // All files are read before anything is written.
    let mut timings = Vec::new();
    for path in &arguments.files {
        timings.extend(timings_of(path)?);
    }
    let mut said = Ok(());
    let subjects = subjects(timings);
    for Subject { title, timings, is_of_architecture } in &subjects {
        let Some(newest) = timings.last() else { continue };
        let matrices: BTreeSet<_> = timings.iter().map(|timing| &timing.matrix).collect();
        let origin = format!(
            "sparrow tune merge {}: {} on {}",
            env!("CARGO_PKG_VERSION"),
            counted(timings.len(), "trial"),
            counted(matrices.len(), "matrix")
        );
        let board = Board::of(timings);
        let mut entry = entry_of(&board, &newest.device, origin);
        if *is_of_architecture {
            entry = of_architecture(entry, &newest.device);
        }
        if entry.choice.is_empty() {
            return Err(Failure::input(format!(
                "{title}: nothing of {} was verified",
                counted(timings.len(), "trial")
            )));
        }
        let trials = counted(timings.len(), "trial");
        let matrices = counted(matrices.len(), "matrix");
        let mut text = format!("{title}: {trials} on {matrices}\n");
        for value_type in board.value_types() {
            let choice = choice_text(&board, &entry, value_type);
            text.push_str(&format!("  {value_type}: {choice}"));
        }
        said = said.and_then(|()| words.print(&text));
        match keeper.keep(entry) {
            // Its words: the entry is kept.
            Err(Failure::Closed) => said = Err(Failure::Closed),
            kept => kept?,
        }
    }
    if subjects.is_empty() {
        return Err(Failure::input("the files hold no timings"));
    }
    keeper.finish()?;
    said
}

/// What an entry is made of.
struct Subject {
    /// For words.
    title: String,
    timings: Vec<Timing>,
    /// Of several devices of one architecture, and for all that have it.
    is_of_architecture: bool,
}

/// The devices that were timed, those of one vendor, architecture and kind together where they are several.
fn subjects(timings: Vec<Timing>) -> Vec<Subject> {
    let family = |device: &TunedDevice| {
        (device.vendor.clone(), device.architecture.clone(), device.device_type.to_string())
    };
    let card = |device: &TunedDevice| (device.platform.clone(), device.device.clone());
    let mut cards: BTreeMap<_, BTreeSet<_>> = BTreeMap::new();
    for Timing { device, .. } in &timings {
        cards.entry(family(device)).or_default().insert(card(device));
    }
    let mut subjects: BTreeMap<_, Subject> = BTreeMap::new();
    for mut timing in timings {
        let device = &timing.device;
        let cards = cards.get(&family(device)).map_or(1, BTreeSet::len);
        let is_of_architecture = cards > 1 && !device.architecture.is_empty();
        let (key, title) = match is_of_architecture {
            true => (
                (device.vendor.clone(), device.architecture.clone()),
                format!("{} {}, {}", device.vendor, device.architecture, counted(cards, "device")),
            ),
            false => (card(device), format!("{}, {}", device.platform, device.device)),
        };
        if is_of_architecture {
            // What one card takes for a matrix says nothing of what another does.
            timing.matrix = format!("{} on {}", timing.matrix, device.device);
        }
        let made = || Subject { title, timings: Vec::new(), is_of_architecture };
        subjects.entry((is_of_architecture, key)).or_insert_with(made).timings.push(timing);
    }
    subjects.into_values().collect()
}

/// The same entry for every device of the architecture.
fn of_architecture(entry: DeviceEntry, device: &TunedDevice) -> DeviceEntry {
    DeviceEntry {
        name: None,
        platform: None,
        driver: None,
        vendor: Some(device.vendor.clone()),
        architecture: Some(device.architecture.clone()),
        ..entry
    }
}
