//! A measured time that depends on a size: bytes in play, or gathers of a row.

/// Seconds at sizes, ascending; a size is of bytes unless it is said otherwise.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Curve(Vec<(u64, f64)>);

impl Curve {
    /// One more size, larger than those before.
    pub fn push(&mut self, bytes: u64, seconds: f64) {
        self.0.push((bytes, seconds));
    }

    /// The sizes.
    pub fn sizes(&self) -> Vec<u64> {
        self.0.iter().map(|&(bytes, _)| bytes).collect()
    }

    /// Between sizes by their logarithm; beyond them as at the ends. NaN for a curve without sizes.
    pub fn at(&self, bytes: f64) -> f64 {
        let after = self.0.partition_point(|&(size, _)| (size as f64) < bytes);
        match (after.checked_sub(1).and_then(|at| self.0.get(at)), self.0.get(after)) {
            (Some(&(below, low)), Some(&(above, high))) => {
                let part = (bytes / below as f64).ln() / (above as f64 / below as f64).ln();
                low + part * (high - low)
            }
            (Some(&(_, end)), None) | (None, Some(&(_, end))) => end,
            (None, None) => f64::NAN,
        }
    }

    /// For times of gathers from anywhere in so many bytes: the time of one gather that finds its element at a
    /// distance within each size but beyond the size before.
    ///
    /// Gathers from anywhere in n bytes find theirs at every distance up to n equally often (distance is what
    /// else was used since), so the time over n is the mean of the times at all distances up to n. What is farther
    /// never costs less.
    pub fn by_distance(&self) -> Vec<f64> {
        let (mut size_before, mut total_before, mut most) = (0.0, 0.0, 0.0f64);
        let cost = |&(bytes, seconds): &(u64, f64)| {
            let (size, total) = (bytes as f64, bytes as f64 * seconds);
            most = most.max((total - total_before) / (size - size_before));
            (size_before, total_before) = (size, total);
            most
        };
        self.0.iter().map(cost).collect()
    }

    /// The bytes of a first cache, from gathers that do not fit: of those over n bytes it serves a part of
    /// capacity / n. `beyond` is the time of a gather that it does not serve. `None` where nothing is served faster.
    pub fn first_level_bytes(&self, beyond: f64, most: u64) -> Option<u64> {
        let within = self.0.first()?.1;
        if within >= beyond * 0.9 {
            return None;
        }
        let capacity = |&(bytes, seconds): &(u64, f64)| {
            let served = ((beyond - seconds) / (beyond - within)).clamp(0.0, 1.0);
            bytes as f64 * served
        };
        let small = self.0.iter().filter(|(bytes, _)| *bytes <= most);
        Some(small.map(capacity).fold(0.0, f64::max) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Caches of 1,000 and 8,000 bytes, whose gathers take 1 and 3 seconds, and memory where they take 10.
    fn measured() -> Curve {
        let mut curve = Curve::default();
        for bytes in [500u64, 1000, 2000, 4000, 8000, 16000] {
            let part = |capacity: f64| (capacity / bytes as f64).min(1.0);
            let (first, second) = (part(1000.0), part(8000.0));
            curve.push(bytes, first + 3.0 * (second - first) + 10.0 * (1.0 - second));
        }
        curve
    }

    #[test]
    fn the_cost_of_each_distance_comes_out_of_gathers_over_all_distances() {
        let expected = [1.0, 1.0, 3.0, 3.0, 3.0, 10.0];
        for (found, expected) in measured().by_distance().into_iter().zip(expected) {
            assert!((found - expected).abs() < 1e-9, "{found} {expected}");
        }
    }

    #[test]
    fn the_first_cache_is_found_by_what_it_still_serves() {
        let found = measured().first_level_bytes(3.0, 4000).unwrap();
        assert!((999..=1001).contains(&found), "{found}");
        assert_eq!(measured().first_level_bytes(1.0, 4000), None);
    }

    #[test]
    fn between_sizes_lies_what_is_between_and_beyond_them_what_is_at_the_end() {
        let mut curve = Curve::default();
        curve.push(100, 1.0);
        curve.push(10000, 3.0);
        assert!((curve.at(1000.0) - 2.0).abs() < 1e-12);
        assert_eq!((curve.at(1.0), curve.at(1e9)), (1.0, 3.0));
        assert!(Curve::default().at(1.0).is_nan());
    }
}
