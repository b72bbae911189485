//! The README's examples are those that are compiled and run: the first of the `sparrow` crate's
//! documentation, and the C program of `tests/apps`.

use super::Finding;

/// Where the example is a doctest.
const TESTED: &str = include_str!("../../../crates/sparrow/src/lib.rs");

/// What the README shows in C.
const PROGRAM: &str = include_str!("../../../tests/apps/clsparse-c/main.c");

/// The README's first blocks of Rust and of C are the crate's first doctest and the program, letter by letter.
pub(super) fn readme_shows_the_tested_examples(path: &str, text: &str) -> Vec<Finding> {
    if path != "README.md" {
        return Vec::new();
    }
    let documentation = TESTED.lines().map_while(|line| line.strip_prefix("//!"));
    let documentation = documentation.map(|line| line.strip_prefix(' ').unwrap_or(line));
    let doctest = block(documentation, "```");
    let rust =
        difference(text, "```rust", &doctest, "the first doctest of crates/sparrow/src/lib.rs");
    let program: Vec<_> = PROGRAM.lines().collect();
    let c = difference(text, "```c", &program, "tests/apps/clsparse-c/main.c");
    rust.into_iter().chain(c).collect()
}

/// Where the first block that `fence` opens is not what was tested.
fn difference(text: &str, fence: &str, tested: &[&str], what: &str) -> Option<Finding> {
    let shown = block(text.lines(), fence);
    if !tested.is_empty() && shown == tested {
        return None;
    }
    // The first line that differs, from the fence on; where there is no block, the whole file is meant.
    let at = text.lines().position(|line| line == fence);
    let same = shown.iter().zip(tested).take_while(|(shown, tested)| shown == tested).count();
    let line = at.map_or(0, |at| at + 2 + same);
    Some(Finding::new("README.md", line, format!("the example is not {what}")))
}

/// The lines of the first block that `fence` opens.
fn block<'a>(lines: impl Iterator<Item = &'a str>, fence: &str) -> Vec<&'a str> {
    lines.skip_while(|line| *line != fence).skip(1).take_while(|line| *line != "```").collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const README: &str = include_str!("../../../README.md");

    #[test]
    fn a_changed_example_is_found_where_it_differs() {
        assert!(readme_shows_the_tested_examples("README.md", README).is_empty());
        for (from, to) in [("let queue =", "let q ="), ("cl_context context =", "cl_context c =")] {
            let changed = README.replace(from, to);
            let found = readme_shows_the_tested_examples("README.md", &changed);
            let expected = changed.lines().position(|line| line.contains(to)).unwrap() + 1;
            assert_eq!((found.len(), found[0].line), (1, expected));
        }
    }

    #[test]
    fn a_readme_without_the_example_is_found() {
        assert_eq!(readme_shows_the_tested_examples("README.md", "# Sparrow\n").len(), 2);
        assert!(readme_shows_the_tested_examples("docs/other.md", "# Other\n").is_empty());
    }
}
