// Broadcasts an item's word to its sub-group without local memory. A sub-group here is some neighbouring items out of
// SHUFFLES that the device runs in step; several need not call it together.
//
// NVIDIA alone: its OpenCL lacks cl_khr_subgroups, but has the instruction (PTX ISA, shfl.sync). Sub-groups of OpenCL
// shuffle only where all their items call it together, and here they have rows of different length (Intel's CPU
// runtime returns wrong words then).
#ifndef SUBGROUP_BROADCAST_H
#define SUBGROUP_BROADCAST_H

#include "item/scalar.h"

#if SHUFFLES

typedef struct {
    uint first; // its first item, among those that run in step
    uint members; // its items, a bit each
} sub_group_t;

// The sub-group of `sub_group_size` items from item `first` on.
sub_group_t sub_group_of(const uint first, const uint sub_group_size)
{
    sub_group_t sub_group;
    sub_group.first = first;
    sub_group.members = (sub_group_size == 32 ? ~0u : (1u << sub_group_size) - 1) << first;
    return sub_group;
}

// Returns `mine` of lane `lane` of the sub-group.
uint broadcast_word(const uint mine, const uint lane, const sub_group_t *sub_group)
{
    uint its;
    asm volatile("shfl.sync.idx.b32 %0, %1, %2, 31, %3;"
                 : "=r"(its)
                 : "r"(mine), "r"(sub_group->first + lane), "r"(sub_group->members));
    return its;
}

real_t broadcast_real(const real_t mine, const uint lane, const sub_group_t *sub_group)
{
    union {
        real_t real;
        uint words[REAL_WORDS];
    } its;
    its.real = mine;
#pragma unroll
    for (uint word = 0; word < REAL_WORDS; ++word)
        its.words[word] = broadcast_word(its.words[word], lane, sub_group);
    return its.real;
}

#endif
#endif
