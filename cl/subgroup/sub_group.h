// Sub-groups: SUB_GROUP_SIZE neighbouring items of a work-group, emulated through local memory, or on NVIDIA the lanes
// of a warp.
//
// OpenCL C 1.2 has no barrier for less than a group and no shuffles. So the emulation exchanges numbers in local memory
// and uses the barrier of the group, which every sub-group of a group has to reach the same number of times. NVIDIA
// runs 32 items in step and has instructions for both (PTX ISA, shfl.sync and bar.warp.sync): there a sub-group of up
// to 32 items is a warp or an aligned part of one.
#ifndef SUBGROUP_SUB_GROUP_H
#define SUBGROUP_SUB_GROUP_H

#include "item/accumulate.h"

#if defined(__NV_CL_C_VERSION) && SUB_GROUP_SIZE <= 32 && SUB_GROUP_SIZE * SUB_GROUPS_PER_GROUP % 32 == 0
#define SUB_GROUP_SHUFFLES
#define SUB_GROUP_BARRIER() asm volatile("bar.warp.sync 0xffffffff;" ::: "memory")
#else
#define SUB_GROUP_BARRIER() barrier(CLK_LOCAL_MEM_FENCE)
#endif

// Local memory of a segmented sum over a sub-group; one array element an item.
typedef struct {
    local acc_t *leads; // the sum of an item's elements before the first segment that begins in it
    local uint *begins; // whether a segment begins in it
    local uint *numbers; // segments that begin in it and the items before
} sub_group_segments_t;

#ifdef SUB_GROUP_SHUFFLES
// Bits 8 to 12 keep a shuffle within its sub-group, bits 0 to 4 say where the sub-group ends.
#define SHUFFLE_DOWN_LIMIT ((32 - SUB_GROUP_SIZE) << 8 | 31)
#define SHUFFLE_UP_LIMIT ((32 - SUB_GROUP_SIZE) << 8)

// Returns `mine` of the item `distance` further on; its own where the sub-group has none.
uint shuffle_down_word(const uint mine, const uint distance)
{
    uint its;
    asm volatile("shfl.sync.down.b32 %0, %1, %2, %3, 0xffffffff;"
                 : "=r"(its)
                 : "r"(mine), "r"(distance), "r"(SHUFFLE_DOWN_LIMIT));
    return its;
}

// Returns `mine` of the item `distance` before; its own where the sub-group has none.
uint shuffle_up_word(const uint mine, const uint distance)
{
    uint its;
    asm volatile("shfl.sync.up.b32 %0, %1, %2, %3, 0xffffffff;"
                 : "=r"(its)
                 : "r"(mine), "r"(distance), "r"(SHUFFLE_UP_LIMIT));
    return its;
}

acc_t shuffle_down_acc(const acc_t mine, const uint distance)
{
    union {
        acc_t sum;
        uint words[ACC_WORDS];
    } its;
    its.sum = mine;
#pragma unroll
    for (uint word = 0; word < ACC_WORDS; ++word)
        its.words[word] = shuffle_down_word(its.words[word], distance);
    return its.sum;
}

#if SUB_GROUP_SIZE == 32
#define SUB_GROUP_BALLOT

// Returns a bit for each item of the sub-group: whether `yes` is true there. The sub-group is a whole warp, so that no
// other need call it.
uint ballot(const int yes)
{
    uint yeses;
    asm volatile("{.reg .pred vote; setp.ne.s32 vote, %1, 0; vote.sync.ballot.b32 %0, vote, 0xffffffff;}"
                 : "=r"(yeses)
                 : "r"(yes));
    return yeses;
}

// Returns the number of items of the sub-group in which `yes` is true.
uint ballot_count(const int yes)
{
    return popcount(ballot(yes));
}

// Returns `mine` of item `lane`.
uint shuffle_word(const uint mine, const uint lane)
{
    uint its;
    asm volatile("shfl.sync.idx.b32 %0, %1, %2, 31, 0xffffffff;" : "=r"(its) : "r"(mine), "r"(lane));
    return its;
}

// Adds up each run of `width` neighbouring items, a power of two. Valid in the first of each run. Nothing else may
// run in step with the sub-group, so that widths may differ between sub-groups.
acc_t sub_group_sum_runs(const acc_t mine, const uint width)
{
    acc_t sum = mine;
    for (uint distance = width >> 1; distance > 0; distance >>= 1)
        sum = acc_add(sum, shuffle_down_acc(sum, distance));
    return sum;
}
#endif
#endif

// Numbers segments: `*before` is the sum of `number` over the items before. All items of the sub-group call it.
// Returns the sum over all items.
uint sub_group_scan_numbers(const sub_group_segments_t shared, const uint item, const uint number,
                        uint *before)
{
    uint numbers = number;
#ifdef SUB_GROUP_SHUFFLES
    (void)shared;
#pragma unroll
    for (uint distance = 1; distance < SUB_GROUP_SIZE; distance <<= 1) {
        const uint earlier = shuffle_up_word(numbers, distance);
        numbers += item >= distance ? earlier : 0;
    }
    *before = numbers - number;
    return shuffle_down_word(numbers, SUB_GROUP_SIZE - 1 - item);
#else
    shared.numbers[item] = numbers;
    for (uint distance = 1; distance < SUB_GROUP_SIZE; distance <<= 1) {
        SUB_GROUP_BARRIER();
        const uint earlier = item >= distance ? shared.numbers[item - distance] : 0;
        SUB_GROUP_BARRIER();
        numbers += earlier;
        shared.numbers[item] = numbers;
    }
    SUB_GROUP_BARRIER();
    *before = numbers - number;
    return shared.numbers[SUB_GROUP_SIZE - 1];
#endif
}

// Adds up segments that several items have parts of. `lead` is the sum of an item's elements before the first
// segment that begins in it, or of all its elements if none `begins`. Returns the sum of what the last segment that
// begins in this item, or before it, has in later items. All items of the sub-group call it. The order of additions
// depends on the segments alone.
acc_t sub_group_join_leads(const sub_group_segments_t shared, const uint item, const acc_t lead, uint begins)
{
    acc_t sum = lead;
#ifdef SUB_GROUP_BALLOT
    (void)shared;
    // How many items further on the next one is in which a segment begins; this one counts.
    const uint at_or_after = ballot(begins != 0) >> item;
    const uint reach = at_or_after != 0 ? 31 - clz(at_or_after & -at_or_after) : SUB_GROUP_SIZE - 1 - item;
#pragma unroll
    for (uint distance = 1; distance < SUB_GROUP_SIZE; distance <<= 1) {
        const acc_t after = shuffle_down_acc(sum, distance);
        if (distance <= reach)
            sum = acc_add(sum, after);
    }
    const acc_t after = shuffle_down_acc(sum, 1);
    return item + 1 < SUB_GROUP_SIZE ? after : acc_zero();
#elif defined(SUB_GROUP_SHUFFLES)
    (void)shared;
#pragma unroll
    for (uint distance = 1; distance < SUB_GROUP_SIZE; distance <<= 1) {
        const acc_t after = shuffle_down_acc(sum, distance);
        const uint after_begins = shuffle_down_word(begins, distance);
        if (!begins && item + distance < SUB_GROUP_SIZE)
            sum = acc_add(sum, after);
        begins |= after_begins;
    }
    const acc_t after = shuffle_down_acc(sum, 1);
    return item + 1 < SUB_GROUP_SIZE ? after : acc_zero();
#else
    shared.leads[item] = sum;
    shared.begins[item] = begins;
    for (uint distance = 1; distance < SUB_GROUP_SIZE; distance <<= 1) {
        SUB_GROUP_BARRIER();
        const int joins = !begins && item + distance < SUB_GROUP_SIZE;
        const acc_t after = joins ? shared.leads[item + distance] : acc_zero();
        const uint after_begins = joins ? shared.begins[item + distance] : 0;
        SUB_GROUP_BARRIER();
        if (joins)
            sum = acc_add(sum, after);
        begins |= after_begins;
        shared.leads[item] = sum;
        shared.begins[item] = begins;
    }
    SUB_GROUP_BARRIER();
    return item + 1 < SUB_GROUP_SIZE ? shared.leads[item + 1] : acc_zero();
#endif
}

// The sum of `mine` over the items of the sub-group, valid in item 0. All items of the sub-group call it.
acc_t sub_group_sum(const sub_group_segments_t shared, const uint item, const acc_t mine)
{
    acc_t sum = mine;
#ifdef SUB_GROUP_SHUFFLES
    (void)shared;
#pragma unroll
    for (uint distance = SUB_GROUP_SIZE / 2; distance > 0; distance >>= 1)
        sum = acc_add(sum, shuffle_down_acc(sum, distance));
#else
    shared.leads[item] = mine;
    SUB_GROUP_BARRIER();
#pragma unroll 1
    for (uint other = 1; item == 0 && other < SUB_GROUP_SIZE; ++other)
        sum = acc_add(sum, shared.leads[other]);
#endif
    return sum;
}

#endif
