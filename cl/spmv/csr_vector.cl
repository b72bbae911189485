// CSR-vector: ITEMS_PER_ROW neighbouring items a row (Bell and Garland, 2009).
//
// The items of a row read its nonzeros side by side and then add up their sums in local memory. Suits
// rows of about ITEMS_PER_ROW nonzeros or a few times that; one long row holds its group for as long as
// it is. A row is never cut between groups.
//
// Local memory: GROUP_SIZE sums.

#ifndef GROUP_SIZE
#define GROUP_SIZE 256 // items of a work-group
#endif
#ifndef ITEMS_PER_ROW
#define ITEMS_PER_ROW 8 // items that share a row: a power of two, 1 to 64
#endif

#include "group/reduce.h"

#define ROWS_PER_GROUP (GROUP_SIZE / ITEMS_PER_ROW)

__attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
kernel void csr_vector(const uint rows,
                       ARRAY_PARAMETER(const offset_t, offsets),
                       ARRAY_PARAMETER(const uint, columns),
                       ARRAY_PARAMETER(const value_t, values),
                       ARRAY_PARAMETER(const real_t, x),
                       ARRAY_PARAMETER(real_t, y),
                       SCALAR_PARAMETER(alpha),
                       SCALAR_PARAMETER(beta))
{
    OPEN_ARRAY(const offset_t, offsets);
    OPEN_ARRAY(const uint, columns);
    OPEN_ARRAY(const value_t, values);
    OPEN_ARRAY(const real_t, x);
    OPEN_ARRAY(real_t, y);
    OPEN_SCALAR(alpha);
    OPEN_SCALAR(beta);
    local acc_t scratch[GROUP_SIZE];

    const uint item = (uint)get_local_id(0);
    const ulong row = (ulong)get_group_id(0) * ROWS_PER_GROUP + item / ITEMS_PER_ROW;
    acc_t sum = acc_zero();
    if (row < rows) {
        const offset_t last = offsets[row + 1];
        for (ulong at = (ulong)offsets[row] + item % ITEMS_PER_ROW; at < last; at += ITEMS_PER_ROW)
            sum = acc_mad(sum, load_value(values, at), load_x(x, columns, at));
    }
    sum = group_reduce_runs(sum, scratch, ITEMS_PER_ROW);
    if (row < rows && item % ITEMS_PER_ROW == 0)
        store_result(y, row, alpha, sum, beta);
}
