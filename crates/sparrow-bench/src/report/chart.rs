//! What both kinds of chart share: the outer SVG with its words for readers who cannot see it.

use super::markup::{Element, element};

/// An SVG as wide as its column and `height` pixels high, with a title and a description.
pub(super) fn frame(id: &str, title: &str, description: &str, height: usize) -> Element {
    let (title_id, description_id) = (format!("{id}-title"), format!("{id}-description"));
    element("svg")
        .class("chart")
        .attribute("role", "img")
        .attribute("aria-labelledby", format!("{title_id} {description_id}"))
        .attribute("width", "100%")
        .attribute("height", height)
        .child(element("title").attribute("id", title_id).text(title))
        .child(element("desc").attribute("id", description_id).text(description))
}

/// A figure's heading: what it shows and how to read it.
pub(super) fn heading(title: &str, how: &str) -> Element {
    element("figcaption")
        .child(element("strong").text(title))
        .text(" ")
        .child(element("span").class("muted").text(how))
}

/// A line from left to right.
pub(super) fn across(class: &str, y: f64) -> Element {
    let y = format!("{y:.1}");
    element("line")
        .class(class)
        .attribute("x1", 0)
        .attribute("x2", "100%")
        .attribute("y1", &y)
        .attribute("y2", &y)
}

/// A position of 0 to 1 along the horizontal axis.
pub(super) fn percent(place: f64) -> String {
    format!("{:.2}%", 100.0 * place)
}
