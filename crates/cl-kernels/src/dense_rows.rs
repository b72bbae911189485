//! `dense_rows`: a row-major copy of a dense matrix (`cl/format/dense_rows.cl`).

use csr_core::Layout;

use crate::arguments::arguments;
use crate::parameters::{GROUP_SIZES, parameters};
use crate::{Array, DeviceTraits, DeviceType};

/// Path of the source below `cl/`.
pub const SOURCE: &str = "format/dense_rows.cl";

/// The matrix is row-major too; the rows of its copy begin elsewhere.
pub const FEATURE_ROW_MAJOR: &str = "ROW_MAJOR";

/// Rows that a group copies of a row-major matrix, where no item copies one whole (`ROWS_PER_GROUP` of the kernel).
const ROWS_PER_GROUP: usize = 128;

parameters! {
    /// Parameters of `dense_rows`.
    pub struct DenseRows for "dense_rows" {
        /// Items of a work-group.
        group_size: GROUP_SIZES,
        /// 1: an item copies a row, else a group a tile.
        whole_rows: [0, 1],
    }
}

/// Rows of at most so many bytes are copied whole on any device: on an H200 rows of 8 to 32 bytes took 0.57 to 1.02 of the
/// time by tiles, of 64 bytes 1.03 to 1.11.
const NARROW_BYTES: usize = 32;

impl DenseRows {
    /// For a matrix with rows of `row_bytes`. Tiles are of a size that a device has local memory for: a tile of f64 and a column
    /// more. On CPUs, and of few bytes, whole rows.
    pub fn for_device(device: &DeviceTraits, row_bytes: usize) -> Self {
        let is_cpu = device.device_type == DeviceType::Cpu;
        let whole_rows = u32::from(is_cpu || row_bytes <= NARROW_BYTES);
        let of_16 = DenseRows { group_size: device.group_size(256, 1), whole_rows };
        let tile_bytes = (of_16.tile_side() * (of_16.tile_side() + 1) * 8) as u64;
        match tile_bytes > device.local_bytes {
            true => DenseRows { group_size: of_16.group_size.min(8), whole_rows },
            false => of_16,
        }
    }

    /// For a row-major matrix: on CPUs whole rows; on GPUs neighbouring items copy neighbouring elements.
    pub fn of_rows(device: &DeviceTraits) -> Self {
        let whole_rows = u32::from(device.device_type == DeviceType::Cpu);
        DenseRows { group_size: device.group_size(256, 1), whole_rows }
    }

    /// Rows and columns of what one work-group copies of a column-major matrix (`TILE_SIDE` of the kernel).
    pub fn tile_side(&self) -> usize {
        if self.group_size < 16 { 8 } else { 16 }
    }

    /// Work-groups of a launch on a matrix of at least one row and column.
    pub fn groups(&self, rows: usize, width: usize, layout: Layout) -> usize {
        let side = self.tile_side();
        match (self.whole_rows == 1, layout) {
            (true, _) => rows.div_ceil(self.group_size as usize),
            (false, Layout::RowMajor) => rows.div_ceil(ROWS_PER_GROUP),
            (false, Layout::ColumnMajor) => rows.div_ceil(side) * width.div_ceil(side),
        }
    }
}

arguments! {
    /// Arguments of the kernel `dense_rows`.
    pub struct Arguments<M> for "dense_rows" {
        /// Rows of the matrix.
        rows: u32,
        /// Its columns.
        width: u32,
        /// Elements from one of its columns, or of its rows, to the next.
        leading: u64,
        /// Elements from one row of the copy to the next.
        row_leading: u32,
        /// The matrix.
        from: Array<M>,
        /// The copy.
        to: Array<M>,
    }
}
