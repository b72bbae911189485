//! The programs of a plan: how items take columns, which depends on where B and C lie.

use std::sync::Arc;

use cl_kernels::spmm::{
    FEATURE_C_BY_ELEMENT, FEATURE_C_COLUMN_MAJOR, FEATURE_COLUMNS_APART, FEATURE_COLUMNS_IN_HALVES,
    Tiling, apart_width, halves_width, padded_width, shared_apart_width, storage_feature,
    vector_width,
};
use cl_kernels::spmm_copy::SECTOR_BYTES;
use cl_kernels::spmm_row_split::{FEATURE_ITEM_A_ROW, SpmmRowSplit, sharing_feature};
use cl_kernels::{DeviceTraits, DeviceType, spmm_merge, spmm_nonzero_split, spmm_row_split};
use csr_core::Layout;

use super::copy::copied_width;
use super::{DenseOperands, SpmmParameters};
use crate::spmv::Specialisation;
use crate::{Context, Program, Result};

/// How an item's columns lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Columns {
    /// Side by side, where vectors may lie.
    Vectors,
    /// Likewise in B; C may lie anywhere.
    VectorsOfB,
    /// Apart; B and C may lie anywhere.
    Apart,
    /// Side by side, in two half vectors; B and C may lie anywhere.
    Halves,
}

/// What of a device says how rows are dealt out.
#[derive(Clone, Copy, Debug)]
pub(super) struct DeviceSize {
    device_type: DeviceType,
    compute_units: u32,
    local_bytes: u64,
}

impl From<&DeviceTraits> for DeviceSize {
    fn from(traits: &DeviceTraits) -> Self {
        let DeviceTraits { device_type, compute_units, local_bytes, .. } = *traits;
        DeviceSize { device_type, compute_units, local_bytes }
    }
}

/// How items reach B and C.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Access {
    /// Ways and columns of an item, the faster first; the last one needs nothing of B and C.
    pub(super) ways: Vec<(Columns, u32)>,
    /// Sub-groups that share a row, whichever way: sums of rows that are no longer than a sub-group takes are the same
    /// wherever B and C begin.
    pub(super) sub_groups_per_row: u32,
    /// Elements from one row to the next of a copy of B, where one is made.
    pub(super) copy_leading: Option<usize>,
}

impl Access {
    /// For row split by so many sub-groups, before any share a row, and rows of so many nonzeros in the mean; and the
    /// parameters, without shuffles where rows are shared.
    pub(super) fn to_rows(
        dense: &DenseOperands,
        parameters: SpmmRowSplit,
        size: DeviceSize,
        (sub_groups, mean_row): (usize, f64),
        copies: bool,
    ) -> (Self, SpmmRowSplit) {
        let of = |parameters: &SpmmRowSplit, apart: fn(u32, u32, u32) -> u32| {
            let (widths, in_step) = (parameters.widths(), parameters.in_step());
            Access::new(dense, widths, in_step, size.device_type, apart, copies)
        };
        if let Some(sharing) = parameters.sharing() {
            let mut access = of(&sharing, shared_apart_width);
            let tiling = |(_, width): &(Columns, u32)| {
                Tiling::new(dense.c.cols() as u32, *width, sharing.in_step())
            };
            // What the first way can share, all do.
            let first = tiling(&access.ways[0]);
            let idle = first.idle(size.compute_units, sub_groups);
            let number = parameters.sub_groups_per_row(&first, mean_row, idle);
            let fitting = |way| 1 << (sharing.in_step() / tiling(way).sub_group_size).ilog2();
            access.sub_groups_per_row =
                access.ways.iter().map(fitting).fold(number, |fewest, fits| fewest.min(fits));
            let widest = access.ways.iter().map(|(_, width)| *width).max().unwrap_or(1);
            let sum_bytes = u64::from(widest) * dense.b_type.accumulator().size_bytes() as u64;
            let sums = u64::from(sharing.group_size) * u64::from(sharing.rows_at_once);
            if access.sub_groups_per_row > 1 && sums * sum_bytes <= size.local_bytes {
                return (access, sharing);
            }
        }
        (of(&parameters, apart_width), parameters)
    }

    /// For tiles of nonzeros.
    pub(super) fn to_tiles(
        dense: &DenseOperands,
        parameters: &SpmmParameters,
        device_type: DeviceType,
        copies: bool,
    ) -> Self {
        let (widths, in_step) = (parameters.widths(), parameters.in_step());
        Access::new(dense, widths, in_step, device_type, apart_width, copies)
    }

    /// For items that take up to one or the other of `widths` columns, in sub-groups that lie within `in_step` items;
    /// as many as `apart` says of the most, all columns and `in_step` where they are apart. `copies` says whether they
    /// read a copy of B.
    pub(super) fn new(
        dense: &DenseOperands,
        widths: [u32; 2],
        in_step: u32,
        device_type: DeviceType,
        apart: fn(u32, u32, u32) -> u32,
        copies: bool,
    ) -> Self {
        let (b, c) = (&dense.b, &dense.c);
        let columns = c.cols() as u32;
        let leading_of_c = match c.layout() {
            Layout::RowMajor => c.leading() as u64,
            // Stored by element.
            Layout::ColumnMajor => 0,
        };
        let best = |width: &dyn Fn(u32) -> u32| Tiling::best(columns, widths.map(width), in_step);
        if device_type == DeviceType::Cpu {
            let width = best(&|most| halves_width(most, columns));
            return Access::with_fewest_items(dense, width, leading_of_c, copies);
        }
        let in_vectors = best(&|most| match (copies, b.layout()) {
            (false, _) => vector_width(most, &[columns.into(), b.leading() as u64]),
            (true, Layout::RowMajor) => copied_width(most, columns, device_type),
            (true, Layout::ColumnMajor) => padded_width(most, columns),
        });
        let is_whole = [columns.into(), leading_of_c]
            .iter()
            .all(|it: &u64| it.is_multiple_of(in_vectors.into()));
        let first = match c.layout() {
            Layout::RowMajor if !is_whole => Columns::VectorsOfB,
            _ => Columns::Vectors,
        };
        let mut ways = vec![
            (first, in_vectors),
            (Columns::Apart, best(&|most| apart(most, columns, in_step))),
        ];
        if in_vectors == 1 {
            ways.remove(0);
        } else if copies && (first == Columns::VectorsOfB || c.layout() == Layout::ColumnMajor) {
            // A copy begins where vectors may, and C may begin anywhere.
            ways.truncate(1);
        }
        let copy_leading = copies.then(|| {
            let aligned = (SECTOR_BYTES / dense.b_type.size_bytes()).max(in_vectors as usize);
            b.cols().next_multiple_of(if in_vectors > 1 { aligned } else { 1 })
        });
        Access { ways, sub_groups_per_row: 1, copy_leading }
    }

    /// Items of a CPU run one after another, and each iterates over the row of A: they take `width` columns, even where
    /// vectors of as many elements may not lie.
    fn with_fewest_items(
        dense: &DenseOperands,
        width: u32,
        leading_of_c: u64,
        copies: bool,
    ) -> Self {
        let (b, c) = (&dense.b, &dense.c);
        let is_multiple = |elements: u64| elements.is_multiple_of(width.into());
        let b_fits = is_multiple(c.cols() as u64) && (copies || is_multiple(b.leading() as u64));
        let mut ways = Vec::new();
        if b_fits && width > 1 {
            let c_fits = is_multiple(leading_of_c);
            ways.push((if c_fits { Columns::Vectors } else { Columns::VectorsOfB }, width));
        }
        ways.push((if width > 1 { Columns::Halves } else { Columns::Apart }, width));
        let copy_leading = copies.then(|| {
            let aligned = SECTOR_BYTES / dense.b_type.size_bytes();
            b.cols().next_multiple_of(match (b_fits, width) {
                (_, 1) => 1,
                (true, _) => aligned.max(width as usize),
                (false, _) => aligned,
            })
        });
        Access { ways, sub_groups_per_row: 1, copy_leading }
    }
}

/// A program, and how it deals columns to items.
#[derive(Debug)]
pub(super) struct Form {
    pub(super) program: Arc<Program>,
    pub(super) tiling: Tiling,
    pub(super) columns: Columns,
}

impl Form {
    /// How columns of an item that lie one way are dealt to groups.
    pub(super) fn tiling(
        dense: &DenseOperands,
        parameters: &SpmmParameters,
        width: u32,
        sub_groups_per_row: u32,
    ) -> Tiling {
        let columns = dense.c.cols() as u32;
        Tiling::new(columns, width, parameters.in_step()).shared(sub_groups_per_row)
    }

    /// Builds the program of one way, in which `sub_groups_per_row` share a row.
    pub(super) fn build(
        context: &Context,
        specialisation: Specialisation,
        dense: &DenseOperands,
        parameters: SpmmParameters,
        plan_features: &[&'static str],
        (columns, width): (Columns, u32),
        sub_groups_per_row: u32,
    ) -> Result<Self> {
        let mut key = match parameters.with_vector_width(width) {
            SpmmParameters::RowSplit(parameters) => {
                specialisation.key(spmm_row_split::SOURCE, &parameters)
            }
            SpmmParameters::Merge(parameters) => {
                specialisation.key(spmm_merge::SOURCE, &parameters)
            }
            SpmmParameters::NonzeroSplit(parameters) => {
                specialisation.key(spmm_nonzero_split::SOURCE, &parameters)
            }
        };
        key.features.extend(storage_feature(dense.b_type));
        let is_column_major = dense.c.layout() == Layout::ColumnMajor;
        let features = [
            (is_column_major, FEATURE_C_COLUMN_MAJOR),
            (columns == Columns::VectorsOfB, FEATURE_C_BY_ELEMENT),
            (columns == Columns::Apart, FEATURE_COLUMNS_APART),
            (columns == Columns::Halves, FEATURE_COLUMNS_IN_HALVES),
        ];
        key.features.extend(features.iter().filter(|(is_on, _)| *is_on).map(|(_, name)| *name));
        key.features.extend(plan_features);
        let tiling = Form::tiling(dense, &parameters, width, sub_groups_per_row);
        key.features.extend(sharing_feature(tiling.sub_groups_per_row));
        let is_cpu = context.device().traits().device_type == DeviceType::Cpu;
        // Sub-groups of one item that share a row are no item a row.
        if is_cpu && tiling.items_per_row() == 1 && key.source == spmm_row_split::SOURCE {
            key.features.push(FEATURE_ITEM_A_ROW);
        }
        Ok(Form { program: context.program(&key)?, tiling, columns })
    }
}

#[cfg(test)]
mod tests {
    use csr_core::{DenseShape, ValueType};

    use super::*;

    #[test]
    fn columns_lie_side_by_side_where_vectors_may() {
        use Columns::{Apart, Vectors, VectorsOfB};
        use Layout::{ColumnMajor, RowMajor};
        let access = |columns, b: (Layout, usize), c: (Layout, usize)| {
            let shape = |(layout, leading)| DenseShape::new(100, columns, layout, leading);
            let (Ok(b), Ok(c)) = (shape(b), shape(c)) else { return (Vec::new(), None) };
            let copies = b.layout() == ColumnMajor;
            let dense = DenseOperands { b, b_type: ValueType::F32, c };
            let found = Access::new(&dense, [4, 8], 32, DeviceType::Gpu, apart_width, copies);
            (found.ways, found.copy_leading)
        };
        let rows = |leading| (RowMajor, leading);
        for (columns, b, c, ways, copy) in [
            (32, rows(32), rows(32), vec![(Vectors, 4), (Apart, 2)], None),
            (32, rows(32), rows(33), vec![(VectorsOfB, 4), (Apart, 2)], None),
            (33, rows(33), rows(33), vec![(Apart, 4)], None),
            (34, rows(34), rows(34), vec![(Vectors, 2), (Apart, 4)], None),
            (1, rows(1), rows(1), vec![(Apart, 1)], None),
            // One tile of nine items instead of two.
            (65, rows(65), rows(65), vec![(Apart, 8)], None),
            (3, (ColumnMajor, 100), rows(4), vec![(VectorsOfB, 4)], Some(8)),
            (4, (ColumnMajor, 100), rows(4), vec![(Vectors, 4), (Apart, 1)], Some(8)),
        ] {
            let expected = (ways, copy);
            assert_eq!(access(columns, b, c), expected, "{columns} {b:?} {c:?}");
        }
    }

    #[test]
    fn items_load_whole_vectors_of_a_copy_of_rows() {
        use Columns::{Apart, Vectors, VectorsOfB};
        for (columns, c_leading, ways, leading) in [
            (15, 15, vec![(VectorsOfB, 4)], 16),
            (5, 8, vec![(VectorsOfB, 4)], 8),
            (6, 6, vec![(VectorsOfB, 4)], 8),
            (17, 20, vec![(VectorsOfB, 4)], 24),
            // C has whole vectors, where it begins at one.
            (16, 16, vec![(Vectors, 4), (Apart, 2)], 16),
        ] {
            let shape = |leading| DenseShape::new(100, columns, Layout::RowMajor, leading).unwrap();
            let (b, c) = (shape(columns), shape(c_leading));
            let dense = DenseOperands { b, b_type: ValueType::F32, c };
            let found = Access::new(&dense, [4, 8], 32, DeviceType::Gpu, apart_width, true);
            assert_eq!((found.ways, found.copy_leading), (ways, Some(leading)), "{columns}");
        }
    }

    #[test]
    fn rows_are_shared_alike_in_every_way() {
        let size =
            |device_type, local_bytes| DeviceSize { device_type, local_bytes, compute_units: 100 };
        let of = |columns, parameters: SpmmRowSplit, nodes, mean_row, size: DeviceSize| {
            let shape = DenseShape::new(100, columns, Layout::RowMajor, columns).unwrap();
            let dense = DenseOperands { b: shape, b_type: ValueType::F32, c: shape };
            let (access, used) =
                Access::to_rows(&dense, parameters, size, (nodes, mean_row), false);
            (access.ways, access.sub_groups_per_row, used.shuffles)
        };
        use Columns::{Apart, Vectors};
        let gpu = size(DeviceType::Gpu, 1 << 15);
        let (few, many) = (1 << 10, 1 << 20);
        let shuffling = SpmmRowSplit {
            group_size: 128,
            vector_width: 4,
            nnz_at_once: 2,
            rows_at_once: 4,
            part_nnz: 256,
            shuffles: 32,
            items_per_row: 8,
            least_iterations: 4,
            copy_b: 1,
        };
        let single = shuffling.row_by_row();
        assert_eq!(of(3, single, many, 64.0, gpu), (vec![(Apart, 4)], 8, 0));
        let (four, of_four) = (vec![(Vectors, 4), (Apart, 4)], 8);
        assert_eq!(of(4, shuffling, many, 64.0, gpu), (four, of_four, 0));
        // Three items of pairs, or two of columns apart: what the first can share, both do.
        assert_eq!(of(6, single, many, 64.0, gpu), (vec![(Vectors, 2), (Apart, 4)], 2, 0));
        // Sub-groups of four items that take i-nodes shuffle, unless they are few.
        let sixteen = vec![(Vectors, 4), (Apart, 2)];
        assert_eq!(of(16, shuffling, many, 64.0, gpu), (sixteen, 1, 32));
        assert_eq!(of(16, single, many, 64.0, gpu).1, 2);
        assert_eq!(of(16, shuffling, few, 64.0, gpu), (vec![(Vectors, 4), (Apart, 4)], 8, 0));
        assert_eq!(of(64, single, few, 64.0, gpu), (vec![(Vectors, 4), (Apart, 2)], 2, 0));
        for not_shared in [
            of(3, single, many, 3.0, gpu),
            of(3, single.published(), few, 64.0, gpu),
            of(3, single, many, 64.0, size(DeviceType::Gpu, 1024)),
            // Sums of four rows are four times as many.
            of(3, shuffling, many, 64.0, size(DeviceType::Gpu, 4096)),
            of(32, single, many, 64.0, gpu),
        ] {
            assert_eq!(not_shared.1, 1, "{not_shared:?}");
        }
        let of_cpu = SpmmRowSplit { items_per_row: 1, ..single };
        assert_eq!(of(3, of_cpu, few, 64.0, size(DeviceType::Cpu, 1 << 15)).1, 1);
    }

    #[test]
    fn a_cpu_takes_as_few_items_as_it_can() {
        use Columns::{Apart, Halves, Vectors, VectorsOfB};
        use Layout::{ColumnMajor, RowMajor};
        let access = |columns, b: (Layout, usize), c: (Layout, usize)| {
            let shape = |(layout, leading)| DenseShape::new(100, columns, layout, leading);
            let (Ok(b), Ok(c)) = (shape(b), shape(c)) else { return (Vec::new(), None) };
            let copies = b.layout() == ColumnMajor;
            let dense = DenseOperands { b, b_type: ValueType::F32, c };
            let found = Access::new(&dense, [16, 32], 64, DeviceType::Cpu, apart_width, copies);
            (found.ways, found.copy_leading)
        };
        let rows = |leading| (RowMajor, leading);
        for (columns, b, c, ways, copy) in [
            (1, rows(1), rows(1), vec![(Apart, 1)], None),
            (3, rows(3), rows(3), vec![(Halves, 4)], None),
            (4, rows(4), rows(4), vec![(Vectors, 4), (Halves, 4)], None),
            (4, rows(5), rows(4), vec![(Halves, 4)], None),
            (8, rows(8), rows(9), vec![(VectorsOfB, 8), (Halves, 8)], None),
            // Not three items of four columns.
            (12, rows(12), rows(12), vec![(Halves, 16)], None),
            (33, rows(33), rows(33), vec![(Halves, 16)], None),
            (3, (ColumnMajor, 100), rows(3), vec![(Halves, 4)], Some(8)),
            (16, (ColumnMajor, 100), rows(16), vec![(Vectors, 16), (Halves, 16)], Some(16)),
        ] {
            let expected = (ways, copy);
            assert_eq!(access(columns, b, c), expected, "{columns} {b:?} {c:?}");
        }
    }
}
