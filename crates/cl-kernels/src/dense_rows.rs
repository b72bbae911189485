//! `dense_rows`: a row-major copy of a column-major matrix (`cl/format/dense_rows.cl`).

use crate::arguments::arguments;
use crate::parameters::{GROUP_SIZES, parameters};
use crate::{Array, DeviceTraits, DeviceType};

/// Path of the source below `cl/`.
pub const SOURCE: &str = "format/dense_rows.cl";

parameters! {
    /// Parameters of `dense_rows`.
    pub struct DenseRows for "dense_rows" {
        /// Items of a work-group.
        group_size: GROUP_SIZES,
        /// 1: an item copies a row, else a group a tile.
        whole_rows: [0, 1],
    }
}

/// At most so many columns are copied by whole rows on any device: half a tile.
const NARROW: usize = 8;

impl DenseRows {
    /// For a matrix of `width` columns. Tiles are of a size that a device has local memory for: a tile of f64 and a column
    /// more. On CPUs, and of few columns, whole rows.
    pub fn for_device(device: &DeviceTraits, width: usize) -> Self {
        let is_cpu = device.device_type == DeviceType::Cpu;
        let whole_rows = u32::from(is_cpu || width <= NARROW);
        let of_16 = DenseRows { group_size: device.group_size(256, 1), whole_rows };
        let tile_bytes = (of_16.tile_side() * (of_16.tile_side() + 1) * 8) as u64;
        match tile_bytes > device.local_bytes {
            true => DenseRows { group_size: of_16.group_size.min(8), whole_rows },
            false => of_16,
        }
    }

    /// Rows and columns of what one work-group copies (`TILE_SIDE` of the kernel).
    pub fn tile_side(&self) -> usize {
        if self.group_size < 16 { 8 } else { 16 }
    }

    /// Work-groups of a launch on a matrix of at least one row and column.
    pub fn groups(&self, rows: usize, width: usize) -> usize {
        let side = self.tile_side();
        match self.whole_rows == 1 {
            true => rows.div_ceil(self.group_size as usize),
            false => rows.div_ceil(side) * width.div_ceil(side),
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
        /// Elements from one of its columns to the next.
        leading: u64,
        /// Elements from one row of the copy to the next.
        row_leading: u32,
        /// The matrix.
        from: Array<M>,
        /// The copy.
        to: Array<M>,
    }
}
