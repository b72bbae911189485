//! What a failed command says, and the status it exits with.

use std::fmt;

/// Why the command failed, sorted by whose fault it is.
#[derive(Debug)]
pub(crate) enum Failure {
    /// A run or a verification failed, or there is no device: status 1.
    Run(anyhow::Error),
    /// Bad usage or input: status 2.
    Input(anyhow::Error),
}

impl Failure {
    /// A failed run, in words.
    pub(crate) fn run(message: impl Into<String>) -> Self {
        Failure::Run(anyhow::Error::msg(message.into()))
    }

    /// Bad input, in words.
    pub(crate) fn input(message: impl Into<String>) -> Self {
        Failure::Input(anyhow::Error::msg(message.into()))
    }

    pub(crate) fn exit_code(&self) -> u8 {
        match self {
            Failure::Run(_) => 1,
            Failure::Input(_) => 2,
        }
    }

    pub(crate) fn is_broken_pipe(&self) -> bool {
        let (Failure::Run(error) | Failure::Input(error)) = self;
        let io = error.downcast_ref::<std::io::Error>();
        io.is_some_and(|error| error.kind() == std::io::ErrorKind::BrokenPipe)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Failure::Run(error) | Failure::Input(error)) = self;
        write!(f, "{error:#}")?;
        if let Some(sparrow::RuntimeError::NoLibrary | sparrow::RuntimeError::NoDevice) =
            error.downcast_ref::<sparrow::RuntimeError>()
        {
            f.write_str(
                "\n  To use the host's own cores instead: --device host\n  To get an OpenCL \
                 implementation, from a clone of the project: cargo xtask provide",
            )?;
        }
        Ok(())
    }
}

impl From<sparrow::Error> for Failure {
    fn from(error: sparrow::Error) -> Self {
        match error {
            sparrow::Error::Runtime(error) => error.into(),
            sparrow::Error::Matrix(error) => error.into(),
            error @ sparrow::Error::Parameter(_) => Failure::Input(error.into()),
            error => Failure::Run(error.into()),
        }
    }
}

impl From<sparrow::RuntimeError> for Failure {
    fn from(error: sparrow::RuntimeError) -> Self {
        use sparrow::RuntimeError as E;
        match error {
            E::UnknownDevice { .. }
            | E::AmbiguousDevice { .. }
            | E::Parameter(_)
            | E::Diagonal { .. }
            | E::Matrix(_) => Failure::Input(error.into()),
            error => Failure::Run(error.into()),
        }
    }
}

impl From<csr_core::Error> for Failure {
    fn from(error: csr_core::Error) -> Self {
        Failure::Input(error.into())
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        Failure::Run(error.into())
    }
}

impl From<sparrow_bench::MeasureError> for Failure {
    fn from(error: sparrow_bench::MeasureError) -> Self {
        match error {
            sparrow_bench::MeasureError::Sparrow(error) => Failure::from(error),
            sparrow_bench::MeasureError::Matrix(error) => Failure::from(error),
            error => Failure::Run(error.into()),
        }
    }
}

impl From<sparrow_bench::tune::TuneError> for Failure {
    fn from(error: sparrow_bench::tune::TuneError) -> Self {
        use sparrow_bench::tune::TuneError as E;
        match error {
            E::Measure(error) => error.into(),
            E::File { .. } => Failure::Input(error.into()),
            error => Failure::Run(error.into()),
        }
    }
}
