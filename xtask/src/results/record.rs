//! One record: a table's columns, and the runs whose figures are its rows.

use anyhow::{Result, bail};
use serde::Deserialize;

/// A file of `docs/results/`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Record {
    /// Heads of the columns.
    columns: Vec<String>,
    /// Decimals of the figures of each column; two where it is left out.
    decimals: Option<Vec<usize>>,
    /// In the order of the table.
    run: Vec<Run>,
}

/// Rows that were measured together.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Run {
    /// `2026-11-25`.
    date: String,
    /// The commit that was measured, where it was noted.
    commit: Option<String>,
    /// What it ran on, and the versions of what it is compared with.
    device: String,
    /// The page of the notebook that tells the rest.
    notebook: String,
    /// What to type to measure it again; where it was not noted, a sentence that says so.
    command: String,
    /// A cell for each column.
    rows: Vec<Vec<Cell>>,
}

/// A figure, or words.
#[derive(Deserialize)]
#[serde(untagged)]
enum Cell {
    Count(u64),
    Figure(f64),
    Words(String),
}

impl Record {
    /// # Errors
    /// No TOML of this form, a row of another length than the columns, a run that does not say how it was measured,
    /// or a date that is none.
    pub(super) fn parse(text: &str) -> Result<Self> {
        let record: Record = toml::from_str(text)?;
        if record.decimals.as_ref().is_some_and(|all| all.len() != record.columns.len()) {
            bail!("`decimals` has a number for each of {} columns", record.columns.len());
        }
        for run in &record.run {
            if month_and_day(&run.date).is_none() {
                bail!("`{}` is no date like 2026-11-25", run.date);
            }
            if run.command.trim().is_empty() || run.device.is_empty() {
                bail!("the run of {} does not say by which command and device", run.date);
            }
            if let Some(row) = run.rows.iter().find(|row| row.len() != record.columns.len()) {
                let (cells, columns) = (row.len(), record.columns.len());
                bail!("a row of {}: {cells} cells for {columns} columns", run.date);
            }
        }
        Ok(record)
    }

    /// The table, its columns padded so that it reads in a terminal but for cells with links, and below it a line that
    /// says when, where and of what; `name` is the file's.
    pub(super) fn table(&self, name: &str) -> String {
        let decimals = |at: usize| self.decimals.as_ref().map_or(2, |all| all[at]);
        let text = |row: &Vec<Cell>| -> Vec<String> {
            row.iter().enumerate().map(|(at, cell)| cell.text(decimals(at))).collect()
        };
        let rows: Vec<_> = self.run.iter().flat_map(|run| &run.rows).map(text).collect();
        let right: Vec<bool> = (0..self.columns.len()).map(|at| self.is_numeric(at)).collect();
        let widths: Vec<usize> = (0..self.columns.len())
            .map(|at| {
                let plain = rows.iter().filter(|row| !is_linked(&row[at]));
                let cells = plain.map(|row| row[at].chars().count());
                cells.chain([self.columns[at].chars().count(), 3]).max().unwrap_or(3)
            })
            .collect();
        let mut text = line(&self.columns, &widths, &right);
        for (width, right) in widths.iter().zip(&right) {
            let dashes = "-".repeat(width + 1);
            text += &if *right { format!("|{dashes}:") } else { format!("|{dashes}-") };
        }
        text += "|\n";
        for row in &rows {
            text += &line(row, &widths, &right);
        }
        text + &format!("\n{}\n", self.origin(name))
    }

    /// Whether a column holds figures alone, and so is set to the right.
    fn is_numeric(&self, at: usize) -> bool {
        let mut cells = self.run.iter().flat_map(|run| &run.rows).map(|row| &row[at]);
        cells.all(|cell| !matches!(cell, Cell::Words(words) if !words.is_empty()))
    }

    /// Where the runs were made and, linked to the page of the notebook the first time, when; and where their commands
    /// are. A device stands once, with its days.
    fn origin(&self, name: &str) -> String {
        let mut devices: Vec<(&str, Vec<String>)> = Vec::new();
        let mut runs = Vec::new();
        for Run { date, commit, device, notebook, .. } in &self.run {
            let run = (date, commit, device, notebook);
            if runs.contains(&run) {
                continue;
            }
            let mut day = month_and_day(date).unwrap_or_else(|| date.clone());
            if runs.iter().all(|(.., page)| *page != notebook) {
                day = format!("[{day}](notebook/{notebook})");
            }
            if let Some(commit) = commit {
                day += &format!(" (commit {commit})");
            }
            match devices.iter_mut().find(|(name, _)| name == device) {
                Some((_, days)) => days.push(day),
                None => devices.push((device, vec![day])),
            }
            runs.push(run);
        }
        let devices = devices.iter().map(|(device, days)| format!("{device}: {}", days.join(", ")));
        let devices = devices.collect::<Vec<_>>().join("; ");
        format!("{devices}. Commands: [record](results/{name}.toml).")
    }
}

impl Cell {
    /// As it stands in the table: counts and figures with commas.
    fn text(&self, decimals: usize) -> String {
        match self {
            Cell::Count(count) => grouped(&count.to_string()),
            Cell::Figure(figure) => {
                let text = format!("{figure:.decimals$}");
                match text.split_once('.') {
                    Some((whole, part)) => format!("{}.{part}", grouped(whole)),
                    None => grouped(&text),
                }
            }
            Cell::Words(words) => words.clone(),
        }
    }
}

/// `digits` with a comma before each three from the right.
fn grouped(digits: &str) -> String {
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Whether a cell holds a link: longer in the text than on the page, it is not padded.
fn is_linked(cell: &str) -> bool {
    cell.contains("](")
}

fn line(cells: &[String], widths: &[usize], right: &[bool]) -> String {
    let mut text = String::new();
    for ((cell, width), right) in cells.iter().zip(widths).zip(right) {
        let padding = " ".repeat(width.saturating_sub(cell.chars().count()));
        text += &if *right { format!("| {padding}{cell} ") } else { format!("| {cell}{padding} ") };
    }
    text + "|\n"
}

/// `2026-11-05` as `5 Nov 2026`.
fn month_and_day(date: &str) -> Option<String> {
    const MONTHS: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let [year, month, day] = date.split('-').collect::<Vec<_>>().try_into().ok()?;
    let month = MONTHS.get(month.parse::<usize>().ok()?.checked_sub(1)?)?;
    let (year, day) = (year.parse::<u16>().ok()?, day.parse::<u8>().ok()?);
    (1..=31).contains(&day).then(|| format!("{day} {month} {year}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(date: &str, rows: &str) -> String {
        format!(
            "[[run]]\ndate = \"{date}\"\ndevice = \"NVIDIA H200\"\nnotebook = \"a.md\"\n\
             command = \"sparrow bench\"\nrows = [{rows}]\n"
        )
    }

    fn parse(runs: &[String]) -> Result<Record> {
        Record::parse(&format!("columns = [\"matrix\", \"µs\"]\n{}", runs.concat()))
    }

    fn refusal(run: String) -> String {
        format!("{:#}", parse(&[run]).err().expect("it is refused"))
    }

    #[test]
    fn a_table_is_padded_and_says_when_where_and_by_what() {
        let first = run("2026-11-05", "[\"a\", 24.62], [\"webbase-1M\", 1200]");
        let second = run("2026-11-25", "[\"b\", \"\"]").replace("rows", "commit = \"abc\"\nrows");
        let expected = "\
            | matrix     |    µs |\n\
            |------------|------:|\n\
            | a          | 24.62 |\n\
            | webbase-1M | 1,200 |\n\
            | b          |       |\n\
            \n\
            NVIDIA H200: [5 Nov 2026](notebook/a.md), 25 Nov 2026 (commit abc). \
            Commands: [record](results/spmv.toml).\n";
        assert_eq!(parse(&[first, second]).unwrap().table("spmv"), expected);
    }

    #[test]
    fn a_page_is_linked_once_and_a_cell_with_a_link_is_not_padded() {
        let first = run("2026-11-05", "[\"a\", 1.5], [\"[link](b.md)\", 2.5]");
        let other = first.replace("NVIDIA H200", "PoCL");
        let table = parse(&[first.clone(), first, other]).unwrap().table("x");
        assert!(table.contains("| a      | 1.50 |\n| [link](b.md) | 2.50 |\n"), "{table}");
        let line = "NVIDIA H200: [5 Nov 2026](notebook/a.md); PoCL: 5 Nov 2026. Commands";
        assert!(table.contains(line), "{table}");
    }

    #[test]
    fn a_column_with_words_is_set_to_the_left() {
        let table = parse(&[run("2026-11-05", "[\"a\", 24.6], [\"b\", \"24 to 30\"]")]).unwrap();
        assert!(table.table("x").contains("| a      | 24.60    |\n"), "{}", table.table("x"));
    }

    #[test]
    fn figures_have_the_decimals_of_their_column_and_commas() {
        let texts = [1.3, 24.62, 1234.5].map(|figure| Cell::Figure(figure).text(1));
        assert_eq!(texts, ["1.3", "24.6", "1,234.5"]);
        assert_eq!(Cell::Figure(1234.0).text(0), "1,234");
        assert_eq!(Cell::Count(1_234_567).text(2), "1,234,567");
        assert_eq!(Cell::Count(100).text(2), "100");
    }

    #[test]
    fn a_record_that_does_not_say_what_it_is_is_refused() {
        let good = run("2026-11-25", "[\"a\", 1.0]");
        assert!(parse(std::slice::from_ref(&good)).is_ok());
        assert!(refusal(run("25 Nov", "")).contains("is no date"));
        assert!(refusal(run("2026-13-01", "")).contains("is no date"));
        assert!(refusal(run("2026-11-25", "[\"a\"]")).contains("1 cells for 2 columns"));
        assert!(refusal(good.replace("sparrow bench", "")).contains("by which command"));
        assert!(refusal(good.replace("device", "card")).contains("unknown field"));
        let short = Record::parse(&format!("columns = [\"a\", \"b\"]\ndecimals = [1]\n{good}"));
        assert!(short.is_err_and(|error| error.to_string().contains("each of 2 columns")));
    }
}
