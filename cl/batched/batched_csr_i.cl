// batched_csr_i: each sub-group of a group takes as many nonzeros as the others, wherever rows begin and end (Anzt et
// al. 2017, section 3.5; Flegar and Quintana-Orti 2017). Which row a sub-group's chunk begins in is found in local
// memory, where the row offsets lie anyway.
//
// In each step of its chunk (steps.h) the items of a sub-group put products, which they loaded side by side, into local
// memory; then they share out the rows of the step: where there are few, several items add up each; where there are
// many (items_per_row), each adds up whole rows. The row that is open at the end of a step is carried to the next, and
// the row that is open at the end of a chunk to the chunks after it: its parts are added up in their order when all
// chunks are done, by the sub-group in whose chunk the row ends. So each row is stored once, and the bits are the same
// every time.
//
// Sub-groups meet at barriers of the group between the stages of a step, on every device. Where the items of a
// sub-group run in step, batched_csr_i_in_step.cl does without; there this kernel has tasks of one very long row, and
// the variant ATOMIC.
//
// ATOMIC: as published. Rows that are cut between sub-groups are added to y by float atomics, as they come.
//
// Local memory: X_LOCAL elements of x; ROWS_PER_TASK + 1 words; products of a step for each sub-group, a sum an item and
// three sums a sub-group.
#include "batched/steps.h"
#ifdef ATOMIC
#include "item/atomic.h"
#endif

// A sub-group's chunk of the task's nonzeros, and how far it is.
typedef struct {
    uint begin; // its first nonzero
    uint end; // its last nonzero + 1
    uint first_row; // the row that nonzero `begin` belongs to
    uint last_row; // the row that the next chunk begins in; of the last chunk, the number of rows
    uint row; // the row that is open
} chunk_t;

// What sub-groups share in local memory.
typedef struct {
    local const uint *starts; // the first nonzero of each row, and the number of nonzeros
    local real_t *leads; // of a row that ends in a chunk and began in one before, what the chunk has: one a sub-group
    local real_t *carries; // the open row's sum so far: one a sub-group after even steps, then one each after odd ones
} shared_t;

// Copies the row offsets of a task into local memory, counted from its first nonzero. Needs a barrier after it.
void stage_starts(global const offset_t *restrict offsets, const uint rows, local uint *starts)
{
    for (uint row = (uint)get_local_id(0); row <= rows; row += GROUP_SIZE)
        starts[row] = (uint)(offsets[row] - offsets[0]);
}

// Returns the last row from `row` to `last` that begins at or before nonzero `stop`.
uint open_row(local const uint *starts, const uint row, const uint last, const uint stop)
{
    uint first = row;
    uint beyond = last + 1;
    while (beyond - first > 1) {
        const uint middle = first + (beyond - first) / 2;
        if (starts[middle] <= stop)
            first = middle;
        else
            beyond = middle;
    }
    return first;
}

// Returns the number of items that share each row of a step of `count` rows: fewer than eight products are added up by
// one item before several have exchanged theirs. A loop that doubles would be shorter, and PoCL 3.1 miscompiles it.
#define STEP_ITEMS (NNZ_PER_ITEM < 8 ? SUB_GROUP_SIZE * NNZ_PER_ITEM / 8 : SUB_GROUP_SIZE)
uint items_per_row(const uint count)
{
    return 2 * count > STEP_ITEMS ? 1 : STEP_ITEMS >> (32 - clz(count - 1));
}

// Returns the sum of every `stride`-th of the products [begin, end) of a step.
real_t sum_products(local const real_t *products, const uint begin, const uint end, const uint stride)
{
    real_t sum = 0;
    for (uint at = begin; at < end; at += stride)
        sum += products[PADDED(at)];
    return sum;
}

local real_t *carry_of(const shared_t *shared, const uint step, const uint sub_group)
{
    return shared->carries + (step & 1) * SUB_GROUPS_PER_GROUP + sub_group;
}

int is_first_row_cut(const shared_t *shared, const chunk_t *chunk)
{
    return chunk->begin < chunk->end && shared->starts[chunk->first_row] < chunk->begin;
}

// Whether this sub-group ends a row that began in a chunk before.
int ends_cut_row(const shared_t *shared, const chunk_t *chunk)
{
    return chunk->first_row < chunk->last_row && is_first_row_cut(shared, chunk);
}

// A row's sum in a step is known: it is stored, or carried on, or the end of a row that began in a chunk before. `y` is
// the task's.
void end_row_of_step(const shared_t *shared, const chunk_t *chunk, const uint sub_group, const uint step,
                     const uint open, const uint row, const real_t of_step, global real_t *restrict y,
                     const real_t alpha, const real_t beta)
{
    real_t sum = of_step;
    if (row == chunk->row)
        sum += *carry_of(shared, step + 1, sub_group);
    if (row == open)
        *carry_of(shared, step, sub_group) = sum;
    else if (row == chunk->first_row && is_first_row_cut(shared, chunk))
        shared->leads[sub_group] = sum;
    else
        store_result(y, row, alpha, sum, beta);
}

#ifndef ATOMIC
// Returns what the chunks before this sub-group's have of the row that begins at nonzero `start` and ends in this one.
real_t sum_before(const shared_t *shared, const uint nnz, const uint start, const uint last_step, const uint sub_group)
{
    uint other = sub_group - 1;
    while (start < chunk_begin(nnz, other))
        --other;
    real_t sum = 0;
    for (; other < sub_group; ++other)
        sum += *carry_of(shared, last_step, other);
    return sum;
}
#endif

__attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
kernel void batched(const uint task_count,
                    const uint whole,
                    const ulong16 range,
                    ARRAY_PARAMETER(const ulong, tasks),
                    ARRAY_PARAMETER(const offset_t, index),
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
    OPEN_ARRAY(const offset_t, index);
    OPEN_ARRAY(const column_t, columns);
    OPEN_ARRAY(const value_t, values);
    OPEN_ARRAY(const real_t, x);
    OPEN_ARRAY(real_t, y);
    local real_t staged_x[X_LOCAL];
    local uint starts[ROWS_PER_TASK + 1];
    local real_t products[SUB_GROUPS_PER_GROUP][PADDED_STEP];
    local real_t parts[GROUP_SIZE];
    local real_t leads[SUB_GROUPS_PER_GROUP];
    local real_t carries[2 * SUB_GROUPS_PER_GROUP];

    (void)whole; // every task has a group
    const uint item = (uint)get_local_id(0);
    const uint sub_group = item / SUB_GROUP_SIZE;
    const uint lane = item % SUB_GROUP_SIZE;
    task_t task;
    find_task(tasks, range, task_count, (uint)get_group_id(0), &task);
    const real_t its_alpha = SCALAR_OF(alpha, task.problem);
    const real_t its_beta = SCALAR_OF(beta, task.problem);
    global real_t *restrict its_y = y + task.y;
    operands_t from;
    from.columns = columns + task.columns;
    from.values = values + task.values;
    from.x = x + task.x;
    from.staged_x = staged_x;
    from.is_staged = task.cols <= X_LOCAL;
    shared_t shared;
    shared.starts = starts;
    shared.leads = leads;
    shared.carries = carries;

    chunk_t chunk;
    chunk.begin = chunk_begin(task.nnz, sub_group);
    chunk.end = chunk_begin(task.nnz, sub_group + 1);
    const uint steps = chunk_steps(task.nnz);
    loaded_t loaded;
    load_step(&from, chunk.begin, chunk.end, lane, &loaded);
    stage_starts(index + task.index, task.rows, starts);
    if (from.is_staged)
        stage_x(from.x, task.cols, staged_x);
    if (lane == 0)
        *carry_of(&shared, 1, sub_group) = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    chunk.first_row = sub_group == 0 ? 0 : open_row(starts, 0, task.rows, chunk.begin);
    chunk.last_row =
        sub_group + 1 == SUB_GROUPS_PER_GROUP ? task.rows : open_row(starts, 0, task.rows, chunk.end);
    chunk.row = chunk.first_row;

    for (uint step = 0; step < steps; ++step) {
        const uint first = min(chunk.begin + step * STEP, chunk.end);
        const uint stop = min(first + STEP, chunk.end);
        multiply_step(&from, &loaded, stop - first, lane, products[sub_group]);
        load_step(&from, stop, chunk.end, lane, &loaded);
        SUB_GROUP_BARRIER();

        const uint open = step + 1 < steps ? open_row(starts, chunk.row, chunk.last_row, stop) : chunk.last_row;
        const uint beyond = min(open + 1, task.rows);
        const uint width = items_per_row(open - chunk.row + 1);
        const uint part = lane & (width - 1);
        const uint rows_per_pass = SUB_GROUP_SIZE >> LOG2(width);
        real_t sum = 0;
        // There is more than one pass only where an item adds up whole rows.
        for (uint base = chunk.row; base < beyond; base += rows_per_pass) {
            const uint row = base + (lane >> LOG2(width));
            const uint begin = row < beyond ? max(starts[row], first) - first : 0;
            const uint end = row < beyond ? min(starts[row + 1], stop) - first : 0;
            sum = sum_products(products[sub_group], begin + part, end, width);
            if (width == 1 && row < beyond)
                end_row_of_step(&shared, &chunk, sub_group, step, open, row, sum, its_y, its_alpha, its_beta);
        }
        parts[item] = sum;
        SUB_GROUP_BARRIER();

        const uint row = chunk.row + (lane >> LOG2(width));
        if (width > 1 && part == 0 && row < beyond) {
            for (uint other = 1; other < width; ++other)
                sum += parts[item + other];
            end_row_of_step(&shared, &chunk, sub_group, step, open, row, sum, its_y, its_alpha, its_beta);
        }
        chunk.row = open;
    }

    // Rows that are cut between sub-groups.
    barrier(CLK_LOCAL_MEM_FENCE);
#ifndef ATOMIC
    if (lane == 0 && ends_cut_row(&shared, &chunk)) {
        const real_t before = sum_before(&shared, task.nnz, starts[chunk.first_row], steps - 1, sub_group);
        store_result(its_y, chunk.first_row, its_alpha, before + leads[sub_group], its_beta);
    }
#else
    // y has to be there before anything is added to it.
    if (lane == 0 && ends_cut_row(&shared, &chunk))
        its_y[chunk.first_row] = its_beta != 0 ? its_beta * its_y[chunk.first_row] : 0;
    barrier(CLK_GLOBAL_MEM_FENCE);
    if (lane == 0) {
        if (ends_cut_row(&shared, &chunk))
            atomic_add_real(y, task.y + chunk.first_row, its_alpha * leads[sub_group]);
        if (chunk.last_row < task.rows && starts[chunk.last_row] < chunk.end)
            atomic_add_real(y, task.y + chunk.last_row, its_alpha * *carry_of(&shared, steps - 1, sub_group));
    }
#endif
}
