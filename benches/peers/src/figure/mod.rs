//! A paper's figure by another library: the figure's own matrices, each result verified, and a file that
//! `sparrow bench figure --peers` draws beside ours.
//!
//! `libraries` opens what a figure needs, `products` and `batch` measure a matrix and a batch, `clock` ends a run in its budget.

mod batch;
mod clock;
mod libraries;
mod products;

use std::fs::File;
use std::io::Write as _;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context as _, Result, bail, ensure};
use csr_core::ValueType;
use csr_core::generate::{DEFAULT_SEED, SmallProblem};
use sparrow_bench::figures::{
    BatchCase, Batches, Cases, Made, Measured, PaperFigure, PeersHeader, Work, batch_sizes,
    density_batches, spread,
};
use sparrow_bench::{GeneratorOptions, Input, Origin, Record};

use clock::{Clock, span};
use libraries::{Libraries, Peer};

#[derive(clap::Args)]
pub struct Arguments {
    /// Which figure: of SpMM or, by cuSPARSE, of batches, or one of products with a vector that shows the library's
    figure: String,
    /// Matrices instead of the figure's own
    matrices: Vec<String>,
    /// Whose library
    #[arg(long, value_enum, default_value = "cusparse")]
    peer: Peer,
    /// Multiplies the rows of generated matrices, and the problems of a batch; as the budget allows if left out
    #[arg(long)]
    scale: Option<f64>,
    #[arg(long, default_value_t = DEFAULT_SEED)]
    seed: u64,
    /// How long it may take: 90s, 4m, 1h. What does not fit is left out and named
    #[arg(long, default_value = "4m", value_parser = span)]
    budget: Duration,
    /// Types of A's values, f32 and f64, several with commas; the figure's if left out
    #[arg(long, value_delimiter = ',')]
    value_type: Vec<ValueType>,
    /// Where the results go, a line of JSON each
    #[arg(long)]
    json: PathBuf,
}

/// What is measured one after the other.
enum Case {
    /// A file or a class.
    Input(Input),
    /// A matrix that is made for the figure.
    Made(Made),
    /// A batch of so many problems.
    Batch(BatchCase, usize),
}

/// Measures, and writes each result as it comes.
pub fn run(arguments: &Arguments) -> Result<()> {
    let figure = figure(&arguments.figure, arguments.peer)?;
    let types = match &arguments.value_type[..] {
        [] => figure.value_types.to_vec(),
        types => types.to_vec(),
    };
    if let Some(other) = types.iter().find(|one| !matches!(one, ValueType::F32 | ValueType::F64)) {
        bail!("{other} is not compared: --value-type takes f32 and f64");
    }
    let libraries = Libraries::open(arguments.peer, figure)?;
    let asked = GeneratorOptions { scale: arguments.scale.unwrap_or(1.0), seed: arguments.seed };
    ensure!(asked.scale > 0.0 && asked.scale.is_finite(), "--scale {} is no scale", asked.scale);
    let works = |cases: &[Case], scale: f64| -> Vec<Work> {
        let work = |(index, case): (usize, &Case)| {
            let work = figure.measured.work(case.nnz(scale), types.len(), index == 0);
            Work { is_fixed: !case.is_scaled(), programs: 0, ..work }
        };
        cases.iter().enumerate().map(work).collect()
    };
    let mut clock = Clock::new(arguments.budget, arguments.peer == Peer::Cusparse);
    let scale = match arguments.scale {
        Some(scale) => scale,
        None => clock.scale(|scale| {
            let generator = GeneratorOptions { scale, ..asked };
            works(&cases(figure, &arguments.matrices, generator).unwrap_or_default(), scale)
        }),
    };
    let generator = GeneratorOptions { scale, ..asked };
    let all = cases(figure, &arguments.matrices, generator)?;
    let path = &arguments.json;
    let mut file = File::create(path).with_context(|| path.display().to_string())?;
    writeln!(file, "{}", serde_json::to_string(&PeersHeader::of(figure, generator))?)?;
    let (count, mut written) = (all.len(), 0);
    let works = works(&all, scale);
    for (done, index) in spread(count).into_iter().enumerate() {
        let (case, work) = (&all[index], &works[index]);
        let name = case.name();
        if !clock.has_time(work) {
            eprintln!("{name}: left out, it does not fit into --budget: raise it, or ask for less");
            continue;
        }
        eprintln!("{} of {count}: {name}", done + 1);
        match case.measure(figure, generator, &types, &libraries) {
            Ok(records) => {
                for record in &records {
                    say(record);
                    writeln!(file, "{}", serde_json::to_string(record)?)?;
                }
                written += records.len();
            }
            Err(error) => eprintln!("{name}: left out: {error:#}"),
        }
        clock.done(work);
    }
    ensure!(written > 0, "nothing was measured");
    eprintln!("written: {} ({written} results at scale {scale})", path.display());
    Ok(())
}

/// The figure of a name, if it shows a product of this library's.
fn figure(name: &str, peer: Peer) -> Result<&'static PaperFigure> {
    match PaperFigure::named(name).filter(|figure| !figure.peers.is_empty()) {
        Some(figure)
            if figure.peers.iter().any(|product| product.is_on_host() == peer.is_on_host()) =>
        {
            Ok(figure)
        }
        Some(figure) => bail!(
            "{name} shows no product of --peer {}: of others it shows {}",
            peer.word(),
            figure.peer_names()
        ),
        None => {
            let names = PaperFigure::with_peers();
            bail!("{name} is no figure with other libraries: these are {names}")
        }
    }
}

/// What a figure is measured on.
fn cases(figure: &PaperFigure, named: &[String], generator: GeneratorOptions) -> Result<Vec<Case>> {
    if let Measured::Batch { kind, sizes, .. } = figure.measured {
        let sizes = batch_sizes(sizes, generator.scale);
        let cases = batch_cases(figure, kind, named, generator)?;
        let sized = |case: &BatchCase| {
            let case = case.clone();
            sizes.iter().map(move |size| Case::Batch(case.clone(), *size)).collect::<Vec<_>>()
        };
        return Ok(cases.iter().flat_map(sized).collect());
    }
    let inputs = |names: &mut dyn Iterator<Item = &str>| -> Result<Vec<Case>> {
        names.map(|name| Ok(Case::Input(Input::parse(name)?))).collect()
    };
    let has_own = matches!(figure.cases, Cases::Made(_));
    ensure!(
        named.is_empty() || !has_own,
        "{} makes matrices of its own: leave others out",
        figure.name
    );
    match figure.cases {
        Cases::Made(made) => Ok(made(generator).into_iter().map(Case::Made).collect()),
        _ if !named.is_empty() => inputs(&mut named.iter().map(String::as_str)),
        Cases::Classes(names) => inputs(&mut names.iter().copied()),
        Cases::Suite(suite) => {
            Ok(suite.classes().into_iter().map(|class| Case::Input(Input::Class(class))).collect())
        }
        Cases::Problems(_) => Ok(Vec::new()),
    }
}

fn batch_cases(
    figure: &PaperFigure,
    kind: Batches,
    named: &[String],
    generator: GeneratorOptions,
) -> Result<Vec<BatchCase>> {
    if kind == Batches::Density {
        ensure!(named.is_empty(), "{} makes matrices of its own: leave others out", figure.name);
        return Ok(density_batches(generator)?);
    }
    let like = |small: &SmallProblem| -> Result<BatchCase> {
        let matrix = small.generate(generator.seed)?;
        Ok(BatchCase::homogeneous(small.display_name(), "likeness", matrix))
    };
    let cases = match named {
        [] => figure.small_problems().map(like).collect::<Result<Vec<_>>>()?,
        names => {
            let case = |name: &String| -> Result<BatchCase> {
                match SmallProblem::named(name).filter(|_| !std::path::Path::new(name).exists()) {
                    Some(small) => like(small),
                    None => {
                        let input = Input::parse(name)?;
                        let matrix = input.load(generator, &|_, _| {})?.with_u32_offsets()?;
                        Ok(BatchCase::homogeneous(input.name(), input.source(), matrix))
                    }
                }
            };
            names.iter().map(case).collect::<Result<Vec<_>>>()?
        }
    };
    if kind == Batches::Mixed {
        let source = cases.last().map_or("likeness", |last| last.source);
        let matrices = cases.into_iter().flat_map(|case| case.matrices).collect();
        return Ok(vec![BatchCase::mixed(source, matrices)]);
    }
    Ok(cases)
}

impl Case {
    fn name(&self) -> String {
        match self {
            Case::Input(input) => input.name(),
            Case::Made(made) => made.name.clone(),
            Case::Batch(case, size) => format!("{} x {size}, {}", case.name, case.kind),
        }
    }

    /// Whether a scale makes it smaller.
    fn is_scaled(&self) -> bool {
        matches!(self, Case::Made(_) | Case::Batch(..) | Case::Input(Input::Class(_)))
    }

    /// Nonzeros at a scale, as far as they are known before.
    fn nnz(&self, scale: f64) -> u64 {
        const DEFAULT: f64 = 3e6;
        match self {
            Case::Made(made) => made.nnz(),
            Case::Batch(case, size) => case.nnz(*size),
            Case::Input(Input::Class(class)) => {
                let nnz = class.published_size().map_or(DEFAULT, |(_, nnz)| nnz as f64);
                (nnz * scale) as u64
            }
            Case::Input(_) => DEFAULT as u64,
        }
    }

    fn measure(
        &self,
        figure: &PaperFigure,
        generator: GeneratorOptions,
        types: &[ValueType],
        libraries: &Libraries,
    ) -> Result<Vec<Record>> {
        let (matrix, source) = match self {
            Case::Batch(case, size) => {
                return batch::measure(case, *size, generator, types, libraries);
            }
            Case::Input(input) => (input.load(generator, &|_, _| {})?, input.source()),
            Case::Made(made) => (made.generate(generator.seed)?, "assembled"),
        };
        let origin = Origin { name: self.name(), source, generator };
        products::measure(&matrix.with_u32_offsets()?, &origin, figure, types, libraries)
    }
}

/// A line for a result.
fn say(record: &Record) {
    println!(
        "{:<28} {} {:<24} {:>11.2} us, {:>9.2} GFLOP/s ({}){}",
        record.matrix,
        record.value_type,
        record.algorithm,
        record.median_us.unwrap_or(f64::NAN),
        record.gflops.unwrap_or(f64::NAN),
        record.params,
        if record.verified { "" } else { ", WRONG" },
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAKING: GeneratorOptions = GeneratorOptions { scale: 0.001, seed: 1 };

    #[test]
    fn a_figure_has_the_matrices_that_sparrow_draws_it_on() {
        let names = |figure, named: &[&str]| -> Vec<String> {
            let named: Vec<_> = named.iter().map(|name| (*name).to_owned()).collect();
            let cases = cases(PaperFigure::named(figure).unwrap(), &named, MAKING).unwrap();
            cases.iter().map(Case::name).collect()
        };
        // No row is empty, so 100 rows have 1% at least.
        assert_eq!(names("spmm-7", &[])[0], "1.00% of 100 x 100");
        assert_eq!(names("spmm-6", &["cant"]), ["cant-like"]);
        assert_eq!(
            names("batched-3", &["nos3"])[..2],
            ["nos3-like x 1, homogeneous", "nos3-like x 10, homogeneous"]
        );
        assert_eq!(names("batched-4", &[]).len(), 10);
        assert_eq!(names("batched-6", &[]), ["12 problems x 10, mixed"]);
    }

    #[test]
    fn matrices_cannot_be_named_where_a_figure_makes_its_own() {
        let figure = PaperFigure::named("spmm-4").unwrap();
        let error = cases(figure, &["cant".to_owned()], MAKING).err().unwrap();
        assert_eq!(error.to_string(), "spmm-4 makes matrices of its own: leave others out");
    }

    #[test]
    fn a_figure_without_other_libraries_products_is_refused_with_those_that_have_some() {
        let error = figure("csr-adaptive-10", Peer::Cusparse).err().unwrap().to_string();
        assert!(error.contains("spmm-1, spmm-4") && error.contains("batched-3"), "{error}");
    }

    #[test]
    fn a_figure_that_does_not_show_the_librarys_products_is_refused() {
        for (name, shown) in [
            ("evc-hyb-3", "cusparse_spmv"),
            ("batched-4", "cusparse_loop, cusparse_block_diagonal, cusparse_batched"),
        ] {
            let error = figure(name, Peer::Mkl).err().unwrap().to_string();
            let start = format!("{name} shows no product of --peer mkl: of others it shows ");
            assert_eq!(error, start + shown);
            assert_eq!(figure(name, Peer::Cusparse).unwrap().name, name);
        }
        assert!(figure("evc-hyb-5", Peer::Mkl).is_ok());
    }
}
