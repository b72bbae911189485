//! Products of matrices in slots (ELL), as entries (COO), or in both (HYB), by the kernels of `hyb`.

mod matrix;

use cl_kernels::hyb::Hyb;
use cl_kernels::{Accumulate, Checked, Experiment, Fit, FittedParameters as _, Parameters as _};
use cl_runtime::spmv::{HybOperands, HybProduct, Specialisation, Workspace};
use cl_runtime::{AnyArray, Context, Queue, Wait, check_apart};
use csr_core::{OffsetType, ValueType};

use crate::plan::{check_context, check_device, check_length, coefficient, fitting};
use crate::{AnyCoefficient, Result};

pub use matrix::{AnySlotsMatrix, Entries, Slots};

/// What a plan of a matrix in slots and entries is asked for.
#[derive(Clone, Debug, Default)]
pub struct SlotsOptions {
    /// How products are summed.
    pub accumulate: Accumulate,
    /// Whether alpha and beta will come as device pointers.
    pub scalars_on_device: bool,
    /// Hyper-parameters of `hyb` by name, over the defaults; `least_rows` says nothing here, as slots are given.
    pub parameters: Vec<(String, u32)>,
}

/// The operands of y = alpha A x + beta y, with the matrix that a plan was made for.
#[derive(Debug)]
pub struct SlotsOperands<'a> {
    /// Scales A x; 0 is not special, so NaN in A or x reaches y.
    pub alpha: AnyCoefficient<'a>,
    /// The vector x: cols, of the type that sums are made in.
    pub x: &'a AnyArray,
    /// Scales y; with 0, y is never read.
    pub beta: AnyCoefficient<'a>,
    /// The vector y: rows, of the type that sums are made in. It may not overlap x, alpha, beta or the matrix's arrays.
    pub y: &'a mut AnyArray,
}

/// Products of one matrix in slots and entries, which it keeps a handle of. Immutable; new values in the same arrays need no
/// new plan. The same bits every time: a row's slots are added in their order, then its entries in theirs.
#[derive(Debug)]
pub struct AnySlotsPlan {
    product: HybProduct,
    context: Context,
    accumulator: ValueType,
}

impl AnySlotsPlan {
    /// Builds the kernels; nothing is computed from the matrix.
    ///
    /// # Errors
    /// Parameters that break a rule, a device that lacks the value type, a kernel that does not build.
    pub fn new_blocking(
        queue: &Queue,
        matrix: &AnySlotsMatrix,
        options: &SlotsOptions,
    ) -> Result<Self> {
        check_context(queue, matrix.context(), "matrix")?;
        let value_type = matrix.value_type();
        let specialisation = Specialisation {
            value_type,
            offset_type: OffsetType::U32,
            accumulate: options.accumulate,
            scalars_on_device: options.scalars_on_device,
            experiment: Experiment::Off,
        };
        fitting(queue, |queue| {
            let device = queue.context().device().traits();
            let accumulate = options.accumulate;
            let fit = Fit { device, value_type, accumulate, mean_row: 1.0 };
            let mut parameters = Hyb::fitted(&fit);
            for (name, value) in &options.parameters {
                parameters.set(name, *value).map_err(cl_runtime::Error::from)?;
            }
            let parameters = Checked::new(parameters, &fit).map_err(cl_runtime::Error::from)?;
            let parts = matrix.parts().alias()?;
            let product = HybProduct::new(queue.context(), specialisation, parameters, parts)?;
            let context = queue.context().clone();
            Ok(AnySlotsPlan { product, context, accumulator: value_type.accumulator() })
        })
    }

    /// A new workspace: one serves one launch in flight.
    ///
    /// # Errors
    /// A queue of another context than the plan's, or the driver's own failure.
    pub fn workspace_blocking(&self, queue: &Queue) -> Result<Workspace> {
        check_device(queue, &self.context, "plan")?;
        Ok(self.product.workspace_blocking(queue)?)
    }

    /// Enqueues y = alpha A x + beta y after the events in `wait`, with an event of its own; or after what is in the queue,
    /// without one ([`NoEvent`](crate::NoEvent)). Allocates nothing, waits for nothing.
    ///
    /// # Errors
    /// Operands of another type, length or context than the plan's; y that overlaps what is read; a workspace of another
    /// plan; an event in `wait` that has ended in error already; or the driver's own failure.
    pub fn launch<W: Wait>(
        &self,
        queue: &Queue,
        workspace: &mut Workspace,
        operands: SlotsOperands<'_>,
        wait: W,
    ) -> Result<W::Event> {
        let SlotsOperands { alpha, x, beta, y } = operands;
        check_device(queue, &self.context, "plan")?;
        let parts = self.product.parts();
        x.check_element("x", self.accumulator)?;
        y.check_element("y", self.accumulator)?;
        check_length("x", x.len(), "column", parts.cols)?;
        check_length("y", y.len(), "row", parts.rows)?;
        self.context.check_array("x", x)?;
        self.context.check_array("y", y)?;
        check_apart(("y", y), [("x", x)])?;
        for (name, coefficient) in [("alpha", &alpha), ("beta", &beta)] {
            if let AnyCoefficient::Device(array) = coefficient {
                check_apart(("y", y), [(name, &array.slice(0..array.len().min(1))?)])?;
            }
        }
        check_apart(("y", y), parts.named_arrays())?;
        let taken = (self.accumulator, self.product.key().scalars_on_device);
        let operands = HybOperands {
            x: x.argument(),
            y: y.argument(),
            alpha: coefficient(&self.context, taken, "alpha", &alpha)?,
            beta: coefficient(&self.context, taken, "beta", &beta)?,
        };
        // SAFETY: x and y are as long as the matrix demands, y overlaps nothing that is read, and all lives in the queue's
        // context, as was checked; what the matrix's arrays hold was promised where it was made.
        #[expect(unsafe_code, reason = "the checks are what the launch demands")]
        let event = unsafe { self.product.launch(queue, workspace, &operands, wait.after())? };
        Ok(W::given(queue, event)?)
    }

    /// The hyper-parameters it runs with, as text.
    pub fn parameters(&self) -> String {
        self.product.parameters().to_string()
    }

    /// Bytes a workspace takes on the device: sums of rows, where there are entries.
    pub fn workspace_bytes(&self) -> usize {
        self.product.workspace_bytes()
    }
}
