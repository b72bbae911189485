// Rows of C that several sub-groups have parts of, added up by a group. Sub-groups are neighbouring items that take a
// row of C together (spmm/spmm_row_split.cl); they exchange sums through local memory.
#ifndef SPMM_JOIN_H
#define SPMM_JOIN_H

#include "item/dense.h"

#define PARTS_AT_ONCE 8 // parts of a row under way at a time

// The sum over the sub-groups of a group, valid in the items of sub-group 0: in an order that depends on the number of
// sub-groups alone. Every item of the group calls it, with one element of `sums` an item; `has_columns` where it has
// something to add.
reals_t sum_over_sub_groups(reals_t sum, local reals_t *sums, const uint sub_group_size, const uint sub_groups,
                       const int has_columns)
{
    const uint item = (uint)get_local_id(0);
    const uint sub_group = item / sub_group_size;
    sums[item] = sum;
    for (uint remaining = sub_groups; remaining > 1; remaining = (remaining + 1) / 2) {
        const uint reach = (remaining + 1) / 2;
        barrier(CLK_LOCAL_MEM_FENCE);
        if (has_columns && sub_group + reach < remaining) {
            sum += sums[item + reach * sub_group_size];
            sums[item] = sum;
        }
    }
    return sum;
}

#endif
