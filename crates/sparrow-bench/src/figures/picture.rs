//! A paper's figure as numbers: what is drawn in the report, shown in the terminal, and written as lines of JSON.

use std::fmt::Write as _;

use comfy_table::Cell;
use serde::{Deserialize, Serialize};

use crate::group::plain;
use crate::table_layout::{Look, arranged, new_table};
use crate::units::{ABSENT, significant};

/// The form's name.
pub const FIGURE_SCHEMA: &str = "sparrow-figure/1";

/// What lies along a picture's axis.
#[derive(Clone, Debug, PartialEq)]
pub enum Across {
    /// Blocks of bars with these names: matrices and means.
    Blocks(Vec<String>),
    /// Lines over values that stand at equal distances.
    Steps {
        /// What the values are of.
        over: String,
        /// The values.
        labels: Vec<String>,
    },
    /// Lines over numbers.
    Numbers {
        /// What the numbers are of.
        over: String,
        /// Whether equal distances are equal factors.
        is_logarithmic: bool,
    },
}

/// Bars of one colour, or the points of one line.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// What it is of.
    pub name: String,
    /// Places along the axis, which are indices of [`Across::Blocks`] and [`Across::Steps`], with values that are finite;
    /// `None` where nothing was measured, or it was wrong.
    pub points: Vec<(f64, Option<f64>)>,
}

/// One chart.
#[derive(Clone, Debug, PartialEq)]
pub struct Picture {
    /// What it shows.
    pub title: String,
    /// How to read it.
    pub how: String,
    /// What values count.
    pub unit: String,
    /// Along the axis.
    pub across: Across,
    /// Whether equal distances between values are equal factors; of lines alone.
    pub is_logarithmic: bool,
    /// What is drawn.
    pub series: Vec<Series>,
    /// Values to compare with, drawn across.
    pub levels: Vec<f64>,
}

/// One value of a picture as a line of JSON.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FigurePoint {
    /// [`FIGURE_SCHEMA`].
    pub schema: String,
    /// Version of Sparrow.
    pub version: String,
    /// The figure's name, as the command takes it.
    pub figure: String,
    /// The picture's title.
    pub picture: String,
    /// The device's name.
    pub device: String,
    /// The platform's name.
    pub platform: String,
    /// The driver's version.
    pub driver: String,
    /// What the bar or line is of.
    pub series: String,
    /// The matrix, the mean or the value along the axis.
    pub at: String,
    /// The same as a number, where it is one.
    pub place: Option<f64>,
    /// The value; `None` where nothing was measured, or it was wrong.
    pub value: Option<f64>,
    /// What it counts.
    pub unit: String,
}

impl Picture {
    /// Bars in blocks; rows are names with a value for each of `series`.
    pub fn blocks(title: String, unit: &str, series: &[&str], rows: Vec<Row>) -> Self {
        let series = series.iter().enumerate().map(|(index, name)| Series {
            name: (*name).to_owned(),
            points: rows
                .iter()
                .enumerate()
                .map(|(row, (_, values))| (row as f64, values.get(index).copied().flatten()))
                .collect(),
        });
        Picture {
            title,
            how: format!("{unit}; longer is better"),
            unit: unit.to_owned(),
            series: series.collect(),
            across: Across::Blocks(rows.into_iter().map(|(name, _)| name).collect()),
            is_logarithmic: false,
            levels: Vec::new(),
        }
    }

    /// Lines over numbers, each of which has points in ascending order.
    pub fn lines(title: String, unit: &str, over: &str, series: Vec<Series>) -> Self {
        Picture {
            title,
            how: format!("{unit} over {over}; higher is better"),
            unit: unit.to_owned(),
            across: Across::Numbers { over: over.to_owned(), is_logarithmic: true },
            is_logarithmic: false,
            series,
            levels: Vec::new(),
        }
    }

    /// With dashed lines at these values, and what they are.
    #[must_use]
    pub fn with_levels(mut self, levels: Vec<f64>, what: &str) -> Self {
        if !levels.is_empty() {
            let values: Vec<_> = levels.iter().map(|level| significant(*level)).collect();
            let _ = write!(self.how, "; dashed, {what}: {}", values.join(", "));
        }
        self.levels = levels;
        self
    }

    /// How to read it, if not as usual.
    #[must_use]
    pub fn read_as(mut self, how: &str) -> Self {
        how.clone_into(&mut self.how);
        self
    }

    /// The name of a place along the axis.
    pub(crate) fn place_name(&self, place: f64) -> String {
        match &self.across {
            Across::Blocks(names) | Across::Steps { labels: names, .. } => {
                names.get(place as usize).cloned().unwrap_or_default()
            }
            Across::Numbers { .. } if place > 0.0 && place < 0.01 => format!("{place:.2e}"),
            Across::Numbers { .. } => significant(place),
        }
    }

    /// The places along the axis that have points, ascending.
    pub(crate) fn places(&self) -> Vec<f64> {
        let mut places: Vec<f64> =
            self.series.iter().flat_map(|series| &series.points).map(|(place, _)| *place).collect();
        places.sort_by(f64::total_cmp);
        places.dedup();
        places
    }

    /// The same numbers as a table of at most `look`'s width: a line a place, a column a series.
    pub fn text(&self, look: Look) -> String {
        let mut table = new_table(look);
        let over = match &self.across {
            Across::Blocks(_) => "matrix",
            Across::Steps { over, .. } | Across::Numbers { over, .. } => over,
        };
        let names = self.series.iter().map(|series| plain(&series.name));
        table.set_header(std::iter::once(plain(over)).chain(names));
        for place in self.places() {
            // Matrices of the same mean row, for one, share a place.
            let points = |series: &Series| -> Vec<Option<f64>> {
                let own = series.points.iter().filter(|(other, _)| *other == place);
                own.map(|(_, value)| *value).collect()
            };
            let of_series: Vec<_> = self.series.iter().map(points).collect();
            for line in 0..of_series.iter().map(Vec::len).max().unwrap_or(0) {
                let cells = of_series.iter().map(|points| {
                    let value = points.get(line).copied().flatten();
                    Cell::new(value.map_or(ABSENT.to_owned(), significant))
                });
                let name = Cell::new(plain(&self.place_name(place)));
                table.add_row(std::iter::once(name).chain(cells));
            }
        }
        let figures = 1..self.series.len() + 1;
        format!(
            "{} ({})\n{}\n",
            plain(&self.title),
            self.how,
            arranged(&mut table, look, figures, &[])
        )
    }
}

/// A name, and a value for each series.
pub type Row = (String, Vec<Option<f64>>);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::WIDE;

    #[test]
    fn points_at_one_place_have_a_line_each() {
        let series = [("coo", 1.25), ("csri", 2.5)].map(|(name, value)| Series {
            name: name.to_owned(),
            points: vec![(66.0, Some(value)), (66.0, Some(2.0 * value)), (70.0, None)],
        });
        let rows = vec![("cant-like".to_owned(), vec![])];
        let picture = Picture {
            series: series.into(),
            across: Across::Numbers { over: "nonzeros a row".to_owned(), is_logarithmic: false },
            ..Picture::blocks("f64".to_owned(), "GFLOP/s", &[], rows)
        };
        let text = picture.text(WIDE);
        let lines: Vec<Vec<&str>> = text.lines().map(|l| l.split_whitespace().collect()).collect();
        let expected = [["66.0", "1.25", "2.50"], ["66.0", "2.50", "5.00"], ["70.0", "–", "–"]];
        assert_eq!(lines[3..], expected, "{text}");
    }

    #[test]
    fn a_picture_as_text_has_a_line_a_place_and_says_what_is_absent() {
        let rows = vec![
            ("cant-like".to_owned(), vec![Some(1.25), None]),
            ("mean".to_owned(), vec![Some(1.5), Some(2.0)]),
        ];
        let picture = Picture::blocks("f32".to_owned(), "times", &["nrs", "full"], rows)
            .with_levels(vec![1.0], "no gain");
        let text = picture.text(WIDE);
        assert!(
            text.starts_with("f32 (times; longer is better; dashed, no gain: 1.00)\n"),
            "{text}"
        );
        let lines: Vec<Vec<&str>> = text.lines().map(|l| l.split_whitespace().collect()).collect();
        assert_eq!(lines[1], ["matrix", "nrs", "full"]);
        assert_eq!(lines[3..], [["cant-like", "1.25", "–"], ["mean", "1.50", "2.00"]]);
    }
}
