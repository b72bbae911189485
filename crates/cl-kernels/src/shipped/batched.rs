//! Batched products: each kernel on lists of tasks and on a strided range. That by sub-groups in step, which compiles for
//! NVIDIA alone in its default size, has sub-groups of one item, as the tests have it on every device.

use csr_core::ValueType;

use super::list::{Extent, List, ROUND};
use crate::batched::{
    Batched, BatchedKernel, FEATURE_ATOMIC, FEATURE_COLUMNS_U16, FEATURE_ONE_RANGE, FEATURE_REVERSE,
};
use crate::{Accumulate, KernelKey, ParameterError};

impl List<'_> {
    /// Widths of columns and offsets, and where scalars lie, alternate. In the cover, 16-bit values have the kernels of
    /// rows and equal nonzeros only.
    pub(super) fn batched(&mut self) -> Result<(), ParameterError> {
        let forms: [(BatchedKernel, &[&'static str]); 8] = [
            (BatchedKernel::Rows, &[]),
            (BatchedKernel::CsrI, &[FEATURE_ONE_RANGE]),
            (BatchedKernel::CsrI, &[]),
            (BatchedKernel::Rows, &[FEATURE_ONE_RANGE]),
            (BatchedKernel::Coo, &[]),
            (BatchedKernel::Ell, &[FEATURE_ONE_RANGE]),
            (BatchedKernel::CsrI, &[FEATURE_ATOMIC]),
            (BatchedKernel::Coo, &[FEATURE_ATOMIC, FEATURE_ONE_RANGE]),
        ];
        let in_step: [&[&'static str]; 2] = [&[FEATURE_ONE_RANGE, FEATURE_REVERSE], &[]];
        let alone = Batched { sub_groups_per_group: 64, ..Batched::defaults(1) };
        for value_type in ValueType::ALL {
            // Devices of every SIMD width.
            let sets =
                self.parameter_sets(value_type, [8, 16, 32, 64].map(Batched::defaults).to_vec())?;
            let count = match self.extent {
                Extent::Cover if value_type != value_type.accumulator() => 2,
                _ => forms.len(),
            };
            let all = sets.iter().flat_map(|its| {
                let its = its.one_by_one();
                forms[..count].iter().map(move |&(kernel, form)| (kernel, form, its))
            });
            let pairs = Batched { pairs: 1, ..alone }.by_pairs();
            let of_in_step = in_step.map(|form| (BatchedKernel::CsrIInStep, form, alone));
            let of_pairs = (BatchedKernel::CsrIInStep, in_step[0], pairs);
            let all = all.chain(of_in_step).chain([of_pairs]);
            for (number, (kernel, form, parameters)) in all.enumerate() {
                let round = number + number / count;
                for (offset_type, on_device) in self.pairs(round, ROUND.len()) {
                    let (source, plain) = (kernel.source(), Accumulate::Plain);
                    let mut key = KernelKey::new(
                        source,
                        value_type,
                        offset_type,
                        plain,
                        on_device,
                        &parameters,
                    );
                    key.features.extend_from_slice(form);
                    let key = kernel.key(key);
                    let short = key.clone().with_feature(FEATURE_COLUMNS_U16);
                    match self.extent {
                        Extent::Product => self.keys.extend([key, short]),
                        Extent::Cover if round.is_multiple_of(2) => self.keys.push(short),
                        Extent::Cover => self.keys.push(key),
                    }
                }
            }
        }
        Ok(())
    }
}
