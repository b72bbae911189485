//! What methods share: x, r, the state on the device, and launching on it.

use std::sync::Arc;

use cl_kernels::solver_state::{
    ENDED_IN, FEATURE_JACOBI, FEATURE_NORM_ONE, LAST_AFTER_RESIDUAL, LAST_ITERATION,
    LAST_ITERATION_NEVER_ENDS, OUTCOME, PROGRESS_WORDS, SCALARS, SUM_OF_MAGNITUDES, SUM_OF_SQUARES,
    SUMS, SUMS_COUNTER, SolverState,
};
use cl_kernels::solver_vectors::{CopyArguments, NormArguments, SolverVectors};
use cl_kernels::{Accumulate, Array, DeviceTraits, KernelArguments, KernelKey, Parameters, Scalar};
use csr_core::{Accumulator, OffsetType, Value, ValueType};

use super::{Norm, Norms, Snapshot, SolverParameters};
use crate::launch::{Size, launch, launch_unobserved};
use crate::raw::{Kernel, Memory};
use crate::spmv::check_value_type;
use crate::spmv::workspace::zeros_blocking;
use crate::{DeviceArray, Program, Queue, Result};

/// Bytes that an item moves at once.
const PIECE_BYTES: usize = 16;

/// What all methods have.
#[derive(Debug)]
pub(super) struct Stage<T> {
    pub(super) launcher: Launcher,
    pub(super) rows: usize,
    /// Tiles of each vector.
    pub(super) tiles: u32,
    pub(super) x: DeviceArray<T>,
    pub(super) r: DeviceArray<T>,
    pub(super) inverse_diagonal: Option<DeviceArray<T>>,
    pub(super) sums_space: DeviceArray<u32>,
    pub(super) state: DeviceArray<u32>,
}

impl<T: Accumulator> Stage<T> {
    pub(super) fn new_blocking(
        queue: &Queue,
        parameters: SolverParameters,
        norm: Norm,
        has_preconditioner: bool,
        rows: usize,
        places: usize,
    ) -> Result<Self> {
        let context = queue.context();
        check_value_type(context, T::TYPE)?;
        let traits = context.device().traits();
        let Specialised { mut key, group_size, batch, groups_per_unit } =
            Specialised::of(parameters, T::TYPE, traits)?;
        if has_preconditioner {
            key = key.with_feature(FEATURE_JACOBI);
        }
        if norm == Norm::One {
            key = key.with_feature(FEATURE_NORM_ONE);
        }
        let vector_key = key_of(
            cl_kernels::solver_vectors::SOURCE,
            T::TYPE,
            &SolverVectors { group_size, batch },
        );
        let tile = (group_size * batch) as usize * PIECE_BYTES / size_of::<T>();
        let tiles = rows.div_ceil(tile).max(1);
        let padded = tiles * tile;
        let most = traits.compute_units as usize * groups_per_unit as usize;
        let size = Size { groups: most.clamp(1, tiles), group_size: group_size as usize };
        let real_words = size_of::<T>() / 4;
        let launcher = Launcher {
            program: context.program(&key)?,
            vector_program: context.program(&vector_key)?,
            kernels: Vec::new(),
            size,
        };
        let inverse_diagonal =
            has_preconditioner.then(|| zeros_blocking(queue, padded)).transpose()?;
        Ok(Stage {
            launcher,
            rows,
            // Rows are counted in 32 bits, and a tile has one at least.
            tiles: tiles as u32,
            x: zeros_blocking(queue, padded)?,
            r: zeros_blocking(queue, padded)?,
            inverse_diagonal,
            sums_space: zeros_blocking(queue, SUMS_COUNTER + SUMS * size.groups * real_words)?,
            state: zeros_blocking(queue, PROGRESS_WORDS + (SCALARS + places) * real_words)?,
        })
    }

    /// One more vector, all zeros.
    pub(super) fn vector_blocking(&self, queue: &Queue) -> Result<DeviceArray<T>> {
        zeros_blocking(queue, self.x.len())
    }

    /// The elements of a vector that are not padding.
    pub(super) fn unpadded(&self, vector: &DeviceArray<T>) -> Result<DeviceArray<T>> {
        vector.slice(0..self.rows)
    }

    pub(super) fn vector_bytes(&self) -> usize {
        self.x.size_bytes()
    }

    pub(super) fn size_bytes(&self) -> usize {
        let vectors = 2 + usize::from(self.inverse_diagonal.is_some());
        vectors * self.vector_bytes() + self.sums_space.size_bytes() + self.state.size_bytes()
    }

    /// A number as an argument.
    pub(super) fn scalar<'m>(value: f64) -> Scalar<&'m Memory> {
        match T::TYPE {
            ValueType::F64 => Scalar::F64(value),
            _ => Scalar::F32(value as f32),
        }
    }

    /// The state of a solve that has not begun.
    pub(super) fn reset_blocking(&mut self, queue: &Queue) -> Result<()> {
        let mut words = vec![0u32; self.state.len()];
        for place in LAST_ITERATION {
            words[place] = LAST_ITERATION_NEVER_ENDS;
        }
        self.state.write_blocking(queue, &words)
    }

    /// Reads the state.
    pub(super) fn snapshot_blocking(&self, queue: &Queue) -> Result<Snapshot> {
        let words = self.state.read_blocking(queue)?;
        Ok(Snapshot {
            state: SolverState::of_word(words[OUTCOME]),
            ended_in: words[ENDED_IN],
            last_iteration: words[LAST_AFTER_RESIDUAL],
            residuals: Self::reals(&words)[SCALARS..].to_vec(),
        })
    }

    fn reals(words: &[u32]) -> Vec<f64> {
        let bytes: &[u8] = bytemuck::cast_slice(&words[PROGRESS_WORDS..]);
        let reals = bytes.chunks_exact(size_of::<T>());
        reals.map(|real| Value::to_f64(bytemuck::pod_read_unaligned::<T>(real))).collect()
    }

    /// The norms of one of the solver's vectors.
    pub(super) fn norms_blocking(&mut self, queue: &Queue, vector: Which<'_, T>) -> Result<Norms> {
        let vector = match vector {
            Which::R => &self.r,
            Which::Other(vector) => vector,
        };
        let arguments = NormArguments {
            tiles: self.tiles,
            zero: 0,
            vector: vector.argument(),
            sums_space: self.sums_space.argument(),
            state: self.state.argument(),
        };
        // SAFETY: the vector is the solver's, of `tiles` tiles; sums and state are as long as kernels demand.
        #[expect(unsafe_code, reason = "arguments and arrays are the solver's own")]
        unsafe {
            self.launcher.run(queue, &arguments)?
        };
        let reals = Self::reals(&self.state.read_blocking(queue)?);
        Ok(Norms { squares: reals[SUM_OF_SQUARES], magnitudes: reals[SUM_OF_MAGNITUDES] })
    }
}

/// Which vector has its norms measured.
pub(super) enum Which<'a, T> {
    /// The stage's own residual.
    R,
    /// A method's.
    Other(&'a DeviceArray<T>),
}

/// The inverse diagonal as an argument; kernels without it never look at what takes its place.
pub(super) fn inverse<'a, T: Accumulator>(
    inverse_diagonal: &'a Option<DeviceArray<T>>,
    in_its_place: &'a DeviceArray<T>,
) -> Array<&'a Memory> {
    inverse_diagonal.as_ref().unwrap_or(in_its_place).argument()
}

/// A method's key, and what the host reads of its hyper-parameters.
struct Specialised {
    key: KernelKey,
    group_size: u32,
    batch: u32,
    groups_per_unit: u32,
}

impl Specialised {
    fn of(
        parameters: SolverParameters,
        value_type: ValueType,
        traits: &DeviceTraits,
    ) -> Result<Self> {
        Ok(match parameters {
            SolverParameters::Cg(of) => {
                of.check(traits)?;
                Specialised {
                    key: key_of(cl_kernels::cg::SOURCE, value_type, &of),
                    group_size: of.group_size,
                    batch: of.batch,
                    groups_per_unit: of.groups_per_unit,
                }
            }
            SolverParameters::BiCgStab(of) => {
                of.check(traits)?;
                Specialised {
                    key: key_of(cl_kernels::bicgstab::SOURCE, value_type, &of),
                    group_size: of.group_size,
                    batch: of.batch,
                    groups_per_unit: of.groups_per_unit,
                }
            }
        })
    }
}

fn key_of<P: Parameters>(source: &'static str, value_type: ValueType, parameters: &P) -> KernelKey {
    KernelKey::new(source, value_type, OffsetType::U32, Accumulate::Plain, false, parameters)
}

/// Programs, and their kernels as they come to be needed.
#[derive(Debug)]
pub(super) struct Launcher {
    program: Arc<Program>,
    vector_program: Arc<Program>,
    /// Made once each: a driver may take longer for that than for a launch.
    kernels: Vec<(&'static str, Kernel)>,
    size: Size,
}

impl Launcher {
    /// Enqueues the kernel that takes these arguments, after everything before.
    ///
    /// # Safety
    /// As [`launch`]; and the solver waits for the queue before it gives up the memory.
    #[expect(unsafe_code, reason = "as `launch`")]
    pub(super) unsafe fn run<'m, A: KernelArguments<&'m Memory>>(
        &mut self,
        queue: &Queue,
        arguments: &A,
    ) -> Result<()> {
        let size = self.size;
        let kernel = self.kernel(A::KERNEL)?;
        if queue.is_in_order() {
            // SAFETY: the caller's promise.
            return unsafe { launch_unobserved(queue, kernel, arguments, size) };
        }
        // SAFETY: the caller's promise.
        let event = unsafe { launch(queue, kernel, arguments, size, &[])? };
        queue.settle_blocking(&event)
    }

    /// Copies as many elements as both have.
    pub(super) fn copy<T: Accumulator>(
        &mut self,
        queue: &Queue,
        source: &DeviceArray<T>,
        target: &DeviceArray<T>,
    ) -> Result<()> {
        let count = source.len().min(target.len()) as u64;
        let (source, target) = (source.argument(), target.argument());
        let size = self.size;
        let kernel = self.kernel(CopyArguments::<&Memory>::KERNEL)?;
        let arguments = CopyArguments { count, source, target };
        // SAFETY: neither array is shorter than the count. An event is made, since shared virtual memory of the
        // application's has no other way to know that it is in use.
        #[expect(unsafe_code, reason = "the lengths were just compared")]
        let event = unsafe { launch(queue, kernel, &arguments, size, &[])? };
        queue.settle_blocking(&event)
    }

    fn kernel(&mut self, name: &'static str) -> Result<&mut Kernel> {
        let known = self.kernels.iter().position(|(known, _)| *known == name);
        let at = match known {
            Some(at) => at,
            None => {
                let is_of_vectors =
                    [CopyArguments::<&Memory>::KERNEL, NormArguments::<&Memory>::KERNEL]
                        .contains(&name);
                let program = if is_of_vectors { &self.vector_program } else { &self.program };
                self.kernels.push((name, program.kernel(name)?));
                self.kernels.len() - 1
            }
        };
        Ok(&mut self.kernels[at].1)
    }
}
