// Sorts numbers by keys, DIGIT_BITS bits at a time, least significant first; numbers with equal keys keep their order.
//
// Each digit takes a count, a scan and a move: `count_digits` counts the digits of each tile of TILE keys, the scan
// (`format/scan.cl`) turns the counts into where each tile's keys with each digit go, and `move_by_digit` moves them.
// Counts are in order of digit, then tile: counts[digit * tiles + tile]. All of it is integers: the result never
// depends on timing.
//
// A tile is sorted by its digit in local memory first, PASS_BITS bits at a time, so that keys with one digit lie side
// by side and are written so. Keys past the end have all bits set, and stay after all others.
//
// Local memory: a key and a sixteenth a key of a tile, PASS_DIGITS tallies of 2 bytes and 8 bytes an item, 4 bytes a
// digit.

#ifndef GROUP_SIZE
#define GROUP_SIZE 128 // items of a work-group: a power of two
#endif
#ifndef KEYS_PER_ITEM
#define KEYS_PER_ITEM 16 // neighbouring keys that an item moves; tiles have less than 65,536
#endif

#include "item/scalar.h"
#include "group/scan.h"

#define TILE (GROUP_SIZE * KEYS_PER_ITEM)
#if TILE > 32
#define DIGIT_BITS 8
#else
#define DIGIT_BITS 4 // a tally of more digits would be larger than the tile
#endif
#define DIGITS (1 << DIGIT_BITS)
#define PASS_BITS 4
#define PASS_DIGITS (1 << PASS_BITS)

#ifdef NARROW_KEYS
typedef uint key_t;
#else
typedef ulong key_t;
#endif

// Index `at` of the tile, padded in local memory: apart by one more than an item's keys, items use different banks.
#define PADDED_TILE (TILE + GROUP_SIZE)
#define PADDED(at) ((at) + (at) / KEYS_PER_ITEM)

uint digit_of(const key_t key, const uint shift)
{
    return (uint)(key >> shift) & (DIGITS - 1);
}

__attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
kernel void count_digits(const uint count,
                         const uint shift,
                         ARRAY_PARAMETER(const key_t, keys),
                         ARRAY_PARAMETER(uint, counts))
{
    OPEN_ARRAY(const key_t, keys);
    OPEN_ARRAY(uint, counts);
    local uint of_tile[DIGITS];
    const uint item = (uint)get_local_id(0);
    const ulong first = (ulong)get_group_id(0) * TILE + item;
    key_t mine[KEYS_PER_ITEM];
    for (uint k = 0; k < KEYS_PER_ITEM; ++k)
        mine[k] = first + k * GROUP_SIZE < count ? keys[first + k * GROUP_SIZE] : 0;
    for (uint digit = item; digit < DIGITS; digit += GROUP_SIZE)
        of_tile[digit] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint k = 0; k < KEYS_PER_ITEM; ++k) {
        if (first + k * GROUP_SIZE < count)
            atomic_inc(&of_tile[digit_of(mine[k], shift)]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint digit = item; digit < DIGITS; digit += GROUP_SIZE)
        counts[(ulong)digit * get_num_groups(0) + get_group_id(0)] = of_tile[digit];
}

// Ranks each of an item's KEYS_PER_ITEM neighbouring keys in the tile sorted by PASS_BITS bits from `shift` on.
// All items call it; `tallies` may be written again at once when the call is over.
void rank_keys(const key_t *keys, const uint shift, local ushort *tallies, local ulong *scratch, ushort *ranks)
{
    const uint item = (uint)get_local_id(0);
    for (uint digit = 0; digit < PASS_DIGITS; ++digit)
        tallies[digit * GROUP_SIZE + item] = 0;
    for (uint k = 0; k < KEYS_PER_ITEM; ++k) {
        const uint digit = (uint)(keys[k] >> shift) & (PASS_DIGITS - 1);
        ranks[k] = tallies[digit * GROUP_SIZE + item]++;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    // Each item adds up PASS_DIGITS neighbouring tallies, which may be another item's.
    uint sum = 0;
    for (uint k = 0; k < PASS_DIGITS; ++k)
        sum += tallies[item * PASS_DIGITS + k];
    ulong total;
    uint at = (uint)group_scan_exclusive(sum, scratch, &total);
    for (uint k = 0; k < PASS_DIGITS; ++k) {
        const uint tally = tallies[item * PASS_DIGITS + k];
        tallies[item * PASS_DIGITS + k] = (ushort)at;
        at += tally;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint k = 0; k < KEYS_PER_ITEM; ++k) {
        const uint digit = (uint)(keys[k] >> shift) & (PASS_DIGITS - 1);
        ranks[k] += tallies[digit * GROUP_SIZE + item];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
}

// Tile `scanned[digit * tiles + tile]` says where the tile's first key with a digit goes.
__attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
kernel void move_by_digit(const uint count,
                          const uint shift,
                          ARRAY_PARAMETER(const uint, scanned),
                          ARRAY_PARAMETER(const key_t, keys),
                          ARRAY_PARAMETER(const uint, numbers),
                          ARRAY_PARAMETER(key_t, sorted_keys),
                          ARRAY_PARAMETER(uint, sorted_numbers))
{
    OPEN_ARRAY(const uint, scanned);
    OPEN_ARRAY(const key_t, keys);
    OPEN_ARRAY(const uint, numbers);
    OPEN_ARRAY(key_t, sorted_keys);
    OPEN_ARRAY(uint, sorted_numbers);
    local key_t exchanged[PADDED_TILE];
    local ushort tallies[PASS_DIGITS * GROUP_SIZE];
    local ulong scratch[GROUP_SIZE];
    local uint targets[DIGITS]; // of each digit: where its first key goes, less its index in the tile
    const uint item = (uint)get_local_id(0);
    const ulong first = (ulong)get_group_id(0) * TILE;
    const uint present = (uint)min((ulong)TILE, count - first);
    key_t my_keys[KEYS_PER_ITEM];
    uint my_numbers[KEYS_PER_ITEM];
    ushort ranks[KEYS_PER_ITEM];

    // Neighbouring items load neighbouring keys; then each takes neighbouring keys of its own.
    for (uint k = 0; k < KEYS_PER_ITEM; ++k) {
        const uint at = k * GROUP_SIZE + item;
        my_keys[k] = at < present ? keys[first + at] : ~(key_t)0;
        my_numbers[k] = at < present ? numbers[first + at] : 0;
    }
    for (uint k = 0; k < KEYS_PER_ITEM; ++k)
        exchanged[PADDED(k * GROUP_SIZE + item)] = my_keys[k];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint k = 0; k < KEYS_PER_ITEM; ++k)
        my_keys[k] = exchanged[PADDED(item * KEYS_PER_ITEM + k)];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint k = 0; k < KEYS_PER_ITEM; ++k)
        exchanged[PADDED(k * GROUP_SIZE + item)] = my_numbers[k];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint k = 0; k < KEYS_PER_ITEM; ++k)
        my_numbers[k] = (uint)exchanged[PADDED(item * KEYS_PER_ITEM + k)];

    for (uint pass_shift = 0; pass_shift < DIGIT_BITS; pass_shift += PASS_BITS) {
        rank_keys(my_keys, shift + pass_shift, tallies, scratch, ranks);
        // After the last pass neighbouring items take neighbouring keys again.
        const int is_last = pass_shift + PASS_BITS >= DIGIT_BITS;
        for (uint k = 0; k < KEYS_PER_ITEM; ++k)
            exchanged[PADDED((uint)ranks[k])] = my_keys[k];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint k = 0; k < KEYS_PER_ITEM; ++k) {
            const uint at = is_last ? k * GROUP_SIZE + item : item * KEYS_PER_ITEM + k;
            my_keys[k] = exchanged[PADDED(at)];
            const uint digit = digit_of(my_keys[k], shift);
            if (is_last && at < present && (at == 0 || digit_of(exchanged[PADDED(at - 1)], shift) != digit))
                targets[digit] = scanned[(ulong)digit * get_num_groups(0) + get_group_id(0)] - at;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint k = 0; k < KEYS_PER_ITEM; ++k)
            exchanged[PADDED((uint)ranks[k])] = my_numbers[k];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint k = 0; k < KEYS_PER_ITEM; ++k) {
            const uint at = is_last ? k * GROUP_SIZE + item : item * KEYS_PER_ITEM + k;
            my_numbers[k] = (uint)exchanged[PADDED(at)];
        }
    }
    for (uint k = 0; k < KEYS_PER_ITEM; ++k) {
        const uint at = k * GROUP_SIZE + item;
        if (at < present) {
            const uint to = targets[digit_of(my_keys[k], shift)] + at;
            sorted_keys[to] = my_keys[k];
            sorted_numbers[to] = my_numbers[k];
        }
    }
}
