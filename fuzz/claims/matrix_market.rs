//! What the Matrix Market reader does with any bytes at all: it refuses them by an error or reads a
//! matrix whose invariants hold, the same one by every way of reading, and what is written of it reads
//! back to the same bits.

use std::io::Write as _;

use csr_core::io::{ReadOptions, write_matrix_market, write_vector};
use csr_core::{Csr, Error, Offset, RealValue, bf16, f16};
use rayon::{ThreadPool, ThreadPoolBuilder};

/// A matrix may well have four billion rows, and its row offsets then take 17 GB whatever else the file
/// holds. Up to here they are built.
const MAX_ROWS: usize = 1 << 16;

/// What errors call the input.
const NAME: &str = "input";

thread_local! {
    /// This thread and one more: rayon's way, without waiting for another thread to wake up.
    static TWO_THREADS: ThreadPool =
        ThreadPoolBuilder::new().num_threads(2).use_current_thread().build().unwrap();
}

pub(crate) fn check(bytes: &[u8]) {
    TWO_THREADS.with(|pool| assert_eq!(pool.current_num_threads(), 2));
    // Block borders everywhere: in no file of this size there would be any.
    let options = ReadOptions::new().block_bytes(1 + bytes.len() % 61);
    let text = |options: ReadOptions| {
        let coo = options.coo_from::<f64>(bytes, NAME).map_err(|error| match is_gzip(bytes) {
            // Of two faults, that of the text may show before that of the stream which holds it.
            true => "refused".to_owned(),
            false => error.to_string(),
        });
        format!("{coo:?}")
    };
    assert_eq!(text(options), text(ReadOptions::new()), "a border between blocks shows");
    check_as::<f64>(bytes, options);
    // One other type an input: all are reached, and no input costs four runs.
    match bytes.len() % 3 {
        0 => check_as::<f32>(bytes, options),
        1 => check_as::<f16>(bytes, options),
        _ => check_as::<bf16>(bytes, options),
    }
}

fn check_as<V: RealValue>(bytes: &[u8], options: ReadOptions) {
    let coo = options.coo_from::<V>(bytes, NAME).map_err(|error| error.to_string());
    if !is_gzip(bytes) {
        let compressed = gzip(bytes);
        let unpacked = options.coo_from::<V>(compressed.as_slice(), NAME);
        // NaN is no reason to differ, and its text is the same.
        assert_eq!(
            format!("{coo:?}"),
            format!("{:?}", unpacked.map_err(|error| error.to_string())),
            "gzip changes what is read"
        );
    }
    let coo = match coo {
        Ok(coo) => coo,
        Err(refusal) => {
            let other = options.csr_from::<V, u64>(bytes, NAME).unwrap_err();
            assert_eq!(other.to_string(), refusal, "the ways of reading disagree");
            options.vector_from::<V>(bytes, NAME).unwrap_err();
            return;
        }
    };
    assert!(coo.row_indices().iter().all(|&row| (row as usize) < coo.rows()));
    assert!(coo.column_indices().iter().all(|&column| (column as usize) < coo.cols()));
    if coo.rows() > MAX_ROWS {
        return;
    }
    // What is read so may still add up to more than the type holds, which only the sums show.
    let strict = options.csr_from::<V, u64>(bytes, NAME);
    let options = options.allow_overflow(true);
    let csr: Csr<V, u64> = options.csr_from(bytes, NAME).unwrap();
    match strict {
        Ok(strict) => assert_same(&csr, &strict),
        Err(error) => {
            assert!(matches!(error, Error::Overflow { .. }), "{error}");
            assert!(csr.values().iter().any(|value| !value.to_f64().is_finite()));
        }
    }
    assert_same(&csr, &Csr::from_coo(coo).unwrap());
    assert_valid(csr.clone());
    let narrow: Csr<V, u32> = options.csr_from(bytes, NAME).unwrap();
    assert_eq!(bits(narrow.values()), bits(csr.values()));
    assert_valid(narrow);
    check_vector(&csr, options.vector_from(bytes, NAME).ok());
    check_written(&csr, options);
}

/// The checked door agrees to what the reader trusts itself to have built.
fn assert_valid<V: RealValue, O: Offset>(csr: Csr<V, O>) {
    let view = csr.view();
    for row in 0..view.rows() {
        assert!(view.row(row).0.is_sorted_by(|a, b| a < b), "row {row} is not in order");
    }
    let (pattern, values) = csr.into_parts();
    let cols = pattern.cols();
    let (offsets, columns) = pattern.into_arrays();
    Csr::new(cols, offsets, columns, values).unwrap();
}

/// A matrix of one column is a vector, with zeros where it has no entry; any other is none.
fn check_vector<V: RealValue>(csr: &Csr<V, u64>, vector: Option<Vec<V>>) {
    let expected: Option<Vec<V>> = (csr.cols() == 1).then(|| {
        let value = |row| csr.view().row(row).1.first().copied();
        (0..csr.rows()).map(|row| value(row).unwrap_or(V::from_f64(0.0))).collect()
    });
    assert_eq!(vector.as_deref().map(bits), expected.as_deref().map(bits));
}

/// Plain and compressed, as a matrix and as a vector.
fn check_written<V: RealValue>(csr: &Csr<V, u64>, options: ReadOptions) {
    let folder = tempfile::tempdir().unwrap();
    for name in ["a.mtx", "a.mtx.gz"] {
        let path = folder.path().join(name);
        write_matrix_market(&path, csr.view()).unwrap();
        assert_same(csr, &options.csr(&path).unwrap());
    }
    let path = folder.path().join("v.mtx");
    write_vector(&path, csr.values()).unwrap();
    assert_eq!(bits(&options.vector::<V>(&path).unwrap()), bits(csr.values()));
}

fn assert_same<V: RealValue>(a: &Csr<V, u64>, b: &Csr<V, u64>) {
    assert_eq!(a.pattern(), b.pattern());
    assert_eq!(bits(a.values()), bits(b.values()));
}

/// Widening is exact. A file has one NaN, without sign or payload.
fn bits<V: RealValue>(values: &[V]) -> Vec<u64> {
    let bits = |value: &V| {
        let wide = value.to_f64();
        if wide.is_nan() { f64::NAN.to_bits() } else { wide.to_bits() }
    };
    values.iter().map(bits).collect()
}

fn is_gzip(bytes: &[u8]) -> bool {
    bytes.starts_with(&[0x1f, 0x8b])
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}
