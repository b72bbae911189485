//! Measuring and judging devices: where a benchmark's matrices come from, how products are timed and
//! verified, the record of one measured product, the three forms records are shown in (JSON Lines for
//! programs, a table for a terminal, an HTML report for a browser), and the conformance cases that
//! `sparrow selftest` and the tests share.

mod above_limit;
mod batch_form;
mod batch_table;
mod convert_table;
mod failures;
pub mod figures;
mod group;
mod hetero;
mod hetero_figures;
mod hetero_table;
mod input;
mod json;
mod kept_rates;
mod measure;
mod model_figures;
mod model_table;
mod record;
mod report;
pub mod selftest;
mod solve_record;
mod spmm_choice;
mod spmm_table;
mod table;
mod table_layout;
pub mod tune;
mod units;
mod vector_table;
mod which_device;

pub use above_limit::above_the_limit;
pub use batch_form::BatchForm;
pub use failures::failure_in_words;
pub use input::{GeneratorOptions, Input};
pub use json::json_lines;
pub use kept_rates::{keep_rates, rates_blocking};
pub use measure::{
    BatchPeers, BatchProblems, BatchSubject, Budget, ChipRates, MeasureError, Model, Origin,
    PeerRun, ReorderedForecast, ReorderingForecast, Samples, SolveSubject, SolveTarget, Solved,
    SpmmResults, SpmmSubject, Subject, VectorSubject, add_launches, add_stages, as_hetero,
    host_rates, measure_batch, measure_batch_loop, measure_batch_peers, measure_both,
    measure_conversions, measure_on_device, measure_on_host, measure_solve, measure_spgemm,
    measure_spmm, measure_vectors, peer_record,
};
pub use record::{
    BatchRecord, ConvertRecord, Details, EvcHybRecord, Hetero, LaunchesRecord, ModelRecord,
    Operation, Record, ReorderedRecord, SCHEMA, SpgemmRecord, SpmmRecord, SpmvRecord, VectorRecord,
};
pub use report::{ReportError, figure_html, html, solve_html, sweep_html};
pub use solve_record::{SOLVE_SCHEMA, SolveRecord};
pub use spmm_choice::{SpmmChoices, spmm_choices};
pub use table::table;
pub use table_layout::Look;

pub use units::{counted, error_in_words, multiple};

#[cfg(test)]
mod samples;
