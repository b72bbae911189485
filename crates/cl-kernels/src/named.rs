//! Hyper-parameters by name: what [`Parameters`](crate::Parameters) are where the algorithm is known at run time only.

use crate::ParameterError;

/// The hyper-parameters of one algorithm, in the order of its space. Its `Display` is that of
/// [`Parameters`](crate::Parameters).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedParameters {
    algorithm: &'static str,
    entries: Vec<(&'static str, u32)>,
}

impl NamedParameters {
    /// Those of an algorithm, all of them.
    pub(crate) fn new(algorithm: &'static str, entries: Vec<(&'static str, u32)>) -> Self {
        NamedParameters { algorithm, entries }
    }

    /// The algorithm's name.
    pub fn algorithm(&self) -> &'static str {
        self.algorithm
    }

    /// Name and value of each.
    pub fn entries(&self) -> &[(&'static str, u32)] {
        &self.entries
    }

    /// The value of one; `None` where the algorithm has none of that name.
    pub fn get(&self, name: &str) -> Option<u32> {
        self.entries.iter().find(|(entry, _)| *entry == name).map(|(_, value)| *value)
    }

    /// Changes one.
    ///
    /// # Errors
    /// A name that is none of the algorithm's.
    pub fn set(&mut self, name: &str, value: u32) -> Result<(), ParameterError> {
        match self.entries.iter_mut().find(|(entry, _)| *entry == name) {
            Some(entry) => entry.1 = value,
            None => {
                let known = self.entries.iter().map(|(entry, _)| *entry);
                return Err(ParameterError::unknown(self.algorithm, name, known));
            }
        }
        Ok(())
    }
}

impl std::fmt::Display for NamedParameters {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let texts: Vec<_> =
            self.entries.iter().map(|(name, value)| format!("{name}={value}")).collect();
        f.write_str(&texts.join(","))
    }
}
