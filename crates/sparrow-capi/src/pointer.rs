//! Arguments of C as values of Rust: each is refused by name where it is NULL or has no meaning.

use sparrow::{are, counted};
use std::ffi::{CStr, c_char};
use std::mem::MaybeUninit;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, RwLock, RwLockReadGuard, RwLockWriteGuard};

use crate::failure::{Failure, Result};
use crate::observer::{busy, is_busy};
use crate::sparrow_status;

/// A struct that can grow: its first field is its size as the caller knows it.
///
/// A program that was compiled when it had fewer fields says a smaller size: fields that it does not have are 0, which in
/// each is the default. One that was compiled when it has more says a larger size, and may leave those at 0. So a field
/// that is added comes last, means with 0 what was there before it, and begins where the struct ended, padding included.
/// A field never grows: what follows it would move, and the size of one layout could be that of another. Where one has,
/// as `sparrow_buffer` has and with it what holds one, no size of before is accepted.
///
/// # Safety
/// `repr(C)`, begins with a `usize`, and any bits in it are a value.
pub(crate) unsafe trait Growing: Copy {
    /// Its name in C.
    const NAME: &'static str;
    /// Where the fields begin that were added since its fields have been where they are: without them, it ended there.
    const STARTS: &'static [usize];
}

/// [`Growing::STARTS`] of a struct with these fields, all of them: those after the semicolon were added.
macro_rules! starts {
    ($name:ident { $($field:ident),+ $(; $($added:ident),+)? }) => {{
        // A field that is missing here does not compile.
        let _all = |$name { $($field: _),+ $(, $($added: _),+)? }: $name| {};
        &[$($(std::mem::offset_of!($name, $added)),+)?]
    }};
}
pub(crate) use starts;

/// Bytes by which a struct of a later version may be larger than this one's: a larger size is none.
const MOST_GROWTH: usize = 256;

/// The object of a handle.
///
/// # Safety
/// NULL, or a handle of this kind that lives as long as `'a`.
pub(crate) unsafe fn handle<'a, T>(pointer: *const T, name: &str) -> Result<&'a T> {
    if pointer.is_null() {
        return Err(Failure::null(name));
    }
    if !pointer.is_aligned() {
        return Err(Failure::argument(format!("{name} is {pointer:p}, which is no handle")));
    }
    // SAFETY: the caller's promise.
    Ok(unsafe { &*pointer })
}

/// A struct that the caller filled. What it is too small for is 0.
///
/// # Safety
/// NULL, or as many bytes as its first field says.
pub(crate) unsafe fn read<T: Growing>(pointer: *const T, name: &str) -> Result<T> {
    // SAFETY: the caller's promise.
    let given = unsafe { size_given(pointer, name)? };
    let known = size_of::<T>();
    for index in known..given {
        // SAFETY: there are as many bytes as are given.
        if unsafe { pointer.cast::<u8>().add(index).read() } != 0 {
            return Err(Failure::argument(format!(
                "{name}->size is {given}, and byte {index} of it is not 0: {} has {} in this library, \
                 which cannot do what a later one might",
                T::NAME,
                counted(known, "byte")
            )));
        }
    }
    let mut value = MaybeUninit::<T>::zeroed();
    // SAFETY: both have that many bytes; any bits are a `T`, and so are zeros.
    Ok(unsafe {
        let target = value.as_mut_ptr().cast::<u8>();
        target.copy_from_nonoverlapping(pointer.cast::<u8>(), given.min(known));
        value.assume_init()
    })
}

/// As [`read`]; NULL is `None`.
///
/// # Safety
/// As there.
pub(crate) unsafe fn read_optional<T: Growing>(pointer: *const T, name: &str) -> Result<Option<T>> {
    if pointer.is_null() {
        return Ok(None);
    }
    // SAFETY: the caller's promise.
    Ok(Some(unsafe { read(pointer, name)? }))
}

/// Refuses a struct that [`fill`] would refuse.
///
/// # Safety
/// NULL, or at least a `usize`.
pub(crate) unsafe fn check_size<T: Growing>(pointer: *const T, name: &str) -> Result<()> {
    // SAFETY: the caller's promise.
    unsafe { size_given(pointer, name) }.map(|_| ())
}

/// Fills a struct of the caller's, whose size it has set: what it has no field for is left out, and fields that this
/// library does not know are 0.
///
/// # Safety
/// NULL, or as many bytes as its first field says, which nothing else uses.
pub(crate) unsafe fn fill<T: Growing>(
    pointer: *mut T,
    name: &str,
    make: impl FnOnce() -> Result<T>,
) -> Result<()> {
    // SAFETY: the caller's promise.
    let given = unsafe { size_given(pointer, name)? };
    let value = make()?;
    let (size, written) = (size_of::<usize>(), given.min(size_of::<T>()));
    let (source, target) = ((&raw const value).cast::<u8>(), pointer.cast::<u8>());
    // SAFETY: both have `written` bytes, and the caller's has as many as are given; its size stays.
    unsafe {
        target.add(size).copy_from_nonoverlapping(source.add(size), written - size);
        target.add(written).write_bytes(0, given - written);
    }
    Ok(())
}

/// The size that the caller's struct has, if some version of the struct has it.
///
/// # Safety
/// NULL, or at least a `usize`.
unsafe fn size_given<T: Growing>(pointer: *const T, name: &str) -> Result<usize> {
    if pointer.is_null() {
        return Err(Failure::null(name));
    }
    // SAFETY: the first field is a `usize`.
    let size = unsafe { pointer.cast::<usize>().read_unaligned() };
    let (known, unit) = (size_of::<T>(), align_of::<T>());
    let is_earlier = size.is_multiple_of(unit) && T::STARTS.contains(&size);
    let is_later = size.is_multiple_of(unit) && (known..=known + MOST_GROWTH).contains(&size);
    if !is_earlier && !is_later {
        return Err(Failure::argument(format!(
            "{name}->size is {size}, and {} has {} in this library",
            T::NAME,
            counted(known, "byte")
        )));
    }
    Ok(size)
}

/// Where a handle goes that a function makes; NULL stands there until it is made.
#[derive(Debug)]
pub(crate) struct Out<T>(*mut *mut T);

impl<T> Out<T> {
    /// # Safety
    /// NULL, or memory for a pointer.
    pub(crate) unsafe fn new(pointer: *mut *mut T, name: &str) -> Result<Self> {
        if pointer.is_null() {
            return Err(Failure::null(name));
        }
        // SAFETY: the caller's promise.
        unsafe { pointer.write_unaligned(std::ptr::null_mut()) };
        Ok(Out(pointer))
    }

    /// Hands the object to the caller.
    pub(crate) fn give(self, object: T) {
        // SAFETY: there is memory for a pointer, as `new` was promised.
        unsafe { self.0.write_unaligned(Box::into_raw(Box::new(object))) };
    }
}

/// Takes an object back that [`Out::give`] has handed out, and ends it.
///
/// # Safety
/// NULL, or a handle of this kind that is not used afterwards.
pub(crate) unsafe fn release<T>(pointer: *mut T, name: &str) -> Result<()> {
    if pointer.is_null() {
        return Ok(());
    }
    // SAFETY: the caller's promise.
    unsafe { handle(pointer, name)? };
    if is_busy(pointer) {
        return Err(busy(name));
    }
    // SAFETY: it came from a box, and the caller gives it up.
    drop(unsafe { Box::from_raw(pointer) });
    Ok(())
}

/// A text; NULL is `None`.
///
/// # Safety
/// NULL, or characters that end with a zero.
pub(crate) unsafe fn text<'a>(pointer: *const c_char, name: &str) -> Result<Option<&'a str>> {
    if pointer.is_null() {
        return Ok(None);
    }
    // SAFETY: the caller's promise.
    let text = unsafe { CStr::from_ptr(pointer) };
    let text = text.to_str();
    text.map(Some).map_err(|error| Failure::argument(format!("{name} is no UTF-8: {error}")))
}

/// A path of the file system, where `NULL` means the environment's and "off" means none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PathSetting {
    Default,
    Off,
    At(PathBuf),
}

/// # Safety
/// NULL, or characters that end with a zero.
pub(crate) unsafe fn path_setting(pointer: *const c_char, name: &str) -> Result<PathSetting> {
    if pointer.is_null() {
        return Ok(PathSetting::Default);
    }
    // SAFETY: the caller's promise.
    let bytes = unsafe { CStr::from_ptr(pointer) }.to_bytes();
    match bytes {
        b"" => Err(Failure::argument(format!(
            "{name} is empty: it is a path, \"off\", or NULL for the environment's"
        ))),
        b"off" => Ok(PathSetting::Off),
        path => Ok(PathSetting::At(path_of(path, name)?)),
    }
}

#[cfg(unix)]
fn path_of(bytes: &[u8], _name: &str) -> Result<PathBuf> {
    use std::os::unix::ffi::OsStrExt as _;
    Ok(PathBuf::from(std::ffi::OsStr::from_bytes(bytes)))
}

#[cfg(not(unix))]
fn path_of(bytes: &[u8], name: &str) -> Result<PathBuf> {
    let text = std::str::from_utf8(bytes);
    text.map(PathBuf::from)
        .map_err(|error| Failure::argument(format!("{name} is no UTF-8: {error}")))
}

/// An array in the host's memory; without elements, its pointer may be NULL.
///
/// # Safety
/// NULL, or `len` elements that nothing changes while `'a` lasts.
pub(crate) unsafe fn slice<'a, T>(pointer: *const T, len: usize, name: &str) -> Result<&'a [T]> {
    if len == 0 {
        return Ok(&[]);
    }
    if pointer.is_null() {
        let needed = counted(len, "element");
        return Err(Failure::argument(format!("{name} is NULL, and {needed} {} needed", are(len))));
    }
    let element = size_of::<T>();
    if !pointer.is_aligned() {
        return Err(Failure::argument(format!(
            "{name} is at {pointer:p}, and must be at a multiple of {}",
            align_of::<T>()
        )));
    }
    if len.checked_mul(element).is_none_or(|bytes| bytes > isize::MAX as usize) {
        return Err(Failure::argument(format!(
            "{name} of {} of {} is more than memory can hold",
            counted(len, "element"),
            counted(element, "byte")
        )));
    }
    // SAFETY: the caller's promise; aligned, and no longer than an object can be.
    Ok(unsafe { std::slice::from_raw_parts(pointer, len) })
}

/// A size.
pub(crate) fn size(value: u64, name: &str) -> Result<usize> {
    usize::try_from(value).map_err(|_| {
        Failure::argument(format!("{name} is {value}, above the limit of {}", usize::MAX))
    })
}

/// Refuses a field that has no use yet, and may have one in a later version.
pub(crate) fn reserved(value: u32, name: &str) -> Result<()> {
    match value {
        0 => Ok(()),
        other => Err(Failure::argument(format!("{name} is {other}, and must be 0"))),
    }
}

/// Yes or no.
pub(crate) fn flag(value: u32, name: &str) -> Result<bool> {
    match value {
        0 => Ok(false),
        1 => Ok(true),
        other => Err(Failure::argument(format!("{name} is {other}, and must be 0 or 1"))),
    }
}

fn poisoned(name: &str) -> Failure {
    let text = format!("a fault of the library has left the {name} unusable: release it");
    Failure::new(sparrow_status::SPARROW_STATUS_INTERNAL_ERROR, text)
}

/// Shares it with other threads that look at it.
pub(crate) fn shared<'a, T>(lock: &'a RwLock<T>, name: &str) -> Result<RwLockReadGuard<'a, T>> {
    if is_busy(lock) {
        // Not after a thread that waits to change it, and so for the end of the solve.
        return lock.try_read().map_err(|_| busy(name));
    }
    lock.read().map_err(|_| poisoned(name))
}

/// Keeps other threads off it.
pub(crate) fn changed<'a, T>(lock: &'a RwLock<T>, name: &str) -> Result<RwLockWriteGuard<'a, T>> {
    if is_busy(lock) {
        return Err(busy(name));
    }
    lock.write().map_err(|_| poisoned(name))
}

/// Waits until no other thread holds it.
pub(crate) fn exclusive<'a, T>(lock: &'a Mutex<T>, name: &str) -> Result<MutexGuard<'a, T>> {
    if is_busy(lock) {
        return Err(busy(name));
    }
    lock.lock().map_err(|_| poisoned(name))
}
