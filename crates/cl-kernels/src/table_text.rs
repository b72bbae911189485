//! Reads the text of a device table. What cannot be used is left out and named: a line of an old or a newer version
//! must not take the device away from its user.

use std::path::Path;

use serde::Deserialize;
use toml::{Table, Value};

use crate::algorithm::known;
use crate::batched::{Batched, BatchedSwitch};
use crate::bicgstab::BiCgStab;
use crate::cg::Cg;
use crate::rules::{Rule, Rules};
use crate::spmm::SpmmSwitch;
use crate::spmm_merge::SpmmMerge;
use crate::spmm_nonzero_split::SpmmNonzeroSplit;
use crate::spmm_row_split::SpmmRowSplit;
use crate::{
    Algorithm, CostNumbers, DeviceEntry, DeviceTable, ParameterError, Parameters, Reuse,
    TableError, current_name,
};

/// Reads a device table from the text of its file; `name` is what problems call it. For an application with a table of
/// its own, which goes to [`Tables::with_user`](crate::Tables::with_user).
///
/// Returns the table and what was left out of it. That is everything, where the text is no TOML or of another format;
/// an entry with a field that is not known, since it might be about other devices than it seems; and single lines about
/// algorithms, value types, hyper-parameters or features that nothing has.
pub fn parse_device_table(name: &Path, text: &str) -> (DeviceTable, Vec<TableError>) {
    let mut reader = Reader { name, problems: Vec::new(), has_old_names: false };
    let table = reader.table(text);
    (table, reader.problems)
}

struct Reader<'a> {
    name: &'a Path,
    problems: Vec<TableError>,
    /// Whether hyper-parameters may have their names of format 1.
    has_old_names: bool,
}

impl Reader<'_> {
    fn skip(&mut self, message: impl Into<String>) {
        self.problems.push(TableError { path: self.name.to_owned(), message: message.into() });
    }

    /// The name that a hyper-parameter has now.
    fn current(&self, algorithm: &str, name: String) -> String {
        match self.has_old_names {
            true => current_name(algorithm, &name).to_owned(),
            false => name,
        }
    }

    fn table(&mut self, text: &str) -> DeviceTable {
        let mut table = DeviceTable::empty();
        let mut found = match toml::from_str::<Table>(text) {
            Ok(found) => found,
            Err(error) => {
                self.skip(error.to_string());
                return table;
            }
        };
        match found.remove("format") {
            Some(Value::Integer(format)) if format == i64::from(DeviceTable::FORMAT) => {}
            Some(Value::Integer(1)) => self.has_old_names = true,
            Some(other) => {
                let newest = DeviceTable::FORMAT;
                self.skip(format!("format is {other}, and only 1 to {newest} are known"));
                return table;
            }
            None => {
                self.skip(format!("it does not say format = {}", DeviceTable::FORMAT));
                return table;
            }
        }
        match found.remove("device") {
            None => {}
            Some(Value::Array(entries)) => {
                for (k, entry) in entries.into_iter().enumerate() {
                    table.devices.extend(self.entry(k, entry));
                }
            }
            Some(_) => self.skip("device is no list: entries begin with [[device]]"),
        }
        for key in found.keys() {
            self.skip(format!("\"{key}\" is neither format nor device"));
        }
        table
    }

    /// Everything but kernel, choice and model must be understood: it says which devices are meant.
    fn entry(&mut self, index: usize, entry: Value) -> Option<DeviceEntry> {
        let title = entry_title(index, &entry);
        let Value::Table(mut fields) = entry else {
            self.skip(format!("{title} is no table"));
            return None;
        };
        let kernel = fields.remove("kernel");
        let choice = fields.remove("choice");
        let model = fields.remove("model");
        let mut entry = match DeviceEntry::deserialize(Value::Table(fields)) {
            Ok(entry) => entry,
            Err(error) => {
                self.skip(format!("{title}: {}", error.to_string().trim()));
                return None;
            }
        };
        for (algorithm, lines) in self.tables(&title, "kernel", kernel) {
            let at = format!("{title}: kernel.{algorithm}");
            match parameter_check(&algorithm) {
                Ok(check) => {
                    for (value_type, line) in self.tables(&at, "", Some(lines)) {
                        let at = format!("{at}.{value_type}");
                        if let Some(parameters) =
                            self.parameters(&at, &algorithm, &value_type, line, &check)
                        {
                            let lines = entry.kernel.entry(algorithm.clone()).or_default();
                            lines.insert(value_type, parameters);
                        }
                    }
                }
                Err(message) => self.skip(format!("{at}: {message}")),
            }
        }
        for (value_type, lists) in self.tables(&title, "choice", choice) {
            let at = format!("{title}: choice.{value_type}");
            if let Err(message) = value_type.parse::<csr_core::ValueType>() {
                self.skip(format!("{at}: {message}"));
                continue;
            }
            let rules = self.rules(&at, lists);
            if !rules.is_empty() {
                entry.choice.insert(value_type, rules);
            }
        }
        for (value_type, numbers) in self.tables(&title, "model", model) {
            let at = format!("{title}: model.{value_type}");
            match value_type.parse::<csr_core::ValueType>() {
                Ok(_) => entry.model.extend(self.model(&at, numbers).map(|it| (value_type, it))),
                Err(message) => self.skip(format!("{at}: {message}")),
            }
        }
        Some(entry)
    }

    /// The numbers of a cost model, all of them.
    fn model(&mut self, at: &str, numbers: Value) -> Option<CostNumbers> {
        match CostNumbers::deserialize(numbers) {
            Ok(numbers) if numbers.are_sound() => Some(numbers),
            Ok(_) => {
                self.skip(format!("{at}: every number must be 0 or more, and margin below 1"));
                None
            }
            Err(error) => {
                self.skip(format!("{at}: {}", error.to_string().trim()));
                None
            }
        }
    }

    /// The pairs of a table; none where there is no table.
    fn tables(&mut self, at: &str, key: &str, value: Option<Value>) -> Vec<(String, Value)> {
        match value {
            None => Vec::new(),
            Some(Value::Table(table)) => table.into_iter().collect(),
            Some(other) => {
                let what = if key.is_empty() { at.to_owned() } else { format!("{at}: {key}") };
                self.skip(format!("{what} is {}, and not a table", other.type_str()));
                Vec::new()
            }
        }
    }

    fn parameters(
        &mut self,
        at: &str,
        algorithm: &str,
        value_type: &str,
        line: Value,
        check: &ParameterCheck,
    ) -> Option<std::collections::BTreeMap<String, u32>> {
        if let Err(message) = value_type.parse::<csr_core::ValueType>() {
            self.skip(format!("{at}: {message}"));
            return None;
        }
        let mut parameters = std::collections::BTreeMap::new();
        for (name, value) in self.tables(at, "", Some(line)) {
            let name = self.current(algorithm, name);
            let number = value.as_integer().and_then(|number| u32::try_from(number).ok());
            match (check(&name), number) {
                (Ok(()), Some(number)) => {
                    parameters.insert(name, number);
                }
                (Err(error), _) => self.skip(format!("{at}: {error}")),
                (Ok(()), None) => {
                    self.skip(format!("{at}: {name} = {value} is no number of 0 to {}", u32::MAX));
                }
            }
        }
        (!parameters.is_empty()).then_some(parameters)
    }

    fn with_current_names(&self, mut rule: Rule) -> Rule {
        let algorithm = rule.algorithm.name();
        let given = std::mem::take(&mut rule.parameters).into_iter();
        rule.parameters =
            given.map(|(name, value)| (self.current(algorithm, name), value)).collect();
        rule
    }

    fn rules(&mut self, at: &str, lists: Value) -> Rules {
        let mut rules = Rules::default();
        for (products, list) in self.tables(at, "", Some(lists)) {
            let at = format!("{at}.{products}");
            let products = match products.parse::<Reuse>() {
                Ok(products) => products,
                Err(message) => {
                    self.skip(format!("{at}: {message}"));
                    continue;
                }
            };
            let Value::Array(list) = list else {
                self.skip(format!("{at} is {}, and not a list of rules", list.type_str()));
                continue;
            };
            for (k, rule) in list.into_iter().enumerate() {
                let rule = Rule::deserialize(rule).map(|rule| self.with_current_names(rule));
                let rule = rule.map_err(|error| error.to_string());
                match rule.and_then(|rule| rule.check_names().map(|()| rule)) {
                    Ok(rule) => rules.list_mut(products).push(rule),
                    Err(error) => self.skip(format!("{at}: rule {}: {}", k + 1, error.trim())),
                }
            }
        }
        rules
    }
}

/// What problems call an entry: its number, and its name where it has one.
fn entry_title(index: usize, entry: &Value) -> String {
    match entry.get("name").and_then(Value::as_str) {
        Some(name) => format!("entry {} ({name})", index + 1),
        None => format!("entry {}", index + 1),
    }
}

/// Refuses hyper-parameters that one line of a table does not have.
type ParameterCheck = Box<dyn Fn(&str) -> Result<(), ParameterError>>;

/// Refuses a hyper-parameter that `P` does not have.
fn of<P: Parameters>(name: &str) -> Result<(), ParameterError> {
    known(P::ALGORITHM, P::SPACE, name)
}

/// The check of a line.
fn parameter_check(line: &str) -> Result<ParameterCheck, String> {
    // The batched algorithms are one program; switches are none.
    Ok(match line {
        Batched::ALGORITHM => Box::new(of::<Batched>),
        BatchedSwitch::ALGORITHM => Box::new(of::<BatchedSwitch>),
        SpmmSwitch::ALGORITHM => Box::new(of::<SpmmSwitch>),
        SpmmRowSplit::ALGORITHM => Box::new(of::<SpmmRowSplit>),
        SpmmMerge::ALGORITHM => Box::new(of::<SpmmMerge>),
        SpmmNonzeroSplit::ALGORITHM => Box::new(of::<SpmmNonzeroSplit>),
        Cg::ALGORITHM => Box::new(of::<Cg>),
        BiCgStab::ALGORITHM => Box::new(of::<BiCgStab>),
        _ => {
            let algorithm = line.parse::<Algorithm>()?;
            Box::new(move |name: &str| algorithm.check_parameter(name))
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is left of an entry with this text in it, and what was said of the rest.
    fn read(text: &str) -> (DeviceTable, Vec<String>) {
        let text = format!("format = 2\n[[device]]\norigin = \"mine\"\n{text}\n");
        let (table, problems) = parse_device_table(Path::new("t.toml"), &text);
        (table, problems.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn a_line_that_nothing_has_is_named_and_the_others_count() {
        let good = "[device.kernel.csr_scalar.f32]\ngroup_size = 128\n";
        for (bad, said) in [
            (
                "[device.kernel.csr_adaptve.f32]\nnnz_per_wg = 512",
                "kernel.csr_adaptve: algorithm \"csr_adaptve\" is none of csr_scalar, csr_vector,",
            ),
            (
                "[device.kernel.csr_adaptive.f23]\nnnz_per_wg = 512",
                "kernel.csr_adaptive.f23: value type \"f23\" is none of f32, f64, f16, bf16",
            ),
            (
                "[device.kernel.csr_adaptive.f32]\nnnz_per_gw = 512",
                "kernel.csr_adaptive.f32: csr_adaptive has no parameter \"nnz_per_gw\"; it has",
            ),
            (
                "[device.kernel.csr_adaptive.f32]\nnnz_per_wg = -1",
                "kernel.csr_adaptive.f32: nnz_per_wg = -1 is no number of 0 to 4294967295",
            ),
            (
                "[[device.choice.f32.several]]\nalgorithm = \"csr_adaptve\"",
                "choice.f32.several: rule 1: algorithm \"csr_adaptve\" is none of",
            ),
            (
                "[[device.choice.f32.several]]\nwhen = \"mean >= 3\"\nalgorithm = \"csr_scalar\"",
                "choice.f32.several: rule 1: \"mean\" is none of rows, nnz, mean_row",
            ),
            (
                "[[device.choice.f32.seldom]]\nalgorithm = \"csr_scalar\"",
                "choice.f32.seldom: products \"seldom\" is none of once, several, many",
            ),
            (
                "[[device.choice.f32.many]]\nalgorithm = \"csr_scalar\"\nvariant = \"fused\"",
                "choice.f32.many: rule 1: csr_scalar has no variant \"fused\"",
            ),
            ("[device.choice]\nf32 = 3", "choice.f32 is integer, and not a table"),
        ] {
            let (table, problems) = read(&format!("{good}{bad}"));
            assert_eq!(problems.len(), 1, "{bad}: {problems:?}");
            assert!(problems[0].starts_with("device table t.toml: entry 1: "), "{}", problems[0]);
            assert!(problems[0].contains(said), "{} is not {said}", problems[0]);
            assert_eq!(table.devices[0].kernel["csr_scalar"]["f32"]["group_size"], 128, "{bad}");
        }
    }

    const OLD_NAMES: &str = "[[device]]\norigin = \"mine\"\n\
                             [device.kernel.csr_flat.f32]\npiece_nnz = 2048\n\
                             [device.kernel.spmm_merge.f32]\npiece = 256\n\
                             [[device.choice.f32.several]]\nalgorithm = \"csr_pieces\"\n\
                             parameters = { lanes = 4, least_piece = 64 }\n";

    #[test]
    fn a_table_of_format_1_is_read_with_the_names_of_now() {
        let text = format!("format = 1\n{OLD_NAMES}");
        let (table, problems) = parse_device_table(Path::new("t.toml"), &text);
        assert_eq!((table.format, problems), (2, Vec::new()));
        let entry = &table.devices[0];
        assert_eq!(entry.kernel["csr_flat"]["f32"]["tile_nnz"], 2048);
        assert_eq!(entry.kernel["spmm_merge"]["f32"]["tile_length"], 256);
        let rule = entry.choice["f32"].of(Reuse::Several).next().unwrap();
        let parameters: Vec<_> =
            rule.parameters.iter().map(|(name, value)| (&**name, *value)).collect();
        assert_eq!(parameters, [("lanes", 4), ("least_chunk", 64)]);
    }

    #[test]
    fn old_names_in_a_table_of_format_2_are_named() {
        let text = format!("format = 2\n{OLD_NAMES}");
        let (table, problems) = parse_device_table(Path::new("t.toml"), &text);
        assert!(table.devices[0].kernel.is_empty() && table.devices[0].choice.is_empty());
        let said: Vec<_> = problems.iter().map(ToString::to_string).collect();
        for (problem, name) in said.iter().zip(["piece_nnz", "piece", "least_piece"]) {
            assert!(problem.contains(&format!("has no parameter \"{name}\"; it has")), "{problem}");
        }
        assert_eq!(said.len(), 3);
    }

    #[test]
    fn solvers_have_lines_too() {
        for (name, parameter) in [("cg", "groups_per_unit"), ("bicgstab", "batch")] {
            let (table, problems) = read(&format!("[device.kernel.{name}.f64]\n{parameter} = 2"));
            assert!(problems.is_empty(), "{problems:?}");
            assert_eq!(table.devices[0].kernel[name]["f64"][parameter], 2);
            let (_, problems) = read(&format!("[device.kernel.{name}.f64]\nspeed = 2"));
            assert!(problems[0].contains(&format!("{name} has no parameter \"speed\"")));
        }
    }

    #[test]
    fn an_entry_that_may_be_about_other_devices_is_left_out() {
        let (table, problems) =
            read("nmae = \"H200\"\n[[device]]\nname = \"H200\"\norigin = \"mine\"");
        assert_eq!(table.devices.len(), 1);
        assert_eq!(table.devices[0].name.as_deref(), Some("H200"));
        assert!(problems[0].contains("entry 1: unknown field `nmae`"), "{problems:?}");
    }

    #[test]
    fn a_file_that_is_no_table_of_this_format_is_left_out() {
        let read = |text: &str| parse_device_table(Path::new("t.toml"), text);
        for (text, said) in [
            ("format = 3", "device table t.toml: format is 3, and only 1 to 2 are known"),
            ("", "device table t.toml: it does not say format = 2"),
            ("format = ", "device table t.toml: TOML parse error at line 1"),
        ] {
            let (table, problems) = read(text);
            assert_eq!(table, DeviceTable::empty());
            assert!(problems[0].to_string().starts_with(said), "{}", problems[0]);
        }
        let (_, problems) = read("format = 2\ndevices = 3\n");
        assert_eq!(problems[0].message, "\"devices\" is neither format nor device");
    }
}
