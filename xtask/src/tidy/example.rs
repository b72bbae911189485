//! The README's example is the one that is compiled and run: the first of the `sparrow` crate's
//! documentation.

use super::Finding;

/// Where the example is a doctest.
const TESTED: &str = include_str!("../../../crates/sparrow/src/lib.rs");

/// The README's first block of Rust is the crate's first doctest, letter by letter.
pub(super) fn readme_shows_the_tested_example(path: &str, text: &str) -> Vec<Finding> {
    if path != "README.md" {
        return Vec::new();
    }
    let documentation = TESTED.lines().map_while(|line| line.strip_prefix("//!"));
    let documentation = documentation.map(|line| line.strip_prefix(' ').unwrap_or(line));
    let tested = block(documentation, "```");
    let shown = block(text.lines(), "```rust");
    if !tested.is_empty() && shown == tested {
        return Vec::new();
    }
    // The first line that differs, from the fence on; where there is no block, the whole file is meant.
    let fence = text.lines().position(|line| line == "```rust");
    let same = shown.iter().zip(&tested).take_while(|(shown, tested)| shown == tested).count();
    let line = fence.map_or(0, |fence| fence + 2 + same);
    vec![Finding::new(
        path,
        line,
        "the example is not the first doctest of crates/sparrow/src/lib.rs",
    )]
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
        assert!(readme_shows_the_tested_example("README.md", README).is_empty());
        let changed = README.replace("let queue =", "let q =");
        let found = readme_shows_the_tested_example("README.md", &changed);
        let expected = changed.lines().position(|line| line.contains("let q =")).unwrap() + 1;
        assert_eq!((found.len(), found[0].line), (1, expected));
    }

    #[test]
    fn a_readme_without_the_example_is_found() {
        assert_eq!(readme_shows_the_tested_example("README.md", "# Sparrow\n").len(), 1);
        assert!(readme_shows_the_tested_example("docs/other.md", "# Other\n").is_empty());
    }
}
