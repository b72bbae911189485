// A dense matrix from compressed rows: zeros first, then the nonzeros. Element (row, column) lies at
// row * row_stride + column * column_stride, one of which is 1. What lies between rows (columns) is left alone.
//
// Nonzeros of one row and column add up. Where every row is in order of its columns they are neighbours, and the first
// of them adds up the others: `scatter_nonzeros`, an item a nonzero. `find_disorder` says where some row is not:
//
//   disorder[0]   1 where a column is below that of the nonzero before it in its row; `zero_dense` sets it to 0
//
// Then an item adds up a whole row, in the dense matrix: `add_rows`. Both are launched, and one of them does nothing.
//
// On a CPU device, where an item is a loop, an item does all of this for a row that has no gaps: `write_rows`.
#ifndef GROUP_SIZE
#define GROUP_SIZE 256 // items of a work-group
#endif
#ifndef ELEMENTS_PER_ITEM
#define ELEMENTS_PER_ITEM 8 // elements that an item sets to zero, GROUP_SIZE apart
#endif

#include "item/scalar.h"
#include "item/store.h"

// `lines` runs of `length` elements, `leading` apart; one line where there are no gaps.
__attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
kernel void zero_dense(const ulong lines,
                       const ulong length,
                       const ulong leading,
                       ARRAY_PARAMETER(bits_t, dense),
                       ARRAY_PARAMETER(uint, disorder))
{
    OPEN_ARRAY(bits_t, dense);
    OPEN_ARRAY(uint, disorder);
    if (get_global_id(0) == 0)
        *disorder = 0;
    const ulong first = (ulong)get_group_id(0) * GROUP_SIZE * ELEMENTS_PER_ITEM + get_local_id(0);
    for (uint k = 0; k < ELEMENTS_PER_ITEM; ++k) {
        const ulong element = first + k * GROUP_SIZE;
        const ulong line = lines > 1 ? element / length : 0;
        if (element < lines * length)
            dense[line * leading + (element - line * length)] = 0;
    }
}

__attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
kernel void find_disorder(const ulong nnz,
                          ARRAY_PARAMETER(const uint, row_indices),
                          ARRAY_PARAMETER(const uint, columns),
                          ARRAY_PARAMETER(uint, disorder))
{
    OPEN_ARRAY(const uint, row_indices);
    OPEN_ARRAY(const uint, columns);
    local uint found;
    const ulong at = get_global_id(0);
    if (get_local_id(0) == 0)
        found = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (at > 0 && at < nnz && columns[at] < columns[at - 1] && row_indices[at] == row_indices[at - 1])
        atomic_or(&found, 1u);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_local_id(0) == 0 && found)
        atomic_or(disorder_buffer + disorder_start, 1u);
}

__attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
kernel void scatter_nonzeros(const ulong nnz,
                             const ulong row_stride,
                             const ulong column_stride,
                             ARRAY_PARAMETER(const uint, disorder),
                             ARRAY_PARAMETER(const uint, row_indices),
                             ARRAY_PARAMETER(const uint, columns),
                             ARRAY_PARAMETER(const value_t, values),
                             ARRAY_PARAMETER(bits_t, dense))
{
    OPEN_ARRAY(const uint, disorder);
    OPEN_ARRAY(const uint, row_indices);
    OPEN_ARRAY(const uint, columns);
    OPEN_ARRAY(const value_t, values);
    OPEN_ARRAY(bits_t, dense);
    const ulong at = get_global_id(0);
    if (at >= nnz || *disorder)
        return;
    const uint row = row_indices[at];
    const uint column = columns[at];
    if (at > 0 && columns[at - 1] == column && row_indices[at - 1] == row)
        return; // added to the first of its row and column
    bits_t bits = ((global const bits_t *)values)[at];
    ulong beyond = at + 1;
    for (; beyond < nnz && columns[beyond] <= column && row_indices[beyond] <= row; ++beyond)
        ;
    if (beyond > at + 1) {
        real_t sum = load_value(values, at);
        for (ulong more = at + 1; more < beyond; ++more)
            sum += load_value(values, more);
        bits = bits_of_real(sum);
    }
    dense[row * row_stride + column * column_stride] = bits;
}

// Sums of several 16-bit values are rounded after each of them.
__attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
kernel void add_rows(const uint rows,
                     const ulong row_stride,
                     const ulong column_stride,
                     ARRAY_PARAMETER(const uint, disorder),
                     ARRAY_PARAMETER(const offset_t, offsets),
                     ARRAY_PARAMETER(const uint, columns),
                     ARRAY_PARAMETER(const value_t, values),
                     ARRAY_PARAMETER(bits_t, dense))
{
    OPEN_ARRAY(const uint, disorder);
    OPEN_ARRAY(const offset_t, offsets);
    OPEN_ARRAY(const uint, columns);
    OPEN_ARRAY(const value_t, values);
    OPEN_ARRAY(bits_t, dense);
    const size_t row = get_global_id(0);
    if (row >= rows || !*disorder)
        return;
    const offset_t last = offsets[row + 1];
    for (offset_t at = offsets[row]; at < last; ++at) {
        const ulong element = row * row_stride + columns[at] * column_stride;
        const bits_t before = dense[element];
        // Nothing but zero was there: bits stay as they are, the sign of a zero too.
        const bits_t bits = ((global const bits_t *)values)[at];
        dense[element] = before == 0 ? bits : bits_of_real(real_of_bits(before) + real_of_bits(bits));
    }
}

// Zeros and nonzeros of rows without gaps, an item a row. `leading` elements from a row to the next.
__attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
kernel void write_rows(const uint rows,
                       const uint cols,
                       const ulong leading,
                       ARRAY_PARAMETER(const offset_t, offsets),
                       ARRAY_PARAMETER(const uint, columns),
                       ARRAY_PARAMETER(const value_t, values),
                       ARRAY_PARAMETER(bits_t, dense))
{
    OPEN_ARRAY(const offset_t, offsets);
    OPEN_ARRAY(const uint, columns);
    OPEN_ARRAY(const value_t, values);
    OPEN_ARRAY(bits_t, dense);
    const size_t row = get_global_id(0);
    if (row >= rows)
        return;
    global bits_t* to = dense + row * leading;
    for (uint column = 0; column < cols; ++column)
        to[column] = 0;
    const offset_t first = offsets[row];
    const offset_t last = offsets[row + 1];
    bool in_order = true;
    for (offset_t at = first; at + 1 < last; ++at)
        in_order = in_order && columns[at] <= columns[at + 1];
    for (offset_t at = first; at < last;) {
        const uint column = columns[at];
        bits_t bits = ((global const bits_t *)values)[at];
        if (!in_order) {
            const bits_t before = to[column];
            to[column] = before == 0 ? bits : bits_of_real(real_of_bits(before) + real_of_bits(bits));
            ++at;
            continue;
        }
        const offset_t one = at++;
        if (at < last && columns[at] == column) {
            real_t sum = load_value(values, one);
            for (; at < last && columns[at] == column; ++at)
                sum += load_value(values, at);
            bits = bits_of_real(sum);
        }
        to[column] = bits;
    }
}
