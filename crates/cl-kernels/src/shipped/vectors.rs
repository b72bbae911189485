//! The specialisations of kernels on dense vectors: few enough for all of them.

use csr_core::{OffsetType, ValueType};

use super::list::List;
use crate::elementwise::{self, Elementary, Elementwise};
use crate::reduce::{self, Reduce, Reduction};
use crate::sum_integers::{self, SumIntegers};
use crate::tiling::Tiling;
use crate::{Accumulate, KernelKey};

impl List<'_> {
    /// With the tiling that the runtime takes on a GPU.
    pub(super) fn vectors(&mut self) {
        let tiling =
            |element_bytes: u32| Tiling { group_size: 256, lanes: 16 / element_bytes, loads: 2 };
        let sums = [Accumulate::Plain, Accumulate::Compensated];
        for (value_type, element_bytes) in [(ValueType::F32, 4), (ValueType::F64, 8)] {
            let key = |source, accumulate, on_device| {
                let parameters = Elementwise::new(tiling(element_bytes));
                KernelKey::new(
                    source,
                    value_type,
                    OffsetType::U32,
                    accumulate,
                    on_device,
                    &parameters,
                )
            };
            for operation in Elementary::ALL {
                let ways = if operation.has_sums() { &sums[..] } else { &sums[..1] };
                let places = if operation.has_scalars() { &[false, true][..] } else { &[false] };
                for (accumulate, on_device) in
                    ways.iter().flat_map(|way| places.iter().map(move |place| (*way, *place)))
                {
                    let key = key(elementwise::SOURCE, accumulate, on_device);
                    self.keys.push(key.with_feature(operation.feature()));
                }
            }
            for (reduction, accumulate) in
                Reduction::ALL.into_iter().flat_map(|reduction| sums.map(|way| (reduction, way)))
            {
                let parameters = Reduce::new(tiling(element_bytes));
                let key = KernelKey::new(
                    reduce::SOURCE,
                    value_type,
                    OffsetType::U32,
                    accumulate,
                    false,
                    &parameters,
                );
                self.keys.push(key.with_feature(reduction.feature()));
            }
        }
        self.helper(
            sum_integers::SOURCE,
            ValueType::F32,
            OffsetType::U32,
            &SumIntegers::new(tiling(4)),
        );
    }
}
