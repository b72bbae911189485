//! Changes to the kernels of SpMM.

use sparrow::SpmmAlgorithm;

use super::Subject::Spmm;
use super::{Breakage, Check, Noticed};

pub(super) const BREAKAGES: &[Breakage] = &[
    Breakage {
        what: "SpMM: what is beyond a row's end is multiplied",
        subject: Spmm(SpmmAlgorithm::RowSplit),
        from: "sums[other] = k < count ? sum : sums[other];",
        to: "sums[other] = sum;",
        caught_by: &[Check::Bound],
        noticed: Noticed::Everywhere,
    },
    Breakage {
        what: "SpMM: an i-node of fewer rows is stored as if it had all",
        subject: Spmm(SpmmAlgorithm::RowSplit),
        from: "if (!has_rows || mine.count == 0 || other >= rows)",
        to: "if (!has_rows || mine.count == 0)",
        caught_by: &[Check::Bound, Check::Canary, Check::Repeat],
        noticed: Noticed::Everywhere,
    },
    Breakage {
        what: "SpMM: half of the sub-groups that share a row are not added up",
        subject: Spmm(SpmmAlgorithm::RowSplit),
        from: "remaining = count; remaining > 1;",
        to: "remaining = count; remaining > 2;",
        caught_by: &[Check::Bound],
        noticed: Noticed::Everywhere,
    },
    Breakage {
        what: "SpMM: the barrier before sums of sub-groups that share a row are added up is missing",
        subject: Spmm(SpmmAlgorithm::RowSplit),
        from: "        barrier(CLK_LOCAL_MEM_FENCE);\n        if (has_sums && index + reach",
        to: "        if (has_sums && index + reach",
        caught_by: &[Check::Bound, Check::Repeat],
        noticed: Noticed::OnInterpreters,
    },
    Breakage {
        what: "SpMM: of a row that a group takes, what its last team has is not added up",
        subject: Spmm(SpmmAlgorithm::RowSplit),
        from: "sum_over(sums + other, shared, team, teams,",
        to: "sum_over(sums + other, shared, team, max(teams - 1, 1u),",
        caught_by: &[Check::Bound],
        noticed: Noticed::OnGpus,
    },
    Breakage {
        what: "SpMM: the last part of a row that is cut is not added up",
        subject: Spmm(SpmmAlgorithm::RowSplit),
        from: "sum = part + k * sub_groups < cut.parts ?",
        to: "sum = part + k * sub_groups + 1 < cut.parts ?",
        caught_by: &[Check::Bound],
        noticed: Noticed::Everywhere,
    },
    Breakage {
        what: "SpMM: columns that are apart are stored beyond the last",
        subject: Spmm(SpmmAlgorithm::RowSplit),
        from: "if (part < mine.count)\n            store_result(",
        to: "store_result(",
        caught_by: &[Check::Bound, Check::Canary, Check::Repeat],
        noticed: Noticed::OnGpus,
    },
    Breakage {
        what: "SpMM: the last items have as many columns as the others",
        subject: Spmm(SpmmAlgorithm::Merge),
        from: "min((uint)(width - 1 - mine.first) / mine.apart + 1, (uint)VECTOR_WIDTH)",
        to: "VECTOR_WIDTH",
        caught_by: &[Check::Bound, Check::Canary],
        noticed: Noticed::OnGpus,
    },
    Breakage {
        what: "SpMM: the partial sums of the sub-groups before are dropped",
        subject: Spmm(SpmmAlgorithm::Merge),
        from: "const reals_t whole = before + heads[item];",
        to: "const reals_t whole = heads[item];",
        caught_by: &[Check::Bound],
        noticed: Noticed::Everywhere,
    },
    Breakage {
        what: "SpMM: what groups have of a row is not added up",
        subject: Spmm(SpmmAlgorithm::Merge),
        from: "sum = part + k * sub_groups < shared->parts ? sum + sums_of[k] : sum;",
        to: "sum = part + k * sub_groups < shared->parts ? sum : sum;",
        caught_by: &[Check::Bound],
        noticed: Noticed::Everywhere,
    },
    Breakage {
        what: "SpMM: the counter of a row that groups share is not set back",
        subject: Spmm(SpmmAlgorithm::Merge),
        from: "    if (is_last)\n        atomic_xchg(counter, 0u);",
        to: "",
        caught_by: &[Check::Bound, Check::Repeat],
        noticed: Noticed::Everywhere,
    },
    Breakage {
        what: "SpMM: the barrier between a tile's copy and its use is missing",
        subject: Spmm(SpmmAlgorithm::Merge),
        from: "    barrier(CLK_LOCAL_MEM_FENCE);\n\n    const uint sub_group = item / sub_group_size;",
        to: "\n    const uint sub_group = item / sub_group_size;",
        caught_by: &[Check::Bound, Check::Repeat, Check::Canary],
        noticed: Noticed::OnInterpreters,
    },
];
