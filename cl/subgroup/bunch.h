// Bunches: BUNCH_SIZE neighbouring items of a work-group that work on one tile together, as many as the
// device runs in step (the "thread-bunch" of Liu and Vinter 2015).
//
// OpenCL C 1.2 has no barrier for less than a group, and no way for items to see each other's registers.
// So a barrier of the group is used where nothing better is known, and every bunch of a group has to reach
// it the same number of times; and items speak through local memory. NVIDIA runs 32 items in step, and has
// instructions for both (PTX ISA, shfl.sync and bar.warp.sync).
#ifndef SUBGROUP_BUNCH_H
#define SUBGROUP_BUNCH_H

#include "item/accumulate.h"

#if defined(__NV_CL_C_VERSION) && BUNCH_SIZE <= 32 && BUNCH_SIZE * BUNCHES_PER_GROUP % 32 == 0
#define BUNCH_SHUFFLES
#define BUNCH_BARRIER() asm volatile("bar.warp.sync 0xffffffff;" ::: "memory")
#else
#define BUNCH_BARRIER() barrier(CLK_LOCAL_MEM_FENCE)
#endif

// What the items of a bunch tell each other of their segments; one array element an item.
typedef struct {
    local acc_t *leads; // the sum of what an item has before its first segment begins
    local uint *begins; // whether a segment begins in it
    local uint *numbers; // segments that begin in it and the items before
} bunch_segments_t;

#ifdef BUNCH_SHUFFLES
// Bits 8 to 12 keep a shuffle within its bunch, bits 0 to 4 say where the bunch ends.
#define SHUFFLE_DOWN_LIMIT ((32 - BUNCH_SIZE) << 8 | 31)
#define SHUFFLE_UP_LIMIT ((32 - BUNCH_SIZE) << 8)

// A word of the item `reach` further on; one's own where there is none.
uint word_after(const uint mine, const uint reach)
{
    uint its;
    asm volatile("shfl.sync.down.b32 %0, %1, %2, %3, 0xffffffff;"
                 : "=r"(its)
                 : "r"(mine), "r"(reach), "r"(SHUFFLE_DOWN_LIMIT));
    return its;
}

// A word of the item `reach` before; one's own where there is none.
uint word_before(const uint mine, const uint reach)
{
    uint its;
    asm volatile("shfl.sync.up.b32 %0, %1, %2, %3, 0xffffffff;"
                 : "=r"(its)
                 : "r"(mine), "r"(reach), "r"(SHUFFLE_UP_LIMIT));
    return its;
}

acc_t acc_after(const acc_t mine, const uint reach)
{
    union {
        acc_t sum;
        uint words[ACC_WORDS];
    } its;
    its.sum = mine;
#pragma unroll
    for (uint word = 0; word < ACC_WORDS; ++word)
        its.words[word] = word_after(its.words[word], reach);
    return its.sum;
}

#if BUNCH_SIZE == 32
#define BUNCH_VOTES

// Which items of the bunch say yes, a bit each; a bunch is all that runs in step, so no other need call it.
uint bunch_votes(const int yes)
{
    uint votes;
    asm volatile("{.reg .pred vote; setp.ne.s32 vote, %1, 0; vote.sync.ballot.b32 %0, vote, 0xffffffff;}"
                 : "=r"(votes)
                 : "r"(yes));
    return votes;
}

// How many of them.
uint bunch_count(const int yes)
{
    return popcount(bunch_votes(yes));
}

// A word of item `place`.
uint word_of(const uint mine, const uint place)
{
    uint its;
    asm volatile("shfl.sync.idx.b32 %0, %1, %2, 31, 0xffffffff;" : "=r"(its) : "r"(mine), "r"(place));
    return its;
}

// Adds up each run of `width` neighbouring items, a power of two. Valid in the first of each run. Nothing else may
// run in step with the bunch, so that widths of others do not matter.
acc_t bunch_sum_runs(const acc_t mine, const uint width)
{
    acc_t sum = mine;
    for (uint reach = width >> 1; reach > 0; reach >>= 1)
        sum = acc_add(sum, acc_after(sum, reach));
    return sum;
}
#endif
#endif

// Numbers segments: `*before` is the sum of `number` over the items before. All items of the bunch call it.
// Returns the sum over all items.
uint bunch_scan_numbers(const bunch_segments_t shared, const uint item, const uint number,
                        uint *before)
{
    uint numbers = number;
#ifdef BUNCH_SHUFFLES
    (void)shared;
#pragma unroll
    for (uint reach = 1; reach < BUNCH_SIZE; reach <<= 1) {
        const uint earlier = word_before(numbers, reach);
        numbers += item >= reach ? earlier : 0;
    }
    *before = numbers - number;
    return word_after(numbers, BUNCH_SIZE - 1 - item);
#else
    shared.numbers[item] = numbers;
    for (uint reach = 1; reach < BUNCH_SIZE; reach <<= 1) {
        BUNCH_BARRIER();
        const uint earlier = item >= reach ? shared.numbers[item - reach] : 0;
        BUNCH_BARRIER();
        numbers += earlier;
        shared.numbers[item] = numbers;
    }
    BUNCH_BARRIER();
    *before = numbers - number;
    return shared.numbers[BUNCH_SIZE - 1];
#endif
}

// Brings together segments that items share. `lead` is what an item has before the first segment that
// begins in it, of all it has if none `begins`. Returns what the last segment that begins in this item, or
// before it, has in later items. All items of the bunch call it. The order of additions depends on the
// segments alone.
acc_t bunch_join_leads(const bunch_segments_t shared, const uint item, const acc_t lead, uint begins)
{
    acc_t sum = lead;
#ifdef BUNCH_SHUFFLES
    (void)shared;
#pragma unroll
    for (uint reach = 1; reach < BUNCH_SIZE; reach <<= 1) {
        const acc_t after = acc_after(sum, reach);
        const uint after_begins = word_after(begins, reach);
        if (!begins && item + reach < BUNCH_SIZE)
            sum = acc_add(sum, after);
        begins |= after_begins;
    }
    const acc_t after = acc_after(sum, 1);
    return item + 1 < BUNCH_SIZE ? after : acc_zero();
#else
    shared.leads[item] = sum;
    shared.begins[item] = begins;
    for (uint reach = 1; reach < BUNCH_SIZE; reach <<= 1) {
        BUNCH_BARRIER();
        const int joins = !begins && item + reach < BUNCH_SIZE;
        const acc_t after = joins ? shared.leads[item + reach] : acc_zero();
        const uint after_begins = joins ? shared.begins[item + reach] : 0;
        BUNCH_BARRIER();
        if (joins)
            sum = acc_add(sum, after);
        begins |= after_begins;
        shared.leads[item] = sum;
        shared.begins[item] = begins;
    }
    BUNCH_BARRIER();
    return item + 1 < BUNCH_SIZE ? shared.leads[item + 1] : acc_zero();
#endif
}

// The sum of `mine` over the items of the bunch, valid in item 0. All items of the bunch call it.
acc_t bunch_sum(const bunch_segments_t shared, const uint item, const acc_t mine)
{
    acc_t sum = mine;
#ifdef BUNCH_SHUFFLES
    (void)shared;
#pragma unroll
    for (uint reach = BUNCH_SIZE / 2; reach > 0; reach >>= 1)
        sum = acc_add(sum, acc_after(sum, reach));
#else
    shared.leads[item] = mine;
    BUNCH_BARRIER();
#pragma unroll 1
    for (uint other = 1; item == 0 && other < BUNCH_SIZE; ++other)
        sum = acc_add(sum, shared.leads[other]);
#endif
    return sum;
}

#endif
