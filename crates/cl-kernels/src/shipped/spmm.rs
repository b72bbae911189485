//! Specialisations of SpMM.

use csr_core::ValueType;

use super::list::{Extent, List, ROUND};
use crate::spmm::{
    FEATURE_C_BY_ELEMENT, FEATURE_C_COLUMN_MAJOR, FEATURE_COLUMNS_APART, storage_feature,
};
use crate::spmm_merge::SpmmMerge;
use crate::spmm_nonzero_split::SpmmNonzeroSplit;
use crate::spmm_row_split::{
    FEATURE_GROUP_A_PART, FEATURE_NODE_LIST, FEATURE_PARTS, SpmmRowSplit, sharing_feature,
};
use crate::{
    Accumulate, DeviceType, KernelKey, ParameterError, Parameters, spmm_merge, spmm_nonzero_split,
    spmm_row_split,
};

impl List<'_> {
    /// What a plan may ask of a program: nodes of several rows and of one, in order and cut; vectors, and columns apart.
    /// What B stores and how C lies, in the cover two of them each, in turn.
    pub(super) fn spmm(&mut self) -> Result<(), ParameterError> {
        for value_type in ValueType::ALL {
            let default = vec![SpmmRowSplit::defaults(DeviceType::Gpu, value_type)];
            let mut sets = Vec::new();
            for default in self.parameter_sets(value_type, default)? {
                // NVIDIA's compiler alone has them, and is not asked.
                let default = SpmmRowSplit { shuffles: 0, ..default };
                let single = default.row_by_row();
                let long = [FEATURE_NODE_LIST, FEATURE_PARTS, FEATURE_GROUP_A_PART];
                // As for long rows, and where nodes are few.
                let [many, many_of_nodes] =
                    [single, default].map(|one| SpmmRowSplit { nnz_at_once: 8, ..one });
                sets.extend([
                    (default, vec![FEATURE_NODE_LIST]),
                    (single, vec![]),
                    (default, [&long[..], &[FEATURE_COLUMNS_APART]].concat()),
                    (single, long.to_vec()),
                    (default, vec![FEATURE_NODE_LIST, FEATURE_C_BY_ELEMENT]),
                    (single, vec![FEATURE_COLUMNS_APART]),
                    (SpmmRowSplit { rows_at_once: 2, ..default }, vec![FEATURE_NODE_LIST]),
                    (SpmmRowSplit { vector_width: 1, ..single }, vec![FEATURE_COLUMNS_APART]),
                    (many, vec![FEATURE_NODE_LIST]),
                    (single, sharing_feature(8).into_iter().collect()),
                    (
                        SpmmRowSplit { group_size: 256, ..many_of_nodes },
                        long.into_iter().chain(sharing_feature(4)).collect(),
                    ),
                ]);
            }
            self.spmm_forms(spmm_row_split::SOURCE, value_type, &sets);

            let default = vec![SpmmMerge::defaults(DeviceType::Gpu, value_type)];
            let mut sets = Vec::new();
            for default in self.parameter_sets(value_type, default)? {
                sets.extend([
                    (default, vec![]),
                    (default, vec![FEATURE_COLUMNS_APART]),
                    (default, vec![FEATURE_C_BY_ELEMENT]),
                    // Where tiles are few.
                    (SpmmMerge { group_size: 128, tile_length: 128, slack: 32, ..default }, vec![]),
                    (SpmmMerge { vector_width: 1, ..default }, vec![FEATURE_COLUMNS_APART]),
                ]);
            }
            self.spmm_forms(spmm_merge::SOURCE, value_type, &sets);

            let default = vec![SpmmNonzeroSplit::defaults(DeviceType::Gpu, value_type)];
            let mut sets = Vec::new();
            for default in self.parameter_sets(value_type, default)? {
                sets.extend([(default, vec![]), (default, vec![FEATURE_COLUMNS_APART])]);
            }
            self.spmm_forms(spmm_nonzero_split::SOURCE, value_type, &sets);
        }
        Ok(())
    }

    fn spmm_forms<P: Parameters>(
        &mut self,
        source: &'static str,
        value_type: ValueType,
        sets: &[(P, Vec<&'static str>)],
    ) {
        let storages: &[ValueType] = match value_type {
            ValueType::F64 => &[ValueType::F64],
            _ => &[ValueType::F32, ValueType::F16, ValueType::Bf16],
        };
        let forms: Vec<_> =
            storages.iter().flat_map(|storage| [(*storage, false), (*storage, true)]).collect();
        for (turn, (parameters, plan_features)) in sets.iter().enumerate() {
            let (first, count) = match self.extent {
                Extent::Product => (0, forms.len()),
                Extent::Cover => (2 * turn, 2),
            };
            for (number, (storage, is_column_major)) in
                forms.iter().cycle().skip(first % forms.len()).take(count).enumerate()
            {
                for (offset_type, on_device) in self.pairs(turn + number, ROUND.len()) {
                    let plain = Accumulate::Plain;
                    let mut key = KernelKey::new(
                        source,
                        value_type,
                        offset_type,
                        plain,
                        on_device,
                        parameters,
                    );
                    key.features.extend(storage_feature(*storage));
                    if *is_column_major {
                        key.features.push(FEATURE_C_COLUMN_MAJOR);
                    }
                    key.features.extend(plan_features);
                    if !self.keys.contains(&key) {
                        self.keys.push(key);
                    }
                }
            }
        }
    }
}
