// Sums over the items of a work-group, in an order that depends on nothing but the item numbers: the
// same bits every time.
#ifndef GROUP_REDUCE_H
#define GROUP_REDUCE_H

#include "item/accumulate.h"

// Adds up each run of `width` neighbouring items; width is a power of two that divides GROUP_SIZE.
// All items of the group call it with the same width; `scratch` holds GROUP_SIZE sums. Other items may
// still be reading it when the call begins, and it may be written again at once when the call is over.
// Valid in the first item of each run.
//
// The order depends on `width` alone.
acc_t group_reduce_runs(const acc_t mine, local acc_t *scratch, const uint width)
{
    const uint item = (uint)get_local_id(0);
    acc_t sum = mine;
    barrier(CLK_LOCAL_MEM_FENCE);
    scratch[item] = sum;
    for (uint half_width = width >> 1; half_width > 0; half_width >>= 1) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if ((item & (width - 1)) < half_width) {
            sum = acc_add(sum, scratch[item + half_width]);
            scratch[item] = sum;
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    return sum;
}

// Adds up all items of a group of any size. All items call it, as above; valid in item 0.
acc_t group_reduce(const acc_t mine, local acc_t *scratch)
{
    const uint item = (uint)get_local_id(0);
    acc_t sum = mine;
    barrier(CLK_LOCAL_MEM_FENCE);
    scratch[item] = sum;
    for (uint width = GROUP_SIZE; width > 1; width = (width + 1) / 2) {
        const uint other = item + (width + 1) / 2;
        barrier(CLK_LOCAL_MEM_FENCE);
        if (other < width) {
            sum = acc_add(sum, scratch[other]);
            scratch[item] = sum;
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    return sum;
}

#endif
