// A row of few products by one item: its columns stand in order in local memory, and each product is added where its
// column stands, or is inserted.
//
// Element k of item i stands at k GROUP_SIZE + i: neighbours conflict in no bank.
#ifndef SPGEMM_TINY_ALONE_H
#define SPGEMM_TINY_ALONE_H

#include "item/scalar.h"

#define SLOTS (CAPACITY * GROUP_SIZE) // of a group

// How many of the first `count` columns are below `column`, all before `from` being so.
uint slot_of(local const uint *columns, const uint from, const uint count, const uint column)
{
    uint at = from;
    while (at < count && columns[at * GROUP_SIZE] < column)
        ++at;
    return at;
}

// How many columns a row of C has, of A's entries from `begin` to `end`.
uint count_columns(const ulong begin, const ulong end, global const uint *restrict a_columns,
                   global const offset_t *restrict b_begins, global const offset_t *restrict b_ends,
                   global const uint *restrict b_columns, local uint *all_columns, local uint *lengths)
{
    local uint *const columns = all_columns + get_local_id(0);
    uint entries = 0;
    for (ulong at = begin; at < end; ++at) {
        const uint of_b = a_columns[at];
        const ulong b_end = b_ends[of_b];
        uint slot = 0;
        for (ulong b_at = b_begins[of_b]; b_at < b_end; ++b_at) {
            const uint column = b_columns[b_at];
            slot = slot_of(columns, slot, entries, column);
            if (slot == entries || columns[slot * GROUP_SIZE] != column) {
                for (uint k = entries; k > slot; --k)
                    columns[k * GROUP_SIZE] = columns[(k - 1) * GROUP_SIZE];
                columns[slot * GROUP_SIZE] = column;
                ++entries;
            }
        }
    }
    return entries;
}

// Writes the columns and values of a row of C, of A's entries from `begin` to `end`, from index `to` on.
void fill_row(const ulong begin, const ulong end, const ulong to, const uint entries_of_c,
              global const uint *restrict a_columns, global const value_t *restrict a_values,
              global const offset_t *restrict b_begins, global const offset_t *restrict b_ends,
              global const uint *restrict b_columns, global const value_t *restrict b_values,
              global uint *restrict c_columns, global value_t *restrict c_values,
              local uint *all_columns, local real_t *all_sums, local uint *lengths)
{
    local uint *const columns = all_columns + get_local_id(0);
    local real_t *const sums = all_sums + get_local_id(0);
    uint entries = 0;
    for (ulong at = begin; at < end; ++at) {
        const uint of_b = a_columns[at];
        const real_t of_a = load_value(a_values, at);
        const ulong b_end = b_ends[of_b];
        uint slot = 0;
        for (ulong b_at = b_begins[of_b]; b_at < b_end; ++b_at) {
            const uint column = b_columns[b_at];
            const real_t product = of_a * load_value(b_values, b_at);
            slot = slot_of(columns, slot, entries, column);
            if (slot == entries || columns[slot * GROUP_SIZE] != column) {
                for (uint k = entries; k > slot; --k) {
                    columns[k * GROUP_SIZE] = columns[(k - 1) * GROUP_SIZE];
                    sums[k * GROUP_SIZE] = sums[(k - 1) * GROUP_SIZE];
                }
                columns[slot * GROUP_SIZE] = column;
                sums[slot * GROUP_SIZE] = product;
                ++entries;
            } else {
                sums[slot * GROUP_SIZE] += product;
            }
        }
    }
    for (uint k = 0; k < entries; ++k) {
        c_columns[to + k] = columns[k * GROUP_SIZE];
        c_values[to + k] = sums[k * GROUP_SIZE];
    }
}

#endif
