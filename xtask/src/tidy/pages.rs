//! Pages people read: how long they may be, that their tables are those of the records, and that links lead somewhere.

use super::{Finding, Tree};
use crate::results;
use std::collections::BTreeMap;

/// Lines of the pages that everybody reads.
const MOST_LINES: usize = 250;
const SHORT_PAGES: &[&str] = &["README.md", results::PAGE];

/// What a newcomer reads first is short.
pub(super) fn first_pages_are_short(path: &str, text: &str) -> Vec<Finding> {
    let lines = text.lines().count();
    if !SHORT_PAGES.contains(&path) || lines <= MOST_LINES {
        return Vec::new();
    }
    vec![Finding::new(path, 0, format!("{lines} lines, above the limit of {MOST_LINES}"))]
}

/// The tables of the results are what `cargo xtask results` makes of the records.
pub(super) fn results_are_up_to_date(tree: &Tree<'_>) -> Vec<Finding> {
    let Some(page) = tree.files.get(results::PAGE) else { return Vec::new() };
    let records: BTreeMap<String, String> = tree
        .files
        .iter()
        .filter_map(|(path, text)| {
            let name = path.strip_prefix(results::RECORDS)?.strip_suffix(".toml")?;
            Some((name.to_owned(), text.clone()))
        })
        .collect();
    match results::rewritten(page, &records) {
        Ok(new) if new == *page => Vec::new(),
        Ok(new) => {
            let same = page.lines().zip(new.lines()).take_while(|(old, new)| old == new).count();
            let message = "not what the records say: run `cargo xtask results`";
            vec![Finding::new(results::PAGE, same + 1, message)]
        }
        Err(error) => vec![Finding::new(results::PAGE, 0, format!("{error:#}"))],
    }
}

/// Each relative link of a page leads to a file, or to a heading of a page.
pub(super) fn links_lead_somewhere(tree: &Tree<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in tree.files.iter().filter(|(path, _)| path.ends_with(".md")) {
        for (line, target) in links(text) {
            let (file, heading) = target.split_once('#').unwrap_or((target, ""));
            let file = if file.is_empty() { Some(path.clone()) } else { resolved(path, file) };
            let message = match file {
                Some(file) if tree.root.join(&file).exists() => {
                    let page = tree.files.get(&file).map_or("", String::as_str);
                    let found = headings(page).any(|known| known == heading);
                    (!heading.is_empty() && !found).then(|| format!("{file} has no #{heading}"))
                }
                _ => Some(format!("there is no {target}")),
            };
            findings.extend(message.map(|message| Finding::new(path, line, message)));
        }
    }
    findings
}

/// A page that a source names is there. The rules' own tests name pages that are not.
pub(super) fn named_pages_exist(tree: &Tree<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in tree.files.iter().filter(|(path, _)| !path.starts_with("xtask/src/")) {
        for (index, line) in text.lines().enumerate() {
            for (at, _) in line.match_indices("docs/") {
                let allowed = |c: char| c.is_ascii_alphanumeric() || "/._-".contains(c);
                let end = line[at..].find(|c| !allowed(c)).map_or(line.len(), |end| at + end);
                let name = line[at..end].trim_end_matches('.');
                if name.ends_with(".md") && !tree.root.join(name).exists() {
                    findings.push(Finding::new(path, index + 1, format!("there is no {name}")));
                }
            }
        }
    }
    findings
}

/// Targets of relative links, with their lines; what is in a block of code is none.
fn links(text: &str) -> impl Iterator<Item = (usize, &str)> {
    prose(text).flat_map(|(line, text)| {
        text.match_indices("](").filter_map(move |(at, opening)| {
            let (target, _) = text[at + opening.len()..].split_once(')')?;
            (!target.contains(':') && !target.contains(' ')).then_some((line, target))
        })
    })
}

/// A page's headings as links name them: lower case, blanks as hyphens, other signs left out.
fn headings(text: &str) -> impl Iterator<Item = String> {
    prose(text).filter(|(_, line)| line.starts_with('#')).map(|(_, line)| {
        let words = line.trim_start_matches('#').trim().to_lowercase();
        let kept = words.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
        kept.map(|c| if c == ' ' { '-' } else { c }).collect()
    })
}

/// The lines outside blocks of code, counted from 1.
fn prose(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut code = false;
    text.lines().enumerate().filter_map(move |(index, line)| {
        let fence = line.trim_start().starts_with("```");
        code ^= fence;
        (!code && !fence).then_some((index + 1, line))
    })
}

/// `target` as a page at `path` means it, from the root; `None` outside of it.
fn resolved(path: &str, target: &str) -> Option<String> {
    let mut parts: Vec<&str> = path.split('/').collect();
    parts.pop();
    for part in target.trim_end_matches('/').split('/') {
        if part == ".." {
            parts.pop()?;
        } else if part != "." {
            parts.push(part);
        }
    }
    Some(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    /// The findings of a rule in a tree of these files.
    fn found(rule: super::super::TreeRule, files: &[(&str, &str)]) -> Vec<String> {
        let root = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let files = files.iter().map(|&(path, text)| (path.to_owned(), text.to_owned())).collect();
        rule(&Tree { root: root.path(), files }).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_first_page_that_is_long_is_found() {
        let long = "line\n".repeat(MOST_LINES + 1);
        for path in SHORT_PAGES {
            assert_eq!(first_pages_are_short(path, &long).len(), 1, "{path}");
            assert!(first_pages_are_short(path, &"line\n".repeat(MOST_LINES)).is_empty());
        }
        assert!(first_pages_are_short("docs/algorithms.md", &long).is_empty());
    }

    #[test]
    fn a_page_of_results_that_no_record_says_is_found() {
        let record = "columns = [\"x\"]\nrun = []\n";
        let page =
            "# Results\n\n<!-- cargo xtask results: a -->\n<!-- cargo xtask results: end -->\n";
        let files = [("docs/results.md", page), ("docs/results/a.toml", record)];
        let finding = "docs/results.md:4: not what the records say: run `cargo xtask results`";
        assert_eq!(found(results_are_up_to_date, &files), [finding]);
        let records = BTreeMap::from([("a".to_owned(), record.to_owned())]);
        let new = results::rewritten(page, &records).unwrap();
        let files = [("docs/results.md", new.as_str()), ("docs/results/a.toml", record)];
        assert!(found(results_are_up_to_date, &files).is_empty());
        assert_eq!(found(results_are_up_to_date, &files[..1]).len(), 1, "no record");
        assert!(found(results_are_up_to_date, &[]).is_empty(), "no page");
    }

    #[test]
    fn a_link_that_leads_nowhere_is_found() {
        let page = "# One page, `code`\n\n[a](docs/a.md) [b](docs/a.md#a-b-c) [c](https://x.y)\n\
            [d](docs/none.md)\n[e](docs/a.md#none)\n```\n[f](none)\n```\n[g](#one-page-code)\n";
        let other = "# A: b, `c`!\n\n[up](../README.md#one-page-code) [out](../../x)\n";
        let expected = [
            "README.md:4: there is no docs/none.md",
            "README.md:5: docs/a.md has no #none",
            "docs/a.md:3: there is no ../../x",
        ];
        let files = [("README.md", page), ("docs/a.md", &other.replace("A: b, `c`!", "A: b `c`!"))];
        assert_eq!(found(links_lead_somewhere, &files), expected);
    }

    #[test]
    fn a_page_that_a_source_names_and_that_is_not_there_is_found() {
        let files = [
            ("docs/a.md", "# A\n"),
            ("cl/a.cl", "// See docs/a.md.\n// (docs/b.md, \"B\")\n// docs/c.md.\n"),
            ("xtask/src/tidy/pages.rs", "// docs/d.md\n"),
        ];
        let expected = ["cl/a.cl:2: there is no docs/b.md", "cl/a.cl:3: there is no docs/c.md"];
        assert_eq!(found(named_pages_exist, &files), expected);
    }
}
