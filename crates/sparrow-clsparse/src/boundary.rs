//! Between C and Rust: nothing unwinds, no null pointer is followed, and the application's floating-point traps are held.

use std::panic::{AssertUnwindSafe, catch_unwind};

use sparrow::FloatTrapsHeld;

use crate::status::{Result, Status};

/// What `body` comes to, as a status. A panic, which is a fault of this library, is told as an operation that cannot
/// be; what it held stays as it is.
pub(crate) fn status_of(body: impl FnOnce() -> Result<()>) -> Status {
    let _held = FloatTrapsHeld::new();
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(())) => Status::Success,
        Ok(Err(status)) => status,
        Err(_) => Status::InvalidOperation,
    }
}

/// What `body` comes to: a status and a value, `nothing` where it fails.
pub(crate) fn value_of<T>(nothing: T, body: impl FnOnce() -> Result<T>) -> (Status, T) {
    let _held = FloatTrapsHeld::new();
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(value)) => (Status::Success, value),
        Ok(Err(status)) => (status, nothing),
        Err(_) => (Status::InvalidOperation, nothing),
    }
}

/// What a pointer of the application's points to.
///
/// # Safety
/// The pointer is null, or valid for as long as `'a`.
pub(crate) unsafe fn read<'a, T>(pointer: *const T) -> Result<&'a T> {
    // SAFETY: the caller's promise.
    unsafe { pointer.as_ref() }.ok_or(Status::InvalidValue)
}

/// What a pointer of the application's points to, to be changed.
///
/// # Safety
/// The pointer is null, or valid for as long as `'a`, and what it points to is used by this call alone meanwhile.
pub(crate) unsafe fn write<'a, T>(pointer: *mut T) -> Result<&'a mut T> {
    // SAFETY: the caller's promise.
    unsafe { pointer.as_mut() }.ok_or(Status::InvalidValue)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_a_status() {
        assert_eq!(status_of(|| panic!("a fault of this library's")), Status::InvalidOperation);
        assert_eq!(value_of(7, || Err(Status::InvalidSize)), (Status::InvalidSize, 7));
    }

    #[test]
    fn null_is_a_status() {
        // SAFETY: null is allowed.
        assert_eq!(unsafe { read::<u32>(std::ptr::null()) }, Err(Status::InvalidValue));
    }
}
