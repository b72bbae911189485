//! `elementwise`: dense vectors, element by element (`cl/vector/elementwise.cl`).

use crate::arguments::arguments;
use crate::parameters::parameters;
use crate::tiling::Tiling;
use crate::{Array, Scalar};

/// Path of the source below `cl/`.
pub const SOURCE: &str = "vector/elementwise.cl";

/// What becomes of each element of r.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Elementary {
    /// r = alpha x
    Scale,
    /// r = alpha x + y, rounded once
    Axpy,
    /// r = alpha x + beta y; with beta = 0, y is not read
    Axpby,
    /// r = alpha x + beta y + gamma r; with beta = 0, y is not read, with gamma = 0, r
    Update,
    /// r = alpha x y + beta r; with beta = 0, r is not read
    MultiplyAdd,
    /// r = x + y
    Add,
    /// r = x - y
    Subtract,
    /// r = x y
    Multiply,
    /// r = x / y, as the device divides: in f32, OpenCL allows an error of 2.5 ulp
    Divide,
}

impl Elementary {
    /// Every operation.
    pub const ALL: [Elementary; 9] = [
        Elementary::Scale,
        Elementary::Axpy,
        Elementary::Axpby,
        Elementary::Update,
        Elementary::MultiplyAdd,
        Elementary::Add,
        Elementary::Subtract,
        Elementary::Multiply,
        Elementary::Divide,
    ];

    /// The spelling in errors and records.
    pub fn name(self) -> &'static str {
        match self {
            Elementary::Scale => "scale",
            Elementary::Axpy => "axpy",
            Elementary::Axpby => "axpby",
            Elementary::Update => "update",
            Elementary::MultiplyAdd => "multiply_add",
            Elementary::Add => "add",
            Elementary::Subtract => "subtract",
            Elementary::Multiply => "multiply",
            Elementary::Divide => "divide",
        }
    }

    /// The feature of the kernel's key.
    pub fn feature(self) -> &'static str {
        match self {
            Elementary::Scale => "SCALE",
            Elementary::Axpy => "AXPY",
            Elementary::Axpby => "AXPBY",
            Elementary::Update => "UPDATE",
            Elementary::MultiplyAdd => "MULTIPLY_ADD",
            Elementary::Add => "ADD",
            Elementary::Subtract => "SUBTRACT",
            Elementary::Multiply => "MULTIPLY",
            Elementary::Divide => "DIVIDE",
        }
    }

    /// Whether alpha takes part.
    pub fn has_scalars(self) -> bool {
        matches!(self, Elementary::Scale | Elementary::Axpy) || self.has_sums()
    }

    /// Whether there is a way of rounding to choose: others round once, or as the device does.
    pub fn has_sums(self) -> bool {
        matches!(self, Elementary::Axpby | Elementary::Update | Elementary::MultiplyAdd)
    }
}

parameters! {
    /// Parameters of `elementwise`.
    pub struct Elementwise for "elementwise" {
        /// Items of a work-group.
        group_size: [1, 64, 128, 256, 512],
        /// Elements of a load.
        lanes: Tiling::LANES,
        /// Loads of an item that are in flight together, of each array.
        loads: [1, 2, 4, 8],
    }
}

/// More groups than a device runs at once by far, so that none waits long for the slowest.
const MOST_GROUPS: u64 = 16384;

impl Elementwise {
    /// With a given tiling.
    pub fn new(tiling: Tiling) -> Self {
        let Tiling { group_size, lanes, loads } = tiling;
        Elementwise { group_size, lanes, loads }
    }

    /// Groups for `count` elements.
    pub fn groups(&self, count: u64) -> u64 {
        let Elementwise { group_size, lanes, loads } = *self;
        Tiling { group_size, lanes, loads }.groups(count, MOST_GROUPS)
    }
}

arguments! {
    /// Arguments of the kernel `elementwise`. What an operation does not have, its kernel does not read.
    pub struct Arguments<M> for "elementwise" {
        /// Elements of each vector.
        count: u64,
        /// Scales x.
        alpha: Scalar<M>,
        /// The vector x.
        x: Array<M>,
        /// Scales y, or r.
        beta: Scalar<M>,
        /// The vector y.
        y: Array<M>,
        /// Scales r.
        gamma: Scalar<M>,
        /// The vector r, which may be x or y.
        r: Array<M>,
    }
}
