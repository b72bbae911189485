//! The experiments that tell where a product's time goes: kernels that leave out a part of what they load.

/// What a product does not load (D. Guo, W. Gropp, L. N. Olson, "A hybrid format for better performance of sparse
/// matrix-vector multiplication on a GPU", section 3.3). Its y is wrong by design: for measuring alone, and
/// never verified.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Experiment {
    /// No experiment: everything is loaded.
    #[default]
    Off,
    /// x is 1 everywhere: neither x nor columns are loaded, so that T_A + T_Y is left.
    XConstant,
    /// A is 1 wherever it is stored: values are not loaded, columns are, so that T_X + T_Y is left.
    AConstant,
    /// Both, so that T_Y is left.
    BothConstant,
}

impl Experiment {
    /// The three that leave something out.
    pub const ALL: [Experiment; 3] =
        [Experiment::XConstant, Experiment::AConstant, Experiment::BothConstant];

    /// The macros of `cl/item/scalar.h` that make the experiment: none when it is off.
    pub fn features(self) -> &'static [&'static str] {
        match self {
            Experiment::Off => &[],
            Experiment::XConstant => &["X_CONSTANT"],
            Experiment::AConstant => &["A_CONSTANT"],
            Experiment::BothConstant => &["X_CONSTANT", "A_CONSTANT"],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn experiments_are_honoured_where_one_element_is_loaded_or_lanes_of_them() {
        for feature in Experiment::BothConstant.features() {
            let paths: Vec<_> = crate::SOURCES
                .iter()
                .filter(|source| source.text().contains(feature))
                .map(|source| source.path)
                .collect();
            let is_known = |path: &&str| {
                ["item/scalar.h", "item/copied_values.h", "item/lane_loads.h"].contains(path)
            };
            assert!(paths.len() >= 2 && paths.iter().all(is_known), "{feature}: {paths:?}");
        }
    }

    #[test]
    fn no_product_for_one_matrix_loads_past_those_functions() {
        for source in crate::SOURCES.iter().filter(|source| source.path.starts_with("spmv/")) {
            for bypass in ["x[", "columns[", "values["] {
                // `&x[...]` and the like would be found too: there are none.
                let found = source.text().match_indices(bypass).find(|(at, _)| {
                    let before = source.text()[..*at].chars().next_back();
                    !before.is_some_and(|c| c.is_alphanumeric() || c == '_')
                });
                assert_eq!(found, None, "{}", source.path);
            }
        }
    }
}
