// The row of each nonzero of compressed rows, and what a transposed copy is made of.
//
// A group takes TILE neighbouring nonzeros and looks for the rows that its first and its last are in; an item then
// looks among those for the rows of its own: few iterations, in the first cache, however rows differ in length.
//
// With ROWS_IN_ORDER, for CPU devices, an item takes NNZ_PER_ITEM neighbouring nonzeros, thousands of them: it looks for
// the row of the first and goes through the offsets from there on, so that no other nonzero is looked for.
#ifndef GROUP_SIZE
#define GROUP_SIZE 256 // items of a work-group
#endif
#ifndef NNZ_PER_ITEM
#define NNZ_PER_ITEM 8 // nonzeros that an item finds the rows of
#endif

#include "item/scalar.h"
#include "group/search.h"

#define TILE (GROUP_SIZE * NNZ_PER_ITEM)

__attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
kernel void expand_rows(const uint rows,
                        const ulong nnz,
                        ARRAY_PARAMETER(const offset_t, offsets),
                        ARRAY_PARAMETER(uint, row_indices))
{
    OPEN_ARRAY(const offset_t, offsets);
    OPEN_ARRAY(uint, row_indices);
#ifdef ROWS_IN_ORDER
    const ulong first = get_global_id(0) * NNZ_PER_ITEM;
    if (first >= nnz)
        return;
    const ulong beyond = min(first + NNZ_PER_ITEM, nnz);
    uint row = rightmost_row(offsets, 0, rows, first);
    for (ulong at = first; at < beyond; ++row) {
        const ulong row_end = min((ulong)offsets[row + 1], beyond);
        for (; at < row_end; ++at)
            row_indices[at] = row;
    }
#else
    local uint boundary_rows[2];
    const uint item = (uint)get_local_id(0);
    const ulong first = (ulong)get_group_id(0) * TILE;
    const ulong last = min(first + TILE, nnz) - 1;
    for (uint boundary = item; boundary < 2; boundary += GROUP_SIZE)
        boundary_rows[boundary] = rightmost_row(offsets, 0, rows, boundary == 0 ? first : last);
    barrier(CLK_LOCAL_MEM_FENCE);
    const uint first_row = boundary_rows[0];
    const uint beyond = boundary_rows[1] + 1;
    for (uint k = 0; k < NNZ_PER_ITEM; ++k) {
        const ulong at = first + k * GROUP_SIZE + item;
        if (at <= last)
            row_indices[at] = rightmost_row(offsets, first_row, beyond, at);
    }
#endif
}

// Keys and numbers of nonzeros, to be sorted by column.
__attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
kernel void number_columns(const uint nnz,
                           ARRAY_PARAMETER(const uint, columns),
                           ARRAY_PARAMETER(uint, keys),
                           ARRAY_PARAMETER(uint, numbers))
{
    OPEN_ARRAY(const uint, columns);
    OPEN_ARRAY(uint, keys);
    OPEN_ARRAY(uint, numbers);
    const size_t at = get_global_id(0);
    if (at < nnz) {
        keys[at] = columns[at];
        numbers[at] = (uint)at;
    }
}

// A transposed matrix's columns are rows, and its values come from the nonzeros whose numbers these are.
__attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
kernel void write_transposed(const uint nnz,
                             ARRAY_PARAMETER(const uint, numbers),
                             ARRAY_PARAMETER(const uint, row_indices),
                             ARRAY_PARAMETER(uint, columns),
                             ARRAY_PARAMETER(offset_t, sources))
{
    OPEN_ARRAY(const uint, numbers);
    OPEN_ARRAY(const uint, row_indices);
    OPEN_ARRAY(uint, columns);
    OPEN_ARRAY(offset_t, sources);
    const size_t at = get_global_id(0);
    if (at < nnz) {
        const uint number = numbers[at];
        columns[at] = row_indices[number];
        sources[at] = number;
    }
}
