// Batched products: y_p = alpha_p A_p x_p + beta_p y_p for thousands of small matrices in one launch, each of its own
// size, pattern and values (Anzt, Collins, Dongarra, Flegar, Quintana-Orti, "Flexible batched sparse matrix-vector
// product on GPUs", ScalA 2017), with six ways of summing, of which each problem has one.
//
// The plan makes tasks of the problems, those with most work first. A group takes one of the first `whole` tasks;
// behind them a group takes as many as it has sub-groups, each by one sub-group. A problem with much work is several
// tasks, each some of its rows (batched_plan.cl), so that one large problem does not hold up the launch. Tasks are
// listed in memory, many small ones packed; or the parts of what is cut are listed, and behind these `listed` come a
// few strided ranges of problems alike and equally far apart, whose tasks follow from their numbers. Of the last two of
// these (`last`, `before_last`) nothing lies in memory: the launch says what their first tasks are (find_task.h).
//
// x of a task lies in local memory, if it has no more than X_LOCAL elements and a group of its own; else x is read
// where it is.
//
// A task goes through steps of three stages, with barriers between them that the items of a group meet whatever
// kind of task they have; PoCL 3.1 miscompiles barriers inside branches. Where the items of a sub-group run in step,
// the kinds that cut no rows (csr_scalar, _vector, _smart, ell) have a way of their own without them: fewer registers
// for a program that has both, and several rows of an item at once.
//
//                      1                      2                     3
//   csr_scalar, ell    whole rows
//   csr_vector, _smart parts of rows          parts together
//   csr_i              products               parts of rows         parts together
//   coo                products, rows         runs of an item       runs of several
//
// WITH_CSR_ROWS (the first three), WITH_CSR_I, WITH_COO, WITH_ELL: kinds that the program knows.
//
// What a program does not know of its tasks costs registers and time, so some forms of a batch have programs of their
// own.
// ONE_RANGE: it is one strided range. FEW_RANGES: it is a list, or one or two strided ranges, or these behind a list.
// ALIKE: one strided range, all by csr_i, each a group's, as most are; what there is to know of a task is then the same
// for all items of its group, which takes an H200 56 registers an item instead of 80.
// FORWARD, BACKWARD: all by csr_i, each a group's, in any form that is not packed, and sub-groups walk their chunks by
// themselves (walk.h).
//
// LONG_ROWS: a problem is long compared with the others. Its long rows are added up by all items of a sub-group
// (batched_csr_i.h), which takes more registers than it gains where none is.
//
// PAIRS: of such a batch whose problems have one pattern, a group takes two at once. Their x, products and sums lie
// side by side, so that what does not depend on values is done once for both: columns, row offsets, gathers, and
// finding the rows of a step. A gather of sixteen bytes takes local memory less than two of eight.
//
// Local memory: X_LOCAL elements of x; CSR-I: ROWS_PER_TASK + 1 words; CSR-I and COO: NNZ_PER_ITEM products an item
// and a sixteenth (f32: a thirty-second) more; COO: as many words; one sum an item, and some for each sub-group. PAIRS:
// two of each but the words, and twice the part of products that is more. FORWARD and BACKWARD: half of the words, a
// sum for each step of every chunk, one for each sub-group, and none for each item.

#ifndef SUB_GROUP_SIZE
#define SUB_GROUP_SIZE 32 // items that share a chunk: as many as the device runs in step
#endif
#ifndef SUB_GROUPS_PER_GROUP
#define SUB_GROUPS_PER_GROUP 4 // sub-groups of a work-group
#endif
#ifndef NNZ_PER_ITEM
#define NNZ_PER_ITEM 8 // entries an item takes in a step: a power of two
#endif
#ifndef X_LOCAL
#define X_LOCAL 1024 // the most elements of x that lie in local memory
#endif
#ifndef ROWS_PER_TASK
#define ROWS_PER_TASK 1024 // the most rows of a task
#endif

#ifndef PAIRS
#define PAIRS 0 // 1: tasks are two problems of one pattern, ALIKE, with x in local memory
#endif

#ifdef ALIKE
#define ONE_RANGE
#endif
#if defined(ALIKE) || defined(FORWARD) || defined(BACKWARD)
#define ALL_CSR_I // every task is by csr_i and a group's
#endif

#define GROUP_SIZE (SUB_GROUP_SIZE * SUB_GROUPS_PER_GROUP)

#include "item/accumulate.h"
#include "batched/walk.h"
#include "batched/batched_csr_i.h"
#include "batched/find_step_columns.h"
#include "batched/find_step_rows.h"
#include "batched/find_task.h"
#if !PAIRS
#include "batched/batched_csr_rows.h"
#include "batched/batched_coo.h"
#include "batched/batched_ell.h"
#endif
#ifdef ATOMIC
#include "item/atomic.h"
#endif

__attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
kernel void batched(const uint task_count,
                    const uint whole,
                    const uint listed,
                    const uint range_count,
                    const uint packed_words,
                    const ulong widths,
                    const uint follows,
                    const ulong16 last,
                    const ulong16 before_last,
                    ARRAY_PARAMETER(const ulong, tasks),
                    ARRAY_PARAMETER(const ulong, ranges),
                    ARRAY_PARAMETER(const uint, step_notes),
                    ARRAY_PARAMETER(const offset_t, offsets),
                    ARRAY_PARAMETER(const uint, indices),
                    ARRAY_PARAMETER(const column_t, columns),
                    ARRAY_PARAMETER(const value_t, values),
                    ARRAY_PARAMETER(const real_t, x),
                    ARRAY_PARAMETER(real_t, y),
                    SCALAR_PARAMETER(alpha),
                    SCALAR_PARAMETER(beta),
                    const uint alpha_stride,
                    const uint beta_stride)
{
    OPEN_ARRAY(const ulong, tasks);
    OPEN_ARRAY(const ulong, ranges);
    OPEN_ARRAY(const uint, step_notes);
    OPEN_ARRAY(const offset_t, offsets);
    OPEN_ARRAY(const uint, indices);
    OPEN_ARRAY(const column_t, columns);
    OPEN_ARRAY(const value_t, values);
    OPEN_ARRAY(const real_t, x);
    OPEN_ARRAY(real_t, y);
    local sums_t staged_x[X_PLACES];
    local sums_t parts[GROUP_SIZE];

    const uint item = (uint)get_local_id(0);
    const uint sub_group = item / SUB_GROUP_SIZE;
    const uint lane = item % SUB_GROUP_SIZE;
    const uint group = (uint)get_group_id(0);
    const int is_whole = group < whole;
#if PAIRS
    const uint to_other = 1 + (uint)(last.s8 & 1);
    const uint index = to_other == 1 ? 2 * group : 2 * (group & ~1u) + (group & 1);
#else
    const uint index = is_whole ? group : whole + (group - whole) * SUB_GROUPS_PER_GROUP + sub_group;
#endif
    // Items that work on the task, and this one's number among them.
    const uint members = is_whole ? GROUP_SIZE : SUB_GROUP_SIZE;
    const uint member = is_whole ? item : lane;
    // Each kind of task leaves out some of these.
    (void)members;
    (void)member;
    (void)parts;
    (void)step_notes;
    (void)offsets;
    (void)indices;

    task_t task;
    const uint known = min(index, task_count - 1);
#ifdef ONE_RANGE
    set_task_of_range(last, known, &task);
#else
    find_task(known, listed, tasks, packed_words, widths, follows, ranges, range_count, last, before_last, &task);
#endif
#ifdef ALL_CSR_I
    task.kind = KIND_CSR_I;
#if PAIRS
    task.to_other = known + to_other < task_count ? to_other : 0;
    task.other_values = task.to_other * last.s8;
    task.other_x = task.to_other * last.sb;
    task.other_y = to_other * last.sc;
#endif
#else
    if (index >= task_count)
        task.rows = 0; // a sub-group without a task
#endif
    OPEN_SCALAR_OF(alpha, task);
    OPEN_SCALAR_OF(beta, task);
    (void)alpha_stride;
    (void)beta_stride;
    matrices_t from;
    from.columns = columns;
    from.values = values;
    from.x = x;
    from.staged_x = staged_x;
#ifdef WALKS
    task.is_staged = 1; // the host chooses this program for no others
    local sums_t products[SUB_GROUPS_PER_GROUP][SUB_GROUP_SUMS];
    local start_t starts[ROWS_PER_TASK + 1];
    loaded_t loaded;
    count_places(values, &task);
    walk_t walk = walk_of(&task, sub_group);
    walk.starts = starts;
    walk.products = products[sub_group];
    begin_walk(&task, &from, step_notes, lane, &walk, &loaded);
#if PAIRS
    begin_stage_x(&task, x, staged_x);
    stage_starts(offsets + task.index, task.rows, task.gap, starts);
    end_copies();
#else
    stage_starts(offsets + task.index, task.rows, task.gap, starts);
    stage_x(&task, x, staged_x);
#endif
    barrier(CLK_LOCAL_MEM_FENCE);
    walk_chunks(&task, &from, &walk, sub_group, lane, &loaded, y, alpha, beta);
#else
    task.is_staged = is_whole && task.cols <= X_LOCAL;
    uint steps = 1;

#ifdef SUB_GROUP_BALLOT
    // Items of a sub-group run in step, so kinds that cut no rows need no barrier but x's.
    if (!is_cut(&task)) {
        if (task.is_staged) {
            stage_x(&task, x, staged_x);
            barrier(CLK_LOCAL_MEM_FENCE);
        }
#ifdef WITH_CSR_ROWS
        if (task.kind <= KIND_CSR_SMART && task.rows > 0)
            walk_csr_rows(&task, &from, offsets + task.index, member, members, y, alpha, beta);
#endif
#ifdef WITH_ELL
        if (task.kind == KIND_ELL || task.kind == KIND_SLICED_ELL)
            walk_ell_rows(&task, &from, indices, member, members, y, alpha, beta);
#endif
        return;
    }
#elif defined(WITH_CSR_ROWS)
    uint width = 0; // items a row; none for other kinds
    ulong first_offset = 0;
    if (task.kind <= KIND_CSR_SMART && task.rows > 0) {
        // Sub-groups whose steps differ in number cannot meet at barriers of the group.
        width = is_whole ? csr_rows_width(&task) : 1;
        first_offset = offsets[task.index];
        if (width > 1)
            steps = ((task.rows - 1) >> (LOG2(members) - LOG2(width))) + 1;
    }
#endif
#if defined(WITH_CSR_I) || defined(WITH_COO)
    local sums_t products[SUB_GROUPS_PER_GROUP][PADDED_STEP];
    local sums_t leads[SUB_GROUPS_PER_GROUP];
    loaded_t loaded;
    uint begin = 0;
    uint end = 0;
    if (is_cut(&task)) {
        count_places(values, &task);
        begin = chunk_begin(&task, sub_group);
        end = chunk_begin(&task, sub_group + 1);
        steps = chunk_steps(task.nnz);
        load_step(&task, &from, chunk_start(begin), end, lane, &loaded);
    }
#endif
#ifdef WITH_CSR_I
    local start_t starts[ROWS_PER_TASK + 1];
    local sums_t carries[2 * SUB_GROUPS_PER_GROUP];
    csr_shared_t csr;
    csr.starts = starts;
    csr.leads = leads;
    csr.carries = carries;
    csr_chunk_t chunk;
    if (task.kind == KIND_CSR_I) {
        stage_starts(offsets + task.index, task.rows, task.gap, starts);
        if (lane == 0)
            *carry_of(&csr, 1, sub_group) = (sums_t)(0);
    }
#endif
#ifdef WITH_COO
    local uint run_rows[SUB_GROUPS_PER_GROUP][STEP];
    local real_t run_leads[GROUP_SIZE];
    local uint begun[GROUP_SIZE];
    local uint first_rows[SUB_GROUPS_PER_GROUP], are_cut[SUB_GROUPS_PER_GROUP];
    local uint ends_first[SUB_GROUPS_PER_GROUP], open_rows[SUB_GROUPS_PER_GROUP];
    local real_t open_sums[SUB_GROUPS_PER_GROUP];
    coo_chunks_t chunks;
    chunks.first_rows = first_rows;
    chunks.are_cut = are_cut;
    chunks.ends_first = ends_first;
    chunks.leads = leads;
    chunks.rows = open_rows;
    chunks.sums = open_sums;
    coo_run_t run;
    global const uint *restrict entry_rows = indices + task.index;
    const uint first_row = task.extra;
    if (task.kind == KIND_COO) {
        for (uint row = item; row < task.rows; row += GROUP_SIZE)
            y[task.y + row] = beta != 0 ? beta * y[task.y + row] : 0;
        if (lane == 0) {
            const int has_entries = begin < end;
            first_rows[sub_group] = has_entries ? entry_rows[begin] - first_row : NO_ROW;
            are_cut[sub_group] =
                has_entries && begin > 0 && entry_rows[begin] == entry_rows[begin - 1];
            ends_first[sub_group] = 0;
            open_rows[sub_group] = NO_ROW;
            open_sums[sub_group] = 0;
        }
    }
#endif
    if (task.is_staged)
        stage_x(&task, x, staged_x);
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
#ifdef WITH_CSR_I
    if (task.kind == KIND_CSR_I)
        open_csr_chunk(&task, starts, sub_group, &chunk);
#endif

    for (uint step = 0; step < steps; ++step) {
        // Stage 1.
#if defined(WITH_CSR_ROWS) && !defined(SUB_GROUP_BALLOT)
        const uint row_of_step = width > 0 ? step * (members >> LOG2(width)) + (member >> LOG2(width)) : 0;
        if (width == 1) {
            walk_whole_rows(&task, &from, offsets + task.index, member, members, y, alpha, beta);
        } else if (width > 1) {
            real_t sum = 0;
            if (row_of_step < task.rows)
                sum = csr_row_part(&task, &from, offsets + task.index, first_offset, row_of_step,
                                   member & (width - 1), width);
            parts[item] = sum;
        }
#endif
#if defined(WITH_ELL) && !defined(SUB_GROUP_BALLOT)
        if (task.kind == KIND_ELL || task.kind == KIND_SLICED_ELL)
            walk_ell_rows(&task, &from, indices, member, members, y, alpha, beta);
#endif
#if defined(WITH_CSR_I) || defined(WITH_COO)
        const uint first = min(chunk_start(begin) + step * STEP, end);
        const uint stop = min(first + STEP, end);
        if (is_cut(&task)) {
            multiply_step(&task, &from, &loaded, stop - first, lane, products[sub_group]);
            load_step(&task, &from, first + STEP, end, lane, &loaded);
        }
#endif
#ifdef WITH_COO
        if (task.kind == KIND_COO) {
            for (uint at = lane; first + at < stop; at += SUB_GROUP_SIZE)
                run_rows[sub_group][at] = entry_rows[first + at] - first_row;
        }
#endif
        SUB_GROUP_BARRIER();

        // Stage 2.
#if defined(WITH_CSR_ROWS) && !defined(SUB_GROUP_BALLOT)
        if (width > 1 && (member & (width - 1)) == 0 && row_of_step < task.rows) {
            real_t sum = parts[item];
            for (uint part = 1; part < width; ++part)
                sum += parts[item + part];
            store_result(y, task.y + row_of_step, alpha, sum, beta);
        }
#endif
#ifdef WITH_CSR_I
        uint open = 0;
        uint items_per_row = 0;
        if (task.kind == KIND_CSR_I) {
            open = step + 1 < steps ? open_row(starts, chunk.row, chunk.last_row, stop) : chunk.last_row;
            items_per_row = step_width(open - chunk.row + 1);
            const uint beyond = min(open + 1, task.rows);
            const uint rows_at_once = SUB_GROUP_SIZE >> LOG2(items_per_row);
            sums_t sum = (sums_t)(0);
            // More than one turn only where an item adds up whole rows.
            for (uint turn = chunk.row; turn < beyond; turn += rows_at_once) {
                const uint row = turn + (lane >> LOG2(items_per_row));
                const uint row_begin = row < beyond ? max((uint)starts[row], first) - first : 0;
                const uint row_end = row < beyond ? min((uint)starts[row + 1], stop) - first : 0;
#ifdef SHARES_LONG_ROWS
                sum = share_products(products[sub_group], row_begin, row_end, items_per_row, lane);
#else
                sum = sum_products(products[sub_group], row_begin + (lane & (items_per_row - 1)), row_end,
                                   items_per_row);
#endif
                if (items_per_row == 1 && row < beyond)
                    end_row_of_step(&csr, &chunk, &task, sub_group, step, open, row, sum, y, alpha, beta);
            }
#ifdef SUB_GROUP_BALLOT
            sum = sum_runs(sum, items_per_row);
            const uint row = chunk.row + (lane >> LOG2(items_per_row));
            if (items_per_row > 1 && (lane & (items_per_row - 1)) == 0 && row < beyond)
                end_row_of_step(&csr, &chunk, &task, sub_group, step, open, row, sum, y, alpha, beta);
#else
            parts[item] = sum;
#endif
        }
#endif
#ifdef WITH_COO
        if (task.kind == KIND_COO) {
            run_leads[item] = walk_runs(&chunks, sub_group, lane, products[sub_group], run_rows[sub_group],
                                        stop - first,
                                        y + task.y, alpha, &run);
            begun[item] = run.has_begun;
        }
#endif
        SUB_GROUP_BARRIER();

        // Stage 3.
#ifdef WITH_CSR_I
        if (task.kind == KIND_CSR_I) {
#ifndef SUB_GROUP_BALLOT
            const uint row = chunk.row + (lane >> LOG2(items_per_row));
            if (items_per_row > 1 && (lane & (items_per_row - 1)) == 0 && row < min(open + 1, task.rows)) {
                sums_t sum = parts[item];
                for (uint part = 1; part < items_per_row; ++part)
                    sum += parts[item + part];
                end_row_of_step(&csr, &chunk, &task, sub_group, step, open, row, sum, y, alpha, beta);
            }
#endif
            chunk.row = open;
        }
#endif
#ifdef WITH_COO
        if (task.kind == KIND_COO)
            join_run(&chunks, sub_group, lane, run_leads + sub_group * SUB_GROUP_SIZE,
                     begun + sub_group * SUB_GROUP_SIZE, &run,
                     y + task.y, alpha);
#endif
    }

    // What is cut between sub-groups.
    barrier(CLK_LOCAL_MEM_FENCE);
#if defined(WITH_CSR_I) && !defined(ATOMIC)
    if (task.kind == KIND_CSR_I && lane == 0 && ends_cut_row(&csr, &chunk)) {
        const sums_t before = sum_before(&task, starts[chunk.first_row], carry_of(&csr, steps - 1, 0), 1, sub_group);
        store_sums(&task, y, chunk.first_row, alpha, before + leads[sub_group], beta);
    }
#endif
#if defined(WITH_COO) && !defined(ATOMIC)
    if (task.kind == KIND_COO && lane == 0)
        end_chunk(&chunks, sub_group, y + task.y, alpha);
#endif
#ifdef ATOMIC
    // y has to be there before anything is added to it.
#ifdef WITH_CSR_I
    if (task.kind == KIND_CSR_I && lane == 0 && ends_cut_row(&csr, &chunk)) {
        const ulong at = task.y + chunk.first_row;
        y[at] = beta != 0 ? beta * y[at] : 0;
    }
#endif
    barrier(CLK_GLOBAL_MEM_FENCE);
#ifdef WITH_CSR_I
    if (task.kind == KIND_CSR_I && lane == 0) {
        if (ends_cut_row(&csr, &chunk))
            atomic_add_real(y, task.y + chunk.first_row, alpha * leads[sub_group]);
        if (chunk.last_row < task.rows && starts[chunk.last_row] < chunk.end)
            atomic_add_real(y, task.y + chunk.last_row, alpha * *carry_of(&csr, steps - 1, sub_group));
    }
#endif
#ifdef WITH_COO
    if (task.kind == KIND_COO && lane == 0) {
        if (ends_first[sub_group])
            atomic_add_real(y, task.y + first_rows[sub_group], alpha * leads[sub_group]);
        if (open_rows[sub_group] != NO_ROW)
            atomic_add_real(y, task.y + open_rows[sub_group], alpha * open_sums[sub_group]);
    }
#endif
#endif
#endif
}
