// Speculative segmented sum: equal nonzeros a work-item, wherever rows begin and end (Liu and Vinter,
// "Speculative segmented sum for sparse matrix-vector multiplication on heterogeneous processors", 2015).
//
// The nonzeros are cut into tiles of NNZ_PER_ITEM x BUNCH_SIZE (the paper's W x T). A bunch of BUNCH_SIZE
// items takes TILES_PER_BUNCH tiles (S) or fewer one after another, a group has BUNCHES_PER_GROUP bunches (B).
//
// Stage 1, `segmented_sum` below. For all tiles of a group together:
//   1. Searches in the row offsets, rightmost match, for the borders of its tiles: tile s has its nonzeros
//      in rows tile_rows[s] ("start") to tile_rows[s + 1] ("stop"). The whole group looks for its own first
//      and last border, many probes at once; then each row between says which borders lie in it.
//   2. The segment descriptor, a bit a nonzero, set where a row begins. Two rows that begin in the same
//      place are an empty row: the tile is dirty.
//   For each tile of a bunch:
//   3. Products into local memory, side by side. Columns and values of the next tile are loaded meanwhile.
//   4. Segmented reduction: each item walks its NNZ_PER_ITEM products and packs the sums of the segments
//      that begin there at the front of its products; what leads up to its first segment belongs to an
//      item before. A backward segmented scan over the items brings those parts together, a forward scan
//      of their numbers of segments gives each segment its number in the tile.
//   5. Segment number k is stored to y[start + k]. This speculates that no row is empty. In a dirty tile
//      it lies too far up, and the tile's rows go into the speculator array for stage 2.
//
// Who stores which row (the published code leaves rows without owner):
//   - A row that begins and ends within a bunch: that bunch. A row open at a tile's end is carried to the
//     next tile of the bunch (`transmitter`), whether the tile is dirty or not.
//   - A row that crosses the border of a bunch: stage 2. The bunch in which it begins leaves its part in
//     `tails`, every bunch after that in `heads`; `head_rows` says which row a bunch's head belongs to.
//     So a row is scaled and rounded once, and y is read once.
//   - Empty rows: stage 2, those before the first nonzero too.
//
// Two kinds of rows wait for stage 2 in `speculator`, as ranges:
//   - from the front, `counters[MISPLACED]` of them: rows of a dirty tile whose sums lie in y, packed at
//     the front of the range. Only with beta = 0: with another beta a misplaced store would destroy a y
//     that is still needed.
//   - from the back, `counters[LEFT]` of them: rows nobody has stored. Dirty tiles with beta != 0, tiles of
//     more than PIECE_ROWS rows (nearly all empty: walking through them would hold up the bunch), and the
//     rows before the first nonzero. No range is longer than PIECE_ROWS.
//
// A launch computes tiles [first_tile, first_tile + tiles) of the matrix: all of them, or one device's
// piece (hetero). A row that crosses a piece's border is not stored: stage 2 leaves the piece's parts of it
// in `borders`.
//
// Local memory: for each tile of the group a row and a flag, and a descriptor word an item; for each bunch the
// products of one tile, padded by one an item against bank conflicts; for each item a sum and three numbers.

#ifndef BUNCH_SIZE
#define BUNCH_SIZE 32 // items that share a tile (T): a power of two, 2 to 64
#endif
#ifndef NNZ_PER_ITEM
#define NNZ_PER_ITEM 8 // nonzeros of a tile for each of its items (W): 1 to 32
#endif
#ifndef TILES_PER_BUNCH
#define TILES_PER_BUNCH 4 // most tiles a bunch takes one after another (S)
#endif
#ifndef BUNCHES_PER_GROUP
#define BUNCHES_PER_GROUP 4 // bunches of a work-group (B)
#endif

#define GROUP_SIZE (BUNCH_SIZE * BUNCHES_PER_GROUP)
#define TILE (BUNCH_SIZE * NNZ_PER_ITEM)
#define PADDED_TILE (TILE + BUNCH_SIZE)
#define MOST_TILES (TILES_PER_BUNCH * BUNCHES_PER_GROUP)
#define WALKED_ROWS 4 // most rows for each of its nonzeros that a group walks through one by one

#include "group/search.h"
#include "item/accumulate.h"
#include "subgroup/bunch.h"
#include "spmv/segmented_sum_stage2.h"

// Where the products of an item begin: one place between items, so that items that walk in step through
// theirs do not meet in one bank of local memory.
uint padded(const uint at)
{
    return at + at / NNZ_PER_ITEM;
}

// A row in the segment descriptor of the tiles that begin at nonzero `begin`: from `at`, behind `begin`, to
// `next`. A bit says where it begins; or, where it is empty, its tile is dirty, which is the one that ends
// or goes on there.
void mark_row(const ulong at, const ulong next, const ulong begin, const ulong end,
              local uint *descriptor, local uint *dirty)
{
    const uint place = (uint)(at - begin);
    if (at == next)
        dirty[(place - 1) / TILE] = 1;
    else if (at < end)
        atomic_or(descriptor + place / NNZ_PER_ITEM, 1u << place % NNZ_PER_ITEM);
}

// Whether a group of `tiles` tiles walks through its rows: few of them are empty.
int walks_rows(local const uint *tile_rows, const uint tiles)
{
    return tile_rows[tiles] - tile_rows[0] <= WALKED_ROWS * TILE * tiles;
}

// The rows of all tile borders of a group, of which the first and the last are known; and the segment
// descriptor, and which tiles are dirty. All items of the group call both functions, with a barrier in
// between; `descriptor` and `dirty` are zeros at first.
//
// Where a group is to walk through its rows, each is looked at once, and says for itself which borders
// lie in it. Else every border is searched by an item, and of tiles with more than PIECE_ROWS rows only the
// ends of the first and the last segment are marked: nobody will look at those between.
void find_tile_rows(global const offset_t *restrict offsets, const ulong begin, const ulong end,
                    const uint tiles, local uint *tile_rows, local uint *descriptor,
                    local uint *dirty)
{
    const uint item = (uint)get_local_id(0);
    const uint first_row = tile_rows[0];
    const uint last_row = tile_rows[tiles];
    if (!walks_rows(tile_rows, tiles)) {
        for (uint border = 1 + item; border < tiles; border += GROUP_SIZE)
            tile_rows[border] = rightmost_row(offsets, first_row, last_row + 1,
                                              min(begin + (ulong)border * TILE, end));
        return;
    }
    for (uint base = first_row + item; base <= last_row; base += 4 * GROUP_SIZE) {
        // Eight loads in flight at once.
        ulong at[4];
        ulong next[4];
#pragma unroll
        for (uint trip = 0; trip < 4; ++trip) {
            const uint row = base + trip * GROUP_SIZE;
            at[trip] = row <= last_row ? offsets[row] : begin;
            next[trip] = row < last_row ? offsets[row + 1] : row == last_row ? ULONG_MAX : begin;
        }
#pragma unroll
        for (uint trip = 0; trip < 4; ++trip) {
            uint border = at[trip] > begin ? ((uint)(at[trip] - begin) + TILE - 1) / TILE : 1;
            for (; border < tiles && begin + (ulong)border * TILE < next[trip]; ++border)
                tile_rows[border] = base + trip * GROUP_SIZE;
            if (at[trip] > begin)
                mark_row(at[trip], next[trip], begin, end, descriptor, dirty);
        }
    }
}

void mark_many_rows(global const offset_t *restrict offsets, const ulong begin, const ulong end,
                    const uint tiles, local const uint *tile_rows, local uint *descriptor,
                    local uint *dirty)
{
    if (walks_rows(tile_rows, tiles))
        return;
    const uint item = (uint)get_local_id(0);
    for (uint tile = 0; tile < tiles; ++tile) {
        const uint start = tile_rows[tile];
        const uint stop = tile_rows[tile + 1];
        const int is_walked = stop - start <= PIECE_ROWS;
        for (uint row = start + 1 + item; is_walked && row < stop; row += GROUP_SIZE)
            mark_row(offsets[row], offsets[row + 1], begin, end, descriptor, dirty);
        if (item == 0 && !is_walked) {
            dirty[tile] = 1;
            mark_row(offsets[start + 1], ULONG_MAX, begin, end, descriptor, dirty);
        }
        if (item == 0 && offsets[stop] > begin)
            mark_row(offsets[stop], ULONG_MAX, begin, end, descriptor, dirty);
    }
}

// The columns and values of this item in a tile of `count` nonzeros from `begin` on: every BUNCH_SIZE-th.
void load_tile(global const uint *restrict columns, global const value_t *restrict values,
               const ulong begin, const uint count, const uint item, uint *column, real_t *value)
{
#pragma unroll
    for (uint trip = 0; trip < NNZ_PER_ITEM; ++trip) {
        const uint at = trip * BUNCH_SIZE + item;
        column[trip] = at < count ? columns[begin + at] : 0;
        value[trip] = at < count ? load_value(values, begin + at) : 0;
    }
}

// The items of a bunch put the rows [begin, end) into the speculator array from the back, from entry
// `at` on.
void leave_rows(global uint *speculator, const uint capacity, const uint at,
                const uint begin, const uint end, const uint item)
{
    for (uint piece = item; piece * PIECE_ROWS < end - begin; piece += BUNCH_SIZE) {
        const uint from = begin + piece * PIECE_ROWS;
        const uint to = end - from > PIECE_ROWS ? from + PIECE_ROWS : end;
        const ulong range = 2 * ((ulong)capacity - 1 - (at + piece));
        speculator[range] = from;
        speculator[range + 1] = to;
    }
}

__attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
kernel void segmented_sum(const uint rows,
                          const ulong nnz,
                          const uint first_tile,
                          const uint tiles,
                          ARRAY_PARAMETER(const offset_t, offsets),
                          ARRAY_PARAMETER(const uint, columns),
                          ARRAY_PARAMETER(const value_t, values),
                          ARRAY_PARAMETER(const real_t, x),
                          ARRAY_PARAMETER(real_t, y),
                          SCALAR_PARAMETER(alpha),
                          SCALAR_PARAMETER(beta),
                          const uint tiles_per_bunch,
                          const uint room,
                          const uint capacity,
                          ARRAY_PARAMETER(uint, scratch))
{
    OPEN_ARRAY(const offset_t, offsets);
    OPEN_ARRAY(const uint, columns);
    OPEN_ARRAY(const value_t, values);
    OPEN_ARRAY(const real_t, x);
    OPEN_ARRAY(real_t, y);
    OPEN_SCALAR(alpha);
    OPEN_SCALAR(beta);
    OPEN_ARRAY(uint, scratch);
    const left_over_t over = left_over(scratch, room, capacity);
    local uint group_tile_rows[MOST_TILES + 1];
    local uint window[2][2];
    local uint flags[2][GROUP_SIZE / 2];
    local uint group_descriptor[MOST_TILES * BUNCH_SIZE];
    local uint group_dirty[MOST_TILES];
    local acc_t group_products[BUNCHES_PER_GROUP][PADDED_TILE];
    local acc_t group_leads[BUNCHES_PER_GROUP][BUNCH_SIZE];
    local uint group_begins[BUNCHES_PER_GROUP][BUNCH_SIZE];
    local uint group_numbers[BUNCHES_PER_GROUP][BUNCH_SIZE];
    local acc_t group_transmitter[BUNCHES_PER_GROUP];
    local uint group_entry[BUNCHES_PER_GROUP];

    const uint bunches = (tiles + tiles_per_bunch - 1) / tiles_per_bunch;
    const uint group_tiles = tiles_per_bunch * BUNCHES_PER_GROUP;
    const uint item = (uint)get_local_id(0) % BUNCH_SIZE;
    const uint in_group = (uint)get_local_id(0) / BUNCH_SIZE;
    const uint bunch = (uint)get_group_id(0) * BUNCHES_PER_GROUP + in_group;
    local const uint *tile_rows = group_tile_rows + in_group * tiles_per_bunch;
    local const uint *descriptor = group_descriptor + in_group * tiles_per_bunch * BUNCH_SIZE;
    local const uint *dirty = group_dirty + in_group * tiles_per_bunch;
    local acc_t *products = group_products[in_group];
    local acc_t *transmitter = group_transmitter + in_group;
    local uint *entry = group_entry + in_group;
    bunch_segments_t segments;
    segments.leads = group_leads[in_group];
    segments.begins = group_begins[in_group];
    segments.numbers = group_numbers[in_group];

    // Bunches and tiles beyond the end have no nonzeros, and do nothing in as many steps as the others.
    const ulong end = min(nnz, ((ulong)first_tile + tiles) * TILE);
    const ulong group_begin =
        ((ulong)first_tile + (ulong)get_group_id(0) * group_tiles) * TILE;
    const ulong bunch_begin = group_begin + in_group * tiles_per_bunch * TILE;
    const ulong bunch_end = min(bunch_begin + tiles_per_bunch * TILE, end);

    // To be in flight during the searches.
    uint column[NNZ_PER_ITEM];
    real_t value[NNZ_PER_ITEM];
    ulong begin = min(bunch_begin, end);
    uint count = (uint)(min(begin + TILE, end) - begin);
    load_tile(columns, values, begin, count, item, column, value);

    const ulong group_end = min(group_begin + group_tiles * TILE, end);
    for (uint at = (uint)get_local_id(0); at < group_tiles * BUNCH_SIZE; at += GROUP_SIZE)
        group_descriptor[at] = 0;
    for (uint at = (uint)get_local_id(0); at < group_tiles; at += GROUP_SIZE)
        group_dirty[at] = 0;
    group_find_window(offsets, rows, min(group_begin, end), group_end, window, flags);
    if (get_local_id(0) == 0) {
        group_tile_rows[0] = window[0][0];
        group_tile_rows[group_tiles] = window[1][0];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    find_tile_rows(offsets, group_begin, group_end, group_tiles, group_tile_rows, group_descriptor,
                   group_dirty);
    barrier(CLK_LOCAL_MEM_FENCE);
    mark_many_rows(offsets, group_begin, group_end, group_tiles, group_tile_rows, group_descriptor,
                   group_dirty);
    barrier(CLK_LOCAL_MEM_FENCE);

    const uint leading = first_tile == 0 && bunch == 0 ? tile_rows[0] : 0;
    if (item == 0 && leading > 0)
        *entry = atomic_add(over.counters + LEFT, pieces_of(leading));
    // The bunch's head: the row in the middle of which it begins.
    int is_in_head = bunch_begin < end && offsets[tile_rows[0]] < bunch_begin;
    if (item == 0) {
        *transmitter = acc_zero();
        if (bunch < bunches)
            over.head_rows[bunch] = is_in_head ? tile_rows[0] : NO_ROW;
    }
    BUNCH_BARRIER();
    if (leading > 0)
        leave_rows(over.speculator, capacity, *entry, 0, leading, item);

    for (uint tile = 0; tile < tiles_per_bunch; ++tile) {
        const uint start = tile_rows[tile];
        const uint stop = tile_rows[tile + 1];
        const ulong stop_begins = stop < rows ? offsets[stop] : end;
        const int goes_on = stop_begins < begin + count;
        acc_t product[NNZ_PER_ITEM];
#pragma unroll
        for (uint trip = 0; trip < NNZ_PER_ITEM; ++trip)
            product[trip] = trip * BUNCH_SIZE + item < count
                                ? acc_product(value[trip], x[column[trip]])
                                : acc_zero();
        const ulong next_begin = begin + count;
        const uint next_count =
            tile + 1 < tiles_per_bunch ? (uint)(min(next_begin + TILE, end) - next_begin) : 0;
        load_tile(columns, values, next_begin, next_count, item, column, value);

#pragma unroll
        for (uint trip = 0; trip < NNZ_PER_ITEM; ++trip)
            products[padded(trip * BUNCH_SIZE + item)] = product[trip];
        BUNCH_BARRIER();

        // Where the dirty tile's rows go.
        const int is_dirty = count > 0 && dirty[tile];
        const int is_misplaced = is_dirty && stop - start <= PIECE_ROWS && beta == 0;
        if (item == 0 && is_dirty)
            *entry = is_misplaced ? atomic_inc(over.counters + MISPLACED)
                                  : atomic_add(over.counters + LEFT, pieces_of(stop - start - 1));

        // Each item walks its own products, and packs the sums of segments that end there. The tile's first
        // segment is open already, with what was carried to the tile.
        local acc_t *mine = products + padded(item * NNZ_PER_ITEM);
        const uint opened = item == 0 && count > 0;
        const uint begins = count > 0 ? descriptor[tile * BUNCH_SIZE + item] & ~opened : 0;
        acc_t sum = item == 0 ? *transmitter : acc_zero();
        acc_t lead = acc_zero();
        uint number = opened;
#pragma unroll
        for (uint trip = 0; trip < NNZ_PER_ITEM; ++trip) {
            const acc_t next = mine[trip];
            if (begins >> trip & 1) {
                if (number == 0)
                    lead = sum;
                else
                    mine[number - 1] = sum;
                ++number;
                sum = next;
            } else {
                sum = acc_add(sum, next);
            }
        }
        if (number == 0)
            lead = sum;

        acc_t rest;
        uint before;
        uint total;
        bunch_join_segments(segments, item, lead, number, &rest, &before, &total);
        if (opened)
            *transmitter = acc_zero();
        BUNCH_BARRIER();
        for (uint packed = 0; packed < number; ++packed) {
            const uint segment = before + packed;
            const acc_t result = packed + 1 < number ? mine[packed] : acc_add(sum, rest);
            if (goes_on && segment + 1 == total)
                *transmitter = result;
            else if (is_in_head && segment == 0)
                over.heads[bunch] = result;
            else if (!is_dirty || is_misplaced || segment == 0)
                store_result(y, start + segment, alpha, result, beta);
        }
        if (is_misplaced && item < 2)
            over.speculator[2 * (ulong)*entry + item] = item == 0 ? start + 1 : stop;
        else if (is_dirty && !is_misplaced)
            leave_rows(over.speculator, capacity, *entry, start + 1, stop, item);
        is_in_head = is_in_head && (count == 0 || (goes_on && total == 1));
        begin = next_begin;
        count = next_count;
        // Packed sums are read, and the transmitter is written, before the next tile's products come.
        BUNCH_BARRIER();
    }

    const uint stop = tile_rows[tiles_per_bunch];
    const int goes_on = bunch_begin < end && stop < rows && offsets[stop] < bunch_end;
    if (item == 0 && goes_on) {
        if (is_in_head)
            over.heads[bunch] = *transmitter;
        else
            over.tails[bunch] = *transmitter;
    }
    if (item == 0 && bunch + 1 == bunches)
        over.head_rows[bunches] = goes_on ? stop : NO_ROW;
}
