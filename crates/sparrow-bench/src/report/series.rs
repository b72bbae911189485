//! What tells algorithms apart in the charts: a colour and a shape each, the same in every chart.
//!
//! Colours are those of Okabe and Ito, which colour-blind readers can tell apart; red is kept for
//! failures. The shape alone is enough too. The style sheet holds both themes' colours as `.s0` to `.s6`.

use super::markup::{Element, element};
use crate::group::{plain, series};
use crate::record::Record;

const COLOURS: usize = 7;

/// Outlines within a square of side 10 around the origin.
const SHAPES: [&str; 6] = [
    "M-4,0a4,4 0 1,0 8,0a4,4 0 1,0 -8,0Z",
    "M-3.6,-3.6H3.6V3.6H-3.6Z",
    "M0,-4.6L4.6,3.6H-4.6Z",
    "M0,-5L5,0L0,5L-5,0Z",
    "M0,4.6L4.6,-3.6H-4.6Z",
    "M-4.6,-1.6H-1.6V-4.6H1.6V-1.6H4.6V1.6H1.6V4.6H-1.6V1.6H-4.6Z",
];

/// Every series of a report, in the order in which they first appear in its records.
pub(super) struct SeriesList(Vec<String>);

impl SeriesList {
    /// The series of all records of a report.
    pub(super) fn of<'a>(records: impl IntoIterator<Item = &'a Record>) -> Self {
        Self::named(records.into_iter().map(series))
    }

    /// Series by names of their own; [`SeriesList::index`] does not know them.
    pub(super) fn named(all: impl IntoIterator<Item = String>) -> Self {
        let mut names = Vec::new();
        for name in all {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        Self(names)
    }

    /// The index of a record's series in the list.
    pub(super) fn index(&self, record: &Record) -> usize {
        let name = series(record);
        // Every record's series was put in; 0 keeps a stranger drawable.
        self.0.iter().position(|n| *n == name).unwrap_or(0)
    }

    /// The index of a name in the list.
    pub(super) fn place(&self, name: &str) -> usize {
        // As for a record's series.
        self.0.iter().position(|n| n == name).unwrap_or(0)
    }

    /// The name at an index, without control characters.
    pub(super) fn name(&self, index: usize) -> String {
        self.0.get(index).map(|name| plain(name)).unwrap_or_default()
    }

    /// The indices that some records use, ascending.
    pub(super) fn used(&self, records: &[&Record]) -> Vec<usize> {
        let mut used: Vec<_> = records.iter().map(|r| self.index(r)).collect();
        used.sort_unstable();
        used.dedup();
        used
    }

    /// A legend of the series at `used`, each followed by a note.
    pub(super) fn legend(&self, used: &[usize], note: impl Fn(usize) -> String) -> Element {
        let items = used.iter().map(|&index| {
            let swatch = element("svg")
                .attribute("width", 12)
                .attribute("height", 12)
                .attribute("viewBox", "-6 -6 12 12")
                .attribute("aria-hidden", "true")
                .child(mark(index));
            let name = element("span").class("name").text(self.name(index));
            let note = element("span").class("muted").text(note(index));
            element("li").child(swatch).text(" ").child(name).text(" ").child(note)
        });
        element("ul").class("legend").children(items)
    }
}

/// The class that gives a series its colour.
pub(super) fn colour_class(index: usize) -> String {
    match index / COLOURS {
        0 => format!("s{index}"),
        // A second round of the colours is paler; the shapes differ besides.
        _ => format!("s{} again", index % COLOURS),
    }
}

/// A series' mark at the origin.
pub(super) fn mark(index: usize) -> Element {
    element("use")
        .attribute("href", format!("#shape{}", index % SHAPES.len()))
        .class(format!("mark {}", colour_class(index)))
}

/// The outlines that [`mark`] refers to, once a page.
pub(super) fn shapes() -> Element {
    let paths = SHAPES.iter().enumerate().map(|(index, outline)| {
        element("path").attribute("id", format!("shape{index}")).attribute("d", outline)
    });
    element("svg")
        .class("shapes")
        .attribute("width", 0)
        .attribute("height", 0)
        .attribute("aria-hidden", "true")
        .child(element("defs").children(paths))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::sample;

    #[test]
    fn forty_series_never_share_both_colour_and_shape() {
        let looks: std::collections::BTreeSet<_> =
            (0..40).map(|i| (i % COLOURS, i % SHAPES.len())).collect();
        assert_eq!(looks.len(), 40);
    }

    #[test]
    fn a_series_keeps_its_place_whatever_records_a_chart_shows() {
        let records = [sample("m", "a"), sample("m", "b"), sample("n", "b"), sample("n", "c")];
        let list = SeriesList::of(&records);
        assert_eq!(list.used(&[&records[3], &records[2]]), [1, 2]);
        assert_eq!(list.name(2), "c");
    }
}
