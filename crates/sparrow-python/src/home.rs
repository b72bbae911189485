//! Contexts: one for each device that Sparrow opens, and those that applications bring, each known once.

use std::sync::{Arc, Mutex, PoisonError, Weak};

use opencl3::types::cl_command_queue;
use sparrow::{
    BinaryCache, Context, Device, Queue, RuntimeError, Tables, default_tables, parse_device_table,
};

use crate::alive::Beginning;
use crate::cl_empty::Templates;
use crate::errors::{Failure, Result, detached};
use crate::fork::{self, OfProcess};
use pyo3::prelude::*;

/// The context of whatever was made in it, with the queue for what no other was named, and the device tables.
#[derive(Debug)]
pub(crate) struct Home {
    of: OfProcess<Objects>,
}

#[derive(Debug)]
struct Objects {
    context: Context,
    queue: Queue,
    beginning: Beginning,
    templates: Templates,
    /// The last queue of an application's that was used, which saves asking the driver whose it is.
    last: Mutex<Option<Queue>>,
}

/// Of the contexts that Sparrow has made: they live as long as the process.
static OWN: Mutex<Vec<Arc<Home>>> = Mutex::new(Vec::new());

/// Of the applications' contexts that something was made in.
static ADOPTED: Mutex<Vec<Weak<Home>>> = Mutex::new(Vec::new());

/// The device tables, read again after a tuning.
static TUNED: Mutex<Option<Tables>> = Mutex::new(None);

/// The text of the device that is used where none is named; `None` leaves it to `SPARROW_DEVICE`, else the best there is.
static DEFAULT: Mutex<Option<String>> = Mutex::new(None);

impl Home {
    fn new(context: Context, queue: Queue) -> Result<Arc<Self>> {
        let beginning = Beginning::of(&context)?;
        let (templates, last) = (Templates::default(), Mutex::new(None));
        let objects = Objects { context, queue, beginning, templates, last };
        Ok(Arc::new(Home { of: OfProcess::new(objects) }))
    }

    /// That of the device that `text` names, or of the default one.
    ///
    /// # Errors
    /// No OpenCL, or no such device.
    pub(crate) fn of_device(py: Python<'_>, text: Option<&str>) -> Result<Arc<Self>> {
        open(py)?;
        detached(py, || {
            let default = DEFAULT.lock().unwrap_or_else(PoisonError::into_inner).clone();
            let device = match text.map(str::to_owned).or(default) {
                Some(text) => sparrow::find_device(&text)?,
                None => Device::best()?,
            };
            let mut own = OWN.lock().unwrap_or_else(PoisonError::into_inner);
            let is_its = |home: &&Arc<Home>| home.context().device().id() == device.id();
            if let Some(home) = own.iter().find(is_its) {
                return Ok(home.clone());
            }
            let context = Context::new(&device)?;
            let queue = Queue::new(&context)?;
            let home = Home::new(context, queue)?;
            own.push(home.clone());
            Ok(home)
        })
    }

    /// That of an application's queue, whose context and device are shared with all that is made there.
    ///
    /// # Safety
    /// The queue is valid.
    ///
    /// # Errors
    /// The driver does not answer.
    pub(crate) unsafe fn of_queue(py: Python<'_>, queue: cl_command_queue) -> Result<Arc<Self>> {
        open(py)?;
        // SAFETY: the caller's promise.
        let context = unsafe { Context::of_queue(queue, BinaryCache::Default)? };
        let mut adopted = ADOPTED.lock().unwrap_or_else(PoisonError::into_inner);
        adopted.retain(|home| home.strong_count() > 0);
        let known = adopted.iter().filter_map(Weak::upgrade);
        if let Some(home) = known.into_iter().find(|home| home.context().is_same(&context)) {
            return Ok(home);
        }
        // SAFETY: as above, and the context is its own.
        let queue = unsafe { Queue::from_raw(&context, queue)? };
        let home = Home::new(context, queue)?;
        adopted.push(Arc::downgrade(&home));
        Ok(home)
    }

    pub(crate) fn context(&self) -> &Context {
        &self.of.context
    }

    /// For what no queue was named.
    pub(crate) fn queue(&self) -> &Queue {
        &self.of.queue
    }

    /// What the buffers of the context begin with.
    pub(crate) fn beginning(&self) -> Beginning {
        self.of.beginning
    }

    /// What new arrays of pyopencl's are made like.
    pub(crate) fn templates(&self) -> &Templates {
        &self.of.templates
    }

    /// The device tables: those that the last tuning has left, else those that the process began with.
    pub(crate) fn tables(&self) -> Tables {
        let tuned = TUNED.lock().unwrap_or_else(PoisonError::into_inner);
        tuned.clone().unwrap_or_else(default_tables)
    }

    /// An application's queue, which must be one of this context and device.
    ///
    /// # Safety
    /// The queue is valid.
    ///
    /// # Errors
    /// A queue of another context or device.
    pub(crate) unsafe fn adopt_queue(&self, queue: cl_command_queue) -> Result<Queue> {
        let mut last = self.of.last.lock().unwrap_or_else(PoisonError::into_inner);
        // One that is kept is alive, so that no other can have its address.
        if let Some(last) = last.as_ref().filter(|last| last.as_raw() == queue) {
            return Ok(last.clone());
        }
        // SAFETY: the caller's promise.
        let queue = unsafe { Queue::from_raw(self.context(), queue) };
        let queue = queue.map_err(|error| match error {
            RuntimeError::Context { .. } | RuntimeError::Device { .. } => Failure::value(format!(
                "the queue is one of another context or device than the matrix's, which is on {}: make the matrix with \
                 queue=, or arrays with the matrix's own queue",
                self.context().device().traits().name
            )),
            other => other.into(),
        })?;
        *last = Some(queue.clone());
        Ok(queue)
    }
}

/// Names the device for what no other is named for; `None` takes the choice back.
///
/// # Errors
/// No such device.
pub(crate) fn set_default(py: Python<'_>, text: Option<String>) -> Result<()> {
    if let Some(text) = &text {
        open(py)?;
        detached(py, || Ok(sparrow::find_device(text)?))?;
    }
    *DEFAULT.lock().unwrap_or_else(PoisonError::into_inner) = text;
    Ok(())
}

/// The device for what no other is named for, if one was named.
#[pyfunction]
pub(crate) fn _default_device() -> Option<String> {
    DEFAULT.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

/// Has whatever is planned from here on follow the user's table in a file; None goes back to what the process began with.
#[pyfunction]
pub(crate) fn _follow_table(path: Option<std::path::PathBuf>) -> PyResult<()> {
    let read = |path: std::path::PathBuf| -> PyResult<Tables> {
        let text = std::fs::read_to_string(&path)?;
        let (table, problems) = parse_device_table(&path, &text);
        Ok(Tables::with_user_and_problems(Some((path, table)), problems))
    };
    *TUNED.lock().unwrap_or_else(PoisonError::into_inner) = path.map(read).transpose()?;
    Ok(())
}

/// Where the user's own device table is; `None` where nothing says so.
#[pyfunction]
pub(crate) fn _user_table() -> Option<std::path::PathBuf> {
    sparrow::user_table_path()
}

/// Before the first call of OpenCL, whichever that is.
///
/// # Errors
/// A process that was forked from one that had opened it.
pub(crate) fn open(py: Python<'_>) -> Result<()> {
    fork::check()?;
    crate::loader::choose(py)
}
