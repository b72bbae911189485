//! The stages of `cargo xtask test`: cheap ones first, then those that run beside others, long ones first.

use crate::implementation::Implementation;

/// One thing that has to hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    Fmt,
    Tidy,
    Licences,
    Clippy,
    Docs,
    Build,
    Doctests,
    Examples,
    Offline,
    Unit,
    Apps(Implementation),
    Petsc,
    Python(Implementation),
    PythonApps,
    Conformance(Implementation),
    Valgrind,
    Fuzz,
}

impl Stage {
    /// In the order in which they begin.
    pub(super) fn all() -> Vec<Stage> {
        use Stage::{Build, Clippy, Docs, Doctests, Examples, Fmt, Licences, Offline, Tidy};
        let mut all = vec![Fmt, Tidy, Licences, Clippy, Docs, Build, Doctests, Examples, Offline];
        all.extend([
            Stage::Conformance(Implementation::Oclgrind),
            Stage::Conformance(Implementation::Pocl),
            Stage::Conformance(Implementation::Intel),
            Stage::Valgrind,
            Stage::Fuzz,
            Stage::Unit,
            Stage::Apps(Implementation::Pocl),
            Stage::Apps(Implementation::Intel),
            Stage::Apps(Implementation::Oclgrind),
            Stage::Python(Implementation::Pocl),
            Stage::Python(Implementation::Intel),
            Stage::PythonApps,
            Stage::Petsc,
        ]);
        all
    }

    /// The word for `--stage`.
    pub(super) fn name(&self) -> String {
        match self {
            Stage::Fmt => "fmt".to_owned(),
            Stage::Tidy => "tidy".to_owned(),
            Stage::Licences => "licences".to_owned(),
            Stage::Clippy => "clippy".to_owned(),
            Stage::Build => "build".to_owned(),
            Stage::Unit => "unit".to_owned(),
            Stage::Docs => "docs".to_owned(),
            Stage::Doctests => "doctests".to_owned(),
            Stage::Examples => "examples".to_owned(),
            Stage::Offline => "offline".to_owned(),
            Stage::Apps(implementation) => format!("apps-{}", implementation.word()),
            Stage::Petsc => "petsc".to_owned(),
            Stage::Python(implementation) => format!("python-{}", implementation.word()),
            Stage::PythonApps => "apps-in-python".to_owned(),
            Stage::Conformance(implementation) => format!("conformance-{}", implementation.word()),
            Stage::Valgrind => "valgrind".to_owned(),
            Stage::Fuzz => "fuzz".to_owned(),
        }
    }

    /// What it shows, in a few words.
    pub(super) fn purpose(&self) -> String {
        match self {
            Stage::Fmt => "sources are formatted by rustfmt".to_owned(),
            Stage::Tidy => "house rules hold".to_owned(),
            Stage::Licences => "every dependency has an allowed licence and origin".to_owned(),
            Stage::Clippy => "no warning in any target".to_owned(),
            Stage::Build => "every test, example and command builds".to_owned(),
            Stage::Unit => "unit, property and integration tests".to_owned(),
            Stage::Docs => "documentation builds without warnings".to_owned(),
            Stage::Doctests => "code in the documentation runs".to_owned(),
            Stage::Examples => "the library's examples run".to_owned(),
            Stage::Offline => "kernels compile for AMD and Intel GPUs, without spills".to_owned(),
            Stage::Apps(Implementation::Oclgrind) => {
                "memcheck finds nothing in C programs that link the libraries".to_owned()
            }
            Stage::Apps(implementation) => {
                format!("programs that link the libraries run on {implementation}")
            }
            Stage::Petsc => {
                "matrices and vectors of PETSc compute on PoCL, on 1 to 4 ranks".to_owned()
            }
            Stage::Python(implementation) => {
                format!("the package for Python passes its tests on {implementation}")
            }
            Stage::PythonApps => {
                "nengo-ocl and pyFAI pass their tests of sparse products by Sparrow".to_owned()
            }
            Stage::Conformance(implementation) => format!("device tests on {implementation}"),
            Stage::Valgrind => "memcheck finds nothing in our unsafe code".to_owned(),
            Stage::Fuzz => "fuzz targets keep their claims".to_owned(),
        }
    }

    /// Whether it may run beside others: most of the time it takes one processor. PoCL compiles kernels one after
    /// the other, Oclgrind interprets on hardly more than one processor, and so do memcheck and a fuzz target.
    pub(super) fn runs_beside(&self) -> bool {
        let is_of_tests =
            matches!(self, Stage::Conformance(_) | Stage::Valgrind | Stage::Unit | Stage::Fuzz);
        is_of_tests || matches!(self, Stage::Petsc) || self.folder().is_some()
    }

    /// The folder of the target directory that it builds in, where other stages do, too: those run one after the other.
    pub(super) fn folder(&self) -> Option<&'static str> {
        match self {
            Stage::Apps(_) => Some("apps"),
            Stage::Python(_) | Stage::PythonApps => Some("python"),
            _ => None,
        }
    }

    /// The implementation that its programs run on.
    pub(super) fn needs(&self) -> Option<Implementation> {
        match self {
            Stage::Fmt
            | Stage::Tidy
            | Stage::Licences
            | Stage::Clippy
            | Stage::Docs
            | Stage::Build
            | Stage::Offline
            | Stage::Fuzz => None,
            Stage::Unit | Stage::Doctests | Stage::Examples | Stage::Petsc | Stage::PythonApps => {
                Some(Implementation::Pocl)
            }
            Stage::Apps(implementation)
            | Stage::Python(implementation)
            | Stage::Conformance(implementation) => Some(*implementation),
            Stage::Valgrind => Some(Implementation::Oclgrind),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stages_of_one_folder_are_listed_in_succession_and_run_beside_others() {
        let all = Stage::all();
        let folders: Vec<_> = all.iter().filter_map(Stage::folder).collect();
        assert_eq!(folders, ["apps", "apps", "apps", "python", "python", "python"]);
        assert!(all.iter().all(|stage| stage.folder().is_none() || stage.runs_beside()));
    }
}
