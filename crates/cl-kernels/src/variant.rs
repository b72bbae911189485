//! Variants: the ways in which one algorithm can run, under the names that commands and records use.

/// A way in which an algorithm runs. One that an algorithm does not have means its default way.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    Hash,
    PartialOrd,
    Ord,
    serde::Serialize,
    serde::Deserialize,
)]
#[serde(try_from = "String", into = "&'static str")]
pub enum Variant {
    /// `csr_adaptive`: CSR-Stream with the scalar reduction from two rows on, else CSR-Vector (Figure 2).
    Baseline,
    /// `csr_adaptive`: adds num_rows_stream, the 128/32 break, and divisions moved to the plan.
    Nrs,
    /// `csr_adaptive`: adds the logarithmic reduction.
    NrsLog,
    /// `csr_adaptive`: adds CSR-VectorL: all of it.
    #[default]
    Full,
    /// `csr_adaptive`: as full, with the published barrier: groups spin until the row's first has
    /// initialised y.
    Spin,
    /// `segmented_sum`: one launch, in which work-groups settle what the published algorithm leaves to stage 2.
    Fused,
    /// `segmented_sum`: stage 2 is a kernel on the device.
    Device,
    /// `evc_hyb`: short rows in strips, long ones in compressed rows.
    Hybrid,
    /// `evc_hyb`: its predecessor, all rows in compressed rows in order of length (Guo and Gropp 2012).
    SortedCsr,
    /// `segmented_sum`: stage 2 runs on the CPU, as published; the product blocks.
    Cpu,
}

impl Variant {
    /// Whether products block, so that only `launch_in_place_blocking` makes them.
    pub fn blocks(self) -> bool {
        self == Variant::Cpu
    }

    /// The spelling in `--variant` and records.
    pub fn name(self) -> &'static str {
        match self {
            Variant::Baseline => "baseline",
            Variant::Nrs => "nrs",
            Variant::NrsLog => "nrs-log",
            Variant::Full => "full",
            Variant::Spin => "spin",
            Variant::Fused => "fused",
            Variant::Device => "device",
            Variant::Cpu => "cpu",
            Variant::Hybrid => "hybrid",
            Variant::SortedCsr => "sorted-csr",
        }
    }
}

impl From<Variant> for &'static str {
    fn from(variant: Variant) -> Self {
        variant.name()
    }
}

impl TryFrom<String> for Variant {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl std::fmt::Display for Variant {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.name())
    }
}
