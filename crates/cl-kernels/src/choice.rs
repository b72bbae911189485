//! What runs and why; and as text, which an application may store and give back.

use std::str::FromStr;

use crate::{Algorithm, ParameterList, Variant};

/// An algorithm and why it was chosen.
///
/// Its text, `csr_flat(group_size=256,tile_nnz=4096)`, is everything but the reason, and reads back: that of a plan names
/// every hyper-parameter, so that it is the same plan elsewhere too.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// What to run.
    pub algorithm: Algorithm,
    /// In which way, where a rule says so, or the algorithm has several.
    pub variant: Option<Variant>,
    /// Hyper-parameters, over those the tables have for the algorithm; of a plan all of them.
    pub parameters: Vec<(String, u32)>,
    /// The reason, for `sparrow info --explain`.
    pub reason: String,
}

impl Choice {
    /// What was asked for by name.
    pub fn by_name(algorithm: Algorithm) -> Self {
        let reason = "asked for by name".to_owned();
        Choice { algorithm, variant: None, parameters: Vec::new(), reason }
    }

    /// Whether another runs the same; reasons may differ.
    pub fn is_same(&self, other: &Choice) -> bool {
        self.algorithm == other.algorithm
            && self.variant == other.variant
            && self.parameters == other.parameters
    }
}

/// Without the reason: `csr_adaptive full(group_size=256,nnz_per_wg=1024,...)`.
impl std::fmt::Display for Choice {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.algorithm)?;
        if let Some(variant) = self.variant {
            write!(f, " {variant}")?;
        }
        let parameters = self.parameters.iter().map(|(name, value)| format!("{name}={value}"));
        write!(f, "({})", parameters.collect::<Vec<_>>().join(","))
    }
}

impl FromStr for Choice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let refuse = |why: String| {
            format!("choice \"{text}\": {why}; one is like csr_flat(group_size=256,tile_nnz=4096)")
        };
        let (names, rest) =
            text.trim().split_once('(').ok_or_else(|| refuse("it has no \"(\"".to_owned()))?;
        let list = rest
            .strip_suffix(')')
            .ok_or_else(|| refuse("it has no \")\" at its end".to_owned()))?;
        let mut names = names.split_whitespace();
        let algorithm: Algorithm = names.next().unwrap_or("").parse().map_err(refuse)?;
        let variant = names.next().map(str::parse::<Variant>).transpose().map_err(refuse)?;
        if let Some(name) = names.next() {
            return Err(refuse(format!("\"{name}\" after the variant")));
        }
        if let Some(variant) = variant.filter(|one| !Variant::of(algorithm).contains(one)) {
            return Err(refuse(format!("{algorithm} has no variant \"{variant}\"")));
        }
        let ParameterList(parameters) = list.parse().map_err(refuse)?;
        for (name, _) in &parameters {
            algorithm.check_parameter(name).map_err(|error| refuse(error.to_string()))?;
        }
        Ok(Choice { algorithm, variant, parameters, reason: "pinned".to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_choice_reads_back_from_its_text() {
        for text in [
            "csr_scalar(group_size=128)",
            "csr_flat(group_size=256,tile_nnz=4096,whole_row=256,registers=40,shared_rows=0)",
            "csr_adaptive full(group_size=256)",
            "csr_vector()",
        ] {
            let choice: Choice = text.parse().unwrap();
            assert_eq!(choice.to_string(), text);
        }
    }

    #[test]
    fn what_is_no_choice_is_refused_with_what_is_wrong() {
        let cases = [
            ("csr_scalar", "it has no \"(\";"),
            ("csr_scalar(group_size=128", "it has no \")\" at its end"),
            ("csr_scaler(group_size=128)", "is none of csr_scalar"),
            ("csr_scalar(group_size=64,group_size=128)", "group_size is given twice"),
            ("csr_scalar(group_size)", "is not NAME=VALUE"),
            ("csr_scalar(items_per_row=2)", "has no parameter \"items_per_row\""),
            ("csr_scalar full()", "csr_scalar has no variant \"full\""),
        ];
        for (text, said) in cases {
            let error = text.parse::<Choice>().unwrap_err();
            assert!(error.contains(said), "{error}");
        }
    }
}
