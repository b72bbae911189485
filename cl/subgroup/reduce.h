// Sums over the items of a sub-group by shuffles: no local memory, no barrier.
//
// SUB_GROUP_WIDTH is defined only where neighbouring items are known to run as one and to shuffle: on
// NVIDIA by inline PTX, since its OpenCL has no sub-groups. Elsewhere groups sum through local memory.
#ifndef SUBGROUP_REDUCE_H
#define SUBGROUP_REDUCE_H

#include "item/accumulate.h"

#ifdef __NV_CL_C_VERSION
#define SUB_GROUP_WIDTH 32

// The word of the item `distance` further up in the sub-group. All its items call it.
uint sub_group_shuffle_down(const uint word, const uint distance)
{
    uint result;
    asm volatile("shfl.sync.down.b32 %0, %1, %2, 31, 0xffffffff;"
                 : "=r"(result)
                 : "r"(word), "r"(distance));
    return result;
}

typedef union {
    acc_t sum;
    uint words[ACC_WORDS];
} shuffled_t;

// Adds up each run of `width` neighbouring items; width is a power of two up to SUB_GROUP_WIDTH. All
// items of the sub-group call it with the same width. Valid in the first item of each run.
acc_t sub_group_reduce_runs(const acc_t mine, const uint width)
{
    acc_t sum = mine;
    for (uint half_width = width >> 1; half_width > 0; half_width >>= 1) {
        shuffled_t other;
        other.sum = sum;
        for (uint word = 0; word < ACC_WORDS; ++word)
            other.words[word] = sub_group_shuffle_down(other.words[word], half_width);
        sum = acc_add(sum, other.sum);
    }
    return sum;
}
#endif

#endif
