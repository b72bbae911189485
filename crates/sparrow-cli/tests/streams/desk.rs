//! A folder with input files, in which the command runs.

use std::ffi::OsStr;
use std::fs;
use std::io::Write as _;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

/// 3 x 2 with row sums 3, 0, 3.
pub(crate) const MATRIX: &str =
    "%%MatrixMarket matrix coordinate real general\n3 2 3\n1 1 1\n1 2 2\n3 2 3\n";

/// A x of the folder's matrix and x.
pub(crate) const PRODUCT: &str = "%%MatrixMarket matrix array real general\n3 1\n21\n0\n30\n";

/// A raw timing of a device that does not exist, as `tune` writes them.
pub(crate) const TIMING: &str = r#"{"schema":"sparrow-tune/2","version":"0.1.0","device":"None","platform":"P","vendor":"V","architecture":"","type":"gpu","driver":"1","compute_units":8,"cache_bytes":1000000,"value_type":"f32","matrix":"rung:3:even:1000","rows":333,"nnz":1000,"longest_row":5,"in_step":1100,"changes":200,"algorithm":"csr_scalar","parameters":{"group_size":128},"reference":{"algorithm":"csr_scalar","parameters":{"group_size":64}},"outcome":"timed","samples_us":[1.0,1.1],"reference_us":[2.0,2.1],"setup_us":0.5}"#;

pub(crate) struct Desk(TempDir);

impl Desk {
    pub(crate) fn new() -> Self {
        let desk = Desk(tempfile::tempdir().unwrap());
        desk.put("a.mtx", MATRIX);
        desk.put("x.mtx", "%%MatrixMarket matrix array real general\n2 1\n1\n10\n");
        desk.put("y.mtx", "%%MatrixMarket matrix array real general\n3 1\n1\n2\n3\n");
        desk.put("raw.jsonl", TIMING);
        // What replaces files by others is run here by root too, and must find no device of the machine.
        for name in ["null", "full", "stdout"] {
            symlink(format!("/dev/{name}"), desk.path(name)).unwrap();
        }
        desk
    }

    pub(crate) fn path(&self, name: impl AsRef<OsStr>) -> PathBuf {
        self.0.path().join(name.as_ref())
    }

    pub(crate) fn put(&self, name: impl AsRef<OsStr>, content: impl AsRef<[u8]>) {
        fs::write(self.path(name), content).unwrap();
    }

    pub(crate) fn text(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    pub(crate) fn pipe(&self, name: &str) -> PathBuf {
        let path = self.path(name);
        assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
        path
    }

    pub(crate) fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.0.path()).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name());
        let mut names: Vec<_> = names.map(|name| name.to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    /// The command on the host, with arguments that have no spaces.
    pub(crate) fn command(&self, arguments: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_sparrow"));
        command.current_dir(self.0.path()).env_remove("SPARROW_LOG");
        command.env("SPARROW_DEVICE", "no device is to be looked for");
        command.args(["--device", "host"]).args(arguments.split_whitespace());
        command
    }

    pub(crate) fn run(&self, arguments: &str) -> Output {
        self.command(arguments).output().unwrap()
    }

    /// With text on standard input, which is a pipe.
    pub(crate) fn run_with(&self, arguments: &str, input: &str) -> Output {
        let mut command = self.command(arguments);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        // Who refuses does not read.
        let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
        child.wait_with_output().unwrap()
    }
}

pub(crate) fn words(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[track_caller]
pub(crate) fn assert_done(output: &Output) -> String {
    assert_eq!(output.status.code(), Some(0), "{}", words(&output.stderr));
    words(&output.stdout)
}

/// Refused as bad input with these words, and nothing else.
#[track_caller]
pub(crate) fn assert_refused(output: &Output, expected: &[&str]) {
    let stderr = words(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    for word in expected {
        assert!(stderr.contains(word), "\"{stderr}\" does not say \"{word}\"");
    }
    assert_eq!((stderr.lines().count(), words(&output.stdout)), (1, String::new()), "{stderr}");
}
