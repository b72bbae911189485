//! Packs the OpenCL C of `cl/` for the library: every file deflated, and the list of them that `src/source.rs` includes.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::DeflateEncoder;

fn main() -> io::Result<()> {
    let environment =
        |name| std::env::var_os(name).map(PathBuf::from).ok_or_else(|| io::Error::other(name));
    let root = environment("CARGO_MANIFEST_DIR")?.join("../../cl");
    let packed = environment("OUT_DIR")?;
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed={}", root.display());

    let mut paths = Vec::new();
    files_below(&root, &root, &mut paths)?;
    paths.sort();
    let mut list = File::create(packed.join("sources.rs"))?;
    writeln!(list, "/// Every file of `cl/`.")?;
    writeln!(list, "pub(crate) static SOURCES: [Source; {}] = [", paths.len())?;
    for (number, path) in paths.iter().enumerate() {
        let file = packed.join(format!("{number}.deflate"));
        let mut encoder = DeflateEncoder::new(File::create(&file)?, Compression::best());
        encoder.write_all(&fs::read(root.join(path))?)?;
        encoder.finish()?;
        writeln!(list, "Source::packed({path:?}, include_bytes!({file:?})),")?;
    }
    writeln!(list, "];")
}

/// Adds the files of `folder` and of those below it, named from `root` as an `#include` spells them.
fn files_below(root: &Path, folder: &Path, paths: &mut Vec<String>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            files_below(root, &path, paths)?;
        } else if let Ok(below) = path.strip_prefix(root) {
            let parts: Vec<_> = below.iter().map(|part| part.to_string_lossy()).collect();
            paths.push(parts.join("/"));
        }
    }
    Ok(())
}
