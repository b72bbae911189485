//! Kernels shaped for CPUs: any device runs them, so all are held to its limits.

use csr_core::{OffsetType, ValueType};

use super::List;
use crate::csr_pieces::{self, CsrPieces};
use crate::sell::{self, Sell};
use crate::{Accumulate, KernelKey, ParameterError};

impl List<'_> {
    /// `csr_pieces`, with all numbers of lanes that are usual.
    pub(super) fn csr_pieces(&mut self) -> Result<(), ParameterError> {
        self.spmv(csr_pieces::SOURCE, &[None], |_| {
            let of_mean = |mean| CsrPieces::default_for_mean_row(mean).kernel();
            [1.0, 4.0, 8.0].map(of_mean).to_vec()
        })
    }

    /// `sell`, whose product reads no offsets, and what brings its values into place.
    pub(super) fn sell(&mut self) {
        let kernel = Sell::default().kernel();
        for value_type in ValueType::ALL {
            for accumulate in [Accumulate::Plain, Accumulate::Compensated] {
                for on_device in [false, true] {
                    let offset_type = OffsetType::U32;
                    self.keys.push(KernelKey::new(
                        sell::SOURCE,
                        value_type,
                        offset_type,
                        accumulate,
                        on_device,
                        &kernel,
                    ));
                }
            }
            for offset_type in [OffsetType::U32, OffsetType::U64] {
                self.helper(sell::VALUES_SOURCE, value_type, offset_type, &kernel);
            }
        }
    }
}
