// Sums of spmm/spmm_row_split.cl, of rows that several sub-groups or teams of a group have parts of, added up in local
// memory. It asks for GROUP_SIZE, ROWS_AT_ONCE and SUB_GROUPS_PER_ROW, and whether parts are groups' (GROUP_A_PART).
#ifndef SPMM_SUM_OVER_H
#define SPMM_SUM_OVER_H

#include "item/dense.h"

// Rows whose sums are added up at a time: all of an i-node where shares have the local memory for them anyway.
#if SUB_GROUPS_PER_ROW > 1
#define ROWS_ADDED ROWS_AT_ONCE
#else
#define ROWS_ADDED 1
#endif

#if SUB_GROUPS_PER_ROW > 1 || defined(GROUP_A_PART)
// Every item of a group calls the following, so that none leaves the kernel before.
#define HAS_BARRIERS

// Adds up the sums of ROWS_ADDED rows over `count` sub-groups, or teams; what the first of them then has is valid, in an
// order that depends on their number alone. `index` is the number of the item's own among them, `own` its element of
// `shared` for the first row, and the next one's lies `apart` further; the next row's GROUP_SIZE. `has_sums` where it has
// something to add.
void sum_over(reals_t *sums, local reals_t *shared, const uint index, const uint count, const uint own,
              const uint apart, const int has_sums)
{
    if (has_sums) {
#pragma unroll
        for (uint other = 0; other < ROWS_ADDED; ++other)
            shared[other * GROUP_SIZE + own] = sums[other];
    }
    for (uint remaining = count; remaining > 1; remaining = (remaining + 1) / 2) {
        const uint reach = (remaining + 1) / 2;
        barrier(CLK_LOCAL_MEM_FENCE);
        if (has_sums && index + reach < remaining) {
#pragma unroll
            for (uint other = 0; other < ROWS_ADDED; ++other) {
                local reals_t *const of_row = shared + other * GROUP_SIZE + own;
                sums[other] += of_row[reach * apart];
                *of_row = sums[other];
            }
        }
    }
}
#endif

#endif
