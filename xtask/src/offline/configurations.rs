//! What is compiled: the shipped specialisations, as the crate that holds the device code lists them.

use crate::project;
use anyhow::{Context as _, Result, bail};
use std::path::Path;
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
        match (self.number("GROUP_SIZE"), self.bunch_size()) {
            (Some(size), _) => Ok(size),
            // Bunches of items make a group.
            (None, Some(bunch)) => Ok(bunch * self.number("BUNCHES_PER_GROUP").unwrap_or(1)),
            (None, None) => bail!("{} has no group size", self.key),
        }
    }

    /// How many items it takes to run in step, where it does.
    pub(super) fn bunch_size(&self) -> Option<u64> {
        self.number("BUNCH_SIZE")
    }

    fn number(&self, name: &str) -> Option<u64> {
        let value_of = |option: &str| {
            let define = option.strip_prefix("-D")?;
            define.strip_prefix(name)?.strip_prefix('=')?.parse().ok()
        };
        self.options.split(' ').find_map(value_of)
    }
}

/// The list, with the shipped device tables; the sources are written into `folder`.
///
/// # Errors
/// The list does not build, or a table is not understood.
pub(super) fn list(root: &Path, folder: &Path, product: bool) -> Result<Vec<Configuration>> {
    let tables = root.join("data/tuning");
    let mut files: Vec<_> = std::fs::read_dir(&tables)
        .with_context(|| tables.display().to_string())?
        .map(|entry| Ok(entry?.path()))
        .collect::<Result<_>>()?;
    files.retain(|file| file.extension().is_some_and(|extension| extension == "toml"));
    files.sort();
    let mut command = Command::new(project::cargo());
    command.args(["run", "--quiet", "--locked", "--package", "cl-kernels"]);
    command.args(["--example", "specialisations", "--"]).arg(folder).args(files);
    if product {
        command.arg("--product");
    }
    let output = command.current_dir(root).output().context("starting cargo")?;
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
