//! Sorts numbers by keys on the device (`cl/format/sort.cl`).

use cl_kernels::sort::{
    CountArguments, DIGIT_BITS, FEATURE_NARROW_KEYS, MoveArguments, SOURCE, Sort,
};
use cl_kernels::{Accumulate, KernelKey};
use csr_core::{OffsetType, ValueType};

use crate::launch::Steps;
use crate::spmv::workspace::for_a_kernel_to_write;
use crate::{DeviceArray, Error, Queue, Result, Scan};

mod sealed {
    pub trait Sealed {}
    impl Sealed for u32 {}
    impl Sealed for u64 {}
}

/// What can be sorted by: `u32` or `u64`.
pub trait SortKey: sealed::Sealed + bytemuck::Pod {
    /// The sort's feature for such keys.
    const FEATURE: Option<&'static str>;
}

impl SortKey for u32 {
    const FEATURE: Option<&'static str> = Some(FEATURE_NARROW_KEYS);
}

impl SortKey for u64 {
    const FEATURE: Option<&'static str> = None;
}

/// Numbers and what they are sorted by; as many of each.
#[derive(Debug)]
pub struct Keyed<K> {
    /// What they are sorted by.
    pub keys: DeviceArray<K>,
    /// The numbers.
    pub numbers: DeviceArray<u32>,
}

impl<K: SortKey> Keyed<K> {
    /// Room for `count` numbers, whose content is undefined.
    ///
    /// # Errors
    /// An array above the device's largest allocation, or the driver's own failure.
    pub fn allocate(queue: &Queue, count: usize) -> Result<Self> {
        let (keys, numbers) =
            (for_a_kernel_to_write(queue, count)?, for_a_kernel_to_write(queue, count)?);
        Ok(Keyed { keys, numbers })
    }

    /// Sorts by the lowest `bits` bits of the keys, all others zero; numbers with equal keys keep their order.
    /// Enqueued, not waited for. Takes as much memory again until it is done, and 8 bytes a digit of each tile.
    ///
    /// # Errors
    /// More than 2^32 - 1 keys, not one key a number, or the driver's own failure.
    pub fn sort(self, queue: &Queue, bits: u32) -> Result<Self> {
        let parameters = Sort::for_device(queue.context().device().traits());
        self.sort_with(queue, bits, parameters)
    }

    /// As [`Keyed::sort`], with hyper-parameters of the caller's.
    ///
    /// # Errors
    /// As there.
    pub fn sort_with(self, queue: &Queue, bits: u32, parameters: Sort) -> Result<Self> {
        let len = self.keys.len();
        if len != self.numbers.len() {
            let text = format!("{len} keys for {} numbers", self.numbers.len());
            return Err(Error::Mismatch(text));
        }
        let count = count_of("the number of keys", len)?;
        let key = KernelKey::new(
            SOURCE,
            ValueType::F32,
            OffsetType::U32,
            Accumulate::Plain,
            false,
            &parameters,
        );
        let key = match K::FEATURE {
            Some(feature) => key.with_feature(feature),
            None => key,
        };
        let program = queue.context().program(&key)?;
        let tiles = len.div_ceil(parameters.tile());
        let counts = for_a_kernel_to_write::<u32>(queue, tiles << DIGIT_BITS)?;
        let scanned = for_a_kernel_to_write::<u32>(queue, (tiles << DIGIT_BITS) + 1)?;
        let mut scan = Scan::<u32>::new_blocking(queue)?;
        let mut steps = Steps::new(queue, &program, parameters.group_size as usize);
        let (mut from, mut to) = (self, Self::allocate(queue, len)?);
        for shift in (0..bits).step_by(DIGIT_BITS as usize) {
            let (keys, numbers) = (from.keys.argument(), from.numbers.argument());
            let (sorted_keys, sorted_numbers) = (to.keys.argument(), to.numbers.argument());
            let tally = CountArguments { count, shift, keys, counts: counts.argument() };
            let scanned_counts = scanned.argument();
            let move_ = MoveArguments {
                count,
                shift,
                scanned: scanned_counts,
                keys,
                numbers,
                sorted_keys,
                sorted_numbers,
            };
            // SAFETY: all arrays are as long as `count`, or hold a counter for each digit of each tile.
            #[expect(unsafe_code, reason = "arguments and arrays are this module's own")]
            unsafe {
                steps.run(&tally, tiles)?;
                scan.enqueue(queue, &counts, &scanned)?;
                steps.run(&move_, tiles)?;
            }
            std::mem::swap(&mut from, &mut to);
        }
        Ok(from)
    }
}

/// What kernels count in 32 bits.
pub(crate) fn count_of(what: &str, value: usize) -> Result<u32> {
    u32::try_from(value).map_err(|_| Error::Range {
        what: what.to_owned(),
        value: value as u64,
        rule: format!("the device sorts at most {}", u32::MAX),
    })
}

/// Bits that hold numbers up to `most`.
pub(crate) fn bits_of(most: usize) -> u32 {
    usize::BITS - most.leading_zeros()
}
