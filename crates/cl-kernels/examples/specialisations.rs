//! Names every specialisation that ships, for compilers outside: writes each kernel's source, with its
//! includes resolved, into a folder, and prints one line a specialisation: the kernel's path below `cl/`,
//! the key, the compiler's options; between them a tab.
//!
//! Table entries for NVIDIA's devices are left out, whose driver alone compiles for them, and those for CPUs, on which
//! the tests run everything.
//!
//! cargo run -p cl-kernels --example specialisations -- FOLDER [--product] [TABLE.toml]...

#![expect(clippy::print_stdout, reason = "a program prints")]

use std::collections::BTreeSet;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::{env, fs};

use cl_kernels::{
    DeviceTable, DeviceType, Extent, kernel_source, parse_device_table, specialisations,
};

const NVIDIA: &str = "NVIDIA Corporation";

fn main() -> Result<(), Box<dyn Error>> {
    let (options, mut paths): (Vec<String>, Vec<String>) =
        env::args().skip(1).partition(|argument| argument.starts_with("--"));
    let extent = match options.as_slice() {
        [] => Extent::Cover,
        [option] if option == "--product" => Extent::Product,
        _ => return Err(format!("{}: the only option is --product", options.join(" ")).into()),
    };
    if paths.is_empty() {
        return Err("say which folder the sources go to".into());
    }
    let folder = PathBuf::from(paths.remove(0));
    let tables: Vec<DeviceTable> = paths
        .iter()
        .map(|path| -> Result<_, Box<dyn Error>> {
            let text = fs::read_to_string(path).map_err(|error| format!("{path}: {error}"))?;
            let (mut table, problems) = parse_device_table(Path::new(path), &text);
            if let Some(problem) = problems.first() {
                return Err(problem.to_string().into());
            }
            table.devices.retain(|entry| {
                let is_cpu = entry.device_type == Some(DeviceType::Cpu);
                !is_cpu && entry.vendor.as_deref() != Some(NVIDIA)
            });
            Ok(table)
        })
        .collect::<Result<_, _>>()?;

    let keys = specialisations(&tables, extent)?;
    for source in keys.iter().map(|key| key.source).collect::<BTreeSet<_>>() {
        let file = folder.join(source);
        fs::create_dir_all(file.parent().unwrap_or(Path::new(".")))?;
        fs::write(file, kernel_source(source)?)?;
    }
    for key in &keys {
        println!("{}\t{key}\t{}", key.source, key.build_options());
    }
    Ok(())
}
