//! Who may use whom: crates, and the layers of the device code.

use super::Finding;
use toml::{Table, Value};

/// A crate's folder, package and the packages of this workspace it may use; left to right.
const CRATES: &[(&str, &str, &[&str])] = &[
    ("crates/csr-core", "csr-core", &[]),
    ("crates/cl-kernels", "cl-kernels", &["csr-core"]),
    ("crates/cl-runtime", "cl-runtime", &["csr-core", "cl-kernels"]),
    ("crates/sparrow", "sparrow-sparse", &["csr-core", "cl-kernels", "cl-runtime"]),
    (
        "crates/sparrow-bench",
        "sparrow-bench",
        &["csr-core", "cl-kernels", "cl-runtime", "sparrow-sparse"],
    ),
    (
        "crates/sparrow-cli",
        "sparrow-cli",
        &["csr-core", "cl-kernels", "cl-runtime", "sparrow-sparse", "sparrow-bench"],
    ),
    ("crates/sparrow-capi", "sparrow-capi", &["sparrow-sparse"]),
    ("crates/sparrow-clsparse", "sparrow-clsparse", &["sparrow-sparse"]),
    ("crates/sparrow-python", "sparrow-python", &["sparrow-sparse"]),
    // The project's commands start programs; linking the library would make each of them wait for it.
    ("xtask", "xtask", &[]),
];

/// A crate uses crates to its left only.
pub(super) fn crates_depend_leftwards(path: &str, text: &str) -> Vec<Finding> {
    let Some(folder) = path.strip_suffix("/Cargo.toml") else { return Vec::new() };
    let place = CRATES.iter().find(|(place, _, _)| *place == folder);
    let Some((_, package, allowed)) = place else {
        return if folder.starts_with("crates/") {
            vec![Finding::new(path, 0, "this crate has no place in xtask's table of layers")]
        } else {
            Vec::new()
        };
    };
    let manifest: Table = match text.parse() {
        Ok(manifest) => manifest,
        Err(error) => return vec![Finding::new(path, 0, format!("no TOML: {error}"))],
    };
    let used = dependencies(&manifest).into_iter().filter(|used| {
        CRATES.iter().any(|(_, known, _)| known == used) && !allowed.contains(&used.as_str())
    });
    used.map(|used| Finding::new(path, 0, format!("{package} may not use {used}"))).collect()
}

/// The packages a manifest names, in every table that can name one.
fn dependencies(manifest: &Table) -> Vec<String> {
    let mut found = Vec::new();
    for (key, value) in manifest {
        let Value::Table(table) = value else { continue };
        match key.as_str() {
            "dependencies" | "dev-dependencies" | "build-dependencies" => {
                found.extend(table.iter().map(|(name, detail)| package_name(name, detail)));
            }
            "target" => {
                let tables = table.values().filter_map(Value::as_table);
                found.extend(tables.flat_map(dependencies));
            }
            _ => {}
        }
    }
    found
}

fn package_name(name: &str, detail: &Value) -> String {
    let package = detail.get("package").and_then(Value::as_str).unwrap_or(name);
    // The workspace calls the package sparrow-sparse by its library's name.
    if package == "sparrow" { "sparrow-sparse".to_owned() } else { package.to_owned() }
}

/// Every package takes the workspace's lints.
pub(super) fn lints_are_inherited(path: &str, text: &str) -> Vec<Finding> {
    let member = path != "Cargo.toml" && path.ends_with("/Cargo.toml");
    let outside =
        ["fuzz/", "tests/apps/", "benches/peers/"].iter().any(|folder| path.starts_with(folder));
    if !member || outside {
        return Vec::new();
    }
    let inherited = text.parse::<Table>().ok().and_then(|manifest| {
        let lints = manifest.get("lints")?.as_table()?.clone();
        Some(lints.len() == 1 && lints.get("workspace")?.as_bool()?)
    });
    if inherited == Some(true) {
        return Vec::new();
    }
    vec![Finding::new(
        path,
        0,
        "lints are not the workspace's: [lints] workspace = true is missing",
    )]
}

/// The layers of cl/, lowest first; every other folder is an algorithm above them.
const DEVICE_LAYERS: &[&str] = &["item", "subgroup", "group"];

/// A file of cl/ includes its own folder and lower layers only.
pub(super) fn device_layers_include_downwards(path: &str, text: &str) -> Vec<Finding> {
    let Some(inside) = path.strip_prefix("cl/") else { return Vec::new() };
    let Some((folder, _)) = inside.split_once('/') else { return Vec::new() };
    let mut findings = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let Some(included) = included_file(line) else { continue };
        // Paths start at cl/; a bare name lies in the same folder.
        let other = included.split_once('/').map_or(folder, |(other, _)| other);
        let allowed = other == folder || layer(other) < layer(folder);
        if !allowed || included.contains("..") {
            let message = format!("{folder}/ may not include {included}");
            findings.push(Finding::new(path, index + 1, message));
        }
    }
    findings
}

fn included_file(line: &str) -> Option<&str> {
    let rest = line.trim_start().strip_prefix('#')?.trim_start().strip_prefix("include")?;
    rest.trim_start().strip_prefix(['"', '<'])?.split(['"', '>']).next()
}

fn layer(folder: &str) -> usize {
    DEVICE_LAYERS.iter().position(|layer| *layer == folder).unwrap_or(DEVICE_LAYERS.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn messages(findings: Vec<Finding>) -> Vec<String> {
        findings.into_iter().map(|finding| finding.message).collect()
    }

    #[test]
    fn a_crate_that_uses_one_to_its_right_is_found() {
        let rule = |folder: &str, text: &str| {
            messages(crates_depend_leftwards(&format!("{folder}/Cargo.toml"), text))
        };
        let right = "[dependencies]\ncl-runtime.workspace = true\nserde = \"1\"\n";
        assert_eq!(rule("crates/csr-core", right), ["csr-core may not use cl-runtime"]);
        assert!(rule("crates/sparrow", right).is_empty());
        let dev = "[dev-dependencies]\nsparrow.workspace = true\n";
        assert_eq!(rule("crates/cl-runtime", dev), ["cl-runtime may not use sparrow-sparse"]);
        let target =
            "[target.'cfg(unix)'.build-dependencies]\nx = { package = \"xtask\", path = \"..\" }\n";
        assert_eq!(rule("crates/sparrow-cli", target), ["sparrow-cli may not use xtask"]);
        let core = "[dependencies]\ncsr-core = { path = \"../csr-core\" }\n";
        assert_eq!(rule("crates/sparrow-capi", core), ["sparrow-capi may not use csr-core"]);
    }

    #[test]
    fn a_crate_without_a_place_is_found() {
        assert_eq!(crates_depend_leftwards("crates/other/Cargo.toml", "").len(), 1);
        assert!(crates_depend_leftwards("tests/conformance/Cargo.toml", "").is_empty());
    }

    #[test]
    fn own_lints_are_found() {
        let rule = |text: &str| lints_are_inherited("crates/csr-core/Cargo.toml", text).len();
        assert_eq!(rule("[lints]\nworkspace = true\n"), 0);
        assert_eq!(rule("[package]\nname = \"x\"\n"), 1);
        assert_eq!(rule("[lints]\nworkspace = false\n"), 1);
        assert!(lints_are_inherited("fuzz/Cargo.toml", "").is_empty());
    }

    #[test]
    fn a_lower_layer_of_device_code_that_includes_a_higher_one_is_found() {
        let rule = |path: &str, text: &str| messages(device_layers_include_downwards(path, text));
        let group = "// head\n#include \"group/reduce.h\"\n";
        assert_eq!(rule("cl/item/scalar.h", group), ["item/ may not include group/reduce.h"]);
        assert_eq!(rule("cl/subgroup/scan.h", group), ["subgroup/ may not include group/reduce.h"]);
        assert!(rule("cl/group/carry.h", group).is_empty());
        assert!(rule("cl/spmv/csr_vector.cl", group).is_empty());
        let algorithm = "  # include \"spmv/csr_vector.cl\"\n";
        assert_eq!(
            rule("cl/group/carry.h", algorithm),
            ["group/ may not include spmv/csr_vector.cl"]
        );
        assert_eq!(rule("cl/spmm/row.cl", algorithm), ["spmm/ may not include spmv/csr_vector.cl"]);
        assert_eq!(rule("cl/spmv/new.cl", "#include \"../item/a.h\"").len(), 1);
        assert!(rule("cl/item/accumulate.h", "#include \"scalar.h\"").is_empty());
    }
}
