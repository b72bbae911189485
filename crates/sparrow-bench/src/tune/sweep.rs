//! Sweeps: the papers' figures of how hyper-parameters matter, for any device.
//!
//! CSR-Adaptive, Figures 4 and 8: `num_rows_stream` and `nnz_multiplier` against the nonzeros of a block, over the
//! matrices of its Table II (its 48 are not named). The speculative segmented sum, Figures 7 and 8: W and S, over its
//! twenty. Each figure shows the harmonic mean over matrices; every other hyper-parameter is the device's own.

use std::collections::{BTreeMap, BTreeSet};

use cl_kernels::{Algorithm, Tables};
use csr_core::AnyCsrView;
use csr_core::generate::Suite;
use serde::{Deserialize, Serialize};
use sparrow::{PlanOptions, Queue};

use super::timing::median;
use super::trial::{Ground, launches, rounded};
use crate::MeasureError;
use crate::figures::{Across, Picture, Series, spread};
use crate::units::{counted, significant};

/// The form's name.
pub const SWEEP_SCHEMA: &str = "sparrow-sweep/1";

/// One figure of a paper.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SweepFigure {
    /// What the command calls it.
    pub key: &'static str,
    /// What the paper calls it.
    pub name: &'static str,
    /// Whose hyper-parameters.
    pub algorithm: Algorithm,
    /// The one along the axis, and its values.
    pub over: (&'static str, &'static [u32]),
    /// The one in the legend, and its values.
    pub by: Option<(&'static str, &'static [u32])>,
    /// The matrices.
    pub suite: Suite,
}

const NNZ_PER_WG: &[u32] = &[256, 512, 1024, 1536, 2048, 3072];

/// The four figures.
pub const SWEEP_FIGURES: [SweepFigure; 4] = [
    SweepFigure {
        key: "csr-adaptive-4",
        name: "CSR-Adaptive, Figure 4",
        algorithm: Algorithm::CsrAdaptive,
        over: ("num_rows_stream", &[2, 3, 4, 5, 6, 8]),
        by: Some(("nnz_per_wg", NNZ_PER_WG)),
        suite: Suite::CsrAdaptive,
    },
    SweepFigure {
        key: "csr-adaptive-8",
        name: "CSR-Adaptive, Figure 8",
        algorithm: Algorithm::CsrAdaptive,
        over: ("nnz_multiplier", &[1, 2, 3, 4, 6, 8]),
        by: Some(("nnz_per_wg", NNZ_PER_WG)),
        suite: Suite::CsrAdaptive,
    },
    SweepFigure {
        key: "segmented-sum-7",
        name: "Segmented sum, Figure 7",
        algorithm: Algorithm::SegmentedSum,
        over: ("nnz_per_item", &[4, 8, 12, 16, 20, 24]),
        by: None,
        suite: Suite::Hetero,
    },
    SweepFigure {
        key: "segmented-sum-8",
        name: "Segmented sum, Figure 8",
        algorithm: Algorithm::SegmentedSum,
        over: ("tiles_per_bunch", &[1, 2, 4, 6, 8, 12]),
        by: None,
        suite: Suite::Hetero,
    },
];

impl SweepFigure {
    /// Points of one matrix.
    pub fn points(&self) -> usize {
        self.asked().len()
    }

    /// The same by the values in the legend (0 where there are none) and along the axis.
    fn asked(&self) -> Vec<(u32, u32)> {
        let series = self.by.map_or(&[0][..], |(_, values)| values);
        series.iter().flat_map(|&series| self.over.1.iter().map(move |&at| (series, at))).collect()
    }
}

/// One point of one matrix.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SweepTiming {
    /// [`SWEEP_SCHEMA`].
    pub schema: String,
    /// Version of Sparrow.
    pub version: String,
    /// The device's name.
    pub device: String,
    /// The platform's name.
    pub platform: String,
    /// The driver's version.
    pub driver: String,
    /// The figure.
    pub figure: String,
    /// Name of the matrix.
    pub matrix: String,
    /// Its nonzeros.
    pub nnz: u64,
    /// What A stores.
    pub value_type: String,
    /// The algorithm with all its hyper-parameters.
    pub candidate: String,
    /// The hyper-parameter along the axis.
    pub over: String,
    /// Its value.
    pub at: u32,
    /// The value of the one in the legend; 0 where there is none.
    pub series: u32,
    /// 2 nnz / time, in 10^9 a second; `None` where it does not fit the device or did not verify.
    pub gflops: Option<f64>,
    /// Why there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
}

/// Times every point of a figure on one matrix; each is verified, and timed in turn with the device's own
/// hyper-parameters. `goes_on` is asked before each point; once it says no, points are refused without being timed, some of
/// all series rather than the last.
///
/// # Errors
/// The device fails, or the algorithm does not verify with its own hyper-parameters.
pub fn sweep(
    queue: &Queue,
    name: &str,
    matrix: AnyCsrView<'_>,
    figure: &SweepFigure,
    tables: &Tables,
    sample_ms: f64,
    goes_on: &dyn Fn() -> bool,
) -> Result<Vec<SweepTiming>, MeasureError> {
    const ROUNDS: usize = 5;
    let traits = queue.context().device().traits();
    let mut ground = Ground::new(queue, matrix)?;
    let own = PlanOptions {
        algorithm: Some(figure.algorithm),
        tables: Some(tables.clone()),
        ..PlanOptions::default()
    };
    let mut reference = ground.contender(queue, &own)?;
    if let Some(message) = ground.verify(queue, &mut reference)? {
        let candidate = format!("{} on {name}", reference.candidate());
        return Err(MeasureError::Wrong { candidate, message });
    }
    let base = reference.candidate();
    let launches = |once_us: f64| launches(sample_ms * 1e3, once_us);
    let once_us = ground.sample_us(queue, &mut reference, 1)?;
    let reference_launches = launches(once_us);

    let asked = figure.asked();
    let mut points: Vec<_> = asked.iter().map(|_| None).collect();
    let mut references_us = Vec::new();
    for index in spread(asked.len()) {
        let (series, at) = asked[index];
        let mut candidate = base.with(figure.over.0, at);
        if let Some((by, _)) = figure.by {
            candidate = candidate.with(by, series);
        }
        let ratio = (|| {
            if !goes_on() {
                return Ok(Err("no time was left".to_owned()));
            }
            let mut one = ground.contender(queue, &candidate.plan_options(tables))?;
            if let Some(text) = other_than_asked(figure, &candidate, &one.candidate()) {
                return Ok(Err(text));
            }
            if let Some(message) = ground.verify(queue, &mut one)? {
                return Ok(Err(message));
            }
            let once_us = ground.sample_us(queue, &mut one, 1)?;
            let mut ratios = Vec::with_capacity(ROUNDS);
            for _ in 0..ROUNDS {
                let reference_us = ground.sample_us(queue, &mut reference, reference_launches)?;
                let us = ground.sample_us(queue, &mut one, launches(once_us))?;
                references_us.push(reference_us);
                ratios.push(us / reference_us);
            }
            Ok::<_, MeasureError>(Ok(median(&ratios)))
        })();
        let ratio = ratio.unwrap_or_else(|error| Err(error.to_string()));
        points[index] = Some((candidate, at, series, ratio));
    }
    let reference_us = median(&references_us);
    let flops = 2.0 * matrix.pattern().nnz() as f64;
    let timing =
        |(candidate, at, series, ratio): (super::Candidate, u32, u32, Result<f64, String>)| {
            SweepTiming {
                schema: SWEEP_SCHEMA.to_owned(),
                version: env!("CARGO_PKG_VERSION").to_owned(),
                device: traits.name.clone(),
                platform: traits.platform.clone(),
                driver: traits.driver.clone(),
                figure: figure.name.to_owned(),
                matrix: name.to_owned(),
                nnz: matrix.pattern().nnz() as u64,
                value_type: matrix.value_type().to_string(),
                candidate: candidate.to_string(),
                over: figure.over.0.to_owned(),
                at,
                series,
                gflops: ratio
                    .as_ref()
                    .ok()
                    .map(|ratio| rounded(flops / (ratio * reference_us) / 1e3)),
                refused: ratio.err(),
            }
        };
    Ok(points.into_iter().flatten().map(timing).collect())
}

/// Why a point is none: the matrix has no use for as much of what lies along an axis, and the library took less.
fn other_than_asked(
    figure: &SweepFigure,
    asked: &super::Candidate,
    ran: &super::Candidate,
) -> Option<String> {
    let axes = std::iter::once(figure.over.0).chain(figure.by.map(|(name, _)| name));
    let differs = |name: &str| {
        let (asked, ran) = (asked.parameters.get(name)?, ran.parameters.get(name)?);
        (asked != ran)
            .then(|| format!("{name} is {ran} on this matrix: it is too small for {asked}"))
    };
    axes.into_iter().find_map(differs)
}

/// The harmonic mean over matrices of each point of a figure, by series and index; points that a matrix lacks have none.
pub fn harmonic_means(
    timings: &[SweepTiming],
    figure: &str,
    value_type: &str,
) -> BTreeMap<(u32, u32), f64> {
    let of = timings.iter().filter(|t| t.figure == figure && t.value_type == value_type);
    let mut points: BTreeMap<(u32, u32), Vec<Option<f64>>> = BTreeMap::new();
    for timing in of {
        points.entry((timing.series, timing.at)).or_default().push(timing.gflops);
    }
    let mean = |gflops: &[Option<f64>]| {
        let inverses = gflops.iter().map(|gflops| gflops.map(|gflops| 1.0 / gflops));
        let sum: Option<f64> = inverses.sum();
        sum.map(|sum| gflops.len() as f64 / sum)
    };
    points.iter().filter_map(|(index, gflops)| Some((*index, mean(gflops)?))).collect()
}

/// A figure as lines over the values of its hyper-parameter, relative to the best point; `None` where no point has a mean.
pub fn sweep_picture(
    timings: &[SweepTiming],
    figure: &SweepFigure,
    value_type: &str,
) -> Option<Picture> {
    let means = harmonic_means(timings, figure.name, value_type);
    let best = means.values().copied().fold(0.0, f64::max);
    if best <= 0.0 {
        return None;
    }
    let (over, values) = figure.over;
    let series = figure.by.map_or(&[0][..], |(_, values)| values).iter().map(|&series| {
        let name = figure.by.map_or(over.to_owned(), |(by, _)| format!("{by} {series}"));
        let value = |at: &u32| means.get(&(series, *at)).map(|mean| mean / best);
        let points = values.iter().enumerate().map(|(k, at)| (k as f64, value(at)));
        Series::line(&name, points.collect())
    });
    let of = timings.iter().filter(|t| t.figure == figure.name && t.value_type == value_type);
    let matrices: BTreeSet<_> = of.map(|t| &t.matrix).collect();
    let best = significant(best);
    Some(Picture {
        title: format!("{}, {value_type}, {}", figure.name, counted(matrices.len(), "matrix")),
        how: format!("harmonic mean, of the best ({best} GFLOP/s), over {over}; higher is better"),
        unit: "of the best".to_owned(),
        across: Across::Steps {
            over: over.to_owned(),
            labels: values.iter().map(ToString::to_string).collect(),
        },
        is_logarithmic: false,
        series: series.collect(),
        levels: Vec::new(),
        notes: absences(timings, figure, value_type),
    })
}

/// Why points of a figure have no mean, a line each reason: the first matrix that lacks them, and how many others do.
fn absences(timings: &[SweepTiming], figure: &SweepFigure, value_type: &str) -> Vec<String> {
    let of = |t: &&SweepTiming| t.figure == figure.name && t.value_type == value_type;
    let mut points: BTreeMap<(u32, u32), (&SweepTiming, usize)> = BTreeMap::new();
    for timing in timings.iter().filter(of).filter(|t| t.gflops.is_none()) {
        points.entry((timing.series, timing.at)).or_insert((timing, 0)).1 += 1;
    }
    let mut reasons: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for ((series, at), (first, count)) in points {
        let by = figure.by.map_or(String::new(), |(by, _)| format!("{by} {series}, "));
        let others = match count {
            1 => String::new(),
            more => format!(", and {} too", counted(more - 1, "matrix")),
        };
        let why = first.refused.as_deref().unwrap_or("it was not measured");
        let reason = format!("{}: {why}{others}", first.matrix);
        reasons.entry(reason).or_default().push(format!("{by}{} {at}", figure.over.0));
    }
    let line = |(reason, points): (String, Vec<String>)| {
        format!("no mean of {}; {reason}", points.join("; "))
    };
    reasons.into_iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_shows_harmonic_means_of_points_that_every_matrix_has() {
        let timing = |matrix: &str, at, gflops| SweepTiming {
            schema: SWEEP_SCHEMA.to_owned(),
            version: String::new(),
            device: String::new(),
            platform: String::new(),
            driver: String::new(),
            figure: "F".to_owned(),
            matrix: matrix.to_owned(),
            nnz: 1,
            value_type: "f32".to_owned(),
            candidate: String::new(),
            over: "w".to_owned(),
            at,
            series: 0,
            gflops,
            refused: None,
        };
        let mut timings = [
            timing("a", 4, Some(2.0)),
            timing("b", 4, Some(6.0)),
            timing("a", 8, Some(2.0)),
            timing("b", 8, None),
        ];
        timings[3].refused = Some("w is 6 on this matrix: it is too small for 8".to_owned());
        assert_eq!(harmonic_means(&timings, "F", "f32"), [((0, 4), 3.0)].into());
        assert!(harmonic_means(&timings, "F", "f64").is_empty());
        let figure = SweepFigure { name: "F", over: ("w", &[4, 8]), by: None, ..SWEEP_FIGURES[2] };
        let picture = sweep_picture(&timings, &figure, "f32").unwrap();
        assert_eq!(picture.title, "F, f32, 2 matrices");
        assert_eq!(picture.series[0].points, [(0.0, Some(1.0)), (1.0, None)]);
        let why = "no mean of w 8; b: w is 6 on this matrix: it is too small for 8";
        assert_eq!(picture.notes, [why]);
        assert!(picture.text(crate::samples::WIDE).ends_with(&format!("{why}\n")));
        assert_eq!(sweep_picture(&timings, &figure, "f64"), None);
    }

    #[test]
    fn the_figures_suites_have_the_papers_numbers_of_matrices() {
        let sizes = SWEEP_FIGURES.map(|figure| figure.suite.classes().len());
        assert_eq!(sizes, [32, 32, 20, 20]);
    }
}
