//! An application's observer of a solve.
//!
//! It may throw: so it is called on the application's own thread with nothing of Rust below it that catches panics, which
//! would end the process at an exception of C++. The solve itself runs on another thread meanwhile, and waits for its
//! answers. Where the observer throws, that thread ends the solve as if it had been told to, and is waited for before the
//! exception goes on.

use std::cell::RefCell;
use std::ffi::c_void;
use std::ops::ControlFlow;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{Builder, JoinHandle};

use sparrow::SolverProgress;

use crate::failure::{Failure, Result, caught};
use crate::{sparrow_solver_progress, sparrow_status};

/// The application's function.
pub(crate) type Observer =
    unsafe extern "C-unwind" fn(*const sparrow_solver_progress, *mut c_void) -> u32;

/// What is told of each look, and hears whether the solve goes on.
pub(crate) type Observe<'a> = &'a mut dyn FnMut(&SolverProgress<'_>) -> ControlFlow<()>;

/// What another thread may take: the caller that says so answers for it.
struct Sent<T>(T);

// SAFETY: only `run_observed` makes one, of what its caller lends to the thread, and of what a thread points to that waits.
unsafe impl<T> Send for Sent<T> {}

impl<T> Sent<T> {
    fn take(self) -> T {
        self.0
    }
}

/// The thread that solves. Dropped, it ends the solve and waits.
struct Solving<T> {
    thread: Option<JoinHandle<Result<T>>>,
    looks: Receiver<Sent<sparrow_solver_progress>>,
    answers: Option<Sender<ControlFlow<()>>>,
}

impl<T> Solving<T> {
    fn join(&mut self) -> Result<T> {
        // Without answers, the solve ends at its next look.
        self.answers = None;
        match self.thread.take().map(JoinHandle::join) {
            Some(Ok(result)) => result,
            _ => Err(no_thread("it has ended")),
        }
    }
}

impl<T> Drop for Solving<T> {
    fn drop(&mut self) {
        if self.thread.is_some() {
            // The application hears of what it has thrown itself.
            let _ = self.join();
        }
    }
}

fn no_thread(why: impl std::fmt::Display) -> Failure {
    let text = format!("no thread for a solve with an observer: {why}");
    Failure::new(sparrow_status::SPARROW_STATUS_INTERNAL_ERROR, text)
}

/// Runs `solve` on another thread, and calls the observer on this one, during which the objects at the addresses `busy`
/// are refused. Must not be called where a panic is caught.
///
/// # Safety
/// The observer is a function of its type, and what `solve` uses may be used on another thread while this one waits.
pub(crate) unsafe fn run_observed<T: Send>(
    (observer, user_data): (Observer, *mut c_void),
    busy: [*const (); 2],
    solve: impl FnOnce(Observe<'_>) -> Result<T>,
) -> Result<T> {
    let (to_observer, looks) = channel();
    let (answers, from_observer) = channel();
    let solve = Sent((solve, to_observer, from_observer));
    let work = move || {
        let (solve, to_observer, from_observer) = solve.take();
        caught(|| {
            solve(&mut |progress| {
                // What it points to lives until the answer, for which this thread waits.
                let progress = Sent(sparrow_solver_progress::of(progress));
                let sent = to_observer.send(progress);
                sent.ok().and_then(|()| from_observer.recv().ok()).unwrap_or(ControlFlow::Break(()))
            })
        })
    };
    // SAFETY: `Solving` waits for the thread before anything that `work` borrows can end.
    let thread = unsafe { Builder::new().name("sparrow solve".to_owned()).spawn_unchecked(work) };
    let thread = thread.map_err(no_thread)?;
    let mut solving = Solving { thread: Some(thread), looks, answers: Some(answers) };
    while let Ok(progress) = solving.looks.recv() {
        let progress = progress.take();
        let answer = {
            let _busy = Busy::new(busy);
            // SAFETY: the caller's promise.
            unsafe { observer(&raw const progress, user_data) }
        };
        let answer = if answer == 0 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) };
        // A solve that has ended needs no answer.
        let _ = solving.answers.as_ref().map(|answers| answers.send(answer));
    }
    solving.join()
}

thread_local! {
    /// What solves use whose observers this thread is in.
    static BUSY: RefCell<Vec<*const ()>> = const { RefCell::new(Vec::new()) };
}

/// This thread is in an observer while it lives.
struct Busy(usize);

impl Busy {
    fn new(addresses: [*const (); 2]) -> Self {
        let _ = BUSY.try_with(|busy| busy.borrow_mut().extend(addresses));
        Busy(addresses.len())
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        let _ = BUSY.try_with(|busy| {
            let mut busy = busy.borrow_mut();
            let rest = busy.len().saturating_sub(self.0);
            busy.truncate(rest);
        });
    }
}

/// Whether this thread is in an observer of a solve that uses what lies at `pointer`: to wait for it would be for ever.
pub(crate) fn is_busy<T>(pointer: *const T) -> bool {
    let inside = |address: &*const ()| {
        (pointer.addr()..pointer.addr() + size_of::<T>().max(1)).contains(&address.addr())
    };
    BUSY.try_with(|busy| busy.borrow().iter().any(inside)).unwrap_or(false)
}

/// What such a call is told.
pub(crate) fn busy(name: &str) -> Failure {
    Failure::mismatch(format!(
        "the {name} is in use by a solve whose observer calls this, or has left without returning: an observer may \
         neither use its solver nor change or release its matrix"
    ))
}
