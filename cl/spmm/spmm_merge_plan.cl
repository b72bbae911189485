// Where the pieces of spmm_merge.cl begin: a border each PIECE places of the merge path, found by binary search, an
// item a border. A border within SLACK nonzeros of the beginning of the row it falls into moves there. One that does
// cut its row gets a slot for the parts of that row, and the first of a row's begins a chain of them: slots and
// chains are numbered as items come, which no result depends on.

#ifndef GROUP_SIZE
#define GROUP_SIZE 64 // items of a work-group
#endif
#ifndef PIECE
#define PIECE 512 // rows and nonzeros of a piece, together
#endif
#ifndef SLACK
#define SLACK 64 // nonzeros by which a border may move
#endif

#include "item/scalar.h"

typedef struct {
    uint row;
    ulong nonzero;
    int is_cut; // whether it lies in the middle of its row
} border_t;

// Border `number`: the rows and nonzeros before it are number * PIECE, but for what it moves.
border_t border_at(global const offset_t *restrict offsets, const uint rows, const ulong nnz,
                   const ulong number)
{
    const ulong at = min(number * PIECE, rows + nnz);
    uint low = 0;
    uint high = (uint)min(at, (ulong)rows);
    while (low < high) {
        const uint middle = low + (high - low) / 2;
        if (offsets[middle + 1] + (ulong)middle < at)
            low = middle + 1;
        else
            high = middle;
    }
    border_t border;
    border.row = low;
    border.nonzero = at - low;
    const ulong begin = offsets[low];
    if (border.nonzero - begin <= SLACK)
        border.nonzero = begin;
    border.is_cut = border.nonzero > begin;
    return border;
}

__attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
kernel void spmm_merge_plan(const uint rows,
                            const ulong nnz,
                            const uint pieces,
                            ARRAY_PARAMETER(const offset_t, offsets),
                            ARRAY_PARAMETER(uint, border_rows),
                            ARRAY_PARAMETER(offset_t, border_nonzeros),
                            ARRAY_PARAMETER(uint, slots),
                            ARRAY_PARAMETER(uint, chain_borders),
                            ARRAY_PARAMETER(uint, counts))
{
    OPEN_ARRAY(const offset_t, offsets);
    OPEN_ARRAY(uint, border_rows);
    OPEN_ARRAY(offset_t, border_nonzeros);
    OPEN_ARRAY(uint, slots);
    OPEN_ARRAY(uint, chain_borders);
    OPEN_ARRAY(uint, counts);

    const uint number = (uint)get_global_id(0);
    if (number > pieces)
        return;
    const border_t border = border_at(offsets, rows, nnz, number);
    border_rows[number] = border.row;
    border_nonzeros[number] = (offset_t)border.nonzero;
    slots[number] = 0;
    if (!border.is_cut)
        return;
    slots[number] = atomic_inc(counts);
    const border_t before = border_at(offsets, rows, nnz, number - 1);
    if (before.row != border.row || !before.is_cut)
        chain_borders[atomic_inc(counts + 1)] = number;
}
