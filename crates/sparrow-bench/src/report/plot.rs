//! What charts of bars share: the plot's area, its lines, and a bar with its value.

use super::axis::{Axis, tick_label};
use super::bars::{BAR, percent};
use super::markup::{Element, element};
use super::series::colour_class;
use crate::hetero_figures::FAILED;
use crate::units::{ABSENT, significant};

/// Width right of the longest bar for its label.
const LABEL: usize = 52;

/// A bar: whose it is, how long, what stands behind it.
pub(super) struct Bar {
    /// The place of the method in the list.
    pub(super) index: usize,
    /// `None` where there is nothing to draw.
    pub(super) value: Option<f64>,
    /// The value in words, or why there is none.
    pub(super) words: String,
}

impl Bar {
    /// A bar that says its value.
    pub(super) fn of(index: usize, value: Option<f64>) -> Self {
        Bar { index, value, words: value.map_or(ABSENT.to_owned(), significant) }
    }

    pub(super) fn draw(&self, top: usize, axis: &Axis, about: &str) -> Vec<Element> {
        let end = self.value.map_or(0.0, |value| axis.place(value));
        let failed = self.words == FAILED;
        let label = element("text")
            .class(if failed { "value failed" } else { "value" })
            .attribute("x", percent(end))
            .attribute("y", top + BAR / 2)
            .attribute("dx", 4)
            .attribute("dy", "0.36em")
            .text(if failed { format!("✕ {FAILED}") } else { self.words.clone() });
        let bar = self.value.map(|_| {
            element("rect")
                .class(format!("bar {}", colour_class(self.index)))
                .attribute("x", 0)
                .attribute("y", top)
                .attribute("width", percent(end))
                .attribute("height", BAR)
                .child(element("title").text(format!("{about}: {}", self.words)))
        });
        bar.into_iter().chain([label]).collect()
    }
}

/// The area of the bars; `width` is for readers that do not know the style's.
pub(super) fn plot(left: usize, top: usize, width: &str, height: usize) -> Element {
    element("svg")
        .class("plot")
        .attribute("x", left)
        .attribute("y", top)
        .attribute("width", width)
        .attribute("height", height)
        .attribute("style", format!("width:calc(100% - {}px)", left + LABEL))
}

/// A vertical line with its value above and below.
pub(super) fn gridline(axis: &Axis, tick: f64, height: usize) -> Vec<Element> {
    let place = axis.place(tick);
    let label = |y: String| {
        element("text")
            .class("tick")
            .attribute("x", percent(place))
            .attribute("y", y)
            .attribute("text-anchor", "middle")
            .text(tick_label(tick))
    };
    let labels = [label("-8".to_owned()), label((height + 14).to_string())];
    [upright("grid", place, height)].into_iter().chain(labels).collect()
}

/// A line from top to bottom, over the plot's height.
pub(super) fn upright(class: &str, place: f64, height: usize) -> Element {
    let x = percent(place);
    element("line")
        .class(class)
        .attribute("x1", &x)
        .attribute("x2", &x)
        .attribute("y1", -4)
        .attribute("y2", height)
}
