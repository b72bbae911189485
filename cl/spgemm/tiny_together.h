// A row of few products by ROW_ITEMS items: its products stand in local memory, in the order of A's entries, and each is
// compared with all. The first of a column takes the sum of those that follow, in order; its index in the row of C is
// the number of smaller columns.
//
// That is many comparisons, but every item of a row reads the same word, and none waits for another. A list in order, in
// which each product is inserted, is a chain of loads and stores.
#ifndef SPGEMM_TINY_TOGETHER_H
#define SPGEMM_TINY_TOGETHER_H

#include "item/scalar.h"

#define PER_ITEM ((CAPACITY + ROW_ITEMS - 1) / ROW_ITEMS) // products that an item answers for
#define STRIDE (CAPACITY + 1) // slots of a row: the same slot of all rows is in several banks
#define SLOTS (GROUP_SIZE / ROW_ITEMS * STRIDE) // of a group
#define EMPTY 0xffffffffu // no column: those are below the number of columns, which 32 bits hold

// Rounds in which all rows of the group have looked at so many entries of A, ROW_ITEMS at a time: one at least. All
// items of the group call it.
uint rounds_of_group(const ulong entries, local uint *lengths)
{
    lengths[get_local_id(0)] = 1;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (entries > ROW_ITEMS)
        atomic_max(lengths, (uint)((entries - 1) / ROW_ITEMS) + 1);
    barrier(CLK_LOCAL_MEM_FENCE);
    const uint rounds = lengths[0];
    barrier(CLK_LOCAL_MEM_FENCE);
    return rounds;
}

// The sum of what the items of a row before this one have, and *total, to which what all have is added. All items of the
// group call it, with a barrier before the next call.
uint first_slot(const uint length, local uint *lengths, uint *total)
{
    const uint item = (uint)get_local_id(0);
    lengths[item] = length;
    barrier(CLK_LOCAL_MEM_FENCE);
    uint slot = *total;
    for (uint k = 0; k < ROW_ITEMS; ++k) {
        const uint other = lengths[item / ROW_ITEMS * ROW_ITEMS + k];
        slot += k < item % ROW_ITEMS ? other : 0;
        *total += other;
    }
    return slot;
}

// How many columns a row of C has, of A's entries from `begin` to `end`. All items of the group call it.
uint count_columns(const ulong begin, const ulong end, global const uint *restrict a_columns,
                   global const offset_t *restrict b_begins, global const offset_t *restrict b_ends,
                   global const uint *restrict b_columns, local uint *all_columns, local uint *lengths)
{
    const uint of_row = (uint)get_local_id(0) % ROW_ITEMS;
    local uint *const columns = all_columns + (uint)get_local_id(0) / ROW_ITEMS * STRIDE;
    const uint rounds = rounds_of_group(end - begin, lengths);
    uint total = 0;
    uint round = 0;
    do {
        const ulong at = begin + (ulong)round * ROW_ITEMS + of_row;
        ulong from = 0;
        uint length = 0;
        if (at < end) {
            const uint of_b = a_columns[at];
            from = b_begins[of_b];
            length = (uint)(b_ends[of_b] - from);
        }
        const uint slot = first_slot(length, lengths, &total);
        for (uint k = 0; k < length; ++k)
            columns[slot + k] = b_columns[from + k];
        barrier(CLK_LOCAL_MEM_FENCE);
        ++round;
    } while (round < rounds);
    uint mine[PER_ITEM];
    uint is_repeated[PER_ITEM];
#pragma unroll
    for (uint k = 0; k < PER_ITEM; ++k) {
        const uint product = k * ROW_ITEMS + of_row;
        mine[k] = product < total ? columns[product] : EMPTY;
        is_repeated[k] = product >= total;
    }
    // A product is compared with those before it: all of the blocks of ROW_ITEMS before its own, and some of that.
#pragma unroll
    for (uint block = 0; block < PER_ITEM; ++block) {
        const uint first = block * ROW_ITEMS;
        const uint end = min(total, first + ROW_ITEMS);
        for (uint other = first; other < end; ++other) {
            const uint column = columns[other];
            is_repeated[block] |= (column == mine[block]) & (other < first + of_row);
#pragma unroll
            for (uint k = block + 1; k < PER_ITEM; ++k)
                is_repeated[k] |= column == mine[k];
        }
    }
    uint entries = 0;
#pragma unroll
    for (uint k = 0; k < PER_ITEM; ++k)
        entries += 1 - is_repeated[k];
    total = 0;
    first_slot(entries, lengths, &total);
    return total;
}

// Writes the columns and values of a row of C, of A's entries from `begin` to `end`, from index `to` on, of
// which there are `entries`. All items of the group call it.
void fill_row(const ulong begin, const ulong end, const ulong to, const uint entries,
              global const uint *restrict a_columns, global const value_t *restrict a_values,
              global const offset_t *restrict b_begins, global const offset_t *restrict b_ends,
              global const uint *restrict b_columns, global const value_t *restrict b_values,
              global uint *restrict c_columns, global value_t *restrict c_values,
              local uint *all_columns, local real_t *all_products, local uint *lengths)
{
    const uint of_row = (uint)get_local_id(0) % ROW_ITEMS;
    local uint *const columns = all_columns + (uint)get_local_id(0) / ROW_ITEMS * STRIDE;
    local real_t *const products = all_products + (uint)get_local_id(0) / ROW_ITEMS * STRIDE;
    const uint rounds = rounds_of_group(end - begin, lengths);
    uint total = 0;
    uint round = 0;
    do {
        const ulong at = begin + (ulong)round * ROW_ITEMS + of_row;
        ulong from = 0;
        uint length = 0;
        real_t of_a = 0;
        if (at < end) {
            const uint of_b = a_columns[at];
            of_a = load_value(a_values, at);
            from = b_begins[of_b];
            length = (uint)(b_ends[of_b] - from);
        }
        const uint slot = first_slot(length, lengths, &total);
        for (uint k = 0; k < length; ++k) {
            columns[slot + k] = b_columns[from + k];
            products[slot + k] = of_a * load_value(b_values, from + k);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        ++round;
    } while (round < rounds);
    uint mine[PER_ITEM];
    real_t sums[PER_ITEM];
    uint is_repeated[PER_ITEM];
#pragma unroll
    for (uint k = 0; k < PER_ITEM; ++k) {
        const uint product = k * ROW_ITEMS + of_row;
        mine[k] = product < total ? columns[product] : EMPTY;
        sums[k] = product < total ? products[product] : 0;
        is_repeated[k] = product >= total;
    }
    // Most rows have no column twice.
    if (entries < total) {
        for (uint other = 0; other < total; ++other) {
            const uint column = columns[other];
            const real_t value = products[other];
#pragma unroll
            for (uint k = 0; k < PER_ITEM; ++k) {
                const uint product = k * ROW_ITEMS + of_row;
                is_repeated[k] |= (column == mine[k]) & (other < product);
                sums[k] = ((column == mine[k]) & (other > product)) ? sums[k] + value : sums[k];
            }
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (entries < total) {
#pragma unroll
        for (uint k = 0; k < PER_ITEM; ++k) {
            if (is_repeated[k] && k * ROW_ITEMS + of_row < total)
                columns[k * ROW_ITEMS + of_row] = EMPTY;
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint ranks[PER_ITEM];
#pragma unroll
    for (uint k = 0; k < PER_ITEM; ++k)
        ranks[k] = 0;
    for (uint other = 0; other < total; ++other) {
        const uint column = columns[other];
#pragma unroll
        for (uint k = 0; k < PER_ITEM; ++k)
            ranks[k] += column < mine[k];
    }
#pragma unroll
    for (uint k = 0; k < PER_ITEM; ++k) {
        if (!is_repeated[k]) {
            c_columns[to + ranks[k]] = mine[k];
            c_values[to + ranks[k]] = sums[k];
        }
    }
}

#endif
