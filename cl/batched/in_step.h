// What batched_csr_i_in_step.cl has of a task, and how a sub-group goes through it: positions, chunks and steps.
//
// PAIRS: a task is two problems of one pattern, side by side, so that a column, a gather and the bookkeeping of a row
// serve both (sums_t). The second problem is the next, or where that is an odd number of values away the next but one,
// so that entries with even indices are the same in both; where there is none it is the first again, and its y is not
// stored.
//
// Entries are counted in positions. Of single problems these begin at the last whole cache line of `values` that begins
// at or before the task's first entry (`gap` positions before it), and chunks and steps begin with a cache line: tasks
// lie one after the other wherever that is, and a load that lies across lines fetches an eighth more. Loads leave L1
// out, as stream_value does. On an H200 the two are 2 to 3% and 9% of 1,000 problems' time
// (docs/notebook/2026-11-26-batches-pairs-h200.md). The two problems of a pair begin in different parts of a cache line;
// in f64 an item takes two neighbouring entries of each at a time (by_two.h), and positions begin at an even index.
#ifndef BATCHED_IN_STEP_H
#define BATCHED_IN_STEP_H

#include "batched/operands.h"
#include "item/copy.h"
#include "subgroup/sub_group.h"

// A sub-group of one item is in step with itself on every device.
#if SUB_GROUP_SIZE == 1
#undef SUB_GROUP_BARRIER
#define SUB_GROUP_BARRIER()
#define ballot_count(yes) ((uint)((yes) != 0))
#endif

// BY_TWO: items take two neighbouring entries of each problem at a time.
#if PAIRS && REAL_WORDS == 2 && NNZ_PER_ITEM > 1
#define BY_TWO
#endif

#if PAIRS
typedef real2_t sums_t;
#else
typedef real_t sums_t;
#endif

// A position where a row begins: tasks have fewer than 2^16.
typedef ushort start_t;

// Entries of a step.
#define STEP (SUB_GROUP_SIZE * NNZ_PER_ITEM)

// An empty slot after every 128 bytes of products: those that lie a power of two apart, as rows of equal lengths begin,
// would share a memory bank.
#define PADDED(at) ((at) + ((at) >> (6 - PAIRS - REAL_WORDS)))
#define PADDED_STEP (PADDED(STEP - 1) + 1)

// PADDED(load * SUB_GROUP_SIZE + lane). As a sum of two, of which one is a constant, it takes no instructions.
#define PADDED_LOAD(load, lane) (PADDED((load) * SUB_GROUP_SIZE) + PADDED(lane))

// Where an element of x lies in local memory. Columns that one gather asks for are often a power of two apart, and
// would share a memory bank; so elements are permuted within eight. On an H200 that saves up to a sixth of the time of
// dwt_992's batch and costs others up to 3%.
#define X_SLOT(column) ((column) ^ ((column) >> 3 & 7))
#define X_SLOTS ((X_LOCAL + 7) / 8 * 8)

// Positions from one at which a step may begin to the next, and from one at which a chunk may.
#if !PAIRS
#define STEP_ALIGNED (STEP < 32 ? STEP : 32)
#define CHUNK_ALIGNED STEP_ALIGNED
#elif defined(BY_TWO)
#define STEP_ALIGNED 2
#define CHUNK_ALIGNED STEP
#else
#define STEP_ALIGNED 1
#define CHUNK_ALIGNED 1
#endif

// What `columns` holds: column indices, or by two what the plan made of them.
#ifdef BY_TWO
typedef uint stored_column_t;
#else
typedef column_t stored_column_t;
#endif

// A task, or a pair. Arrays are indexed by position; nothing is read before the first entry.
typedef struct {
    uint rows;
    uint cols;
    uint nnz;
    uint gap; // positions before the first entry
    global const stored_column_t *columns;
    global const value_t *values;
    global const real_t *x;
    global real_t *y;
    local const sums_t *staged_x;
    int is_staged; // whether x lies in `staged_x`
#if PAIRS
    ulong other_values; // elements from the first problem's values to the second's
    ulong other_x; // the same of x
    ulong other_y; // the same of y
    uint has_other;
#endif
} work_t;

// Returns the first position of a sub-group's chunk; of the one after the last, the position after all entries.
uint chunk_begin(const work_t *work, const uint sub_group)
{
    if (sub_group == SUB_GROUPS_PER_GROUP)
        return work->gap + work->nnz;
    const uint position = work->gap + (uint)((ulong)work->nnz * sub_group / SUB_GROUPS_PER_GROUP);
    return max(position / CHUNK_ALIGNED * CHUNK_ALIGNED, work->gap);
}

// Returns the position at which the first step of a chunk begins: before the chunk, if that begins with the task.
uint chunk_start(const uint begin)
{
    return begin / STEP_ALIGNED * STEP_ALIGNED;
}

// Copies the positions at which rows begin, and the one after all entries, into local memory.
void stage_starts(global const offset_t *restrict offsets, const uint rows, const uint gap, local start_t *starts)
{
#if PAIRS
#define STARTS_AT_ONCE 2
#else
#define STARTS_AT_ONCE 8
#endif
    const offset_t first = offsets[0];
    for (uint base = 0; base <= rows; base += STARTS_AT_ONCE * GROUP_SIZE) {
        offset_t loaded[STARTS_AT_ONCE];
#pragma unroll
        for (uint load = 0; load < STARTS_AT_ONCE; ++load) {
            const uint row = base + load * GROUP_SIZE + (uint)get_local_id(0);
            loaded[load] = row <= rows ? offsets[row] : 0;
        }
#pragma unroll
        for (uint load = 0; load < STARTS_AT_ONCE; ++load) {
            const uint row = base + load * GROUP_SIZE + (uint)get_local_id(0);
            if (row <= rows)
                starts[row] = (start_t)((uint)(loaded[load] - first) + gap);
        }
    }
}

// Copies x into local memory. Where there is no entry, column 0 is multiplied, so there is always one.
void stage_slots_of_x(const work_t *work, local sums_t *staged_x)
{
    global const real_t *restrict x = work->x;
    const uint item = (uint)get_local_id(0);
    if (item == 0 && work->cols == 0)
        staged_x[0] = (sums_t)(0);
#if PAIRS
    // Copies without registers: there is none left for what is on its way.
    local real_t *to = (local real_t *)staged_x;
    for (uint column = item; column < work->cols; column += GROUP_SIZE) {
        begin_copy(to + 2 * X_SLOT(column), x + column);
        begin_copy(to + 2 * X_SLOT(column) + 1, x + work->other_x + column);
    }
#else
    for (uint base = 0; base < work->cols; base += STAGED_AT_ONCE * GROUP_SIZE) {
        real_t loaded[STAGED_AT_ONCE];
#pragma unroll
        for (uint load = 0; load < STAGED_AT_ONCE; ++load) {
            const uint column = base + load * GROUP_SIZE + item;
            loaded[load] = column < work->cols ? x[column] : 0;
        }
#pragma unroll
        for (uint load = 0; load < STAGED_AT_ONCE; ++load) {
            const uint column = base + load * GROUP_SIZE + item;
            if (column < work->cols)
                staged_x[X_SLOT(column)] = loaded[load];
        }
    }
#endif
}

// Stores the sums of one row.
void store_sums(const work_t *work, const uint row, const sums_t alpha, const sums_t sums, const sums_t beta)
{
#if PAIRS
    store_result(work->y, row, alpha.x, sums.x, beta.x);
    if (work->has_other)
        store_result(work->y, work->other_y + row, alpha.y, sums.y, beta.y);
#else
    store_result(work->y, row, alpha, sums, beta);
#endif
}

#ifndef BY_TWO
// Entries that an item has loaded and not used yet.
typedef struct {
    uint columns[NNZ_PER_ITEM];
    sums_t values[NNZ_PER_ITEM];
} loaded_t;

// One column and one value, or two of a pair. A pattern that all problems share is found in L1 by other groups.
#if PAIRS
#define entry_value(work, values, at) \
    (sums_t)(stream_value(values, at), stream_value((values) + (work)->other_values, at))
#else
#define entry_value(work, values, at) stream_value(values, at)
#endif
#if !PAIRS && !defined(COLUMNS_U16)
#define entry_column(columns, at) stream_column(columns, at)
#elif !PAIRS && defined(__NV_CL_C_VERSION)
uint entry_column(global const ushort *columns, const ulong at)
{
    ushort column;
    asm volatile(STREAM ".u16 %0, [%1];" : "=h"(column) : "l"(columns + at));
    return column;
}
#else
#define entry_column(columns, at) (columns)[at]
#endif

// Loads the step that begins at position `first`, as far as it belongs to the chunk that ends at `end`. Whole steps have
// a branch of their own, since a load that is never left out is one instruction.
void load_step(const work_t *work, const uint first, const uint end, const uint lane, loaded_t *loaded)
{
    global const column_t *restrict columns = work->columns + first + lane;
    global const value_t *restrict values = work->values + first + lane;
    if (first >= work->gap && first + STEP <= end) {
#pragma unroll
        for (uint load = 0; load < NNZ_PER_ITEM; ++load) {
            loaded->columns[load] = entry_column(columns, load * SUB_GROUP_SIZE);
            loaded->values[load] = entry_value(work, values, load * SUB_GROUP_SIZE);
        }
    } else {
#pragma unroll
        for (uint load = 0; load < NNZ_PER_ITEM; ++load) {
            // Positions before the first entry wrap around, and are past the end too.
            const int is_entry = first + load * SUB_GROUP_SIZE + lane - work->gap < end - work->gap;
            loaded->columns[load] = is_entry ? entry_column(columns, load * SUB_GROUP_SIZE) : 0;
            loaded->values[load] = is_entry ? entry_value(work, values, load * SUB_GROUP_SIZE) : (sums_t)(0);
        }
    }
}

// Puts the products of a step of `count` positions into local memory. Where no entry is stand zeros times x of column
// 0: past `count` they are left out where x is not in local memory, since there perhaps is none that could be read.
void multiply_step(const work_t *work, const loaded_t *loaded, const uint count, const uint lane,
                   local sums_t *products)
{
#ifdef WIDE_X
    if (!work->is_staged) {
#pragma unroll
        for (uint load = 0; load < NNZ_PER_ITEM; ++load) {
            if (load * SUB_GROUP_SIZE + lane < count)
                products[PADDED_LOAD(load, lane)] = loaded->values[load] * work->x[loaded->columns[load]];
        }
        return;
    }
#endif
    (void)count;
#pragma unroll
    for (uint load = 0; load < NNZ_PER_ITEM; ++load)
        products[PADDED_LOAD(load, lane)] = loaded->values[load] * work->staged_x[X_SLOT(loaded->columns[load])];
}
#endif

#endif
