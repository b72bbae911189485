// Rows of C of few products, an item each: the row's columns stand in order in local memory, and each product is added
// where its column stands, or makes room for it. Products come in the order of A's entries, so sums have one order.
//
// Element k of item i stands at k GROUP_SIZE + i: neighbours meet in no bank.

#ifndef GROUP_SIZE
#define GROUP_SIZE 64 // items of a work-group
#endif
#ifndef CAPACITY
#define CAPACITY 16 // products of a row, at most
#endif

#include "item/scalar.h"

// How many of the first `count` columns are below `column`, all before `from` being so.
uint place_of(local const uint *columns, const uint from, const uint count, const uint column)
{
    uint at = from;
    while (at < count && columns[at * GROUP_SIZE] < column)
        ++at;
    return at;
}

// The entries of each of `count` listed rows of C.
__attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
kernel void count_tiny(const uint count,
                       ARRAY_PARAMETER(const uint, rows),
                       ARRAY_PARAMETER(const offset_t, a_offsets),
                       ARRAY_PARAMETER(const uint, a_columns),
                       ARRAY_PARAMETER(const offset_t, b_begins),
                       ARRAY_PARAMETER(const offset_t, b_ends),
                       ARRAY_PARAMETER(const uint, b_columns),
                       ARRAY_PARAMETER(uint, counts))
{
    OPEN_ARRAY(const uint, rows);
    OPEN_ARRAY(const offset_t, a_offsets);
    OPEN_ARRAY(const uint, a_columns);
    OPEN_ARRAY(const offset_t, b_begins);
    OPEN_ARRAY(const offset_t, b_ends);
    OPEN_ARRAY(const uint, b_columns);
    OPEN_ARRAY(uint, counts);
    local uint all_columns[CAPACITY * GROUP_SIZE];
    local uint *const columns = all_columns + get_local_id(0);
    if (get_global_id(0) >= count)
        return;
    const ulong row = rows[get_global_id(0)];
    const ulong end = a_offsets[row + 1];
    uint entries = 0;
    for (ulong at = a_offsets[row]; at < end; ++at) {
        const uint of_b = a_columns[at];
        const ulong b_end = b_ends[of_b];
        uint place = 0;
        for (ulong b_at = b_begins[of_b]; b_at < b_end; ++b_at) {
            const uint column = b_columns[b_at];
            place = place_of(columns, place, entries, column);
            if (place == entries || columns[place * GROUP_SIZE] != column) {
                for (uint k = entries; k > place; --k)
                    columns[k * GROUP_SIZE] = columns[(k - 1) * GROUP_SIZE];
                columns[place * GROUP_SIZE] = column;
                ++entries;
            }
        }
    }
    counts[row] = entries;
}

// The columns and values of each of `count` listed rows of C.
__attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
kernel void fill_tiny(const uint count,
                      ARRAY_PARAMETER(const uint, rows),
                      ARRAY_PARAMETER(const offset_t, a_offsets),
                      ARRAY_PARAMETER(const uint, a_columns),
                      ARRAY_PARAMETER(const value_t, a_values),
                      ARRAY_PARAMETER(const offset_t, b_begins),
                      ARRAY_PARAMETER(const offset_t, b_ends),
                      ARRAY_PARAMETER(const uint, b_columns),
                      ARRAY_PARAMETER(const value_t, b_values),
                      ARRAY_PARAMETER(const offset_t, c_offsets),
                      ARRAY_PARAMETER(uint, c_columns),
                      ARRAY_PARAMETER(value_t, c_values))
{
    OPEN_ARRAY(const uint, rows);
    OPEN_ARRAY(const offset_t, a_offsets);
    OPEN_ARRAY(const uint, a_columns);
    OPEN_ARRAY(const value_t, a_values);
    OPEN_ARRAY(const offset_t, b_begins);
    OPEN_ARRAY(const offset_t, b_ends);
    OPEN_ARRAY(const uint, b_columns);
    OPEN_ARRAY(const value_t, b_values);
    OPEN_ARRAY(const offset_t, c_offsets);
    OPEN_ARRAY(uint, c_columns);
    OPEN_ARRAY(value_t, c_values);
    local uint all_columns[CAPACITY * GROUP_SIZE];
    local real_t all_sums[CAPACITY * GROUP_SIZE];
    local uint *const columns = all_columns + get_local_id(0);
    local real_t *const sums = all_sums + get_local_id(0);
    if (get_global_id(0) >= count)
        return;
    const ulong row = rows[get_global_id(0)];
    const ulong end = a_offsets[row + 1];
    uint entries = 0;
    for (ulong at = a_offsets[row]; at < end; ++at) {
        const uint of_b = a_columns[at];
        const real_t of_a = load_value(a_values, at);
        const ulong b_end = b_ends[of_b];
        uint place = 0;
        for (ulong b_at = b_begins[of_b]; b_at < b_end; ++b_at) {
            const uint column = b_columns[b_at];
            const real_t product = of_a * load_value(b_values, b_at);
            place = place_of(columns, place, entries, column);
            if (place == entries || columns[place * GROUP_SIZE] != column) {
                for (uint k = entries; k > place; --k) {
                    columns[k * GROUP_SIZE] = columns[(k - 1) * GROUP_SIZE];
                    sums[k * GROUP_SIZE] = sums[(k - 1) * GROUP_SIZE];
                }
                columns[place * GROUP_SIZE] = column;
                sums[place * GROUP_SIZE] = product;
                ++entries;
            } else {
                sums[place * GROUP_SIZE] += product;
            }
        }
    }
    const ulong to = c_offsets[row];
    for (uint k = 0; k < entries; ++k) {
        c_columns[to + k] = columns[k * GROUP_SIZE];
        c_values[to + k] = sums[k * GROUP_SIZE];
    }
}
