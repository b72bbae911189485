//! Hyper-parameters as text: `group_size=256,tile_nnz=4096`.

use std::str::FromStr;

/// Hyper-parameters by name, each at most once, as a user lists them. Names are those of an algorithm only where one
/// takes them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ParameterList(pub Vec<(String, u32)>);

/// Entries with commas between them; spaces, and commas without an entry, are left out.
impl FromStr for ParameterList {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut list: Vec<(String, u32)> = Vec::new();
        for entry in text.split(',').map(str::trim).filter(|entry| !entry.is_empty()) {
            let pair = entry.split_once('=').and_then(|(name, value)| {
                Some((name.trim().to_owned(), value.trim().parse().ok()?))
            });
            let Some((name, value)) = pair else {
                let limit = 1_u64 << u32::BITS;
                return Err(format!(
                    "\"{entry}\" is not NAME=VALUE with a whole number below {limit}"
                ));
            };
            if let Some((_, before)) = list.iter().find(|(known, _)| *known == name) {
                return Err(format!("{name} is given twice, as {before} and as {value}"));
            }
            list.push((name, value));
        }
        Ok(ParameterList(list))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_read_in_order_and_what_is_none_is_named() {
        let both = vec![("group_size".to_owned(), 64), ("width".to_owned(), 4)];
        assert_eq!("group_size=64, width = 4,".parse(), Ok(ParameterList(both)));
        assert_eq!("".parse(), Ok(ParameterList::default()));
        for wrong in ["group_size", "group_size=x", "a=-1", "a=4294967296", "a=1;b=2"] {
            let error = format!("b=1,{wrong}").parse::<ParameterList>().unwrap_err();
            assert!(error.starts_with(&format!("\"{wrong}\" is not NAME=VALUE")), "{error}");
        }
    }

    #[test]
    fn a_parameter_given_twice_is_refused() {
        let error = "width=4,group_size=64,width=8".parse::<ParameterList>().unwrap_err();
        assert_eq!(error, "width is given twice, as 4 and as 8");
    }
}
