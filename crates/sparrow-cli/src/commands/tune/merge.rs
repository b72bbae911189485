//! `sparrow tune merge`: raw timings, of whichever machines, become entries of a device table.

use std::collections::BTreeMap;

use sparrow_bench::counted;
use sparrow_bench::tune::{Board, Timing, entry_of};

use super::{Keeper, choice_text, timings_of};
use crate::arguments::{Global, Merge};
use crate::failure::Failure;
use crate::output::Files;

pub(crate) fn run(global: &Global, arguments: &Merge) -> Result<(), Failure> {
    let files = Files::new(global).reads("the file", arguments.files.iter().map(|path| &**path));
    let words = files.updates("--into", arguments.into.as_deref()).check()?;
    let mut keeper = Keeper::new(arguments.into.as_deref(), words);
    // All files are read before anything is written.
    let mut devices: BTreeMap<(String, String), Vec<Timing>> = BTreeMap::new();
    for path in &arguments.files {
        for timing in timings_of(path)? {
            let device = &timing.device;
            let key = (device.platform.clone(), device.device.clone());
            devices.entry(key).or_default().push(timing);
        }
    }
    let mut said = Ok(());
    for ((platform, name), timings) in &devices {
        let Some(newest) = timings.last() else { continue };
        let matrices: std::collections::BTreeSet<_> = timings.iter().map(|t| &t.matrix).collect();
        let origin = format!(
            "sparrow tune merge {}: {} on {}",
            env!("CARGO_PKG_VERSION"),
            counted(timings.len(), "trial"),
            counted(matrices.len(), "matrix")
        );
        let board = Board::of(timings);
        let entry = entry_of(&board, &newest.device, origin);
        if entry.choice.is_empty() {
            return Err(Failure::input(format!(
                "{platform}, {name}: nothing of {} was verified",
                counted(timings.len(), "trial")
            )));
        }
        let trials = counted(timings.len(), "trial");
        let matrices = counted(matrices.len(), "matrix");
        let mut text = format!("{platform}, {name}: {trials} on {matrices}\n");
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
    if devices.is_empty() {
        return Err(Failure::input("the files hold no timings"));
    }
    keeper.finish()?;
    said
}
