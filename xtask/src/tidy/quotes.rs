//! Code on pages that says where it is from: `<!-- quoted from PATH -->` on the line before a block.

use super::{Finding, Tree};

const OPENING: &str = "<!-- quoted from ";

/// Each line of such a block, but for indentation, stands in that file, in the same order: so what a page shows is what
/// is compiled and run.
pub(super) fn quotes_stand_where_they_say(tree: &Tree<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in tree.files.iter().filter(|(path, _)| path.ends_with(".md")) {
        let mut lines = text.lines().enumerate();
        while let Some((at, line)) = lines.next() {
            let Some(source) = line.strip_prefix(OPENING).and_then(|l| l.strip_suffix(" -->"))
            else {
                continue;
            };
            let Some(quoted) = tree.files.get(source) else {
                findings.push(Finding::new(path, at + 1, format!("there is no {source}")));
                continue;
            };
            if !lines.next().is_some_and(|(_, fence)| fence.starts_with("```")) {
                findings.push(Finding::new(path, at + 1, "no block of code follows"));
                continue;
            }
            let mut rest = quoted.lines().map(str::trim);
            for (at, line) in lines.by_ref().take_while(|(_, line)| !line.starts_with("```")) {
                let wanted = line.trim();
                if !wanted.is_empty() && !rest.any(|line| line == wanted) {
                    findings.push(Finding::new(path, at + 1, format!("{source} has no such line")));
                    break;
                }
            }
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;
    use std::path::Path;

    fn found(page: &str) -> Vec<(usize, String)> {
        let files = [("docs/a.md", page), ("src/a.c", "int a;\n  int b;\n")];
        let files: BTreeMap<_, _> =
            files.into_iter().map(|(path, text)| (path.to_owned(), text.to_owned())).collect();
        let tree = Tree { root: Path::new("."), files };
        quotes_stand_where_they_say(&tree).into_iter().map(|f| (f.line, f.message)).collect()
    }

    #[test]
    fn lines_in_another_order_or_that_are_not_there_are_found() {
        let page = |from: &str, code: &str| {
            found(&format!("<!-- quoted from {from} -->\n```c\n{code}```\ntext\n"))
        };
        assert_eq!(page("src/a.c", "    int a;\n\nint b;\n"), []);
        assert_eq!(page("src/a.c", "int b;\nint a;\n")[0].0, 4);
        assert_eq!(page("src/a.c", "int c;\n"), [(3, "src/a.c has no such line".to_owned())]);
        assert_eq!(page("src/b.c", "int a;\n"), [(1, "there is no src/b.c".to_owned())]);
        assert_eq!(found("<!-- quoted from src/a.c -->\ntext\n")[0].1, "no block of code follows");
    }
}
