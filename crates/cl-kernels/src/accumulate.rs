//! The ways of summing products, under the names that commands, records and keys use.

/// How products are summed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Accumulate {
    /// In the accumulator type.
    #[default]
    Plain,
    /// With a running error term through products, reductions and carries.
    Compensated,
}

impl Accumulate {
    /// The spelling in `--accumulate`, records and keys.
    pub fn name(self) -> &'static str {
        match self {
            Accumulate::Plain => "plain",
            Accumulate::Compensated => "compensated",
        }
    }
}

impl std::fmt::Display for Accumulate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.name())
    }
}

impl std::str::FromStr for Accumulate {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "plain" => Ok(Accumulate::Plain),
            "compensated" => Ok(Accumulate::Compensated),
            _ => Err(format!("accumulate \"{text}\" is none of plain, compensated")),
        }
    }
}
