//! What is compiled: the shipped specialisations, as the crate that holds the device code lists them.

use crate::project;
use anyhow::{Context as _, Result, bail};
use std::path::{Path, PathBuf};
use std::process::Command;

/// One kernel source with one set of options.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Configuration {
    /// Path below `cl/`.
    pub(super) source: String,
    /// The key, as text.
    pub(super) key: String,
    /// For the compiler.
    pub(super) options: String,
}

impl Configuration {
    pub(super) fn uses_f64(&self) -> bool {
        self.options.split(' ').any(|option| option == "-DVALUE_F64")
    }

    /// The size of work-group it is compiled for.
    pub(super) fn group_size(&self) -> Result<u64> {
        let per_group = ["SUB_GROUPS_PER_GROUP", "BUNCHES_PER_GROUP"];
        match (self.number("GROUP_SIZE"), self.sub_group_size()) {
            (Some(size), _) => Ok(size),
            (None, Some(items)) => {
                Ok(items * per_group.iter().find_map(|name| self.number(name)).unwrap_or(1))
            }
            (None, None) => bail!("{} has no group size", self.key),
        }
    }

    /// How many items it takes to run in step, where it does; `segmented_sum` has its paper's word.
    pub(super) fn sub_group_size(&self) -> Option<u64> {
        self.number("SUB_GROUP_SIZE").or_else(|| self.number("BUNCH_SIZE"))
    }

    fn number(&self, name: &str) -> Option<u64> {
        let value_of = |option: &str| {
            let define = option.strip_prefix("-D")?;
            define.strip_prefix(name)?.strip_prefix('=')?.parse().ok()
        };
        self.options.split(' ').find_map(value_of)
    }
}

/// Builds the program that lists them; its file.
///
/// # Errors
/// It does not build.
pub(super) fn build(root: &Path) -> Result<PathBuf> {
    let example = ["--package", "cl-kernels", "--example", "specialisations"];
    let mut command = Command::new(project::cargo());
    command.args(["build", "--quiet", "--locked"]).args(example).current_dir(root);
    if !command.status().context("starting cargo")?.success() {
        bail!("the list of configurations does not build");
    }
    Ok(project::target()?.join("debug/examples/specialisations"))
}

/// What `program` lists, with the shipped device tables; the sources are written into `folder`.
///
/// # Errors
/// The list is not made, or a table is not understood.
pub(super) fn list(
    root: &Path,
    program: &Path,
    folder: &Path,
    product: bool,
) -> Result<Vec<Configuration>> {
    let tables = root.join("data/tuning");
    let mut files: Vec<_> = std::fs::read_dir(&tables)
        .with_context(|| tables.display().to_string())?
        .map(|entry| Ok(entry?.path()))
        .collect::<Result<_>>()?;
    files.retain(|file| file.extension().is_some_and(|extension| extension == "toml"));
    files.sort();
    let mut command = Command::new(program);
    command.arg(folder).args(files);
    if product {
        command.arg("--product");
    }
    let output = command.current_dir(root).output().context("listing configurations")?;
    if !output.status.success() {
        bail!("listing configurations: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    parse(&String::from_utf8(output.stdout)?)
}

fn parse(text: &str) -> Result<Vec<Configuration>> {
    let lines = text.lines().map(|line| match *line.split('\t').collect::<Vec<_>>().as_slice() {
        [source, key, options] => Ok(Configuration {
            source: source.to_owned(),
            key: key.to_owned(),
            options: options.to_owned(),
        }),
        _ => bail!("\"{line}\" is no path, key and options"),
    });
    let list = lines.collect::<Result<Vec<_>>>()?;
    if list.is_empty() {
        bail!("the list of configurations is empty");
    }
    Ok(list)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_become_configurations_and_nothing_else_passes() {
        let line = "spmv/a.cl\ta.f64.u32.plain\t-cl-std=CL1.2 -DVALUE_F64 -DGROUP_SIZE=64\n";
        let list = parse(line).unwrap();
        assert_eq!(list[0].source, "spmv/a.cl");
        assert!(list[0].uses_f64());
        assert_eq!(list[0].group_size().unwrap(), 64);
        assert!(!parse(&line.replace("F64", "F32")).unwrap()[0].uses_f64());
        assert!(parse(&line.replace("GROUP", "G")).unwrap()[0].group_size().is_err());
        assert!(parse("").is_err());
        assert!(parse("spmv/a.cl a\n").is_err());
    }
}
