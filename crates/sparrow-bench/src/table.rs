//! Records as a table for a terminal of 100 columns: a block a device, a heading line a matrix, a line
//! a result.
//!
//! Matrix and algorithm share the first column, so that the figures keep their place; a failed result
//! shows no figure at all, whatever its record holds.

use std::fmt::Write as _;
use std::ops::Range;

use comfy_table::{
    Cell, CellAlignment, ColumnConstraint, ContentArrangement, LineStyle, Table, presets,
};

use crate::group::{DeviceGroup, by_device, plain, series};
use crate::hetero::with_hetero;
use crate::model_figures::with_model;
use crate::record::Record;
use crate::spmm_choice::{SpmmChoices, spmm_choices};
use crate::units::{ABSENT, bytes, percent_or_absent, short, significant_or_absent};
use crate::{batch_table, convert_table, hetero_table, model_table, vector_table};

/// Columns of the terminal that tables keep to.
pub(crate) const WIDTH: u16 = 100;

/// Characters for the name of an algorithm before it takes a second line.
const NAME: usize = 28;

const HEADER: [&str; 9] = [
    "matrix, algorithm",
    "type",
    "time µs",
    "GFLOP/s",
    "GB/s",
    "limit %",
    "set-up",
    "extra",
    "check",
];

const LEGEND: &str = "\
limit %: the least time in which the device could move matrix and vectors once, at the rate at which
  it streams memory, as a share of the time taken; above 100 only where a matrix stays in cache.
set-up: what preparing the matrix costs, in products; extra: device memory beyond the matrix.
FAILED: some row of y left its error bound, so no time is shown. A name ending in -like is a
  synthetic likeness of that matrix.
";

/// The records as text: for each device two lines that name it and a table of its results, then a legend;
/// records of `bench --hetero` follow in tables across devices.
///
/// Times are medians in microseconds, GB/s and GFLOP/s are 10^9 a second, set-up is a multiple of the
/// time. Lines stay within 100 columns unless a device has a longer name. No records give a line that
/// says so.
pub fn table(records: &[Record]) -> String {
    if records.is_empty() {
        return "No results.\n".to_owned();
    }
    let mut text = String::new();
    let alone = || {
        let is_alone = |r: &&Record| {
            r.hetero.is_none() && r.batch.is_none() && r.convert.is_none() && r.vector.is_none()
        };
        records.iter().filter(is_alone)
    };
    for group in by_device(alone()) {
        heading(&mut text, &group);
        text.push_str(&results(&group));
        text.push_str("\n\n");
    }
    if alone().next().is_some() {
        text.push_str(LEGEND);
    }
    if let Some(SpmmChoices { cases, right, loss }) = spmm_choices(records) {
        let _ = writeln!(
            text,
            "\nThe choice between row split and merge was right (or a tie within 3%) in {right} of {cases} \
             cases;\nwhat it chose took {loss:.3} times as long as the faster, in the geometric mean."
        );
    }
    let modelled = with_model(alone());
    if !modelled.is_empty() {
        text.push('\n');
        model_table::write(&mut text, &modelled);
    }
    let together = with_hetero(records);
    if !together.is_empty() {
        if !text.is_empty() {
            text.push('\n');
        }
        hetero_table::write(&mut text, &together);
    }
    let batches: Vec<_> = records.iter().filter(|r| r.batch.is_some()).collect();
    if !batches.is_empty() {
        if !text.is_empty() {
            text.push('\n');
        }
        batch_table::write(&mut text, &batches);
    }
    let conversions: Vec<_> = records.iter().filter(|r| r.convert.is_some()).collect();
    if !conversions.is_empty() {
        if !text.is_empty() {
            text.push('\n');
        }
        convert_table::write(&mut text, &conversions);
    }
    let vectors: Vec<_> = records.iter().filter(|r| r.vector.is_some()).collect();
    if !vectors.is_empty() {
        if !text.is_empty() {
            text.push('\n');
        }
        vector_table::write(&mut text, &vectors);
    }
    text
}

/// Two lines: the device's name, its rates and how many results verified.
pub(crate) fn heading(text: &mut String, group: &DeviceGroup<'_>) {
    let rates = group.rates().unwrap_or_else(|| "no stream rate".to_owned());
    // Writing to a String cannot fail.
    let _ = writeln!(
        text,
        "{}{}\n{rates}; {}",
        plain(group.device),
        plain(&group.origin()),
        group.verdict(),
    );
}

/// An empty table of this house's look.
pub(crate) fn new_table() -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING.header_separator(LineStyle::none().fill('─').junction('─')));
    table.set_content_arrangement(ContentArrangement::Dynamic).set_width(WIDTH);
    table
}

/// Sets padding, and the columns in `figures` to the right; all but the first keep their width.
pub(crate) fn arrange(table: &mut Table, figures: Range<usize>) {
    for (index, column) in table.column_iter_mut().enumerate() {
        // Columns stand one space apart by themselves; one more parts them well enough.
        column.set_padding((u16::from(index > 0), 0));
        if index > 0 {
            column.set_constraint(ColumnConstraint::ContentWidth);
        }
        if figures.contains(&index) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
}

fn results(group: &DeviceGroup<'_>) -> String {
    let mut table = new_table();
    table.set_header(HEADER);
    for matrix in group.matrices() {
        table.add_row([matrix_heading(matrix.first())]);
        for record in &matrix.records {
            table.add_row(result(record));
        }
    }
    arrange(&mut table, 2..8);
    table.trim_fmt()
}

/// "elasticity, assembled, 4.01M nnz"; a likeness says so by its name, a file needs no word.
fn matrix_heading(record: &Record) -> String {
    let source = if record.source == "assembled" { " assembled," } else { "" };
    format!("{},{source} {} nnz", plain(&record.matrix), short(record.nnz))
}

fn result(record: &Record) -> Vec<Cell> {
    // What is unusual goes on lines of its own where the name is long.
    let name = plain(&series(record));
    let apart = if name.chars().count() > NAME { "\n    " } else { " " };
    let name = format!("  {}", name.replace(' ', apart));
    let figures = match record.verified {
        true => [
            significant_or_absent(record.median_us),
            significant_or_absent(record.gflops),
            significant_or_absent(record.gbytes_per_s),
            percent_or_absent(record.limit_fraction),
            significant_or_absent(record.setup_in_products),
        ],
        false => std::array::from_fn(|_| ABSENT.to_owned()),
    };
    let kind = match record.op.as_str() {
        "spmv" => plain(&record.value_type),
        op => format!("{} {}", plain(&record.value_type), plain(op)),
    };
    let check = if record.verified { "verified" } else { "FAILED" };
    [name, kind]
        .into_iter()
        .chain(figures)
        .chain([bytes(record.plan_bytes), check.to_owned()])
        .map(Cell::new)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::{failed, sample};
    use expect_test::expect;

    #[test]
    fn the_table_of_three_records_reads_like_this() {
        let mut compensated = sample("pwtk-like", "csr_adaptive");
        compensated.nnz = 11_634_424;
        compensated.variant = "nrs-log".to_owned();
        compensated.accumulate = "compensated".to_owned();
        compensated.source = "likeness".to_owned();
        compensated.value_type = "f32".to_owned();
        let records =
            [compensated, sample("elasticity", "csr_scalar"), failed("elasticity", "csr_adaptive")];
        expect![[r#"
            Example GPU (Example Platform, driver 1.0)
            reads 400 GB/s, copies 380 GB/s; 2 of 3 results verified, 1 FAILED
            matrix, algorithm                 type  time µs  GFLOP/s  GB/s  limit %  set-up     extra  check
            ───────────────────────────────────────────────────────────────────────────────────────────────────
            elasticity, assembled, 4.01M nnz
              csr_scalar                      f64       201     40.0   245     61.3    1.50  30.6 KiB  verified
              csr_adaptive                    f64         –        –     –        –       –  30.6 KiB  FAILED
            pwtk-like, 11.6M nnz
              csr_adaptive/nrs-log            f32       201     40.0   245     61.3    1.50  30.6 KiB  verified
                compensated

            limit %: the least time in which the device could move matrix and vectors once, at the rate at which
              it streams memory, as a share of the time taken; above 100 only where a matrix stays in cache.
            set-up: what preparing the matrix costs, in products; extra: device memory beyond the matrix.
            FAILED: some row of y left its error bound, so no time is shown. A name ending in -like is a
              synthetic likeness of that matrix.
        "#]].assert_eq(&table(&records));
    }

    #[test]
    fn no_records_give_a_line_that_says_so() {
        assert_eq!(table(&[]), "No results.\n");
    }

    #[test]
    fn a_failed_result_shows_no_figure_even_if_its_record_holds_one() {
        let text = table(&[Record { verified: false, ..sample("m", "csr_scalar") }]);
        let line = text.lines().find(|line| line.contains("csr_scalar")).unwrap();
        let words: Vec<&str> = line.split_whitespace().collect();
        assert_eq!(words, ["csr_scalar", "f64", "–", "–", "–", "–", "–", "30.6", "KiB", "FAILED"]);
        assert!(text.contains("0 of 1 results verified, 1 FAILED"));
    }

    #[test]
    fn long_names_and_large_figures_stay_within_100_columns() {
        let mut record =
            sample("a-very-long-name-of-a-file-that-nobody-would-choose", "csr_adaptive");
        record.variant = "nrs-log".to_owned();
        record.accumulate = "compensated".to_owned();
        record.cache = "cold".to_owned();
        record.value_type = "bf16".to_owned();
        record.median_us = Some(123_456_789.0);
        record.gflops = Some(12_345.0);
        record.gbytes_per_s = Some(12_345.0);
        record.plan_bytes = 1_234_567_890;
        let text = table(&[record]);
        let widest = text.lines().map(|line| line.chars().count()).max();
        assert!(widest <= Some(100), "{widest:?}\n{text}");
    }

    #[test]
    fn each_device_has_its_own_lines_above_its_own_table() {
        let mut records = [sample("m", "a"), sample("m", "a")];
        records[1].device = "Other CPU".to_owned();
        let text = table(&records);
        assert!(text.contains("Example GPU (Example Platform, driver 1.0)\n"));
        assert!(text.contains("Other CPU (Example Platform, driver 1.0)\n"));
        assert_eq!(text.matches("matrix, algorithm").count(), 2);
    }

    #[test]
    fn control_characters_of_a_name_do_not_reach_the_terminal() {
        assert!(!table(&[sample("\u{1b}[2J", "\u{1b}[31m")]).contains('\u{1b}'));
    }
}
