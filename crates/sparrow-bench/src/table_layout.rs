//! How every table for a terminal looks: the lines that name a device, columns that keep to a width, legends.

use std::fmt::Write as _;
use std::ops::Range;

use comfy_table::{
    CellAlignment, ColumnConstraint, ContentArrangement, LineStyle, Row, Table, presets,
};

use crate::group::{DeviceGroup, plain};

/// How a table is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Look {
    /// Columns of the terminal, which tables keep to: columns of less weight are left out, and named. `None`: no limit.
    pub width: Option<u16>,
    /// Whether what the columns mean follows; else a line says how to have it.
    pub legend: bool,
}

/// What is left to names before a column is left out.
const LEAST_NAME: u16 = 22;

/// Two lines: the device's name, its rates and how many results verified.
pub(crate) fn heading(text: &mut String, group: &DeviceGroup<'_>) {
    let rates = group.rates().unwrap_or_else(|| "no stream rate".to_owned());
    // Writing to a String cannot fail.
    let _ = writeln!(
        text,
        "{}{}\n{rates}; {}",
        plain(group.device),
        plain(&group.origin()),
        group.verdict(),
    );
}

/// Adds a legend where it is wanted: as it is, or where a terminal is narrower, a line an entry, for others to wrap.
pub(crate) fn push_legend(text: &mut String, legend: &str, look: Look) {
    match look.width {
        _ if !look.legend => {}
        Some(width) if width < 100 => text.push_str(&legend.replace("\n  ", " ")),
        _ => text.push_str(legend),
    }
}

/// An empty table of this house's look.
pub(crate) fn new_table(look: Look) -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING.header_separator(LineStyle::none().fill('─').junction('─')));
    match look.width {
        Some(width) => {
            table.set_content_arrangement(ContentArrangement::Dynamic).set_width(width);
        }
        None => {
            table.set_content_arrangement(ContentArrangement::Disabled);
        }
    }
    table
}

/// The table as text. Sets padding, and the columns in `figures` to the right; all but the first keep their width. Of
/// the columns in `optional`, those that a terminal is too narrow for are left out, the first of them first, and named
/// in a line below.
pub(crate) fn arranged(
    table: &mut Table,
    look: Look,
    figures: Range<usize>,
    optional: &[usize],
) -> String {
    let hidden = too_many(table, look, optional);
    for (index, column) in table.column_iter_mut().enumerate() {
        // Columns stand one space apart by themselves; one more parts them well enough.
        column.set_padding((u16::from(index > 0), 0));
        if hidden.contains(&index) {
            column.set_constraint(ColumnConstraint::Hidden);
        } else if index > 0 {
            column.set_constraint(ColumnConstraint::ContentWidth);
        }
        if figures.contains(&index) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    let text = table.trim_fmt();
    match hidden {
        [] => text,
        hidden => format!("{text}\nLeft out for want of width: {}", names(table, hidden)),
    }
}

/// Those of the columns in `optional` for which there is no width.
fn too_many<'a>(table: &Table, look: Look, optional: &'a [usize]) -> &'a [usize] {
    let Some(width) = look.width else { return &[] };
    let widths = table.column_max_content_widths();
    let Some((&first, others)) = widths.split_first() else { return &[] };
    // Two spaces before each but the first.
    let mut needed: u16 = first.min(LEAST_NAME) + others.iter().map(|width| width + 2).sum::<u16>();
    let mut count = 0;
    while needed > width && count < optional.len() {
        needed -= widths.get(optional[count]).map_or(0, |width| width + 2);
        count += 1;
    }
    &optional[..count]
}

/// Heads of columns, in the order of the table.
fn names(table: &Table, columns: &[usize]) -> String {
    let heads: Vec<_> = table.header().into_iter().flat_map(Row::cell_iter).collect();
    let mut columns = columns.to_vec();
    columns.sort_unstable();
    let names = columns.iter().filter_map(|&column| heads.get(column));
    names.map(|head| head.content().replace('\n', " ")).collect::<Vec<_>>().join(", ")
}
