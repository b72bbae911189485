//! Sorts numbers by keys on the device (`cl/format/sort.cl`).

use cl_kernels::sort::{CountArguments, FEATURE_NARROW_KEYS, MoveArguments, SOURCE, Sort};
use cl_kernels::{Accumulate, KernelKey};
use csr_core::{OffsetType, ValueType};

use crate::launch::LaunchSequence;
use crate::scratch::{any_for_a_kernel_to_write, for_a_kernel_to_write};
use crate::{AnyArray, DeviceArray, ElementType, Error, Queue, Result, Scan, check_size};

/// The type of what is sorted by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyType {
    /// `u32`
    U32,
    /// `u64`
    U64,
}

impl KeyType {
    /// That of an array of keys.
    ///
    /// # Errors
    /// Elements that nothing is sorted by.
    pub(crate) fn of(keys: &AnyArray) -> Result<Self> {
        match keys.element() {
            ElementType::U32 => Ok(KeyType::U32),
            ElementType::U64 => Ok(KeyType::U64),
            element => Err(Error::element_type("the array of keys", element, "u32 or u64")),
        }
    }

    /// The feature for such keys of the sort, and of what reads them.
    pub(crate) fn feature(self) -> Option<&'static str> {
        match self {
            KeyType::U32 => Some(FEATURE_NARROW_KEYS),
            KeyType::U64 => None,
        }
    }
}

impl From<KeyType> for ElementType {
    fn from(key_type: KeyType) -> Self {
        match key_type {
            KeyType::U32 => ElementType::U32,
            KeyType::U64 => ElementType::U64,
        }
    }
}

/// Numbers and what they are sorted by; as many of each.
#[derive(Debug)]
pub struct Keyed {
    /// What they are sorted by: of a [`KeyType`].
    pub keys: AnyArray,
    /// The numbers.
    pub numbers: DeviceArray<u32>,
}

impl Keyed {
    /// An array for `count` numbers, whose content is undefined.
    ///
    /// # Errors
    /// An array above the device's largest allocation, or the driver's own failure.
    pub fn allocate(queue: &Queue, key_type: KeyType, count: usize) -> Result<Self> {
        let keys = any_for_a_kernel_to_write(queue, key_type, count)?;
        let numbers = for_a_kernel_to_write(queue, count)?;
        Ok(Keyed { keys, numbers })
    }

    /// Sorts by the lowest `bits` bits of the keys, all others zero; numbers with equal keys keep their order.
    /// Enqueued, not waited for. Takes as much memory again until it is done, and 8 bytes a digit of each tile.
    ///
    /// # Errors
    /// More than 2^32 - 1 keys, keys of another type than there is, not one key a number, or the driver's own failure.
    pub fn sort(self, queue: &Queue, bits: u32) -> Result<Self> {
        // Programs are built before anything is enqueued.
        let parameters = queue.fitting(Error::kernel_group_limit, |queue| {
            let parameters = Sort::for_device(queue.context().device().traits());
            let key_type = KeyType::of(&self.keys)?;
            queue.context().program(&key_of(&parameters, key_type)).map(|_| parameters)
        })?;
        self.sort_with(queue, bits, parameters)
    }

    /// As [`Keyed::sort`], with hyper-parameters of the caller's.
    ///
    /// # Errors
    /// As there.
    pub fn sort_with(self, queue: &Queue, bits: u32, parameters: Sort) -> Result<Self> {
        let len = self.keys.len();
        let numbers = self.numbers.len();
        check_size("the array of keys", (len, "element"), numbers, "one for each number")?;
        let count = count_of("the number of keys", len)?;
        let key_type = KeyType::of(&self.keys)?;
        let key = key_of(&parameters, key_type);
        let program = queue.context().program(&key)?;
        let tiles = len.div_ceil(parameters.tile());
        let counts = for_a_kernel_to_write::<u32>(queue, tiles << parameters.digit_bits())?;
        let scanned = for_a_kernel_to_write::<u32>(queue, (tiles << parameters.digit_bits()) + 1)?;
        let mut scan = Scan::new_blocking(queue, OffsetType::U32)?;
        let mut sequence = LaunchSequence::new(queue, &program, parameters.group_size as usize);
        let (mut from, mut to) = (self, Self::allocate(queue, key_type, len)?);
        for shift in (0..bits).step_by(parameters.digit_bits() as usize) {
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
                sequence.run(&tally, tiles)?;
                scan.enqueue(queue, &counts, &scanned)?;
                sequence.run(&move_, tiles)?;
            }
            std::mem::swap(&mut from, &mut to);
        }
        Ok(from)
    }
}

/// The key of the kernels for such keys.
fn key_of(parameters: &Sort, key_type: KeyType) -> KernelKey {
    let (value_type, offset_type) = (ValueType::F32, OffsetType::U32);
    let key = KernelKey::new(SOURCE, value_type, offset_type, Accumulate::Plain, false, parameters);
    match key_type.feature() {
        Some(feature) => key.with_feature(feature),
        None => key,
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
