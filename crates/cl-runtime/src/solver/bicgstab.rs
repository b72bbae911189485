//! Launches the kernels of `cl/solver/bicgstab.cl`.

use cl_kernels::bicgstab::{
    AlphaArguments, DirectionArguments, HalfArguments, OmegaArguments, ResidualArguments,
};

use super::stage::{Stage, inverse};
use super::{Limits, Multiplication, Multiply};
use crate::{AnyArray, Error, Queue, Result};

/// How often the kernels of an iteration read or write a vector: shadow, v; r, v, s; t, s; s, t, shadow, r;
/// x, p, s, r, v, x, p; and with the inverse diagonal that twice, s^ and p^.
pub(super) fn passes(jacobi: bool) -> usize {
    2 + 3 + 2 + 4 + 7 + 4 * usize::from(jacobi)
}

/// The vectors of BiCGStab.
#[derive(Debug)]
pub(super) struct BiCgStab {
    shadow: AnyArray,
    p: AnyArray,
    v: AnyArray,
    s: AnyArray,
    t: AnyArray,
    preconditioned: Option<Preconditioned>,
}

/// p and s times the inverse diagonal.
#[derive(Debug)]
struct Preconditioned {
    p: AnyArray,
    s: AnyArray,
}

impl BiCgStab {
    pub(super) fn new_blocking(queue: &Queue, stage: &Stage) -> Result<Self> {
        let vector = || stage.vector_blocking(queue);
        let preconditioned = match &stage.inverse_diagonal {
            Some(_) => Some(Preconditioned { p: vector()?, s: vector()? }),
            None => None,
        };
        Ok(BiCgStab {
            shadow: vector()?,
            p: vector()?,
            v: vector()?,
            s: vector()?,
            t: vector()?,
            preconditioned,
        })
    }

    /// Vectors besides those of the stage.
    pub(super) fn vectors(&self) -> usize {
        5 + 2 * usize::from(self.preconditioned.is_some())
    }

    /// What A multiplies in the first and in the second half of an iteration.
    fn multiplied(&self) -> (&AnyArray, &AnyArray) {
        match &self.preconditioned {
            Some(hats) => (&hats.p, &hats.s),
            None => (&self.p, &self.s),
        }
    }

    /// Where p and s go once more with the inverse diagonal; kernels without it never look at it.
    fn hats(&self) -> (&AnyArray, &AnyArray) {
        match &self.preconditioned {
            Some(hats) => (&hats.p, &hats.s),
            None => (&self.t, &self.t),
        }
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
        let (tiles, zero) = (stage.tiles, 0);
        let (p, s) = self.multiplied();
        let (p, s) = (stage.unpadded(p)?, stage.unpadded(s)?);
        multiply(Multiply::Operands, &p, &mut stage.unpadded(&self.v)?)?;
        let alpha = AlphaArguments {
            tiles,
            iteration,
            zero,
            shadow: self.shadow.argument(),
            v: self.v.argument(),
            sums_space: stage.sums_space.argument(),
            state: stage.state.argument(),
        };
        let half = HalfArguments {
            tiles,
            iteration,
            slot,
            zero,
            threshold: stage.scalar(limits.threshold),
            inverse_diagonal: inverse(&stage.inverse_diagonal),
            r: stage.r.argument(),
            v: self.v.argument(),
            s: self.s.argument(),
            s_hat: self.hats().1.argument(),
            sums_space: stage.sums_space.argument(),
            state: stage.state.argument(),
        };
        // SAFETY: all vectors are of `tiles` tiles; sums and state are as long as kernels demand.
        #[expect(unsafe_code, reason = "arguments and arrays are the solver's own")]
        unsafe {
            stage.launcher.run(queue, &alpha)?;
            stage.launcher.run(queue, &half)?;
        }
        multiply(Multiply::Operands, &s, &mut stage.unpadded(&self.t)?)?;
        let omega = OmegaArguments {
            tiles,
            iteration,
            zero,
            s: self.s.argument(),
            t: self.t.argument(),
            sums_space: stage.sums_space.argument(),
            state: stage.state.argument(),
        };
        // SAFETY: as before.
        #[expect(unsafe_code, reason = "arguments and arrays are the solver's own")]
        unsafe {
            stage.launcher.run(queue, &omega)?
        };
        Ok(self.update(stage, queue, iteration, slot, limits)?)
    }

    /// What follows the second product; all of the start, which is iteration 0.
    pub(super) fn update(
        &mut self,
        stage: &mut Stage,
        queue: &Queue,
        iteration: u32,
        slot: u32,
        limits: &Limits,
    ) -> Result<()> {
        let residual = ResidualArguments {
            tiles: stage.tiles,
            iteration,
            slot,
            zero: 0,
            threshold: stage.scalar(limits.threshold),
            limit: stage.scalar(limits.divergence),
            patience: limits.patience,
            s: self.s.argument(),
            t: self.t.argument(),
            shadow: self.shadow.argument(),
            r: stage.r.argument(),
            sums_space: stage.sums_space.argument(),
            state: stage.state.argument(),
        };
        let direction = DirectionArguments {
            tiles: stage.tiles,
            iteration,
            inverse_diagonal: inverse(&stage.inverse_diagonal),
            r: stage.r.argument(),
            v: self.v.argument(),
            s: self.s.argument(),
            p: self.p.argument(),
            p_hat: self.hats().0.argument(),
            x: stage.x.argument(),
            best: stage.best.or(&self.t).argument(),
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
