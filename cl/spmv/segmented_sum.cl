// Speculative segmented sum: equal nonzeros a work-item, wherever rows begin and end (Liu and Vinter,
// "Speculative segmented sum for sparse matrix-vector multiplication on heterogeneous processors", 2015).
//
// The nonzeros are cut into tiles of NNZ_PER_ITEM x BUNCH_SIZE (the paper's W x T). A bunch of BUNCH_SIZE
// items takes TILES_PER_BUNCH tiles (S) or fewer one after another, a group has BUNCHES_PER_GROUP bunches (B).
// The paper's bunch is a sub-group, emulated through local memory or a warp (`subgroup/sub_group.h`).
//
// Stage 1, `segmented_sum` below. For all tiles of a group together (`segmented_sum_rows.h`):
//   1. Searches in the row offsets, rightmost match, for the boundaries of its tiles: tile s has its nonzeros
//      in rows at_boundary[s] ("start") to at_boundary[s + 1] ("stop"). The whole group searches its own first
//      and last boundary, many probes at once; then each row between marks the boundaries that lie in it.
//   2. The segment descriptor, a bit a nonzero, set where a row begins. Of two rows that begin at the same
//      nonzero the first is empty: the tile is dirty.
//   For each tile of a bunch:
//   3. Products into local memory, side by side. Columns and values of the next tile are loaded meanwhile.
//   4. Segmented reduction: a scan of the descriptor numbers the segments. Each item loops over its NNZ_PER_ITEM
//      products and stores the sum of segment k at index k; what leads up to its first segment belongs to an
//      item before, and a backward segmented scan over the items combines those parts.
//   5. Sum number k is stored to y[start + k], neighbouring items to neighbouring rows. This speculates that
//      no row is empty; in a dirty tile it lies too far up.
//
// A row open at a tile's end is carried to the next tile of the bunch, whether the tile is dirty or not. Which
// items store the others (the published code leaves rows without owner): a row that begins and ends within a bunch,
// that bunch. Empty rows, those of dirty tiles, and rows that cross boundaries of bunches:
//   - with FUSED this launch, see `segmented_sum_fused.h`;
//   - else stage 2, on the device or on the CPU, see `segmented_sum_staged.h`.
// So each row is scaled and rounded once, and its y is read once.
//
// A launch computes tiles [first_tile, first_tile + tiles) of the matrix: all of them, or one device's
// part (hetero, not with FUSED). A row that crosses the boundary of a part is not stored: stage 2 leaves the
// part's partial sums of it in `boundaries`.
//
// Local memory: for each tile of the group two numbers and a flag, and a descriptor word an item; for each bunch
// the products of one tile, padded by one an item against bank conflicts; for each item a sum and two numbers.

#ifndef BUNCH_SIZE
#define BUNCH_SIZE 32 // items that share a tile (T): a power of two, 1 to 64
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

#define SUB_GROUP_SIZE BUNCH_SIZE
#define SUB_GROUPS_PER_GROUP BUNCHES_PER_GROUP
#define GROUP_SIZE (BUNCH_SIZE * BUNCHES_PER_GROUP)
#define TILE (BUNCH_SIZE * NNZ_PER_ITEM)
#define PADDED_TILE (TILE + BUNCH_SIZE)
#define MOST_TILES (TILES_PER_BUNCH * BUNCHES_PER_GROUP)

#include "item/accumulate.h"
#include "spmv/segmented_sum_fused.h"
#include "spmv/segmented_sum_rows.h"
#include "spmv/segmented_sum_stage2.h"
#include "spmv/segmented_sum_staged.h"
#include "subgroup/sub_group.h"

// Returns where product `at` lies: items' products are padded by one, so that items that loop over theirs in step do
// not conflict in one bank of local memory.
uint padded(const uint at)
{
    return at + at / NNZ_PER_ITEM;
}

// The columns and values of this item in a tile of `count` nonzeros from `begin` on: every BUNCH_SIZE-th.
void load_tile(global const uint *restrict columns, global const value_t *restrict values,
               const ulong begin, const uint count, const uint item, uint *column, real_t *value)
{
#pragma unroll
    for (uint iteration = 0; iteration < NNZ_PER_ITEM; ++iteration) {
        const uint at = iteration * BUNCH_SIZE + item;
        column[iteration] = at < count ? load_column(columns, begin + at) : 0;
        value[iteration] = at < count ? load_value(values, begin + at) : 0;
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
                          const uint bunch_capacity,
                          const uint capacity,
                          const uint zero,
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
    local uint windows[3][2][2];
    local uint at_boundary[MOST_TILES + 1];
    local uint rests[MOST_TILES + 1];
    local uint descriptor[MOST_TILES * BUNCH_SIZE];
    local uint dirty[MOST_TILES];
    local acc_t group_products[BUNCHES_PER_GROUP][PADDED_TILE];
    local acc_t group_leads[BUNCHES_PER_GROUP][BUNCH_SIZE];
    local uint group_begins[BUNCHES_PER_GROUP][BUNCH_SIZE];
    local uint group_numbers[BUNCHES_PER_GROUP][BUNCH_SIZE];
    const uint in_group = (uint)get_local_id(0) / BUNCH_SIZE;
    const uint item = (uint)get_local_id(0) % BUNCH_SIZE;
    local acc_t *products = group_products[in_group];
    sub_group_segments_t shared;
    shared.leads = group_leads[in_group];
    shared.begins = group_begins[in_group];
    shared.numbers = group_numbers[in_group];
    UNFINISHED(unfinished, scratch, bunch_capacity, capacity, zero, (tiles - 1) / tiles_per_bunch + 1);

    // Bunches and tiles beyond the end have no nonzeros, and do nothing in as many iterations as the others.
    const ulong end = min(nnz, ((ulong)first_tile + tiles) * TILE);
    const uint group_nnz = tiles_per_bunch * BUNCHES_PER_GROUP * TILE;
    group_range_t group;
    group.begin = min(((ulong)first_tile * TILE + get_group_id(0) * (ulong)group_nnz), end);
    group.count = (uint)min(end - group.begin, (ulong)group_nnz);
    group.tiles = tiles_per_bunch * BUNCHES_PER_GROUP;
    uint index = min(in_group * tiles_per_bunch * TILE, group.count);
    const uint bunch_end = min(index + tiles_per_bunch * TILE, group.count);
    const int has_tiles = index < bunch_end;

    // To be in flight during the searches.
    uint column[NNZ_PER_ITEM];
    real_t value[NNZ_PER_ITEM];
    uint count = min((uint)TILE, bunch_end - index);
    load_tile(columns, values, group.begin + index, count, item, column, value);
    store_empty_rows(offsets, rows, y, alpha, beta);

    tile_rows_t found;
    found.at_boundary = at_boundary;
    found.rests = rests;
    found.descriptor = descriptor;
    found.dirty = dirty;
#pragma unroll 1
    for (uint at = (uint)get_local_id(0); at < group.tiles * BUNCH_SIZE; at += GROUP_SIZE)
        descriptor[at] = 0;
#pragma unroll 1
    for (uint at = (uint)get_local_id(0); at < group.tiles; at += GROUP_SIZE)
        dirty[at] = 0;
    group_find_windows(offsets, rows, group.begin, group.begin + group.count, CLOSE_ROWS, windows);
    find_tile_rows(offsets, rows, windows[2][0][0], windows[2][1][1], &group, found);
    barrier(CLK_LOCAL_MEM_FENCE);
    mark_many_rows(offsets, windows[2][0][0], windows[2][1][1], &group, found);
    barrier(CLK_LOCAL_MEM_FENCE);

    // The bunch's head: the row in the middle of which it begins.
    const uint first_boundary = in_group * tiles_per_bunch;
    int is_in_head = has_tiles && rests[first_boundary] > 0;
    begin_bunch(unfinished, item, is_in_head ? at_boundary[first_boundary] : NO_ROW,
                first_tile == 0 ? at_boundary[0] : 0);
    const acc_t of_rest = part_of_rest(unfinished, columns, values, x, item, group.begin + group.count,
                                    rests[group.tiles]);

    acc_t carried = acc_zero(); // in item 0: the sum of the row that is open
    for (uint tile = first_boundary; tile < first_boundary + tiles_per_bunch; ++tile) {
        const int goes_on = rests[tile + 1] > 0;
        acc_t product[NNZ_PER_ITEM];
#pragma unroll
        for (uint iteration = 0; iteration < NNZ_PER_ITEM; ++iteration)
            product[iteration] = iteration * BUNCH_SIZE + item < count
                                ? acc_product(value[iteration], gather_x(x, column[iteration]))
                                : acc_zero();
        const uint next_index = index + count;
        const uint next_count = min((uint)TILE, bunch_end - next_index);
        if (next_count > 0)
            load_tile(columns, values, group.begin + next_index, next_count, item, column, value);

#pragma unroll
        for (uint iteration = 0; iteration < NNZ_PER_ITEM; ++iteration)
            products[padded(iteration * BUNCH_SIZE + item)] = product[iteration];
        SUB_GROUP_BARRIER();

        const tile_t rows_of_tile =
            open_tile(unfinished, item, at_boundary[tile], at_boundary[tile + 1], group.begin + index,
                       count > 0 && dirty[tile], beta);

        // The tile's first segment is open already, with what was carried to the tile.
        const uint opens = item == 0 && count > 0;
        item_segments_t mine;
        mine.item = item;
        mine.begins = count > 0 ? descriptor[tile * BUNCH_SIZE + item] & ~opens : 0;
        mine.number = opens + popcount(mine.begins);
        const uint total = sub_group_scan_numbers(shared, item, mine.number, &mine.before);
#pragma unroll
        for (uint iteration = 0; iteration < NNZ_PER_ITEM; ++iteration)
            product[iteration] = products[padded(item * NNZ_PER_ITEM) + iteration];
        SUB_GROUP_BARRIER();

        // Now that products are in registers, sums overwrite them.
        local acc_t *sums = products + mine.before;
        acc_t sum = carried;
        acc_t lead = acc_zero();
        uint number = opens;
#pragma unroll
        for (uint iteration = 0; iteration < NNZ_PER_ITEM; ++iteration) {
            const uint begins = mine.begins >> iteration & 1;
            if (begins && number > 0)
                sums[number - 1] = sum;
            lead = begins && number == 0 ? sum : lead;
            sum = begins ? product[iteration] : acc_add(sum, product[iteration]);
            number += begins;
        }
        lead = number == 0 ? sum : lead;
        const acc_t rest = sub_group_join_leads(shared, item, lead, number > 0);
        if (number > 0)
            sums[number - 1] = acc_add(sum, rest);
        SUB_GROUP_BARRIER();

        // A tile after the end has no segments, and the carry stays.
        const uint whole = total - (goes_on && total > 0);
        if (item == 0 && is_in_head && whole > 0)
            leave_head(unfinished, products[0]);
        if (total > 0)
            carried = item == 0 && whole < total ? products[whole] : acc_zero();
        store_segments(&rows_of_tile, offsets, &mine, products, is_in_head, whole, y, alpha, beta);
        leave_tile(unfinished, &rows_of_tile, item);
        is_in_head = is_in_head && whole == 0;
        index = next_index;
        count = next_count;
        // Sums are read before the next tile's products come.
        SUB_GROUP_BARRIER();
    }

    const uint last_boundary = first_boundary + tiles_per_bunch;
    const int goes_on = has_tiles && rests[last_boundary] > 0;
    end_bunch(unfinished, shared, item, goes_on ? at_boundary[last_boundary] : NO_ROW, is_in_head, carried,
              of_rest);
    finish_group(unfinished, offsets, group_nnz, rests[0], rests[group.tiles], y, alpha, beta,
                 group_leads[0]);
}
