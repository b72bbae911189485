//! The section of products on two kinds of cores: charts and tables across devices, the forms of Figures
//! 4 to 6 of Liu and Vinter (2015) and the cost of stage 2 over the share of dirty tiles.

use super::bars::marked_name;
use super::hetero_bars::{bandwidth, panel};
use super::markup::{Element, element};
use super::plot::Bar;
use super::results::{self, badge, head_cell, number, scrolled};
use super::scatter;
use super::series::SeriesList;
use crate::group::{DeviceGroup, by_device};
use crate::hetero::{Comparison, Devices, Mean, Row, comparisons, is_segmented_sum};
use crate::hetero_figures::{FAILED, STAGES, STAGES_LEGEND, mean, stages, throughput};
use crate::record::Record;
use crate::units::grouped;

/// Charts and tables of `records`, all of which have a [`crate::Hetero`] part.
pub(super) fn section(records: &[&Record]) -> Element {
    let devices = Devices::of(records);
    let comparisons = comparisons(records, &devices);
    // One list for all value types: a method keeps its colour.
    let list = SeriesList::named(comparisons.iter().flat_map(|c| c.methods.iter().cloned()));
    let kinds = || comparisons.iter().enumerate();
    element("section")
        .child(element("h2").text("Devices compared and together"))
        .children(numbers(records, &devices))
        .children(kinds().flat_map(|(place, comparison)| panels(place, comparison, &list)))
        .children(kinds().flat_map(|(_, comparison)| throughputs(comparison)))
        .children(of_segmented_sum(&comparisons, &list))
        .children(kinds().flat_map(|(_, comparison)| stage_table(comparison)))
        .children(by_device(records.iter().copied()).iter().map(all_results))
}

/// The charts of the segmented sum, where some record is of it.
fn of_segmented_sum(comparisons: &[Comparison<'_>], list: &SeriesList) -> Vec<Element> {
    let groups: Vec<_> = comparisons
        .iter()
        .map(|c| (c.kind.label(), segmented_sums(c, list)))
        .filter(|(_, groups)| !groups.is_empty())
        .collect();
    if groups.is_empty() {
        return Vec::new();
    }
    let charts = |draw: &dyn Fn(usize, &str, &Groups<'_>) -> Element| {
        let figures = groups.iter().enumerate();
        let figures = figures.map(|(place, (label, groups))| draw(place, label, groups));
        element("div").class("charts").children(figures)
    };
    vec![
        element("h3").text("Bandwidth of the segmented sum"),
        element("p").class("muted").text(
            "Bytes as Liu and Vinter (2015) count them: offsets, columns and values once, and x once \
             for every nonzero, so that a cache that holds x can carry a bar beyond the device's rate.",
        ),
        charts(&|place, label, groups| bandwidths(place, label, groups, list)),
        element("h3").text("What stage 2 costs"),
        charts(&|place, label, groups| {
            let results: Vec<_> = groups.iter().flat_map(|(_, r)| r.iter().copied()).collect();
            scatter::stages(&format!("stages-{place}"), label, &results, list)
        }),
    ]
}

/// What every record of a device says, folded: times, limits, errors.
fn all_results(group: &DeviceGroup<'_>) -> Element {
    let words =
        format!("{}{}: times, limits and errors of all results", group.device, group.origin());
    element("details").child(element("summary").text(words)).child(results::results(group))
}

/// Which number stands for which device, where methods need numbers.
fn numbers(records: &[&Record], devices: &Devices<'_>) -> Option<Element> {
    let groups = by_device(records.iter().copied());
    let named = groups.iter().filter(|g| !devices.prefix(g.device).is_empty());
    let items: Vec<_> = named
        .map(|g| format!("{}{}{}", devices.prefix(g.device), g.device, g.origin()))
        .map(|words| element("li").text(words))
        .collect();
    (!items.is_empty()).then(|| element("ul").class("legend").children(items))
}

/// A panel a matrix, the harmonic mean last.
fn panels(place: usize, comparison: &Comparison<'_>, list: &SeriesList) -> Vec<Element> {
    let label = comparison.kind.label();
    let of_matrix = |row: &Row<'_>| -> Vec<Bar> {
        let results = comparison.methods.iter().zip(&row.results);
        let bar = |(method, result): (&String, &Option<&Record>)| Bar {
            index: list.place(method),
            value: result.filter(|r| r.verified).and_then(|r| r.gflops),
            words: throughput(*result),
        };
        results.map(bar).collect()
    };
    let means = comparison.methods.iter().enumerate().map(|(index, method)| {
        let value = comparison.mean(index);
        let words = mean(value, comparison.rows.len());
        let value = if let Mean::Over(value, _) = value { Some(value) } else { None };
        Bar { index: list.place(method), value, words }
    });
    let mut figures: Vec<_> = comparison
        .rows
        .iter()
        .enumerate()
        .map(|(number, row)| {
            let id = format!("together-{place}-{number}");
            panel(&id, &marked_name(row.matrix), &of_matrix(row), list)
        })
        .collect();
    let id = format!("together-{place}-mean");
    figures.push(panel(&id, &mean_name(comparison), &means.collect::<Vec<_>>(), list));
    vec![
        element("h3").text(format!("GFLOP/s, {label}")),
        element("p").class("muted").text(
            "A panel a matrix, with a scale of its own; longer is better. A method that failed on \
             any matrix has no mean; (n) is a mean over n matrices where a method skipped some. ",
        )
        .child(super::marks()),
        element("div").class("panels").children(figures),
    ]
}

fn mean_name(comparison: &Comparison<'_>) -> String {
    format!("harmonic mean of {}", comparison.rows.len())
}

/// The figures of the panels: a row a matrix, a column a method.
fn throughputs(comparison: &Comparison<'_>) -> Vec<Element> {
    let label = comparison.kind.label();
    let head = ["matrix"].into_iter().map(|name| head_cell(name, false));
    let head = head.chain([head_cell("nonzeros", true)]);
    let head = head.chain(comparison.methods.iter().map(|name| head_cell(name, true)));
    let rows = comparison.rows.iter().map(|row| {
        let best = row.results.iter().flatten().filter(|r| r.verified).filter_map(|r| r.gflops);
        let best = best.fold(0.0, f64::max);
        let cells = row.results.iter().map(|result| {
            let is_best = result.is_some_and(|r| r.verified && r.gflops == Some(best));
            figure(throughput(*result), is_best)
        });
        element("tr")
            .child(row_head(row.matrix.matrix.as_str()).children(badge(&row.matrix.source)))
            .child(number(grouped(row.matrix.nnz)))
            .children(cells)
    });
    let means =
        (0..comparison.methods.len()).map(|m| mean(comparison.mean(m), comparison.rows.len()));
    let last = element("tr")
        .child(row_head(&mean_name(comparison)))
        .child(number(String::new()))
        .children(means.map(|words| figure(words, false)));
    let table = element("table")
        .class("throughputs")
        .child(element("caption").text(format!("GFLOP/s of every method, {label}")))
        .child(element("thead").child(element("tr").children(head)))
        .child(element("tbody").children(rows))
        .child(element("tbody").child(last));
    vec![element("h3").text(format!("Table of GFLOP/s, {label}")), scrolled(table)]
}

fn row_head(words: &str) -> Element {
    element("th").attribute("scope", "row").text(words)
}

fn figure(words: String, best: bool) -> Element {
    let class = match (words == FAILED, best) {
        (true, _) => "number failed",
        (_, true) => "number best",
        _ => "number",
    };
    element("td").class(class).text(words)
}

/// The results in stages of each matrix with the indices of their methods in the list.
type Groups<'a> = Vec<(&'a Record, Vec<(usize, &'a Record)>)>;

fn segmented_sums<'a>(comparison: &Comparison<'a>, list: &SeriesList) -> Groups<'a> {
    let of_matrix = |row: &Row<'a>| {
        let results = row.staged().filter(|(_, r)| is_segmented_sum(r));
        let placed = results.map(|(m, r)| (list.place(&comparison.methods[m]), r));
        (row.matrix, placed.collect::<Vec<_>>())
    };
    let groups = comparison.rows.iter().map(of_matrix);
    groups.filter(|(_, results)| !results.is_empty()).collect()
}

fn bandwidths(place: usize, label: &str, groups: &Groups<'_>, list: &SeriesList) -> Element {
    let records = groups.iter().flat_map(|(_, results)| results.iter().map(|(_, r)| *r));
    // One line a device, at the best that its runs saw.
    let rates = by_device(records).into_iter().filter_map(|group| {
        let rates = group.records.iter().filter_map(|r| r.stream_gbytes_per_s);
        Some((group.device, rates.max_by(f64::total_cmp)?))
    });
    bandwidth(&format!("bandwidth-{place}"), label, groups, &rates.collect::<Vec<_>>(), list)
}

/// One `tbody` a matrix, one row a method that has stages; nothing where none has.
fn stage_table(comparison: &Comparison<'_>) -> Vec<Element> {
    let staged = comparison.staged();
    if staged.is_empty() {
        return Vec::new();
    }
    let label = comparison.kind.label();
    let head = [head_cell("matrix, method", false)];
    let head = head.into_iter().chain(STAGES.map(|name| head_cell(&name.replace('\n', " "), true)));
    let bodies = staged.into_iter().map(|row| {
        let heading = element("th")
            .attribute("scope", "rowgroup")
            .attribute("colspan", STAGES.len() + 1)
            .text(row.matrix.matrix.as_str())
            .children(badge(&row.matrix.source));
        let single_us = row.single_us();
        let rows = row.staged().map(|(method, record)| {
            element("tr")
                .child(element("td").text(comparison.methods[method].as_str()))
                .children(stages(record, single_us).map(|words| figure(words, false)))
        });
        element("tbody").child(element("tr").child(heading)).children(rows)
    });
    let table = element("table")
        .class("results")
        .child(element("caption").text(format!("Stages, {label}")))
        .child(element("thead").child(element("tr").children(head)))
        .children(bodies);
    let legend = STAGES_LEGEND.map(|(words, meaning)| {
        element("li").child(element("strong").text(words)).text(format!(": {meaning}"))
    });
    vec![
        element("h3").text(format!("Table of stages, {label}")),
        scrolled(table),
        element("ul").class("muted").children(legend),
    ]
}
