//! Device tables as files: the user's own above the shipped ones.
//!
//! The user's is `$XDG_CONFIG_HOME/sparrow/devices.toml`, or the file `SPARROW_TABLE` names (`off`: none).
//! What it says goes over everything shipped, whose files are `data/tuning/*.toml`. What cannot be used of it is
//! left out and named: by [`Tables::problems`], and once a process by a `tracing` event.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{Mutex, OnceLock};

use cl_kernels::{
    DeviceTraits, NamedParameters, ParameterError, Parameters, TableError, Tables,
    parse_device_table,
};
use csr_core::ValueType;

use crate::Result;

/// The user's table, if there is one, then the shipped ones; read once a process.
pub fn default_tables() -> Tables {
    static TABLES: OnceLock<Tables> = OnceLock::new();
    TABLES.get_or_init(read_tables).clone()
}

fn read_tables() -> Tables {
    let path = user_table_path().filter(|path| {
        // One that is named must be there.
        path.exists() || std::env::var_os("SPARROW_TABLE").is_some_and(|name| !name.is_empty())
    });
    let Some(path) = path else { return Tables::with_user(None) };
    let (user, problems) = match std::fs::read_to_string(&path) {
        Ok(text) => {
            let (table, problems) = parse_device_table(&path, &text);
            (Some((path, table)), problems)
        }
        Err(error) => (None, vec![TableError { path, message: error.to_string() }]),
    };
    problems.iter().for_each(name_once);
    Tables::with_user_and_problems(user, problems)
}

/// Where the user's table is, or would be; `None` where there shall be none, or the user has no home.
pub fn user_table_path() -> Option<PathBuf> {
    use etcetera::BaseStrategy;
    match std::env::var_os("SPARROW_TABLE") {
        Some(value) if value == "off" => None,
        Some(value) if !value.is_empty() => Some(value.into()),
        _ => {
            let folders = etcetera::base_strategy::Xdg::new().ok()?;
            Some(folders.config_dir().join("sparrow").join("devices.toml"))
        }
    }
}

/// Where raw timings go: `$XDG_DATA_HOME/sparrow/tuning`; `None` where the user has no home.
pub fn raw_timings_folder() -> Option<PathBuf> {
    use etcetera::BaseStrategy;
    let folders = etcetera::base_strategy::Xdg::new().ok()?;
    Some(folders.data_dir().join("sparrow").join("tuning"))
}

/// A problem as an event, the first time that it is seen.
fn name_once(problem: &TableError) {
    static NAMED: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    let text = problem.to_string();
    let mut named = NAMED.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    if named.insert(text.clone()) {
        tracing::warn!("{text}; left out");
    }
}

/// Where the hyper-parameters of a plan come from.
pub(crate) struct Resolver<'a> {
    pub(crate) tables: &'a Tables,
    pub(crate) device: &'a DeviceTraits,
    pub(crate) value_type: ValueType,
    /// What a rule of the tables says, over what they say of the algorithm.
    pub(crate) rule: &'a [(String, u32)],
    /// What was asked for, over everything.
    pub(crate) asked: &'a [(String, u32)],
}

impl Resolver<'_> {
    /// Defaults, under what the tables say, under the rule, under what was asked for. What tables and rule say is
    /// left out, and named, where `check` refuses it.
    ///
    /// # Errors
    /// A parameter that was asked for and that the algorithm does not have; whether its value fits is for the user of
    /// it to check.
    pub(crate) fn resolve<P: Parameters>(
        &self,
        mut defaults: P,
        check: impl Fn(&P) -> Result<(), ParameterError>,
    ) -> Result<P> {
        let checks = |named: &NamedParameters| {
            let mut typed = defaults.clone();
            typed.take(named)?;
            check(&typed)
        };
        let found = self.resolve_named(NamedParameters::of(&defaults), &checks)?;
        defaults.take(&found)?;
        Ok(defaults)
    }

    /// As [`Resolver::resolve`], of an algorithm that is known at run time.
    ///
    /// # Errors
    /// As [`Resolver::resolve`].
    pub(crate) fn resolve_named(
        &self,
        defaults: NamedParameters,
        check: &dyn Fn(&NamedParameters) -> Result<(), ParameterError>,
    ) -> Result<NamedParameters> {
        let (mut parameters, problems) =
            self.tables.named_parameters(self.device, self.value_type, defaults, check);
        problems.iter().for_each(name_once);
        if !self.rule.is_empty() {
            let mut of_rule = parameters.clone();
            let set = self.rule.iter().try_for_each(|(name, value)| of_rule.set(name, *value));
            match set.and_then(|()| check(&of_rule)) {
                Ok(()) => parameters = of_rule,
                Err(error) => name_once(&TableError {
                    path: "rules".into(),
                    message: format!("on {}: {error}", self.device.name),
                }),
            }
        }
        for (name, value) in self.asked {
            parameters.set(name, *value)?;
        }
        Ok(parameters)
    }
}
