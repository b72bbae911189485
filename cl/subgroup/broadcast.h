// One item's word for all of its bunch: `bunch_size` neighbouring items, a power of two, of those that run in step.
// NVIDIA alone: its OpenCL has no sub-groups, but the instruction (PTX ISA, shfl.sync). Bunches that run in step need
// not call it together.
#ifndef SUBGROUP_BROADCAST_H
#define SUBGROUP_BROADCAST_H

#include "item/scalar.h"

#ifdef __NV_CL_C_VERSION
#define HAS_BROADCAST

// The items of this item's bunch, a bit each, among the 32 that run in step.
uint bunch_members(const uint bunch_size)
{
    const uint first = (uint)get_local_id(0) & 31 & ~(bunch_size - 1);
    return (bunch_size == 32 ? ~0u : (1u << bunch_size) - 1) << first;
}

// `mine` of item `place` of the bunch.
uint broadcast_word(const uint mine, const uint place, const uint bunch_size, const uint members)
{
    const uint source = ((uint)get_local_id(0) & 31 & ~(bunch_size - 1)) + place;
    uint its;
    asm volatile("shfl.sync.idx.b32 %0, %1, %2, 31, %3;"
                 : "=r"(its)
                 : "r"(mine), "r"(source), "r"(members));
    return its;
}

real_t broadcast_real(const real_t mine, const uint place, const uint bunch_size, const uint members)
{
    union {
        real_t real;
        uint words[REAL_WORDS];
    } its;
    its.real = mine;
#pragma unroll
    for (uint word = 0; word < REAL_WORDS; ++word)
        its.words[word] = broadcast_word(its.words[word], place, bunch_size, members);
    return its.real;
}

#endif
#endif
