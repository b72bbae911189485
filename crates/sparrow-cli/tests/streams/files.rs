//! Outputs are written through what is no regular file, keep what a file had, and are never two of one file.

use std::fs::{self, File, Permissions};
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt, symlink};
use std::process::Command;

use crate::desk::{Desk, TIMING, assert_done, assert_refused, words};

/// Every output that a command has without a device, but those of `bench`, which takes seconds: a line with OUT where
/// the output's name stands.
const OUTPUTS: [&str; 6] = [
    "spmv a.mtx --x x.mtx --out OUT",
    "spmv a.mtx --x x.mtx --json OUT",
    "info a.mtx --json OUT",
    "gen poisson5 --scale 0.00001 --out OUT",
    "gen poisson5 --scale 0.00001 --out g.mtx --json OUT",
    "tune merge raw.jsonl --into OUT",
];

#[test]
fn pipes_get_what_is_written_and_stay_pipes() {
    let desk = Desk::new();
    let pipe = desk.pipe("pipe");
    for line in OUTPUTS {
        let to_read = pipe.clone();
        let reader = std::thread::spawn(|| fs::read_to_string(to_read).unwrap());
        assert_done(&desk.run(&line.replace("OUT", "pipe")));
        assert!(!reader.join().unwrap().is_empty(), "{line}");
        assert!(fs::metadata(&pipe).unwrap().file_type().is_fifo(), "{line}");
    }
}

#[test]
fn a_bench_writes_through_pipes_and_links_too() {
    let desk = Desk::new();
    let pipe = desk.pipe("pipe");
    symlink("away", desk.path("link")).unwrap();
    desk.put("away", "old");
    fs::set_permissions(desk.path("away"), Permissions::from_mode(0o600)).unwrap();
    let reader = std::thread::spawn(move || fs::read_to_string(pipe).unwrap());
    assert_done(&desk.run("bench a.mtx --value-type f32 --json pipe --html link"));
    assert_eq!(reader.join().unwrap().lines().count(), 1);
    assert!(desk.text("away").ends_with("</html>\n") && desk.path("link").is_symlink());
    assert_eq!(fs::metadata(desk.path("away")).unwrap().mode() & 0o777, 0o600);
}

#[test]
fn the_shells_own_pipes_and_devices_are_written_to() {
    let desk = Desk::new();
    for line in OUTPUTS {
        let command = format!(
            "\"$0\" {} --device host 1>&2 && \"$0\" {} --device host 3>&1 1>&2 | cat",
            line.replace("OUT", "null"),
            line.replace("OUT", "/dev/fd/3"),
        );
        let mut shell = Command::new("sh");
        shell.args(["-c", &command, env!("CARGO_BIN_EXE_sparrow")]).current_dir(desk.path(""));
        let ran = shell.output().unwrap();
        assert_eq!(ran.status.code(), Some(0), "{line}: {}", words(&ran.stderr));
        assert!(!ran.stdout.is_empty(), "{line}: {}", words(&ran.stderr));
        assert!(desk.path("null").is_symlink(), "{line}");
        assert!(fs::metadata("/dev/null").unwrap().file_type().is_char_device(), "{line}");
    }
}

#[test]
fn permissions_and_links_stay() {
    let desk = Desk::new();
    fs::create_dir(desk.path("far")).unwrap();
    symlink("far/away", desk.path("link")).unwrap();
    for line in OUTPUTS {
        for mode in [0o600, 0o664] {
            let _ = fs::remove_file(desk.path("far/away"));
            // To where there is nothing yet, and over what is there.
            assert_done(&desk.run(&line.replace("OUT", "link")));
            fs::set_permissions(desk.path("far/away"), Permissions::from_mode(mode)).unwrap();
            assert_done(&desk.run(&line.replace("OUT", "link")));
            let mode_after = fs::metadata(desk.path("far/away")).unwrap().mode() & 0o777;
            assert_eq!(format!("{mode_after:o}"), format!("{mode:o}"), "{line}");
        }
        assert!(desk.path("link").is_symlink(), "{line}");
    }
    let names = desk.names();
    assert!(names.iter().all(|name| !name.contains(".part")), "{names:?}");
}

#[test]
fn two_outputs_of_one_file_are_refused_and_nothing_is_written() {
    let desk = Desk::new();
    desk.put("old", "precious");
    fs::hard_link(desk.path("old"), desk.path("hard")).unwrap();
    symlink("old", desk.path("soft")).unwrap();
    symlink("new", desk.path("dangling")).unwrap();
    desk.pipe("pipe");
    let before = desk.names();
    for (line, expected) in [
        ("spmv a.mtx --out old --json old", ["--json old", "--out old"]),
        ("spmv a.mtx --out old --json ./old", ["--json ./old", "--out old"]),
        ("spmv a.mtx --out soft --json old", ["--json old", "--out soft"]),
        ("spmv a.mtx --out hard --json old", ["--json old", "--out hard"]),
        ("spmv a.mtx --out new --json new", ["--json new", "--out new"]),
        ("spmv a.mtx --out dangling --json new", ["--json new", "--out dangling"]),
        ("spmv a.mtx --out - --json -", ["--json -", "--out -"]),
        ("spmv a.mtx --out - --json stdout", ["--json stdout", "--out -"]),
        ("spmv a.mtx --out pipe --json pipe", ["--json pipe", "--out pipe"]),
        ("bench a.mtx --html old --json soft", ["--json soft", "--html old"]),
        ("bench spmm a.mtx --html old --json old", ["--json old", "--html old"]),
        ("gen poisson5 --out old --json old", ["--json old", "--out old"]),
        ("solve a.mtx --html old --json soft", ["--json soft", "--html old"]),
        ("solve a.mtx --html old --out soft", ["--html old", "--out soft"]),
    ] {
        let ran = desk.run(line);
        assert_refused(&ran, &[&expected[..], &["are the same file"]].concat());
        assert_eq!((desk.text("old"), desk.names()), ("precious".into(), before.clone()), "{line}");
    }
    // Two outputs may both be lost.
    assert_done(&desk.run("spmv a.mtx --out null --json null"));

    // What is said goes to a file too.
    let said = File::options().append(true).open(desk.path("old")).unwrap();
    let ran = desk.command("spmv a.mtx --out old").stdout(said).output().unwrap();
    assert_refused(&ran, &["--out old and standard output are the same file"]);
}

#[test]
fn an_output_that_is_an_input_is_refused_and_nothing_is_written() {
    let desk = Desk::new();
    symlink("a.mtx", desk.path("soft")).unwrap();
    fs::hard_link(desk.path("y.mtx"), desk.path("hard")).unwrap();
    let before = desk.names();
    let (matrix, y) = (desk.text("a.mtx"), desk.text("y.mtx"));
    for (line, output, input) in [
        ("spmv a.mtx --out a.mtx", "--out a.mtx", "the matrix a.mtx"),
        ("spmv a.mtx --out soft", "--out soft", "the matrix a.mtx"),
        ("spmv soft --json a.mtx", "--json a.mtx", "the matrix soft"),
        ("spmv a.mtx --x x.mtx --out x.mtx", "--out x.mtx", "--x x.mtx"),
        ("spmv a.mtx --beta 1 --y y.mtx --out hard", "--out hard", "--y y.mtx"),
        ("info a.mtx --json a.mtx", "--json a.mtx", "the matrix a.mtx"),
        ("bench x.mtx a.mtx --json soft", "--json soft", "the matrix a.mtx"),
        ("bench batch a.mtx --html a.mtx", "--html a.mtx", "the matrix a.mtx"),
        ("solve a.mtx --out a.mtx", "--out a.mtx", "the matrix a.mtx"),
        ("solve a.mtx --b y.mtx --out y.mtx", "--out y.mtx", "--b y.mtx"),
        ("solve a.mtx --x y.mtx --html hard", "--html hard", "--x y.mtx"),
        ("tune merge raw.jsonl --into raw.jsonl", "--into raw.jsonl", "the file raw.jsonl"),
        ("tune judge --from raw.jsonl --json raw.jsonl", "--json raw.jsonl", "--from raw.jsonl"),
    ] {
        let ran = desk.run(line);
        assert_refused(&ran, &[output, "would be written over", input]);
        assert_eq!((desk.text("a.mtx"), desk.text("y.mtx")), (matrix.clone(), y.clone()), "{line}");
        assert_eq!((desk.text("raw.jsonl"), desk.names()), (TIMING.into(), before.clone()));
    }
    // By way of standard input.
    let given = File::open(desk.path("a.mtx")).unwrap();
    let ran = desk.command("spmv - --out soft").stdin(given).output().unwrap();
    assert_refused(&ran, &["--out soft", "the matrix -"]);
}

#[test]
fn lines_that_a_full_disk_does_not_take_are_a_failed_run() {
    let desk = Desk::new();
    for line in OUTPUTS.into_iter().chain(["bench a.mtx --value-type f32 --json OUT"]) {
        let ran = desk.run(&line.replace("OUT", "full"));
        let stderr = words(&ran.stderr);
        assert_eq!(ran.status.code(), Some(1), "{line}: {stderr}");
        assert!(stderr.contains(" full: ") && stderr.contains("No space left"), "{stderr}");
    }
}

#[test]
fn a_device_table_gets_its_folder_and_where_it_cannot_be_written_its_entry_is_printed() {
    let desk = Desk::new();
    assert_done(&desk.run("tune merge raw.jsonl --into new/folder/t.toml"));
    assert!(desk.text("new/folder/t.toml").contains("name = \"None\""));
    let ran = desk.run("tune merge raw.jsonl --into a.mtx/t.toml");
    assert_eq!(ran.status.code(), Some(1));
    assert!(words(&ran.stderr).contains("a.mtx/t.toml"), "{}", words(&ran.stderr));
    let said = words(&ran.stdout);
    assert!(said.contains("\nformat = 2\n") && said.contains("name = \"None\""), "{said}");
    // Without words too: it is nowhere else.
    let quiet = words(&desk.run("-q tune merge raw.jsonl --into a.mtx/t.toml").stdout);
    assert!(quiet.starts_with("\nformat = 2\n") && said.ends_with(&quiet), "{quiet}");
}

#[test]
fn results_before_an_error_are_written_and_shown() {
    let desk = Desk::new();
    desk.put("wrong.mtx", "no matrix");
    desk.put("r.json", "from before");
    // Nothing was measured: what was there stays.
    let ran = desk.run("bench wrong.mtx --json r.json --html r.html");
    assert_refused(&ran, &["wrong.mtx"]);
    assert_eq!((desk.text("r.json"), desk.path("r.html").exists()), ("from before".into(), false));

    let ran = desk.run("bench a.mtx wrong.mtx --value-type f32 --json r.json --html r.html");
    assert_eq!(ran.status.code(), Some(2));
    assert!(words(&ran.stderr).contains("wrong.mtx"));
    assert!(words(&ran.stdout).contains("a, 3 nnz"), "{}", words(&ran.stdout));
    assert_eq!(desk.text("r.json").lines().count(), 1);
    assert!(desk.text("r.html").ends_with("</html>\n"));
}

#[test]
fn an_output_whose_name_promises_what_is_not_written_is_refused() {
    let desk = Desk::new();
    for ending in ["tar.gz", "TGZ", "tar", "mtx.bz2", "mtx.xz", "zst", "zip", "7z"] {
        for line in ["spmv a.mtx", "gen poisson5 --scale 0.001"] {
            let ran = desk.run(&format!("{line} --out b.{ending}"));
            assert_refused(&ran, &[&format!("--out b.{ending}: "), ".mtx and .mtx.gz are written"]);
        }
    }
    assert_eq!(desk.names(), Desk::new().names());
    for name in ["b.mtx.gz", "b.txt", "zip"] {
        assert_done(&desk.run(&format!("spmv a.mtx --out {name} --json r.zip")));
    }
}
