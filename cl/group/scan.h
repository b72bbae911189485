// Running sums over the items of a work-group.
#ifndef GROUP_SCAN_H
#define GROUP_SCAN_H

// The sum of `mine` over all items before this one; `*total` is the sum over all items. All items of the
// group call it; `scratch` holds GROUP_SIZE numbers and may be used again at once. Valid in every item.
uint group_scan_exclusive(const uint mine, local uint *scratch, uint *total)
{
    const uint item = (uint)get_local_id(0);
    uint sum = mine;
    scratch[item] = sum;
    for (uint reach = 1; reach < GROUP_SIZE; reach <<= 1) {
        barrier(CLK_LOCAL_MEM_FENCE);
        const uint before = item >= reach ? scratch[item - reach] : 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        sum += before;
        scratch[item] = sum;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    *total = scratch[GROUP_SIZE - 1];
    barrier(CLK_LOCAL_MEM_FENCE);
    return sum - mine;
}

// The least of `mine` over all items after this one, `none` if there is none after. All items of the
// group call it; `scratch` as above. Valid in every item.
uint group_scan_least_after(const uint mine, local uint *scratch, const uint none)
{
    const uint item = (uint)get_local_id(0);
    uint least = mine;
    scratch[item] = least;
    for (uint reach = 1; reach < GROUP_SIZE; reach <<= 1) {
        barrier(CLK_LOCAL_MEM_FENCE);
        const uint after = item + reach < GROUP_SIZE ? scratch[item + reach] : none;
        barrier(CLK_LOCAL_MEM_FENCE);
        least = min(least, after);
        scratch[item] = least;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    const uint result = item + 1 < GROUP_SIZE ? scratch[item + 1] : none;
    barrier(CLK_LOCAL_MEM_FENCE);
    return result;
}

#endif
