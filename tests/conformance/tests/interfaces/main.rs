//! The C libraries and the `sparrow` command on the device under test: a module a subject.

mod bench_launches;
mod bench_left_out;
mod bench_model;
mod bench_rates;
mod c_batches;
mod c_conversions;
mod c_dense;
mod c_growing;
mod c_hyb;
mod c_interface;
mod c_observer;
mod c_overlaps;
mod c_recordings;
mod c_refusals;
mod c_reordered;
mod c_solver_refusals;
mod c_solvers;
mod c_spgemm;
mod c_sub_devices;
mod c_svm;
mod c_threads;
mod c_traps;
mod c_value_coding;
mod c_vectors;
mod c_verdict;
mod clsparse;
mod command;
mod command_line;
mod reordering_command;
mod selftest_command;
mod solve_command;
#[cfg(all(target_os = "linux", target_env = "gnu", target_arch = "x86_64"))]
mod traps;
mod tune;
