//! The records of `bench hetero` set side by side: for each value type a row a matrix and a column a
//! method, across devices.
//!
//! A method is an algorithm on a device, or two devices together. Names of devices are too long for a
//! column: where there are several, methods carry their numbers. Throughput is summed up by the
//! harmonic mean, as Liu and Vinter (2015) do, so that figures can be compared with theirs.

use crate::group::{Kind, matrix_key, plain, series};
use crate::record::{Hetero, Record};

/// The device name of the host's threads.
const HOST: &str = "host";

/// The device names of some records in the order in which they first appear, the host left out.
pub(crate) struct Devices<'a>(Vec<&'a str>);

impl<'a> Devices<'a> {
    /// The devices of the records that have a [`Hetero`] part.
    pub(crate) fn of(records: &[&'a Record]) -> Self {
        let mut names = Vec::new();
        let all = records.iter().filter_map(|r| r.hetero()).flat_map(|h| &h.devices);
        for name in all.map(String::as_str).filter(|name| *name != HOST) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        Self(names)
    }

    /// "[1] " in front of the name of a device that methods refer to by number, else nothing.
    pub(crate) fn prefix(&self, device: &str) -> String {
        match self.number(device) {
            Some(number) if self.0.len() > 1 => format!("[{number}] "),
            _ => String::new(),
        }
    }

    /// Position of a device from 1; `None` for the host.
    fn number(&self, device: &str) -> Option<usize> {
        self.0.iter().position(|name| *name == device).map(|place| place + 1)
    }

    /// " [1]" or " [1+host]" after a method's name; nothing where one device leaves no doubt.
    fn suffix(&self, hetero: &Hetero) -> String {
        if self.0.len() < 2 || hetero.devices.iter().all(|name| name == HOST) {
            return String::new();
        }
        let number = |name: &String| match self.number(name) {
            Some(number) => number.to_string(),
            None => HOST.to_owned(),
        };
        format!(" [{}]", hetero.devices.iter().map(number).collect::<Vec<_>>().join("+"))
    }
}

/// All results of one operation and value type.
pub(crate) struct Comparison<'a> {
    /// Operation and value type.
    pub(crate) kind: Kind<'a>,
    /// Names of the methods, each once, in the order in which they first appear.
    pub(crate) methods: Vec<String>,
    /// One row a matrix, in the order in which they first appear.
    pub(crate) rows: Vec<Row<'a>>,
}

/// The results of one matrix.
pub(crate) struct Row<'a> {
    /// A record that stands for the matrix.
    pub(crate) matrix: &'a Record,
    /// One slot for each of [`Comparison::methods`]; `None` where a method was not run.
    pub(crate) results: Vec<Option<&'a Record>>,
}

/// What a method reaches over all matrices.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Mean {
    /// The harmonic mean of GFLOP/s, and of how many matrices.
    Over(f64, usize),
    /// At least one result is wrong: a mean of the others would flatter the method.
    Failed,
    /// No result has a time.
    Absent,
}

/// Those of `records` that have a [`Hetero`] part.
pub(crate) fn with_hetero(records: &[Record]) -> Vec<&Record> {
    records.iter().filter(|r| r.hetero().is_some()).collect()
}

/// Records with a [`Hetero`] part as one comparison each operation and value type, sorted by these.
pub(crate) fn comparisons<'a>(
    records: &[&'a Record],
    devices: &Devices<'_>,
) -> Vec<Comparison<'a>> {
    let mut kinds: Vec<Kind<'a>> = records.iter().map(|r| Kind::of(r)).collect();
    kinds.sort_unstable();
    kinds.dedup();
    let of_kind = |kind| {
        let own: Vec<_> = records.iter().copied().filter(|r| Kind::of(r) == kind).collect();
        Comparison::of(kind, &own, devices)
    };
    kinds.into_iter().map(of_kind).collect()
}

impl<'a> Comparison<'a> {
    fn of(kind: Kind<'a>, records: &[&'a Record], devices: &Devices<'_>) -> Self {
        let mut methods: Vec<String> = Vec::new();
        let mut rows: Vec<Row<'a>> = Vec::new();
        for (&record, method) in records.iter().zip(methods_of(records, devices)) {
            let column = place_of(&mut methods, |m| *m == method, || method.clone());
            let same = |row: &Row<'_>| matrix_key(row.matrix) == matrix_key(record);
            let row = place_of(&mut rows, same, || Row { matrix: record, results: Vec::new() });
            let results = &mut rows[row].results;
            results.resize(results.len().max(column + 1), None);
            results[column] = Some(record);
        }
        rows.iter_mut().for_each(|row| row.results.resize(methods.len(), None));
        Self { kind, methods, rows }
    }

    /// The harmonic mean of a method's GFLOP/s over the matrices that it was run on.
    pub(crate) fn mean(&self, method: usize) -> Mean {
        let results: Vec<&Record> = self.rows.iter().filter_map(|r| r.results[method]).collect();
        if results.iter().any(|r| !r.verified) {
            return Mean::Failed;
        }
        let rates: Vec<f64> = results.iter().filter_map(|r| r.gflops).collect();
        match rates.len() {
            0 => Mean::Absent,
            count => Mean::Over(count as f64 / rates.iter().map(|r| 1.0 / r).sum::<f64>(), count),
        }
    }

    /// The rows that have results in stages.
    pub(crate) fn staged(&self) -> Vec<&Row<'a>> {
        self.rows.iter().filter(|row| row.staged().next().is_some()).collect()
    }
}

impl<'a> Row<'a> {
    /// The results in stages, each with the index of its method.
    pub(crate) fn staged(&self) -> impl Iterator<Item = (usize, &'a Record)> {
        let results = self.results.iter().enumerate();
        results
            .filter_map(|(method, result)| Some((method, (*result)?)))
            .filter(|(_, r)| has_stages(r))
    }

    /// Median microseconds of the fastest right result of one device alone.
    pub(crate) fn single_us(&self) -> Option<f64> {
        let alone = |r: &&&Record| r.hetero().is_some_and(|h| h.devices.len() == 1);
        let right = self.results.iter().flatten().filter(alone).filter(|r| r.verified);
        right.filter_map(|r| r.median_us).min_by(f64::total_cmp)
    }
}

/// The index of the first item that `is` the one, which is made at the end where there is none.
fn place_of<T>(items: &mut Vec<T>, is: impl Fn(&T) -> bool, make: impl FnOnce() -> T) -> usize {
    items.iter().position(is).unwrap_or_else(|| {
        items.push(make());
        items.len() - 1
    })
}

/// Whether a record is of a product in stages: the segmented sum, or two devices together.
fn has_stages(record: &Record) -> bool {
    is_segmented_sum(record) || is_both(record)
}

/// Whether a record is of the segmented sum on one device, the method of the paper.
pub(crate) fn is_segmented_sum(record: &Record) -> bool {
    record.algorithm == "segmented_sum"
}

/// Whether a record is of two devices together.
pub(crate) fn is_both(record: &Record) -> bool {
    record.algorithm == "hetero"
}

/// The name of each record's method, different for all records of one matrix.
fn methods_of(records: &[&Record], devices: &Devices<'_>) -> Vec<String> {
    let share = |r: &Record| r.hetero().map_or(0.0, |h| h.share);
    let names: Vec<String> = records.iter().map(|r| method(r, devices, "")).collect();
    let mut methods: Vec<(&Record, String)> = Vec::new();
    for (record, name) in records.iter().zip(&names) {
        let own = format!(" {:.2}", share(record));
        let others = || records.iter().zip(&names).filter(|(_, n)| *n == name).map(|(r, _)| r);
        let of_matrix = others().filter(|r| matrix_key(r) == matrix_key(record)).count();
        // A share that is learnt on each matrix would give each a column of its own.
        let named = is_both(record) && of_matrix > 1;
        let name = method(record, devices, if named { &own } else { "" });
        let same = |(r, n): &&(&Record, String)| {
            matrix_key(r) == matrix_key(record)
                && (*n == name || n.starts_with(&format!("{name} #")))
        };
        let name = match methods.iter().filter(same).count() {
            0 => name,
            before => format!("{name} #{}", before + 1),
        };
        methods.push((record, name));
    }
    methods.into_iter().map(|(_, name)| name).collect()
}

/// "csr_vector [1]", "both 0.12 [1+host]".
fn method(record: &Record, devices: &Devices<'_>, share: &str) -> String {
    let name = series(record);
    let name = match name.strip_prefix("hetero") {
        Some(rest) if is_both(record) => format!("both{rest}"),
        _ => name,
    };
    let devices = record.hetero().map(|h| devices.suffix(h)).unwrap_or_default();
    plain(&format!("{name}{share}{devices}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::{failed, hetero_mut, hetero_sample, sample};

    fn compare(records: &[Record]) -> Vec<Comparison<'_>> {
        let records = with_hetero(records);
        comparisons(&records, &Devices::of(&records))
    }

    fn at(mut record: Record, gflops: f64) -> Record {
        record.gflops = Some(gflops);
        record
    }

    #[test]
    fn the_mean_over_matrices_is_harmonic() {
        let records = [
            at(hetero_sample("a", "host", &["host"]), 1.0),
            at(hetero_sample("b", "host", &["host"]), 2.0),
            at(hetero_sample("c", "host", &["host"]), 6.0),
        ];
        let Mean::Over(mean, count) = compare(&records)[0].mean(0) else { panic!("no mean") };
        // 3 / (1 + 1/2 + 1/6)
        assert!((mean - 1.8).abs() < 1e-12 && count == 3, "{mean} over {count}");
    }

    #[test]
    fn one_wrong_result_leaves_a_method_without_a_mean() {
        let wrong = failed("b", "csr_vector");
        let wrong = Record { details: hetero_sample("b", "x", &["GPU"]).details, ..wrong };
        let records = [hetero_sample("a", "csr_vector", &["GPU"]), wrong];
        assert_eq!(compare(&records)[0].mean(0), Mean::Failed);
    }

    #[test]
    fn a_method_that_skips_a_matrix_says_how_many_its_mean_is_over() {
        let records = [
            hetero_sample("a", "host", &["host"]),
            hetero_sample("b", "host", &["host"]),
            at(hetero_sample("b", "csr_vector", &["GPU"]), 5.0),
        ];
        let comparison = &compare(&records)[0];
        assert!(comparison.rows[0].results[1].is_none());
        assert_eq!(comparison.mean(1), Mean::Over(5.0, 1));
    }

    #[test]
    fn results_of_all_devices_share_the_row_of_their_matrix_in_the_order_they_came() {
        let records = [
            hetero_sample("z", "host", &["host"]),
            hetero_sample("z", "csr_vector", &["GPU"]),
            hetero_sample("a", "host", &["host"]),
            hetero_sample("z", "csr_vector", &["CPU"]),
            hetero_sample("z", "hetero", &["GPU", "host"]),
        ];
        let comparison = &compare(&records)[0];
        let matrices: Vec<_> = comparison.rows.iter().map(|r| r.matrix.matrix.as_str()).collect();
        assert_eq!(matrices, ["z", "a"]);
        assert_eq!(
            comparison.methods,
            ["host", "csr_vector [1]", "csr_vector [2]", "both [1+host]"]
        );
    }

    #[test]
    fn one_device_needs_no_number_and_a_share_no_column_unless_a_matrix_has_several() {
        let mut records = vec![
            hetero_sample("a", "segmented_sum", &["GPU"]),
            hetero_sample("a", "hetero", &["GPU", "host"]),
            hetero_sample("b", "hetero", &["GPU", "host"]),
        ];
        hetero_mut(&mut records[2]).share = 0.3;
        assert_eq!(compare(&records)[0].methods, ["segmented_sum/cpu", "both"]);
        records[2].matrix = "a".to_owned();
        assert_eq!(compare(&records)[0].methods, ["segmented_sum/cpu", "both 0.12", "both 0.30"]);
    }

    #[test]
    fn a_method_run_twice_on_a_matrix_keeps_both_results() {
        let records = ["a"; 3].map(|matrix| at(hetero_sample(matrix, "csr_vector", &["GPU"]), 5.0));
        let comparison = &compare(&records)[0];
        assert_eq!(comparison.methods, ["csr_vector", "csr_vector #2", "csr_vector #3"]);
        assert!(comparison.rows[0].results.iter().all(Option::is_some));
    }

    #[test]
    fn value_types_are_compared_apart_and_other_records_left_out() {
        let mut records = [
            hetero_sample("a", "host", &["host"]),
            hetero_sample("a", "host", &["host"]),
            sample("a", "csr_vector"),
        ];
        records[0].value_type = "f32".to_owned();
        let comparisons = compare(&records);
        let labels: Vec<_> = comparisons.iter().map(|c| c.kind.label()).collect();
        assert_eq!(labels, ["f32", "f64"]);
        assert!(comparisons.iter().all(|c| c.methods == ["host"]));
    }

    #[test]
    fn the_fastest_single_device_is_neither_wrong_nor_two() {
        let timed = |algorithm, devices: &[&str], us| Record {
            median_us: Some(us),
            ..hetero_sample("a", algorithm, devices)
        };
        let wrong = Record { verified: false, ..timed("sell", &["GPU"], 1.0) };
        let records = [
            timed("host", &["host"], 30.0),
            timed("csr_vector", &["GPU"], 20.0),
            timed("hetero", &["GPU", "host"], 10.0),
            wrong,
        ];
        assert_eq!(compare(&records)[0].rows[0].single_us(), Some(20.0));
    }
}
