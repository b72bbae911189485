// How sliced ELL lies in memory (`csr_core::plan::sell`), and how one item goes through it.
#ifndef SPMV_SELL_SLICE_H
#define SPMV_SELL_SLICE_H

#include "item/scalar.h"

// Where a chunk begins: `SellChunk` of the host.
typedef struct {
    ulong value; // of the values
    ulong word; // of the 16-bit words that say columns
    ulong iteration; // of `nonzero_order`: which nonzero of its row each iteration over a strip takes
    uint slice;
    uint unused;
} sell_chunk_t;

// A slice: SLICE_ROWS rows. It is a strip, or its rows lie one after another.
typedef struct {
    uint is_strip;
    uint is_wide; // columns have 32 bits, and `base` says nothing
    uint runs; // of a strip: iterations whose rows have neighbouring columns: the first of them is stored
    uint shared; // of other slices: rows that have the columns of the row before, a bit each
    uint full; // iterations in which every row has a nonzero
    uint tail; // iterations in which some do: a mask says which
    uint base; // what 16-bit columns count from
} sell_slice_t;

#define SELL_HEADER_WORDS 6
#define SELL_ROWS 2
#define SELL_WIDE 1
#define SELL_NODE_ROWS 4 // at most

// 32-bit numbers lie at even words.
uint word_pair(global const ushort *words)
{
    return *(global const uint *)words;
}

sell_slice_t open_slice(global const ushort *words)
{
    sell_slice_t slice;
    slice.is_strip = (words[0] & SELL_ROWS) == 0;
    slice.is_wide = words[0] & SELL_WIDE;
    slice.runs = words[1];
    slice.shared = words[1];
    slice.full = words[2];
    slice.tail = words[3];
    slice.base = word_pair(words + 4);
    return slice;
}

// Rows that share the columns of `row`, the first of them, and this one.
uint rows_of_node(const sell_slice_t slice, uint row)
{
    uint count = 1;
    while (slice.shared >> (row + count) & 1)
        ++count;
    return count;
}

#endif
