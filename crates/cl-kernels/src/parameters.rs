//! Hyper-parameters: the numbers a kernel is compiled with.
//!
//! Each algorithm declares its parameters once, with [`parameters!`]: the struct, the values the tuner
//! may try, and the macro of the same name in upper case that the kernel reads.

use crate::{NamedParameters, ParameterError};

/// The values a hyper-parameter may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParameterSpace {
    /// The field's name; in upper case, the macro's.
    pub name: &'static str,
    /// What the tuner tries.
    pub values: &'static [u32],
}

/// The hyper-parameters of one algorithm.
pub trait Parameters: Clone + std::fmt::Display + PartialEq + Send + Sync + 'static {
    /// The algorithm's name.
    const ALGORITHM: &'static str;

    /// What the tuner searches, one line a parameter.
    const SPACE: &'static [ParameterSpace];

    /// Those that the host alone reads: no kernel is compiled with them.
    const HOST_ONLY: &'static [&'static str];

    /// Name and value of each parameter, in the order of [`Parameters::SPACE`].
    fn entries(&self) -> Vec<(&'static str, u32)>;

    /// Changes one parameter by name; that of device tables of format 1 counts too
    /// ([`current_name`](crate::current_name)).
    ///
    /// # Errors
    /// A name that is none of the algorithm's.
    fn set(&mut self, name: &str, value: u32) -> Result<(), ParameterError>;

    /// What kernels are compiled with: [`Parameters::entries`] without those that the host alone reads.
    fn compiled(&self) -> Vec<(&'static str, u32)> {
        let mut entries = self.entries();
        entries.retain(|(name, _)| !Self::HOST_ONLY.contains(name));
        entries
    }

    /// Takes over what `named` says.
    ///
    /// # Errors
    /// A name that is none of the algorithm's.
    fn take(&mut self, named: &NamedParameters) -> Result<(), ParameterError> {
        named.entries().iter().try_for_each(|(name, value)| self.set(name, *value))
    }
}

impl NamedParameters {
    /// Those of `parameters`.
    pub fn of<P: Parameters>(parameters: &P) -> Self {
        NamedParameters::new(P::ALGORITHM, parameters.entries())
    }
}

/// Declares the struct of an algorithm's parameters and implements [`Parameters`] for it. `=> host` marks one that the
/// host alone reads.
macro_rules! parameters {
    (
        $(#[$meta:meta])*
        pub struct $struct:ident for $algorithm:literal {
            $( $(#[$field_meta:meta])* $field:ident: $space:expr $(=> $host:ident)?, )*
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub struct $struct {
            $( $(#[$field_meta])* pub $field: u32, )*
        }

        impl $crate::Parameters for $struct {
            const ALGORITHM: &'static str = $algorithm;

            const SPACE: &'static [$crate::ParameterSpace] = &[
                $( $crate::ParameterSpace { name: stringify!($field), values: &$space }, )*
            ];

            const HOST_ONLY: &'static [&'static str] = &[
                $( $( $crate::parameters::host_only!($host $field), )? )*
            ];

            fn entries(&self) -> Vec<(&'static str, u32)> {
                vec![$( (stringify!($field), self.$field), )*]
            }

            fn set(&mut self, name: &str, value: u32) -> Result<(), $crate::ParameterError> {
                match $crate::current_name($algorithm, name) {
                    $( stringify!($field) => self.$field = value, )*
                    _ => {
                        let known = [$( stringify!($field), )*];
                        return Err($crate::ParameterError::unknown($algorithm, name, known));
                    }
                }
                Ok(())
            }
        }

        impl std::fmt::Display for $struct {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                $crate::NamedParameters::of(self).fmt(f)
            }
        }
    };
}
pub(crate) use parameters;

/// The name of a parameter with the mark `host`, the only one there is.
macro_rules! host_only {
    (host $field:ident) => {
        stringify!($field)
    };
}
pub(crate) use host_only;

/// Work-group sizes worth trying on any device.
pub(crate) const GROUP_SIZES: [u32; 5] = [64, 128, 256, 512, 1024];

/// Refuses a value outside `limits`.
pub(crate) fn check_between(
    algorithm: &'static str,
    name: &'static str,
    value: u32,
    limits: std::ops::RangeInclusive<u32>,
) -> Result<(), ParameterError> {
    if limits.contains(&value) {
        return Ok(());
    }
    let rule = format!("it must be {} to {}", limits.start(), limits.end());
    Err(ParameterError::Invalid { algorithm, name, value: value.into(), rule })
}

/// Refuses a group size that is no power of two or above the device's limit.
pub(crate) fn check_group_size(
    algorithm: &'static str,
    group_size: u32,
    device: &crate::DeviceTraits,
) -> Result<(), ParameterError> {
    let refuse = |rule: String| {
        let value = u64::from(group_size);
        Err(ParameterError::Invalid { algorithm, name: "group_size", value, rule })
    };
    if !group_size.is_power_of_two() {
        return refuse("it must be a power of two".to_owned());
    }
    if u64::from(group_size) > device.max_group_size {
        return refuse(format!("{} allows at most {}", device.name, device.max_group_size));
    }
    Ok(())
}

/// Refuses a limit of registers that no compiler would be told, or that leaves a kernel none to work with.
pub(crate) fn check_registers(
    algorithm: &'static str,
    registers: u32,
    device: &crate::DeviceTraits,
) -> Result<(), ParameterError> {
    if registers == 0 {
        return Ok(());
    }
    if !device.takes_register_limits() {
        let rule = format!("{} is not told how many, so it must be 0", device.name);
        let value = registers.into();
        return Err(ParameterError::Invalid { algorithm, name: "registers", value, rule });
    }
    check_between(algorithm, "registers", registers, 24..=255)
}
