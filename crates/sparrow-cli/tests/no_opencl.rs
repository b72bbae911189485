//! Without OpenCL, or without a device, the command starts, says so and what to type, and never runs on
//! the host unasked.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test panics when its claim is broken")]

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

const MATRIX: &str = "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 2\n";

/// Variables under which no OpenCL library can be opened: where the loader looks first lies a file that
/// is none.
fn without_library(command: &mut Command, folder: &Path) {
    fs::write(folder.join("libOpenCL.so.1"), "").unwrap();
    command.env("OPENCL_DYLIB_PATH", folder.join("nothing.so")).env("LD_LIBRARY_PATH", folder);
}

/// Variables under which the ICD loader, where there is one, finds no implementation.
fn without_devices(command: &mut Command, folder: &Path) {
    let vendors = folder.join("vendors");
    fs::create_dir_all(&vendors).unwrap();
    for name in ["OCL_ICD_VENDORS", "OPENCL_VENDOR_PATH"] {
        command.env(name, &vendors);
    }
    for name in ["OCL_ICD_FILENAMES", "OPENCL_DYLIB_PATH"] {
        command.env_remove(name);
    }
}

fn run(arguments: &[&str], without: fn(&mut Command, &Path)) -> (Output, Vec<String>) {
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_sparrow"));
    command.current_dir(folder.path()).env_remove("SPARROW_DEVICE").env_remove("SPARROW_LOG");
    fs::write(folder.path().join("a.mtx"), MATRIX).unwrap();
    without(&mut command, folder.path());
    let names = || {
        let entries = fs::read_dir(folder.path()).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names.collect::<Vec<_>>()
    };
    let before = names();
    let output = command.args(arguments).output().unwrap();
    let new = names().into_iter().filter(|name| !before.contains(name)).collect();
    (output, new)
}

const COMMANDS: [&[&str]; 5] = [
    &["devices"],
    &["spmv", "a.mtx", "--out", "y.mtx", "--json", "y.json"],
    &["bench", "a.mtx", "--json", "b.json", "--html", "b.html"],
    &["info", "a.mtx", "--explain"],
    &["spmv", "a.mtx", "--device", "no such device"],
];

#[track_caller]
fn assert_says_what_to_type(
    arguments: &[&str],
    (output, new): (Output, Vec<String>),
    why: &[&str],
) {
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{arguments:?}: {stderr}");
    assert!(why.iter().any(|why| stderr.contains(why)), "{arguments:?}: {stderr}");
    for hint in ["with spmv, bench spmv and solve: --device host", "cargo xtask provide"] {
        assert!(stderr.contains(hint), "{arguments:?}: {stderr}");
    }
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "", "{arguments:?}");
    assert_eq!(new, Vec::<String>::new(), "{arguments:?} wrote something");
}

#[test]
fn without_a_library_the_command_says_so_and_what_to_type() {
    for arguments in COMMANDS {
        let ran = run(arguments, without_library);
        assert_says_what_to_type(arguments, ran, &["no OpenCL on this machine: libOpenCL.so.1"]);
    }
}

#[test]
fn without_a_device_the_command_says_so_and_what_to_type() {
    for arguments in COMMANDS {
        let ran = run(arguments, without_devices);
        // A machine without a loader is one without a library.
        let why = ["OpenCL is installed, but it lists no device", "no OpenCL on this machine"];
        assert_says_what_to_type(arguments, ran, &why);
    }
}

#[test]
fn what_needs_no_device_works_without_opencl() {
    let lines: [&[&str]; 5] = [
        &["--help"],
        &["--version"],
        &["info", "a.mtx"],
        &["gen", "poisson5", "--scale", "0.001", "--out", "p.mtx"],
        &["spmv", "a.mtx", "--device", "host"],
    ];
    for arguments in lines {
        let (output, _) = run(arguments, without_library);
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(0), "{arguments:?}: {stderr}");
    }
}
