//! Why hyper-parameters are refused.

/// Why parameters cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ParameterError {
    /// No parameter of that name.
    #[error("{algorithm} has no parameter \"{name}\"; it has {known}")]
    Unknown {
        /// The algorithm's name.
        algorithm: &'static str,
        /// The name given.
        name: String,
        /// The names there are.
        known: String,
    },
    /// A value that breaks a rule of the kernel or a limit of the device.
    #[error("{algorithm}: {name} = {value}, but {rule}")]
    Invalid {
        /// The algorithm's name.
        algorithm: &'static str,
        /// The parameter's name.
        name: &'static str,
        /// Its value.
        value: u64,
        /// The rule it breaks, with its limit.
        rule: String,
    },
}

impl ParameterError {
    /// No parameter of that name among those that are `known`.
    pub(crate) fn unknown(
        algorithm: &'static str,
        name: &str,
        known: impl IntoIterator<Item = &'static str>,
    ) -> Self {
        let known: Vec<_> = known.into_iter().collect();
        ParameterError::Unknown { algorithm, name: name.to_owned(), known: known.join(", ") }
    }
}
