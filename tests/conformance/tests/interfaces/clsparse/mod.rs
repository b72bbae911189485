//! clSPARSE's interface as C calls it: what it computes, what it keeps of clSPARSE's habits, and what it refuses.
#![expect(unsafe_code, reason = "calls a C interface")]
#![expect(clippy::unwrap_used, reason = "a test panics when its claim is broken")]

mod conversions;
mod events;
mod files;
mod habits;
mod in_place;
mod misfits;
mod problem;
mod products;
mod refusals;
mod solver_words;
mod solvers;
mod spgemm;
mod svm;
mod traps;
mod vectors;
