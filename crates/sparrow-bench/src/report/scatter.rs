//! The charts of points: throughput with the device's rate and the cost of set-up over the number of
//! nonzeros, and the cost of stage 2 over the share of dirty tiles.
//!
//! Horizontal positions are percent of a plot as wide as the page leaves, vertical ones pixels; marks are
//! told apart by colour and shape.

use super::axis::{Axis, tick_label};
use super::chart::{across, frame, heading, percent};
use super::markup::{Element, element};
use super::series::{SeriesList, mark};
use crate::hetero_figures::stage_ratio;
use crate::record::Record;
use crate::units::{counted, grouped, significant};

const HEIGHT: usize = 240;
const LEFT: usize = 46;
const RIGHT: usize = 16;
const TOP: usize = 20;
const BOTTOM: usize = 44;
/// Set-up below this share of a product costs nothing worth telling apart.
const LEAST_SETUP: f64 = 0.01;
/// Stage 2 below this share of stage 1 costs nothing worth telling apart.
const LEAST_STAGE: f64 = 0.001;

struct Point<'a> {
    record: &'a Record,
    /// The index of its series in the list.
    index: usize,
    /// Along the horizontal axis.
    over: f64,
    value: f64,
}

/// What the horizontal axis shows.
struct Over {
    name: &'static str,
    /// The same in a sentence.
    long: &'static str,
    /// Pixels between the marks of neighbouring series at one position.
    aside: f64,
    /// Values below are drawn here.
    least: f64,
    /// An axis for at least one value.
    axis: fn(&[f64]) -> Axis,
    /// A value in a tooltip.
    words: fn(f64) -> String,
}

const NONZEROS: Over = Over {
    name: "nonzeros",
    long: "number of nonzeros",
    // Results of one matrix stand side by side: equal ones would hide each other.
    aside: 7.0,
    // A logarithmic axis has no 0.
    least: 1.0,
    axis: |values| {
        let least = values.iter().copied().fold(f64::INFINITY, f64::min);
        Axis::logarithmic(least, values.iter().copied().fold(1.0, f64::max))
    },
    words: |value| counted(grouped(value as u64), "nonzero"),
};

const DIRTY: Over = Over {
    name: "dirty tiles, %",
    long: "share of dirty tiles",
    // The position matters here; series of one matrix differ in height.
    aside: 0.0,
    least: 0.0,
    axis: |values| Axis::linear(values.iter().copied().fold(0.0, f64::max)),
    words: |value| format!("{value:.1} % of the tiles dirty"),
};

/// GB/s against nnz, with a line at `rate`, the rate limits are computed from.
pub(super) fn throughput(
    id: &str,
    label: &str,
    records: &[&Record],
    rate: Option<f64>,
    list: &SeriesList,
) -> Element {
    let points = over_nonzeros(records, list, |r| r.gbytes_per_s);
    let largest = points.iter().map(|p| p.value).chain(rate).fold(0.0, f64::max);
    let line = rate.map(|rate| (rate, format!("device streams {} GB/s", significant(rate))));
    Chart {
        id,
        label,
        name: "Throughput",
        how: "GB/s over nonzeros; higher is better",
        unit: "GB/s",
        over: NONZEROS,
        vertical: Axis::linear(largest),
        line,
        below: false,
    }
    .draw(&points, list)
}

/// Set-up as a multiple of the product it prepares, against nnz, both logarithmic.
pub(super) fn setup(id: &str, label: &str, records: &[&Record], list: &SeriesList) -> Element {
    let points = over_nonzeros(records, list, |r| r.setup_in_products);
    let values = || points.iter().map(|p| p.value.max(LEAST_SETUP));
    let vertical = Axis::logarithmic(values().fold(1.0, f64::min), values().fold(10.0, f64::max));
    Chart {
        id,
        label,
        name: "Set-up",
        how: "in products, over nonzeros; lower is better",
        unit: "products",
        over: NONZEROS,
        line: Some((1.0, "as long as one product".to_owned())),
        vertical,
        below: points.iter().any(|p| p.value < LEAST_SETUP),
    }
    .draw(&points, list)
}

/// Stage 2's time as a multiple of stage 1's, logarithmic, against the share of dirty tiles; results
/// come with the indices of their series in `list`.
pub(super) fn stages(
    id: &str,
    label: &str,
    results: &[(usize, &Record)],
    list: &SeriesList,
) -> Element {
    let point = |&(index, record): &(usize, &'_ Record)| {
        let dirty = record.hetero()?.dirty_tile_share?;
        Some((index, 100.0 * dirty, stage_ratio(record)?))
    };
    let points: Vec<_> = results
        .iter()
        .filter_map(|result| {
            let (index, over, value) = point(result)?;
            Some(Point { record: result.1, index, over, value })
        })
        .collect();
    let values = || points.iter().map(|p| p.value.max(LEAST_STAGE));
    let vertical = Axis::logarithmic(values().fold(1.0, f64::min), values().fold(1.0, f64::max));
    Chart {
        id,
        label,
        name: "Stage 2 over stage 1",
        how: "times the time of stage 1, over the share of dirty tiles; lower is better",
        unit: "times stage 1",
        over: DIRTY,
        line: Some((1.0, "as long as stage 1".to_owned())),
        vertical,
        below: points.iter().any(|p| p.value < LEAST_STAGE),
    }
    .draw(&points, list)
}

/// The verified results that have the value.
fn over_nonzeros<'a>(
    records: &[&'a Record],
    list: &SeriesList,
    value: impl Fn(&Record) -> Option<f64>,
) -> Vec<Point<'a>> {
    let point = |&record: &&'a Record| {
        let (index, over) = (list.index(record), record.nnz as f64);
        value(record).map(|value| Point { record, index, over, value })
    };
    records.iter().filter(|r| r.verified).filter_map(point).collect()
}

struct Chart<'a> {
    id: &'a str,
    label: &'a str,
    name: &'static str,
    how: &'static str,
    unit: &'static str,
    over: Over,
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
        let horizontal = (self.over.axis)(
            &points.iter().map(|p| p.over.max(self.over.least)).collect::<Vec<_>>(),
        );
        let mut used: Vec<usize> = points.iter().map(|p| p.index).collect();
        used.sort_unstable();
        used.dedup();
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
            "{} points: {} against {}, one for each verified result. The same figures stand in the \
             table of results.",
            points.len(),
            self.unit,
            self.over.long
        );
        let axis_name = element("text")
            .class("tick")
            .attribute("x", "50%")
            .attribute("y", TOP + HEIGHT + 34)
            .text(self.over.name);
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

    /// What the line means, at the left where small matrices leave it free.
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
        let index = point.index;
        let rank = used.iter().position(|&other| other == index).unwrap_or(0) as f64;
        let aside = (rank - (used.len() as f64 - 1.0) / 2.0) * self.over.aside;
        let about = format!(
            "{} on {}: {} {}, {}",
            list.name(index),
            point.record.matrix,
            significant(point.value),
            self.unit,
            (self.over.words)(point.over)
        );
        mark(index)
            .attribute("x", percent(horizontal.place(point.over.max(self.over.least))))
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
