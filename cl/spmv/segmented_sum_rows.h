// Which rows lie in the tiles of a work-group, and where they begin: what stage 1 of the speculative
// segmented sum (`segmented_sum.cl`) knows of rows before it sums.
//
// Nonzeros are counted from the group's first: nonzero begin + p of a group that begins at `begin` has index p. A group
// has `count` nonzeros in tiles of TILE, and a boundary before each tile and after the last; boundaries after the end
// lie at the end.
//
// The group's windows (group/search.h) say roughly which rows it has. Where they are few for its nonzeros,
// an item takes each once, and marks which boundaries lie in it, whether it is empty, and where it begins. Else
// every boundary is searched by an item, and of tiles with more than CHUNK_ROWS rows only the ends of the first and
// the last segment are marked: the rows between are nearly all empty, a loop over them would hold up the group, and
// stage 2 takes them. With FUSED, where there is none, the row of each nonzero is searched.
#ifndef SPMV_SEGMENTED_SUM_ROWS_H
#define SPMV_SEGMENTED_SUM_ROWS_H

#include "group/search.h"

// Most rows of a tile that are looked at; at least its nonzeros. Where groups are small, so is local memory.
#if GROUP_SIZE >= 32
#define CHUNK_ROWS 2048
#else
#define CHUNK_ROWS (TILE > 32 ? TILE : 32)
#endif
#define NO_ROW 0xffffffffu
#define CLOSE_ROWS (2 * GROUP_SIZE) // a window of so many rows is not searched further
#define LOOPED_ROWS 4 // most rows for each of its nonzeros that a group loops over one by one
#define ROWS_AT_ONCE 4 // neighbouring rows that an item looks at together

// What is left of a row after a boundary is exact up to here.
#define SHORT_REST (BUNCH_SIZE * (NNZ_PER_ITEM < 4 ? NNZ_PER_ITEM : 4))

// The nonzeros of a group. It is handed on by its address: by value, it crashes the compiler of Intel's CPU runtime.
typedef struct {
    ulong begin;
    uint count;
    uint tiles;
} group_range_t;

// In local memory; `descriptor` and `dirty` are zeros at first.
typedef struct {
    local uint *at_boundary; // the row of each boundary
    local uint *rests; // its nonzeros after the boundary, 0 if it begins there: exact up to SHORT_REST
    local uint *descriptor; // a bit a nonzero: a row begins here
    local uint *dirty; // a word a tile: it has empty rows
} tile_rows_t;

// What an item has of a tile's segments. Handed on by its address, too.
typedef struct {
    uint item; // of its bunch
    uint begins; // a bit a nonzero: a segment begins here; not for the tile's first, which is open already
    uint before; // segments that begin in earlier items
    uint number; // segments that begin in this one
} item_segments_t;

// Returns the index of nonzero `offset`: -1 before the group; a little more than `count` for any far after it.
int index_of(const offset_t offset, const group_range_t *group)
{
    const offset_t begin = (offset_t)group->begin;
    return offset < begin ? -1 : (int)min(offset - begin, (offset_t)(group->count + SHORT_REST + 1));
}

// Returns how many of the group's boundaries lie before `index`.
uint boundaries_before(const int index, const group_range_t *group)
{
    return index > (int)group->count ? group->tiles + 1 : (uint)(index + TILE - 1) / TILE;
}

// Marks a row that begins at `index`, where the next begins at `next`. If it is empty, its tile is dirty, which is
// the one that ends or continues there.
void mark_row(const int index, const int next, const group_range_t *group, const tile_rows_t rows)
{
    if (index == next) {
        if ((uint)(index - 1) < group->count)
            rows.dirty[(index - 1) / TILE] = 1;
    } else if ((uint)index < group->count) {
        atomic_or(rows.descriptor + index / NNZ_PER_ITEM, 1u << index % NNZ_PER_ITEM);
    }
}

int loops_over_rows(const uint first, const uint beyond, const group_range_t *group)
{
    return beyond - first <= LOOPED_ROWS * TILE * group->tiles + 2 * CLOSE_ROWS;
}

// Finds the rows of all boundaries, which are among [first, beyond) of a matrix of `rows`; and where the group loops
// over rows, marks them. All items of the group call it, with a barrier after it.
void find_tile_rows(global const offset_t *restrict offsets, const uint rows, const uint first,
                    const uint beyond, const group_range_t *group, const tile_rows_t found)
{
    const uint item = (uint)get_local_id(0);
    if (!loops_over_rows(first, beyond, group)) {
        for (uint boundary = item; boundary <= group->tiles; boundary += GROUP_SIZE) {
            const uint index = min(boundary * TILE, group->count);
            const uint row = rightmost_row(offsets, first, beyond, group->begin + index);
            const int is_cut = offsets[row] < group->begin + index;
            found.at_boundary[boundary] = row;
            found.rests[boundary] = is_cut ? index_of(offsets[row + 1], group) - (int)index : 0;
        }
        return;
    }
#pragma unroll 1
    for (uint row = first + ROWS_AT_ONCE * item; row < beyond; row += ROWS_AT_ONCE * GROUP_SIZE) {
        int index[ROWS_AT_ONCE + 1];
#pragma unroll
        for (uint at = 0; at <= ROWS_AT_ONCE; ++at)
            index[at] = row + at <= rows ? index_of(offsets[row + at], group) : INT_MAX;
        uint boundary = boundaries_before(index[0], group);
#pragma unroll
        for (uint at = 0; at < ROWS_AT_ONCE; ++at) {
            const uint next_boundary = boundaries_before(index[at + 1], group);
#pragma unroll 1
            for (; boundary < next_boundary; ++boundary) {
                const int of_boundary = min(boundary * TILE, group->count);
                found.at_boundary[boundary] = row + at;
                found.rests[boundary] = index[at] < of_boundary ? index[at + 1] - of_boundary : 0;
            }
            mark_row(index[at], index[at + 1], group, found);
        }
    }
}

// Marks the rows of a tile of very many, most of them empty: searches for each nonzero whether a row begins there.
void mark_rows_between(global const offset_t *restrict offsets, const group_range_t *group,
                       const uint tile, const tile_rows_t found)
{
    for (uint at = (uint)get_local_id(0); at < TILE; at += GROUP_SIZE) {
        const uint index = tile * TILE + at;
        const ulong nonzero = group->begin + index;
        const uint row = rightmost_row(offsets, found.at_boundary[tile], found.at_boundary[tile + 1] + 1, nonzero);
        if (index < group->count && offsets[row] == nonzero)
            mark_row(index, INT_MAX, group, found);
    }
}

// Marks rows where a group does not loop over all. All items of the group call it, with a barrier after it.
void mark_many_rows(global const offset_t *restrict offsets, const uint first, const uint beyond,
                    const group_range_t *group, const tile_rows_t found)
{
    if (loops_over_rows(first, beyond, group))
        return;
    const uint item = (uint)get_local_id(0);
    for (uint tile = 0; tile < group->tiles; ++tile) {
        const uint start = found.at_boundary[tile];
        const uint stop = found.at_boundary[tile + 1];
        const int is_looped = stop - start <= CHUNK_ROWS;
        for (uint row = start + 1 + item; is_looped && row < stop; row += GROUP_SIZE)
            mark_row(index_of(offsets[row], group), index_of(offsets[row + 1], group), group, found);
        if (item == 0 && !is_looped) {
            found.dirty[tile] = 1;
            mark_row(index_of(offsets[start + 1], group), INT_MAX, group, found);
        }
#ifdef FUSED
        if (!is_looped)
            mark_rows_between(offsets, group, tile, found);
#endif
        if (item == 0)
            mark_row(index_of(offsets[stop], group), INT_MAX, group, found);
    }
}

#endif
