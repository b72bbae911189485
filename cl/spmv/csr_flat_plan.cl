// Where the tiles of csr_flat begin: one item a boundary between tiles (spmv/csr_flat.cl says what a tile is).
//
// Every TILE_NNZ nonzeros there is a boundary. The row that lies across it, if one does, stays whole where it has at
// most `whole_row` nonzeros: the tile that it begins in continues to its end, and the next tile begins after it.
// A longer row is cut at the boundary.
//
// The arena of a launch begins with these starts. The slots of partial sums of cut rows follow, and become 0.

#ifndef GROUP_SIZE
#define GROUP_SIZE 64 // items of a work-group
#endif

#include "group/search.h"
#include "spmv/csr_flat_tile.h"

__attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
kernel void csr_flat_plan(const uint rows,
                          const ulong nnz,
                          const uint tile_nnz,
                          const uint whole_row,
                          const uint tiles,
                          const ulong arena_words,
                          ARRAY_PARAMETER(const offset_t, offsets),
                          ARRAY_PARAMETER(uint, arena))
{
    OPEN_ARRAY(const offset_t, offsets);
    OPEN_ARRAY(uint, arena);
    global ulong *starts = (global ulong *)arena;
    const uint tile = (uint)get_global_id(0);
    for (ulong word = 2 * ((ulong)tiles + 1) + tile; word < arena_words; word += get_global_size(0))
        arena[word] = 0;
    if (tile > tiles)
        return;
    const ulong boundary = (ulong)tile * tile_nnz;
    if (tile == 0 || tile == tiles) {
        starts[tile] = tile_start(tile == 0 ? 0 : rows, 0, 0);
        return;
    }
    // The first row that begins at the boundary or after it; rows before it that are empty belong to the tile before.
    const uint across = rightmost_row_by_eighths(offsets, 0, rows, boundary - 1);
    const ulong begin = offsets[across];
    const ulong end = offsets[across + 1];
    if (end > boundary && end - begin > whole_row)
        starts[tile] = tile_start(across, 1, 0);
    else
        starts[tile] = tile_start(across + 1, 0, (uint)(end - boundary));
}
