//! Records of `bench hetero` as tables for a terminal: the devices, then for each value type the
//! throughput of every method on every matrix, and the stages of the methods that have some.
//!
//! Methods that do not fit next to one another follow in a further table with the same rows.

use std::fmt::Write as _;
use std::ops::Range;

use comfy_table::Cell;

use crate::group::{by_device, plain};
use crate::hetero::{Comparison, Devices, comparisons};
use crate::hetero_figures::{STAGES, STAGES_LEGEND, mean, stages, throughput};
use crate::record::Record;
use crate::table_layout::{Look, arranged, heading, new_table};
use crate::units::short;

/// Characters of a method's name in one line of a column's head.
const HEAD: usize = 10;
/// Longer names of matrices are cut.
const NAME: usize = 24;
/// Spaces between columns.
const GAP: usize = 2;

/// Writes the tables of `records`, all of which have a [`crate::Hetero`] part.
pub(crate) fn write(text: &mut String, records: &[&Record], look: Look) {
    let devices = Devices::of(records);
    text.push_str("Devices compared and together\n\n");
    for group in by_device(records.iter().copied()) {
        text.push_str(&plain(&devices.prefix(group.device)));
        heading(text, &group);
    }
    for comparison in comparisons(records, &devices) {
        let label = plain(&comparison.kind.label());
        // Writing to a String cannot fail.
        let _ = writeln!(text, "\nGFLOP/s, {label}");
        for block in blocks(&comparison, look) {
            text.push_str(&throughputs(&comparison, block, look));
            text.push_str("\n\n");
        }
        if let Some(table) = stage_table(&comparison, look) {
            let _ = writeln!(text, "Stages, {label}\n{table}");
        }
    }
    if look.legend {
        legend(text);
    }
}

fn legend(text: &mut String) {
    text.push_str(
        "\n\
         harmonic mean: of GFLOP/s over all matrices, (n) over n of them where a method skipped some.\n\
         FAILED: some row of y left its error bound; a method that failed anywhere has no mean.\n\
         both: two devices together, with the second one's share where a matrix has several.\n",
    );
    for (words, meaning) in STAGES_LEGEND {
        let _ = writeln!(text, "{words}: {meaning}");
    }
}

/// The methods of one table after another, each as many as fit.
fn blocks(comparison: &Comparison<'_>, look: Look) -> Vec<Range<usize>> {
    let longest = comparison.rows.iter().map(|r| r.matrix.matrix.chars().count()).max();
    let mean_name = mean_name(comparison).chars().count();
    let nnz = 5;
    let first = longest.unwrap_or(0).min(NAME).max(mean_name) + GAP + nnz;
    let (mut blocks, mut start, mut width) = (Vec::new(), 0, first);
    for method in 0..comparison.methods.len() {
        let own = GAP + column_width(comparison, method);
        if look.width.is_some_and(|limit| width + own > limit.into()) && method > start {
            blocks.push(start..method);
            (start, width) = (method, first);
        }
        width += own;
    }
    blocks.push(start..comparison.methods.len());
    blocks
}

fn column_width(comparison: &Comparison<'_>, method: usize) -> usize {
    let head = broken(&comparison.methods[method]);
    let cells = comparison.rows.iter().map(|row| throughput(row.results[method]));
    let mean = mean(comparison.mean(method), comparison.rows.len());
    let lines = head.lines().map(str::to_owned).chain(cells).chain([mean]);
    lines.map(|line| line.chars().count()).max().unwrap_or(0)
}

fn throughputs(comparison: &Comparison<'_>, methods: Range<usize>, look: Look) -> String {
    let mut table = new_table(look);
    let names = comparison.methods[methods.clone()].iter().map(|name| broken(name));
    table.set_header(["matrix", "nnz"].map(str::to_owned).into_iter().chain(names));
    for row in &comparison.rows {
        let figures = row.results[methods.clone()].iter().map(|result| throughput(*result));
        let matrix = [cut(&plain(&row.matrix.matrix)), short(row.matrix.nnz)];
        table.add_row(matrix.into_iter().chain(figures));
    }
    let means = methods.clone().map(|m| mean(comparison.mean(m), comparison.rows.len()));
    table.add_row([mean_name(comparison), String::new()].into_iter().chain(means));
    arranged(&mut table, look, 1..methods.len() + 2, &[])
}

fn mean_name(comparison: &Comparison<'_>) -> String {
    format!("harmonic mean of {}", comparison.rows.len())
}

/// A heading line a matrix and a line a method; `None` where no method has stages.
fn stage_table(comparison: &Comparison<'_>, look: Look) -> Option<String> {
    let staged = comparison.staged();
    if staged.is_empty() {
        return None;
    }
    let mut table = new_table(look);
    table.set_header(["matrix, method"].into_iter().chain(STAGES));
    for row in staged {
        let matrix = row.matrix;
        table.add_row([format!("{}, {} nnz", plain(&matrix.matrix), short(matrix.nnz))]);
        for (method, record) in row.staged() {
            let name = format!("  {}", comparison.methods[method]);
            table.add_row([name].into_iter().chain(stages(record, row.single_us())).map(Cell::new));
        }
    }
    // In place, copied, dirty, stage 2 / 1.
    Some(arranged(&mut table, look, 1..STAGES.len() + 1, &[5, 6, 4, 3]))
}

/// A method's name in lines of few characters, broken after `_` and before `/` and at spaces.
fn broken(name: &str) -> String {
    let mut lines: Vec<String> = Vec::new();
    for word in name.split(' ') {
        let mut line = String::new();
        for part in parts(word) {
            if !line.is_empty() && line.chars().count() + part.chars().count() > HEAD {
                lines.push(std::mem::take(&mut line));
            }
            line.push_str(part);
        }
        lines.push(line);
    }
    lines.join("\n")
}

/// "segmented_", "sum", "/cpu".
fn parts(word: &str) -> Vec<&str> {
    let (mut parts, mut start) = (Vec::new(), 0);
    for (place, character) in word.char_indices() {
        let end = match character {
            '_' => place + 1,
            '/' => place,
            _ => continue,
        };
        parts.push(&word[start..end]);
        start = end;
    }
    parts.push(&word[start..]);
    parts
}

fn cut(name: &str) -> String {
    match name.char_indices().nth(NAME - 1) {
        Some((end, _)) if name.chars().count() > NAME => format!("{}…", &name[..end]),
        _ => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use crate::record::Record;
    use crate::samples::{WIDE, hetero_mut, hetero_sample, sample};
    use crate::table;
    use crate::table_layout::Look;
    use expect_test::expect;

    fn run(matrix: &str) -> Vec<Record> {
        let on = |algorithm: &str, devices: &[&str]| hetero_sample(matrix, algorithm, devices);
        let mut device = on("segmented_sum", &["Example GPU"]);
        device.variant = "device".to_owned();
        let mut both = on("hetero", &["Example GPU", "host"]);
        let hetero = hetero_mut(&mut both);
        (hetero.stage1_us, hetero.stage2_us) = (Some(90.0), Some(4.5));
        both.gflops = Some(44.0);
        vec![
            on("host", &["host"]),
            on("csr_vector", &["Example GPU"]),
            device,
            on("segmented_sum", &["Example GPU"]),
            both,
        ]
    }

    #[test]
    fn the_tables_of_two_matrices_read_like_this() {
        let mut records = run("elasticity");
        records.extend(run("dc2-like"));
        records[6].verified = false;
        records[5].gflops = Some(10.0);
        expect![[r#"
            Devices compared and together

            host (Example Platform, driver 1.0)
            reads 400 GB/s, copies 380 GB/s; all 2 results verified
            Example GPU (Example Platform, driver 1.0)
            reads 400 GB/s, copies 380 GB/s; 7 of 8 results verified, 1 FAILED

            GFLOP/s, f64
            matrix                nnz  host  csr_vector  segmented_  segmented_  both
                                                         sum/device     sum/cpu
            ─────────────────────────────────────────────────────────────────────────
            elasticity          4.01M  40.0        40.0        40.0        40.0  44.0
            dc2-like            4.01M  10.0      FAILED        40.0        40.0  44.0
            harmonic mean of 2         16.0      FAILED        40.0        40.0  44.0

            Stages, f64
            matrix, method          stage 1  stage 2  stage  dirty  in place  copied  GB/s  share       ×
                                         µs       µs  2 / 1      %                                 single
            ─────────────────────────────────────────────────────────────────────────────────────────────
            elasticity, 4.01M nnz
              segmented_sum/device      160     40.0  0.250   37.5    60 KiB     0 B   403      –   0.500
              segmented_sum/cpu         160     40.0  0.250   37.5    60 KiB     0 B   403      –   0.500
              both                     90.0     4.50  0.050      –       0 B     0 B   403  0.120   0.500
            dc2-like, 4.01M nnz
              segmented_sum/device      160     40.0  0.250   37.5    60 KiB     0 B   403      –   0.500
              segmented_sum/cpu         160     40.0  0.250   37.5    60 KiB     0 B   403      –   0.500
              both                     90.0     4.50  0.050      –       0 B     0 B   403  0.120   0.500

            harmonic mean: of GFLOP/s over all matrices, (n) over n of them where a method skipped some.
            FAILED: some row of y left its error bound; a method that failed anywhere has no mean.
            both: two devices together, with the second one's share where a matrix has several.
            stage 1, stage 2: the work on the device (of two devices, the slower), and what comes after.
            dirty: tiles with empty rows, of all tiles: they are what stage 2 must finish.
            in place, copied: bytes that the CPU reached where they lie, and that were copied, a product.
            GB/s: bytes as Liu and Vinter (2015) count them, x once for every nonzero, over the time.
            share: the second device's part of the nonzeros; 0 where it does not help.
            × single: how many times as fast as the fastest single device.
        "#]].assert_eq(&table(&records, WIDE));
    }

    #[test]
    fn records_without_a_hetero_part_are_shown_as_if_alone() {
        let alone = [sample("m", "csr_vector")];
        let mut mixed = run("m");
        mixed.splice(1..1, alone.clone());
        let bare = Look { width: None, legend: true };
        assert!(table(&mixed, bare).starts_with(&table(&alone, bare)));
        assert!(!table(&alone, bare).contains("harmonic"));
    }

    #[test]
    fn many_methods_on_several_devices_stay_within_100_columns_and_lose_none() {
        let mut records = Vec::new();
        for device in ["GPU", "CPU"] {
            for algorithm in ["csr_scalar", "csr_vector", "csr_adaptive", "csr_flat", "sell"] {
                records.push(hetero_sample("a-matrix-with-a-long-name", algorithm, &[device]));
            }
            records.push(hetero_sample("b", "segmented_sum", &[device]));
        }
        let text = table(&records, WIDE);
        let widest = text.lines().map(|line| line.chars().count()).max();
        assert!(widest <= Some(100), "{widest:?}\n{text}");
        for device in ["[1]", "[2]"] {
            // Six columns, the line of the device, and one line of stages.
            assert_eq!(text.matches(device).count(), 8, "{text}");
        }
        assert_eq!(text.matches("harmonic mean of 2").count(), 2, "{text}");
    }
}
