// Searches in row offsets: which row holds a nonzero. Rightmost match: of rows that begin in one place,
// empty ones but for the last, the last.
#ifndef GROUP_SEARCH_H
#define GROUP_SEARCH_H

#include "item/scalar.h"

// The last row of [first, beyond) that begins at or before nonzero `border`; row `first` does.
uint rightmost_row(global const offset_t *restrict offsets, uint first, uint beyond,
                   const ulong border)
{
    while (beyond - first > 1) {
        const uint middle = first + (beyond - first) / 2;
        if (offsets[middle] <= border)
            first = middle;
        else
            beyond = middle;
    }
    return first;
}

// The same by seven loads at once a step instead of one: a third of the steps that wait for memory.
uint rightmost_row_by_eighths(global const offset_t *restrict offsets, uint first, uint beyond,
                              const ulong border)
{
    while (beyond - first > 8) {
        const ulong width = beyond - first;
        uint part = 0;
#pragma unroll
        for (uint eighth = 1; eighth < 8; eighth++)
            part += offsets[first + (uint)(width * eighth / 8)] <= border;
        beyond = first + (uint)(width * (part + 1) / 8);
        first += (uint)(width * part / 8);
    }
    return rightmost_row(offsets, first, beyond, border);
}

// Windows of rows around two borders at once, by half of the group each: row windows[2][b][0] begins at or
// before border b, row windows[2][b][1] behind it (or is rows + 1), and no more than `close` lie between. In
// each step an item looks at one part of its window, and the one in whose part the border lies says so: where
// one item needs ten dependent loads for a thousand rows, half of a group of 64 needs two. All items of the
// group call it; GROUP_SIZE is even.
void group_find_windows(global const offset_t *restrict offsets, const uint rows,
                        const ulong low_border, const ulong high_border, const uint close,
                        local uint (*windows)[2][2])
{
    const uint parts = GROUP_SIZE / 2;
    const uint mine = (uint)get_local_id(0) / parts;
    const uint part = (uint)get_local_id(0) % parts;
    const ulong border = mine == 0 ? low_border : high_border;
    uint first = 0; // begins at or before the border
    uint beyond = rows + 1; // begins behind it
    uint turn = 0; // the next step writes elsewhere, so that one barrier a step is enough
    // A step leaves at most this much of a window of `span`.
#pragma unroll 1
    for (uint span = rows + 1; span > close && span > 1; span = (span + parts - 1) / parts) {
        const ulong width = beyond - first;
        const uint at = first + (uint)(width * part / parts);
        const uint next = first + (uint)(width * (part + 1) / parts);
        const int is_before = offsets[at] <= border;
        const int next_is_before = part + 1 < parts && offsets[next] <= border;
        if (is_before && !next_is_before) {
            windows[turn][mine][0] = at;
            windows[turn][mine][1] = next;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        first = windows[turn][mine][0];
        beyond = windows[turn][mine][1];
        turn ^= 1;
    }
    if (part == 0) {
        windows[2][mine][0] = first;
        windows[2][mine][1] = beyond;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
}

#endif
