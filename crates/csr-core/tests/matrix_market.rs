//! Files written and read back, bit for bit.

#![expect(clippy::unwrap_used, reason = "a broken claim may panic, in the helpers of tests too")]

use std::path::Path;

use csr_core::io::{read_matrix_market_csr, read_vector, write_matrix_market, write_vector};
use csr_core::{Csr, Offset, RealValue, bf16, f16};
use proptest::prelude::*;

/// Where an entry stands, and the bits its value is made of.
type Entry = (usize, usize, u64);

fn shape_and_entries() -> impl Strategy<Value = (usize, usize, Vec<Entry>)> {
    (0..40usize, 0..40usize).prop_flat_map(|(rows, cols)| {
        let entry = (0..rows.max(1), 0..cols.max(1), any::<u64>());
        let most = if rows * cols == 0 { 0 } else { 200 };
        (Just(rows), Just(cols), prop::collection::vec(entry, 0..=most))
    })
}

/// A matrix without repeated indices, so that nothing is summed on the way.
fn matrix<V: RealValue, O: Offset>(
    (rows, cols, mut entries): (usize, usize, Vec<Entry>),
    from_bits: impl Fn(u64) -> V,
) -> Csr<V, O> {
    entries.sort_by_key(|&(row, column, _)| (row, column));
    entries.dedup_by_key(|&mut (row, column, _)| (row, column));
    let end_of = |rows: usize| entries.partition_point(|&(row, _, _)| row < rows);
    let offsets = (0..=rows).map(|row| O::try_from_usize(end_of(row)).unwrap()).collect();
    let columns = entries.iter().map(|&(_, column, _)| column as u32).collect();
    let values = entries.iter().map(|&(_, _, bits)| from_bits(bits)).collect();
    Csr::new(cols, offsets, columns, values).unwrap()
}

/// The bits of values, all NaN taken as one: a file says `nan` and no more.
fn bits<V: RealValue>(values: &[V]) -> Vec<u64> {
    let of = |value: &V| {
        let value = value.to_f64();
        if value.is_nan() { u64::MAX } else { value.to_bits() }
    };
    values.iter().map(of).collect()
}

fn comes_back<V: RealValue, O: Offset>(matrix: &Csr<V, O>, name: &str) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    write_matrix_market(&path, matrix.view()).unwrap();
    let read: Csr<V, O> = read_matrix_market_csr(&path).unwrap();
    assert_eq!(read.pattern(), matrix.pattern());
    assert_eq!(bits(read.values()), bits(matrix.values()));
    write_vector(&path, matrix.values()).unwrap();
    assert_eq!(bits(&read_vector::<V>(&path).unwrap()), bits(matrix.values()));
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(64)
    })]

    #[test]
    fn written_matrices_and_vectors_read_back_bit_for_bit(
        parts in shape_and_entries(),
        name in prop::sample::select(vec!["a.mtx", "a.mtx.gz"]),
    ) {
        comes_back(&matrix::<f64, u32>(parts.clone(), f64::from_bits), name);
        comes_back(&matrix::<f32, u64>(parts.clone(), |b| f32::from_bits(b as u32)), name);
        comes_back(&matrix::<f16, u32>(parts.clone(), |b| f16::from_bits(b as u16)), name);
        comes_back(&matrix::<bf16, u32>(parts, |b| bf16::from_bits(b as u16)), name);
    }
}

#[test]
fn every_sixteen_bit_value_reads_back() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.mtx");
    let halves: Vec<f16> = (0..=u16::MAX).map(f16::from_bits).collect();
    write_vector(&path, &halves).unwrap();
    assert_eq!(bits(&read_vector::<f16>(&path).unwrap()), bits(&halves));
    let brains: Vec<bf16> = (0..=u16::MAX).map(bf16::from_bits).collect();
    write_vector(&path, &brains).unwrap();
    assert_eq!(bits(&read_vector::<bf16>(&path).unwrap()), bits(&brains));
}

/// What a file says after its banner.
fn text_of<V: RealValue>(vector: &[V]) -> String {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.mtx");
    write_vector(&path, vector).unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    text.strip_prefix("%%MatrixMarket matrix array real general\n").unwrap().to_owned()
}

#[test]
fn values_are_spelled_as_shortly_as_reads_back() {
    let wide = [0.1, -0.0, 4.0, 1e300, -1e-7, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e16];
    assert_eq!(text_of(&wide), "9 1\n0.1\n-0\n4\n1e300\n-1e-7\nnan\ninf\n-inf\n1e16\n");
    assert_eq!(text_of(&[0.1f32, 1e-40]), "2 1\n0.1\n1e-40\n");
    let half = [0.1, 65504.0, 6e-8].map(f16::from_f64);
    assert_eq!(text_of(&half), "3 1\n0.1\n65500\n6e-8\n");
    let brain = [0.1, 1e38].map(bf16::from_f64);
    assert_eq!(text_of(&brain), "2 1\n0.1\n1e38\n");
}

/// Large enough for several chunks of the writer and several batches of the reader, with runs of
/// empty rows and one long row.
fn large() -> Csr<f64, u32> {
    let mut offsets = vec![0u32];
    let mut columns = Vec::new();
    for row in 0..60_000u32 {
        let length = if row == 777 { 50_000 } else { row % 7 * u32::from(row % 1000 < 900) };
        let first = columns.len();
        columns.extend((0..length).map(|k| (k + row) % 60_000));
        columns[first..].sort_unstable();
        offsets.push(columns.len() as u32);
    }
    let values = (0..columns.len()).map(|k| 1.0 / (k as f64 + 3.0)).collect();
    Csr::new(60_000, offsets, columns, values).unwrap()
}

#[test]
fn many_blocks_read_back_in_their_order() {
    let matrix = large();
    comes_back(&matrix, "a.mtx");
    comes_back(&matrix, "a.mtx.gz");
}

#[test]
fn a_failed_write_leaves_the_old_file_and_no_other() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("none").join("a.mtx");
    let error = write_vector(&path, &[1.0f64]).unwrap_err();
    assert!(error.to_string().starts_with(&format!("cannot write {path:?}: ")), "{error}");
    let error = write_vector(folder.path(), &[1.0f64]).unwrap_err();
    assert_eq!(error.to_string(), format!("cannot write {:?}: is a directory", folder.path()));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    let path = folder.path().join("a.mtx");
    write_vector(&path, &[1.0f64]).unwrap();
    write_vector(&path, &[2.0f64]).unwrap();
    assert_eq!(read_vector::<f64>(&path).unwrap(), [2.0]);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[cfg(unix)]
#[test]
fn written_files_follow_links_and_the_mask_of_the_user() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let at = |name| folder.path().join(name);
    let (real, link, plain) = (at("real.mtx"), at("link.mtx"), at("plain"));
    std::fs::write(&plain, "").unwrap();
    write_vector(&real, &[1.0f64]).unwrap();
    std::os::unix::fs::symlink(&real, &link).unwrap();
    write_vector(&link, &[2.0f64]).unwrap();
    assert_eq!(read_vector::<f64>(&real).unwrap(), [2.0]);
    assert!(std::fs::symlink_metadata(&link).unwrap().is_symlink());
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode();
    assert_eq!(mode(&real), mode(&plain));
    // A device is written to, never replaced.
    write_vector(Path::new("/dev/null"), &[1.0f64]).unwrap();
    assert!(!std::fs::metadata("/dev/null").unwrap().is_file());
}
