//! Offsets of counts on the device: the exclusive scan (`cl/format/scan.cl`).

use cl_kernels::scan::{self, OffsetArguments, SOURCE, ScanArguments, SumArguments};
use cl_kernels::{Accumulate, KernelKey};
use csr_core::{Offset as _, OffsetType, ValueType, for_offset_type};

use crate::launch::{Size, launch_next};
use crate::raw::Kernel;
use crate::scratch::for_a_kernel_to_write;
use crate::{AnyArray, DeviceArray, Error, Event, Queue, Result, check_size};

/// Neighbouring counts that an item adds up.
const COUNTS_PER_ITEM: u32 = 8;

/// Makes offsets of counts, of one array after another; keeps its memory, some 16 KiB, for the next.
#[derive(Debug)]
pub struct Scan {
    parameters: scan::Scan,
    offset_type: OffsetType,
    sum: Kernel,
    scan: Kernel,
    write: Kernel,
    sums: DeviceArray<u64>,
    total: DeviceArray<u64>,
}

impl Scan {
    /// Builds the program, which writes offsets of this type.
    ///
    /// # Errors
    /// A kernel that does not build, or the driver's own failure.
    pub fn new_blocking(queue: &Queue, offset_type: OffsetType) -> Result<Self> {
        queue.fitting(Error::kernel_group_limit, |queue| {
            Self::with_parameters_blocking(queue, offset_type, default_parameters(queue))
        })
    }

    /// As [`Scan::new_blocking`], with hyper-parameters of the caller's.
    ///
    /// # Errors
    /// Parameters that the kernels or the device cannot do; else as there.
    pub fn with_parameters_blocking(
        queue: &Queue,
        offset_type: OffsetType,
        parameters: scan::Scan,
    ) -> Result<Self> {
        let sums = for_a_kernel_to_write(queue, parameters.tile())?;
        let total = for_a_kernel_to_write(queue, 1)?;
        Self::in_memory_blocking(queue, offset_type, parameters, (sums, total))
    }

    /// As [`Scan::with_parameters_blocking`], in the caller's memory: a tile of sums and the total.
    pub(crate) fn in_memory_blocking(
        queue: &Queue,
        offset_type: OffsetType,
        parameters: scan::Scan,
        (sums, total): (DeviceArray<u64>, DeviceArray<u64>),
    ) -> Result<Self> {
        let context = queue.context();
        parameters.check(context.device().traits())?;
        let (value_type, plain) = (ValueType::F32, Accumulate::Plain);
        let key = KernelKey::new(SOURCE, value_type, offset_type, plain, false, &parameters);
        let program = context.program(&key)?;
        Ok(Scan {
            parameters,
            offset_type,
            sum: program.kernel("sum_runs")?,
            scan: program.kernel("scan_runs")?,
            write: program.kernel("write_offsets")?,
            sums,
            total,
        })
    }

    /// Sets `offsets[i]` to the sum of the counts before `i`, and the last one to the sum of all: one offset more
    /// than counts. Enqueued after what `queue` holds, not waited for; the event completes when the offsets are there.
    ///
    /// With 32-bit offsets whose sum they do not hold, offsets are invalid: [`Scan::total_blocking`] says so.
    ///
    /// # Errors
    /// Not one offset more than counts, offsets of another type, an array of another context, or the driver's own
    /// failure.
    pub fn run(
        &mut self,
        queue: &Queue,
        counts: &DeviceArray<u32>,
        offsets: &AnyArray,
    ) -> Result<Event> {
        self.enqueue(queue, counts, offsets)?;
        queue.handle().marker(&[])
    }

    /// As [`Scan::run`], and no event is made for it.
    pub(crate) fn enqueue(
        &mut self,
        queue: &Queue,
        counts: &DeviceArray<u32>,
        offsets: &AnyArray,
    ) -> Result<()> {
        offsets.check_element("the array of offsets", self.offset_type)?;
        let (found, needed) = ((offsets.len(), "element"), counts.len() + 1);
        check_size("the array of offsets", found, needed, "one more than counts")?;
        queue.context().check_typed("the array of counts", counts)?;
        queue.context().check_array("the array of offsets", offsets)?;
        queue.context().check_array("the memory of the scan", &self.sums)?;
        let count = counts.len() as u64;
        let tiles = counts.len().div_ceil(self.parameters.tile()).max(1);
        let run_tiles = tiles.div_ceil(self.parameters.tile());
        let runs = tiles.div_ceil(run_tiles);
        let group_size = self.parameters.group_size as usize;
        let (all, one) = (Size { groups: runs, group_size }, Size { groups: 1, group_size });
        let (sums, total) = (self.sums.argument(), self.total.argument());
        let (run_tiles, counts) = (run_tiles as u32, counts.argument());
        let sum = SumArguments { count, run_tiles, counts, sums };
        let scan = ScanArguments { runs: runs as u32, sums, total };
        let offsets = offsets.argument();
        let write = OffsetArguments { count, run_tiles, counts, sums, total, offsets };
        // SAFETY: there are `count` counts and one offset more, and `sums` holds every run.
        #[expect(unsafe_code, reason = "arrays that were checked, or are this module's own")]
        unsafe {
            launch_next(queue, &mut self.sum, &sum, all)?;
            launch_next(queue, &mut self.scan, &scan, one)?;
            launch_next(queue, &mut self.write, &write, all)
        }
    }

    /// The sum of all counts of the last [`Scan::run`] in `queue`; reads 8 bytes back.
    ///
    /// # Errors
    /// More than the offset type counts: the offsets are invalid then. Or the driver's own failure.
    pub fn total_blocking(&self, queue: &Queue) -> Result<u64> {
        let mut total = [0];
        self.total.read_into_blocking(queue, &mut total)?;
        check_total(self.offset_type, total[0])
    }

    /// The sum of all counts of the last [`Scan::run`], on the device: an array of one.
    pub fn total(&self) -> &DeviceArray<u64> {
        &self.total
    }
}

/// What suits the device.
pub(crate) fn default_parameters(queue: &Queue) -> scan::Scan {
    // A count and its sum for each, and a sum for each item.
    let item_bytes = u64::from(COUNTS_PER_ITEM) * 4 + 8;
    let group_size = queue.context().device().traits().group_size(256, item_bytes);
    scan::Scan { group_size, counts_per_item: COUNTS_PER_ITEM }
}

/// Refuses more entries than the offset type counts.
pub(crate) fn check_total(offset_type: OffsetType, total: u64) -> Result<u64> {
    let most = for_offset_type!(offset_type, O => O::MAX_NNZ);
    if total > most {
        let rule = format!("{offset_type} offsets count at most {most}");
        return Err(Error::Range { what: "the sum of counts".to_owned(), value: total, rule });
    }
    Ok(total)
}
