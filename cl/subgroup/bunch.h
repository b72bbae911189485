// Bunches: BUNCH_SIZE neighbouring items of a work-group that work on one tile together, as many as the
// device runs in step (the "thread-bunch" of Liu and Vinter 2015).
//
// OpenCL C 1.2 has no barrier for less than a group, so one is used where nothing better is known; every
// bunch of a group then has to reach it the same number of times. NVIDIA runs 32 items in step and has a
// barrier for them.
#ifndef SUBGROUP_BUNCH_H
#define SUBGROUP_BUNCH_H

#include "item/accumulate.h"

#if defined(__NV_CL_C_VERSION) && BUNCH_SIZE <= 32 && BUNCH_SIZE * BUNCHES_PER_GROUP % 32 == 0
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

// Brings together segments that items share. An item in which `number` segments begin has `lead`, the
// sum of what it has before the first of them (of all it has, with none). `*rest` is what the last segment
// that begins in this item has in later items, `*before` and `*total` are how many segments begin in
// earlier items and in the bunch. All items of the bunch call it. The order of additions depends on the
// segments alone.
void bunch_join_segments(const bunch_segments_t shared, const uint item, const acc_t lead,
                         const uint number, acc_t *rest, uint *before, uint *total)
{
    acc_t sum = lead;
    uint begins = number > 0;
    uint numbers = number;
    shared.leads[item] = sum;
    shared.begins[item] = begins;
    shared.numbers[item] = numbers;
    for (uint reach = 1; reach < BUNCH_SIZE; reach <<= 1) {
        BUNCH_BARRIER();
        const int joins = !begins && item + reach < BUNCH_SIZE;
        const acc_t after = joins ? shared.leads[item + reach] : acc_zero();
        const uint after_begins = joins ? shared.begins[item + reach] : 0;
        const uint earlier = item >= reach ? shared.numbers[item - reach] : 0;
        BUNCH_BARRIER();
        if (joins)
            sum = acc_add(sum, after);
        begins |= after_begins;
        numbers += earlier;
        shared.leads[item] = sum;
        shared.begins[item] = begins;
        shared.numbers[item] = numbers;
    }
    BUNCH_BARRIER();
    *rest = item + 1 < BUNCH_SIZE ? shared.leads[item + 1] : acc_zero();
    *before = numbers - number;
    *total = shared.numbers[BUNCH_SIZE - 1];
}

#endif
