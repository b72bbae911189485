// What a group counts of its rows, and their indices in lists. CLASSES is the number of classes.
#ifndef SPGEMM_TALLIES_H
#define SPGEMM_TALLIES_H

#include "item/scalar.h"

// Adds to a number of two words.
void add_wide_local(local uint *sum, const ulong value)
{
    const uint low = (uint)value;
    const uint before = atomic_add(sum, low);
    const uint high = (uint)(value >> 32) + (before + low < before);
    if (high > 0)
        atomic_add(sum + 1, high);
}

void add_wide(volatile global uint *sum, local const uint *value)
{
    const uint before = atomic_add(sum, value[0]);
    const uint high = value[1] + (before + value[0] < before);
    if (high > 0)
        atomic_add(sum + 1, high);
}

// The sum of `mine` over all items of the group, which all call it, in item 0; 0 in others.
ulong sum_of_group(const ulong mine, local ulong *scratch)
{
    const uint item = (uint)get_local_id(0);
    scratch[item] = mine;
    for (uint reach = GROUP_SIZE / 2; reach > 0; reach /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (item < reach)
            scratch[item] += scratch[item + reach];
    }
    // No other item may read it before a barrier.
    const ulong sum = item == 0 ? scratch[0] : 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    return sum;
}

// The index in a list of what this item has, of `class`, 0 being none: classes stand one after the other in it, with as
// many elements as `tallies` says. cursors[class], 0 before, counts those that have an index. All items of the group call
// it, once; both local arrays have CLASSES elements.
uint list_index(const uint class, global const uint *restrict tallies, volatile global uint *cursors, local uint *of_group,
                local uint *starts)
{
    const uint item = (uint)get_local_id(0);
    for (uint other = item; other < CLASSES; other += GROUP_SIZE)
        of_group[other] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    uint at = 0;
    if (class > 0)
        at = atomic_inc(of_group + class);
    barrier(CLK_LOCAL_MEM_FENCE);
    // There may be tallies of no more classes than this.
    for (uint other = item; other < CLASSES; other += GROUP_SIZE) {
        if (of_group[other] > 0) {
            uint start = atomic_add(cursors + other, of_group[other]);
            for (uint before = 1; before < other; ++before)
                start += tallies[before];
            starts[other] = start;
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    return class > 0 ? starts[class] + at : 0;
}

#endif
