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
//   products   side by side into local memory, the tail behind them, and where each row's products begin.
//   rows       each run of `width` neighbouring items sums a row, `width` the power of two at which all rows of the
//              piece are in hand at once, 32 at most; many short rows take several rounds. A row with more than
//              HEAVY products an item would hold the others up, so it is put on a list, and so is a cut one.
//   the list   a team (32 items in step where the device can, else the group) a row; with SHARED_ROWS several teams,
//              where rows are fewer. A row that takes a whole piece is 64 to 128 products for each of 32 items.
//
// Instructions are what an H200 has too few of: it has time for some 50 for each 32 nonzeros that come from memory
// (docs/benchmarks.md, "csr_flat on the H200"). So each offset is read once and its place kept in local memory, loads of A
// lie at constant distances, and what only cut rows need stands once, behind everything else. Registers decide how many
// groups a compute unit holds: those that the loads on their way and a row's places need, and no more.
//
// Cut rows. The parts of a row come together between groups; who comes last stores y (group/meet.h, group/meet_bunch.h).
// Nobody waits for what has not begun, and the result has the same bits every time: sums depend on the pieces alone, and
// the order of the list, which is as it comes, changes no sum.
//
// Order. Every other launch takes the pieces from the last to the first (`first_piece`), so that what the launch before
// left in the cache is found there by matrices that do not fit it. No sum depends on it.
//
// Room: where pieces begin, one entry a piece and one more, and behind them where parts come together (group/meet.h). One
// array, since each that a kernel is given takes the driver time at every launch (0.4 us on an H200).
//
// Local memory: PIECE_NNZ + WHOLE_ROW products; 2 GROUP_SIZE + 1 places; the list; GROUP_SIZE sums where items cannot
// shuffle, else one or, with SHARED_ROWS, one a team.

#ifndef GROUP_SIZE
#define GROUP_SIZE 256 // items of a work-group: a power of two
#endif
#ifndef PIECE_NNZ
#define PIECE_NNZ 1024 // nonzeros of a group: a multiple of GROUP_SIZE
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

#if GROUP_SIZE >= 32
#define BUNCH_SIZE 32
#define BUNCHES_PER_GROUP (GROUP_SIZE / 32)
#include "subgroup/bunch.h"
#endif
#include "group/meet_bunch.h"
#include "group/reduce.h"
#include "group/size.h"
#include "spmv/csr_flat_piece.h"

#define TRIPS (PIECE_NNZ / GROUP_SIZE)
#define TEAMS (GROUP_SIZE / TEAM_SIZE)
#define HEAVY 64
#define MOST_LISTED ((PIECE_NNZ + WHOLE_ROW) / HEAVY + 3)
#define KNOWN_PLACES (2 * GROUP_SIZE + 1)

#ifdef BUNCH_VOTES
#define TEAM_SIZE 32
#define LOG_MOST_WIDTH 5
#define RUN_SCRATCH (SHARED_ROWS ? TEAMS : 1)
#define sum_runs(mine, scratch, width) bunch_sum_runs(mine, width)
#else
#define TEAM_SIZE GROUP_SIZE
#define LOG_MOST_WIDTH (GROUP_SIZE < 32 ? 31 - (int)clz(GROUP_SIZE) : 5)
#define RUN_SCRATCH GROUP_SIZE
#define sum_runs(mine, scratch, width) group_reduce_runs(mine, scratch, width)
#endif

// One piece. A slot is a row that has nonzeros here, or is empty and belongs here; slot 0 is row `row`.
typedef struct {
    uint number;
    offset_t border; // its first nonzero
    offset_t beyond; // past its last one, the tail included
    offset_t window; // the nonzero whose product lies first in local memory
    uint tail; // nonzeros behind the next border that belong here
    uint row;
    uint slots;
    uint cut_before; // the slot that began in an earlier piece: 0, or none
    uint cut_behind; // the slot that goes on in the next piece: the last, or none
} piece_t;
#define NO_SLOT 0xffffffffu

// Piece `number` of a matrix of `nnz` nonzeros, the first of which lies in place `lead` of local memory.
piece_t open_piece(const uint number, const uint lead, const ulong start, const ulong next, const offset_t nnz)
{
    piece_t piece;
    piece.number = number;
    piece.border = (offset_t)number * PIECE_NNZ;
    piece.window = piece.border - lead;
    piece.tail = piece_past(next);
    piece.beyond = piece.border + min(nnz - piece.border, (offset_t)PIECE_NNZ) + piece.tail;
    piece.row = piece_row(start);
    piece.slots = piece_row(next) - piece.row + (piece_is_cut(next) ? 1 : 0);
    piece.cut_before = piece_is_cut(start) ? 0 : NO_SLOT;
    piece.cut_behind = piece_is_cut(next) ? piece.slots - 1 : NO_SLOT;
    return piece;
}

// Where in local memory the products of a row begin, of whose offsets `offset` is one; within the piece.
uint place_of(const piece_t piece, const offset_t offset)
{
    return (uint)(min(max(offset, piece.border), piece.beyond) - piece.window);
}

// Every `stride`-th of the products from place `at` up to `past`.
acc_t sum_places(local const acc_t *products, uint at, const uint past, const uint stride)
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
#define SUM_ROUND(its_slot, PLACE) \
    do { \
        const uint slot = its_slot; \
        const int has_row = slot < piece.slots; \
        const uint from = has_row ? PLACE(slot) : 0; \
        const uint past = has_row ? PLACE(slot + 1) : 0; \
        const int is_listed = (width < TEAM_SIZE && past - from > HEAVY << log_width) || \
                              slot == piece.cut_before || slot == piece.cut_behind; \
        acc_t sum = acc_zero(); \
        if (!is_listed) \
            sum = sum_places(products, from + in_run, past, width); \
        sum = sum_runs(sum, scratch, width); \
        if (has_row && in_run == 0) { \
            if (is_listed) \
                listed_slots[atomic_inc(listed_count)] = slot; \
            else \
                store_result(y, piece.row + slot, alpha, sum, beta); \
        } \
    } while (0)
#define KNOWN_PLACE(slot) places[slot]
#define FAR_PLACE(slot) place_of(piece, offsets[piece.row + (slot)])
#define ANY_PLACE(slot) ((slot) < KNOWN_PLACES ? KNOWN_PLACE(slot) : FAR_PLACE(slot))

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
                     const uint first_piece,
                     ARRAY_PARAMETER(uint, room))
{
    OPEN_ARRAY(const offset_t, offsets);
    OPEN_ARRAY(const uint, columns);
    OPEN_ARRAY(const value_t, values);
    OPEN_ARRAY(const real_t, x);
    OPEN_ARRAY(real_t, y);
    OPEN_SCALAR(alpha);
    OPEN_SCALAR(beta);
    OPEN_ARRAY(uint, room);
    const ulong pieces = get_num_groups(0);
    global const ulong *starts = (global const ulong *)room;
    const meetings_t borders = open_meetings(room + 2 * (pieces + 1), pieces, zero);
    local acc_t products[PIECE_NNZ + WHOLE_ROW];
    local uint places[KNOWN_PLACES];
    local acc_t scratch[RUN_SCRATCH];
    local uint listed_count[1];
    local uint listed_slots[MOST_LISTED];

    const uint item = (uint)get_local_id(0);
    const uint number = abs_diff((uint)get_group_id(0), first_piece);
    const offset_t first = (offset_t)number * PIECE_NNZ;

    // Nothing to load: one group is the launch.
    if (nnz == 0) {
        for (uint row = item; row < rows; row += GROUP_SIZE)
            store_result(y, row, alpha, acc_zero(), beta);
        return;
    }

    // The last piece begins as early as it must to be a full one, so that no load is made under a condition: that would
    // be a branch, and only one of them on its way at a time. What it loads of the piece before is in nobody's row.
    const offset_t next_border = first + PIECE_NNZ;
    piece_t piece;
    if (nnz >= PIECE_NNZ) {
        const uint lead = PIECE_NNZ - (uint)min((offset_t)nnz - first, (offset_t)PIECE_NNZ);
        global const uint *restrict its_columns = columns + (first - lead) + item;
        global const value_t *restrict its_values = values + (first - lead) + item;
        uint piece_columns[TRIPS];
        real_t piece_values[TRIPS];
#pragma unroll
        for (uint trip = 0; trip < TRIPS; ++trip)
            piece_columns[trip] = stream_column(its_columns, trip * GROUP_SIZE);
#pragma unroll
        for (uint trip = 0; trip < TRIPS; ++trip)
            piece_values[trip] = stream_value(its_values, trip * GROUP_SIZE);

        piece = open_piece(number, lead, starts[number], starts[number + 1], (offset_t)nnz);
        const offset_t offset = offsets[min(piece.row + item, rows)];
        uint tail_column = 0;
        real_t tail_value = 0;
        if (item < piece.tail) {
            tail_column = load_column(columns, next_border + item);
            tail_value = load_value(values, next_border + item);
        }

        real_t of_x[TRIPS];
#pragma unroll
        for (uint trip = 0; trip < TRIPS; ++trip)
            of_x[trip] = gather_x(x, piece_columns[trip]);
#pragma unroll
        for (uint trip = 0; trip < TRIPS; ++trip)
            products[trip * GROUP_SIZE + item] = acc_product(piece_values[trip], of_x[trip]);
        if (item < piece.tail)
            products[PIECE_NNZ + item] = acc_product(tail_value, gather_x(x, tail_column));
        places[item] = place_of(piece, offset);
    } else {
        // All of the matrix is less than a piece.
        for (uint at = item; at < nnz; at += GROUP_SIZE)
            products[at] = acc_product(load_value(values, at), load_x(x, columns, at));
        piece = open_piece(number, 0, starts[number], starts[number + 1], (offset_t)nnz);
        places[item] = place_of(piece, offsets[min(piece.row + item, rows)]);
    }
#if WHOLE_ROW > GROUP_SIZE
    for (uint at = item + GROUP_SIZE; at < piece.tail; at += GROUP_SIZE)
        products[PIECE_NNZ + at] = acc_product(load_value(values, next_border + at), load_x(x, columns, next_border + at));
#endif
    if (piece.slots >= GROUP_SIZE)
        places[GROUP_SIZE + item] = place_of(piece, offsets[min(piece.row + GROUP_SIZE + item, rows)]);
#if SHARED_ROWS
    // A piece within one or two long rows has nothing to sum before the list.
    const int is_listed_whole = piece.cut_before == 0 && piece.cut_behind == piece.slots - 1 && piece.slots <= 2;
#endif
    if (item == 0) {
        listed_count[0] = 0;
#if SHARED_ROWS
        if (is_listed_whole) {
            listed_count[0] = piece.slots;
            listed_slots[0] = 0;
            listed_slots[1] = 1;
        }
#endif
        if (piece.slots >= 2 * GROUP_SIZE)
            places[2 * GROUP_SIZE] = place_of(piece, offsets[min(piece.row + 2 * GROUP_SIZE, rows)]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);

    // Each run of items a row. What a barrier would be in stays in one loop; elsewhere the first two rounds, most often all
    // there are, have a place of their own. Without a slot, clz(slots - 1) is 0.
#if SHARED_ROWS
    if (!is_listed_whole)
#endif
    {
        const int log_fit = (int)clz(piece.slots - 1) - (int)clz(GROUP_SIZE - 1);
        const uint log_width = (uint)clamp(log_fit, 0, LOG_MOST_WIDTH);
        const uint width = 1u << log_width;
        const uint in_round = item >> log_width;
        const uint in_run = item & (width - 1);
#ifdef BUNCH_VOTES
        SUM_ROUND(in_round, KNOWN_PLACE);
        if (piece.slots > GROUP_SIZE) {
            SUM_ROUND(GROUP_SIZE + item, KNOWN_PLACE);
            for (uint done = 2 * GROUP_SIZE; done < piece.slots; done += GROUP_SIZE)
                SUM_ROUND(done + item, FAR_PLACE);
        }
#else
        for (uint done = 0; done < piece.slots; done += GROUP_SIZE >> log_width)
            SUM_ROUND(done + in_round, ANY_PLACE);
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
        const uint row = piece.row + slot;
        const offset_t begin = offsets[row];
        const offset_t end = offsets[row + 1];
        acc_t sum = acc_zero();
        if (at < listed)
            sum = sum_places(products, place_of(piece, begin) + (item & (TEAM_SIZE * sharers - 1)), place_of(piece, end),
                             TEAM_SIZE * sharers);
        sum = sum_runs(sum, scratch, TEAM_SIZE);
#if SHARED_ROWS && TEAMS > 1
        // Then there is one turn of this loop only, and all items are in it.
        if (sharers > 1) {
            if (in_team == 0)
                scratch[team] = sum;
            barrier(CLK_LOCAL_MEM_FENCE);
            sum = sum_runs(scratch[(team & ~(sharers - 1)) + (in_team & (sharers - 1))], scratch, sharers);
        }
#endif
        int is_whole = at < listed && (team & (sharers - 1)) == 0;
        if (is_whole && (slot == piece.cut_before || slot == piece.cut_behind)) {
            const uint its_first = (uint)(begin / PIECE_NNZ);
            const uint parts = (uint)((end - 1) / PIECE_NNZ) + 1 - its_first;
            is_whole = TEAM_GATHER_PARTS(borders, its_first, number - its_first, parts, in_team, &sum);
        }
        if (is_whole && in_team == 0)
            store_result(y, row, alpha, sum, beta);
    }
}
