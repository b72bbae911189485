//! `sparrow tune merge`: raw timings, of whichever machines, become entries of a device table.

use std::collections::BTreeMap;

use sparrow_bench::tune::{Board, Timing, entry_of, read_timings};

use super::{choice_text, keep};
use crate::arguments::{Global, Merge};
use crate::failure::Failure;
use crate::output::words_on_stdout;

pub(crate) fn run(global: &Global, arguments: &Merge) -> Result<(), Failure> {
    // All files are read before anything is written.
    let mut devices: BTreeMap<(String, String), Vec<Timing>> = BTreeMap::new();
    for path in &arguments.files {
        for timing in read_timings(path)? {
            let device = &timing.device;
            let key = (device.platform.clone(), device.device.clone());
            devices.entry(key).or_default().push(timing);
        }
    }
    let words = words_on_stdout(global.json.as_deref());
    for ((platform, name), timings) in &devices {
        let Some(newest) = timings.last() else { continue };
        let matrices: std::collections::BTreeSet<_> = timings.iter().map(|t| &t.matrix).collect();
        let origin = format!(
            "sparrow tune merge {}: {} trials on {} matrices",
            env!("CARGO_PKG_VERSION"),
            timings.len(),
            matrices.len()
        );
        let board = Board::of(timings);
        let entry = entry_of(&board, &newest.device, origin);
        if entry.choice.is_empty() {
            return Err(Failure::input(format!(
                "{platform}, {name}: nothing of {} trials was verified",
                timings.len()
            )));
        }
        if words {
            println!("{platform}, {name}: {} trials on {} matrices", timings.len(), matrices.len());
            for value_type in board.value_types() {
                print!("  {value_type}: {}", choice_text(&board, &entry, value_type));
            }
        }
        keep(arguments.into.as_deref(), &entry, words)?;
    }
    if devices.is_empty() {
        return Err(Failure::input("the files hold no timings"));
    }
    Ok(())
}
