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
