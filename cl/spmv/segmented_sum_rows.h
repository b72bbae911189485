// Which rows lie in the tiles of a work-group, and where they begin: what stage 1 of the speculative
// segmented sum (`segmented_sum.cl`) knows of rows before it sums.
//
// Everything is said in *places*: nonzero begin + p of a group that begins at `begin` has place p. A group has
// `count` nonzeros in tiles of TILE, and a border before each tile and behind the last; borders behind the
// end lie at the end.
//
// The group's windows (group/search.h) say roughly which rows it has. Where they are few for its nonzeros,
// each is looked at once, and says for itself which borders lie in it, whether it is empty, and where it
// begins. Else every border is searched by an item, and of tiles with more than PIECE_ROWS rows only the ends
// of the first and the last segment are marked: the rows between are nearly all empty, walking through them
// would hold up the group, and stage 2 looks at them. With FUSED, where there is none, each nonzero is asked.
#ifndef SPMV_SEGMENTED_SUM_ROWS_H
#define SPMV_SEGMENTED_SUM_ROWS_H

#include "group/search.h"

#define PIECE_ROWS 2048 // most rows of a tile that are looked at; at least its nonzeros
#define NO_ROW 0xffffffffu
#define CLOSE_ROWS (2 * GROUP_SIZE) // a window of so many rows is not searched further
#define WALKED_ROWS 4 // most rows for each of its nonzeros that a group walks through one by one
#define ROWS_AT_ONCE 4 // neighbouring rows that an item looks at together

// What is left of a row behind a border is told exactly up to here.
#define SHORT_REST (BUNCH_SIZE * (NNZ_PER_ITEM < 4 ? NNZ_PER_ITEM : 4))

// The nonzeros of a group. It is handed on by its address: by value, it crashes the compiler of Intel's CPU runtime.
typedef struct {
    ulong begin;
    uint count;
    uint tiles;
} stretch_t;

// In local memory; `descriptor` and `dirty` are zeros at first.
typedef struct {
    local uint *at_border; // the row of each border
    local uint *rests; // what it has behind the border, 0 if it begins there: exact up to SHORT_REST
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

// -1 for an offset before the group; a little more than `count` for any far behind it.
int place_of(const offset_t offset, const stretch_t *group)
{
    const offset_t begin = (offset_t)group->begin;
    return offset < begin ? -1 : (int)min(offset - begin, (offset_t)(group->count + SHORT_REST + 1));
}

// How many of the group's borders lie before `place`.
uint borders_before(const int place, const stretch_t *group)
{
    return place > (int)group->count ? group->tiles + 1 : (uint)(place + TILE - 1) / TILE;
}

// A row that begins at `place`, where the next begins at `next`. If it is empty, its tile is dirty, which is
// the one that ends or goes on there.
void mark_row(const int place, const int next, const stretch_t *group, const tile_rows_t rows)
{
    if (place == next) {
        if ((uint)(place - 1) < group->count)
            rows.dirty[(place - 1) / TILE] = 1;
    } else if ((uint)place < group->count) {
        atomic_or(rows.descriptor + place / NNZ_PER_ITEM, 1u << place % NNZ_PER_ITEM);
    }
}

int walks_rows(const uint first, const uint beyond, const stretch_t *group)
{
    return beyond - first <= WALKED_ROWS * TILE * group->tiles + 2 * CLOSE_ROWS;
}

// The rows of all borders, which are among [first, beyond) of a matrix of `rows`; and where the group walks,
// the marks. All items of the group call it, with a barrier behind.
void find_tile_rows(global const offset_t *restrict offsets, const uint rows, const uint first,
                    const uint beyond, const stretch_t *group, const tile_rows_t found)
{
    const uint item = (uint)get_local_id(0);
    if (!walks_rows(first, beyond, group)) {
        for (uint border = item; border <= group->tiles; border += GROUP_SIZE) {
            const uint place = min(border * TILE, group->count);
            const uint row = rightmost_row(offsets, first, beyond, group->begin + place);
            const int is_cut = offsets[row] < group->begin + place;
            found.at_border[border] = row;
            found.rests[border] = is_cut ? place_of(offsets[row + 1], group) - (int)place : 0;
        }
        return;
    }
#pragma unroll 1
    for (uint row = first + ROWS_AT_ONCE * item; row < beyond; row += ROWS_AT_ONCE * GROUP_SIZE) {
        int place[ROWS_AT_ONCE + 1];
#pragma unroll
        for (uint at = 0; at <= ROWS_AT_ONCE; ++at)
            place[at] = row + at <= rows ? place_of(offsets[row + at], group) : INT_MAX;
        uint border = borders_before(place[0], group);
#pragma unroll
        for (uint at = 0; at < ROWS_AT_ONCE; ++at) {
            const uint next_border = borders_before(place[at + 1], group);
#pragma unroll 1
            for (; border < next_border; ++border) {
                const int of_border = min(border * TILE, group->count);
                found.at_border[border] = row + at;
                found.rests[border] = place[at] < of_border ? place[at + 1] - of_border : 0;
            }
            mark_row(place[at], place[at + 1], group, found);
        }
    }
}

// Marks the rows of a tile of very many, most of them empty: asks of each nonzero whether a row begins there.
void mark_rows_between(global const offset_t *restrict offsets, const stretch_t *group,
                       const uint tile, const tile_rows_t found)
{
    for (uint at = (uint)get_local_id(0); at < TILE; at += GROUP_SIZE) {
        const uint place = tile * TILE + at;
        const ulong nonzero = group->begin + place;
        const uint row = rightmost_row(offsets, found.at_border[tile], found.at_border[tile + 1] + 1, nonzero);
        if (place < group->count && offsets[row] == nonzero)
            mark_row(place, INT_MAX, group, found);
    }
}

// The marks where a group does not walk. All items of the group call it, with a barrier behind.
void mark_many_rows(global const offset_t *restrict offsets, const uint first, const uint beyond,
                    const stretch_t *group, const tile_rows_t found)
{
    if (walks_rows(first, beyond, group))
        return;
    const uint item = (uint)get_local_id(0);
    for (uint tile = 0; tile < group->tiles; ++tile) {
        const uint start = found.at_border[tile];
        const uint stop = found.at_border[tile + 1];
        const int is_walked = stop - start <= PIECE_ROWS;
        for (uint row = start + 1 + item; is_walked && row < stop; row += GROUP_SIZE)
            mark_row(place_of(offsets[row], group), place_of(offsets[row + 1], group), group, found);
        if (item == 0 && !is_walked) {
            found.dirty[tile] = 1;
            mark_row(place_of(offsets[start + 1], group), INT_MAX, group, found);
        }
#ifdef FUSED
        if (!is_walked)
            mark_rows_between(offsets, group, tile, found);
#endif
        if (item == 0)
            mark_row(place_of(offsets[stop], group), INT_MAX, group, found);
    }
}

#endif
