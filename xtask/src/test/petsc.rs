//! `libsparrow_petsc.so` in an unchanged PETSc: programs of our own, PETSc's own tests of matrices and vectors, and its
//! solvers' and nonlinear solvers' examples, with our types and with its own, on one rank and on several.

use super::conformance::{own_folders, set_own};
use super::watched::{self, Patience};
use super::{Given, Outcome, missing};
use crate::install::{self, LIBRARIES, Symbols};
use crate::project;
use crate::provide::petsc::{self, Petsc};
use crate::provide::{self, linking};
use anyhow::{Context as _, Result, bail};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A program of PETSc's, and with which options it is run with all types.
struct Theirs {
    source: &'static str,
    /// What stands before `mat_type` and `vec_type` in the options that name them.
    prefix: &'static str,
    ranks: &'static [u32],
    options: &'static [&'static str],
}

/// On devices that share the host's memory too, so that no implementation here leaves copies untested.
const COPIES: &str = "-mat_sparrow_copy_vectors";

/// How far numbers may lie apart, relative to their size, where sums are made in another order: of residuals, which
/// iterations before them have amplified.
const ROUNDING: f64 = 1e-4;

/// Those of PETSc's tests of matrices that take a type, multiply, and pass with AIJ as they are.
const TESTS: &[(&str, &[u32])] = &[
    ("ex5", &[1, 2]),
    ("ex9", &[1, 2]),
    ("ex15", &[1]),
    ("ex18", &[2]),
    ("ex19", &[2]),
    ("ex28", &[1]),
    ("ex30", &[1]),
    ("ex37", &[2]),
    ("ex93", &[1, 2]),
    ("ex97", &[2]),
    ("ex99", &[2]),
    ("ex104", &[1]),
    ("ex123", &[2]),
];

/// Those of PETSc's tests of vectors that take a type, print or check what they compute, and pass with PETSc's own.
const TESTS_OF_VECTORS: &[(&str, &[u32])] = &[
    ("ex11", &[1, 2]),
    ("ex12", &[2]),
    ("ex17", &[2]),
    ("ex21", &[1, 2]),
    ("ex22", &[2]),
    ("ex24", &[2]),
    ("ex34", &[1, 2]),
    ("ex37", &[1]),
    ("ex41", &[2]),
    ("ex44", &[2]),
    ("ex45", &[1, 2]),
    ("ex60", &[2]),
];

/// Linear systems, and Bratu's equation in three dimensions.
const SOLVERS: &[Theirs] = &[
    Theirs {
        source: "ksp/ksp/tutorials/ex2.c",
        prefix: "-",
        ranks: &[1, 2, 4],
        options: &[
            "-m 40 -n 40 -ksp_type cg -pc_type jacobi -ksp_monitor_short",
            "-m 40 -n 40 -ksp_type gmres -pc_type bjacobi -sub_pc_type ilu -ksp_monitor_short",
        ],
    },
    Theirs {
        source: "ksp/ksp/tutorials/ex50.c",
        prefix: "-dm_",
        ranks: &[2],
        options: &["-da_grid_x 30 -da_grid_y 30 -ksp_type bcgs -pc_type gamg -ksp_monitor_short"],
    },
    Theirs {
        source: "ksp/ksp/tutorials/ex50.c",
        prefix: "-dm_",
        ranks: &[1, 4],
        options: &["-da_grid_x 30 -da_grid_y 30 -ksp_type bcgs -pc_type jacobi -ksp_monitor_short"],
    },
    Theirs {
        source: "snes/tutorials/ex14.c",
        prefix: "-dm_",
        ranks: &[1, 2],
        options: &[
            "-da_refine 1 -ksp_type cg -pc_type jacobi -ksp_converged_reason -snes_monitor_short",
            "-da_refine 1 -ksp_type bcgs -pc_type gamg -ksp_converged_reason -snes_monitor_short",
        ],
    },
    Theirs {
        source: "snes/tutorials/ex14.c",
        prefix: "-dm_",
        ranks: &[4],
        options: &[
            "-da_refine 1 -ksp_type gmres -pc_type bjacobi -ksp_converged_reason -snes_monitor_short",
        ],
    },
];

/// Where everything lies.
struct Place<'a> {
    given: &'a Given<'a>,
    petsc: Petsc,
    builds: PathBuf,
    plugin: PathBuf,
    variables: Vec<(String, String)>,
}

pub(super) fn run(given: &Given) -> Result<Outcome> {
    let options = provide::Options::from_environment(false)?;
    let petsc = match petsc::find(&options) {
        Ok(petsc) => petsc,
        Err(error) => return Ok(missing(project::is_ci(), &format!("{error:#}"))),
    };
    let place = Place::new(given, petsc, &options)?;
    let own = place.compile(&given.root.join("tests/apps/petsc/main.c"))?;
    // Plans for many products copy the matrix; devices in the host's memory have others unless they are asked for.
    for options in ["", "-vec_type sparrow", "-mat_sparrow_products many"] {
        place.claims(&own, options, "as AIJ")?;
    }
    place.is_refused(&own, "-mat_sparrow_device 99", "Sparrow: -mat_sparrow_device is 99, and")?;
    place.is_refused(
        &own,
        "-mat_sparrow_platform None",
        "Sparrow: there is no OpenCL device of",
    )?;
    let programs = [
        ("vectors", "as PETSc's vectors"),
        ("subvectors", "as PETSc's sub-vectors"),
        ("copies", "no copies"),
    ];
    for (name, says) in programs {
        let own = place.compile(&given.root.join(format!("tests/apps/petsc/{name}.c")))?;
        place.claims(&own, "-vec_type sparrow", says)?;
        place.is_refused(
            &own,
            "-vec_type sparrow -mat_sparrow_device 99",
            "Sparrow: -mat_sparrow_device is 99, and",
        )?;
    }
    for (name, ranks) in TESTS {
        let source = format!("mat/tests/{name}.c");
        place.compare(&source, ranks, "", "-mat_type aij", &["-mat_type aijsparrow"])?;
    }
    for (name, ranks) in TESTS_OF_VECTORS {
        let source = format!("vec/vec/tests/{name}.c");
        place.compare(&source, ranks, "", "", &[&format!("-vec_type sparrow {COPIES}")])?;
    }
    for Theirs { source, prefix, ranks, options } in SOLVERS {
        let theirs = format!("{prefix}mat_type aij");
        let matrices = format!("{theirs}sparrow");
        let vectors = format!("{matrices} {prefix}vec_type sparrow");
        let copied = format!("{vectors} {COPIES}");
        for options in *options {
            place.compare(source, ranks, options, &theirs, &[&matrices, &vectors, &copied])?;
        }
    }
    Ok(Outcome::Passed)
}

impl<'a> Place<'a> {
    fn new(given: &'a Given<'a>, petsc: Petsc, options: &provide::Options) -> Result<Self> {
        let folder = project::target()?.join("petsc");
        let (prefix, builds) = (folder.join("prefix"), folder.join("build"));
        fs::create_dir_all(&builds)?;
        let library = LIBRARIES.iter().find(|it| it.package == "sparrow").context("no library")?;
        let built = given.built()?.library_folder(library.built)?;
        install::put(library, given.root, (built, Symbols::Kept), &prefix, Path::new("lib"))?;
        let loader = linking::loader(&folder.join("loader"), given.variables)?;
        let mut flags = petsc.flags.clone();
        flags.push(format!("-L{}", loader.display()));
        if let Some(headers) = linking::headers(options)? {
            flags.push(format!("-isystem{}", headers.display()));
        }
        let libdir = Path::new("lib");
        let plugin = install::petsc::put(given.root, &prefix, libdir, &petsc.compiler, &flags)?;
        let mut variables = given.variables.to_vec();
        for name in ["OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"] {
            variables.push((name.to_owned(), "1".to_owned()));
        }
        // More ranks than processors, which then wait without turning.
        variables.push(("OMPI_MCA_rmaps_base_oversubscribe".to_owned(), "1".to_owned()));
        variables.push(("OMPI_MCA_mpi_yield_when_idle".to_owned(), "1".to_owned()));
        Ok(Place { given, petsc, builds, plugin, variables })
    }

    /// A program of one file.
    fn compile(&self, source: &Path) -> Result<PathBuf> {
        let name = source.with_extension("");
        let name: Vec<_> = name.iter().rev().take(3).map(|it| it.to_string_lossy()).collect();
        let program = self.builds.join(name.join("-"));
        let mut command = Command::new(&self.petsc.compiler);
        command.args(["-O1", "-w"]).arg(source).arg("-o").arg(&program).args(&self.petsc.flags);
        let output = command.output()?;
        if !output.status.success() {
            bail!("{command:?} failed:\n{}", String::from_utf8_lossy(&output.stderr));
        }
        Ok(program)
    }

    fn command(&self, program: &Path, ranks: u32, options: &str) -> Command {
        let mut command = Command::new(&self.petsc.mpirun);
        command.args(["-n", &ranks.to_string()]).arg(program);
        command.arg("-dll_append").arg(&self.plugin).args(options.split_whitespace());
        command.arg("-options_left").arg("no");
        command
    }

    fn ran(&self, program: &Path, ranks: u32, options: &str) -> Result<watched::Ran> {
        let folder = tempfile::tempdir().context("a temporary directory")?;
        let mut command = self.command(program, ranks, options);
        set_own(&mut command, &own_folders(self.given, folder.path())?);
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        let ran = watched::run(&mut command, Patience::new(self.given.full))?;
        self.given.printer.add(ran.cpu);
        Ok(ran)
    }

    /// What it prints, which has to succeed.
    fn start(&self, program: &Path, ranks: u32, options: &str) -> Result<String> {
        let ran = self.ran(program, ranks, options)?;
        if !ran.is_success() {
            let command = self.command(program, ranks, options);
            bail!("{command:?}: {}:\n{}", ran.ending(), ran.output);
        }
        Ok(ran.output)
    }

    /// A program of ours, on one rank and on several, with vectors where they lie and copied, ends with these words.
    fn claims(&self, program: &Path, types: &str, says: &str) -> Result<()> {
        for ranks in [1, 2, 4] {
            for copies in ["", COPIES] {
                let said = self.start(program, ranks, &format!("{types} {copies}"))?;
                if said != format!("{says} on {ranks} ranks\n") {
                    let command = self.command(program, ranks, &format!("{types} {copies}"));
                    bail!("{command:?} printed\n{said}");
                }
            }
        }
        Ok(())
    }

    /// It ends as PETSc's programs do, by an error of PETSc's that says this.
    fn is_refused(&self, program: &Path, options: &str, text: &str) -> Result<()> {
        let ran = self.ran(program, 2, options)?;
        let said = ran.output.contains("PETSC ERROR") && ran.output.contains(text);
        if ran.is_success() || !said {
            bail!(
                "{options}: {}, where an error of PETSc's was due:\n{}",
                ran.ending(),
                ran.output
            );
        }
        Ok(())
    }

    /// A program of PETSc's prints with our types what it prints with its own. With vectors of ours, whose sums are made in
    /// another order, numbers with a point are those to rounding. Ranks print in any order.
    fn compare(
        &self,
        source: &str,
        ranks: &[u32],
        options: &str,
        theirs: &str,
        ours: &[&str],
    ) -> Result<()> {
        let program = self.compile(&self.petsc.sources.join(source))?;
        for &ranks in ranks {
            let printed = |types: &str| -> Result<Vec<String>> {
                let text = self.start(&program, ranks, &format!("{options} {types}"))?;
                let plain = |line: &str| line.replace("aijsparrow", "aij");
                let plain = |line: &str| plain(line).replace("seqsparrow", "seq");
                let mut lines: Vec<_> =
                    text.lines().map(|line| plain(line).replace("mpisparrow", "mpi")).collect();
                lines.sort_unstable();
                Ok(lines)
            };
            let expected = printed(theirs)?;
            for types in ours {
                let what = format!("{source} {options} {types} on {ranks} ranks");
                let found = printed(types)?;
                let is_rounded = types.contains("vec_type");
                let is_same = |a: &str, b: &str| a == b || (is_rounded && is_same_line(a, b));
                if let Some((theirs, ours)) =
                    expected.iter().zip(&found).find(|(a, b)| !is_same(a, b))
                {
                    bail!("{what}:\n{ours}\nwhere PETSc's types print\n{theirs}");
                }
                // Some print what is wrong and nothing else.
                if expected.len() != found.len() {
                    let (ours, theirs) = (found.len(), expected.len());
                    bail!("{what}: {ours} lines, where PETSc's types print {theirs}");
                }
                self.given.printer.say(format_args!("{what}: as PETSc's"));
            }
        }
        Ok(())
    }
}

/// Word for word, but for the rounding of numbers with a point.
fn is_same_line(theirs: &str, ours: &str) -> bool {
    let number = |word: &str| match word.contains('.') {
        true => word.trim_end_matches(['.', ',']).parse::<f64>().ok(),
        false => None,
    };
    let is_same_word = |(a, b): (&str, &str)| match (number(a), number(b)) {
        (Some(a), Some(b)) => (a - b).abs() <= ROUNDING * a.abs().max(b.abs()),
        _ => a == b,
    };
    theirs.split_whitespace().count() == ours.split_whitespace().count()
        && theirs.split_whitespace().zip(ours.split_whitespace()).all(is_same_word)
}
