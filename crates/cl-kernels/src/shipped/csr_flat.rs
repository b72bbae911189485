//! What ships of `csr_flat`.

use super::List;
use crate::csr_flat::{CsrFlat, SOURCE};
use crate::{Accumulate, KernelKey, ParameterError, Parameters};

/// Local memory of a work-group of GPUs, in bytes: none has more that OpenCL tells of.
const LOCAL_BYTES: u64 = 64 << 10;

impl List<'_> {
    pub(super) fn csr_flat(&mut self) -> Result<(), ParameterError> {
        self.spmv(SOURCE, &[None], |_| vec![CsrFlat::default()])?;
        self.keys.retain(|key| key.source != SOURCE || fits(key));
        Ok(())
    }
}

/// Whether its sums fit: large pieces are refused where sums are compensated.
fn fits(key: &KernelKey) -> bool {
    let mut parameters = CsrFlat::default();
    let set = key.parameters.iter().try_for_each(|(name, value)| parameters.set(name, *value));
    let parts = if key.accumulate == Accumulate::Compensated { 2 } else { 1 };
    let sum_bytes = key.value_type.accumulator().size_bytes() as u64 * parts;
    set.is_ok() && parameters.local_sums() * sum_bytes <= LOCAL_BYTES
}
