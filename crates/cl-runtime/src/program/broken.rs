//! Deliberately broken kernels: tests change a line of a kernel's source before it is built, to see that
//! the conformance suite notices. For tests: only with the feature `fault-injection`.

use std::cell::RefCell;
use std::marker::PhantomData;

struct Edit {
    from: String,
    to: String,
    times: usize,
}

thread_local! {
    static EDIT: RefCell<Option<Edit>> = const { RefCell::new(None) };
}

/// Programs that this thread builds while this lives are built with the change.
#[derive(Debug)]
pub struct Broken {
    /// For its own thread, so it stays there.
    not_send: PhantomData<*const ()>,
}

/// Replaces `from` by `to` wherever it stands in sources that this thread builds from now on. Programs that
/// a context has built before stay as they are.
pub fn break_kernels(from: &str, to: &str) -> Broken {
    let edit = Edit { from: from.to_owned(), to: to.to_owned(), times: 0 };
    EDIT.with_borrow_mut(|current| *current = Some(edit));
    Broken { not_send: PhantomData }
}

impl Broken {
    /// Programs that were changed.
    pub fn programs(&self) -> usize {
        EDIT.with_borrow(|current| current.as_ref().map_or(0, |edit| edit.times))
    }
}

impl Drop for Broken {
    fn drop(&mut self) {
        EDIT.with_borrow_mut(|current| *current = None);
    }
}

/// The source as it is to be built.
pub(super) fn edited(source: String) -> String {
    EDIT.with_borrow_mut(|current| match current {
        Some(edit) if source.contains(&edit.from) => {
            edit.times += 1;
            source.replace(&edit.from, &edit.to)
        }
        _ => source,
    })
}
