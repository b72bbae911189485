// Steps in f64 whose bunches walk by themselves (alike.h): an item takes two neighbouring nonzeros at a time.
//
// Their products are added before they go into local memory, so half as many go there and come back: on an H200 what
// local memory delivers is what problems of some thousand nonzeros wait for. And two values are one load of sixteen bytes,
// since steps begin with an even place, which is so in memory too: for both problems of PAIRS always; of others where the
// arrays begin so, or the step is loaded one by one.
//
// Where a row begins between the two, their products stay apart: the first lies where a sum would, the second behind all
// of those. An item has to be told of it before it makes products. For single problems the plan has noted it (step_rows.h).
// PAIRS look for the rows of a step, and the item that finds one tells the other: all read one pattern, which lies in L1,
// and by a plan's notes, which lie there too, 10,000 problems took 4% longer.
//
// A row that begins at place `from` of a step and ends before `to` is then
//
//   the product that lies apart, if `from` is odd, and all sums from (from + 1) / 2 to (to + 1) / 2 - 1
//
// where the last is a product alone if `to` is odd. The places before a task's first nonzero and behind its last count as
// rows of their own here: there zeros are multiplied by what may be infinite.
#ifndef BATCHED_TWOS_H
#define BATCHED_TWOS_H

#include "batched/batched_csr_i.h"
#include "batched/step_rows.h"

#ifdef BY_TWOS
// Sums of a step, with places between some; as many products that lie apart are behind them.
#define PADDED_TURNS (PADDED(TURNS * BUNCH_SIZE - 1) + 1)
// Sums and products of a step, in local memory.
#define STEP_PRODUCTS (2 * PADDED_TURNS)

#if PAIRS
// Marks say in which turns a row begins between an item's two, a bit each. Those of rows that begin at place `at` of a
// step, one for each item that `has_row`. All items of a bunch call it.
uint marks_of_rows(const uint at, const int has_row, const uint lane)
{
    const uint its_item = at / 2 % BUNCH_SIZE;
    const uint its_turn = at / 2 / BUNCH_SIZE;
    const uint bit = has_row && at % 2 == 1 ? 1u << its_item : 0;
    uint marks = 0;
#pragma unroll
    for (uint turn = 0; turn < TURNS; ++turn)
        marks |= (bunch_or(turn == its_turn ? bit : 0) >> lane & 1) << turn;
    return marks;
}

// The mark of the task's first row, in the step that begins at place `first`.
uint mark_of_gap(const task_t *task, const uint first, const uint lane)
{
    return first < task->gap && lane == 0 ? 1 : 0;
}

#ifdef BACKWARD
// The last row, from `row` down, that begins before place `from`, and `least` at least. Adds to `marks` those of rows
// behind it, in the step that begins at place `first`. All items of a bunch call it.
uint open_row_down(local const start_t *starts, const uint row, const uint least, const uint from, const uint first,
                   const uint lane, uint *marks)
{
    uint open = row;
    uint behind = BUNCH_SIZE;
    while (behind == BUNCH_SIZE) {
        const uint begin = open > lane + least ? starts[open - lane] : 0;
        const int is_behind = open > lane + least && begin >= from;
        *marks |= marks_of_rows(begin - first, is_behind, lane);
        behind = bunch_count(is_behind);
        open -= behind;
    }
    return open;
}
#else
// The last row from `row` to `last` that begins at or before place `stop`. Adds to `marks` those of rows behind `row`, in
// the step that begins at place `first`. All items of a bunch call it.
uint open_row_up(local const start_t *starts, const uint row, const uint last, const uint stop, const uint first,
                 const uint lane, uint *marks)
{
    uint open = row;
    uint before = BUNCH_SIZE;
    while (before == BUNCH_SIZE) {
        const uint next = open + 1 + lane;
        const uint begin = next <= last ? starts[next] : 0;
        const int is_before = next <= last && begin <= stop;
        *marks |= marks_of_rows(begin - first, is_before, lane);
        before = bunch_count(is_before);
        open += before;
    }
    return open;
}
#endif

#endif

// As load_step.
#if PAIRS
void load_twos(const task_t *task, const matrices_t *from, const uint first, const uint end, const uint lane,
               loaded_t *loaded)
{
    global const column_t *restrict columns = from->columns + (task->columns + first + 2 * lane);
    global const value_t *restrict values = from->values + (task->values + first + 2 * lane);
    global const value_t *restrict others = values + task->other_values;
    if (first >= task->gap && first + STEP <= end) {
#pragma unroll
        for (uint turn = 0; turn < TURNS; ++turn) {
            const uint at = turn * 2 * BUNCH_SIZE;
            const value_pair_t one = stream_values(values, at);
            const value_pair_t other = stream_values(others, at);
            loaded->columns[2 * turn] = columns[at];
            loaded->columns[2 * turn + 1] = columns[at + 1];
            loaded->values[2 * turn] = (sums_t)(one.first, other.first);
            loaded->values[2 * turn + 1] = (sums_t)(one.second, other.second);
        }
    } else {
#pragma unroll
        for (uint turn = 0; turn < NNZ_PER_ITEM; ++turn) {
            const uint at = turn / 2 * 2 * BUNCH_SIZE + turn % 2;
            const int is_there = first + 2 * lane + at - task->gap < end - task->gap;
            loaded->columns[turn] = is_there ? columns[at] : 0;
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
            const uint at = turn * 2 * BUNCH_SIZE;
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
            const uint at = turn / 2 * 2 * BUNCH_SIZE + turn % 2;
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

// The column of the first or second of the two that an item has of a turn.
uint column_of(const loaded_t *loaded, const uint turn, const uint second)
{
#if COLUMN_WORDS == TURNS
    return second ? loaded->columns[turn] >> 16 : loaded->columns[turn] & 0xffff;
#else
    return loaded->columns[2 * turn + second];
#endif
}

// Their products into local memory, added where no row begins between them. Where no entry is stand zeros times x of
// column 0.
void multiply_twos(const matrices_t *from, const loaded_t *loaded, const uint marks, const uint lane,
                   local sums_t *products)
{
#pragma unroll
    for (uint turn = 0; turn < TURNS; ++turn) {
        const sums_t one = loaded->values[2 * turn] * from->staged_x[X_PLACE(column_of(loaded, turn, 0))];
        const sums_t next = loaded->values[2 * turn + 1] * from->staged_x[X_PLACE(column_of(loaded, turn, 1))];
        local sums_t *to = products + PADDED_TURN(turn, lane);
        if (marks >> turn & 1) {
            to[0] = one;
            to[PADDED_TURNS] = next;
        } else {
            to[0] = one + next;
        }
    }
}
#endif

#endif
