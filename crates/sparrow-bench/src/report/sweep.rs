//! Sweeps as one HTML file: a chart a figure and value type, lines over a hyper-parameter.

use super::axis::{Axis, tick_label};
use super::chart::{across, frame, heading, percent};
use super::markup::{Element, element};
use super::page;
use super::series::{self, SeriesList, colour_class, mark};
use crate::tune::{SWEEP_FIGURES, SweepFigure, SweepTiming, harmonic_means};
use crate::units::{counted, significant};

const HEIGHT: usize = 220;
const LEFT: usize = 46;
const RIGHT: usize = 16;
const TOP: usize = 20;
const BOTTOM: usize = 44;

/// One self-contained HTML page with the figures that were swept.
pub fn sweep_html(timings: &[SweepTiming], title: &str) -> String {
    let mut devices: Vec<(&str, &str)> =
        timings.iter().map(|t| (t.platform.as_str(), t.device.as_str())).collect();
    devices.sort_unstable();
    devices.dedup();
    let sections = devices.iter().enumerate().map(|(place, &(platform, device))| {
        let of: Vec<SweepTiming> = timings
            .iter()
            .filter(|t| t.platform == platform && t.device == device)
            .cloned()
            .collect();
        let figures = SWEEP_FIGURES.iter().enumerate().flat_map(|(number, figure)| {
            let charts = ["f32", "f64"].into_iter().filter_map(|value_type| {
                chart(&format!("sweep-{place}-{number}-{value_type}"), figure, value_type, &of)
            });
            let charts: Vec<_> = charts.collect();
            (!charts.is_empty()).then(|| {
                element("section")
                    .child(element("h3").text(figure.name))
                    .child(element("div").class("charts").children(charts))
            })
        });
        element("section")
            .child(element("h2").text(format!("{device} ({platform})")))
            .children(figures.collect::<Vec<_>>())
    });
    let main = element("main")
        .child(element("h1").text(title))
        .child(element("p").text(
            "Harmonic means over a paper's matrices (synthetic likenesses) of 2 nnz / time, relative to the best point of the \
             figure; each product was verified, and timed in turn with the device's own hyper-parameters. All others \
             are the device's.",
        ))
        .children(sections.collect::<Vec<_>>())
        .child(element("h2").text("How to run this again"))
        .child(
            element("p")
                .text("Run ")
                .child(element("code").text("sparrow tune --sweep --html FILE"))
                .text(" on the same device and driver."),
        );
    page(title, element("body").child(series::shapes()).child(main))
}

/// A line a series, over the values of a hyper-parameter.
fn chart(
    id: &str,
    figure: &SweepFigure,
    value_type: &str,
    timings: &[SweepTiming],
) -> Option<Element> {
    let means = harmonic_means(timings, figure.name, value_type);
    let best = means.values().copied().fold(0.0, f64::max);
    if best <= 0.0 {
        return None;
    }
    let (over, values) = figure.over;
    let name = |series: u32| match figure.by {
        Some((by, _)) => format!("{by} {series}"),
        None => over.to_owned(),
    };
    let of_series = figure.by.map_or(&[0][..], |(_, values)| values);
    let list = SeriesList::named(of_series.iter().map(|&series| name(series)));
    let vertical = Axis::linear(1.0);
    let pixel = |value: f64| HEIGHT as f64 * (1.0 - vertical.place(value));
    // Values stand side by side at equal distances, as in the papers.
    let place = |k: usize| (k as f64 + 0.5) / values.len() as f64;
    let mut drawn = Vec::new();
    for (index, &series) in of_series.iter().enumerate() {
        let points: Vec<(usize, f64)> = values
            .iter()
            .enumerate()
            .filter_map(|(k, &at)| Some((k, means.get(&(series, at))? / best)))
            .collect();
        drawn.extend(points.windows(2).map(|pair| {
            element("line")
                .class(format!("trace {}", colour_class(index)))
                .attribute("x1", percent(place(pair[0].0)))
                .attribute("x2", percent(place(pair[1].0)))
                .attribute("y1", format!("{:.1}", pixel(pair[0].1)))
                .attribute("y2", format!("{:.1}", pixel(pair[1].1)))
        }));
        drawn.extend(points.iter().map(|&(k, value)| {
            let about = format!(
                "{}, {over} {}: {} GFLOP/s, {:.3} of the best",
                name(series),
                values[k],
                significant(value * best),
                value
            );
            mark(index)
                .attribute("x", percent(place(k)))
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
    let columns = values.iter().enumerate().map(|(k, value)| {
        element("text")
            .class("tick")
            .attribute("x", percent(place(k)))
            .attribute("y", HEIGHT + 17)
            .attribute("text-anchor", "middle")
            .text(value.to_string())
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
        .children(drawn);
    let axis_name = element("text")
        .class("tick")
        .attribute("x", "50%")
        .attribute("y", TOP + HEIGHT + 34)
        .text(over);
    let matrices = timings.iter().filter(|t| t.figure == figure.name && t.value_type == value_type);
    let matrices: std::collections::BTreeSet<_> = matrices.map(|t| &t.matrix).collect();
    let title = format!("{value_type}, {}", counted(matrices.len(), "matrix"));
    let how = format!("of the best ({} GFLOP/s) over {over}; higher is better", significant(best));
    let (lines, values) = (counted(of_series.len(), "line"), counted(values.len(), "value"));
    let description = format!("{lines} over {values} of {over}.");
    let used: Vec<usize> = (0..of_series.len()).collect();
    let chart =
        frame(id, &format!("{}, {title}", figure.name), &description, TOP + HEIGHT + BOTTOM)
            .child(plot)
            .child(axis_name);
    Some(
        element("figure")
            .child(heading(&title, &how))
            .child(list.legend(&used, |_| String::new()))
            .child(chart),
    )
}
