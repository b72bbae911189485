//! Sectors of x that a GPU's loads fetch from its second cache.
//!
//! One load of a sub-group touches some sectors; those that its compute unit's first cache does not hold come from
//! the next one. What is assumed: a compute unit has every so-manieth tile, [`RESIDENT`] of them at a time, which load
//! in round-robin order; its cache is fully associative, replaces the least recently used, and the matrix' own values
//! and columns pass through it. A few compute units are simulated, and stand for all.

use super::{GatherOrder, LruStack, NO_COLUMN};
use crate::{Offset, PatternView};

/// Bytes of a sector: what a GPU's caches hand on at once (the paper's "read-only transaction loads 32 bytes").
pub const SECTOR_BYTES: usize = 32;

/// Tiles that a compute unit works on at a time: sub-groups of 32 items where 2,048 items are resident. No query of
/// OpenCL tells how many are.
const RESIDENT: usize = 64;

/// Gathers that are simulated, about.
const MOST_GATHERS: usize = 1 << 22;

/// The first cache and the items that load through it.
#[derive(Clone, Copy, Debug)]
pub struct FirstLevel {
    /// Items whose loads are one.
    pub lanes: usize,
    /// Compute units, each with a cache of its own.
    pub compute_units: usize,
    /// Bytes of one such cache.
    pub bytes: u64,
}

/// Sectors of x that loads touch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sectors {
    /// By all loads of all compute units.
    pub touched: f64,
    /// Those that their first caches do not hold.
    pub fetched: f64,
}

/// How many sectors of x all compute units together touch and fetch from beyond their first caches; `element_bytes`
/// and `stream_bytes` as for [`reuse`](super::reuse).
pub fn sectors<O: Offset>(
    order: GatherOrder<'_>,
    pattern: PatternView<'_, O>,
    level: &FirstLevel,
    element_bytes: usize,
    stream_bytes: f64,
) -> Sectors {
    let per_sector = (SECTOR_BYTES / element_bytes).max(1);
    let tiles = order.tiles(pattern);
    let units = level.compute_units.clamp(1, tiles.max(1));
    let followed = (MOST_GATHERS * units).div_ceil(pattern.nnz().max(1)).clamp(1, units);
    let capacity = level.bytes as usize / SECTOR_BYTES;
    let (mut touched, mut fetched, mut gathers) = (0u64, 0u64, 0usize);
    for number in 0..followed {
        // Evenly among all.
        let unit = number * units / followed;
        let mut cache = LruStack::new(pattern.cols().div_ceil(per_sector), &[capacity]);
        let mut owed = 0.0;
        let of_unit: Vec<usize> = (unit..tiles).step_by(units).collect();
        for resident in of_unit.chunks(RESIDENT) {
            let loads: Vec<_> = resident
                .iter()
                .map(|&tile| {
                    let mut loads = Vec::new();
                    gathers += order.loads(pattern, level.lanes, tile, |load| {
                        let real = load.iter().filter(|&&column| column != NO_COLUMN);
                        let mut at_once: Vec<_> =
                            real.map(|&column| column as usize / per_sector).collect();
                        owed += at_once.len() as f64 * stream_bytes / SECTOR_BYTES as f64;
                        at_once.sort_unstable();
                        at_once.dedup();
                        loads.push(at_once);
                    });
                    loads
                })
                .collect();
            let rounds = loads.iter().map(Vec::len).max().unwrap_or(0);
            // The stream passes evenly.
            let streamed = owed / rounds.max(1) as f64;
            for round in 0..rounds {
                for sectors in loads.iter().filter_map(|loads| loads.get(round)) {
                    touched += sectors.len() as u64;
                    let missed = sectors.iter().map(|&sector| cache.access(sector) as u64);
                    fetched += missed.sum::<u64>();
                }
                let due = (streamed * (round + 1) as f64) as u64 - (streamed * round as f64) as u64;
                (0..due).for_each(|_| cache.stream());
            }
            owed = 0.0;
        }
    }
    let all = pattern.nnz() as f64 / gathers.max(1) as f64;
    Sectors { touched: touched as f64 * all, fetched: fetched as f64 * all }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::CsrPattern;

    const LEVEL: FirstLevel = FirstLevel { lanes: 32, compute_units: 4, bytes: 1 << 10 };

    #[test]
    fn neighbours_in_one_sector_are_one_load_and_scattered_ones_are_many() {
        let nnz = 1 << 14;
        let pattern = |stride: u32| {
            let columns = (0..nnz).map(|at| at * stride).collect();
            CsrPattern::new((nnz * stride) as usize, vec![0, nnz], columns).unwrap()
        };
        let found =
            |stride| sectors(GatherOrder::InOrder, pattern(stride).view(), &LEVEL, 8, 12.0).fetched;
        assert_eq!(found(1), f64::from(nnz) / 4.0);
        assert_eq!(found(4), f64::from(nnz));
        assert_eq!(found(64), f64::from(nnz));
    }

    #[test]
    fn what_the_first_cache_holds_is_not_fetched_again() {
        // Every row has the same 64 columns, 16 sectors, which 32 sectors of cache hold.
        let rows = 1024u32;
        let offsets = (0..=rows).map(|row| row * 64).collect();
        let columns = (0..rows).flat_map(|_| 0..64).collect();
        let pattern = CsrPattern::<u32>::new(64, offsets, columns).unwrap();
        let found = |bytes| {
            let level = FirstLevel { bytes, ..LEVEL };
            sectors(GatherOrder::InOrder, pattern.view(), &level, 8, 0.0).fetched
        };
        // Once a compute unit; or each time.
        assert_eq!(found(1 << 10), 4.0 * 16.0);
        assert_eq!(found(64), f64::from(rows) * 16.0);
    }

    #[test]
    fn rows_in_step_share_the_sectors_of_a_band() {
        // A diagonal: neighbouring rows gather neighbours.
        let rows = 4096u32;
        let pattern =
            CsrPattern::<u32>::new(rows as usize, (0..=rows).collect(), (0..rows).collect())
                .unwrap();
        let found = sectors(GatherOrder::RowPerItem, pattern.view(), &LEVEL, 4, 8.0).fetched;
        assert_eq!(found, f64::from(rows) / 8.0);
    }
}
