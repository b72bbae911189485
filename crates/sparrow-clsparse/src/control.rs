//! Setting up, controls and events.
//!
//! A control is a queue, and how calls that name it run: by default each waits until its result is there, else
//! (`clsparseEnableAsync`) the event of the last one's last kernel is kept for the caller who asks.

use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use sparrow::{Accumulate, BinaryCache, Context, Event, Queue, RowOffsets};

use crate::boundary::{status_of, value_of, write};
use crate::handles::Handles;
use crate::known::{FreePlans, KnownVectors};
use crate::status::{Result, Status};
use crate::structures::{InOut, Naming, Structure};
use crate::types::{
    cl_command_queue, cl_event, clsparseControl, clsparseCreateResult, clsparseEventResult,
};

/// The version of clSPARSE that this library stands for.
const VERSION: [u32; 4] = [0, 10, 3, 0];

static IS_SET_UP: AtomicBool = AtomicBool::new(false);
static CONTROLS: Handles<Control> = Handles::new();

/// What lives behind a `clsparseControl`.
pub(crate) struct Control {
    /// The application's queue.
    pub(crate) queue: Queue,
    /// The context of all controls whose queues share it: programs are built once.
    context: Arc<Context>,
    state: Mutex<State>,
    /// How the program that made it names memory.
    naming: Naming,
}

/// What calls leave for the next.
#[derive(Default)]
pub(crate) struct State {
    is_async: bool,
    is_extended: bool,
    /// Of the last call's last kernel; none of a control that is not asynchronous.
    event: Option<Event>,
    /// Products of matrices without a meta.
    pub(crate) free_plans: FreePlans,
    /// Kernels on dense vectors.
    pub(crate) vectors: KnownVectors,
    /// What makes compressed rows of entries, and the last product that used them.
    pub(crate) row_offsets: Option<RowOffsets>,
    pub(crate) reads_row_offsets: Option<Event>,
}

impl Control {
    /// The control behind a handle, for functions that compute: those ask whether the library was set up first.
    pub(crate) fn of(handle: clsparseControl) -> Result<Arc<Control>> {
        if !IS_SET_UP.load(Ordering::Relaxed) {
            return Err(Status::NotInitialized);
        }
        Self::of_any(handle)
    }

    /// The control behind a handle.
    pub(crate) fn of_any(handle: clsparseControl) -> Result<Arc<Control>> {
        CONTROLS.get(handle).ok_or(Status::InvalidControlObject)
    }

    /// The context that arrays must belong to.
    pub(crate) fn context(&self) -> &Context {
        &self.context
    }

    /// How the program that made it names memory.
    pub(crate) fn naming(&self) -> Naming {
        self.naming
    }

    /// What a pointer of the application's points to.
    ///
    /// # Safety
    /// As types.rs says of all functions.
    pub(crate) unsafe fn read<T: Structure>(&self, pointer: *const T) -> Result<T> {
        // SAFETY: the caller's promise; programs that name memory otherwise have other controls.
        unsafe { self.naming.read(pointer) }
    }

    /// The same, to be changed.
    ///
    /// # Safety
    /// As types.rs says of all functions; and the structure is not used otherwise while what is returned lives.
    pub(crate) unsafe fn write<T: Structure>(&self, pointer: *mut T) -> Result<InOut<T>> {
        // SAFETY: as above.
        unsafe { self.naming.write(pointer) }
    }

    /// One call at a time.
    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// How products are summed.
    pub(crate) fn accumulate(&self) -> Accumulate {
        if self.is_extended { Accumulate::Compensated } else { Accumulate::Plain }
    }

    /// Ends a call that has waited for its kernels or had none to launch: an asynchronous control keeps an event that
    /// completes after whatever is in its queue.
    pub(crate) fn end_blocking(&mut self, queue: &Queue) -> Result<()> {
        self.event = None;
        if self.is_async {
            self.event = Some(queue.marker()?);
        }
        Ok(())
    }

    /// Ends a call whose last kernel is `event`: waits for it, or keeps it.
    pub(crate) fn end(&mut self, event: Event) -> Result<()> {
        self.event = None;
        if self.is_async {
            self.event = Some(event);
            return Ok(());
        }
        Ok(event.wait()?)
    }
}

/// A context that lives already, if it is the same.
fn shared(context: Context) -> Arc<Context> {
    static CONTEXTS: Mutex<Vec<Weak<Context>>> = Mutex::new(Vec::new());
    let mut contexts = CONTEXTS.lock().unwrap_or_else(PoisonError::into_inner);
    contexts.retain(|one| one.strong_count() > 0);
    let is_same = |one: &Arc<Context>| one.is_same(&context);
    if let Some(known) = contexts.iter().filter_map(Weak::upgrade).find(is_same) {
        return known;
    }
    let new = Arc::new(context);
    contexts.push(Arc::downgrade(&new));
    new
}

/// Products can be computed from now on. May be called again.
#[unsafe(no_mangle)]
pub extern "C" fn clsparseSetup() -> Status {
    IS_SET_UP.store(true, Ordering::Relaxed);
    Status::Success
}

/// Products are refused from now on. May be called again.
#[unsafe(no_mangle)]
pub extern "C" fn clsparseTeardown() -> Status {
    IS_SET_UP.store(false, Ordering::Relaxed);
    Status::Success
}

/// The version of clSPARSE that this library stands for. Numbers whose pointer is null are left out.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clsparseGetVersion(
    major: *mut u32,
    minor: *mut u32,
    patch: *mut u32,
    tweak: *mut u32,
) -> Status {
    status_of(|| {
        let places = [major, minor, patch, tweak];
        if places.iter().all(|place| place.is_null()) {
            return Err(Status::InvalidValue);
        }
        for (place, number) in places.into_iter().zip(VERSION) {
            // SAFETY: as types.rs says of all functions.
            if let Ok(place) = unsafe { write(place) } {
                *place = number;
            }
        }
        Ok(())
    })
}

/// A control for a queue, of which it keeps a reference of its own.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clsparseCreateControl(queue: cl_command_queue) -> clsparseCreateResult {
    // SAFETY: the caller's promise.
    unsafe { create(queue, Naming::Buffers) }
}

/// [`clsparseCreateControl`] as programs know it that name shared virtual memory (clSPARSE-2x.h): what is called with the
/// control takes structures of that layout.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clsparseCreateControlSvm(queue: cl_command_queue) -> clsparseCreateResult {
    // SAFETY: the caller's promise.
    unsafe { create(queue, Naming::Shared) }
}

/// # Safety
/// As types.rs says of all functions.
unsafe fn create(queue: cl_command_queue, naming: Naming) -> clsparseCreateResult {
    let (status, control) = value_of(ptr::null_mut(), || {
        if queue.is_null() {
            return Err(Status::InvalidCommandQueue);
        }
        // SAFETY: the queue is valid, as types.rs says.
        let context = shared(unsafe { Context::of_queue(queue, BinaryCache::Default)? });
        // SAFETY: as before.
        let queue = unsafe { Queue::from_raw(&context, queue)? };
        if naming == Naming::Shared && !context.device().traits().svm.coarse_grain_buffer {
            return Err(Status::InvalidDevice);
        }
        Ok(CONTROLS.add(Control { queue, context, state: Mutex::default(), naming }))
    });
    clsparseCreateResult { status, control }
}

/// Whether calls return before their result is there.
#[unsafe(no_mangle)]
pub extern "C" fn clsparseEnableAsync(control: clsparseControl, is_async: u32) -> Status {
    status_of(|| {
        let control = Control::of_any(control)?;
        let mut state = control.state();
        state.is_async = is_async != 0;
        if !state.is_async {
            state.event = None;
        }
        Ok(())
    })
}

/// Whether products with vectors, and sums of vectors, are summed with compensation.
#[unsafe(no_mangle)]
pub extern "C" fn clsparseEnableExtendedPrecision(
    control: clsparseControl,
    is_extended: u32,
) -> Status {
    status_of(|| {
        Control::of_any(control)?.state().is_extended = is_extended != 0;
        Ok(())
    })
}

/// The event of the last call's last kernel, which the caller releases; null unless the control is asynchronous. After a
/// call that waits for its kernels all the same (metas, files, products of sparse matrices, solvers), or that had none to
/// launch, it is an event that completes once they and what is in the queue have.
#[unsafe(no_mangle)]
pub extern "C" fn clsparseGetEvent(control: clsparseControl) -> clsparseEventResult {
    let (status, event): (_, cl_event) = value_of(ptr::null_mut(), || {
        let control = Control::of_any(control)?;
        let event = control.state().event.clone();
        event.map_or(Ok(ptr::null_mut()), |event| Ok(event.to_owned_raw()?))
    });
    clsparseEventResult { status, event }
}

/// Ends a control. What it has enqueued goes on.
#[unsafe(no_mangle)]
pub extern "C" fn clsparseReleaseControl(control: clsparseControl) -> Status {
    status_of(|| match CONTROLS.remove(control) {
        Some(_) => Ok(()),
        None => Err(Status::InvalidControlObject),
    })
}
