//! When SpMM copies a row-major B, so that its rows begin where vectors may.
//!
//! A packed row of B begins anywhere: it lies in more sectors of memory than one that begins at a sector, and cannot be
//! loaded in vectors. Each load of it pays for that; a copy pays once, with a launch.

use crate::{DeviceTraits, DeviceType};

/// What memory is moved in, in bytes: a sector. Rows of a copy begin at one.
pub const SECTOR_BYTES: usize = 32;

/// Bytes that a GPU gathers in the time that a launch more takes: 6 us on an H200, which gathers rows of B at 3 TB/s.
const LAUNCH_BYTES: f64 = 18e6;

/// Times its cost that a copy must spare: some gathers come from caches, and C is stored by element then.
const LEAST_GAIN: f64 = 2.0;

/// A copy takes at most such a part of the device's memory.
const MEMORY_PART: u64 = 8;

/// A row-major B, and what a product loads of it.
#[derive(Clone, Copy, Debug)]
pub struct RowsOfB {
    /// Its rows.
    pub rows: usize,
    /// Its columns.
    pub columns: usize,
    /// Elements from one row to the next.
    pub leading: usize,
    /// Bytes of an element.
    pub element_bytes: usize,
    /// How many times the product loads a row: once a nonzero, or once for all rows of an i-node.
    pub loads: f64,
}

impl RowsOfB {
    /// Elements from one row to the next in a copy from which items load vectors of `width` elements.
    pub fn copy_leading(&self, width: u32) -> usize {
        self.columns.next_multiple_of((SECTOR_BYTES / self.element_bytes).max(width as usize))
    }

    /// Whether vectors of `width` elements do not fit, so that a copy has something to give.
    pub fn is_uneven(&self, width: u32) -> bool {
        [self.columns, self.leading].iter().any(|it| !it.is_multiple_of(width as usize))
    }

    /// Whether the sectors that a copy spares are worth what it moves and its launch: on GPUs. On CPUs a copy gains where
    /// rows of B are loaded 30 times or more, from anywhere, and loses up to a third where they are near; which it is, is
    /// not known here.
    pub fn copy_pays(&self, width: u32, device: &DeviceTraits) -> bool {
        let leading = self.copy_leading(width);
        let copy_bytes = (self.rows * leading * self.element_bytes) as u64;
        let fits = copy_bytes <= device.max_allocation_bytes.min(device.global_bytes / MEMORY_PART);
        let (spared, moved) = (self.spared_bytes(width), self.moved_bytes(width));
        let is_cpu = device.device_type == DeviceType::Cpu;
        !is_cpu && fits && spared >= LEAST_GAIN * (moved + LAUNCH_BYTES)
    }

    /// Bytes of sectors that a product loads less with a copy.
    fn spared_bytes(&self, width: u32) -> f64 {
        let vectors = self.columns.next_multiple_of(width as usize);
        let packed = self.mean_sectors(self.columns, self.leading);
        let copied = self.mean_sectors(vectors, self.copy_leading(width));
        self.loads * (packed - copied) * SECTOR_BYTES as f64
    }

    /// Bytes that the copy reads and writes.
    fn moved_bytes(&self, width: u32) -> f64 {
        ((self.columns + self.copy_leading(width)) * self.element_bytes * self.rows) as f64
    }

    /// Sectors in which `columns` elements of a row lie, in the mean over rows that are `leading` elements apart, the
    /// first of which begins at one.
    fn mean_sectors(&self, columns: usize, leading: usize) -> f64 {
        let bytes = columns * self.element_bytes;
        // After so many rows they begin as before.
        let sectors = (0..SECTOR_BYTES).map(|row| {
            let begin = row * leading * self.element_bytes % SECTOR_BYTES;
            (begin + bytes).div_ceil(SECTOR_BYTES)
        });
        sectors.sum::<usize>() as f64 / SECTOR_BYTES as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packed(rows: usize, columns: usize, loads_a_row: usize) -> RowsOfB {
        let loads = (rows * loads_a_row) as f64;
        RowsOfB { rows, columns, leading: columns, element_bytes: 4, loads }
    }

    #[test]
    fn packed_rows_lie_across_sectors() {
        for (columns, leading, sectors) in [
            (3, 3, 1.25),
            (15, 15, 2.75),
            (16, 16, 2.0),
            (31, 31, 4.75),
            (12, 12, 2.0),
            (6, 6, 1.5),
            (15, 16, 2.0),
        ] {
            let rows = packed(100, columns, 1);
            assert_eq!(rows.mean_sectors(columns, leading), sectors, "{columns} of {leading}");
        }
    }

    #[test]
    fn a_copy_pays_where_it_spares_more_than_it_moves() {
        let gpu = crate::tests::gpu();
        let million = 1_000_000;
        assert!(packed(million, 15, 18).copy_pays(4, &gpu));
        for (why, rows) in [
            ("the launch", packed(20_000, 15, 18)),
            ("few loads", packed(million, 15, 3)),
            ("as many sectors", packed(million, 17, 18)),
            ("rows of whole vectors", packed(million, 16, 18)),
        ] {
            assert!(!rows.copy_pays(4, &gpu), "{why}");
        }
        let cpu = DeviceTraits { device_type: DeviceType::Cpu, ..gpu.clone() };
        assert!(!packed(million, 15, 18).copy_pays(4, &cpu));
        let small = DeviceTraits { global_bytes: 8 * 60_000_000, ..gpu };
        assert!(!packed(million, 15, 18).copy_pays(4, &small), "no memory");
    }

    #[test]
    fn a_copy_has_rows_of_whole_vectors_at_sectors() {
        assert_eq!(packed(10, 15, 1).copy_leading(4), 16);
        assert_eq!(packed(10, 17, 1).copy_leading(4), 24);
        assert_eq!(packed(10, 17, 1).copy_leading(16), 32);
        assert!(packed(10, 6, 1).is_uneven(4));
        assert!(!packed(10, 6, 1).is_uneven(2));
        assert!(RowsOfB { leading: 9, ..packed(10, 8, 1) }.is_uneven(4));
    }
}
