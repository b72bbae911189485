//! The reader against the fixtures of `data/mtx-cases`, against bad input, and with block boundaries
//! everywhere.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use flate2::Compression;
use flate2::write::GzEncoder;

use super::*;
use crate::Error;

/// One byte, a few lines, many lines, everything at once.
const BLOCKS: [usize; 5] = [1, 7, 40, 300, 1 << 18];

type Entry = (u32, u32, f64);

fn entries(coo: &Coo<f64>) -> Vec<Entry> {
    let indices = coo.row_indices().iter().zip(coo.column_indices());
    indices.zip(coo.values()).map(|((&row, &column), &value)| (row, column, value)).collect()
}

/// Reads with every block size, checks that all agree, and returns what they say.
fn read(text: &[u8]) -> Result<Coo<f64>, String> {
    let read = |block| {
        let options = ReadOptions::new().block_bytes(block);
        options.coo_from::<f64>(text, "a.mtx").map_err(|error| error.to_string())
    };
    let whole = read(1 << 18);
    for block in BLOCKS {
        // Debug text, because NaN differs from itself.
        assert_eq!(format!("{:?}", read(block)), format!("{whole:?}"), "blocks of {block} bytes");
    }
    whole
}

fn refusal(text: &str) -> String {
    let message = read(text.as_bytes()).unwrap_err();
    message.strip_prefix("mtx file \"a.mtx\", ").unwrap_or(&message).to_owned()
}

/// What is wrong with these lines after a banner of this kind.
fn refusal_of(kind: &str, lines: &str) -> String {
    refusal(&format!("%%MatrixMarket matrix {kind}\n{lines}"))
}

fn case(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/mtx-cases").join(name)
}

#[test]
fn every_valid_fixture_reads_as_its_matrix() {
    let table: &[(&str, (usize, usize), &[Entry])] = &[
        ("array.mtx", (2, 2), &[(0, 0, 1.0), (1, 0, 2.0), (0, 1, 3.0), (1, 1, 4.0)]),
        ("array_sym.mtx", (2, 2), &[(0, 0, 1.0), (1, 0, 2.0), (0, 1, 2.0), (1, 1, 3.0)]),
        ("blank_lines.mtx", (2, 2), &[(0, 0, 1.0)]),
        ("crlf.mtx", (2, 2), &[(0, 0, 1.0)]),
        ("dup.mtx", (2, 2), &[(0, 0, 1.0), (0, 0, 2.0)]),
        ("empty_rows.mtx", (0, 0), &[]),
        ("fortran_exp.mtx", (2, 2), &[(0, 0, 100.0)]),
        ("integer.mtx", (2, 2), &[(1, 0, 4.0)]),
        ("nan_inf.mtx", (2, 2), &[(0, 0, f64::NAN), (1, 1, f64::INFINITY)]),
        ("pattern.mtx", (2, 2), &[(0, 0, 1.0), (1, 1, 1.0)]),
        ("real_general.mtx", (2, 2), &[(0, 0, 1.5), (1, 1, -2000.0)]),
        ("skew.mtx", (2, 2), &[(1, 0, 4.0), (0, 1, -4.0)]),
        ("symmetric.mtx", (2, 2), &[(0, 0, 1.5), (1, 0, 4.0), (0, 1, 4.0)]),
        ("uppercase.mtx", (2, 2), &[(0, 0, 1.0)]),
    ];
    for (name, shape, expected) in table {
        let coo = read(&std::fs::read(case(name)).unwrap()).unwrap();
        assert_eq!((coo.rows(), coo.cols()), *shape, "{name}");
        assert_eq!(format!("{:?}", entries(&coo)), format!("{expected:?}"), "{name}");
        let from_file = read_matrix_market::<f64>(&case(name)).unwrap();
        assert_eq!(format!("{from_file:?}"), format!("{coo:?}"), "{name}");
        let csr: Csr<f64> = read_matrix_market_csr(&case(name)).unwrap();
        let expected: Csr<f64> = Csr::from_coo(coo).unwrap();
        assert_eq!(format!("{csr:?}"), format!("{expected:?}"), "{name}");
    }
}

#[test]
fn every_bad_fixture_is_refused_with_its_line_and_value() {
    let table = [
        ("complex.mtx", 1, "complex values are not supported; real, integer and pattern are"),
        ("hermitian.mtx", 1, "complex values are not supported; real, integer and pattern are"),
        ("huge_nnz.mtx", 3, "the file ends after 1 of 99999999999999 entries"),
        ("out_of_range.mtx", 3, "row 3 is outside 1..=2"),
        ("too_few.mtx", 3, "the file ends after 1 of 2 entries"),
        ("too_many.mtx", 4, "2 entries where the sizes declare 1"),
        ("zero_index.mtx", 3, "row 0 is outside 1..=2"),
    ];
    for (name, line, message) in table {
        let path = case(name);
        let expected = format!("mtx file {path:?}, line {line}: {message}");
        assert_eq!(read_matrix_market::<f64>(&path).unwrap_err().to_string(), expected);
        let text = std::fs::read(path).unwrap();
        let expected = format!("mtx file \"a.mtx\", line {line}: {message}");
        assert_eq!(read(&text).unwrap_err(), expected);
    }
    let listed = std::fs::read_dir(case("")).unwrap().count();
    assert_eq!(listed, 14 + table.len(), "a fixture is in no table");
}

#[test]
fn lines_that_are_no_entry_are_named_with_their_word() {
    let real = |lines| refusal_of("coordinate real general", lines);
    assert_eq!(real("2 3 1\n1 4 1.0\n"), "line 3: column 4 is outside 1..=3");
    assert_eq!(real("2 3 1\n-1 1 1.0\n"), "line 3: row -1 is outside 1..=2");
    assert_eq!(
        real("2 3 1\n1 99999999999999999999 1.0\n"),
        "line 3: column 99999999999999999999 is outside 1..=3"
    );
    assert_eq!(real("2 2 1\n\n1 1.5 1\n"), "line 4: column \"1.5\" is not a whole number");
    assert_eq!(real("2 2 1\n1 1 one\n"), "line 3: value \"one\" is not a number");
    assert_eq!(real("2 2 1\n1 1 1.0 2.0\n"), "line 3: \"2.0\" follows the value");
    assert_eq!(real("2 2 1\n1 1\n"), "line 3: \"1 1\" ends before its value");
    assert_eq!(real("2 2 1\n% c\n1"), "line 4: \"1\" ends before its column");
    assert_eq!(real("2 2 1\n1 1 5\0\n"), "line 3: value \"5\\x00\" is not a number");
    assert_eq!(real("2 2 1\n1 1 \u{e9}\n"), "line 3: value \"\\xc3\\xa9\" is not a number");
    assert_eq!(
        refusal_of("coordinate integer general", "2 2 1\n1 1 1.5\n"),
        "line 3: value \"1.5\" is not an integer"
    );
    assert_eq!(
        refusal_of("coordinate pattern general", "2 2 1\n1 1 1\n"),
        "line 3: \"1\" follows the column"
    );
    assert_eq!(
        refusal_of("coordinate real skew-symmetric", "2 2 1\n2 2 0\n"),
        "line 3: \"2 2 0\" is on the diagonal, which is empty in a skew-symmetric matrix"
    );
    assert_eq!(
        refusal_of("array real skew-symmetric", "2 2\n1 2\n"),
        "line 3: \"2\" follows the value"
    );
}

#[test]
fn files_that_end_early_or_say_nothing_are_refused() {
    assert_eq!(refusal(""), "line 1: the file is empty");
    assert_eq!(refusal("%%MatrixMarket matrix array real general"), NO_SIZES);
    assert_eq!(
        refusal_of("array real general", "% c\n\n"),
        "line 3: the file ends before its sizes"
    );
    assert!(refusal("\n").starts_with("line 1: \"\" is not the banner"));
    assert!(refusal("1 1 1\n").starts_with("line 1: \"1 1 1\" is not the banner"));
    assert_eq!(
        refusal_of("array real general", "2 2\n1\n2\n3\n"),
        "line 5: the file ends after 3 of 4 entries"
    );
    assert_eq!(
        refusal_of("array real general", "1 1\n1\n\n2\n3\n"),
        "line 5: 3 entries where the sizes declare 1"
    );
    assert_eq!(
        refusal_of("coordinate real symmetric", "2 3 0\n"),
        "line 2: a symmetric matrix must be square, and 2 x 3 is not"
    );
    assert_eq!(
        refusal_of("coordinate real general", "2 4294967296 0\n"),
        "line 2: the number of columns, 4294967296, is above the limit of 4294967295"
    );
    assert_eq!(refusal_of("array real general", "4294967295 4294967295\n1\n"), HUGE_ARRAY);
}

const NO_SIZES: &str = "line 1: the file ends before its sizes";
const HUGE_ARRAY: &str = "line 3: the file ends after 1 of 18446744065119617025 entries";

#[test]
fn sizes_beyond_the_offset_type_are_refused_before_the_entries_are_read() {
    let error = read_matrix_market_csr::<f64, u32>(&case("huge_nnz.mtx")).unwrap_err();
    let message = "line 2: 99999999999999 entries are above the limit of 4294967295 of u32 offsets";
    assert!(error.to_string().ends_with(message), "{error}");
    let error = read_matrix_market_csr::<f64, u64>(&case("huge_nnz.mtx")).unwrap_err();
    assert!(error.to_string().ends_with("ends after 1 of 99999999999999 entries"), "{error}");
}

#[test]
fn lines_too_long_to_be_anything_are_refused() {
    let text = [b"%%MatrixMarket matrix array real general\n% ".to_vec(), vec![b'x'; 3 << 20]];
    let error = ReadOptions::new().coo_from::<f64>(text.concat().as_slice(), "a.mtx").unwrap_err();
    assert_eq!(
        error.to_string(),
        "mtx file \"a.mtx\", line 2: the line is longer than 1048576 bytes"
    );
}

#[test]
fn a_long_line_is_refused_by_its_number_wherever_batches_and_blocks_end() {
    let head = "%%MatrixMarket matrix coordinate real general\n% c\n2 2 2\n1 1 1\n";
    let long = |bytes: usize| format!("{head}%{}\n2 2 2\n", "x".repeat(bytes - 1));
    let read = |text: &str, block| {
        let options = ReadOptions::new().block_bytes(block);
        options.coo_from::<f64>(text.as_bytes(), "a.mtx").map_err(|error| error.to_string())
    };
    let refused = "mtx file \"a.mtx\", line 5: the line is longer than 1048576 bytes".to_owned();
    for block in [1 << 10, 1 << 18, 8 << 20] {
        assert_eq!(read(&long((1 << 20) + 1), block), Err(refused.clone()), "{block}");
        assert!(read(&long(1 << 20), block).is_ok(), "{block}");
    }
    let before_sizes =
        format!("%%MatrixMarket matrix array real general\n%{}\n", "x".repeat(2 << 20));
    let error = read(&before_sizes, 8 << 20).unwrap_err();
    assert!(error.contains("line 2: the line is longer than"), "{error}");
}

#[test]
fn empty_shapes_are_valid() {
    for (kind, sizes, shape) in [
        ("coordinate real general", "0 5 0", (0, 5)),
        ("coordinate pattern symmetric", "3 3 0", (3, 3)),
        ("coordinate integer general", "4 0 0", (4, 0)),
        ("array real general", "0 3", (0, 3)),
        ("array real general", "3 0", (3, 0)),
        ("array real skew-symmetric", "1 1", (1, 1)),
    ] {
        let text = format!("%%MatrixMarket matrix {kind}\n{sizes}");
        let coo = read(text.as_bytes()).unwrap();
        assert_eq!((coo.rows(), coo.cols(), coo.nnz()), (shape.0, shape.1, 0), "{kind} {sizes}");
        let csr: Csr<f64> = ReadOptions::new().csr_from(text.as_bytes(), "a.mtx").unwrap();
        assert_eq!((csr.rows(), csr.cols(), csr.nnz()), (shape.0, shape.1, 0), "{kind} {sizes}");
    }
}

#[test]
fn blanks_tabs_comments_and_a_missing_last_line_end_change_nothing() {
    let text = "%%MATRIXMARKET\tmatrix  coordinate double General \r\n%\n  % c\n \t\r\n 3\t4  3 \r\n\
                \t1 1\t+1.0\r\n% between\r\n\r\n  2   3  -INF  \n3 4 1.D0";
    let expected = [(0, 0, 1.0), (1, 2, f64::NEG_INFINITY), (2, 3, 1.0)];
    assert_eq!(entries(&read(text.as_bytes()).unwrap()), expected);
}

#[test]
fn skew_arrays_list_what_is_strictly_below_the_diagonal() {
    let text = "%%MatrixMarket matrix array integer skew-symmetric\n3 3\n1\n2\n3\n";
    let coo = read(text.as_bytes()).unwrap();
    let pairs = [(1, 0, 1.0), (0, 1, -1.0), (2, 0, 2.0), (0, 2, -2.0), (2, 1, 3.0), (1, 2, -3.0)];
    assert_eq!(entries(&coo), pairs);
}

/// A file of `lines` entries all over a small matrix, so that everything repeats, with sums that
/// depend on their order.
fn repeating(lines: usize) -> String {
    let mut text = format!("%%MatrixMarket matrix coordinate real general\n9 7 {lines}\n");
    for line in 0..lines {
        let value = 10f64.powi(line as i32 * 7 % 31 - 15) * (1.0 + line as f64);
        writeln!(text, "{} {} {value:e}", line * 5 % 9 + 1, line * 11 % 7 + 1).unwrap();
    }
    text
}

#[test]
fn duplicates_are_summed_in_the_order_of_the_file_whatever_threads_and_blocks() {
    let text = repeating(3000);
    let mut expected = vec![0.0; 63];
    for line in text.lines().skip(2) {
        let words: Vec<&str> = line.split(' ').collect();
        let (row, column): (usize, usize) = (words[0].parse().unwrap(), words[1].parse().unwrap());
        expected[(row - 1) * 7 + column - 1] += words[2].parse::<f64>().unwrap();
    }
    for threads in [1, 2, 5] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        for block in BLOCKS {
            let options = ReadOptions::new().block_bytes(block);
            let csr: Csr<f64> =
                pool.install(|| options.csr_from(text.as_bytes(), "a.mtx")).unwrap();
            assert_eq!(csr.values(), expected, "{threads} threads, blocks of {block}");
        }
    }
}

#[test]
fn the_first_fault_of_the_file_is_reported_whatever_the_blocks() {
    let mut lines: Vec<String> = repeating(500).lines().map(str::to_owned).collect();
    lines[170] = "1 8 1".to_owned();
    lines[400] = "0 1 1".to_owned();
    assert_eq!(refusal(&lines.join("\n")), "line 171: column 8 is outside 1..=7");
}

fn gzip(text: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn gzip_is_known_by_its_content_and_may_have_many_members() {
    let text = repeating(400);
    let plain = read(text.as_bytes()).unwrap();
    assert_eq!(read(&gzip(text.as_bytes())).unwrap(), plain);
    let (head, rest) = text.as_bytes().split_at(1001);
    assert_eq!(read(&[gzip(head), gzip(rest)].concat()).unwrap(), plain);
}

#[test]
fn gzip_cut_short_anywhere_is_refused() {
    let packed = gzip(repeating(200).as_bytes());
    for len in [2, 9, 15, packed.len() / 2, packed.len() - 9, packed.len() - 1] {
        let error = ReadOptions::new().coo_from::<f64>(&packed[..len], "a.mtx.gz").unwrap_err();
        let message = error.to_string();
        let expected = "cannot read \"a.mtx.gz\": the gzip data is damaged or cut short: ";
        assert!(message.starts_with(expected), "cut at {len}: {message}");
    }
}

#[test]
fn what_is_no_file_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let error = read_matrix_market::<f64>(folder.path()).unwrap_err();
    assert_eq!(error.to_string(), format!("cannot open {:?}: is a directory", folder.path()));
    let missing = folder.path().join("none.mtx");
    let error = read_matrix_market::<f64>(&missing).unwrap_err();
    assert!(error.to_string().starts_with(&format!("cannot open {missing:?}: No such file")));
    let Error::Io { reason, .. } = error else { panic!("{error}") };
    assert_eq!(reason.kind(), std::io::ErrorKind::NotFound);
}

#[test]
fn a_reader_that_fails_midway_is_an_error_and_not_a_short_matrix() {
    struct Broken;
    impl std::io::Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> std::io::Result<usize> {
            Err(std::io::Error::other("the cable is out"))
        }
    }
    let text = "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 1\n";
    let stream = std::io::Read::chain(text.as_bytes(), Broken);
    let error = ReadOptions::new().coo_from::<f64>(stream, "pipe").unwrap_err();
    assert_eq!(error.to_string(), "cannot read \"pipe\": the cable is out");
}

#[test]
fn vectors_are_arrays_or_coordinates_of_one_column() {
    let read = |text: &str| {
        let text = format!("%%MatrixMarket matrix {text}");
        ReadOptions::new().vector_from::<f64>(text.as_bytes(), "x").map_err(|e| e.to_string())
    };
    assert_eq!(read("array real general\n3 1\n1\n-2\n0.5\n"), Ok(vec![1.0, -2.0, 0.5]));
    assert_eq!(read("array integer symmetric\n1 1\n4\n"), Ok(vec![4.0]));
    assert_eq!(
        read("coordinate real general\n4 1 3\n4 1 2\n2 1 1\n4 1 3\n"),
        Ok(vec![0.0, 1.0, 0.0, 5.0])
    );
    assert_eq!(read("array real general\n0 1\n"), Ok(vec![]));
    assert_eq!(
        read("array real general\n1 3\n1\n2\n3\n"),
        Err("mtx file \"x\", line 2: the file has 3 columns where a vector has 1".to_owned())
    );
}

#[test]
fn sizes_are_read_without_entries_and_count_mirror_images() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.mtx");
    let sizes = |text: &str| {
        // No entries follow.
        std::fs::write(&path, format!("%%MatrixMarket matrix {text}")).unwrap();
        ReadOptions::new().sizes(&path)
    };
    let found = |most_entries, has_coordinates| FileSizes {
        rows: 4,
        cols: 4,
        most_entries,
        has_coordinates,
    };
    assert_eq!(sizes("coordinate real general\n4 4 5\n").unwrap(), found(5, true));
    assert_eq!(sizes("coordinate pattern symmetric\n% x\n\n4 4 5\n").unwrap(), found(10, true));
    assert_eq!(sizes("coordinate real skew-symmetric\n4 4 5\n").unwrap(), found(10, true));
    assert!(!sizes("array real general\n4 4\n").unwrap().has_coordinates);
    assert!(sizes("coordinate real general\n4 4\n").is_err());
}

#[test]
fn progress_ends_at_the_whole_file() {
    let folder = tempfile::tempdir().unwrap();
    for (name, bytes) in
        [("a.mtx", repeating(900).into_bytes()), ("a.mtx.gz", gzip(repeating(900).as_bytes()))]
    {
        let path = folder.path().join(name);
        std::fs::write(&path, &bytes).unwrap();
        let seen = Mutex::new(Vec::new());
        let hook = |done, total| seen.lock().unwrap().push((done, total));
        let options = ReadOptions::new().block_bytes(100).progress(&hook);
        options.csr::<f64, u32>(&path).unwrap();
        let seen = seen.into_inner().unwrap();
        let total = bytes.len() as u64;
        assert!(seen.len() > 1 && seen.is_sorted(), "{name}: {seen:?}");
        assert_eq!(seen.last(), Some(&(total, total)), "{name}");
    }
}
