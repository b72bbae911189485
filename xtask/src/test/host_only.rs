//! Modules of device tests that leave out an implementation, because the code under test runs on the host alone.
//!
//! Whatever runs a kernel to see what it computes has every implementation. What is listed here starts kernels too, but
//! claims nothing of them that no module of `device` does: how the library answers when a call fails, or what the command
//! prints and writes. `cargo xtask test` names each module that it leaves out with the reason; `--full` leaves out none,
//! and neither does a run without PoCL or without Intel's runtime.

use crate::implementation::Implementation;

/// Tests of one program that do not run everywhere.
#[derive(Debug)]
pub(super) struct HostOnly {
    /// The test program.
    program: &'static str,
    /// Modules of it, as `faults::`.
    modules: &'static [&'static str],
    /// Implementations without them.
    left_out_on: &'static [Implementation],
    /// Where the claims are tested, and why that is enough.
    reason: &'static str,
}

/// All of them. Each module runs on PoCL, which keeps what it has compiled for the whole run, or on Intel's runtime.
const HOST_ONLY: &[HostOnly] = &[
    HostOnly {
        program: "faults",
        modules: &[
            "batched_faults::",
            "c_faults::",
            "convert_faults::",
            "faults::",
            "solve_faults::",
            "spgemm_faults::",
            "spmm_faults::",
            "vector_faults::",
        ],
        left_out_on: &[Implementation::Intel],
        reason: "calls fail in the library's own seam, before a driver sees them; PoCL runs them, and Oclgrind checks \
                 the calls that follow a failure",
    },
    HostOnly {
        program: "faults",
        modules: &["batched_faults::", "spmm_faults::", "vector_faults::"],
        left_out_on: &[Implementation::Oclgrind],
        reason: "PoCL runs them; that the calls after a failure are legal, Oclgrind checks in faults, c_faults and \
                 solve_faults, whose owners of buffers, kernels and events are the same",
    },
    HostOnly {
        program: "interfaces",
        modules: &["bench_left_out::", "bench_rates::", "command::", "tune::"],
        left_out_on: &[Implementation::Intel],
        reason: "words, records and tables of the command, which are the host's; PoCL runs them, and every \
                 implementation runs what the command computes, in selftest_command and solve_command",
    },
    HostOnly {
        program: "interfaces",
        modules: &["bench_launches::", "bench_model::", "reordering_command::"],
        left_out_on: &[Implementation::Pocl],
        reason: "words and records of the command, and reordered products, which are in reordered, too; Intel's runtime \
                 runs them, which compiles what they ask for in a third of the time",
    },
];

/// Why `module` of `program` is left out on `implementation`; `None` where it runs.
pub(super) fn reason(
    program: &str,
    module: &str,
    implementation: Implementation,
) -> Option<&'static str> {
    let lists = |one: &&HostOnly| {
        one.program == program
            && one.modules.contains(&module)
            && one.left_out_on.contains(&implementation)
    };
    HOST_ONLY.iter().find(lists).map(|one| one.reason)
}

/// A module of the list that `program`, which has `modules`, does not have, so that no entry outlives what it names.
pub(super) fn unknown_module<'a>(
    program: &str,
    modules: impl Iterator<Item = &'a String> + Clone,
) -> Option<&'static str> {
    let of_it = HOST_ONLY.iter().filter(|one| one.program == program);
    let mut listed = of_it.flat_map(|one| one.modules).copied();
    listed.find(|&listed| !modules.clone().any(|module| module == listed))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_module_runs_on_a_compiler_and_nothing_of_device_is_left_out_anywhere() {
        for one in HOST_ONLY {
            assert!(one.program != "device", "{one:?}");
            for module in one.modules {
                let runs = |on| reason(one.program, module, on).is_none();
                assert!(runs(Implementation::Pocl) || runs(Implementation::Intel), "{module}");
            }
        }
    }

    #[test]
    fn a_module_is_left_out_where_the_list_says_so_and_nowhere_else() {
        let is_left_out = |program, module, on| reason(program, module, on).is_some();
        assert!(is_left_out("faults", "faults::", Implementation::Intel));
        assert!(!is_left_out("faults", "faults::", Implementation::Oclgrind));
        assert!(!is_left_out("faults", "faults::", Implementation::Pocl));
        assert!(is_left_out("faults", "vector_faults::", Implementation::Oclgrind));
        assert!(!is_left_out("interfaces", "clsparse::", Implementation::Intel));
        assert!(!is_left_out("interfaces", "clsparse::", Implementation::Oclgrind));
        assert!(is_left_out("interfaces", "bench_model::", Implementation::Pocl));
        assert!(!is_left_out("interfaces", "faults::", Implementation::Intel));
    }

    #[test]
    fn an_entry_that_names_no_module_is_found() {
        let modules = ["command::", "tune::", "bench_left_out::"].map(str::to_owned);
        assert_eq!(unknown_module("interfaces", modules.iter()), Some("bench_rates::"));
        assert_eq!(unknown_module("device", modules.iter()), None);
    }
}
