// The rows of a dense matrix, `row_leading` elements apart: what SpMM reads, as a copy in the workspace.
//
// Of a column-major matrix tiles go through local memory, so that both sides are read and written in runs. Of a row-major
// one (ROW_MAJOR) neighbouring items copy neighbouring elements; between rows of the copy they write what the row has
// last, so that sectors of memory are written whole.
//
// With WHOLE_ROWS an item copies a row, which reads each column in runs and writes rows that follow one another: for a
// column-major matrix of few columns, which would leave most of a tile empty, and for CPUs, to which local memory is
// memory like any other and a barrier a second loop.

#ifndef GROUP_SIZE
#define GROUP_SIZE 256 // items of a work-group
#endif

#ifndef WHOLE_ROWS
#define WHOLE_ROWS 0 // 1: an item copies a row
#endif

#define ROWS_PER_GROUP 128 // rows of a row-major matrix that a group copies
#define COPIES_AT_ONCE 4 // elements of an item under way at a time

#define TILE_SIDE (GROUP_SIZE < 16 ? 8 : 16) // rows and columns of a tile: where groups are small, so is local memory

#include "item/scalar.h"

// Bits are moved, not numbers.
#if defined(VALUE_F64)
typedef ulong bits_t;
#elif defined(VALUE_F16) || defined(VALUE_BF16)
typedef ushort bits_t;
#else
typedef uint bits_t;
#endif

#ifdef ROW_MAJOR
#define ELEMENT(row, column) ((row) * leading + (column))
#else
#define ELEMENT(row, column) ((column) * leading + (row))
#endif

__attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
kernel void dense_rows(const uint rows,
                       const uint width,
                       const ulong leading,
                       const uint row_leading,
                       ARRAY_PARAMETER(const bits_t, from),
                       ARRAY_PARAMETER(bits_t, to))
{
    OPEN_ARRAY(const bits_t, from);
    OPEN_ARRAY(bits_t, to);
#if WHOLE_ROWS
    const ulong row = get_global_id(0);
    if (row < rows) {
        for (uint column = 0; column < width; ++column)
            to[row * row_leading + column] = from[ELEMENT(row, column)];
    }
#elif defined(ROW_MAJOR)
    const ulong first_row = (ulong)get_group_id(0) * ROWS_PER_GROUP;
    const uint group_rows = (uint)min(rows - first_row, (ulong)ROWS_PER_GROUP);
    from += first_row * leading;
    to += first_row * row_leading;
    // From one element of an item to its next.
    const uint next_row = GROUP_SIZE / row_leading;
    const uint next_column = GROUP_SIZE - next_row * row_leading;
    uint row = (uint)get_local_id(0) / row_leading;
    uint column = (uint)get_local_id(0) - row * row_leading;
    while (row < group_rows) {
        bits_t elements[COPIES_AT_ONCE];
        const ulong at = (ulong)row * row_leading + column;
#pragma unroll
        for (uint k = 0; k < COPIES_AT_ONCE; ++k) {
            elements[k] = from[ELEMENT((ulong)min(row, group_rows - 1), min(column, width - 1))];
            row += next_row;
            column += next_column;
            if (column >= row_leading) {
                column -= row_leading;
                ++row;
            }
        }
#pragma unroll
        for (uint k = 0; k < COPIES_AT_ONCE; ++k) {
            if (at + k * GROUP_SIZE < (ulong)group_rows * row_leading)
                to[at + k * GROUP_SIZE] = elements[k];
        }
    }
#else
    local bits_t tile[TILE_SIDE][TILE_SIDE + 1];
    const uint tiles_per_row = (width - 1) / TILE_SIDE + 1;
    const uint tile_row = (uint)get_group_id(0) / tiles_per_row;
    const ulong first_row = (ulong)tile_row * TILE_SIDE;
    const uint first_column = ((uint)get_group_id(0) - tile_row * tiles_per_row) * TILE_SIDE;
    for (uint at = (uint)get_local_id(0); at < TILE_SIDE * TILE_SIDE; at += GROUP_SIZE) {
        const uint outer = at / TILE_SIDE;
        const uint inner = at % TILE_SIDE;
        if (first_row + inner < rows && first_column + outer < width)
            tile[outer][inner] = from[(first_column + outer) * leading + first_row + inner];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint at = (uint)get_local_id(0); at < TILE_SIDE * TILE_SIDE; at += GROUP_SIZE) {
        const uint outer = at / TILE_SIDE;
        const uint inner = at % TILE_SIDE;
        if (first_row + outer < rows && first_column + inner < width)
            to[(first_row + outer) * row_leading + first_column + inner] = tile[inner][outer];
    }
#endif
}
