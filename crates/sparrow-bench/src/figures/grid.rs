//! Results sorted into what a figure's rows are: the matrices in the order in which they were measured.

use super::PeerProduct;
use crate::group::{matrix_key, series};
use crate::record::Record;

/// The results of one value type.
pub(super) struct Grid<'a> {
    pub(super) value_type: &'a str,
    rows: Vec<Vec<&'a Record>>,
}

impl<'a> Grid<'a> {
    /// A grid a value type, in the order in which they come.
    pub(super) fn by_type(records: &[&'a Record]) -> Vec<Self> {
        let mut grids: Vec<Grid<'a>> = Vec::new();
        for &record in records {
            let of_type = grids.iter_mut().find(|grid| grid.value_type == record.value_type);
            match of_type {
                Some(grid) => grid.push(record),
                None => {
                    grids.push(Grid { value_type: &record.value_type, rows: vec![vec![record]] });
                }
            }
        }
        grids
    }

    fn push(&mut self, record: &'a Record) {
        let row = self.rows.iter_mut().find(|row| matrix_key(row[0]) == matrix_key(record));
        match row {
            Some(row) => row.push(record),
            None => self.rows.push(vec![record]),
        }
    }

    /// The results of each matrix.
    pub(super) fn rows(&self) -> impl Iterator<Item = Results<'a, '_>> {
        self.rows.iter().map(|row| Results(row))
    }

    /// How many matrices there are.
    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    /// Those of some products of other libraries of which there is a verified result.
    pub(super) fn peers(&self, products: &[PeerProduct]) -> Vec<PeerProduct> {
        let is_there = |product: &PeerProduct| self.rows().any(|row| row.peer(*product).is_some());
        products.iter().copied().filter(is_there).collect()
    }

    /// What `of` says of every verified result.
    pub(super) fn largest(&self, of: impl Fn(&Record) -> Option<f64>) -> Option<f64> {
        self.rows.iter().flatten().filter_map(|record| of(record)).max_by(f64::total_cmp)
    }
}

/// The results of one matrix and value type; never none.
pub(super) struct Results<'a, 'g>(&'g [&'a Record]);

impl<'a> Results<'a, '_> {
    /// The matrix's name.
    pub(super) fn name(&self) -> String {
        self.0[0].matrix.clone()
    }

    /// Any of its records, for its size.
    pub(super) fn first(&self) -> &'a Record {
        self.0[0]
    }

    /// The verified result of a series ("csr_adaptive/nrs", "evc_hyb/hybrid permuted").
    pub(super) fn find(&self, name: &str) -> Option<&'a Record> {
        self.0.iter().copied().find(|record| record.verified && series(record) == name)
    }

    /// The verified result of another library's product.
    pub(super) fn peer(&self, product: PeerProduct) -> Option<&'a Record> {
        self.0.iter().copied().find(|record| record.verified && product.is_of(record))
    }

    /// Median microseconds of a series.
    pub(super) fn us(&self, name: &str) -> Option<f64> {
        self.find(name)?.median_us.filter(|us| *us > 0.0)
    }

    /// How many times as fast `fast` is as `slow`.
    pub(super) fn gain(&self, fast: &str, slow: &str) -> Option<f64> {
        Some(self.us(slow)? / self.us(fast)?)
    }
}
