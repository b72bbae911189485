//! The OpenCL C of `cl/`, embedded, with its includes resolved: a driver sees one string.

use std::collections::BTreeSet;
use std::io::Read as _;
use std::sync::OnceLock;

use flate2::read::DeflateDecoder;

/// A file of `cl/`. It is kept deflated, which takes a third of the space, until its text is wanted.
#[derive(Debug)]
pub(crate) struct Source {
    /// Path below `cl/`, as an `#include` spells it.
    pub(crate) path: &'static str,
    packed: &'static [u8],
    text: OnceLock<String>,
}

impl Source {
    const fn packed(path: &'static str, packed: &'static [u8]) -> Self {
        Source { path, packed, text: OnceLock::new() }
    }

    /// The text of the file.
    pub(crate) fn text(&self) -> &str {
        self.text.get_or_init(|| {
            let mut text = String::new();
            let read = DeflateDecoder::new(self.packed).read_to_string(&mut text);
            debug_assert!(read.is_ok(), "{} is packed by this crate's build", self.path);
            text
        })
    }

    /// The file of that path.
    fn find(path: &str) -> Option<&'static Source> {
        SOURCES.iter().find(|source| source.path == path)
    }
}

// `SOURCES`, by `build.rs`.
include!(concat!(env!("OUT_DIR"), "/sources.rs"));

/// Why a source cannot be put together.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SourceError {
    /// No file of that path is embedded.
    #[error("\"{path}\", wanted by {wanted_by}, is no file of cl/")]
    Missing {
        /// The path asked for.
        path: String,
        /// Who asked.
        wanted_by: String,
    },
}

/// The text of `path` with every `#include "..."` replaced by the file it names, each file once.
///
/// `#line` directives keep the compiler's messages pointing into `cl/`.
///
/// # Errors
/// A path that is not embedded.
pub fn kernel_source(path: &str) -> Result<String, SourceError> {
    let mut text = String::new();
    let mut included = BTreeSet::new();
    append(path, "a kernel", &mut included, &mut text)?;
    Ok(text)
}

fn append(
    path: &str,
    wanted_by: &str,
    included: &mut BTreeSet<&'static str>,
    text: &mut String,
) -> Result<(), SourceError> {
    let source = Source::find(path).ok_or_else(|| SourceError::Missing {
        path: path.to_owned(),
        wanted_by: wanted_by.to_owned(),
    })?;
    if !included.insert(source.path) {
        return Ok(());
    }
    text.push_str(&format!("#line 1 \"cl/{path}\"\n"));
    for (number, line) in source.text().lines().enumerate() {
        match included_path(line) {
            Some(inner) => {
                append(inner, path, included, text)?;
                text.push_str(&format!("#line {} \"cl/{path}\"\n", number + 2));
            }
            None => {
                text.push_str(line);
                text.push('\n');
            }
        }
    }
    Ok(())
}

fn included_path(line: &str) -> Option<&str> {
    line.trim().strip_prefix("#include")?.trim().strip_prefix('"')?.strip_suffix('"')
}

/// The text of the file of that path, for tests that hold a kernel's numbers against this crate's.
#[cfg(test)]
pub(crate) fn text_of(path: &str) -> &'static str {
    Source::find(path).unwrap().text()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_is_unpacked_as_it_is() {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../cl");
        for source in &SOURCES {
            let text = std::fs::read_to_string(root.join(source.path)).unwrap();
            assert!(source.text() == text, "{}", source.path);
        }
    }

    #[test]
    fn every_kernel_resolves_and_no_include_is_left() {
        for source in SOURCES.iter().filter(|source| source.path.ends_with(".cl")) {
            let text = kernel_source(source.path).unwrap();
            assert!(!text.contains("#include"), "{}", source.path);
            assert_eq!(text.matches("#ifndef ITEM_SCALAR_H").count(), 1, "{}", source.path);
        }
    }

    #[test]
    fn a_warning_is_turned_off_only_where_the_compiler_knows_it() {
        let mut turned_off = 0;
        for source in &SOURCES {
            let lines: Vec<&str> = source.text().lines().collect();
            for (at, line) in lines.iter().enumerate() {
                let Some(name) = line.strip_prefix("#pragma clang diagnostic ignored ") else {
                    continue;
                };
                turned_off += 1;
                let guard = format!("#if __has_warning({name})");
                assert_eq!(lines[at - 1], guard, "{}:{}", source.path, at + 1);
            }
        }
        assert!(turned_off > 0);
    }

    /// Lists what `path` includes, in order, each with whether that stands under a condition; the guard of a header is none.
    fn inclusions(path: &str, is_conditional: bool, found: &mut Vec<(&'static str, bool)>) {
        let source = Source::find(path).unwrap();
        let mut depth = 0_i32;
        for line in source.text().lines() {
            let is_guard = line.starts_with("#ifndef") && line.ends_with("_H");
            match included_path(line) {
                Some(inner) => {
                    let is_conditional = is_conditional || depth > 0;
                    let inner = Source::find(inner).unwrap().path;
                    let is_new = found.iter().all(|(known, _)| *known != inner);
                    found.push((inner, is_conditional));
                    if is_new {
                        inclusions(inner, is_conditional, found);
                    }
                }
                None if line.starts_with("#if") && !is_guard => depth += 1,
                None if line.starts_with("#endif") => depth -= 1,
                None => {}
            }
            depth = depth.max(0);
        }
    }

    #[test]
    fn what_comes_first_under_a_condition_is_included_nowhere_else() {
        for source in SOURCES.iter().filter(|source| source.path.ends_with(".cl")) {
            let mut found = Vec::new();
            inclusions(source.path, false, &mut found);
            for (at, (path, is_conditional)) in found.iter().enumerate() {
                let is_first = found[..at].iter().all(|(known, _)| known != path);
                let is_wanted = found[at..].contains(&(*path, false));
                assert!(!(is_first && *is_conditional && is_wanted), "{}: {path}", source.path);
            }
        }
    }

    #[test]
    fn an_unknown_file_is_named() {
        let error = kernel_source("spmv/none.cl").unwrap_err();
        assert_eq!(error.to_string(), "\"spmv/none.cl\", wanted by a kernel, is no file of cl/");
    }
}
