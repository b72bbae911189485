// csr_flat: equal nonzeros a work-group, wherever rows begin and end.
//
// The idea. What a group loads of A is known from its number alone: nonzeros [g, g + 1) x TILE_NNZ. So its loads
// are on their way before it has read anything else, and every group moves the same bytes; row offsets are looked at
// meanwhile. csr_adaptive has to read where its block begins, and there where its rows do, before the first load of A:
// on an H200 that is a third of a group's run time.
//
// Rows. The plan (spmv/csr_flat_plan.cl) says for each boundary between tiles which row comes first after it. A row
// across a boundary stays whole where it has at most WHOLE_ROW nonzeros: the group it begins in loads its tail too, the
// next group leaves that out. A longer row is cut at the boundary. So only long rows need a cross-group reduction.
//
// Three phases:
//   products   side by side into local memory, the tail after them, and where each row's products begin.
//   rows       each run of `width` neighbouring items sums a row, `width` the power of two at which all rows of the
//              tile are summed at once, 32 at most; many short rows take several rounds. A row with more than
//              HEAVY products an item would hold the others up, so it is put on a list, and so is a cut one.
//   the list   a team (a sub-group of 32 items where the device has ballots, else the group) a row; with SHARED_ROWS
//              several teams, where rows are fewer. A row that takes a whole tile is 64 to 128 products for each of 32
//              items.
//
// Instructions are what an H200 has too few of: it has time for some 50 for each 32 nonzeros that come from memory
// (docs/notebook/2026-11-24-csr-flat-h200.md).
// So each offset is read once and kept in local memory, counted from the tile; loads of A lie at constant distances,
// and what only cut rows need stands once, after everything else. Registers decide how many groups a compute unit
// holds: those that the loads on their way and a row's offsets need, and no more.
//
// Cut rows. The partial sums of a row are combined between groups; the last to arrive stores y (group/combine.h,
// group/combine_sub_group.h). No group waits for one that has not begun, and the result has the same bits every time:
// sums depend on the tiles alone, and the order of the list, which is as it comes, changes no sum.
//
// Order. Every other launch takes the tiles from the last to the first (`first_tile`), so that what the launch before
// left in the cache is found there by matrices that do not fit it. No sum depends on it.
//
// Arena: where tiles begin, one entry a tile and one more, and after them the slots of partial sums (group/combine.h).
// One array, since each that a kernel is given takes the driver time at every launch (0.4 us on an H200).
//
// Local memory: TILE_NNZ + WHOLE_ROW products; 2 GROUP_SIZE + 1 offsets; the list; GROUP_SIZE sums where items cannot
// shuffle, else one or, with SHARED_ROWS, one a team.

#ifndef GROUP_SIZE
#define GROUP_SIZE 256 // items of a work-group: a power of two
#endif
#ifndef TILE_NNZ
#define TILE_NNZ 1024 // nonzeros of a group: a multiple of GROUP_SIZE
#endif
#ifndef WHOLE_ROW
#define WHOLE_ROW 256 // rows of at most this many nonzeros are never cut
#endif
#ifndef REGISTERS
#define REGISTERS 0 // that NVIDIA's compiler is told to keep to, by an option; 0: as many as it likes
#endif
#ifndef SHARED_ROWS
#define SHARED_ROWS 0 // 1: teams that are free help others with the rows of the list
#endif

#include "item/accumulate.h"
#if GROUP_SIZE >= 32
#define SUB_GROUP_SIZE 32
#define SUB_GROUPS_PER_GROUP (GROUP_SIZE / 32)
#include "subgroup/sub_group.h"
#endif
#include "group/combine_sub_group.h"
#include "group/reduce.h"
#include "group/size.h"
#include "spmv/csr_flat_tile.h"

#define ITERATIONS (TILE_NNZ / GROUP_SIZE)
#define TEAMS (GROUP_SIZE / TEAM_SIZE)
#define HEAVY 64
#define MOST_LISTED ((TILE_NNZ + WHOLE_ROW) / HEAVY + 3)
#define KNOWN_OFFSETS (2 * GROUP_SIZE + 1)

#ifdef SUB_GROUP_BALLOT
#define TEAM_SIZE 32
#define LOG_MOST_WIDTH 5
#define RUN_SCRATCH (SHARED_ROWS ? TEAMS : 1)
#define sum_runs(mine, scratch, width) sub_group_sum_runs(mine, width)
#else
#define TEAM_SIZE GROUP_SIZE
#define LOG_MOST_WIDTH (GROUP_SIZE < 32 ? 31 - (int)clz(GROUP_SIZE) : 5)
#define RUN_SCRATCH GROUP_SIZE
#define sum_runs(mine, scratch, width) group_reduce_runs(mine, scratch, width)
#endif

// One tile. A slot is a row that has nonzeros here, or is empty and belongs here; slot 0 is row `row`.
typedef struct {
    uint number;
    offset_t boundary; // its first nonzero
    offset_t beyond; // past its last one, the tail included
    offset_t window; // the nonzero whose product lies first in local memory
    uint tail; // nonzeros after the next boundary that belong here
    uint row;
    uint slots;
    uint cut_before; // the slot that began in an earlier tile: 0, or none
    uint cut_after; // the slot that goes on in the next tile: the last, or none
} tile_t;
#define NO_SLOT 0xffffffffu

// Returns tile `number` of a matrix of `nnz` nonzeros, the first of which lies at index `lead` of local memory.
tile_t open_tile(const uint number, const uint lead, const ulong start, const ulong next, const offset_t nnz)
{
    tile_t tile;
    tile.number = number;
    tile.boundary = (offset_t)number * TILE_NNZ;
    tile.window = tile.boundary - lead;
    tile.tail = tile_past(next);
    tile.beyond = tile.boundary + min(nnz - tile.boundary, (offset_t)TILE_NNZ) + tile.tail;
    tile.row = tile_first_row(start);
    tile.slots = tile_first_row(next) - tile.row + (tile_is_cut(next) ? 1 : 0);
    tile.cut_before = tile_is_cut(start) ? 0 : NO_SLOT;
    tile.cut_after = tile_is_cut(next) ? tile.slots - 1 : NO_SLOT;
    return tile;
}

// Returns where in local memory the product of nonzero `offset` lies, a row offset; clamped to the tile.
uint local_offset(const tile_t tile, const offset_t offset)
{
    return (uint)(min(max(offset, tile.boundary), tile.beyond) - tile.window);
}

// Sums every `stride`-th of the products from index `at` up to `past`.
acc_t sum_products(local const acc_t *products, uint at, const uint past, const uint stride)
{
    acc_t sum = acc_zero();
    for (; at + 3 * stride < past; at += 4 * stride) {
        // Loaded together, added in order.
        const acc_t next[4] = {products[at], products[at + stride], products[at + 2 * stride],
                               products[at + 3 * stride]};
#pragma unroll
        for (uint k = 0; k < 4; ++k)
            sum = acc_add(sum, next[k]);
    }
    // At most three are left, and not one waits for another.
    acc_t rest[3];
#pragma unroll
    for (uint k = 0; k < 3; ++k)
        if (at + k * stride < past)
            rest[k] = products[at + k * stride];
#pragma unroll
    for (uint k = 0; k < 3; ++k)
        if (at + k * stride < past)
            sum = acc_add(sum, rest[k]);
    return sum;
}

// One round: each run of items sums a row, or puts it on the list.
#define SUM_ROUND(its_slot, OFFSET) \
    do { \
        const uint slot = its_slot; \
        const int has_row = slot < tile.slots; \
        const uint from = has_row ? OFFSET(slot) : 0; \
        const uint past = has_row ? OFFSET(slot + 1) : 0; \
        const int is_listed = (width < TEAM_SIZE && past - from > HEAVY << log_width) || \
                              slot == tile.cut_before || slot == tile.cut_after; \
        acc_t sum = acc_zero(); \
        if (!is_listed) \
            sum = sum_products(products, from + in_run, past, width); \
        sum = sum_runs(sum, scratch, width); \
        if (has_row && in_run == 0) { \
            if (is_listed) \
                listed_slots[atomic_inc(listed_count)] = slot; \
            else \
                store_result(y, tile.row + slot, alpha, sum, beta); \
        } \
    } while (0)
#define KNOWN_OFFSET(slot) local_offsets[slot]
#define FAR_OFFSET(slot) local_offset(tile, offsets[tile.row + (slot)])
#define ANY_OFFSET(slot) ((slot) < KNOWN_OFFSETS ? KNOWN_OFFSET(slot) : FAR_OFFSET(slot))

OF_GROUP_SIZE
kernel void csr_flat(const uint rows,
                     const ulong nnz,
                     ARRAY_PARAMETER(const offset_t, offsets),
                     ARRAY_PARAMETER(const uint, columns),
                     ARRAY_PARAMETER(const value_t, values),
                     ARRAY_PARAMETER(const real_t, x),
                     ARRAY_PARAMETER(real_t, y),
                     SCALAR_PARAMETER(alpha),
                     SCALAR_PARAMETER(beta),
                     const uint zero,
                     const uint first_tile,
                     ARRAY_PARAMETER(uint, arena))
{
    OPEN_ARRAY(const offset_t, offsets);
    OPEN_ARRAY(const uint, columns);
    OPEN_ARRAY(const value_t, values);
    OPEN_ARRAY(const real_t, x);
    OPEN_ARRAY(real_t, y);
    OPEN_SCALAR(alpha);
    OPEN_SCALAR(beta);
    OPEN_ARRAY(uint, arena);
    const ulong tiles = get_num_groups(0);
    global const ulong *starts = (global const ulong *)arena;
    const partial_sums_t partials = open_partial_sums(arena + 2 * (tiles + 1), tiles, zero);
    local acc_t products[TILE_NNZ + WHOLE_ROW];
    local uint local_offsets[KNOWN_OFFSETS];
    local acc_t scratch[RUN_SCRATCH];
    local uint listed_count[1];
    local uint listed_slots[MOST_LISTED];

    const uint item = (uint)get_local_id(0);
    const uint number = abs_diff((uint)get_group_id(0), first_tile);
    const offset_t first = (offset_t)number * TILE_NNZ;

    // Nothing to load: one group is the launch.
    if (nnz == 0) {
        for (uint row = item; row < rows; row += GROUP_SIZE)
            store_result(y, row, alpha, acc_zero(), beta);
        return;
    }

    // The last tile begins as early as it must to be a full one, so that no load is made under a condition: that would
    // be a branch, and only one of them on its way at a time. What it loads of the tile before is in no row of this
    // tile.
    const offset_t next_boundary = first + TILE_NNZ;
    tile_t tile;
    if (nnz >= TILE_NNZ) {
        const uint lead = TILE_NNZ - (uint)min((offset_t)nnz - first, (offset_t)TILE_NNZ);
        global const uint *restrict its_columns = columns + (first - lead) + item;
        global const value_t *restrict its_values = values + (first - lead) + item;
        uint tile_columns[ITERATIONS];
        real_t tile_values[ITERATIONS];
#pragma unroll
        for (uint iteration = 0; iteration < ITERATIONS; ++iteration)
            tile_columns[iteration] = stream_column(its_columns, iteration * GROUP_SIZE);
#pragma unroll
        for (uint iteration = 0; iteration < ITERATIONS; ++iteration)
            tile_values[iteration] = stream_value(its_values, iteration * GROUP_SIZE);

        tile = open_tile(number, lead, starts[number], starts[number + 1], (offset_t)nnz);
        const offset_t offset = offsets[min(tile.row + item, rows)];
        uint tail_column = 0;
        real_t tail_value = 0;
        if (item < tile.tail) {
            tail_column = load_column(columns, next_boundary + item);
            tail_value = load_value(values, next_boundary + item);
        }

        real_t of_x[ITERATIONS];
#pragma unroll
        for (uint iteration = 0; iteration < ITERATIONS; ++iteration)
            of_x[iteration] = gather_x(x, tile_columns[iteration]);
#pragma unroll
        for (uint iteration = 0; iteration < ITERATIONS; ++iteration)
            products[iteration * GROUP_SIZE + item] = acc_product(tile_values[iteration], of_x[iteration]);
        if (item < tile.tail)
            products[TILE_NNZ + item] = acc_product(tail_value, gather_x(x, tail_column));
        local_offsets[item] = local_offset(tile, offset);
    } else {
        // All of the matrix is less than a tile.
        for (uint at = item; at < nnz; at += GROUP_SIZE)
            products[at] = acc_product(load_value(values, at), load_x(x, columns, at));
        tile = open_tile(number, 0, starts[number], starts[number + 1], (offset_t)nnz);
        local_offsets[item] = local_offset(tile, offsets[min(tile.row + item, rows)]);
    }
#if WHOLE_ROW > GROUP_SIZE
    for (uint at = item + GROUP_SIZE; at < tile.tail; at += GROUP_SIZE)
        products[TILE_NNZ + at] =
            acc_product(load_value(values, next_boundary + at), load_x(x, columns, next_boundary + at));
#endif
    if (tile.slots >= GROUP_SIZE)
        local_offsets[GROUP_SIZE + item] = local_offset(tile, offsets[min(tile.row + GROUP_SIZE + item, rows)]);
#if SHARED_ROWS
    // A tile within one or two long rows has nothing to sum before the list.
    const int is_listed_whole = tile.cut_before == 0 && tile.cut_after == tile.slots - 1 && tile.slots <= 2;
#endif
    if (item == 0) {
        listed_count[0] = 0;
#if SHARED_ROWS
        if (is_listed_whole) {
            listed_count[0] = tile.slots;
            listed_slots[0] = 0;
            listed_slots[1] = 1;
        }
#endif
        if (tile.slots >= 2 * GROUP_SIZE)
            local_offsets[2 * GROUP_SIZE] = local_offset(tile, offsets[min(tile.row + 2 * GROUP_SIZE, rows)]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);

    // Each run of items a row. What a barrier would be in stays in one loop; elsewhere the first two rounds, most often all
    // there are, are written out. Without a slot, clz(slots - 1) is 0.
#if SHARED_ROWS
    if (!is_listed_whole)
#endif
    {
        const int log_fit = (int)clz(tile.slots - 1) - (int)clz(GROUP_SIZE - 1);
        const uint log_width = (uint)clamp(log_fit, 0, LOG_MOST_WIDTH);
        const uint width = 1u << log_width;
        const uint in_round = item >> log_width;
        const uint in_run = item & (width - 1);
#ifdef SUB_GROUP_BALLOT
        SUM_ROUND(in_round, KNOWN_OFFSET);
        if (tile.slots > GROUP_SIZE) {
            SUM_ROUND(GROUP_SIZE + item, KNOWN_OFFSET);
            for (uint done = 2 * GROUP_SIZE; done < tile.slots; done += GROUP_SIZE)
                SUM_ROUND(done + item, FAR_OFFSET);
        }
#else
        for (uint done = 0; done < tile.slots; done += GROUP_SIZE >> log_width)
            SUM_ROUND(done + in_round, ANY_OFFSET);
#endif
        barrier(CLK_LOCAL_MEM_FENCE);
    }

    // Each team a row of the list, or `sharers` of them.
    const uint listed = listed_count[0];
#if SHARED_ROWS
    const int log_spare = (int)clz(listed - 1) - (int)clz(TEAMS - 1);
    const uint log_sharers = (uint)clamp(log_spare, 0, 31 - (int)clz(TEAMS));
#else
    const uint log_sharers = 0;
#endif
    const uint sharers = 1u << log_sharers;
    const uint team = item / TEAM_SIZE;
    const uint in_team = item % TEAM_SIZE;
    for (uint done = 0; done < listed; done += TEAMS >> log_sharers) {
        const uint at = done + (team >> log_sharers);
        const uint slot = listed_slots[min(at, listed - 1)];
        const uint row = tile.row + slot;
        const offset_t begin = offsets[row];
        const offset_t end = offsets[row + 1];
        acc_t sum = acc_zero();
        if (at < listed)
            sum = sum_products(products, local_offset(tile, begin) + (item & (TEAM_SIZE * sharers - 1)),
                               local_offset(tile, end), TEAM_SIZE * sharers);
        sum = sum_runs(sum, scratch, TEAM_SIZE);
#if SHARED_ROWS && TEAMS > 1
        // Then this loop has one iteration only, and all items are in it.
        if (sharers > 1) {
            if (in_team == 0)
                scratch[team] = sum;
            barrier(CLK_LOCAL_MEM_FENCE);
            sum = sum_runs(scratch[(team & ~(sharers - 1)) + (in_team & (sharers - 1))], scratch, sharers);
        }
#endif
        int is_whole = at < listed && (team & (sharers - 1)) == 0;
        if (is_whole && (slot == tile.cut_before || slot == tile.cut_after)) {
            const uint its_first = (uint)(begin / TILE_NNZ);
            const uint parts = (uint)((end - 1) / TILE_NNZ) + 1 - its_first;
            is_whole = TEAM_COMBINE_PARTS(partials, its_first, number - its_first, parts, in_team, &sum);
        }
        if (is_whole && in_team == 0)
            store_result(y, row, alpha, sum, beta);
    }
}
