//! `sparrow info`: shape, row lengths, and with `--explain` what would run and why.

use csr_core::evc_hyb::{EvcHybOptions, EvcHybStatistics};
use csr_core::{Csr, RowStatistics};
use serde_json::json;
use sparrow::{
    AnyPlan, Cost, Estimate, Features, Matrix, Plan, PlanOptions, Reuse, ValueCoding, ValueType,
    default_tables, estimates,
};
use sparrow_bench::{Input, ReorderingForecast, counted, multiple};

use super::reordering::{in_words, json_of};
use super::{check_making_of, load};
use crate::arguments::{Global, Info};
use crate::failure::Failure;
use crate::output::{Files, write_json_line};
use crate::target::{Named, Target, named, queue_on};

pub(crate) fn run(global: &Global, arguments: &Info) -> Result<(), Failure> {
    let files = Files::new(global).reads_matrices([&arguments.matrix]);
    let words = files.check()?;
    let input = Input::parse(&arguments.matrix)?;
    check_making_of(arguments.generator, &input)?;
    let matrix = load(&input, arguments.generator.into(), arguments.reading)?.matrix;
    let statistics = RowStatistics::of(matrix.pattern().view());
    let evc_hyb = EvcHybStatistics::of(matrix.pattern().view(), &EvcHybOptions::default());
    let is_device = named(global) != Named::Host;
    let explained =
        if arguments.explain { Some(explain(global, &matrix, arguments.products)?) } else { None };
    let (chosen, forecast) =
        explained.map_or((None, None), |(chosen, forecast)| (Some(chosen), forecast));
    let mut text = describe(&input, &statistics, words.width());
    if let Some(chosen) = &chosen {
        text.push_str(&describe_evc_hyb(&evc_hyb, statistics.nnz));
        text.push_str(&format!("\n{chosen}\n"));
        if is_device {
            text.push_str(&in_words(forecast.as_ref()));
        }
    }
    let line = json!({
        "schema": "sparrow-info/1",
        "version": env!("CARGO_PKG_VERSION"),
        "matrix": input.name(),
        "source": input.source(),
        "rows": statistics.rows,
        "cols": statistics.cols,
        "nnz": statistics.nnz,
        "shortest_row": statistics.shortest,
        "longest_row": statistics.longest,
        "mean_row": statistics.mean,
        "median_row": statistics.median,
        "row_deviation": statistics.standard_deviation,
        "empty_rows": statistics.empty_rows,
        "evc_hyb": {
            "split_row": evc_hyb.split_row,
            "short_elements": evc_hyb.short_elements,
            "long_elements": evc_hyb.long_elements,
            "padding_percent": 100.0 * evc_hyb.padding,
        },
        "explanation": chosen,
        "reordering": forecast.as_ref().map(json_of),
    });
    write_json_line(global.json.as_deref(), &line)?;
    words.print(&text)
}

/// Bars of the longest row of the chart; as many fit next to the rest in a terminal of 80 columns.
const BARS: usize = 40;

/// Shape and row lengths. `width` is that of the terminal, if one shows them.
fn describe(input: &Input, statistics: &RowStatistics, width: Option<u16>) -> String {
    let RowStatistics { rows, cols, nnz, .. } = statistics;
    let mut text = format!("{} ({})\n", input.name(), input.source());
    text.push_str(&format!(
        "  {}, {}, {}\n",
        counted(rows, "row"),
        counted(cols, "column"),
        counted(nnz, "nonzero")
    ));
    text.push_str(&format!(
        "  nonzeros a row: shortest {}, median {}, mean {:.2}, longest {}; standard deviation {:.2}\n",
        statistics.shortest,
        statistics.median,
        statistics.mean,
        statistics.longest,
        statistics.standard_deviation
    ));
    text.push_str(&format!(
        "  {}; {:.1}% of the nonzeros in rows above 128\n",
        counted(statistics.empty_rows, "empty row"),
        100.0 * statistics.long_row_share
    ));
    text.push_str("  rows by length:\n");
    text.push_str(&chart(&statistics.histogram, width));
    text
}

/// Rows of each length, a bar each: as wide as the terminal allows, and no wider than it takes to compare them.
fn chart(histogram: &[usize], width: Option<u16>) -> String {
    let most = histogram.iter().copied().max().unwrap_or(0).max(1);
    let lines: Vec<_> = histogram
        .iter()
        .enumerate()
        .filter(|(_, count)| **count > 0)
        .map(|(bin, &count)| {
            let range = match bin {
                0 => "0".to_owned(),
                1 => "1".to_owned(),
                _ => format!("{}-{}", 1u64 << (bin - 1), (1u64 << bin) - 1),
            };
            (range, count)
        })
        .collect();
    let widest = |lengths: &mut dyn Iterator<Item = usize>| lengths.max().unwrap_or(0);
    let of_ranges = widest(&mut lines.iter().map(|(range, _)| range.len()));
    let of_counts = widest(&mut lines.iter().map(|(_, count)| count.to_string().len()));
    // Four columns before the ranges, two before counts and bars.
    let others = 4 + of_ranges + 2 + of_counts + 2;
    let bars = width.map_or(BARS, |width| usize::from(width).saturating_sub(others).clamp(1, BARS));
    let line = |(range, count): &(String, usize)| {
        let bar = "#".repeat((count * bars).div_ceil(most));
        format!("    {range:>of_ranges$}  {count:>of_counts$}  {bar}\n")
    };
    lines.iter().map(line).collect()
}

/// What the paper's Table 3 says of a matrix, at the published split and alignment.
fn describe_evc_hyb(found: &EvcHybStatistics, nnz: usize) -> String {
    let stored = found.short_elements + found.long_elements;
    let times = match nnz {
        0 => String::new(),
        _ => format!(", {} times as many", multiple(stored as f64 / nnz as f64)),
    };
    format!(
        "  evc_hyb, if it were chosen, would store {} for {}{times}: {} for the {} shortest rows, in strips, and {} for \
         the others\n",
        counted(stored, "element"),
        counted(nnz, "nonzero"),
        found.short_elements,
        found.split_row,
        found.long_elements,
    )
}

/// What would run and why, and whether another order would pay; the latter for devices.
fn explain(
    global: &Global,
    matrix: &Csr<f64, u64>,
    products: Reuse,
) -> Result<(String, Option<ReorderingForecast>), Failure> {
    let Target::Device(device) = Target::one(global)? else {
        let copy = match products {
            Reuse::Many => ", of a copy in sliced ELL where that is smaller",
            _ => "",
        };
        let text = format!("On the host: its own parallel product, whole rows by core{copy}.");
        return Ok((text, None));
    };
    let queue = queue_on(&device)?;
    let on_device = Matrix::upload_blocking(&queue, matrix.view())?;
    let pattern = matrix.pattern().view();
    let options = PlanOptions { reuse: products, ..PlanOptions::default() };
    let plan = Plan::with_pattern_blocking(&queue, &on_device, pattern, &options)?;
    let tables = default_tables();
    let (shape, traits) = (on_device.shape(), device.traits());
    let features =
        Features::of(&shape, ValueType::F64, traits.compute_units, tables.cache_bytes(traits));
    let parameters = plan.parameters();
    let estimates = estimates(&tables, traits, ValueType::F64, &shape, products);
    let expected: String = estimates.iter().map(|one| line_of(one, products)).collect();
    let expected = match expected.is_empty() {
        true => expected,
        false => {
            format!("\n  what products should take, set-up counted by its part of each:{expected}")
        }
    };
    let follow = match products {
        Reuse::Once => "one product follows".to_owned(),
        products => format!("{products} products follow"),
    };
    let forecast = ReorderingForecast::new_blocking(&queue, matrix.view())?;
    let text = format!(
        "On {}, f64, where {follow}: {} {}({parameters})\n  because {}\n  figures that rules compare: \
         {features}{expected}\n  plan {}{}, workspace {}; {}",
        traits.name,
        plan.algorithm(),
        if plan.variant().is_empty() { String::new() } else { format!("{} ", plan.variant()) },
        plan.choice().reason,
        counted(plan.plan_bytes(), "byte"),
        coding_of(&plan),
        counted(plan.workspace_bytes(), "byte"),
        if plan.is_repeatable() { "repeatable bit for bit" } else { "not repeatable bit for bit" }
    );
    Ok((text, forecast))
}

/// How the copy of the values is stored, where it takes fewer bytes than values do.
fn coding_of(plan: &AnyPlan) -> String {
    match plan.value_coding() {
        None | Some(ValueCoding::AsTheyAre) => String::new(),
        Some(coding) => {
            let saved = counted(plan.saved_bytes(), "byte");
            format!(" with values stored as {coding}, which saves {saved}")
        }
    }
}

/// A candidate of the cost model: its total, and what that is made of.
fn line_of(estimate: &Estimate, products: Reuse) -> String {
    let us = |ns: f64| ns / 1e3;
    let Cost { host_ns, device_ns, setup_ns } = estimate.cost;
    format!(
        "\n    {:>10.1} µs  {estimate}: launch {:.1}, device {:.1}, set-up {:.1}",
        us(estimate.cost.total_ns(products)),
        us(host_ns),
        us(device_ns),
        us(setup_ns)
    )
}

#[cfg(test)]
mod tests {
    use super::chart;

    #[test]
    fn the_chart_of_rows_fits_the_terminal() {
        // Rows of up to a million nonzeros, and four billion of one length.
        let histogram: Vec<usize> =
            (0..21).map(|bin| if bin == 3 { 4 << 30 } else { bin }).collect();
        for (width, bars) in
            [(None, 40), (Some(80), 40), (Some(60), 28), (Some(40), 8), (Some(20), 1)]
        {
            let text = chart(&histogram, width);
            let of_lines = |of: fn(&str) -> usize| text.lines().map(of).max().unwrap_or(0);
            assert_eq!(of_lines(|line| line.matches('#').count()), bars, "{text}");
            assert!(width.is_none_or(|width| width < 40 || of_lines(str::len) <= width.into()));
        }
        assert_eq!(
            chart(&[1, 0, 2], Some(80)),
            "      0  1  ####################\n    2-3  2  ########################################\n"
        );
    }
}
