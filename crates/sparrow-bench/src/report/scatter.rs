//! The charts over the number of nonzeros: throughput with the device's rate, and the cost of set-up.
//!
//! Horizontal places are percent of a plot as wide as the page leaves, vertical ones pixels; marks are
//! told apart by colour and shape.

use super::axis::{Axis, tick_label};
use super::chart::{frame, heading};
use super::markup::{Element, element};
use super::series::{SeriesList, mark};
use crate::record::Record;
use crate::units::{grouped, significant};

const HEIGHT: usize = 240;
const LEFT: usize = 46;
const RIGHT: usize = 16;
const TOP: usize = 20;
const BOTTOM: usize = 44;
/// Set-up below this share of a product costs nothing worth telling apart.
const LEAST_SETUP: f64 = 0.01;
/// Pixels between the marks of neighbouring series on one matrix.
const ASIDE: f64 = 7.0;

struct Point<'a> {
    record: &'a Record,
    value: f64,
}

/// GB/s against nnz, with a line at `rate`, the rate limits are computed from.
pub(super) fn throughput(
    id: &str,
    label: &str,
    records: &[&Record],
    rate: Option<f64>,
    list: &SeriesList,
) -> Element {
    let points = points(records, |r| r.gbytes_per_s);
    let largest = points.iter().map(|p| p.value).chain(rate).fold(0.0, f64::max);
    let line = rate.map(|rate| (rate, format!("device streams {} GB/s", significant(rate))));
    Chart {
        id,
        label,
        name: "Throughput",
        how: "GB/s over nonzeros; higher is better",
        unit: "GB/s",
        vertical: Axis::linear(largest),
        line,
        below: false,
    }
    .draw(&points, list)
}

/// Set-up as a multiple of the product it prepares, against nnz, both logarithmic.
pub(super) fn setup(id: &str, label: &str, records: &[&Record], list: &SeriesList) -> Element {
    let points = points(records, |r| r.setup_in_products);
    let values = || points.iter().map(|p| p.value.max(LEAST_SETUP));
    let vertical = Axis::logarithmic(values().fold(1.0, f64::min), values().fold(10.0, f64::max));
    Chart {
        id,
        label,
        name: "Set-up",
        how: "in products, over nonzeros; lower is better",
        unit: "products",
        line: Some((1.0, "as long as one product".to_owned())),
        vertical,
        below: points.iter().any(|p| p.value < LEAST_SETUP),
    }
    .draw(&points, list)
}

/// The verified results that have the value.
fn points<'a>(records: &[&'a Record], value: impl Fn(&Record) -> Option<f64>) -> Vec<Point<'a>> {
    let verified = records.iter().filter(|r| r.verified);
    verified.filter_map(|record| value(record).map(|value| Point { record, value })).collect()
}

struct Chart<'a> {
    id: &'a str,
    label: &'a str,
    name: &'static str,
    how: &'static str,
    unit: &'static str,
    vertical: Axis,
    line: Option<(f64, String)>,
    /// Whether some points lie below the vertical axis and are drawn at its lower end.
    below: bool,
}

impl Chart<'_> {
    fn draw(self, points: &[Point<'_>], list: &SeriesList) -> Element {
        let caption = heading(self.label, self.how);
        if points.is_empty() {
            let nothing = element("p").class("muted").text("No verified result has this figure.");
            return element("figure").child(caption).child(nothing);
        }
        let nonzeros = || points.iter().map(|p| p.record.nnz.max(1) as f64);
        let horizontal = Axis::logarithmic(
            nonzeros().fold(f64::INFINITY, f64::min),
            nonzeros().fold(1.0, f64::max),
        );
        let records: Vec<&Record> = points.iter().map(|p| p.record).collect();
        let used = list.used(&records);
        let marks = points.iter().map(|p| self.point(p, &horizontal, list, &used));
        let plot = element("svg")
            .class("plot")
            .attribute("x", LEFT)
            .attribute("y", TOP)
            .attribute("width", "80%")
            .attribute("height", HEIGHT)
            .attribute("style", format!("width:calc(100% - {}px)", LEFT + RIGHT))
            .children(self.vertical.ticks.iter().flat_map(|&tick| self.row(tick)))
            .children(horizontal.ticks.iter().flat_map(|&tick| column(&horizontal, tick)))
            .children(self.reference())
            .children(marks)
            .children(self.reference_words());
        let description = format!(
            "{} points: {} against number of nonzeros, one for each verified result. The same \
             figures stand in the table of results.",
            points.len(),
            self.unit
        );
        let axis_name = element("text")
            .class("tick")
            .attribute("x", "50%")
            .attribute("y", TOP + HEIGHT + 34)
            .text("nonzeros");
        let legend = list.legend(&used, |_| String::new());
        let title = format!("{}, {}", self.name, self.label);
        let chart = frame(self.id, &title, &description, TOP + HEIGHT + BOTTOM)
            .child(plot)
            .child(axis_name);
        element("figure").child(caption).child(legend).child(chart)
    }

    /// The line to compare with.
    fn reference(&self) -> Option<Element> {
        self.line.as_ref().map(|(value, _)| across("limit", self.pixel(*value)))
    }

    /// What the line means, at the left where small matrices leave room.
    fn reference_words(&self) -> Option<Element> {
        self.line.as_ref().map(|(value, words)| {
            element("text")
                .class("reference")
                .attribute("x", 6)
                .attribute("y", format!("{:.1}", self.pixel(*value) - 5.0))
                .text(words.as_str())
        })
    }

    fn point(
        &self,
        point: &Point<'_>,
        horizontal: &Axis,
        list: &SeriesList,
        used: &[usize],
    ) -> Element {
        let record = point.record;
        let index = list.index(record);
        // Results of one matrix stand side by side: equal ones would hide each other.
        let rank = used.iter().position(|&other| other == index).unwrap_or(0) as f64;
        let aside = (rank - (used.len() as f64 - 1.0) / 2.0) * ASIDE;
        let about = format!(
            "{} on {}: {} {}, {} nonzeros",
            list.name(index),
            record.matrix,
            significant(point.value),
            self.unit,
            grouped(record.nnz)
        );
        mark(index)
            .attribute("x", percent(horizontal.place(record.nnz.max(1) as f64)))
            .attribute("y", format!("{:.1}", self.pixel(point.value)))
            .attribute("transform", format!("translate({aside:.1} 0)"))
            .child(element("title").text(about))
    }

    fn row(&self, tick: f64) -> Vec<Element> {
        let y = self.pixel(tick);
        let lowest = tick <= self.vertical.least() * 1.001;
        let at_most = if self.below && lowest { "≤ " } else { "" };
        let label = element("text")
            .class("tick")
            .attribute("x", -8)
            .attribute("y", format!("{y:.1}"))
            .attribute("dy", "0.32em")
            .attribute("text-anchor", "end")
            .text(format!("{at_most}{}", tick_label(tick)));
        vec![across("grid", y), label]
    }

    fn pixel(&self, value: f64) -> f64 {
        HEIGHT as f64 * (1.0 - self.vertical.place(value.max(self.vertical.least())))
    }
}

fn across(class: &str, y: f64) -> Element {
    let y = format!("{y:.1}");
    element("line")
        .class(class)
        .attribute("x1", 0)
        .attribute("x2", "100%")
        .attribute("y1", &y)
        .attribute("y2", &y)
}

fn column(horizontal: &Axis, tick: f64) -> Vec<Element> {
    let place = percent(horizontal.place(tick));
    let line = element("line")
        .class("grid")
        .attribute("x1", &place)
        .attribute("x2", &place)
        .attribute("y1", 0)
        .attribute("y2", HEIGHT + 4);
    let label = element("text")
        .class("tick")
        .attribute("x", &place)
        .attribute("y", HEIGHT + 17)
        .attribute("text-anchor", "middle")
        .text(tick_label(tick));
    vec![line, label]
}

fn percent(place: f64) -> String {
    format!("{:.2}%", 100.0 * place)
}
