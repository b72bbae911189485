//! `csr_vector`: several items a row (`cl/spmv/csr_vector.cl`).

use std::collections::BTreeSet;

use crate::algorithm_spec::{ByMeanRow, KernelSpec, Planned, TEST_GROUP_SIZE, Trial, other_values};
use crate::arguments::arguments;
use crate::cost::{CostModel, rows_by_items};
use crate::fit::nearest;
use crate::parameters::{GROUP_SIZES, check_group_size, parameters};
use crate::{AlgorithmSpec, Array, Fit, FittedParameters, NamedParameters, ParameterError, Scalar};

/// Path of the source below `cl/`.
pub const SOURCE: &str = "spmv/csr_vector.cl";

parameters! {
    /// Parameters of `csr_vector`.
    pub struct CsrVector for "csr_vector" {
        /// Items of a work-group.
        group_size: GROUP_SIZES,
        /// Items that share a row: a power of two, 1 to 64, at most `group_size`.
        items_per_row: [1, 2, 4, 8, 16, 32, 64],
    }
}

impl CsrVector {
    /// The published choice: about as many items as the mean row has nonzeros, rounded down to a power
    /// of two (Reguly and Giles 2012).
    pub fn default_for_mean_row(mean_row_length: f64) -> Self {
        // At most 64, so the conversion is exact.
        let items = mean_row_length.clamp(1.0, 64.0) as u32;
        CsrVector { group_size: 256, items_per_row: 1 << items.ilog2() }
    }
}

impl FittedParameters for CsrVector {
    fn fitted(fit: &Fit<'_>) -> Self {
        let wanted = CsrVector::default_for_mean_row(fit.mean_row);
        nearest(wanted, &["group_size", "items_per_row"], fit)
    }

    fn check(&self, fit: &Fit<'_>) -> Result<(), ParameterError> {
        const ALGORITHM: &str = "csr_vector";
        check_group_size(ALGORITHM, self.group_size, fit.device)?;
        let limit = self.group_size.min(64);
        if !self.items_per_row.is_power_of_two() || self.items_per_row > limit {
            return Err(ParameterError::Invalid {
                algorithm: ALGORITHM,
                name: "items_per_row",
                value: self.items_per_row.into(),
                rule: format!("it must be a power of two, at most {limit}"),
            });
        }
        let items = self.group_size.into();
        fit.check_local_sums(ALGORITHM, ("group_size", items), items)
    }
}

/// What the choice compares. Rows of 64 items are for few and long ones, which larger groups suit.
const CANDIDATES: [CsrVector; 6] = [
    CsrVector { group_size: 128, items_per_row: 2 },
    CsrVector { group_size: 128, items_per_row: 4 },
    CsrVector { group_size: 128, items_per_row: 8 },
    CsrVector { group_size: 128, items_per_row: 16 },
    CsrVector { group_size: 128, items_per_row: 32 },
    CsrVector { group_size: 256, items_per_row: 64 },
];

/// Those whose items a row fit a group of the device's.
fn candidates(fit: &Fit<'_>) -> Vec<NamedParameters> {
    let fitted = CANDIDATES.iter().filter_map(|wanted| {
        let group_size = fit.group_size(wanted.group_size);
        let one = CsrVector { group_size, ..*wanted };
        (one.items_per_row <= group_size).then(|| NamedParameters::of(&one))
    });
    fitted.collect()
}

/// What `csr_vector` is.
pub static SPEC: AlgorithmSpec = AlgorithmSpec {
    planned: Planned::Never,
    by_mean_row: Some(ByMeanRow {
        name: "items_per_row",
        value: |mean_row, other| {
            let items = CsrVector::default_for_mean_row(mean_row).items_per_row;
            other("group_size").map_or(items, |group_size| items.min(group_size))
        },
    }),
    model: Some(CostModel {
        candidates,
        cost: |question, parameters| {
            rows_by_items(question, f64::from(parameters.get("items_per_row").unwrap_or(1)))
        },
    }),
    trials: fewer_and_more_items,
    test_parameters: &[("group_size", TEST_GROUP_SIZE), ("items_per_row", 8)],
    offline: |list| {
        // Rows of 1, 2, 4, ... 64 nonzeros in the mean: every default there is.
        list.spmv(SOURCE, &[None], |_| {
            let means = (0..7).map(|log| f64::from(1 << log));
            means.map(CsrVector::default_for_mean_row).collect()
        })
    },
    ..AlgorithmSpec::of::<CsrVector>(&[KernelSpec::of::<Arguments<()>, CsrVector>(SOURCE)])
};

/// Few items a row, and a quarter and four times as many as the mean row asks for.
fn fewer_and_more_items(fit: &Fit<'_>) -> Vec<Trial> {
    let now = CsrVector::fitted(fit).items_per_row;
    let values: Vec<_> = BTreeSet::from([1, 2, now / 4, now * 4]).into_iter().collect();
    other_values(&values, now, "items_per_row")
}

arguments! {
    /// Arguments of the kernel `csr_vector`.
    pub struct Arguments<M> for "csr_vector" {
        /// Rows of A.
        rows: u32,
        /// Row offsets: rows + 1.
        offsets: Array<M>,
        /// Column indices: nnz.
        columns: Array<M>,
        /// Values of A: nnz.
        values: Array<M>,
        /// The vector x: cols.
        x: Array<M>,
        /// The vector y: rows.
        y: Array<M>,
        /// Scales A x.
        alpha: Scalar<M>,
        /// Scales y; with 0, y is not read.
        beta: Scalar<M>,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_per_row_follow_the_mean_row() {
        for (mean, items) in [(0.0, 1), (1.9, 1), (2.0, 2), (7.9, 4), (64.0, 64), (5000.0, 64)] {
            assert_eq!(CsrVector::default_for_mean_row(mean).items_per_row, items, "{mean}");
        }
    }
}
