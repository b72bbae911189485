//! The suite catches kernels that are broken on purpose: the tests of the tests.
//!
//! Each entry changes one line of a kernel and says which check must notice. A change that no longer fits
//! the source fails here, too.

#![expect(clippy::unwrap_used, reason = "a test panics when its claim is broken")]

mod batched;
mod spmm;
mod spmv;

use std::ops::ControlFlow;

use cl_runtime::break_kernels;
use conformance::{compiles_slowly, device, extent, is_full, is_interpreter, runs_unchecked, say};
use sparrow::{
    Algorithm, BatchedAlgorithm, BatchedVariant, Context, DeviceType, Queue, SpmmAlgorithm,
    ValueType, Variant,
};
use sparrow_bench::selftest::{
    BatchConfiguration, CaseError, Configuration, Extent, Progress, SpmmConfiguration, run_batches,
    run_spmms, run_suite,
};

/// Which check of a case notices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Check {
    /// A row is outside its bound; a row never written holds the NaN that y was poisoned with.
    Bound,
    /// A canary around an array was overwritten.
    Canary,
    /// Two launches gave different bits.
    Repeat,
}

struct Breakage {
    what: &'static str,
    subject: Subject,
    from: &'static str,
    to: &'static str,
    caught_by: &'static [Check],
    noticed: Noticed,
}

/// Where the change must be noticed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Noticed {
    Everywhere,
    /// Where items really run apart: PoCL passed every case without the barrier, and neighbouring items of
    /// a GPU may run in step.
    OnInterpreters,
    /// Where items take columns that are apart: CPU devices take them in halves of a vector (`cl/item/dense.h`).
    OnGpus,
    /// Everywhere, as if the device did not share its memory with the host.
    OnOwnMemory,
}

/// Whose kernel it is.
#[derive(Clone, Copy, Debug)]
enum Subject {
    Single(Algorithm, Variant),
    Batched(BatchedAlgorithm),
    Spmm(SpmmAlgorithm),
}

use Subject::{Batched, Single, Spmm};

/// All of them.
fn breakages() -> impl Iterator<Item = &'static Breakage> {
    [spmv::BREAKAGES, batched::BREAKAGES, spmm::BREAKAGES].into_iter().flatten()
}

fn check_of(error: &CaseError) -> Option<Check> {
    match error {
        CaseError::Wrong { .. } => Some(Check::Bound),
        CaseError::Overwritten { .. } => Some(Check::Canary),
        CaseError::Unrepeated { .. } => Some(Check::Repeat),
        _ => None,
    }
}

/// The text of the kernels that are broken, with what they include.
fn source_of(subject: Subject) -> String {
    let text = |path: &str| cl_kernels::kernel_source(path).unwrap();
    match subject {
        Single(Algorithm::Sell, _) => text("spmv/sell.cl") + &text("spmv/sell_values.cl"),
        Single(Algorithm::SellSigma, _) => {
            text("spmv/sell_sigma.cl") + &text("spmv/sell_sigma_plan.cl")
        }
        Single(Algorithm::CsrTiles, _) => {
            text("spmv/csr_tiles.cl") + &text("spmv/csr_tiles_plan.cl")
        }
        Single(algorithm, _) => text(&format!("spmv/{}.cl", algorithm.name())),
        Batched(algorithm) => {
            let [either, in_step] = [false, true].map(|in_step| algorithm.kernel(in_step).source());
            text(either) + &text(in_step)
        }
        Spmm(algorithm) => text(&format!("spmm/{}.cl", algorithm.name())),
    }
}

/// On every implementation, also where breaking them all is left to `--full`.
#[test]
fn every_change_fits_its_kernels_source() {
    for breakage in breakages() {
        let source = source_of(breakage.subject);
        assert!(source.contains(breakage.from), "{}: {:?}", breakage.what, breakage.from);
    }
}

#[test]
fn every_broken_kernel_is_caught() {
    if runs_unchecked("broken_kernels::every_broken_kernel_is_caught") {
        return;
    }
    let device = device();
    let on_interpreter = is_interpreter(&device);
    // Where compiling takes seconds, or running minutes, the plain test has what only an interpreter notices.
    let only_interpreters = !is_full() && (on_interpreter || compiles_slowly(&device));
    if only_interpreters {
        say("broken: those that are noticed everywhere: here under --full");
    }
    for breakage in breakages() {
        if only_interpreters && breakage.noticed != Noticed::OnInterpreters {
            continue;
        }
        if breakage.noticed == Noticed::OnInterpreters && !on_interpreter {
            say(&format!("broken: {}: not applicable, items may run in step here", breakage.what));
            continue;
        }
        // A context of its own: programs are kept.
        // A CPU device as if it were a GPU, whose forms it runs then, or as if its memory were its own, where kernels do
        // what else the host does.
        let device = match breakage.noticed {
            Noticed::OnGpus => device.masked(|traits| traits.device_type = DeviceType::Gpu),
            Noticed::OnOwnMemory => device.masked(|traits| traits.has_host_memory = false),
            _ => device.clone(),
        };
        let context = Context::new(&device).unwrap();
        let queue = Queue::new(&context).unwrap();
        let broken = break_kernels(breakage.from, breakage.to);
        let observe = &mut |progress: Progress<'_>| match progress.count.failed {
            0 => ControlFlow::Continue(()),
            _ => ControlFlow::Break(()),
        };
        let report = match breakage.subject {
            Single(algorithm, variant) => {
                let configuration = [Configuration::small(algorithm, variant)];
                match run_suite(&queue, &configuration, Extent::Brief, observe) {
                    // With sub-groups of another width it may take other shapes, which the suite has.
                    Ok(brief) if brief.failures().next().is_none() => {
                        run_suite(&queue, &configuration, extent(&device), observe)
                    }
                    brief => brief,
                }
            }
            Batched(algorithm) => {
                let (algorithm, variant) = (Some(algorithm), BatchedVariant::Ordered);
                let configuration = BatchConfiguration { algorithm, variant };
                run_batches(&queue, &[configuration], &[ValueType::F32], Extent::Full, observe)
            }
            Spmm(algorithm) => {
                let mut all = SpmmConfiguration::all(context.device().traits());
                all.retain(|one| one.algorithm == Some(algorithm) && !one.parameters.is_empty());
                run_spmms(&queue, &all[..1], Extent::Brief, observe)
            }
        };
        assert!(broken.programs() > 0, "{}: no source has {:?}", breakage.what, breakage.from);
        let report = report.unwrap();
        let Some(failure) = report.failures().next() else {
            panic!("{}: not caught by {} cases", breakage.what, report.passed());
        };
        let check = check_of(&failure.error);
        assert!(
            check.is_some_and(|check| breakage.caught_by.contains(&check)),
            "{}: {failure}",
            breakage.what
        );
        say(&format!(
            "broken: {}: caught after {} cases by {check:?}",
            breakage.what,
            report.passed()
        ));
    }
}
