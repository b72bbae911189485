//! Batched products: one source, of which each program knows some kinds of problems or forms of batches. Programs whose
//! sub-groups go through their chunks by themselves are NVIDIA's alone, for which no compiler here compiles.

use csr_core::ValueType;

use super::list::{Extent, List, ROUND};
use crate::batched::{
    Batched, FEATURE_ALIKE, FEATURE_ATOMIC, FEATURE_COLUMNS_U16, FEATURE_FEW_RANGES, SOURCE,
};
use crate::{Accumulate, KernelKey, ParameterError};

impl List<'_> {
    /// Batches: programs that know one kind of problem, or the two that are chosen where nothing is asked for, and
    /// those that add cut rows by atomics. Widths of columns and offsets, and where scalars lie, go in turn. In the
    /// cover, 16-bit values have the usual program only.
    pub(super) fn batched(&mut self) -> Result<(), ParameterError> {
        let alike: &[&'static str] = &["WITH_CSR_I", FEATURE_ALIKE];
        let forms: [&[&'static str]; 9] = [
            &["WITH_CSR_ROWS", "WITH_CSR_I"],
            alike,
            &["WITH_CSR_I", FEATURE_FEW_RANGES],
            &["WITH_CSR_I"],
            &["WITH_CSR_ROWS"],
            &["WITH_COO"],
            &["WITH_ELL"],
            &["WITH_CSR_I", FEATURE_ATOMIC],
            &["WITH_COO", FEATURE_ATOMIC],
        ];
        for value_type in ValueType::ALL {
            // Devices of every SIMD width.
            let sets =
                self.parameter_sets(value_type, [8, 16, 32, 64].map(Batched::usual).to_vec())?;
            let count = match self.extent {
                Extent::Cover if value_type != value_type.accumulator() => 1,
                _ => forms.len(),
            };
            for (number, parameters) in sets.iter().enumerate() {
                let one_by_one = forms[..count].iter().map(|form| (*form, parameters.one_by_one()));
                let all = one_by_one.chain([(alike, parameters.by_pairs())]);
                for (turn, (form, parameters)) in (number..).zip(all) {
                    for (offset_type, on_device) in self.pairs(turn, ROUND.len()) {
                        let plain = Accumulate::Plain;
                        let (source, types) = (SOURCE, (value_type, offset_type));
                        let mut key =
                            KernelKey::new(source, types.0, types.1, plain, on_device, &parameters);
                        key.features.extend_from_slice(form);
                        let short = key.clone().with_feature(FEATURE_COLUMNS_U16);
                        match self.extent {
                            Extent::Product => self.keys.extend([key, short]),
                            Extent::Cover if turn.is_multiple_of(2) => self.keys.push(short),
                            Extent::Cover => self.keys.push(key),
                        }
                    }
                }
            }
        }
        Ok(())
    }
}
