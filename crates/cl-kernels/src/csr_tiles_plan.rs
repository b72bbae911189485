//! `csr_tiles_plan`: the copy of `csr_tiles` made from CSR on the device (`cl/spmv/csr_tiles_plan.cl`).

use crate::Array;
use crate::arguments::arguments;
use crate::parameters::{GROUP_SIZES, parameters};

/// Path of the source below `cl/`.
pub const SOURCE: &str = "spmv/csr_tiles_plan.cl";

parameters! {
    /// Parameters of `csr_tiles_plan`.
    pub struct CsrTilesPlan for "csr_tiles_plan" {
        /// Items of a work-group.
        group_size: GROUP_SIZES,
        /// Columns of a tile.
        tile_columns: [2048, 4096, 8192],
        /// Nonzeros of a lane in a slice.
        lane_nnz: [2, 4, 8, 16],
    }
}

arguments! {
    /// Arguments of the kernel `csr_tiles_mark_rows`.
    pub struct RowMarkArguments<M> for "csr_tiles_mark_rows" {
        /// Rows of A.
        rows: u32,
        /// Row offsets: rows + 1.
        offsets: Array<M>,
        /// The result: a bit for each nonzero, in words that hold 0.
        marks: Array<M>,
    }
}

arguments! {
    /// Arguments of the kernel `csr_tiles_mark_tiles`.
    pub struct TileMarkArguments<M> for "csr_tiles_mark_tiles" {
        /// Nonzeros of A: at least 1.
        nnz: u32,
        /// Column indices: nnz.
        columns: Array<M>,
        /// A bit for each nonzero, whether it begins a row; and a result, whether it begins a segment.
        marks: Array<M>,
        /// A result: segments that begin in each word of marks.
        counts: Array<M>,
    }
}

arguments! {
    /// Arguments of the kernel `csr_tiles_segments`.
    pub struct SegmentArguments<M> for "csr_tiles_segments" {
        /// Nonzeros of A: at least 1.
        nnz: u32,
        /// Column indices: nnz.
        columns: Array<M>,
        /// A bit for each nonzero, whether it begins a segment.
        marks: Array<M>,
        /// Segments before each word of marks, and all: words + 1.
        before: Array<M>,
        /// A result: the first nonzero of each segment.
        firsts: Array<M>,
        /// A result: the tile of each segment.
        tiles: Array<M>,
        /// A result: 0, 1, 2, ...
        numbers: Array<M>,
    }
}

arguments! {
    /// Arguments of the kernel `csr_tiles_lengths`.
    pub struct LengthArguments<M> for "csr_tiles_lengths" {
        /// Nonzeros of A.
        nnz: u32,
        /// Segments: at least 1.
        segments: u32,
        /// Tiles of columns.
        tile_count: u32,
        /// The first nonzero of each segment, in the order of rows.
        firsts: Array<M>,
        /// The tile of each segment, in the order of tiles.
        tiles: Array<M>,
        /// The number in the order of rows of each segment in the order of tiles.
        numbers: Array<M>,
        /// A result: nonzeros of each segment, in the order of tiles.
        lengths: Array<M>,
        /// A result: segments before each tile, and all: tile_count + 1.
        tile_segments: Array<M>,
    }
}

arguments! {
    /// Arguments of the kernel `csr_tiles_starts`.
    pub struct StartArguments<M> for "csr_tiles_starts" {
        /// Tiles of columns.
        tile_count: u32,
        /// Segments before each tile, and all: tile_count + 1.
        tile_segments: Array<M>,
        /// Nonzeros before each segment in the order of tiles, and all.
        positions: Array<M>,
        /// The result: nonzeros before each tile, and all: tile_count + 1.
        starts: Array<M>,
    }
}

arguments! {
    /// Arguments of the kernel `csr_tiles_parts`.
    pub struct PartArguments<M> for "csr_tiles_parts" {
        /// Segments: at least 1.
        segments: u32,
        /// The first nonzero of each segment, in the order of rows.
        firsts: Array<M>,
        /// The tile of each segment, in the order of tiles.
        tiles: Array<M>,
        /// The number in the order of rows of each segment in the order of tiles.
        numbers: Array<M>,
        /// Nonzeros before each segment in the order of tiles, and all.
        positions: Array<M>,
        /// Padding before each tile: nonzeros and parts, two words a tile.
        tile_table: Array<M>,
        /// A result: parts of each segment, in the order of tiles.
        by_tile: Array<M>,
        /// A result: the same in the order of rows.
        by_row: Array<M>,
        /// A result: how far each segment is moved, modulo 2^32, in the order of rows.
        moves: Array<M>,
    }
}

arguments! {
    /// Arguments of the kernel `csr_tiles_number`.
    pub struct NumberArguments<M> for "csr_tiles_number" {
        /// Segments: at least 1.
        segments: u32,
        /// The tile of each segment, in the order of tiles.
        tiles: Array<M>,
        /// The number in the order of rows of each segment in the order of tiles.
        numbers: Array<M>,
        /// Nonzeros before each segment in the order of tiles, and all.
        positions: Array<M>,
        /// Padding before each tile: nonzeros and parts, two words a tile.
        tile_table: Array<M>,
        /// Parts before each segment in the order of tiles, and all.
        tile_parts: Array<M>,
        /// Parts before each segment in the order of rows, and all.
        segment_parts: Array<M>,
        /// A result: the numbers of the parts, in the order of rows.
        parts: Array<M>,
        /// A result: where parts begin, a word a lane, in words that hold 0.
        words: Array<M>,
        /// A result: the first part of each slice.
        first_parts: Array<M>,
    }
}

arguments! {
    /// Arguments of the kernel `csr_tiles_lanes`.
    pub struct LaneArguments<M> for "csr_tiles_lanes" {
        /// Slices.
        slices: u32,
        /// The words of lanes: 32 a slice.
        words: Array<M>,
    }
}

arguments! {
    /// Arguments of the kernel `csr_tiles_row_parts`.
    pub struct RowPartArguments<M> for "csr_tiles_row_parts" {
        /// Rows of A.
        rows: u32,
        /// Row offsets: rows + 1.
        offsets: Array<M>,
        /// A bit for each nonzero, whether it begins a segment.
        marks: Array<M>,
        /// Segments before each word of marks, and all.
        before: Array<M>,
        /// Parts before each segment in the order of rows, and all.
        segment_parts: Array<M>,
        /// The result: parts before each row, and all: rows + 1.
        row_parts: Array<M>,
    }
}

arguments! {
    /// Arguments of the kernel `csr_tiles_columns`.
    pub struct ColumnArguments<M> for "csr_tiles_columns" {
        /// Nonzeros of A.
        nnz: u32,
        /// Column indices: nnz.
        columns: Array<M>,
        /// A bit for each nonzero, whether it begins a segment.
        marks: Array<M>,
        /// Segments before each word of marks, and all.
        before: Array<M>,
        /// How far each segment is moved, modulo 2^32, in the order of rows.
        moves: Array<M>,
        /// The result: columns of 16 bits in the order of the slices.
        target: Array<M>,
    }
}

arguments! {
    /// Arguments of the kernel `csr_tiles_values`.
    pub struct ValueArguments<M> for "csr_tiles_values" {
        /// Nonzeros of A.
        nnz: u32,
        /// A bit for each nonzero, whether it begins a segment.
        marks: Array<M>,
        /// Segments before each word of marks, and all.
        before: Array<M>,
        /// How far each segment is moved, modulo 2^32, in the order of rows.
        moves: Array<M>,
        /// Values of compressed rows: nnz.
        source: Array<M>,
        /// The result: values in the order of the slices.
        target: Array<M>,
    }
}
