// Where the tiles of spmm_merge.cl begin: a boundary every TILE_LENGTH elements of the merge path, found by binary
// search, an item a boundary. With BY_NONZEROS, where those of spmm_nonzero_split.cl do: every TILE_LENGTH nonzeros, with a
// search in the row offsets. A boundary within SLACK nonzeros of the beginning of the row it falls into moves there.
// One that does cut its row gets a slot for the partial sums of that row, and the first of a row's begins a chain of
// them: slots and chains are numbered as items come, which no result depends on.

#ifndef GROUP_SIZE
#define GROUP_SIZE 64 // items of a work-group
#endif
#ifndef TILE_LENGTH
#define TILE_LENGTH 512 // rows and nonzeros of a tile, together
#endif
#ifndef SLACK
#define SLACK 64 // nonzeros by which a boundary may move
#endif

#include "item/scalar.h"

typedef struct {
    uint row;
    ulong nonzero;
    int is_cut; // whether it lies in the middle of its row
} boundary_t;

#ifdef BY_NONZEROS
// Boundary `number`: number * TILE_LENGTH nonzeros are before it, and the rows that end with those, empty ones too.
boundary_t boundary_at(global const offset_t *restrict offsets, const uint rows, const ulong nnz,
                   const ulong number)
{
    boundary_t boundary;
    boundary.nonzero = min(number * TILE_LENGTH, nnz);
    uint low = 0;
    // Empty rows before the first nonzero are the first tile's.
    uint high = number > 0 ? rows : 0;
    while (low < high) {
        const uint middle = low + (high - low) / 2;
        if (offsets[middle + 1] <= boundary.nonzero)
            low = middle + 1;
        else
            high = middle;
    }
    boundary.row = low;
    boundary.is_cut = boundary.nonzero > offsets[low];
    return boundary;
}
#else
// Boundary `number`: the rows and nonzeros before it are number * TILE_LENGTH, but for what it moves.
boundary_t boundary_at(global const offset_t *restrict offsets, const uint rows, const ulong nnz,
                   const ulong number)
{
    const ulong at = min(number * TILE_LENGTH, rows + nnz);
    uint low = 0;
    uint high = (uint)min(at, (ulong)rows);
    while (low < high) {
        const uint middle = low + (high - low) / 2;
        if (offsets[middle + 1] + (ulong)middle < at)
            low = middle + 1;
        else
            high = middle;
    }
    boundary_t boundary;
    boundary.row = low;
    boundary.nonzero = at - low;
    const ulong begin = offsets[low];
    if (boundary.nonzero - begin <= SLACK)
        boundary.nonzero = begin;
    boundary.is_cut = boundary.nonzero > begin;
    return boundary;
}
#endif

__attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
kernel void spmm_merge_plan(const uint rows,
                            const ulong nnz,
                            const uint tiles,
                            ARRAY_PARAMETER(const offset_t, offsets),
                            ARRAY_PARAMETER(uint, boundary_rows),
                            ARRAY_PARAMETER(offset_t, boundary_nonzeros),
                            ARRAY_PARAMETER(uint, slots),
                            ARRAY_PARAMETER(uint, chain_boundaries),
                            ARRAY_PARAMETER(uint, counts))
{
    OPEN_ARRAY(const offset_t, offsets);
    OPEN_ARRAY(uint, boundary_rows);
    OPEN_ARRAY(offset_t, boundary_nonzeros);
    OPEN_ARRAY(uint, slots);
    OPEN_ARRAY(uint, chain_boundaries);
    OPEN_ARRAY(uint, counts);

    const uint number = (uint)get_global_id(0);
    if (number > tiles)
        return;
    const boundary_t boundary = boundary_at(offsets, rows, nnz, number);
    boundary_rows[number] = boundary.row;
    boundary_nonzeros[number] = (offset_t)boundary.nonzero;
    slots[number] = 0;
    if (!boundary.is_cut)
        return;
    slots[number] = atomic_inc(counts);
    const boundary_t before = boundary_at(offsets, rows, nnz, number - 1);
    if (before.row != boundary.row || !before.is_cut)
        chain_boundaries[atomic_inc(counts + 1)] = number;
}
