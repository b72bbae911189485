// The dense product that sparse ones are compared with (Yang, Buluc, Owens 2018, Figure 7): C = A B with A's zeros
// written out, all row-major and packed.
//
// A group makes TILE_ROWS x TILE_COLUMNS of C, its items 8 x 4 elements each, from TILE_DEPTH columns of A and rows of
// B at a time in local memory. An item's rows and columns lie 16 apart, so that neighbours read neighbouring words.
//
// Local memory: TILE_DEPTH columns of TILE_ROWS + 1 elements, and rows of TILE_COLUMNS.
//
// On a CPU (GROUP_SIZE 1), whose caches need no copies, a group is one item, which makes its tile in strips of
// ITEM_ROWS rows and a vector's columns.

#define GROUP_SIDE 16
#ifndef GROUP_SIZE
#define GROUP_SIZE 256 // items of a work-group: GROUP_SIDE squared, or 1
#endif

#define ITEM_ROWS 8
#define ITEM_COLUMNS 4
#define TILE_ROWS (ITEM_ROWS * GROUP_SIDE)
#define TILE_COLUMNS (ITEM_COLUMNS * GROUP_SIDE)
#define TILE_DEPTH 16

#include "item/scalar.h"

// Writes out `rows` rows from `first_row` on, a group each.
__attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
kernel void write_out_zeros(const uint first_row,
                            const uint columns_of_a,
                            ARRAY_PARAMETER(const offset_t, offsets),
                            ARRAY_PARAMETER(const uint, columns),
                            ARRAY_PARAMETER(const value_t, values),
                            ARRAY_PARAMETER(real_t, dense))
{
    OPEN_ARRAY(const offset_t, offsets);
    OPEN_ARRAY(const uint, columns);
    OPEN_ARRAY(const value_t, values);
    OPEN_ARRAY(real_t, dense);
    const uint item = (uint)get_local_id(0);
    const ulong row = (ulong)first_row + get_group_id(0);
    global real_t *const target = dense + get_group_id(0) * (ulong)columns_of_a;
    for (uint column = item; column < columns_of_a; column += GROUP_SIZE)
        target[column] = 0;
    barrier(CLK_GLOBAL_MEM_FENCE);
    // A column that stands twice in a row is added up by one item.
    if (item == 0) {
        for (ulong at = offsets[row]; at < offsets[row + 1]; ++at)
            target[columns[at]] += load_value(values, at);
    }
}

#if GROUP_SIZE == 1
#ifdef VALUE_F64
typedef double8 strip_t;
#define STRIP 8
#define LOAD_STRIP vload8
#define STORE_STRIP vstore8
#else
typedef float16 strip_t;
#define STRIP 16
#define LOAD_STRIP vload16
#define STORE_STRIP vstore16
#endif

// ITEM_ROWS rows of C from `first_row` on, `count` of which there are, and its STRIP columns from `column` on.
void make_strip(const ulong first_row, const uint count, const uint column, const uint depth, const uint width,
                global const real_t *restrict a, global const real_t *restrict b, global real_t *restrict c)
{
    strip_t sums[ITEM_ROWS];
#pragma unroll
    for (uint i = 0; i < ITEM_ROWS; ++i)
        sums[i] = 0;
    for (uint k = 0; k < depth; ++k) {
        const strip_t of_b = LOAD_STRIP(0, b + (ulong)k * width + column);
#pragma unroll
        for (uint i = 0; i < ITEM_ROWS; ++i)
            sums[i] = fma((strip_t)(a[(first_row + min(i, count - 1)) * depth + k]), of_b, sums[i]);
    }
#pragma unroll
    for (uint i = 0; i < ITEM_ROWS; ++i) {
        if (i < count)
            STORE_STRIP(sums[i], 0, c + (first_row + i) * width + column);
    }
}

// One row and one column, where there are not enough for a strip.
void make_element(const ulong row, const uint column, const uint depth, const uint width,
                  global const real_t *restrict a, global const real_t *restrict b, global real_t *restrict c)
{
    real_t sum = 0;
    for (uint k = 0; k < depth; ++k)
        sum = fma(a[row * depth + k], b[(ulong)k * width + column], sum);
    c[row * width + column] = sum;
}
#endif

// `rows` rows of C; `depth` columns of A and rows of B.
__attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
kernel void dense_product(const uint rows,
                          const uint depth,
                          const uint width,
                          ARRAY_PARAMETER(const real_t, a),
                          ARRAY_PARAMETER(const real_t, b),
                          ARRAY_PARAMETER(real_t, c))
{
    OPEN_ARRAY(const real_t, a);
    OPEN_ARRAY(const real_t, b);
    OPEN_ARRAY(real_t, c);
    const uint column_tiles = (width - 1) / TILE_COLUMNS + 1;
    const uint row_tile = (uint)get_group_id(0) / column_tiles;
    const ulong first_row = (ulong)row_tile * TILE_ROWS;
    const uint first_column = ((uint)get_group_id(0) - row_tile * column_tiles) * TILE_COLUMNS;
#if GROUP_SIZE == 1
    const uint tile_rows = (uint)min(rows - first_row, (ulong)TILE_ROWS);
    const uint tile_columns = min(width - first_column, (uint)TILE_COLUMNS);
    const uint whole = tile_columns - tile_columns % STRIP;
    for (uint row = 0; row < tile_rows; row += ITEM_ROWS) {
        const uint count = min(tile_rows - row, (uint)ITEM_ROWS);
        for (uint column = 0; column < whole; column += STRIP)
            make_strip(first_row + row, count, first_column + column, depth, width, a, b, c);
        for (uint i = 0; i < count; ++i) {
            for (uint column = whole; column < tile_columns; ++column)
                make_element(first_row + row + i, first_column + column, depth, width, a, b, c);
        }
    }
#else
    local real_t of_a[TILE_DEPTH][TILE_ROWS + 1];
    local real_t of_b[TILE_DEPTH][TILE_COLUMNS];
    const uint item = (uint)get_local_id(0);
    const uint item_row = item / GROUP_SIDE;
    const uint item_column = item % GROUP_SIDE;
    real_t sums[ITEM_ROWS][ITEM_COLUMNS];
#pragma unroll
    for (uint i = 0; i < ITEM_ROWS; ++i) {
#pragma unroll
        for (uint j = 0; j < ITEM_COLUMNS; ++j)
            sums[i][j] = 0;
    }
    for (uint first = 0; first < depth; first += TILE_DEPTH) {
#pragma unroll
        for (uint load = 0; load < TILE_ROWS * TILE_DEPTH / GROUP_SIZE; ++load) {
            const uint row = load * GROUP_SIDE + item_row;
            const int is_inside = first_row + row < rows && first + item_column < depth;
            of_a[item_column][row] = is_inside ? a[(first_row + row) * depth + first + item_column] : 0;
        }
#pragma unroll
        for (uint load = 0; load < TILE_DEPTH * TILE_COLUMNS / GROUP_SIZE; ++load) {
            const uint row = (load * GROUP_SIZE + item) / TILE_COLUMNS;
            const uint column = (load * GROUP_SIZE + item) % TILE_COLUMNS;
            const int is_inside = first + row < depth && first_column + column < width;
            of_b[row][column] = is_inside ? b[((ulong)first + row) * width + first_column + column] : 0;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
        for (uint k = 0; k < TILE_DEPTH; ++k) {
            real_t mine_of_b[ITEM_COLUMNS];
#pragma unroll
            for (uint j = 0; j < ITEM_COLUMNS; ++j)
                mine_of_b[j] = of_b[k][j * GROUP_SIDE + item_column];
#pragma unroll
            for (uint i = 0; i < ITEM_ROWS; ++i) {
                const real_t mine_of_a = of_a[k][i * GROUP_SIDE + item_row];
#pragma unroll
                for (uint j = 0; j < ITEM_COLUMNS; ++j)
                    sums[i][j] = fma(mine_of_a, mine_of_b[j], sums[i][j]);
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
#pragma unroll
    for (uint i = 0; i < ITEM_ROWS; ++i) {
#pragma unroll
        for (uint j = 0; j < ITEM_COLUMNS; ++j) {
            const ulong row = first_row + i * GROUP_SIDE + item_row;
            const uint column = first_column + j * GROUP_SIDE + item_column;
            if (row < rows && column < width)
                c[row * width + column] = sums[i][j];
        }
    }
#endif
}
