//! Counts as messages have them: the noun and the verb agree with the number.

use std::fmt::Display;

/// A count with its noun: `1 row`, `2 rows`, `3 matrices`, `4 entries`. The one way in which messages count.
pub fn counted(count: impl Display, noun: &str) -> String {
    let count = count.to_string();
    if count == "1" {
        return format!("1 {noun}");
    }
    match (noun.strip_suffix("ix"), noun.strip_suffix("ry")) {
        (Some(stem), _) => format!("{count} {stem}ices"),
        (_, Some(stem)) => format!("{count} {stem}ries"),
        _ if noun.ends_with("ch") => format!("{count} {noun}es"),
        _ => format!("{count} {noun}s"),
    }
}

/// The verb of so many: `is` of one, `are` of none and of several.
pub fn are(count: impl Display) -> &'static str {
    if count.to_string() == "1" { "is" } else { "are" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_noun_and_a_verb_agree_with_their_count() {
        let all = |noun: &str| [0, 1, 2].map(|count| counted(count, noun));
        assert_eq!(all("row"), ["0 rows", "1 row", "2 rows"]);
        assert_eq!(all("matrix"), ["0 matrices", "1 matrix", "2 matrices"]);
        assert_eq!(all("batch"), ["0 batches", "1 batch", "2 batches"]);
        assert_eq!(all("entry"), ["0 entries", "1 entry", "2 entries"]);
        assert_eq!(counted("1", "row offset"), "1 row offset");
        assert_eq!([0, 1, 2].map(are), ["are", "is", "are"]);
    }
}
