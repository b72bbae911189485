// csr_flat: equal nonzeros a work-group, wherever rows begin and end.
//
// The idea. What a group loads of A is known from its number alone: nonzeros [g, g + 1) x PIECE_NNZ. So its loads
// are on their way before it has read anything else, and every group moves the same bytes; row offsets are looked at
// meanwhile. csr_adaptive has to read where its block begins, and there where its rows do, before the first load of A:
// on an H200 that is a third of a group's life.
//
// Rows. The plan (spmv/csr_flat_plan.cl) says for each border between pieces which row comes first behind it. A row
// across a border stays whole where it has at most WHOLE_ROW nonzeros: the group it begins in loads its tail too, the
// next group leaves that out. A longer row is cut at the border. So groups speak to each other about long rows only.
//
// Three steps:
//   products   side by side into local memory, the tail behind them.
//   rows       each run of `width` neighbouring items sums a row, `width` the power of two at which all rows of the
//              piece are in hand at once, 32 at most; many short rows take several rounds. A row with more than
//              HEAVY products an item would hold the others up, so it is put on a list.
//   the list   a team (32 items in step where the device can, else the group) a row.
//
// Cut rows. The parts of a row meet two by two at the borders that cut it; who comes last stores y (group/meet.h). Nobody
// waits, and the result has the same bits every time: sums depend on the pieces alone, and the order of the list, which
// is as it comes, changes no sum.
//
// Local memory: PIECE_NNZ + WHOLE_ROW products; the list; GROUP_SIZE sums where items cannot shuffle.

#ifndef GROUP_SIZE
#define GROUP_SIZE 256 // items of a work-group: a power of two
#endif
#ifndef PIECE_NNZ
#define PIECE_NNZ 1024 // nonzeros of a group: a multiple of GROUP_SIZE
#endif
#ifndef WHOLE_ROW
#define WHOLE_ROW 256 // rows of at most this many nonzeros are never cut
#endif

#if GROUP_SIZE >= 32
#define BUNCH_SIZE 32
#define BUNCHES_PER_GROUP (GROUP_SIZE / 32)
#include "subgroup/bunch.h"
#endif
#include "group/meet.h"
#include "group/reduce.h"
#include "group/size.h"
#include "spmv/csr_flat_piece.h"

#define TRIPS (PIECE_NNZ / GROUP_SIZE)
#define HEAVY 64
#define MOST_HEAVY ((PIECE_NNZ + WHOLE_ROW) / HEAVY + 1)

#ifdef BUNCH_VOTES
#define TEAM_SIZE 32
#define MOST_WIDTH 32
#define RUN_SCRATCH 1
#define sum_runs(mine, scratch, width) bunch_sum_runs(mine, width)
#else
#define TEAM_SIZE GROUP_SIZE
#define MOST_WIDTH (GROUP_SIZE < 32 ? GROUP_SIZE : 32)
#define RUN_SCRATCH GROUP_SIZE
#define sum_runs(mine, scratch, width) group_reduce_runs(mine, scratch, width)
#endif

// One piece. A slot is a row that has nonzeros here, or is empty and belongs here; slot 0 is row `row`.
typedef struct {
    uint number;
    offset_t base; // its first nonzero
    offset_t beyond; // past its last one, the tail included
    uint tail; // nonzeros behind the border that belong here
    uint row;
    uint slots;
    uint rows; // of the matrix
    int is_cut_before; // slot 0 began in an earlier piece
    int is_cut_behind; // the last slot goes on in the next piece
} piece_t;

piece_t open_piece(const uint number, const ulong start, const ulong next, const uint rows, const ulong nnz)
{
    piece_t piece;
    piece.number = number;
    piece.base = (offset_t)number * PIECE_NNZ;
    piece.tail = piece_past(next);
    piece.beyond = piece.base + (offset_t)min(nnz - piece.base, (ulong)PIECE_NNZ) + piece.tail;
    piece.row = piece_row(start);
    piece.is_cut_before = piece_is_cut(start);
    piece.is_cut_behind = piece_is_cut(next);
    piece.slots = piece_row(next) - piece.row + (piece.is_cut_behind ? 1 : 0);
    piece.rows = rows;
    return piece;
}

// Places from `first` up to `past`. No vector type: Oclgrind 21.10 crashes on the shuffles that come of those.
typedef struct {
    uint first;
    uint past;
} range_t;

// Where in `products` a slot's products are; of a slot that there is not, those of some row.
range_t places_of_slot(global const offset_t *restrict offsets, const piece_t piece, const uint slot)
{
    const uint row = min(piece.row + slot, piece.rows - 1);
    const offset_t begin = max(offsets[row], piece.base);
    const offset_t end = max(min(offsets[row + 1], piece.beyond), begin);
    range_t places;
    places.first = (uint)(begin - piece.base);
    places.past = (uint)(end - piece.base);
    return places;
}

// Every `stride`-th of the products in `places`, from the `first` on.
acc_t sum_places(local const acc_t *products, const range_t places, const uint first, const uint stride)
{
    acc_t sum = acc_zero();
    uint at = places.first + first;
    for (; at + 3 * stride < places.past; at += 4 * stride) {
        // Loaded together, added in order.
        const acc_t next[4] = {products[at], products[at + stride], products[at + 2 * stride],
                               products[at + 3 * stride]};
#pragma unroll
        for (uint k = 0; k < 4; ++k)
            sum = acc_add(sum, next[k]);
    }
    for (; at < places.past; at += stride)
        sum = acc_add(sum, products[at]);
    return sum;
}

// Stores the sum of a row that ends here, or came together here.
void end_row(const piece_t piece, const uint slot, const acc_t sum, global const offset_t *restrict offsets,
             global real_t *restrict y, const real_t alpha, const real_t beta, const meetings_t borders)
{
    const uint row = piece.row + slot;
    const int is_cut = (slot == 0 && piece.is_cut_before) || (slot == piece.slots - 1 && piece.is_cut_behind);
    acc_t whole = sum;
    if (is_cut) {
        const uint first = (uint)(offsets[row] / PIECE_NNZ);
        const uint past = (uint)((offsets[row + 1] - 1) / PIECE_NNZ) + 1;
        if (!gather_parts(borders, first, piece.number - first, past - first, &whole))
            return;
    }
    store_result(y, row, alpha, whole, beta);
}
#define END_ROW(slot, sum) end_row(piece, slot, sum, offsets, y, alpha, beta, borders)

// One round: each run of items sums a row, or puts it on the list.
#define SUM_ROUND(its_slot, its_places) \
    do { \
        const uint slot = its_slot; \
        const range_t in = its_places; \
        const int has_row = slot < piece.slots; \
        const int is_heavy = has_row && width < TEAM_SIZE && in.past - in.first > HEAVY << log_width; \
        acc_t sum = acc_zero(); \
        if (has_row && !is_heavy) \
            sum = sum_places(products, in, in_run, width); \
        sum = sum_runs(sum, scratch, width); \
        if (is_heavy && in_run == 0) \
            heavy_slots[atomic_inc(heavy_count)] = slot; \
        else if (has_row && in_run == 0) \
            END_ROW(slot, sum); \
    } while (0)

OF_GROUP_SIZE
kernel void csr_flat(const uint rows,
                     const ulong nnz,
                     ARRAY_PARAMETER(const ulong, starts),
                     ARRAY_PARAMETER(const offset_t, offsets),
                     ARRAY_PARAMETER(const uint, columns),
                     ARRAY_PARAMETER(const value_t, values),
                     ARRAY_PARAMETER(const real_t, x),
                     ARRAY_PARAMETER(real_t, y),
                     SCALAR_PARAMETER(alpha),
                     SCALAR_PARAMETER(beta),
                     const uint zero,
                     ARRAY_PARAMETER(uint, counters),
                     ARRAY_PARAMETER(uint, carries))
{
    OPEN_ARRAY(const ulong, starts);
    OPEN_ARRAY(const offset_t, offsets);
    OPEN_ARRAY(const uint, columns);
    OPEN_ARRAY(const value_t, values);
    OPEN_ARRAY(const real_t, x);
    OPEN_ARRAY(real_t, y);
    OPEN_SCALAR(alpha);
    OPEN_SCALAR(beta);
    meetings_t borders;
    borders.carries = carries_buffer + carries_start;
    borders.counters = counters_buffer + counters_start;
    borders.zero = zero;
    local acc_t products[PIECE_NNZ + WHOLE_ROW];
    local acc_t scratch[RUN_SCRATCH];
    local uint heavy_count[1];
    local uint heavy_slots[MOST_HEAVY];

    const uint item = (uint)get_local_id(0);
    const uint number = (uint)get_group_id(0);
    const offset_t first = (offset_t)number * PIECE_NNZ;

    // Nothing to load: one group is the launch.
    if (nnz == 0) {
        for (uint row = item; row < rows; row += GROUP_SIZE)
            store_result(y, row, alpha, acc_zero(), beta);
        return;
    }

    // Loads of A that wait for nothing. The last piece loads its last nonzero over and over: a load under a condition
    // would be a branch, and only one of them on its way at a time.
    uint piece_columns[TRIPS];
    real_t piece_values[TRIPS];
    const uint last = (uint)min(nnz - first, (ulong)PIECE_NNZ) - 1;
#pragma unroll
    for (uint trip = 0; trip < TRIPS; ++trip)
        piece_columns[trip] = stream_column(columns + first, min(trip * GROUP_SIZE + item, last));
#pragma unroll
    for (uint trip = 0; trip < TRIPS; ++trip)
        piece_values[trip] = stream_value(values + first, min(trip * GROUP_SIZE + item, last));

    const piece_t piece = open_piece(number, starts[number], starts[number + 1], rows, nnz);
    // In shifts: divisions would cost more than all else that an item does.
    uint log_width = 0;
    while (1u << log_width < MOST_WIDTH && piece.slots <= GROUP_SIZE >> (log_width + 1))
        ++log_width;
    const uint width = 1u << log_width;
    const uint slots_a_round = GROUP_SIZE >> log_width;
    const uint in_round = item >> log_width;
    const uint in_run = item & (width - 1);
    // Of the first two rounds: on their way with A.
    const range_t places = places_of_slot(offsets, piece, in_round);
    const range_t places_next = places_of_slot(offsets, piece, in_round + slots_a_round);
    const offset_t border = first + PIECE_NNZ;
    uint tail_column = 0;
    real_t tail_value = 0;
    if (item < piece.tail) {
        tail_column = load_column(columns, border + item);
        tail_value = load_value(values, border + item);
    }

#pragma unroll
    for (uint trip = 0; trip < TRIPS; ++trip)
        products[trip * GROUP_SIZE + item] = acc_product(piece_values[trip], gather_x(x, piece_columns[trip]));
    if (item < piece.tail)
        products[PIECE_NNZ + item] = acc_product(tail_value, gather_x(x, tail_column));
#if WHOLE_ROW > GROUP_SIZE
    for (uint at = item + GROUP_SIZE; at < piece.tail; at += GROUP_SIZE)
        products[PIECE_NNZ + at] = acc_product(load_value(values, border + at), load_x(x, columns, border + at));
#endif
    if (item == 0)
        heavy_count[0] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);

    // Each run of items a row. What a barrier would be in stays in one loop; elsewhere the first two rounds, most often all
    // there are, have a place of their own, where their offsets have long come.
#ifdef BUNCH_VOTES
    SUM_ROUND(in_round, places);
    if (slots_a_round < piece.slots)
        SUM_ROUND(in_round + slots_a_round, places_next);
    for (uint done = 2 * slots_a_round; done < piece.slots; done += slots_a_round)
        SUM_ROUND(in_round + done, places_of_slot(offsets, piece, in_round + done));
#else
    for (uint done = 0; done < piece.slots; done += slots_a_round)
        SUM_ROUND(in_round + done, places_of_slot(offsets, piece, in_round + done));
#endif

    // Each team a row of the list.
    barrier(CLK_LOCAL_MEM_FENCE);
    const uint heavy = heavy_count[0];
    for (uint done = 0; done < heavy; done += GROUP_SIZE / TEAM_SIZE) {
        const uint at = done + item / TEAM_SIZE;
        const uint slot = heavy_slots[min(at, heavy - 1)];
        acc_t sum = acc_zero();
        if (at < heavy)
            sum = sum_places(products, places_of_slot(offsets, piece, slot), item % TEAM_SIZE, TEAM_SIZE);
        sum = sum_runs(sum, scratch, TEAM_SIZE);
        if (at < heavy && item % TEAM_SIZE == 0)
            END_ROW(slot, sum);
    }
}
