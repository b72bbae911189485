//! Records of `bench batch` as a table for a terminal: a block a batch, a line a way of computing it.

use std::fmt::Write as _;

use crate::group::{by_device, plain};
use crate::record::Record;
use crate::table_layout::{Look, arranged, heading, new_table, push_legend};
use crate::units::{ABSENT, percent_or_absent, short, significant_or_absent};

const HEADER: [&str; 9] = [
    "batch, algorithm",
    "type",
    "time µs",
    "GFLOP/s",
    "limit %",
    "set-up",
    "extra %",
    "× loop",
    "× block",
];

const LEGEND: &str = "\
limit %: the least time in which the device could move the batch once, as this form stores it, as a
  share of the time taken. set-up: what the plan costs, in products; extra %: its memory, of the
  batch's.
× loop: how many times as fast as single products one after the other; × block: as one product with
  the block-diagonal matrix of all problems, by the fastest of our algorithms for one matrix.
FAILED: some row of some y left its error bound, so no time is shown.
";

/// Writes the table of `records`, all of which have a [`crate::BatchRecord`] part.
pub(crate) fn write(text: &mut String, records: &[&Record], look: Look) {
    for group in by_device(records.iter().copied()) {
        heading(text, &group);
        let mut table = new_table(look);
        table.set_header(HEADER);
        let own: Vec<&Record> =
            records.iter().copied().filter(|record| record.device == group.device).collect();
        let mut last = None;
        for record in own {
            let head = batch_heading(record);
            if last.as_ref() != Some(&head) {
                table.add_row([head.clone()]);
                last = Some(head);
            }
            table.add_row(line(record));
            for note in notes(record) {
                table.add_row([note]);
            }
        }
        let table = arranged(&mut table, look, 2..9, &[6, 5, 4]);
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{}\n", table);
    }
    push_legend(text, LEGEND, look);
}

fn batch_heading(record: &Record) -> String {
    let Some(batch) = record.batch() else { return plain(&record.matrix) };
    // Many times one matrix: no word is needed.
    let kind = match batch.batch_kind.as_str() {
        "homogeneous" => String::new(),
        kind => format!(" {kind},"),
    };
    let count = short(batch.batch_size);
    format!("{count} × {},{kind} {} nnz", plain(&record.matrix), short(record.nnz))
}

fn line(record: &Record) -> Vec<String> {
    let batch = record.batch();
    let form = batch.map_or("", |batch| &batch.batch_form);
    let variant = if record.variant.is_empty() { "" } else { "/" };
    let name = format!("  {}{variant}{}, {form}", plain(&record.algorithm), record.variant);
    if !record.verified {
        let absent = std::iter::repeat_n(ABSENT.to_owned(), 6);
        return [name, record.value_type.clone(), "FAILED".to_owned()]
            .into_iter()
            .chain(absent)
            .collect();
    }
    let times = |other: Option<f64>| Some(other? / record.median_us?);
    let extra = batch.map(|batch| record.plan_bytes as f64 / batch.batch_bytes.max(1) as f64);
    vec![
        name,
        record.value_type.clone(),
        significant_or_absent(record.median_us),
        significant_or_absent(record.gflops),
        percent_or_absent(record.limit_fraction),
        significant_or_absent(record.setup_in_products),
        percent_or_absent(extra),
        significant_or_absent(times(batch.and_then(|batch| batch.loop_us))),
        significant_or_absent(times(batch.and_then(|batch| batch.block_diagonal_us))),
    ]
}

/// What ELL did to the batch.
fn notes(record: &Record) -> Vec<String> {
    let Some(batch) = record.batch() else { return Vec::new() };
    let mut notes = Vec::new();
    if batch.padding > 0 {
        let share = percent_or_absent(Some(batch.padding as f64 / record.nnz.max(1) as f64));
        notes.push(format!("    padding: {share} % of the nonzeros"));
    }
    if batch.not_ell > 0 {
        let (some, all) = (short(batch.not_ell), short(batch.batch_size));
        notes.push(format!("    {some} of {all} in compressed rows: ELL pads them > 4 times"));
    }
    notes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{BatchRecord, Details};
    use crate::samples::{WIDE, sample};

    fn batch(form: &str) -> Record {
        sample("nos3", "batched_csr_i").with_details(Details::Batch(BatchRecord {
            batch_size: 1000,
            batch_kind: "homogeneous".to_owned(),
            batch_form: form.to_owned(),
            batch_bytes: 3_131_200,
            padding: 0,
            not_ell: 0,
            loop_us: Some(2005.0),
            block_diagonal_us: Some(401.0),
        }))
    }

    #[test]
    fn a_batch_has_one_heading_and_its_times_next_to_those_of_others() {
        let records = [batch("as given"), batch("one pattern")];
        let mut text = String::new();
        write(&mut text, &records.iter().collect::<Vec<_>>(), WIDE);
        assert_eq!(text.matches("1k × nos3, 4.01M nnz").count(), 1, "{text}");
        let line = text.lines().find(|line| line.contains("one pattern")).unwrap();
        assert!(line.contains("10.0") && line.contains("2.00"), "{line}");
        assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
    }

    #[test]
    fn what_ell_pads_and_what_it_leaves_to_others_is_said() {
        let mut record = batch("as given");
        let mut batch = record.batch().unwrap().clone();
        (batch.padding, batch.not_ell) = (record.nnz / 4, 17);
        record.details = Details::Batch(batch);
        let mut text = String::new();
        write(&mut text, &[&record], WIDE);
        assert!(text.contains("padding: 25.0 % of the nonzeros"), "{text}");
        let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words.contains("17 of 1k in compressed rows: ELL pads them > 4 times"), "{text}");
    }

    #[test]
    fn a_wrong_result_shows_no_figure() {
        let record = Record { verified: false, ..batch("as given") };
        assert_eq!(line(&record)[2..], ["FAILED", ABSENT, ABSENT, ABSENT, ABSENT, ABSENT, ABSENT]);
    }
}
