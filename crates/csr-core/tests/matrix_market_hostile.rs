//! Files that somebody has tampered with are read or refused: no panic, no memory for what a file only
//! claims to hold.

#![expect(clippy::unwrap_used, reason = "a broken claim may panic, in the helpers of tests too")]

use std::io::Write;
use std::time::{Duration, SystemTime};

use csr_core::io::{ReadOptions, read_matrix_market, read_matrix_market_csr};
use csr_core::{Csr, Error};
use proptest::prelude::*;

const VALID: &str = "%%MatrixMarket matrix coordinate real symmetric\n% comment\n\n40 40 6\n\
                     1 1 1.5\n2 1 -2e3\n17 4 1.0D+02\n40 40 nan\n9 8 12345678901234567\n40 1 3\n";

#[derive(Clone, Debug)]
enum Damage {
    Replace(usize, u8),
    Insert(usize, u8),
    Remove(usize, usize),
    Cut(usize),
}

fn damage() -> impl Strategy<Value = Damage> {
    // Bytes that mean something hurt more than others.
    let telling = b"0123456789 \n\t\r%-+.eEdDnif".to_vec();
    let byte = prop_oneof![any::<u8>(), prop::sample::select(telling)];
    prop_oneof![
        4 => (any::<usize>(), byte.clone()).prop_map(|(at, byte)| Damage::Replace(at, byte)),
        4 => (any::<usize>(), byte).prop_map(|(at, byte)| Damage::Insert(at, byte)),
        2 => (any::<usize>(), 1..30usize).prop_map(|(at, len)| Damage::Remove(at, len)),
        1 => any::<usize>().prop_map(Damage::Cut),
    ]
}

fn damaged(mut bytes: Vec<u8>, damages: &[Damage]) -> Vec<u8> {
    for damage in damages {
        let len = bytes.len();
        match *damage {
            _ if len == 0 => {}
            Damage::Replace(at, byte) => bytes[at % len] = byte,
            Damage::Insert(at, byte) => bytes.insert(at % len, byte),
            Damage::Remove(at, count) => drop(bytes.drain(at % len..(at % len + count).min(len))),
            Damage::Cut(at) => bytes.truncate(at % len),
        }
    }
    bytes
}

fn gzip(text: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

/// Reads in every way; whatever is accepted must hold its invariants.
fn read_all(bytes: &[u8]) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.mtx");
    std::fs::write(&path, bytes).unwrap();
    let from_file = read_matrix_market::<f64>(&path).map_err(|error| error.to_string());
    let from_stream = ReadOptions::new()
        .coo_from::<f64>(bytes, &path.to_string_lossy())
        .map_err(|error| error.to_string());
    assert_eq!(format!("{from_file:?}"), format!("{from_stream:?}"));
    let Ok(coo) = from_file else { return };
    assert!(coo.row_indices().iter().all(|&row| (row as usize) < coo.rows()));
    assert!(coo.column_indices().iter().all(|&column| (column as usize) < coo.cols()));
    // A matrix may well have four billion rows; here their offsets are not needed.
    if coo.rows() < 1_000_000 {
        // Entries of one place may add up to more than an f64 holds.
        let options = ReadOptions::new().allow_overflow(true);
        let csr: Csr<f64, u64> = options.csr(&path).unwrap();
        let (pattern, values) = csr.into_parts();
        let cols = pattern.cols();
        let (offsets, columns) = pattern.into_arrays();
        Csr::new(cols, offsets, columns, values).unwrap();
    }
}

/// The most address space this process has had, in bytes: memory that was never touched counts too.
#[cfg(target_os = "linux")]
fn peak_address_space() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmPeak:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() * 1024
}

/// What this thread has had of a processor, however many others want one; the clock where that is not counted.
fn processor_time() -> Duration {
    let counted = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    match counted.split(' ').next().and_then(|first| first.parse().ok()) {
        Some(nanoseconds) => Duration::from_nanos(nanoseconds),
        None => SystemTime::UNIX_EPOCH.elapsed().unwrap(),
    }
}

#[test]
fn columns_of_no_rows_take_no_time() {
    let start = processor_time();
    let text = "%%MatrixMarket matrix array real general\n0 4294967295\n";
    let coo = ReadOptions::new().coo_from::<f64>(text.as_bytes(), "a.mtx").unwrap();
    assert_eq!((coo.rows(), coo.cols(), coo.nnz()), (0, u32::MAX as usize, 0));
    let took = processor_time() - start;
    assert!(took < Duration::from_secs(3), "{took:?}");
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(500)
    })]

    #[test]
    fn damaged_files_are_read_or_refused(damages in prop::collection::vec(damage(), 1..6)) {
        read_all(&damaged(VALID.as_bytes().to_vec(), &damages));
    }

    #[test]
    fn damaged_gzip_is_read_or_refused(damages in prop::collection::vec(damage(), 1..3)) {
        read_all(&damaged(gzip(VALID.as_bytes()), &damages));
    }

    #[test]
    fn unbelievable_sizes_allocate_nothing(
        format in prop::sample::select(vec!["coordinate", "array"]),
        rows in 1..u32::MAX,
        cols in 1..u32::MAX,
        entries in 1..u64::MAX / 2,
    ) {
        let entries = if format == "array" { String::new() } else { format!(" {entries}") };
        let text = format!("%%MatrixMarket matrix {format} real general\n{rows} {cols}{entries}\n");
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.mtx");
        for bytes in [text.as_bytes().to_vec(), gzip(text.as_bytes())] {
            std::fs::write(&path, bytes).unwrap();
            let error = read_matrix_market::<f64>(&path).unwrap_err();
            prop_assert!(matches!(error, Error::MatrixMarket { .. }), "{}", error);
            prop_assert!(read_matrix_market_csr::<f64, u64>(&path).is_err());
        }
        #[cfg(target_os = "linux")]
        prop_assert!(peak_address_space() < 8 << 30, "{} bytes", peak_address_space());
    }
}
