//! What an algorithm is, as data: one [`AlgorithmSpec`] each, in the algorithm's own file. Whatever enumerates or compares
//! algorithms asks these; nothing else matches on [`Algorithm`](crate::Algorithm).

use crate::cost::CostModel;
use crate::fit::{Checked, Fit, FittedParameters};
use crate::shipped::list::List;
use crate::storage::{Storage, StorageFormat};
use crate::{
    ArgumentKind, DeviceTraits, DeviceType, KernelArguments, NamedParameters, ParameterError,
    ParameterSpace, Parameters, Variant,
};

/// Checks hyper-parameters over the defaults.
pub type CheckParameters = fn(&[(&str, u32)], &Fit<'_>) -> Result<(), ParameterError>;

/// The value of a hyper-parameter for a mean row, where the function gives the other ones.
pub type ValueByMeanRow = fn(f64, &dyn Fn(&str) -> Option<u32>) -> u32;

/// One way of computing y = alpha A x + beta y: what it has, needs, stores and may be tried with.
#[derive(Clone, Copy, Debug)]
pub struct AlgorithmSpec {
    /// The name: of its files, in `--algorithms`, records, tuning tables and tests.
    pub name: &'static str,
    /// The ways in which it can run; none where there is only one.
    pub variants: &'static [Variant],
    /// The way it runs unless another of its own is asked for.
    pub default_variant: Variant,
    /// What it makes of a pattern before the first product, and where.
    pub planned: Planned,
    /// Whether a plan holds A's values in an order of its own: it takes A's memory once more, and must be told of new
    /// values.
    pub copies_values: bool,
    /// Whether it keeps rows in an order of its own, in which vectors may come too.
    pub reorders_rows: bool,
    /// Whether it is for CPU devices: elsewhere it is correct and no more, is not tried, and is not compiled offline.
    pub is_for_cpus: bool,
    /// Whether it is for GPUs: on a CPU device it is correct and no more, and is not tried.
    pub is_for_gpus: bool,
    /// Whether it is here to be compared with: neither rules nor the tuner choose it.
    pub is_to_compare: bool,
    /// How many ordinary programs take as long to compile as its one.
    pub build_weight: usize,
    /// What it stores, and how products go through that.
    pub storage: Storage,
    /// The values that each hyper-parameter may take.
    pub space: &'static [ParameterSpace],
    /// The hyper-parameter whose default follows the mean row, where there is one.
    pub by_mean_row: Option<ByMeanRow>,
    /// What it takes where no table knows better, fitted to the device.
    pub defaults: fn(&Fit<'_>) -> NamedParameters,
    /// Checks the defaults with others over them; see [`AlgorithmSpec::check`].
    pub check: CheckParameters,
    /// What a product should cost, where that is known: the choice compares it.
    pub model: Option<CostModel>,
    /// What the tuner begins with besides the defaults.
    pub trials: fn(&Fit<'_>) -> Vec<Trial>,
    /// So small that matrices around [`TEST_LIMITS`] straddle every limit; parameters not named keep their defaults.
    pub test_parameters: &'static [(&'static str, u32)],
    /// Further sets that are tested.
    pub test_sets: &'static [TestSet],
    /// Its kernels, those that plan included.
    pub kernels: &'static [KernelSpec],
    /// Adds what is compiled offline.
    pub(crate) offline: fn(&mut List<'_>) -> Result<(), ParameterError>,
}

/// What an algorithm makes of a pattern before the first product, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Planned {
    /// Nothing: what is bound to one matrix serves any.
    Never,
    /// It is bound to one pattern; what it makes of that is made on the host or on the device.
    Anywhere,
    /// It is bound to one pattern, which the host lays out.
    OnHost,
}

/// A hyper-parameter whose default follows the mean row of each matrix, unless it is given.
#[derive(Clone, Copy, Debug)]
pub struct ByMeanRow {
    /// Its name.
    pub name: &'static str,
    /// Its value for a mean row, where the other hyper-parameters are these.
    pub value: ValueByMeanRow,
}

/// How something the tuner tries differs from the defaults.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trial {
    /// By one hyper-parameter.
    Parameter(&'static str, u32),
    /// By the variant.
    Variant(Variant),
}

/// The default with each of `values` but `now` for the parameter `name`.
pub(crate) fn other_values(values: &[u32], now: u32, name: &'static str) -> Vec<Trial> {
    let others = values.iter().filter(|value| **value != now);
    others.map(|&value| Trial::Parameter(name, value)).collect()
}

/// Parameters to test, over [`AlgorithmSpec::test_parameters`].
#[derive(Clone, Copy, Debug)]
pub struct TestSet {
    /// What reports call it.
    pub label: &'static str,
    /// The parameters.
    pub parameters: &'static [(&'static str, u32)],
    /// Why a device cannot run them; `None` where it must.
    pub obstacle: fn(&DeviceTraits) -> Option<&'static str>,
}

/// The numbers a kernel's behaviour turns at; test shapes straddle them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Items of a work-group.
    pub group_size: usize,
    /// Nonzeros of a Stream block.
    pub nnz_per_wg: usize,
    /// Nonzeros of a VectorL share.
    pub share: usize,
    /// Nonzeros of a tile of the segmented sum.
    pub tile: usize,
}

/// Those of [`AlgorithmSpec::test_parameters`]; an interpreter can walk through matrices around them.
pub const TEST_LIMITS: Limits = Limits { group_size: 64, nnz_per_wg: 128, share: 256, tile: 32 };

/// [`TEST_LIMITS`] as hyper-parameters have them.
pub(crate) const TEST_GROUP_SIZE: u32 = TEST_LIMITS.group_size as u32;
pub(crate) const TEST_NNZ: u32 = TEST_LIMITS.nnz_per_wg as u32;
pub(crate) const TEST_SHARE: u32 = TEST_LIMITS.share as u32;
pub(crate) const TEST_TILE: u32 = TEST_LIMITS.tile as u32;

/// A kernel: what tests hold its source to.
#[derive(Clone, Copy, Debug)]
pub struct KernelSpec {
    /// The function's name.
    pub name: &'static str,
    /// Path of its source below `cl/`.
    pub source: &'static str,
    /// Its arguments: name and kind.
    pub arguments: &'static [(&'static str, ArgumentKind)],
    /// The hyper-parameters of its source.
    pub parameters: &'static [ParameterSpace],
    /// Those of them that it is not compiled with.
    pub host_only: &'static [&'static str],
}

impl KernelSpec {
    /// The kernel with arguments `A` of a source with hyper-parameters `P`.
    pub(crate) const fn of<A: KernelArguments<()>, P: Parameters>(source: &'static str) -> Self {
        KernelSpec {
            name: A::KERNEL,
            source,
            arguments: A::PARAMETERS,
            parameters: P::SPACE,
            host_only: P::HOST_ONLY,
        }
    }

    /// What its source is compiled with.
    pub fn compiled(&self) -> impl Iterator<Item = &'static ParameterSpace> + '_ {
        self.parameters.iter().filter(|space| !self.host_only.contains(&space.name))
    }
}

impl AlgorithmSpec {
    /// One way of running, on any device, of A's compressed rows and bound to their pattern, with hyper-parameters `P`
    /// and these kernels. What else an algorithm is, its own file says.
    pub(crate) const fn of<P: FittedParameters>(kernels: &'static [KernelSpec]) -> Self {
        AlgorithmSpec {
            name: P::ALGORITHM,
            variants: &[],
            default_variant: Variant::Full,
            planned: Planned::Anywhere,
            copies_values: false,
            reorders_rows: false,
            is_for_cpus: false,
            is_for_gpus: false,
            is_to_compare: false,
            build_weight: 1,
            storage: Storage { format: StorageFormat::Csr, offset_reads: 1, staged: &[] },
            space: P::SPACE,
            by_mean_row: None,
            defaults: |fit| NamedParameters::of(&P::fitted(fit)),
            check: check::<P>,
            model: None,
            trials: |_| Vec::new(),
            test_parameters: &[],
            test_sets: &[],
            kernels,
            offline: |_| Ok(()),
        }
    }

    /// Why a device cannot run it: the rule that its defaults break there.
    ///
    /// # Errors
    /// That rule.
    pub fn check_device(&self, fit: &Fit<'_>) -> Result<(), ParameterError> {
        (self.check)((self.defaults)(fit).entries(), fit)
    }

    /// Whether the tuner tries it on such a device.
    pub fn is_tried_on(&self, device_type: DeviceType) -> bool {
        let is_cpu = device_type == DeviceType::Cpu;
        !self.is_to_compare && !(if is_cpu { self.is_for_gpus } else { self.is_for_cpus })
    }
}

/// The defaults with `given` over them.
fn check<P: FittedParameters>(given: &[(&str, u32)], fit: &Fit<'_>) -> Result<(), ParameterError> {
    let mut parameters = P::fitted(fit);
    given.iter().try_for_each(|(name, value)| parameters.set(name, *value))?;
    Checked::new(parameters, fit).map(drop)
}

#[cfg(test)]
mod tests;
