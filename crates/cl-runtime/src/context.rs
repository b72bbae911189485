//! A context: one device, its programs, and the cache of their binaries.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use bytemuck::Pod;
use cl_kernels::KernelKey;
use csr_core::ValueType;

use crate::arena::{Arena, bytes_of};
use crate::kept_memory::KeptMemory;
use crate::plan_workspace::PlanWorkspace;
use crate::raw::{ContextHandle, DeviceId, Memory, MemoryFlags, QueueHandle};
use crate::{
    AnyArray, BinaryCache, Device, DeviceArray, ElementType, Error, Program, Result, compiler,
};

/// Bytes of the memory of which small arrays are taken, at least and at most: a 4,096th of the device's.
const SMALL_ARRAYS: (u64, u64) = (1 << 20, 1 << 24);

/// The largest of them has this part of it.
const SMALL_ARRAY_PART: usize = 8;

/// A context with one device, owned or the application's. Cheap to clone; clones share the programs.
#[derive(Clone, Debug)]
pub struct Context {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    handle: ContextHandle,
    device: Device,
    cache: BinaryCache,
    programs: Mutex<HashMap<KernelKey, Arc<Program>>>,
    plan_workspace: Mutex<Option<PlanWorkspace>>,
    kept_memory: KeptMemory,
    nothing: Mutex<Option<Memory>>,
    small_arrays: Mutex<Option<Arena>>,
    /// The same context for smaller groups, where a compiled kernel turned out to have no larger ones.
    smaller: Mutex<Option<Context>>,
}

impl Context {
    /// A new context on `device`, with the default cache of binaries.
    ///
    /// # Errors
    /// The driver's own failure.
    pub fn new(device: &Device) -> Result<Self> {
        Self::with_cache(device, BinaryCache::Default)
    }

    /// A new context on `device` with a given binary cache.
    ///
    /// # Errors
    /// The driver's own failure.
    pub fn with_cache(device: &Device, cache: BinaryCache) -> Result<Self> {
        let handle = device.id().create_context()?;
        Ok(Self::from_parts(handle, device.clone(), cache))
    }

    /// Uses a context of the application's, and one of its devices; it keeps its own reference.
    ///
    /// # Safety
    /// Both are valid handles, and the device belongs to the context.
    ///
    /// # Errors
    /// The driver does not answer.
    #[expect(unsafe_code, reason = "takes raw handles")]
    pub unsafe fn from_raw(
        context: opencl3::types::cl_context,
        device: opencl3::types::cl_device_id,
        cache: BinaryCache,
    ) -> Result<Self> {
        // SAFETY: the caller's promise.
        let (handle, id) = unsafe { (ContextHandle::retain(context)?, DeviceId::from_raw(device)) };
        Ok(Self::from_parts(handle, Device::new(id, None)?, cache))
    }

    /// Uses the context and the device of a queue of the application's; it keeps its own reference.
    ///
    /// # Safety
    /// The queue is a valid handle.
    ///
    /// # Errors
    /// The driver does not answer.
    #[expect(unsafe_code, reason = "takes a raw handle")]
    pub unsafe fn of_queue(
        queue: opencl3::types::cl_command_queue,
        cache: BinaryCache,
    ) -> Result<Self> {
        // SAFETY: the caller's promise.
        let (handle, id) = unsafe { QueueHandle::retain(queue)? }.context_and_device()?;
        Ok(Self::from_parts(handle, Device::new(id, None)?, cache))
    }

    fn from_parts(handle: ContextHandle, device: Device, cache: BinaryCache) -> Self {
        let shared = Shared {
            handle,
            device,
            cache,
            programs: Mutex::new(HashMap::new()),
            plan_workspace: Mutex::new(None),
            kept_memory: KeptMemory::default(),
            nothing: Mutex::new(None),
            small_arrays: Mutex::new(None),
            smaller: Mutex::new(None),
        };
        Context { shared: Arc::new(shared) }
    }

    /// The device.
    pub fn device(&self) -> &Device {
        &self.shared.device
    }

    /// The handle, for the application's own calls.
    pub fn as_raw(&self) -> opencl3::types::cl_context {
        self.shared.handle.as_raw()
    }

    /// The program of `key`: from memory, from the disk, or built.
    ///
    /// # Errors
    /// The kernel does not build (with the compiler's log), or the device does not run it in such groups.
    pub fn program(&self, key: &KernelKey) -> Result<Arc<Program>> {
        // The lock is held while building, so that two threads never build the same program.
        let mut programs = self.shared.programs.lock().unwrap_or_else(PoisonError::into_inner);
        let program = match programs.get(key) {
            Some(program) => program.clone(),
            None => {
                compiler::check(self.device().traits())?;
                self.check_value_type(key.value_type)?;
                let program = Arc::new(Program::build(self, key, &self.shared.cache)?);
                programs.insert(key.clone(), program.clone());
                program
            }
        };
        program.check_groups()?;
        Ok(program)
    }

    /// The same context for kernels in groups of at most `most` items; it keeps its programs, too.
    pub(crate) fn with_groups(&self, most: u64) -> Context {
        let mut smaller = self.shared.smaller.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(context) = &*smaller
            && context.device().traits().max_group_size <= most
        {
            return context.clone();
        }
        let (device, cache) = (self.device().with_groups(most), self.shared.cache.clone());
        let context = Self::from_parts(self.shared.handle.clone(), device, cache);
        *smaller = Some(context.clone());
        context
    }

    /// What the last plan left for the next to work with; two at once make their own.
    pub(crate) fn take_plan_workspace(&self) -> Option<PlanWorkspace> {
        self.shared.plan_workspace.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    pub(crate) fn keep_plan_workspace(&self, workspace: PlanWorkspace) {
        *self.shared.plan_workspace.lock().unwrap_or_else(PoisonError::into_inner) =
            Some(workspace);
    }

    /// Memory to work in, kept from one plan to the next.
    pub(crate) fn kept_memory(&self) -> &KeptMemory {
        &self.shared.kept_memory
    }

    /// What kernels are given for arrays without elements: one buffer for all of them, since a driver takes as long to
    /// make a small one as a large one (10 us and more, NVIDIA's).
    pub(crate) fn nothing(&self) -> Result<Memory> {
        let mut nothing = self.shared.nothing.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(memory) = &*nothing {
            return Ok(memory.clone());
        }
        let memory = Memory::create(self.handle(), MemoryFlags::ReadWrite, 1)?;
        *nothing = Some(memory.clone());
        Ok(memory)
    }

    /// `len` elements with undefined content; small arrays lie one after another in one arena, since a driver takes
    /// as long to make a small one as a large one, and again to use it first. No part of that memory is given out twice; it
    /// goes with the last array in it.
    ///
    /// # Errors
    /// As [`DeviceArray::allocate`].
    pub(crate) fn allocate_small<T: Pod>(&self, len: usize) -> Result<DeviceArray<T>> {
        let bytes = bytes_of::<T>(len);
        let (least, most) = SMALL_ARRAYS;
        let traits = self.device().traits();
        let most = most.min(traits.max_allocation_bytes);
        let arena_bytes = (traits.global_bytes >> 12).clamp(least.min(most), most) as usize;
        if bytes == 0 || bytes > arena_bytes / SMALL_ARRAY_PART {
            return DeviceArray::allocate(self, len);
        }
        let mut small = self.shared.small_arrays.lock().unwrap_or_else(PoisonError::into_inner);
        match &mut *small {
            Some(arena) if arena.left() >= bytes => arena.take(len),
            _ => {
                let mut arena = Arena::of(DeviceArray::allocate(self, arena_bytes)?);
                let array = arena.take(len);
                *small = Some(arena);
                array
            }
        }
    }

    /// Refuses value types the device has no arithmetic for.
    pub(crate) fn check_value_type(&self, value_type: ValueType) -> Result<()> {
        let traits = self.device().traits();
        if value_type.accumulator() == ValueType::F64 && !traits.has_f64 {
            let (device, what) = (traits.name.clone(), "double precision (cl_khr_fp64)".to_owned());
            return Err(Error::Unsupported { device, what });
        }
        Ok(())
    }

    /// Refuses an allocation the device cannot make, by name.
    ///
    /// # Errors
    /// `bytes` exceeds the device's largest allocation.
    pub(crate) fn check_allocation(&self, what: &str, bytes: u64) -> Result<()> {
        let traits = self.device().traits();
        if bytes > traits.max_allocation_bytes {
            return Err(Error::Allocation {
                what: what.to_owned(),
                needed: bytes,
                largest: traits.max_allocation_bytes,
                total: traits.global_bytes,
                device: traits.name.clone(),
            });
        }
        Ok(())
    }

    /// Refuses an array of another context, by the name `what`: not every driver does.
    ///
    /// # Errors
    /// The array belongs to another context.
    pub fn check_array(&self, what: &str, array: &AnyArray) -> Result<()> {
        if array.context_address().is_some_and(|context| context != self.address()) {
            return Err(Error::context(what, "the one it is used in"));
        }
        Ok(())
    }

    /// As [`Context::check_array`], and refuses an array whose elements are not those that its type says.
    ///
    /// # Errors
    /// As there; or other elements.
    pub(crate) fn check_typed<T: Pod>(&self, what: &str, array: &DeviceArray<T>) -> Result<()> {
        array.check_element(what, ElementType::of::<T>())?;
        self.check_array(what, array)
    }

    /// Tells contexts apart.
    pub(crate) fn address(&self) -> usize {
        self.as_raw().addr()
    }

    pub(crate) fn handle(&self) -> &ContextHandle {
        &self.shared.handle
    }

    /// Whether both are the same OpenCL context with the same device: programs, plans and workspaces of one serve the
    /// other.
    pub fn is_same(&self, other: &Context) -> bool {
        self.shares_memory_with(other) && self.device().id() == other.device().id()
    }

    /// Whether both are the same OpenCL context, with whichever of its devices: arrays and matrices of one serve the
    /// other.
    pub fn shares_memory_with(&self, other: &Context) -> bool {
        self.address() == other.address()
    }
}
