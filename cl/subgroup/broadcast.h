// One item's word for all of its bunch, without local memory: SHUFFLES neighbouring items run in step, and a bunch is
// some of them. Bunches need not call it together.
//
// NVIDIA's OpenCL has no sub-groups, but the instruction (PTX ISA, shfl.sync). Elsewhere it takes sub-groups of
// SHUFFLES items: Intel's (cl_intel_subgroups, cl_intel_required_subgroup_size), or Khronos's
// (cl_khr_subgroup_shuffle) where the device has just one size of them.
#ifndef SUBGROUP_BROADCAST_H
#define SUBGROUP_BROADCAST_H

#include "item/scalar.h"

#define IN_STEP_ATTRIBUTE

#if SHUFFLES

typedef struct {
    uint first; // the bunch's first item, among those that run in step
    uint members; // its items, a bit each
} bunch_t;

#if defined(__NV_CL_C_VERSION)
#define SHUFFLE(its, mine, source, members) \
    asm volatile("shfl.sync.idx.b32 %0, %1, %2, 31, %3;" : "=r"(its) : "r"(mine), "r"(source), "r"(members))
#elif defined(cl_intel_subgroups)
#pragma OPENCL EXTENSION cl_intel_subgroups : enable
#undef IN_STEP_ATTRIBUTE
#define IN_STEP_ATTRIBUTE __attribute__((intel_reqd_sub_group_size(SHUFFLES)))
#define SHUFFLE(its, mine, source, members) its = intel_sub_group_shuffle(mine, source)
#else
#pragma OPENCL EXTENSION cl_khr_subgroup_shuffle : enable
#define SHUFFLE(its, mine, source, members) its = sub_group_shuffle(mine, source)
#endif

// The bunch of `bunch_size` items from item `first` on.
bunch_t bunch_of(const uint first, const uint bunch_size)
{
    bunch_t bunch;
    bunch.first = first;
    bunch.members = (bunch_size >= 32 ? ~0u : (1u << bunch_size) - 1) << first % 32;
    return bunch;
}

// `mine` of item `place` of the bunch.
uint broadcast_word(const uint mine, const uint place, const bunch_t *bunch)
{
    uint its;
    SHUFFLE(its, mine, bunch->first + place, bunch->members);
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
