//! The bar charts of products on two kinds of cores, after Figures 4 to 6 of Liu and Vinter (2015): a
//! small panel a matrix with a bar a method, and the bandwidth of the segmented sum on every matrix.
//!
//! Panels have a scale each, since throughput differs a hundredfold between matrices and methods are
//! what one compares; every bar says its figure.

use super::axis::Axis;
use super::bars::{BAR, GAP, PITCH, marked_name};
use super::blocks::{Block, Blocks};
use super::chart::{frame, heading};
use super::markup::{Element, element};
use super::plot::{Bar, plot};
use super::series::SeriesList;
use crate::hetero_figures::{FAILED, paper_gbytes_per_s};
use crate::record::Record;
use crate::units::{ABSENT, counted, significant};

/// Width of a character of a method's name in a panel, with some margin, in pixels.
const SMALL: usize = 7;

/// A bar a method under a title, in GFLOP/s; `id` is unique on the page.
pub(super) fn panel(id: &str, title: &str, bars: &[Bar], list: &SeriesList) -> Element {
    let names: Vec<String> = bars.iter().map(|bar| list.name(bar.index)).collect();
    let gutter = names.iter().map(|n| n.chars().count()).max().unwrap_or(0) * SMALL + 10;
    // The longest bar ends where the plot does.
    let axis = Axis::exact(bars.iter().filter_map(|bar| bar.value).fold(0.0, f64::max));
    let height = bars.len() * PITCH;
    let rows = bars.iter().zip(&names).enumerate().flat_map(|(row, (bar, name))| {
        let top = row * PITCH;
        let label = element("text")
            .class("tick")
            .attribute("x", -6)
            .attribute("y", top + BAR / 2)
            .attribute("dy", "0.36em")
            .attribute("text-anchor", "end")
            .text(name.as_str());
        let drawn = bar.draw(top, &axis, &format!("{name} on {title}, GFLOP/s"));
        [label].into_iter().chain(drawn)
    });
    let description = "Horizontal bars: GFLOP/s of each method. The same figures stand in the table of throughput.";
    let plot = plot(gutter, GAP / 2, "44%", height).children(rows);
    let chart = frame(id, title, description, height + GAP).child(plot);
    element("figure").child(heading(title, "")).child(chart)
}

/// GB/s as the paper counts them of `results` in groups of one matrix each, with the indices of their
/// methods in `list`, and a line at each of `rates`, which devices
/// read a stream at (10^9 bytes a second).
pub(super) fn bandwidth(
    id: &str,
    label: &str,
    groups: &[(&Record, Vec<(usize, &Record)>)],
    rates: &[(&str, f64)],
    list: &SeriesList,
) -> Element {
    let block = |(matrix, results): &(&Record, Vec<(usize, &Record)>)| Block {
        name: marked_name(matrix),
        about: format!("{}, GB/s", matrix.matrix),
        bars: results.iter().map(|(index, record)| bandwidth_bar(*index, record)).collect(),
    };
    let blocks: Vec<Block> = groups.iter().map(block).collect();
    let description = format!(
        "Horizontal bars: GB/s of the segmented sum on {}. The same figures stand in the \
         table of stages.",
        counted(groups.len(), "matrix")
    );
    let levels: Vec<f64> = rates.iter().map(|(_, rate)| *rate).collect();
    let how = reading(rates);
    Blocks { id, title: label, how: &how, description: &description, levels: &levels }
        .draw(&blocks, list)
}

fn bandwidth_bar(index: usize, record: &Record) -> Bar {
    let value = paper_gbytes_per_s(record);
    let words = match value {
        Some(value) => significant(value),
        None if record.verified => ABSENT.to_owned(),
        None => FAILED.to_owned(),
    };
    Bar { index, value, words }
}

/// How to read the chart, with what the dashed lines are.
fn reading(rates: &[(&str, f64)]) -> String {
    let words = |&(device, rate): &(&str, f64)| format!("{device} {}", significant(rate));
    match rates.is_empty() {
        true => "GB/s; longer is better".to_owned(),
        false => format!(
            "GB/s; longer is better; dashed, what reading a stream reaches: {}",
            rates.iter().map(words).collect::<Vec<_>>().join(", ")
        ),
    }
}
