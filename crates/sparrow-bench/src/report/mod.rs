//! Records as one HTML file: a headline, charts, the table of all results, how to run them again.
//!
//! The file needs no network, no script and no font of its own. Charts are written as SVG by this module
//! rather than by a plotting library, because theirs fix colours, fonts and width in the drawing: these
//! follow the reader's theme, keep their text size on a phone, and print.
//!
//! `markup` builds escaped elements; `axis` places values; `bars`, `blocks`, `lines` and `scatter` draw; `plot` is what charts of bars share; `picture` has
//! the papers' figures by `blocks` and `lines`; `results` writes
//! tables; `model` and `model_bars` draw what the bandwidth model says of a device; `hetero` and `hetero_bars` do both for records of `bench hetero`.

mod axis;
mod bars;
mod blocks;
mod chart;
mod hetero;
mod hetero_bars;
mod lines;
mod markup;
mod model;
mod model_bars;
mod picture;
mod plot;
mod results;
mod scatter;
mod series;
mod solve;
mod sweep;
#[cfg(test)]
mod tests;

use markup::{Element, element};
pub use picture::figure_html;
use series::SeriesList;
pub use solve::solve_html;
pub use sweep::sweep_html;

use crate::group::{DeviceGroup, Kind, by_device, by_matrix, verdict};
use crate::hetero::with_hetero;
use crate::record::{Record, SCHEMA};
use crate::units::counted;
use crate::which_device::{Comparison, comparisons};

const STYLE: &str = include_str!("style.css");

/// Why no report was written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReportError {
    /// There is nothing to report.
    #[error("a report needs at least 1 record, and there are 0")]
    Empty,

    /// A record has a form this version does not read.
    #[error("record {index} has schema {found:?} where {SCHEMA:?} is needed")]
    Schema {
        /// Position in the slice, from 0.
        index: usize,
        /// The schema it names.
        found: String,
    },

    /// A measured value is NaN, infinite or negative: no position in a chart is right for it.
    #[error(
        "record {index} ({matrix}, {algorithm}) has {field} = {value}, not a finite number >= 0"
    )]
    Value {
        /// Position in the slice, from 0.
        index: usize,
        /// The record's matrix.
        matrix: String,
        /// The record's algorithm.
        algorithm: String,
        /// The field's name.
        field: &'static str,
        /// Its value.
        value: f64,
    },
}

/// One self-contained HTML page that shows `records` grouped by device, those of `bench hetero` next to one
/// another, under `title`.
///
/// A result that did not verify is shown as FAILED, without a time, whatever its record holds. Texts of
/// records are escaped. The same records always give the same page.
///
/// # Errors
/// [`ReportError::Empty`] without records, [`ReportError::Schema`] for records of another form, and
/// [`ReportError::Value`] for a measured value that is not a finite number of at least 0.
pub fn html(records: &[Record], title: &str) -> Result<String, ReportError> {
    if records.is_empty() {
        return Err(ReportError::Empty);
    }
    for (index, record) in records.iter().enumerate() {
        check(index, record)?;
    }
    let groups = by_device(records);
    let alone = || records.iter().filter(|r| r.hetero().is_none());
    let own = by_device(alone());
    let list = SeriesList::of(alone());
    let together = with_hetero(records);

    let several = own.len() > 1 || !together.is_empty();
    let sections =
        own.iter().enumerate().map(|(place, group)| device(place, group, &list, several));
    let main = element("main")
        .child(element("h1").text(title))
        .children(headline(&groups))
        .children(which_device(records))
        .children((!own.is_empty()).then(explanation))
        .children(sections)
        .children((!together.is_empty()).then(|| hetero::section(&together)))
        .child(element("h2").text("How to run this again"))
        .child(again())
        .children(groups.iter().map(results::reproduce));
    Ok(page(title, element("body").child(series::shapes()).child(main)))
}

/// Which device is the fastest, where there are several.
fn which_device(records: &[Record]) -> Vec<Element> {
    let of_one = |Comparison { what, lines }: Comparison| {
        let items = lines.into_iter().map(|line| element("li").text(line));
        [
            element("p").text(format!("Which device: {what}.")),
            element("ul").children(items.collect::<Vec<_>>()),
        ]
    };
    comparisons(records).into_iter().flat_map(of_one).collect()
}

/// A whole page, with the style that needs nothing from elsewhere.
fn page(title: &str, body: Element) -> String {
    let head = element("head")
        .child(element("meta").attribute("charset", "utf-8"))
        .child(
            element("meta")
                .attribute("name", "viewport")
                .attribute("content", "width=device-width, initial-scale=1"),
        )
        .child(element("meta").attribute("name", "color-scheme").attribute("content", "light dark"))
        .child(element("title").text(title))
        .child(element("style").verbatim(STYLE));
    let mut page = "<!DOCTYPE html>\n".to_owned();
    element("html").attribute("lang", "en").child(head).child(body).write(&mut page);
    page
}

fn check(index: usize, record: &Record) -> Result<(), ReportError> {
    if record.schema != SCHEMA {
        return Err(ReportError::Schema { index, found: record.schema.clone() });
    }
    let measured = [
        ("stream_gbytes_per_s", record.stream_gbytes_per_s),
        ("copy_gbytes_per_s", record.copy_gbytes_per_s),
        ("median_us", record.median_us),
        ("gflops", record.gflops),
        ("gbytes_per_s", record.gbytes_per_s),
        ("limit_fraction", record.limit_fraction),
        ("setup_in_products", record.setup_in_products),
        ("error_in_tolerance", record.error_in_tolerance),
    ];
    let staged = record.hetero().map(|hetero| {
        [
            ("share", Some(hetero.share)),
            ("stage1_us", hetero.stage1_us),
            ("stage2_us", hetero.stage2_us),
            ("dirty_tile_share", hetero.dirty_tile_share),
            ("single_us", hetero.single_us),
        ]
    });
    let modelled = record.model().map(|model| {
        [
            ("alpha", Some(model.alpha)),
            ("code_balance", Some(model.code_balance)),
            ("predicted_us", Some(model.predicted_us)),
            ("predicted_over_measured", model.predicted_over_measured),
            ("x_constant_us", model.x_constant_us),
            ("a_constant_us", model.a_constant_us),
            ("both_constant_us", model.both_constant_us),
        ]
    });
    let parts = staged.into_iter().flatten().chain(modelled.into_iter().flatten());
    let mut all = measured.into_iter().chain(parts);
    match all.find_map(|(field, value)| Some((field, value?)).filter(is_wrong)) {
        None => Ok(()),
        Some((field, value)) => Err(ReportError::Value {
            index,
            matrix: record.matrix.clone(),
            algorithm: record.algorithm.clone(),
            field,
            value,
        }),
    }
}

fn is_wrong(&(_, value): &(&str, f64)) -> bool {
    !value.is_finite() || value < 0.0
}

/// A sentence a device, and one that sums up where there are several.
fn headline(groups: &[DeviceGroup<'_>]) -> Vec<Element> {
    let mut lines: Vec<Element> = groups.iter().map(device_line).collect();
    if groups.len() > 1 {
        let verified = groups.iter().map(DeviceGroup::verified).sum();
        let results: usize = groups.iter().map(|g| g.records.len()).sum();
        let sum = format!("{}: ", counted(groups.len(), "device"));
        let non_finite = groups.iter().map(DeviceGroup::non_finite).sum();
        let span = verdict_span(verified, results, non_finite);
        lines.insert(0, element("p").text(sum).child(span).text("."));
    }
    lines
}

fn device_line(group: &DeviceGroup<'_>) -> Element {
    let rates = match group.rates() {
        Some(rates) => format!(": {rates}; "),
        None => ": its memory rate was not measured; ".to_owned(),
    };
    element("p")
        .class("headline")
        .child(element("strong").text(group.device))
        .text(group.origin())
        .text(rates)
        .child(verdict_span(group.verified(), group.records.len(), group.non_finite()))
        .text(".")
}

fn verdict_span(verified: usize, results: usize, non_finite: usize) -> Element {
    let class = if verified == results { "passed" } else { "failed" };
    element("span").class(class).text(verdict(verified, results, non_finite))
}

fn explanation() -> Element {
    element("p")
        .child(element("strong").text("Share of the limit"))
        .text(
            " is how near a product comes to the fastest this device could be: the time to move \
             every byte of matrix and vectors once, at the rate the device streams memory, divided \
             by the time measured. 100 % is perfect; more is possible only where a matrix stays in \
             cache between launches. ",
        )
        .child(marks())
}

/// What the marks before the names of matrices mean.
fn marks() -> Element {
    element("span").class("muted").text(
        "△ marks a problem that Sparrow assembles itself, ≈ a synthetic likeness of the matrix it is \
         named after; a matrix without a mark is a file.",
    )
}

fn again() -> Element {
    element("p").text("Run ").child(element("code").text("sparrow bench")).text(
        " with the same version on the same device and driver. The seed fixes a generated matrix \
             and the vector x, the parameters and the kernel key fix the program.",
    )
}

/// Charts and the table of one device.
fn device(place: usize, group: &DeviceGroup<'_>, list: &SeriesList, several: bool) -> Element {
    let kinds: Vec<_> = group
        .kinds()
        .into_iter()
        .map(|kind| {
            let records = group.records.iter().copied().filter(|r| Kind::of(r) == kind);
            (kind.label(), records.collect::<Vec<&Record>>())
        })
        .collect();
    let charts = |name: &str, draw: &dyn Fn(&str, &str, &[&Record]) -> Element| {
        let figures = kinds.iter().enumerate().map(|(number, (label, records))| {
            draw(&format!("{name}-{place}-{number}"), label, records)
        });
        element("div").class("charts").children(figures)
    };
    let section = element("section");
    let section = match several {
        true => section.child(element("h2").text(format!("{}{}", group.device, group.origin()))),
        false => section,
    };
    section
        .child(element("h3").text("Share of the limit"))
        .child(charts("share", &|id, label, records| {
            bars::share_of_limit(id, label, &by_matrix(records), list)
        }))
        .child(element("h3").text("Throughput"))
        .child(charts("throughput", &|id, label, records| {
            scatter::throughput(id, label, records, group.limit_rate(), list)
        }))
        .child(element("h3").text("What set-up costs"))
        .child(charts("setup", &|id, label, records| scatter::setup(id, label, records, list)))
        .children(model::section(place, group))
        .child(element("h3").text("All results"))
        .child(element("p").class("muted").text(
            "Times are medians of one launch; the fastest of a matrix and type is bold. The error is \
             the largest of all rows, as a multiple of its row's tolerance: above 1 is FAILED.",
        ))
        .child(results::results(group))
}
