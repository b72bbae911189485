//! Records of `bench convert` as a table for a terminal: a block a matrix, a line a conversion.

use std::fmt::Write as _;

use crate::group::{by_device, plain};
use crate::record::Record;
use crate::table_layout::{Look, arranged, heading, new_table, push_legend};
use crate::units::{ABSENT, percent_or_absent, short, significant_or_absent};

const HEADER: [&str; 7] =
    ["matrix, conversion", "type", "time ms", "GB/s", "limit %", "host ms", "× host"];

const LEGEND: &str = "\
limit %: the least time in which the device could read what there is and write what comes out once,
  at the rate at which it streams memory, as a share of the time taken.
host ms: Sparrow's own conversion on the host's cores, once; × host: how many times as fast.
FAILED: an array was not, bit for bit, what the host makes of it, so no time is shown.
";

/// Writes the table of `records`, all of which have a [`crate::ConvertRecord`] part.
pub(crate) fn write(text: &mut String, records: &[&Record], look: Look) {
    for group in by_device(records.iter().copied()) {
        heading(text, &group);
        let mut table = new_table(look);
        table.set_header(HEADER);
        let mut last = None;
        for record in records.iter().filter(|record| record.device == group.device) {
            let head = format!(
                "{}: {} × {}, {} nnz",
                plain(&record.matrix),
                short(record.rows),
                short(record.cols),
                short(record.nnz)
            );
            if last.as_ref() != Some(&head) {
                table.add_row([head.clone()]);
                last = Some(head);
            }
            table.add_row(line(record));
        }
        let table = arranged(&mut table, look, 2..7, &[6, 5]);
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{}\n", table);
    }
    push_legend(text, LEGEND, look);
}

fn line(record: &Record) -> Vec<String> {
    let name = format!("  {}", plain(&record.algorithm));
    if !record.verified {
        let absent = std::iter::repeat_n(ABSENT.to_owned(), 4);
        return [name, record.value_type.clone(), "FAILED".to_owned()]
            .into_iter()
            .chain(absent)
            .collect();
    }
    let host_us = record.convert().and_then(|convert| convert.host_us);
    let millis = |micros: Option<f64>| significant_or_absent(micros.map(|micros| micros / 1e3));
    let times = host_us.zip(record.median_us).map(|(host, device)| host / device);
    vec![
        name,
        record.value_type.clone(),
        millis(record.median_us),
        significant_or_absent(record.gbytes_per_s),
        percent_or_absent(record.limit_fraction),
        millis(host_us),
        significant_or_absent(times),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{ConvertRecord, Details};
    use crate::samples::{WIDE, sample};

    fn conversion(host_us: Option<f64>) -> Record {
        let details = Details::Convert(ConvertRecord { entries: 15_844, host_us });
        sample("nos3", "coo_to_csr").with_details(details)
    }

    #[test]
    fn a_conversion_stands_next_to_the_hosts() {
        let record = conversion(Some(4e6));
        let mut text = String::new();
        write(&mut text, &[&record], WIDE);
        let line = text.lines().find(|line| line.contains("coo_to_csr")).unwrap();
        assert!(line.contains("4000") || line.contains("4,000"), "{line}");
        assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
    }

    #[test]
    fn a_wrong_result_shows_no_figure_and_a_conversion_the_host_lacks_no_factor() {
        let record = Record { verified: false, ..conversion(Some(1.0)) };
        assert_eq!(line(&record)[2..], ["FAILED", ABSENT, ABSENT, ABSENT, ABSENT]);
        assert_eq!(line(&conversion(None))[5..], [ABSENT, ABSENT]);
    }
}
