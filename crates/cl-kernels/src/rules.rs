//! Rules: which algorithm, with which hyper-parameters, suits which matrices on a device. They are data of the
//! device table, as few as a person can read.
//!
//! ```toml
//! [[device.choice.f32.several]]
//! when = "mean_row < 6.5 and longest_share < 1"
//! algorithm = "csr_vector"
//! parameters = { items_per_row = 2 }
//! ```
//!
//! The first rule that fits counts; one without `when` always fits. Rules under `once` and `many` come before those
//! under `several`, for plans of which as many products are expected.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::features::figure;
use crate::{Algorithm, Feature, Features, ParameterError, Reuse, Variant};

/// On which side of its limit a figure lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// At the limit or above: `>=`.
    AtLeast,
    /// Below the limit: `<`.
    Below,
}

/// A figure compared with a limit: `mean_row >= 12`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Comparison {
    /// What is compared.
    pub feature: Feature,
    /// On which side it must lie.
    pub side: Side,
    /// Of what.
    pub limit: f64,
}

impl Comparison {
    /// Whether it holds of a matrix.
    pub fn holds(&self, features: &Features) -> bool {
        (features.get(self.feature) >= self.limit) == (self.side == Side::AtLeast)
    }

    fn sign(&self) -> &'static str {
        match self.side {
            Side::AtLeast => ">=",
            Side::Below => "<",
        }
    }
}

impl std::fmt::Display for Comparison {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {} {}", self.feature, self.sign(), self.limit)
    }
}

impl std::str::FromStr for Comparison {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let refuse = || format!("\"{}\" is not FEATURE >= NUMBER or FEATURE < NUMBER", text.trim());
        let words: Vec<_> = text.split_whitespace().collect();
        let [feature, sign, limit] = words[..] else { return Err(refuse()) };
        let side = match sign {
            ">=" => Side::AtLeast,
            "<" => Side::Below,
            _ => return Err(refuse()),
        };
        let limit: f64 = limit.parse().map_err(|_| refuse())?;
        if !limit.is_finite() {
            return Err(refuse());
        }
        Ok(Comparison { feature: feature.parse()?, side, limit })
    }
}

/// Comparisons that all must hold, joined by `and`; without any, it always holds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Condition(pub Vec<Comparison>);

impl Condition {
    /// Whether it holds of a matrix.
    pub fn holds(&self, features: &Features) -> bool {
        self.0.iter().all(|comparison| comparison.holds(features))
    }

    /// Whether it says nothing.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The comparisons with a matrix' figures put in: `mean_row 14.2 >= 12`.
    pub fn with_figures(&self, features: &Features) -> String {
        let texts = self.0.iter().map(|comparison| {
            let Comparison { feature, limit, .. } = comparison;
            let found = figure(features.get(*feature));
            format!("{feature} {found} {} {limit}", comparison.sign())
        });
        texts.collect::<Vec<_>>().join(" and ")
    }
}

impl std::fmt::Display for Condition {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let texts: Vec<_> = self.0.iter().map(Comparison::to_string).collect();
        f.write_str(&texts.join(" and "))
    }
}

impl From<Condition> for String {
    fn from(condition: Condition) -> Self {
        condition.to_string()
    }
}

impl TryFrom<String> for Condition {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        if text.trim().is_empty() {
            return Ok(Condition::default());
        }
        text.split(" and ").map(str::parse).collect::<Result<_, _>>().map(Condition)
    }
}

/// Where a condition holds, what runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// On which matrices.
    #[serde(default, skip_serializing_if = "Condition::is_empty")]
    pub when: Condition,
    /// What runs.
    pub algorithm: Algorithm,
    /// In which way, where it has several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variant: Option<Variant>,
    /// Hyper-parameters, over what the table says of the algorithm.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub parameters: BTreeMap<String, u32>,
}

impl Rule {
    /// Refuses hyper-parameters and variants that the algorithm does not have.
    ///
    /// # Errors
    /// The first of them, with those there are.
    pub fn check_names(&self) -> Result<(), String> {
        let known = |name: &String| self.algorithm.check_parameter(name);
        self.parameters.keys().try_for_each(known).map_err(|e: ParameterError| e.to_string())?;
        match self.variant {
            Some(variant) if !Variant::of(self.algorithm).contains(&variant) => {
                Err(format!("{} has no variant \"{variant}\"", self.algorithm))
            }
            Some(variant) if variant.blocks() => {
                Err(format!("the variant \"{variant}\" runs only where it is asked for"))
            }
            _ => Ok(()),
        }
    }
}

/// As a sentence: `mean_row >= 12: csr_vector (items_per_row=8)`.
impl std::fmt::Display for Rule {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.when.is_empty() {
            true => write!(f, "else: {}", self.algorithm)?,
            false => write!(f, "{}: {}", self.when, self.algorithm)?,
        }
        if let Some(variant) = self.variant {
            write!(f, " {variant}")?;
        }
        if self.parameters.is_empty() {
            return Ok(());
        }
        let parameters = self.parameters.iter().map(|(name, value)| format!("{name}={value}"));
        write!(f, " ({})", parameters.collect::<Vec<_>>().join(","))
    }
}

/// The rules of one value type on a device.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rules {
    /// Where one product follows a plan.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub once: Vec<Rule>,
    /// Where some tens follow; also for the others, after their own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub several: Vec<Rule>,
    /// Where hundreds follow.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub many: Vec<Rule>,
}

impl Rules {
    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.once.is_empty() && self.several.is_empty() && self.many.is_empty()
    }

    /// The rules that count for a plan of so many products, in their order.
    pub fn of(&self, products: Reuse) -> impl Iterator<Item = &Rule> {
        self.own(products).iter().chain(self.after(products))
    }

    /// Those for several products, where they follow the own ones of another number.
    pub fn after(&self, products: Reuse) -> &[Rule] {
        match products {
            Reuse::Several => &[],
            Reuse::Once | Reuse::Many => &self.several,
        }
    }

    /// The list of a number of products, without those that follow it.
    pub fn own(&self, products: Reuse) -> &[Rule] {
        match products {
            Reuse::Once => &self.once,
            Reuse::Several => &self.several,
            Reuse::Many => &self.many,
        }
    }

    /// The list of a number of products.
    pub fn list_mut(&mut self, products: Reuse) -> &mut Vec<Rule> {
        match products {
            Reuse::Once => &mut self.once,
            Reuse::Several => &mut self.several,
            Reuse::Many => &mut self.many,
        }
    }
}

#[cfg(test)]
mod tests {
    use csr_core::ValueType;

    use super::*;
    use crate::MatrixShape;

    fn features(mean_row: u64) -> Features {
        let (rows, nnz) = (1000, 1000 * mean_row);
        let shape = MatrixShape { rows, nnz, longest_row: mean_row, in_step: nnz, changes: 0 };
        Features::of(&shape, ValueType::F32, 8, 1 << 20)
    }

    #[test]
    fn conditions_read_as_they_are_written() {
        let text = "mean_row >= 12.5 and longest_share < 0.33";
        let condition = Condition::try_from(text.to_owned()).unwrap();
        assert_eq!(condition.to_string(), text);
        assert!(condition.holds(&features(13)) && !condition.holds(&features(12)));
        assert_eq!(
            condition.with_figures(&features(13)),
            "mean_row 13 >= 12.5 and longest_share 0.008 < 0.33"
        );
        assert!(Condition::default().holds(&features(1)));
    }

    #[test]
    fn what_is_no_condition_is_refused_with_what_would_be() {
        let refusal = |text: &str| Condition::try_from(text.to_owned()).unwrap_err();
        assert!(refusal("mean_row > 12").contains("FEATURE >= NUMBER"));
        assert!(refusal("mean_row >= twelve").contains("\"mean_row >= twelve\""));
        assert!(refusal("mean_row >= nan").contains("\"mean_row >= nan\""));
        assert!(refusal("mean >= 12").contains("\"mean\" is none of rows, nnz, mean_row"));
    }

    #[test]
    fn rules_for_many_products_come_before_those_for_several() {
        let rule = |algorithm| Rule {
            when: Condition::default(),
            algorithm,
            variant: None,
            parameters: BTreeMap::new(),
        };
        let rules = Rules {
            several: vec![rule(Algorithm::CsrVector)],
            many: vec![rule(Algorithm::EvcHyb)],
            ..Rules::default()
        };
        let found = |products| rules.of(products).map(|rule| rule.algorithm).collect::<Vec<_>>();
        assert_eq!(found(Reuse::Many), [Algorithm::EvcHyb, Algorithm::CsrVector]);
        assert_eq!(found(Reuse::Once), [Algorithm::CsrVector]);
        assert_eq!(found(Reuse::Several), [Algorithm::CsrVector]);
    }
}
