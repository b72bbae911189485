//! How the command reads: words, counts, options and what they say of a mistake. No OpenCL is needed.

#![expect(clippy::unwrap_used, reason = "a test panics when its claim is broken")]

use std::process::Command;

use tempfile::TempDir;

const ONE: &str = "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 2\n";
const TWO: &str = "%%MatrixMarket matrix coordinate real symmetric\n2 2 2\n1 1 2\n2 2 2\n";
const INDEFINITE: &str = "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1\n2 2 -0.1\n";
const ZEROS: &str = "%%MatrixMarket matrix array real general\n2 1\n0\n0\n";

struct Ran {
    status: Option<i32>,
    stdout: String,
    stderr: String,
    folder: TempDir,
}

/// As 2^53 in f64.
const ROUNDED: &str =
    "%%MatrixMarket matrix coordinate integer general\n1 1 1\n1 1 9007199254740993\n";
const SKEWED: &str = "%%MatrixMarket matrix coordinate real general\n2 2 3\n1 1 2\n2 2 3\n1 2 1\n";
const WIDE: &str = "%%MatrixMarket matrix array real general\n2 2\n1\n2\n3\n4\n";

/// Runs the command in a folder with the matrices above.
fn run(arguments: &str) -> Ran {
    run_with(arguments, None)
}

/// As [`run`], with what `SPARROW_DEVICE` names.
fn run_with(arguments: &str, device: Option<&str>) -> Ran {
    let folder = tempfile::tempdir().unwrap();
    let files = [
        ("one.mtx", ONE),
        ("two.mtx", TWO),
        ("indefinite.mtx", INDEFINITE),
        ("zeros.mtx", ZEROS),
        ("rounded.mtx", ROUNDED),
        ("skewed.mtx", SKEWED),
        ("wide.mtx", WIDE),
    ];
    for (name, text) in files {
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    let mut command = Command::new(env!("CARGO_BIN_EXE_sparrow"));
    command.current_dir(folder.path()).env_remove("SPARROW_DEVICE").env_remove("SPARROW_LOG");
    command.envs(device.map(|device| ("SPARROW_DEVICE", device)));
    let output = command.args(arguments.split_whitespace()).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Ran {
        status: output.status.code(),
        stdout: text(output.stdout),
        stderr: text(output.stderr),
        folder,
    }
}

#[track_caller]
fn assert_done(arguments: &str) -> Ran {
    let ran = run(arguments);
    assert_eq!(ran.status, Some(0), "{arguments}: {}", ran.stderr);
    ran
}

/// Refused as bad usage or input, with each of these on standard error.
#[track_caller]
fn assert_refused(arguments: &str, words: &[&str]) {
    let ran = run(arguments);
    assert_eq!(ran.status, Some(2), "{arguments}: {}", ran.stderr);
    for word in words {
        assert!(ran.stderr.contains(word), "{arguments}: {} lacks {word}", ran.stderr);
    }
}

#[test]
fn one_of_a_kind_is_no_plural() {
    let ran = assert_done("info one.mtx");
    assert!(ran.stdout.contains("1 row, 1 column, 1 nonzero\n"), "{}", ran.stdout);
    let ran = assert_done("info two.mtx");
    assert!(ran.stdout.contains("2 rows, 2 columns, 2 nonzeros\n"), "{}", ran.stdout);
    let ran = assert_done("spmv one.mtx --device host");
    assert!(ran.stdout.contains("1 x 1, 1 nonzero, f64;"), "{}", ran.stdout);
    assert_refused("spmv two.mtx --device host --x one.mtx", &["one.mtx"]);
}

#[test]
fn a_right_product_is_exact_or_off_by_a_figure_and_never_by_0_000() {
    let ran = assert_done("spmv two.mtx --device host");
    assert!(ran.stdout.contains("every row is right; exact to rounding\n"), "{}", ran.stdout);
}

#[test]
fn info_says_what_a_storage_would_cost_only_where_it_explains() {
    let ran = assert_done("info one.mtx --device host");
    assert!(!ran.stdout.contains("evc_hyb"), "{}", ran.stdout);
    let ran = assert_done("info one.mtx --device host --explain");
    let said =
        "evc_hyb, if it were chosen, would store 32 elements for 1 nonzero, 32.0 times as many";
    assert!(ran.stdout.contains(said) && !ran.stdout.contains("200%"), "{}", ran.stdout);
}

#[test]
fn a_solve_whose_b_is_0_has_no_residual_that_is_not_a_number() {
    let ran = assert_done("solve two.mtx --device host --b zeros.mtx");
    assert!(ran.stdout.contains("residual b - A x: 0, as b is\n"), "{}", ran.stdout);
    assert!(!ran.stdout.contains("NaN"), "{}", ran.stdout);
}

#[test]
fn why_a_solve_failed_is_said_once() {
    let ran = run("solve indefinite.mtx --device host --b ones");
    assert_eq!(ran.status, Some(1), "{}", ran.stderr);
    let said = format!("{}{}", ran.stdout, ran.stderr);
    assert_eq!(said.matches("breakdown in iteration").count(), 1, "{said}");
}

#[test]
fn a_number_that_an_option_does_not_take_is_named_with_value_and_limit() {
    for (arguments, option, value, limit) in [
        ("solve two.mtx --tol -1", "--tol", "-1", "0 or more"),
        ("solve two.mtx --tol -inf", "--tol", "-inf", "finite"),
        ("solve two.mtx --max-iters -1", "--max-iters", "-1", "from 0 to 4294967295"),
        ("solve two.mtx --check-every 0", "--check-every", "0", "from 1 to 65536"),
        ("solve two.mtx --check-every -3", "--check-every", "-3", "from 1 to 65536"),
        ("info poisson5 --scale -2", "--scale", "-2", "above 0"),
        ("info poisson5 --scale 0", "--scale", "0", "above 0"),
        ("gen poisson5 --out - --seed -7", "--seed", "-7", "from 0 to 18446744073709551615"),
        ("bench spmm --columns -8", "--columns", "-8", "from 1 to"),
        ("bench spmm --columns 8,0", "--columns", "8,0", "from 1 to"),
        ("bench batch --batch-size -1", "--batch-size", "-1", "from 1 to"),
        ("bench batch --draw -1", "--draw", "-1", "from 0 to"),
        ("bench vector --seed 1.5", "--seed", "1.5", "from 0 to"),
        ("bench hetero --share -0.5", "--share", "-0.5", "0 to 1"),
        ("tune --budget -1m", "--budget", "-1m", "from 1s to 24h"),
        ("tune judge --sample-ms -1", "--sample-ms", "-1", "above 0"),
        ("spmv two.mtx --alpha -x", "--alpha", "-x", "a number"),
    ] {
        assert_refused(arguments, &[option, &format!("'{value}'"), limit]);
    }
}

#[test]
fn every_option_for_a_vector_takes_the_same_words() {
    for arguments in ["--x ones", "--x random:3 --y ones --beta 1", "--y random:2 --beta -1"] {
        assert_done(&format!("spmv two.mtx --device host {arguments}"));
    }
    for arguments in ["--b ones --x ones", "--b random:2 --x random:3"] {
        assert_done(&format!("solve two.mtx --device host {arguments}"));
    }
    for (command, option) in [("spmv", "--x"), ("spmv", "--y"), ("solve", "--x"), ("solve", "--b")]
    {
        let arguments = format!("{command} two.mtx --device host {option}");
        assert_refused(&format!("{arguments} random:-1"), &[option, "from 0 to", "\"-1\""]);
        assert_refused(&format!("{arguments} archive"), &["it is no tar archive"]);
        assert_refused(&format!("{arguments} twos"), &["twos"]);
        let help = run(&format!("{command} --help")).stdout;
        assert!(help.contains(&format!("{option} <FILE|random:SEED|ones|archive>")), "{help}");
    }
}

#[test]
fn options_of_generated_matrices_are_refused_where_none_is_generated() {
    for option in ["--scale", "--seed"] {
        for command in ["info", "spmv --device host", "solve --device host"] {
            let arguments = format!("{command} two.mtx {option} 2");
            assert_refused(&arguments, &[option, "two is read from a file"]);
        }
        assert_refused(&format!("tune {option} 2"), &[option, "--sweep"]);
    }
    assert_refused("bench two.mtx --device host --scale 2", &["--scale", "two is read"]);
    assert_refused("bench batch --scale 2", &["--scale", "drawn"]);
    assert_done("info poisson5 --scale 0.0001 --seed 2");
}

/// The commands that `--help` lists, with those of `bench` and `tune`.
fn commands() -> Vec<String> {
    let listed = |of: &str| {
        let help = assert_done(&format!("{of} --help")).stdout;
        let lines = help.split("Commands:\n").nth(1).unwrap_or("").lines();
        let lines = lines.take_while(|line| !line.is_empty());
        let names = lines.filter(|line| line.starts_with("  ") && !line.starts_with("   "));
        let names = names.map(|line| line.split_whitespace().next().unwrap().to_owned());
        names.filter(|name| name != "help").collect::<Vec<_>>()
    };
    let mut all = listed("");
    for of in ["bench", "tune"] {
        all.extend(listed(of).iter().map(|name| format!("{of} {name}")));
    }
    all
}

#[test]
fn help_says_what_a_command_is_for_and_shows_examples() {
    let help = assert_done("--help").stdout;
    assert!(help.starts_with("Sparse matrix products and solvers on any OpenCL device"), "{help}");
    let commands = commands();
    assert!(commands.len() >= 19, "{commands:?}");
    for command in commands.iter().map(String::as_str).chain([""]) {
        let help = assert_done(&format!("{command} --help")).stdout;
        assert!(help.contains("Examples:\n  sparrow "), "{help}");
    }
}

#[test]
fn help_lists_what_an_option_takes() {
    for (command, parts) in [
        ("spmv", &["csr_scalar, csr_vector,", "sell_sigma, csr_tiles;", "compensated"][..]),
        ("solve", &["csr_scalar, csr_vector,", "f32, f64, f16 or bf16", "jacobi", "[default: 4"]),
        ("bench spmv", &["csr_scalar, csr_vector,", "sorted-csr", "f32, f64, f16, bf16"]),
        ("bench spmm", &["spmm_row_split, spmm_merge"]),
        ("bench batch", &["batched_coo, batched_csr_scalar,"]),
        ("info", &["once, several (some tens) or many"]),
    ] {
        let help = assert_done(&format!("{command} --help")).stdout;
        let help = help.split_whitespace().collect::<Vec<_>>().join(" ");
        for part in parts {
            assert!(help.contains(part), "{command}: {help} lacks {part}");
        }
        assert!(!help.contains("class of the suite"), "{command}: {help}");
    }
}

#[test]
fn help_shows_a_small_default_as_one_types_it() {
    let ran = assert_done("solve --help");
    assert!(ran.stdout.contains("[default: 1e-8]"), "{}", ran.stdout);
}

#[test]
fn every_shell_gets_a_script_of_all_commands_and_of_none_that_is_not_for_users() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = assert_done(&format!("completions {shell}")).stdout;
        for command in ["devices", "solve", "spgemm", "judge", "completions", "max-iters"] {
            assert!(script.contains(command), "{shell}: {command}");
        }
        assert!(!script.contains("tune-worker"), "{shell}");
    }
    assert_refused("completions tcsh", &["tcsh", "bash", "zsh", "fish"]);
}

#[test]
fn every_command_has_a_manual_page() {
    let page = assert_done("man").stdout;
    assert!(page.contains(".TH sparrow 1") && page.contains("Sparse matrix products"), "{page}");
    let ran = assert_done("man --folder share/man1");
    let folder = ran.folder.path().join("share/man1");
    let names = commands().into_iter().map(|name| format!("sparrow-{}.1", name.replace(' ', "-")));
    let mut names: Vec<_> = names.chain(["sparrow.1".to_owned()]).collect();
    let found = std::fs::read_dir(&folder).unwrap();
    let mut found: Vec<_> =
        found.map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    found.sort();
    assert_eq!(found, names);
    assert_refused("man --folder one.mtx", &["one.mtx"]);
    for line in ["man --json r.json", "completions fish --json r.json"] {
        assert_refused(line, &["--json r.json", "has no results"]);
    }
}

#[test]
fn quiet_says_nothing_but_errors_and_leaves_data_alone() {
    let ran = assert_done("spmv two.mtx --device host -q --json -");
    assert_eq!(ran.stdout.lines().count(), 1, "{}", ran.stdout);
    assert_eq!(ran.stderr, "");
    let ran = assert_done("info two.mtx --quiet");
    assert_eq!((ran.stdout.as_str(), ran.stderr.as_str()), ("", ""));
    assert_refused("-q info missing.mtx", &["missing.mtx"]);
    assert_refused("-q -v info two.mtx", &["--quiet", "--verbose"]);
}

#[test]
fn quiet_still_says_what_is_not_as_it_was_asked_for() {
    let ran = assert_done("-q spmv rounded.mtx --device host");
    let told = "sparrow: rounded: 1 integer is rounded to f64; the first on line 3\n";
    assert_eq!((ran.stdout.as_str(), ran.stderr.as_str()), ("", told));
    let ran = run("-q solve skewed.mtx --device host");
    assert!(ran.stderr.contains("warning: A is not symmetric"), "{}", ran.stderr);
    let ran = assert_done("-q spmv two.mtx --device host --x wide.mtx");
    assert!(ran.stderr.contains("the first is taken"), "{}", ran.stderr);
    // What is merely spelled otherwise now is as it was asked for.
    let line = "bench --op spmv two.mtx --device host --value-type f64";
    assert!(assert_done(line).stderr.contains("is spelled"));
    assert_eq!(assert_done(&format!("{line} -q")).stderr, "");
}

#[test]
fn a_bench_without_matrices_says_what_it_takes_and_how_long_before_it_begins() {
    let line = "bench --device host --scale 0.0003 --value-type f64";
    let told = "sparrow: no matrix is named: this measures the suite quick, 12 matrices; sparrow bench --help says \
                how to name others\nsparrow: spmv: 12 matrices at scale 0.0003: about ";
    let stderr = assert_done(line).stderr;
    let about = stderr.strip_prefix(told).unwrap_or_else(|| panic!("{stderr}"));
    assert!(about.ends_with(", at most 4 min (--budget)\n"), "{stderr}");
    assert_eq!(assert_done(&format!("{line} rma10")).stderr, "");
}

#[test]
fn the_words_of_an_option_for_a_device_are_taken_in_any_case() {
    for word in ["host", "HOST", "Host"] {
        let ran = assert_done(&format!("spmv two.mtx --device {word}"));
        assert!(ran.stdout.contains("host on host"), "{}", ran.stdout);
        for line in ["devices", "tune", "selftest", "bench spgemm two.mtx", "bench batch two.mtx"] {
            assert_refused(&format!("{line} --device {word}"), &["host"]);
        }
        assert!(run_with("spmv two.mtx", Some(word)).stdout.contains("host on host"), "{word}");
        assert_eq!(run_with("selftest", Some(word)).status, Some(2), "{word}");
    }
    assert_refused("bench batch two.mtx --device ALL", &["one OpenCL device, not --device all"]);
}

#[test]
fn verbose_traces_and_the_words_stay() {
    let ran = assert_done("-v spmv two.mtx --device host");
    assert!(ran.stdout.contains("verified"), "{}", ran.stdout);
    assert!(ran.stderr.contains("DEBUG"), "{}", ran.stderr);
    assert_eq!(assert_done("spmv two.mtx --device host").stderr, "");
}

#[test]
fn a_bench_explains_its_columns_only_where_it_is_asked_to() {
    let ran = assert_done("bench two.mtx --device host --value-type f64");
    assert!(ran.stdout.ends_with("What the columns mean: --legend\n"), "{}", ran.stdout);
    assert!(!ran.stdout.contains("limit %: the least"), "{}", ran.stdout);
    let ran = assert_done("bench two.mtx --device host --value-type f64 --legend");
    assert!(ran.stdout.contains("limit %: the least"), "{}", ran.stdout);
}
