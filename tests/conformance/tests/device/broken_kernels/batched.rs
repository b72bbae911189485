//! Changes to the kernels of batches.

use sparrow::BatchedAlgorithm;

use super::Subject::Batched;
use super::{Breakage, Check, Noticed};

pub(super) const BREAKAGES: &[Breakage] = &[
    Breakage {
        what: "in a batch, what a sub-group has of a row that began before it is dropped",
        subject: Batched(BatchedAlgorithm::CsrI),
        from: "before + leads[sub_group], its_beta);",
        to: "before, its_beta);",
        caught_by: &[Check::Bound],
        noticed: Noticed::Everywhere,
    },
    Breakage {
        what: "in a batch, a row that is open at the end of a step is not carried on",
        subject: Batched(BatchedAlgorithm::CsrI),
        from: "sum += *carry_of(shared, step + 1, sub_group);",
        to: "sum += 0;",
        caught_by: &[Check::Bound],
        noticed: Noticed::Everywhere,
    },
    Breakage {
        what: "in a batch by sub-groups in step, a row in several steps loses what came before",
        subject: Batched(BatchedAlgorithm::CsrI),
        from: "sum += chunk->sums[PART_OF(step)];",
        to: "sum += 0;",
        // Launches alternate, and the other direction is right.
        caught_by: &[Check::Bound, Check::Repeat],
        noticed: Noticed::Everywhere,
    },
    Breakage {
        what: "in a batch by sub-groups in step, a row in several steps loses what comes later in reverse",
        subject: Batched(BatchedAlgorithm::CsrI),
        from: "sum += chunk->sums[PART_OF(later)];",
        to: "sum += 0;",
        // Launches alternate, and the other direction is right.
        caught_by: &[Check::Bound, Check::Repeat],
        noticed: Noticed::Everywhere,
    },
    Breakage {
        what: "in a batch by sub-groups in step, what a chunk has of a row that began before it is dropped",
        subject: Batched(BatchedAlgorithm::CsrI),
        from: "before + chunk.sums[PART_OF(0)], its_beta);",
        to: "before, its_beta);",
        caught_by: &[Check::Bound],
        noticed: Noticed::Everywhere,
    },
    Breakage {
        what: "in a batch, an item's last run is not joined with the items after it",
        subject: Batched(BatchedAlgorithm::Coo),
        from: "run_leads[sub_group][lane] = add_runs(",
        to: "run_leads[sub_group][lane] = 0 * add_runs(",
        caught_by: &[Check::Bound],
        noticed: Noticed::Everywhere,
    },
    Breakage {
        what: "in a batch, slots of ELL without an entry are multiplied",
        subject: Batched(BatchedAlgorithm::Ell),
        from: "if (column != PADDING)\n            sum = add_entry(from, at, column, sum);",
        to: "sum = add_entry(from, at, column != PADDING ? column : 0, sum);",
        caught_by: &[Check::Bound],
        noticed: Noticed::Everywhere,
    },
    Breakage {
        what: "in a batch, alpha is the first problem's",
        subject: Batched(BatchedAlgorithm::CsrSmart),
        from: "SCALAR_OF(alpha, task.problem);",
        to: "SCALAR_OF(alpha, 0);",
        caught_by: &[Check::Bound],
        noticed: Noticed::Everywhere,
    },
    Breakage {
        what: "in a batch, the barrier between x's copy and its use is missing",
        subject: Batched(BatchedAlgorithm::CsrScalar),
        from: "        stage_x(from.x, task.cols, staged_x);\n    barrier(CLK_LOCAL_MEM_FENCE);\n",
        to: "        stage_x(from.x, task.cols, staged_x);\n",
        caught_by: &[Check::Bound],
        noticed: Noticed::OnInterpreters,
    },
];
