// Copies the values of compressed rows to where they lie in sliced ELL (spmv/sell.cl), padding as 0. An item
// takes a chunk, as the product does. Values are moved bit for bit.

#ifndef SLICE_ROWS
#define SLICE_ROWS 16 // rows of a slice: 4, 8 or 16
#endif

#include "item/store.h"
#include "spmv/sell_slice.h"

__attribute__((reqd_work_group_size(1, 1, 1)))
kernel void sell_values(const uint rows,
                        ARRAY_PARAMETER(const sell_chunk_t, chunks),
                        ARRAY_PARAMETER(const ushort, words),
                        ARRAY_PARAMETER(const ushort, nonzero_order),
                        ARRAY_PARAMETER(const offset_t, offsets),
                        ARRAY_PARAMETER(const bits_t, source),
                        ARRAY_PARAMETER(bits_t, target))
{
    OPEN_ARRAY(const sell_chunk_t, chunks);
    OPEN_ARRAY(const ushort, words);
    OPEN_ARRAY(const ushort, nonzero_order);
    OPEN_ARRAY(const offset_t, offsets);
    OPEN_ARRAY(const bits_t, source);
    OPEN_ARRAY(bits_t, target);

    const sell_chunk_t chunk = chunks[get_global_id(0)];
    const uint past = chunks[get_global_id(0) + 1].slice;
    ulong word = chunk.word;
    ulong at = chunk.value;
    ulong iteration = chunk.iteration;
    for (uint number = chunk.slice; number < past; ++number) {
        const sell_slice_t slice = open_slice(words + word);
        word += SELL_HEADER_WORDS;
        const uint column_words = slice.is_wide ? 2 : 1;
        const uint first_row = number * SLICE_ROWS;
        const uint slice_rows = min((uint)SLICE_ROWS, rows - first_row);
        if (slice.is_strip) {
            global const bits_t *own = source + offsets[first_row];
            uint starts[SLICE_ROWS]; // of rows, from the slice's first nonzero on; a strip has no row longer than 65,535
            uint lengths[SLICE_ROWS];
            for (uint row = 0; row < SLICE_ROWS; ++row) {
                const uint begin = first_row + min(row, slice_rows);
                const uint end = first_row + min(row + 1, slice_rows);
                starts[row] = (uint)(offsets[begin] - offsets[first_row]);
                lengths[row] = (uint)(offsets[end] - offsets[begin]);
            }
            const uint whole = slice.runs + slice.full;
            for (uint done = 0; done < whole; ++done) {
                const uint nonzero = nonzero_order[iteration + done];
                for (uint row = 0; row < SLICE_ROWS; ++row)
                    target[at + row] = own[starts[row] + nonzero];
                at += SLICE_ROWS;
            }
            const uint width = whole + slice.tail;
            for (uint done = whole; done < width; ++done) {
                const uint nonzero = nonzero_order[iteration + done];
                for (uint row = 0; row < SLICE_ROWS; ++row)
                    target[at + row] = nonzero < lengths[row] ? own[starts[row] + nonzero] : 0;
                at += SLICE_ROWS;
            }
            word += 2 * slice.runs + SLICE_ROWS * column_words * slice.full + (2 + SLICE_ROWS * column_words) * slice.tail;
            iteration += width;
        } else {
            ulong stored = 0; // columns
            for (uint row = 0; row < slice_rows;) {
                const ulong own = offsets[first_row + row];
                const ulong length = offsets[first_row + row + 1] - own;
                const uint node_rows = rows_of_node(slice, row);
                // Interleaved: SLICE_ROWS of each row, then what is left of each.
                for (ulong done = 0; done < length; done += SLICE_ROWS) {
                    const uint count = min((ulong)SLICE_ROWS, length - done);
                    for (uint own_row = 0; own_row < node_rows; ++own_row)
                        for (uint lane = 0; lane < count; ++lane)
                            target[at++] = source[own + own_row * length + done + lane];
                }
                stored += length;
                row += node_rows;
            }
            word += 2 * slice_rows + column_words * stored;
            word += word & 1;
        }
    }
}
