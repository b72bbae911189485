// The rows of a column-major dense matrix, side by side: what SpMM reads, as a copy in the workspace. Tiles go
// through local memory, so that both sides are read and written in runs. With WHOLE_ROWS an item copies a row, which
// reads each column in runs and writes rows that follow one another: for a matrix of few columns, which would leave most
// of a tile empty, and for CPUs, to which local memory is memory like any other and a barrier a second loop.

#ifndef GROUP_SIZE
#define GROUP_SIZE 256 // items of a work-group
#endif

#ifndef WHOLE_ROWS
#define WHOLE_ROWS 0 // 1: an item copies a row
#endif

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
            to[row * row_leading + column] = from[column * leading + row];
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
