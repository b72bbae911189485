//! Interrupted commands: what there is is kept, what is not whole is removed, and the status says so.

use std::fs;
use std::io::Write as _;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::desk::{Desk, words};

/// Signals by name, with the status that a shell expects.
const SIGNALS: [(&str, i32); 3] = [("INT", 130), ("TERM", 143), ("HUP", 129)];

/// [`SIGNALS`], without HUP where these tests were started with it ignored, as by nohup: a command then ignores it too.
fn signals() -> impl Iterator<Item = (&'static str, i32)> {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    if ignored & 1 == 1 {
        let _ = writeln!(std::io::stderr(), "skipped: hanging up, which is ignored here");
    }
    SIGNALS.into_iter().filter(move |(name, _)| *name != "HUP" || ignored & 1 == 0)
}

fn send(signal: &str, child: &Child) {
    let sent = Command::new("kill").args([&format!("-{signal}"), &child.id().to_string()]).status();
    assert!(sent.unwrap().success());
}

/// Looks until it is there, as long as the child runs. Whoever runs the tests ends what hangs.
fn wait_until(child: &mut Child, is_there: impl Fn() -> bool) {
    while !is_there() {
        assert_eq!(child.try_wait().unwrap(), None, "it ended by itself");
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn an_interrupted_bench_has_written_its_lines_and_shows_what_there_is() {
    let desk = Desk::new();
    desk.pipe("slow.mtx");
    let mut command = desk.command("bench a.mtx slow.mtx --json r.json --html r.html");
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // It waits for its second matrix then.
    let lines = || fs::read_to_string(desk.path("r.json")).unwrap_or_default().lines().count();
    wait_until(&mut child, || lines() >= 2);
    send("INT", &child);
    let ran = child.wait_with_output().unwrap();
    assert_eq!(ran.status.code(), Some(130), "{}", words(&ran.stderr));
    assert!(words(&ran.stderr).contains("interrupted after 2 results"));
    let table = words(&ran.stdout);
    assert!(table.contains("all 2 results verified") && table.contains("a, 3 nnz"), "{table}");
    let lines = desk.text("r.json");
    assert_eq!((lines.lines().count(), lines.ends_with("}\n")), (2, true), "{lines}");
    for line in lines.lines() {
        let record: serde_json::Value = serde_json::from_str(line).unwrap();
        assert_eq!(record["matrix"], "a");
    }
    assert!(desk.text("r.html").ends_with("</html>\n"));
    assert!(desk.names().iter().all(|name| !name.contains(".part")), "{:?}", desk.names());
}

/// A Laplacian of one dimension: CG takes as many iterations as it has rows.
fn long_system(rows: usize) -> String {
    let mut text = String::from("%%MatrixMarket matrix coordinate real symmetric\n");
    text.push_str(&format!("{rows} {rows} {}\n1 1 2\n", 2 * rows - 1));
    for row in 2..=rows {
        text.push_str(&format!("{row} {row} 2\n{row} {} -1\n", row - 1));
    }
    text
}

#[test]
fn an_interrupted_solve_keeps_the_x_that_came_nearest_and_says_so() {
    use std::io::{BufRead, BufReader};
    const ROWS: usize = 30_000;
    for (signal, status) in signals() {
        let desk = Desk::new();
        desk.put("long.mtx", long_system(ROWS));
        desk.put("out.mtx", "of old");
        let line = "solve long.mtx --tol 1e-12 --out out.mtx --json r.json -v";
        let mut command = desk.command(line);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut said = BufReader::new(child.stderr.take().unwrap()).lines();
        // It iterates then.
        said.by_ref().map(|line| line.unwrap()).find(|line| line.contains("looked")).unwrap();
        send(signal, &child);
        let said: Vec<_> = said.map(|line| line.unwrap()).collect();
        let ran = child.wait_with_output().unwrap();
        assert_eq!(ran.status.code(), Some(status), "{said:?}");
        let last = said.last().unwrap();
        assert!(last.contains("sparrow: interrupted after ") && last.contains("b - A x is "));
        assert!(words(&ran.stdout).contains("x: out.mtx"), "{}", words(&ran.stdout));
        let record: serde_json::Value = serde_json::from_str(&desk.text("r.json")).unwrap();
        assert_eq!((&record["outcome"], &record["verified"]), (&"stopped".into(), &false.into()));
        let x = desk.text("out.mtx");
        let values: Vec<f64> = x.lines().skip(2).map(|line| line.parse().unwrap()).collect();
        assert!(values.len() == ROWS && values.iter().any(|value| *value > 0.0), "{last}");
        assert!(desk.names().iter().all(|name| !name.contains(".part")), "{:?}", desk.names());
    }
}

#[test]
fn a_solve_that_waits_for_who_reads_its_x_ends_at_once() {
    let desk = Desk::new();
    desk.put("a.mtx", long_system(3));
    let pipe = desk.pipe("x.pipe");
    let mut command = desk.command("solve a.mtx --b ones --json r.json --out x.pipe");
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    // The record is written before x, which nobody reads.
    let record = desk.path("r.json");
    wait_until(&mut child, || record.exists());
    send("INT", &child);
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(pipe.exists());
}

#[test]
fn lines_come_through_a_pipe_one_by_one() {
    use std::io::{BufRead, BufReader};
    let desk = Desk::new();
    desk.pipe("slow.mtx");
    let mut command = desk.command("bench a.mtx slow.mtx --json -");
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // While the run waits.
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    for value_type in ["f32", "f64"] {
        let line = lines.next().unwrap().unwrap();
        let record: serde_json::Value = serde_json::from_str(&line).unwrap();
        assert_eq!(record["value_type"], value_type);
    }
    send("INT", &child);
    assert!(lines.next().is_none());
    assert_eq!(child.wait().unwrap().code(), Some(130));
}

#[test]
fn a_command_that_has_nothing_to_show_ends_at_once_and_leaves_files_alone() {
    for ((signal, status), what) in signals().zip(["spmv", "solve", "spmv"]) {
        let desk = Desk::new();
        let pipe = desk.pipe("slow.mtx");
        desk.put("out.mtx", "precious");
        let before = desk.names();
        let mut command = desk.command(&format!("{what} slow.mtx --out out.mtx --json r.json"));
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        // Waits until the command has opened the other end.
        let writer = fs::File::options().write(true).open(&pipe).unwrap();
        send(signal, &child);
        let ran = child.wait_with_output().unwrap();
        drop(writer);
        assert_eq!(ran.status.code(), Some(status), "{}", words(&ran.stderr));
        assert_eq!((desk.names(), desk.text("out.mtx")), (before, "precious".into()));
    }
}

#[test]
fn a_file_that_is_being_written_is_removed() {
    for (signal, status) in signals() {
        let desk = Desk::new();
        let (folder, before) = (desk.path(""), desk.names());
        let is_part = |name: &str| name.starts_with(".sparrow-");
        let mut child = desk
            .command("gen poisson5 --scale 0.3 --out big.mtx.gz")
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        wait_until(&mut child, || {
            let mut entries = fs::read_dir(&folder).unwrap();
            entries.any(|entry| is_part(&entry.unwrap().file_name().to_string_lossy()))
        });
        send(signal, &child);
        assert_eq!(child.wait().unwrap().code(), Some(status));
        assert_eq!(desk.names(), before);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn hanging_up_is_ignored_where_it_was_ignored_before() {
    let desk = Desk::new();
    let pipe = desk.pipe("slow.mtx");
    let line = "trap '' HUP; exec \"$0\" spmv slow.mtx --x x.mtx --out y.mtx --device host";
    let mut shell = Command::new("sh");
    shell.args(["-c", line, env!("CARGO_BIN_EXE_sparrow")]).current_dir(desk.path(""));
    let mut child = shell.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    // Waits until the command has opened the other end.
    let mut writer = fs::File::options().write(true).open(&pipe).unwrap();
    send("HUP", &child);
    writer.write_all(crate::desk::MATRIX.as_bytes()).unwrap();
    drop(writer);
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert_eq!(desk.text("y.mtx"), crate::desk::PRODUCT);
}
