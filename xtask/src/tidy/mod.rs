//! `cargo xtask tidy`: the house rules, read from the tree.
//!
//! A rule is a function from a file's path and text, or from the whole tree, to its findings, so that each has tests
//! proving that it fires. This module reads the tree and applies them; `cargo test -p xtask` does the same, so a
//! broken rule is seen in the default test run too.

mod example;
mod layers;
mod pages;
mod quotes;
mod sources;
mod unsafety;
mod words;

use crate::project;
use anyhow::{Context as _, Result};
use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::path::Path;
use std::process::ExitCode;

/// A rule broken in a place.
#[derive(Debug, PartialEq, Eq)]
struct Finding {
    path: String,
    /// Counted from 1; 0 if the whole file is meant.
    line: usize,
    message: String,
}

impl Finding {
    fn new(path: &str, line: usize, message: impl Into<String>) -> Self {
        Finding { path: path.to_owned(), line, message: message.into() }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => write!(f, "{}: {}", self.path, self.message),
            line => write!(f, "{}:{line}: {}", self.path, self.message),
        }
    }
}

/// The checkout, for rules that look at more than one file.
struct Tree<'a> {
    root: &'a Path,
    /// Text by path from the root, of the files in [`READ`].
    files: BTreeMap<String, String>,
}

type Rule = fn(&str, &str) -> Vec<Finding>;
type TreeRule = fn(&Tree<'_>) -> Vec<Finding>;

const RULES: &[Rule] = &[
    example::readme_shows_the_tested_examples,
    layers::crates_depend_leftwards,
    layers::lints_are_inherited,
    layers::device_layers_include_downwards,
    pages::first_pages_are_short,
    sources::files_are_short,
    sources::heads_say_what_a_file_is,
    unsafety::unsafe_keeps_to_its_rooms,
    words::nothing_is_left_to_do,
    words::no_machine_is_named,
    words::replaced_words_stay_away,
    words::counts_have_their_nouns,
];

const TREE_RULES: &[TreeRule] = &[
    pages::results_are_up_to_date,
    pages::links_lead_somewhere,
    pages::named_pages_exist,
    quotes::quotes_stand_where_they_say,
];

/// Folders that hold nothing of ours.
const PASSED_OVER: &[&str] = &[".git", "target", ".carry", "node_modules"];

/// Files whose text a rule may read.
const READ: &[&str] =
    &["rs", "cl", "h", "hpp", "c", "cpp", "toml", "md", "sh", "py", "yml", "yaml", "txt"];

pub(crate) fn run() -> Result<ExitCode> {
    let root = project::root()?;
    let mut files = 0;
    let findings = check_tree(&root, &mut files)?;
    for finding in &findings {
        println!("{finding}");
    }
    let rules = RULES.len() + TREE_RULES.len();
    println!("tidy: {files} files, {rules} rules, {} findings", findings.len());
    Ok(if findings.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn check_tree(root: &Path, files: &mut usize) -> Result<Vec<Finding>> {
    let mut tree = Tree { root, files: BTreeMap::new() };
    walk(root, root, &mut |path, text| {
        tree.files.insert(path.to_owned(), text);
    })?;
    *files = tree.files.len();
    let each = tree
        .files
        .iter()
        .flat_map(|(path, text)| RULES.iter().flat_map(move |rule| rule(path, text)));
    let mut findings: Vec<_> = each.collect();
    findings.extend(TREE_RULES.iter().flat_map(|rule| rule(&tree)));
    findings.sort_by(|a, b| (&a.path, a.line).cmp(&(&b.path, b.line)));
    Ok(findings)
}

fn walk(root: &Path, folder: &Path, visit: &mut impl FnMut(&str, String)) -> Result<()> {
    for entry in fs::read_dir(folder).with_context(|| folder.display().to_string())? {
        let entry = entry?;
        let path = entry.path();
        let name = entry.file_name();
        let name = name.to_str().with_context(|| format!("{} is no UTF-8", path.display()))?;
        if entry.file_type()?.is_dir() {
            if !PASSED_OVER.contains(&name) {
                walk(root, &path, visit)?;
            }
            continue;
        }
        let relative = path.strip_prefix(root)?.to_str().context("a path that is no UTF-8")?;
        let known =
            Path::new(name).extension().and_then(|e| e.to_str()).is_some_and(|e| READ.contains(&e));
        if known || relative == ".ci/run" {
            let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
            visit(relative, text);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_house_is_tidy() {
        let findings = check_tree(&project::root().unwrap(), &mut 0).unwrap();
        let text: Vec<_> = findings.iter().map(ToString::to_string).collect();
        assert!(findings.is_empty(), "\n{}", text.join("\n"));
    }

    #[test]
    fn a_broken_rule_anywhere_in_a_tree_is_found() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("crates/new/src");
        fs::create_dir_all(&folder).unwrap();
        fs::create_dir_all(root.path().join("target")).unwrap();
        fs::write(folder.join("lib.rs"), "fn main() {}\n").unwrap();
        fs::write(root.path().join("target/lib.rs"), "fn main() {}\n").unwrap();
        let mut files = 0;
        let findings = check_tree(root.path(), &mut files).unwrap();
        assert_eq!((files, findings.len()), (1, 1));
        assert_eq!(findings[0].path, "crates/new/src/lib.rs");
    }
}
