//! A paper's figures as charts and as pages.

use super::blocks::{Block, Blocks};
use super::lines::lines;
use super::markup::{Element, element};
use super::plot::Bar;
use super::series::{self, SeriesList};
use super::{ReportError, check, headline, page, results};
use crate::figures::{Across, PaperFigure, Picture};
use crate::group::{by_device, plain};
use crate::record::Record;
use crate::units::counted;

/// The series of some pictures, which keep their colours from one to the next.
pub(super) fn names_of(pictures: &[Picture]) -> SeriesList {
    SeriesList::named(pictures.iter().flat_map(|p| &p.series).map(|series| series.name.clone()))
}

/// One chart; `id` is unique on the page.
pub(super) fn chart(id: &str, picture: &Picture, list: &SeriesList) -> Element {
    let notes = picture.notes.iter().map(|note| element("p").class("muted").text(plain(note)));
    unannotated(id, picture, list).children(notes)
}

fn unannotated(id: &str, picture: &Picture, list: &SeriesList) -> Element {
    let Across::Blocks { names, .. } = &picture.across else { return lines(id, picture, list) };
    let block = |(row, name): (usize, &String)| Block {
        name: name.clone(),
        about: format!("{name}, {}", picture.unit),
        bars: picture
            .series
            .iter()
            .map(|series| {
                let point = series.points.iter().find(|(place, _)| *place == row as f64);
                Bar::of(list.place(&series.name), point.and_then(|(_, value)| *value))
            })
            .collect(),
    };
    let blocks: Vec<Block> = names.iter().enumerate().map(block).collect();
    let description = format!(
        "Horizontal bars of {} series in {}.",
        picture.series.len(),
        counted(names.len(), "block")
    );
    Blocks {
        id,
        title: &picture.title,
        how: &picture.how,
        description: &description,
        levels: &picture.levels,
    }
    .draw(&blocks, list)
}

/// One self-contained HTML page with a paper's figure as `records` have it, and the results it was made of. `again` is
/// the command that draws it.
///
/// # Errors
/// As [`html`](super::html).
pub fn figure_html(
    figure: &PaperFigure,
    records: &[Record],
    again: &str,
) -> Result<String, ReportError> {
    if records.is_empty() {
        return Err(ReportError::Empty);
    }
    for (index, record) in records.iter().enumerate() {
        check(index, record)?;
    }
    let pictures = figure.pictures(records);
    let list = names_of(&pictures);
    let groups = by_device(records);
    let charts = pictures
        .iter()
        .enumerate()
        .map(|(number, picture)| chart(&format!("figure-{number}"), picture, &list));
    let main = element("main")
        .child(element("h1").text(figure.title))
        .child(element("p").text(figure.differs))
        .children(headline(&groups))
        .child(element("div").class("charts").children(charts))
        .children(groups.iter().flat_map(|group| {
            let words = format!("All results of {}{}", group.device, group.origin());
            [element("h2").text(words), results::results(group)]
        }))
        .child(element("h2").text("How to draw this again"))
        .child(
            element("p")
                .text("Run ")
                .child(element("code").text(again))
                .text(" on the same device and driver."),
        )
        .children(groups.iter().map(results::reproduce));
    Ok(page(figure.title, element("body").child(series::shapes()).child(main)))
}
