// Row offsets of entries that are sorted by row: the number of entries before each row, by a binary search a
// row. On the way a look at whether they are sorted, and whether every row lies inside:
//
//   fault[0]   0, or 1 where an entry's row is below that of the entry before it, or not below `rows`;
//              the offsets are invalid then
//
// One item a row and one an entry, the same ones: whichever are more. The entries of a matrix lie close in
// memory, and so does what neighbouring rows read.
#ifndef GROUP_SIZE
#define GROUP_SIZE 256 // items of a work-group
#endif

#include "item/scalar.h"

// How many of the first `count` entries lie in rows before `row`.
uint entries_before(global const uint *restrict row_indices, const uint count, const uint row)
{
    uint first = 0;
    uint beyond = count;
    while (first < beyond) {
        const uint middle = first + (beyond - first) / 2;
        if (row_indices[middle] < row)
            first = middle + 1;
        else
            beyond = middle;
    }
    return first;
}

__attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
kernel void row_offsets(const uint rows,
                        const uint nnz,
                        ARRAY_PARAMETER(const uint, row_indices),
                        ARRAY_PARAMETER(uint, offsets),
                        ARRAY_PARAMETER(uint, fault))
{
    OPEN_ARRAY(const uint, row_indices);
    OPEN_ARRAY(uint, offsets);
    const ulong item = get_global_id(0);
    if (item < nnz) {
        const uint row = row_indices[item];
        const int is_below = item > 0 && row < row_indices[item - 1];
        if (is_below || row >= rows)
            atomic_or(fault_buffer + fault_start, 1u);
    }
    if (item <= rows)
        offsets[item] = entries_before(row_indices, nnz, (uint)item);
}
