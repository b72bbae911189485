//! What is asked of operations on dense vectors.

use cl_kernels::Accumulate;

/// What two vectors become, element by element.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Combination {
    /// x + y
    Add,
    /// x - y
    Subtract,
    /// x y
    Multiply,
    /// x / y, as the device divides: in f32, OpenCL allows an error of 2.5 units in the last place.
    Divide,
}

/// What one vector becomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reduction {
    /// The sum of its elements.
    Sum,
    /// The sum of their absolute values.
    Norm1,
    /// The square root of the sum of their squares. Squares that would overflow or underflow are scaled.
    Norm2,
}

/// When kernels are built.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum KernelBuild {
    /// An operation's when it is launched first, which then blocks: nothing is compiled that is not needed.
    #[default]
    AtFirstUse,
    /// Those of all operations with the [`AnyVectors`](crate::AnyVectors), so that no launch waits for a compiler.
    AtOnce,
}

/// What [`AnyVectors`](crate::AnyVectors) are asked for.
#[derive(Clone, Debug, Default)]
pub struct VectorOptions {
    /// How sums are made: those of reductions, and of alpha x + beta y.
    pub accumulate: Accumulate,
    /// Whether alpha and beta will come as device arrays.
    pub scalars_on_device: bool,
    /// When kernels are built.
    pub build: KernelBuild,
    /// Hyper-parameters by name, over the device's: `group_size`, `lanes`, `loads`.
    pub parameters: Vec<(String, u32)>,
}
