// The products of a row of C, dealt to the items of a group: a batch of entries of A's row at a time, whatever the
// lengths of the rows of B that they name.
//
// Product k of a batch belongs to the first entry whose end lies beyond k, and multiplies B's entry
// `starts[entry] + k`. Rows of B ascend, and begin and end where `b_begins` and `b_ends` say.
//
// In these kernels loops around barriers run once at least (do ... while): PoCL 3.1 miscompiles the branch around a
// loop that may not. Every row that they take has a product.
#ifndef SPGEMM_ENTRIES_H
#define SPGEMM_ENTRIES_H

#include "item/scalar.h"

// The first entry from `begin` on, before `end`, whose column is not below `column`; `end` if there is none.
ulong first_not_below(global const uint *restrict columns, const ulong begin, const ulong end, const ulong column)
{
    ulong first = begin;
    ulong beyond = end;
    while (first < beyond) {
        const ulong middle = first + (beyond - first) / 2;
        if (columns[middle] < column)
            first = middle + 1;
        else
            beyond = middle;
    }
    return first;
}

// The part of B's row from `begin` to `end` whose columns are `low` to `high`. Most rows have no such part or are one:
// two loads at once tell of those.
ulong2 row_within(global const uint *restrict columns, const ulong begin, const ulong end, const uint low,
                  const uint high)
{
    if (begin == end)
        return (ulong2)(0, 0);
    const uint least = columns[begin];
    const uint most = columns[end - 1];
    if (least > high || most < low)
        return (ulong2)(0, 0);
    const ulong first = least < low ? first_not_below(columns, begin, end, low) : begin;
    return (ulong2)(first, most > high ? first_not_below(columns, first, end, (ulong)high + 1) : end);
}

// The entry of a batch of `count`, a power of two, that product `product` belongs to: below the last end.
uint entry_of(local const ulong *ends, const uint count, const ulong product)
{
    uint entry = 0;
    for (uint reach = count / 2; reach > 0; reach >>= 1)
        entry += ends[entry + reach - 1] <= product ? reach : 0;
    return entry;
}

#endif
