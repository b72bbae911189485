//! Spills that are known and stay, each with its reason; `docs/portability.md` prints them.
//!
//! Only what costs time can be listed. A kernel that breaks a limit could not start.

use super::figures::Figures;
use super::target::Target;

/// Scalar registers, scratch memory or both, of one kernel on one target.
pub(super) struct KnownSpill {
    pub(super) kernel: &'static str,
    /// The target's name.
    pub(super) target: &'static str,
    /// What the key must hold, all of it.
    pub(super) key: &'static [&'static str],
    /// At most so many registers.
    pub(super) spilled: u64,
    /// At most so much scratch memory.
    pub(super) scratch_bytes: u64,
    /// Why it stays.
    pub(super) reason: &'static str,
}

const LANES: &str = "a plan is cut once, by 16 rows an item at this group size; the scalar registers are \
    kept in lanes of a vector register, and nothing goes to memory";

const SMALL_GROUP: &str = "16 rows an item with 64-bit offsets do not fit its registers; groups of 256 are \
    for devices that allow no larger ones, and this one allows 1024";

const UNION: &str = "no register is spilled: a carry of four words is put together in a union, which the \
    compiler leaves in memory; only the items that add up a cut row read one";

const ADDRESSES: &str = "scalar registers, of which a tile's boundaries and addresses take many, are kept in \
    lanes of a vector register, and nothing goes to memory";

const IN_FLIGHT: &str = "no register is spilled: the compiler leaves arrays of loads that are in flight \
    (columns and values of a tile or a step, rows of B, products, elements of vectors, and keys) in memory, whose loops it does not unroll; what that \
    costs is to be measured where there is such a device";

/// The list.
pub(super) const KNOWN_SPILLS: &[KnownSpill] = &[
    plan("gfx906", &["group_size-256"], 2, 0, LANES),
    plan("gfx90a", &["group_size-256"], 2, 0, LANES),
    plan("dg2", &["u64", "group_size-256"], 0, 136, SMALL_GROUP),
    plan("pvc", &["u64", "group_size-256"], 0, 8192, SMALL_GROUP),
    carry("csr_adaptive", "skl", 1024),
    carry("csr_adaptive", "pvc", 512),
    carry("csr_flat", "skl", 1024),
    carry("csr_flat", "pvc", 1024),
    carry("sell_sigma", "skl", 1024),
    carry("sell_sigma", "pvc", 512),
    segments("gfx906", &["bunch_size-64"], 29, 0, ADDRESSES),
    segments("gfx90a", &["bunch_size-64"], 27, 0, ADDRESSES),
    segments("skl", &["compensated", "nnz_per_item-16"], 0, 1024, IN_FLIGHT),
    segments("skl", &["compensated", "f64"], 0, 1024, IN_FLIGHT),
    segments("dg2", &["nnz_per_item-16"], 0, 1024, IN_FLIGHT),
    segments("pvc", &[], 0, 16384, IN_FLIGHT),
    KnownSpill {
        kernel: "csr_flat",
        target: "pvc",
        key: &["f16", "plain", "tile_nnz-4096"],
        spilled: 0,
        scratch_bytes: 1024,
        reason: IN_FLIGHT,
    },
    in_flight("batched", "pvc", 16384),
    in_flight("spmm_row_split", "pvc", 16384),
    in_flight("spmm_merge", "skl", 1024),
    in_flight("spmm_merge", "pvc", 4096),
    in_flight("spmm_nonzero_split_join", "pvc", 512),
    in_flight("dense_product", "pvc", 16384),
    in_flight("dense_product", "skl", 1024),
    in_flight("elementwise", "pvc", 8192),
    in_flight("reduce", "skl", 1024),
    in_flight("reduce", "pvc", 8192),
    in_flight("sum_integers", "pvc", 512),
    in_flight("move_by_digit", "skl", 8192),
    in_flight("move_by_digit", "dg2", 224),
    in_flight("move_by_digit", "pvc", 8192),
    in_flight("fill_values", "pvc", 512),
    in_flight("fill_tiny", "pvc", 512),
    in_flight("bicgstab_direction", "pvc", 512),
];

const fn segments(
    target: &'static str,
    key: &'static [&'static str],
    spilled: u64,
    scratch_bytes: u64,
    reason: &'static str,
) -> KnownSpill {
    KnownSpill { kernel: "segmented_sum", target, key, spilled, scratch_bytes, reason }
}

const fn in_flight(kernel: &'static str, target: &'static str, scratch_bytes: u64) -> KnownSpill {
    KnownSpill { kernel, target, key: &[], spilled: 0, scratch_bytes, reason: IN_FLIGHT }
}

const fn plan(
    target: &'static str,
    key: &'static [&'static str],
    spilled: u64,
    scratch_bytes: u64,
    reason: &'static str,
) -> KnownSpill {
    KnownSpill { kernel: "mark_row_blocks", target, key, spilled, scratch_bytes, reason }
}

const fn carry(kernel: &'static str, target: &'static str, scratch_bytes: u64) -> KnownSpill {
    let key = &["f64", "compensated"];
    KnownSpill { kernel, target, key, spilled: 0, scratch_bytes, reason: UNION }
}

impl KnownSpill {
    pub(super) fn covers(&self, target: &Target, key: &str, figures: &Figures) -> bool {
        self.kernel == figures.kernel
            && self.target == target.name
            && self.key.iter().all(|part| key.split('.').any(|of_key| of_key == *part))
            && figures.spilled <= self.spilled
            && figures.scratch_bytes <= self.scratch_bytes
    }
}

#[cfg(test)]
mod tests {
    use super::super::figures::Registers;
    use super::super::target::TARGETS;
    use super::*;

    const KNOWN: KnownSpill = KnownSpill {
        kernel: "k",
        target: "gfx906",
        key: &["f64", "plain"],
        spilled: 2,
        scratch_bytes: 0,
        reason: "a test",
    };

    fn figures(spilled: u64, scratch_bytes: u64) -> Figures {
        Figures {
            kernel: "k".to_owned(),
            registers: Registers::Amd { vector: 24, scalar: 40 },
            local_bytes: 0,
            spilled,
            scratch_bytes,
            group_limit: 256,
        }
    }

    #[test]
    fn a_known_spill_covers_its_kernel_target_keys_and_size_alone() {
        let [gfx906, gfx90a, ..] = &TARGETS;
        assert!(KNOWN.covers(gfx906, "a.f64.u32.plain", &figures(2, 0)));
        assert!(!KNOWN.covers(gfx90a, "a.f64.u32.plain", &figures(2, 0)));
        assert!(!KNOWN.covers(gfx906, "a.f32.u32.plain", &figures(2, 0)));
        assert!(!KNOWN.covers(gfx906, "a.f64.u32.compensated", &figures(2, 0)));
        assert!(!KNOWN.covers(gfx906, "a.f64.u32.plain", &figures(3, 0)));
        assert!(!KNOWN.covers(gfx906, "a.f64.u32.plain", &figures(2, 4)));
        let other = Figures { kernel: "other".to_owned(), ..figures(2, 0) };
        assert!(!KNOWN.covers(gfx906, "a.f64.u32.plain", &other));
    }

    #[test]
    fn listed_targets_exist() {
        for known in KNOWN_SPILLS {
            assert!(TARGETS.iter().any(|target| target.name == known.target), "{}", known.target);
        }
    }
}
