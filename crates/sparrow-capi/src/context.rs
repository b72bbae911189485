//! The application's context, and where device tables and binaries come from.

use std::ffi::{CString, c_char};
use std::path::Path;

use opencl3::types::{cl_command_queue, cl_context, cl_device_id};
use sparrow::{BinaryCache, Context, Tables, default_tables, parse_device_table};

use crate::failure::{Failure, Result, guard};
use crate::pointer::{
    Growing, Out, PathSetting, fill, handle, path_setting, read_optional, release, starts,
};
use crate::sparrow_status;

/// What a context is asked for; all other fields NULL are the defaults.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct sparrow_context_options {
    /// sizeof(sparrow_context_options).
    pub size: usize,
    /// The user's device table, as `sparrow tune` writes it: a path; "off" for none but the shipped ones; NULL for
    /// what the environment says (SPARROW_TABLE, else devices.toml in the user's folder).
    pub device_table: *const c_char,
    /// Where kernel binaries are kept: a folder; "off" for nowhere; NULL for what the environment says
    /// (SPARROW_CACHE_DIR, else the user's cache folder).
    pub binary_cache: *const c_char,
}

// SAFETY: `repr(C)`, its size first, and any bits are pointers.
unsafe impl Growing for sparrow_context_options {
    const NAME: &'static str = "sparrow_context_options";
    const STARTS: &'static [usize] =
        starts!(sparrow_context_options { size, device_table; binary_cache });
}

/// Facts of a context. Texts are valid until the context is released.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct sparrow_context_info {
    /// sizeof(sparrow_context_info); set by the caller.
    pub size: usize,
    /// The device's name.
    pub device: *const c_char,
    /// The platform's name.
    pub platform: *const c_char,
    /// What was left out of device tables and why, a line each; empty if nothing was.
    pub table_problems: *const c_char,
}

// SAFETY: `repr(C)`, its size first, and any bits are pointers.
unsafe impl Growing for sparrow_context_info {
    const NAME: &'static str = "sparrow_context_info";
    const STARTS: &'static [usize] =
        starts!(sparrow_context_info { size, device; platform, table_problems });
}

/// A context of the application's with one of its devices, and the programs built for it. Any number of threads may
/// use it at once.
pub struct sparrow_context {
    home: Home,
    device: CString,
    platform: CString,
    table_problems: CString,
}

/// The context of whatever was made in it, and its device tables.
#[derive(Clone, Debug)]
pub(crate) struct Home {
    pub(crate) context: Context,
    pub(crate) tables: Tables,
}

impl sparrow_context {
    pub(crate) fn home(&self) -> &Home {
        &self.home
    }
}

/// Uses the context and the device of a queue of the application's. `options` may be NULL. The queue itself is not
/// kept: each call that enqueues names its own.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparrow_context_from_queue(
    queue: cl_command_queue,
    options: *const sparrow_context_options,
    context: *mut *mut sparrow_context,
) -> sparrow_status {
    guard(|| {
        // SAFETY: the caller's promise.
        let out = unsafe { Out::new(context, "context")? };
        if queue.is_null() {
            return Err(Failure::null("queue"));
        }
        let handles =
            [opencl3::command_queue::CL_QUEUE_CONTEXT, opencl3::command_queue::CL_QUEUE_DEVICE]
                .map(|parameter| opencl3::command_queue::get_command_queue_data(queue, parameter));
        let [its_context, its_device] = handles.map(|answer| {
            let bytes = answer.map_err(|code| Failure::of_call("clGetCommandQueueInfo", code))?;
            Ok::<_, Failure>(handles_of(&bytes).next().unwrap_or(std::ptr::null_mut()))
        });
        // SAFETY: the driver has just named them as this queue's own; the options are the caller's promise.
        out.give(unsafe { adopt(its_context?, its_device?, options)? });
        Ok(())
    })
}

/// Uses a context of the application's and one of its devices, or a sub-device that the driver makes queues on in that
/// context. `options` may be NULL. Sub-devices must outlive it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparrow_context_from_device(
    opencl_context: cl_context,
    device: cl_device_id,
    options: *const sparrow_context_options,
    context: *mut *mut sparrow_context,
) -> sparrow_status {
    guard(|| {
        // SAFETY: the caller's promise.
        let out = unsafe { Out::new(context, "context")? };
        if opencl_context.is_null() {
            return Err(Failure::null("opencl_context"));
        }
        if device.is_null() {
            return Err(Failure::null("device"));
        }
        let parameter = opencl3::context::context::CL_CONTEXT_DEVICES;
        let devices = opencl3::context::context::get_context_data(opencl_context, parameter);
        let devices = devices.map_err(|code| Failure::of_call("clGetContextInfo", code))?;
        // SAFETY: the caller's promise.
        unsafe { check_device(opencl_context, device, &devices)? };
        // SAFETY: the caller's promise, and the device is the context's.
        out.give(unsafe { adopt(opencl_context, device, options)? });
        Ok(())
    })
}

/// Refuses a device that is neither one of the context's, nor a part of one on which the driver makes a queue: PoCL names
/// whole devices where a context was made of their parts.
///
/// # Safety
/// Both are valid.
unsafe fn check_device(context: cl_context, device: cl_device_id, of_context: &[u8]) -> Result<()> {
    let is_its = |device: cl_device_id| handles_of(of_context).any(|its| its == device);
    if is_its(device) {
        return Ok(());
    }
    let count = handles_of(of_context).count();
    let none = format!("the device is none of the {count} of the context");
    let mut whole = device;
    while !is_its(whole) {
        let parameter = opencl3::device::CL_DEVICE_PARENT_DEVICE;
        // Where parts are unknown, it is none.
        let parent = opencl3::device::get_device_data(whole, parameter).unwrap_or_default();
        whole = handles_of(&parent).next().unwrap_or(std::ptr::null_mut());
        if whole.is_null() {
            return Err(Failure::mismatch(none));
        }
    }
    // SAFETY: the caller's promise; the queue is released at once.
    unsafe {
        let queue = opencl3::command_queue::create_command_queue(context, device, 0);
        let released = queue.and_then(|queue| opencl3::command_queue::release_command_queue(queue));
        released.map_err(|code| {
            let call = Failure::of_call("clCreateCommandQueue", code)
                .of("a queue for it there, which the driver might make for a part of one");
            Failure::mismatch(none).and(&call)
        })
    }
}

/// # Safety
/// Both are valid and belong together; the options are NULL or valid.
unsafe fn adopt(
    context: cl_context,
    device: cl_device_id,
    options: *const sparrow_context_options,
) -> Result<sparrow_context> {
    // SAFETY: the caller's promise.
    let options = unsafe { read_optional(options, "options")? };
    let (mut table, mut cache) = (PathSetting::Default, PathSetting::Default);
    if let Some(options) = options {
        // SAFETY: texts of valid options are valid.
        table = unsafe { path_setting(options.device_table, "options->device_table")? };
        // SAFETY: as above.
        cache = unsafe { path_setting(options.binary_cache, "options->binary_cache")? };
    }
    let cache = match cache {
        PathSetting::Default => BinaryCache::Default,
        PathSetting::Off => BinaryCache::Off,
        PathSetting::At(folder) => BinaryCache::Folder(folder),
    };
    let tables = tables(&table)?;
    // SAFETY: the caller's promise.
    let context = unsafe { Context::from_raw(context, device, cache)? };
    let traits = context.device().traits();
    let problems: Vec<_> = tables.problems().iter().map(ToString::to_string).collect();
    Ok(sparrow_context {
        device: c_text(&traits.name),
        platform: c_text(&traits.platform),
        table_problems: c_text(&problems.join("\n")),
        home: Home { tables, context },
    })
}

/// The device tables of a path; a table that is named must be there.
pub(crate) fn tables(place: &PathSetting) -> Result<Tables> {
    match place {
        PathSetting::Default => Ok(default_tables()),
        PathSetting::Off => Ok(Tables::with_user(None)),
        PathSetting::At(path) => read_table(path),
    }
}

fn read_table(path: &Path) -> Result<Tables> {
    let text = std::fs::read_to_string(path).map_err(|error| {
        let text = format!("device table {}: {error}", path.display());
        Failure::new(sparrow_status::SPARROW_STATUS_INVALID_FILE, text)
    })?;
    let (table, problems) = parse_device_table(path, &text);
    Ok(Tables::with_user_and_problems(Some((path.to_owned(), table)), problems))
}

/// The handles that OpenCL answers in bytes.
fn handles_of(bytes: &[u8]) -> impl Iterator<Item = *mut std::ffi::c_void> {
    let words = bytes.as_chunks::<{ size_of::<usize>() }>().0.iter();
    words.map(|word| std::ptr::with_exposed_provenance_mut(usize::from_ne_bytes(*word)))
}

/// A text for C; zeros in it become spaces.
pub(crate) fn c_text(text: &str) -> CString {
    CString::new(text.replace('\0', " ")).unwrap_or_default()
}

/// What is known of a context.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparrow_context_get_info(
    context: *const sparrow_context,
    info: *mut sparrow_context_info,
) -> sparrow_status {
    guard(|| {
        // SAFETY: the caller's promise.
        let context = unsafe { handle(context, "context")? };
        let make = || {
            Ok(sparrow_context_info {
                size: size_of::<sparrow_context_info>(),
                device: context.device.as_ptr(),
                platform: context.platform.as_ptr(),
                table_problems: context.table_problems.as_ptr(),
            })
        };
        // SAFETY: the caller's promise.
        unsafe { fill(info, "info", make) }
    })
}

/// Ends the use of a context; NULL is allowed. What was made in it stays usable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparrow_context_release(context: *mut sparrow_context) -> sparrow_status {
    // SAFETY: the caller's promise.
    guard(|| unsafe { release(context, "context") })
}
