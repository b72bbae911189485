//! Pictures of the reports in `docs/results/figures/`: the charts of a page as an SVG that stands alone, which a page in
//! Markdown shows.
//!
//! A report (`sparrow bench figure --html`) is one well-formed file: its style, the outlines of marks, and charts, each
//! a `<figure>` with an SVG in it. The picture has these as they are, in a frame as wide as a report's column.

use anyhow::{Context as _, Result};

/// Pixels of a picture from left to right.
const WIDTH: usize = 900;
/// Pixels above and below everything.
const MARGIN: usize = 12;
/// Pixels above a chart, for its heading and a legend of a few lines.
const HEADING: usize = 110;

/// The picture of a report.
///
/// # Errors
/// A page without a style, outlines or charts.
pub(super) fn picture(page: &str) -> Result<String> {
    let style = between(page, "<style>", "</style>").context("the report has no style")?;
    let shapes = between(page, "<svg class=\"shapes\"", "</svg>").context("it has no marks")?;
    let mut charts = String::new();
    let mut height = 2 * MARGIN;
    let mut rest = page;
    while let Some(figure) = between(rest, "<figure>", "</figure>") {
        height += HEADING + chart_height(figure)?;
        charts += figure;
        rest = rest.split_once("</figure>").map_or("", |(_, after)| after);
    }
    anyhow::ensure!(!charts.is_empty(), "the report has no chart");
    let body =
        format!("{shapes}{charts}").replace("<svg ", "<svg xmlns=\"http://www.w3.org/2000/svg\" ");
    let inner = WIDTH - 2 * MARGIN;
    Ok(format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{height}\">\n{style}\n\
         <rect width=\"100%\" height=\"100%\" style=\"fill:var(--page)\"/>\n\
         <foreignObject x=\"{MARGIN}\" y=\"{MARGIN}\" width=\"{inner}\" height=\"{}\">\n\
         <body xmlns=\"http://www.w3.org/1999/xhtml\">{body}</body>\n</foreignObject>\n</svg>\n",
        height - 2 * MARGIN
    ))
}

/// The height of the SVG in a figure, in pixels.
fn chart_height(figure: &str) -> Result<usize> {
    let chart = between(figure, "<svg class=\"chart\"", ">").context("a figure has no chart")?;
    let height = chart.split_once("height=\"").and_then(|(_, after)| after.split_once('"'));
    let (height, _) = height.context("a chart has no height")?;
    height.parse().with_context(|| format!("a chart is \"{height}\" high"))
}

/// The first piece from `begin` to `end`, with both.
fn between<'a>(text: &'a str, begin: &str, end: &str) -> Option<&'a str> {
    let from = text.find(begin)?;
    let to = from + text[from..].find(end)? + end.len();
    Some(&text[from..to])
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "<html><head><style>.s0 { fill: red; }</style></head><body>\
        <svg class=\"shapes\"><defs></defs></svg><main>\
        <figure><ul><li><svg width=\"12\"></svg></li></ul><svg class=\"chart\" height=\"200\"></svg></figure>\
        <p>Words.</p><figure><svg class=\"chart\" height=\"300\"></svg></figure></main></body></html>";

    #[test]
    fn a_picture_has_every_chart_and_room_for_it() {
        let picture = picture(PAGE).unwrap();
        assert_eq!(picture.matches("<figure>").count(), 2);
        let height = 2 * MARGIN + 2 * HEADING + 500;
        assert!(picture.starts_with(&format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"900\" height=\"{height}\">"
        )));
        assert!(picture.contains(".s0 { fill: red; }") && !picture.contains("Words."));
        // An SVG within XHTML says again what it is.
        assert_eq!(picture.matches("<svg ").count(), picture.matches("2000/svg\"").count());
    }

    #[test]
    fn a_page_without_charts_is_refused() {
        let bare = PAGE.replace("figure>", "section>");
        assert_eq!(picture(&bare).unwrap_err().to_string(), "the report has no chart");
    }
}
