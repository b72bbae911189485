// batched_csr_i where it computes every task, a group's each, x of each fits local memory, and the items of a sub-group
// run in step and can vote.
//
// Most batches are such on NVIDIA, of problems alike and of different ones. A sub-group goes through its chunk by
// itself then: no item waits for another sub-group between the group's first barrier and its last. What each step does
// is that of batched_csr_i.h.
//
// FORWARD: steps are taken from the first to the last. BACKWARD: from the last. Launches are one or the other in turn,
// so that each finds in the cache what the launch before read last. All problems of 1,000 are begun at once, so another
// order of problems would not do it. The bits are the same: a row that lies in several steps is added up in their order
// either way. Forward, what there is of it goes on to the next step; backward, its parts wait in local memory for the
// step that it begins in.
//
// On an H200 the work of 1,000 problems is bounded by what local memory delivers, and where rows are short by
// instructions, more than by memory itself (docs/notebook/2026-11-26-batches-direction-h200.md).
// Four things are there for the
// first. Elements of x lie where columns a power of two apart do not share a bank (X_PLACE, task.h). An item loads two
// products before it adds the first. In f64 items go by twos (twos.h), which puts half as many products into local
// memory. PAIRS copy x without registers (item/copy.h), since two of its elements at a time were all that there was
// room for.
#ifndef BATCHED_WALK_H
#define BATCHED_WALK_H

#include "batched/batched_csr_i.h"
#include "batched/step_rows.h"
#include "batched/twos.h"
#include "item/copy.h"

#ifdef WALKS
// The most steps of a chunk: 2^16 places, and up to a step before it and behind it. With less of this memory pairs
// would seem to fit a multiprocessor five times, and ptxas would take 48 registers instead of some 60, which costs 6%.
#define MOST_STEPS (65536 / (STEP * SUB_GROUPS_PER_GROUP) + 6)

#ifdef BY_TWOS
#define LOAD_WALKED load_twos
#else
#define LOAD_WALKED load_step
#define STEP_PRODUCTS PADDED_STEP
#endif

// A sub-group's way through its chunk, and what lies in local memory for it.
typedef struct {
    uint begin; // the place of its first nonzero (chunks.h)
    uint end; // behind its last
    uint start; // where the first step begins
    uint steps;
    local const start_t *starts; // the places where the task's rows begin
    local sums_t *products; // of a step, and behind them sums of parts of rows
    uint opens; // what is noted of where steps begin (step_rows.h)
} walk_t;

// Where sums lie that are not a row's, behind a sub-group's products. PART_OF: of the row that is open when a step
// begins, what comes before, or BACKWARD what the step has; the first step's part is of the row that began in a chunk
// before and ends in this one. CARRY: of the row that is open where the chunk ends, what the chunk has.
#define PART_OF(step) (STEP_PRODUCTS + (step))
#define CARRY (STEP_PRODUCTS + MOST_STEPS)
#define SUB_GROUP_SUMS (CARRY + 1)
#define NOWHERE 0xffffffffu

// The walk of a sub-group, but for what lies in memory. It has a step at least, since rows without nonzeros are a
// step's too. Where rows are planned they are those of the step that begins at their place, so a chunk without nonzeros
// has none; but the last has one, for a task without any.
walk_t walk_of(const task_t *task, const uint sub_group)
{
    walk_t walk;
    walk.begin = chunk_begin(task, sub_group);
    walk.end = chunk_begin(task, sub_group + 1);
    walk.start = chunk_start(walk.begin);
    walk.steps = max((walk.end - walk.start + STEP - 1) / STEP, 1u);
#ifdef ROWS_PLANNED
    if (walk.begin == walk.end && sub_group + 1 < SUB_GROUPS_PER_GROUP)
        walk.steps = 0;
#endif
    return walk;
}

// Where the step begins that is taken first.
uint first_step(const walk_t *walk)
{
#ifdef BACKWARD
    return walk->start + (walk->steps - 1) * STEP;
#else
    return walk->start;
#endif
}

// Asks for the step that is taken first, and for what the plan noted.
void begin_walk(const task_t *task, matrices_t *from, global const uint *notes, const uint lane, walk_t *walk,
                loaded_t *loaded)
{
#ifdef ROWS_PLANNED
    from->marks = marks_of(notes, task);
    walk->opens = load_opens(opens_of(notes, task) + walk->start / STEP, walk->steps, lane);
    if (walk->steps == 0)
        return;
#endif
#ifdef COLUMNS_PLANNED
    from->step_columns = notes + task->gap * COPY_WORDS(task->nnz);
#endif
    LOAD_WALKED(task, from, first_step(walk), walk->end, lane, loaded);
}

#if PAIRS
// Begins to put x into local memory, as stage_x.
void begin_stage_x(const task_t *task, global const real_t *restrict all_x, local sums_t *staged_x)
{
    global const real_t *restrict x = all_x + task->x;
    local real_t *to = (local real_t *)staged_x;
    const uint item = (uint)get_local_id(0);
    if (item == 0 && task->cols == 0)
        staged_x[0] = (sums_t)(0);
    for (uint column = item; column < task->cols; column += GROUP_SIZE) {
        begin_copy(to + 2 * X_PLACE(column), x + column);
        begin_copy(to + 2 * X_PLACE(column) + 1, x + task->other_x + column);
    }
}
#endif

#if defined(BACKWARD) && !defined(ROWS_PLANNED)
// The last row, from `row` down, that begins at or before place `first`; there is one. All items of a sub-group call
// it.
uint open_row_down(local const start_t *starts, const uint row, const uint first)
{
    const uint lane = (uint)get_local_id(0) % SUB_GROUP_SIZE;
    uint open = row;
    uint behind = SUB_GROUP_SIZE;
    while (behind == SUB_GROUP_SIZE) {
        behind = ballot_count(open >= lane && starts[open - lane] > first);
        open -= behind;
    }
    return open;
}
#endif

// What an item has of the products from place `begin` of a step to before `end`, a row's, which `width` items share.
sums_t sum_part(local const sums_t *products, const uint begin, const uint end, const uint part, const uint width)
{
#ifdef BY_TWOS
    const sums_t sum = sum_products(products, (begin + 1) / 2 + part, (end + 1) / 2, width);
    const int has_apart = part == 0 && begin % 2 == 1 && begin < end;
    return sum + (has_apart ? products[PADDED_TURNS + PADDED(begin / 2)] : (sums_t)(0));
#else
    return sum_products(products, begin + part, end, width);
#endif
}

// Rows of a step: `low` to `high` are open when it begins and ends, and from `low` to before `beyond` are added up.
typedef struct {
    uint low;
    uint high;
    uint beyond;
    uint near; // what the step taken next has to know: `high`, or BACKWARD `low`, and what is noted besides
    uint is_uneven;
} step_rows_t;

// Where the step that begins at place `first` ends.
uint step_stop(const task_t *task, const walk_t *walk, const uint first)
{
#ifdef ROWS_PLANNED
    return min(first + STEP, task->gap + task->nnz); // chunks are whole steps, and this takes no register
#else
    return min(first + STEP, walk->end);
#endif
}

// Finds them; `near` is that of the step taken before. All items of a sub-group call it.
step_rows_t rows_of_step(const task_t *task, const walk_t *walk, const uint step, const uint near, const uint first_row,
                         const uint last_row)
{
    local const start_t *starts = walk->starts;
    const uint first = walk->start + step * STEP;
    const uint stop = step_stop(task, walk, first);
    step_rows_t rows;
#ifdef BACKWARD
    rows.high = OPEN_ROW(near);
#ifdef ROWS_PLANNED
    rows.near = open_at(walk->opens, step);
#else
    rows.near = step > 0 ? open_row_down(starts, near, first) : first_row;
#endif
    rows.low = OPEN_ROW(rows.near);
    rows.is_uneven = IS_UNEVEN(rows.near);
    // A row that begins where the step ends was the next one's.
    rows.beyond =
        step + 1 < walk->steps && starts[rows.high] == stop ? rows.high : min(rows.high + 1, task->rows);
#else
    rows.low = OPEN_ROW(near);
    rows.is_uneven = IS_UNEVEN(near);
#ifdef ROWS_PLANNED
    rows.near = open_at(walk->opens, step + 1);
#else
    rows.near = step + 1 < walk->steps ? open_row(starts, near, last_row, stop) : last_row;
#endif
    rows.high = OPEN_ROW(rows.near);
    rows.beyond = min(rows.high + 1, task->rows);
#endif
    return rows;
}

// Items that share the first row of a pair's step, 2 to the power of this, where `usual` share each other. It may have
// most of the step's nonzeros before many rows of few or none, which an item adds up each: then all of the sub-group
// share it, so that they do not wait for one. Behind it goes NEXT_SHIFT: where all share a row it is the last, or such
// a first one. On an H200 problems whose nonzeros are heaped in full rows gain up to 5%. Of single problems the plan
// notes such steps.
#if PAIRS && defined(BY_TWOS)
uint first_shift(local const start_t *starts, const step_rows_t *rows, const uint usual, const uint first)
{
    const int are_many = rows->beyond - rows->low > 2 * SUB_GROUP_SIZE;
    return are_many && starts[rows->low + 1] > first + SUB_GROUP_SIZE ? LOG2(SUB_GROUP_SIZE) : usual;
}
#define NEXT_SHIFT(shift) ((shift) == LOG2(SUB_GROUP_SIZE) ? 0 : (shift))
#else
#define first_shift(starts, rows, usual, first) (usual)
#define NEXT_SHIFT(shift) (shift)
#endif

// Loads the step that is taken after the one that begins at place `first`.
#ifdef BACKWARD
#define LOAD_NEXT() \
    if (step > 0) \
    LOAD_WALKED(task, from, first - STEP, walk->end, lane, loaded)
#else
#define LOAD_NEXT() \
    if (step + 1 < walk->steps) \
    LOAD_WALKED(task, from, first + STEP, walk->end, lane, loaded)
#endif

// Computes a task; `loaded` is the first step that is taken. All items of a group call it.
void walk_chunks(const task_t *task, const matrices_t *from, const walk_t *walk, const uint sub_group, const uint lane,
                loaded_t *loaded, global real_t *restrict y, const sums_t alpha, const sums_t beta)
{
    local const start_t *starts = walk->starts;
#ifdef ROWS_PLANNED
    const uint first_open = open_at(walk->opens, 0);
    const uint first_row = OPEN_ROW(first_open);
    const uint last_row = OPEN_ROW(open_at(walk->opens, walk->steps));
    if (walk->steps == 0 && lane == 0)
        walk->products[CARRY] = 0;
#else
    const uint first_open = sub_group == 0 ? 0 : row_at(starts, task->rows, walk->begin);
    const uint first_row = first_open;
    const uint last_row = sub_group + 1 == SUB_GROUPS_PER_GROUP ? task->rows : row_at(starts, task->rows, walk->end);
#endif
#ifdef BACKWARD
    uint near = last_row; // the row that is open where the step before ended, in the order in which they are taken
    for (uint step = walk->steps - 1; step < walk->steps; --step) {
#else
    uint near = first_open;
    for (uint step = 0; step < walk->steps; ++step) {
#endif
        const uint first = walk->start + step * STEP;
        const uint stop = step_stop(task, walk, first);
#ifdef BY_TWOS
        const step_rows_t rows = rows_of_step(task, walk, step, near, first_row, last_row);
        multiply_twos(from, loaded, lane, walk->products);
        LOAD_NEXT();
        SUB_GROUP_BARRIER();
#else
        multiply_step(task, from, loaded, stop - first, lane, walk->products);
        LOAD_NEXT();
        SUB_GROUP_BARRIER();
        const step_rows_t rows = rows_of_step(task, walk, step, near, first_row, last_row);
#endif
        near = rows.near;
        const uint usual = rows.is_uneven ? 0 : step_shift(rows.high - rows.low + 1);
        uint shift = first_shift(starts, &rows, usual, first);
        uint count; // rows of a turn
        for (uint turn = rows.low; turn < rows.beyond; turn += count, shift = NEXT_SHIFT(shift)) {
            uint width = 1 << shift;
            uint part = lane & (width - 1);
            const uint row = turn + (lane >> shift);
            // Items without a row do the last one's work: that is no branch, and asks for the same places.
            local const start_t *its = starts + min(row, rows.beyond - 1);
            uint from_here = max((uint)its[0], first) - first;
            uint to_here = min((uint)its[1], stop) - first;
            count = SUB_GROUP_SIZE >> shift;
            if (rows.is_uneven) {
                // An item has a row, up to the first that is long; that has a turn of its own, and all items share it.
                const uint votes = ballot(to_here - from_here > LONG_PART);
                if (votes % 2 == 1) {
                    from_here = shuffle_word(from_here, 0);
                    to_here = shuffle_word(to_here, 0);
                    part = lane;
                    width = SUB_GROUP_SIZE;
                    count = 1;
                } else if (votes != 0) {
                    count = LOG2(votes & -votes);
                    to_here = lane < count ? to_here : from_here;
                }
            }
            const sums_t of_item = sum_part(walk->products, from_here, to_here, part, width);
            sums_t sum = sum_runs(of_item, width);
            if (row < min(turn + count, rows.beyond) && part == 0) {
                const uint row_begin = its[0];
#ifdef BACKWARD
                // The last row stays open, and one that began before waits for the steps before, or for other chunks.
                uint to = row == last_row ? CARRY : NOWHERE;
                if (row_begin < first && (step > 0 || row != last_row))
                    to = PART_OF(step);
                if (row == rows.high && (row_begin >= first || step == 0)) {
                    for (uint later = step + 1; later < walk->steps && its[1] > walk->start + later * STEP; ++later)
                        sum += walk->products[PART_OF(later)];
                }
#else
                // A row that began in a chunk before waits for other chunks, and the one that stays open for what is
                // next.
                uint to = row == first_row && row_begin < walk->begin ? PART_OF(0) : NOWHERE;
                if (row == rows.high)
                    to = step + 1 < walk->steps ? PART_OF(step + 1) : CARRY;
                if (step > 0 && row == rows.low)
                    sum += walk->products[PART_OF(step)];
#endif
                if (to != NOWHERE)
                    walk->products[to] = sum;
                else
                    store_sums(task, y, row, alpha, sum, beta);
            }
        }
        SUB_GROUP_BARRIER();
    }

    // The row that ends in this chunk and began in one before.
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lane == 0 && first_row < last_row && starts[first_row] < walk->begin) {
        local const sums_t *carries = walk->products - sub_group * SUB_GROUP_SUMS + CARRY;
        const sums_t before = sum_before(task, starts[first_row], carries, SUB_GROUP_SUMS, sub_group);
        store_sums(task, y, first_row, alpha, before + walk->products[PART_OF(0)], beta);
    }
}

#endif
#endif
