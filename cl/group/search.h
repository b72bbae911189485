// Searches in row offsets: which row holds a nonzero. Rightmost match: of rows that begin at one offset,
// empty ones but for the last, the last.
#ifndef GROUP_SEARCH_H
#define GROUP_SEARCH_H

#include "item/scalar.h"

// Returns the last row of [first, beyond) that begins at or before nonzero `boundary`; row `first` does.
uint rightmost_row(global const offset_t *restrict offsets, uint first, uint beyond,
                   const ulong boundary)
{
    while (beyond - first > 1) {
        const uint middle = first + (beyond - first) / 2;
        if (offsets[middle] <= boundary)
            first = middle;
        else
            beyond = middle;
    }
    return first;
}

// The same with seven independent loads an iteration instead of one: a third of the iterations, each of which waits for
// memory.
uint rightmost_row_by_eighths(global const offset_t *restrict offsets, uint first, uint beyond,
                              const ulong boundary)
{
    while (beyond - first > 8) {
        const ulong width = beyond - first;
        uint part = 0;
#pragma unroll
        for (uint eighth = 1; eighth < 8; eighth++)
            part += offsets[first + (uint)(width * eighth / 8)] <= boundary;
        beyond = first + (uint)(width * (part + 1) / 8);
        first += (uint)(width * part / 8);
    }
    return rightmost_row(offsets, first, beyond, boundary);
}

// Searches windows of rows around two boundaries at once, by half of the group each: row windows[2][b][0] begins at
// or before boundary b, row windows[2][b][1] after it (or is rows + 1), and no more than `close` rows lie between.
// In each iteration an item looks at one part of its window, and the one in whose part the boundary lies stores it:
// where one item needs ten dependent loads for a thousand rows, half of a group of 64 needs two. All items of the
// group call it. In groups of fewer than 4 items, which have no parts to share, one searches both.
void group_find_windows(global const offset_t *restrict offsets, const uint rows,
                        const ulong low_boundary, const ulong high_boundary, const uint close,
                        local uint (*windows)[2][2])
{
#if GROUP_SIZE < 4
    if (get_local_id(0) == 0) {
        for (uint b = 0; b < 2; ++b) {
            windows[2][b][0] = rightmost_row(offsets, 0, rows + 1, b == 0 ? low_boundary : high_boundary);
            windows[2][b][1] = windows[2][b][0] + 1;
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
#else
    const uint parts = GROUP_SIZE / 2;
    const uint mine = (uint)get_local_id(0) / parts;
    const uint part = (uint)get_local_id(0) % parts;
    const ulong boundary = mine == 0 ? low_boundary : high_boundary;
    uint first = 0; // begins at or before the boundary
    uint beyond = rows + 1; // begins after it
    uint buffer = 0; // the next iteration writes to the other buffer, so that one barrier an iteration is enough
    // An iteration leaves at most this much of a window of `span`.
#pragma unroll 1
    for (uint span = rows + 1; span > close && span > 1; span = (span + parts - 1) / parts) {
        const ulong width = beyond - first;
        const uint at = first + (uint)(width * part / parts);
        const uint next = first + (uint)(width * (part + 1) / parts);
        const int is_before = offsets[at] <= boundary;
        const int next_is_before = part + 1 < parts && offsets[next] <= boundary;
        if (is_before && !next_is_before) {
            windows[buffer][mine][0] = at;
            windows[buffer][mine][1] = next;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        first = windows[buffer][mine][0];
        beyond = windows[buffer][mine][1];
        buffer ^= 1;
    }
    if (part == 0) {
        windows[2][mine][0] = first;
        windows[2][mine][1] = beyond;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
#endif
}

#endif
