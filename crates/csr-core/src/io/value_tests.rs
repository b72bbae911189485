//! Values that a type cannot hold as a file writes them.

use std::sync::Mutex;

use super::*;
use crate::{Error, Occurrences, ValueType, bf16, f16};

/// A coordinate file with these lines, each at a place of its own.
fn file(field: &str, values: &[&str]) -> String {
    let count = values.len();
    let lines = values.iter().enumerate().map(|(at, value)| format!("{0} {0} {value}\n", at + 1));
    let head = format!("%%MatrixMarket matrix coordinate {field} general\n% c\n");
    format!("{head}{count} {count} {count}\n{}", lines.collect::<String>())
}

/// Values and report by every block size and as a matrix; or the refusal.
fn read<V: Value>(text: &str, allow: bool) -> Result<(Vec<V>, ReadReport), String> {
    let seen = Mutex::new(None);
    let hook = |report: &ReadReport| *seen.lock().unwrap() = Some(*report);
    let options = ReadOptions::new().allow_overflow(allow).report(&hook);
    let coo = |block: usize| {
        let read = options.block_bytes(block).coo_from::<V>(text.as_bytes(), "a.mtx");
        read.map(|coo| (coo.values().to_vec(), seen.lock().unwrap().take().unwrap()))
            .map_err(|error| error.to_string())
    };
    let whole = coo(1 << 18);
    for block in [1, 20, 60] {
        assert_eq!(format!("{:?}", coo(block)), format!("{whole:?}"), "blocks of {block} bytes");
    }
    let csr = options.csr_from::<V, u32>(text.as_bytes(), "a.mtx").map_err(|e| e.to_string());
    assert_eq!(format!("{:?}", csr.map(|_| ())), format!("{:?}", whole.clone().map(|_| ())));
    whole
}

fn refusal<V: Value>(field: &str, values: &[&str]) -> String {
    read::<V>(&file(field, values), false).unwrap_err()
}

#[test]
fn a_number_beyond_the_type_is_an_error_with_line_value_and_limit() {
    assert_eq!(
        refusal::<f64>("real", &["1", "1e400"]),
        "mtx file \"a.mtx\", line 5: \"1e400\" is beyond the largest f64, 1.7976931348623157e308"
    );
    assert_eq!(
        refusal::<f32>("real", &["-3.5D+38"]),
        "mtx file \"a.mtx\", line 4: \"-3.5D+38\" is beyond the largest f32, \
         3.4028234663852886e38"
    );
    assert_eq!(
        refusal::<f16>("integer", &["1", "2", "70000"]),
        "mtx file \"a.mtx\", line 6: \"70000\" is beyond the largest f16, 65504"
    );
    assert!(refusal::<bf16>("real", &["3.4e38"]).ends_with("largest bf16, 3.3895313892515355e38"));
    let long = format!("1{}", "0".repeat(400));
    assert!(refusal::<f64>("integer", &[&long]).contains("line 4: \"1000"));
    for value in ["1.8e308", "179769313486231590e291"] {
        let text = refusal::<f64>("real", &[value]);
        assert!(text.contains(&format!("\"{value}\" is beyond the largest f64")), "{text}");
    }
    let error = ReadOptions::new().coo_from::<f64>(file("real", &["1e999"]).as_bytes(), "a");
    assert!(matches!(error, Err(Error::Overflow { value_type: ValueType::F64, .. })));
}

#[test]
fn an_overflow_may_be_allowed_and_is_counted_then() {
    let text = file("real", &["1e400", "-1e999", "inf", "1"]);
    let (values, report) = read::<f64>(&text, true).unwrap();
    let inf = f64::INFINITY;
    assert_eq!(values, [inf, -inf, inf, 1.0]);
    assert_eq!(report.overflows, Occurrences { count: 2, first: Some(4) });
    let (values, report) = read::<f16>(&file("integer", &["1", "-70000"]), true).unwrap();
    assert_eq!(values, [f16::ONE, f16::NEG_INFINITY]);
    assert_eq!(report.overflows, Occurrences { count: 1, first: Some(5) });
}

#[test]
fn the_largest_numbers_and_written_infinities_are_no_overflow() {
    let words = ["1.7976931348623157e308", "inf", "-Infinity", "nan", "NaN", "-INF"];
    let (values, report) = read::<f64>(&file("real", &words), false).unwrap();
    assert_eq!(values[0], f64::MAX);
    assert_eq!((values[1], values[2]), (f64::INFINITY, f64::NEG_INFINITY));
    assert!(report.is_empty(), "{report:?}");
    // Rounded to the largest, as IEEE 754 does below half a unit above it.
    let (values, _) = read::<f16>(&file("real", &["65519.9"]), false).unwrap();
    assert_eq!(values, [f16::MAX]);
    assert!(refusal::<f16>("real", &["65520"]).contains("65520"));
    read::<f16>(&file("real", &["inf", "nan"]), false).unwrap();
}

#[test]
fn integers_that_are_rounded_are_counted_with_the_first_line() {
    let words =
        ["9007199254740992", "9007199254740993", "-9223372036854775807", "00018014398509481984"];
    let (values, report) = read::<f64>(&file("integer", &words), false).unwrap();
    assert_eq!(values[1], 9007199254740992.0);
    assert_eq!(report.inexact_integers, Occurrences { count: 2, first: Some(5) });
    assert!(report.is_integer);
    let first = |count, first| Occurrences { count, first: Some(first) };
    let (_, report) =
        read::<f32>(&file("integer", &["16777216", "16777217", "+16777218"]), false).unwrap();
    assert_eq!(report.inexact_integers, first(1, 5));
    let (_, report) = read::<bf16>(&file("integer", &["256", "-257", "258"]), false).unwrap();
    assert_eq!(report.inexact_integers, first(1, 5));
    // A real file says nothing about the last digits of its values.
    let (_, report) = read::<f64>(&file("real", &["9007199254740993"]), false).unwrap();
    assert!(report.is_empty(), "{report:?}");
}

#[test]
fn numbers_that_become_0_are_counted_and_zeros_are_not() {
    let words = ["0", "0.000e5", "-0", "1e-400", "0.0D-999", "5e-324", "-2e-9999"];
    let (values, report) = read::<f64>(&file("real", &words), false).unwrap();
    assert_eq!((values[3], values[5]), (0.0, 5e-324));
    assert_eq!(report.underflows, Occurrences { count: 2, first: Some(7) });
    let (_, report) = read::<f16>(&file("real", &["1e-7", "1e-9"]), false).unwrap();
    assert_eq!(report.underflows, Occurrences { count: 1, first: Some(5) });
}

#[test]
fn entries_that_add_up_beyond_the_type_are_an_error_by_row_and_column() {
    let text = "%%MatrixMarket matrix coordinate real general\n3 1 4\n1 1 inf\n1 1 1\n3 1 1e308\n3 1 1e308\n";
    let refused = "mtx file \"a.mtx\", row 3, column 1: the sum of its entries is beyond the largest f64, \
                   1.7976931348623157e308";
    let options = ReadOptions::new();
    let error = options.csr_from::<f64, u32>(text.as_bytes(), "a.mtx").unwrap_err();
    assert_eq!(error.to_string(), refused);
    let error = options.vector_from::<f64>(text.as_bytes(), "a.mtx").unwrap_err();
    assert_eq!(error.to_string(), refused);
    let allowed = options.allow_overflow(true);
    let vector = allowed.vector_from::<f64>(text.as_bytes(), "a.mtx").unwrap();
    assert_eq!(vector, [f64::INFINITY, 0.0, f64::INFINITY]);
    let halves = text.replace("1e308", "40000");
    let error = options.vector_from::<f16>(halves.as_bytes(), "a.mtx").unwrap_err();
    assert!(error.to_string().ends_with("the largest f16, 65504"), "{error}");
    assert_eq!(options.coo_from::<f64>(text.as_bytes(), "a.mtx").unwrap().nnz(), 4);
}

#[test]
fn sums_of_integers_that_are_rounded_are_counted_with_the_first_entry() {
    let seen = Mutex::new(ReadReport::default());
    let hook = |report: &ReadReport| *seen.lock().unwrap() = *report;
    let options = ReadOptions::new().report(&hook);
    let report = |field: &str, entries: &[&str]| {
        let head = format!("%%MatrixMarket matrix coordinate {field} general\n9000 1");
        let text = format!("{head} {}\n{}\n", entries.len(), entries.join("\n"));
        options.csr_from::<f64, u32>(text.as_bytes(), "a").unwrap();
        let of_csr = *seen.lock().unwrap();
        options.vector_from::<f64>(text.as_bytes(), "a").unwrap();
        (of_csr.inexact_sums, seen.lock().unwrap().inexact_sums)
    };
    let at = |count, first| Occurrences { count, first: Some(first) };
    let none = (Occurrences::default(), Occurrences::default());
    // Rows 3 and 9000 are rounded, each as the sum of two that are exact; row 1 is a sum that is not.
    let far = [
        "1 1 1",
        "1 1 2",
        "3 1 9007199254740992",
        "3 1 1",
        "9000 1 -1",
        "9000 1 -9007199254740992",
    ];
    assert_eq!(report("integer", &far), (at(2, 1), at(2, 2)));
    // The rows of a later task than the first.
    assert_eq!(report("integer", &[&far[..2], &far[4..]].concat()), (at(1, 1), at(1, 8999)));
    // 1 is rounded off, then 1 too much is added: together, nothing.
    let back = ["1 1 9007199254740992", "1 1 1", "1 1 9007199254740992", "1 1 3"];
    assert_eq!(report("integer", &back[..2]), (at(1, 0), at(1, 0)));
    assert_eq!(report("integer", &back), none);
    assert_eq!(report("integer", &["1 1 9007199254740991", "1 1 1"]), none);
    // A real file says nothing about the last digits of its values.
    assert_eq!(report("real", &back[..2]), none);
    let halves = "%%MatrixMarket matrix coordinate integer general\n1 1 2\n1 1 2048\n1 1 1\n";
    options.csr_from::<f16, u32>(halves.as_bytes(), "a").unwrap();
    assert_eq!(seen.lock().unwrap().inexact_sums, at(1, 0));
}

#[test]
fn vectors_report_too() {
    let seen = Mutex::new(ReadReport::default());
    let hook = |report: &ReadReport| *seen.lock().unwrap() = *report;
    let text = "%%MatrixMarket matrix array integer general\n2 1\n1\n9007199254740993\n";
    ReadOptions::new().report(&hook).vector_from::<f64>(text.as_bytes(), "x").unwrap();
    assert_eq!(seen.lock().unwrap().inexact_integers, Occurrences { count: 1, first: Some(4) });
}

#[test]
fn a_column_of_several_is_chosen_and_their_number_reported() {
    let read = |text: &str, column: u32| {
        let seen = Mutex::new(ReadReport::default());
        let hook = |report: &ReadReport| *seen.lock().unwrap() = *report;
        let text = format!("%%MatrixMarket matrix {text}");
        let options = ReadOptions::new().report(&hook).column(column);
        let vector = options.vector_from::<f64>(text.as_bytes(), "x").map_err(|e| e.to_string());
        let columns = seen.lock().unwrap().columns;
        vector.map(|vector| (vector, columns))
    };
    let array = "array real general\n2 3\n1\n2\n3\n4\n5\n6\n";
    assert_eq!(read(array, 1), Ok((vec![1.0, 2.0], 3)));
    assert_eq!(read(array, 3), Ok((vec![5.0, 6.0], 3)));
    // Lines in no order; row 2 of column 2 stands twice, and row 1 nowhere.
    let sparse = "coordinate real general\n2 2 4\n2 2 5\n2 1 1\n1 1 3\n2 2 2\n";
    assert_eq!(read(sparse, 2), Ok((vec![0.0, 7.0], 2)));
    assert_eq!(read("array real symmetric\n2 2\n1\n2\n3\n", 2), Ok((vec![2.0, 3.0], 2)));
    assert_eq!(read("array real general\n2 1\n1\n2\n", 3), Ok((vec![1.0, 2.0], 1)));
    for column in [0, 4] {
        let refused =
            format!("mtx file \"x\", line 2: the file has 3 columns, and none is column {column}");
        assert_eq!(read(array, column), Err(refused));
    }
}
