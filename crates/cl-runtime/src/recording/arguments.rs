//! Which memory a kernel is given.

use cl_kernels::{ArgumentSink, Array, Scalar};

use crate::raw::Memory;

/// The memory among arguments.
pub(super) struct MemoryOf<'a> {
    pub(super) found: Vec<&'a Memory>,
}

impl<'a> ArgumentSink<&'a Memory> for MemoryOf<'a> {
    type Error = crate::Error;

    fn uint(&mut self, _value: u32) -> crate::Result<()> {
        Ok(())
    }

    fn ulong(&mut self, _value: u64) -> crate::Result<()> {
        Ok(())
    }

    fn ulong16(&mut self, _value: &[u64; 16]) -> crate::Result<()> {
        Ok(())
    }

    fn array(&mut self, array: &Array<&'a Memory>) -> crate::Result<()> {
        self.found.extend(array.memory);
        Ok(())
    }

    fn scalar(&mut self, scalar: &Scalar<&'a Memory>) -> crate::Result<()> {
        match scalar {
            Scalar::F32(_) | Scalar::F64(_) => Ok(()),
            Scalar::Device(array) => self.array(array),
        }
    }
}
