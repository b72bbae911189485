//! `--reordering` of the command on the device under test, and what `info --explain` says of it.

#![expect(clippy::unwrap_used, reason = "a test panics when its claim is broken")]

use std::fs;

use crate::command_line::{settings, sparrow};
use conformance::{device, is_interpreter, say};
use serde_json::Value;

/// What a command says on standard output, or what it was refused with.
fn run(arguments: &str) -> Result<String, String> {
    let folder = tempfile::tempdir().unwrap();
    let ran = sparrow(folder.path())
        .env("XDG_CONFIG_HOME", settings())
        .args(arguments.split_whitespace())
        .args(["--device", &device().position()])
        .output()
        .unwrap();
    match ran.status.success() {
        true => Ok(String::from_utf8(ran.stdout).unwrap()),
        false => Err(String::from_utf8(ran.stderr).unwrap()),
    }
}

#[test]
fn products_and_solves_run_in_another_order_and_end_in_the_files_own() {
    let product = run("spmv poisson5 --scale 0.0002 --reordering rcm").unwrap();
    assert!(product.contains("verified: every row is right"), "{product}");
    let solved = run("solve poisson5 --scale 0.0002 --reordering clusters --json -").unwrap();
    let record: Value = serde_json::from_str(&solved).unwrap();
    assert_eq!(record["outcome"], "converged", "{record}");
}

#[test]
fn bench_times_every_order_that_is_asked_for_and_says_which_it_was() {
    let refused = run("bench spmv poisson5 --model --reordering rcm").unwrap_err();
    assert!(refused.contains("--model looks at the matrix as it is"), "{refused}");
    let refused = run("bench spmv poisson5 --order symmetric").unwrap_err();
    assert!(refused.contains("--order symmetric"), "{refused}");
    if is_interpreter(&device()) {
        return say(
            "skipped: bench spmv measures how fast memory is, which takes an interpreter minutes",
        );
    }
    let lines = run(
        "bench spmv poisson5 --scale 0.002 --value-type f32 --algorithms csr_scalar --reordering none,rcm,clusters \
         --order original,symmetric --json -",
    )
    .unwrap();
    let orders: Vec<[Value; 2]> = lines
        .lines()
        .map(|line| {
            let record: Value = serde_json::from_str(line).unwrap();
            assert_eq!(record["verified"], true, "{line}");
            assert_eq!(record["algorithm"], "csr_scalar", "{line}");
            ["reordering", "reordered_vectors"].map(|key| record[key].clone())
        })
        .collect();
    // Without a reordering there is one order alone.
    let expected = [
        [Value::Null, Value::Null],
        ["rcm".into(), "original".into()],
        ["rcm".into(), "symmetric".into()],
        ["clusters".into(), "original".into()],
        ["clusters".into(), "symmetric".into()],
    ];
    assert_eq!(orders, expected, "{lines}");
}

#[test]
fn info_explains_what_each_order_would_be_worth() {
    if is_interpreter(&device()) {
        return say(
            "skipped: the forecast measures how fast memory is, which takes an interpreter minutes",
        );
    }
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    fs::write(path("shuffled.mtx"), shuffled_grid(150)).unwrap();
    fs::write(
        path("diagonal.mtx"),
        "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1\n2 2 2\n",
    )
    .unwrap();
    let explain = |name: &str| -> (String, Value) {
        let words = run(&format!("info {} --explain --json {}", path(name), path("out"))).unwrap();
        (words, serde_json::from_str(&fs::read_to_string(path("out")).unwrap()).unwrap())
    };
    let (words, record) = explain("shuffled.mtx");
    assert!(words.contains("in another order (--reordering), by the bandwidth model"), "{words}");
    assert!(words.contains("would pay in a solver") || words.contains("would not pay"), "{words}");
    let forecast = &record["reordering"];
    assert!(forecast["as_it_is_us"].as_f64().unwrap() > 0.0, "{forecast}");
    let orders = forecast["orders"].as_array().unwrap();
    let names: Vec<_> = orders.iter().map(|order| order["reordering"].clone()).collect();
    assert_eq!(names, ["rcm", "clusters"], "{forecast}");
    assert!(orders.iter().all(|order| order["product_us"].as_f64().unwrap() > 0.0), "{forecast}");

    let (words, record) = explain("diagonal.mtx");
    assert!(words.contains("reordering would not pay"), "{words}");
    assert_eq!(record["reordering"], Value::Null);
}

/// A grid of `side`^2 points with their neighbours to the right, numbered anyhow.
fn shuffled_grid(side: usize) -> String {
    let points = side * side;
    // Its factor has no divisor in common with the number of points.
    let number = |point: usize| point * 7919 % points + 1;
    let right = (0..points).filter(|point| (point + 1) % side != 0).map(|point| (point, point + 1));
    let below = (0..points - side).map(|point| (point, point + side));
    let lines: Vec<String> = right
        .chain(below)
        .flat_map(|(a, b)| [(a, b), (b, a)])
        .map(|(a, b)| format!("{} {} 1\n", number(a), number(b)))
        .collect();
    let head = format!("{points} {points} {}\n", lines.len());
    format!("%%MatrixMarket matrix coordinate real general\n{head}{}", lines.concat())
}
