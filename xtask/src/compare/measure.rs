//! One matrix in one value type: written for all, timed by ours and theirs in turn, and verified.

use super::child::said;
use super::matrix::Matrix;
use super::programs::{Place, Programs};
use super::results::{Case, OURS, Timing};
use super::table::LeftOut;
use anyhow::{Context as _, Result, bail};
use serde::Deserialize;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What does not change from matrix to matrix.
pub(super) struct Bench<'a> {
    pub(super) programs: &'a Programs,
    /// Arguments of `sparrow bench` beside matrix, scale, seed and value type.
    pub(super) arguments: &'a [String],
    pub(super) variables: &'a [(String, String)],
    /// Where matrices and results go; emptied of them after each case.
    pub(super) folder: &'a Path,
    pub(super) seed: u64,
    pub(super) rounds: u32,
}

/// What the program that writes matrices says of one.
#[derive(Deserialize)]
struct Written {
    matrix: String,
    rows: u64,
    cols: u64,
    nnz: u64,
}

/// The part of a record of `sparrow bench` that is compared. Times are null where the result was wrong.
#[derive(Deserialize)]
struct Record {
    version: String,
    device: String,
    platform: String,
    algorithm: String,
    nnz: u64,
    median_us: Option<f64>,
    setup_us: Option<f64>,
    verified: bool,
    error_in_tolerance: Option<f64>,
}

/// What a peer prints for an algorithm.
#[derive(Deserialize)]
struct PeerLine {
    peer: String,
    version: String,
    device: String,
    algorithm: String,
    nnz: u64,
    median_us: f64,
    setup_us: f64,
    y: PathBuf,
}

/// What verifying one of its results says.
#[derive(Deserialize)]
struct Verdict {
    y: PathBuf,
    verified: bool,
    error_in_tolerance: Option<f64>,
}

impl Bench<'_> {
    /// Measures one case. A peer that fails is left out of it, and named.
    ///
    /// # Errors
    /// Ours failed, or the matrix cannot be had.
    pub(super) fn measure(
        &self,
        matrix: &Matrix,
        value_type: &str,
        left_out: &mut Vec<LeftOut>,
    ) -> Result<Case> {
        let scratch = tempfile::Builder::new().prefix("case-").tempdir_in(self.folder)?;
        let (a, x) = (scratch.path().join("a.x"), scratch.path().join("x.x"));
        let written = self.write(matrix, value_type, &a, &x)?;
        let mut case = Case {
            matrix: matrix.label(&written.matrix),
            rows: written.rows,
            cols: written.cols,
            nnz: written.nnz,
            value_type: value_type.to_owned(),
            timings: Vec::new(),
        };
        let mut failed = Vec::new();
        for _ in 0..self.rounds {
            let (ours, place) = self.ours(matrix, value_type, written.nnz)?;
            case.timings.extend(ours);
            for program in &self.programs.peers {
                if failed.contains(&program.peer) {
                    continue;
                }
                let command = program.command(&a, &x, scratch.path(), &place);
                match self.theirs(command, &a, &x, written.nnz) {
                    Ok(timings) => case.timings.extend(timings),
                    Err(error) => {
                        failed.push(program.peer);
                        let what =
                            format!("{} on {} {value_type}", program.peer.name(), case.matrix);
                        left_out.push(LeftOut { what, reason: format!("{error:#}") });
                    }
                }
            }
        }
        Ok(case)
    }

    fn write(&self, matrix: &Matrix, value_type: &str, a: &Path, x: &Path) -> Result<Written> {
        let mut command = Command::new(&self.programs.exchange);
        command.arg("write").args(matrix.arguments()).args(["--value-type", value_type]);
        command.args(["--seed", &self.seed.to_string()]);
        command.arg("--matrix").arg(a).arg("--x").arg(x);
        let text = said(&mut command).with_context(|| format!("writing {}", matrix.input))?;
        serde_json::from_str(&text).context("reading what was written")
    }

    /// What ours took, and the device on which.
    fn ours(&self, matrix: &Matrix, value_type: &str, nnz: u64) -> Result<(Vec<Timing>, Place)> {
        let mut command = Command::new(&self.programs.sparrow);
        command.arg("bench").args(matrix.arguments());
        command.args(["--value-type", value_type, "--measure", "--seed", &self.seed.to_string()]);
        command.args(self.arguments).args(["--json", "-"]).envs(self.variables.iter().cloned());
        let text = said(&mut command).with_context(|| format!("sparrow bench {}", matrix.input))?;
        let records = text.lines().map(serde_json::from_str::<Record>);
        let records = records.collect::<Result<Vec<_>, _>>().context("reading a record")?;
        let Some(first) = records.first() else {
            bail!("sparrow bench {} printed no record", matrix.input);
        };
        let (platform, device) = (first.platform.trim().to_owned(), first.device.trim().to_owned());
        let timings = records.into_iter().map(|record| record.into_timing(nnz));
        Ok((timings.collect::<Result<_>>()?, Place { platform, device }))
    }

    fn theirs(&self, mut command: Command, a: &Path, x: &Path, nnz: u64) -> Result<Vec<Timing>> {
        let text = said(&mut command)?;
        let lines = text.lines().map(|line| {
            serde_json::from_str::<PeerLine>(line).with_context(|| format!("no result: {line}"))
        });
        let lines = lines.collect::<Result<Vec<_>>>()?;
        if lines.is_empty() {
            bail!("it printed no result");
        }
        let mut verify = Command::new(&self.programs.exchange);
        verify.arg("verify").arg("--matrix").arg(a).arg("--x").arg(x);
        verify.args(lines.iter().map(|line| &line.y));
        let verdicts = said(&mut verify).context("verifying")?;
        let verdicts = verdicts.lines().map(serde_json::from_str::<Verdict>);
        let mut verdicts = verdicts
            .map(|verdict| verdict.map(|verdict| (verdict.y.clone(), verdict)))
            .collect::<Result<HashMap<_, _>, _>>()?;
        let timing = |line: PeerLine| {
            let verdict = verdicts.remove(&line.y).context("a result was not verified")?;
            line.into_timing(nnz, &verdict)
        };
        lines.into_iter().map(timing).collect()
    }
}

impl Record {
    fn into_timing(self, nnz: u64) -> Result<Timing> {
        let Record { algorithm, median_us, setup_us, error_in_tolerance, .. } = self;
        if self.nnz != nnz {
            bail!("sparrow bench timed {} nonzeros, the others {nnz}", self.nnz);
        }
        let is_timed = median_us.is_some() && setup_us.is_some();
        Ok(Timing {
            program: OURS.to_owned(),
            version: self.version,
            device: format!("{} on {}", self.device.trim(), self.platform.trim()),
            algorithm,
            median_us: median_us.unwrap_or_default(),
            setup_us: setup_us.unwrap_or_default(),
            verified: self.verified && is_timed,
            error_in_tolerance,
        })
    }
}

impl PeerLine {
    fn into_timing(self, nnz: u64, verdict: &Verdict) -> Result<Timing> {
        if self.nnz != nnz {
            bail!("{} timed {} nonzeros where {nnz} were written", self.peer, self.nnz);
        }
        Ok(Timing {
            program: self.peer,
            version: self.version,
            device: self.device,
            algorithm: self.algorithm,
            median_us: self.median_us,
            setup_us: self.setup_us,
            verified: verdict.verified,
            error_in_tolerance: verdict.error_in_tolerance,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_without_times_is_a_result_that_does_not_count() {
        let line = r#"{"version": "0.1.0", "device": "cpu", "platform": "PoCL", "algorithm": "sell",
            "nnz": 7, "median_us": null, "setup_us": null, "verified": false,
            "error_in_tolerance": null, "more": 1}"#;
        let record: Record = serde_json::from_str(line).unwrap();
        let timing = record.into_timing(7).unwrap();
        assert_eq!((timing.program.as_str(), timing.verified), (OURS, false));
        assert_eq!(timing.device, "cpu on PoCL");
    }

    #[test]
    fn a_peer_that_timed_another_matrix_is_refused() {
        let line = r#"{"schema": "sparrow-peer/1", "peer": "MKL", "version": "1", "device": "d",
            "algorithm": "plain", "nnz": 8, "median_us": 1.5, "setup_us": 2.5, "y": "y"}"#;
        let verdict = Verdict { y: "y".into(), verified: true, error_in_tolerance: Some(0.5) };
        let read = || serde_json::from_str::<PeerLine>(line).unwrap();
        assert!(read().into_timing(8, &verdict).unwrap().verified);
        let error = read().into_timing(7, &verdict).unwrap_err().to_string();
        assert_eq!(error, "MKL timed 8 nonzeros where 7 were written");
    }
}
