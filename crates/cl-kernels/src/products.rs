//! How often a plan will serve, under the names that commands and tables use.

/// How many products will follow a plan: what it may cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Products {
    /// One.
    Once,
    /// Some tens.
    #[default]
    Several,
    /// Hundreds: a copy of the matrix pays.
    Many,
}

impl Products {
    /// Every number, the least first.
    pub const ALL: [Products; 3] = [Products::Once, Products::Several, Products::Many];

    /// The spelling in tables and of `--products`.
    pub fn name(self) -> &'static str {
        match self {
            Products::Once => "once",
            Products::Several => "several",
            Products::Many => "many",
        }
    }

    /// How many products a plan's cost is weighed against.
    pub fn count(self) -> u32 {
        match self {
            Products::Once => 1,
            Products::Several => 50,
            Products::Many => 1000,
        }
    }
}

impl std::fmt::Display for Products {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.name())
    }
}

impl std::str::FromStr for Products {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Products::ALL
            .into_iter()
            .find(|products| products.name() == text)
            .ok_or_else(|| format!("products \"{text}\" is none of once, several, many"))
    }
}
