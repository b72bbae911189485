//! What the fuzz target of the device-table reader claims holds for every input of its corpus, on the
//! stable compiler too.

#![expect(clippy::unwrap_used, reason = "a broken claim may panic, in the helpers of tests too")]

#[path = "../../../fuzz/claims/device_table.rs"]
mod device_table;

use std::path::Path;

#[test]
fn device_tables_of_the_corpus_keep_the_claims() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/device_table");
    let mut inputs = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        println!("{}", path.display());
        device_table::check(&std::fs::read(path).unwrap());
        inputs += 1;
    }
    assert!(inputs >= 5, "{inputs} inputs");
}
