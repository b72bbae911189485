//! The devices that kernels are compiled for without being there.

use super::configurations::Configuration;
use std::fmt;

/// Whose compiler makes the code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Family {
    /// clang with AMD's device libraries.
    Amd,
    /// Intel's `ocloc`.
    Intel,
}

impl Family {
    pub(super) const ALL: [Family; 2] = [Family::Amd, Family::Intel];

    pub(super) fn name(self) -> &'static str {
        match self {
            Family::Amd => "AMD",
            Family::Intel => "Intel",
        }
    }

    pub(super) fn targets(self) -> impl Iterator<Item = &'static Target> {
        TARGETS.iter().filter(move |target| target.family == self)
    }
}

impl fmt::Display for Family {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// One device, by its compiler's name for it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Target {
    pub(super) family: Family,
    pub(super) name: &'static str,
    /// For people: what it is in.
    pub(super) devices: &'static str,
    pub(super) has_f64: bool,
    /// How many items it runs in step. Kernels whose sub-groups are as wide as that are for it.
    pub(super) simd_widths: &'static [u64],
    /// The most local memory of a work-group.
    pub(super) local_bytes: u64,
}

const KIB: u64 = 1 << 10;

pub(super) const TARGETS: [Target; 7] = [
    Target::amd("gfx906", "Vega 20: Radeon VII, MI50", &[64]),
    Target::amd("gfx90a", "CDNA 2: MI200", &[64]),
    Target::amd("gfx1100", "RDNA 3: RX 7900", &[32]),
    Target::amd("gfx1201", "RDNA 4: RX 9070", &[32]),
    Target::intel("skl", "Gen9: HD Graphics 530", true),
    Target::intel("dg2", "Xe-HPG: Arc A-series", false),
    Target::intel("pvc", "Xe-HPC: Data Center GPU Max", true),
];

impl Target {
    const fn amd(name: &'static str, devices: &'static str, simd_widths: &'static [u64]) -> Self {
        let local_bytes = 64 * KIB;
        Target { family: Family::Amd, name, devices, has_f64: true, simd_widths, local_bytes }
    }

    const fn intel(name: &'static str, devices: &'static str, has_f64: bool) -> Self {
        let (simd_widths, local_bytes) = (&[8, 16, 32], 64 * KIB);
        Target { family: Family::Intel, name, devices, has_f64, simd_widths, local_bytes }
    }

    /// Why a configuration is not for it; `None` where it is.
    pub(super) fn obstacle(&self, configuration: &Configuration) -> Option<&'static str> {
        let is_as_wide = |width: u64| self.simd_widths.contains(&width);
        if !self.has_f64 && configuration.uses_f64() {
            return Some("no f64");
        }
        let fits = configuration.sub_group_size().is_none_or(is_as_wide);
        (!fits).then_some("no sub-groups of that width")
    }
}
