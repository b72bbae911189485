//! `spmm_merge`: tiles of equally many rows and nonzeros (`cl/spmm/spmm_merge.cl`).

use csr_core::{ValueType, counted};

use crate::arguments::arguments;
use crate::parameters::{GROUP_SIZES, check_group_size, parameters};
use crate::spmm::{
    GROUPS_PER_UNIT, LEAST_IDLE, Tiling, check_copy_b, check_vector_width, default_vector_width,
    idle,
};
use crate::{Array, DeviceTraits, DeviceType, ParameterError, Scalar};

/// Path of the source below `cl/`.
pub const SOURCE: &str = "spmm/spmm_merge.cl";

/// Items to which a group grows for its sub-groups.
const MOST_ITEMS: u32 = 128;

/// Tiles are not cut shorter for want of groups.
const LEAST_TILE: u32 = 128;

parameters! {
    /// Parameters of `spmm_merge`.
    pub struct SpmmMerge for "spmm_merge" {
        /// Items of a work-group, at least.
        group_size: GROUP_SIZES,
        /// The most columns an item takes: 1, 2, 4, 8 or 16.
        vector_width: [1, 2, 4, 8, 16],
        /// Rows of B under way at a time: 1 to 16.
        nnz_at_once: [1, 2, 4, 8],
        /// Rows and nonzeros of a tile, together: more than `slack`. Where the device would have too few tiles, less, but
        /// not below 128, if `sub_groups` is above 1.
        tile_length: [256, 512, 1024, 2048],
        /// Nonzeros by which a boundary may move to the beginning of its row.
        slack: [0, 32, 64, 128],
        /// Sub-groups that share a tile: where columns are so many that the group has fewer, it grows for them, to at most
        /// 128 items, and where the device would be idle for twice as many; 1, where it stays.
        sub_groups: [1, 8] => host,
        /// Whether B is copied, as in `spmm_row_split`.
        copy_b: [0, 1] => host,
    }
}

impl SpmmMerge {
    /// Sane values for a device nothing is known of.
    pub fn default_for(device: &DeviceTraits, value_type: ValueType) -> Self {
        let mut parameters = Self::defaults(device.device_type, value_type);
        let most = 1 << device.max_group_size.clamp(1, 1 << 10).ilog2();
        parameters.group_size = parameters.group_size.min(most);
        while parameters.check(device, value_type).is_err() {
            if parameters.tile_length > 64 {
                parameters.tile_length /= 2;
                parameters.slack /= 2;
                parameters.group_size = parameters.group_size.min(parameters.tile_length);
            } else if parameters.group_size > 1 {
                parameters.group_size /= 2;
            } else if parameters.tile_length > 16 {
                parameters.tile_length /= 2;
                parameters.slack /= 2;
            } else {
                break;
            }
        }
        parameters
    }

    /// For devices of a kind, whose groups and local memory can be large enough.
    pub(crate) fn defaults(device_type: DeviceType, value_type: ValueType) -> Self {
        SpmmMerge {
            group_size: 64,
            vector_width: default_vector_width(device_type, value_type),
            nnz_at_once: 4,
            tile_length: 512,
            slack: 64,
            sub_groups: if device_type == DeviceType::Cpu { 1 } else { 8 },
            copy_b: 1,
        }
    }

    /// With a group of as many sub-groups as it should have, and tiles as short as a device needs that takes `path` rows
    /// and nonzeros, with `columns` columns of B, of which an item takes `width`.
    #[must_use]
    pub fn fitted(
        self,
        device: &DeviceTraits,
        value_type: ValueType,
        path: usize,
        (columns, width): (u32, u32),
    ) -> Self {
        let tiling = |group_size: u32| Tiling::new(columns, width, group_size);
        let work = path as f64 * f64::from(tiling(self.group_size).tiles);
        let items = work / f64::from(self.tile_length) * f64::from(self.group_size);
        let is_idle = self.sub_groups > 1 && idle(device.compute_units, items) >= LEAST_IDLE;
        let sub_groups = if is_idle { 2 * self.sub_groups } else { self.sub_groups };
        let mut fitted = self;
        while fitted.group_size < MOST_ITEMS
            && fitted.group_size / tiling(fitted.group_size).sub_group_size < sub_groups
        {
            let larger = SpmmMerge { group_size: 2 * fitted.group_size, ..fitted };
            if larger.check(device, value_type).is_err() {
                break;
            }
            fitted = larger;
        }
        let groups = device.compute_units.max(1) * GROUPS_PER_UNIT;
        let fitting = work / f64::from(groups);
        while is_idle
            && fitted.tile_length >= 2 * LEAST_TILE
            && f64::from(fitted.tile_length) > fitting * LEAST_IDLE
        {
            fitted.tile_length /= 2;
            fitted.slack = fitted.slack.min(fitted.tile_length / 4);
        }
        fitted
    }

    /// Bytes of local memory, for sums of `value_type`.
    fn local_bytes(&self, value_type: ValueType) -> u64 {
        let real = value_type.accumulator().size_bytes() as u64;
        let (group, tile_length) = (u64::from(self.group_size), u64::from(self.tile_length));
        let loads = (tile_length + u64::from(self.slack)).next_multiple_of(group.max(1));
        loads * (4 + real)
            + (tile_length + 1) * 4
            + (group + 2) * 8
            + 2 * group * u64::from(self.vector_width) * real
    }

    /// Checks the parameters against the kernel's rules and the device's limits.
    ///
    /// # Errors
    /// The first rule that is broken.
    pub fn check(
        &self,
        device: &DeviceTraits,
        value_type: ValueType,
    ) -> Result<(), ParameterError> {
        const ALGORITHM: &str = "spmm_merge";
        check_group_size(ALGORITHM, self.group_size, device)?;
        check_vector_width(ALGORITHM, self.vector_width)?;
        check_copy_b(ALGORITHM, self.copy_b)?;
        let refuse = |name, value: u32, rule| {
            let value = value.into();
            Err(ParameterError::Invalid { algorithm: ALGORITHM, name, value, rule })
        };
        if self.nnz_at_once == 0 || self.nnz_at_once > 16 {
            return refuse("nnz_at_once", self.nnz_at_once, "it must be 1 to 16".to_owned());
        }
        if self.tile_length <= self.slack || self.tile_length > 1 << 16 {
            let rule = format!("it must be above slack, {}, and at most {}", self.slack, 1 << 16);
            return refuse("tile_length", self.tile_length, rule);
        }
        if self.sub_groups == 0 || self.sub_groups > MOST_ITEMS {
            return refuse("sub_groups", self.sub_groups, format!("it must be 1 to {MOST_ITEMS}"));
        }
        let bytes = self.local_bytes(value_type);
        if bytes > device.local_bytes {
            let rule = format!(
                "that takes {} of local memory and {} has {}",
                counted(bytes, "byte"),
                device.name,
                device.local_bytes
            );
            return refuse("tile_length", self.tile_length, rule);
        }
        Ok(())
    }
}

arguments! {
    /// Arguments of the kernel `spmm_merge`.
    pub struct Arguments<M> for "spmm_merge" {
        /// Tiles.
        tiles: u32,
        /// Columns of B and C.
        width: u32,
        /// Columns of a tile.
        tile_width: u32,
        /// Items of a sub-group.
        sub_group_size: u32,
        /// The row each boundary falls into: tiles + 1.
        boundary_rows: Array<M>,
        /// The first nonzero after each boundary: tiles + 1.
        boundary_nonzeros: Array<M>,
        /// The slot of each boundary's carries: tiles + 1.
        slots: Array<M>,
        /// Row offsets: rows + 1.
        offsets: Array<M>,
        /// Column indices: nnz.
        columns: Array<M>,
        /// Values of A: nnz.
        values: Array<M>,
        /// B, row-major.
        b: Array<M>,
        /// Bytes from one row of B to the next.
        b_row_bytes: u32,
        /// C.
        c: Array<M>,
        /// Elements from one row (column) of C to the next.
        c_leading: u64,
        /// Scales A B.
        alpha: Scalar<M>,
        /// Scales C; with 0, C is not read.
        beta: Scalar<M>,
        /// Parts of rows that groups share: two rows of C for each boundary that cuts one.
        carries: Array<M>,
        /// A word for each boundary that cuts a row, and each tile of columns: 0 before a launch and after it.
        counters: Array<M>,
        /// Boundaries that cut a row.
        cuts: u32,
        /// 0, which only the host knows.
        zero: u32,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_grow_for_many_columns_and_tiles_shrink_where_the_device_is_idle() {
        let device = DeviceTraits { compute_units: 100, ..crate::tests::gpu() };
        let default = SpmmMerge::defaults(DeviceType::Gpu, ValueType::F32);
        let fitted = |parameters: SpmmMerge, path, columns| {
            let fitted = parameters.fitted(&device, ValueType::F32, path, (columns, 4));
            (fitted.group_size, fitted.tile_length, fitted.slack)
        };
        let (large, small) = (10_000_000, 500_000);
        for (path, columns, expected) in [
            (large, 8, (64, 512, 64)),
            (large, 32, (64, 512, 64)),
            (large, 33, (128, 512, 64)),
            (large, 64, (128, 512, 64)),
            // Twice as many sub-groups.
            (small, 8, (64, 512, 64)),
            (small, 32, (128, 512, 64)),
            (150_000, 8, (64, 256, 64)),
            (20_000, 64, (128, 128, 32)),
            (0, 64, (128, 128, 32)),
        ] {
            assert_eq!(fitted(default, path, columns), expected, "{path}, {columns} columns");
        }
        let as_given = SpmmMerge { sub_groups: 1, ..default };
        assert_eq!(fitted(as_given, 0, 64), (64, 512, 64));
        // A device with small groups stays as it is.
        let small = DeviceTraits { max_group_size: 64, ..device.clone() };
        assert_eq!(default.fitted(&small, ValueType::F32, large, (64, 4)).group_size, 64);
    }
}
