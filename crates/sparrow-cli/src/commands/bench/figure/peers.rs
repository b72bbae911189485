//! `--peers`: other libraries' results, which a program of their own has written, next to a figure's.

use std::fs;
use std::path::{Path, PathBuf};

use sparrow::{Device, DeviceType};
use sparrow_bench::Record;
use sparrow_bench::figures::{PaperFigure, PeerProduct, Peers};

use super::Results;
use crate::arguments::{BenchFigure, GeneratorOptions};
use crate::failure::Failure;
use crate::output::{note, shown};

/// Results that stand next to ours; none where no file is named.
pub(super) struct WithPeers(Option<(PathBuf, Peers)>);

/// Refuses them for a sweep, which times points of its own.
///
/// # Errors
/// A file is named.
pub(in crate::commands::bench) fn check_sweep(arguments: &BenchFigure) -> Result<(), Failure> {
    match &arguments.peers {
        None => Ok(()),
        Some(path) => Err(Failure::input(format!(
            "--peers {}: {} is a sweep over hyper-parameters of ours: leave it out",
            shown(path),
            arguments.figure
        ))),
    }
}

impl WithPeers {
    /// Reads the file that is named, and says how matrices are made then: as its own were.
    ///
    /// # Errors
    /// The file cannot be read, is not of this figure, or of other matrices than are asked for.
    pub(super) fn read(
        arguments: &BenchFigure,
        figure: &PaperFigure,
    ) -> Result<(GeneratorOptions, Self), Failure> {
        let asked = arguments.generator();
        let Some(path) = &arguments.peers else { return Ok((asked, WithPeers(None))) };
        let refuse = |why: String| Failure::input(format!("--peers {}: {why}", shown(path)));
        let text = fs::read_to_string(path).map_err(|error| refuse(error.to_string()))?;
        let peers = Peers::parse(&text, figure).map_err(|error| refuse(error.to_string()))?;
        let sparrow_bench::GeneratorOptions { scale, seed } = peers.generator;
        match (asked.scale, asked.seed) {
            (Some(own), _) if own != scale => Err(refuse(format!(
                "its matrices are at scale {scale}, not at {own}: leave --scale out"
            ))),
            (_, Some(own)) if own != seed => Err(refuse(format!(
                "its matrices are of the seed {seed}, not of {own}: leave --seed out"
            ))),
            _ => {
                let generator = GeneratorOptions { scale: Some(scale), seed: Some(seed) };
                Ok((generator, WithPeers(Some((path.clone(), peers)))))
            }
        }
    }

    /// Those of the matrices that are drawn. Wrong ones, and matrices of which there are none, are named and left out;
    /// where theirs are of the host's cores and ours are not, that is noted.
    ///
    /// # Errors
    /// The file has none of any of these matrices, or was measured on another GPU.
    pub(super) fn of(
        self,
        names: &[String],
        device: &Device,
        results: &Results,
    ) -> Result<Vec<Record>, Failure> {
        let WithPeers(Some((path, peers))) = self else { return Ok(Vec::new()) };
        let own = device.traits().name.as_str();
        let records = judged(peers, names, own).map_err(|why| named(&path, &why))?;
        if let Some(words) = other_kind(&records, own, device.traits().device_type) {
            note(format_args!("{}: {words}", shown(&path)));
        }
        for one in records.iter().filter(|record| !record.verified) {
            let Record { matrix, algorithm, value_type, .. } = one;
            results.leave_out(format!(
                "{matrix}, {algorithm}, {value_type}: left out, its result is wrong in {}",
                shown(&path)
            ));
        }
        let has_none = |name: &&String| !records.iter().any(|record| record.matrix == **name);
        for name in names.iter().filter(has_none) {
            results.leave_out(format!("{name}: {} has no results of it", shown(&path)));
        }
        Ok(records.into_iter().filter(|record| record.verified).collect())
    }
}

/// Adds results, each at the first of the `jobs` that its matrix has in what is measured of `names`.
///
/// # Errors
/// As [`Results::push`].
pub(super) fn push(
    records: Vec<Record>,
    names: &[String],
    jobs: usize,
    results: &Results,
) -> Result<(), Failure> {
    records.into_iter().try_for_each(|record| {
        let index = names.iter().position(|name| *name == record.matrix).unwrap_or(0);
        results.set_index(index * jobs);
        results.push(record)
    })
}

fn named(path: &Path, why: &str) -> Failure {
    Failure::input(format!("--peers {}: {why}", shown(path)))
}

/// The results of these matrices, if they can be compared with those of a device.
fn judged(peers: Peers, names: &[String], device: &str) -> Result<Vec<Record>, String> {
    // MKL's device is the host, which OpenCL's CPU devices call by other names.
    let is_gpu = |record: &&Record| record.driver.starts_with("CUDA");
    let stranger = peers.records.iter().filter(is_gpu).find(|record| record.device != device);
    if let Some(Record { device: other, .. }) = stranger {
        return Err(format!("its results are of {other}, and this figure is drawn on {device}"));
    }
    let records = peers.records.into_iter().filter(|record| names.contains(&record.matrix));
    let records: Vec<_> = records.collect();
    match records.is_empty() {
        true => Err(format!("it has no results of {}", names.join(", "))),
        false => Ok(records),
    }
}

/// Says that results are of the host's cores where ours are of no CPU: papers compare the two, but it is told.
fn other_kind(records: &[Record], device: &str, kind: DeviceType) -> Option<String> {
    let is_on_host = |record: &&Record| PeerProduct::of(record).is_some_and(|of| of.is_on_host());
    let one = records.iter().find(is_on_host).filter(|_| kind != DeviceType::Cpu)?;
    let Record { platform, device: other, .. } = one;
    Some(format!(
        "{platform} ran on a CPU ({other}), and this figure is drawn on {device}, which is none"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A result as a line of a file has it.
    fn record(algorithm: &str) -> Record {
        let line = r#"{"schema":"sparrow-bench/1","version":"0.1.0","matrix":"a","source":"file","rows":2,"cols":8,"nnz":16,"op":"spmm","algorithm":"ALGORITHM","variant":"","params":"","kernel_key":"","value_type":"f32","offset_type":"u32","accumulate":"plain","device":"2 threads","platform":"MKL 2026.2","driver":"","seed":1,"scale":null,"stream_gbytes_per_s":null,"copy_gbytes_per_s":null,"cache":"hot","median_us":5.0,"min_us":5.0,"p95_us":5.0,"runs":9,"gflops":0.4,"gbytes_per_s":1.0,"limit_us":null,"limit_fraction":null,"setup_us":9.0,"setup_in_products":1.8,"plan_bytes":0,"repeatable":false,"verified":true,"error_in_tolerance":0.1,"non_finite":0,"columns":64,"layout_b":"row","layout_c":"row","chosen":"plain","mean_inode":1.0,"single_us":null}"#;
        serde_json::from_str(&line.replace("ALGORITHM", algorithm)).unwrap()
    }

    #[test]
    fn results_of_the_hosts_cores_are_told_where_ours_are_of_no_cpu() {
        let of = |algorithm, kind| other_kind(&[record(algorithm)], "A card", kind);
        let told = "MKL 2026.2 ran on a CPU (2 threads), and this figure is drawn on A card, which is none";
        assert_eq!(of("mkl_spmm", DeviceType::Gpu).as_deref(), Some(told));
        assert_eq!(of("mkl_spmm", DeviceType::Cpu), None);
        assert_eq!(of("cusparse_spmm", DeviceType::Gpu), None);
    }
}
