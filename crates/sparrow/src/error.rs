//! The one error type an application sees.

/// The result of everything in this crate that can fail.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a request failed; each message names the object, the value and the limit.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A device, a driver, or what was asked of them.
    #[error(transparent)]
    Runtime(#[from] cl_runtime::Error),

    /// A matrix refused on the host.
    #[error(transparent)]
    Matrix(#[from] csr_core::Error),

    /// Hyper-parameters that break a rule.
    #[error(transparent)]
    Parameter(#[from] cl_kernels::ParameterError),
}

impl Error {
    /// Whether operands, plan, workspace or options were refused because they do not belong together.
    pub fn is_mismatch(&self) -> bool {
        matches!(self, Error::Runtime(error) if error.is_mismatch())
    }
}
