//! `spmm_merge`: tiles of equally many rows and nonzeros (`cl/spmm/spmm_merge.cl`).

use csr_core::{ValueType, counted};

use crate::arguments::arguments;
use crate::parameters::{GROUP_SIZES, check_group_size, parameters};
use crate::spmm::{check_copy_b, check_vector_width, default_vector_width};
use crate::{Array, DeviceTraits, DeviceType, ParameterError, Scalar};

/// Path of the source below `cl/`.
pub const SOURCE: &str = "spmm/spmm_merge.cl";

parameters! {
    /// Parameters of `spmm_merge`.
    pub struct SpmmMerge for "spmm_merge" {
        /// Items of a work-group.
        group_size: GROUP_SIZES,
        /// The most columns an item takes: 1, 2, 4, 8 or 16.
        vector_width: [1, 2, 4, 8, 16],
        /// Rows of B under way at a time: 1 to 16.
        nnz_at_once: [1, 2, 4, 8],
        /// Rows and nonzeros of a tile, together: more than `slack`.
        tile_length: [256, 512, 1024, 2048],
        /// Nonzeros by which a boundary may move to the beginning of its row.
        slack: [0, 32, 64, 128],
        /// Whether B is copied, as in `spmm_row_split`.
        copy_b: [0, 1] => host,
    }
}

impl SpmmMerge {
    /// Sane values for a device nothing is known of.
    pub fn default_for(device: &DeviceTraits, value_type: ValueType) -> Self {
        let mut parameters = Self::usual(device.device_type, value_type);
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
    pub(crate) fn usual(device_type: DeviceType, value_type: ValueType) -> Self {
        SpmmMerge {
            group_size: 64,
            vector_width: default_vector_width(device_type, value_type),
            nnz_at_once: 4,
            tile_length: 512,
            slack: 64,
            copy_b: 1,
        }
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
