// Speculative segmented sum: equal nonzeros a work-item, wherever rows begin and end (Liu and Vinter,
// "Speculative segmented sum for sparse matrix-vector multiplication on heterogeneous processors", 2015).
//
// The nonzeros are cut into tiles of NNZ_PER_ITEM x BUNCH_SIZE (the paper's W x T). A bunch of BUNCH_SIZE
// items takes TILES_PER_BUNCH tiles (S) one after another, a group has BUNCHES_PER_GROUP bunches (B).
//
// Stage 1, `segmented_sum` below, for each bunch:
//   1. Searches in the row offsets, rightmost match, for the borders of its tiles: tile s has its nonzeros
//      in rows tile_rows[s] ("start") to tile_rows[s + 1] ("stop"). The whole group looks for its own first
//      and last border, many probes at once; each border between them is a binary search by one item.
//   For each tile:
//   2. The segment descriptor, a bit a nonzero, set where a row begins. Two rows that begin in the same
//      place are an empty row: the tile is dirty.
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
// Local memory, for the group: a row a tile border. For each bunch: the tile's products, padded by one an item against bank conflicts, and for
// each item a descriptor word, a sum, and a number.

#ifndef BUNCH_SIZE
#define BUNCH_SIZE 32 // items that share a tile (T): a power of two, 2 to 64
#endif
#ifndef NNZ_PER_ITEM
#define NNZ_PER_ITEM 8 // nonzeros of a tile for each of its items (W): 1 to 32
#endif
#ifndef TILES_PER_BUNCH
#define TILES_PER_BUNCH 4 // tiles a bunch takes one after another (S)
#endif
#ifndef BUNCHES_PER_GROUP
#define BUNCHES_PER_GROUP 4 // bunches of a work-group (B)
#endif

#define GROUP_SIZE (BUNCH_SIZE * BUNCHES_PER_GROUP)
#define TILE (BUNCH_SIZE * NNZ_PER_ITEM)
#define PADDED_TILE (TILE + BUNCH_SIZE)
#define TILES_PER_GROUP (TILES_PER_BUNCH * BUNCHES_PER_GROUP)

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

// Marks in the descriptor that a row begins at nonzero `at` of the tile.
void begin_segment(local uint *descriptor, const uint at)
{
    atomic_or(descriptor + at / NNZ_PER_ITEM, 1u << at % NNZ_PER_ITEM);
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
void leave_rows(global uint2 *restrict speculator, const uint capacity, const uint at,
                const uint begin, const uint end, const uint item)
{
    for (uint piece = item; piece * PIECE_ROWS < end - begin; piece += BUNCH_SIZE) {
        const uint from = begin + piece * PIECE_ROWS;
        const uint to = end - from > PIECE_ROWS ? from + PIECE_ROWS : end;
        speculator[capacity - 1 - (at + piece)] = (uint2)(from, to);
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
                          const uint capacity,
                          ARRAY_PARAMETER(acc_t, heads),
                          ARRAY_PARAMETER(acc_t, tails),
                          ARRAY_PARAMETER(uint2, speculator),
                          ARRAY_PARAMETER(uint, head_rows),
                          ARRAY_PARAMETER(uint, counters))
{
    OPEN_ARRAY(const offset_t, offsets);
    OPEN_ARRAY(const uint, columns);
    OPEN_ARRAY(const value_t, values);
    OPEN_ARRAY(const real_t, x);
    OPEN_ARRAY(real_t, y);
    OPEN_SCALAR(alpha);
    OPEN_SCALAR(beta);
    OPEN_ARRAY(acc_t, heads);
    OPEN_ARRAY(acc_t, tails);
    OPEN_ARRAY(uint2, speculator);
    OPEN_ARRAY(uint, head_rows);
    OPEN_ARRAY(uint, counters);
    local uint borders_local[TILES_PER_GROUP + 1];
    local uint window_local[2][2];
    local uint flags_local[2][GROUP_SIZE / 2];
    local acc_t products_local[BUNCHES_PER_GROUP][PADDED_TILE];
    local uint descriptor_local[BUNCHES_PER_GROUP][BUNCH_SIZE];
    local acc_t leads_local[BUNCHES_PER_GROUP][BUNCH_SIZE];
    local uint begins_local[BUNCHES_PER_GROUP][BUNCH_SIZE];
    local uint numbers_local[BUNCHES_PER_GROUP][BUNCH_SIZE];
    local acc_t transmitter_local[BUNCHES_PER_GROUP];
    local uint dirty_local[BUNCHES_PER_GROUP];
    local uint entry_local[BUNCHES_PER_GROUP];

    const uint item = (uint)get_local_id(0) % BUNCH_SIZE;
    const uint in_group = (uint)get_local_id(0) / BUNCH_SIZE;
    const uint bunch = (uint)get_group_id(0) * BUNCHES_PER_GROUP + in_group;
    const uint bunches = (tiles + TILES_PER_BUNCH - 1) / TILES_PER_BUNCH;
    local const uint *tile_rows = borders_local + in_group * TILES_PER_BUNCH;
    local acc_t *products = products_local[in_group];
    local uint *descriptor = descriptor_local[in_group];
    local acc_t *transmitter = transmitter_local + in_group;
    local uint *dirty = dirty_local + in_group;
    local uint *entry = entry_local + in_group;
    bunch_segments_t segments;
    segments.leads = leads_local[in_group];
    segments.begins = begins_local[in_group];
    segments.numbers = numbers_local[in_group];

    // Bunches and tiles beyond the end have no nonzeros, and do nothing in as many steps as the others.
    const ulong end = min(nnz, ((ulong)first_tile + tiles) * TILE);
    const ulong group_begin =
        ((ulong)first_tile + (ulong)get_group_id(0) * TILES_PER_GROUP) * TILE;
    const ulong bunch_begin = group_begin + in_group * TILES_PER_BUNCH * TILE;
    const ulong bunch_end = min(bunch_begin + TILES_PER_BUNCH * TILE, end);

    // To be in flight during the searches.
    uint column[NNZ_PER_ITEM];
    real_t value[NNZ_PER_ITEM];
    ulong begin = min(bunch_begin, end);
    uint count = (uint)(min(begin + TILE, end) - begin);
    load_tile(columns, values, begin, count, item, column, value);

    group_find_window(offsets, rows, min(group_begin, end),
                      min(group_begin + TILES_PER_GROUP * TILE, end), window_local, flags_local);
    for (uint border = (uint)get_local_id(0); border <= TILES_PER_GROUP; border += GROUP_SIZE)
        borders_local[border] =
            rightmost_row(offsets, window_local[0][0], window_local[1][0] + 1,
                          min(group_begin + (ulong)border * TILE, end));
    barrier(CLK_LOCAL_MEM_FENCE);

    const uint leading = first_tile == 0 && bunch == 0 ? tile_rows[0] : 0;
    if (item == 0 && leading > 0)
        *entry = atomic_add(counters + LEFT, pieces_of(leading));
    // The bunch's head: the row in the middle of which it begins.
    int is_in_head = bunch_begin < end && offsets[tile_rows[0]] < bunch_begin;
    if (item == 0) {
        *transmitter = acc_zero();
        if (bunch < bunches)
            head_rows[bunch] = is_in_head ? tile_rows[0] : NO_ROW;
    }
    BUNCH_BARRIER();
    if (leading > 0)
        leave_rows(speculator, capacity, *entry, 0, leading, item);

    for (uint tile = 0; tile < TILES_PER_BUNCH; ++tile) {
        const uint start = tile_rows[tile];
        const uint stop = tile_rows[tile + 1];
        const ulong stop_begins = stop < rows ? offsets[stop] : end;
        const int goes_on = stop_begins < begin + count;
        const int is_walked = stop - start <= PIECE_ROWS;
        acc_t product[NNZ_PER_ITEM];
#pragma unroll
        for (uint trip = 0; trip < NNZ_PER_ITEM; ++trip)
            product[trip] = trip * BUNCH_SIZE + item < count
                                ? acc_product(value[trip], x[column[trip]])
                                : acc_zero();
        const ulong next_begin = begin + count;
        const uint next_count =
            tile + 1 < TILES_PER_BUNCH ? (uint)(min(next_begin + TILE, end) - next_begin) : 0;
        load_tile(columns, values, next_begin, next_count, item, column, value);

        // The descriptor.
        descriptor[item] = 0;
        if (item == 0)
            *dirty = !is_walked;
        BUNCH_BARRIER();
        for (uint row = start + 1 + item; is_walked && row < stop; row += BUNCH_SIZE) {
            const ulong row_begins = offsets[row];
            if (row_begins == offsets[row + 1])
                *dirty = 1;
            else
                begin_segment(descriptor, (uint)(row_begins - begin));
        }
        // Of a tile with more rows than are walked, only the first and the last segment count.
        if (item == 0 && !is_walked && offsets[start + 1] < begin + count)
            begin_segment(descriptor, (uint)(offsets[start + 1] - begin));
        if (item == 0 && goes_on && stop_begins > begin)
            begin_segment(descriptor, (uint)(stop_begins - begin));
#pragma unroll
        for (uint trip = 0; trip < NNZ_PER_ITEM; ++trip)
            products[padded(trip * BUNCH_SIZE + item)] = product[trip];
        BUNCH_BARRIER();

        // Where the dirty tile's rows go.
        const int is_dirty = *dirty;
        const int is_misplaced = is_dirty && is_walked && beta == 0;
        if (item == 0 && is_dirty)
            *entry = is_misplaced ? atomic_inc(counters + MISPLACED)
                                  : atomic_add(counters + LEFT, pieces_of(stop - start - 1));

        // Each item walks its own products, and packs the sums of segments that end there. The tile's first
        // segment is open already, with what was carried to the tile.
        local acc_t *mine = products + padded(item * NNZ_PER_ITEM);
        const uint begins = descriptor[item];
        const uint opened = item == 0 && count > 0;
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
                heads[bunch] = result;
            else if (!is_dirty || is_misplaced || segment == 0)
                store_result(y, start + segment, alpha, result, beta);
        }
        if (is_misplaced && item == 0)
            speculator[*entry] = (uint2)(start + 1, stop);
        else if (is_dirty && !is_misplaced)
            leave_rows(speculator, capacity, *entry, start + 1, stop, item);
        is_in_head = is_in_head && (count == 0 || (goes_on && total == 1));
        begin = next_begin;
        count = next_count;
    }
    BUNCH_BARRIER();

    const uint stop = tile_rows[TILES_PER_BUNCH];
    const int goes_on = bunch_begin < end && stop < rows && offsets[stop] < bunch_end;
    if (item == 0 && goes_on) {
        if (is_in_head)
            heads[bunch] = *transmitter;
        else
            tails[bunch] = *transmitter;
    }
    if (item == 0 && bunch + 1 == bunches)
        head_rows[bunches] = goes_on ? stop : NO_ROW;
}
