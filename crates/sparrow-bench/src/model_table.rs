//! Records of `bench spmv --model` as a table for a terminal: predicted next to measured, and where the time goes.

use std::fmt::Write as _;

use crate::group::{by_device, plain, series};
use crate::model_figures::{p_max, parts, verdict};
use crate::record::Record;
use crate::table_layout::{Look, arranged, heading, new_table, push_legend};
use crate::units::{ABSENT, significant, significant_or_absent};

const HEADER: [&str; 10] = [
    "matrix, algorithm",
    "type",
    "time µs",
    "model",
    "ratio",
    "by",
    "alpha",
    "B",
    "P_max",
    "A/X/Y %",
];

const LEGEND: &str = "\
model: predicted µs, the larger of bytes over bandwidth (memory) and loads of x over their
  measured rate (gathers), with what one group waits for the longest row (row), and the launch;
  ratio: of that to the time. alpha: bytes of x from memory over one element a nonzero; B: bytes
  an operation; P_max: the copy rate over B, in GFLOP/s. A/X/Y: where the time goes,
  by leaving out loads of values (A), of x and columns (X), of both (Y is left).
";

/// Writes the table of `records`, all of which have a [`crate::ModelRecord`] part.
pub(crate) fn write(text: &mut String, records: &[&Record], look: Look) {
    for group in by_device(records.iter().copied()) {
        heading(text, &group);
        let mut table = new_table(look);
        table.set_header(HEADER);
        for matrix in group.matrices() {
            let first = matrix.first();
            table.add_row([plain(&first.matrix)]);
            for record in &matrix.records {
                table.add_row(line(record));
            }
        }
        let table = arranged(&mut table, look, 2..10, &[7, 8, 6]);
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{}\n\n{}.\n", table, verdict(&group.records));
    }
    push_legend(text, LEGEND, look);
}

fn line(record: &Record) -> Vec<String> {
    let name = format!("  {}", plain(&series(record)).replace(' ', "\n    "));
    let Some(model) = record.model() else { return vec![name] };
    let time = match record.verified {
        true => significant_or_absent(record.median_us),
        false => "FAILED".to_owned(),
    };
    let shares = parts(model).map(|parts| parts.map(|part| format!("{:.0}", 100.0 * part)));
    vec![
        name,
        plain(&record.value_type),
        time,
        significant(model.predicted_us),
        model.predicted_over_measured.map_or(ABSENT.to_owned(), |over| format!("{over:.2}")),
        plain(&model.predicted_by),
        format!("{:.2}", model.alpha),
        significant(model.code_balance),
        significant_or_absent(p_max(record)),
        shares.map_or(ABSENT.to_owned(), |shares| shares.join("/")),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::{WIDE, failed, model_mut, model_sample};
    use expect_test::expect;

    #[test]
    fn predicted_stands_next_to_measured_and_a_wrong_result_has_no_ratio() {
        let mut wrong = failed("pwtk-like", "csr_scalar");
        wrong.details = model_sample("m", "a").details;
        let model = model_mut(&mut wrong);
        (model.predicted_over_measured, model.x_constant_us) = (None, None);
        let records = [model_sample("pwtk-like", "csr_adaptive"), wrong];
        let mut text = String::new();
        write(&mut text, &records.iter().collect::<Vec<_>>(), WIDE);
        assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
        let table = text.split("\nmodel: predicted").next().unwrap();
        expect![[r#"
            Example GPU (Example Platform, driver 1.0)
            reads 400 GB/s, copies 380 GB/s; 1 of 2 results verified, 1 FAILED
            matrix, algorithm  type  time µs  model  ratio      by  alpha     B  P_max   A/X/Y %
            ────────────────────────────────────────────────────────────────────────────────────
            pwtk-like
              csr_adaptive     f64       201    180   0.90  memory   0.25  7.60   50.0  44/33/22
              csr_scalar       f64    FAILED    180      –  memory   0.25  7.60   50.0         –

            predictions within 20% of the measured time: 1 of 1.
        "#]]
        .assert_eq(table);
    }
}
