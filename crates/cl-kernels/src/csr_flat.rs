//! `csr_flat`: equal nonzeros a group, wherever rows begin and end (`cl/spmv/csr_flat.cl`).

use csr_core::ValueType;
use csr_core::plan::csr_flat::PieceRules;

use crate::arguments::arguments;
use crate::parameters::{GROUP_SIZES, check_group_size, check_registers, parameters};
use crate::{Accumulate, Array, DeviceTraits, ParameterError, Scalar};

/// Path of the source below `cl/`.
pub const SOURCE: &str = "spmv/csr_flat.cl";

/// Products that an item adds up by itself before others help: `HEAVY` of the kernel.
const HEAVY: u64 = 64;

parameters! {
    /// Parameters of `csr_flat`.
    pub struct CsrFlat for "csr_flat" {
        /// Items of a work-group: a power of two.
        group_size: GROUP_SIZES,
        /// Nonzeros of a piece, which is a group's: a multiple of `group_size`.
        piece_nnz: [256, 512, 1024, 1536, 2048, 2560, 3072, 4096, 6144, 8192],
        /// Rows of at most this many nonzeros are never cut: at most `piece_nnz`.
        whole_row: [64, 128, 256, 512, 1024],
        /// Registers of an item that NVIDIA's compiler is told to keep to, which decides how many groups a compute unit
        /// holds; 0: as many as it likes. Elsewhere 0.
        registers: [0, 32, 40, 48],
        /// 1: where a piece has fewer long rows than its group teams of 32 items, teams share rows; 0: one team a row. For
        /// rows of thousands; the code takes registers and time from all others. 1 on NVIDIA alone, where items of a team
        /// run in step; elsewhere all of a group share each row.
        shared_rows: [0, 1],
    }
}

impl Default for CsrFlat {
    /// What does well on the GPUs it was tried on, and fits everywhere: 20 KiB for compensated sums in f64.
    fn default() -> Self {
        CsrFlat { group_size: 256, piece_nnz: 1024, whole_row: 256, registers: 0, shared_rows: 0 }
    }
}

impl CsrFlat {
    /// Checks the parameters against the kernel's rules and the device's limits.
    ///
    /// # Errors
    /// The first rule that is broken.
    pub fn check(
        &self,
        device: &DeviceTraits,
        value_type: ValueType,
        accumulate: Accumulate,
    ) -> Result<(), ParameterError> {
        const ALGORITHM: &str = "csr_flat";
        check_group_size(ALGORITHM, self.group_size, device)?;
        let refuse = |name, value: u32, rule: String| {
            let value = u64::from(value);
            Err(ParameterError::Invalid { algorithm: ALGORITHM, name, value, rule })
        };
        if !self.group_size.is_power_of_two() {
            let rule = "it must be a power of two".to_owned();
            return refuse("group_size", self.group_size, rule);
        }
        if self.piece_nnz == 0 || !self.piece_nnz.is_multiple_of(self.group_size) {
            let rule =
                format!("it must be a positive multiple of group_size = {}", self.group_size);
            return refuse("piece_nnz", self.piece_nnz, rule);
        }
        if self.whole_row == 0 || self.whole_row > self.piece_nnz {
            let rule = format!("it must be between 1 and piece_nnz = {}", self.piece_nnz);
            return refuse("whole_row", self.whole_row, rule);
        }
        check_registers(ALGORITHM, self.registers, device)?;
        let most = u32::from(device.takes_register_limits());
        if self.shared_rows > most {
            let rule = format!("on {} it must be at most {most}", device.name);
            return refuse("shared_rows", self.shared_rows, rule);
        }
        device.check_local_sums(ALGORITHM, "piece_nnz", self.local_sums(), value_type, accumulate)
    }

    /// What a group's local memory holds, in sums: products, those of items, and places and the list of rows, which
    /// have less than one word for each of a sum's.
    pub(crate) fn local_sums(&self) -> u64 {
        let products = u64::from(self.piece_nnz) + u64::from(self.whole_row);
        let places = 2 * u64::from(self.group_size) + 1;
        products + places + u64::from(self.group_size) + products / HEAVY + 4
    }

    /// How the pattern is cut into pieces.
    pub fn rules(&self) -> PieceRules {
        PieceRules { piece_nnz: self.piece_nnz, whole_row: self.whole_row }
    }
}

arguments! {
    /// Arguments of the kernel `csr_flat`.
    pub struct Arguments<M> for "csr_flat" {
        /// Rows of A: at least 1.
        rows: u32,
        /// Nonzeros of A.
        nnz: u64,
        /// Row offsets: rows + 1.
        offsets: Array<M>,
        /// Column indices: nnz.
        columns: Array<M>,
        /// Values of A: nnz.
        values: Array<M>,
        /// The vector x: cols.
        x: Array<M>,
        /// The vector y: rows.
        y: Array<M>,
        /// Scales A x.
        alpha: Scalar<M>,
        /// Scales y; with 0, y is not read.
        beta: Scalar<M>,
        /// 0, which the compiler must not know: it ties the order of atomics to data.
        zero: u32,
        /// The piece that the first group takes: 0, or the last, from which the others count down.
        first_piece: u32,
        /// Where pieces begin, 64-bit entries, one more than work-groups; and behind them where parts of cut rows come
        /// together, two accumulators and a 32-bit word a piece, which are 0. Aligned to 8 bytes.
        room: Array<M>,
    }
}
