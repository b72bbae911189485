//! `sparrow devices`: what is here, what it can do, which table entries apply and why.

use serde_json::json;
use sparrow::{
    Device, DeviceEntry, DeviceType, Queue, Rates, Reuse, Tables, default_tables,
    last_cache_bytes_blocking, user_table_path, write_entry,
};
use sparrow_bench::tune::TunedDevice;
use sparrow_bench::{counted, keep_rates};

use crate::arguments::{Devices, Global};
use crate::failure::Failure;
use crate::output::{Files, write_text};
use crate::target::{Named, queue_on};

pub(crate) fn run(global: &Global, arguments: &Devices) -> Result<(), Failure> {
    let words = Files::new(global).check()?;
    let devices = match Named::by_option(global) {
        Named::Host => {
            return Err(Failure::input("devices lists OpenCL devices, and host is none"));
        }
        Named::Text(text) => sparrow::find_devices(text)?,
        Named::Best | Named::All => sparrow::devices()?,
    };
    if devices.is_empty() {
        return Err(sparrow::RuntimeError::NoDevice.into());
    }
    let probed = match arguments.probe {
        true => {
            devices.iter().map(|device| probe(device).map(Some)).collect::<Result<Vec<_>, _>>()?
        }
        false => vec![None; devices.len()],
    };
    let tables = default_tables();
    if let Some(path) = &global.json {
        let lines = devices.iter().map(|device| format!("{}\n", as_json(device, &tables)));
        write_text(path, &lines.collect::<String>())?;
    }
    for (device, probed) in devices.iter().zip(probed) {
        words.say(describe(device) + &probed.unwrap_or_default())?;
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

/// Measures what no query tells of a device, keeps it in the user's table, and says so.
fn probe(device: &Device) -> Result<String, Failure> {
    let queue = queue_on(device)?;
    let rates = Rates::measure_blocking(&queue)?;
    keep_rates(device.traits(), &rates).map_err(|error| Failure::run(error.to_string()))?;
    let kept = match user_table_path() {
        Some(path) => format!("kept in {}", path.display()),
        None => "not kept: there is no device table of the user's".to_owned(),
    };
    let (read, copy) = (rates.read / 1e9, rates.copy / 1e9);
    let rates = format!("reads {read:.1} GB/s, copies {copy:.1} GB/s, measured; {kept}");
    Ok(format!("  {:<15}{rates}\n{}", "rates", probe_cache(device, &queue)?))
}

fn probe_cache(device: &Device, queue: &Queue) -> Result<String, Failure> {
    let traits = device.traits();
    let line = |text: String| format!("  {:<15}{text}\n", "last cache");
    if traits.device_type == DeviceType::Cpu {
        let answer = bytes(traits.cache_bytes);
        return Ok(line(format!("{answer}, as the system tells it; not measured on a CPU")));
    }
    let Some(cache_bytes) = last_cache_bytes_blocking(queue)? else {
        return Ok(line("none is seen: memory is read at one rate".to_owned()));
    };
    let of_device = TunedDevice::of(traits, cache_bytes);
    let origin = "the cache by sparrow devices --probe".to_owned();
    let entry = DeviceEntry { cache_bytes: Some(cache_bytes), ..of_device.entry(origin) };
    let path = user_table_path().ok_or_else(|| {
        Failure::run(format!(
            "{}: a last cache of {} was measured, and there is no device table to keep it in: SPARROW_TABLE is off, or \
             there is no home",
            traits.name,
            bytes(cache_bytes)
        ))
    })?;
    write_entry(&path, &entry).map_err(|error| Failure::run(error.to_string()))?;
    Ok(line(format!("{}, measured; kept in {}", bytes(cache_bytes), path.display())))
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
        if let Some(prefetches) = found.entry.prefetches {
            text.push_str(&format!("      prefetches = {prefetches}\n"));
        }
        if let Some(cache_bytes) = found.entry.cache_bytes {
            text.push_str(&format!("      cache_bytes = {cache_bytes}\n"));
        }
        if let Some(rates) = &found.entry.rates {
            let (read, copy) = (rates.read_gbytes_per_s, rates.copy_gbytes_per_s);
            text.push_str(&format!("      rates: reads {read} GB/s, copies {copy} GB/s\n"));
        }
        for (algorithm, value_types) in &found.entry.kernel {
            for (value_type, parameters) in value_types {
                let parameters = parameters.iter().map(|(name, value)| format!("{name}={value}"));
                let parameters = parameters.collect::<Vec<_>>().join(",");
                text.push_str(&format!("      {algorithm} {value_type}: {parameters}\n"));
            }
        }
        for (value_type, numbers) in &found.entry.model {
            text.push_str(&format!("      model {value_type}: {numbers}\n"));
        }
        for (value_type, rules) in &found.entry.choice {
            for products in Reuse::ALL {
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
                "prefetches": found.entry.prefetches,
                "cache_bytes": found.entry.cache_bytes,
                "rates": found.entry.rates,
                "kernel": found.entry.kernel,
                "model": found.entry.model,
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
