//! Launches the kernels of `cl/solver/cg.cl`.

use cl_kernels::cg::{AlphaArguments, DirectionArguments, ResidualArguments};

use super::stage::{Stage, inverse};
use super::{Limits, Multiplication, Multiply};
use crate::{AnyArray, Error, Queue, Result};

/// Vectors besides those of the stage.
pub(super) const VECTORS: usize = 2;

/// How often the kernels of an iteration read or write a vector: p, q; r, q, r; x, p, r, x, p; and the inverse
/// diagonal twice.
pub(super) fn passes(jacobi: bool) -> usize {
    2 + 3 + 5 + 2 * usize::from(jacobi)
}

/// The vectors of CG.
#[derive(Debug)]
pub(super) struct Cg {
    p: AnyArray,
    q: AnyArray,
}

impl Cg {
    pub(super) fn new_blocking(queue: &Queue, stage: &Stage) -> Result<Self> {
        Ok(Cg { p: stage.vector_blocking(queue)?, q: stage.vector_blocking(queue)? })
    }

    pub(super) fn iterate<E: From<Error>>(
        &mut self,
        stage: &mut Stage,
        queue: &Queue,
        iteration: u32,
        slot: u32,
        limits: &Limits,
        multiply: &mut Multiplication<'_, E>,
    ) -> Result<(), E> {
        let (p, mut q) = (stage.unpadded(&self.p)?, stage.unpadded(&self.q)?);
        multiply(Multiply::Operands, &p, &mut q)?;
        let alpha = AlphaArguments {
            tiles: stage.tiles,
            iteration,
            zero: 0,
            p: self.p.argument(),
            q: self.q.argument(),
            sums_space: stage.sums_space.argument(),
            state: stage.state.argument(),
        };
        // SAFETY: all vectors are of `tiles` tiles; sums and state are as long as kernels demand.
        #[expect(unsafe_code, reason = "arguments and arrays are the solver's own")]
        unsafe {
            stage.launcher.run(queue, &alpha)?
        };
        Ok(self.update(stage, queue, iteration, slot, limits)?)
    }

    /// What follows a product; all of the start, which is iteration 0.
    pub(super) fn update(
        &mut self,
        stage: &mut Stage,
        queue: &Queue,
        iteration: u32,
        slot: u32,
        limits: &Limits,
    ) -> Result<()> {
        let inverse_diagonal = inverse(&stage.inverse_diagonal);
        let residual = ResidualArguments {
            tiles: stage.tiles,
            iteration,
            slot,
            zero: 0,
            threshold: stage.scalar(limits.threshold),
            limit: stage.scalar(limits.divergence),
            patience: limits.patience,
            inverse_diagonal,
            q: self.q.argument(),
            r: stage.r.argument(),
            sums_space: stage.sums_space.argument(),
            state: stage.state.argument(),
        };
        let direction = DirectionArguments {
            tiles: stage.tiles,
            iteration,
            inverse_diagonal,
            r: stage.r.argument(),
            p: self.p.argument(),
            x: stage.x.argument(),
            best: stage.best.or(&self.q).argument(),
            state: stage.state.argument(),
        };
        // SAFETY: all vectors are of `tiles` tiles; sums and state are as long as kernels demand.
        #[expect(unsafe_code, reason = "arguments and arrays are the solver's own")]
        unsafe {
            stage.launcher.run(queue, &residual)?;
            stage.launcher.run(queue, &direction)
        }
    }
}
