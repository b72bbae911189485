//! How far back in a cache the gathers of x find what they need.
//!
//! Gathers run in their order through one least-recently-used list, together with everything else the
//! product streams, which is never used again. What is assumed: compute units advance together through the
//! matrix, so that their shared cache sees that order; the cache is fully associative; before the product it
//! holds nothing of x.
//!
//! Of a large matrix, a fixed share of x is followed: pages are drawn by a hash of their number, gathers of other
//! pages are passed over, and capacities are scaled by the same share (C. Waldspurger et al., "Efficient MRC
//! construction with SHARDS", FAST 2015). Unlike ranges of the matrix that needs no warming up, and a line that
//! is used all over the matrix is seen to be.

use super::{GatherOrder, LruStack, NO_COLUMN};
use crate::generate::random::{GOLDEN_GAMMA, mix};
use crate::{Offset, PatternView};

/// Gathers that are simulated, about: some 30 ns each.
const MOST_GATHERS: u64 = 1 << 22;

/// Granules of a page: neighbours that are drawn together.
const PAGE: usize = 64;

/// The fewest pages that are drawn.
const FEWEST_PAGES: usize = 256;

/// An index before this one in the list is near: neighbours of what lies there are prefetched.
const NEAR_LEVELS: usize = 2;

/// What [`reuse`] is asked.
#[derive(Clone, Copy, Debug)]
pub struct CacheReuseQuestion<'a> {
    /// Bytes of an element of x: a power of two.
    pub element_bytes: usize,
    /// Bytes that memory hands out at once: a power of two, at least an element.
    pub granule_bytes: usize,
    /// Bytes of each cache, ascending.
    pub capacities: &'a [u64],
    /// Bytes that are streamed through it between two gathers, in the mean.
    pub stream_bytes: f64,
}

/// Where gathers found x.
#[derive(Clone, Debug, PartialEq)]
pub struct CacheReuse {
    /// Gathers that found it within each capacity, but not within the one before; at the end, those that did not
    /// within any, which are few where x fits. Neighbours of a line that was just used count as found at once:
    /// hardware prefetches.
    pub found: Vec<f64>,
    /// Gathers that are not within each capacity, prefetched or not: loads of a granule.
    pub misses: Vec<f64>,
    /// Bytes of a granule.
    pub granule_bytes: usize,
}

impl CacheReuse {
    /// The paper's alpha for capacity number `at`: bytes of x that are loaded from beyond it, over the bytes of one
    /// element for each of `nnz` nonzeros.
    pub fn alpha(&self, at: usize, nnz: usize, element_bytes: usize) -> f64 {
        let misses = self.misses.get(at).copied().unwrap_or(0.0);
        misses * self.granule_bytes as f64 / (nnz.max(1) * element_bytes) as f64
    }
}

/// Simulates the gathers of `order`.
pub fn reuse<O: Offset>(
    order: GatherOrder<'_>,
    pattern: PatternView<'_, O>,
    question: &CacheReuseQuestion<'_>,
) -> CacheReuse {
    let CacheReuseQuestion { element_bytes, granule_bytes, capacities, stream_bytes } = *question;
    let per_granule = (granule_bytes / element_bytes).max(1);
    let granules = pattern.cols().div_ceil(per_granule);
    let columns = order.columns(pattern);
    let share = share_bits(columns.len() as u64, granules.div_ceil(PAGE));
    let limits: Vec<usize> =
        capacities.iter().map(|&bytes| (bytes as usize / granule_bytes) >> share).collect();
    let drawn = |page: usize| {
        share == 0 || mix((page as u64 + 1).wrapping_mul(GOLDEN_GAMMA)) >> (64 - share) == 0
    };
    // One test a gather, of a bit: pages are drawn once.
    let pages: Vec<bool> = (0..granules.div_ceil(PAGE)).map(drawn).collect();
    // The share that really was drawn is what figures are scaled by.
    let scale = pages.len() as f64 / pages.iter().filter(|&&d| d).count().max(1) as f64;

    let mut stack = LruStack::new(granules, &limits);
    let mut counts = vec![0u64; limits.len() + 1];
    let mut prefetched = vec![0u64; limits.len() + 1];
    let streamed = stream_bytes / granule_bytes as f64 / scale;
    let mut owed = 0.0;
    let mut gathers = 0u64;
    let mut last = usize::MAX;
    for &column in columns {
        owed += streamed;
        if column == NO_COLUMN {
            continue;
        }
        gathers += 1;
        let granule = column as usize / per_granule;
        if granule == last || !pages[granule / PAGE] {
            continue;
        }
        last = granule;
        while owed >= 1.0 {
            stack.stream();
            owed -= 1.0;
        }
        let near = |granule: usize| stack.level(granule) < NEAR_LEVELS.min(limits.len());
        let is_prefetched = near(granule + 1) || granule > 0 && near(granule - 1);
        let level = stack.access(granule);
        counts[level] += 1;
        prefetched[level] += u64::from(is_prefetched);
    }

    let scaled = |count: u64| count as f64 * scale;
    let mut found: Vec<f64> = counts
        .iter()
        .zip(&prefetched)
        .map(|(&all, &before_use)| scaled(all - before_use))
        .collect();
    // What is not far away is at hand, sampled or not.
    let far: f64 = found.iter().skip(1).sum();
    found[0] = (gathers as f64 - far).max(0.0);
    let misses = (0..limits.len()).map(|at| counts[at + 1..].iter().map(|&c| scaled(c)).sum());
    CacheReuse { misses: misses.collect(), found, granule_bytes }
}

/// One page of 2^share is followed.
fn share_bits(gathers: u64, pages: usize) -> u32 {
    let wanted = gathers.div_ceil(MOST_GATHERS).next_power_of_two().ilog2();
    let allowed = (pages / FEWEST_PAGES).max(1).ilog2();
    wanted.min(allowed)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::CsrPattern;

    const QUESTION: CacheReuseQuestion<'_> = CacheReuseQuestion {
        element_bytes: 8,
        granule_bytes: 64,
        capacities: &[],
        stream_bytes: 0.0,
    };

    fn alpha(pattern: &CsrPattern, question: &CacheReuseQuestion<'_>) -> f64 {
        let found = reuse(GatherOrder::InOrder, pattern.view(), question);
        found.alpha(0, pattern.nnz(), question.element_bytes)
    }

    /// `repeats` rows that each have all columns.
    fn dense(rows: u32, cols: u32) -> CsrPattern {
        let offsets = (0..=rows).map(|row| row * cols).collect();
        let columns = (0..rows).flat_map(|_| 0..cols).collect();
        CsrPattern::new(cols as usize, offsets, columns).unwrap()
    }

    #[test]
    fn an_x_that_fits_is_loaded_once() {
        let pattern = dense(7, 800);
        let question = CacheReuseQuestion { capacities: &[6400], ..QUESTION };
        let once = 800.0 * 8.0 / (7.0 * 800.0 * 8.0);
        assert!((alpha(&pattern, &question) - once).abs() < 1e-12);
    }

    #[test]
    fn an_x_that_does_not_fit_is_loaded_for_every_row() {
        let question = CacheReuseQuestion { capacities: &[3200], ..QUESTION };
        assert!((alpha(&dense(7, 800), &question) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn with_one_line_of_capacity_every_jump_is_a_load() {
        // Columns 0, 8, 16, 0, 8, 16, ...: one line each.
        let columns: Vec<u32> = (0..300).map(|at| at % 3 * 8).collect();
        let pattern = CsrPattern::<u32>::new(24, vec![0, 300], columns).unwrap();
        let question = CacheReuseQuestion { capacities: &[64], ..QUESTION };
        assert_eq!(alpha(&pattern, &question), 8.0);
    }

    #[test]
    fn what_the_matrix_streams_takes_capacity_from_x() {
        let question = CacheReuseQuestion { capacities: &[6400], stream_bytes: 12.0, ..QUESTION };
        assert!((alpha(&dense(7, 800), &question) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn a_followed_share_of_x_tells_the_same_as_all_of_it() {
        // 2^24 random gathers out of 2^21 elements with capacity for half of them: half of all gathers miss, and
        // a line that comes anew is a miss as well.
        let (cols, nnz) = (1u32 << 21, 1u64 << 24);
        let columns: Vec<u32> =
            (0..nnz).map(|at| (mix(at.wrapping_mul(GOLDEN_GAMMA)) >> 43) as u32).collect();
        let pattern = CsrPattern::<u32>::new(cols as usize, vec![0, nnz as u32], columns).unwrap();
        assert!(share_bits(nnz, cols as usize / 8 / PAGE) > 0);
        let question = CacheReuseQuestion { capacities: &[u64::from(cols) * 4], ..QUESTION };
        let found = alpha(&pattern, &question);
        assert!((found - 4.0).abs() < 0.15, "{found}");
    }

    proptest! {
        #[test]
        fn gathers_are_neither_lost_nor_invented_and_capacity_never_hurts(
            columns in prop::collection::vec(0u32..500, 1..400),
            stream_bytes in 0.0f64..40.0,
        ) {
            let nnz = columns.len();
            let pattern = CsrPattern::new(500, vec![0, nnz as u32], columns).unwrap();
            let capacities = [64, 256, 1024, 65536];
            let question = CacheReuseQuestion { capacities: &capacities, stream_bytes, ..QUESTION };
            let found = reuse(GatherOrder::InOrder, pattern.view(), &question);
            prop_assert!((found.found.iter().sum::<f64>() - nnz as f64).abs() < 1e-9);
            prop_assert!(found.misses.windows(2).all(|pair| pair[1] <= pair[0]));
            prop_assert!(found.alpha(0, nnz, 8) <= 8.0);
        }
    }
}
