//! `sparrow bench --launches` on the device under test: products one by one, recorded, and by a command buffer.

use std::fs;

use crate::command_line::{settings, sparrow};
use conformance::{device, is_interpreter, say};
use sparrow_bench::Record;

const MATRIX: &str = "%%MatrixMarket matrix coordinate real general\n3 2 3\n1 1 1\n1 2 2\n3 2 3\n";

#[test]
fn bench_launches_sets_recorded_products_beside_those_launched_one_by_one() {
    if is_interpreter(&device()) {
        say("skipped: bench spmv measures how fast memory is, which takes an interpreter minutes");
        return;
    }
    let position = device().position();
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a.mtx"), MATRIX).unwrap();
    let ran = sparrow(folder.path())
        .env("XDG_CONFIG_HOME", settings())
        .args(["bench", "a.mtx", "--launches", "5", "--device", &position, "--value-type", "f32"])
        .args(["--algorithms", "csr_scalar,segmented_sum", "--variant", "cpu,fused"])
        .args(["--json", "out.jsonl"])
        .output()
        .unwrap();
    let words = String::from_utf8_lossy(&ran.stdout).into_owned();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    let lines = fs::read_to_string(folder.path().join("out.jsonl")).unwrap();
    let records: Vec<Record> =
        lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(records.len(), 3, "{lines}");
    for record in &records {
        assert!(record.verified, "{record:?}");
        if record.variant == "cpu" {
            // The CPU is in each of its products.
            assert_eq!(record.launches(), None);
            continue;
        }
        let found = record.launches().unwrap();
        assert_eq!(found.launches, 5);
        let times = [
            found.one_by_one_us,
            found.recorded_us,
            found.one_by_one_host_us,
            found.recorded_host_us,
        ];
        assert!(times.iter().all(|us| us.is_some_and(|us| us > 0.0)), "{found:?}");
        match &found.no_command_buffer {
            None => assert!(found.command_buffer_us.is_some_and(|us| us > 0.0), "{found:?}"),
            Some(why) => assert!(why.contains("no command buffer replays"), "{why}"),
        }
        let line = format!("a f32 {}, a product of 5: one by one", record.algorithm);
        assert!(words.contains(&line), "{words}");
    }
}
