//! The bars of the model's figures: side by side in a block a matrix, or one after the other in a stack.

use super::axis::Axis;
use super::bars::{BAR, CHARACTER, GAP, HEAD, NAME, PITCH, marked_name, percent};
use super::blocks::{Block, Blocks, name};
use super::chart::{frame, heading};
use super::markup::{Element, element};
use super::plot::{Bar, gridline, plot};
use super::series::{SeriesList, colour_class};
use crate::record::Record;

const DESCRIPTION: &str =
    "Horizontal bars, a block a matrix. The terminal's table has the same figures.";

/// A block a record with a bar for each of its values; the first belongs to index `first` of `list`.
pub(super) fn grouped(
    id: &str,
    title: &str,
    how: &str,
    rows: &[(&Record, Vec<Option<f64>>)],
    first: usize,
    list: &SeriesList,
) -> Element {
    let block = |(record, values): &(&Record, Vec<Option<f64>>)| Block {
        name: marked_name(record),
        about: record.matrix.clone(),
        bars: values.iter().enumerate().map(|(at, value)| Bar::of(first + at, *value)).collect(),
    };
    let blocks: Vec<Block> = rows.iter().map(block).collect();
    Blocks { id, title, how, description: DESCRIPTION, levels: &[] }.draw(&blocks, list)
}

/// What a chart of stacks is of.
pub(super) struct Stacks {
    pub(super) title: String,
    pub(super) how: &'static str,
    /// The index in the list of what the first share belongs to.
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
        area = area.child(name(&marked_name(record), top + BAR / 2));
        if shares.iter().any(|share| *share < 0.0) {
            let words = "an experiment failed: a part is below 0";
            let at_0 =
                element("text").class("value").attribute("x", 4).attribute("y", top + BAR / 2);
            area = area.child(at_0.attribute("dy", "0.36em").text(words));
            continue;
        }
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
    let chart = frame(id, &stacks.title, DESCRIPTION, height + 2 * HEAD).child(area);
    element("figure")
        .child(heading(&stacks.title, stacks.how))
        .child(list.legend(&used, |_| String::new()))
        .child(chart)
}

/// Width for the names of matrices, in pixels.
fn gutter<'a>(records: impl Iterator<Item = &'a Record>) -> usize {
    let longest = records.map(|record| marked_name(record).chars().count()).max().unwrap_or(0);
    longest.min(NAME) * CHARACTER + 10
}
