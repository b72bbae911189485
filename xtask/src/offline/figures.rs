//! What a compiler says a kernel takes, and what of it is a fault.

use super::target::Target;

/// Registers, as each vendor counts them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Registers {
    /// AMD: of a work-item (vector, with accumulation registers added) and of a wave (scalar).
    Amd { vector: u64, scalar: u64 },
    /// Intel: of a hardware thread, and the work-items it runs at once.
    Intel { general: u64, simd: u64 },
}

/// What one kernel takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Figures {
    /// The kernel's name.
    pub(super) kernel: String,
    pub(super) registers: Registers,
    /// Local memory of a work-group.
    pub(super) local_bytes: u64,
    /// Registers that were spilled.
    pub(super) spilled: u64,
    /// Scratch memory, for spills and private arrays: of a work-item (AMD) or a hardware thread (Intel).
    pub(super) scratch_bytes: u64,
    /// The most work-items of a group.
    pub(super) group_limit: u64,
}

impl Figures {
    /// Takes the worse of each figure; the name stays.
    pub(super) fn worsen(&mut self, other: &Figures) {
        self.registers = match (self.registers, other.registers) {
            (Registers::Amd { vector: v, scalar: s }, Registers::Amd { vector, scalar }) => {
                Registers::Amd { vector: vector.max(v), scalar: scalar.max(s) }
            }
            (Registers::Intel { general: g, simd: s }, Registers::Intel { general, simd }) => {
                Registers::Intel { general: general.max(g), simd: simd.min(s) }
            }
            // Rows hold one target's figures.
            (registers, _) => registers,
        };
        self.local_bytes = self.local_bytes.max(other.local_bytes);
        self.spilled = self.spilled.max(other.spilled);
        self.scratch_bytes = self.scratch_bytes.max(other.scratch_bytes);
        self.group_limit = self.group_limit.max(other.group_limit);
    }

    /// The spill, if there is one.
    pub(super) fn spill(&self) -> Option<String> {
        match (self.spilled, self.scratch_bytes) {
            (0, 0) => None,
            (spilled, 0) => Some(format!("{spilled} registers are spilled")),
            (0, bytes) => Some(format!("{bytes} bytes of scratch memory are used")),
            (spilled, bytes) => Some(format!(
                "{spilled} registers are spilled and {bytes} bytes of scratch memory used"
            )),
        }
    }

    /// Limits that are broken by a kernel compiled for groups of `group_size`: it could not start.
    pub(super) fn broken_limits(&self, target: &Target, group_size: u64) -> Vec<String> {
        let mut broken = Vec::new();
        if self.local_bytes > target.local_bytes {
            let (bytes, limit) = (self.local_bytes, target.local_bytes);
            broken.push(format!("{bytes} bytes of local memory exceed the {limit} there are"));
        }
        if self.group_limit < group_size {
            let limit = self.group_limit;
            broken.push(format!("groups of {group_size} exceed the limit of {limit} work-items"));
        }
        broken
    }
}

#[cfg(test)]
mod tests {
    use super::super::target::TARGETS;
    use super::*;

    fn figures() -> Figures {
        Figures {
            kernel: "k".to_owned(),
            registers: Registers::Amd { vector: 24, scalar: 40 },
            local_bytes: 1024,
            spilled: 0,
            scratch_bytes: 0,
            group_limit: 256,
        }
    }

    #[test]
    fn each_fault_is_named_with_its_limit() {
        let target = &TARGETS[0];
        assert_eq!(figures().spill(), None);
        let spill = Figures { spilled: 3, ..figures() }.spill();
        assert_eq!(spill.unwrap(), "3 registers are spilled");
        let scratch = Figures { scratch_bytes: 16, ..figures() }.spill();
        assert_eq!(scratch.unwrap(), "16 bytes of scratch memory are used");
        assert!(figures().broken_limits(target, 256).is_empty());
        assert!(Figures { local_bytes: 65536, ..figures() }.broken_limits(target, 256).is_empty());
        assert_eq!(
            Figures { local_bytes: 65537, ..figures() }.broken_limits(target, 256),
            ["65537 bytes of local memory exceed the 65536 there are"]
        );
        assert_eq!(
            Figures { group_limit: 128, ..figures() }.broken_limits(target, 256),
            ["groups of 256 exceed the limit of 128 work-items"]
        );
    }

    #[test]
    fn the_worse_of_two_is_more_of_everything_but_fewer_items_at_once() {
        let mut worst = figures();
        worst.worsen(&Figures {
            registers: Registers::Amd { vector: 20, scalar: 60 },
            local_bytes: 4096,
            group_limit: 64,
            ..figures()
        });
        assert_eq!(worst.registers, Registers::Amd { vector: 24, scalar: 60 });
        assert_eq!((worst.local_bytes, worst.group_limit), (4096, 256));
        let intel =
            |simd| Figures { registers: Registers::Intel { general: 128, simd }, ..figures() };
        let mut worst = intel(32);
        worst.worsen(&intel(16));
        assert_eq!(worst.registers, Registers::Intel { general: 128, simd: 16 });
    }
}
