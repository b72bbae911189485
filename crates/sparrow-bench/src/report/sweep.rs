//! Sweeps as one HTML file: a chart a figure and value type, lines over a hyper-parameter.

use super::markup::element;
use super::page;
use super::picture::{chart, names_of};
use super::series;
use crate::tune::{SWEEP_FIGURES, SweepTiming, sweep_picture};

/// One self-contained HTML page with the figures that were swept. `again` is the command that draws it.
pub fn sweep_html(timings: &[SweepTiming], title: &str, again: &str) -> String {
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
                let picture = sweep_picture(&of, figure, value_type)?;
                let list = names_of(std::slice::from_ref(&picture));
                Some(chart(&format!("sweep-{place}-{number}-{value_type}"), &picture, &list))
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
            "Harmonic means over matrices (synthetic likenesses of a paper's, unless others are named) of 2 nnz / time, \
             relative to the best point of the figure; each product was verified, and timed in turn with the device's \
             own hyper-parameters. All others are the device's.",
        ))
        .children(sections.collect::<Vec<_>>())
        .child(element("h2").text("How to run this again"))
        .child(
            element("p")
                .text("Run ")
                .child(element("code").text(again))
                .text(" on the same device and driver."),
        );
    page(title, element("body").child(series::shapes()).child(main))
}
