// Rows of C of few products, an item each or a few: how they find a row's columns is in `tiny_alone.h` for one item, and
// in `tiny_together.h` for several. Either way products are added in the order of A's entries, so sums have one order.
//
// Local memory: for each product that a row of the group may have, and with several items one more a row, 4 bytes and
// with `fill_tiny` a number; and 4 bytes an item.

#ifndef GROUP_SIZE
#define GROUP_SIZE 64 // items of a work-group: a power of two
#endif
#ifndef CAPACITY
#define CAPACITY 16 // products of a row, at most
#endif
#ifndef ROW_ITEMS
#define ROW_ITEMS 1 // items of a row: a power of two, at most GROUP_SIZE
#endif

#include "item/scalar.h"

#if ROW_ITEMS == 1
#include "spgemm/tiny_alone.h"
#else
#include "spgemm/tiny_together.h"
#endif

// The entries of each of `count` listed rows of C.
__attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
kernel void count_listed(const uint count,
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
    local uint columns[SLOTS];
    local uint lengths[GROUP_SIZE];
    const ulong task = get_global_id(0) / ROW_ITEMS;
    const ulong row = task < count ? rows[task] : 0;
    const ulong begin = task < count ? a_offsets[row] : 0;
    const ulong end = task < count ? a_offsets[row + 1] : 0;
    const uint entries = count_columns(begin, end, a_columns, b_begins, b_ends, b_columns, columns, lengths);
    if (task < count && get_global_id(0) % ROW_ITEMS == 0)
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
    local uint columns[SLOTS];
    local real_t numbers[SLOTS];
    local uint lengths[GROUP_SIZE];
    const ulong task = get_global_id(0) / ROW_ITEMS;
    const ulong row = task < count ? rows[task] : 0;
    const ulong begin = task < count ? a_offsets[row] : 0;
    const ulong end = task < count ? a_offsets[row + 1] : 0;
    const ulong to = task < count ? c_offsets[row] : 0;
    const uint entries = task < count ? (uint)(c_offsets[row + 1] - to) : 0;
    fill_row(begin, end, to, entries, a_columns, a_values, b_begins, b_ends, b_columns, b_values, c_columns, c_values,
             columns, numbers, lengths);
}
