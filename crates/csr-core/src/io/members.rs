//! What a tar archive holds, and which of its members is the matrix.

use crate::counted;
use std::io::{Error, ErrorKind, Result};
use std::path::Path;

use super::header::quoted;

/// Names that a message lists.
const SHOWN: usize = 12;
/// Names of Matrix Market files that are kept to choose among.
const KEPT: usize = 1000;

/// Which member is wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Wanted {
    /// The one that is called as its folder is, or as the archive, with this at the end of the name.
    Suffix(String),
    /// The one of this name, after a first look at the whole archive.
    Name(String),
}

/// One member of an archive.
pub(super) struct Member {
    pub(super) name: String,
    /// Neither a folder nor a link nor anything else.
    pub(super) is_file: bool,
}

/// The members of an archive, as far as it has been read.
#[derive(Debug)]
pub(super) struct Members {
    /// The name that a matrix in no folder is expected to have.
    archive_stem: String,
    /// The first names, of anything.
    shown: Vec<String>,
    count: u64,
    /// Names of Matrix Market files.
    files: Vec<String>,
}

impl Members {
    /// Of the archive that has this path.
    pub(super) fn of(path: &Path) -> Self {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let name = name.strip_suffix(".gz").unwrap_or(&name);
        let stem = [".tar", ".tgz"].iter().find_map(|end| name.strip_suffix(end)).unwrap_or(name);
        let (shown, files) = (Vec::new(), Vec::new());
        Members { archive_stem: stem.to_owned(), shown, count: 0, files }
    }

    pub(super) fn add(&mut self, member: Member) {
        self.count += 1;
        if self.shown.len() < SHOWN {
            self.shown.push(quoted(member.name.as_bytes()));
        }
        if member.is_file && stem_of(&member.name).is_some() && self.files.len() < KEPT {
            self.files.push(member.name);
        }
    }

    /// How many there are.
    pub(super) fn count(&self) -> u64 {
        self.count
    }

    /// Whether this is the member that is looked for.
    pub(super) fn is_wanted(&self, name: &str, wanted: &Wanted) -> bool {
        match wanted {
            Wanted::Name(wanted) => name == wanted,
            Wanted::Suffix(suffix) => stem_of(name)
                .is_some_and(|(_, stem)| stem.strip_prefix(self.base(name)) == Some(suffix)),
        }
    }

    /// The name that the matrix has which a file belongs to: its folder's, or the archive's.
    fn base<'a>(&'a self, name: &'a str) -> &'a str {
        stem_of(name).and_then(|(folder, _)| folder).unwrap_or(&self.archive_stem)
    }

    /// Files that are matrices by their names: those that do not belong to another, as `NAME_b.mtx` does to `NAME.mtx`
    /// and, in a folder of that name, to one that may be absent.
    fn matrices(&self) -> Vec<&str> {
        let belongs = |name: &str, base: &str| {
            let stem = stem_of(name).map(|(_, stem)| stem);
            let rest = stem.and_then(|stem| stem.strip_prefix(base));
            rest.is_some_and(|rest| rest.starts_with('_'))
        };
        let belongs_to_another = |name: &str| {
            let folder = name.rsplit_once('/').map(|(folder, _)| folder);
            let is_near = |other: &&String| other.rsplit_once('/').map(|(f, _)| f) == folder;
            let mut others = self.files.iter().filter(is_near).filter_map(|other| stem_of(other));
            belongs(name, self.base(name)) || others.any(|(_, stem)| belongs(name, stem))
        };
        self.files.iter().map(String::as_str).filter(|name| !belongs_to_another(name)).collect()
    }

    /// The member that is meant where none is called as its folder or the archive is: that of the only matrix.
    ///
    /// # Errors
    /// There is no matrix or more than one, or nothing with that suffix; the message lists what there is.
    pub(super) fn only(&self, suffix: &str) -> Result<String> {
        let matrices = self.matrices();
        let refuse = |what: String| Err(Error::new(ErrorKind::InvalidData, what));
        match matrices.as_slice() {
            [] if suffix.is_empty() => {
                refuse(format!("the archive holds no matrix (NAME/NAME.mtx); {}", self.list()))
            }
            [only] => {
                let end = only.len() - ".mtx".len();
                let wanted = format!("{}{suffix}{}", &only[..end], &only[end..]);
                match self.files.contains(&wanted) {
                    true => Ok(wanted),
                    false => refuse(format!(
                        "the archive holds no {}; {}",
                        quoted(wanted.as_bytes()),
                        self.list()
                    )),
                }
            }
            [] => refuse(format!("the archive holds no NAME{suffix}.mtx; {}", self.list())),
            _ => refuse(self.too_many(&matrices)),
        }
    }

    /// Refuses an archive that holds a second matrix after the member that was read.
    pub(super) fn check_alone(&self, read: &str) -> Result<()> {
        let matrices = self.matrices();
        let has_another = match matrices.as_slice() {
            [] | [_] => false,
            // What was read is one of them, or belongs to one.
            _ => true,
        };
        let is_twice = self.files.iter().filter(|name| *name == read).count() > 1;
        if has_another || is_twice {
            return Err(Error::new(ErrorKind::InvalidData, self.too_many(&matrices)));
        }
        Ok(())
    }

    fn too_many(&self, matrices: &[&str]) -> String {
        let count = counted(matrices.len(), "matrix");
        format!("the archive holds {count} where one is needed; {}", self.list())
    }

    /// What the archive holds, in words.
    fn list(&self) -> String {
        let more = match self.count - self.shown.len() as u64 {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        match self.shown.is_empty() {
            true => "it is empty".to_owned(),
            false => format!("it holds {}{more}", self.shown.join(", ")),
        }
    }
}

/// The folder, if any, and the name without its ending of a Matrix Market file; `None` for other files, and for what
/// macOS adds to archives.
fn stem_of(name: &str) -> Option<(Option<&str>, &str)> {
    let mut parts = name.rsplit('/').filter(|part| !matches!(*part, "" | "."));
    let file = parts.next()?;
    let is_file = !name.ends_with('/') && !file.starts_with("._");
    let at =
        file.len().checked_sub(".mtx".len()).filter(|at| *at > 0 && file.is_char_boundary(*at))?;
    let (stem, ending) = file.split_at(at);
    (is_file && ending.eq_ignore_ascii_case(".mtx")).then(|| (parts.next(), stem))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn members(archive: &str, names: &[&str]) -> Members {
        let mut members = Members::of(Path::new(archive));
        for name in names {
            members.add(Member { name: (*name).to_owned(), is_file: !name.ends_with('/') });
        }
        members
    }

    #[test]
    fn the_matrix_is_called_as_its_folder_or_as_the_archive() {
        let members = members("in/west.tar.gz", &[]);
        let matrix = Wanted::Suffix(String::new());
        for name in ["west/west.mtx", "./a/a/a.MTX", "west.mtx", "./west.mtx"] {
            assert!(members.is_wanted(name, &matrix), "{name}");
        }
        for name in ["west/west_b.mtx", "a.mtx", "west/._west.mtx", "west/west.txt", ".mtx", "west"]
        {
            assert!(!members.is_wanted(name, &matrix), "{name}");
        }
        assert!(members.is_wanted("a/a_b.mtx", &Wanted::Suffix("_b".to_owned())));
    }

    #[test]
    fn a_single_matrix_of_another_name_is_meant_with_what_belongs_to_it() {
        let found = members("x.tgz", &["d/", "d/m_b.mtx", "d/m.mtx", "d/readme.txt"]);
        assert_eq!(found.only("").unwrap(), "d/m.mtx");
        assert_eq!(found.only("_b").unwrap(), "d/m_b.mtx");
        let refusal = found.only("_x").unwrap_err().to_string();
        let held = "it holds \"d/\", \"d/m_b.mtx\", \"d/m.mtx\", \"d/readme.txt\"";
        assert_eq!(refusal, format!("the archive holds no \"d/m_x.mtx\"; {held}"));
        let vectors = members("x.tar", &["d/d_b.mtx"]).only("").unwrap_err().to_string();
        assert!(vectors.starts_with("the archive holds no matrix"), "{vectors}");
    }

    #[test]
    fn no_matrix_and_two_are_refused_with_the_list() {
        let refusal = |names: &[&str]| members("x.tar", names).only("").unwrap_err().to_string();
        assert_eq!(refusal(&[]), "the archive holds no matrix (NAME/NAME.mtx); it is empty");
        assert_eq!(
            refusal(&["a/a.txt"]),
            "the archive holds no matrix (NAME/NAME.mtx); it holds \"a/a.txt\""
        );
        assert_eq!(
            refusal(&["a.mtx", "b.mtx"]),
            "the archive holds 2 matrices where one is needed; it holds \"a.mtx\", \"b.mtx\""
        );
        let many: Vec<String> = (0..30).map(|at| format!("{at}.txt")).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        assert!(refusal(&many).ends_with("\"11.txt\" and 18 more"), "{}", refusal(&many));
    }

    #[test]
    fn a_second_matrix_after_the_one_that_was_read_is_refused() {
        let check = |names: &[&str]| members("a.tar", names).check_alone("a/a.mtx").is_ok();
        assert!(check(&["a/a.mtx", "a/a_b.mtx", "a/a_nodename.txt"]));
        assert!(!check(&["a/a.mtx", "b/b.mtx"]));
        assert!(!check(&["a/a.mtx", "a/other.mtx"]));
        assert!(!check(&["a/a.mtx", "a/a.mtx"]));
    }
}
