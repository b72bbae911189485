//! Which device is the fastest, where the results of several are at hand: a line each, for each operation and value type.

use std::fmt::Write as _;

use crate::group::{DeviceGroup, Kind, by_device, matrix_key, plain};
use crate::record::{Details, Record};
use crate::units::{counted, significant};

/// Two devices within this of each other are as fast.
const TIE: f64 = 1.03;

/// What one case is: a matrix, and with dense matrices their columns.
type Case<'a> = ((u64, &'a str, u64, u64, &'a str), u64);

fn case(record: &Record) -> Case<'_> {
    (matrix_key(record), record.spmm().map_or(1, |spmm| spmm.columns))
}

/// The devices of results of one operation and value type.
pub(crate) struct Comparison {
    /// What is compared.
    pub(crate) what: String,
    /// A line a device, from fast to slow.
    pub(crate) lines: Vec<String>,
}

/// Compares the devices of `records` by the fastest result of each, over the matrices that all of them have; nothing for
/// one device, nor of operations whose tables compare devices themselves.
pub(crate) fn comparisons<'a>(records: impl IntoIterator<Item = &'a Record>) -> Vec<Comparison> {
    let is_compared = |record: &&Record| {
        matches!(record.details, Details::Spmv(_) | Details::Spmm(_) | Details::Spgemm(_))
    };
    let records: Vec<&Record> = records.into_iter().filter(is_compared).collect();
    let mut kinds: Vec<Kind<'_>> = records.iter().map(|record| Kind::of(record)).collect();
    kinds.sort_unstable();
    kinds.dedup();
    let of_kind = |kind: Kind<'_>| {
        let devices = by_device(records.iter().copied().filter(|record| Kind::of(record) == kind));
        let compared = compare(&devices)?;
        let line = |one: &Compared<'_>| {
            let (name, origin) = (plain(one.device.device), plain(&one.device.origin()));
            format!("{name}{origin}: {}", one.words())
        };
        let cases = counted(compared[0].over.len(), "case");
        Some(Comparison {
            what: format!("{}, {cases}, by the fastest result of each", kind.label()),
            lines: compared.iter().map(line).collect(),
        })
    };
    kinds.into_iter().filter_map(of_kind).collect()
}

/// Adds the comparisons to text.
pub(crate) fn write(text: &mut String, records: &[Record]) {
    for Comparison { what, lines } in comparisons(records) {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "Which device: {what}");
        lines.iter().for_each(|line| text.push_str(&format!("  {line}\n")));
        text.push('\n');
    }
}

/// A device, and its times as multiples of those of the fastest.
struct Compared<'a> {
    device: &'a DeviceGroup<'a>,
    over: Vec<f64>,
}

impl Compared<'_> {
    fn mean(&self) -> f64 {
        (self.over.iter().map(|ratio| ratio.ln()).sum::<f64>() / self.over.len() as f64).exp()
    }

    fn words(&self) -> String {
        let least = significant(self.over.iter().copied().fold(f64::INFINITY, f64::min));
        let most = significant(self.over.iter().copied().fold(0.0, f64::max));
        let range = if least == most { String::new() } else { format!(" ({least} to {most})") };
        match self.mean() {
            1.0 => "the fastest".to_owned(),
            mean if mean <= TIE => format!("as fast within 3%{range}"),
            mean => format!("takes {} times as long{range}", significant(mean)),
        }
    }
}

/// The devices from fast to slow, where there are several that have results of the same cases.
fn compare<'a>(devices: &'a [DeviceGroup<'a>]) -> Option<Vec<Compared<'a>>> {
    let best = |device: &DeviceGroup<'a>, wanted: Case<'a>| {
        let of_case = device.records.iter().filter(|record| case(record) == wanted);
        of_case.filter_map(|record| record.median_us).min_by(f64::total_cmp)
    };
    let (first, others) = devices.split_first()?;
    let mut cases: Vec<Case<'a>> = first.records.iter().map(|record| case(record)).collect();
    cases.dedup();
    cases.retain(|case| devices.iter().all(|device| best(device, *case).is_some()));
    if others.is_empty() || cases.is_empty() {
        return None;
    }
    let logarithm = |device: &DeviceGroup<'a>| -> f64 {
        cases.iter().filter_map(|case| best(device, *case)).map(f64::ln).sum()
    };
    let mut order: Vec<_> = devices.iter().collect();
    order.sort_by(|a, b| logarithm(a).total_cmp(&logarithm(b)));
    let fastest = order[0];
    let compared = order.into_iter().map(|device| {
        let ratio = |case: &Case<'a>| Some(best(device, *case)? / best(fastest, *case)?);
        Compared { device, over: cases.iter().filter_map(ratio).collect() }
    });
    Some(compared.collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::{failed, sample};

    fn on(device: &str, matrix: &str, us: f64) -> Record {
        Record { device: device.to_owned(), median_us: Some(us), ..sample(matrix, "csr_flat") }
    }

    fn text_of(records: &[Record]) -> String {
        let mut text = String::new();
        write(&mut text, records);
        text
    }

    #[test]
    fn devices_stand_from_fast_to_slow_by_their_fastest_results_on_what_all_of_them_have() {
        let records = [
            on("slow", "a", 80.0),
            on("slow", "a", 20.0),
            on("slow", "b", 80.0),
            // The other has no right result of it.
            on("slow", "c", 1.0),
            on("quick", "a", 10.0),
            on("quick", "b", 10.0),
            Record { device: "quick".to_owned(), ..failed("c", "csr_flat") },
        ];
        let text = text_of(&records);
        assert_eq!(
            text,
            "Which device: f64, 2 cases, by the fastest result of each\n  \
             quick (Example Platform, driver 1.0): the fastest\n  \
             slow (Example Platform, driver 1.0): takes 4.00 times as long (2.00 to 8.00)\n\n"
        );
    }

    #[test]
    fn a_difference_within_3_percent_is_none_and_one_device_is_not_compared() {
        let near = [on("one", "a", 100.0), on("two", "a", 102.0)];
        assert!(text_of(&near).contains("two (Example Platform, driver 1.0): as fast within 3%\n"));
        assert_eq!(text_of(&near[..1]), "");
        // Nothing in common.
        assert_eq!(text_of(&[on("one", "a", 1.0), on("two", "b", 1.0)]), "");
    }
}
