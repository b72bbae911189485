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

// The rows of two borders at once, by half of the group each: every step has GROUP_SIZE / 2 probes in
// flight, so that a million rows take three or four steps where one item needs twenty. All items of the
// group call it; GROUP_SIZE is even. `windows[b][0]` is the row of border b, `rows` if it is the end of
// the last.
void group_find_window(global const offset_t *restrict offsets, const uint rows,
                       const ulong low_border, const ulong high_border, local uint (*windows)[2],
                       local uint (*flags)[GROUP_SIZE / 2])
{
    const uint probes = GROUP_SIZE / 2;
    const uint mine = (uint)get_local_id(0) / probes;
    const uint probe = (uint)get_local_id(0) % probes;
    const ulong border = mine == 0 ? low_border : high_border;
    if (probe == 0) {
        windows[mine][0] = 0; // offsets[it] <= border
        windows[mine][1] = rows + 1; // offsets[it] > border
    }
    // A step leaves at most this much of a window of `span`.
    for (uint span = rows + 1; span > 1; span = (span + probes) / (probes + 1)) {
        barrier(CLK_LOCAL_MEM_FENCE);
        const uint first = windows[mine][0];
        const ulong width = windows[mine][1] - first;
        const uint at = first + (uint)(width * (probe + 1) / (probes + 1));
        const uint is_before = offsets[at] <= border;
        flags[mine][probe] = is_before;
        barrier(CLK_LOCAL_MEM_FENCE);
        if (is_before && (probe + 1 == probes || !flags[mine][probe + 1]))
            windows[mine][0] = at;
        if (!is_before && (probe == 0 || flags[mine][probe - 1]))
            windows[mine][1] = at;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
}

#endif
