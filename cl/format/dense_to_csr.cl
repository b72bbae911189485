// Compressed rows from a dense matrix: what is larger than `tolerance` in size is kept, and so is NaN. Element
// (row, column) lies at row * row_stride + column * column_stride, one of which is 1.
//
// Rows are cut into cells of CELL neighbouring elements, an item each: `count_cells` counts what each keeps, the scan
// (`format/scan.cl`) of the counts gives their offsets, and `write_cells` writes. Cells count row by row; items take
// those first that lie side by side, so that neighbours load neighbouring memory.
#ifndef GROUP_SIZE
#define GROUP_SIZE 256 // items of a work-group
#endif
#ifndef CELL
#define CELL 8 // elements
#endif

#include "item/scalar.h"
#include "item/store.h"

// Whether an element is stored.
int is_kept(const real_t value, const real_t tolerance)
{
    return !(fabs(value) <= tolerance);
}

// The row and the first column of the item's cell.
uint2 cell_of(const ulong item, const uint rows, const uint row_cells, const ulong row_stride)
{
    // Column-major: the first cells of all rows, then the second ones.
    if (row_stride == 1)
        return (uint2)((uint)(item % rows), (uint)(item / rows) * CELL);
    return (uint2)((uint)(item / row_cells), (uint)(item % row_cells) * CELL);
}

__attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
kernel void count_cells(const uint rows,
                        const uint cols,
                        const uint row_cells,
                        const ulong row_stride,
                        const ulong column_stride,
                        SCALAR_PARAMETER(tolerance),
                        ARRAY_PARAMETER(const value_t, dense),
                        ARRAY_PARAMETER(uint, counts))
{
    OPEN_SCALAR(tolerance);
    OPEN_ARRAY(const value_t, dense);
    OPEN_ARRAY(uint, counts);
    const ulong item = get_global_id(0);
    if (item >= (ulong)rows * row_cells)
        return;
    const uint2 cell = cell_of(item, rows, row_cells, row_stride);
    const uint present = min((uint)CELL, cols - cell.y);
    const ulong first = cell.x * row_stride + cell.y * column_stride;
    real_t elements[CELL];
    for (uint k = 0; k < CELL; ++k)
        elements[k] = k < present ? load_value(dense, first + k * column_stride) : 0;
    uint count = 0;
    for (uint k = 0; k < CELL; ++k)
        count += k < present && is_kept(elements[k], tolerance) ? 1 : 0;
    counts[(ulong)cell.x * row_cells + cell.y / CELL] = count;
}

// `kept_offsets` holds the number of elements kept before each cell, and of all. Where elements were changed since they
// were counted, no more are written than were counted, and zeros in column 0 for what is missing: a pattern it stays.
__attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
kernel void write_cells(const uint rows,
                        const uint cols,
                        const uint row_cells,
                        const ulong row_stride,
                        const ulong column_stride,
                        SCALAR_PARAMETER(tolerance),
                        ARRAY_PARAMETER(const value_t, dense),
                        ARRAY_PARAMETER(const offset_t, kept_offsets),
                        ARRAY_PARAMETER(offset_t, offsets),
                        ARRAY_PARAMETER(uint, columns),
                        ARRAY_PARAMETER(bits_t, values))
{
    OPEN_SCALAR(tolerance);
    OPEN_ARRAY(const value_t, dense);
    OPEN_ARRAY(const offset_t, kept_offsets);
    OPEN_ARRAY(offset_t, offsets);
    OPEN_ARRAY(uint, columns);
    OPEN_ARRAY(bits_t, values);
    const ulong item = get_global_id(0);
    // An item each for rows without cells, and one for the last offset.
    if (item <= rows)
        offsets[item] = kept_offsets[item * row_cells];
    if (item >= (ulong)rows * row_cells)
        return;
    const uint2 cell = cell_of(item, rows, row_cells, row_stride);
    const uint present = min((uint)CELL, cols - cell.y);
    const ulong first = cell.x * row_stride + cell.y * column_stride;
    real_t elements[CELL];
    for (uint k = 0; k < CELL; ++k)
        elements[k] = k < present ? load_value(dense, first + k * column_stride) : 0;
    const ulong number = (ulong)cell.x * row_cells + cell.y / CELL;
    ulong index = kept_offsets[number];
    const ulong beyond = kept_offsets[number + 1];
    for (uint k = 0; k < CELL; ++k) {
        if (k < present && index < beyond && is_kept(elements[k], tolerance)) {
            columns[index] = cell.y + k;
            values[index] = ((global const bits_t *)dense)[first + k * column_stride];
            ++index;
        }
    }
    for (; index < beyond; ++index) {
        columns[index] = 0;
        values[index] = 0;
    }
}
