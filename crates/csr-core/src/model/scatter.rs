//! Random indices and row lengths, for measuring how fast a device gathers.

use crate::generate::random::{GOLDEN_GAMMA, mix};

/// The number at an index of the sequence.
fn random(at: usize) -> u64 {
    mix((at as u64 + 1).wrapping_mul(GOLDEN_GAMMA))
}

/// `count` random numbers of 32 bits, the same every time.
pub fn random_indices(count: usize) -> Vec<u32> {
    (0..count).map(|at| (random(at) >> 32) as u32).collect()
}

/// Offsets of rows with `length` entries each, or up to `spread` fewer or more, at most `total` in all.
pub fn random_lengths(total: u32, length: u32, spread: u32) -> Vec<u32> {
    let mut offsets = vec![0];
    let mut end = 0u32;
    for row in 0.. {
        let choices = 2 * u64::from(spread) + 1;
        let more = (((random(row) >> 32) * choices) >> 32) as u32;
        end = end.saturating_add((length + more).saturating_sub(spread));
        if end > total || offsets.len() > total as usize {
            break;
        }
        offsets.push(end);
    }
    offsets
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_have_the_length_or_lie_around_it() {
        assert_eq!(random_lengths(10, 3, 0), [0, 3, 6, 9]);
        let offsets = random_lengths(1 << 20, 16, 8);
        let lengths: Vec<u32> = offsets.windows(2).map(|pair| pair[1] - pair[0]).collect();
        assert!(lengths.iter().all(|length| (8..=24).contains(length)));
        let mean = f64::from(*offsets.last().unwrap()) / lengths.len() as f64;
        assert!((mean - 16.0).abs() < 0.2, "{mean}");
        assert!(
            lengths.windows(2).filter(|pair| pair[0] != pair[1]).count() > lengths.len() * 9 / 10
        );
    }
}
