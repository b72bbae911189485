//! The constraint matrix of a set-covering problem: which duty covers which trip.
//!
//! Rows are the trips of a timetable, columns the possible duties of a crew, entries 1 where a duty
//! serves a trip: few in a column, thousands in a row, and very unevenly, because duties gather on the
//! trips that connect well. One column for each trip alone keeps the problem feasible.

use super::assemble::{Rows, assemble};
use super::random::{Purpose, Random};
use crate::check::check_size;
use crate::{Csr, Offset, Result, Value};

/// Columns a row, besides its own single one.
const DUTIES_PER_TRIP: usize = 100;

/// Trips a duty serves at most, and at least where the day is long enough.
const DUTY_TRIPS: std::ops::RangeInclusive<u64> = 2..=15;

/// The trip that connects best is taken this many times as often as the worst.
const ATTRACTION: f64 = 100.0;

/// The duties as rows: each can be drawn alone. The constraint matrix is the transpose.
struct Duties {
    seed: u64,
    /// The chance that a duty which could take the trip does.
    chances: Vec<f64>,
}

/// The constraint matrix of `trips` rows and 101 columns a row.
pub(super) fn set_cover<V: Value, O: Offset>(trips: usize, seed: u64) -> Result<Csr<V, O>> {
    check_size("columns", trips * (DUTIES_PER_TRIP + 1))?;
    let chance = |trip| Random::new(seed, Purpose::Lengths, trip).unit();
    let chances = (0..trips as u64).map(|trip| ATTRACTION.powf(-chance(trip))).collect();
    let duties: Csr<V, O> =
        assemble(trips * (DUTIES_PER_TRIP + 1), trips, &Duties { seed, chances })?;
    Ok(duties.view().transpose())
}

impl Duties {
    /// The trips of a duty, ascending in time.
    fn for_each_trip(&self, duty: usize, mut visit: impl FnMut(usize)) {
        let trips = self.chances.len();
        if duty < trips {
            return visit(duty);
        }
        let mut random = Random::new(self.seed, Purpose::Columns, duty as u64);
        let mut below = |limit: usize| (random.unit() * limit as f64) as usize;
        let mut left = *DUTY_TRIPS.start() as usize
            + below((DUTY_TRIPS.end() - DUTY_TRIPS.start() + 1) as usize);
        let mut trip = below(trips);
        let longest_wait = trips / 64 + 1;
        let mut served = 0;
        while trip < trips && left > 0 {
            if below(1 << 20) as f64 <= self.chances[trip] * f64::from(1 << 20) {
                visit(trip);
                served += 1;
                left -= 1;
            }
            trip += 1 + below(longest_wait);
        }
        if served == 0 {
            visit(trips - 1);
        }
    }
}

impl Rows for Duties {
    type Scratch = ();

    fn length(&self, row: usize) -> usize {
        let mut length = 0;
        self.for_each_trip(row, |_| length += 1);
        length
    }

    fn fill<V: Value>(&self, row: usize, (): &mut (), columns: &mut [u32], values: &mut [V]) {
        let mut at = 0;
        self.for_each_trip(row, |trip| {
            columns[at] = trip as u32;
            values[at] = V::from_f64(1.0);
            at += 1;
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_trip_and_every_duty_is_there_and_rows_are_uneven() {
        let matrix: Csr<f32> = set_cover(200, 1).unwrap();
        assert_eq!((matrix.rows(), matrix.cols()), (200, 20_200));
        let mut covered = vec![0u32; matrix.cols()];
        let mut lengths = Vec::new();
        for row in 0..200 {
            let (columns, values) = matrix.view().row(row);
            assert_eq!(columns[0] as usize, row, "the trip's own duty");
            assert!(values.iter().all(|&value| value == 1.0));
            columns.iter().for_each(|&column| covered[column as usize] += 1);
            lengths.push(columns.len());
        }
        assert!(covered.iter().all(|&trips| (1..=15).contains(&trips)));
        lengths.sort_unstable();
        assert!(lengths[180] > 8 * lengths[20], "{lengths:?}");
    }
}
