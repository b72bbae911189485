//! The estimates that the choice compares.

use csr_core::{ValueCoding, ValueType};

use crate::csr_tiles::CsrTiles;
use crate::{
    Algorithm, Choice, Cost, CostNumbers, CostQuestion, DeviceTraits, Fit, FittedParameters as _,
    MatrixShape, NamedParameters, Reuse, Tables,
};

/// A model with a margin keeps this algorithm, with what tables have for it, unless another promises more: it does well in
/// general.
pub const MODEL_BASELINE: Algorithm = Algorithm::CsrFlat;

/// What an algorithm with its hyper-parameters should cost.
#[derive(Clone, Debug, PartialEq)]
pub struct Estimate {
    /// The algorithm.
    pub algorithm: Algorithm,
    /// All of its hyper-parameters.
    pub parameters: NamedParameters,
    /// What it should cost.
    pub cost: Cost,
}

/// `csr_flat(group_size=256,...)`.
impl std::fmt::Display for Estimate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}({})", self.algorithm, self.parameters)
    }
}

impl Choice {
    /// What was estimated.
    pub fn of_estimate(estimate: &Estimate, reason: String) -> Self {
        let entries = estimate.parameters.entries().iter();
        Choice {
            algorithm: estimate.algorithm,
            variant: None,
            parameters: entries.map(|(name, value)| ((*name).to_owned(), *value)).collect(),
            reason,
        }
    }
}

/// The estimates of all candidates that may be chosen, the least first: for a matrix that stores `value_type` on a device
/// of which tables have the numbers of the cost model. None where they have none.
pub fn estimates(
    tables: &Tables,
    device: &DeviceTraits,
    value_type: ValueType,
    matrix: &MatrixShape,
    products: Reuse,
) -> Vec<Estimate> {
    let fit = Fit::plain(device, value_type, matrix.mean_row());
    estimates_where(tables, &fit, matrix, products, ValueCoding::AsTheyAre, |_| true)
}

/// The same, of the algorithms that `may` be taken, where kernels are fitted to `fit` and copies of A store values in
/// `coding`.
pub fn estimates_where(
    tables: &Tables,
    fit: &Fit<'_>,
    matrix: &MatrixShape,
    products: Reuse,
    coding: ValueCoding,
    may: impl Fn(Algorithm) -> bool,
) -> Vec<Estimate> {
    match numbers_of(tables, fit) {
        Some((numbers, cache_bytes)) => {
            Estimator { tables, fit, matrix, cache_bytes, numbers, coding }.estimates(products, may)
        }
        None => Vec::new(),
    }
}

/// What a choice should cost, a copy with values as they are; hyper-parameters that it does not name are the tables'.
/// `None` where there are no numbers of the device, or the algorithm has no estimate.
pub fn estimate_of(
    tables: &Tables,
    fit: &Fit<'_>,
    matrix: &MatrixShape,
    choice: &Choice,
) -> Option<Estimate> {
    let (numbers, cache_bytes) = numbers_of(tables, fit)?;
    let algorithm = choice.algorithm;
    let model = algorithm.spec().model?;
    let mut parameters = parameters_of_tables(tables, fit, algorithm);
    for (name, value) in &choice.parameters {
        parameters.set(name, *value).ok()?;
    }
    let question = CostQuestion::new(matrix, fit.value_type, fit.device, cache_bytes, numbers);
    let cost = (model.cost)(&question, &parameters);
    Some(Estimate { algorithm, parameters, cost })
}

/// The hyper-parameters that tables have for an algorithm.
fn parameters_of_tables(tables: &Tables, fit: &Fit<'_>, algorithm: Algorithm) -> NamedParameters {
    let check = |named: &NamedParameters| algorithm.check_parameters(named.entries(), fit);
    let defaults = algorithm.default_parameters(fit);
    tables.named_parameters(fit.device, fit.value_type, defaults, &check).0
}

/// What `csr_tiles` should cost for a matrix of so many columns if they were anywhere, which is the most: nothing is
/// known of columns. Its copy stores values in `coding`. `None` where there are no numbers of the device, it
/// cannot run that, or that promises nothing.
pub fn tiles_estimate(
    tables: &Tables,
    fit: &Fit<'_>,
    matrix: &MatrixShape,
    cols: usize,
    coding: ValueCoding,
) -> Option<Estimate> {
    let (numbers, cache_bytes) = numbers_of(tables, fit)?;
    let question = CostQuestion::new(matrix, fit.value_type, fit.device, cache_bytes, numbers)
        .with_coding(coding, fit.value_type);
    let parameters = CsrTiles::fitted(fit);
    parameters.check(fit).ok()?;
    let cost = parameters.cost(&question, fit, cols as f64)?;
    let (algorithm, parameters) = (Algorithm::CsrTiles, NamedParameters::of(&parameters));
    Some(Estimate { algorithm, parameters, cost })
}

/// The numbers of the device by the first entry that has some, and the bytes of its last cache.
fn numbers_of<'a>(tables: &'a Tables, fit: &Fit<'_>) -> Option<(&'a CostNumbers, u64)> {
    tables.layers(fit.device).into_iter().find_map(|layer| {
        let cache_bytes = tables.cache_bytes_of(&layer, fit.device);
        let found = layer.iter().find_map(|(_, found)| found.entry.model(fit.value_type));
        found.map(|numbers| (numbers, cache_bytes))
    })
}

/// What estimates follow from.
pub(crate) struct Estimator<'a> {
    pub(crate) tables: &'a Tables,
    pub(crate) fit: &'a Fit<'a>,
    pub(crate) matrix: &'a MatrixShape,
    pub(crate) cache_bytes: u64,
    pub(crate) numbers: &'a CostNumbers,
    /// How copies of A store values.
    pub(crate) coding: ValueCoding,
}

impl Estimator<'_> {
    /// The estimates of the algorithms that `may` be taken, the least first, but for the margin. A copy of A is for many
    /// products.
    pub(crate) fn estimates(
        &self,
        products: Reuse,
        may: impl Fn(Algorithm) -> bool,
    ) -> Vec<Estimate> {
        let Estimator { fit, matrix, cache_bytes, numbers, .. } = *self;
        let Fit { device, value_type, .. } = *fit;
        let question = CostQuestion::new(matrix, value_type, device, cache_bytes, numbers)
            .with_coding(self.coding, value_type);
        let baseline = self.baseline();
        let mut found = Vec::with_capacity(16);
        for algorithm in Algorithm::ALL {
            let spec = algorithm.spec();
            let Some(model) = spec.model else { continue };
            if spec.copies_values && products != Reuse::Many || !may(algorithm) {
                continue;
            }
            let mut candidates = (model.candidates)(fit);
            if let Some((_, baseline)) =
                baseline.as_ref().filter(|(baseline, _)| *baseline == algorithm)
                && !candidates.contains(baseline)
            {
                candidates.push(baseline.clone());
            }
            for parameters in candidates {
                if (spec.check)(parameters.entries(), fit).is_ok() {
                    let cost = (model.cost)(&question, &parameters);
                    found.push(Estimate { algorithm, parameters, cost });
                }
            }
        }
        let counted = |estimate: &Estimate| {
            let is_baseline = baseline.as_ref().is_some_and(|(algorithm, parameters)| {
                estimate.algorithm == *algorithm && estimate.parameters == *parameters
            });
            let margin = if is_baseline { numbers.margin } else { 0.0 };
            (1.0 - margin) * estimate.cost.total_ns(products)
        };
        found.sort_by(|a, b| counted(a).total_cmp(&counted(b)));
        found
    }

    /// What stays unless another promises more than the margin; nothing where there is none.
    fn baseline(&self) -> Option<(Algorithm, NamedParameters)> {
        let Estimator { tables, fit, numbers, .. } = *self;
        if numbers.margin == 0.0 {
            return None;
        }
        Some((MODEL_BASELINE, parameters_of_tables(tables, fit, MODEL_BASELINE)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::gpu;

    fn h200() -> DeviceTraits {
        DeviceTraits {
            name: "NVIDIA H200".to_owned(),
            vendor: "NVIDIA Corporation".to_owned(),
            architecture: "sm_90".to_owned(),
            compute_units: 132,
            ..gpu()
        }
    }

    fn rows_of(rows: u64, row: u64) -> MatrixShape {
        MatrixShape { rows, nnz: rows * row, longest_row: row, in_step: rows * row, changes: 0 }
    }

    fn found(value_type: ValueType, matrix: &MatrixShape, products: Reuse) -> Vec<Estimate> {
        estimates(&Tables::untuned(), &h200(), value_type, matrix, products)
    }

    /// Nanoseconds of the best of an algorithm.
    fn best(matrix: &MatrixShape, algorithm: Algorithm) -> f64 {
        let all = found(ValueType::F32, matrix, Reuse::Many).into_iter();
        let of = all.filter(|estimate| estimate.algorithm == algorithm);
        of.map(|estimate| estimate.cost.product_ns()).fold(f64::INFINITY, f64::min)
    }

    #[test]
    fn estimates_come_in_order_and_copies_of_a_only_where_many_products_follow() {
        for products in Reuse::ALL {
            let found = found(ValueType::F64, &rows_of(50_000, 30), products);
            let total = |one: &Estimate| one.cost.total_ns(products);
            assert!(found.len() > 10);
            assert!(found.windows(2).all(|pair| total(&pair[0]) <= total(&pair[1])));
            let copies = found.iter().any(|one| one.algorithm.copies_values());
            assert_eq!(copies, products == Reuse::Many);
        }
    }

    #[test]
    fn a_row_that_one_item_has_costs_more_the_longer_it_is_and_one_that_all_share_does_not() {
        let giant = |longest_row| MatrixShape { longest_row, ..rows_of(100_000, 10) };
        let ratio = |algorithm| best(&giant(100_000), algorithm) / best(&giant(10), algorithm);
        assert!(ratio(Algorithm::CsrScalar) > 100.0);
        assert!(ratio(Algorithm::CsrVector) > 5.0);
        assert!(ratio(Algorithm::CsrFlat) < 1.2);
    }

    #[test]
    fn rows_that_wait_for_one_another_cost_items_with_a_row_each_more() {
        let even = rows_of(400_000, 8);
        let uneven = MatrixShape { in_step: 6 * even.nnz, changes: 350_000, ..even };
        assert!(best(&uneven, Algorithm::CsrScalar) > 1.5 * best(&even, Algorithm::CsrScalar));
        assert!(best(&uneven, Algorithm::CsrFlat) < 1.2 * best(&even, Algorithm::CsrFlat));
    }

    #[test]
    fn twice_the_nonzeros_cost_twice_as_much_beyond_the_cache_and_nothing_within_a_launch() {
        for algorithm in [Algorithm::CsrFlat, Algorithm::SellSigma] {
            let ratio = |rows| {
                best(&rows_of(2 * rows, 30), algorithm) / best(&rows_of(rows, 30), algorithm)
            };
            assert!((1.8..2.1).contains(&ratio(4_000_000)), "{algorithm}: {}", ratio(4_000_000));
            assert!(ratio(1_000) < 1.05, "{algorithm}: {}", ratio(1_000));
        }
    }

    #[test]
    fn what_costs_a_plan_is_not_taken_for_one_product() {
        let small = rows_of(20_000, 20);
        let taken = found(ValueType::F32, &small, Reuse::Once);
        assert!([Algorithm::CsrScalar, Algorithm::CsrVector].contains(&taken[0].algorithm));
    }

    #[test]
    fn copies_that_store_values_in_fewer_bytes_promise_more_and_nothing_else_does() {
        let (device, large) = (h200(), rows_of(4_000_000, 27));
        let fit = Fit::plain(&device, ValueType::F64, large.mean_row());
        let tables = Tables::untuned();
        let of = |coding, algorithm| {
            let all = estimates_where(&tables, &fit, &large, Reuse::Many, coding, |_| true);
            let of = all.into_iter().filter(|one| one.algorithm == algorithm);
            of.map(|one| one.cost.product_ns()).fold(f64::INFINITY, f64::min)
        };
        let (plain, dictionary) = (ValueCoding::AsTheyAre, ValueCoding::Dictionary);
        let copy = Algorithm::SellSigma;
        assert!(of(dictionary, copy) < of(ValueCoding::F32, copy));
        assert!(of(ValueCoding::F32, copy) < of(plain, copy));
        assert_eq!(of(dictionary, Algorithm::CsrFlat), of(plain, Algorithm::CsrFlat));
        let tiles = |coding| {
            tiles_estimate(&tables, &fit, &rows_of(4_284, 2_634), 1_096_894, coding)
                .map(|tiles| tiles.cost.product_ns())
        };
        assert!(tiles(dictionary) < tiles(plain) && tiles(dictionary).is_some());
    }

    #[test]
    fn a_choice_is_estimated_with_what_it_names_and_what_tables_have_otherwise() {
        let (device, tables) = (h200(), Tables::untuned());
        let matrix = rows_of(50_000, 30);
        let fit = Fit::plain(&device, ValueType::F32, matrix.mean_row());
        let of = |text: &str| estimate_of(&tables, &fit, &matrix, &text.parse().unwrap());
        let all = found(ValueType::F32, &matrix, Reuse::Many);
        for one in all {
            assert_eq!(of(&one.to_string()), Some(one));
        }
        let vector = of("csr_vector(items_per_row=4)").unwrap();
        assert_eq!(vector.parameters.get("items_per_row"), Some(4));
        assert!(vector.parameters.get("group_size").is_some());
        assert_eq!(of("csr_adaptive()"), None);
    }

    #[test]
    fn numbers_are_the_same_from_their_values() {
        for value_type in [ValueType::F32, ValueType::F64] {
            let numbers = Tables::untuned().default_model(&h200(), value_type).unwrap();
            assert_eq!(
                CostNumbers::from_values(numbers.entries().map(|(_, value)| value)),
                numbers
            );
        }
    }

    #[test]
    fn with_a_margin_the_baseline_stays_unless_another_promises_more() {
        let own = |margin: f64| {
            let numbers = Tables::untuned().default_model(&h200(), ValueType::F32).unwrap();
            let numbers = CostNumbers { margin, ..numbers };
            let entry = crate::DeviceEntry {
                origin: "a test".to_owned(),
                model: [("f32".to_owned(), numbers)].into(),
                kernel: [(
                    "csr_flat".to_owned(),
                    [("f32".to_owned(), [("tile_nnz".to_owned(), 3072)].into())].into(),
                )]
                .into(),
                ..Default::default()
            };
            let table = crate::DeviceTable { devices: vec![entry], ..crate::DeviceTable::empty() };
            Tables::with_user(Some(("own.toml".into(), table)))
        };
        let first = |margin, matrix: &MatrixShape| {
            let found = estimates(&own(margin), &h200(), ValueType::F32, matrix, Reuse::Several);
            found[0].to_string()
        };
        let is_baseline = |text: String| text.contains("tile_nnz=3072");
        // Tiles of other sizes promise little, an item a row much more than a tenth.
        let (long, short) = (rows_of(100_000, 60), rows_of(20_000, 2));
        assert!(!is_baseline(first(0.0, &long)) && is_baseline(first(0.1, &long)));
        assert!(!is_baseline(first(0.0, &short)) && !is_baseline(first(0.1, &short)));
        assert!(is_baseline(first(0.9, &short)));
    }

    #[test]
    fn every_candidate_fits_whatever_the_device_allows() {
        for (max_group_size, local_bytes) in [(1, 1 << 10), (64, 16 << 10), (256, 32 << 10)] {
            let device = DeviceTraits { max_group_size, local_bytes, ..h200() };
            for value_type in ValueType::ALL {
                let matrix = rows_of(1_000, 30);
                let tables = Tables::untuned();
                let fit = Fit::plain(&device, value_type, matrix.mean_row());
                for one in estimates(&tables, &device, value_type, &matrix, Reuse::Many) {
                    let entries = one.parameters.entries();
                    assert_eq!(one.algorithm.check_parameters(entries, &fit), Ok(()), "{one}");
                }
            }
        }
    }

    #[test]
    fn tiles_promise_much_for_wide_short_matrices_and_nothing_for_scattered_ones() {
        let device = h200();
        let of = |rows, row, cols| {
            let matrix = rows_of(rows, row);
            let (fit, plain) =
                (Fit::plain(&device, ValueType::F32, matrix.mean_row()), ValueCoding::AsTheyAre);
            let tiles = tiles_estimate(&Tables::untuned(), &fit, &matrix, cols, plain)?;
            Some(tiles.cost.product_ns())
        };
        // rail4284 on an H200: 87 µs by csr_flat, whose gathers without order no estimate sees; 31 by this.
        assert!(of(4_284, 2_634, 1_096_894).is_some_and(|ns| (20e3..50e3).contains(&ns)));
        // Segments of one nonzero, and x in one tile.
        assert_eq!(of(4_194_304, 16, 4_194_304), None);
        assert_eq!(of(100_000, 100, 4_000), None);
        let mut small = h200();
        small.max_group_size = 16;
        let fit = Fit::plain(&small, ValueType::F32, 100.0);
        let plain = ValueCoding::AsTheyAre;
        assert_eq!(
            tiles_estimate(&Tables::untuned(), &fit, &rows_of(100, 100), 90_000, plain),
            None
        );
    }
}
