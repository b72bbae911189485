//! Handles that C holds: numbers of a table, never pointers, so that one that was released is known to be.

use std::collections::HashMap;
use std::ffi::c_void;
use std::ptr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock, PoisonError, RwLock};

/// What lives under handles of one kind.
pub(crate) struct Handles<T> {
    live: LazyLock<RwLock<HashMap<usize, Arc<T>>>>,
}

/// No handle is given twice, of whatever kind.
static NEXT: AtomicUsize = AtomicUsize::new(1);

impl<T> Handles<T> {
    /// Of nothing yet.
    pub(crate) const fn new() -> Self {
        Handles { live: LazyLock::new(RwLock::default) }
    }

    /// A handle for `object`.
    pub(crate) fn add(&self, object: T) -> *mut c_void {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let mut live = self.live.write().unwrap_or_else(PoisonError::into_inner);
        live.insert(number, Arc::new(object));
        ptr::without_provenance_mut(number)
    }

    /// What `handle` stands for, if it lives.
    pub(crate) fn get(&self, handle: *const c_void) -> Option<Arc<T>> {
        let live = self.live.read().unwrap_or_else(PoisonError::into_inner);
        live.get(&handle.addr()).cloned()
    }

    /// Ends a handle; what it stood for ends with its last use.
    pub(crate) fn remove(&self, handle: *const c_void) -> Option<Arc<T>> {
        let mut live = self.live.write().unwrap_or_else(PoisonError::into_inner);
        live.remove(&handle.addr())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_released_handle_stands_for_nothing_and_is_never_given_again() {
        static NAMES: Handles<&str> = Handles::new();
        let first = NAMES.add("first");
        assert_eq!(NAMES.get(first).as_deref(), Some(&"first"));
        assert!(NAMES.remove(first).is_some());
        assert!(NAMES.get(first).is_none() && NAMES.remove(first).is_none());
        assert_ne!(NAMES.add("second"), first);
        assert!(NAMES.get(ptr::null()).is_none());
    }
}
