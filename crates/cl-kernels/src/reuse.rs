//! How often a plan will serve, under the names that commands and tables use.

/// How many products will follow a plan: what it may cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Reuse {
    /// One.
    Once,
    /// Some tens.
    #[default]
    Several,
    /// Hundreds: a copy of the matrix pays.
    Many,
}

impl Reuse {
    /// Every number, the least first.
    pub const ALL: [Reuse; 3] = [Reuse::Once, Reuse::Several, Reuse::Many];

    /// The spelling in tables and of `--products`.
    pub fn name(self) -> &'static str {
        match self {
            Reuse::Once => "once",
            Reuse::Several => "several",
            Reuse::Many => "many",
        }
    }

    /// How many products a plan's cost is weighed against.
    pub fn count(self) -> u32 {
        match self {
            Reuse::Once => 1,
            Reuse::Several => 50,
            Reuse::Many => 1000,
        }
    }
}

impl std::fmt::Display for Reuse {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.name())
    }
}

impl std::str::FromStr for Reuse {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Reuse::ALL
            .into_iter()
            .find(|products| products.name() == text)
            .ok_or_else(|| format!("products \"{text}\" is none of once, several, many"))
    }
}
