//! Sorts rows by keys on the device (`cl/format/sort.cl`).

use cl_kernels::sort::{CountArguments, DIGIT_BITS, MoveArguments, SOURCE, ScanArguments, Sort};
use cl_kernels::{Accumulate, KernelKey};
use csr_core::{OffsetType, ValueType};

use crate::launch::Steps;
use crate::spmv::workspace::for_a_kernel_to_write;
use crate::{DeviceArray, Queue, Result};

/// Neighbouring keys that an item moves: a tile is then 1,024, and its counts are few beside it.
const KEYS_PER_ITEM: u32 = 8;

/// Rows and what they are sorted by; as many of each.
#[derive(Debug)]
pub(crate) struct KeyedRows {
    pub(crate) keys: DeviceArray<u64>,
    pub(crate) rows: DeviceArray<u32>,
}

impl KeyedRows {
    /// Room for `count` rows.
    pub(crate) fn allocate(queue: &Queue, count: usize) -> Result<Self> {
        let (keys, rows) =
            (for_a_kernel_to_write(queue, count)?, for_a_kernel_to_write(queue, count)?);
        Ok(KeyedRows { keys, rows })
    }

    /// Sorts by the lowest `bits` bits of the keys; rows with equal keys keep their order. Enqueued, not waited for.
    pub(crate) fn sort(self, queue: &Queue, bits: u32) -> Result<Self> {
        let count = self.keys.len();
        // An item for each of the 16 digits at least.
        let max_group_size = queue.context().device().traits().max_group_size;
        let group_size = 1u32 << max_group_size.clamp(16, 128).ilog2();
        let parameters = Sort { group_size, keys_per_item: KEYS_PER_ITEM };
        let key = KernelKey::new(
            SOURCE,
            ValueType::F32,
            OffsetType::U32,
            Accumulate::Plain,
            false,
            &parameters,
        );
        let program = queue.context().program(&key)?;
        let tiles = count.div_ceil((group_size * KEYS_PER_ITEM) as usize);
        let counts = for_a_kernel_to_write::<u32>(queue, tiles << DIGIT_BITS)?;
        let mut steps = Steps::new(queue, &program, group_size as usize);
        let (mut from, mut to) = (self, Self::allocate(queue, count)?);
        for shift in (0..bits).step_by(DIGIT_BITS as usize) {
            let (count, counts) = (count as u32, counts.argument());
            let (keys, rows) = (from.keys.argument(), from.rows.argument());
            let (sorted_keys, sorted_rows) = (to.keys.argument(), to.rows.argument());
            let tally = CountArguments { count, shift, keys, counts };
            let scan = ScanArguments { count: (tiles << DIGIT_BITS) as u32, counts };
            let move_ =
                MoveArguments { count, shift, counts, keys, rows, sorted_keys, sorted_rows };
            // SAFETY: all arrays are as long as `count`, or hold a counter for each digit of each tile.
            #[expect(unsafe_code, reason = "arguments and arrays are this module's own")]
            unsafe {
                steps.run(&tally, tiles)?;
                steps.run(&scan, tiles.min(1))?;
                steps.run(&move_, tiles)?;
            }
            std::mem::swap(&mut from, &mut to);
        }
        Ok(from)
    }
}
