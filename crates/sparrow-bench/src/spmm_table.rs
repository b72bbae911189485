//! Records of `bench spmm` with several numbers of columns as a table for a terminal: what a number of columns costs,
//! compared with one product with a vector for each.

use std::fmt::Write as _;

use crate::group::{by_device, plain, series};
use crate::record::Record;
use crate::table_layout::{Look, arranged, heading, new_table, push_legend};
use crate::units::{ABSENT, significant_or_absent};

const HEADER: [&str; 6] =
    ["matrix, algorithm", "type", "columns", "time µs", "a column", "products"];

const LEGEND: &str = "\
a column: time over columns, in µs. products: the time over that of a product with one vector, as the
  automatic choice computes it, measured in turn: one by one, as many would take as there are columns.
FAILED: some element of C left its error bound, so no time is shown.
";

/// Median microseconds of a product with one vector, of a record that was compared with it.
pub(crate) fn single_us(record: &Record) -> Option<f64> {
    record.spmm().and_then(|spmm| spmm.single_us)
}

/// Writes the table of `records`, all of which were compared with a product with one vector.
pub(crate) fn write(text: &mut String, records: &[&Record], look: Look) {
    for group in by_device(records.iter().copied()) {
        heading(text, &group);
        let mut table = new_table(look);
        table.set_header(HEADER);
        for matrix in group.matrices() {
            table.add_row([plain(&matrix.first().matrix)]);
            for record in &matrix.records {
                table.add_row(line(record));
            }
        }
        let table = arranged(&mut table, look, 2..6, &[4]);
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{}\n", table);
    }
    push_legend(text, LEGEND, look);
}

fn line(record: &Record) -> Vec<String> {
    let columns = record.spmm().map_or(0, |spmm| spmm.columns);
    // The number has a column of its own; how B and C lie follows it.
    let name = plain(&series(record));
    let name = match name.split_once(", ") {
        Some((name, rest)) => {
            let layouts = rest.split_once(" B ").or(rest.split_once(" C ")).map(|_| rest);
            layouts.map_or(name.to_owned(), |rest| format!("{name}, {rest}"))
        }
        None => name,
    };
    let time = record.median_us.filter(|_| record.verified);
    let products = single_us(record).zip(time).map(|(single, time)| time / single);
    let figures = match record.verified {
        true => [
            significant_or_absent(time),
            significant_or_absent(time.map(|time| time / columns.max(1) as f64)),
            products.map_or(ABSENT.to_owned(), |products| format!("{products:.2}")),
        ],
        false => ["FAILED".to_owned(), ABSENT.to_owned(), ABSENT.to_owned()],
    };
    [format!("  {name}"), plain(&record.value_type), columns.to_string()]
        .into_iter()
        .chain(figures)
        .collect()
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use crate::record::{Details, SpmmRecord};
    use crate::samples::{WIDE, failed, sample};

    #[test]
    fn numbers_of_columns_are_compared_with_single_products() {
        let spmm = |columns, layout_c: &str| {
            Details::Spmm(SpmmRecord {
                columns,
                layout_b: "row".to_owned(),
                layout_c: layout_c.to_owned(),
                chosen: "spmm_row_split".to_owned(),
                mean_inode: 1.0,
                single_us: Some(100.25),
            })
        };
        let three = sample("m", "spmm").with_details(spmm(3, "row"));
        let four = failed("m", "spmm").with_details(spmm(4, "row"));
        let other = sample("m", "spmm_merge").with_details(spmm(4, "column"));
        let mut text = String::new();
        write(&mut text, &[&three, &four, &other], WIDE);
        let table = text.split("\na column:").next().unwrap();
        expect![[r#"
            Example GPU (Example Platform, driver 1.0)
            reads 400 GB/s, copies 380 GB/s; 2 of 3 results verified, 1 FAILED
            matrix, algorithm                       type  columns  time µs  a column  products
            ──────────────────────────────────────────────────────────────────────────────────
            m
              spmm                                  f64         3      201      66.8      2.00
              spmm                                  f64         4   FAILED         –         –
              spmm_merge, 4 columns C column-major  f64         4      201      50.1      2.00
        "#]]
        .assert_eq(table);
    }
}
