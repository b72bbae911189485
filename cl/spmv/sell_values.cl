// Puts the values of compressed rows into the places they have in sliced ELL (spmv/sell.cl), padding as 0. An item
// takes a piece, as the product does. Values are moved bit for bit.

#ifndef SLICE_ROWS
#define SLICE_ROWS 16 // rows of a slice: 4, 8 or 16
#endif

#include "item/store.h"
#include "spmv/sell_slice.h"

__attribute__((reqd_work_group_size(1, 1, 1)))
kernel void sell_values(const uint rows,
                        ARRAY_PARAMETER(const sell_piece_t, pieces),
                        ARRAY_PARAMETER(const ushort, words),
                        ARRAY_PARAMETER(const ushort, steps),
                        ARRAY_PARAMETER(const offset_t, offsets),
                        ARRAY_PARAMETER(const bits_t, source),
                        ARRAY_PARAMETER(bits_t, target))
{
    OPEN_ARRAY(const sell_piece_t, pieces);
    OPEN_ARRAY(const ushort, words);
    OPEN_ARRAY(const ushort, steps);
    OPEN_ARRAY(const offset_t, offsets);
    OPEN_ARRAY(const bits_t, source);
    OPEN_ARRAY(bits_t, target);

    const sell_piece_t piece = pieces[get_global_id(0)];
    const uint past = pieces[get_global_id(0) + 1].slice;
    ulong word = piece.word;
    ulong at = piece.value;
    ulong step = piece.step;
    for (uint number = piece.slice; number < past; ++number) {
        const sell_slice_t slice = open_slice(words + word);
        word += SELL_HEADER_WORDS;
        const uint column_words = slice.is_wide ? 2 : 1;
        const uint first_row = number * SLICE_ROWS;
        const uint slice_rows = min((uint)SLICE_ROWS, rows - first_row);
        if (slice.is_strip) {
            const uint width = slice.runs + slice.full + slice.tail;
            for (uint done = 0; done < width; ++done) {
                const uint place = steps[step + done];
                for (uint row = 0; row < SLICE_ROWS; ++row) {
                    bits_t bits = 0;
                    if (row < slice_rows) {
                        const ulong own = (ulong)offsets[first_row + row] + place;
                        if (own < offsets[first_row + row + 1])
                            bits = source[own];
                    }
                    target[at++] = bits;
                }
            }
            word += 2 * slice.runs + SLICE_ROWS * column_words * slice.full + (2 + SLICE_ROWS * column_words) * slice.tail;
            step += width;
        } else {
            const ulong own = offsets[first_row];
            const ulong count = offsets[first_row + slice_rows] - own;
            for (ulong done = 0; done < count; ++done)
                target[at + done] = source[own + done];
            at += count;
            word += 2 * slice_rows + column_words * count;
            word += word & 1;
        }
    }
}
