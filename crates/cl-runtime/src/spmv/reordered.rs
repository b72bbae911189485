//! Any algorithm on a copy of the matrix whose rows and columns are in another order.
//!
//! Where x and y come as the matrix has them, a launch has up to three kernels more: x is gathered into the order, y too, if
//! beta may be other than 0, and y is scattered in the end (`vector/reorder.cl`). Where both come in the order
//! ([`VectorOrder::Symmetric`]) the algorithm runs alone.

use std::sync::Arc;

use cl_kernels::{Algorithm, Array, KernelKey, Scalar, Variant};
use csr_core::evc_hyb::EvcHybStatistics;

use super::{CopiedValues, Operands, Spmv, Stages, VectorOrder, Workspace, launch_and_wait};
use crate::convert::moves::{gather, moves, scatter};
use crate::launch::After;
use crate::matrix::NO_VALUES;
use crate::raw::Memory;
use crate::workspace::OwnerId;
use crate::{AnyMatrix, AnyReorderedMatrix, DeviceArray, Error, Event, Program, Queue, Result};

/// An algorithm on a copy of the matrix in another order.
#[derive(Debug)]
pub struct ReorderedSpmv {
    owner: OwnerId,
    inner: Box<dyn Spmv>,
    matrix: AnyReorderedMatrix,
    order: VectorOrder,
    /// [`AnyMatrix::values_id`] of the matrix that the copy is of.
    values_id: u64,
    /// What moves x and y, and items of its groups; `None` where nothing does.
    moves: Option<(Arc<Program>, usize)>,
}

/// The kernels of a workspace, in the order in which it has them.
const GATHER: usize = 0;
const SCATTER: usize = 1;

impl ReorderedSpmv {
    /// `inner`, which is bound to the copy, for vectors in `order`; `values_id` is that of the matrix that was copied.
    ///
    /// # Errors
    /// A second stage on the host, which reaches x and y where they lie, where either is moved; a kernel that does not build.
    pub fn new(
        queue: &Queue,
        inner: Box<dyn Spmv>,
        matrix: AnyReorderedMatrix,
        order: VectorOrder,
        values_id: u64,
    ) -> Result<Self> {
        let accumulator = matrix.matrix().value_type().accumulator();
        if inner.variant() == Variant::Cpu.name() && order != VectorOrder::Symmetric {
            return Err(Error::combination(
                format_args!("a reordering with vectors in the order {order}"),
                "stage 2 on the CPU",
                "it takes x and y where they lie, so that both must be in the order of the rows, symmetric",
            ));
        }
        let moves = match order {
            VectorOrder::Symmetric => None,
            VectorOrder::Original | VectorOrder::Permuted => Some(moves(queue, accumulator)?),
        };
        Ok(ReorderedSpmv { owner: OwnerId::new(), inner, matrix, order, values_id, moves })
    }

    fn moves_y(&self) -> bool {
        self.order == VectorOrder::Original
    }

    /// Elements of x and y in the order that a workspace holds.
    fn lengths(&self) -> (usize, usize) {
        let matrix = self.matrix.matrix();
        let of_x = if self.moves.is_some() { matrix.cols() } else { 0 };
        let of_y = if self.moves_y() { matrix.rows() } else { 0 };
        (of_x, of_y)
    }

    /// 32-bit words of both.
    fn words(&self) -> usize {
        let (of_x, of_y) = self.lengths();
        (of_x + of_y) * self.element_words()
    }

    fn element_words(&self) -> usize {
        self.matrix.matrix().value_type().accumulator().size_bytes() / size_of::<u32>()
    }

    /// The operands with the copy's arrays in place of the matrix's.
    fn of_copy<'a>(&'a self, operands: &Operands<'a>) -> Operands<'a> {
        let matrix = self.matrix.matrix();
        Operands {
            offsets: matrix.offsets().argument(),
            columns: matrix.columns().argument(),
            values: matrix.values().argument(),
            ..*operands
        }
    }
}

/// Whether a coefficient may be other than 0, as far as the host knows.
fn may_count(coefficient: &Scalar<&Memory>) -> bool {
    match coefficient {
        Scalar::F32(value) => *value != 0.0,
        Scalar::F64(value) => *value != 0.0,
        Scalar::Device(_) => true,
    }
}

#[expect(unsafe_code, reason = "implements an unsafe method")]
impl Spmv for ReorderedSpmv {
    fn algorithm(&self) -> Algorithm {
        self.inner.algorithm()
    }

    fn variant(&self) -> &'static str {
        self.inner.variant()
    }

    fn key(&self) -> &KernelKey {
        self.inner.key()
    }

    fn plan_bytes(&self) -> usize {
        self.inner.plan_bytes() + self.matrix.size_bytes()
    }

    fn workspace_bytes(&self) -> usize {
        self.inner.workspace_bytes() + self.words() * size_of::<u32>()
    }

    fn is_repeatable(&self) -> bool {
        self.inner.is_repeatable()
    }

    fn copied_values(&self) -> Option<&CopiedValues> {
        self.inner.copied_values()
    }

    fn values_id(&self) -> Option<u64> {
        Some(self.values_id)
    }

    fn update_values_blocking(
        &mut self,
        queue: &Queue,
        matrix: &AnyMatrix,
        values_id: u64,
    ) -> Result<()> {
        // Until all is done, it is unknown which values the copies hold.
        self.values_id = NO_VALUES;
        self.matrix.update_values_blocking(queue, matrix)?;
        self.inner.update_values_blocking(queue, self.matrix.matrix(), values_id)?;
        self.values_id = values_id;
        Ok(())
    }

    fn reordered_matrix(&self) -> Option<&AnyReorderedMatrix> {
        Some(&self.matrix)
    }

    fn row_order(&self) -> Option<&DeviceArray<u32>> {
        Some(self.matrix.row_order())
    }

    fn evc_hyb_statistics(&self) -> Option<EvcHybStatistics> {
        self.inner.evc_hyb_statistics()
    }

    fn workspace_blocking(&self, queue: &Queue) -> Result<Workspace> {
        let inner = self.inner.workspace_blocking(queue)?;
        let Some((program, _)) = &self.moves else { return Ok(inner) };
        let kernels = vec![program.kernel("gather_vector")?, program.kernel("scatter_vector")?];
        let outer = Workspace::new_blocking(queue, self.owner, kernels, self.words())?;
        Ok(outer.with_inner(inner))
    }

    unsafe fn launch(
        &self,
        queue: &Queue,
        workspace: &mut Workspace,
        operands: &Operands<'_>,
        after: After<'_>,
    ) -> Result<Option<Event>> {
        let of_copy = self.of_copy(operands);
        let Some((_, group_size)) = self.moves else {
            // SAFETY: the caller's promise about x and y; the copy is as large as the matrix.
            return unsafe { self.inner.launch(queue, workspace, &of_copy, after) };
        };
        workspace.run(self.owner, queue, after, |mut parts| {
            let scratch = parts.scratch.argument();
            let element = |at: usize| {
                let start = scratch.start / self.element_words() as u64 + at as u64;
                Array { memory: scratch.memory, start }
            };
            let (of_x, _) = self.lengths();
            let (x, y) = (element(0), element(of_x));
            let Some(inner) = parts.inner.take() else {
                return Err(Error::OtherPlan { what: "the workspace" });
            };
            let mut sequence = parts.sequence_of_moves();
            let mut moved = of_copy;
            let rows = self.matrix.row_order();
            // SAFETY: the workspace has an x and a y as long as the operands', and an order has each index once.
            unsafe {
                let (arguments, size) =
                    gather(self.matrix.column_order(), operands.x, x, group_size);
                sequence.next(GATHER, &arguments, size)?;
                moved.x = x;
                if !self.moves_y() {
                    return sequence
                        .last_by(|after| self.inner.launch(queue, inner, &moved, after));
                }
                if may_count(&operands.beta) {
                    let (arguments, size) = gather(rows, operands.y, y, group_size);
                    sequence.next(GATHER, &arguments, size)?;
                }
                moved.y = y;
                sequence.next_by(|after| self.inner.launch(queue, inner, &moved, after))?;
                let (arguments, size) = scatter(rows, y, operands.y, group_size);
                sequence.last(SCATTER, &arguments, size)
            }
        })
    }

    unsafe fn launch_blocking(
        &self,
        queue: &Queue,
        workspace: &mut Workspace,
        operands: &Operands<'_>,
        wait: &[Event],
    ) -> Result<Stages> {
        if self.moves.is_none() {
            let of_copy = self.of_copy(operands);
            // SAFETY: as for `launch`.
            return unsafe { self.inner.launch_blocking(queue, workspace, &of_copy, wait) };
        }
        // SAFETY: the caller's promise.
        unsafe { launch_and_wait(self, queue, workspace, operands, wait) }
    }
}
