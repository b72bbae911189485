//! Which classes are benchmarked together.

use super::{Class, Source};

/// A named selection of classes, as `--suite` spells it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Suite {
    /// Twelve classes of every shape, each under 3 million nonzeros.
    Quick,
    /// Every class.
    Full,
    /// The classes named after a paper's matrix.
    Papers,
    /// The twenty of the speculative segmented sum (Liu and Vinter 2015, Table 3), in its order.
    Hetero,
    /// The 32 of CSR-Adaptive (Daga and Greathouse 2015, Table II).
    CsrAdaptive,
    /// The 22 of EVC-HYB (Guo, Gropp and Olson, Table 3), in its order.
    EvcHyb,
}

/// Two meshes by differences and elements, a power-law graph, a rectangle with long rows, a circuit of
/// two near-dense rows, and likenesses of every other shape.
const QUICK: [&str; 12] = [
    "poisson5",
    "elasticity",
    "rmat",
    "setcover",
    "rma10",
    "qcd5_4",
    "mac_econ_fwd500",
    "mc2depi",
    "cop20k_A",
    "scircuit",
    "dc2",
    "Stanford",
];

const HETERO: [&str; 20] = [
    "dense2",
    "pdb1HYS",
    "consph",
    "cant",
    "pwtk",
    "rma10",
    "qcd5_4",
    "shipsec1",
    "mac_econ_fwd500",
    "mc2depi",
    "cop20k_A",
    "scircuit",
    "webbase-1M",
    "rail4284",
    "ASIC_680k",
    "boyd2",
    "dc2",
    "ins2",
    "rajat21",
    "transient",
];

const EVC_HYB: [&str; 22] = [
    "pdb1HYS",
    "pwtk",
    "TSOPF_RS_b2383",
    "rma10",
    "audikw_1",
    "cage14",
    "shipsec1",
    "webbase-1M",
    "raefsky3",
    "cop20k_A",
    "msdoor",
    "ldoor",
    "scircuit",
    "torso1",
    "Stanford",
    "pre2",
    "mac_econ_fwd500",
    "dc1",
    "indochina-2004",
    "web-Google",
    "Stanford_Berkeley",
    "RM07R",
];

impl Suite {
    /// Every suite, the smallest first.
    pub const ALL: [Suite; 6] = [
        Suite::Quick,
        Suite::Hetero,
        Suite::EvcHyb,
        Suite::CsrAdaptive,
        Suite::Papers,
        Suite::Full,
    ];

    /// The spelling of `--suite`.
    pub fn name(self) -> &'static str {
        match self {
            Suite::Quick => "quick",
            Suite::Full => "full",
            Suite::Papers => "papers",
            Suite::Hetero => "hetero",
            Suite::CsrAdaptive => "csr-adaptive",
            Suite::EvcHyb => "evc-hyb",
        }
    }

    /// The classes of this suite, in the order of [`Class::all`] if the suite has none of its own.
    pub fn classes(self) -> Vec<Class> {
        let ordered: &[&str] = match self {
            Suite::Hetero => &HETERO,
            Suite::EvcHyb => &EVC_HYB,
            _ => &[],
        };
        if !ordered.is_empty() {
            let named = |name: &&str| Class::all().find(|class| class.name() == *name);
            return ordered.iter().filter_map(named).collect();
        }
        let belongs = |class: &Class| match self {
            Suite::Quick => QUICK.contains(&class.name()),
            Suite::Full => true,
            Suite::Papers | Suite::Hetero | Suite::EvcHyb => class.source() == Source::Likeness,
            Suite::CsrAdaptive => {
                class.likeness().is_some_and(|one| one.papers.starts_with("CSR-Adaptive"))
            }
        };
        Class::all().filter(belongs).collect()
    }
}

impl std::fmt::Display for Suite {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.name())
    }
}

impl std::str::FromStr for Suite {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Suite::ALL.into_iter().find(|suite| suite.name() == text).ok_or_else(|| {
            format!(
                "suite \"{text}\" is none of quick, hetero, evc-hyb, csr-adaptive, papers, full"
            )
        })
    }
}
