//! `sparrow bench --model` on the device under test: products without their loads of x or of A, and the whole.

use std::fs;

use crate::command_line::{settings, sparrow};
use conformance::{compiles_slowly, device, is_interpreter, say};
use sparrow_bench::Record;

const MATRIX: &str = "%%MatrixMarket matrix coordinate real general\n3 2 3\n1 1 1\n1 2 2\n3 2 3\n";

#[test]
fn bench_model_sets_a_prediction_and_three_experiments_beside_each_time() {
    if is_interpreter(&device()) {
        say(
            "skipped: bench spmv --model measures how fast memory is, which takes an interpreter minutes",
        );
        return;
    }
    let position = device().position();
    // Each is compiled four times.
    let few = "csr_scalar,csr_vector,csr_adaptive,sell";
    let names = if compiles_slowly(&device()) { few } else { "all" };
    let all = ["--algorithms", names, "--value-type", "f32", "--json", "-"];
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a.mtx"), MATRIX).unwrap();
    let ran = sparrow(folder.path())
        .env("XDG_CONFIG_HOME", settings())
        .args(["bench", "a.mtx", "--model", "--device", &position])
        .args(all)
        .output()
        .unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    let stdout = String::from_utf8(ran.stdout).unwrap();
    let records: Vec<Record> =
        stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(records.len() >= 4, "{stdout}");
    for record in &records {
        let model = record.model().unwrap();
        assert!(record.verified && model.predicted_us > 0.0, "{record:?}");
        // Each element of x is loaded with a line or a sector at most.
        assert!(model.alpha > 0.0 && model.alpha <= 16.0, "{record:?}");
        let ratio = model.predicted_us / record.median_us.unwrap();
        let found = model.predicted_over_measured.unwrap();
        assert!((found / ratio - 1.0).abs() < 1e-12, "{found} {ratio}");
        let experiments = [model.x_constant_us, model.a_constant_us, model.both_constant_us];
        assert!(experiments.iter().all(|us| us.is_some_and(|us| us > 0.0)), "{record:?}");
        assert!(!record.kernel_key.contains("constant"), "what is timed is the whole product");
    }
}
