//! The programs that time products: ours, and those of others that this machine has.

use super::child::said;
use super::table::LeftOut;
use crate::provide::{self, Options, linking, peers};
use crate::{project, sparrow};
use anyhow::{Context as _, Result, bail};
use clap::ValueEnum;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Whose library Sparrow is compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Peer {
    /// Intel's MKL, on the CPU
    Mkl,
    /// ViennaCL, on the same OpenCL device
    Viennacl,
    /// NVIDIA's cuSPARSE, on its GPU
    Cusparse,
}

impl Peer {
    pub(super) const ALL: [Peer; 3] = [Peer::Mkl, Peer::Viennacl, Peer::Cusparse];

    /// As results spell it.
    pub(super) fn name(self) -> &'static str {
        match self {
            Peer::Mkl => "MKL",
            Peer::Viennacl => "ViennaCL",
            Peer::Cusparse => "cuSPARSE",
        }
    }
}

/// An OpenCL device by its names.
pub(super) struct Place {
    pub(super) platform: String,
    pub(super) device: String,
}

/// A program that times y = A x by another library, and prints a line of JSON for each of its algorithms.
pub(super) struct Program {
    pub(super) peer: Peer,
    path: PathBuf,
    /// What comes before `--matrix`.
    first: Vec<OsString>,
    variables: Vec<(String, String)>,
}

impl Program {
    /// The command that times one matrix; `place` is where ours ran.
    pub(super) fn command(&self, matrix: &Path, x: &Path, out: &Path, place: &Place) -> Command {
        let mut command = Command::new(&self.path);
        command.args(&self.first).envs(self.variables.iter().cloned());
        command.arg("--matrix").arg(matrix).arg("--x").arg(x).arg("--out").arg(out);
        if self.peer == Peer::Viennacl {
            command.args(["--platform", &place.platform, "--device", &place.device]);
        }
        command
    }
}

/// All of them, built.
pub(super) struct Programs {
    /// The `sparrow` command.
    pub(super) sparrow: PathBuf,
    /// `benches/peers`, which writes matrices and verifies results too.
    pub(super) exchange: PathBuf,
    pub(super) peers: Vec<Program>,
}

/// Builds ours and gets the others; what cannot be had is named with the reason.
///
/// # Errors
/// What is ours does not build.
pub(super) fn build(
    wanted: &[Peer],
    variables: &[(String, String)],
    folder: &Path,
    options: &Options,
) -> Result<(Programs, Vec<LeftOut>)> {
    let sparrow = sparrow::build()?;
    let exchange = build_exchange()?;
    let (mut peers, mut left_out) = (Vec::new(), Vec::new());
    for &peer in wanted {
        let program = match peer {
            Peer::Viennacl => viennacl(variables, folder, options),
            Peer::Mkl => provide::peers::mkl(options).and_then(|libraries| {
                let libraries = libraries.to_str().context("a folder that is no UTF-8")?;
                opened(peer, "mkl", &exchange, vec![linker_path(libraries)])
            }),
            Peer::Cusparse => opened(peer, "cusparse", &exchange, Vec::new()),
        };
        match program {
            Ok(program) => peers.push(program),
            Err(error) => left_out
                .push(LeftOut { what: peer.name().to_owned(), reason: format!("{error:#}") }),
        }
    }
    Ok((Programs { sparrow, exchange, peers }, left_out))
}

/// `LD_LIBRARY_PATH` with a folder before what it holds already.
pub(crate) fn linker_path(folder: &str) -> (String, String) {
    const PATH: &str = "LD_LIBRARY_PATH";
    let others = std::env::var(PATH).unwrap_or_default();
    let path = if others.is_empty() { folder.to_owned() } else { format!("{folder}:{others}") };
    (PATH.to_owned(), path)
}

/// Builds `benches/peers`, a workspace of its own, where the stage `clippy` compiles it too.
pub(crate) fn build_exchange() -> Result<PathBuf> {
    let target = project::target()?.join("peers");
    let built = Command::new(project::cargo())
        .args(["build", "--quiet", "--release", "--locked"])
        .args(["--manifest-path", "benches/peers/Cargo.toml", "--target-dir"])
        .arg(&target)
        .current_dir(project::root()?)
        .status()
        .context("starting cargo")?;
    if !built.success() {
        bail!("building benches/peers failed");
    }
    Ok(target.join("release/sparrow-peers"))
}

/// A library that `benches/peers` opens, if it can here.
fn opened(
    peer: Peer,
    word: &str,
    program: &Path,
    variables: Vec<(String, String)>,
) -> Result<Program> {
    let mut probe = Command::new(program);
    said(probe.args(["probe", word]).envs(variables.iter().cloned()))?;
    let first = vec!["spmv".into(), word.into()];
    Ok(Program { peer, path: program.to_owned(), first, variables })
}

/// Compiles the program of `benches/peers/viennacl`.
fn viennacl(variables: &[(String, String)], folder: &Path, options: &Options) -> Result<Program> {
    let compiler = project::find_program("c++").context("c++ is not on PATH; install g++")?;
    let headers = [peers::viennacl(options)?, linking::headers(options)?];
    let loader = linking::loader(&folder.join("loader"), variables)?;
    let path = folder.join("viennacl");
    let mut compile = Command::new(compiler);
    compile.args(["-std=c++17", "-O2", "-DNDEBUG", "-DCL_TARGET_OPENCL_VERSION=120", "-Wall"]);
    for headers in headers.iter().flatten() {
        compile.arg("-isystem").arg(headers);
    }
    compile.arg(project::root()?.join("benches/peers/viennacl/main.cpp"));
    compile.arg("-L").arg(loader).args(["-lOpenCL", "-o"]).arg(&path);
    said(&mut compile)?;
    let variables = variables.to_vec();
    Ok(Program { peer: Peer::Viennacl, path, first: Vec::new(), variables })
}
