// A batch of GROUP_SIZE entries of a row of A, for the kernels that look for C's columns.
#ifndef SPGEMM_BATCH_H
#define SPGEMM_BATCH_H

#include "spgemm/entries.h"
#include "group/scan.h"

// Sets `starts` and `ends` of the entries from `first` on, before `beyond`; with `is_cut`, of B's columns `low` to
// `high` alone. Returns the products of the batch. All items of the group call it; other items may still be reading
// what the last call set. The three arrays have GROUP_SIZE elements.
ulong open_batch(global const uint *restrict a_columns, const ulong first, const ulong beyond,
                 global const offset_t *restrict b_begins, global const offset_t *restrict b_ends,
                 global const uint *restrict b_columns, const int is_cut, const ulong low, const ulong high,
                 local ulong *starts, local ulong *ends, local ulong *scratch)
{
    const uint item = (uint)get_local_id(0);
    ulong2 part = (ulong2)(0, 0);
    if (first + item < beyond) {
        const uint row = a_columns[first + item];
        part = (ulong2)(b_begins[row], b_ends[row]);
        if (is_cut)
            part = row_within(b_columns, part.x, part.y, (uint)low, (uint)high);
    }
    ulong total;
    const ulong before = group_scan_exclusive(part.y - part.x, scratch, &total);
    starts[item] = part.x - before;
    ends[item] = before + (part.y - part.x);
    barrier(CLK_LOCAL_MEM_FENCE);
    return total;
}

#endif
