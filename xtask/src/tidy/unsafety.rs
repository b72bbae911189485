//! Where `unsafe` may stand.
//!
//! The compiler denies it everywhere (`unsafe_code`), and a module that needs it says so by an attribute
//! with a reason. This rule keeps those modules to the rooms that the design names. Outside them only an
//! `unsafe fn` may use it, whose caller answers for raw handles.

use super::Finding;

/// Folders and files where `unsafe` belongs, each with what it is for.
const ROOMS: &[(&str, &str)] = &[
    ("crates/cl-runtime/src/raw/", "OpenCL calls"),
    (
        "crates/cl-runtime/src/batched/",
        "launches on arrays of its own, and a batch that it has checked",
    ),
    ("crates/cl-runtime/src/convert/", "launches on arrays that it has checked"),
    ("crates/cl-runtime/src/dense_matrix.rs", "launches on arrays that it has checked"),
    ("crates/cl-runtime/src/empty_launch.rs", "launches on an array of its own"),
    ("crates/cl-runtime/src/host_pattern.rs", "maps a pattern, which nobody writes"),
    ("crates/cl-runtime/src/on_host.rs", "maps arrays that its caller promises nobody writes"),
    ("crates/cl-runtime/src/host_array.rs", "memory of the application's"),
    (
        "crates/cl-runtime/src/row_lengths.rs",
        "maps offsets, launches on arrays that it has checked",
    ),
    ("crates/cl-runtime/src/row_offsets.rs", "launches on arrays that it has checked"),
    (
        "crates/cl-runtime/src/recording/by.rs",
        "records launches whose operands were promised when they were noted",
    ),
    (
        "crates/cl-runtime/src/workspace/replay.rs",
        "enqueues launches whose operands were promised when they were noted",
    ),
    ("crates/cl-runtime/src/rates.rs", "launches on arrays of its own"),
    (
        "crates/cl-runtime/src/spmm/",
        "launches on arrays of its own and on operands it was promised",
    ),
    (
        "crates/cl-runtime/src/spgemm/",
        "launches on arrays of its own and on operands it has checked",
    ),
    ("crates/cl-runtime/src/spmv/csr_adaptive_plan.rs", "launches on arrays of its own"),
    ("crates/cl-runtime/src/spmv/csr_flat.rs", "launches on arrays of its own"),
    ("crates/cl-runtime/src/spmv/csr_tiles.rs", "launches on arrays of its own and of a matrix"),
    (
        "crates/cl-runtime/src/spmv/csr_tiles_plan.rs",
        "launches on arrays of its own and of a matrix",
    ),
    ("crates/cl-runtime/src/spmv/evc_hyb_plan.rs", "launches on arrays of its own"),
    ("crates/cl-runtime/src/spmv/hyb", "launches on arrays of its own and of a matrix"),
    ("crates/cl-runtime/src/spmv/sell.rs", "launches on arrays of its own and of a matrix"),
    ("crates/cl-runtime/src/spmv/sell_sigma.rs", "launches on arrays of its own and of a matrix"),
    ("crates/cl-runtime/src/spmv/value_coding.rs", "launches on arrays of its own and of a matrix"),
    ("crates/cl-runtime/src/solver/", "launches on arrays of its own and of a matrix"),
    ("crates/cl-runtime/src/scan.rs", "launches on arrays that it has checked"),
    ("crates/cl-runtime/src/sort.rs", "launches on arrays of its own"),
    ("crates/csr-core/src/io/map.rs", "the file map"),
    ("crates/sparrow/src/batch.rs", "the launch, after the checks that make it sound"),
    ("crates/sparrow/src/hetero/", "launches of pieces, after the checks that make them sound"),
    ("crates/sparrow/src/plan/mod.rs", "the launch, after the checks that make it sound"),
    ("crates/sparrow/src/slots/", "the launch, after the checks that make it sound"),
    ("crates/sparrow/src/spmm.rs", "the launch, after the checks that make it sound"),
    ("crates/sparrow/src/vectors/mod.rs", "the launches, after the checks that make them sound"),
    (
        "crates/sparrow-bench/src/measure/device.rs",
        "launches whose stage 2 reaches arrays of its own in place",
    ),
    (
        "crates/sparrow-bench/src/measure/hetero.rs",
        "products of two devices on arrays of its own in place",
    ),
    ("crates/sparrow-bench/src/selftest/", "tests the door for arrays that are on the device"),
    (
        "crates/sparrow-cli/src/commands/spmv.rs",
        "a launch whose stage 2 reaches arrays of its own in place",
    ),
    ("crates/sparrow-capi/", "a C interface"),
    ("crates/sparrow-python/", "handles of pyopencl's, and arrays of the interpreter's"),
    ("crates/sparrow-clsparse/", "a C interface"),
    ("tests/", "stands for applications with raw handles of their own"),
    ("examples/", "stands for applications with raw handles of their own"),
    ("benches/peers/", "calls other vendors' C interfaces"),
    ("fuzz/", "stands for applications with raw handles of their own"),
];

/// Folders inside a crate that hold such programs too.
const ROOMS_OF_CRATES: &[&str] = &["/tests/", "/examples/", "/benches/"];

/// `unsafe` stands in its rooms or inside an `unsafe fn`.
pub(super) fn unsafe_keeps_to_its_rooms(path: &str, text: &str) -> Vec<Finding> {
    let room = ROOMS.iter().any(|(room, _)| path.starts_with(room))
        || path.starts_with("crates/") && ROOMS_OF_CRATES.iter().any(|room| path.contains(room));
    if room || !path.ends_with(".rs") {
        return Vec::new();
    }
    let mut findings = Vec::new();
    // The indentation at which the `unsafe fn` around us ends; rustfmt makes that exact.
    let mut function: Option<usize> = None;
    for (index, line) in text.lines().enumerate() {
        let code = code_of(line);
        let code = code.trim();
        let indent = line.len() - line.trim_start().len();
        if function.is_none() && has_word(code, "unsafe") {
            if is_unsafe_function(code) {
                function = Some(indent);
            } else {
                let message = "`unsafe` outside its rooms and outside an `unsafe fn`";
                findings.push(Finding::new(path, index + 1, message));
            }
        }
        let ends = code.starts_with('}') || code.ends_with(';') || code.ends_with("{}");
        if function == Some(indent) && ends {
            function = None;
        }
    }
    findings
}

/// The line without what it quotes and without its comment.
fn code_of(line: &str) -> String {
    let mut code = String::with_capacity(line.len());
    let (mut quoted, mut escaped) = (false, false);
    for c in line.chars() {
        match c {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            _ if quoted => {}
            '/' if code.ends_with('/') => break,
            c => code.push(c),
        }
    }
    code
}

fn is_unsafe_function(code: &str) -> bool {
    ["unsafe fn ", "unsafe extern "].iter().any(|words| code.contains(words))
        && code.contains("fn ")
}

fn has_word(code: &str, word: &str) -> bool {
    let boundary = |c: Option<char>| {
        c.is_none_or(|c| !c.is_alphanumeric() && c != '_' && c != '`' && c != '"')
    };
    code.match_indices(word).any(|(at, _)| {
        boundary(code[..at].chars().next_back()) && boundary(code[at + word.len()..].chars().next())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const BLOCK: &str = "//! Head.\nfn read() {\n    unsafe { call() };\n}\n";
    const FUNCTION: &str = "//! Head.\nimpl X {\n    /// # Safety\n    /// Valid.\n    \
        pub unsafe fn read(\n        x: u8,\n    ) {\n        \
        // SAFETY: as above.\n        unsafe { call(x) };\n    }\n\n    fn other() {\n    }\n}\n";

    #[test]
    fn a_block_outside_the_rooms_is_found() {
        let findings = unsafe_keeps_to_its_rooms("crates/sparrow/src/matrix.rs", BLOCK);
        assert_eq!(findings.len(), 1);
        assert_eq!(findings[0].line, 3);
        assert!(unsafe_keeps_to_its_rooms("crates/cl-runtime/src/raw/buffer.rs", BLOCK).is_empty());
        assert!(
            unsafe_keeps_to_its_rooms("crates/sparrow/examples/own_queue.rs", BLOCK).is_empty()
        );
        assert_eq!(unsafe_keeps_to_its_rooms("crates/cl-runtime/src/buffer.rs", BLOCK).len(), 1);
    }

    #[test]
    fn a_function_that_passes_the_duty_on_may_use_it_until_its_end() {
        let path = "crates/sparrow/src/matrix.rs";
        assert!(unsafe_keeps_to_its_rooms(path, FUNCTION).is_empty());
        let block = concat!("fn other() {\n        uns", "afe { call(1) };\n");
        let after = FUNCTION.replace("fn other() {\n", block);
        assert_eq!(unsafe_keeps_to_its_rooms(path, &after).len(), 1);
    }

    #[test]
    fn markers_and_lint_names_are_other_words() {
        let text = "//! Head.\n#![deny(unsafe_code)]\n/// `unsafe` is explained.\n\
            #[expect(unsafe_code, reason = \"implements an unsafe method\")]\nimpl X for Y {\n}\n";
        assert!(unsafe_keeps_to_its_rooms("crates/sparrow/src/lib.rs", text).is_empty());
        let marker = "//! Head.\nunsafe impl Send for X {}\n";
        assert_eq!(unsafe_keeps_to_its_rooms("crates/sparrow/src/lib.rs", marker).len(), 1);
    }
}
