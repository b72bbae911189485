//! The operands of a product, and its launch by a plan that fits the matrix.

use sparrow::{
    AnyArray, AnyMatrix, AnyOperands, AnyPlan, AnySpmmOperands, AnySpmmPlan, DenseShape, Event,
    ValueType, Workspace,
};

use crate::control::Control;
use crate::operands::{apart, scalar, vector};
use crate::status::Result;
use crate::types::{cldenseVector, clsparseScalar};

/// The numbers and vectors of a product.
pub(crate) struct Operands {
    pub(crate) alpha: AnyArray,
    pub(crate) x: AnyArray,
    pub(crate) beta: AnyArray,
    pub(crate) y: AnyArray,
}

impl Operands {
    /// Those of a product with a matrix of these sizes, which stores values of this type. What shares memory with y is
    /// copied: programs compute y = A y, and mean the y that was there.
    pub(crate) fn of(
        control: &Control,
        value_type: ValueType,
        (rows, cols): (u32, u32),
        (alpha, x): (&clsparseScalar, &cldenseVector),
        (beta, y): (&clsparseScalar, &cldenseVector),
    ) -> Result<Self> {
        let y = vector(control, value_type, y, rows as usize)?;
        let [alpha, beta] =
            [scalar(control, value_type, alpha)?, scalar(control, value_type, beta)?];
        let x = vector(control, value_type, x, cols as usize)?;
        Ok(Operands {
            alpha: apart(control, alpha, &y)?,
            x: apart(control, x, &y)?,
            beta: apart(control, beta, &y)?,
            y,
        })
    }

    /// Enqueues the product by a plan that fits the matrix.
    pub(crate) fn launch(
        &mut self,
        control: &Control,
        (plan, workspace): (&AnyPlan, &mut Workspace),
        a: &AnyMatrix,
    ) -> Result<Event> {
        let product = AnyOperands {
            alpha: (&self.alpha).into(),
            a,
            x: &self.x,
            beta: (&self.beta).into(),
            y: &mut self.y,
        };
        Ok(plan.launch(&control.queue, workspace, product, &[])?)
    }
}

/// How B and C lie.
pub(crate) type DenseShapes = (DenseShape, DenseShape);

/// The numbers and dense matrices of a product.
pub(crate) struct DenseOperands {
    pub(crate) alpha: AnyArray,
    pub(crate) b: AnyArray,
    pub(crate) beta: AnyArray,
    pub(crate) c: AnyArray,
    /// How B and C lie.
    pub(crate) shapes: DenseShapes,
}

impl DenseOperands {
    /// Enqueues the product.
    pub(crate) fn launch(
        &mut self,
        control: &Control,
        plan: &AnySpmmPlan,
        workspace: &mut Workspace,
        a: &AnyMatrix,
    ) -> Result<Event> {
        let product = AnySpmmOperands {
            alpha: (&self.alpha).into(),
            a,
            b: &self.b,
            beta: (&self.beta).into(),
            c: &mut self.c,
        };
        Ok(plan.launch(&control.queue, workspace, product, &[])?)
    }
}
