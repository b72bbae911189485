//! `spmm_nonzero_split`: tiles of equally many nonzeros, the published form of `spmm_merge`
//! (`cl/spmm/spmm_nonzero_split.cl`).

use csr_core::ValueType;

use crate::arguments::arguments;
use crate::parameters::{GROUP_SIZES, check_group_size, parameters};
use crate::spmm::{check_vector_width, default_vector_width};
use crate::{Array, DeviceTraits, DeviceType, ParameterError, Scalar};

/// Path of the source below `cl/`.
pub const SOURCE: &str = "spmm/spmm_nonzero_split.cl";

parameters! {
    /// Parameters of `spmm_nonzero_split`.
    pub struct SpmmNonzeroSplit for "spmm_nonzero_split" {
        /// Items of a work-group.
        group_size: GROUP_SIZES,
        /// The most columns an item takes: 1, 2, 4, 8 or 16.
        vector_width: [1, 2, 4, 8, 16],
        /// Rows of B under way at a time: 1 to 16.
        nnz_at_once: [1, 2, 4, 8],
        /// Nonzeros of a tile, which a sub-group takes; the plan cuts them.
        tile_length: [32, 64, 128, 256, 1024] => host,
    }
}

impl SpmmNonzeroSplit {
    /// The paper's on a GPU: one nonzero at a time, and tiles of as many nonzeros as its warps take.
    pub fn default_for(device: &DeviceTraits, value_type: ValueType) -> Self {
        let defaults = Self::defaults(device.device_type, value_type);
        let mut parameters = SpmmNonzeroSplit {
            group_size: defaults
                .group_size
                .min(1 << device.max_group_size.clamp(1, 1 << 10).ilog2()),
            ..defaults
        };
        // What adds up shared rows holds a vector an item in local memory.
        while parameters.group_size > 1 && parameters.local_bytes(value_type) > device.local_bytes {
            parameters.group_size /= 2;
        }
        parameters
    }

    /// For devices of a kind, whose groups can be large enough.
    pub(crate) fn defaults(device_type: DeviceType, value_type: ValueType) -> Self {
        SpmmNonzeroSplit {
            group_size: if device_type == DeviceType::Cpu { 64 } else { 128 },
            vector_width: default_vector_width(device_type, value_type),
            nnz_at_once: 1,
            // On a CPU a row that is cut costs a group of the kernel that joins its parts.
            tile_length: if device_type == DeviceType::Cpu { 1024 } else { 32 },
        }
    }

    /// Bytes of local memory, for sums of `value_type`.
    fn local_bytes(&self, value_type: ValueType) -> u64 {
        let real = value_type.accumulator().size_bytes() as u64;
        u64::from(self.group_size) * u64::from(self.vector_width) * real
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
        const ALGORITHM: &str = "spmm_nonzero_split";
        check_group_size(ALGORITHM, self.group_size, device)?;
        check_vector_width(ALGORITHM, self.vector_width)?;
        let ranges =
            [("nnz_at_once", self.nnz_at_once, 16), ("tile_length", self.tile_length, 1 << 16)];
        for (name, value, most) in ranges {
            if value == 0 || value > most {
                let rule = format!("it must be 1 to {most}");
                let value = value.into();
                return Err(ParameterError::Invalid { algorithm: ALGORITHM, name, value, rule });
            }
        }
        let group_size = ("group_size", self.group_size.into());
        device.check_local_bytes(ALGORITHM, group_size, self.local_bytes(value_type))
    }
}

arguments! {
    /// Arguments of the kernel `spmm_nonzero_split`.
    pub struct Arguments<M> for "spmm_nonzero_split" {
        /// Tiles.
        tiles: u32,
        /// Columns of B and C.
        width: u32,
        /// Columns of a tile of columns.
        tile_width: u32,
        /// Items of a sub-group.
        sub_group_size: u32,
        /// The first row that does not end before each boundary: tiles + 1.
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
        /// Parts of rows that tiles share: two rows of C for each boundary that cuts one.
        carries: Array<M>,
    }
}

arguments! {
    /// Arguments of the kernel `spmm_nonzero_split_join`.
    pub struct JoinArguments<M> for "spmm_nonzero_split_join" {
        /// Tiles.
        tiles: u32,
        /// Rows that several tiles share.
        chains: u32,
        /// Columns of B and C.
        width: u32,
        /// Columns of a tile.
        tile_width: u32,
        /// Items of a sub-group.
        sub_group_size: u32,
        /// The first boundary of each such row: chains.
        chain_boundaries: Array<M>,
        /// The row each boundary falls into: tiles + 1.
        boundary_rows: Array<M>,
        /// The slot of each boundary's carries: tiles + 1.
        slots: Array<M>,
        /// Parts of rows.
        carries: Array<M>,
        /// C.
        c: Array<M>,
        /// Elements from one row (column) of C to the next.
        c_leading: u64,
        /// Scales A B.
        alpha: Scalar<M>,
        /// Scales C; with 0, C is not read.
        beta: Scalar<M>,
    }
}
