//! The model's section of a device: what Figures 10, 11, 13 and 14 of Guo, Gropp and Olson show, for each value
//! type and algorithm.

use super::markup::{Element, element};
use super::model_bars::{Stacks, grouped, stacked};
use super::series::SeriesList;
use crate::group::{DeviceGroup, Kind, series};
use crate::model_figures::{gflops, p_max, parts, verdict, with_model};
use crate::record::{ModelRecord, Record};

/// What bars stand for; an index into this list is a colour.
const NAMES: [&str; 11] = [
    "code balance B, bytes an operation",
    "alpha",
    "measured",
    "P_max: copy rate over B",
    "predicted, gathers and launch seen",
    "T_A: values",
    "T_X: x and columns",
    "T_Y: y and the rest",
    "complete",
    "x constant",
    "A constant",
];

/// A figure: a bar a matrix for each of these names.
struct Figure {
    title: &'static str,
    how: &'static str,
    first: usize,
    values: fn(&Record, &ModelRecord) -> Vec<Option<f64>>,
}

const FIGURES: [Figure; 3] = [
    Figure {
        title: "Code balance and alpha",
        how: "shorter is less to move (Figure 10)",
        first: 0,
        values: |_, model| vec![Some(model.code_balance), Some(model.alpha)],
    },
    Figure {
        title: "Measured and modelled performance",
        how: "GFLOP/s of 2 nnz + 3 rows operations; longer is better (Figure 11)",
        first: 2,
        values: |record, model| {
            let measured = record.median_us.map(|us| gflops(record, us));
            vec![measured, p_max(record), Some(gflops(record, model.predicted_us))]
        },
    },
    Figure {
        title: "What leaving out loads gains",
        how: "GFLOP/s with everything loaded, and in two experiments (Figure 14)",
        first: 8,
        values: |record, model| {
            let times = [record.median_us, model.x_constant_us, model.a_constant_us];
            times.map(|us| us.map(|us| gflops(record, us))).to_vec()
        },
    },
];

/// The section of one device, where records have a model's part; `place` is the device's index on the page.
pub(super) fn section(place: usize, group: &DeviceGroup<'_>) -> Option<Element> {
    let records = with_model(group.records.iter().copied());
    if records.is_empty() {
        return None;
    }
    let list = SeriesList::named(NAMES.map(str::to_owned));
    let mut charts = Vec::new();
    for (number, (label, records)) in by_label(&records).into_iter().enumerate() {
        for figure in &FIGURES {
            let id = format!("model-{place}-{number}-{}", figure.first);
            let rows: Vec<_> = records
                .iter()
                .filter_map(|record| Some((*record, (figure.values)(record, record.model()?))))
                .collect();
            let title = format!("{}, {label}", figure.title);
            charts.push(grouped(&id, &title, figure.how, &rows, figure.first, &list));
        }
        let rows: Vec<_> =
            records.iter().filter_map(|record| Some((*record, parts(record.model()?)?))).collect();
        let stacks = Stacks {
            title: format!("Where the time goes, {label}"),
            how: "shares of T_A + T_X + T_Y, each from an experiment (Figure 13)",
            first: 5,
        };
        charts.push(stacked(&format!("model-{place}-{number}-5"), &stacks, &rows, &list));
    }
    let section = element("section")
        .child(element("h3").text("The bandwidth model"))
        .child(explanation(&verdict(&records)))
        .child(element("div").class("charts").children(charts));
    Some(section)
}

fn explanation(verdict: &str) -> Element {
    element("p").text(format!(
        "Code balance, alpha and P_max are those of Guo, Gropp and Olson. The prediction is the larger of \
         bytes over bandwidth and loads of x over their measured rate, with what one group waits for the \
         longest row, and the launch; {verdict}."
    ))
}

/// Records of one value type and algorithm each, in the order they come.
fn by_label<'a>(records: &[&'a Record]) -> Vec<(String, Vec<&'a Record>)> {
    let mut groups: Vec<(String, Vec<&Record>)> = Vec::new();
    for record in records {
        let label = format!("{}, {}", series(record), Kind::of(record).label());
        match groups.iter_mut().find(|(known, _)| *known == label) {
            Some((_, group)) => group.push(record),
            None => groups.push((label, vec![record])),
        }
    }
    groups
}
