// Rows of C that several bunches have parts of, added up by a group.
#ifndef SPMM_JOIN_H
#define SPMM_JOIN_H

#include "item/dense.h"

#define PARTS_AT_ONCE 8 // parts of a row under way at a time

// The sum of what each bunch of the group has, for the items of bunch 0: in an order that depends on the number of
// bunches alone. Every item of the group calls it, with one element of `sums` an item; `has_columns` where it has
// something to add.
reals_t sum_of_bunches(reals_t sum, local reals_t *sums, const uint bunch_size, const uint bunches,
                       const int has_columns)
{
    const uint item = (uint)get_local_id(0);
    const uint bunch = item / bunch_size;
    sums[item] = sum;
    for (uint remaining = bunches; remaining > 1; remaining = (remaining + 1) / 2) {
        const uint reach = (remaining + 1) / 2;
        barrier(CLK_LOCAL_MEM_FENCE);
        if (has_columns && bunch + reach < remaining) {
            sum += sums[item + reach * bunch_size];
            sums[item] = sum;
        }
    }
    return sum;
}

#endif
