// batched_coo: each sub-group of a group takes as many entries as the others, and adds up runs of entries of one row
// (Anzt et al. 2017, section 3.3). Entries come in the order of their rows.
//
// In each step of its chunk (steps.h) the items of a sub-group put products, which they loaded side by side, and rows
// into local memory; then each takes NNZ_PER_ITEM consecutive entries. A run that begins and ends there is done. One
// that begins there and goes on is finished by its item with what the items after it have before the first run that
// begins in them (`run_leads`). The run at the end of a step is carried to the next; runs that are cut between
// sub-groups are added up in their order when all chunks are done.
//
// No entry names an empty row, so the items of the group first make y beta y, and runs are added to that.
//
// ATOMIC: as published. Runs that are cut between sub-groups are added to y by float atomics, as they come.
//
// Local memory: X_LOCAL elements of x; products and rows of a step for each sub-group; a sum and a word an item; two
// sums and four words a sub-group.
#include "batched/steps.h"
#ifdef ATOMIC
#include "item/atomic.h"
#endif

#define NO_ROW 0xffffffffu

// What is known of the sub-groups' chunks, in local memory: an element a sub-group.
typedef struct {
    local uint *first_rows; // the row of the first entry; NO_ROW in a chunk without
    local uint *are_cut; // whether that row has entries in a chunk before
    local uint *ends_first; // whether it ends in this chunk
    local real_t *leads; // if so, its sum here
    local uint *rows; // the row of the run that is open; NO_ROW before the first
    local real_t *sums; // its sum so far
} chunks_t;

// A run that an item has begun.
typedef struct {
    uint row;
    real_t sum;
    int has_begun;
} run_t;

// A run has ended: it is added to y, but the end of one that began in a chunk before waits for it.
void end_run(const chunks_t *chunks, const uint sub_group, const uint row, const real_t sum,
             global real_t *restrict y, const real_t alpha)
{
    if (chunks->are_cut[sub_group] && row == chunks->first_rows[sub_group]) {
        chunks->leads[sub_group] = sum;
        chunks->ends_first[sub_group] = 1;
    } else {
        y[row] = fma(alpha, sum, y[row]);
    }
}

// Ends the runs that end among an item's entries of a step of `count`. Leaves in `run` the last that begins there;
// returns the sum of what comes before the first that does.
real_t add_runs(const chunks_t *chunks, const uint sub_group, const uint lane, local const real_t *products,
                local const uint *rows, const uint count, global real_t *restrict y, const real_t alpha, run_t *run)
{
    run->row = NO_ROW;
    run->sum = 0;
    run->has_begun = 0;
    if (lane == 0 && count > 0) {
        // The run of the step before goes on, or has ended.
        const uint carried = chunks->rows[sub_group];
        run->row = rows[0];
        run->has_begun = 1;
        if (carried == run->row)
            run->sum = chunks->sums[sub_group];
        else if (carried != NO_ROW)
            end_run(chunks, sub_group, carried, chunks->sums[sub_group], y, alpha);
    }
    real_t lead = 0;
    const uint beyond = min((lane + 1) * NNZ_PER_ITEM, count);
    for (uint at = lane * NNZ_PER_ITEM; at < beyond; ++at) {
        if (at > 0 && rows[at] != rows[at - 1]) {
            if (run->has_begun)
                end_run(chunks, sub_group, run->row, run->sum, y, alpha);
            else
                lead = run->sum;
            run->row = rows[at];
            run->sum = 0;
            run->has_begun = 1;
        }
        run->sum += products[PADDED(at)];
    }
    return run->has_begun ? lead : run->sum;
}

// Ends the last run that begins in an item, with the leads of the items after it, or carries it on.
void join_run(const chunks_t *chunks, const uint sub_group, const uint lane, local const real_t *leads,
              local const uint *begun, const run_t *run, global real_t *restrict y, const real_t alpha)
{
    if (!run->has_begun)
        return;
    real_t sum = run->sum;
    int has_ended = 0;
    for (uint other = lane + 1; other < SUB_GROUP_SIZE && !has_ended; ++other) {
        sum += leads[other];
        has_ended = begun[other];
    }
    if (has_ended) {
        end_run(chunks, sub_group, run->row, sum, y, alpha);
    } else {
        chunks->rows[sub_group] = run->row;
        chunks->sums[sub_group] = sum;
    }
}

#ifndef ATOMIC
// Adds the run that is open at the end of a chunk to y, if it began there, with what the chunks after it have of it.
void end_chunk(const chunks_t *chunks, const uint sub_group, global real_t *restrict y, const real_t alpha)
{
    const uint row = chunks->rows[sub_group];
    if (row == NO_ROW || (chunks->are_cut[sub_group] && row == chunks->first_rows[sub_group]))
        return;
    real_t sum = chunks->sums[sub_group];
    int has_ended = 0;
    for (uint other = sub_group + 1; other < SUB_GROUPS_PER_GROUP && !has_ended; ++other) {
        const int goes_on = chunks->first_rows[other] == row;
        const int ends = chunks->ends_first[other];
        if (goes_on)
            sum += ends ? chunks->leads[other] : chunks->sums[other];
        // A chunk without entries comes only where there are fewer entries than sub-groups.
        has_ended = chunks->first_rows[other] != NO_ROW && (!goes_on || ends);
    }
    y[row] = fma(alpha, sum, y[row]);
}
#endif

__attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
kernel void batched(const uint task_count,
                    const uint whole,
                    const ulong16 range,
                    ARRAY_PARAMETER(const ulong, tasks),
                    ARRAY_PARAMETER(const uint, index),
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
    OPEN_ARRAY(const uint, index);
    OPEN_ARRAY(const column_t, columns);
    OPEN_ARRAY(const value_t, values);
    OPEN_ARRAY(const real_t, x);
    OPEN_ARRAY(real_t, y);
    local real_t staged_x[X_LOCAL];
    local real_t products[SUB_GROUPS_PER_GROUP][PADDED_STEP];
    local uint run_rows[SUB_GROUPS_PER_GROUP][STEP];
    local real_t run_leads[SUB_GROUPS_PER_GROUP][SUB_GROUP_SIZE];
    local uint begun[SUB_GROUPS_PER_GROUP][SUB_GROUP_SIZE];
    local uint first_rows[SUB_GROUPS_PER_GROUP], are_cut[SUB_GROUPS_PER_GROUP];
    local uint ends_first[SUB_GROUPS_PER_GROUP], open_rows[SUB_GROUPS_PER_GROUP];
    local real_t leads[SUB_GROUPS_PER_GROUP], open_sums[SUB_GROUPS_PER_GROUP];

    (void)whole; // every task has a group
    const uint item = (uint)get_local_id(0);
    const uint sub_group = item / SUB_GROUP_SIZE;
    const uint lane = item % SUB_GROUP_SIZE;
    task_t task;
    find_task(tasks, range, task_count, (uint)get_group_id(0), &task);
    const real_t its_alpha = SCALAR_OF(alpha, task.problem);
    const real_t its_beta = SCALAR_OF(beta, task.problem);
    global const uint *restrict entry_rows = index + task.index;
    global real_t *restrict its_y = y + task.y;
    const uint first_row = task.extra;
    operands_t from;
    from.columns = columns + task.columns;
    from.values = values + task.values;
    from.x = x + task.x;
    from.staged_x = staged_x;
    from.is_staged = task.cols <= X_LOCAL;
    chunks_t chunks;
    chunks.first_rows = first_rows;
    chunks.are_cut = are_cut;
    chunks.ends_first = ends_first;
    chunks.leads = leads;
    chunks.rows = open_rows;
    chunks.sums = open_sums;
    run_t run;

    const uint begin = chunk_begin(task.nnz, sub_group);
    const uint end = chunk_begin(task.nnz, sub_group + 1);
    const uint steps = chunk_steps(task.nnz);
    loaded_t loaded;
    load_step(&from, begin, end, lane, &loaded);
    for (uint row = item; row < task.rows; row += GROUP_SIZE)
        its_y[row] = its_beta != 0 ? its_beta * its_y[row] : 0;
    if (lane == 0) {
        const int has_entries = begin < end;
        first_rows[sub_group] = has_entries ? entry_rows[begin] - first_row : NO_ROW;
        are_cut[sub_group] = has_entries && begin > 0 && entry_rows[begin] == entry_rows[begin - 1];
        ends_first[sub_group] = 0;
        open_rows[sub_group] = NO_ROW;
        open_sums[sub_group] = 0;
    }
    if (from.is_staged)
        stage_x(from.x, task.cols, staged_x);
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);

    for (uint step = 0; step < steps; ++step) {
        const uint first = min(begin + step * STEP, end);
        const uint stop = min(first + STEP, end);
        multiply_step(&from, &loaded, stop - first, lane, products[sub_group]);
        load_step(&from, stop, end, lane, &loaded);
        for (uint at = lane; first + at < stop; at += SUB_GROUP_SIZE)
            run_rows[sub_group][at] = entry_rows[first + at] - first_row;
        SUB_GROUP_BARRIER();
        run_leads[sub_group][lane] = add_runs(&chunks, sub_group, lane, products[sub_group], run_rows[sub_group],
                                              stop - first, its_y, its_alpha, &run);
        begun[sub_group][lane] = run.has_begun;
        SUB_GROUP_BARRIER();
        join_run(&chunks, sub_group, lane, run_leads[sub_group], begun[sub_group], &run, its_y, its_alpha);
    }

    // Runs that are cut between sub-groups.
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
#ifndef ATOMIC
    if (lane == 0)
        end_chunk(&chunks, sub_group, its_y, its_alpha);
#else
    if (lane == 0) {
        if (ends_first[sub_group])
            atomic_add_real(y, task.y + first_rows[sub_group], its_alpha * leads[sub_group]);
        if (open_rows[sub_group] != NO_ROW)
            atomic_add_real(y, task.y + open_rows[sub_group], its_alpha * open_sums[sub_group]);
    }
#endif
}
