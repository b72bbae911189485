//! The ways in which the problems of a batch are stored, which figures list and measuring makes.

/// How the problems of a batch are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BatchForm {
    /// As an application has them: 32-bit columns, in the algorithm's format.
    AsGiven,
    /// With 16-bit columns.
    Short,
    /// One pattern with 16-bit columns, and values for each problem.
    Pattern,
    /// Of ELL: as published, every problem padded to its longest row, however much that is.
    PureEll,
}

impl BatchForm {
    /// The word in records.
    pub fn name(self) -> &'static str {
        match self {
            BatchForm::AsGiven => "as given",
            BatchForm::Short => "16-bit",
            BatchForm::Pattern => "one pattern",
            BatchForm::PureEll => "pure ELL",
        }
    }
}
