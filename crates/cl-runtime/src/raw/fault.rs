//! The seam where tests make OpenCL fail, and count what is alive. For tests: `fault-injection` is off
//! by default, and without it the functions here are empty and inlined.
//!
//! Every call that allocates, builds, enqueues or waits passes its name through `attempt`. A test that
//! has armed the seam has the k-th call of one kind fail as a real driver would, without the driver being
//! called; what is armed holds for the thread that armed it. The same calls count the objects they create
//! and releases take them off again, in the whole process, so that "nothing leaks" is a number.

#[cfg(feature = "fault-injection")]
pub use armed::{Armed, Kind, Live, arm, arm_with, count, live};

/// What is counted; shared virtual memory counts as memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Object {
    Context,
    Queue,
    Memory,
    Event,
    Program,
    Kernel,
    CommandBuffer,
}

/// Makes `function` under the name `call`, unless a test has it fail, and counts what it created.
#[cfg(feature = "fault-injection")]
pub(super) fn attempt<T>(
    call: &'static str,
    function: impl FnOnce() -> Result<T, i32>,
) -> Result<T, i32> {
    armed::pass(call)?;
    let made = function()?;
    if let Some((_, Some(object))) = armed::classify(call) {
        created(object);
    }
    Ok(made)
}

/// Makes the call.
#[cfg(not(feature = "fault-injection"))]
#[inline(always)]
pub(super) fn attempt<T>(
    _call: &'static str,
    function: impl FnOnce() -> Result<T, i32>,
) -> Result<T, i32> {
    function()
}

/// Whether a test has a call of this kind fail: then what could be had without the call is made by it, so that each fails in
/// its count, and nothing is kept.
#[inline(always)]
pub(super) fn is_awaited(_call: &'static str) -> bool {
    #[cfg(feature = "fault-injection")]
    return armed::is_awaited(_call);
    #[cfg(not(feature = "fault-injection"))]
    false
}

/// Counts an object, or a reference to one, that this crate will release.
#[inline(always)]
pub(super) fn created(_object: Object) {
    #[cfg(feature = "fault-injection")]
    armed::change(_object, 1);
}

/// Takes off what was released, if it was.
#[inline(always)]
pub(super) fn released(_object: Object, _release: Result<(), i32>) {
    #[cfg(feature = "fault-injection")]
    if _release.is_ok() {
        armed::change(_object, -1);
    }
}

#[cfg(feature = "fault-injection")]
mod armed {
    use std::cell::Cell;
    use std::marker::PhantomData;
    use std::sync::atomic::{AtomicIsize, Ordering};

    use super::Object;

    /// Which calls are counted until one fails.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Kind {
        /// Contexts, queues, memory, kernel objects and command buffers, with what is recorded in those.
        Allocation,
        /// Programs: made from source or binary, and built.
        Build,
        /// Everything put into a queue.
        Enqueue,
        /// Flushes, finishes, and waits for events.
        Wait,
    }

    /// The kind of a call, and what it creates.
    pub(super) fn classify(call: &str) -> Option<(Kind, Option<Object>)> {
        Some(match call {
            "clCreateContext" => (Kind::Allocation, Some(Object::Context)),
            "clCreateCommandQueue" => (Kind::Allocation, Some(Object::Queue)),
            "clCreateBuffer" | "clCreateSubBuffer" | "clSVMAlloc" => {
                (Kind::Allocation, Some(Object::Memory))
            }
            "clCreateKernel" => (Kind::Allocation, Some(Object::Kernel)),
            "clCreateCommandBufferKHR" => (Kind::Allocation, Some(Object::CommandBuffer)),
            "clCommandNDRangeKernelKHR" | "clFinalizeCommandBufferKHR" => (Kind::Allocation, None),
            "clCreateProgramWithSource" | "clCreateProgramWithBinary" => {
                (Kind::Build, Some(Object::Program))
            }
            "clBuildProgram" => (Kind::Build, None),
            "clFlush" | "clFinish" | "clWaitForEvents" => (Kind::Wait, None),
            _ if call.starts_with("clEnqueue") => (Kind::Enqueue, Some(Object::Event)),
            _ => return None,
        })
    }

    /// What a real driver answers where the call cannot be carried out.
    fn status_of(call: &str) -> i32 {
        match call {
            "clCreateBuffer" | "clCreateSubBuffer" | "clSVMAlloc" => -4, // CL_MEM_OBJECT_ALLOCATION_FAILURE
            "clBuildProgram" => -11,                                     // CL_BUILD_PROGRAM_FAILURE
            "clWaitForEvents" => -14, // CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST
            _ if call.starts_with("clCreate") => -6, // CL_OUT_OF_HOST_MEMORY
            _ => -5,                  // CL_OUT_OF_RESOURCES
        }
    }

    #[derive(Clone, Copy)]
    struct Plan {
        kind: Kind,
        /// Whether calls are counted and none fails.
        only_counts: bool,
        /// Calls until the one that fails, that one included; 0 once it has.
        left: usize,
        status: Option<i32>,
        failed: Option<&'static str>,
    }

    thread_local! {
        static PLAN: Cell<Option<Plan>> = const { Cell::new(None) };
    }

    /// The seam is armed on this thread while this lives.
    #[derive(Debug)]
    pub struct Armed {
        /// Armed for its own thread, so it stays there.
        not_send: PhantomData<*const ()>,
    }

    /// Has the `k`-th call of `kind` that this thread makes from now on fail with the status a driver
    /// gives where it cannot carry the call out; the first is 1. Calls after it reach the driver.
    pub fn arm(kind: Kind, k: usize) -> Armed {
        arm_plan(kind, false, k, None)
    }

    /// As [`arm`], with another status.
    pub fn arm_with(kind: Kind, k: usize, status: i32) -> Armed {
        arm_plan(kind, false, k, Some(status))
    }

    /// Counts this thread's calls of a kind and has none fail.
    pub fn count(kind: Kind) -> Armed {
        arm_plan(kind, true, usize::MAX, None)
    }

    fn arm_plan(kind: Kind, only_counts: bool, k: usize, status: Option<i32>) -> Armed {
        PLAN.set(Some(Plan { kind, only_counts, left: k, status, failed: None }));
        Armed { not_send: PhantomData }
    }

    impl Armed {
        /// The call that failed, if there were so many. The seam is no longer armed.
        pub fn disarm(self) -> Option<&'static str> {
            PLAN.take().and_then(|plan| plan.failed)
        }

        /// The calls that [`count`] has counted. It counts no longer.
        pub fn counted(self) -> usize {
            PLAN.take().map_or(0, |plan| usize::MAX - plan.left)
        }
    }

    impl Drop for Armed {
        fn drop(&mut self) {
            PLAN.set(None);
        }
    }

    /// Fails where the thread's plan says so.
    pub(super) fn pass(call: &'static str) -> Result<(), i32> {
        let Some(mut plan) = PLAN.get() else { return Ok(()) };
        if plan.left == 0 || classify(call).is_none_or(|(kind, _)| kind != plan.kind) {
            return Ok(());
        }
        plan.left -= 1;
        let fails = plan.left == 0;
        if fails {
            plan.failed = Some(call);
        }
        PLAN.set(Some(plan));
        if fails { Err(plan.status.unwrap_or(status_of(call))) } else { Ok(()) }
    }

    /// Whether a call of this kind is to fail, or has.
    pub(super) fn is_awaited(call: &str) -> bool {
        let kind = classify(call).map(|(kind, _)| kind);
        PLAN.get().is_some_and(|plan| kind == Some(plan.kind) && !plan.only_counts)
    }

    /// Objects of this process that this crate created or retained and has not released.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Live {
        /// Contexts.
        pub contexts: isize,
        /// Queues.
        pub queues: isize,
        /// Buffers, sub-buffers and shared virtual memory.
        pub memory: isize,
        /// Events.
        pub events: isize,
        /// Programs.
        pub programs: isize,
        /// Kernel objects.
        pub kernels: isize,
        /// Command buffers.
        pub command_buffers: isize,
    }

    static COUNTS: [AtomicIsize; 7] = [const { AtomicIsize::new(0) }; 7];

    pub(super) fn change(object: Object, by: isize) {
        COUNTS[object as usize].fetch_add(by, Ordering::Relaxed);
    }

    /// What is alive now.
    pub fn live() -> Live {
        let count = |object: Object| COUNTS[object as usize].load(Ordering::Relaxed);
        Live {
            contexts: count(Object::Context),
            queues: count(Object::Queue),
            memory: count(Object::Memory),
            events: count(Object::Event),
            programs: count(Object::Program),
            kernels: count(Object::Kernel),
            command_buffers: count(Object::CommandBuffer),
        }
    }
}

#[cfg(test)]
mod tests {
    /// The files of this folder, apart from this one.
    const FILES: [(&str, &str); 9] = [
        ("buffer.rs", include_str!("buffer.rs")),
        ("command_buffer.rs", include_str!("command_buffer.rs")),
        ("device.rs", include_str!("device.rs")),
        ("kernel.rs", include_str!("kernel.rs")),
        ("map.rs", include_str!("map.rs")),
        ("owner.rs", include_str!("owner.rs")),
        ("program.rs", include_str!("program.rs")),
        ("queue.rs", include_str!("queue.rs")),
        ("svm.rs", include_str!("svm.rs")),
    ];

    /// What stands between `begin` and the next quote, each time.
    fn quoted_after<'t>(text: &'t str, begin: &'t str) -> impl Iterator<Item = &'t str> {
        text.split(begin).skip(1).filter_map(|rest| rest.split('"').next())
    }

    /// Whether a call allocates, builds, enqueues or waits, by its name in OpenCL.
    fn must_pass(call: &str) -> bool {
        [
            "clCreate",
            "clBuild",
            "clEnqueue",
            "clCommand",
            "clFinalize",
            "clSVMAlloc",
            "clFlush",
            "clFinish",
            "clWait",
        ]
        .iter()
        .any(|begin| call.starts_with(begin))
    }

    #[test]
    fn every_call_that_allocates_builds_enqueues_or_waits_passes_the_seam() {
        let mut passing = 0;
        for (file, text) in FILES {
            for call in quoted_after(text, "check(\"") {
                assert!(!must_pass(call), "{file}: {call} does not pass the seam");
            }
            passing += quoted_after(text, "make(\"").count();
            passing += quoted_after(text, "attempt(\"").count();
        }
        assert!(passing >= 19, "{passing} calls pass the seam");
    }

    #[cfg(feature = "fault-injection")]
    #[test]
    fn every_call_that_passes_has_a_kind() {
        for (file, text) in FILES {
            for call in quoted_after(text, "make(\"").chain(quoted_after(text, "attempt(\"")) {
                assert!(super::armed::classify(call).is_some(), "{file}: {call} has no kind");
            }
        }
    }

    #[cfg(feature = "fault-injection")]
    #[test]
    fn the_kth_call_of_a_kind_fails_once_and_on_its_own_thread() {
        use super::{Kind, arm, attempt};
        let armed = arm(Kind::Allocation, 2);
        let call = |name| attempt(name, || Ok(()));
        assert_eq!(call("clEnqueueCopyBuffer"), Ok(()));
        assert_eq!(call("clCreateKernel"), Ok(()));
        let elsewhere = std::thread::spawn(|| attempt("clCreateKernel", || Ok(()))).join();
        assert_eq!(elsewhere.unwrap(), Ok(()));
        assert_eq!(call("clCreateBuffer"), Err(-4));
        assert_eq!(call("clCreateBuffer"), Ok(()));
        assert_eq!(armed.disarm(), Some("clCreateBuffer"));
        assert_eq!(arm(Kind::Build, 1).disarm(), None);
        assert_eq!(call("clBuildProgram"), Ok(()));
    }
}
