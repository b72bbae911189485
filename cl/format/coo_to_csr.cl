// Compressed rows from entries in any order. An entry's key is its row above the column's `column_bits` bits: sorted
// by it (`format/sort.cl`), entries come in order of row and column, and those of one row and column in the order they
// had.
//
// `make_keys` looks at every entry on the way:
//
//   findings[0]   1 where an entry stands before another that it belongs after; 0 before
//   findings[1]   the first entry whose row is not below `rows`; all bits set before, and where there is none
//   findings[2]   the same for columns
//
// Where entries of one row and column are summed, `mark_firsts` marks the first of each, and the scan of the marks
// gives indices: entry i goes to indices[i] if it is a first, and is added to the first before it if not. Where they
// are kept (`is_packed` 0) each stays where the sort put it, and `indices` is not read.
#ifndef GROUP_SIZE
#define GROUP_SIZE 256 // items of a work-group
#endif

#include "item/scalar.h"
#include "item/store.h"

#ifdef NARROW_KEYS
typedef uint key_t;
#else
typedef ulong key_t;
#endif

key_t key_of(const uint row, const uint column, const uint column_bits)
{
    return (key_t)((ulong)row << column_bits | column);
}

__attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
kernel void make_keys(const uint nnz,
                      const uint rows,
                      const uint cols,
                      const uint column_bits,
                      ARRAY_PARAMETER(const uint, row_indices),
                      ARRAY_PARAMETER(const uint, column_indices),
                      ARRAY_PARAMETER(key_t, keys),
                      ARRAY_PARAMETER(uint, numbers),
                      ARRAY_PARAMETER(uint, findings))
{
    OPEN_ARRAY(const uint, row_indices);
    OPEN_ARRAY(const uint, column_indices);
    OPEN_ARRAY(key_t, keys);
    OPEN_ARRAY(uint, numbers);
    local uint is_unordered; // half of the entries of a shuffled matrix would say so: one a group does
    const size_t at = get_global_id(0);
    if (get_local_id(0) == 0)
        is_unordered = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (at < nnz) {
        const uint row = row_indices[at];
        const uint column = column_indices[at];
        keys[at] = key_of(row, column, column_bits);
        numbers[at] = (uint)at;
        if (row >= rows)
            atomic_min(findings_buffer + findings_start + 1, (uint)at);
        if (column >= cols)
            atomic_min(findings_buffer + findings_start + 2, (uint)at);
        const size_t before = at > 0 ? at - 1 : 0;
        const uint row_before = row_indices[before];
        if (row_before > row || (row_before == row && column_indices[before] > column))
            atomic_or(&is_unordered, 1u);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_local_id(0) == 0 && is_unordered)
        atomic_or(findings_buffer + findings_start, 1u);
}

__attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
kernel void mark_firsts(const uint nnz,
                        ARRAY_PARAMETER(const key_t, keys),
                        ARRAY_PARAMETER(uint, firsts))
{
    OPEN_ARRAY(const key_t, keys);
    OPEN_ARRAY(uint, firsts);
    const size_t at = get_global_id(0);
    if (at < nnz)
        firsts[at] = at == 0 || keys[at - 1] != keys[at] ? 1 : 0;
}

// How many of the first `nnz` ascending keys are below `key`.
uint keys_below(global const key_t *restrict keys, const uint nnz, const ulong key)
{
    uint first = 0;
    uint beyond = nnz;
    while (first < beyond) {
        const uint middle = first + (beyond - first) / 2;
        if (keys[middle] < key)
            first = middle + 1;
        else
            beyond = middle;
    }
    return first;
}

// The number of entries before each row, and of all.
__attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
kernel void find_offsets(const uint rows,
                         const uint nnz,
                         const uint column_bits,
                         const uint is_packed,
                         ARRAY_PARAMETER(const key_t, keys),
                         ARRAY_PARAMETER(const uint, indices),
                         ARRAY_PARAMETER(offset_t, offsets))
{
    OPEN_ARRAY(const key_t, keys);
    OPEN_ARRAY(const uint, indices);
    OPEN_ARRAY(offset_t, offsets);
    const size_t row = get_global_id(0);
    if (row > rows)
        return;
    // After the last row there may be no key of the type.
    const uint before = row < rows ? keys_below(keys, nnz, (ulong)row << column_bits) : nnz;
    offsets[row] = is_packed ? indices[before] : before;
}

__attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
kernel void write_columns(const uint nnz,
                          const uint column_bits,
                          const uint is_packed,
                          ARRAY_PARAMETER(const key_t, keys),
                          ARRAY_PARAMETER(const uint, indices),
                          ARRAY_PARAMETER(uint, columns))
{
    OPEN_ARRAY(const key_t, keys);
    OPEN_ARRAY(const uint, indices);
    OPEN_ARRAY(uint, columns);
    const size_t at = get_global_id(0);
    if (at >= nnz)
        return;
    const uint index = is_packed ? indices[at] : (uint)at;
    if (is_packed && indices[at + 1] == index)
        return; // another of the same row and column came before
    columns[index] = (uint)(keys[at] & (((ulong)1 << column_bits) - 1));
}

// An entry that is alone in its row and column keeps its bits; several are added up one after another, in the order
// they had.
__attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
kernel void write_values(const uint nnz,
                         const uint is_packed,
                         ARRAY_PARAMETER(const uint, numbers),
                         ARRAY_PARAMETER(const uint, indices),
                         ARRAY_PARAMETER(const value_t, from),
                         ARRAY_PARAMETER(bits_t, to))
{
    OPEN_ARRAY(const uint, numbers);
    OPEN_ARRAY(const uint, indices);
    OPEN_ARRAY(const value_t, from);
    OPEN_ARRAY(bits_t, to);
    const size_t at = get_global_id(0);
    if (at >= nnz)
        return;
    global const bits_t *bits = (global const bits_t *)from;
    if (!is_packed) {
        to[at] = bits[numbers[at]];
        return;
    }
    const uint index = indices[at];
    const uint next = indices[at + 1];
    if (next == index)
        return; // added to the first of its row and column
    if (at + 1 == nnz || indices[at + 2] > next) {
        to[index] = bits[numbers[at]];
        return;
    }
    real_t sum = load_value(from, numbers[at]);
    for (size_t more = at + 1; more < nnz && indices[more + 1] <= next; ++more)
        sum += load_value(from, numbers[more]);
    to[index] = bits_of_real(sum);
}
