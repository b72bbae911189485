// batched_csr_i where the items of a sub-group run in step and can vote: no item waits for another sub-group between the
// group's first barrier and its last. What batched_csr_i.cl says of chunks, steps and rows holds here too.
//
// REVERSE: steps are taken from the last to the first. Launches alternate, so that each finds in the cache what the
// launch before read last: 1,000 problems on an H200 take 4 to 9% less, 10,000 as much as without. All problems of 1,000
// are begun at once, so another order of problems would not do it. The bits are the same: a row that lies in several
// steps is added up in their order either way. Forward, what there is of it is carried to the next step; in reverse, its
// parts wait in local memory for the step that it begins in.
//
// PAIRS (in_step.h): where all problems have one pattern, a group takes two at once. On an H200 that takes 16% less time.
//
// On an H200 the work of 1,000 problems is bounded by what local memory delivers, and where rows are short by
// instructions, more than by memory itself (docs/notebook/2026-11-26-batches-direction-h200.md): so elements of x are
// permuted (X_SLOT), an item loads two products before it adds the first, and pairs copy x without registers and in f64
// take two entries at a time (by_two.h).
//
// WIDE_X: x of a task may not fit local memory.
//
// Local memory: X_LOCAL elements of x; ROWS_PER_TASK + 1 half words; for each sub-group the products of a step, a sum for
// each of the most steps that a chunk has, and one more. PAIRS: two of each but the half words.
#include "batched/by_two.h"
#include "batched/in_step.h"

// The most steps of a chunk: the most positions of a task, and up to a step before it and after it. With less of this
// memory pairs would seem to fit a multiprocessor five times, and ptxas would take 48 registers instead of some 60, which
// costs 6%.
#if SUB_GROUP_SIZE == 1
#define MOST_POSITIONS 4096
#else
#define MOST_POSITIONS 65536
#endif
#define MOST_STEPS (MOST_POSITIONS / (STEP * SUB_GROUPS_PER_GROUP) + 6)

// Products of a step in local memory, and after them sums of parts of rows. PART_OF: of the row that is open when a step
// begins, what comes before, or in reverse what the step has; the first step's part is of the row that began in a chunk
// before and ends in this one. CARRY: of the row that is open where the chunk ends, what the chunk has.
#ifdef BY_TWO
#define STEP_PRODUCTS (2 * PADDED_LOADS)
#else
#define STEP_PRODUCTS PADDED_STEP
#endif
#define PART_OF(step) (STEP_PRODUCTS + (step))
#define CARRY (STEP_PRODUCTS + MOST_STEPS)
#define SUB_GROUP_SUMS (CARRY + 1)
#define NOWHERE 0xffffffffu

// A sub-group's chunk.
typedef struct {
    uint begin; // the position of its first entry
    uint end; // the position after its last
    uint start; // where its first step begins
    uint steps; // at least one, since rows without entries are a step's too
    uint first_row; // the row that is open where it begins
    uint last_row; // the row that is open where it ends
    local const start_t *starts; // positions at which the task's rows begin
    local sums_t *sums; // SUB_GROUP_SUMS of them
} chunk_t;

// Rows of a step: `low` is open where it begins, `high` where it ends; those from `low` to before `beyond` are added up.
typedef struct {
    uint low;
    uint high;
    uint beyond;
} rows_t;

// Returns the last row from `row` to `last` that begins at or before position `stop`. All items of a sub-group call it.
uint open_row(local const start_t *starts, const uint row, const uint last, const uint stop)
{
    uint open = row;
    uint before = SUB_GROUP_SIZE;
    while (before == SUB_GROUP_SIZE) {
        const uint next = open + 1 + (uint)get_local_id(0) % SUB_GROUP_SIZE;
        before = ballot_count(next <= last && starts[next] <= stop);
        open += before;
    }
    return open;
}

// Returns the last row, from `row` down, that begins at or before position `first`; there is one. All items of a
// sub-group call it.
uint open_row_down(local const start_t *starts, const uint row, const uint first)
{
    const uint lane = (uint)get_local_id(0) % SUB_GROUP_SIZE;
    uint open = row;
    uint after = SUB_GROUP_SIZE;
    while (after == SUB_GROUP_SIZE) {
        after = ballot_count(open >= lane && starts[open - lane] > first);
        open -= after;
    }
    return open;
}

// Returns the last of a task's `rows` that begins at or before position `boundary`; `rows` where none begins after it.
// All items of a sub-group call it.
uint row_at(local const start_t *starts, const uint rows, const uint boundary)
{
    uint row = 0;
    uint beyond = rows + 1;
    while (beyond - row > 1) {
        const uint width = (beyond - row + SUB_GROUP_SIZE) / (SUB_GROUP_SIZE + 1);
        const uint next = row + (1 + (uint)get_local_id(0) % SUB_GROUP_SIZE) * width;
        row += width * ballot_count(next < beyond && starts[next] <= boundary);
        beyond = min(row + width, beyond);
    }
    return row;
}

// Returns the position at which the step ends that begins at position `first`.
uint step_stop(const chunk_t *chunk, const uint first)
{
    return min(first + STEP, chunk->end);
}

// Finds the rows of a step. `open` is the row that is open where it begins, or in reverse where it ends; then that of
// the step that is taken next. All items of a sub-group call it.
rows_t rows_of_step(const work_t *work, const chunk_t *chunk, const uint step, uint *open)
{
    local const start_t *starts = chunk->starts;
    const uint first = chunk->start + step * STEP;
    const uint stop = step_stop(chunk, first);
    const int is_last = step + 1 == chunk->steps;
    rows_t rows;
#ifdef REVERSE
    rows.high = *open;
    rows.low = step > 0 ? open_row_down(starts, *open, first) : chunk->first_row;
    // A row that begins where the step ends belongs to the next.
    rows.beyond = !is_last && starts[rows.high] == stop ? rows.high : min(rows.high + 1, work->rows);
    *open = rows.low;
#else
    rows.low = *open;
    rows.high = is_last ? chunk->last_row : open_row(starts, *open, chunk->last_row, stop);
    rows.beyond = min(rows.high + 1, work->rows);
    *open = rows.high;
#endif
    return rows;
}

// Items that share the rows of a step: no more than have eight products each, since fewer are added up by one item
// before several have exchanged theirs. Products of PAIRS are two.
#define ITEM_SUMS ((PAIRS + 1) * NNZ_PER_ITEM)
#define STEP_ITEMS (ITEM_SUMS < 8 ? SUB_GROUP_SIZE * ITEM_SUMS / 8 : SUB_GROUP_SIZE)

// Returns how many items share one row where a step has `count` rows: 2 to the power of this.
uint sharing_shift(const uint count)
{
    return 2 * count > STEP_ITEMS ? 0 : LOG2(STEP_ITEMS) - (32 - clz(count - 1));
}

// Returns the same for the first row of a step, where `shift` is that of the others. It may have a great part of the
// step's entries before rows of few or none, which no more than two items add up each: then all of the sub-group share
// it, so that they do not wait for one. On an H200 problems with 16 to 64 full rows take 13 to 39% less in f64,
// those of one pattern with 16 or 32 of them 1 to 4%.
uint first_shift(local const start_t *starts, const rows_t *rows, const uint shift, const uint first)
{
    const int are_many = rows->high - rows->low >= (SUB_GROUP_SIZE + 3) / 4;
    return are_many && starts[rows->low + 1] > first + STEP / 4 ? LOG2(SUB_GROUP_SIZE) : shift;
}

// Returns every `stride`-th of the slots [begin, end). Two are loaded before the first is added.
sums_t sum_slots(local const sums_t *products, const uint begin, const uint end, const uint stride)
{
    sums_t sum = (sums_t)(0);
    uint at = begin;
    for (; at + stride < end; at += 2 * stride) {
        const sums_t one = products[PADDED(at)];
        const sums_t next = products[PADDED(at + stride)];
        sum += one;
        sum += next;
    }
    if (at < end)
        sum += products[PADDED(at)];
    return sum;
}

// Returns what an item has of the products from position `begin` of a step to before `end`, a row's, which `width` items
// share.
sums_t sum_part(local const sums_t *products, const uint begin, const uint end, const uint part, const uint width)
{
#ifdef BY_TWO
    const sums_t sum = sum_slots(products, (begin + 1) / 2 + part, (end + 1) / 2, width);
    const int has_apart = part == 0 && begin % 2 == 1 && begin < end;
    return sum + (has_apart ? products[PADDED_LOADS + PADDED(begin / 2)] : (sums_t)(0));
#else
    return sum_slots(products, begin + part, end, width);
#endif
}

// Adds up each run of `width` neighbouring items, as sub_group_sum_runs.
sums_t sum_runs(const sums_t mine, const uint width)
{
#if SUB_GROUP_SIZE == 1
    (void)width;
    return mine;
#elif PAIRS
    sums_t sum = mine;
    for (uint reach = width >> 1; reach > 0; reach >>= 1)
        sum += (sums_t)(shuffle_down_acc(sum.x, reach), shuffle_down_acc(sum.y, reach));
    return sum;
#else
    return sub_group_sum_runs(mine, width);
#endif
}

// A row's sum in a step is known: it is stored, or kept for another step or chunk.
void end_row(const work_t *work, const chunk_t *chunk, const rows_t *rows, const uint step, const uint row,
             const sums_t of_step, const sums_t alpha, const sums_t beta)
{
    local const start_t *starts = chunk->starts;
    const uint first = chunk->start + step * STEP;
    sums_t sum = of_step;
#ifdef REVERSE
    // The last row stays open, and one that began before waits for the steps before, or for other chunks.
    uint to = row == chunk->last_row ? CARRY : NOWHERE;
    if (starts[row] < first && (step > 0 || row != chunk->last_row))
        to = PART_OF(step);
    if (row == rows->high && (starts[row] >= first || step == 0)) {
        for (uint later = step + 1; later < chunk->steps && starts[row + 1] > chunk->start + later * STEP; ++later)
            sum += chunk->sums[PART_OF(later)];
    }
#else
    // A row that began in a chunk before waits for other chunks, and the one that stays open for the next step.
    uint to = row == chunk->first_row && starts[row] < chunk->begin ? PART_OF(0) : NOWHERE;
    if (row == rows->high)
        to = step + 1 < chunk->steps ? PART_OF(step + 1) : CARRY;
    if (step > 0 && row == rows->low)
        sum += chunk->sums[PART_OF(step)];
#endif
    if (to != NOWHERE)
        chunk->sums[to] = sum;
    else
        store_sums(work, row, alpha, sum, beta);
}

// Adds up the rows of a step, whose products are in local memory. All items of a sub-group call it.
void add_rows_of_step(const work_t *work, const chunk_t *chunk, const rows_t *rows, const uint step, const uint lane,
                      const sums_t alpha, const sums_t beta)
{
    local const start_t *starts = chunk->starts;
    const uint first = chunk->start + step * STEP;
    const uint stop = step_stop(chunk, first);
    const uint shift_of_others = sharing_shift(rows->high - rows->low + 1);
    uint shift = first_shift(starts, rows, shift_of_others, first);
    uint count; // rows of a pass
    for (uint base = rows->low; base < rows->beyond; base += count, shift = shift_of_others) {
        count = SUB_GROUP_SIZE >> shift;
        const uint width = 1 << shift;
        const uint part = lane & (width - 1);
        const uint row = base + (lane >> shift);
        // Items without a row do the last one's work: that is no branch, and reads the same slots.
        local const start_t *its = starts + min(row, rows->beyond - 1);
        const uint begin = max((uint)its[0], first) - first;
        const uint end = min((uint)its[1], stop) - first;
        const sums_t sum = sum_runs(sum_part(chunk->sums, begin, end, part, width), width);
        if (row < rows->beyond && part == 0)
            end_row(work, chunk, rows, step, row, sum, alpha, beta);
    }
}

// Returns what the chunks before this sub-group's have of the row that begins at position `start` and ends in this one,
// when all are done.
sums_t sum_before(const work_t *work, const uint start, local const sums_t *sums, const uint sub_group)
{
    uint other = sub_group - 1;
    while (start < chunk_begin(work, other))
        --other;
    sums_t sum = (sums_t)(0);
    for (; other < sub_group; ++other)
        sum += sums[other * SUB_GROUP_SUMS + CARRY];
    return sum;
}

__attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
kernel void batched(const uint task_count,
                    const uint whole,
                    const ulong16 range,
                    ARRAY_PARAMETER(const ulong, tasks),
                    ARRAY_PARAMETER(const offset_t, index),
                    ARRAY_PARAMETER(const stored_column_t, columns),
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
    OPEN_ARRAY(const stored_column_t, columns);
    OPEN_ARRAY(const value_t, values);
    OPEN_ARRAY(const real_t, x);
    OPEN_ARRAY(real_t, y);
    local sums_t staged_x[X_SLOTS];
    local sums_t sums[SUB_GROUPS_PER_GROUP][SUB_GROUP_SUMS];
    local start_t starts[ROWS_PER_TASK + 1];

    (void)whole; // every task has a group
    const uint item = (uint)get_local_id(0);
    const uint sub_group = item / SUB_GROUP_SIZE;
    const uint lane = item % SUB_GROUP_SIZE;
    const uint group = (uint)get_group_id(0);
    task_t task;
    work_t work;
#if PAIRS
    // Pairs of neighbours, or of a problem and the next but one.
    const uint to_other = 1 + (uint)(range.s8 & 1);
    const uint number = to_other == 1 ? 2 * group : 2 * (group & ~1u) + (group & 1);
    find_task(tasks, range, task_count, number, &task);
    work.has_other = number + to_other < task_count;
    const uint other = work.has_other ? to_other : 0;
    work.other_values = other * range.s8;
    work.other_x = other * range.sb;
    work.other_y = to_other * range.sc;
    const sums_t its_alpha =
        (sums_t)(SCALAR_OF(alpha, task.problem), SCALAR_OF(alpha, task.problem + other));
    const sums_t its_beta = (sums_t)(SCALAR_OF(beta, task.problem), SCALAR_OF(beta, task.problem + other));
#else
    find_task(tasks, range, task_count, group, &task);
    const sums_t its_alpha = SCALAR_OF(alpha, task.problem);
    const sums_t its_beta = SCALAR_OF(beta, task.problem);
#endif
    work.rows = task.rows;
    work.cols = task.cols;
    work.nnz = task.nnz;
    // In f64 it is addresses of PAIRS that are even.
#ifdef BY_TWO
    work.gap = task.nnz > 0 ? (uint)((ulong)(values + task.values) / sizeof(value_t) % STEP_ALIGNED) : 0;
    work.columns = columns + work.gap * COPY_WORDS(task.nnz);
#else
    work.gap = task.nnz > 0 ? (uint)(task.values % STEP_ALIGNED) : 0;
    work.columns = columns + (task.columns - work.gap);
#endif
    work.values = values + (task.values - work.gap);
    work.x = x + task.x;
    work.y = y + task.y;
    work.staged_x = staged_x;
#ifdef WIDE_X
    work.is_staged = task.cols <= X_LOCAL;
#else
    work.is_staged = 1;
#endif

    chunk_t chunk;
    chunk.begin = chunk_begin(&work, sub_group);
    chunk.end = chunk_begin(&work, sub_group + 1);
    chunk.start = chunk_start(chunk.begin);
    chunk.steps = max((chunk.end - chunk.start + STEP - 1) / STEP, 1u);
    chunk.starts = starts;
    chunk.sums = sums[sub_group];
#ifdef REVERSE
#define FIRST_STEP (chunk.steps - 1)
#define NEXT_STEP(step) ((step) - 1) // after the last, no step
#else
#define FIRST_STEP 0
#define NEXT_STEP(step) ((step) + 1)
#endif
    loaded_t loaded;
    load_step(&work, chunk.start + FIRST_STEP * STEP, chunk.end, lane, &loaded);
#if PAIRS
    stage_slots_of_x(&work, staged_x);
    stage_starts(index + task.index, task.rows, work.gap, starts);
    end_copies();
#else
    stage_starts(index + task.index, task.rows, work.gap, starts);
    if (work.is_staged)
        stage_slots_of_x(&work, staged_x);
#endif
    barrier(CLK_LOCAL_MEM_FENCE);

    chunk.first_row = sub_group == 0 ? 0 : row_at(starts, task.rows, chunk.begin);
    chunk.last_row = sub_group + 1 == SUB_GROUPS_PER_GROUP ? task.rows : row_at(starts, task.rows, chunk.end);
#ifdef REVERSE
    uint open = chunk.last_row;
#else
    uint open = chunk.first_row;
#endif
    for (uint step = FIRST_STEP; step < chunk.steps; step = NEXT_STEP(step)) {
        const uint first = chunk.start + step * STEP;
        multiply_step(&work, &loaded, step_stop(&chunk, first) - first, lane, chunk.sums);
        if (NEXT_STEP(step) < chunk.steps)
            load_step(&work, chunk.start + NEXT_STEP(step) * STEP, chunk.end, lane, &loaded);
        SUB_GROUP_BARRIER();
        const rows_t rows = rows_of_step(&work, &chunk, step, &open);
        add_rows_of_step(&work, &chunk, &rows, step, lane, its_alpha, its_beta);
        SUB_GROUP_BARRIER();
    }

    // The row that ends in this chunk and began in one before.
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lane == 0 && chunk.first_row < chunk.last_row && starts[chunk.first_row] < chunk.begin) {
        const sums_t before = sum_before(&work, starts[chunk.first_row], sums[0], sub_group);
        store_sums(&work, chunk.first_row, its_alpha, before + chunk.sums[PART_OF(0)], its_beta);
    }
}
