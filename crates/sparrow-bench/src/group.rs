//! Records sorted for a reader: by device, then by matrix from small to large, then as they came.
//!
//! A device is a name, a platform and a driver: another driver is another device to a person who
//! compares figures. A matrix is a name and its size: one class at two scales is two matrices.

use std::fmt::Write as _;

use crate::record::{Details, Record, SpmvRecord};
use crate::units::{counted, significant};

/// All records of one device, sorted by nnz, matrix and value type.
pub(crate) struct DeviceGroup<'a> {
    pub(crate) device: &'a str,
    pub(crate) platform: &'a str,
    pub(crate) driver: &'a str,
    pub(crate) records: Vec<&'a Record>,
}

/// The records of one matrix on one device, never empty.
pub(crate) struct MatrixGroup<'a> {
    pub(crate) records: Vec<&'a Record>,
}

/// The devices in the order in which they first appear.
pub(crate) fn by_device<'a>(records: impl IntoIterator<Item = &'a Record>) -> Vec<DeviceGroup<'a>> {
    grouped(&mut records.into_iter())
}

fn grouped<'a>(records: &mut dyn Iterator<Item = &'a Record>) -> Vec<DeviceGroup<'a>> {
    let mut groups: Vec<DeviceGroup<'a>> = Vec::new();
    for record in records {
        let key = (record.device.as_str(), record.platform.as_str(), record.driver.as_str());
        match groups.iter_mut().find(|g| (g.device, g.platform, g.driver) == key) {
            Some(group) => group.records.push(record),
            None => groups.push(DeviceGroup {
                device: key.0,
                platform: key.1,
                driver: key.2,
                records: vec![record],
            }),
        }
    }
    for group in &mut groups {
        // A stable sort: algorithms of one matrix and type keep the order they were run in.
        group.records.sort_by_key(|r| (matrix_key(r), r.op.name(), r.value_type.as_str()));
    }
    groups
}

impl<'a> DeviceGroup<'a> {
    /// The matrices from few nonzeros to many.
    pub(crate) fn matrices(&self) -> Vec<MatrixGroup<'a>> {
        by_matrix(&self.records)
    }

    /// What gets a chart of its own: each operation and value type, in order of their names.
    pub(crate) fn kinds(&self) -> Vec<Kind<'a>> {
        let mut kinds: Vec<_> = self.records.iter().map(|r| Kind::of(r)).collect();
        kinds.sort_unstable();
        kinds.dedup();
        kinds
    }

    /// " (platform, driver version)" after the device's name, less what is empty or says the name
    /// again, as it does for the host.
    pub(crate) fn origin(&self) -> String {
        let mut parts = Vec::new();
        if !self.platform.is_empty() && self.platform != self.device {
            parts.push(self.platform.to_owned());
        }
        if !self.driver.is_empty() {
            parts.push(format!("driver {}", self.driver));
        }
        if parts.is_empty() { String::new() } else { format!(" ({})", parts.join(", ")) }
    }

    /// How many results kept every row's bound.
    pub(crate) fn verified(&self) -> usize {
        self.records.iter().filter(|r| r.verified).count()
    }

    /// "reads 4,081 GB/s, copies 4,278 GB/s" with the range where runs differ; `None` where no
    /// record has a rate.
    pub(crate) fn rates(&self) -> Option<String> {
        let reads = range(self.records.iter().filter_map(|r| r.stream_gbytes_per_s));
        let copies = range(self.records.iter().filter_map(|r| r.copy_gbytes_per_s));
        match (reads, copies) {
            (None, None) => None,
            (Some(reads), None) => Some(format!("reads {reads} GB/s")),
            (None, Some(copies)) => Some(format!("copies {copies} GB/s")),
            (Some(reads), Some(copies)) => {
                Some(format!("reads {reads} GB/s, copies {copies} GB/s"))
            }
        }
    }

    /// The rate that limits are computed from, the larger of the two, in 10^9 bytes a second; the
    /// largest where runs differ.
    pub(crate) fn limit_rate(&self) -> Option<f64> {
        self.records
            .iter()
            .flat_map(|r| [r.stream_gbytes_per_s, r.copy_gbytes_per_s])
            .flatten()
            .max_by(f64::total_cmp)
    }

    /// How many verified results hold NaN or infinity.
    pub(crate) fn non_finite(&self) -> usize {
        self.records.iter().filter(|r| r.verified && r.non_finite > 0).count()
    }

    /// "all 12 results verified", or "10 of 12 results verified, 2 FAILED".
    pub(crate) fn verdict(&self) -> String {
        verdict(self.verified(), self.records.len(), self.non_finite())
    }
}

/// How many of some results verified, and how many of those hold NaN or infinity, as a phrase.
pub(crate) fn verdict(verified: usize, results: usize, non_finite: usize) -> String {
    let some = match non_finite {
        0 => String::new(),
        count => format!(" ({count} with NaN or infinity)"),
    };
    match results - verified {
        0 if results == 1 => format!("the 1 result verified{some}"),
        0 => format!("all {} verified{some}", counted(results, "result")),
        failed => {
            let results = counted(results, "result");
            format!("{verified} of {results} verified{some}, {failed} FAILED")
        }
    }
}

/// What a table says of one result: right, right as far as NaN and infinities can be, or wrong.
pub(crate) fn check(record: &Record) -> &'static str {
    match (record.verified, record.non_finite) {
        (false, _) => "FAILED",
        (true, 0) => "verified",
        (true, _) => "NaN or inf",
    }
}

/// Sorted records cut where the matrix changes.
pub(crate) fn by_matrix<'a>(records: &[&'a Record]) -> Vec<MatrixGroup<'a>> {
    records
        .chunk_by(|a, b| matrix_key(a) == matrix_key(b))
        .map(|group| MatrixGroup { records: group.to_vec() })
        .collect()
}

impl<'a> MatrixGroup<'a> {
    /// A record that stands for the matrix.
    pub(crate) fn first(&self) -> &'a Record {
        self.records[0]
    }
}

/// Operation and value type.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Kind<'a> {
    op: &'a str,
    value_type: &'a str,
}

impl<'a> Kind<'a> {
    /// The kind a record is of.
    pub(crate) fn of(record: &'a Record) -> Self {
        Self { op: record.op.name(), value_type: &record.value_type }
    }

    /// "f64", or "f64 spmm" where the operation is not the default one.
    pub(crate) fn label(self) -> String {
        match self.op {
            "spmv" => self.value_type.to_owned(),
            op => format!("{} {op}", self.value_type),
        }
    }
}

/// What tells one result of a matrix from another, without the value type: "csr_adaptive/nrs-log",
/// followed by whatever is not the default choice.
pub(crate) fn series(record: &Record) -> String {
    let mut name = record.algorithm.clone();
    if !record.variant.is_empty() {
        name.push('/');
        name.push_str(&record.variant);
    }
    if let Some(spmm) = record.spmm() {
        let s = if spmm.columns == 1 { "" } else { "s" };
        // Writing to a String cannot fail.
        let _ = write!(name, ", {} column{s}", spmm.columns);
        for (what, layout) in [("B", &spmm.layout_b), ("C", &spmm.layout_c)] {
            if layout != "row" {
                let _ = write!(name, " {what} {layout}-major");
            }
        }
    }
    if let Some(evc_hyb) = record.evc_hyb()
        && evc_hyb.vector_order != "original"
    {
        name.push(' ');
        name.push_str(&evc_hyb.vector_order);
    }
    if let Details::Spmv(SpmvRecord { reordered: Some(reordered), .. }) = &record.details {
        name.extend([", ", &reordered.reordering]);
        if reordered.reordered_vectors != "original" {
            name.extend([" ", &reordered.reordered_vectors]);
        }
    }
    if record.accumulate != "plain" {
        name.push(' ');
        name.push_str(&record.accumulate);
    }
    if record.cache != "hot" {
        name.push(' ');
        name.push_str(&record.cache);
    }
    if record.offset_type != "u32" {
        name.push_str(" offsets ");
        name.push_str(&record.offset_type);
    }
    name
}

/// Text of a record without control characters, which could drive a terminal and are not allowed
/// in HTML.
pub(crate) fn plain(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { char::REPLACEMENT_CHARACTER } else { c }).collect()
}

/// What tells one matrix from another, and sorts them from few nonzeros to many.
pub(crate) fn matrix_key(record: &Record) -> (u64, &str, u64, u64, &str) {
    (record.nnz, &record.matrix, record.rows, record.cols, &record.source)
}

/// "4,081", or "4,081 to 4,102" where the values differ as printed.
fn range(values: impl Iterator<Item = f64> + Clone) -> Option<String> {
    let least = significant(values.clone().min_by(f64::total_cmp)?);
    let most = significant(values.max_by(f64::total_cmp)?);
    Some(if least == most { least } else { format!("{least} to {most}") })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::sample;

    #[test]
    fn matrices_come_from_few_nonzeros_to_many_and_algorithms_in_the_order_they_ran() {
        let mut records = vec![sample("large", "z"), sample("small", "b"), sample("large", "a")];
        records[1].nnz = 7;
        let groups = by_device(&records);
        let names: Vec<_> = groups[0]
            .matrices()
            .iter()
            .flat_map(|m| m.records.clone())
            .map(|r| format!("{} {}", r.matrix, r.algorithm))
            .collect();
        assert_eq!(names, ["small b", "large z", "large a"]);
        assert_eq!(groups[0].matrices().len(), 2);
    }

    #[test]
    fn another_driver_is_another_device() {
        let mut records = vec![sample("m", "a"), sample("m", "a"), sample("m", "b")];
        records[1].driver = "2".to_owned();
        let sizes: Vec<_> = by_device(&records).iter().map(|g| g.records.len()).collect();
        assert_eq!(sizes, [2, 1]);
    }

    #[test]
    fn a_device_is_named_without_empty_or_repeated_words() {
        let host = Record {
            device: "host".to_owned(),
            platform: "host".to_owned(),
            driver: String::new(),
            ..sample("m", "host")
        };
        let records = [sample("m", "a"), host];
        let origins: Vec<_> = by_device(&records).iter().map(DeviceGroup::origin).collect();
        assert_eq!(origins, [" (Example Platform, driver 1.0)", ""]);
    }

    #[test]
    fn one_class_at_two_scales_is_two_matrices() {
        let mut records = vec![sample("m", "a"), sample("m", "a")];
        records[1].rows += 1;
        assert_eq!(by_device(&records)[0].matrices().len(), 2);
    }

    #[test]
    fn a_series_names_only_what_is_no_default() {
        let mut record = sample("m", "csr_adaptive");
        assert_eq!(series(&record), "csr_adaptive");
        record.variant = "spin".to_owned();
        record.accumulate = "compensated".to_owned();
        record.cache = "cold".to_owned();
        record.offset_type = "u64".to_owned();
        assert_eq!(series(&record), "csr_adaptive/spin compensated cold offsets u64");
    }

    #[test]
    fn rates_that_differ_between_runs_are_shown_as_a_range() {
        let mut records = vec![sample("m", "a"), sample("m", "b")];
        records[0].stream_gbytes_per_s = Some(20.0);
        records[1].stream_gbytes_per_s = Some(21.5);
        records.iter_mut().for_each(|r| r.copy_gbytes_per_s = Some(18.0));
        let groups = by_device(&records);
        assert_eq!(groups[0].rates().as_deref(), Some("reads 20.0 to 21.5 GB/s, copies 18.0 GB/s"));
        assert_eq!(groups[0].limit_rate(), Some(21.5));
    }
}
