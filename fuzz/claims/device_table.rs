//! What the device-table reader does with any text at all: it names what it leaves out, and the table that is left
//! answers for every device it names and for others; what is written of it is the same table.

use std::path::{Path, PathBuf};

use cl_kernels::{
    Accumulate, Algorithm, DeviceEntry, DeviceTraits, DeviceType, Fit, MatrixShape,
    NamedParameters, Reuse, SvmSupport, Tables, parse_device_table, select,
};
use csr_core::ValueType;

const VALUE_TYPES: [ValueType; 4] =
    [ValueType::F32, ValueType::F64, ValueType::F16, ValueType::Bf16];

pub(crate) fn check(bytes: &[u8]) {
    // A file that is no UTF-8 is refused before its text is looked at.
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let (table, problems) = parse_device_table(Path::new("input"), text);
    for problem in problems {
        assert!(problem.to_string().starts_with("device table input: "), "{problem}");
    }
    let written = toml::to_string(&table).unwrap();
    let (again, problems) = parse_device_table(Path::new("written"), &written);
    assert_eq!(problems, [], "written as {written}");
    assert_eq!(again, table, "written as {written}");

    let devices: Vec<_> = table.devices.iter().map(named_by).collect();
    for (entry, device) in table.devices.iter().zip(&devices) {
        // A name with a ':' or blanks around it is none that a device can have.
        if entry.name.as_deref().is_none_or(|name| name == device.table_name()) {
            let found = table.matches(device);
            assert!(found.iter().any(|found| std::ptr::eq(found.entry, entry)), "{entry:?}");
        }
    }
    let tables = Tables::with_user(Some((PathBuf::from("input"), table.clone())));
    for device in devices.iter().chain([&named_by(&DeviceEntry::default())]) {
        let own = table.matches(device);
        if let Some(bytes) = own.iter().find_map(|found| found.entry.cache_bytes) {
            assert_eq!(tables.cache_bytes(device), bytes);
        }
        if let Some(progress) = own.iter().find_map(|found| found.entry.groups_progress) {
            assert_eq!(tables.groups_progress(device), progress);
        }
        for value_type in VALUE_TYPES {
            check_parameters(&tables, device, value_type);
            check_choices(&tables, device, value_type);
        }
    }
}

/// Every algorithm has parameters that fit the device, whatever the table says.
fn check_parameters(tables: &Tables, device: &DeviceTraits, value_type: ValueType) {
    for accumulate in [Accumulate::Plain, Accumulate::Compensated] {
        let fit = Fit { device, value_type, accumulate, mean_row: 5.0 };
        for algorithm in Algorithm::ALL {
            let check = |p: &NamedParameters| algorithm.check_parameters(p.entries(), &fit);
            let defaults = algorithm.default_parameters(&fit);
            let (found, left_out) = tables.named_parameters(device, value_type, defaults, &check);
            assert_eq!(check(&found), Ok(()), "{algorithm}({found})");
            for problem in left_out {
                assert!(problem.to_string().contains(algorithm.name()), "{problem}");
            }
        }
    }
}

/// Something runs on every matrix, by a rule that is of it alone.
fn check_choices(tables: &Tables, device: &DeviceTraits, value_type: ValueType) {
    for (rows, nnz, longest_row) in [(0, 0, 0), (1, 1, 1), (1000, 9000, 400)] {
        let matrix = MatrixShape { rows, nnz, longest_row, in_step: 2 * nnz, changes: 0 };
        for products in Reuse::ALL {
            let choice = select(tables, device, value_type, &matrix, products);
            assert!(!choice.reason.is_empty());
            for (name, _) in &choice.parameters {
                assert_eq!(choice.algorithm.check_parameter(name), Ok(()));
            }
        }
    }
}

/// A device as an entry describes it, and otherwise a plain one.
fn named_by(entry: &DeviceEntry) -> DeviceTraits {
    let text = |field: &Option<String>| field.clone().unwrap_or_default();
    DeviceTraits {
        name: text(&entry.name),
        board_name: None,
        vendor: text(&entry.vendor),
        platform: text(&entry.platform),
        driver: String::new(),
        version: "OpenCL 1.2".to_owned(),
        architecture: text(&entry.architecture),
        device_type: entry.device_type.unwrap_or(DeviceType::Gpu),
        compute_units: 44,
        simd_width: 64,
        max_group_size: 256,
        local_bytes: 32 << 10,
        global_bytes: 16 << 30,
        max_allocation_bytes: 4 << 30,
        cache_bytes: 1 << 20,
        cache_line_bytes: 64,
        base_align_bytes: 128,
        has_f64: true,
        has_int64_atomics: true,
        has_sub_groups: false,
        shuffle_sizes: Vec::new(),
        keeps_f32_subnormals: true,
        has_host_memory: false,
        svm: SvmSupport::default(),
    }
}
