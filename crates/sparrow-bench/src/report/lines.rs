//! Lines over an axis: a mark a point, and a line between neighbouring ones unless they are of different matrices. Everything that is a curve in a report is
//! drawn here.

use super::axis::{Axis, tick_label};
use super::chart::{across, frame, heading, percent};
use super::markup::{Element, element};
use super::series::{SeriesList, colour_class, mark};
use crate::figures::{Across, Picture};
use crate::group::plain;
use crate::units::{counted, significant};

const HEIGHT: usize = 220;
const LEFT: usize = 46;
const RIGHT: usize = 16;
const TOP: usize = 20;
const BOTTOM: usize = 44;

/// A curve a series of `picture`; `id` is unique on the page, and series are named in `list`.
pub(super) fn lines(id: &str, picture: &Picture, list: &SeriesList) -> Element {
    let values = || {
        let points = picture.series.iter().flat_map(|series| &series.points);
        points.filter_map(|(_, value)| *value).chain(picture.levels.iter().copied())
    };
    let largest = values().fold(0.0, f64::max);
    let above_0 = values().filter(|value| *value > 0.0);
    let vertical = match picture.is_logarithmic && largest > 0.0 {
        true => Axis::logarithmic(above_0.fold(f64::INFINITY, f64::min), largest),
        false => Axis::around_0(values().fold(0.0, f64::min), largest),
    };
    let pixel = |value: f64| HEIGHT as f64 * (1.0 - vertical.place(value));
    let (over, horizontal) = Horizontal::of(picture);
    let mut drawn = Vec::new();
    for series in &picture.series {
        let index = list.place(&series.name);
        let points: Vec<(f64, &str, f64)> =
            series.named().filter_map(|(at, matrix, value)| Some((at, matrix, value?))).collect();
        // What lies between two matrices is of none.
        let pairs = points.windows(2).filter(|_| series.matrices.is_empty());
        drawn.extend(pairs.map(|pair| {
            element("line")
                .class(format!("trace {}", colour_class(index)))
                .attribute("x1", percent(horizontal.place(pair[0].0)))
                .attribute("x2", percent(horizontal.place(pair[1].0)))
                .attribute("y1", format!("{:.1}", pixel(pair[0].2)))
                .attribute("y2", format!("{:.1}", pixel(pair[1].2)))
        }));
        drawn.extend(points.iter().map(|&(at, matrix, value)| {
            let (at_name, value_words) = (picture.place_name(at), significant(value));
            let of = if matrix.is_empty() { String::new() } else { format!("{}, ", plain(matrix)) };
            let (name, unit) = (list.name(index), &picture.unit);
            let about = format!("{of}{name}, {over} {at_name}: {value_words} {unit}");
            mark(index)
                .attribute("x", percent(horizontal.place(at)))
                .attribute("y", format!("{:.1}", pixel(value)))
                .child(element("title").text(about))
        }));
    }
    let rows = vertical.ticks.iter().flat_map(|&tick| {
        let y = pixel(tick);
        let label = element("text")
            .class("tick")
            .attribute("x", -8)
            .attribute("y", format!("{y:.1}"))
            .attribute("dy", "0.32em")
            .attribute("text-anchor", "end")
            .text(tick_label(tick));
        [across("grid", y), label]
    });
    let columns = horizontal.ticks().into_iter().map(|(place, words)| {
        element("text")
            .class("tick")
            .attribute("x", percent(place))
            .attribute("y", HEIGHT + 17)
            .attribute("text-anchor", "middle")
            .text(words)
    });
    let plot = element("svg")
        .class("plot")
        .attribute("x", LEFT)
        .attribute("y", TOP)
        .attribute("width", "80%")
        .attribute("height", HEIGHT)
        .attribute("style", format!("width:calc(100% - {}px)", LEFT + RIGHT))
        .children(rows)
        .children(columns)
        .children(picture.levels.iter().map(|&level| across("limit", pixel(level))))
        .children(drawn);
    let axis_name = element("text")
        .class("tick")
        .attribute("x", "50%")
        .attribute("y", TOP + HEIGHT + 34)
        .text(over);
    let (lines, places) =
        (counted(picture.series.len(), "line"), counted(picture.places().len(), "place"));
    let description = format!("{lines} over {places} of {over}.");
    let used: Vec<usize> = picture.series.iter().map(|series| list.place(&series.name)).collect();
    let chart =
        frame(id, &picture.title, &description, TOP + HEIGHT + BOTTOM).child(plot).child(axis_name);
    element("figure")
        .child(heading(&picture.title, &picture.how))
        .child(list.legend(&used, |_| String::new()))
        .child(chart)
}

/// Where positions lie.
enum Horizontal<'a> {
    /// Side by side at equal distances, as in papers.
    Steps(&'a [String]),
    Numbers(Axis),
}

impl<'a> Horizontal<'a> {
    /// The name of the axis of `picture`, and the axis.
    fn of(picture: &'a Picture) -> (&'a str, Self) {
        match &picture.across {
            Across::Blocks { of, names } => (of, Horizontal::Steps(names)),
            Across::Steps { over, labels } => (over, Horizontal::Steps(labels)),
            Across::Numbers { over, is_logarithmic } => {
                let places = picture.places();
                let least = places.iter().copied().find(|place| *place > 0.0).unwrap_or(1.0);
                let most = places.last().copied().unwrap_or(1.0);
                let axis = match is_logarithmic {
                    true => Axis::logarithmic(least, most.max(least)),
                    false => Axis::linear(most),
                };
                (over, Horizontal::Numbers(axis))
            }
        }
    }

    fn place(&self, at: f64) -> f64 {
        match self {
            Horizontal::Steps(labels) => (at + 0.5) / labels.len().max(1) as f64,
            Horizontal::Numbers(axis) => axis.place(at),
        }
    }

    fn ticks(&self) -> Vec<(f64, String)> {
        match self {
            Horizontal::Steps(labels) => {
                let label =
                    |(index, label): (usize, &String)| (self.place(index as f64), label.clone());
                labels.iter().enumerate().map(label).collect()
            }
            Horizontal::Numbers(axis) => {
                axis.ticks.iter().map(|&tick| (axis.place(tick), tick_label(tick))).collect()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::Series;
    use crate::report::STYLE;
    use crate::report::picture::names_of;

    fn drawn(series: Vec<Series>) -> String {
        let picture = Picture::lines("f64".to_owned(), "GFLOP/s", "nonzeros a row", series);
        let mut page = String::new();
        let list = names_of(std::slice::from_ref(&picture));
        lines("one", &picture, &list).write(&mut page);
        page
    }

    #[test]
    fn points_of_matrices_say_of_which_and_are_not_joined() {
        let point = |name: &str, at| (name.to_owned(), (at, Some(2.5)));
        let points = vec![point("nos3", 16.5), point("bcsstk02", 66.0)];
        let page = drawn(vec![Series::of_matrices("coo", points)]);
        assert!(!page.contains("trace"), "{page}");
        assert!(page.contains("bcsstk02, coo, nonzeros a row 66.0: 2.50 GFLOP/s"), "{page}");
    }

    #[test]
    fn an_eighth_line_is_told_from_the_first_of_its_colour() {
        let line = |k: usize| {
            Series::line(&format!("l{k}"), vec![(1.0, Some(1.0)), (2.0, None), (3.0, Some(2.0))])
        };
        let page = drawn((0..8).map(line).collect());
        assert!(page.contains("trace s0\"") && page.contains("trace s0 again\""), "{page}");
        assert!(STYLE.contains(".trace.again {"));
    }
}
