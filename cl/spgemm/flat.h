// The entries of some rows of A one after the other, and what comes of each, numbered through: so that items share the
// work of rows whatever their lengths, and whatever those of the rows of B that they name.
//
// Row `slot` of those listed has the entries from `entry_starts[slot]` on, and entry e the numbers from `starts[e]` on;
// both have one element more than there are rows or entries. No group waits for another, and there is no barrier.
#ifndef SPGEMM_FLAT_H
#define SPGEMM_FLAT_H

#include "item/scalar.h"

// The last of `starts`, from `first` on and before `beyond`, that is not above `number`. The first one is not.
uint last_entry(global const ulong *restrict starts, const uint first, const uint beyond, const ulong number)
{
    uint found = first;
    uint limit = beyond;
    while (limit - found > 1) {
        const uint middle = found + (limit - found) / 2;
        if (starts[middle] <= number)
            found = middle;
        else
            limit = middle;
    }
    return found;
}

// The same of numbers of 32 bits.
uint last_slot(global const uint *restrict starts, const uint first, const uint beyond, const uint number)
{
    uint found = first;
    uint limit = beyond;
    while (limit - found > 1) {
        const uint middle = found + (limit - found) / 2;
        if (starts[middle] <= number)
            found = middle;
        else
            limit = middle;
    }
    return found;
}

// What the numbers of a group come from: (first entry, beyond the last) and (first slot, beyond the last).
uint4 span_of(global const ulong *restrict starts, const uint entries,
              global const uint *restrict entry_starts, const uint slots, const ulong first, const ulong last)
{
    const uint low = last_entry(starts, 0, entries, first);
    const uint high = last_entry(starts, low, entries, last);
    const uint low_slot = last_slot(entry_starts, 0, slots, low);
    return (uint4)(low, high + 1, low_slot, last_slot(entry_starts, low_slot, slots, high) + 1);
}

#endif
