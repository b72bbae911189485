// Sorts rows by 64-bit keys, DIGIT_BITS bits at a time, least significant first; rows with equal keys keep their order.
//
// Each digit takes three launches: `count_digits` counts the digits of each tile of TILE keys; `scan_counts`, one
// group, turns the counts into where each tile's keys with each digit go; `move_by_digit` moves them. Counts are in
// order of digit, then tile: counts[digit * tiles + tile]. All of it is integers: the result never depends on timing.
//
// Local memory: DIGITS counters an item, and 8 bytes.

#ifndef GROUP_SIZE
#define GROUP_SIZE 128 // items of a work-group: at least DIGITS
#endif
#ifndef KEYS_PER_ITEM
#define KEYS_PER_ITEM 8 // neighbouring keys that an item moves
#endif

#include "item/scalar.h"
#include "group/scan.h"

#define DIGIT_BITS 4
#define DIGITS (1 << DIGIT_BITS)
#define TILE (GROUP_SIZE * KEYS_PER_ITEM)

uint digit_of(const ulong key, const uint shift)
{
    return (uint)(key >> shift) & (DIGITS - 1);
}

__attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
kernel void count_digits(const uint count,
                         const uint shift,
                         ARRAY_PARAMETER(const ulong, keys),
                         ARRAY_PARAMETER(uint, counts))
{
    OPEN_ARRAY(const ulong, keys);
    OPEN_ARRAY(uint, counts);
    local uint of_tile[DIGITS];
    const uint item = (uint)get_local_id(0);
    if (item < DIGITS)
        of_tile[item] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    const ulong first = (ulong)get_group_id(0) * TILE;
    for (uint k = 0; k < KEYS_PER_ITEM; ++k) {
        const ulong at = first + k * GROUP_SIZE + item;
        if (at < count)
            atomic_inc(&of_tile[digit_of(keys[at], shift)]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item < DIGITS)
        counts[(ulong)item * get_num_groups(0) + get_group_id(0)] = of_tile[item];
}

// Replaces each of `count` counts by the sum of those before it. One group.
__attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
kernel void scan_counts(const uint count,
                        ARRAY_PARAMETER(uint, counts))
{
    OPEN_ARRAY(uint, counts);
    local ulong scratch[GROUP_SIZE];
    const uint item = (uint)get_local_id(0);
    ulong before = 0;
    for (uint first = 0; first < count; first += TILE) {
        const uint mine = first + item * KEYS_PER_ITEM;
        uint values[KEYS_PER_ITEM];
        ulong sum = 0;
        for (uint k = 0; k < KEYS_PER_ITEM; ++k) {
            values[k] = mine + k < count ? counts[mine + k] : 0;
            sum += values[k];
        }
        ulong total;
        ulong at = before + group_scan_exclusive(sum, scratch, &total);
        before += total;
        for (uint k = 0; k < KEYS_PER_ITEM; ++k) {
            if (mine + k < count)
                counts[mine + k] = (uint)at;
            at += values[k];
        }
        barrier(CLK_LOCAL_MEM_FENCE); // before `scratch` is written again
    }
}

__attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
kernel void move_by_digit(const uint count,
                          const uint shift,
                          ARRAY_PARAMETER(const uint, counts),
                          ARRAY_PARAMETER(const ulong, keys),
                          ARRAY_PARAMETER(const uint, rows),
                          ARRAY_PARAMETER(ulong, sorted_keys),
                          ARRAY_PARAMETER(uint, sorted_rows))
{
    OPEN_ARRAY(const uint, counts);
    OPEN_ARRAY(const ulong, keys);
    OPEN_ARRAY(const uint, rows);
    OPEN_ARRAY(ulong, sorted_keys);
    OPEN_ARRAY(uint, sorted_rows);
    local uint tallies[DIGITS * GROUP_SIZE]; // of each digit, of each item
    local uint starts[DIGITS]; // of each digit in the tile
    local ulong scratch[GROUP_SIZE];
    const uint item = (uint)get_local_id(0);
    const ulong first = (ulong)get_group_id(0) * TILE + item * KEYS_PER_ITEM;

    for (uint digit = 0; digit < DIGITS; ++digit)
        tallies[digit * GROUP_SIZE + item] = 0;
    for (uint k = 0; k < KEYS_PER_ITEM; ++k) {
        if (first + k < count)
            ++tallies[digit_of(keys[first + k], shift) * GROUP_SIZE + item];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    // Each item adds up DIGITS neighbouring tallies, which may be another item's.
    uint sum = 0;
    for (uint k = 0; k < DIGITS; ++k)
        sum += tallies[item * DIGITS + k];
    ulong total;
    uint at = (uint)group_scan_exclusive(sum, scratch, &total);
    for (uint k = 0; k < DIGITS; ++k) {
        const uint tally = tallies[item * DIGITS + k];
        tallies[item * DIGITS + k] = at;
        at += tally;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item < DIGITS)
        starts[item] = tallies[item * GROUP_SIZE];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint k = 0; k < KEYS_PER_ITEM; ++k) {
        if (first + k < count) {
            const ulong key = keys[first + k];
            const uint digit = digit_of(key, shift);
            const uint in_tile = tallies[digit * GROUP_SIZE + item]++;
            const uint to = counts[(ulong)digit * get_num_groups(0) + get_group_id(0)] + in_tile - starts[digit];
            sorted_keys[to] = key;
            sorted_rows[to] = rows[first + k];
        }
    }
}
