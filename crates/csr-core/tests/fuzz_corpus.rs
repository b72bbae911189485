//! What the fuzz targets claim holds for every input of their corpora, on the stable compiler too.

#![expect(clippy::unwrap_used, reason = "a broken claim may panic, in the helpers of tests too")]
#![expect(clippy::print_stdout, reason = "the input is named before it is tried")]

#[path = "../../../fuzz/claims/matrix_market.rs"]
mod matrix_market;
#[path = "../../../fuzz/claims/row_blocks.rs"]
mod row_blocks;

use std::path::Path;

/// Runs `check` on every input of a corpus; the last line before a panic names the input.
fn replay(corpus: &str, check: fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(corpus);
    let mut inputs = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        println!("{}", path.display());
        check(&std::fs::read(path).unwrap());
        inputs += 1;
    }
    assert!(inputs >= 10, "{inputs} inputs");
}

#[test]
fn matrix_market_files_of_the_corpus_keep_the_claims() {
    replay("matrix_market", matrix_market::check);
}

#[test]
fn row_offsets_of_the_corpus_keep_the_claims() {
    replay("row_blocks", row_blocks::check);
}
