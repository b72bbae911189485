//! The device under test: found once, named, never guessed; and small problems for it.
//!
//! `SPARROW_TEST_PLATFORM` names the platform (part of its name); without it the best device is taken.
//! `SPARROW_TEST_FULL=1` runs whole products instead of a pairwise cover; `SPARROW_TEST_SHARED=1` says that PoCL and Intel's
//! runtime both run, and share what [`Parts`] deals; `SPARROW_TEST_MEMCHECK=1` that memcheck looks, for which [`algorithms`]
//! are fewer. `cargo xtask test` sets all of them.

pub mod c_application;
mod failing;
mod fixture;
mod gate;
pub mod host_solvers;
mod in_order;
pub mod in_place;
mod share;
mod small;
mod two_devices;
mod unchecked;

use sparrow::{Context, Device, Queue};
use sparrow_bench::selftest::{Amount, Extent, Limits, Shape};

pub use failing::{alone, assert_names, fail_each, names};
pub use fixture::{Fixture, bits, check_product, csr};
pub use gate::{Gate, Opening};
pub use in_order::{check_in_order, check_in_order_after};
pub use share::{Parts, is_shared};
pub use small::{algorithms, implementations, options};
pub use sparrow_bench::selftest::LIMITS;
pub use two_devices::queues_on_two_devices;
pub use unchecked::runs_unchecked;

/// The device that this process tests.
///
/// # Panics
/// No such device: a test that silently ran elsewhere would prove nothing.
pub fn device() -> Device {
    in_small_groups(whole_device())
}

/// The device that this process tests, with groups as large as it has them.
///
/// # Panics
/// As [`device`].
#[expect(clippy::panic, reason = "support code of tests")]
pub fn whole_device() -> Device {
    match found() {
        Ok(Some(device)) => device,
        Ok(None) => panic!("no device of the platform SPARROW_TEST_PLATFORM names"),
        Err(error) => panic!("{error}; `cargo xtask test` provides OpenCL implementations"),
    }
}

/// Whether this process has the device: a second one beside the first may not.
pub fn is_device_here() -> bool {
    matches!(found(), Ok(Some(_)))
}

fn found() -> Result<Option<Device>, sparrow::RuntimeError> {
    match std::env::var("SPARROW_TEST_PLATFORM") {
        Ok(platform) => Ok(sparrow::devices()?
            .into_iter()
            .find(|device| device.traits().platform.contains(&platform))),
        Err(_) => Device::best().map(Some),
    }
}

/// Items of a work-group on an interpreter: two sub-groups of most kernels.
const INTERPRETED_GROUP: u64 = 64;

/// On an interpreter, to which each item of a group is a loop, a device of small groups: what each algorithm is fitted to
/// has the same code and far fewer items without work.
fn in_small_groups(device: Device) -> Device {
    if !is_interpreter(&device) || is_full() {
        return device;
    }
    device.masked(|traits| traits.max_group_size = INTERPRETED_GROUP)
}

/// A new context and queue on the device under test.
///
/// # Panics
/// The driver's own failure.
pub fn queue() -> Queue {
    queue_on(&device())
}

/// A new context and queue on this device.
///
/// # Panics
/// The driver's own failure.
#[expect(clippy::expect_used, reason = "support code of tests")]
pub fn queue_on(device: &Device) -> Queue {
    let context = Context::new(device).expect("a context on the device under test");
    Queue::new(&context).expect("a queue on the device under test")
}

/// Whether whole products are asked for.
pub fn is_full() -> bool {
    std::env::var_os("SPARROW_TEST_FULL").is_some_and(|value| value == "1")
}

/// Whether the device is an interpreter, for which whole products would take days.
pub fn is_interpreter(device: &Device) -> bool {
    device.traits().platform.contains("Oclgrind")
}

/// Whether each kernel takes seconds to compile, as on PoCL.
pub fn compiles_slowly(device: &Device) -> bool {
    device.traits().platform.contains("Portable Computing Language")
}

/// How much of a suite is run: whole products under `SPARROW_TEST_FULL`, else a cover, of which half where each kernel
/// takes seconds to compile, and a quarter where it takes seconds to run. Intel's runtime has the other half beside PoCL, and
/// without it all, as a GPU has.
pub fn extent(device: &Device) -> Extent {
    match (is_full(), is_interpreter(device)) {
        (true, true) => Extent::Programs,
        (true, false) => Extent::Full,
        (false, true) => Extent::Quarter,
        (false, false) if compiles_slowly(device) => Extent::Half,
        (false, false) if is_shared() => Extent::OtherHalf,
        (false, false) => Extent::Cover,
    }
}

/// The suite's shapes around `limits`, as large as suits the device under test.
pub fn shapes(limits: &Limits) -> Vec<Shape> {
    let extent = if is_full() { Extent::Full } else { Extent::Cover };
    sparrow_bench::selftest::shapes(limits, Amount::of(device().traits(), extent))
}

/// Prints a line that the harness does not swallow: what was run, and what was not and why.
pub fn say(line: &str) {
    use std::io::Write as _;
    // Nobody is left to tell when nobody listens.
    let _ = writeln!(std::io::stderr(), "conformance: {line}");
}

/// Whether it holds, at once or after some of many looks. Looks are counted, not seconds: on a busy machine each takes
/// longer.
pub fn eventually(holds: impl Fn() -> bool) -> bool {
    (0..LOOKS).any(|_| {
        let it_does = holds();
        if !it_does {
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        it_does
    })
}

/// Half a minute of them, where nothing else runs.
const LOOKS: usize = 30_000;
