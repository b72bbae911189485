// The class of a row of C, of its products and how far apart their columns lie (`spgemm_rows.cl` has the table and the
// limits).
#ifndef SPGEMM_ROW_CLASS_H
#define SPGEMM_ROW_CLASS_H

#include "item/scalar.h"

// Whether a row of so many entries of A is long, whatever they name. Entries of long rows are counted in 32 bits.
int is_long_unseen(const ulong entries, const ulong long_work)
{
    return entries > long_work / ENTRY_WORK && entries < MOST_ENTRIES;
}

uint row_class(const ulong entries, const ulong products, const uint words, const ulong long_work)
{
    if (is_long_unseen(entries, long_work))
        return LONG_CLASS;
    if (products == 0)
        return 0;
    if (products <= TINY)
        return 1;
    if (products <= BRIEF)
        return 2;
    if (products <= SHORT)
        return 3;
    if (words <= NEAR && products <= 2 * NEAR)
        return 4;
    if (products <= FEW)
        return 5;
    if (words > MIDDLE && products <= SCATTERED)
        return 7;
    const uint windows = words <= MIDDLE ? 1 : (words - 1) / WIDE + 1;
    if (products + windows * (ENTRY_WORK * entries + WINDOW_WORK) > long_work && entries < MOST_ENTRIES)
        return LONG_CLASS;
    return words <= MIDDLE ? 6 : 8;
}

// The products of entries of A: from `begin` on, before `end`, every `stride`-th.
ulong count_products(global const uint *restrict a_columns, global const offset_t *restrict b_begins,
                     global const offset_t *restrict b_ends, const ulong begin, const ulong end, const uint stride)
{
    ulong sum = 0;
    for (ulong at = begin; at < end; at += AT_ONCE * (ulong)stride) {
        uint of_b[AT_ONCE];
#pragma unroll
        for (uint k = 0; k < AT_ONCE; ++k)
            of_b[k] = a_columns[at + k * (ulong)stride < end ? at + k * (ulong)stride : at];
#pragma unroll
        for (uint k = 0; k < AT_ONCE; ++k)
            sum += at + k * (ulong)stride < end ? (ulong)(b_ends[of_b[k]] - b_begins[of_b[k]]) : 0;
    }
    return sum;
}

// The first and the last column of the same products; the last is below the first where there is none.
uint2 range_of(global const uint *restrict a_columns, global const offset_t *restrict b_begins,
               global const offset_t *restrict b_ends, global const uint *restrict b_columns, const ulong begin,
               const ulong end, const uint stride)
{
    uint2 range = (uint2)(0xffffffffu, 0);
    for (ulong at = begin; at < end; at += AT_ONCE * (ulong)stride) {
        uint of_b[AT_ONCE];
        // Beyond the last entry the first again.
#pragma unroll
        for (uint k = 0; k < AT_ONCE; ++k)
            of_b[k] = a_columns[at + k * (ulong)stride < end ? at + k * (ulong)stride : at];
#pragma unroll
        for (uint k = 0; k < AT_ONCE; ++k) {
            const ulong b_begin = b_begins[of_b[k]];
            const ulong b_end = b_ends[of_b[k]];
            if (b_begin < b_end) {
                range.x = min(range.x, b_columns[b_begin]);
                range.y = max(range.y, b_columns[b_end - 1]);
            }
        }
    }
    return range;
}

#endif
