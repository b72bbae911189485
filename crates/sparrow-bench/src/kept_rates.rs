//! Rates of a device's memory, measured once and kept in the user's device table: a bench of a small matrix takes
//! longer to measure them than to multiply.

use cl_kernels::{DeviceTraits, StreamRates};
use sparrow::{
    DeviceEntry, Queue, Rates, TableError, default_tables, user_table_path, write_entry,
};

use crate::MeasureError;
use crate::tune::TunedDevice;

/// The rates of a queue's device: those that a table keeps of it and of its driver, else, or `again`, measured, and then
/// kept. Where there is no table to keep them in, or it cannot be written, they are measured every time (a `tracing`
/// event says so).
///
/// # Errors
/// The driver's own failure.
pub fn rates_blocking(queue: &Queue, again: bool) -> Result<Rates, MeasureError> {
    let traits = queue.context().device().traits();
    let kept = default_tables().stream_rates(traits).filter(|_| !again);
    if let Some(StreamRates { read_gbytes_per_s, copy_gbytes_per_s, .. }) = kept {
        return Ok(Rates { read: read_gbytes_per_s * 1e9, copy: copy_gbytes_per_s * 1e9 });
    }
    let rates = Rates::measure_blocking(queue).map_err(sparrow::Error::from)?;
    if let Err(error) = keep_rates(traits, &rates) {
        tracing::warn!("{error}; rates are measured again next time");
    }
    Ok(rates)
}

/// Keeps rates of a device in the user's table, over those that it has. Nothing happens where there is no such table.
///
/// # Errors
/// A table that cannot be written.
pub fn keep_rates(traits: &DeviceTraits, rates: &Rates) -> Result<(), TableError> {
    let Some(path) = user_table_path() else { return Ok(()) };
    let rounded = |rate: f64| (rate / 1e7).round() / 100.0;
    let rates = StreamRates {
        read_gbytes_per_s: rounded(rates.read),
        copy_gbytes_per_s: rounded(rates.copy),
        driver: traits.driver.clone(),
    };
    let of_device = TunedDevice::of(traits, traits.cache_bytes);
    let origin = "rates of memory, measured by sparrow".to_owned();
    write_entry(&path, &DeviceEntry { rates: Some(rates), ..of_device.entry(origin) })
}
