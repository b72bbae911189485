//! The bar chart of the share of the limit: one block of horizontal bars a matrix, one bar a result.
//!
//! Vertical positions are pixels and horizontal ones percent of a plot as wide as the page leaves, so that
//! text keeps its size on a phone and nothing overlaps however many matrices there are.

use super::axis::Axis;
use super::chart::{frame, heading};
use super::markup::{Element, element};
use super::series::{SeriesList, colour_class};
use crate::group::{MatrixGroup, plain};
use crate::record::Record;
use crate::units::{counted, grouped, percent_or_absent, significant_or_absent};

/// Height of a bar with the gap below it.
pub(super) const PITCH: usize = 13;
/// Height of a bar.
pub(super) const BAR: usize = 11;
/// Space between matrices.
pub(super) const GAP: usize = 8;
/// Space above for the upper tick labels, and below for the lower ones.
pub(super) const HEAD: usize = 22;
/// Bars end here: beyond, a matrix in cache would flatten all others. Their label says how far they go.
const LONGEST: f64 = 1.5;
/// Names longer than this are cut; the whole stands in the tooltip and in the table.
pub(super) const NAME: usize = 25;
/// Width of a character of a name, with some margin, in pixels.
pub(super) const CHARACTER: usize = 7;
/// Width right of the axis for the label of a full bar.
const LABEL: usize = 46;

/// A chart of `matrices`, which hold records of one value type; `id` is unique on the page.
pub(super) fn share_of_limit(
    id: &str,
    label: &str,
    matrices: &[MatrixGroup<'_>],
    list: &SeriesList,
) -> Element {
    let records: Vec<&Record> = matrices.iter().flat_map(|m| m.records.iter().copied()).collect();
    let largest = records.iter().filter_map(|r| share(r)).fold(1.0, f64::max);
    let axis = Axis::linear(largest.min(LONGEST));
    let names: Vec<String> = matrices.iter().map(|m| marked_name(m.first())).collect();
    let longest = names.iter().map(|n| n.chars().count()).max().unwrap_or(0).min(NAME);
    let gutter = longest * CHARACTER + 10;

    let heights = matrices.iter().map(|m| m.records.len() * PITCH + GAP);
    let plot_height: usize = heights.clone().sum();
    let mut plot = element("svg")
        .class("plot")
        .attribute("x", gutter)
        .attribute("y", HEAD)
        .attribute("width", "55%")
        .attribute("height", plot_height)
        .attribute("style", format!("width:calc(100% - {}px)", gutter + LABEL));
    plot = plot.children(axis.ticks.iter().flat_map(|&tick| gridline(&axis, tick, plot_height)));
    let mut top = 0;
    for ((matrix, name), height) in matrices.iter().zip(&names).zip(heights) {
        plot = plot.child(block(matrix, name, top, &axis, list));
        top += height;
    }

    let title = format!("Share of the limit, {label}");
    let description = format!(
        "Horizontal bars: percent of the limit reached by each algorithm on {}, sorted by \
         number of nonzeros. The same figures stand in the table of results.",
        counted(matrices.len(), "matrix")
    );
    let chart = frame(id, &title, &description, plot_height + 2 * HEAD).child(plot);
    let used = list.used(&records);
    let legend = list.legend(&used, |index| mean_note(index, &records, list));
    element("figure")
        .child(heading(label, "percent; longer is better; means are geometric"))
        .child(legend)
        .child(chart)
}

/// The bars of one matrix and its name.
fn block(
    matrix: &MatrixGroup<'_>,
    name: &str,
    top: usize,
    axis: &Axis,
    list: &SeriesList,
) -> Element {
    let record = matrix.first();
    let middle = top + matrix.records.len() * PITCH / 2;
    let about = format!(
        "{} ({}): {} x {}, {}",
        record.matrix,
        record.source,
        grouped(record.rows),
        grouped(record.cols),
        counted(grouped(record.matrix_nnz()), "nonzero")
    );
    let label = element("text")
        .class("matrix")
        .attribute("x", -8)
        .attribute("y", middle)
        .attribute("dy", "0.32em")
        .attribute("text-anchor", "end")
        .text(cut(name))
        .child(element("title").text(about));
    let bars = matrix.records.iter().enumerate().flat_map(|(row, record)| {
        let place = Bar { top: top + row * PITCH, index: list.index(record) };
        place.draw(record, axis, &list.name(place.index))
    });
    element("g").child(label).children(bars)
}

struct Bar {
    top: usize,
    index: usize,
}

impl Bar {
    /// The bar and its label; red words instead of a bar where there is no result to show.
    fn draw(&self, record: &Record, axis: &Axis, name: &str) -> Vec<Element> {
        let label = |place: f64, class: &str, text: String| {
            element("text")
                .class(format!("value {class}"))
                .attribute("x", percent(place))
                .attribute("y", self.top + BAR / 2)
                .attribute("dx", 4)
                .attribute("dy", "0.36em")
                .text(text)
        };
        if !record.verified {
            let about = format!("{name} on {}: wrong result, no time", record.matrix);
            let text = label(0.0, "failed", "✕ FAILED".to_owned());
            return vec![text.child(element("title").text(about))];
        }
        let Some(share) = share(record) else {
            return vec![label(0.0, "", "no stream rate".to_owned())];
        };
        let about = format!(
            "{name} on {}: {} % of the limit, {} µs",
            record.matrix,
            percent_or_absent(Some(share)),
            significant_or_absent(record.median_us)
        );
        let end = axis.place(share);
        let bar = element("rect")
            .class(format!("bar {}", colour_class(self.index)))
            .attribute("x", 0)
            .attribute("y", self.top)
            .attribute("width", percent(end))
            .attribute("height", BAR)
            .child(element("title").text(about));
        let beyond = if share > axis.most() { "› " } else { "" };
        vec![bar, label(end, "", format!("{beyond}{:.0}", 100.0 * share))]
    }
}

/// A vertical line with a label above and below; the line of 100% stands out.
fn gridline(axis: &Axis, tick: f64, height: usize) -> Vec<Element> {
    let place = percent(axis.place(tick));
    let class = if (tick - 1.0).abs() < 1e-9 { "limit" } else { "grid" };
    let line = element("line")
        .class(class)
        .attribute("x1", &place)
        .attribute("x2", &place)
        .attribute("y1", -4)
        .attribute("y2", height);
    let label = |y: String| {
        element("text")
            .class("tick")
            .attribute("x", &place)
            .attribute("y", y)
            .attribute("text-anchor", "middle")
            .text(format!("{:.0}", 100.0 * tick))
    };
    vec![line, label("-8".to_owned()), label((height + 14).to_string())]
}

/// "≈ pwtk-like", "△ elasticity", or the bare name of a file.
pub(super) fn marked_name(record: &Record) -> String {
    let mark = match record.source.as_str() {
        "likeness" => "≈ ",
        "assembled" => "△ ",
        _ => "",
    };
    format!("{mark}{}", plain(&record.matrix))
}

/// A matrix's name without the end that would leave bars no width.
pub(super) fn cut(name: &str) -> String {
    match name.char_indices().nth(NAME - 1) {
        Some((end, _)) if name.chars().count() > NAME => format!("{}…", &name[..end]),
        _ => name.to_owned(),
    }
}

fn share(record: &Record) -> Option<f64> {
    record.limit_fraction.filter(|_| record.verified)
}

/// "61 % over 12": the geometric mean, and over how many results.
fn mean_note(index: usize, records: &[&Record], list: &SeriesList) -> String {
    let of_series = records.iter().filter(|r| list.index(r) == index);
    let logs: Vec<f64> =
        of_series.clone().filter_map(|r| share(r)).filter(|s| *s > 0.0).map(f64::ln).collect();
    let all = of_series.count();
    if logs.is_empty() {
        return "no result".to_owned();
    }
    let mean = (logs.iter().sum::<f64>() / logs.len() as f64).exp();
    match (logs.len(), all) {
        (1, 1) => format!("{:.0} %", 100.0 * mean),
        (verified, all) if verified == all => format!("mean {:.0} % over {all}", 100.0 * mean),
        (verified, all) => format!("mean {:.0} % over {verified} of {all}", 100.0 * mean),
    }
}

/// A position on an axis as SVG has it.
pub(super) fn percent(place: f64) -> String {
    format!("{:.2}%", 100.0 * place)
}
