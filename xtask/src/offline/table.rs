//! The table in `docs/portability.md`: the worst of each figure, a line a source and target.
//!
//! It stands between two marker comments, a part for each compiler under a line that names the compiler,
//! with the spills that are known.
//! Another version of a compiler counts otherwise, so a part is held against the committed one only where
//! the same version made both.

use super::figures::{Figures, Registers};
use super::known::{KNOWN_SPILLS, KnownSpill};
use super::target::{Family, Target};
use anyhow::{Context as _, Result};
use std::fmt::Write as _;

/// The page, from the root.
pub(super) const PAGE: &str = "docs/portability.md";

const BEGIN: &str = "<!-- cargo xtask offline: begin -->\n";
const END: &str = "<!-- cargo xtask offline: end -->\n";

/// One line: a source's kernels on a target.
#[derive(Debug)]
pub(super) struct Row {
    pub(super) source: String,
    pub(super) target: &'static Target,
    pub(super) configurations: usize,
    pub(super) worst: Figures,
}

/// Adds a compiled configuration to the line of its source and target.
pub(super) fn add(rows: &mut Vec<Row>, source: &str, target: &'static Target, kernels: &[Figures]) {
    let Some(first) = kernels.first() else { return };
    let there = rows.iter().position(|row| row.source == source && row.target == target);
    let at = there.unwrap_or_else(|| {
        let source = source.to_owned();
        rows.push(Row { source, target, configurations: 0, worst: first.clone() });
        rows.len() - 1
    });
    rows[at].configurations += 1;
    for kernel in kernels {
        rows[at].worst.worsen(kernel);
    }
}

/// The part of a compiler, as it stands in the page.
pub(super) fn part(family: Family, version: &str, rows: &[Row]) -> Result<String> {
    let mut text = headline(family, version);
    let registers = match family {
        Family::Amd => "vector, scalar registers",
        Family::Intel => "registers, items at once",
    };
    write!(
        text,
        "\n| source | target | configurations | {registers} | local bytes | spilled | scratch bytes | \
         work-group |\n|---|---|---|---|---|---|---|---|\n"
    )?;
    for Row { source, target, configurations, worst } in rows {
        let registers = match worst.registers {
            Registers::Amd { vector, scalar } => format!("{vector}, {scalar}"),
            Registers::Intel { general, simd } => format!("{general}, {simd}"),
        };
        let Figures { local_bytes, spilled, scratch_bytes, group_limit, .. } = worst;
        writeln!(
            text,
            "| `{source}` | {} | {configurations} | {registers} | {local_bytes} | {spilled} | \
             {scratch_bytes} | {group_limit} |",
            target.name
        )?;
    }
    for known in
        KNOWN_SPILLS.iter().filter(|known| rows.iter().any(|row| row.target.name == known.target))
    {
        let KnownSpill { kernel, target, key, reason, .. } = known;
        write!(text, "\n`{kernel}` on {target} ({}): {reason}.\n", key.join(", "))?;
    }
    Ok(text)
}

fn headline(family: Family, version: &str) -> String {
    format!("**{family}**, by {version}\n")
}

/// How a part compares with the committed one.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Comparison {
    Same,
    /// Made by another version, which is named.
    OtherCompiler(String),
    /// The first line that differs, committed and now; empty where there is none.
    OutOfDate(String, String),
}

/// Holds a part against the page.
///
/// # Errors
/// The page has no markers.
pub(super) fn compare(page: &str, family: Family, version: &str, part: &str) -> Result<Comparison> {
    let committed = committed_part(page, family)?.unwrap_or_default();
    if committed.trim_end() == part.trim_end() {
        return Ok(Comparison::Same);
    }
    let first = committed.lines().next().unwrap_or_default();
    if !first.is_empty() && first != headline(family, version).trim_end() {
        let by = first.split_once(", by ").map_or(first, |(_, by)| by);
        return Ok(Comparison::OtherCompiler(by.to_owned()));
    }
    let (mut old, mut new) = (committed.trim_end().lines(), part.trim_end().lines());
    loop {
        let (old, new) = (old.next(), new.next());
        if old != new {
            let text = |line: Option<&str>| line.unwrap_or_default().to_owned();
            return Ok(Comparison::OutOfDate(text(old), text(new)));
        }
    }
}

/// The page with these parts; those of other families stay.
///
/// # Errors
/// The page has no markers.
pub(super) fn rewritten(page: &str, parts: &[(Family, String)]) -> Result<String> {
    let mut body = String::new();
    for family in Family::ALL {
        let new = parts.iter().find(|(of, _)| *of == family).map(|(_, part)| part.as_str());
        let part = match new {
            Some(part) => Some(part),
            None => committed_part(page, family)?,
        };
        if let Some(part) = part {
            write!(body, "\n{}\n", part.trim_end())?;
        }
    }
    let (before, _, after) = around(page)?;
    Ok(format!("{before}{BEGIN}{body}\n{END}{after}"))
}

/// The family's headline and what follows it up to the next.
fn committed_part(page: &str, family: Family) -> Result<Option<&str>> {
    let (_, body, _) = around(page)?;
    let Some(begin) = body.find(&format!("**{family}**, by ")) else { return Ok(None) };
    let part = &body[begin..];
    Ok(Some(part.find("\n**").map_or(part, |end| &part[..end])))
}

fn around(page: &str) -> Result<(&str, &str, &str)> {
    let parts = page
        .split_once(BEGIN)
        .and_then(|(before, rest)| rest.split_once(END).map(|(body, after)| (before, body, after)));
    parts.with_context(|| format!("{PAGE} lacks the lines {} and {}", BEGIN.trim(), END.trim()))
}

#[cfg(test)]
mod tests {
    use super::super::target::TARGETS;
    use super::*;

    fn page(body: &str) -> String {
        format!("# Page\n\n{BEGIN}{body}{END}\nThe rest.\n")
    }

    fn figures(vector: u64) -> Figures {
        Figures {
            kernel: "k".to_owned(),
            registers: Registers::Amd { vector, scalar: 30 },
            local_bytes: 2048,
            spilled: 0,
            scratch_bytes: 0,
            group_limit: 256,
        }
    }

    fn amd(vector: u64, version: &str) -> String {
        let mut rows = Vec::new();
        let gfx1100 = &TARGETS[2];
        add(&mut rows, "spmv/a.cl", gfx1100, &[figures(vector), figures(10)]);
        add(&mut rows, "spmv/a.cl", gfx1100, &[figures(12)]);
        part(Family::Amd, version, &rows).unwrap()
    }

    #[test]
    fn a_line_holds_the_worst_of_its_configurations() {
        let expected = "**AMD**, by clang 1\n\n\
            | source | target | configurations | vector, scalar registers | local bytes | spilled | \
            scratch bytes | work-group |\n|---|---|---|---|---|---|---|---|\n\
            | `spmv/a.cl` | gfx1100 | 2 | 24, 30 | 2048 | 0 | 0 | 256 |\n";
        assert_eq!(amd(24, "clang 1"), expected);
    }

    #[test]
    fn a_table_out_of_date_is_found_only_where_the_compiler_is_the_same() {
        let committed = rewritten(&page("old"), &[(Family::Amd, amd(24, "clang 1"))]).unwrap();
        let compared = |vector, version: &str| {
            compare(&committed, Family::Amd, version, &amd(vector, version)).unwrap()
        };
        assert_eq!(compared(24, "clang 1"), Comparison::Same);
        assert_eq!(compared(25, "clang 2"), Comparison::OtherCompiler("clang 1".to_owned()));
        let Comparison::OutOfDate(old, new) = compared(25, "clang 1") else {
            panic!("25 registers were 24");
        };
        assert!(old.contains("| 24, 30 |") && new.contains("| 25, 30 |"), "{old}\n{new}");
    }

    #[test]
    fn a_part_that_is_not_there_and_a_longer_one_are_out_of_date() {
        let part = amd(24, "clang 1");
        let empty = compare(&page(""), Family::Amd, "clang 1", &part).unwrap();
        assert!(matches!(empty, Comparison::OutOfDate(old, _) if old.is_empty()));
        let longer = rewritten(&page(""), &[(Family::Amd, format!("{part}| more |\n"))]).unwrap();
        let compared = compare(&longer, Family::Amd, "clang 1", &part).unwrap();
        assert_eq!(compared, Comparison::OutOfDate("| more |".to_owned(), String::new()));
    }

    #[test]
    fn parts_that_were_not_made_stay_and_the_rest_of_the_page_too() {
        let intel = "**Intel**, by ocloc 9\n\n| x |\n".to_owned();
        let first = rewritten(&page(""), &[(Family::Intel, intel.clone())]).unwrap();
        let both = rewritten(&first, &[(Family::Amd, amd(24, "clang 1"))]).unwrap();
        assert_eq!(both, page(&format!("\n{}\n{intel}\n", amd(24, "clang 1"))));
        let again = rewritten(&both, &[(Family::Amd, amd(24, "clang 1"))]).unwrap();
        assert_eq!(again, both, "nothing changes a second time");
        assert!(rewritten("no markers", &[]).is_err());
    }
}
