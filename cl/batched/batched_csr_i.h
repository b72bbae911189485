// batched_csr_i: each sub-group of a group takes as many nonzeros as the others, wherever rows begin and end (Anzt et
// al. 2017, section 3.5; Flegar and Quintana-Orti 2017). Which row a sub-group's chunk begins in is found in local
// memory, where the places at which rows begin lie anyway: a plan need not know.
//
// A sub-group walks its chunk in steps of SUB_GROUP_SIZE x NNZ_PER_ITEM. In each step its items put products, which
// they loaded side by side, into local memory; then they share out the rows of the step: where there are few, several
// items add up each; where there are many (step_width), each adds up whole rows; and what is left of a row that is long
// next to the others all add up together (share_products), so that it does not hold them up. The row that is open at
// the end of a step is carried to the next, and the row that is open at the end of a chunk to the chunks behind it: its
// parts are added up in their order when all chunks are done, by the sub-group in whose chunk the row ends. So each row
// is stored once, and the bits are the same every time.
//
// ATOMIC: as published. Rows that are cut between sub-groups are added to y by float atomics, as they come.
#ifndef BATCHED_CSR_I_H
#define BATCHED_CSR_I_H

#include "batched/chunks.h"

// A place where a row begins. Tasks of programs that know no other kind have fewer than 2^16; what that saves is space
// for the parts of steps (walk.h), with which a multiprocessor holds no group less.
#ifdef ALL_CSR_I
typedef ushort start_t;
#else
typedef uint start_t;
#endif

// A sub-group's chunk of the task's nonzeros, and how far it is.
typedef struct {
    uint begin; // the place of its first nonzero (chunks.h)
    uint end; // behind its last
    uint first_row; // the row that nonzero `begin` belongs to
    uint last_row; // the row that the next chunk begins in; behind the last chunk, the number of rows
    uint row; // the row that is open
} csr_chunk_t;

// What sub-groups tell each other, in local memory: an element a sub-group.
typedef struct {
    local const start_t *starts; // the places where the task's rows begin, and behind them where its nonzeros end
    local sums_t *leads; // of a row that ends in a chunk and began in one before, what the chunk has
    local sums_t *carries; // the open row's sum so far: after even steps, and behind those after odd ones
} csr_shared_t;

// Puts the places where the task's rows begin into local memory.
void stage_starts(global const offset_t *restrict offsets, const uint rows, const uint gap, local start_t *starts)
{
    const offset_t first = offsets[0];
    for (uint base = 0; base <= rows; base += STAGED_AT_ONCE * GROUP_SIZE) {
        offset_t loaded[STAGED_AT_ONCE];
#pragma unroll
        for (uint turn = 0; turn < STAGED_AT_ONCE; ++turn) {
            const uint row = base + turn * GROUP_SIZE + (uint)get_local_id(0);
            loaded[turn] = row <= rows ? offsets[row] : 0;
        }
#pragma unroll
        for (uint turn = 0; turn < STAGED_AT_ONCE; ++turn) {
            const uint row = base + turn * GROUP_SIZE + (uint)get_local_id(0);
            if (row <= rows)
                starts[row] = (start_t)((uint)(loaded[turn] - first) + gap);
        }
    }
}

// The last row from `row` to `last` that begins at or before place `stop`.
uint open_row(local const start_t *starts, const uint row, const uint last, const uint stop)
{
#ifdef SUB_GROUP_BALLOT
    uint open = row;
    uint before = SUB_GROUP_SIZE;
    while (before == SUB_GROUP_SIZE) {
        const uint next = open + 1 + (uint)get_local_id(0) % SUB_GROUP_SIZE;
        before = ballot_count(next <= last && starts[next] <= stop);
        open += before;
    }
    return open;
#else
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
#endif
}

// The last of a task's `rows` that begins at or before place `boundary`; `rows` where none is behind it. All items of a
// sub-group call it.
uint row_at(local const start_t *starts, const uint rows, const uint boundary)
{
#ifdef SUB_GROUP_BALLOT
    uint row = 0;
    uint beyond = rows + 1;
    while (beyond - row > 1) {
        const uint width = (beyond - row + SUB_GROUP_SIZE - 1) / SUB_GROUP_SIZE;
        const uint next = row + (1 + (uint)get_local_id(0) % SUB_GROUP_SIZE) * width;
        row += width * ballot_count(next < beyond && starts[next] <= boundary);
        beyond = min(row + width, beyond);
    }
    return row;
#else
    return open_row(starts, 0, rows, boundary);
#endif
}

// The sub-group's chunk, once `starts` are there. All items of a sub-group call it.
void open_csr_chunk(const task_t *task, local const start_t *starts, const uint sub_group, csr_chunk_t *chunk)
{
    chunk->begin = chunk_begin(task, sub_group);
    chunk->end = chunk_begin(task, sub_group + 1);
    chunk->first_row = sub_group == 0 ? 0 : row_at(starts, task->rows, chunk->begin);
    chunk->last_row = sub_group + 1 == SUB_GROUPS_PER_GROUP ? task->rows : row_at(starts, task->rows, chunk->end);
    chunk->row = chunk->first_row;
}

// Items that share the rows of a step: no more than have eight products each, since fewer are added up by one item
// before several have told each other. Products of PAIRS are two.
#define STEP_SUMS ((PAIRS + 1) * NNZ_PER_ITEM)
#define STEP_ITEMS (STEP_SUMS < 8 ? SUB_GROUP_SIZE * STEP_SUMS / 8 : SUB_GROUP_SIZE)

// Items that share one row where a step has `count` rows: 2 to the power of this.
uint step_shift(const uint count)
{
    return 2 * count > STEP_ITEMS ? 0 : LOG2(STEP_ITEMS) - (32 - clz(count - 1));
}

// The items themselves.
uint step_width(const uint count)
{
    return 1u << step_shift(count);
}

// Every `stride`-th of the products [begin, end) of a step. Two are loaded before the first is added.
sums_t sum_products(local const sums_t *products, const uint begin, const uint end, const uint stride)
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

#ifdef SUB_GROUP_BALLOT
// As sub_group_sum_runs.
sums_t sum_runs(const sums_t mine, const uint width)
{
#if PAIRS
    sums_t sum = mine;
    for (uint reach = width >> 1; reach > 0; reach >>= 1)
        sum += (sums_t)(shuffle_down_acc(sum.x, reach), shuffle_down_acc(sum.y, reach));
    return sum;
#else
    return sub_group_sum_runs(mine, width);
#endif
}
#endif

#if defined(SUB_GROUP_BALLOT) && defined(LONG_ROWS)
#define SHARES_LONG_ROWS
// The sum of item `place`.
real_t sum_of(const real_t mine, const uint place)
{
    union {
        real_t sum;
        uint words[REAL_WORDS];
    } its;
    its.sum = mine;
#pragma unroll
    for (uint word = 0; word < REAL_WORDS; ++word)
        its.words[word] = shuffle_word(its.words[word], place);
    return its.sum;
}

// The most products of a row that an item adds up before the whole sub-group does.
#define OWN_PRODUCTS 16

// What an item has of products [begin, end), those of a row that `width` items of a step share. Where they are many,
// the sub-group adds up those that are left, row by row, and the first of the row's items has them: else all would wait
// for one long row among short ones. All items of a sub-group call it.
real_t share_products(local const real_t *products, const uint begin, const uint end, const uint width, const uint lane)
{
    const uint part = lane & (width - 1);
    const uint left = min(begin + OWN_PRODUCTS * width, end);
    real_t sum = sum_products(products, begin + part, left, width);
    for (uint rows = ballot(part == 0 && left < end); rows != 0; rows &= rows - 1) {
        const uint first = LOG2(rows & -rows);
        const uint its_end = shuffle_word(end, first);
        const real_t of_lane = sum_products(products, shuffle_word(left, first) + lane, its_end, SUB_GROUP_SIZE);
        const real_t rest = sum_of(sum_runs(of_lane, SUB_GROUP_SIZE), 0);
        if (lane == first)
            sum += rest;
    }
    return sum;
}
#endif

local sums_t *carry_of(const csr_shared_t *shared, const uint step, const uint sub_group)
{
    return shared->carries + (step & 1) * SUB_GROUPS_PER_GROUP + sub_group;
}

int is_first_row_cut(const csr_shared_t *shared, const csr_chunk_t *chunk)
{
    return chunk->begin < chunk->end && shared->starts[chunk->first_row] < chunk->begin;
}

// Whether this sub-group ends a row that began in a chunk before.
int ends_cut_row(const csr_shared_t *shared, const csr_chunk_t *chunk)
{
    return chunk->first_row < chunk->last_row && is_first_row_cut(shared, chunk);
}

// One row's sum in a step is known: it is stored, or carried on, or the end of a row that began in a chunk before.
void end_row_of_step(const csr_shared_t *shared, const csr_chunk_t *chunk, const task_t *task, const uint sub_group,
                     const uint step, const uint open, const uint row, const sums_t of_step,
                     global real_t *restrict y, const sums_t alpha, const sums_t beta)
{
    sums_t sum = of_step;
    if (row == chunk->row)
        sum += *carry_of(shared, step + 1, sub_group);
    if (row == open)
        *carry_of(shared, step, sub_group) = sum;
    else if (row == chunk->first_row && is_first_row_cut(shared, chunk))
        shared->leads[sub_group] = sum;
    else
        store_sums(task, y, row, alpha, sum, beta);
}

// What the chunks before this sub-group's have of the row that begins at place `start` and ends in this sub-group's,
// when all are done. In `carries` lies, every `apart` sums, what each has of the row that is open at its end.
sums_t sum_before(const task_t *task, const uint start, local const sums_t *carries, const uint apart,
                  const uint sub_group)
{
    uint other = sub_group - 1;
    while (start < chunk_begin(task, other))
        --other;
    sums_t sum = (sums_t)(0);
    for (; other < sub_group; ++other)
        sum += carries[other * apart];
    return sum;
}

#endif
