// One item's word for all of its bunch, without local memory: SHUFFLES neighbouring items run in step, and a bunch is
// some of them. Bunches need not call it together.
//
// NVIDIA alone: its OpenCL has no sub-groups, but the instruction (PTX ISA, shfl.sync). Sub-groups elsewhere shuffle
// only where all their items call it together, and bunches have rows of different length (Intel's CPU runtime gives
// wrong words then).
#ifndef SUBGROUP_BROADCAST_H
#define SUBGROUP_BROADCAST_H

#include "item/scalar.h"

#if SHUFFLES

typedef struct {
    uint first; // the bunch's first item, among those that run in step
    uint members; // its items, a bit each
} bunch_t;

// The bunch of `bunch_size` items from item `first` on.
bunch_t bunch_of(const uint first, const uint bunch_size)
{
    bunch_t bunch;
    bunch.first = first;
    bunch.members = (bunch_size == 32 ? ~0u : (1u << bunch_size) - 1) << first;
    return bunch;
}

// `mine` of item `place` of the bunch.
uint broadcast_word(const uint mine, const uint place, const bunch_t *bunch)
{
    uint its;
    asm volatile("shfl.sync.idx.b32 %0, %1, %2, 31, %3;"
                 : "=r"(its)
                 : "r"(mine), "r"(bunch->first + place), "r"(bunch->members));
    return its;
}

real_t broadcast_real(const real_t mine, const uint place, const bunch_t *bunch)
{
    union {
        real_t real;
        uint words[REAL_WORDS];
    } its;
    its.real = mine;
#pragma unroll
    for (uint word = 0; word < REAL_WORDS; ++word)
        its.words[word] = broadcast_word(its.words[word], place, bunch);
    return its.real;
}

#endif
#endif
