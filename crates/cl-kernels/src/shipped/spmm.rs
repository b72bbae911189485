//! Specialisations of SpMM.

use csr_core::ValueType;

use super::{Extent, List, ROUND};
use crate::spmm::{FEATURE_C_COLUMN_MAJOR, storage_feature};
use crate::spmm_merge::SpmmMerge;
use crate::spmm_row_split::SpmmRowSplit;
use crate::{
    Accumulate, DeviceType, KernelKey, ParameterError, Parameters, spmm_merge, spmm_row_split,
};

impl List<'_> {
    /// Vectors as wide as a GPU's and of one column, and i-nodes and single rows; what B stores and how C lies, in the
    /// cover two of them each, in turn.
    pub(super) fn spmm(&mut self) -> Result<(), ParameterError> {
        for value_type in ValueType::ALL {
            let usual = vec![SpmmRowSplit::usual(DeviceType::Gpu, value_type)];
            let mut sets = self.parameter_sets(value_type, usual)?;
            sets.extend(sets.clone().into_iter().map(SpmmRowSplit::row_by_row));
            sets.push(SpmmRowSplit { vector_width: 1, ..sets[0] });
            sets.push(SpmmRowSplit { vector_width: 1, ..sets[0] }.row_by_row());
            self.spmm_forms(spmm_row_split::SOURCE, value_type, &sets);

            let usual = vec![SpmmMerge::usual(DeviceType::Gpu, value_type)];
            let mut sets = self.parameter_sets(value_type, usual)?;
            sets.push(SpmmMerge { vector_width: 1, ..sets[0] });
            self.spmm_forms(spmm_merge::SOURCE, value_type, &sets);
        }
        Ok(())
    }

    fn spmm_forms<P: Parameters>(
        &mut self,
        source: &'static str,
        value_type: ValueType,
        sets: &[P],
    ) {
        let storages: &[ValueType] = match value_type {
            ValueType::F64 => &[ValueType::F64],
            _ => &[ValueType::F32, ValueType::F16, ValueType::Bf16],
        };
        let forms: Vec<_> =
            storages.iter().flat_map(|storage| [(*storage, false), (*storage, true)]).collect();
        for (turn, parameters) in sets.iter().enumerate() {
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
                    if !self.keys.contains(&key) {
                        self.keys.push(key);
                    }
                }
            }
        }
    }
}
