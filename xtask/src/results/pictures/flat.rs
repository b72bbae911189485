//! The SVG of a chart without what a browser alone knows: parts of a width, an SVG in another, marks by reference.

use std::collections::BTreeMap;

use anyhow::{Context as _, Result};

/// The outlines of marks by name.
pub(super) struct Shapes<'a>(BTreeMap<&'a str, &'a str>);

/// The outlines that a page defines.
pub(super) fn shapes(definitions: &str) -> Shapes<'_> {
    let outline = |tag| Some((attribute(tag, "id")?, attribute(tag, "d")?));
    Shapes(definitions.split("<path").skip(1).filter_map(outline).collect())
}

impl Shapes<'_> {
    /// The begin of the outline that a `<use>` refers to, in a plot of some width.
    pub(super) fn mark(&self, tag: &str, width: f64) -> Result<String> {
        let name = attribute(tag, "href").unwrap_or_default().trim_start_matches('#');
        let outline = self.0.get(name).with_context(|| format!("there is no mark {name}"))?;
        let class = attribute(tag, "class").unwrap_or_default();
        let at = |name| attribute(tag, name).map_or(Ok(0.0), |value| pixels(value, width));
        Ok(format!(
            "<path class=\"{class}\" d=\"{outline}\" transform=\"translate({},{})\">",
            at("x")?,
            at("y")?
        ))
    }
}

/// What stands in an `<svg>` that is so many pixels wide, and in those within it.
pub(super) fn flat(svg: &str, width: f64, shapes: &Shapes<'_>) -> Result<String> {
    let mut flat = String::new();
    let mut widths = vec![width];
    for piece in svg.split_inclusive('>') {
        let (text, tag) = piece.split_at(piece.find('<').unwrap_or(piece.len()));
        flat += text;
        let own = widths.last().copied().unwrap_or(width);
        match tag.split([' ', '>']).next().unwrap_or_default() {
            "<svg" => {
                let less = tag.split_once("calc(100% - ").and_then(|(_, end)| end.split_once("px"));
                widths.push(own - less.map_or(Ok(0.0), |(less, _)| number(less))?);
                let at = |name| attribute(tag, name).map_or(Ok(0.0), |value| pixels(value, own));
                flat += &format!("<g transform=\"translate({},{})\">", at("x")?, at("y")?);
            }
            "</svg" => {
                widths.pop();
                flat += "</g>";
            }
            "<use" => flat += &shapes.mark(tag, own)?,
            "</use" => flat += "</path>",
            _ => flat += &in_pixels(tag, own)?,
        }
    }
    Ok(flat)
}

/// A tag without percents.
fn in_pixels(tag: &str, width: f64) -> Result<String> {
    let mut written = tag.to_owned();
    for name in ["x", "x1", "x2", "width"] {
        if let Some(value) = attribute(tag, name).filter(|value| value.ends_with('%')) {
            let pixels = pixels(value, width)?;
            written =
                written.replace(&format!(" {name}=\"{value}\""), &format!(" {name}=\"{pixels}\""));
        }
    }
    Ok(written)
}

/// A length, which may be percents of a width, in pixels with a decimal.
fn pixels(length: &str, width: f64) -> Result<f64> {
    match length.strip_suffix('%') {
        Some(percents) => Ok((number(percents)? * width / 10.0).round() / 10.0),
        None => number(length),
    }
}

/// A number.
///
/// # Errors
/// It is none.
pub(super) fn number(text: &str) -> Result<f64> {
    text.parse().with_context(|| format!("{text} is no number"))
}

/// The value of a tag's attribute.
pub(super) fn attribute<'a>(tag: &'a str, name: &str) -> Option<&'a str> {
    let (_, after) = tag.split_once(&format!(" {name}=\""))?;
    Some(after.split_once('"')?.0)
}
