// Whether the columns of every row ascend, none twice; and what makes a copy of a matrix whose columns do not: keys to
// sort its entries by, and the sorted rows with repeated columns added up, in the order in which they stood.
//
// The copy has the offsets of the matrix. Rows that had a column twice end before the next one begins.

#ifndef GROUP_SIZE
#define GROUP_SIZE 256 // items of a work-group
#endif

#include "item/scalar.h"

void add_wide_local(local uint *sum, const ulong value)
{
    const uint low = (uint)value;
    const uint before = atomic_add(sum, low);
    atomic_add(sum + 1, (uint)(value >> 32) + (before + low < before));
}

// Columns ascend in every row where as many entries do not lie beyond the one before as rows begin with such an entry.
// `descents`, 0 before, are two numbers of two words: entries, rows.
__attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
kernel void count_descents(const uint rows,
                           const ulong nnz,
                           ARRAY_PARAMETER(const offset_t, offsets),
                           ARRAY_PARAMETER(const uint, columns),
                           ARRAY_PARAMETER(uint, descents))
{
    OPEN_ARRAY(const offset_t, offsets);
    OPEN_ARRAY(const uint, columns);
    OPEN_ARRAY(uint, descents);
    local uint of_group[4];
    const uint item = (uint)get_local_id(0);
    for (uint word = item; word < 4; word += GROUP_SIZE)
        of_group[word] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    ulong entries = 0;
    for (ulong at = get_global_id(0) + 1; at < nnz; at += get_global_size(0))
        entries += columns[at] <= columns[at - 1];
    ulong begins = 0;
    for (ulong row = get_global_id(0); row < rows; row += get_global_size(0)) {
        const ulong begin = offsets[row];
        if (begin > 0 && begin < offsets[row + 1])
            begins += columns[begin] <= columns[begin - 1];
    }
    // Nearly all items of nearly all matrices have none.
    if (entries > 0)
        add_wide_local(of_group, entries);
    if (begins > 0)
        add_wide_local(of_group + 2, begins);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint number = item; number < 2; number += GROUP_SIZE) {
        volatile global uint *const sum = descents + 2 * number;
        const uint before = atomic_add(sum, of_group[2 * number]);
        atomic_add(sum + 1, of_group[2 * number + 1] + (before + of_group[2 * number] < before));
    }
}

// The key of each entry, row above column, and its number.
__attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
kernel void write_keys(const uint rows,
                       const uint column_bits,
                       ARRAY_PARAMETER(const offset_t, offsets),
                       ARRAY_PARAMETER(const uint, columns),
                       ARRAY_PARAMETER(ulong, keys),
                       ARRAY_PARAMETER(uint, entries))
{
    OPEN_ARRAY(const offset_t, offsets);
    OPEN_ARRAY(const uint, columns);
    OPEN_ARRAY(ulong, keys);
    OPEN_ARRAY(uint, entries);
    const ulong row = get_global_id(0);
    if (row < rows) {
        const ulong end = offsets[row + 1];
        for (ulong at = offsets[row]; at < end; ++at) {
            keys[at] = row << column_bits | columns[at];
            entries[at] = (uint)at;
        }
    }
}

// Columns and values in the order of the sorted keys, repeated ones added up, and where each row ends.
__attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
kernel void merge_rows(const uint rows,
                       const uint column_bits,
                       ARRAY_PARAMETER(const offset_t, offsets),
                       ARRAY_PARAMETER(const ulong, keys),
                       ARRAY_PARAMETER(const uint, entries),
                       ARRAY_PARAMETER(const value_t, values),
                       ARRAY_PARAMETER(offset_t, ends),
                       ARRAY_PARAMETER(uint, columns),
                       ARRAY_PARAMETER(value_t, sums))
{
    OPEN_ARRAY(const offset_t, offsets);
    OPEN_ARRAY(const ulong, keys);
    OPEN_ARRAY(const uint, entries);
    OPEN_ARRAY(const value_t, values);
    OPEN_ARRAY(offset_t, ends);
    OPEN_ARRAY(uint, columns);
    OPEN_ARRAY(value_t, sums);
    const ulong row = get_global_id(0);
    if (row < rows) {
        const ulong end = offsets[row + 1];
        ulong to = offsets[row];
        for (ulong at = to; at < end;) {
            const ulong key = keys[at];
            real_t sum = load_value(values, entries[at]);
            for (++at; at < end && keys[at] == key; ++at)
                sum += load_value(values, entries[at]);
            columns[to] = (uint)(key & ((1ul << column_bits) - 1));
            sums[to] = sum;
            ++to;
        }
        ends[row] = (offset_t)to;
    }
}
