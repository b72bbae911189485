//! Device tables one above the other: a user's own, and the ones shipped with the project.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use csr_core::ValueType;

use crate::{DeviceTable, DeviceTraits, ParameterError, Parameters, TableMatch};

/// The shipped files: name and text.
const SHIPPED: [(&str, &str); 2] = [
    ("data/tuning/nvidia-h200.toml", include_str!("../../../data/tuning/nvidia-h200.toml")),
    ("data/tuning/papers.toml", include_str!("../../../data/tuning/papers.toml")),
];

/// A device table that cannot be read or understood.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("device table {path}: {message}", path = .path.display())]
pub struct TableError {
    /// The table's file.
    pub path: PathBuf,
    /// What is wrong.
    pub message: String,
}

type Result<T, E = TableError> = std::result::Result<T, E>;

/// Tables, strongest first. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Tables {
    tables: Arc<[(PathBuf, DeviceTable)]>,
}

impl Tables {
    /// The shipped tables, under one of the application's own.
    ///
    /// # Errors
    /// A shipped table that cannot be understood.
    pub fn with_user(user: Option<(PathBuf, DeviceTable)>) -> Result<Self> {
        let shipped = SHIPPED.iter().map(|(name, text)| {
            parse_device_table(Path::new(name), text).map(|table| (PathBuf::from(name), table))
        });
        let tables = user.into_iter().map(Ok).chain(shipped).collect::<Result<_>>()?;
        Ok(Tables { tables })
    }

    /// The entries that apply to a device, strongest first, each with the file it stands in.
    pub fn matches(&self, device: &DeviceTraits) -> Vec<(&Path, TableMatch<'_>)> {
        self.tables
            .iter()
            .flat_map(|(path, table)| {
                table.matches(device).into_iter().map(move |found| (path.as_path(), found))
            })
            .collect()
    }

    /// What the tables say of an algorithm on a device, over `defaults`.
    ///
    /// # Errors
    /// A parameter name that the algorithm does not have.
    pub fn parameters<P: Parameters>(
        &self,
        device: &DeviceTraits,
        value_type: ValueType,
        defaults: P,
    ) -> Result<P, ParameterError> {
        let tables = self.tables.iter().rev();
        tables.map(|(_, table)| table).try_fold(defaults, |parameters, table| {
            table.parameters(device, value_type, parameters)
        })
    }

    /// Bytes of a device's last cache before memory: as stated, else as the device answers.
    pub fn cache_bytes(&self, device: &DeviceTraits) -> u64 {
        let stated = self.matches(device).into_iter();
        let stated = stated.filter_map(|(_, found)| found.entry.cache_bytes).next();
        stated.unwrap_or(device.cache_bytes)
    }

    /// Whether groups of one launch are known to make progress on a device; unknown is no.
    pub fn groups_progress(&self, device: &DeviceTraits) -> bool {
        let stated = self.matches(device).into_iter();
        stated.filter_map(|(_, found)| found.entry.groups_progress).next().unwrap_or(false)
    }
}

/// Reads a device table from the text of its file; `name` is what errors call it. For an application
/// with a table of its own, which goes to [`Tables::with_user`].
///
/// # Errors
/// Text that is no table, a format that is not known, and names of algorithms, value types or parameters
/// that nothing has.
pub fn parse_device_table(name: &Path, text: &str) -> Result<DeviceTable> {
    let refuse = |message| Err(TableError { path: name.to_owned(), message });
    match toml::from_str::<DeviceTable>(text) {
        Ok(table) if table.format == DeviceTable::FORMAT => match table.check_names() {
            Ok(()) => Ok(table),
            Err(message) => refuse(message),
        },
        Ok(table) => {
            refuse(format!("format is {}, and only {} is known", table.format, DeviceTable::FORMAT))
        }
        Err(error) => refuse(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::DeviceType;
    use crate::csr_adaptive::CsrAdaptive;

    fn hawaii() -> DeviceTraits {
        DeviceTraits {
            name: "Hawaii".to_owned(),
            board_name: None,
            vendor: "Advanced Micro Devices, Inc.".to_owned(),
            platform: "AMD Accelerated Parallel Processing".to_owned(),
            driver: String::new(),
            version: String::new(),
            architecture: "Hawaii".to_owned(),
            device_type: DeviceType::Gpu,
            compute_units: 44,
            simd_width: 64,
            max_group_size: 256,
            local_bytes: 32 << 10,
            global_bytes: 16 << 30,
            max_allocation_bytes: 4 << 30,
            cache_bytes: 1 << 20,
            cache_line_bytes: 64,
            base_align_bytes: 256,
            has_f64: true,
            has_int64_atomics: true,
            has_sub_groups: false,
            shuffle_sizes: Vec::new(),
            keeps_f32_subnormals: false,
            has_host_memory: false,
            svm: crate::SvmSupport::default(),
        }
    }

    #[test]
    fn the_firepro_w9100_gets_the_papers_parameters() {
        let tables = Tables::with_user(None).unwrap();
        let parameters = |value_type| {
            let defaults = CsrAdaptive::default_for(value_type);
            tables.parameters(&hawaii(), value_type, defaults).unwrap().to_string()
        };
        assert_eq!(
            parameters(ValueType::F64),
            "group_size=256,nnz_per_wg=1536,num_rows_stream=3,nnz_multiplier=2"
        );
        assert_eq!(
            parameters(ValueType::F32),
            "group_size=256,nnz_per_wg=1024,num_rows_stream=2,nnz_multiplier=3"
        );
    }

    #[test]
    fn the_users_table_goes_over_the_shipped_ones() {
        let text = "format = 1\n[[device]]\ntype = \"gpu\"\norigin = \"mine\"\n\
                    [device.kernel.csr_adaptive.f64]\nnnz_per_wg = 512\n";
        let user = parse_device_table(Path::new("mine.toml"), text).unwrap();
        let tables = Tables::with_user(Some(("mine.toml".into(), user))).unwrap();
        let defaults = CsrAdaptive::default_for(ValueType::F64);
        let found = tables.parameters(&hawaii(), ValueType::F64, defaults).unwrap();
        assert_eq!((found.nnz_per_wg, found.num_rows_stream), (512, 3));
        assert_eq!(tables.matches(&hawaii())[0].0, Path::new("mine.toml"));
    }

    #[test]
    fn names_nobody_knows_are_refused_with_the_file() {
        let refusal = |algorithm: &str, value_type: &str, parameter: &str| {
            let text = format!(
                "format = 1\n[[device]]\norigin = \"mine\"\n\
                 [device.kernel.{algorithm}.{value_type}]\n{parameter} = 512\n"
            );
            parse_device_table(Path::new("t.toml"), &text).unwrap_err().to_string()
        };
        assert_eq!(
            refusal("csr_adaptve", "f32", "nnz_per_wg"),
            "device table t.toml: algorithm \"csr_adaptve\" is none of csr_scalar, csr_vector, csr_adaptive, segmented_sum, evc_hyb"
        );
        assert_eq!(
            refusal("csr_adaptive", "f23", "nnz_per_wg"),
            "device table t.toml: value type \"f23\" is none of f32, f64, f16, bf16"
        );
        assert!(
            refusal("csr_adaptive", "f32", "nnz_per_gw")
                .contains("t.toml: csr_adaptive has no parameter")
        );
    }

    #[test]
    fn a_table_of_another_format_is_refused_by_name() {
        let error = parse_device_table(Path::new("t.toml"), "format = 2").unwrap_err();
        assert_eq!(error.to_string(), "device table t.toml: format is 2, and only 1 is known");
    }
}
