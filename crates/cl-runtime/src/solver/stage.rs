//! What methods share: x, r, the state on the device, and launching on it.

use std::sync::Arc;

use cl_kernels::solver_state::{
    ENDED_IN, FEATURE_ANY_SIGN, FEATURE_JACOBI, FEATURE_NORM_ONE, LAST_AFTER_RESIDUAL,
    LAST_ITERATION, LAST_ITERATION_NEVER_ENDS, LEAST_AT, OUTCOME, PROGRESS_WORDS, SCALARS,
    SUM_OF_MAGNITUDES, SUM_OF_SQUARES, SUMS, SUMS_COUNTER, SolverState,
};
use cl_kernels::solver_vectors::{CopyArguments, NormArguments, SolverVectors};
use cl_kernels::{Accumulate, Array, DeviceTraits, KernelArguments, KernelKey, Parameters, Scalar};
use csr_core::{Number, OffsetType, ValueType};

use super::{Form, Kept, Norm, Norms, Snapshot, SolverParameters};
use crate::arguments::Arguments;
use crate::launch::{Size, launch_after, launch_next};
use crate::raw::{Kernel, Memory};
use crate::scratch::{any_zeros_blocking, zeros_blocking};
use crate::{AnyArray, DeviceArray, Program, Queue, Result};

/// Bytes that an item moves at once.
const CHUNK_BYTES: usize = 16;

/// What all methods have.
#[derive(Debug)]
pub(super) struct Stage {
    pub(super) launcher: Launcher,
    /// What vectors and sums are made in.
    pub(super) value_type: ValueType,
    pub(super) rows: usize,
    /// Tiles of each vector.
    pub(super) tiles: u32,
    pub(super) x: AnyArray,
    pub(super) r: AnyArray,
    pub(super) best: Best,
    pub(super) inverse_diagonal: Option<AnyArray>,
    pub(super) sums_space: DeviceArray<u32>,
    pub(super) state: DeviceArray<u32>,
}

impl Stage {
    pub(super) fn new_blocking(
        queue: &Queue,
        value_type: ValueType,
        parameters: SolverParameters,
        form: Form,
        rows: usize,
        slots: usize,
    ) -> Result<Self> {
        let context = queue.context();
        context.check_value_type(value_type)?;
        let traits = context.device().traits();
        let Specialised { mut key, group_size, batch, groups_per_unit } =
            Specialised::of(parameters, value_type, traits)?;
        if form.has_preconditioner {
            key = key.with_feature(FEATURE_JACOBI);
        }
        if form.norm == Norm::One {
            key = key.with_feature(FEATURE_NORM_ONE);
        }
        if form.any_sign && matches!(parameters, SolverParameters::Cg(_)) {
            key = key.with_feature(FEATURE_ANY_SIGN);
        }
        let vector_key = key_of(
            cl_kernels::solver_vectors::SOURCE,
            value_type,
            &SolverVectors { group_size, batch },
        );
        let tile = (group_size * batch) as usize * CHUNK_BYTES / value_type.size_bytes();
        let tiles = rows.div_ceil(tile).max(1);
        let padded = tiles * tile;
        let most = traits.compute_units as usize * groups_per_unit as usize;
        let size = Size { groups: most.clamp(1, tiles), group_size: group_size as usize };
        let real_words = value_type.size_bytes() / size_of::<u32>();
        let launcher = Launcher {
            program: context.program(&key)?,
            vector_program: context.program(&vector_key)?,
            kernels: Vec::new(),
            size,
        };
        let vector = || any_zeros_blocking(queue, value_type, padded);
        let inverse_diagonal = form.has_preconditioner.then(vector).transpose()?;
        let best = form.keeps_best.then(vector).transpose()?;
        Ok(Stage {
            launcher,
            value_type,
            rows,
            // Rows are counted in 32 bits, and a tile has one at least.
            tiles: tiles as u32,
            x: vector()?,
            r: vector()?,
            best: Best { vector: best, is_written: true },
            inverse_diagonal,
            sums_space: zeros_blocking(queue, SUMS_COUNTER + SUMS * size.groups * real_words)?,
            state: zeros_blocking(queue, PROGRESS_WORDS + (SCALARS + slots) * real_words)?,
        })
    }

    /// One more vector, all zeros.
    pub(super) fn vector_blocking(&self, queue: &Queue) -> Result<AnyArray> {
        any_zeros_blocking(queue, self.value_type, self.x.len())
    }

    /// The elements of a vector that are not padding.
    pub(super) fn unpadded(&self, vector: &AnyArray) -> Result<AnyArray> {
        vector.slice(0..self.rows)
    }

    pub(super) fn vector_bytes(&self) -> usize {
        self.x.size_bytes()
    }

    pub(super) fn size_bytes(&self) -> usize {
        let extra = [&self.inverse_diagonal, &self.best.vector].into_iter().flatten().count();
        let vectors = 2 + extra;
        vectors * self.vector_bytes() + self.sums_space.size_bytes() + self.state.size_bytes()
    }

    /// A number as an argument.
    pub(super) fn scalar<'m>(&self, value: f64) -> Scalar<&'m Memory> {
        Number::of(self.value_type, value).into()
    }

    /// One of the solutions; that of the last iteration where no other is kept.
    pub(super) fn kept(&self, of: Kept) -> &AnyArray {
        self.best.vector.as_ref().filter(|_| of == Kept::Best).unwrap_or(&self.x)
    }

    /// Keeps x as it is, and what is kept is not written by iterations from then on.
    pub(super) fn keep_x(&mut self, queue: &Queue) -> Result<()> {
        self.best.is_written = false;
        match &self.best.vector {
            Some(best) => self.launcher.copy(queue, &self.x, best),
            None => Ok(()),
        }
    }

    /// The state of iterations that have not begun.
    pub(super) fn reset_blocking(&mut self, queue: &Queue) -> Result<()> {
        let mut words = vec![0u32; self.state.len()];
        for index in LAST_ITERATION {
            words[index] = LAST_ITERATION_NEVER_ENDS;
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
            least_at: words[LEAST_AT],
            residuals: self.reals(&words)[SCALARS..].to_vec(),
        })
    }

    fn reals(&self, words: &[u32]) -> Vec<f64> {
        let bytes: &[u8] = bytemuck::cast_slice(&words[PROGRESS_WORDS..]);
        let reals = bytes.chunks_exact(self.value_type.size_bytes());
        match self.value_type {
            ValueType::F64 => reals.map(bytemuck::pod_read_unaligned).collect(),
            _ => reals.map(|real| bytemuck::pod_read_unaligned::<f32>(real).into()).collect(),
        }
    }

    /// The norms of the residual.
    pub(super) fn norms_blocking(&mut self, queue: &Queue) -> Result<Norms> {
        let (squares, magnitudes) = self.sums_blocking(queue, 1.0)?;
        let (smallest, largest) = match self.value_type {
            ValueType::F64 => (f64::MIN_POSITIVE, f64::MAX),
            _ => (f32::MIN_POSITIVE.into(), f32::MAX.into()),
        };
        let is_in_range = (smallest..=largest).contains(&squares);
        let two = if is_in_range || magnitudes == 0.0 || magnitudes.is_nan() {
            squares.sqrt()
        } else {
            // The squares vanish or overflow where the elements do not: those of a multiple do neither.
            let scale = (1.0 / magnitudes).clamp(4.0 * smallest, largest);
            self.sums_blocking(queue, scale)?.0.sqrt() / scale
        };
        Ok(Norms { two, one: magnitudes, is_in_range })
    }

    /// The sum of squares of the residual's elements times `scale`, and the sum of its magnitudes.
    fn sums_blocking(&mut self, queue: &Queue, scale: f64) -> Result<(f64, f64)> {
        let arguments = NormArguments {
            tiles: self.tiles,
            zero: 0,
            scale: Number::of(self.value_type, scale).into(),
            vector: self.r.argument(),
            sums_space: self.sums_space.argument(),
            state: self.state.argument(),
        };
        // SAFETY: the vector is the solver's, of `tiles` tiles; sums and state are as long as kernels demand.
        #[expect(unsafe_code, reason = "arguments and arrays are the solver's own")]
        unsafe {
            self.launcher.run(queue, &arguments)?
        };
        let reals = self.reals(&self.state.read_blocking(queue)?);
        Ok((reals[SUM_OF_SQUARES], reals[SUM_OF_MAGNITUDES]))
    }
}

/// Where an x that is not the last is kept.
#[derive(Debug)]
pub(super) struct Best {
    vector: Option<AnyArray>,
    /// Whether iterations write there; else it holds x of before a restart.
    pub(super) is_written: bool,
}

impl Best {
    /// Where an iteration writes x of the least residual; `instead`, which nothing reads afterwards, where that is not
    /// wanted.
    pub(super) fn or<'a>(&'a self, instead: &'a AnyArray) -> &'a AnyArray {
        self.vector.as_ref().filter(|_| self.is_written).unwrap_or(instead)
    }
}

/// The inverse diagonal as an argument, for kernels that have been compiled without it where there is none.
pub(super) fn inverse(inverse_diagonal: &Option<AnyArray>) -> Array<&Memory> {
    inverse_diagonal.as_ref().map_or_else(Array::none, AnyArray::argument)
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
    /// As [`launch_next`]; and the solver waits for the queue before it gives up the memory.
    #[expect(unsafe_code, reason = "as `launch_next`")]
    pub(super) unsafe fn run<'m>(
        &mut self,
        queue: &Queue,
        arguments: &dyn Arguments<'m>,
    ) -> Result<()> {
        let size = self.size;
        let kernel = self.kernel(arguments.kernel_name())?;
        // SAFETY: the caller's promise.
        unsafe { launch_next(queue, kernel, arguments, size) }
    }

    /// Copies as many elements as both have, which are of the solver's type.
    pub(super) fn copy(
        &mut self,
        queue: &Queue,
        source: &AnyArray,
        target: &AnyArray,
    ) -> Result<()> {
        let count = source.len().min(target.len()) as u64;
        let (source, target) = (source.argument(), target.argument());
        let size = self.size;
        let kernel = self.kernel(CopyArguments::<&Memory>::KERNEL)?;
        let arguments = CopyArguments { count, source, target };
        // SAFETY: neither array is shorter than the count, and both are of the type the kernel is built for. An event
        // is made, since shared virtual memory of the application's has no other way to know that it is in use.
        #[expect(unsafe_code, reason = "the lengths were just compared")]
        let event = unsafe { launch_after(queue, kernel, &arguments, size, &[])? };
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
