//! Claims about descriptors: defaults fit every device, and those of known devices are what they were.

use csr_core::ValueType;

use super::*;
use crate::tests::gpu;
use crate::{Accumulate, Algorithm};

/// Every fit to a device.
fn fits(device: &DeviceTraits) -> Vec<Fit<'_>> {
    let mut found = Vec::new();
    for value_type in [ValueType::F32, ValueType::F64] {
        for accumulate in [Accumulate::Plain, Accumulate::Compensated] {
            for mean_row in [1.0, 5000.0] {
                found.push(Fit { device, value_type, accumulate, mean_row });
            }
        }
    }
    found
}

/// Devices of every limit that OpenCL 1.2 allows, the embedded profile's included.
fn legal_devices() -> Vec<DeviceTraits> {
    let mut found = Vec::new();
    for device_type in [DeviceType::Gpu, DeviceType::Cpu, DeviceType::Accelerator] {
        for simd_width in [1, 8, 32, 64] {
            for max_group_size in [1, 2, 8, 16, 32, 48, 64, 100, 128, 256, 1024, 8192] {
                for local_bytes in [1, 2, 4, 8, 16, 32, 48, 64, 2048].map(|kib| kib << 10) {
                    let name = format!(
                        "{device_type} of groups of {max_group_size}, {local_bytes} bytes, \
                         {simd_width} in step"
                    );
                    found.push(DeviceTraits {
                        name,
                        device_type,
                        simd_width,
                        max_group_size,
                        local_bytes,
                        ..gpu()
                    });
                }
            }
        }
    }
    found
}

#[test]
fn the_defaults_of_every_other_operation_fit_every_legal_device() {
    use crate::{
        batched, dense_rows, sort, spgemm_rows, spmm_merge, spmm_nonzero_split, spmm_row_split,
        tiling,
    };
    // Neither an accelerator nor how many items run in step makes a difference to most.
    let differs = |device: &DeviceTraits| {
        device.device_type != DeviceType::Accelerator && [1, 32].contains(&device.simd_width)
    };
    for device in legal_devices().into_iter().filter(differs) {
        let name = &device.name;
        for value_type in [ValueType::F32, ValueType::F64] {
            let batched = batched::Batched::default_for(&device, value_type);
            batched.check(&device, value_type).unwrap();
            let spgemm = spgemm_rows::SpgemmRows::default_for(&device);
            spgemm.check(&device, value_type).unwrap();
            let merge = spmm_merge::SpmmMerge::default_for(&device, value_type);
            merge.check(&device, value_type).unwrap();
            let split = spmm_nonzero_split::SpmmNonzeroSplit::default_for(&device, value_type);
            split.check(&device, value_type).unwrap();
            spmm_row_split::SpmmRowSplit::default_for(&device, value_type).check(&device).unwrap();
            let bytes = value_type.size_bytes();
            tiling::Tiling::default_for(&device, bytes).check(&device).unwrap();
        }
        crate::cg::Cg::default_for(&device).check(&device).unwrap();
        crate::bicgstab::BiCgStab::default_for(&device).check(&device).unwrap();
        let sort = sort::Sort::for_device(&device);
        assert!(u64::from(sort.group_size) <= device.max_group_size, "{name}: {sort}");
        assert!(sort.local_bytes(8) <= device.local_bytes, "{name}: {sort}");
        let rows = dense_rows::DenseRows::for_device(&device, 64);
        let side = rows.tile_side() as u64;
        assert!(u64::from(rows.group_size) <= device.max_group_size, "{name}: {rows}");
        assert!(side * (side + 1) * 8 <= device.local_bytes, "{name}: {rows}");
    }
}

#[test]
fn the_defaults_fit_every_legal_device_or_the_algorithm_is_not_for_it() {
    for device in legal_devices() {
        for fit in fits(&device) {
            for algorithm in Algorithm::ALL {
                // What its items do together takes so many of them, and so much local memory.
                let (least_items, least_bytes) = match algorithm.name() {
                    "sell_sigma" => (32, 0),
                    // Two sums, a sum and a word each, and an element of x.
                    "csr_tiles" => (32, 32 * (3 * fit.sum_bytes() + 4) + 8),
                    _ => (1, 0),
                };
                let runs = algorithm.spec().check_device(&fit);
                assert_eq!(
                    runs.is_ok(),
                    device.max_group_size >= least_items && device.local_bytes >= least_bytes,
                    "{algorithm} on {}, {} {}: {runs:?}",
                    device.name,
                    fit.value_type,
                    fit.accumulate
                );
            }
        }
    }
}

#[test]
fn defaults_shrink_no_further_than_they_must() {
    let halvings = |algorithm: Algorithm, fit: &Fit<'_>| {
        let large =
            DeviceTraits { max_group_size: 8192, local_bytes: 2 << 20, ..fit.device.clone() };
        let wanted = algorithm.default_parameters(&Fit { device: &large, ..*fit });
        let found = algorithm.default_parameters(fit);
        let pairs = wanted.entries().iter().zip(found.entries());
        let halvings = pairs.filter(|(from, to)| from != to).map(|((_, from), (_, to))| {
            assert_eq!(from % to, 0, "{algorithm}: {found}");
            (from / to).ilog2()
        });
        halvings.sum::<u32>()
    };
    let of = |name: &str, max_group_size, local_bytes, accumulate| {
        let device = DeviceTraits { max_group_size, local_bytes, ..gpu() };
        let fit = Fit { device: &device, value_type: ValueType::F64, accumulate, mean_row: 20.0 };
        let algorithm: Algorithm = name.parse().unwrap();
        assert_eq!(algorithm.spec().check_device(&fit), Ok(()));
        halvings(algorithm, &fit)
    };
    // A smaller group alone.
    for name in ["csr_vector", "csr_adaptive", "csr_flat", "evc_hyb", "sell_sigma"] {
        assert_eq!(of(name, 128, 48 << 10, Accumulate::Plain), 1, "{name}");
    }
    // A little too much for 48 KiB: a shorter tail is enough.
    assert_eq!(of("csr_flat", 1024, 48 << 10, Accumulate::Compensated), 1);
    // 1024 sums of 8 bytes, and half as many.
    assert_eq!(of("csr_adaptive", 1024, 8 << 10, Accumulate::Plain), 1);
}

/// What is known to have been tuned and measured on: a GPU of NVIDIA's, one of AMD's, and the CPU runtimes.
fn known_devices() -> Vec<DeviceTraits> {
    let of = |name: &str, device_type, simd_width, max_group_size, local_kib: u64| DeviceTraits {
        name: name.to_owned(),
        device_type,
        simd_width,
        max_group_size,
        local_bytes: local_kib << 10,
        ..gpu()
    };
    let h200 = of("NVIDIA H200", DeviceType::Gpu, 32, 1024, 48);
    vec![
        DeviceTraits { architecture: "sm_90".to_owned(), ..h200 },
        of("Hawaii", DeviceType::Gpu, 64, 256, 32),
        of("PoCL", DeviceType::Cpu, 16, 4096, 2048),
        of("Intel CPU runtime", DeviceType::Cpu, 16, 8192, 256),
        of("Oclgrind", DeviceType::Cpu, 8, 1024, 32),
    ]
}

#[test]
fn on_known_devices_the_defaults_are_those_that_were_measured() {
    for device in known_devices() {
        for value_type in [ValueType::F32, ValueType::F64] {
            let is_cpu = device.device_type == DeviceType::Cpu;
            let expected = |algorithm: Algorithm| {
                match algorithm.name() {
                "csr_scalar" => "group_size=64".to_owned(),
                "csr_vector" => "group_size=256,items_per_row=16".to_owned(),
                "csr_adaptive" if value_type == ValueType::F64 => {
                    "group_size=256,nnz_per_wg=1024,num_rows_stream=3,nnz_multiplier=2".to_owned()
                }
                "csr_adaptive" => {
                    "group_size=256,nnz_per_wg=1024,num_rows_stream=2,nnz_multiplier=3".to_owned()
                }
                "csr_flat" => {
                    "group_size=256,tile_nnz=2048,whole_row=256,registers=0,shared_rows=0"
                        .to_owned()
                }
                "csr_pieces" => "lanes=8,masks_ends=1,chunks_per_unit=16,least_chunk=6144".to_owned(),
                "segmented_sum" => {
                    let bunch = device.simd_width;
                    let bunches = (128 / bunch).min(8);
                    format!(
                        "bunch_size={bunch},nnz_per_item=8,tiles_per_bunch=8,\
                         bunches_per_group={bunches}"
                    )
                }
                "evc_hyb" if is_cpu => "group_size=64,longest_short_row=128,alignment=32,\
                     nnz_per_item=128,rows_per_item=1,long_nnz_per_item=16,nnz_at_once=1"
                    .to_owned(),
                "evc_hyb" => "group_size=256,longest_short_row=128,alignment=32,\
                     nnz_per_item=16,rows_per_item=1,long_nnz_per_item=16,nnz_at_once=4"
                    .to_owned(),
                "sell" => "slice_rows=16,chunks_per_unit=16,coded_values=1".to_owned(),
                "sell_sigma" => {
                    "group_size=256,lane_nnz=32,window_rows=512,pairs_at_once=2,registers=0,coded_values=1"
                        .to_owned()
                }
                // One that was added since was never other than it is.
                other => {
                    let fit = Fit::plain(&device, value_type, 20.0);
                    assert_eq!(other.parse(), Ok(algorithm));
                    algorithm.default_parameters(&fit).to_string()
                }
            }
            };
            let fit = Fit::plain(&device, value_type, 20.0);
            for algorithm in Algorithm::ALL {
                let found = algorithm.default_parameters(&fit).to_string();
                assert_eq!(found, expected(algorithm), "{algorithm} on {}", device.name);
            }
        }
    }
}

#[test]
fn an_algorithm_has_the_name_of_its_files_and_a_launch_of_it_is_a_kernel() {
    for (algorithm, file) in Algorithm::ALL.into_iter().zip(Algorithm::FILES) {
        let spec = algorithm.spec();
        assert_eq!(spec.name, file);
        assert_eq!(spec.kernels[0].name, file);
        assert_eq!(spec.kernels[0].source, format!("spmv/{file}.cl"));
        let has_default = spec.variants.contains(&spec.default_variant);
        assert!(spec.variants.is_empty() || has_default, "{file}");
        assert!(
            spec.storage.staged.iter().all(|variant| spec.variants.contains(variant)),
            "{file}"
        );
    }
}

#[test]
fn defaults_trials_and_test_parameters_are_of_the_algorithm_and_fit() {
    let cpu = DeviceTraits { device_type: DeviceType::Cpu, ..gpu() };
    for (device, algorithm) in [gpu(), cpu]
        .iter()
        .flat_map(|device| Algorithm::ALL.into_iter().map(move |algorithm| (device, algorithm)))
    {
        let spec = algorithm.spec();
        for value_type in [ValueType::F32, ValueType::F64] {
            let fit = Fit::plain(device, value_type, 20.0);
            let defaults = algorithm.default_parameters(&fit);
            for ((name, value), space) in defaults.entries().iter().zip(spec.space) {
                assert_eq!(*name, space.name);
                assert!(space.values.contains(value), "{algorithm}: {name} = {value}");
            }
            assert_eq!(algorithm.check_parameters(spec.test_parameters, &fit), Ok(()));
            for trial in (spec.trials)(&fit) {
                match trial {
                    Trial::Parameter(name, value) => {
                        assert_ne!(defaults.get(name), Some(value), "{algorithm}: {name}");
                        assert_eq!(algorithm.check_parameter(name), Ok(()));
                    }
                    Trial::Variant(variant) => assert!(spec.variants.contains(&variant)),
                }
            }
            for set in spec.test_sets.iter().filter(|set| (set.obstacle)(device).is_none()) {
                let given = [spec.test_parameters, set.parameters].concat();
                assert_eq!(algorithm.check_parameters(&given, &fit), Ok(()), "{}", set.label);
            }
        }
    }
}

#[test]
fn what_follows_the_mean_row_is_the_default_there() {
    for algorithm in Algorithm::ALL {
        let Some(by) = algorithm.spec().by_mean_row else { continue };
        for (mean_row, max_group_size) in [(1.0, 1024), (20.0, 1024), (5000.0, 1024), (90.0, 16)] {
            let device = DeviceTraits { max_group_size, ..gpu() };
            let fit = Fit::plain(&device, ValueType::F64, mean_row);
            let defaults = algorithm.default_parameters(&fit);
            let value = (by.value)(mean_row, &|name| defaults.get(name));
            assert_eq!(defaults.get(by.name), Some(value), "{algorithm} at {mean_row}");
        }
    }
}

#[test]
fn what_does_not_fit_is_refused_by_name() {
    let device = gpu();
    let check = |text: &str, name, value| {
        let algorithm: Algorithm = text.parse().unwrap();
        let fit = Fit::plain(&device, ValueType::F64, 1.0);
        algorithm.check_parameters(&[(name, value)], &fit)
    };
    assert!(check("csr_scalar", "group_size", 2048).is_err());
    assert!(check("csr_vector", "items_per_row", 3).is_err());
    assert!(check("evc_hyb", "items_per_row", 4).is_err());
    // Items of a group of 256 are shared by up to as many rows.
    assert_eq!(check("csr_adaptive", "num_rows_stream", 257), Ok(()));
    assert!(check("csr_adaptive", "num_rows_stream", 258).is_err());
}

#[test]
fn teams_share_rows_where_their_items_are_known_to_run_in_step() {
    let shared = |device: &DeviceTraits, value| {
        let fit = Fit::plain(device, ValueType::F64, 1.0);
        (crate::csr_flat::SPEC.check)(&[("shared_rows", value)], &fit)
    };
    let nvidia = DeviceTraits { architecture: "sm_90".to_owned(), ..gpu() };
    assert_eq!(shared(&nvidia, 1), Ok(()));
    assert!(shared(&nvidia, 2).is_err());
    assert_eq!(shared(&gpu(), 0), Ok(()));
    let refusal = shared(&gpu(), 1).unwrap_err().to_string();
    assert!(refusal.contains("shared_rows = 1") && refusal.contains(&gpu().name), "{refusal}");
}

#[test]
fn what_is_refused_is_told_with_the_parameters_own_value() {
    let device = gpu();
    let mut refused = 0;
    for algorithm in Algorithm::ALL {
        for fit in fits(&device) {
            let defaults = algorithm.default_parameters(&fit);
            for (name, _) in defaults.entries() {
                for value in [0, 3, 1 << 14, 1 << 20, 1 << 30] {
                    let mut parameters = defaults.clone();
                    parameters.set(name, value).unwrap();
                    let checked = algorithm.check_parameters(parameters.entries(), &fit);
                    let Err(ParameterError::Invalid { name, value, rule, .. }) = checked else {
                        continue;
                    };
                    let own = parameters.get(name).map(u64::from);
                    assert_eq!(own, Some(value), "{algorithm}: {name}, but {rule}");
                    refused += 1;
                }
            }
        }
    }
    assert!(refused > 500, "{refused}");
}
