//! The plot: how many times as fast Sparrow is as each other program, a line a matrix and value type.

use super::results::{Case, OURS, programs};
use anyhow::{Result, anyhow};
use plotters::prelude::*;

const WIDTH: u32 = 900;
const MARGIN: u32 = 10;
/// For the names of matrices.
const LEFT: u32 = 230;
/// For the names of programs.
const RIGHT: u32 = 110;
const LINE_HEIGHT: u32 = 26;
/// Title, axis and their margins.
const FRAME_HEIGHT: u32 = 110;
/// Colours that people with any kind of sight tell apart (Okabe and Ito).
const COLOURS: [RGBColor; 4] =
    [RGBColor(0, 114, 178), RGBColor(213, 94, 0), RGBColor(0, 158, 115), RGBColor(204, 121, 167)];

/// The plot as SVG; none if there is nothing to compare.
pub(super) fn svg(cases: &[Case]) -> Result<Option<String>> {
    let peers: Vec<String> =
        programs(cases).into_iter().map(|(name, _)| name).filter(|name| name != OURS).collect();
    let ratios = cases.iter().flat_map(|case| peers.iter().map(|peer| case.times_as_fast(peer)));
    let Some((least, most)) = range(ratios.flatten()) else { return Ok(None) };
    let height = FRAME_HEIGHT + LINE_HEIGHT * u32::try_from(cases.len())?;
    let mut text = String::new();
    {
        let area = SVGBackend::with_string(&mut text, (WIDTH, height)).into_drawing_area();
        draw(&area, cases, &peers, (least, most)).map_err(|error| anyhow!("drawing: {error}"))?;
    }
    Ok(Some(text))
}

/// The axis in powers of two: everything, and 1 always on it.
fn range(ratios: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    let all: Vec<f64> = ratios.map(f64::log2).collect();
    let least = all.iter().copied().reduce(f64::min)?;
    let most = all.iter().copied().reduce(f64::max)?;
    Some(((least - 0.1).floor().min(-1.0), (most + 0.1).ceil().max(1.0)))
}

type Drawn<'a> =
    std::result::Result<(), DrawingAreaErrorKind<<SVGBackend<'a> as DrawingBackend>::ErrorType>>;

fn draw<'a>(
    area: &DrawingArea<SVGBackend<'a>, plotters::coord::Shift>,
    cases: &[Case],
    peers: &[String],
    (least, most): (f64, f64),
) -> Drawn<'a> {
    area.fill(&WHITE)?;
    // Cases from top to bottom: the first has the largest place.
    let place = |index: usize| cases.len() - 1 - index;
    let mut chart = ChartBuilder::on(area)
        .caption("How many times as fast Sparrow is (right of 1: faster)", ("sans-serif", 18))
        .margin(MARGIN)
        .margin_right(MARGIN + RIGHT)
        .x_label_area_size(40)
        .y_label_area_size(LEFT)
        .build_cartesian_2d(least..most, (0..cases.len() - 1).into_segmented())?;
    let label = |segment: &SegmentValue<usize>| match segment {
        SegmentValue::CenterOf(at) => cases
            .get(place((*at).min(cases.len() - 1)))
            .map_or_else(String::new, |case| format!("{} {}", case.matrix, case.value_type)),
        _ => String::new(),
    };
    chart
        .configure_mesh()
        .disable_y_mesh()
        .light_line_style(TRANSPARENT)
        .label_style(("sans-serif", 14))
        .x_labels((most - least) as usize + 1)
        .y_labels(cases.len())
        .y_label_formatter(&label)
        .x_label_formatter(&|power| format!("{}", power.exp2()))
        .x_desc("their time / Sparrow's time")
        .draw()?;
    let all = [SegmentValue::Exact(0), SegmentValue::Last];
    chart.draw_series(LineSeries::new(all.map(|end| (0.0, end)), BLACK.stroke_width(2)))?;
    for (peer, colour) in peers.iter().zip(COLOURS.iter().cycle()) {
        let points = cases.iter().enumerate().filter_map(|(index, case)| {
            let ratio = case.times_as_fast(peer)?;
            let at = (ratio.log2(), SegmentValue::CenterOf(place(index)));
            Some(Circle::new(at, 5, colour.filled()))
        });
        chart.draw_series(points)?;
    }
    // Beside the points, not over them.
    let left = i32::try_from(WIDTH - RIGHT).unwrap_or_default();
    for (at, (peer, colour)) in (0..).zip(peers.iter().zip(COLOURS.iter().cycle())) {
        let middle = 50 + 20 * at;
        area.draw(&Circle::new((left, middle), 5, colour.filled()))?;
        area.draw(&Text::new(peer.as_str(), (left + 12, middle - 7), ("sans-serif", 14)))?;
    }
    area.present()
}

#[cfg(test)]
mod tests {
    use super::super::results::tests::{case, timing};
    use super::*;

    #[test]
    fn each_ratio_is_a_point_and_each_case_and_program_is_named() {
        let times = |ours, theirs| vec![timing(OURS, "sell", ours), timing("MKL", "plain", theirs)];
        let cases = [case("first", times(1.0, 2.0)), case("second", times(4.0, 1.0))];
        let text = svg(&cases).unwrap().unwrap();
        for expected in ["first f32", "second f32", "MKL", "</svg>"] {
            assert!(text.contains(expected), "{expected}: {text}");
        }
        // Two points, and one in the legend.
        assert_eq!(text.matches("<circle").count(), 3);
    }

    #[test]
    fn nothing_to_compare_is_no_plot() {
        assert_eq!(svg(&[case("alone", vec![timing(OURS, "sell", 1.0)])]).unwrap(), None);
        assert_eq!(range([].into_iter()), None);
        assert_eq!(range([2.0, 3.9].into_iter()), Some((-1.0, 3.0)));
        assert_eq!(range([0.2].into_iter()), Some((-3.0, 1.0)));
    }
}
