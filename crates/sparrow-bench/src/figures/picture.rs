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
    /// Blocks of bars.
    Blocks {
        /// What blocks are of: "matrix" where [`Picture::of`] says nothing else.
        of: String,
        /// Their names, of matrices and means.
        names: Vec<String>,
    },
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
    /// For each point the matrix that it is of, where the position does not tell: such points are not joined by lines.
    /// Else empty.
    pub matrices: Vec<String>,
}

/// A matrix, and its position and value.
pub(super) type OfMatrix = (String, (f64, Option<f64>));

impl Series {
    /// A line through these positions and values, sorted by position.
    pub fn line(name: &str, mut points: Vec<(f64, Option<f64>)>) -> Self {
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        Series { name: name.to_owned(), points, matrices: Vec::new() }
    }

    /// A point a matrix of these names, sorted by position.
    pub fn of_matrices(name: &str, mut points: Vec<OfMatrix>) -> Self {
        points.sort_by(|(_, a), (_, b)| a.0.total_cmp(&b.0));
        let (matrices, points) = points.into_iter().unzip();
        Series { name: name.to_owned(), points, matrices }
    }

    /// The points, each with the matrix that it is of or "".
    pub(crate) fn named(&self) -> impl Iterator<Item = (f64, &str, Option<f64>)> {
        let name = |index| self.matrices.get(index).map_or("", String::as_str);
        self.points.iter().enumerate().map(move |(index, (at, value))| (*at, name(index), *value))
    }
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
    /// Why values are absent, and the like: a line each.
    pub notes: Vec<String>,
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
    /// The matrix, where `at` does not tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub matrix: Option<String>,
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
            matrices: Vec::new(),
        });
        Picture {
            title,
            how: format!("{unit}; longer is better"),
            unit: unit.to_owned(),
            series: series.collect(),
            across: Across::Blocks {
                of: "matrix".to_owned(),
                names: rows.into_iter().map(|(name, _)| name).collect(),
            },
            is_logarithmic: false,
            levels: Vec::new(),
            notes: Vec::new(),
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
            notes: Vec::new(),
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

    /// With blocks of something else than matrices.
    #[must_use]
    pub fn of(mut self, what: &str) -> Self {
        if let Across::Blocks { of, .. } = &mut self.across {
            what.clone_into(of);
        }
        self
    }

    /// How to read it, if not by default.
    #[must_use]
    pub fn read_as(mut self, how: &str) -> Self {
        how.clone_into(&mut self.how);
        self
    }

    /// The name of a position along the axis.
    pub(crate) fn place_name(&self, place: f64) -> String {
        match &self.across {
            Across::Blocks { names, .. } | Across::Steps { labels: names, .. } => {
                names.get(place as usize).cloned().unwrap_or_default()
            }
            Across::Numbers { .. } if place > 0.0 && place < 0.01 => format!("{place:.2e}"),
            Across::Numbers { .. } => significant(place),
        }
    }

    /// The positions along the axis that have points, ascending.
    pub(crate) fn places(&self) -> Vec<f64> {
        let mut places: Vec<f64> =
            self.series.iter().flat_map(|series| &series.points).map(|(place, _)| *place).collect();
        places.sort_by(f64::total_cmp);
        places.dedup();
        places
    }

    /// What has a line of its own in a table: positions and, where they do not tell, matrices, ascending.
    fn rows(&self) -> Vec<(f64, &str)> {
        let points = self.series.iter().flat_map(Series::named);
        let mut rows: Vec<_> = points.map(|(at, matrix, _)| (at, matrix)).collect();
        rows.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(b.1)));
        rows.dedup();
        rows
    }

    /// The same numbers as a table of at most `look`'s width: a line a position and matrix, a column a series.
    pub fn text(&self, look: Look) -> String {
        let mut table = new_table(look);
        let over = match &self.across {
            Across::Blocks { of: over, .. }
            | Across::Steps { over, .. }
            | Across::Numbers { over, .. } => over,
        };
        let has_matrices = self.series.iter().any(|series| !series.matrices.is_empty());
        let matrix = |name: &str| has_matrices.then(|| plain(name));
        let names = self.series.iter().map(|series| plain(&series.name));
        table.set_header([plain(over)].into_iter().chain(matrix("matrix")).chain(names));
        for (at, name) in self.rows() {
            let cells = self.series.iter().map(|series| {
                let own = series.named().find(|(other, matrix, _)| (*other, *matrix) == (at, name));
                own.and_then(|(_, _, value)| value).map_or(ABSENT.to_owned(), significant)
            });
            let place = plain(&self.place_name(at));
            table.add_row([place].into_iter().chain(matrix(name)).chain(cells).map(Cell::new));
        }
        let first = 1 + usize::from(has_matrices);
        let figures = first..self.series.len() + first;
        let table = arranged(&mut table, look, figures, &[]);
        let notes: String = self.notes.iter().map(|note| plain(note) + "\n").collect();
        format!("{} ({})\n{table}\n{notes}", plain(&self.title), self.how)
    }
}

/// A name, and a value for each series.
pub type Row = (String, Vec<Option<f64>>);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::WIDE;

    #[test]
    fn matrices_at_one_place_have_a_line_each_by_name() {
        let of = |name, points: &[(&str, f64)]| {
            let points =
                points.iter().map(|(matrix, value)| ((*matrix).to_owned(), (66.0, Some(*value))));
            Series::of_matrices(name, points.collect())
        };
        let series = vec![
            of("coo", &[("mbeacxc", 1.25), ("bcsstk02", 2.5)]),
            of("csri", &[("bcsstk02", 5.0)]),
        ];
        let picture = Picture::lines("f64".to_owned(), "GFLOP/s", "nonzeros a row", series);
        let text = picture.text(WIDE);
        let lines: Vec<Vec<&str>> = text.lines().map(|l| l.split_whitespace().collect()).collect();
        let expected = [["66.0", "bcsstk02", "2.50", "5.00"], ["66.0", "mbeacxc", "1.25", "–"]];
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
