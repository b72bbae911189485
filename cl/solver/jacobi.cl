// The inverse of a matrix's diagonal: what Jacobi preconditioning multiplies by. ITEMS_PER_ROW neighbouring items look
// through a row; entries of one row and column are added up. `flawed` becomes the least row whose diagonal has no
// inverse.
//
// Local memory: an accumulator an item.

#ifndef GROUP_SIZE
#define GROUP_SIZE 128 // items of a work-group
#endif
#ifndef ITEMS_PER_ROW
#define ITEMS_PER_ROW 8 // items that share a row: a power of two, at most GROUP_SIZE
#endif

#include "group/reduce.h"

__attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
kernel void inverse_diagonal(const uint rows,
                             ARRAY_PARAMETER(const offset_t, offsets),
                             ARRAY_PARAMETER(const uint, columns),
                             ARRAY_PARAMETER(const value_t, values),
                             ARRAY_PARAMETER(real_t, inverse),
                             ARRAY_PARAMETER(uint, flawed))
{
    OPEN_ARRAY(const offset_t, offsets);
    OPEN_ARRAY(const uint, columns);
    OPEN_ARRAY(const value_t, values);
    OPEN_ARRAY(real_t, inverse);
    OPEN_ARRAY(uint, flawed);
    local acc_t scratch[GROUP_SIZE];
    const uint item = (uint)get_local_id(0);
    const uint in_row = item & (ITEMS_PER_ROW - 1);
    const ulong row = (ulong)get_group_id(0) * (GROUP_SIZE / ITEMS_PER_ROW) + item / ITEMS_PER_ROW;
    const int has_row = row < rows;
    const ulong end = has_row ? offsets[row + 1] : 0;
    acc_t sum = acc_zero();
    for (ulong at = has_row ? (ulong)offsets[row] + in_row : 0; at < end; at += ITEMS_PER_ROW) {
        if (columns[at] == row)
            sum = acc_add(sum, load_value(values, at));
    }
    const real_t diagonal = group_reduce_runs(sum, scratch, ITEMS_PER_ROW);
    if (has_row && in_row == 0) {
        const real_t result = 1 / diagonal;
        inverse[row] = result;
        // Of 0, of NaN, of an infinity, or of what is too small.
        if (!isfinite(result) || result == 0)
            atomic_min(flawed, (uint)row);
    }
}
