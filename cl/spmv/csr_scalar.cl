// CSR-scalar: one work-item a row (Bell and Garland, 2009).
//
// The plainest kernel there is, and the one to read first. Neighbouring items read rows that lie apart,
// so a GPU's loads do not coalesce; on CPUs, where an item is a loop, it is a sound choice. A row is
// never cut: the sum runs in the order the row is stored. No local memory.

#ifndef GROUP_SIZE
#define GROUP_SIZE 64 // items of a work-group
#endif

#include "item/accumulate.h"

__attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
kernel void csr_scalar(const uint rows,
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

    const size_t row = get_global_id(0);
    if (row >= rows)
        return;
    const offset_t last = offsets[row + 1];
    acc_t sum = acc_zero();
    for (offset_t at = offsets[row]; at < last; ++at)
        sum = acc_mad(sum, load_value(values, at), load_x(x, columns, at));
    store_result(y, row, alpha, sum, beta);
}
