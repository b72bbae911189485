//! A transposed copy of a matrix on the device, and new values for it.
//!
//! Nonzeros are sorted by column (`format/sort.cl`); their rows and numbers follow (`format/csr_to_coo.cl`), and values
//! are fetched by those numbers (`format/gather_values.cl`).

use cl_kernels::DeviceType;
use cl_kernels::csr_to_coo::{NumberArguments, TransposedArguments};
use csr_core::{AnyPatternView, Transposed, for_pattern};

use super::coo_to_csr::write_offsets_of_rows;
use super::csr_to_coo;
use super::gathered::{GatheredMatrix, check_offset_type};
use crate::launch::LaunchSequence;
use crate::scratch::{any_for_a_kernel_to_write, for_a_kernel_to_write};
use crate::sort::{KeyType, Keyed, bits_of, count_of};
use crate::{AnyArray, AnyMatrix, DeviceArray, Queue, Result};

/// The transposed copy of a matrix, which is the matrix in compressed columns: its own pattern, rows in order of their
/// columns, and where each of its values comes from.
#[derive(Debug)]
pub struct AnyTransposedMatrix(GatheredMatrix);

impl AnyTransposedMatrix {
    /// Transposes where it is faster: a CPU device's memory is the host's, which sorts faster; elsewhere on the device,
    /// where the way is longer than the sort. `pattern` is the matrix's, if the host has it. The result is the same.
    ///
    /// # Errors
    /// As [`AnyTransposedMatrix::on_device_blocking`]; or a pattern on the device that breaks its invariants.
    pub fn new_blocking(
        queue: &Queue,
        matrix: &AnyMatrix,
        pattern: Option<AnyPatternView<'_>>,
    ) -> Result<Self> {
        let is_cpu = queue.context().device().traits().device_type == DeviceType::Cpu;
        if !is_cpu && u32::try_from(matrix.nnz()).is_ok() {
            return Self::on_device_blocking(queue, matrix);
        }
        if let Some(pattern) = pattern {
            return Self::on_host_blocking(queue, matrix, pattern);
        }
        matrix.with_host_pattern_blocking(queue, |pattern| {
            Self::on_host_blocking(queue, matrix, pattern)
        })
    }

    /// Transposes on the device, and reads nothing back but what the choice of an algorithm asks of row lengths. While
    /// it runs it takes 20 bytes a nonzero more than the copy, which it gives back.
    ///
    /// # Errors
    /// More than 2^32 - 1 nonzeros, a matrix of another context, no memory on the device, or the driver's own failure.
    pub fn on_device_blocking(queue: &Queue, matrix: &AnyMatrix) -> Result<Self> {
        let nnz = count_of("the number of nonzeros", matrix.nnz())?;
        queue.context().check_array("the matrix", matrix.offsets())?;
        let (program, parameters) = csr_to_coo::program(queue, matrix.offset_type())?;
        let mut sequence = LaunchSequence::new(queue, &program, parameters.group_size as usize);
        let unsorted = Keyed::allocate(queue, KeyType::U32, matrix.nnz())?;
        let number = NumberArguments {
            nnz,
            columns: matrix.columns().argument(),
            keys: unsorted.keys.argument(),
            numbers: unsorted.numbers.argument(),
        };
        let groups = sequence.groups(matrix.nnz());
        // SAFETY: a key and a number for each nonzero.
        #[expect(unsafe_code, reason = "arguments and arrays are this module's own")]
        unsafe {
            sequence.run(&number, groups)?
        };
        let sorted = unsorted.sort(queue, bits_of(matrix.cols().saturating_sub(1)))?;
        let offset_type = matrix.offset_type();
        let offsets = any_for_a_kernel_to_write(queue, offset_type, matrix.cols() + 1)?;
        write_offsets_of_rows(queue, &sorted.keys, &offsets)?;
        let Keyed { keys, numbers } = sorted;
        drop(keys);
        let mut row_indices = for_a_kernel_to_write::<u32>(queue, matrix.nnz())?;
        matrix.write_row_indices(queue, &mut row_indices)?;
        let columns = for_a_kernel_to_write::<u32>(queue, matrix.nnz())?;
        let sources = any_for_a_kernel_to_write(queue, offset_type, matrix.nnz())?;
        let write = TransposedArguments {
            nnz,
            numbers: numbers.argument(),
            row_indices: row_indices.argument(),
            columns: columns.argument(),
            sources: sources.argument(),
        };
        // SAFETY: all arrays are nnz long, and numbers are below nnz.
        #[expect(unsafe_code, reason = "arguments and arrays are this module's own")]
        unsafe {
            sequence.run(&write, groups)?
        };
        let values = any_for_a_kernel_to_write(queue, matrix.value_type(), matrix.nnz())?;
        let columns = columns.into_any();
        // SAFETY: offsets and columns were made from a pattern's, sorted.
        #[expect(unsafe_code, reason = "the arrays are this module's own")]
        let copy = unsafe {
            AnyMatrix::from_arrays_blocking(queue, matrix.rows(), offsets, columns, values)?
        };
        GatheredMatrix::new_blocking(queue, copy, sources, matrix).map(Self)
    }

    /// Transposes `pattern`, which is the matrix's, on the host, and fetches the values on the device.
    ///
    /// # Errors
    /// A pattern with offsets of another type, no memory on the device for the copy, or the driver's own failure.
    pub fn on_host_blocking(
        queue: &Queue,
        matrix: &AnyMatrix,
        pattern: AnyPatternView<'_>,
    ) -> Result<Self> {
        check_offset_type(pattern, matrix)?;
        let (copy, sources) = for_pattern!(pattern, pattern => {
            let Transposed { pattern, sources } = pattern.transpose();
            let values = any_for_a_kernel_to_write(queue, matrix.value_type(), sources.len())?;
            let copy = AnyMatrix::from_pattern_blocking(queue, pattern.view().into(), values)?;
            (copy, DeviceArray::upload_blocking(queue, &sources)?.into_any())
        });
        GatheredMatrix::new_blocking(queue, copy, sources, matrix).map(Self)
    }

    /// Gathers the values of `matrix`, whose pattern is the one that was transposed.
    ///
    /// # Errors
    /// Values of another type, or the driver's own failure.
    pub fn update_values_blocking(&mut self, queue: &Queue, matrix: &AnyMatrix) -> Result<()> {
        self.0.update_values_blocking(queue, matrix)
    }

    /// The transposed matrix.
    pub fn matrix(&self) -> &AnyMatrix {
        self.0.matrix()
    }

    /// The transposed matrix alone; new values are then the caller's own affair.
    pub fn into_matrix(self) -> AnyMatrix {
        self.0.into_matrix()
    }

    /// Where each of its values comes from, as an index among the matrix's: nnz.
    pub fn sources(&self) -> &AnyArray {
        self.0.sources()
    }

    /// [`AnyMatrix::values_id`] of the values the copy holds.
    pub fn values_id(&self) -> u64 {
        self.0.values_id()
    }

    /// Bytes of the copy on the device.
    pub fn size_bytes(&self) -> usize {
        self.0.size_bytes()
    }
}
