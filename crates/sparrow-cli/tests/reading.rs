//! What the command makes of values that a type does not hold, and of what a matrix may come in. No OpenCL is needed.

#![expect(clippy::unwrap_used, reason = "a test panics when its claim is broken")]

use std::fs;
use std::io::Write as _;
use std::process::{Command, Output};

use tempfile::TempDir;

const B: &str = "%%MatrixMarket matrix array real general\n2 1\n3\n4\n";

fn matrix(field: &str, values: [&str; 2]) -> String {
    let [first, last] = values;
    format!("%%MatrixMarket matrix coordinate {field} general\n2 2 2\n1 1 {first}\n2 2 {last}\n")
}

/// A folder with these files, in which the command runs on the host.
struct Folder(TempDir);

impl Folder {
    fn with(files: &[(&str, &[u8])]) -> Self {
        let folder = Folder(tempfile::tempdir().unwrap());
        for (name, bytes) in files {
            fs::write(folder.0.path().join(name), bytes).unwrap();
        }
        folder
    }

    fn run(&self, line: &str) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_sparrow"));
        command.current_dir(self.0.path()).env_remove("SPARROW_DEVICE").env_remove("SPARROW_LOG");
        command.args(line.split(' ')).args(["--device", "host"]).output().unwrap()
    }

    fn text(&self, name: &str) -> String {
        fs::read_to_string(self.0.path().join(name)).unwrap()
    }

    /// Standard output and standard error of a command that is done.
    #[track_caller]
    fn done(&self, line: &str) -> (String, String) {
        let output = self.run(line);
        assert_eq!(output.status.code(), Some(0), "{line}: {}", words(&output.stderr));
        (words(&output.stdout), words(&output.stderr))
    }

    /// Standard error of a command that refuses its input.
    #[track_caller]
    fn refused(&self, line: &str) -> String {
        let output = self.run(line);
        let stderr = words(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{line}: {stderr}");
        assert_eq!(words(&output.stdout), "", "{line}");
        stderr
    }
}

fn words(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn a_number_beyond_f64_is_refused_with_its_line_unless_it_may_be_infinite() {
    let over = matrix("real", ["1e400", "1e-400"]);
    let folder = Folder::with(&[
        ("over.mtx", over.as_bytes()),
        ("x.mtx", B.replace('3', "-1e999").as_bytes()),
        ("a.mtx", matrix("real", ["1", "2"]).as_bytes()),
    ]);
    for line in ["spmv over.mtx", "info over.mtx", "bench over.mtx", "spmv over.mtx --out y.mtx"] {
        let error = folder.refused(line);
        let said =
            "\"over.mtx\", line 3: \"1e400\" is beyond the largest f64, 1.7976931348623157e308";
        assert!(error.contains(said) && error.contains("--allow-overflow"), "{line}: {error}");
        assert!(!error.contains("--value-type"), "no type is wider: {line}: {error}");
    }
    let error = folder.refused("spmv a.mtx --x x.mtx");
    assert!(error.contains("\"x.mtx\", line 3: \"-1e999\" is beyond"), "{error}");
    let (stdout, stderr) = folder.done("spmv over.mtx --allow-overflow --out y.mtx --json r.json");
    assert!(stdout.contains("every row is right, 1 of 2 with NaN or infinity"), "{stdout}");
    assert!(
        stderr.contains("over: 1 value is too large for f64, and read as infinite"),
        "{stderr}"
    );
    assert!(
        stderr.contains("over: 1 value is too small for f64, and read as 0; the first on line 4")
    );
    assert!(folder.text("y.mtx").contains("inf\n"));
    let record: serde_json::Value = serde_json::from_str(&folder.text("r.json")).unwrap();
    assert_eq!((&record["verified"], &record["non_finite"]), (&true.into(), &1.into()));
}

#[test]
fn integers_that_are_rounded_are_told_once_on_standard_error() {
    let large = matrix("integer", ["9007199254740993", "9223372036854775807"]);
    let folder = Folder::with(&[("i.mtx", large.as_bytes())]);
    let told = "sparrow: i: 2 integers are rounded to f64; the first on line 3\n";
    let (stdout, stderr) = folder.done("spmv i.mtx --json -");
    // Words follow, where standard output has data.
    assert!(stderr.starts_with(told) && stderr.matches("rounded").count() == 1, "{stderr}");
    assert_eq!(stdout.lines().count(), 1);
    let (_, stderr) = folder.done("info i.mtx");
    assert_eq!(stderr, told);
}

#[test]
fn integers_of_vectors_that_are_rounded_are_told_as_those_of_matrices_are() {
    let vector = |field: &str, value: &str| {
        format!("%%MatrixMarket matrix array {field} general\n2 1\n1\n{value}\n")
    };
    let folder = Folder::with(&[
        ("a.mtx", matrix("real", ["1", "2"]).as_bytes()),
        ("i.mtx", vector("integer", "16777217").as_bytes()),
        ("r.mtx", vector("real", "16777217").as_bytes()),
        ("big.mtx", vector("integer", "9007199254740993").as_bytes()),
    ]);
    for (line, what) in [
        ("spmv a.mtx --x", "--x"),
        ("spmv a.mtx --beta 1 --y", "--y"),
        ("solve a.mtx --method bicgstab --tol 1e-3 --b", "--b"),
        ("solve a.mtx --method bicgstab --tol 1e-3 --x", "--x"),
    ] {
        let told = |line: &str| folder.done(line).1;
        assert_eq!(
            told(&format!("{line} i.mtx --value-type f32")),
            format!("sparrow: {what} i.mtx: 1 integer is rounded to f32; the first in row 2\n")
        );
        assert_eq!(
            told(&format!("{line} big.mtx")),
            format!("sparrow: {what} big.mtx: 1 integer is rounded to f64; the first on line 4\n")
        );
        assert_eq!(told(&format!("{line} i.mtx")), "");
        assert_eq!(told(&format!("{line} r.mtx --value-type f32")), "");
    }
    let (_, stderr) = folder.done("spmv a.mtx --alpha 16777217 --value-type f32");
    assert_eq!(stderr, "sparrow: --alpha 16777217 is rounded to f32, 16777216\n");
}

#[test]
fn sums_of_integers_that_are_rounded_are_told_once() {
    let twice = "%%MatrixMarket matrix coordinate integer general\n2 2 4\n1 1 1\n2 2 9007199254740992\n2 2 1\n2 1 1\n";
    let vector =
        "%%MatrixMarket matrix coordinate integer general\n2 1 2\n2 1 9007199254740992\n2 1 1\n";
    let folder = Folder::with(&[("i.mtx", twice.as_bytes()), ("x.mtx", vector.as_bytes())]);
    let told = "sparrow: i: 1 sum of integers is rounded to f64; the first in row 2, column 2\n";
    for line in ["info i.mtx", "spmv i.mtx", "bench i.mtx --value-type f64,f32"] {
        assert_eq!(folder.done(line).1, told, "{line}");
    }
    let (_, stderr) = folder.done("spmv i.mtx --x x.mtx");
    let of_x = "sparrow: --x x.mtx: 1 sum of integers is rounded to f64; the first in row 2\n";
    assert_eq!(stderr, format!("{told}{of_x}"));
}

#[test]
fn a_value_beyond_what_a_stores_is_refused_by_row_and_column_from_1() {
    let folder = Folder::with(&[("h.mtx", matrix("real", ["1", "70000"]).as_bytes())]);
    let error = folder.refused("bench h.mtx --value-type f16");
    assert!(
        error.contains("h, row 2, column 2: 70000 is beyond the largest f16, 65504"),
        "{error}"
    );
    assert!(error.contains("--value-type f64"), "{error}");
    let line = "bench h.mtx --value-type f16 --allow-overflow --json r.json";
    let (stdout, stderr) = folder.done(line);
    assert!(stdout.contains("the 1 result verified (1 with NaN or infinity)"), "{stdout}");
    assert!(stdout.contains("NaN or inf"), "{stdout}");
    let told =
        "h: 1 value is too large for f16, and taken as infinite; the first in row 2, column 2";
    assert!(stderr.contains(told), "{stderr}");
    let record: serde_json::Value = serde_json::from_str(&folder.text("r.json")).unwrap();
    assert_eq!((&record["verified"], &record["non_finite"]), (&true.into(), &1.into()));
}

#[test]
fn scalars_are_finite_numbers_that_f64_holds() {
    let folder = Folder::with(&[("a.mtx", matrix("real", ["1", "2"]).as_bytes())]);
    for (option, words) in [
        ("--alpha 1e400", "beyond the largest f64"),
        ("--alpha nan", "must be finite"),
        ("--alpha -inf", "must be finite"),
        ("--beta 1e-400", "below the smallest f64"),
        ("--beta two", "must be a number"),
        ("--scale 1e999", "beyond the largest f64"),
    ] {
        let error = folder.refused(&format!("spmv a.mtx {option}"));
        let name = option.split(' ').next().unwrap();
        assert!(error.contains(words) && error.contains(name), "{option}: {error}");
    }
    for option in ["--tol 1e400", "--tol nan", "--tol inf"] {
        let error = folder.refused(&format!("solve a.mtx {option}"));
        assert!(error.contains("'--tol <TOL>'"), "{error}");
    }
    folder.done("spmv a.mtx --alpha 1.7976931348623157e308 --x random:1 --beta 0.0e5");
}

/// A gzipped tar archive of files, in the oldest form.
fn archive(files: &[(&str, &str)]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (name, text) in files {
        let mut header = [0; 512];
        header[..name.len()].copy_from_slice(name.as_bytes());
        header[100..108].copy_from_slice(b"0000644\0");
        header[124..136].copy_from_slice(format!("{:011o}\0", text.len()).as_bytes());
        header[148..156].copy_from_slice(b"        ");
        header[156] = b'0';
        let sum: u32 = header.iter().map(|&byte| u32::from(byte)).sum();
        header[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
        bytes.extend(header);
        bytes.extend(text.as_bytes());
        bytes.resize(bytes.len().next_multiple_of(512), 0);
    }
    bytes.extend([0; 1024]);
    let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    gz.write_all(&bytes).unwrap();
    gz.finish().unwrap()
}

#[test]
fn a_matrix_and_its_vector_are_read_from_an_archive() {
    let west = matrix("real", ["1", "2"]);
    let files = [("west/west.mtx", west.as_str()), ("west/west_x.mtx", B)];
    let folder = Folder::with(&[
        ("west.tar.gz", &archive(&files)),
        ("two.tar.gz", &archive(&[("a/a.mtx", &west), ("b/b.mtx", &west)])),
        ("none.tar.gz", &archive(&[("a/a.txt", "x")])),
        ("plain.mtx", west.as_bytes()),
        ("a.mtx.zst", b"\x28\xb5\x2f\xfd\0\0"),
    ]);
    let before = fs::read_dir(folder.0.path()).unwrap().count();
    let (stdout, _) = folder.done("spmv west.tar.gz --x archive --out y.mtx");
    assert!(stdout.starts_with("west: 2 x 2, 2 nonzeros"), "{stdout}");
    assert_eq!(folder.text("y.mtx"), B.replace("4", "8"));
    for (line, words) in [
        (
            "spmv two.tar.gz",
            "the archive holds 2 matrices where one is needed; it holds \"a/a.mtx\", \"b/b.mtx\"",
        ),
        ("spmv none.tar.gz", "the archive holds no matrix (NAME/NAME.mtx); it holds \"a/a.txt\""),
        ("spmv plain.mtx --x archive", "it is no tar archive"),
        ("spmv poisson5 --scale 0.001 --x archive", "poisson5 is generated"),
        (
            "info a.mtx.zst",
            "it is zstd data, which is not read; to unpack it: unzstd \"a.mtx.zst\"",
        ),
    ] {
        let error = folder.refused(line);
        assert!(error.contains(words), "{line}: {error}");
    }
    assert_eq!(
        fs::read_dir(folder.0.path()).unwrap().count(),
        before + 1,
        "something was unpacked"
    );
}

#[test]
fn a_vectors_file_of_several_columns_gives_the_first_and_says_so_or_the_one_that_is_named() {
    let diagonal = matrix("real", ["2", "4"]);
    let two = "%%MatrixMarket matrix array real general\n2 2\n2\n4\n6\n8\n";
    let files = [("west/west.mtx", diagonal.as_str()), ("west/west_b.mtx", two)];
    let folder = Folder::with(&[
        ("west.tar.gz", &archive(&files)),
        ("a.mtx", diagonal.as_bytes()),
        ("two.mtx", two.as_bytes()),
        ("one.mtx", B.as_bytes()),
    ]);
    let array = |text: &str| format!("%%MatrixMarket matrix array real general\n2 1\n{text}");
    let (_, stderr) = folder.done("solve west.tar.gz --b archive --out x.mtx");
    let told = "--b archive has 2 columns: the first is taken; --column K takes another";
    assert!(stderr.contains(told), "{stderr}");
    assert_eq!(folder.text("x.mtx"), array("1\n1\n"));
    // Where it begins is one column for every b.
    let (_, stderr) =
        folder.done("solve west.tar.gz --b archive --x one.mtx --column 2 --out x.mtx");
    assert_eq!(stderr, "");
    assert_eq!(folder.text("x.mtx"), array("3\n2\n"));
    let (_, stderr) = folder.done("spmv a.mtx --x two.mtx --out y.mtx");
    assert!(stderr.contains("--x two.mtx has 2 columns: the first is taken"), "{stderr}");
    assert_eq!(folder.text("y.mtx"), array("4\n16\n"));
    folder.done("spmv a.mtx --x one.mtx --column 1");
    for (line, words) in [
        ("spmv a.mtx --x two.mtx --column 3", "the file has 2 columns, and none is column 3"),
        ("spmv a.mtx --x one.mtx --column 2", "--column 2 is for files of several columns"),
        ("solve a.mtx --column 1", "--column 1 is for vectors from files, and none is read"),
        ("solve a.mtx --column 0", "it must be a whole number from 1"),
    ] {
        let error = folder.refused(line);
        assert!(error.contains(words), "{line}: {error}");
    }
}

#[test]
fn padding_after_gzip_data_is_no_fault() {
    let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    gz.write_all(matrix("real", ["1", "2"]).as_bytes()).unwrap();
    let padded = [gz.finish().unwrap(), vec![0; 512]].concat();
    Folder::with(&[("pad.mtx.gz", &padded)]).done("spmv pad.mtx.gz");
}
