//! What a failed command says, and the status it exits with.

/// Why the command failed, sorted by whose fault it is.
#[derive(Debug)]
pub(crate) enum Failure {
    /// A run or a verification failed, or there is no device: status 1.
    Run(anyhow::Error),
    /// Bad usage or input: status 2.
    Input(anyhow::Error),
    /// Who reads what is written has read enough: no failure, and nothing is said.
    Closed,
    /// A signal of this number ended the run before its end: status 128 and the number.
    Interrupted(u8, anyhow::Error),
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
            Failure::Closed => 0,
            Failure::Interrupted(signal, _) => 128 + signal,
        }
    }

    /// What there is to say.
    pub(crate) fn message(&self) -> Option<String> {
        match self {
            Failure::Closed => None,
            Failure::Run(error) | Failure::Input(error) | Failure::Interrupted(_, error) => {
                Some(in_words(error))
            }
        }
    }
}

fn in_words(error: &anyhow::Error) -> String {
    use sparrow::RuntimeError as E;
    let mut text = error.to_string();
    for cause in error.chain().skip(1).map(ToString::to_string) {
        // Many errors have their cause in their own words.
        if !text.contains(&cause) {
            text.push_str(&format!(": {cause}"));
        }
    }
    if let Some(E::NoLibrary | E::NoDevice) = error.downcast_ref() {
        text.push_str(
            "\n  To use the host's own cores instead, with spmv, bench spmv and solve: --device host\n  \
             To get an OpenCL implementation, from a clone of the project: cargo xtask provide",
        );
    }
    if let Some(csr_core::Error::Overflow { value_type, .. }) = error.downcast_ref() {
        if *value_type != csr_core::ValueType::F64 {
            text.push_str("\n  To store A in the widest type: --value-type f64");
        }
        text.push_str("\n  To take such numbers as infinite: --allow-overflow");
    }
    text
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
            | E::Matrix(_) => Failure::Input(error.into()),
            // As the matrix's file counts, which is from 1.
            E::Diagonal { row } => {
                let row = u64::from(row) + 1;
                Failure::input(E::no_inverse(format_args!(
                    "{row} (counted from 1, as in the file)"
                )))
            }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_is_said_once() {
        let io = || std::io::Error::other("the pipe is closed");
        // Has its cause in its words.
        let worker = sparrow_bench::tune::TuneError::Io(io());
        assert_eq!(
            Failure::from(worker).message().as_deref(),
            Some("the process that runs trials: the pipe is closed")
        );
        // Has it next to them.
        let apart = Failure::Run(anyhow::Error::from(io()).context("cannot start"));
        assert_eq!(apart.message().as_deref(), Some("cannot start: the pipe is closed"));
    }
}
