//! The bars of the model's figures: side by side in a block a matrix, or one behind the other in a stack.

use super::axis::Axis;
use super::bars::{BAR, CHARACTER, GAP, HEAD, NAME, PITCH, cut, marked_name, percent};
use super::chart::{frame, heading};
use super::hetero_bars::{Bar, gridline, plot};
use super::markup::{Element, element};
use super::series::{SeriesList, colour_class};
use crate::record::Record;
use crate::units::{ABSENT, significant};

/// A block a record with a bar for each of its values; the first belongs to place `first` of `list`.
pub(super) fn grouped(
    id: &str,
    title: &str,
    how: &str,
    rows: &[(&Record, Vec<Option<f64>>)],
    first: usize,
    list: &SeriesList,
) -> Element {
    let axis = Axis::linear(
        rows.iter().flat_map(|(_, values)| values).flatten().fold(0.0, |m, v| v.max(m)),
    );
    let most = rows.iter().map(|(_, values)| values.len()).max().unwrap_or(0);
    let gutter = gutter(rows.iter().map(|(record, _)| *record));
    let height: usize = rows.iter().map(|(_, values)| values.len() * PITCH + GAP).sum();
    let mut area = plot(gutter, HEAD, "55%", height)
        .children(axis.ticks.iter().flat_map(|&tick| gridline(&axis, tick, height)));
    let mut top = 0;
    for (record, values) in rows {
        area = area.child(name(record, top + values.len() * PITCH / 2));
        for (at, value) in values.iter().enumerate() {
            let words = value.map_or(ABSENT.to_owned(), significant);
            let bar = Bar { index: first + at, value: *value, words };
            let about = format!("{} on {}", list.name(first + at), record.matrix);
            area = area.children(bar.draw(top, &axis, &about));
            top += PITCH;
        }
        top += GAP;
    }
    let used: Vec<usize> = (first..first + most).collect();
    figure(id, title, how, area, height, list.legend(&used, |_| String::new()))
}

/// What a chart of stacks is of.
pub(super) struct Stacks {
    pub(super) title: String,
    pub(super) how: &'static str,
    /// The place in the list of what the first share belongs to.
    pub(super) first: usize,
}

/// A bar a record, as long as all others, cut into shares.
pub(super) fn stacked(
    id: &str,
    stacks: &Stacks,
    rows: &[(&Record, [f64; 3])],
    list: &SeriesList,
) -> Element {
    let axis = Axis::linear(1.0);
    let height = rows.len() * (PITCH + GAP);
    let gutter = gutter(rows.iter().map(|(record, _)| *record));
    let mut area = plot(gutter, HEAD, "55%", height)
        .children(axis.ticks.iter().flat_map(|&tick| gridline(&axis, tick, height)));
    for (row, (record, shares)) in rows.iter().enumerate() {
        let top = row * (PITCH + GAP);
        area = area.child(name(record, top + BAR / 2));
        let mut begin = 0.0;
        for (at, share) in shares.iter().enumerate() {
            let index = stacks.first + at;
            let about =
                format!("{} on {}: {:.0} %", list.name(index), record.matrix, 100.0 * share);
            let part = element("rect")
                .class(format!("bar {}", colour_class(index)))
                .attribute("x", percent(axis.place(begin)))
                .attribute("y", top)
                .attribute("width", percent(axis.place(*share)))
                .attribute("height", BAR)
                .child(element("title").text(about));
            area = area.child(part);
            begin += share;
        }
    }
    let used = [stacks.first, stacks.first + 1, stacks.first + 2];
    figure(id, &stacks.title, stacks.how, area, height, list.legend(&used, |_| String::new()))
}

fn figure(
    id: &str,
    title: &str,
    how: &str,
    area: Element,
    height: usize,
    legend: Element,
) -> Element {
    let description =
        "Horizontal bars, a block a matrix. The terminal's table has the same figures.";
    let chart = frame(id, title, description, height + 2 * HEAD).child(area);
    element("figure").child(heading(title, how)).child(legend).child(chart)
}

/// Room for the names of matrices, in pixels.
fn gutter<'a>(records: impl Iterator<Item = &'a Record>) -> usize {
    let longest = records.map(|record| marked_name(record).chars().count()).max().unwrap_or(0);
    longest.min(NAME) * CHARACTER + 10
}

fn name(record: &Record, middle: usize) -> Element {
    element("text")
        .class("matrix")
        .attribute("x", -8)
        .attribute("y", middle)
        .attribute("dy", "0.32em")
        .attribute("text-anchor", "end")
        .text(cut(&marked_name(record)))
}
