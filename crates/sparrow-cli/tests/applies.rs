//! An option that would do nothing is refused, with what it belongs to, before a device is looked for.

#![expect(clippy::unwrap_used, reason = "a test panics when its claim is broken")]

use std::fs;
use std::process::{Command, Output};

const MATRIX: &str = "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1\n2 2 1\n";

/// Results of cuSPARSE for a figure.
const PEERS: &str = r#"{"schema":"sparrow-figure-peers/1","figure":"spmm-4","scale":0.25,"seed":1}
{"schema":"sparrow-bench/1","version":"0.1.0","matrix":"full 2 x 8","source":"assembled","rows":2,"cols":8,"nnz":16,"op":"spmm","algorithm":"cusparse_spmm","variant":"","params":"CSR_ALG2","kernel_key":"","value_type":"f32","offset_type":"u32","accumulate":"plain","device":"Example GPU","platform":"cuSPARSE 12.6.3","driver":"CUDA 13.0","seed":1,"scale":0.25,"stream_gbytes_per_s":null,"copy_gbytes_per_s":null,"cache":"hot","median_us":5.0,"min_us":5.0,"p95_us":5.0,"runs":9,"gflops":0.4,"gbytes_per_s":1.0,"limit_us":null,"limit_fraction":null,"setup_us":9.0,"setup_in_products":1.8,"plan_bytes":0,"repeatable":false,"verified":true,"error_in_tolerance":0.1,"non_finite":0,"columns":64,"layout_b":"row","layout_c":"row","chosen":"CSR_ALG2","mean_inode":1.0,"single_us":null}
"#;

/// The command in a folder with a matrix and results of cuSPARSE; no device has the name that it is told.
fn run(line: &str) -> Output {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a.mtx"), MATRIX).unwrap();
    fs::write(folder.path().join("cusparse.jsonl"), PEERS).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_sparrow"));
    command.current_dir(folder.path()).env("SPARROW_DEVICE", "no device is to be looked for");
    command.args(line.split(' ')).output().unwrap()
}

#[track_caller]
fn assert_refused(line: &str, part: &str) {
    let output = run(line);
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!((output.status.code(), &*output.stdout), (Some(2), &b""[..]), "{line}: {stderr}");
    assert!(stderr.contains(part), "{line}: {stderr} lacks {part}");
}

#[test]
fn variants_and_orders_are_of_algorithms_that_are_named() {
    for command in ["spmv", "bench", "bench spmv"] {
        let option = if command == "spmv" { "--algorithm" } else { "--algorithms" };
        for (variant, algorithm) in
            [("nrs", "csr_adaptive"), ("cpu", "segmented_sum"), ("sorted-csr", "evc_hyb")]
        {
            assert_refused(
                &format!("{command} a.mtx --variant {variant}"),
                &format!(
                    "--variant {variant} is of {algorithm}, and without {option} another algorithm may be chosen: \
                     add {option} {algorithm}"
                ),
            );
        }
    }
    assert_refused(
        "spmv a.mtx --algorithm csr_scalar --variant full",
        "csr_scalar has no variant full; it has none",
    );
    assert_refused(
        "spmv a.mtx --algorithm segmented_sum --variant nrs",
        "segmented_sum has no variant nrs; it has fused, device, cpu",
    );
    assert_refused(
        "bench a.mtx --order original,permuted",
        "--order permuted is of evc_hyb, and without --algorithms another",
    );
    assert_refused(
        "bench a.mtx --choice csr_flat(group_size=64) --order permuted",
        "--order permuted: csr_flat has no order of its own",
    );
}

#[test]
fn products_that_try_candidates_are_for_a_choice_that_many_products_follow() {
    for line in [
        "bench a.mtx --measured-products 3",
        "bench a.mtx --measured-products 3 --products several",
        "bench a.mtx --measured-products 3 --products many --algorithms csr_flat",
        "bench a.mtx --measured-products 3 --products many --choice csr_flat(group_size=64)",
    ] {
        assert_refused(line, "--measured-products is for --products many where the algorithm is");
    }
}

#[test]
fn what_batches_do_not_have_is_refused() {
    for algorithms in ["", " --algorithms auto", " --algorithms batched_ell,batched_csr_smart"] {
        assert_refused(
            &format!("bench batch a.mtx --atomic{algorithms}"),
            "--atomic is of batched_coo and batched_csr_i: add --algorithms batched_coo,batched_csr_i",
        );
    }
    for given in ["a.mtx ", "--draw 3 ", "--suite quick "] {
        assert_refused(
            &format!("bench batch {given}--batch-kind density,dense-row"),
            "--batch-kind density and dense-row make problems of their own",
        );
    }
}

#[test]
fn what_figures_do_not_have_is_refused() {
    assert_refused(
        "bench figure evc-hyb-15 a.mtx",
        "evc-hyb-15 makes matrices of its own: leave others out",
    );
    assert_refused(
        "bench figure csr-adaptive-10 a.mtx --scale 0.1",
        "--scale is for matrices that are generated, and a is read from a file",
    );
    assert_refused(
        "bench figure batched-4 nos3",
        "batched-4 makes matrices of its own: leave others out",
    );
    assert_refused(
        "bench batch a.mtx --pure-ell --algorithms batched_coo",
        "--pure-ell is of batched_ell: add --algorithms batched_ell",
    );
    assert_refused("bench figure csr-adaptive-4 --measure", "--measure is not for csr-adaptive-4");
    assert_refused("bench figure csr-adaptive-99", "csr-adaptive-10");
    for line in ["tune a.mtx", "tune --figure csr-adaptive-4", "tune --html f.html"] {
        assert_refused(line, "--sweep");
    }
    assert_refused("tune --allow-overflow", "--allow-overflow is for the matrices of --sweep");
}

#[test]
fn results_of_other_libraries_are_of_one_figure_scale_and_seed() {
    for (options, part) in [
        ("spmm-1", "--peers cusparse.jsonl: its results are for the figure spmm-4, not for spmm-1"),
        ("csr-adaptive-10", "csr-adaptive-10 takes no results of other libraries"),
        ("csr-adaptive-4", "csr-adaptive-4 is a sweep over hyper-parameters of ours"),
        ("spmm-4 --scale 0.5", "its matrices are at scale 0.25, not at 0.5: leave --scale out"),
        ("spmm-4 --seed 2", "its matrices are of the seed 1, not of 2: leave --seed out"),
    ] {
        assert_refused(&format!("bench figure {options} --peers cusparse.jsonl"), part);
    }
    assert_refused("bench figure spmm-4 --peers a.mtx", "line 1 is not the head of results");
    assert_refused("bench figure spmm-4 --peers none.jsonl", "none.jsonl");
    // With the file's own scale and seed, or without, a device is what is missing.
    for options in ["", " --scale 0.25 --seed 1"] {
        let output = run(&format!("bench figure spmm-4 --peers cusparse.jsonl{options}"));
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert!(!output.status.success() && !stderr.contains("--peers"), "{stderr}");
    }
}

#[test]
fn the_host_has_no_algorithms_to_choose_from() {
    for (command, options) in [
        ("spmv", &["--algorithm csr_flat", "--accumulate compensated"][..]),
        ("solve", &["--algorithm csr_flat", "--products once", "--parameters batch=2"]),
        (
            "bench",
            &[
                "--algorithms csr_flat",
                "--algorithms evc_hyb --order permuted",
                "--algorithms csr_adaptive --variant nrs",
                "--variant nrs",
                "--order permuted",
                "--accumulate compensated",
                "--parameters group_size=64",
                "--choice csr_flat(group_size=64)",
                "--products many --measured-products 3",
                "--model",
                "--cold",
                "--launches 3",
            ],
        ),
    ] {
        for option in options {
            assert_refused(
                &format!("{command} a.mtx --device host {option}"),
                " is for OpenCL devices, and host is none: leave it out",
            );
        }
    }
    // All that there is on the host is one.
    let done = run("bench a.mtx --device host --algorithms all --value-type f64");
    assert_eq!(done.status.code(), Some(0), "{}", String::from_utf8_lossy(&done.stderr));
}
