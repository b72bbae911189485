//! Records as a table for a terminal of any width, or for a file: a block a device, a heading line a matrix, a line
//! a result.
//!
//! Matrix and algorithm share the first column, so that the figures keep their columns; a failed result
//! shows no figure at all, whatever its record holds.

use std::fmt::Write as _;

use comfy_table::Cell;

use crate::group::{DeviceGroup, Kind, by_device, check, plain, series};
use crate::model_figures::with_model;
use crate::record::{Details, Record};
use crate::spmm_choice::{SpmmChoices, spmm_choices};
use crate::table_layout::{Look, arranged, heading, new_table, push_legend};
use crate::units::{ABSENT, bytes, percent_or_absent, short, significant_or_absent};
use crate::{
    batch_table, convert_table, hetero_table, model_table, spmm_table, vector_table, which_device,
};

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
NaN or inf: right, but some rows are NaN or infinite, of which no rounding can be judged.
FAILED: some row of y left its error bound, so no time is shown. A name ending in -like is a
  synthetic likeness of that matrix.
";

/// Which records have a table of their own, and what writes it.
type OwnTable = (fn(&Details) -> bool, fn(&mut String, &[&Record], Look));

const OWN_TABLES: [OwnTable; 4] = [
    (|details| matches!(details, Details::Hetero(_)), hetero_table::write),
    (|details| matches!(details, Details::Batch(_)), batch_table::write),
    (|details| matches!(details, Details::Convert(_)), convert_table::write),
    (|details| matches!(details, Details::Vector(_)), vector_table::write),
];

/// The records as text: for each device two lines that name it and a table of its results, then a legend where `look`
/// has one; those of the other operations follow in tables of their own.
///
/// Times are medians in microseconds, GB/s and GFLOP/s are 10^9 a second, set-up is a multiple of the
/// time. Tables stay within `look`'s width; lines about devices and the legend may be longer. No records give a line
/// that says so.
pub fn table(records: &[Record], look: Look) -> String {
    if records.is_empty() {
        return "No results.\n".to_owned();
    }
    let mut text = String::new();
    let alone = || {
        let is_alone = |details: &Details| {
            matches!(details, Details::Spmv(_) | Details::Spmm(_) | Details::Spgemm(_))
        };
        records.iter().filter(move |record| is_alone(&record.details))
    };
    for group in by_device(alone()) {
        heading(&mut text, &group);
        text.push_str(&results(&group, look));
        text.push_str("\n\n");
    }
    which_device::write(&mut text, records);
    if alone().next().is_some() {
        push_legend(&mut text, LEGEND, look);
    }
    for (variant, which) in [("", "The choice"), ("published", "The published choice")] {
        let Some(SpmmChoices { cases, right, loss }) = spmm_choices(records, variant) else {
            continue;
        };
        let _ = writeln!(
            text,
            "\n{which} between row split and merge was right (or a tie within 3%) in {right} of {cases} \
             cases;\nwhat it chose took {loss:.3} times as long as the faster, in the geometric mean."
        );
    }
    let compared: Vec<_> =
        alone().filter(|record| spmm_table::single_us(record).is_some()).collect();
    if !compared.is_empty() {
        text.push('\n');
        spmm_table::write(&mut text, &compared, look);
    }
    let modelled = with_model(alone());
    if !modelled.is_empty() {
        text.push('\n');
        model_table::write(&mut text, &modelled, look);
    }
    for (is_own, write) in OWN_TABLES {
        let own: Vec<_> = records.iter().filter(|record| is_own(&record.details)).collect();
        if own.is_empty() {
            continue;
        }
        if !text.is_empty() {
            text.push('\n');
        }
        write(&mut text, &own, look);
    }
    if !look.legend {
        text.push_str("What the columns mean: --legend\n");
    }
    text
}

fn results(group: &DeviceGroup<'_>, look: Look) -> String {
    let mut table = new_table(look);
    table.set_header(HEADER);
    for matrix in group.matrices() {
        table.add_row([matrix_heading(matrix.first())]);
        for record in &matrix.records {
            table.add_row(result(record));
        }
    }
    // Extra, set-up, GB/s.
    arranged(&mut table, look, 2..8, &[7, 6, 4])
}

/// "elasticity, assembled, 4.01M nnz"; a likeness says so by its name, a file needs no word.
fn matrix_heading(record: &Record) -> String {
    let source = if record.source == "assembled" { " assembled," } else { "" };
    format!("{},{source} {} nnz", plain(&record.matrix), short(record.matrix_nnz()))
}

fn result(record: &Record) -> Vec<Cell> {
    // What is not the default goes on lines of its own where the name is long.
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
    let kind = plain(&Kind::of(record).label());
    [name, kind]
        .into_iter()
        .chain(figures)
        .chain([bytes(record.plan_bytes), check(record).to_owned()])
        .map(Cell::new)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::{WIDE, failed, sample};
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
            NaN or inf: right, but some rows are NaN or infinite, of which no rounding can be judged.
            FAILED: some row of y left its error bound, so no time is shown. A name ending in -like is a
              synthetic likeness of that matrix.
        "#]].assert_eq(&table(&records, WIDE));
    }

    #[test]
    fn no_records_give_a_line_that_says_so() {
        assert_eq!(table(&[], WIDE), "No results.\n");
    }

    #[test]
    fn a_failed_result_shows_no_figure_even_if_its_record_holds_one() {
        let text = table(&[Record { verified: false, ..sample("m", "csr_scalar") }], WIDE);
        let line = text.lines().find(|line| line.contains("csr_scalar")).unwrap();
        let words: Vec<&str> = line.split_whitespace().collect();
        assert_eq!(words, ["csr_scalar", "f64", "–", "–", "–", "–", "–", "30.6", "KiB", "FAILED"]);
        assert!(text.contains("0 of 1 result verified, 1 FAILED"));
    }

    #[test]
    fn a_result_with_nan_or_infinity_says_so_instead_of_verified() {
        let text = table(&[Record { non_finite: 3, ..sample("m", "csr_scalar") }], WIDE);
        let line = text.lines().find(|line| line.contains("csr_scalar")).unwrap();
        assert!(line.ends_with("NaN or inf"), "{line}");
        assert!(text.contains("the 1 result verified (1 with NaN or infinity)"), "{text}");
        let wrong = Record { non_finite: 3, verified: false, ..sample("m", "csr_scalar") };
        assert!(table(&[wrong], WIDE).contains("0 of 1 result verified, 1 FAILED"));
    }

    #[test]
    fn long_names_and_large_figures_stay_within_100_columns() {
        let mut record = sample("a-very-long-name-of-a-file-that-hardly-fits", "csr_adaptive");
        record.variant = "nrs-log".to_owned();
        record.accumulate = "compensated".to_owned();
        record.cache = "cold".to_owned();
        record.value_type = "bf16".to_owned();
        record.median_us = Some(123_456_789.0);
        record.gflops = Some(12_345.0);
        record.gbytes_per_s = Some(12_345.0);
        record.plan_bytes = 1_234_567_890;
        let text = table(&[record], WIDE);
        let widest = text.lines().map(|line| line.chars().count()).max();
        assert!(widest <= Some(100), "{widest:?}\n{text}");
    }

    #[test]
    fn each_device_has_its_own_lines_above_its_own_table() {
        let mut records = [sample("m", "a"), sample("m", "a")];
        records[1].device = "Other CPU".to_owned();
        let text = table(&records, WIDE);
        assert!(text.contains("Example GPU (Example Platform, driver 1.0)\n"));
        assert!(text.contains("Other CPU (Example Platform, driver 1.0)\n"));
        assert_eq!(text.matches("matrix, algorithm").count(), 2);
    }

    #[test]
    fn control_characters_of_a_name_do_not_reach_the_terminal() {
        assert!(!table(&[sample("\u{1b}[2J", "\u{1b}[31m")], WIDE).contains('\u{1b}'));
    }

    #[test]
    fn a_narrow_terminal_gets_fewer_columns_and_their_names_and_a_file_gets_all() {
        let records = [sample("a-very-long-name-of-a-matrix-of-somebody", "csr_adaptive")];
        for width in [80, 60] {
            let text = table(&records, Look { width: Some(width), legend: false });
            // The device's lines are wrapped by those who print them.
            let mut lines = text.lines().skip(2);
            assert!(lines.all(|line| line.chars().count() <= width.into()), "{text}");
            assert!(text.contains("GFLOP/s") && text.contains("verified"), "{text}");
        }
        let narrow = table(&records, Look { width: Some(80), legend: false });
        assert!(narrow.contains("\nLeft out for want of width: extra\n"), "{narrow}");
        let file = table(&records, Look::default());
        assert!(file.contains("a-very-long-name-of-a-matrix-of-somebody, "), "{file}");
        assert!(file.contains("extra") && !file.contains("Left out"), "{file}");
    }

    #[test]
    fn a_legend_is_shown_where_it_is_asked_for() {
        let records = [sample("m", "csr_scalar")];
        let with = table(&records, Look { width: Some(80), legend: true });
        assert!(with.contains("limit %: the least time") && !with.contains("--legend"), "{with}");
        // A line an entry: who prints them wraps them.
        assert!(with.contains("at the rate at which it streams memory, as a share"), "{with}");
        let without = table(&records, Look::default());
        assert!(!without.contains("limit %:"), "{without}");
        assert!(without.ends_with("What the columns mean: --legend\n"), "{without}");
    }
}
