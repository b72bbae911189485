//! A solve as one HTML file: how it ended, the residual over the iterations, and what an iteration takes.

use super::axis::{Axis, tick_label};
use super::chart::{across, frame, heading, percent};
use super::markup::{Element, element};
use super::page;
use super::series::{self, colour_class};
use crate::solve_record::SolveRecord;
use crate::units::{bytes, counted, grouped, significant};

const HEIGHT: usize = 260;
const LEFT: usize = 56;
const RIGHT: usize = 16;
const TOP: usize = 20;
const BOTTOM: usize = 44;
/// Points of a curve, at most: more lie within a pixel of each other.
const MOST_POINTS: usize = 800;

/// One self-contained HTML page about solves.
pub fn solve_html(records: &[SolveRecord], title: &str) -> String {
    let sections = records.iter().enumerate().map(|(place, record)| {
        element("section")
            .child(element("h2").text(format!("{} by {}", record.matrix, record.method)))
            .child(ending(record))
            .children(chart(place, record))
            .child(element("h3").text("Figures"))
            .child(figures(record))
    });
    let main = element("main")
        .child(element("h1").text(title))
        .children(sections.collect::<Vec<_>>())
        .child(element("h2").text("How to run this again"))
        .child(element("p").text("Run ").child(element("code").text("sparrow solve")).text(
            " with the same version and options on the same device and driver: the same bits come out.",
        ));
    page(title, element("body").child(series::shapes()).child(main))
}

fn ending(record: &SolveRecord) -> Element {
    let iterations = counted(record.iterations, "iteration");
    let (class, text) = match record.outcome.as_str() {
        "converged" => ("passed", format!("converged after {iterations}")),
        "breakdown" => (
            "failed",
            format!(
                "broke down {}: {}",
                match record.breakdown_iteration {
                    None | Some(0) => "before the first iteration".to_owned(),
                    Some(iteration) => format!("in iteration {iteration}"),
                },
                record.breakdown.as_deref().unwrap_or("unknown")
            ),
        ),
        "stagnated" => (
            "failed",
            format!(
                "stagnated at {} after {iterations}",
                record.of_b(record.true_relative_residual)
            ),
        ),
        "diverged" => ("failed", format!("diverged after {iterations}")),
        "stopped" => ("muted", format!("stopped after {iterations}")),
        _ => ("failed", format!("not converged after {iterations}")),
    };
    element("p")
        .class("headline")
        .child(element("strong").text(record.device.clone()))
        .text(": ")
        .child(element("span").class(class).text(text))
        .text(format!("; {}", record.residual_in_words()))
}

/// The residual, as a multiple of b, over the iterations.
fn chart(place: usize, record: &SolveRecord) -> Option<Element> {
    let scale = if record.b_norm > 0.0 { record.b_norm } else { 1.0 };
    let points: Vec<(usize, f64)> = record
        .history
        .iter()
        .map(|residual| residual / scale)
        .enumerate()
        .filter(|(_, residual)| residual.is_finite() && *residual > 0.0)
        .collect();
    let step = points.len().div_ceil(MOST_POINTS).max(1);
    let last = points.last().copied()?;
    let mut drawn: Vec<_> = points.iter().copied().step_by(step).collect();
    if drawn.last() != Some(&last) {
        drawn.push(last);
    }
    let residuals = || points.iter().map(|(_, residual)| *residual);
    let wanted = (record.tolerance > 0.0).then_some(record.tolerance);
    let least = residuals().chain(wanted).fold(f64::INFINITY, f64::min);
    let most = residuals().chain(wanted).fold(0.0, f64::max);
    let vertical = Axis::logarithmic(least, most);
    let horizontal = Axis::linear(last.0.max(1) as f64);
    let pixel = |value: f64| HEIGHT as f64 * (1.0 - vertical.place(value));
    let curve = drawn.windows(2).map(|pair| {
        element("line")
            .class(format!("trace {}", colour_class(0)))
            .attribute("x1", percent(horizontal.place(pair[0].0 as f64)))
            .attribute("x2", percent(horizontal.place(pair[1].0 as f64)))
            .attribute("y1", format!("{:.1}", pixel(pair[0].1)))
            .attribute("y2", format!("{:.1}", pixel(pair[1].1)))
    });
    // Over twenty decades labels would touch.
    let every = vertical.ticks.len().div_ceil(12).max(1);
    let rows = vertical.ticks.iter().step_by(every).flat_map(|&tick| {
        let y = pixel(tick);
        let label = element("text")
            .class("tick")
            .attribute("x", -8)
            .attribute("y", format!("{y:.1}"))
            .attribute("dy", "0.32em")
            .attribute("text-anchor", "end")
            .text(format!("{tick:.0e}"));
        [across("grid", y), label]
    });
    let columns = horizontal.ticks.iter().map(|&tick| {
        element("text")
            .class("tick")
            .attribute("x", percent(horizontal.place(tick)))
            .attribute("y", HEIGHT + 17)
            .attribute("text-anchor", "middle")
            .text(tick_label(tick))
    });
    let tolerance = wanted.map(|tolerance| across("limit", pixel(tolerance)));
    let plot = element("svg")
        .class("plot")
        .attribute("x", LEFT)
        .attribute("y", TOP)
        .attribute("width", "80%")
        .attribute("height", HEIGHT)
        .attribute("style", format!("width:calc(100% - {}px)", LEFT + RIGHT))
        .children(rows.collect::<Vec<_>>())
        .children(columns.collect::<Vec<_>>())
        .children(tolerance)
        .children(curve);
    let axis_name = element("text")
        .class("tick")
        .attribute("x", "50%")
        .attribute("y", TOP + HEIGHT + 34)
        .text("iteration");
    let title = "Residual";
    let how =
        "as a multiple of the norm of b, as the iterations update it; dashed: what was asked for";
    let description = format!("A line over {}.", counted(record.iterations, "iteration"));
    let id = format!("residual-{place}");
    let chart = frame(&id, title, &description, TOP + HEIGHT + BOTTOM).child(plot).child(axis_name);
    Some(element("figure").child(heading(title, how)).child(chart))
}

fn sizes(record: &SolveRecord) -> String {
    let (rows, nnz) = (grouped(record.rows), grouped(record.nnz));
    format!("{}, {}", counted(rows, "row"), counted(nnz, "nonzero"))
}

fn figures(record: &SolveRecord) -> Element {
    let time = match (record.iteration_us, record.times_limit, record.iteration_limit_us) {
        (Some(time), Some(ratio), Some(limit)) => format!(
            "{} µs, {} times the {} µs that its bytes take to copy",
            significant(time),
            significant(ratio),
            significant(limit)
        ),
        (Some(time), ..) => format!("{} µs", significant(time)),
        _ => "not measured: the solve ended too soon".to_owned(),
    };
    let known = |text: Option<String>| text.unwrap_or_else(|| "not measured".to_owned());
    let rows = [
        ("Matrix", sizes(record)),
        ("Preconditioner", record.preconditioner.clone()),
        ("Operands", format!("{} ({})", record.algorithm, record.params)),
        ("Values", record.value_type.clone()),
        ("An iteration", time),
        ("Its bytes", known(record.bytes_per_iteration.map(bytes))),
        (
            "A copy",
            known(record.copy_gbytes_per_s.map(|rate| format!("{} GB/s", significant(rate)))),
        ),
        ("The solve", format!("{} ms", significant(record.elapsed_us / 1e3))),
        ("Set-up", format!("{} ms", significant(record.setup_us / 1e3))),
        ("Memory besides the matrix", known(record.solver_bytes.map(bytes))),
        (
            "b - A x on the host",
            format!(
                "{}{}",
                record.of_b(record.host_relative_residual),
                if record.verified { "" } else { ": NOT verified" }
            ),
        ),
    ];
    let rows = rows.into_iter().map(|(name, value)| {
        element("tr").child(element("th").text(name)).child(element("td").text(value))
    });
    element("div").class("scroll").child(element("table").child(element("tbody").children(rows)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solve_record::SOLVE_SCHEMA;

    fn record(history: Vec<f64>) -> SolveRecord {
        let word = |text: &str| text.to_owned();
        SolveRecord {
            schema: word(SOLVE_SCHEMA),
            version: word("1"),
            matrix: word("<poisson>"),
            source: word("assembled"),
            rows: 100,
            cols: 100,
            nnz: 460,
            op: word("solve"),
            method: word("cg"),
            preconditioner: word("none"),
            algorithm: word("csr_vector"),
            params: word(""),
            kernel_key: word(""),
            solver_params: word(""),
            value_type: word("f64"),
            offset_type: word("u32"),
            device: word("Example GPU"),
            platform: word("Example"),
            driver: word("1"),
            seed: 1,
            tolerance: 1e-8,
            max_iterations: 100,
            check_every: 4,
            symmetric: true,
            outcome: word("converged"),
            breakdown: None,
            breakdown_iteration: None,
            iterations: history.len() as u32 - 1,
            x_iteration: history.len() as u32 - 1,
            launched: 4,
            b_norm: 2.0,
            relative_residual: 1e-9,
            true_relative_residual: 1.1e-9,
            host_relative_residual: 1.1e-9,
            verified: true,
            stream_gbytes_per_s: Some(4000.0),
            copy_gbytes_per_s: Some(3900.0),
            bytes_per_iteration: Some(10_000),
            iteration_limit_us: Some(40.0),
            iteration_us: Some(44.0),
            times_limit: Some(1.1),
            elapsed_us: 1000.0,
            setup_us: 100.0,
            solver_bytes: Some(4000),
            history,
        }
    }

    #[test]
    fn the_residual_is_a_line_and_names_cannot_leave_their_place() {
        let page = solve_html(&[record(vec![2.0, 0.2, 2e-5, 2e-9])], "A solve");
        assert_eq!(page.matches("class=\"trace s0\"").count(), 3);
        assert!(page.contains("converged after 3 iterations"));
        assert!(page.contains("1.10 times the 40.0 µs"), "{page}");
        assert!(page.contains("&lt;poisson&gt;") && !page.contains("<poisson>"));
    }

    #[test]
    fn a_solve_without_residuals_has_no_chart_and_a_long_one_few_lines() {
        let none = solve_html(&[record(vec![0.0])], "A solve");
        assert!(!none.contains("trace s0"));
        let long = (0..100_000).map(|k| 1.0 / f64::from(k + 1)).collect();
        let page = solve_html(&[record(long)], "A solve");
        assert!(page.matches("trace s0").count() <= MOST_POINTS + 1);
    }
}
