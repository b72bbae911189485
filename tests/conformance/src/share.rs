//! What implementations share between them in a plain run.
//!
//! Every algorithm runs on every implementation: in the suites with a user's hyper-parameters on Intel's runtime, and on PoCL
//! and the interpreter with small ones alone, which have smaller groups and the same code. Of a configuration that both
//! compilers run each has half of the cover's programs, which the other has not (`Extent::Half`, `Extent::OtherHalf`).
//!
//! Forms of SpMM for GPUs, which CPU devices are given by no choice, and solvers that are broken on purpose run on Intel's
//! runtime and the interpreter where both compilers run.
//!
//! Parts of other covers that nobody is given by default (hyper-parameters by hand, types under those) run on one of two
//! compilers, dealt by their numbers: those of an even number on PoCL, of an odd one on Intel's runtime. An interpreter, which
//! both go beside, takes those of an even number. `--full` deals nothing, and neither does a run with one compiler alone: it
//! has all parts.

use crate::{compiles_slowly, device, is_full, is_interpreter, say};

/// Whether another run beside this one, by another compiler, has the other parts: `cargo xtask test` says so.
pub fn is_shared() -> bool {
    !is_full() && std::env::var_os("SPARROW_TEST_SHARED").is_some_and(|value| value == "1")
}

/// Parts of a cover by their numbers; says in the end how many it has left to others.
#[derive(Debug)]
pub struct Parts {
    what: &'static str,
    /// 0 or 1: which numbers are taken, modulo two; all, if none.
    own: Option<usize>,
    taken: usize,
    left: usize,
}

impl Parts {
    /// Parts of `what`, a plural, on the device under test.
    pub fn of(what: &'static str) -> Self {
        let device = device();
        let own = match (is_interpreter(&device), is_shared()) {
            _ if is_full() => None,
            (true, _) => Some(0),
            (false, true) => Some(usize::from(!compiles_slowly(&device))),
            (false, false) => None,
        };
        Parts { what, own, taken: 0, left: 0 }
    }

    /// Whether the part of this number runs here. Where parts are products of choices, the number is the sum of the choices'
    /// numbers, so that each choice meets each other here or there and each runs here in its turn.
    pub fn takes(&mut self, number: usize) -> bool {
        let takes = self.own.is_none_or(|own| number % 2 == own);
        *(if takes { &mut self.taken } else { &mut self.left }) += 1;
        takes
    }
}

impl Drop for Parts {
    fn drop(&mut self) {
        if self.left > 0 && !std::thread::panicking() {
            let Parts { what, taken, left, .. } = *self;
            say(&format!(
                "{what}: {taken} of {} run here, {left} by another compiler",
                taken + left
            ));
        }
    }
}
