// Rows of C that several groups of spmm_merge.cl have parts of, added up by the last of these groups to arrive.
//
// A row is shared by the tiles between the boundaries that cut it, which follow from where it begins and ends. Each group
// publishes its part and raises the row's counter (group/carry.h); the one that raises it to the number of parts reads
// them all, and adds them up in an order that depends on their number alone. No group waits for another, and no kernel
// follows: on an H200 one takes 6 us, as long as many graphs' whole product.
#ifndef SPMM_SHARED_ROWS_H
#define SPMM_SHARED_ROWS_H

#include "group/carry.h"
#include "spmm/join.h"

// A row that tiles share.
typedef struct {
    uint first; // the first boundary that cuts it
    uint parts; // one more than the boundaries that do
} shared_row_t;

// Returns the boundaries that cut row `row`, by the rule of spmm_merge_plan.cl.
shared_row_t boundaries_of_row(global const offset_t *restrict offsets, const uint row)
{
    shared_row_t shared;
    shared.first = (uint)(((ulong)offsets[row] + row + SLACK) / TILE_LENGTH) + 1;
    shared.parts = (uint)(((ulong)offsets[row + 1] + row) / TILE_LENGTH) - shared.first + 2;
    return shared;
}

// The row of `carries` that holds part `part` of a row.
ulong part_of_row(const shared_row_t *shared, global const uint *restrict slots, const uint part)
{
    return part == 0 ? 2 * (ulong)slots[shared->first] + 1 : 2 * (ulong)slots[shared->first + part - 1];
}

// Where element `element` of an item's columns is in row `row` of `carries`.
ulong carried_element(const ulong row, const uint width, const item_columns_t mine, const uint element)
{
#if VECTOR_WIDTH > 1 && defined(COLUMNS_APART)
    return row * width + mine.first + min(element, max(mine.count, 1u) - 1) * mine.apart;
#else
    return sums_offset(row, width, mine) + element;
#endif
}

// Stores an item's sums of a part for other groups to read. Returns what was there before: a proof that it is stored.
uint publish_sums(global real_t *carries, const ulong row, const uint width, const reals_t sum,
                  const item_columns_t mine)
{
#ifdef __NV_CL_C_VERSION
    // The fence proves it.
    store_sums(carries, row, width, sum, mine);
    DEVICE_FENCE();
    return 0;
#else
    union {
        reals_t reals;
        uint words[VECTOR_WIDTH * REAL_WORDS];
    } its;
    its.reals = sum;
    uint before = 0;
#pragma unroll
    for (uint element = 0; element < VECTOR_WIDTH; ++element) {
#ifdef COLUMNS_APART
        if (element >= mine.count)
            continue;
#endif
        volatile global uint *const words =
            (volatile global uint *)(carries + carried_element(row, width, mine, element));
#pragma unroll
        for (uint word = 0; word < REAL_WORDS; ++word)
            before |= atomic_xchg(words + word, its.words[element * REAL_WORDS + word]);
    }
    return before;
#endif
}

// Loads an item's sums of a part that another group has published.
reals_t read_published_sums(global real_t *carries, const ulong row, const uint width, const item_columns_t mine)
{
    union {
        reals_t reals;
        uint words[VECTOR_WIDTH * REAL_WORDS];
    } its;
#pragma unroll
    for (uint element = 0; element < VECTOR_WIDTH; ++element) {
        volatile global uint *const words =
            (volatile global uint *)(carries + carried_element(row, width, mine, element));
#pragma unroll
        for (uint word = 0; word < REAL_WORDS; ++word)
            its.words[element * REAL_WORDS + word] = READ_PUBLISHED(words + word);
    }
    return its.reals;
}

// The sum of the parts of a row, valid in the items of sub-group 0. Every item of the group calls it.
reals_t sum_of_parts(const shared_row_t *shared, global const uint *restrict slots, global real_t *carries,
                     const uint width, const item_columns_t mine, const uint sub_group_size, const uint sub_groups,
                     const int has_columns, local reals_t *sums)
{
    const uint sub_group = (uint)get_local_id(0) / sub_group_size;
    reals_t sum = 0;
    for (uint part = sub_group; has_columns && part < shared->parts; part += sub_groups * PARTS_AT_ONCE) {
        reals_t sums_of[PARTS_AT_ONCE];
#pragma unroll
        for (uint k = 0; k < PARTS_AT_ONCE; ++k) {
            const uint its_part = min(part + k * sub_groups, shared->parts - 1);
            sums_of[k] = read_published_sums(carries, part_of_row(shared, slots, its_part), width, mine);
        }
#pragma unroll
        for (uint k = 0; k < PARTS_AT_ONCE; ++k)
            sum = part + k * sub_groups < shared->parts ? sum + sums_of[k] : sum;
    }
    return sum_over_sub_groups(sum, sums, sub_group_size, sub_groups, has_columns);
}

#endif
