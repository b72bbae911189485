//! The registry: every algorithm, under the one name it has at every station.

use crate::{AlgorithmSpec, Fit, NamedParameters, ParameterError, ParameterSpace, Variant};

/// Gives every algorithm to the macro `$with`, one line each: its name in Rust and that of its files. A line here, after
/// those files, adds an algorithm to everything.
#[doc(hidden)]
#[macro_export]
macro_rules! for_each_algorithm {
    ($with:ident) => {
        $with! {
            /// One work-item a row; no plan; never cuts a row (Bell and Garland 2009).
            CsrScalar => csr_scalar,
            /// Several items a row; no plan; never cuts a row (Bell and Garland 2009).
            CsrVector => csr_vector,
            /// One group a row block, three ways of summing (Daga and Greathouse 2015).
            CsrAdaptive => csr_adaptive,
            /// Equal nonzeros a group, wherever rows begin and end; long rows alone are cut.
            CsrFlat => csr_flat,
            /// Equal nonzeros an item, one contiguous piece: for CPUs; no plan; long rows alone are cut.
            CsrPieces => csr_pieces,
            /// Equal nonzeros an item, rows put together afterwards; no plan (Liu and Vinter 2015).
            SegmentedSum => segmented_sum,
            /// Rows in order of length, in two parts: a sorted, padded copy (Guo, Gropp and Olson).
            EvcHyb => evc_hyb,
            /// Slots for what most rows have, entries for the rest: a copy in two parts (Bell and Garland 2009).
            Hyb => hyb,
            /// Some rows a vector, in slices: for CPUs; a copy with fewer bytes (after Kreutzer and others 2014).
            Sell => sell,
            /// Rows sorted by length within windows, in slices: for GPUs; a copy with fewer bytes (Kreutzer and others 2014).
            SellSigma => sell_sigma,
            /// x in local memory, a tile of columns at a time: for GPUs; a copy in that order, with 16-bit columns.
            CsrTiles => csr_tiles,
        }
    };
}

/// The enum of the lines above, and what each is.
macro_rules! algorithms {
    ($( $(#[$doc:meta])* $algorithm:ident => $module:ident, )*) => {
        /// A way of computing y = alpha A x + beta y; [`Algorithm::spec`] says what it is.
        ///
        /// | algorithm | the same bits every time |
        /// |---|---|
        /// | `csr_scalar`, `csr_vector` | yes: one item, or one group of items, sums each row in a fixed order |
        /// | `csr_adaptive` | yes: sums that cross from group to group are added in a fixed order |
        /// | `csr_flat`, `csr_pieces` | yes: the same |
        /// | `segmented_sum` | yes: segments are cut by place alone, and parts of a row are added in their order |
        /// | `evc_hyb` | yes: the items of a row sum it in a fixed order |
        /// | `hyb` | yes: an item sums a row's slots, and parts of a row are added in their order |
        /// | `sell` | yes: one item sums each row in a fixed order |
        /// | `sell_sigma` | yes: the lanes of a row sum it in a fixed order |
        /// | `csr_tiles` | yes: parts are cut by place alone, and the parts of a row are summed in a fixed order |
        /// | `csr_adaptive`, variant `spin` | no, where rows are cut: groups add by float atomics as they come |
        ///
        /// "Every time" is: the same plan, hyper-parameters, device and driver. A plan says it of itself
        /// (`is_repeatable`), and so does each record of `sparrow bench`.
        #[derive(
            Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize,
        )]
        #[serde(try_from = "String", into = "&'static str")]
        #[non_exhaustive]
        pub enum Algorithm {
            $( $(#[$doc])* $algorithm, )*
        }

        impl Algorithm {
            /// Every algorithm, in the order reports list them.
            pub const ALL: [Algorithm; [$(stringify!($algorithm)),*].len()] = [$(Algorithm::$algorithm),*];

            /// The names of its files.
            #[cfg(test)]
            pub(crate) const FILES: [&str; Algorithm::ALL.len()] = [$(stringify!($module)),*];

            /// What it is.
            pub fn spec(self) -> &'static AlgorithmSpec {
                match self {
                    $(Algorithm::$algorithm => &$crate::$module::SPEC,)*
                }
            }
        }
    };
}

for_each_algorithm!(algorithms);

impl Algorithm {
    /// Its place in [`Algorithm::ALL`].
    pub fn index(self) -> usize {
        self as usize
    }

    /// The name: of its files, in `--algorithms`, records, tuning tables and tests.
    pub fn name(self) -> &'static str {
        self.spec().name
    }

    /// Whether a plan holds A's values in an order of its own.
    pub fn copies_values(self) -> bool {
        self.spec().copies_values
    }

    /// The values that each hyper-parameter may take.
    pub fn space(self) -> &'static [ParameterSpace] {
        self.spec().space
    }

    /// What it takes where no table knows better.
    pub fn default_parameters(self, fit: &Fit<'_>) -> NamedParameters {
        (self.spec().defaults)(fit)
    }

    /// Checks hyper-parameters against the kernel's rules and the device's limits; those not given are the defaults.
    ///
    /// # Errors
    /// A name that is none of the algorithm's, or the first rule that is broken.
    pub fn check_parameters(
        self,
        given: &[(&str, u32)],
        fit: &Fit<'_>,
    ) -> Result<(), ParameterError> {
        (self.spec().check)(given, fit)
    }

    /// Refuses a hyper-parameter that the algorithm does not have.
    ///
    /// # Errors
    /// The name, with the names there are.
    pub fn check_parameter(self, name: &str) -> Result<(), ParameterError> {
        known(self.name(), self.space(), name)
    }
}

/// Refuses a hyper-parameter that `algorithm`, which has those of `space`, does not have.
pub(crate) fn known(
    algorithm: &'static str,
    space: &'static [ParameterSpace],
    name: &str,
) -> Result<(), ParameterError> {
    if space.iter().any(|space| space.name == name) {
        return Ok(());
    }
    Err(ParameterError::unknown(algorithm, name, space.iter().map(|space| space.name)))
}

impl From<Algorithm> for &'static str {
    fn from(algorithm: Algorithm) -> Self {
        algorithm.name()
    }
}

impl TryFrom<String> for Algorithm {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl std::fmt::Display for Algorithm {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.name())
    }
}

impl std::str::FromStr for Algorithm {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Algorithm::ALL.into_iter().find(|algorithm| algorithm.name() == text).ok_or_else(|| {
            let names: Vec<_> = Algorithm::ALL.iter().map(|algorithm| algorithm.name()).collect();
            format!("algorithm \"{text}\" is none of {}", names.join(", "))
        })
    }
}

impl Variant {
    /// Those of an algorithm, the default one first where they are no steps towards it; none where there is
    /// only one way.
    pub fn of(algorithm: Algorithm) -> &'static [Variant] {
        algorithm.spec().variants
    }

    /// Itself, or the algorithm's default way where it has no such variant.
    #[must_use]
    pub fn or_default(self, algorithm: Algorithm) -> Self {
        if Self::of(algorithm).contains(&self) { self } else { algorithm.spec().default_variant }
    }
}

impl std::str::FromStr for Variant {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let all = || Algorithm::ALL.into_iter().flat_map(Self::of);
        all().find(|variant| variant.name() == text).copied().ok_or_else(|| {
            let names: Vec<_> = all().map(|variant| variant.name()).collect();
            format!("variant \"{text}\" is none of {}", names.join(", "))
        })
    }
}
