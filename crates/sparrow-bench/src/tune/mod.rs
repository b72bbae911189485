//! Tuning: which algorithm with which hyper-parameters suits which matrices on a device, found by trying.
//!
//! A [`Trial`] is one [`Candidate`] on one matrix. It is verified on the device, between canaries, before it is timed,
//! in a child process ([`Worker`]) that can be ended. [`tune`] searches a ladder of matrices ([`Effort`]), every trial
//! becomes a line of JSON ([`Timing`]), and from those, of any origin, [`entry_of`] makes an entry of the device
//! table: hyper-parameters and rules.

mod board;
mod candidate;
mod cuts;
mod effort;
mod entry;
mod fit;
mod judge;
mod loss;
mod model_fit;
mod search;
mod sweep;
mod timing;
mod trial;
mod unknown;
mod validate;
mod validate_model;
mod validator;
mod worker;

use std::collections::BTreeMap;
use std::path::PathBuf;

use cl_kernels::{DeviceTraits, DeviceType, Tables};
use csr_core::ValueType;

use crate::MeasureError;
use search::Search;

pub use board::Board;
pub use candidate::Candidate;
pub use effort::{Effort, LadderMatrix};
pub use entry::{entry_of, held_out_ratio, ratios};
pub use judge::{JUDGE_SCHEMA, Judge, Judgement, judge};
pub use model_fit::FittedModel;
pub use search::Trials;
pub use sweep::{
    SWEEP_FIGURES, SWEEP_SCHEMA, SweepFigure, SweepTiming, harmonic_means, sweep, sweep_picture,
};
pub use timing::{Outcome, TUNE_SCHEMA, Times, Timing, TunedDevice, parse_timings, read_timings};
pub use trial::{Arena, Trial, TrialReport};
pub use validate::{Validation, validate};
pub use worker::{Worker, serve};

/// Why a tuning could not go on; a candidate that fails is no error but an [`Outcome`].
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TuneError {
    /// A matrix or the device.
    #[error(transparent)]
    Measure(#[from] MeasureError),
    /// A process or a pipe.
    #[error("the process that runs trials: {0}")]
    Io(#[from] std::io::Error),
    /// A file of raw timings.
    #[error("{path}: {message}", path = .path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        message: String,
    },
}

/// Searches on a device; the board holds everything that was tried.
///
/// # Errors
/// What ends the search; trials have heard of everything before.
pub fn tune<T: Trials>(
    traits: &DeviceTraits,
    device: &TunedDevice,
    value_types: &[ValueType],
    effort: &Effort,
    trials: &mut T,
) -> Result<Board, TuneError> {
    let board = Board::default();
    let mut search = Search { traits, device, effort, value_types, trials, board };
    search.run()?;
    Ok(search.board)
}

/// The cost models that suit a board, by value type; none for a CPU device, which they are not about.
pub fn models_of(
    board: &Board,
    traits: &DeviceTraits,
    device: &TunedDevice,
) -> BTreeMap<ValueType, FittedModel> {
    if traits.device_type == DeviceType::Cpu {
        return BTreeMap::new();
    }
    let tables = Tables::untuned();
    let model = |value_type| {
        let fitted = model_fit::fit_model(board, traits, device.cache_bytes, value_type, &tables)?;
        Some((value_type, fitted))
    };
    board.value_types().filter_map(model).collect()
}

#[cfg(test)]
mod tests;
