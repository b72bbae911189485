// Steps in f64 whose sub-groups walk by themselves (walk.h): an item takes two neighbouring nonzeros at a time.
//
// Their products are added before they go into local memory, so half as many go there and come back: on an H200 what
// local memory delivers is what problems of some thousand nonzeros wait for. And two values are one load of sixteen
// bytes, since steps begin with an even place, which is so in memory too: for both problems of PAIRS always; of others
// where the arrays begin so, or the step is loaded one by one.
//
// Where a row begins between the two, their products stay apart: the first lies where a sum would, the second behind
// all of those. An item has to know it before it makes products, so the plan has noted it: for single problems in bits
// of their own (step_rows.h), for PAIRS in the one pattern's columns, of which it has a copy (step_columns.h).
//
// A row that begins at place `from` of a step and ends before `to` is then
//
//   the product that lies apart, if `from` is odd, and all sums from (from + 1) / 2 to (to + 1) / 2 - 1
//
// where the last is a product alone if `to` is odd. The places before a task's first nonzero and behind its last count
// as rows of their own here: there zeros are multiplied by what may be infinite.
#ifndef BATCHED_TWOS_H
#define BATCHED_TWOS_H

#include "batched/batched_csr_i.h"
#include "batched/step_columns.h"
#include "batched/step_rows.h"

#ifdef BY_TWOS
// Sums of a step, with places between some; as many products that lie apart are behind them.
#define PADDED_TURNS (PADDED(TURNS * SUB_GROUP_SIZE - 1) + 1)
// Sums and products of a step, in local memory.
#define STEP_PRODUCTS (2 * PADDED_TURNS)

// As load_step.
#if PAIRS
void load_twos(const task_t *task, const matrices_t *from, const uint first, const uint end, const uint lane,
               loaded_t *loaded)
{
    global const uint *restrict columns = from->step_columns + (first / 2 + lane);
    global const value_t *restrict values = from->values + (task->values + first + 2 * lane);
    global const value_t *restrict others = values + task->other_values;
#pragma unroll
    for (uint turn = 0; turn < TURNS; ++turn)
        loaded->columns[turn] = columns[turn * SUB_GROUP_SIZE];
    if (first >= task->gap && first + STEP <= end) {
#pragma unroll
        for (uint turn = 0; turn < TURNS; ++turn) {
            const uint at = turn * 2 * SUB_GROUP_SIZE;
            const value_pair_t one = stream_values(values, at);
            const value_pair_t other = stream_values(others, at);
            loaded->values[2 * turn] = (sums_t)(one.first, other.first);
            loaded->values[2 * turn + 1] = (sums_t)(one.second, other.second);
        }
    } else {
#pragma unroll
        for (uint turn = 0; turn < NNZ_PER_ITEM; ++turn) {
            const uint at = turn / 2 * 2 * SUB_GROUP_SIZE + turn % 2;
            const int is_there = first + 2 * lane + at - task->gap < end - task->gap;
            loaded->values[turn] = is_there ? (sums_t)(load_value(values, at), load_value(others, at)) : (sums_t)(0);
        }
    }
}

#else
void load_twos(const task_t *task, const matrices_t *from, const uint first, const uint end, const uint lane,
               loaded_t *loaded)
{
    global const column_t *restrict columns = from->columns + (task->columns + first + 2 * lane);
    global const value_t *restrict values = from->values + (task->values + first + 2 * lane);
    const int are_even = (ulong)columns % (2 * sizeof(column_t)) == 0 && (ulong)values % (2 * sizeof(value_t)) == 0;
    loaded->marks = load_marks(from->marks, first, lane);
    if (are_even && first >= task->gap && first + STEP <= end) {
#pragma unroll
        for (uint turn = 0; turn < TURNS; ++turn) {
            const uint at = turn * 2 * SUB_GROUP_SIZE;
            const value_pair_t two = stream_values(values, at);
#ifdef COLUMNS_U16
            loaded->columns[turn] = stream_column((global const uint *)(columns + at), 0);
#else
            const uint2 its = stream_columns(columns, at);
            loaded->columns[2 * turn] = its.x;
            loaded->columns[2 * turn + 1] = its.y;
#endif
            loaded->values[2 * turn] = two.first;
            loaded->values[2 * turn + 1] = two.second;
        }
    } else {
#pragma unroll
        for (uint turn = 0; turn < NNZ_PER_ITEM; ++turn) {
            const uint at = turn / 2 * 2 * SUB_GROUP_SIZE + turn % 2;
            const int is_there = first + 2 * lane + at - task->gap < end - task->gap;
            const uint column = is_there ? columns[at] : 0;
#ifdef COLUMNS_U16
            loaded->columns[turn / 2] = turn % 2 == 0 ? column : loaded->columns[turn / 2] | column << 16;
#else
            loaded->columns[turn] = column;
#endif
            loaded->values[turn] = is_there ? stream_value(values, at) : 0;
        }
    }
}
#endif

// Where x of the first or second of the two that an item has of a turn lies.
uint x_place(const loaded_t *loaded, const uint turn, const uint second)
{
#if PAIRS
    return place_of_step_column(loaded->columns[turn], second);
#elif COLUMN_WORDS == TURNS
    return X_PLACE(second ? loaded->columns[turn] >> 16 : loaded->columns[turn] & 0xffff);
#else
    return X_PLACE(loaded->columns[2 * turn + second]);
#endif
}

// Whether a row begins between the two, or the task's nonzeros end.
int are_apart(const loaded_t *loaded, const uint turn)
{
#if PAIRS
    return (loaded->columns[turn] & ARE_APART) != 0;
#else
    return loaded->marks >> turn & 1;
#endif
}

// Their products into local memory, added where no row begins between them: all items store to the first place
// together, since to store there from two branches asks local memory twice. Where no entry is stand zeros times x of
// column 0.
void multiply_twos(const matrices_t *from, const loaded_t *loaded, const uint lane, local sums_t *products)
{
#pragma unroll
    for (uint turn = 0; turn < TURNS; ++turn) {
        const sums_t one = loaded->values[2 * turn] * from->staged_x[x_place(loaded, turn, 0)];
        const sums_t next = loaded->values[2 * turn + 1] * from->staged_x[x_place(loaded, turn, 1)];
        local sums_t *to = products + PADDED_TURN(turn, lane);
        sums_t sum = one;
        if (are_apart(loaded, turn))
            to[PADDED_TURNS] = next;
        else
            sum += next;
        to[0] = sum;
    }
}
#endif

#endif
