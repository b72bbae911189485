//! What makes one compiled kernel differ from another, as text a person can read.

use csr_core::{OffsetType, ValueType};

use crate::{Accumulate, Experiment, Parameters};

/// Names one specialisation of a kernel. Its `Display` is safe as a file name and the same in logs,
/// cache and bench rows; [`KernelKey::build_options`] turns it into what the compiler sees.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct KernelKey {
    /// The algorithm's name.
    pub algorithm: &'static str,
    /// Path of its source below `cl/`.
    pub source: &'static str,
    /// What A stores.
    pub value_type: ValueType,
    /// What counts nonzeros.
    pub offset_type: OffsetType,
    /// How products are summed.
    pub accumulate: Accumulate,
    /// Whether alpha and beta are read on the device.
    pub scalars_on_device: bool,
    /// Features of the algorithm that are on, as macros: `SPIN`.
    pub features: Vec<&'static str>,
    /// Hyper-parameters that the kernel is compiled with: name and value.
    pub parameters: Vec<(&'static str, u32)>,
}

impl KernelKey {
    /// A key without features.
    pub fn new<P: Parameters>(
        source: &'static str,
        value_type: ValueType,
        offset_type: OffsetType,
        accumulate: Accumulate,
        scalars_on_device: bool,
        parameters: &P,
    ) -> Self {
        KernelKey {
            algorithm: P::ALGORITHM,
            source,
            value_type,
            offset_type,
            accumulate,
            scalars_on_device,
            features: Vec::new(),
            parameters: parameters.compiled(),
        }
    }

    /// The same kernel with a feature of its algorithm on.
    #[must_use]
    pub fn with_feature(mut self, feature: &'static str) -> Self {
        self.features.push(feature);
        self
    }

    /// The same kernel, which prefetches or not ([`Tables::prefetches`](crate::Tables::prefetches)).
    #[must_use]
    pub fn prefetching(self, prefetches: bool) -> Self {
        if prefetches { self.with_feature("PREFETCH") } else { self }
    }

    /// The same kernel for an experiment; the same key where that is off.
    #[must_use]
    pub fn with_experiment(mut self, experiment: Experiment) -> Self {
        self.features.extend(experiment.features());
        self
    }

    /// The compiler options that make this specialisation: one `-D` for everything that differs.
    pub fn build_options(&self) -> String {
        let mut options = vec![
            "-cl-std=CL1.2".to_owned(),
            format!("-DVALUE_{}", self.value_type.name().to_uppercase()),
        ];
        if self.offset_type == OffsetType::U64 {
            options.push("-DOFFSET_U64".to_owned());
        }
        if self.accumulate == Accumulate::Compensated {
            options.push("-DCOMPENSATED".to_owned());
        }
        if self.scalars_on_device {
            options.push("-DSCALARS_ON_DEVICE".to_owned());
        }
        options.extend(self.features.iter().map(|feature| format!("-D{feature}")));
        let defines = self.parameters.iter();
        options.extend(defines.map(|(name, value)| format!("-D{}={value}", name.to_uppercase())));
        let registers =
            self.parameters.iter().find(|(name, value)| *name == "registers" && *value > 0);
        options.extend(registers.map(|(_, most)| format!("-cl-nv-maxrregcount={most}")));
        options.join(" ")
    }
}

impl std::fmt::Display for KernelKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let KernelKey { algorithm, value_type, offset_type, accumulate, .. } = self;
        write!(f, "{algorithm}.{value_type}.{offset_type}.{accumulate}")?;
        if self.scalars_on_device {
            f.write_str(".device_scalars")?;
        }
        for feature in &self.features {
            write!(f, ".{}", feature.to_lowercase())?;
        }
        for (name, value) in &self.parameters {
            write!(f, ".{name}-{value}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use expect_test::expect;

    use super::*;
    use crate::{Algorithm, Extent, KernelSpec, specialisations};

    #[test]
    fn key_reads_as_text_and_becomes_compiler_options() {
        let parameters = crate::csr_adaptive::CsrAdaptive::default_for(ValueType::F64);
        let key = KernelKey::new(
            crate::csr_adaptive::SOURCE,
            ValueType::F64,
            OffsetType::U64,
            Accumulate::Plain,
            true,
            &parameters,
        )
        .with_feature("SPIN");
        expect!["csr_adaptive.f64.u64.plain.device_scalars.spin.group_size-256.nnz_per_wg-1024.num_rows_stream-3.nnz_multiplier-2"]
            .assert_eq(&key.to_string());
        expect!["-cl-std=CL1.2 -DVALUE_F64 -DOFFSET_U64 -DSCALARS_ON_DEVICE -DSPIN -DGROUP_SIZE=256 -DNNZ_PER_WG=1024 -DNUM_ROWS_STREAM=3 -DNNZ_MULTIPLIER=2"]
            .assert_eq(&key.build_options());
    }

    #[test]
    fn a_limit_of_registers_becomes_an_option_of_the_compiler() {
        let options = |registers| {
            let parameters = crate::csr_flat::CsrFlat { registers, ..Default::default() };
            let (value_type, offset_type) = (ValueType::F64, OffsetType::U32);
            let source = crate::csr_flat::SOURCE;
            let plain = Accumulate::Plain;
            KernelKey::new(source, value_type, offset_type, plain, false, &parameters)
                .build_options()
        };
        assert!(
            options(40).contains("-DREGISTERS=40 ")
                && options(40).ends_with(" -cl-nv-maxrregcount=40")
        );
        assert!(options(0).contains("-DREGISTERS=0 ") && !options(0).contains("maxrregcount"));
    }

    #[test]
    fn an_experiment_that_is_off_changes_no_key() {
        let parameters = crate::csr_scalar::CsrScalar::default();
        let (value_type, offset_type) = (ValueType::F64, OffsetType::U32);
        let key = KernelKey::new(
            crate::csr_scalar::SOURCE,
            value_type,
            offset_type,
            Accumulate::Plain,
            false,
            &parameters,
        );
        assert_eq!(key.clone().with_experiment(Experiment::Off), key);
        expect!["csr_scalar.f64.u32.plain.x_constant.a_constant.group_size-64"]
            .assert_eq(&key.with_experiment(Experiment::BothConstant).to_string());
    }

    /// Whether a source, includes resolved, says the word anywhere but in comments and where it gets a default.
    fn reads(source: &str, word: &str) -> bool {
        let is_part = |c: char| c.is_alphanumeric() || c == '_';
        source.lines().any(|line| {
            let code = line.split("//").next().unwrap_or_default();
            let mut words = code.split(|c| !is_part(c)).filter(|found| !found.is_empty());
            let is_default = code.trim_start().starts_with("#ifndef")
                || words.clone().take(2).eq(["define", word]);
            !is_default && words.any(|found| found == word)
        })
    }

    #[test]
    fn keys_hold_what_kernels_read_and_nothing_that_the_host_alone_asks_for() {
        let keys = specialisations(&[], Extent::Product).unwrap();
        let of_keys = keys.iter().map(|key| (key.source, key.parameters.as_slice()));
        let mut looked_at: BTreeSet<(&str, &str)> = of_keys
            .flat_map(|(path, entries)| entries.iter().map(move |(name, _)| (path, *name)))
            .collect();
        for kernel in Algorithm::ALL.into_iter().flat_map(|algorithm| algorithm.spec().kernels) {
            looked_at.extend(kernel.compiled().map(|space| (kernel.source, space.name)));
        }
        for (path, name) in looked_at {
            let source = crate::kernel_source(path).unwrap();
            // `registers` is an option of the compiler.
            let is_read = name == "registers" || reads(&source, &name.to_uppercase());
            assert!(is_read, "{path} never reads {name}");
        }
    }

    #[test]
    fn every_parameter_has_a_default_in_its_kernel() {
        fn check_kernel(kernel: &KernelSpec) {
            let path = kernel.source;
            let text = crate::source::text_of(path);
            for space in kernel.compiled() {
                let line = format!("#ifndef {}\n", space.name.to_uppercase());
                assert!(text.contains(&line), "{path} lacks a default of {}", space.name);
            }
        }
        fn check<P: Parameters>(source: &'static str) {
            let (parameters, host_only) = (P::SPACE, P::HOST_ONLY);
            check_kernel(&KernelSpec { name: "", source, arguments: &[], parameters, host_only });
        }
        for kernel in Algorithm::ALL.into_iter().flat_map(|algorithm| algorithm.spec().kernels) {
            check_kernel(kernel);
        }
        check::<crate::coo_to_csr::CooToCsrKernel>(crate::coo_to_csr::SOURCE);
        check::<crate::csr_to_coo::CsrToCoo>(crate::csr_to_coo::SOURCE);
        check::<crate::csr_to_dense::CsrToDense>(crate::csr_to_dense::SOURCE);
        check::<crate::dense_to_csr::DenseToCsrKernel>(crate::dense_to_csr::SOURCE);
        check::<crate::scan::Scan>(crate::scan::SOURCE);
        check::<crate::sort::Sort>(crate::sort::SOURCE);
        check::<crate::cg::Cg>(crate::cg::SOURCE);
        check::<crate::bicgstab::BiCgStab>(crate::bicgstab::SOURCE);
        check::<crate::solver_vectors::SolverVectors>(crate::solver_vectors::SOURCE);
        check::<crate::jacobi::Jacobi>(crate::jacobi::SOURCE);
        check::<crate::spgemm_tiny::SpgemmTiny>(crate::spgemm_tiny::SOURCE);
        check::<crate::spgemm_hash::SpgemmHash>(crate::spgemm_hash::SOURCE);
        check::<crate::spgemm_long::SpgemmLong>(crate::spgemm_long::SOURCE);
        check::<crate::spgemm_parts::SpgemmParts>(crate::spgemm_parts::SOURCE);
        check::<crate::spgemm_bitmap::SpgemmBitmap>(crate::spgemm_bitmap::SOURCE);
        check::<crate::spgemm_values::SpgemmValues>(crate::spgemm_values::SOURCE);
        check::<crate::spgemm_order::SpgemmOrder>(crate::spgemm_order::SOURCE);
        check::<crate::spgemm_rows::SpgemmRows>(crate::spgemm_rows::SOURCE);
        check::<crate::spgemm_sets::SpgemmSets>(crate::spgemm_sets::SOURCE);
        check::<crate::batched::Batched>("batched/operands.h");
        check::<crate::batched_plan::BatchedPlan>(crate::batched_plan::SOURCE);
        check::<crate::spmm_row_split::SpmmRowSplit>(crate::spmm_row_split::SOURCE);
        check::<crate::spmm_row_split_plan::SpmmRowSplitPlan>(crate::spmm_row_split_plan::SOURCE);
        check::<crate::spmm_merge::SpmmMerge>(crate::spmm_merge::SOURCE);
        check::<crate::spmm_nonzero_split::SpmmNonzeroSplit>(crate::spmm_nonzero_split::SOURCE);
        check::<crate::spmm_merge_plan::SpmmMergePlan>(crate::spmm_merge_plan::SOURCE);
        check::<crate::dense_product::DenseProductKernel>(crate::dense_product::SOURCE);
        check::<crate::dense_rows::DenseRows>(crate::dense_rows::SOURCE);
        check::<crate::gather_values::GatherValues>(crate::gather_values::SOURCE);
        check::<crate::reorder::Reorder>(crate::reorder::SOURCE);
        check::<crate::row_lengths::RowLengthsKernel>(crate::row_lengths::SOURCE);
        check::<crate::row_offsets::RowOffsetsKernel>(crate::row_offsets::SOURCE);
        check::<crate::gather_rate::GatherRate>(crate::gather_rate::SOURCE);
        check::<crate::launch_cost::LaunchCost>(crate::launch_cost::SOURCE);
        check::<crate::rates::Rates>(crate::rates::SOURCE);
        check::<crate::elementwise::Elementwise>(crate::elementwise::SOURCE);
        check::<crate::reduce::Reduce>(crate::reduce::SOURCE);
        check::<crate::sum_integers::SumIntegers>(crate::sum_integers::SOURCE);
        check::<crate::value_coding::ValueCodingKernel>(crate::value_coding::SOURCE);
    }
}
