//! Floating-point traps that an application has turned on (`feenableexcept`), held while this library works.
//!
//! NaN, infinities and overflow are values here, and so they are in drivers and compilers, which run in the calling
//! thread. Traps belong to a thread: those of a driver's own threads are its own.

use std::marker::PhantomData;

/// While it lives, no floating-point exception ends in a signal in this thread; afterwards traps and flags are as they
/// were. Nothing is done where no trap is on, or the system has none to turn on (all but glibc).
#[derive(Debug)]
pub struct FloatTrapsHeld {
    held: Option<environment::Environment>,
    /// Traps are a thread's own.
    of_this_thread: PhantomData<*const ()>,
}

impl FloatTrapsHeld {
    /// Holds the traps of this thread.
    pub fn new() -> Self {
        FloatTrapsHeld { held: environment::hold(), of_this_thread: PhantomData }
    }
}

impl Default for FloatTrapsHeld {
    fn default() -> Self {
        Self::new()
    }
}

impl Drop for FloatTrapsHeld {
    fn drop(&mut self) {
        if let Some(environment) = &self.held {
            environment::restore(environment);
        }
    }
}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod environment {
    use std::ffi::c_int;

    /// glibc's `fenv_t`, which is 8 to 32 bytes, with some to spare.
    #[derive(Debug)]
    #[repr(C, align(16))]
    pub(super) struct Environment([u8; 256]);

    #[link(name = "m")]
    #[expect(unsafe_code, reason = "functions of C's fenv.h, as glibc has them")]
    unsafe extern "C" {
        safe fn fegetexcept() -> c_int;
        fn feholdexcept(environment: *mut Environment) -> c_int;
        fn fesetenv(environment: *const Environment) -> c_int;
    }

    pub(super) fn hold() -> Option<Environment> {
        if fegetexcept() <= 0 {
            return None;
        }
        let mut environment = Environment([0; 256]);
        // SAFETY: it is longer than an `fenv_t`, and aligned for one.
        #[expect(unsafe_code, reason = "functions of C's fenv.h, as glibc has them")]
        let status = unsafe { feholdexcept(&raw mut environment) };
        (status == 0).then_some(environment)
    }

    pub(super) fn restore(environment: &Environment) {
        // SAFETY: `feholdexcept` has filled it.
        #[expect(unsafe_code, reason = "functions of C's fenv.h, as glibc has them")]
        unsafe {
            fesetenv(environment);
        }
    }
}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
mod environment {
    #[derive(Debug)]
    pub(super) struct Environment;

    pub(super) fn hold() -> Option<Environment> {
        None
    }

    pub(super) fn restore(_: &Environment) {}
}
