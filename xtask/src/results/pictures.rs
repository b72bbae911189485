//! Pictures of the reports in `docs/results/figures/`: the charts of a page as an SVG that stands alone, which a page in
//! Markdown shows.
//!
//! A report (`sparrow bench figure --html`) is one well-formed file: its style, the outlines of marks, and charts, each
//! a `<figure>` with a heading, a legend and an SVG. The picture has the same as shapes and text at places in pixels, with
//! colours of the light theme, so that viewers and programs that know no HTML and no style variables show it: `flat` makes
//! a chart's SVG so.

mod flat;

use std::fmt::Write as _;

use anyhow::{Context as _, Result};
use flat::{Shapes, attribute, number};

/// Pixels of a picture from left to right.
const WIDTH: f64 = 900.0;
/// The same where charts stand in two columns.
const WIDE: f64 = 1240.0;
/// Charts that are higher stand in two columns.
const HIGH: f64 = 600.0;
/// Pixels around everything, and between charts.
const MARGIN: f64 = 12.0;
/// Pixels of a line of text.
const LINE: f64 = 20.0;
/// Pixels of a character, with some room.
const CHARACTER: f64 = 7.6;

/// The picture of a report.
///
/// # Errors
/// A page without a style, outlines or charts, or a chart of another form.
pub(super) fn picture(page: &str) -> Result<String> {
    let style = style(between(page, "<style>", "</style>").context("the report has no style")?)?;
    let shapes = between(page, "<svg class=\"shapes\"", "</svg>").context("it has no marks")?;
    let shapes = flat::shapes(shapes);
    let figures: Vec<&str> = all(page, "<figure>", "</figure>").collect();
    anyhow::ensure!(!figures.is_empty(), "the report has no chart");
    let heights: Vec<f64> =
        figures.iter().map(|figure| chart_height(figure)).collect::<Result<_>>()?;
    let is_high = figures.len() > 1 && heights.iter().any(|height| *height > HIGH);
    let (width, columns) = if is_high { (WIDE, 2) } else { (WIDTH, 1) };
    let own = (width - MARGIN) / columns as f64 - MARGIN;
    let (mut drawn, mut top) = (String::new(), MARGIN);
    for row in figures.chunks(columns) {
        let mut row_height: f64 = 0.0;
        for (column, figure) in row.iter().enumerate() {
            let (chart, height) = chart(figure, own, &shapes)?;
            let left = MARGIN + column as f64 * (own + MARGIN);
            writeln!(drawn, "<g transform=\"translate({left},{top})\">{chart}</g>")?;
            row_height = row_height.max(height);
        }
        top += row_height + MARGIN;
    }
    Ok(format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{top}\" \
         viewBox=\"0 0 {width} {top}\">\n<style>\n{style}</style>\n\
         <rect width=\"{width}\" height=\"{top}\" fill=\"#ffffff\"/>\n{drawn}</svg>\n"
    ))
}

/// The rules of a report's style that are of charts, with the values of its first theme, the light one.
fn style(style: &str) -> Result<String> {
    let (from, to) = (style.find(".chart text"), style.find(".scroll"));
    let (from, to) = (from.context("the style has no charts")?, to.unwrap_or(style.len()));
    let rules = style[from..to].trim_end_matches("</style>").trim_end();
    // Where a halo cannot be painted first, it covers the words.
    let mut rules =
        rules.replace("paint-order: stroke; stroke: var(--page); stroke-width: 3px;", "");
    let theme = between(style, ":root {", "}").context("the style has no theme")?;
    for one in theme.split("--").skip(1) {
        let (name, value) = one.split_once(':').context("a colour has no value")?;
        let value = value.split(';').next().unwrap_or_default().trim();
        rules = rules.replace(&format!("var(--{name})"), value);
    }
    Ok(format!(
        "text {{ font-family: \"Liberation Sans\", Arial, sans-serif; }}\n\
         .words {{ font-size: 13px; }}\n.strong {{ font-weight: 700; }}\n{rules}\n"
    ))
}

/// A figure of so many pixels from left to right, and how many it has from top to bottom.
fn chart(figure: &str, width: f64, shapes: &Shapes<'_>) -> Result<(String, f64)> {
    let mut drawn = String::new();
    let mut top = 0.0;
    let caption = between(figure, "<figcaption>", "</figcaption>").context("no heading")?;
    for (class, tag) in [("words strong", "strong"), ("words", "span")] {
        let words = between(caption, &format!("<{tag}"), "<").and_then(|_| inner(caption, tag));
        lines(words.unwrap_or_default(), class, width, &mut top, &mut drawn)?;
    }
    let (mut left, mut is_first) = (0.0, true);
    for item in all(figure, "<li>", "</li>") {
        let name = inner(item, "span class=\"name\"").context("a series has no name")?;
        let note = inner(item, "span class=\"muted\"").unwrap_or_default();
        let words = format!("{name} {note}");
        let needed = 20.0 + CHARACTER * length(words.trim()) + 14.0;
        if is_first || left + needed > width {
            (left, top, is_first) = (0.0, top + LINE, false);
        }
        let mark = between(item, "<use ", ">").context("a series has no mark")?;
        let (x, y) = (left + 6.0, top - 5.0);
        write!(
            drawn,
            "<g transform=\"translate({x},{y})\">{}</path></g>",
            shapes.mark(mark, 0.0)?
        )?;
        text(words.trim(), "words", left + 18.0, top, &mut drawn)?;
        left += needed;
    }
    top += 10.0;
    let svg = figure.find("<svg class=\"chart\"").context("a figure has no chart")?;
    let end = figure.rfind("</svg>").context("a chart has no end")? + "</svg>".len();
    let height = chart_height(figure)?;
    let content = flat::flat(&figure[svg..end], width, shapes)?;
    write!(drawn, "<g class=\"chart\" transform=\"translate(0,{top})\">{content}</g>")?;
    top += height;
    for note in all(&figure[end..], "<p ", "</p>") {
        lines(inner(note, "p").unwrap_or_default(), "words", width, &mut top, &mut drawn)?;
    }
    Ok((drawn, top))
}

/// Words below `top` in as many lines as they need; `top` is then the last one's.
fn lines(words: &str, class: &str, width: f64, top: &mut f64, drawn: &mut String) -> Result<()> {
    let mut line = String::new();
    for word in words.split_whitespace() {
        if !line.is_empty() && CHARACTER * (length(&line) + length(word) + 1.0) > width {
            *top += LINE;
            text(&line, class, 0.0, *top, drawn)?;
            line.clear();
        }
        line += if line.is_empty() { "" } else { " " };
        line += word;
    }
    if !line.is_empty() {
        *top += LINE;
        text(&line, class, 0.0, *top, drawn)?;
    }
    Ok(())
}

fn text(words: &str, class: &str, x: f64, y: f64, drawn: &mut String) -> Result<()> {
    Ok(write!(drawn, "<text class=\"{class}\" x=\"{x}\" y=\"{y}\">{words}</text>")?)
}

/// Characters of escaped text.
fn length(text: &str) -> f64 {
    let entities = text.matches(';').count().min(text.matches('&').count());
    (text.chars().count() - 4 * entities) as f64
}

/// The height of the SVG in a figure, in pixels.
fn chart_height(figure: &str) -> Result<f64> {
    let chart = between(figure, "<svg class=\"chart\"", ">").context("a figure has no chart")?;
    number(attribute(chart, "height").context("a chart has no height")?)
}

/// What stands in the first element of a tag.
fn inner<'a>(text: &'a str, tag: &str) -> Option<&'a str> {
    let element = between(text, &format!("<{tag}"), "</")?;
    Some(element.split_once('>')?.1.trim_end_matches("</"))
}

/// The first piece from `begin` to `end`, with both.
fn between<'a>(text: &'a str, begin: &str, end: &str) -> Option<&'a str> {
    let from = text.find(begin)?;
    let to = from + begin.len() + text[from + begin.len()..].find(end)? + end.len();
    Some(&text[from..to])
}

/// All such pieces, one after the other.
fn all<'a>(mut text: &'a str, begin: &'a str, end: &'a str) -> impl Iterator<Item = &'a str> {
    std::iter::from_fn(move || {
        let piece = between(text, begin, end)?;
        text = &text[text.find(begin)? + piece.len()..];
        Some(piece)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "<html><head><style>:root { --s0: #0072b2; --page: #ffffff; }\
        .chart text { fill: var(--page); }\n.s0 { fill: var(--s0); }\n.scroll { top: 0; }</style></head><body>\
        <svg class=\"shapes\"><defs><path id=\"shape0\" d=\"M0,0\"></path></defs></svg><main>\
        <figure><figcaption><strong>One</strong> <span class=\"muted\">GFLOP/s</span></figcaption>\
        <ul><li><svg width=\"12\"><use href=\"#shape0\" class=\"mark s0\"></use></svg> <span class=\"name\">coo</span> \
        <span class=\"muted\"></span></li></ul>\
        <svg class=\"chart\" width=\"100%\" height=\"200\"><svg class=\"plot\" x=\"46\" y=\"20\" width=\"80%\" height=\"9\" \
        style=\"width:calc(100% - 76px)\"><use href=\"#shape0\" class=\"mark s0\" x=\"50.00%\" y=\"7\"><title>It</title>\
        </use></svg></svg><p class=\"muted\">No mean.</p></figure><p>Words.</p>\
        <figure><figcaption><strong>Two</strong></figcaption><svg class=\"chart\" height=\"300\"></svg></figure>\
        </main></body></html>";

    #[test]
    fn a_picture_is_shapes_and_text_at_places_in_pixels() {
        let picture = picture(PAGE).unwrap();
        for word in ["foreignObject", "%", "var(", "calc", "<use", "Words.", ".scroll"] {
            assert!(!picture.contains(word), "{word}: {picture}");
        }
        // Half of 876 pixels less 76.
        assert!(
            picture.contains("<path class=\"mark s0\" d=\"M0,0\" transform=\"translate(400,7)\">"),
            "{picture}"
        );
        assert!(picture.contains(".s0 { fill: #0072b2; }"), "{picture}");
        for words in [">One<", ">Two<", ">GFLOP/s<", ">coo<", ">No mean.<", "<title>It</title>"] {
            assert!(picture.contains(words), "{words}: {picture}");
        }
        let (open, closed) = (picture.matches("<g").count(), picture.matches("</g>").count());
        assert_eq!(open, closed, "{picture}");
    }

    #[test]
    fn high_charts_stand_in_two_columns() {
        let high = PAGE.replace("height=\"300\"", "height=\"3000\"");
        let picture = picture(&high).unwrap();
        assert!(
            picture.contains("width=\"1240\"") && picture.contains("translate(626,12)"),
            "{picture}"
        );
    }

    #[test]
    fn a_page_without_charts_is_refused() {
        let bare = PAGE.replace("figure>", "section>");
        assert_eq!(picture(&bare).unwrap_err().to_string(), "the report has no chart");
    }
}
