// Running sums and least values over the items of a work-group.
#ifndef GROUP_SCAN_H
#define GROUP_SCAN_H

// The sum of `mine` over all items before this one; `*total` is the sum over all items. All items of the
// group call it, once for each `scratch`, which holds GROUP_SIZE numbers. Valid in every item.
ulong group_scan_exclusive(const ulong mine, local ulong *scratch, ulong *total)
{
    const uint item = (uint)get_local_id(0);
    ulong sum = mine;
    scratch[item] = sum;
    for (uint reach = 1; reach < GROUP_SIZE; reach <<= 1) {
        barrier(CLK_LOCAL_MEM_FENCE);
        const ulong before = item >= reach ? scratch[item - reach] : 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        sum += before;
        scratch[item] = sum;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    *total = scratch[GROUP_SIZE - 1];
    return sum - mine;
}

// The least of `mine`, each component by itself, over all items after this one; `none` if there is none
// after. All items of the group call it, once for each `scratch`, as above. Valid in every item.
ushort2 group_scan_least_after(const ushort2 mine, local ushort2 *scratch, const ushort2 none)
{
    const uint item = (uint)get_local_id(0);
    ushort2 least = mine;
    scratch[item] = least;
    for (uint reach = 1; reach < GROUP_SIZE; reach <<= 1) {
        barrier(CLK_LOCAL_MEM_FENCE);
        const ushort2 after = item + reach < GROUP_SIZE ? scratch[item + reach] : none;
        barrier(CLK_LOCAL_MEM_FENCE);
        least = min(least, after);
        scratch[item] = least;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    return item + 1 < GROUP_SIZE ? scratch[item + 1] : none;
}

#endif
