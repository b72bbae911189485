//! A kernel's arguments, one after another: setting them, and finding the memory among them.

use cl_kernels::{ArgumentSink, Array, KernelArguments, Scalar};

use crate::Result;
use crate::raw::{Kernel, Memory, SvmAllocation};

/// The arguments of a kernel, whichever it is: what launches them is compiled once.
pub(crate) trait Arguments<'a> {
    /// The kernel's name.
    fn kernel_name(&self) -> &'static str;
    /// Sets all of them; the shared virtual memory among them.
    fn set(&self, kernel: &mut Kernel) -> Result<Vec<&'a SvmAllocation>>;
    /// The memory among them.
    fn memory(&self) -> Result<Vec<&'a Memory>>;
}

impl<'a, A: KernelArguments<&'a Memory>> Arguments<'a> for A {
    fn kernel_name(&self) -> &'static str {
        A::KERNEL
    }

    fn set(&self, kernel: &mut Kernel) -> Result<Vec<&'a SvmAllocation>> {
        let mut setter = Setter { kernel, next: 0, shared: Vec::new() };
        self.visit(&mut setter)?;
        Ok(setter.shared)
    }

    fn memory(&self) -> Result<Vec<&'a Memory>> {
        let mut memory = MemoryOf { found: Vec::new() };
        self.visit(&mut memory)?;
        Ok(memory.found)
    }
}

/// Sets arguments one after another, in the order the kernel's struct declares them.
struct Setter<'k, 'a> {
    kernel: &'k mut Kernel,
    next: u32,
    shared: Vec<&'a SvmAllocation>,
}

impl Setter<'_, '_> {
    fn value<T: bytemuck::Pod>(&mut self, value: &T) -> Result<()> {
        self.kernel.set_value(self.next, value)?;
        self.next += 1;
        Ok(())
    }
}

impl<'a> ArgumentSink<&'a Memory> for Setter<'_, 'a> {
    type Error = crate::Error;

    fn uint(&mut self, value: u32) -> Result<()> {
        self.value(&value)
    }

    fn ulong(&mut self, value: u64) -> Result<()> {
        self.value(&value)
    }

    fn ulong16(&mut self, value: &[u64; 16]) -> Result<()> {
        self.value(value)
    }

    fn array(&mut self, array: &Array<&'a Memory>) -> Result<()> {
        match array.memory {
            Some(memory) => self.kernel.set_memory(self.next, memory)?,
            None => self.kernel.set_no_memory(self.next)?,
        }
        self.next += 1;
        if let Some(Memory::Svm(allocation)) = array.memory {
            self.shared.push(allocation);
        }
        self.value(&array.start)
    }

    fn scalar(&mut self, scalar: &Scalar<&'a Memory>) -> Result<()> {
        match scalar {
            Scalar::F32(value) => self.value(value),
            Scalar::F64(value) => self.value(value),
            Scalar::Device(array) => self.array(array),
        }
    }
}

/// Finds the memory among arguments.
struct MemoryOf<'a> {
    found: Vec<&'a Memory>,
}

impl<'a> ArgumentSink<&'a Memory> for MemoryOf<'a> {
    type Error = crate::Error;

    fn uint(&mut self, _value: u32) -> Result<()> {
        Ok(())
    }

    fn ulong(&mut self, _value: u64) -> Result<()> {
        Ok(())
    }

    fn ulong16(&mut self, _value: &[u64; 16]) -> Result<()> {
        Ok(())
    }

    fn array(&mut self, array: &Array<&'a Memory>) -> Result<()> {
        self.found.extend(array.memory);
        Ok(())
    }

    fn scalar(&mut self, scalar: &Scalar<&'a Memory>) -> Result<()> {
        match scalar {
            Scalar::F32(_) | Scalar::F64(_) => Ok(()),
            Scalar::Device(array) => self.array(array),
        }
    }
}
