//! `cargo xtask results`: the tables of `docs/results.md`, made from the records in `docs/results/`.
//!
//! A record is a TOML file: measured figures with date, commit, device and command (`record.rs`). Its table stands in
//! the page between two marker comments that name it. The command rewrites what is between them, and a house rule
//! (`tidy/pages.rs`) fails where the page is out of date. Beside each report in `docs/results/figures/` it puts a
//! picture of its charts (`pictures.rs`).

mod pictures;
mod record;

use crate::project;
use anyhow::{Context as _, Result, bail};
use record::Record;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::ExitCode;

/// The page, from the root.
pub(crate) const PAGE: &str = "docs/results.md";

/// The folder of the records, from the root.
pub(crate) const RECORDS: &str = "docs/results/";

/// The folder of the reports of figures, from the root.
const FIGURES: &str = "docs/results/figures/";

const BEGIN: &str = "<!-- cargo xtask results: ";
const END: &str = "<!-- cargo xtask results: end -->\n";

pub(crate) fn run() -> Result<ExitCode> {
    let root = project::root()?;
    let mut records = BTreeMap::new();
    for entry in fs::read_dir(root.join(RECORDS)).context(RECORDS)? {
        let path = entry?.path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if let Some(name) = name.strip_suffix(".toml") {
            let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
            records.insert(name.to_owned(), text);
        }
    }
    let page = fs::read_to_string(root.join(PAGE)).context(PAGE)?;
    let new = rewritten(&page, &records)?;
    if new == page {
        println!("{PAGE} is up to date: {} tables", records.len());
    } else {
        fs::write(root.join(PAGE), new).context(PAGE)?;
        println!("{PAGE} is rewritten: {} tables", records.len());
    }
    draw(&root.join(FIGURES))?;
    Ok(ExitCode::SUCCESS)
}

/// Puts a picture beside each report of a folder.
fn draw(folder: &Path) -> Result<()> {
    let mut count = 0;
    for entry in fs::read_dir(folder).context(FIGURES)? {
        let path = entry?.path();
        if path.extension().is_some_and(|ending| ending == "html") {
            let page = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
            let picture = pictures::picture(&page).with_context(|| path.display().to_string())?;
            fs::write(path.with_extension("svg"), picture)?;
            count += 1;
        }
    }
    println!("{FIGURES} has {count} pictures");
    Ok(())
}

/// The page with the table of each record, by the record's name, in its place.
///
/// # Errors
/// A record cannot be read, has no place in the page or two, or a place has no record or no end.
pub(crate) fn rewritten(page: &str, records: &BTreeMap<String, String>) -> Result<String> {
    let mut new = String::new();
    let mut placed = Vec::new();
    let mut rest = page;
    while let Some((before, after)) = rest.split_once(BEGIN) {
        let (name, after) = after.split_once(" -->\n").context("a marker without an end")?;
        let (_, after) = after
            .split_once(END)
            .with_context(|| format!("the table `{name}` has no line `{}`", END.trim_end()))?;
        let text = records
            .get(name)
            .with_context(|| format!("the table `{name}` has no record {RECORDS}{name}.toml"))?;
        if placed.contains(&name) {
            bail!("the table `{name}` stands twice");
        }
        placed.push(name);
        let record = Record::parse(text).with_context(|| format!("{RECORDS}{name}.toml"))?;
        new += &format!("{before}{BEGIN}{name} -->\n{}{END}", record.table(name));
        rest = after;
    }
    if let Some(name) = records.keys().find(|name| !placed.contains(&name.as_str())) {
        bail!("{RECORDS}{name}.toml has no place: {BEGIN}{name} -->");
    }
    Ok(new + rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    const RECORD: &str = "columns = [\"matrix\", \"times\"]\n[[run]]\ndate = \"2026-11-25\"\n\
        device = \"NVIDIA H200\"\nnotebook = \"a.md\"\ncommand = \"sparrow bench\"\n\
        rows = [[\"pwtk-like\", 1.3]]\n";

    fn records(names: &[&str]) -> BTreeMap<String, String> {
        names.iter().map(|&name| (name.to_owned(), RECORD.to_owned())).collect()
    }

    fn page(names: &[&str]) -> String {
        let places: Vec<_> =
            names.iter().map(|name| format!("{BEGIN}{name} -->\nold\n{END}")).collect();
        format!("# Page\n\n{}\nThe rest.\n", places.join("\nBetween.\n"))
    }

    #[test]
    fn each_table_stands_in_its_place_and_the_rest_of_the_page_stays() {
        let new = rewritten(&page(&["a", "b"]), &records(&["a", "b"])).unwrap();
        assert_eq!(new.matches("| pwtk-like |  1.30 |").count(), 2, "{new}");
        assert!(new.starts_with("# Page\n\n<!--") && new.ends_with("\nThe rest.\n"), "{new}");
        assert!(new.contains("\nBetween.\n") && !new.contains("old"), "{new}");
        assert_eq!(rewritten(&new, &records(&["a", "b"])).unwrap(), new, "a second time");
    }

    #[test]
    fn a_record_without_a_place_and_a_place_without_a_record_are_errors() {
        let message = |page: &str, names: &[&str]| {
            format!("{:#}", rewritten(page, &records(names)).unwrap_err())
        };
        assert!(message(&page(&["a"]), &["a", "b"]).contains("b.toml has no place"));
        assert!(message(&page(&["a", "b"]), &["a"]).contains("has no record docs/results/b.toml"));
        assert!(message(&page(&["a", "a"]), &["a"]).contains("stands twice"));
        let open = page(&["a"]).replace(END, "");
        assert!(message(&open, &["a"]).contains("has no line"));
    }
}
