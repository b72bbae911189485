//! Matrices that tuning climbs: mean row, skew and size are chosen, the rest follows.

use super::columns::{Far, Placement};
use super::lengths::Tail;
use super::likeness::Likeness;
use crate::{Csr, Error, Result};

/// How unlike the rows of a [`Rung`] are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Skew {
    /// Nearly alike, near the diagonal, in runs: a mesh.
    Even,
    /// Log-normal with a standard deviation of 0.6 in the logarithm, near the diagonal: a circuit without its supply
    /// rails.
    Mixed,
    /// Log-normal with a standard deviation of 1 in the logarithm, a third of the columns anywhere: a web.
    Spread,
    /// A body of unlike rows, and three giants, the longest with a fifth of the nonzeros: a circuit.
    Giants,
}

impl Skew {
    /// Every skew.
    pub const ALL: [Skew; 4] = [Skew::Even, Skew::Mixed, Skew::Spread, Skew::Giants];

    /// The spelling in the names of rungs.
    pub fn name(self) -> &'static str {
        match self {
            Skew::Even => "even",
            Skew::Mixed => "mixed",
            Skew::Spread => "spread",
            Skew::Giants => "giants",
        }
    }
}

/// One matrix of a tuner's ladder. Its name says all of it: `rung:12:even:1000000` has rows of 12 nonzeros in the
/// mean, nearly alike, and about a million nonzeros.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Rung {
    /// Nonzeros of the mean row.
    pub mean_row: u32,
    /// How unlike rows are.
    pub skew: Skew,
    /// Nonzeros, about.
    pub nnz: u64,
}

impl Rung {
    /// Generates the matrix: square, or as wide as eight mean rows where that is more.
    ///
    /// # Errors
    /// Rows beyond `u32`.
    pub fn generate(&self, seed: u64) -> Result<Csr<f64, u64>> {
        let mean = self.mean_row.max(1);
        let rows = (self.nnz / u64::from(mean)).max(4) as usize;
        let cols = rows.max(8 * mean as usize);
        let widest = cols.min(u32::MAX as usize) as u32;
        let near = |band, run, far_share, far| Placement::Near { band, run, far_share, far };
        let (shortest, longest, sigma, placement, tail) = match self.skew {
            Skew::Even => {
                let most = (mean + mean.div_ceil(2)).min(widest);
                (mean.div_ceil(2), most, 0.1, near(1000, 3, 0.0, Far::Uniform), Tail::None)
            }
            Skew::Mixed => {
                let most = mean.saturating_mul(15).min(widest / 2);
                (mean.min(1), most, 0.6, near(500, 1, 0.2, Far::Uniform), Tail::None)
            }
            Skew::Spread => {
                let most = mean.saturating_mul(40).min(widest / 2);
                (mean.min(1), most, 1.0, near(2000, 1, 0.33, Far::Skewed), Tail::None)
            }
            Skew::Giants => {
                let longest = ((self.nnz / 5) as u32).clamp(mean, widest);
                let tail = Tail::Giants { rows: 3, ratio: 0.5 };
                (mean.min(1), longest, 0.6, near(500, 1, 0.1, Far::Uniform), tail)
            }
        };
        let nnz = rows as u64 * u64::from(mean);
        let (name, also, papers) = ("rung", "", "");
        let likeness = Likeness {
            name,
            also,
            papers,
            rows,
            cols,
            nnz,
            shortest,
            longest,
            sigma,
            placement,
            tail,
        };
        likeness.generate(1.0, seed)
    }
}

impl std::fmt::Display for Rung {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(&format!("rung:{}:{}:{}", self.mean_row, self.skew.name(), self.nnz))
    }
}

impl std::str::FromStr for Rung {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let parse = || {
            let words: Vec<_> = text.split(':').collect();
            let ["rung", mean_row, skew, nnz] = words[..] else { return None };
            let skew = Skew::ALL.into_iter().find(|known| known.name() == skew)?;
            let mean_row = mean_row.parse().ok().filter(|mean| (1..=1 << 20).contains(mean))?;
            let nnz = nnz.parse().ok().filter(|nnz| (1..=u64::from(u32::MAX)).contains(nnz))?;
            Some(Rung { mean_row, skew, nnz })
        };
        parse().ok_or_else(|| Error::UnknownClass {
            name: text.to_owned(),
            nearest: "rung:MEAN_ROW:even|mixed|spread|giants:NONZEROS".to_owned(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{RowLengths, RowStatistics};

    #[test]
    fn rungs_have_the_mean_row_and_the_size_that_they_name() {
        for skew in Skew::ALL {
            for mean_row in [2, 7, 80, 2000] {
                let rung = Rung { mean_row, skew, nnz: 200_000 };
                let matrix = rung.generate(1).unwrap();
                let found = RowStatistics::of(matrix.pattern().view());
                let mean = f64::from(mean_row);
                assert!((found.mean / mean - 1.0).abs() < 0.25, "{rung}: {}", found.mean);
                assert!((found.nnz as f64 / 2e5 - 1.0).abs() < 0.25, "{rung}: {}", found.nnz);
            }
        }
    }

    #[test]
    fn skews_differ_in_what_rows_take_in_step() {
        let unevenness = |skew| {
            let rung = Rung { mean_row: 8, skew, nnz: 200_000 };
            let matrix = rung.generate(1).unwrap();
            let lengths = RowLengths::of(matrix.pattern().offsets());
            (lengths.in_step as f64 / matrix.nnz() as f64, lengths.longest)
        };
        let [even, mixed, spread, giants] = Skew::ALL.map(unevenness);
        assert!(even.0 < 1.6 && (2.0..4.0).contains(&mixed.0), "{even:?} {mixed:?}");
        assert!(spread.0 > mixed.0 + 1.0, "{mixed:?} {spread:?}");
        assert!(giants.1 > 20_000 && giants.1 > 4 * spread.1, "{giants:?} {spread:?}");
    }

    #[test]
    fn names_read_as_they_are_written_and_others_are_refused() {
        let rung = Rung { mean_row: 12, skew: Skew::Spread, nnz: 1_000_000 };
        assert_eq!(rung.to_string(), "rung:12:spread:1000000");
        assert_eq!(rung.to_string().parse::<Rung>().unwrap(), rung);
        for wrong in ["rung", "rung:0:even:5", "rung:2:odd:5", "rung:2:even:-5", "ladder:2:even:5"]
        {
            assert!(wrong.parse::<Rung>().is_err(), "{wrong}");
        }
    }
}
