//! Shapes that break kernels: row lengths at every limit, nothing at all, and columns in disorder.

use cl_kernels::{DeviceTraits, Limits, segmented_sum};
use csr_core::{Csr, Offset, RealValue};

use super::{Extent, is_interpreted};

/// How the columns of a row lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Columns {
    Ascending,
    Unsorted,
    Repeated,
    /// Runs of neighbouring rows have the same: 1, 2, 3, ... rows.
    Alike,
}

/// A shape: row lengths, columns, and how they lie.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shape {
    /// A claim-like name, for messages.
    pub name: &'static str,
    lengths: Vec<usize>,
    cols: usize,
    columns: Columns,
}

impl Shape {
    fn new(name: &'static str, cols: usize, lengths: Vec<usize>) -> Self {
        Shape { name, lengths, cols, columns: Columns::Ascending }
    }

    /// Runs of rows with the same columns, of lengths that are those of no run of hyper-parameters, and rows as long
    /// as those before with others.
    pub fn alike_rows() -> Vec<Self> {
        let alike = |name, cols, lengths| Shape {
            columns: Columns::Alike,
            ..Self::new(name, cols, lengths)
        };
        vec![
            alike("rows_in_runs_are_alike", 90, vec![11; 60]),
            alike(
                "empty_rows_are_alike",
                50,
                [vec![0; 9], vec![4; 9], vec![0; 5], vec![50; 7]].concat(),
            ),
            Self::new("all_rows_are_alike", 70, vec![70; 41]),
        ]
    }

    /// Rows.
    pub fn rows(&self) -> usize {
        self.lengths.len()
    }

    /// Nonzeros.
    pub fn nnz(&self) -> usize {
        self.lengths.iter().sum()
    }

    /// The matrix: values between -1 and 1, deterministic.
    ///
    /// # Errors
    /// More nonzeros than the offset type counts.
    pub fn matrix<V: RealValue, O: Offset>(&self) -> csr_core::Result<Csr<V, O>> {
        let nnz = self.nnz();
        let mut offsets = Vec::with_capacity(self.rows() + 1);
        let mut columns = Vec::with_capacity(nnz);
        let mut sum = 0;
        offsets.push(O::zeroed());
        for (row, &length) in self.lengths.iter().enumerate() {
            sum += length;
            let limit = O::MAX_NNZ;
            let too_large = csr_core::Error::TooLarge { what: "nnz", value: sum as u64, limit };
            offsets.push(O::try_from_usize(sum).ok_or(too_large)?);
            columns.extend((0..length).map(|k| self.column(row, k, length)));
        }
        let values = csr_core::random_vector::<f64>(7, nnz).into_iter().map(V::from_f64).collect();
        Csr::new(self.cols, offsets, columns, values)
    }

    /// The k-th column of a row: a stride coprime to nothing in particular, wrapped into the matrix.
    fn column(&self, row: usize, k: usize, length: usize) -> u32 {
        let column = match self.columns {
            Columns::Ascending if length <= self.cols => {
                let stride = self.cols / length;
                k * stride + (row % stride.max(1))
            }
            Columns::Ascending | Columns::Repeated => (row + k / 2) % self.cols,
            Columns::Alike => {
                // Runs of 1, 2, 3, ... rows begin at triangular numbers.
                let run = (((8 * row + 1) as f64).sqrt() as usize).saturating_sub(1) / 2;
                (run * 5 + k * (self.cols / length)) % self.cols
            }
            Columns::Unsorted => (row + (length - k) * 7919) % self.cols,
        };
        column as u32
    }
}

/// How often shapes have what they are made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Amount {
    /// As often as tells most.
    Many,
    /// Once or twice each: for interpreters, to which every row and nonzero is a loop.
    Few,
}

impl Amount {
    /// What suits a device; many on each where everything is asked for.
    pub fn of(device: &DeviceTraits, extent: Extent) -> Self {
        match extent {
            Extent::Full => Amount::Many,
            _ if is_interpreted(device) => Amount::Few,
            _ => Amount::Many,
        }
    }
}

/// Every shape, for kernels that change their ways at `limits`.
pub fn shapes(limits: &Limits, amount: Amount) -> Vec<Shape> {
    let Limits { group_size, nnz_per_wg, share, tile } = *limits;
    let of = |many: usize, few: usize| if amount == Amount::Many { many } else { few };
    let around = |k: usize| [k.saturating_sub(1), k, k + 1];
    let turning: Vec<usize> =
        [32, 128, group_size, nnz_per_wg, share].into_iter().flat_map(around).collect();
    let wide = 4 * share + 5;
    let mut dense_among_empties = vec![0; 2 * group_size + 3];
    dense_among_empties[group_size] = wide;
    let mut runs = Vec::new();
    for empties in [1, group_size - 1, group_size, group_size + 1, 2 * group_size, 3 * group_size] {
        runs.extend(std::iter::repeat_n(0, empties));
        runs.extend([3, 1]);
    }
    let mut empties_around = vec![0; group_size];
    empties_around.extend([5; 7]);
    empties_around.extend(vec![0; group_size]);
    let mut heavier_than_all = vec![2; 100];
    heavier_than_all[50] = wide;
    // Blocks of one to five rows that are just full, and just over.
    let few_rows = (1..=5).flat_map(|rows| {
        let full = nnz_per_wg / rows;
        std::iter::repeat_n(full, rows).chain(std::iter::repeat_n(full + 1, rows))
    });
    // Tiles that are just full, with empty rows before, between and after them.
    let mut around_tiles = vec![0, 0];
    for turn in 0..6 {
        around_tiles.extend([tile - turn, turn]);
        around_tiles.extend(vec![0; turn]);
        around_tiles.extend([2 * tile, 0, 1, tile - 1, 0]);
    }
    // Longer runs of empty rows than are looked at at once, and more rows than a group iterates over.
    let long_run = vec![0; segmented_sum::CHUNK_ROWS + 5];
    let outer = if amount == Amount::Many { &long_run[..] } else { &[] };
    let long_runs = [outer, &[tile - 1, 2], &long_run, &[3, 1, tile], outer].concat();
    let mut nearly_all_empty = vec![0; of(40, 12) * group_size];
    nearly_all_empty.iter_mut().step_by(97).for_each(|length| *length = 2);
    let mut mixed_lengths = Vec::new();
    for turn in 0..of(12, 5) {
        mixed_lengths.extend([1 + turn % 3; 20]);
        mixed_lengths.extend([129 + turn; 2]);
        mixed_lengths.extend([33; 3]);
    }
    // All of them also where there are few of others: a missing barrier shows in no other shape.
    let every_length = 0..=2 * group_size;
    let shapes = vec![
        Shape::new("no_rows", 5, vec![]),
        Shape::new("no_columns", 0, vec![0; 5]),
        Shape::new("no_rows_and_no_columns", 0, vec![]),
        Shape::new("one_by_one", 1, vec![1]),
        Shape::new("no_nonzeros", 9, vec![0; group_size + 1]),
        Shape::new("empty_rows_first_and_last", 40, empties_around),
        Shape::new("empty_rows_in_runs", 40, runs),
        Shape::new("empty_rows_around_tiles", 90, around_tiles),
        Shape::new("empty_rows_in_very_long_runs", 90, long_runs),
        Shape::new("nearly_all_rows_empty", 40, nearly_all_empty),
        Shape::new("a_dense_row_among_empties", wide, dense_among_empties),
        Shape::new("every_row_length", 2 * group_size + 1, every_length.collect()),
        Shape::new("rows_around_every_limit", wide, turning),
        Shape::new("a_row_heavier_than_all_others", wide, heavier_than_all),
        Shape::new("two_cut_rows_side_by_side", wide, vec![2 * share + 1, 3 * share, share + 1]),
        Shape::new("blocks_of_few_rows", wide, few_rows.collect()),
        Shape::new("long_rows_meet_short_ones", 300, mixed_lengths),
        Shape::new("tall", 3, vec![2; 3 * group_size + 1]),
        Shape::new("flat", wide, vec![wide / 2; 3]),
        Shape::new("the_last_block_is_short", 64, vec![16; nnz_per_wg / 16 * 3 + 1]),
        Shape::new("many_even_rows", 500, vec![7; of(700, 200)]),
        Shape {
            columns: Columns::Unsorted,
            ..Shape::new("columns_in_disorder", 1000, vec![20; 50])
        },
        Shape { columns: Columns::Repeated, ..Shape::new("columns_repeat", 50, vec![30; 60]) },
    ];
    debug_assert!(shapes.iter().all(|shape| shape.cols > 0 || shape.nnz() == 0));
    shapes
}

/// A problem of rows of these lengths, with random values.
pub(super) fn csr_of_lengths<V: RealValue>(
    cols: usize,
    lengths: &[usize],
    seed: u64,
) -> csr_core::Result<Csr<V>> {
    let (mut offsets, mut columns) = (vec![0], Vec::new());
    for (row, &length) in lengths.iter().enumerate() {
        columns.extend((0..length).map(|k| ((row * 31 + k * 7) % cols) as u32));
        offsets.push(columns.len() as u32);
    }
    let values = csr_core::random_vector::<f64>(seed, columns.len());
    Csr::new(cols, offsets, columns, values.into_iter().map(V::from_f64).collect())
}
