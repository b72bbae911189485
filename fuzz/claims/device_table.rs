//! What the device-table reader does with any text at all: it refuses it by an error, or the table
//! answers for every device it names and for others, and what is written of it is the same table.

use std::path::{Path, PathBuf};

use cl_kernels::csr_adaptive::CsrAdaptive;
use cl_kernels::csr_scalar::CsrScalar;
use cl_kernels::csr_vector::CsrVector;
use cl_kernels::{
    Accumulate, DeviceEntry, DeviceTable, DeviceTraits, DeviceType, ParameterError, Parameters,
    SvmSupport, Tables, parse_device_table,
};
use csr_core::ValueType;

const VALUE_TYPES: [ValueType; 4] =
    [ValueType::F32, ValueType::F64, ValueType::F16, ValueType::Bf16];

pub(crate) fn check(bytes: &[u8]) {
    // A file that is no UTF-8 is refused before its text is looked at.
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let table = match parse_device_table(Path::new("input"), text) {
        Ok(table) => table,
        Err(error) => {
            assert!(error.to_string().starts_with("device table input: "), "{error}");
            return;
        }
    };
    let written = toml::to_string(&table).unwrap();
    let again = parse_device_table(Path::new("written"), &written).unwrap();
    assert_eq!(again, table, "written as {written}");

    let devices: Vec<_> = table.devices.iter().map(named_by).collect();
    for (entry, device) in table.devices.iter().zip(&devices) {
        // A name with a ':' or blanks around it is none that a device can have.
        if entry.name.as_deref().is_none_or(|name| name == device.table_name()) {
            let found = table.matches(device);
            assert!(found.iter().any(|found| std::ptr::eq(found.entry, entry)), "{entry:?}");
        }
    }
    let tables = Tables::with_user(Some((PathBuf::from("input"), table.clone()))).unwrap();
    for device in devices.iter().chain([&named_by(&DeviceEntry::default())]) {
        check_answers(&table, &tables, device);
    }
}

/// Every algorithm has parameters, with what the table says above what is shipped; they are fit for the
/// device or refused by an error.
fn check_answers(table: &DeviceTable, tables: &Tables, device: &DeviceTraits) {
    if let Some(bytes) = table.matches(device).iter().find_map(|found| found.entry.cache_bytes) {
        assert_eq!(tables.cache_bytes(device), bytes);
    }
    if table.groups_progress(device) {
        assert!(tables.groups_progress(device));
    }
    for value_type in VALUE_TYPES {
        let scalar = parameters(table, tables, device, value_type, CsrScalar::default());
        fit_or_refused(scalar.check(device), scalar);
        let vector = CsrVector::default_for_mean_row(5.0);
        let vector = parameters(table, tables, device, value_type, vector);
        let adaptive = CsrAdaptive::default_for(value_type);
        let adaptive = parameters(table, tables, device, value_type, adaptive);
        for accumulate in [Accumulate::Plain, Accumulate::Compensated] {
            fit_or_refused(vector.check(device, value_type, accumulate), vector);
            fit_or_refused(adaptive.check(device, value_type, accumulate), adaptive);
        }
    }
}

/// A table that was read has answers for every algorithm, and stands above the shipped ones.
fn parameters<P: Parameters>(
    table: &DeviceTable,
    tables: &Tables,
    device: &DeviceTraits,
    value_type: ValueType,
    defaults: P,
) -> P {
    let all = tables.parameters(device, value_type, defaults).unwrap();
    let own = table.parameters(device, value_type, all.clone()).unwrap();
    assert_eq!(own.entries(), all.entries(), "a shipped table went over the user's");
    all
}

/// What passes can be worked with: nothing is zero.
fn fit_or_refused<P: Parameters>(checked: Result<(), ParameterError>, parameters: P) {
    match checked {
        Ok(()) => assert!(parameters.entries().iter().all(|(_, value)| *value > 0), "{parameters}"),
        Err(error) => assert!(error.to_string().starts_with(P::ALGORITHM), "{error}"),
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
