//! `sparrow info`: shape, row lengths, and with `--explain` what would run and why.

use csr_core::evc_hyb::{EvcHybOptions, EvcHybStatistics};
use csr_core::{Csr, RowStatistics};
use serde_json::json;
use sparrow::{
    Cost, Estimate, Features, Matrix, Plan, PlanOptions, Products, ValueType, estimates,
    usual_tables,
};
use sparrow_bench::{Input, counted};

use super::{check_making_of, load};
use crate::arguments::{Global, Info};
use crate::failure::Failure;
use crate::output::{Files, write_json_line};
use crate::target::{Target, queue_on};

pub(crate) fn run(global: &Global, arguments: &Info) -> Result<(), Failure> {
    let files = Files::new(global).reads_matrices([&arguments.matrix]);
    let words = files.check()?;
    let input = Input::parse(&arguments.matrix)?;
    check_making_of(arguments.making, &input)?;
    let matrix: Csr<f64, u64> = load(&input, arguments.making.into(), arguments.reading)?;
    let statistics = RowStatistics::of(matrix.pattern().view());
    let evc_hyb = EvcHybStatistics::of(matrix.pattern().view(), &EvcHybOptions::default());
    let chosen =
        if arguments.explain { Some(explain(global, &matrix, arguments.products)?) } else { None };
    let mut text = describe(&input, &statistics);
    if let Some(chosen) = &chosen {
        text.push_str(&describe_evc_hyb(&evc_hyb, statistics.nnz));
        text.push_str(&format!("\n{chosen}\n"));
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
    });
    write_json_line(global.json.as_deref(), &line)?;
    words.print(&text)
}

fn describe(input: &Input, statistics: &RowStatistics) -> String {
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
    let most = statistics.histogram.iter().copied().max().unwrap_or(0).max(1);
    for (bin, &count) in statistics.histogram.iter().enumerate().filter(|(_, count)| **count > 0) {
        let range = match bin {
            0 => "0".to_owned(),
            1 => "1".to_owned(),
            _ => format!("{}-{}", 1u64 << (bin - 1), (1u64 << bin) - 1),
        };
        let bar = "#".repeat((count * 40).div_ceil(most));
        text.push_str(&format!("  {range:>21}  {count:>10}  {bar}\n"));
    }
    text
}

/// What the paper's Table 3 says of a matrix, at the published split and alignment.
fn describe_evc_hyb(found: &EvcHybStatistics, nnz: usize) -> String {
    let percent = |elements: usize| 100.0 * elements as f64 / nnz.max(1) as f64;
    format!(
        "  EVC-HYB, if it were chosen: rows in order of length are split at {}; {} in strips ({:.2}% of the nonzeros), {} in \
         long rows ({:.2}%), padding {:.2}%\n",
        found.split_row,
        counted(found.short_elements, "element"),
        percent(found.short_elements),
        found.long_elements,
        percent(found.long_elements),
        100.0 * found.padding
    )
}

fn explain(global: &Global, matrix: &Csr<f64, u64>, products: Products) -> Result<String, Failure> {
    let Target::Device(device) = Target::one(global)? else {
        return Ok("On the host: its own parallel product, whole rows by core.".to_owned());
    };
    let queue = queue_on(&device)?;
    let on_device = Matrix::upload_blocking(&queue, matrix.view())?;
    let pattern = matrix.pattern().view();
    let options = PlanOptions { products, ..PlanOptions::default() };
    let plan = Plan::with_pattern_blocking(&queue, &on_device, pattern, &options)?;
    let tables = usual_tables();
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
    Ok(format!(
        "On {}, f64, where {products} products follow: {} {}({parameters})\n  because {}\n  what rules may ask: \
         {features}{expected}\n  plan {}, workspace {}; {}",
        traits.name,
        plan.algorithm(),
        if plan.variant().is_empty() { String::new() } else { format!("{} ", plan.variant()) },
        plan.choice().reason,
        counted(plan.plan_bytes(), "byte"),
        counted(plan.workspace_bytes(), "byte"),
        if plan.is_repeatable() { "repeatable bit for bit" } else { "not repeatable bit for bit" }
    ))
}

/// A candidate of the cost model: its total, and what that is made of.
fn line_of(estimate: &Estimate, products: Products) -> String {
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
