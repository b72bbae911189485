//! `sparrow devices`: what is here, what it can do, which table entries apply and why.

use serde_json::json;
use sparrow::{Device, Products, Tables, usual_tables};
use sparrow_bench::counted;

use crate::arguments::{Devices, Global};
use crate::failure::Failure;
use crate::output::{Files, write_text};

pub(crate) fn run(global: &Global, arguments: &Devices) -> Result<(), Failure> {
    let words = Files::new(global).check()?;
    let devices = match global.device.as_deref() {
        Some(text) => sparrow::find_devices(text)?,
        None => sparrow::devices()?,
    };
    if devices.is_empty() {
        return Err(sparrow::RuntimeError::NoDevice.into());
    }
    let tables = usual_tables();
    if let Some(path) = &global.json {
        let lines = devices.iter().map(|device| format!("{}\n", as_json(device, &tables)));
        write_text(path, &lines.collect::<String>())?;
    }
    for device in &devices {
        words.say(describe(device))?;
        if arguments.table {
            words.say(entries(device, &tables))?;
        }
    }
    if let Ok(best) = Device::best() {
        let (position, name) = (best.position(), &best.traits().name);
        words.say(format_args!("Used when --device is left out: {position} {name}"))?;
    }
    Ok(())
}

fn describe(device: &Device) -> String {
    let traits = device.traits();
    let mut text = format!("{} {}\n", device.position(), traits.table_name());
    let mut line = |name: &str, value: String| {
        text.push_str(&format!("  {name:<15}{value}\n"));
    };
    line("platform", traits.platform.clone());
    line(
        "kind",
        format!("{}, {}", traits.device_type, counted(traits.compute_units, "compute unit")),
    );
    line("version", format!("{}, driver {}", traits.version, traits.driver));
    line(
        "memory",
        format!(
            "{}; {} at once; {} cache; {} local",
            bytes(traits.global_bytes),
            bytes(traits.max_allocation_bytes),
            bytes(traits.cache_bytes),
            bytes(traits.local_bytes)
        ),
    );
    line("work-group", format!("at most {}", counted(traits.max_group_size, "item")));
    let value_types =
        if traits.has_f64 { "f32, f64, f16, bf16" } else { "f32, f16, bf16 (no f64)" };
    line("values", format!("{value_types}; f16 and bf16 store A and sum in f32"));
    let svm = [
        (traits.svm.coarse_grain_buffer, "coarse-grain buffers"),
        (traits.svm.fine_grain_buffer, "fine-grain buffers"),
        (traits.svm.fine_grain_system, "any host memory"),
        (traits.svm.atomics, "atomics"),
    ];
    let svm: Vec<_> = svm.iter().filter(|(has, _)| *has).map(|(_, name)| *name).collect();
    line("shared memory", if svm.is_empty() { "none".to_owned() } else { svm.join(", ") });
    // What stage 2 of segmented_sum on the CPU, and a partner on the host, cost in copies.
    line("to the CPU", traits.host_access().to_string());
    text
}

fn entries(device: &Device, tables: &Tables) -> String {
    let matches = tables.matches(device.traits());
    if matches.is_empty() {
        return "  No device-table entry applies: every algorithm uses its own defaults.\n"
            .to_owned();
    }
    let mut text = "  Device-table entries that apply, strongest first:\n".to_owned();
    for (path, found) in matches {
        text.push_str(&format!("    {} (matched by {})\n", path.display(), found.by));
        text.push_str(&format!("      origin: {}\n", found.entry.origin));
        if let Some(progress) = found.entry.groups_progress {
            text.push_str(&format!("      groups_progress = {progress}\n"));
        }
        if let Some(cache_bytes) = found.entry.cache_bytes {
            text.push_str(&format!("      cache_bytes = {cache_bytes}\n"));
        }
        for (algorithm, value_types) in &found.entry.kernel {
            for (value_type, parameters) in value_types {
                let parameters = parameters.iter().map(|(name, value)| format!("{name}={value}"));
                let parameters = parameters.collect::<Vec<_>>().join(",");
                text.push_str(&format!("      {algorithm} {value_type}: {parameters}\n"));
            }
        }
        for (value_type, rules) in &found.entry.choice {
            for products in Products::ALL {
                for rule in rules.own(products) {
                    text.push_str(&format!("      choice {value_type} {products}: {rule}\n"));
                }
            }
        }
    }
    text
}

fn as_json(device: &Device, tables: &Tables) -> serde_json::Value {
    let traits = device.traits();
    let entries: Vec<_> = tables
        .matches(traits)
        .iter()
        .map(|(path, found)| {
            json!({
                "file": path.display().to_string(),
                "matched_by": found.by,
                "origin": found.entry.origin,
                "groups_progress": found.entry.groups_progress,
                "cache_bytes": found.entry.cache_bytes,
                "kernel": found.entry.kernel,
                "choice": found.entry.choice,
            })
        })
        .collect();
    json!({
        "schema": "sparrow-devices/1",
        "version": env!("CARGO_PKG_VERSION"),
        "position": device.position(),
        "device": traits.name,
        "board_name": traits.board_name,
        "platform": traits.platform,
        "vendor": traits.vendor,
        "architecture": traits.architecture,
        "type": traits.device_type.name(),
        "driver": traits.driver,
        "opencl": traits.version,
        "compute_units": traits.compute_units,
        "simd_width": traits.simd_width,
        "max_group_size": traits.max_group_size,
        "global_bytes": traits.global_bytes,
        "max_allocation_bytes": traits.max_allocation_bytes,
        "cache_bytes": traits.cache_bytes,
        "local_bytes": traits.local_bytes,
        "base_align_bytes": traits.base_align_bytes,
        "f64": traits.has_f64,
        "int64_atomics": traits.has_int64_atomics,
        "sub_groups": traits.has_sub_groups,
        "shuffle_sizes": traits.shuffle_sizes,
        "f32_subnormals": traits.keeps_f32_subnormals,
        "svm_coarse_grain_buffer": traits.svm.coarse_grain_buffer,
        "svm_fine_grain_buffer": traits.svm.fine_grain_buffer,
        "svm_fine_grain_system": traits.svm.fine_grain_system,
        "svm_atomics": traits.svm.atomics,
        "host_access": traits.host_access().to_string(),
        "entries": entries,
    })
}

/// Bytes in the largest binary unit that leaves a whole part.
pub(crate) fn bytes(count: u64) -> String {
    let units = ["bytes", "KiB", "MiB", "GiB", "TiB"];
    let unit = ((count.max(1).ilog2() / 10) as usize).min(units.len() - 1);
    let value = count as f64 / (1u64 << (10 * unit)) as f64;
    if value.fract() == 0.0 {
        format!("{value} {}", units[unit])
    } else {
        format!("{value:.1} {}", units[unit])
    }
}

#[cfg(test)]
mod tests {
    use super::bytes;

    #[test]
    fn byte_counts_read_in_the_unit_that_fits() {
        assert_eq!(bytes(0), "0 bytes");
        assert_eq!(bytes(48 << 10), "48 KiB");
        assert_eq!(bytes(3 << 29), "1.5 GiB");
    }
}
