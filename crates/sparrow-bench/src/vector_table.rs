//! Records of `bench vector` as a table for a terminal: a block a length, a line an operation.

use std::fmt::Write as _;

use crate::group::{by_device, check, plain};
use crate::record::Record;
use crate::table_layout::{Look, arranged, heading, new_table, push_legend};
use crate::units::{ABSENT, percent_or_absent, significant_or_absent};

const HEADER: [&str; 8] =
    ["vectors, operation", "type", "sums", "time µs", "GB/s", "copy %", "launches", "check"];

const LEGEND: &str = "\
GB/s: each vector read or written once, over the time. copy %: the same as a share of the rate at
  which the device copies memory past its caches; above 100 where vectors stay in a cache.
launches: the time over that of a launch with nothing to do and as many buffers, measured in turn.
FAILED: some element or sum left its error bound, so no time is shown.
";

/// Writes the table of `records`, all of which have a [`crate::VectorRecord`] part.
pub(crate) fn write(text: &mut String, records: &[&Record], look: Look) {
    for group in by_device(records.iter().copied()) {
        heading(text, &group);
        let mut table = new_table(look);
        table.set_header(HEADER);
        let mut last = "";
        for record in records.iter().copied().filter(|record| record.device == group.device) {
            if last != record.matrix {
                table.add_row([plain(&record.matrix)]);
                last = &record.matrix;
            }
            table.add_row(line(record));
        }
        let table = arranged(&mut table, look, 3..7, &[6, 5]);
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{}\n", table);
    }
    push_legend(text, LEGEND, look);
}

fn line(record: &Record) -> Vec<String> {
    let vector = record.vector();
    let figures = match record.verified {
        true => [
            significant_or_absent(record.median_us),
            significant_or_absent(record.gbytes_per_s),
            percent_or_absent(vector.and_then(|vector| vector.copy_fraction)),
            significant_or_absent(vector.and_then(|vector| vector.in_launches)),
        ],
        false => std::array::from_fn(|_| ABSENT.to_owned()),
    };
    [
        format!("  {}", plain(&record.algorithm)),
        plain(&record.value_type),
        plain(&record.accumulate),
    ]
    .into_iter()
    .chain(figures)
    .chain([check(record).to_owned()])
    .collect()
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use crate::record::{Details, VectorRecord};
    use crate::samples::{WIDE, failed, sample};

    #[test]
    fn the_table_of_two_operations_reads_like_this() {
        let vector = |elements| {
            Details::Vector(VectorRecord {
                elements,
                launch_us: Some(3.5),
                bare_launch_us: Some(2.5),
                in_launches: Some(57.3),
                copy_fraction: Some(0.645),
            })
        };
        let axpy = sample("10000000 elements", "axpy").with_details(vector(10_000_000));
        let dot = failed("10000000 elements", "dot").with_details(vector(10_000_000));
        expect![[r#"
            Example GPU (Example Platform, driver 1.0)
            reads 400 GB/s, copies 380 GB/s; 1 of 2 results verified, 1 FAILED
            vectors, operation  type  sums   time µs  GB/s  copy %  launches  check
            ──────────────────────────────────────────────────────────────────────────
            10000000 elements
              axpy              f64   plain      201   245    64.5      57.3  verified
              dot               f64   plain        –     –       –         –  FAILED

            GB/s: each vector read or written once, over the time. copy %: the same as a share of the rate at
              which the device copies memory past its caches; above 100 where vectors stay in a cache.
            launches: the time over that of a launch with nothing to do and as many buffers, measured in turn.
            FAILED: some element or sum left its error bound, so no time is shown.
        "#]].assert_eq(&crate::table(&[axpy, dot], WIDE));
    }
}
