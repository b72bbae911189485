//! The shape of source files: one idea, said at the head, in a length people read.

use super::Finding;

/// Lines a file may have. The aim is 400; what is above is split by ideas, not by lines.
const MOST_LINES: usize = 450;

/// Longer files, each with the reason.
const LONG_FILES: &[(&str, &str)] = &[];

/// Sources of ours stay short.
pub(super) fn files_are_short(path: &str, text: &str) -> Vec<Finding> {
    let crates = path.starts_with("crates/") && path.contains("/src/");
    let source = crates || path.starts_with("xtask/src/") || path.starts_with("cl/");
    let lines = text.lines().count();
    if !source || lines <= MOST_LINES || LONG_FILES.iter().any(|(file, _)| *file == path) {
        return Vec::new();
    }
    vec![Finding::new(path, 0, format!("{lines} lines, above the limit of {MOST_LINES}"))]
}

/// A file of Rust or OpenCL C starts with prose that says what it is.
pub(super) fn heads_say_what_a_file_is(path: &str, text: &str) -> Vec<Finding> {
    let start = if path.ends_with(".rs") {
        // A test that is a program of its own may be a doctest's copy; it has a head all the same.
        "//! "
    } else if path.starts_with("cl/") && (path.ends_with(".cl") || path.ends_with(".h")) {
        "// "
    } else {
        return Vec::new();
    };
    if text.starts_with(start) {
        return Vec::new();
    }
    vec![Finding::new(path, 1, format!("the file does not start with a `{}` head", start.trim()))]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_file_is_found() {
        let long = "// line\n".repeat(MOST_LINES + 1);
        let expected = "451 lines, above the limit of 450";
        for path in
            ["crates/csr-core/src/io/read.rs", "cl/spmv/csr_adaptive.cl", "xtask/src/main.rs"]
        {
            assert_eq!(files_are_short(path, &long)[0].message, expected);
        }
        assert!(files_are_short("cl/item/a.h", &"// line\n".repeat(MOST_LINES)).is_empty());
        assert!(files_are_short("docs/architecture.md", &long).is_empty());
    }

    #[test]
    fn a_file_without_a_head_is_found() {
        assert_eq!(heads_say_what_a_file_is("crates/x/src/lib.rs", "use std::fs;\n").len(), 1);
        assert_eq!(
            heads_say_what_a_file_is("benches/read.rs", "#![allow(x)]\n//! Late.\n").len(),
            1
        );
        assert_eq!(heads_say_what_a_file_is("cl/item/a.h", "#define A\n").len(), 1);
        assert!(heads_say_what_a_file_is("crates/x/src/lib.rs", "//! Reads.\n").is_empty());
        assert!(heads_say_what_a_file_is("cl/item/a.h", "// Adds.\n").is_empty());
    }
}
