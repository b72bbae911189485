// Steps of pairs in f64: an item takes two neighbouring entries of each problem at a time.
//
// Their products are added before they go into local memory, so half as many go there and come back: on an H200 what
// local memory delivers is what problems of some thousand nonzeros wait for. And two values are one load of sixteen
// bytes, since steps begin at an even index in both problems.
//
// Where a row begins between the two, their products stay apart: the first lies where a sum would, the second after all
// of those. An item has to know it before it makes products, so it stands in the pattern's columns, of which the plan
// has a copy (copy_columns below):
//
//   a word an item and load: the slots of x (X_SLOT) of its two entries, and between the two, in the bit that is left,
//   whether a row begins there or the entries end (ARE_APART)
//
// Words lie in the order of positions, whole steps of them; where no entry is, column 0 stands. Problems have no position
// before their first entry or one, so there are two copies: four bytes an entry, once for all problems. On an H200,
// 1,000 problems take 3% less than where items read columns and exchanged rows
// (docs/notebook/2026-11-27-batches-number-of-problems-h200.md).
//
// A row that begins at position `from` of a step and ends before `to` is then
//
//   the product that lies apart, if `from` is odd, and all sums from (from + 1) / 2 to (to + 1) / 2 - 1
//
// where the last is a product alone if `to` is odd. The positions before a problem's first entry and after its last
// count as rows of their own here: there zeros are multiplied by what may be infinite.
#ifndef BATCHED_BY_TWO_H
#define BATCHED_BY_TWO_H

#include "batched/in_step.h"

#ifdef BY_TWO
#define ARE_APART 0x8000u // local memory does not hold 2^15 elements of x

// Loads of an item in a step, two entries each.
#define LOADS (NNZ_PER_ITEM / 2)
// Sums of a step; as many products that lie apart follow.
#define PADDED_LOADS (PADDED(LOADS * SUB_GROUP_SIZE - 1) + 1)

// Words of a copy of the columns.
#define COPY_WORDS(nnz) (((nnz) + STEP_ALIGNED - 1 + STEP - 1) / STEP * (STEP / 2))

// Entries that an item has loaded and not used yet.
typedef struct {
    uint columns[LOADS];
    sums_t values[NNZ_PER_ITEM];
} loaded_t;

// Loads the step that begins at position `first`, as far as it belongs to the chunk that ends at `end`.
void load_step(const work_t *work, const uint first, const uint end, const uint lane, loaded_t *loaded)
{
    global const uint *restrict columns = work->columns + (first / 2 + lane);
    global const value_t *restrict values = work->values + (first + 2 * lane);
    global const value_t *restrict others = values + work->other_values;
#pragma unroll
    for (uint load = 0; load < LOADS; ++load)
        loaded->columns[load] = columns[load * SUB_GROUP_SIZE];
    if (first >= work->gap && first + STEP <= end) {
#pragma unroll
        for (uint load = 0; load < LOADS; ++load) {
            const uint at = load * 2 * SUB_GROUP_SIZE;
            const value_pair_t one = stream_values(values, at);
            const value_pair_t other = stream_values(others, at);
            loaded->values[2 * load] = (sums_t)(one.first, other.first);
            loaded->values[2 * load + 1] = (sums_t)(one.second, other.second);
        }
    } else {
#pragma unroll
        for (uint entry = 0; entry < NNZ_PER_ITEM; ++entry) {
            const uint at = entry / 2 * 2 * SUB_GROUP_SIZE + entry % 2;
            const int is_entry = first + 2 * lane + at - work->gap < end - work->gap;
            loaded->values[entry] = is_entry ? (sums_t)(load_value(values, at), load_value(others, at)) : (sums_t)(0);
        }
    }
}

// Puts products into local memory, added where no row begins between them: all items store to the first slot together,
// since to store there from two branches asks local memory twice.
void multiply_step(const work_t *work, const loaded_t *loaded, const uint count, const uint lane,
                   local sums_t *products)
{
    (void)count;
#pragma unroll
    for (uint load = 0; load < LOADS; ++load) {
        const uint word = loaded->columns[load];
        const sums_t one = loaded->values[2 * load] * work->staged_x[word & (ARE_APART - 1)];
        const sums_t next = loaded->values[2 * load + 1] * work->staged_x[word >> 16];
        local sums_t *to = products + PADDED_LOAD(load, lane);
        sums_t sum = one;
        if (word & ARE_APART)
            to[PADDED_LOADS] = next;
        else
            sum += next;
        to[0] = sum;
    }
}

#ifndef REVERSE
// Makes both copies of the columns, when a plan is made: a group for each of a copy's `steps`. `range` is that of the
// problems.
__attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
kernel void copy_columns(const uint steps,
                         const ulong16 range,
                         ARRAY_PARAMETER(const offset_t, offsets),
                         ARRAY_PARAMETER(const column_t, columns),
                         ARRAY_PARAMETER(uint, copies))
{
    OPEN_ARRAY(const offset_t, offsets);
    OPEN_ARRAY(const column_t, columns);
    OPEN_ARRAY(uint, copies);
    local uint apart[STEP / 2];
    const uint item = (uint)get_local_id(0);
    const uint gap = (uint)get_group_id(0) / steps;
    const uint first = (uint)get_group_id(0) % steps * STEP;
    task_t task;
    set_task_of_range(range, 0, &task);
    global const offset_t *restrict its_offsets = offsets + task.index;
    global const column_t *restrict its_columns = columns + task.columns;

    for (uint at = item; at < STEP / 2; at += GROUP_SIZE)
        apart[at] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint row = item; row <= task.rows; row += GROUP_SIZE) {
        // Past the step, too, if before it.
        const uint at = (uint)(its_offsets[row] - its_offsets[0]) + gap - first;
        if (at < STEP && at % 2 == 1)
            atomic_or(&apart[at / 2], ARE_APART);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    global uint *copy = copies + (gap * COPY_WORDS(task.nnz) + first / 2);
    for (uint at = item; at < STEP / 2; at += GROUP_SIZE) {
        const uint one = first + 2 * at - gap; // past all entries, if before the first
        const uint column = one < task.nnz ? its_columns[one] : 0;
        const uint next = one + 1 < task.nnz ? its_columns[one + 1] : 0;
        copy[at] = X_SLOT(column) | apart[at] | X_SLOT(next) << 16;
    }
}
#endif
#endif

#endif
