//! cuSPARSE's SpMM, or with --spgemm its SpGEMM, beside Sparrow's, on the same matrices in the same process. It is judged by
//! its best algorithm after its preprocess; every element of its result is verified, as Sparrow's are.

use std::fs::File;
use std::io::Write as _;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use csr_core::generate::Suite;
use csr_core::verify::verify_dense;
use csr_core::{Csr, DenseShape, Layout, ValueType};
use sparrow::{Context, Queue, Rates, SpmmAlgorithm, SpmmVariant};
use sparrow_bench::{
    Budget, GeneratorOptions, Input, Look, Origin, Record, SpmmResults, SpmmSubject, json_lines,
    measure_spmm, table,
};

use crate::cusparse::{CuSparse, PeerTime};
use crate::mkl::MklValue;
use crate::spgemm;
use crate::timed::Timed;

/// Less than the command takes: there are many cases, and these kernels take long enough.
pub const BUDGET: Budget = Budget {
    min_samples: 5,
    max_samples: 15,
    time: Duration::from_millis(120),
    sample: Duration::from_millis(4),
};

/// What is compared, and on what.
#[derive(clap::Args)]
pub struct Arguments {
    /// .mtx or .mtx.gz files, or classes; without any, the suite
    matrices: Vec<String>,
    #[arg(long, default_value = "papers")]
    suite: Suite,
    #[arg(long, default_value = "32,64", value_delimiter = ',')]
    columns: Vec<usize>,
    /// Products of square matrices with themselves instead, by cuSPARSE's SpGEMM: allocations and waits included
    #[arg(long)]
    spgemm: bool,
    #[arg(long, default_value = "f32,f64", value_delimiter = ',')]
    value_type: Vec<ValueType>,
    /// Also time the two algorithms, not the choice alone
    #[arg(long)]
    all: bool,
    #[arg(long, default_value = "NVIDIA")]
    device: String,
    #[arg(long)]
    json: Option<PathBuf>,
}

struct Compared {
    peer: PeerTime,
    ours: Option<f64>,
    matrix: String,
    value_type: ValueType,
    columns: usize,
    is_verified: bool,
}

/// Times both, prints a line a case and geometric means.
pub fn run(arguments: &Arguments) -> Result<()> {
    let peer = CuSparse::open()?;
    let queue = Queue::new(&Context::new(&sparrow::find_device(&arguments.device)?)?)?;
    let rates = Rates::measure_blocking(&queue)?;
    let named = arguments.matrices.iter().map(Input::parse);
    let mut inputs = named.collect::<csr_core::Result<Vec<_>>>()?;
    if inputs.is_empty() {
        inputs.extend(arguments.suite.classes().into_iter().map(Input::Class));
    }
    if arguments.spgemm {
        return square(arguments, &peer, &queue, &rates, &inputs);
    }
    let (mut records, mut compared) = (Vec::new(), Vec::new());
    println!("cuSPARSE {}; times in us; times as fast as its best algorithm", peer.version);
    for input in &inputs {
        let generator = GeneratorOptions { scale: 1.0, seed: csr_core::generate::DEFAULT_SEED };
        let matrix: Csr<f64, u32> = input.load(generator, &|_, _| {})?.with_u32_offsets()?;
        let origin = Origin { name: input.name(), source: input.source(), generator };
        let bench = Bench { arguments, peer: &peer, queue: &queue, rates: &rates, origin };
        for value_type in &arguments.value_type {
            match value_type {
                ValueType::F64 => bench.compare(&matrix, &mut records, &mut compared)?,
                ValueType::F32 => {
                    bench.compare(&matrix.narrowed::<f32>()?, &mut records, &mut compared)?;
                }
                other => bail!("{other} is not compared: --value-type takes f32 and f64"),
            }
        }
    }
    for value_type in &arguments.value_type {
        for columns in &arguments.columns {
            let of = compared
                .iter()
                .filter(|one| (one.value_type, one.columns) == (*value_type, *columns));
            let ratios: Vec<f64> =
                of.filter_map(|one| Some(one.peer.median_us / one.ours?)).collect();
            let mean =
                (ratios.iter().map(|ratio| ratio.ln()).sum::<f64>() / ratios.len() as f64).exp();
            let least = ratios.iter().copied().fold(f64::INFINITY, f64::min);
            println!(
                "{value_type}, {columns} columns: {mean:.2} in the geometric mean of {}, {least:.2} at least",
                ratios.len()
            );
        }
    }
    if arguments.all {
        print!("{}", table(&records, Look::default()));
    }
    if let Some(path) = &arguments.json {
        let mut file = File::create(path).with_context(|| path.display().to_string())?;
        file.write_all(json_lines(&records)?.as_bytes())?;
        for one in &compared {
            let line = serde_json::json!({
                "schema": "sparrow-peers/1", "op": "spmm", "peer": format!("cuSPARSE {}", peer.version),
                "matrix": one.matrix, "value_type": one.value_type.name(), "columns": one.columns,
                "algorithm": one.peer.algorithm, "median_us": one.peer.median_us,
                "setup_us": one.peer.setup_us, "sparrow_us": one.ours, "verified": one.is_verified,
            });
            writeln!(file, "{line}")?;
        }
    }
    Ok(())
}

/// C = A A of every square matrix.
fn square(
    arguments: &Arguments,
    peer: &CuSparse,
    queue: &Queue,
    rates: &Rates,
    inputs: &[Input],
) -> Result<()> {
    println!("cuSPARSE {}; times in us; times as fast as its best algorithm", peer.version);
    let (mut compared, mut records) = (Vec::new(), Vec::new());
    for input in inputs {
        let generator = GeneratorOptions { scale: 1.0, seed: csr_core::generate::DEFAULT_SEED };
        let matrix: Csr<f64, u32> = input.load(generator, &|_, _| {})?.with_u32_offsets()?;
        let origin = Origin { name: input.name(), source: input.source(), generator };
        for value_type in &arguments.value_type {
            let both = match value_type {
                ValueType::F64 => spgemm::compare(peer, queue, &matrix, &origin, rates, &BUDGET)?,
                ValueType::F32 => {
                    let matrix = matrix.narrowed::<f32>()?;
                    spgemm::compare(peer, queue, &matrix, &origin, rates, &BUDGET)?
                }
                other => bail!("{other} is not compared: --value-type takes f32 and f64"),
            };
            if let Some((one, record)) = both {
                compared.push(one);
                records.push(record);
            }
        }
    }
    for value_type in &arguments.value_type {
        let of = compared.iter().filter(|one| one.value_type == *value_type);
        let ratios: Vec<f64> = of.filter_map(|one| Some(one.peer.median_us / one.ours?)).collect();
        let mean = (ratios.iter().map(|ratio| ratio.ln()).sum::<f64>() / ratios.len() as f64).exp();
        println!("{value_type}: {mean:.2} in the geometric mean of {}", ratios.len());
    }
    if let Some(path) = &arguments.json {
        let mut file = File::create(path).with_context(|| path.display().to_string())?;
        file.write_all(json_lines(&records)?.as_bytes())?;
        for one in &compared {
            let line = serde_json::json!({
                "schema": "sparrow-peers/1", "op": "spgemm", "peer": format!("cuSPARSE {}", peer.version),
                "matrix": one.matrix, "value_type": one.value_type.name(),
                "algorithm": one.peer.algorithm, "median_us": one.peer.median_us,
                "sparrow_us": one.ours, "same_nnz": one.agrees,
            });
            writeln!(file, "{line}")?;
        }
    }
    Ok(())
}

struct Bench<'a> {
    arguments: &'a Arguments,
    peer: &'a CuSparse,
    queue: &'a Queue,
    rates: &'a Rates,
    origin: Origin,
}

impl Bench<'_> {
    fn compare<T: MklValue>(
        &self,
        matrix: &Csr<T, u32>,
        records: &mut Vec<Record>,
        compared: &mut Vec<Compared>,
    ) -> Result<()> {
        let mut algorithms = vec![(None, SpmmVariant::Default)];
        if self.arguments.all {
            algorithms.extend(SpmmAlgorithm::ALL.map(|one| (Some(one), SpmmVariant::Default)));
        }
        for &columns in &self.arguments.columns {
            let subject = SpmmSubject {
                algorithms: algorithms.clone(),
                columns,
                layout_b: Layout::RowMajor,
                layout_c: Layout::RowMajor,
                parameters: Vec::new(),
                with_dense: false,
                with_vector: false,
                budget: BUDGET,
            };
            let shape = DenseShape::packed(matrix.cols(), columns, Layout::RowMajor)?;
            let b: Vec<T> = csr_core::random_vector(self.origin.generator.seed, shape.span());
            let times = self.peer.spmm(matrix, &b, columns, &subject.budget)?;
            let median_us = |one: &Timed<T>| one.samples.median_us();
            let fastest = times.into_iter().min_by(|a, b| median_us(a).total_cmp(&median_us(b)));
            let fastest = fastest.context("cuSPARSE has no algorithm")?;
            let (algorithm, setup_us) = (fastest.algorithm, fastest.setup_us);
            let best = PeerTime { algorithm, median_us: median_us(&fastest), setup_us };
            let c_shape = DenseShape::packed(matrix.rows(), columns, Layout::RowMajor)?;
            let (b, c) = (T::erased(b), T::erased(fastest.y));
            let found = verify_dense(matrix.view().into(), (&b, &shape), (&[&c], &c_shape))?;
            let is_verified = found.iter().all(|its| its.passed());
            let SpmmResults { records: ours, refused } =
                measure_spmm(self.queue, matrix.view().into(), &self.origin, &subject, self.rates)?;
            for (name, why) in refused {
                eprintln!("{}: {name} is left out: {why}", self.origin.name);
            }
            let (choice, others) = ours.split_first().context("Sparrow refuses the product")?;
            let time = choice.median_us;
            println!(
                "{:<22} {} {:>4} columns: cuSPARSE {:>9.1} ({}{}), Sparrow {:>9.1} ({}), {:.2}",
                self.origin.name,
                T::TYPE,
                columns,
                best.median_us,
                best.algorithm,
                if is_verified { "" } else { ", WRONG" },
                time.unwrap_or(f64::NAN),
                choice.spmm().map_or("", |spmm| spmm.chosen.as_str()),
                best.median_us / time.unwrap_or(f64::NAN),
            );
            for one in others {
                println!("  {:<16} {:>9.1}", one.algorithm, one.median_us.unwrap_or(f64::NAN));
            }
            compared.push(Compared {
                peer: best,
                ours: time,
                matrix: self.origin.name.clone(),
                value_type: T::TYPE,
                columns,
                is_verified,
            });
            records.extend(ours);
        }
        Ok(())
    }
}
