//! Horizontal bars in blocks: one block a matrix or a mean, one bar a series. Charts of blocks of several kinds are
//! drawn here alone.

use super::axis::Axis;
use super::bars::{CHARACTER, GAP, HEAD, NAME, PITCH, cut};
use super::chart::{frame, heading};
use super::markup::{Element, element};
use super::plot::{Bar, gridline, plot, upright};
use super::series::SeriesList;

/// The bars of one matrix.
pub(super) struct Block {
    /// What stands next to them.
    pub(super) name: String,
    /// What tooltips call it.
    pub(super) about: String,
    pub(super) bars: Vec<Bar>,
}

/// What a chart of blocks is of.
pub(super) struct Blocks<'a> {
    /// Unique on the page.
    pub(super) id: &'a str,
    pub(super) title: &'a str,
    /// How to read it.
    pub(super) how: &'a str,
    /// For readers who cannot see it.
    pub(super) description: &'a str,
    /// Dashed lines to compare with.
    pub(super) levels: &'a [f64],
}

impl Blocks<'_> {
    /// The chart, with a legend of the series that have bars.
    pub(super) fn draw(&self, blocks: &[Block], list: &SeriesList) -> Element {
        let bars = || blocks.iter().flat_map(|block| &block.bars);
        let values = bars().filter_map(|bar| bar.value);
        let axis = Axis::linear(values.chain(self.levels.iter().copied()).fold(0.0, f64::max));
        let longest = blocks.iter().map(|block| block.name.chars().count()).max().unwrap_or(0);
        let gutter = longest.min(NAME) * CHARACTER + 10;
        let height: usize = blocks.iter().map(|block| block.bars.len() * PITCH + GAP).sum();
        let mut area = plot(gutter, HEAD, "55%", height)
            .children(axis.ticks.iter().flat_map(|&tick| gridline(&axis, tick, height)))
            .children(self.levels.iter().map(|&level| upright("limit", axis.place(level), height)));
        let mut top = 0;
        for block in blocks {
            area = area.child(name(&block.name, top + block.bars.len() * PITCH / 2));
            for bar in &block.bars {
                let about = format!("{} on {}", list.name(bar.index), block.about);
                area = area.children(bar.draw(top, &axis, &about));
                top += PITCH;
            }
            top += GAP;
        }
        let mut used: Vec<usize> = bars().map(|bar| bar.index).collect();
        used.sort_unstable();
        used.dedup();
        let chart = frame(self.id, self.title, self.description, height + 2 * HEAD).child(area);
        element("figure")
            .child(heading(self.title, self.how))
            .child(list.legend(&used, |_| String::new()))
            .child(chart)
    }
}

/// A block's name, left of the axis.
pub(super) fn name(words: &str, middle: usize) -> Element {
    element("text")
        .class("matrix")
        .attribute("x", -8)
        .attribute("y", middle)
        .attribute("dy", "0.32em")
        .attribute("text-anchor", "end")
        .text(cut(words))
}
