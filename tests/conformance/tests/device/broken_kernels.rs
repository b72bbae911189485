//! The suite catches kernels that are broken on purpose: the tests of the tests.
//!
//! Each entry changes one line of a kernel and says which check must notice. A change that no longer fits
//! the source fails here, too.

#![expect(clippy::unwrap_used, reason = "a test panics when its claim is broken")]

use std::ops::ControlFlow;

use cl_runtime::break_kernels;
use conformance::{compiles_slowly, device, is_full, is_interpreter, runs_unchecked, say};
use sparrow::{
    Algorithm, BatchedAlgorithm, BatchedVariant, Context, DeviceType, Queue, SpmmAlgorithm,
    ValueType, Variant,
};
use sparrow_bench::selftest::{
    BatchConfiguration, CaseError, Configuration, Extent, Progress, SpmmConfiguration, run_batches,
    run_spmms, run_suite,
};

/// Which check of a case notices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Check {
    /// A row is outside its bound; a row never written holds the NaN that y was poisoned with.
    Bound,
    /// A canary around an array was overwritten.
    Canary,
    /// Two launches gave different bits.
    Repeat,
}

struct Breakage {
    what: &'static str,
    subject: Subject,
    from: &'static str,
    to: &'static str,
    caught_by: &'static [Check],
    noticed: Noticed,
}

/// Where the change must be noticed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Noticed {
    Everywhere,
    /// Where items really run apart: PoCL passed every case without the barrier, and neighbouring items of
    /// a GPU may run in step.
    OnInterpreters,
    /// Where items take columns that are apart: CPU devices take them in halves of a vector (`cl/item/dense.h`).
    OnGpus,
    /// Everywhere, as if the device did not share its memory with the host.
    OnOwnMemory,
}

/// Whose kernel it is.
#[derive(Clone, Copy, Debug)]
enum Subject {
    Single(Algorithm, Variant),
    Batched(BatchedAlgorithm),
    Spmm(SpmmAlgorithm),
}

use Subject::{Batched, Single, Spmm};

const BREAKAGES: &[Breakage] = &[
    Breakage {
        what: "the last row is left out",
        subject: Single(Algorithm::CsrScalar, Variant::Full),
        from: "if (row >= rows)",
        to: "if (row + 1 >= rows)",
        caught_by: &[Check::Bound],
        noticed: Noticed::Everywhere,
    },
    Breakage {
        what: "a row past the last is written",
        subject: Single(Algorithm::CsrScalar, Variant::Full),
        from: "    if (row >= rows)\n        return;",
        to: "    if (row == rows) y[row] = 1; if (row >= rows)\n        return;",
        caught_by: &[Check::Canary],
        noticed: Noticed::Everywhere,
    },
    Breakage {
        what: "y is read at beta = 0",
        subject: Single(Algorithm::CsrVector, Variant::Full),
        from: "if (beta != 0)\n        result",
        to: "if (1)\n        result",
        caught_by: &[Check::Bound],
        noticed: Noticed::Everywhere,
    },
    Breakage {
        what: "the barrier between products and their sums is missing",
        subject: Single(Algorithm::CsrAdaptive, Variant::Full),
        from: "    barrier(CLK_LOCAL_MEM_FENCE);\n    if (is_stream && group == 0) {",
        to: "    if (is_stream && group == 0) {",
        caught_by: &[Check::Bound, Check::Repeat],
        noticed: Noticed::OnInterpreters,
    },
    Breakage {
        what: "a carry is another share's",
        subject: Single(Algorithm::CsrAdaptive, Variant::Full),
        from: "carry_read(carries, row_block + share)",
        to: "carry_read(carries, row_block + share / 2)",
        caught_by: &[Check::Bound],
        noticed: Noticed::Everywhere,
    },
    Breakage {
        what: "a counter counts on from the launch before",
        subject: Single(Algorithm::CsrAdaptive, Variant::Full),
        from: "const int is_last = arrived == arrivals;\n    if (is_last)\n",
        to: "const int is_last = arrived == arrivals;\n    if (0)\n",
        caught_by: &[Check::Bound, Check::Repeat],
        noticed: Noticed::Everywhere,
    },
    Breakage {
        what: "a row that is whole is cut where its tile ends",
        subject: Single(Algorithm::CsrFlat, Variant::Full),
        from: "min(nnz - tile.boundary, (offset_t)TILE_NNZ) + tile.tail;",
        to: "min(nnz - tile.boundary, (offset_t)TILE_NNZ);",
        caught_by: &[Check::Bound],
        noticed: Noticed::Everywhere,
    },
    Breakage {
        what: "the last tile's products are looked for where a full one's would be",
        subject: Single(Algorithm::CsrFlat, Variant::Full),
        from: "tile.window = tile.boundary - lead;",
        to: "tile.window = tile.boundary;",
        caught_by: &[Check::Bound],
        noticed: Noticed::Everywhere,
    },
    Breakage {
        what: "a cut row is stored by every tile it has a part in",
        subject: Single(Algorithm::CsrFlat, Variant::Full),
        from: "is_listed = (width < TEAM_SIZE && past - from > HEAVY << log_width) || \\\n                              slot == tile.cut_before || slot == tile.cut_after;",
        to: "is_listed = (width < TEAM_SIZE && past - from > HEAVY << log_width);",
        caught_by: &[Check::Bound],
        noticed: Noticed::Everywhere,
    },
    Breakage {
        what: "the slot of two partial sums is left as it was found",
        subject: Single(Algorithm::CsrFlat, Variant::Full),
        from: "exchange_words(words, 0);",
        to: "",
        caught_by: &[Check::Bound, Check::Repeat],
        noticed: Noticed::Everywhere,
    },
    Breakage {
        what: "parts of more than two tiles are combined at the wrong boundary",
        subject: Single(Algorithm::CsrFlat, Variant::Full),
        from: "const uint right = (node | 1) << level;",
        to: "const uint right = (node | 1);",
        caught_by: &[Check::Bound, Check::Repeat],
        noticed: Noticed::Everywhere,
    },
    Breakage {
        what: "a row that continues after a chunk is taken for whole",
        subject: Single(Algorithm::CsrPieces, Variant::Full),
        from: "if (end > past) {",
        to: "if (0) {",
        caught_by: &[Check::Bound],
        noticed: Noticed::Everywhere,
    },
    Breakage {
        what: "the row before is not looked at",
        subject: Single(Algorithm::CsrPieces, Variant::Full),
        from: "const int is_cut_before = at > first;",
        to: "const int is_cut_before = 0;",
        caught_by: &[Check::Bound],
        noticed: Noticed::Everywhere,
    },
    Breakage {
        what: "the products that are left of a row are forgotten",
        subject: Single(Algorithm::CsrPieces, Variant::Full),
        from: "for (; at < end; ++at)",
        to: "for (; at + 1 < end; ++at)",
        caught_by: &[Check::Bound],
        noticed: Noticed::Everywhere,
    },
    Breakage {
        what: "padding multiplies what x holds",
        subject: Single(Algorithm::Sell, Variant::Full),
        from: "lanes_where(mask, gather_lanes(x_base, column))",
        to: "gather_lanes(x_base, column)",
        caught_by: &[Check::Bound],
        noticed: Noticed::Everywhere,
    },
    Breakage {
        what: "columns count from the first column of all",
        subject: Single(Algorithm::Sell, Variant::Full),
        from: "IS_WIDE(slice) ? x : x + slice.base",
        to: "x",
        caught_by: &[Check::Bound],
        noticed: Noticed::Everywhere,
    },
    Breakage {
        what: "what comes after rows of odd words begins too early",
        subject: Single(Algorithm::Sell, Variant::Full),
        from: "word += (word - words) & 1;",
        to: "",
        caught_by: &[Check::Bound],
        noticed: Noticed::Everywhere,
    },
    Breakage {
        what: "iterations over padded rows take the nonzeros of others",
        subject: Single(Algorithm::Sell, Variant::Full),
        from: "const uint nonzero = nonzero_order[iteration + done];",
        to: "const uint nonzero = done;",
        caught_by: &[Check::Bound],
        noticed: Noticed::OnOwnMemory,
    },
    Breakage {
        what: "padding multiplies what x holds",
        subject: Single(Algorithm::SellSigma, Variant::Full),
        from: "if (iteration + 2 * k + 1 < lane.length)",
        to: "if (1)",
        caught_by: &[Check::Bound],
        noticed: Noticed::Everywhere,
    },
    Breakage {
        what: "columns count from the first column of all",
        subject: Single(Algorithm::SellSigma, Variant::Full),
        from: "is_wide ? x : x + base",
        to: "x",
        caught_by: &[Check::Bound],
        noticed: Noticed::Everywhere,
    },
    Breakage {
        what: "each part of a cut row stores what it has",
        subject: Single(Algorithm::SellSigma, Variant::Full),
        from: "parts > 1 && ",
        to: "parts > 99999 && ",
        caught_by: &[Check::Bound],
        noticed: Noticed::Everywhere,
    },
    Breakage {
        what: "rows without a slice of their own follow the wrong ones",
        subject: Single(Algorithm::SellSigma, Variant::Full),
        from: "class_at += class_rows[log_lanes];",
        to: "class_at += 0;",
        caught_by: &[Check::Bound],
        noticed: Noticed::Everywhere,
    },
    Breakage {
        what: "what a lane has of a part that began before it is lost",
        subject: Single(Algorithm::CsrTiles, Variant::Full),
        from: "acc_add(sum, after)",
        to: "sum",
        caught_by: &[Check::Bound],
        noticed: Noticed::Everywhere,
    },
    Breakage {
        what: "a tile's padding goes on with its last part",
        subject: Single(Algorithm::CsrTiles, Variant::Full),
        from: "if (is_last && past % SLICE_NNZ != 0)",
        to: "if (0)",
        caught_by: &[Check::Bound],
        noticed: Noticed::Everywhere,
    },
    Breakage {
        what: "columns count from the first column of all",
        subject: Single(Algorithm::CsrTiles, Variant::Full),
        from: "gather_x(x, first_column + at)",
        to: "gather_x(x, at)",
        caught_by: &[Check::Bound],
        noticed: Noticed::Everywhere,
    },
    Breakage {
        what: "the parts of a row beyond the first four are forgotten",
        subject: Single(Algorithm::CsrTiles, Variant::Full),
        from: "at += 4 * stride",
        to: "at = past",
        caught_by: &[Check::Bound],
        noticed: Noticed::Everywhere,
    },
    Breakage {
        what: "rows of the list are forgotten",
        subject: Single(Algorithm::CsrFlat, Variant::Full),
        from: "const uint listed = listed_count[0];",
        to: "const uint listed = 0;",
        caught_by: &[Check::Bound],
        noticed: Noticed::Everywhere,
    },
    Breakage {
        what: "x is taken from its buffer's beginning",
        subject: Single(Algorithm::CsrVector, Variant::Full),
        from: "OPEN_ARRAY(const real_t, x);",
        to: "global const real_t *restrict x = x_buffer;",
        caught_by: &[Check::Bound],
        noticed: Noticed::Everywhere,
    },
    Breakage {
        what: "padding is multiplied by zero instead of masked",
        subject: Single(Algorithm::CsrVector, Variant::Full),
        from: "sum = acc_mad(sum, load_value(values, at), load_x(x, columns, at));",
        to: "sum = acc_mad(sum, load_value(values, at), load_x(x, columns, at));\n        sum = acc_mad(sum, (real_t)0, x[0]);",
        caught_by: &[Check::Bound],
        noticed: Noticed::Everywhere,
    },
    Breakage {
        what: "rows that were left over are taken for as wide as their strip",
        subject: Single(Algorithm::EvcHyb, Variant::Hybrid),
        from: "row < task.carried ? row_lengths[task.first + row] : task.width",
        to: "task.stride == 0 ? row_lengths[task.first + row] : task.width",
        caught_by: &[Check::Bound],
        noticed: Noticed::Everywhere,
    },
    Breakage {
        what: "y stays in order of length",
        subject: Single(Algorithm::EvcHyb, Variant::Hybrid),
        from: "#define Y_INDEX(index) row_order[index]",
        to: "#define Y_INDEX(index) (index)",
        caught_by: &[Check::Bound],
        noticed: Noticed::Everywhere,
    },
    Breakage {
        what: "what is loaded in place of missing elements is added",
        subject: Single(Algorithm::EvcHyb, Variant::SortedCsr),
        from: "            if (k < left)\n",
        to: "            if (1)\n",
        caught_by: &[Check::Bound],
        noticed: Noticed::Everywhere,
    },
    Breakage {
        what: "items of long rows add up as those of short ones",
        subject: Single(Algorithm::EvcHyb, Variant::Hybrid),
        from: "task.stride != 0 ? at_once : 1)",
        to: "at_once)",
        caught_by: &[Check::Bound],
        noticed: Noticed::Everywhere,
    },
    Breakage {
        what: "HYB: padding is multiplied by zero instead of masked",
        subject: Single(Algorithm::Hyb, Variant::Full),
        from: "        if (column != PADDING)\n",
        to: "        if (column == PADDING)\n            sum = acc_mad(sum, (real_t)0, x[0]);\n        else\n",
        caught_by: &[Check::Bound],
        noticed: Noticed::Everywhere,
    },
    Breakage {
        what: "HYB: what the items after have of a row is dropped",
        subject: Single(Algorithm::Hyb, Variant::Full),
        from: "sum = acc_add(sum, heads[next / NNZ_PER_ITEM]);",
        to: "sum = acc_add(sum, acc_zero());",
        caught_by: &[Check::Bound],
        noticed: Noticed::Everywhere,
    },
    Breakage {
        what: "HYB: what groups have of a row is not added up",
        subject: Single(Algorithm::Hyb, Variant::Full),
        from: "sum = acc_add(sum, rest.heads[group]);",
        to: "sum = acc_add(sum, acc_zero());",
        caught_by: &[Check::Bound],
        noticed: Noticed::Everywhere,
    },
    Breakage {
        what: "HYB: a row that begins with a group counts as the group's before",
        subject: Single(Algorithm::Hyb, Variant::Full),
        from: "if (start > 0 || row != row_before)",
        to: "if (start > 0)",
        caught_by: &[Check::Bound, Check::Repeat],
        noticed: Noticed::Everywhere,
    },
    Breakage {
        what: "the error term of compensated sums is dropped where sums are added",
        subject: Single(Algorithm::CsrAdaptive, Variant::Full),
        from: "error + (a.y + b.y)",
        to: "error",
        caught_by: &[Check::Bound],
        noticed: Noticed::Everywhere,
    },
    Breakage {
        what: "a dirty tile's sum is not carried to the next tile",
        subject: Single(Algorithm::SegmentedSum, Variant::Device),
        from: "carried = item == 0 && whole < total ?",
        to: "carried = item == 0 && whole < total && !rows_of_tile.is_dirty ?",
        caught_by: &[Check::Bound],
        noticed: Noticed::Everywhere,
    },
    Breakage {
        what: "rows before the first nonzero have no owner",
        subject: Single(Algorithm::SegmentedSum, Variant::Device),
        from: "first_tile == 0 ? at_boundary[0] : 0",
        to: "0",
        caught_by: &[Check::Bound],
        noticed: Noticed::Everywhere,
    },
    Breakage {
        what: "a tile of very many rows is not recognised as dirty",
        subject: Single(Algorithm::SegmentedSum, Variant::Device),
        from: "if (item == 0 && !is_looped) {\n            found.dirty[tile] = 1;",
        to: "if (item == 0 && !is_looped) {",
        caught_by: &[Check::Bound],
        noticed: Noticed::Everywhere,
    },
    Breakage {
        what: "the barrier between a tile's sums and the next tile's products is missing",
        subject: Single(Algorithm::SegmentedSum, Variant::Device),
        from: "        SUB_GROUP_BARRIER();\n    }\n\n    const uint last_boundary",
        to: "    }\n\n    const uint last_boundary",
        caught_by: &[Check::Bound],
        noticed: Noticed::OnInterpreters,
    },
    Breakage {
        what: "an empty row at the end of a group's part has no owner",
        subject: Single(Algorithm::SegmentedSum, Variant::Fused),
        from: "row + at < last)\n                store_result",
        to: "row + at + 1 < last)\n                store_result",
        caught_by: &[Check::Bound],
        noticed: Noticed::Everywhere,
    },
    Breakage {
        what: "the rest of a row after its group is added to nothing",
        subject: Single(Algorithm::SegmentedSum, Variant::Fused),
        from: "rest <= SHORT_REST ? rest : 0;",
        to: "0;",
        caught_by: &[Check::Bound],
        noticed: Noticed::Everywhere,
    },
    Breakage {
        what: "of a tile of very many rows only the ends are marked",
        subject: Single(Algorithm::SegmentedSum, Variant::Fused),
        from: "index < group->count && offsets[row] == nonzero",
        to: "0",
        caught_by: &[Check::Bound],
        noticed: Noticed::Everywhere,
    },
    Breakage {
        what: "a carry of the one launch is another group's",
        subject: Single(Algorithm::SegmentedSum, Variant::Fused),
        from: "carry_read(mine.carries, other)",
        to: "carry_read(mine.carries, other - 1)",
        caught_by: &[Check::Bound],
        noticed: Noticed::Everywhere,
    },
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
        from: "if (mine.count == 0 || other >= rows)",
        to: "if (mine.count == 0)",
        caught_by: &[Check::Bound, Check::Canary, Check::Repeat],
        noticed: Noticed::Everywhere,
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
        from: "sum = is_of_row[k] ? sum + sums_of[k] : sum;",
        to: "sum = is_of_row[k] ? sum : sum;",
        caught_by: &[Check::Bound],
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

fn check_of(error: &CaseError) -> Option<Check> {
    match error {
        CaseError::Wrong { .. } => Some(Check::Bound),
        CaseError::Overwritten { .. } => Some(Check::Canary),
        CaseError::Unrepeated { .. } => Some(Check::Repeat),
        _ => None,
    }
}

/// The text of the kernels that are broken, with what they include.
fn source_of(subject: Subject) -> String {
    let text = |path: &str| cl_kernels::kernel_source(path).unwrap();
    match subject {
        Single(Algorithm::Sell, _) => text("spmv/sell.cl") + &text("spmv/sell_values.cl"),
        Single(Algorithm::SellSigma, _) => {
            text("spmv/sell_sigma.cl") + &text("spmv/sell_sigma_plan.cl")
        }
        Single(Algorithm::CsrTiles, _) => {
            text("spmv/csr_tiles.cl") + &text("spmv/csr_tiles_plan.cl")
        }
        Single(algorithm, _) => text(&format!("spmv/{}.cl", algorithm.name())),
        Batched(algorithm) => {
            let [either, in_step] = [false, true].map(|in_step| algorithm.kernel(in_step).source());
            text(either) + &text(in_step)
        }
        Spmm(algorithm) => text(&format!("spmm/{}.cl", algorithm.name())),
    }
}

/// On every implementation, also where breaking them all is left to `--full`.
#[test]
fn every_change_fits_its_kernels_source() {
    for breakage in BREAKAGES {
        let source = source_of(breakage.subject);
        assert!(source.contains(breakage.from), "{}: {:?}", breakage.what, breakage.from);
    }
}

#[test]
fn every_broken_kernel_is_caught() {
    if runs_unchecked("broken_kernels::every_broken_kernel_is_caught") {
        return;
    }
    let device = device();
    let on_interpreter = is_interpreter(&device);
    // Where compiling takes seconds, or running minutes, the plain test has what only an interpreter notices.
    let only_interpreters = !is_full() && (on_interpreter || compiles_slowly(&device));
    if only_interpreters {
        say("broken: those that are noticed everywhere: here under --full");
    }
    for breakage in BREAKAGES {
        if only_interpreters && breakage.noticed != Noticed::OnInterpreters {
            continue;
        }
        if breakage.noticed == Noticed::OnInterpreters && !on_interpreter {
            say(&format!("broken: {}: not applicable, items may run in step here", breakage.what));
            continue;
        }
        // A context of its own: programs are kept.
        // A CPU device as if it were a GPU, whose forms it runs then, or as if its memory were its own, where kernels do
        // what else the host does.
        let device = match breakage.noticed {
            Noticed::OnGpus => device.masked(|traits| traits.device_type = DeviceType::Gpu),
            Noticed::OnOwnMemory => device.masked(|traits| traits.has_host_memory = false),
            _ => device.clone(),
        };
        let context = Context::new(&device).unwrap();
        let queue = Queue::new(&context).unwrap();
        let broken = break_kernels(breakage.from, breakage.to);
        let observe = &mut |progress: Progress<'_>| match progress.count.failed {
            0 => ControlFlow::Continue(()),
            _ => ControlFlow::Break(()),
        };
        let report = match breakage.subject {
            Single(algorithm, variant) => {
                let configuration = Configuration::small(algorithm, variant);
                run_suite(&queue, &[configuration], Extent::Brief, observe)
            }
            Batched(algorithm) => {
                let (algorithm, variant) = (Some(algorithm), BatchedVariant::Ordered);
                let configuration = BatchConfiguration { algorithm, variant };
                run_batches(&queue, &[configuration], &[ValueType::F32], Extent::Full, observe)
            }
            Spmm(algorithm) => {
                let mut all = SpmmConfiguration::all(context.device().traits());
                all.retain(|one| one.algorithm == Some(algorithm) && !one.parameters.is_empty());
                run_spmms(&queue, &all[..1], Extent::Brief, observe)
            }
        };
        assert!(broken.programs() > 0, "{}: no source has {:?}", breakage.what, breakage.from);
        let report = report.unwrap();
        let Some(failure) = report.failures().next() else {
            panic!("{}: not caught by {} cases", breakage.what, report.passed());
        };
        let check = check_of(&failure.error);
        assert!(
            check.is_some_and(|check| breakage.caught_by.contains(&check)),
            "{}: {failure}",
            breakage.what
        );
        say(&format!(
            "broken: {}: caught after {} cases by {check:?}",
            breakage.what,
            report.passed()
        ));
    }
}
