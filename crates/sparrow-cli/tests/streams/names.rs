//! Paths are bytes, and classes have names in any case.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use crate::desk::{Desk, MATRIX, PRODUCT, assert_done, words};

#[test]
fn paths_that_are_no_text_work_everywhere() {
    let desk = Desk::new();
    let name = |text: &'static [u8]| OsStr::from_bytes(text);
    let (a, x, out) = (name(b"a\xff.mtx"), name(b"x\xff"), name(b"out\xff.mtx"));
    let (json, html, raw) = (name(b"r\xff.json"), name(b"r\xff.html"), name(b"raw\xff"));
    desk.put(a, MATRIX);
    desk.put(x, desk.text("x.mtx"));
    desk.put(raw, desk.text("raw.jsonl"));
    for (line, more) in [
        ("spmv", &[a, "--x".as_ref(), x, "--out".as_ref(), out, "--json".as_ref(), json][..]),
        ("info", &[a]),
        ("bench --value-type f32", &[a, "--json".as_ref(), json, "--html".as_ref(), html]),
        ("gen poisson5 --scale 0.00001", &["--out".as_ref(), name(b"g\xff.mtx")]),
        ("tune merge", &[raw, "--into".as_ref(), name(b"t\xff.toml")]),
    ] {
        let ran = desk.command(line).args(more).output().unwrap();
        assert_eq!(ran.status.code(), Some(0), "{line}: {}", words(&ran.stderr));
    }
    assert_eq!(std::fs::read_to_string(desk.path(out)).unwrap(), PRODUCT);
    for written in [json, html, name(b"g\xff.mtx"), name(b"t\xff.toml")] {
        assert!(desk.path(written).is_file(), "{written:?}");
    }
    // What is not there is a file that is not there.
    for line in ["spmv a.mtx --x", "spmv", "bench", "info", "tune merge"] {
        let ran = desk.command(line).arg(name(b"none\xff")).output().unwrap();
        assert_eq!(ran.status.code(), Some(2), "{line}");
        let stderr = words(&ran.stderr);
        assert!(stderr.contains("No such file") && !stderr.contains("panicked"), "{stderr}");
    }
}

#[test]
fn classes_are_known_in_any_case() {
    let desk = Desk::new();
    for (name, shown) in
        [("Poisson5", "poisson5"), ("PWTK-LIKE", "pwtk-like"), ("PwTk", "pwtk-like")]
    {
        let line = format!("info {name} --scale 0.002 --json -");
        let record: serde_json::Value =
            serde_json::from_str(&assert_done(&desk.run(&line))).unwrap();
        assert_eq!(record["matrix"], shown);
        assert_done(&desk.run(&format!("gen {name} --scale 0.002 --out g.mtx")));
    }
}
