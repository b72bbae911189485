//! Words that do not belong in a finished file: what is left to do, and the machine it was written on.

use super::Finding;

/// Split so that this file does not find itself.
const LEFT_TO_DO: &[&str] = &[
    concat!("TO", "DO"),
    concat!("FIX", "ME"),
    concat!("XX", "X"),
    concat!("to", "do!("),
    concat!("unimple", "mented!("),
    concat!("#[ig", "nore"),
];

/// Folders that exist on one machine.
const MACHINE_FOLDERS: &[&str] = &[
    concat!("/ho", "me/"),
    concat!("/ro", "ot/"),
    concat!("/Us", "ers/"),
    concat!("/wo", "rk/"),
    concat!("/tm", "p/"),
];

/// Hosts of package indexes: clients are configured with theirs.
const HOSTS: &[&str] = &[
    concat!("pyp", "i.org"),
    concat!("python", "hosted.org"),
    concat!("deb.deb", "ian.org"),
    concat!("archive.ubu", "ntu.com"),
    concat!("index.cra", "tes.io"),
    concat!("static.cra", "tes.io"),
    concat!("static.rust-", "lang.org"),
];

/// Words that the field does not use, and what docs/glossary.md writes instead.
const REPLACED: &[(&str, &str)] = &[
    ("bunch", "sub-group"),
    ("piece", "tile or chunk"),
    ("room", "capacity, arena or workspace"),
    ("meeting", "cross-group reduction or partial sums"),
    ("stretch", "range"),
    ("border", "boundary"),
    ("shelf", "pool"),
    ("torn", "dirty"),
    ("beside", "compared with, next to or besides"),
    ("whoever", "the caller"),
    ("nobody", "what is meant"),
    ("unobserved", "without an event"),
    ("usual", "default"),
];

/// Folders in which none of [`REPLACED`] is left.
const WORDED: &[&str] = &[
    "cl/",
    "crates/cl-kernels/src/",
    "crates/cl-runtime/src/",
    "crates/csr-core/src/",
    "crates/sparrow/src/",
    "crates/sparrow-bench/src/",
    "crates/sparrow-capi/src/",
    "crates/sparrow-cli/src/",
    "crates/sparrow-clsparse/src/",
];

/// Parts of paths below [`WORDED`] that may have a word: all of them ("") or one. Bunches in `segmented_sum` are Liu
/// and Vinter's, and old names of hyper-parameters are read.
const EXCEPTED: &[(&str, &str)] = &[
    ("batch", "room"),
    ("shipped", ""),
    ("segmented_sum", "bunch"),
    // Which names its parameters.
    ("crates/cl-kernels/src/algorithm_spec/tests.rs", "bunch"),
    ("source.rs", "piece"),
    ("renamed.rs", "piece"),
    ("renamed.rs", "bunch"),
    ("table_text.rs", "piece"),
    // The exported field `history_room`.
    ("solver_options.rs", "room"),
    ("crates/sparrow-capi/src/solver.rs", "room"),
    ("table_file.rs", "piece"),
    ("tune/sweep.rs", "bunch"),
    // The form's old name is read.
    ("spmm_variant.rs", "usual"),
    ("algorithm.rs", "room"),
    ("algorithm.rs", "piece"),
];

/// The field's words stay: names of identifiers count by their parts, plurals as their singulars.
pub(super) fn replaced_words_stay_away(path: &str, text: &str) -> Vec<Finding> {
    if !WORDED.iter().any(|folder| path.starts_with(folder)) {
        return Vec::new();
    }
    let is_excepted = |word: &str| {
        EXCEPTED.iter().any(|(part, of)| path.contains(part) && (of.is_empty() || *of == word))
    };
    let mut findings = Vec::new();
    for (index, line) in text.lines().enumerate() {
        // The algorithm's name.
        let line = line.to_lowercase().replace("csr_pieces", "");
        let mut words = line.split(|c: char| !c.is_alphabetic());
        let found = words.find_map(|word| {
            let is = |one: &str| {
                word == one
                    || (word != "besides"
                        && word.strip_prefix(one).is_some_and(|rest| rest == "s" || rest == "es"))
            };
            REPLACED.iter().find(|(replaced, _)| is(replaced) && !is_excepted(replaced))
        });
        if let Some((word, instead)) = found {
            let message = format!("`{word}`: write {instead} (docs/glossary.md)");
            findings.push(Finding::new(path, index + 1, message));
        }
    }
    findings
}

/// Nouns that messages count, in the plural.
const COUNTED: &[&str] = &[
    "arrays",
    "bytes",
    "columns",
    "devices",
    "elements",
    "entries",
    "groups",
    "integers",
    "items",
    "iterations",
    "keys",
    "matrices",
    "nonzeros",
    "numbers",
    "offsets",
    "places",
    "problems",
    "products",
    "results",
    "rows",
    "trials",
    "values",
];

/// Placeholders that hold a word, not a number: a type of offsets, "once" and "many" products.
const WORDS: &[&str] = &["offset_type", "offsets", "products"];

/// A number in a message is followed by a noun in the right number: by `counted` of csr-core, never by one that is
/// written out. Tests may write theirs.
pub(super) fn counts_have_their_nouns(path: &str, text: &str) -> Vec<Finding> {
    let is_test = path.contains("tests") || path.ends_with("_tests.rs");
    if !(path.starts_with("crates/") && path.contains("/src/") && path.ends_with(".rs")) || is_test
    {
        return Vec::new();
    }
    let code = text.split("#[cfg(test)]").next().unwrap_or_default();
    let lines = code.lines().enumerate().filter(|(_, line)| !line.trim_start().starts_with("//"));
    let mut findings = Vec::new();
    for (index, line) in lines {
        let found = line.match_indices("} ").find_map(|(at, _)| {
            let name = line[..at].rsplit('{').next()?;
            // Constants are several, and so are means.
            let is_several = name.contains(':') || name.starts_with(char::is_uppercase);
            if is_several || WORDS.contains(&name) {
                return None;
            }
            let word = line[at + 2..].split(|c: char| !c.is_alphabetic()).next()?;
            COUNTED.iter().find(|noun| **noun == word)
        });
        if let Some(noun) = found {
            let message =
                format!("`{{}} {noun}` would be wrong of one: write counted(count, noun)");
            findings.push(Finding::new(path, index + 1, message));
        }
    }
    findings
}

/// Issues hold what is left to do; files do not.
pub(super) fn nothing_is_left_to_do(path: &str, text: &str) -> Vec<Finding> {
    find(path, text, LEFT_TO_DO, "is left to do: finish it or write an issue")
}

/// No file depends on the machine it was written on.
pub(super) fn no_machine_is_named(path: &str, text: &str) -> Vec<Finding> {
    let mut findings = find(path, text, MACHINE_FOLDERS, "is a path of one machine");
    findings.extend(find(path, text, HOSTS, "is a host name: clients know their index"));
    findings
}

/// Words are found where no letter or digit touches them from the left, and none from the right if they
/// end in one.
fn find(path: &str, text: &str, words: &[&str], message: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let word = words.iter().find(|word| {
            line.match_indices(*word).any(|(at, _)| {
                let letter = |c: char| c.is_alphanumeric() || c == '_';
                let left = line[..at].chars().next_back().is_some_and(|c| letter(c) || c == '.');
                let right = word.ends_with(letter)
                    && line[at + word.len()..].chars().next().is_some_and(letter);
                !left && !right
            })
        });
        if let Some(word) = word {
            findings.push(Finding::new(path, index + 1, format!("`{word}` {message}")));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_word_of_unfinished_work_is_found() {
        for word in LEFT_TO_DO {
            let text = format!("//! Head.\n    {word} later\n");
            let findings = nothing_is_left_to_do("crates/x/src/lib.rs", &text);
            assert_eq!((findings.len(), findings[0].line), (1, 2), "{word}");
        }
        let innocent = concat!("XX", "XX, a mas", "TO", "DOn and me", "to", "do");
        assert!(nothing_is_left_to_do("a.rs", innocent).is_empty());
    }

    #[test]
    fn a_replaced_word_is_found_by_itself_and_in_names() {
        for (word, instead) in REPLACED {
            for text in [format!("// A {word}.\n"), format!("let {word}_count = 1;\n")] {
                let findings = replaced_words_stay_away("cl/spmv/a.cl", &text);
                assert_eq!(findings.len(), 1, "{text}");
                assert!(findings[0].message.contains(instead), "{}", findings[0].message);
                assert!(
                    replaced_words_stay_away("crates/sparrow-python/src/a.rs", &text).is_empty()
                );
            }
        }
        for (path, text) in [
            ("cl/spmv/segmented_sum.cl", "BUNCH_SIZE"),
            ("cl/spmv/csr_pieces.cl", "csr_pieces besides stretched"),
        ] {
            assert!(replaced_words_stay_away(path, text).is_empty(), "{text}");
        }
        assert_eq!(replaced_words_stay_away("cl/spmv/segmented_sum.cl", "its borders").len(), 1);
    }

    #[test]
    fn a_plural_that_stands_behind_any_number_is_found() {
        let found = |path: &str, text: &str| counts_have_their_nouns(path, text).len();
        let message = "let text = format!(\"{what} has {found} elements\");\n";
        assert_eq!(found("crates/x/src/a.rs", message), 1);
        assert_eq!(found("crates/x/src/a.rs", "format!(\"{} rows of {width}\")\n"), 1);
        for (path, text) in [
            ("crates/x/src/a.rs", "    /// {what} elements.\n"),
            ("crates/x/src/a.rs", "format!(\"{} and {}\", counted(1, \"row\"), b)\n"),
            (
                "crates/x/src/a.rs",
                "format!(\"{MOST} rows, {mean:.2} nonzeros, {offset_type} offsets\")\n",
            ),
            ("crates/x/src/tests.rs", message),
            ("xtask/src/a.rs", message),
            ("crates/x/src/a.rs", &format!("#[cfg(test)]\nmod tests {{\n{message}}}\n")),
        ] {
            assert_eq!(found(path, text), 0, "{path}: {text}");
        }
    }

    #[test]
    fn each_trace_of_a_machine_is_found() {
        for word in MACHINE_FOLDERS {
            assert_eq!(
                no_machine_is_named("docs/a.md", &format!("see `{word}x`")).len(),
                1,
                "{word}"
            );
        }
        for word in HOSTS {
            assert_eq!(
                no_machine_is_named("a.sh", &format!("curl https://{word}/x")).len(),
                1,
                "{word}"
            );
        }
        let relative = concat!("crates/x", "/wo", "rk/a.rs and ..", "/wo", "rk/b");
        assert!(no_machine_is_named("docs/a.md", relative).is_empty());
    }
}
