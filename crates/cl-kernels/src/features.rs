//! What the rules of a device table ask of a matrix: figures of row lengths, and the device's size.

use csr_core::ValueType;

/// What one pass over the row offsets says of a matrix.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct MatrixShape {
    /// Rows of A.
    pub rows: u64,
    /// Nonzeros of A.
    pub nnz: u64,
    /// Nonzeros of the longest row.
    pub longest_row: u64,
    /// What neighbouring rows take in step ([`csr_core::RowLengths::in_step`]).
    pub in_step: u64,
    /// Rows whose length is not that of the row before ([`csr_core::RowLengths::changes`]).
    pub changes: u64,
}

impl MatrixShape {
    /// Nonzeros of a row in the mean; 0 where there are no rows.
    pub fn mean_row(&self) -> f64 {
        self.nnz as f64 / self.rows.max(1) as f64
    }
}

/// A figure that a rule compares with a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Feature {
    /// Rows of the matrix.
    Rows,
    /// Its nonzeros.
    Nnz,
    /// Nonzeros of the mean row.
    MeanRow,
    /// Nonzeros of the longest row.
    LongestRow,
    /// The longest row in shares of a compute unit: above 1, one row keeps a unit busy for longer than all rows
    /// together keep the others.
    LongestShare,
    /// How many times as long 32 neighbouring rows take in step, each as long as the longest of them, as without
    /// waiting: 1 where rows are even.
    Unevenness,
    /// Share of the rows that are longer or shorter than the row before: where a processor does not foresee whether a row
    /// ends.
    Changes,
    /// Bytes of values, columns and offsets over those of the device's last cache.
    CacheShare,
}

impl Feature {
    /// Every feature.
    pub const ALL: [Feature; 8] = [
        Feature::Rows,
        Feature::Nnz,
        Feature::MeanRow,
        Feature::LongestRow,
        Feature::LongestShare,
        Feature::Unevenness,
        Feature::Changes,
        Feature::CacheShare,
    ];

    /// The spelling in rules.
    pub fn name(self) -> &'static str {
        match self {
            Feature::Rows => "rows",
            Feature::Nnz => "nnz",
            Feature::MeanRow => "mean_row",
            Feature::LongestRow => "longest_row",
            Feature::LongestShare => "longest_share",
            Feature::Unevenness => "unevenness",
            Feature::Changes => "changes",
            Feature::CacheShare => "cache_share",
        }
    }
}

impl std::fmt::Display for Feature {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.name())
    }
}

impl std::str::FromStr for Feature {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Feature::ALL.into_iter().find(|feature| feature.name() == text).ok_or_else(|| {
            let names: Vec<_> = Feature::ALL.iter().map(|feature| feature.name()).collect();
            format!("\"{text}\" is none of {}", names.join(", "))
        })
    }
}

/// The figures of one matrix on one device.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Features([f64; Feature::ALL.len()]);

impl Features {
    /// Those of a matrix that stores `value_type` on a device of so many compute units, whose last cache
    /// has `cache_bytes`.
    pub fn of(
        matrix: &MatrixShape,
        value_type: ValueType,
        compute_units: u32,
        cache_bytes: u64,
    ) -> Self {
        let MatrixShape { rows, nnz, longest_row, in_step, changes } = *matrix;
        let over = |whole: f64, part: f64| if part == 0.0 { 0.0 } else { whole / part };
        let (rows, nnz, longest_row) = (rows as f64, nnz as f64, longest_row as f64);
        let units = f64::from(compute_units.max(1));
        let bytes = nnz * (4.0 + value_type.size_bytes() as f64) + rows * 4.0;
        Features(Feature::ALL.map(|feature| match feature {
            Feature::Rows => rows,
            Feature::Nnz => nnz,
            Feature::MeanRow => over(nnz, rows),
            Feature::LongestRow => longest_row,
            Feature::LongestShare => over(longest_row * units, nnz),
            Feature::Unevenness => over(in_step as f64, nnz).max(1.0),
            Feature::Changes => over(changes as f64, rows),
            Feature::CacheShare => over(bytes, cache_bytes as f64),
        }))
    }

    /// The figure that a feature names.
    pub fn get(&self, feature: Feature) -> f64 {
        self.0[feature as usize]
    }
}

/// All of them, as `sparrow info --explain` says them.
impl std::fmt::Display for Features {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let texts = Feature::ALL.map(|feature| format!("{feature} {}", figure(self.get(feature))));
        f.write_str(&texts.join(", "))
    }
}

/// A figure in four digits at most after its first, without zeros at the end: `12.41`, `524288`, `0.0316`.
pub(crate) fn figure(value: f64) -> String {
    if value == 0.0 || !value.is_finite() || value.abs() >= 1000.0 {
        return format!("{value:.0}");
    }
    let digits = (3 - value.abs().log10().floor() as i64).clamp(0, 12) as usize;
    let text = format!("{value:.digits$}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_follow_from_shape_and_device() {
        let (rows, nnz, longest_row, in_step, changes) = (1000, 8000, 500, 12_000, 400);
        let matrix = MatrixShape { rows, nnz, longest_row, in_step, changes };
        let found = Features::of(&matrix, ValueType::F64, 4, 50_000);
        assert_eq!(
            found.to_string(),
            "rows 1000, nnz 8000, mean_row 8, longest_row 500, longest_share 0.25, unevenness 1.5, \
             changes 0.4, cache_share 2"
        );
    }

    #[test]
    fn a_matrix_of_nothing_has_figures_too() {
        let nothing = MatrixShape::default();
        let found = Features::of(&nothing, ValueType::F32, 0, 0);
        assert!(Feature::ALL.into_iter().all(|feature| found.get(feature).is_finite()));
    }

    #[test]
    fn figures_are_written_in_few_digits() {
        let cases = [(12.406, "12.41"), (524_288.0, "524288"), (0.03159, "0.03159"), (2.0, "2")];
        for (value, text) in cases {
            assert_eq!(figure(value), text);
        }
    }
}
