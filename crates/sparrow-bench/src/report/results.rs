//! The table of all results of a device, and the folded one with what it takes to run them again.

use super::markup::{Element, element};
use crate::group::{DeviceGroup, Kind, MatrixGroup, series};
use crate::record::Record;
use crate::units::{
    ABSENT, bytes, counted, grouped, percent_or_absent, significant, significant_or_absent,
};

/// Names of the columns, and whether they hold numbers.
const COLUMNS: [(&str, bool); 10] = [
    ("matrix, algorithm", false),
    ("type", false),
    ("time, µs", true),
    ("GFLOP/s", true),
    ("GB/s", true),
    ("limit, %", true),
    ("set-up, products", true),
    ("extra bytes", true),
    ("error / tolerance", true),
    ("verified", false),
];

const REPRODUCE: [&str; 14] = [
    "matrix",
    "columns",
    "seed",
    "operation",
    "algorithm",
    "type",
    "offsets",
    "sums",
    "cache",
    "launches timed",
    "same bits",
    "parameters",
    "kernel key",
    "version",
];

/// Every result of a device; one `tbody` a matrix.
pub(super) fn results(group: &DeviceGroup<'_>) -> Element {
    let header = COLUMNS.iter().map(|&(name, number)| head_cell(name, number));
    let bodies = group.matrices().into_iter().map(|matrix| body(&matrix));
    scrolled(
        element("table")
            .class("results")
            .child(element("caption").text(format!("All results of {}", group.device)))
            .child(element("thead").child(element("tr").children(header)))
            .children(bodies),
    )
}

/// What a record says about how it was made, folded until asked for.
pub(super) fn reproduce(group: &DeviceGroup<'_>) -> Element {
    let header = REPRODUCE.iter().map(|name| head_cell(name, false));
    let rows = group.records.iter().map(|record| {
        let repeatable = if record.repeatable { "always" } else { "not promised" };
        let cells = [
            record.matrix.clone(),
            grouped(record.cols),
            record.seed.to_string(),
            record.op.to_string(),
            series(record),
            record.value_type.clone(),
            record.offset_type.clone(),
            record.accumulate.clone(),
            record.cache.clone(),
            grouped(record.runs),
            repeatable.to_owned(),
        ];
        let code = |text: &str| element("td").child(element("code").text(text));
        element("tr")
            .children(cells.into_iter().map(|text| element("td").text(text)))
            .child(code(&record.params))
            .child(code(&record.kernel_key))
            .child(element("td").text(record.version.as_str()))
    });
    let table = element("table")
        .child(element("thead").child(element("tr").children(header)))
        .child(element("tbody").children(rows));
    let summary = format!(
        "{}{}: {}, their seeds, parameters and kernel keys",
        group.device,
        group.origin(),
        counted(group.records.len(), "result")
    );
    element("details").child(element("summary").text(summary)).child(scrolled(table))
}

/// A wide table scrolls by itself, not the page; a keyboard can reach it.
pub(super) fn scrolled(table: Element) -> Element {
    element("div")
        .class("scroll")
        .attribute("tabindex", 0)
        .attribute("role", "region")
        .attribute("aria-label", "table, scrolls sideways")
        .child(table)
}

/// A cell of a table's head, over numbers or words.
pub(super) fn head_cell(name: &str, number: bool) -> Element {
    let cell = element("th").attribute("scope", "col").text(name);
    if number { cell.class("number") } else { cell }
}

/// A line for the matrix and one for each of its results. The matrix gets no columns of its own: on a
/// narrow screen they would push every figure out of sight.
fn body(matrix: &MatrixGroup<'_>) -> Element {
    let first = matrix.first();
    let size = [(first.rows, "row"), (first.matrix_nnz(), "nonzero")];
    let size = size.map(|(count, noun)| counted(grouped(count), noun)).join(", ");
    let about = element("span")
        .class("about")
        .text(first.matrix.as_str())
        .children(badge(&first.source))
        .child(element("span").class("muted size").text(size));
    let heading = element("th")
        .attribute("scope", "rowgroup")
        .attribute("colspan", COLUMNS.len())
        .child(about);
    let rows = matrix.records.iter().map(|record| {
        let row = element("tr");
        let row = if is_fastest(record, &matrix.records) { row.class("fastest") } else { row };
        row.children(figures(record))
    });
    element("tbody").child(element("tr").class("matrix").child(heading)).children(rows)
}

/// Which kind of matrix this is; a user's own file needs no badge.
pub(super) fn badge(source: &str) -> Option<Element> {
    (source != "file").then(|| element("span").class("badge").text(source))
}

/// Algorithm to verdict. A failed result has neither time nor anything that follows from one.
fn figures(record: &Record) -> Vec<Element> {
    let timed = |value: Option<f64>| value.filter(|_| record.verified);
    let error = match record.error_in_tolerance {
        Some(error) => significant(error),
        None if record.verified => ABSENT.to_owned(),
        None => "NaN or ∞".to_owned(),
    };
    let (verdict, error_class) = match record.verified {
        true if record.non_finite > 0 => {
            let text = format!("✓ yes, {} NaN or ∞", record.non_finite);
            (element("td").text(text), "number")
        }
        true => (element("td").text("✓ yes"), "number"),
        false => (element("td").class("failed").text("✕ FAILED"), "number failed"),
    };
    let time = match record.verified {
        true => element("td").class("number time").text(significant_or_absent(record.median_us)),
        false => element("td").class("number failed").text("FAILED"),
    };
    vec![
        element("td").text(series(record)),
        element("td").text(Kind::of(record).label()),
        time,
        number(significant_or_absent(timed(record.gflops))),
        number(significant_or_absent(timed(record.gbytes_per_s))),
        number(percent_or_absent(timed(record.limit_fraction))),
        number(significant_or_absent(timed(record.setup_in_products))),
        number(bytes(record.plan_bytes)),
        element("td").class(error_class).text(error),
        verdict,
    ]
}

/// A cell that holds a number.
pub(super) fn number(text: String) -> Element {
    element("td").class("number").text(text)
}

/// Columns of B and C; `None` for a vector.
fn columns(record: &Record) -> Option<u64> {
    record.spmm().map(|spmm| spmm.columns)
}

/// Whether no other verified result of the same matrix, operation and type took less time, where
/// there is another.
fn is_fastest(record: &Record, of_matrix: &[&Record]) -> bool {
    let time = |r: &Record| r.median_us.filter(|_| r.verified);
    let rivals: Vec<f64> = of_matrix
        .iter()
        .filter(|r| Kind::of(r) == Kind::of(record))
        .filter(|r| columns(r) == columns(record))
        .filter_map(|r| time(r))
        .collect();
    rivals.len() > 1 && time(record).is_some_and(|own| rivals.iter().all(|&t| own <= t))
}
