//! The committed header and the stored list of symbols are those of the sources.
//!
//! `UPDATE_HEADER=1 cargo test -p sparrow-capi --test header` writes both anew.
#![expect(clippy::unwrap_used, reason = "a test panics when its claim is broken")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn made_header() -> String {
    let config = cbindgen::Config::from_file(root().join("cbindgen.toml")).unwrap();
    let mut builder = cbindgen::Builder::new().with_config(config);
    for source in sources() {
        builder = builder.with_src(source);
    }
    let mut header = Vec::new();
    builder.generate().unwrap().write(&mut header);
    String::from_utf8(header).unwrap()
}

/// The modules in the order in which a reader wants them, not in that of the alphabet.
fn sources() -> Vec<PathBuf> {
    let order = [
        "version",
        "status",
        "types",
        "buffer",
        "context",
        "matrix",
        "options",
        "conversions",
        "info",
        "workspace",
        "plan",
        "recording",
        "hyb_matrix",
        "hyb_plan",
        "spgemm",
        "spmm",
        "batch",
        "batch_plan",
        "vectors",
        "solver_options",
        "solution",
        "solver",
    ];
    order.iter().map(|name| root().join("src").join(format!("{name}.rs"))).collect()
}

/// Compares a committed file with what it should be, or writes it where that was asked for.
fn check(path: &str, made: &str) {
    let path = root().join(path);
    if std::env::var_os("UPDATE_HEADER").is_some_and(|value| value == "1") {
        fs::write(&path, made).unwrap();
    }
    let committed = fs::read_to_string(&path).unwrap_or_default();
    let differs = committed.lines().zip(made.lines()).position(|(old, new)| old != new);
    assert!(
        committed == made,
        "{} is stale (first at line {}): run UPDATE_HEADER=1 cargo test -p sparrow-capi --test header",
        path.display(),
        differs.map_or(committed.lines().count().min(made.lines().count()), |at| at) + 1
    );
}

#[test]
fn the_committed_header_is_what_the_sources_say() {
    check("include/sparrow.h", &made_header());
}

#[test]
fn the_stored_symbols_are_the_functions_of_the_header() {
    let header = made_header();
    let declared: BTreeSet<_> = header
        .match_indices("sparrow_")
        .filter_map(|(at, _)| {
            let name = &header[at..];
            let end = name.find(|c: char| !c.is_alphanumeric() && c != '_')?;
            let is_word = !header[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_');
            // A declaration, not a mention in a comment.
            (is_word && name[end..].starts_with('(') && !name[end..].starts_with("()"))
                .then(|| &name[..end])
        })
        .collect();
    let list: String = declared.iter().map(|name| format!("{name}\n")).collect();
    check("abi/symbols.txt", &list);
}

#[test]
fn every_source_with_an_exported_function_is_in_the_header() {
    let listed: BTreeSet<_> = sources().into_iter().collect();
    let header = made_header();
    for entry in fs::read_dir(root().join("src")).unwrap() {
        let path = entry.unwrap().path();
        let text = fs::read_to_string(&path).unwrap();
        for (at, _) in text.match_indices("extern \"C\" fn ") {
            assert!(listed.contains(&path), "{}", path.display());
            let name = text[at + "extern \"C\" fn ".len()..].split('(').next().unwrap();
            assert!(header.contains(&format!("{name}(")), "{name}");
            let before = text[..at].trim_end_matches("unsafe ").trim_end_matches("pub ").trim_end();
            assert!(before.ends_with("#[unsafe(no_mangle)]"), "{name} is not exported");
        }
    }
}

#[test]
fn every_name_of_the_header_begins_with_ours() {
    let header = made_header();
    for line in header.lines().filter(|line| line.starts_with("#define ")) {
        assert!(line.starts_with("#define SPARROW_"), "{line}");
    }
    for line in header.lines().filter(|line| line.starts_with("typedef ")) {
        let name = line.trim_end_matches([';', '{', ' ']).rsplit(' ').next().unwrap();
        assert!(name.starts_with("sparrow_"), "{line}");
    }
}
