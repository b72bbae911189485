//! `sparrow info`: shape, row lengths, and with `--explain` what would run and why.

use csr_core::{Csr, RowStatistics};
use serde_json::json;
use sparrow::{Matrix, MatrixShape, Plan, PlanOptions};
use sparrow_bench::Input;

use super::load;
use crate::arguments::{Global, Info};
use crate::failure::Failure;
use crate::output::{words_on_stdout, write_json_lines};
use crate::target::{Target, queue_on};

pub(crate) fn run(global: &Global, arguments: &Info) -> Result<(), Failure> {
    let input = Input::parse(&arguments.matrix)?;
    let matrix: Csr<f64, u64> = load(&input, arguments.making.into())?;
    let statistics = RowStatistics::of(matrix.pattern().view());
    let chosen = if arguments.explain { Some(explain(global, &matrix)?) } else { None };
    if words_on_stdout(global.json.as_deref()) {
        print!("{}", describe(&input, &statistics));
        if let Some(chosen) = &chosen {
            println!("\n{chosen}");
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
        "explanation": chosen,
    });
    write_json_lines(global.json.as_deref(), &[line])
}

fn describe(input: &Input, statistics: &RowStatistics) -> String {
    let RowStatistics { rows, cols, nnz, .. } = statistics;
    let mut text = format!("{} ({})\n", input.name(), input.source());
    text.push_str(&format!("  {rows} rows, {cols} columns, {nnz} nonzeros\n"));
    text.push_str(&format!(
        "  nonzeros a row: shortest {}, median {}, mean {:.2}, longest {}; standard deviation {:.2}\n",
        statistics.shortest,
        statistics.median,
        statistics.mean,
        statistics.longest,
        statistics.standard_deviation
    ));
    text.push_str(&format!(
        "  {} empty rows; {:.1}% of the nonzeros in rows above 128\n",
        statistics.empty_rows,
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

fn explain(global: &Global, matrix: &Csr<f64, u64>) -> Result<String, Failure> {
    let Target::Device(device) = Target::one(global)? else {
        return Ok("On the host: its own parallel product, whole rows by core.".to_owned());
    };
    let queue = queue_on(&device)?;
    let on_device = Matrix::upload_blocking(&queue, matrix.view())?;
    let pattern = matrix.pattern().view();
    let options = PlanOptions::default();
    let plan = Plan::with_pattern_blocking(&queue, &on_device, pattern, &options)?;
    let MatrixShape { longest_row, .. } = on_device.shape();
    let parameters = plan.parameters();
    Ok(format!(
        "On {}: {} ({parameters})\n  because {}\n  longest row {longest_row}; plan {} bytes, workspace {} \
         bytes; {}",
        device.traits().name,
        plan.algorithm(),
        plan.choice().reason,
        plan.plan_bytes(),
        plan.workspace_bytes(),
        if plan.is_repeatable() { "repeatable bit for bit" } else { "not repeatable bit for bit" }
    ))
}
