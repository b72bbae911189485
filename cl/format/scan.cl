// Offsets of counts: offsets[i] is the sum of the counts before i, and offsets[count] the sum of all. Sums are made in
// 64 bits; with 32-bit offsets that overflow, the total says so.
//
// Three launches. Counts are cut into tiles of TILE, and tiles into at most TILE runs of equal length, one a group:
// `sum_runs` adds up each run; `scan_runs`, one group, makes of the sums what lies before each run; `write_offsets`
// goes over its run again, tile after tile. No group waits for another, and all of it is integers: the result never
// depends on timing.
//
// Local memory: an offset a count of a tile, and 8 bytes an item.
#ifndef GROUP_SIZE
#define GROUP_SIZE 256 // items of a work-group
#endif
#ifndef COUNTS_PER_ITEM
#define COUNTS_PER_ITEM 8 // neighbouring counts that an item adds up
#endif

#include "item/scalar.h"
#include "group/scan.h"

#define TILE (GROUP_SIZE * COUNTS_PER_ITEM)

__attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
kernel void sum_runs(const ulong count,
                     const uint run_tiles,
                     ARRAY_PARAMETER(const uint, counts),
                     ARRAY_PARAMETER(ulong, sums))
{
    OPEN_ARRAY(const uint, counts);
    OPEN_ARRAY(ulong, sums);
    local ulong scratch[GROUP_SIZE];
    const uint item = (uint)get_local_id(0);
    const ulong first = (ulong)get_group_id(0) * run_tiles * TILE;
    ulong sum = 0;
    for (uint tile = 0; tile < run_tiles; ++tile) {
        const ulong mine = first + (ulong)tile * TILE + item;
        uint values[COUNTS_PER_ITEM];
        for (uint k = 0; k < COUNTS_PER_ITEM; ++k) {
            const ulong at = mine + k * GROUP_SIZE;
            values[k] = at < count ? counts[at] : 0;
        }
        for (uint k = 0; k < COUNTS_PER_ITEM; ++k)
            sum += values[k];
    }
    ulong total;
    group_scan_exclusive(sum, scratch, &total);
    if (item == 0)
        sums[get_group_id(0)] = total;
}

// Replaces the sum of each of `runs` runs, at most TILE, by the sum of those before it. One group.
__attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
kernel void scan_runs(const uint runs,
                      ARRAY_PARAMETER(ulong, sums),
                      ARRAY_PARAMETER(ulong, total))
{
    OPEN_ARRAY(ulong, sums);
    OPEN_ARRAY(ulong, total);
    local ulong scratch[GROUP_SIZE];
    const uint item = (uint)get_local_id(0);
    const uint mine = item * COUNTS_PER_ITEM;
    ulong values[COUNTS_PER_ITEM];
    ulong sum = 0;
    for (uint k = 0; k < COUNTS_PER_ITEM; ++k) {
        values[k] = mine + k < runs ? sums[mine + k] : 0;
        sum += values[k];
    }
    ulong of_all;
    ulong before = group_scan_exclusive(sum, scratch, &of_all);
    for (uint k = 0; k < COUNTS_PER_ITEM; ++k) {
        if (mine + k < runs)
            sums[mine + k] = before;
        before += values[k];
    }
    if (item == 0)
        *total = of_all;
}

// A tile goes through local memory, so that neighbouring items load and store neighbouring words.
__attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
kernel void write_offsets(const ulong count,
                          const uint run_tiles,
                          ARRAY_PARAMETER(const uint, counts),
                          ARRAY_PARAMETER(const ulong, sums),
                          ARRAY_PARAMETER(const ulong, total),
                          ARRAY_PARAMETER(offset_t, offsets))
{
    OPEN_ARRAY(const uint, counts);
    OPEN_ARRAY(const ulong, sums);
    OPEN_ARRAY(const ulong, total);
    OPEN_ARRAY(offset_t, offsets);
    local offset_t staged[TILE];
    local ulong scratch[GROUP_SIZE];
    const uint item = (uint)get_local_id(0);
    ulong first = (ulong)get_group_id(0) * run_tiles * TILE;
    ulong before = sums[get_group_id(0)];
    for (uint tile = 0; tile < run_tiles; ++tile) {
        uint values[COUNTS_PER_ITEM];
        for (uint k = 0; k < COUNTS_PER_ITEM; ++k) {
            const ulong at = first + k * GROUP_SIZE + item;
            values[k] = at < count ? counts[at] : 0;
        }
        for (uint k = 0; k < COUNTS_PER_ITEM; ++k)
            staged[k * GROUP_SIZE + item] = values[k];
        barrier(CLK_LOCAL_MEM_FENCE);
        ulong sum = 0;
        for (uint k = 0; k < COUNTS_PER_ITEM; ++k) {
            values[k] = (uint)staged[item * COUNTS_PER_ITEM + k];
            sum += values[k];
        }
        ulong of_tile;
        ulong offset = before + group_scan_exclusive(sum, scratch, &of_tile);
        for (uint k = 0; k < COUNTS_PER_ITEM; ++k) {
            staged[item * COUNTS_PER_ITEM + k] = (offset_t)offset;
            offset += values[k];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint k = 0; k < COUNTS_PER_ITEM; ++k) {
            const ulong at = first + k * GROUP_SIZE + item;
            if (at < count)
                offsets[at] = staged[k * GROUP_SIZE + item];
        }
        barrier(CLK_LOCAL_MEM_FENCE); // before `staged` and `scratch` are written again
        before += of_tile;
        first += TILE;
    }
    if (get_global_id(0) == 0)
        offsets[count] = (offset_t)*total;
}
