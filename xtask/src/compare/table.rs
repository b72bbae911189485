//! The table, in Markdown: a line a matrix and value type, geometric means, and what was left out.

use super::results::{Best, Case, OURS, Standing, geometric_mean, median, programs};
use std::fmt::Write as _;

/// A part that was not measured, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LeftOut {
    pub(super) what: String,
    pub(super) reason: String,
}

/// The whole page.
pub(super) fn markdown(command: &str, cases: &[Case], left_out: &[LeftOut]) -> String {
    let programs = programs(cases);
    let mut page = format!("# Sparrow beside others\n\n`{command}`\n\n");
    for (program, version) in &programs {
        let devices = devices(cases, program);
        let _ = writeln!(page, "- {program} {version}, {}", devices.join("; "));
    }
    page.push_str(
        "\nMicroseconds of one product y = A x (the best algorithm of each; in brackets its name and its set-up, \
         counted in its own products). x: how many times as fast Sparrow is.\n\n",
    );
    let peers: Vec<&str> =
        programs.iter().map(|(name, _)| name.as_str()).filter(|name| *name != OURS).collect();
    page.push_str(&row(header(&peers)));
    let columns = 4 + 2 * peers.len();
    page.push_str(&row((0..columns).map(|at| if at < 2 { "---" } else { "---:" }.to_owned())));
    for case in cases {
        page.push_str(&row(line(case, &peers)));
    }
    page.push_str(&means(cases, &peers));
    page.push_str(&spreads(cases, &programs));
    if !left_out.is_empty() {
        page.push_str("\nLeft out:\n\n");
        for LeftOut { what, reason } in left_out {
            let _ = writeln!(page, "- {what}: {}", reason.lines().next().unwrap_or_default());
        }
    }
    page
}

fn header(peers: &[&str]) -> impl Iterator<Item = String> {
    let own = ["matrix", "type", "nnz", OURS].map(str::to_owned).into_iter();
    own.chain(peers.iter().flat_map(|peer| [(*peer).to_owned(), "x".to_owned()]))
}

fn line(case: &Case, peers: &[&str]) -> impl Iterator<Item = String> {
    let own = [
        case.matrix.clone(),
        case.value_type.clone(),
        case.nnz.to_string(),
        cell(&case.standing(OURS)),
    ];
    own.into_iter().chain(peers.iter().flat_map(|peer| {
        let ratio =
            case.times_as_fast(peer).map_or_else(String::new, |ratio| format!("{ratio:.2}"));
        [cell(&case.standing(peer)), ratio]
    }))
}

fn cell(standing: &Standing) -> String {
    match standing {
        Standing::Absent => String::new(),
        Standing::Wrong => "WRONG".to_owned(),
        Standing::Best(Best { algorithm, median_us, setup_us, .. }) => {
            format!("{median_us:.1} ({algorithm}, {:.1})", setup_us / median_us)
        }
    }
}

/// A sentence a peer and value type.
fn means(cases: &[Case], peers: &[&str]) -> String {
    let mut value_types: Vec<&str> = Vec::new();
    for case in cases {
        if !value_types.contains(&case.value_type.as_str()) {
            value_types.push(&case.value_type);
        }
    }
    let mut text = String::new();
    for peer in peers {
        for value_type in &value_types {
            let of_type = cases.iter().filter(|case| case.value_type == *value_type);
            let ratios: Vec<f64> = of_type.filter_map(|case| case.times_as_fast(peer)).collect();
            let least = ratios.iter().copied().fold(f64::INFINITY, f64::min);
            if let Some(mean) = geometric_mean(&ratios) {
                let count = ratios.len();
                let _ = write!(
                    text,
                    "\n{value_type} beside {peer}: {mean:.2} in the geometric mean of {count}, {least:.2} at least.\n"
                );
            }
        }
    }
    text
}

/// How quiet the machine was: a sentence, where there was more than one round.
fn spreads(cases: &[Case], programs: &[(String, String)]) -> String {
    let standings =
        cases.iter().flat_map(|case| programs.iter().map(|(name, _)| case.standing(name)));
    let spread = |standing| match standing {
        Standing::Best(best) => Some(best.spread),
        _ => None,
    };
    let spreads: Vec<f64> = standings.filter_map(spread).collect();
    let most = spreads.iter().copied().fold(0.0, f64::max);
    if most == 0.0 {
        return String::new();
    }
    let middle = median(spreads.into_iter());
    format!(
        "\nRounds of one program on one matrix lie {:.0}% apart in the median and {:.0}% at most: smaller differences \
         between programs mean nothing.\n",
        100.0 * middle,
        100.0 * most
    )
}

/// Where a program ran.
fn devices(cases: &[Case], program: &str) -> Vec<String> {
    let mut devices: Vec<String> = Vec::new();
    let timings = cases.iter().flat_map(|case| &case.timings);
    for timing in timings.filter(|timing| timing.program == program) {
        if !devices.contains(&timing.device) {
            devices.push(timing.device.clone());
        }
    }
    devices
}

/// A line of a table; a bar inside a cell would end it.
fn row(cells: impl Iterator<Item = String>) -> String {
    let cells: Vec<_> = cells.map(|cell| cell.replace('|', "\\|")).collect();
    format!("| {} |\n", cells.join(" | "))
}

#[cfg(test)]
mod tests {
    use super::super::results::Timing;
    use super::super::results::tests::{case, timing};
    use super::*;

    #[test]
    fn a_line_shows_times_set_ups_and_ratios_and_the_end_says_what_is_missing() {
        let wrong = Timing { verified: false, ..timing("ViennaCL", "compressed_matrix", 1.0) };
        let ours = timing(OURS, "sell", 10.0);
        let cases = [
            case("a", vec![ours.clone(), timing("MKL", "optimised", 20.0), wrong]),
            case("b", vec![ours, timing("MKL", "optimised", 5.0)]),
        ];
        let missing = LeftOut { what: "cuSPARSE".into(), reason: "no libcudart.so\nmore".into() };
        let page = markdown("cargo xtask compare", &cases, &[missing]);
        let expected = "\
            | matrix | type | nnz | Sparrow | MKL | x | ViennaCL | x |\n\
            | --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |\n\
            | a | f32 | 50 | 10.0 (sell, 2.0) | 20.0 (optimised, 2.0) | 2.00 | WRONG |  |\n\
            | b | f32 | 50 | 10.0 (sell, 2.0) | 5.0 (optimised, 2.0) | 0.50 |  |  |\n\
            \n\
            f32 beside MKL: 1.00 in the geometric mean of 2, 0.50 at least.\n\
            \n\
            Left out:\n\
            \n\
            - cuSPARSE: no libcudart.so\n";
        assert!(page.ends_with(expected), "{page}");
        assert!(page.contains("- MKL 1.0, a device\n"), "{page}");
    }

    #[test]
    fn rounds_that_lie_apart_are_said() {
        let rounds = [10.0, 12.0, 11.0].map(|us| timing(OURS, "sell", us)).to_vec();
        let page = markdown("cargo xtask compare", &[case("a", rounds)], &[]);
        assert!(page.contains("lie 18% apart in the median and 18% at most"), "{page}");
        let page =
            markdown("cargo xtask compare", &[case("a", vec![timing(OURS, "sell", 1.0)])], &[]);
        assert!(!page.contains("apart"), "one round says nothing: {page}");
    }

    #[test]
    fn a_bar_in_a_name_does_not_end_a_cell() {
        assert_eq!(row(["a|b".to_owned()].into_iter()), "| a\\|b |\n");
    }
}
