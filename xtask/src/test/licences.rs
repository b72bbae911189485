//! Licences and origins of every dependency, against the lists in `deny.toml`.
//!
//! The file has cargo-deny's form, so that tool reads the same lists; a bare machine has no cargo-deny,
//! and what matters here is a page of code.

use super::Outcome;
use super::metadata::{Metadata, Package};
use anyhow::{Context as _, Result};
use serde::Deserialize;
use std::path::Path;

#[derive(Deserialize)]
struct Lists {
    licenses: Licences,
    bans: Bans,
}

#[derive(Deserialize)]
struct Licences {
    allow: Vec<String>,
}

#[derive(Deserialize)]
struct Bans {
    deny: Vec<Banned>,
}

#[derive(Deserialize)]
struct Banned {
    #[serde(rename = "crate")]
    name: String,
}

/// Prints each dependency that breaks a rule.
pub(super) fn check(root: &Path, metadata: &Metadata) -> Result<Outcome> {
    let text = std::fs::read_to_string(root.join("deny.toml")).context("deny.toml")?;
    let lists: Lists = toml::from_str(&text).context("deny.toml")?;
    let findings: Vec<_> =
        metadata.packages.iter().filter_map(|package| complaint(package, &lists)).collect();
    for finding in &findings {
        println!("{finding}");
    }
    println!("{} packages", metadata.packages.len());
    Ok(if findings.is_empty() {
        Outcome::Passed
    } else {
        Outcome::Failed(format!("{} packages break the rules of deny.toml", findings.len()))
    })
}

fn complaint(package: &Package, lists: &Lists) -> Option<String> {
    let name = format!("{} {}", package.name, package.version);
    if lists.bans.deny.iter().any(|banned| banned.name == package.name) {
        return Some(format!("{name} is banned"));
    }
    if let Some(source) = package.source.as_ref().filter(|source| !source.starts_with("registry+"))
    {
        return Some(format!("{name} comes from {source}, not from the registry"));
    }
    let allowed = |licence: &str| lists.licenses.allow.iter().any(|allow| allow == licence);
    match &package.license {
        None => Some(format!("{name} names no licence")),
        Some(expression) if !permits(expression, &allowed) => {
            Some(format!("{name} has the licence {expression}, which is not allowed"))
        }
        Some(_) => None,
    }
}

/// Whether an SPDX expression can be satisfied with allowed licences; an expression that cannot be read
/// permits nothing. `/` is the old spelling of OR.
fn permits(expression: &str, allowed: &dyn Fn(&str) -> bool) -> bool {
    let spaced = expression.replace('(', " ( ").replace(')', " ) ").replace('/', " OR ");
    let words: Vec<_> = spaced.split_whitespace().collect();
    let mut at = 0;
    either(&words, &mut at, allowed) == Some(true) && at == words.len()
}

fn either(words: &[&str], at: &mut usize, allowed: &dyn Fn(&str) -> bool) -> Option<bool> {
    let mut permitted = both(words, at, allowed)?;
    while words.get(*at) == Some(&"OR") {
        *at += 1;
        permitted |= both(words, at, allowed)?;
    }
    Some(permitted)
}

fn both(words: &[&str], at: &mut usize, allowed: &dyn Fn(&str) -> bool) -> Option<bool> {
    let mut permitted = one(words, at, allowed)?;
    while words.get(*at) == Some(&"AND") {
        *at += 1;
        permitted &= one(words, at, allowed)?;
    }
    Some(permitted)
}

fn one(words: &[&str], at: &mut usize, allowed: &dyn Fn(&str) -> bool) -> Option<bool> {
    let word = *words.get(*at)?;
    *at += 1;
    match word {
        "(" => {
            let permitted = either(words, at, allowed)?;
            (words.get(*at) == Some(&")")).then(|| *at += 1)?;
            Some(permitted)
        }
        ")" | "OR" | "AND" | "WITH" => None,
        // An exception is a licence of its own: it is allowed or not as a whole.
        _ if words.get(*at) == Some(&"WITH") => {
            let exception = *words.get(*at + 1)?;
            *at += 2;
            Some(allowed(&format!("{word} WITH {exception}")))
        }
        _ => Some(allowed(word)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ours(expression: &str) -> bool {
        let allow = ["MIT", "Apache-2.0", "Unicode-3.0", "Apache-2.0 WITH LLVM-exception"];
        permits(expression, &|licence| allow.contains(&licence))
    }

    #[test]
    fn a_choice_needs_one_allowed_licence_and_a_union_all() {
        for good in [
            "MIT",
            "MIT OR GPL-3.0",
            "GPL-3.0/MIT",
            "(MIT OR GPL-3.0) AND Unicode-3.0",
            "GPL-2.0 OR MIT AND Apache-2.0",
            "Apache-2.0 WITH LLVM-exception",
        ] {
            assert!(ours(good), "{good}");
        }
        for bad in [
            "GPL-3.0",
            "MIT AND GPL-3.0",
            "(MIT OR Apache-2.0) AND GPL-3.0",
            "MIT WITH GCC-exception",
            "MIT OR",
            "(MIT",
            "MIT Apache-2.0",
            "",
        ] {
            assert!(!ours(bad), "{bad}");
        }
    }

    #[test]
    fn origins_bans_and_missing_licences_are_complaints() {
        let lists: Lists =
            toml::from_str("[licenses]\nallow = [\"MIT\"]\n[bans]\ndeny = [{ crate = \"ocl\" }]\n")
                .unwrap();
        let package = |name: &str, license: &str, source: &str| -> Package {
            let license = (!license.is_empty()).then_some(license);
            let json = serde_json::json!({
                "id": name, "name": name, "version": "1.0.0", "license": license, "source": source
            });
            serde_json::from_value(json).unwrap()
        };
        let complaint = |name, license, source| complaint(&package(name, license, source), &lists);
        assert_eq!(complaint("half", "MIT", "registry+x"), None);
        assert_eq!(complaint("ocl", "MIT", "registry+x").unwrap(), "ocl 1.0.0 is banned");
        assert!(complaint("half", "MIT", "git+x").unwrap().contains("comes from git+x"));
        assert!(complaint("half", "", "registry+x").unwrap().contains("no licence"));
        assert!(complaint("half", "GPL-3.0", "registry+x").unwrap().contains("GPL-3.0"));
    }
}
