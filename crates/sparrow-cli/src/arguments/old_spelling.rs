//! Spellings of `sparrow bench` from when its operations were options: `--op spmm`, `--batch`, `--hetero`.

use std::ffi::{OsStr, OsString};

use clap::Subcommand;

use super::BenchOperation;

/// Options before the command that have a value.
const WITH_VALUE: [&str; 2] = ["--device", "--json"];

/// Replaces an option of `bench` that names an operation by the operation's subcommand. Returns what was replaced and
/// by what; `None` where there is no such option, and then nothing is changed.
pub(crate) fn translate(arguments: &mut Vec<OsString>) -> Option<(String, String)> {
    let bench = command_index(arguments).filter(|&index| arguments[index] == "bench")?;
    let is_operation = |name: &OsStr| name.to_str().is_some_and(BenchOperation::has_subcommand);
    if arguments.get(bench + 1).is_some_and(|next| is_operation(next)) {
        return None;
    }
    let end = arguments.iter().position(|argument| argument == "--").unwrap_or(arguments.len());
    let (at, old, operation) = (bench + 1..end).find_map(|at| {
        let argument = arguments[at].to_str()?;
        match argument {
            "--batch" | "--hetero" => Some((at..at + 1, argument, &argument[2..])),
            "--op" => Some((at..at + 2, argument, arguments[..end].get(at + 1)?.to_str()?)),
            _ => Some((at..at + 1, "--op", argument.strip_prefix("--op=")?)),
        }
    })?;
    if !BenchOperation::has_subcommand(operation) {
        return None;
    }
    let old = if old == "--op" { format!("--op {operation}") } else { old.to_owned() };
    let operation = operation.to_owned();
    arguments.drain(at);
    arguments.insert(bench + 1, OsStr::new(&operation).to_owned());
    Some((format!("bench {old}"), format!("bench {operation}")))
}

/// Where the command stands, after the program's name and options of every command.
fn command_index(arguments: &[OsString]) -> Option<usize> {
    let mut index = 1;
    while arguments.get(index)?.as_encoded_bytes().starts_with(b"-") {
        index += 1 + usize::from(WITH_VALUE.iter().any(|name| arguments[index] == *name));
    }
    Some(index)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn translated(line: &str) -> String {
        let mut arguments: Vec<_> = line.split(' ').map(OsString::from).collect();
        translate(&mut arguments);
        let words: Vec<_> = arguments.iter().map(|word| word.to_str().unwrap()).collect();
        words.join(" ")
    }

    #[test]
    fn an_operation_that_was_an_option_is_a_subcommand() {
        for (old, new) in [
            ("s bench a.mtx --op spmm --columns 8", "s bench spmm a.mtx --columns 8"),
            ("s bench --op=vector", "s bench vector"),
            ("s bench a --batch --alone", "s bench batch a --alone"),
            ("s --device bench --json=- bench --hetero", "s --device bench --json=- bench hetero"),
        ] {
            assert_eq!(translated(old), new);
        }
    }

    #[test]
    fn all_else_is_left_to_the_parser() {
        for line in [
            "s",
            "s --device",
            "s bench a.mtx --order permuted",
            "s bench spmm a.mtx",
            "s bench a.mtx --op",
            "s bench a.mtx --op magic",
            "s bench spmm --op spmm",
            "s bench -- --batch",
            "s bench --op -- spmm",
            "s spmv a.mtx --batch",
            "s --device bench spmv --op spmm",
        ] {
            assert_eq!(translated(line), line);
        }
    }

    #[test]
    fn what_is_left_over_of_two_operations_is_refused_by_the_parser() {
        assert_eq!(translated("s bench --op spmm --batch"), "s bench spmm --batch");
    }
}
