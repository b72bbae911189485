//! Device tables one above the other: a user's own, and the ones shipped with the project.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use csr_core::ValueType;

use crate::{
    CostNumbers, DeviceTable, DeviceTraits, NamedParameters, ParameterError, Parameters,
    StreamRates, TableError, TableMatch, parse_device_table,
};

/// The shipped files: name and text.
const SHIPPED: [(&str, &str); 6] = [
    ("data/tuning/amd.toml", include_str!("../../../data/tuning/amd.toml")),
    ("data/tuning/cpus.toml", include_str!("../../../data/tuning/cpus.toml")),
    ("data/tuning/intel.toml", include_str!("../../../data/tuning/intel.toml")),
    ("data/tuning/nvidia.toml", include_str!("../../../data/tuning/nvidia.toml")),
    ("data/tuning/papers.toml", include_str!("../../../data/tuning/papers.toml")),
    ("data/tuning/default.toml", include_str!("../../../data/tuning/default.toml")),
];

/// Tables, strongest first. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Tables(Arc<Layers>);

#[derive(Debug)]
struct Layers {
    user: Option<(PathBuf, DeviceTable)>,
    shipped: Vec<(PathBuf, DeviceTable)>,
    problems: Vec<TableError>,
}

impl Tables {
    /// The shipped tables, under one of the application's own.
    pub fn with_user(user: Option<(PathBuf, DeviceTable)>) -> Self {
        Self::with_user_and_problems(user, Vec::new())
    }

    /// The shipped tables alone: what counts on a device that was not tuned.
    pub fn untuned() -> Self {
        Self::with_user(None)
    }

    /// As [`Tables::with_user`], with what was left out of the application's own as it was read.
    pub fn with_user_and_problems(
        user: Option<(PathBuf, DeviceTable)>,
        mut problems: Vec<TableError>,
    ) -> Self {
        let mut shipped = Vec::with_capacity(SHIPPED.len());
        for (name, text) in SHIPPED {
            let (table, left_out) = parse_device_table(Path::new(name), text);
            shipped.push((PathBuf::from(name), table));
            problems.extend(left_out);
        }
        Tables(Arc::new(Layers { user, shipped, problems }))
    }

    /// What was left out of tables when they were read, and why.
    pub fn problems(&self) -> &[TableError] {
        &self.0.problems
    }

    /// The entries that apply to a device, strongest first, each with the file it stands in: the application's own,
    /// then the shipped ones, and of each the most specific first.
    pub fn matches(&self, device: &DeviceTraits) -> Vec<(&Path, TableMatch<'_>)> {
        self.layers(device).concat()
    }

    /// The same, the application's own and the shipped ones apart.
    pub(crate) fn layers(&self, device: &DeviceTraits) -> [Vec<(&Path, TableMatch<'_>)>; 2] {
        [self.0.user.as_slice(), &self.0.shipped].map(|layer| {
            let matches = layer.iter().flat_map(|(path, table)| {
                table.matches(device).into_iter().map(|found| (path.as_path(), found))
            });
            let mut matches: Vec<_> = matches.collect();
            matches.sort_by_key(|(_, found)| found.rank);
            matches
        })
    }

    /// The numbers of the cost model for a device, or where no entry has any for it, those that are shipped for another:
    /// what a fit begins with.
    pub fn default_model(
        &self,
        device: &DeviceTraits,
        value_type: ValueType,
    ) -> Option<CostNumbers> {
        let of_device = self.matches(device).into_iter().map(|(_, found)| found.entry);
        let shipped = self.0.shipped.iter().flat_map(|(_, table)| &table.devices);
        of_device.chain(shipped).find_map(|entry| entry.model(value_type)).copied()
    }

    /// What the tables say of an algorithm on a device, over `defaults`, and which entries were left out because what
    /// they say does not fit: `check` is the algorithm's.
    pub fn parameters<P: Parameters>(
        &self,
        device: &DeviceTraits,
        value_type: ValueType,
        defaults: P,
        check: impl Fn(&P) -> Result<(), ParameterError>,
    ) -> (P, Vec<TableError>) {
        let typed = |named: &NamedParameters| {
            let mut typed = defaults.clone();
            typed.take(named).map(|()| typed)
        };
        let named = NamedParameters::of(&defaults);
        let checks = |named: &NamedParameters| check(&typed(named)?);
        let (found, problems) = self.named_parameters(device, value_type, named, &checks);
        // The names are those of the defaults.
        (typed(&found).unwrap_or(defaults), problems)
    }

    /// As [`Tables::parameters`], of an algorithm that is known at run time.
    pub fn named_parameters(
        &self,
        device: &DeviceTraits,
        value_type: ValueType,
        defaults: NamedParameters,
        check: &dyn Fn(&NamedParameters) -> Result<(), ParameterError>,
    ) -> (NamedParameters, Vec<TableError>) {
        let algorithm = defaults.algorithm();
        let mut parameters = defaults;
        let mut problems = Vec::new();
        for (path, found) in self.matches(device).into_iter().rev() {
            let mut changed = parameters.clone();
            let applied = found.entry.apply(value_type, &mut changed);
            match applied.and_then(|has_line| if has_line { check(&changed) } else { Ok(()) }) {
                Ok(()) => parameters = changed,
                Err(error) => {
                    let message = format!(
                        "kernel.{algorithm}.{value_type} of \"{}\": {error}",
                        found.entry.title()
                    );
                    problems.push(TableError { path: path.to_owned(), message });
                }
            }
        }
        (parameters, problems)
    }

    /// Bytes of a device's last cache before memory: as stated, else as the device answers.
    pub fn cache_bytes(&self, device: &DeviceTraits) -> u64 {
        let stated = self.matches(device).into_iter();
        let stated = stated.filter_map(|(_, found)| found.entry.cache_bytes).next();
        stated.unwrap_or(device.cache_bytes)
    }

    /// Rates of a device's memory, where they were measured with the driver that it has.
    pub fn stream_rates(&self, device: &DeviceTraits) -> Option<StreamRates> {
        let is_usable = |rates: &&StreamRates| {
            let values = [rates.read_gbytes_per_s, rates.copy_gbytes_per_s];
            rates.driver == device.driver
                && values.iter().all(|rate| rate.is_finite() && *rate > 0.0)
        };
        let stated = self.matches(device).into_iter();
        stated.filter_map(|(_, found)| found.entry.rates.as_ref()).find(is_usable).cloned()
    }

    /// As [`Tables::cache_bytes`], for the rules of one layer, which were fitted to the size that is stated there.
    pub(crate) fn cache_bytes_of(
        &self,
        layer: &[(&Path, TableMatch<'_>)],
        device: &DeviceTraits,
    ) -> u64 {
        let stated = layer.iter().find_map(|(_, found)| found.entry.cache_bytes);
        stated.unwrap_or_else(|| self.cache_bytes(device))
    }

    /// Whether the device is known to have a use for prefetches, and a compiler that takes them; unknown is no.
    pub fn prefetches(&self, device: &DeviceTraits) -> bool {
        let stated = self.matches(device).into_iter();
        stated.filter_map(|(_, found)| found.entry.prefetches).next().unwrap_or(false)
    }

    /// Whether groups of one launch are known to make progress on a device; unknown is no.
    pub fn groups_progress(&self, device: &DeviceTraits) -> bool {
        let stated = self.matches(device).into_iter();
        stated.filter_map(|(_, found)| found.entry.groups_progress).next().unwrap_or(false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::csr_adaptive::CsrAdaptive;
    use crate::tests::gpu;
    use crate::{Fit, FittedParameters, Reuse};

    fn hawaii() -> DeviceTraits {
        DeviceTraits {
            name: "Hawaii".to_owned(),
            vendor: "Advanced Micro Devices, Inc.".to_owned(),
            platform: "AMD Accelerated Parallel Processing".to_owned(),
            max_group_size: 256,
            local_bytes: 32 << 10,
            ..gpu()
        }
    }

    /// What the shipped tables and one with this text say of a device.
    fn parameters(
        user: &str,
        device: &DeviceTraits,
        value_type: ValueType,
    ) -> (CsrAdaptive, Vec<TableError>) {
        let (table, problems) = parse_device_table(Path::new("mine.toml"), user);
        assert_eq!(problems, []);
        let tables = Tables::with_user(Some(("mine.toml".into(), table)));
        let defaults = CsrAdaptive::default_for(value_type);
        let check = |p: &CsrAdaptive| p.check(&Fit::plain(device, value_type, 1.0));
        tables.parameters(device, value_type, defaults, check)
    }

    #[test]
    fn nothing_is_left_out_of_the_shipped_tables() {
        assert_eq!(Tables::with_user(None).problems(), []);
    }

    #[test]
    fn rates_count_for_the_driver_that_they_were_measured_with() {
        let of = |read: &str, driver: &str| {
            let text = format!(
                "format = 2\n[[device]]\ntype = 'gpu'\norigin = 'x'\n[device.rates]\nread_gbytes_per_s = {read}\n\
                 copy_gbytes_per_s = 50.0\ndriver = '{driver}'\n"
            );
            let (table, problems) = parse_device_table(Path::new("mine.toml"), &text);
            assert_eq!(problems, []);
            let tables = Tables::with_user(Some(("mine.toml".into(), table)));
            tables.stream_rates(&gpu()).map(|rates| rates.read_gbytes_per_s)
        };
        let driver = gpu().driver;
        assert_eq!(of("60.5", &driver), Some(60.5));
        assert_eq!(of("60.5", "another"), None);
        for none in ["0.0", "-1.0", "nan", "inf"] {
            assert_eq!(of(none, &driver), None, "{none}");
        }
        assert_eq!(Tables::untuned().stream_rates(&gpu()), None);
    }

    fn of_family(vendor: &str, architecture: &str, name: &str) -> DeviceTraits {
        let (vendor, architecture) = (vendor.to_owned(), architecture.to_owned());
        DeviceTraits { name: name.to_owned(), vendor, architecture, ..gpu() }
    }

    #[test]
    fn a_gpu_has_what_is_known_of_its_name_then_of_its_architecture_then_of_its_vendor() {
        let tables = Tables::untuned();
        let by = |device: &DeviceTraits| -> Vec<&str> {
            tables.matches(device).iter().map(|(_, found)| found.by).collect()
        };
        let nvidia = |architecture, name| of_family("NVIDIA Corporation", architecture, name);
        let (h200, h100) = (nvidia("sm_90", "NVIDIA H200"), nvidia("sm_90", "NVIDIA H100 PCIe"));
        assert_eq!(by(&h200), ["name", "architecture", "vendor and type", "type"]);
        assert_eq!(by(&h100), ["architecture", "vendor and type", "type"]);
        assert_eq!(tables.cache_bytes(&h200), 60 << 20);
        assert_eq!(tables.cache_bytes(&h100), 50 << 20);
        assert_eq!(by(&nvidia("sm_75", "Tesla T4")), ["vendor and type", "type"]);
        let amd = of_family("Advanced Micro Devices, Inc.", "gfx1100", "gfx1100");
        assert_eq!(by(&amd), ["architectures that begin so", "vendor and type", "type"]);
        let intel = of_family("Intel(R) Corporation", "xe_12.56", "Intel(R) Arc(TM) A380");
        assert_eq!(by(&intel), ["architectures that begin so", "vendor and type", "type"]);
        assert_eq!(by(&of_family("Somebody", "", "A GPU")), ["type"]);
    }

    #[test]
    fn what_is_known_of_names_that_begin_so_goes_before_what_is_known_of_the_platform() {
        let cpu = |name: &str| DeviceTraits {
            platform: "Intel(R) OpenCL".to_owned(),
            device_type: crate::DeviceType::Cpu,
            ..of_family("Intel(R) Corporation", "", name)
        };
        let by = |device: &DeviceTraits| -> Vec<&str> {
            Tables::untuned().matches(device).iter().map(|(_, found)| found.by).collect()
        };
        let first = by(&cpu("AMD EPYC 9655 96-Core Processor"))[..2].to_vec();
        assert_eq!(first, ["names that begin so", "platform and type"]);
        assert_eq!(by(&cpu("Intel(R) Xeon(R) Processor"))[0], "platform and type");
    }

    #[test]
    fn every_family_of_gpus_has_a_rule_for_every_matrix_and_lines_that_fit_its_devices() {
        let shape = crate::MatrixShape {
            rows: 100_000,
            nnz: 1_000_000,
            longest_row: 40,
            in_step: 1_500_000,
            changes: 50_000,
        };
        let families = [
            ("NVIDIA Corporation", ["sm_80", "sm_90", "sm_61"]),
            ("Advanced Micro Devices, Inc.", ["gfx942", "gfx1030", "gfx803"]),
            ("Intel(R) Corporation", ["xe_12.0", "xe_12.60", ""]),
            ("Somebody", ["", "", ""]),
        ];
        for (vendor, architectures) in families {
            for architecture in architectures {
                let device = of_family(vendor, architecture, "A GPU");
                for value_type in [ValueType::F32, ValueType::F64] {
                    let tables = Tables::untuned();
                    let several = Reuse::Several;
                    let choice = crate::select(&tables, &device, value_type, &shape, several);
                    assert!(choice.reason.contains("data/tuning"), "{}", choice.reason);
                    let fit = Fit::plain(&device, value_type, shape.mean_row());
                    let flat = crate::csr_flat::CsrFlat::fitted(&fit);
                    let (_, problems) =
                        tables.parameters(&device, value_type, flat, |p| p.check(&fit));
                    assert_eq!(problems, [], "{vendor} {architecture}");
                }
            }
        }
    }

    #[test]
    fn no_shipped_rule_copies_a_where_many_products_were_not_asked_for() {
        for (path, table) in &Tables::with_user(None).0.shipped {
            let of_types = |entry| ValueType::ALL.map(|value_type| (entry, value_type));
            for (entry, value_type) in table.devices.iter().flat_map(of_types) {
                // Those for several products, too.
                let rules = entry.rules(value_type).into_iter();
                for rule in rules.flat_map(|rules| rules.of(Reuse::Once)) {
                    let algorithm = rule.algorithm;
                    assert!(!algorithm.copies_values(), "{}: {algorithm}", path.display());
                }
            }
        }
    }

    #[test]
    fn the_firepro_w9100_gets_the_papers_parameters() {
        let found = |value_type| parameters("format = 2", &hawaii(), value_type).0.to_string();
        assert_eq!(
            found(ValueType::F64),
            "group_size=256,nnz_per_wg=1536,num_rows_stream=3,nnz_multiplier=2"
        );
        assert_eq!(
            found(ValueType::F32),
            "group_size=256,nnz_per_wg=1024,num_rows_stream=2,nnz_multiplier=3"
        );
        // 16-bit storage sums in f32.
        assert_eq!(found(ValueType::F16), found(ValueType::F32));
    }

    const MINE: &str = "format = 2\n[[device]]\ntype = \"gpu\"\norigin = \"mine\"\n\
                        [device.kernel.csr_adaptive.f64]\ngroup_size = 128\nnnz_per_wg = 512\n\
                        [[device]]\nname = \"Hawaii\"\norigin = \"mine\"\n\
                        [device.kernel.csr_adaptive.f64]\nnnz_per_wg = 2048\n";

    #[test]
    fn the_users_table_goes_over_the_shipped_ones_and_specific_entries_over_general_ones() {
        let found = |name: &str| {
            let device = DeviceTraits { name: name.to_owned(), ..hawaii() };
            let found = parameters(MINE, &device, ValueType::F64).0;
            (found.group_size, found.nnz_per_wg, found.num_rows_stream)
        };
        assert_eq!(found("Hawaii"), (128, 2048, 3));
        assert_eq!(found("Hawaii:sramecc+"), (128, 2048, 3));
        assert_eq!(found("Fiji"), (128, 512, 3));
    }

    #[test]
    fn what_does_not_fit_the_device_is_named_and_what_is_below_it_counts() {
        let text = MINE.replace("= 2048", "= 1000000");
        let (found, problems) = parameters(&text, &hawaii(), ValueType::F64);
        assert_eq!(found.nnz_per_wg, 512);
        assert_eq!(problems.len(), 1);
        assert!(
            problems[0].to_string().starts_with(
                "device table mine.toml: kernel.csr_adaptive.f64 of \"Hawaii\": csr_adaptive: nnz_per_wg"
            ),
            "{}",
            problems[0]
        );
    }

    #[test]
    fn nothing_is_assumed_to_make_progress() {
        assert!(!Tables::with_user(None).groups_progress(&gpu()));
    }
}
