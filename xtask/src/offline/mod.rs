//! `cargo xtask offline`: compiles the kernels for devices that are not here.
//!
//! Every kernel in every shipped configuration (`cl_kernels::specialisations`) but those of CPUs and NVIDIA devices, for
//! AMD by clang and for Intel by `ocloc`. A kernel that does not compile, spills, uses scratch memory, or wants more local
//! memory or larger groups than there are is a failure, unless it is a spill that
//! `known.rs` lists with its reason. The worst figures stand in a table in
//! `docs/portability.md`; the command rewrites it, and the stage of `cargo xtask test` fails where it is
//! out of date.
//!
//! A compiler takes half a second. So the list covers value types and parameters in full and the rest in pairs
//! (`Extent::Cover`), and the table has as many of it as meet each option by each family's compiler (`deal.rs`); how many
//! are left out is said. With `--full` the whole product is compiled for every target and held to the same limits, and
//! what is worse than its line of the table is named.

mod amd;
mod compiler;
mod configurations;
mod deal;
mod figures;
mod intel;
mod known;
mod table;
mod target;
mod tools;

use crate::parallel::in_parallel;
use crate::{project, provide};
use anyhow::{Context as _, Result};
use configurations::Configuration;
use deal::Deal;
use figures::Figures;
use known::KNOWN_SPILLS;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;
use table::{Comparison, Row};
use target::{Family, Target};

/// Options of `offline`.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The whole product of configurations; the table still holds the cover
    #[arg(long)]
    full: bool,
}

/// What came of it.
#[derive(Debug, Default)]
pub(crate) struct Verdict {
    /// What is wrong.
    pub(crate) failures: Vec<String>,
    /// Families without a compiler here, and why.
    pub(crate) not_tested: Vec<String>,
}

/// A family's part of the table.
struct Part {
    family: Family,
    version: String,
    text: String,
}

pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode> {
    let root = project::root()?;
    let program = configurations::build(&root)?;
    let (parts, verdict) = compile(&root, &program, arguments.full)?;
    let page = root.join(table::PAGE);
    let old = fs::read_to_string(&page).context(table::PAGE)?;
    let texts: Vec<_> = parts.into_iter().map(|part| (part.family, part.text)).collect();
    let new = table::rewritten(&old, &texts)?;
    if new != old {
        fs::write(&page, new).context(table::PAGE)?;
        println!("{} is rewritten", table::PAGE);
    }
    for failure in &verdict.failures {
        println!("FAILED: {failure}");
    }
    for missing in &verdict.not_tested {
        println!("NOT TESTED: {missing}");
    }
    let bad = !verdict.failures.is_empty() || (project::is_ci() && !verdict.not_tested.is_empty());
    Ok(if bad { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// Compiles what `program`, the example `specialisations`, lists, and holds the table against the committed one.
pub(crate) fn check(root: &Path, program: &Path, full: bool) -> Result<Verdict> {
    let (parts, mut verdict) = compile(root, program, full)?;
    let page = fs::read_to_string(root.join(table::PAGE)).context(table::PAGE)?;
    for Part { family, version, text } in &parts {
        match table::compare(&page, *family, version, text)? {
            Comparison::Same => {}
            Comparison::OtherCompiler(by) => println!(
                "{family}: the table is not compared: it was made by {by}, and here is {version}"
            ),
            Comparison::OutOfDate(old, new) => verdict.failures.push(format!(
                "the table in {} is out of date: run `cargo xtask offline` (\"{old}\" is now \
                 \"{new}\")",
                table::PAGE
            )),
        }
    }
    for failure in &verdict.failures {
        println!("{failure}");
    }
    Ok(verdict)
}

/// One configuration for one target.
struct Job<'a> {
    target: &'static Target,
    configuration: &'a Configuration,
    in_table: bool,
}

fn compile(root: &Path, program: &Path, full: bool) -> Result<(Vec<Part>, Verdict)> {
    let scratch = tempfile::tempdir().context("a temporary directory")?;
    let sources = scratch.path().join("cl");
    let cover = configurations::list(root, program, &sources, false)?;
    let all =
        if full { configurations::list(root, program, &sources, true)? } else { cover.clone() };
    let deal = Deal::new(&cover);

    let mut verdict = Verdict::default();
    let options = provide::Options::from_environment(false)?;
    let mut parts = Vec::new();
    for family in Family::ALL {
        let compiler = match compiler::find_or_fetch(family, &options, scratch.path()) {
            Ok(compiler) => compiler,
            Err(error) => {
                let devices: Vec<_> = family.targets().map(|target| target.name).collect();
                let devices = devices.join(", ");
                verdict.not_tested.push(format!("{family} ({devices}): {error:#}"));
                continue;
            }
        };
        let start = Instant::now();
        let mut jobs = Vec::new();
        for target in family.targets() {
            let mut left_out = BTreeMap::<_, usize>::new();
            for configuration in &all {
                if let Some(why) = target.obstacle(configuration) {
                    *left_out.entry(why).or_default() += 1;
                    continue;
                }
                let in_table = deal.gives(configuration, target);
                if in_table || full {
                    jobs.push(Job { target, configuration, in_table });
                }
            }
            for (why, count) in left_out {
                let Target { name, devices, .. } = target;
                println!("{name} ({devices}) has {why}: {count} configurations do not apply");
            }
        }
        if !full {
            let applies =
                |one: &&Configuration| family.targets().any(|to| to.obstacle(one).is_none());
            let is_compiled =
                |one: &&Configuration| family.targets().any(|target| deal.gives(one, target));
            let applying = all.iter().filter(applies).count();
            let compiled = all.iter().filter(is_compiled).count();
            println!(
                "{family}: {compiled} of {applying} configurations of the cover are compiled here, the others under \
                 --full"
            );
        }
        let results = in_parallel(&jobs, |job| {
            let Configuration { source, options, .. } = job.configuration;
            compiler.compile(job.target, &sources.join(source), options)
        })?;
        let judged = judge(&jobs, results)?;
        verdict.failures.extend(judged.failures);
        println!(
            "{family}, by {}: {} compiled for {} targets in {:.0} s",
            compiler.version(),
            jobs.len(),
            family.targets().count(),
            start.elapsed().as_secs_f64()
        );
        parts.push(Part {
            family: compiler.family(),
            version: compiler.version().to_owned(),
            text: table::part(family, compiler.version(), &judged.rows)?,
        });
    }
    Ok((parts, verdict))
}

/// What a family's compiler said.
#[derive(Debug, Default)]
struct Judged {
    /// The lines of the table.
    rows: Vec<Row>,
    failures: Vec<String>,
}

fn judge(jobs: &[Job], results: Vec<Result<Vec<Figures>>>) -> Result<Judged> {
    let Judged { mut rows, mut failures } = Judged::default();
    let mut others = Vec::new();
    let mut known_seen = vec![0; KNOWN_SPILLS.len()];
    for (Job { target, configuration, in_table }, result) in jobs.iter().zip(results) {
        let Configuration { source, key, .. } = configuration;
        let kernels = match result {
            Ok(kernels) if !kernels.is_empty() => kernels,
            Ok(_) => {
                failures.push(format!("cl/{source} for {}: {key}: no kernel in it", target.name));
                continue;
            }
            Err(error) => {
                failures.push(format!("cl/{source} for {}: {key}: {error:#}", target.name));
                continue;
            }
        };
        for kernel in &kernels {
            let what = format!("kernel {} for {}: {key}", kernel.kernel, target.name);
            let broken = kernel.broken_limits(target, configuration.group_size()?);
            failures.extend(broken.iter().map(|limit| format!("{what}: {limit}")));
            let Some(spill) = kernel.spill() else { continue };
            match KNOWN_SPILLS.iter().position(|known| known.covers(target, key, kernel)) {
                Some(at) => known_seen[at] += 1,
                None => failures.push(format!("{what}: {spill}")),
            }
        }
        if *in_table {
            table::add(&mut rows, source, target, &kernels);
        } else {
            others.push((target, configuration, kernels));
        }
    }
    for (known, seen) in KNOWN_SPILLS.iter().zip(known_seen).filter(|(_, seen)| *seen > 0) {
        let known::KnownSpill { kernel, target, reason, .. } = known;
        println!("known: {kernel} spills on {target} in {seen} configurations: {reason}");
    }
    for (target, Configuration { source, key, .. }, kernels) in others {
        let row = rows.iter().find(|row| row.source == *source && row.target == *target);
        for kernel in kernels {
            let Some(row) = row else { continue };
            let mut worst = row.worst.clone();
            worst.worsen(&kernel);
            if worst != row.worst {
                println!("{key} for {}: worse than the table: {kernel:?}", target.name);
            }
        }
    }
    Ok(Judged { rows, failures })
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::anyhow;

    #[test]
    fn what_fails_to_compile_or_spills_or_breaks_a_limit_is_named_with_key_and_target() {
        let configuration = Configuration {
            source: "spmv/a.cl".to_owned(),
            key: "a.f32.u32.plain".to_owned(),
            options: "-DGROUP_SIZE=256".to_owned(),
        };
        let good = Figures {
            kernel: "a".to_owned(),
            registers: figures::Registers::Amd { vector: 24, scalar: 40 },
            local_bytes: 0,
            spilled: 0,
            scratch_bytes: 0,
            group_limit: 256,
        };
        let results = vec![
            Ok(vec![good.clone()]),
            Ok(vec![Figures { spilled: 7, ..good.clone() }]),
            Ok(vec![Figures { local_bytes: 100_000, ..good.clone() }]),
            Err(anyhow!("a.cl:1: error")),
            Ok(Vec::new()),
        ];
        let job =
            || Job { target: &target::TARGETS[0], configuration: &configuration, in_table: true };
        let judged = judge(&[job(), job(), job(), job(), job()], results).unwrap();
        assert_eq!(
            judged.failures,
            [
                "kernel a for gfx906: a.f32.u32.plain: 7 registers are spilled",
                "kernel a for gfx906: a.f32.u32.plain: 100000 bytes of local memory exceed the 65536 \
                 there are",
                "cl/spmv/a.cl for gfx906: a.f32.u32.plain: a.cl:1: error",
                "cl/spmv/a.cl for gfx906: a.f32.u32.plain: no kernel in it",
            ]
        );
        assert_eq!(judged.rows.len(), 1);
        assert_eq!(judged.rows[0].configurations, 3);
    }
}
