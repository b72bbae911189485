// What stage 1 of the speculative segmented sum leaves to stage 2, where that is a stage of its own: on the
// device `segmented_sum_stage2.h`, on the CPU cl-runtime/src/spmv/segmented_sum/stage2.rs. The counterpart of
// `segmented_sum_fused.h`; `segmented_sum.cl` calls the functions of either.
//
//   - A row that crosses the border of a bunch: the bunch in which it begins leaves its part in `tails`, every
//     bunch after that in `heads`; `head_rows` says which row a bunch's head belongs to.
//   - Two kinds of rows wait in `speculator`, as ranges. From the front, `counters[MISPLACED]` of them: rows of
//     a dirty tile whose sums lie in y, packed at the front of the range. Only with beta = 0: with another beta
//     a misplaced store would destroy a y that is still needed.
//   - From the back, `counters[LEFT]` of them: rows nobody has stored. Dirty tiles with beta != 0, tiles of
//     more than PIECE_ROWS rows, and the rows before the first nonzero. No range is longer than PIECE_ROWS.
#ifndef SPMV_SEGMENTED_SUM_STAGED_H
#define SPMV_SEGMENTED_SUM_STAGED_H

#include "item/accumulate.h"
#include "spmv/segmented_sum_rows.h"
#include "subgroup/bunch.h"

#ifndef FUSED

// What the counters count.
#define MISPLACED 0 // ranges at the front of the speculator array
#define LEFT 1 // ranges at its back
#define ARRIVED 2 // groups of stage 2

// What lies in `borders`: a piece's part of the row it begins in the middle of, and of the one it ends in.
#define BORDER_HEAD 0
#define BORDER_TAIL 1

// What stage 1 leaves, one after another in the workspace (`WorkspaceLayout`). Passed as one
// buffer: drivers take time for each.
typedef struct {
    global acc_t *heads; // one a bunch
    global acc_t *tails; // one a bunch
    global acc_t *borders; // BORDER_HEAD, BORDER_TAIL
    global uint *speculator; // `capacity` ranges of rows: the first, and the one behind the last
    global uint *head_rows; // one a bunch, and the row that goes on behind the last
    volatile global uint *counters; // MISPLACED, LEFT, ARRIVED
} left_over_t;

// For `room` bunches: those of the whole matrix, of which a launch may have fewer.
left_over_t left_over(global uint *scratch, const uint room, const uint capacity)
{
    left_over_t over;
    over.heads = (global acc_t *)scratch;
    over.tails = over.heads + room;
    over.borders = over.tails + room;
    over.speculator = (global uint *)(over.borders + 2);
    over.head_rows = over.speculator + 2 * (ulong)capacity;
    over.counters = over.head_rows + room + 1;
    return over;
}

// Ranges that `rows` rows are cut into.
uint pieces_of(const uint rows)
{
    return (rows + PIECE_ROWS - 1) / PIECE_ROWS;
}

// What a bunch of stage 1 leaves, and the place it has for that.
typedef struct {
    left_over_t over;
    local uint *entry; // of the bunch: where its next ranges go in the speculator array
    uint capacity;
    uint bunch;
    uint bunches;
} unfinished_t;

#define UNFINISHED(name, scratch, room, capacity_, zero, bunches_)                                 \
    local uint name##_entries[BUNCHES_PER_GROUP];                                                  \
    unfinished_t name;                                                                             \
    name.over = left_over(scratch, room, capacity_);                                               \
    name.entry = name##_entries + get_local_id(0) / BUNCH_SIZE;                                    \
    name.capacity = capacity_;                                                                     \
    name.bunch =                                                                                   \
        (uint)get_group_id(0) * BUNCHES_PER_GROUP + (uint)get_local_id(0) / BUNCH_SIZE;            \
    name.bunches = bunches_;                                                                       \
    (void)zero

// A tile's rows, and what becomes of them.
typedef struct {
    uint start;
    uint stop;
    int is_dirty;
    int is_misplaced; // its sums lie packed at the front
} tile_t;

// The items of a bunch put the rows [begin, end) into the speculator array from the back.
void leave_rows(const unfinished_t mine, const uint begin, const uint end, const uint item)
{
    for (uint piece = item; piece * PIECE_ROWS < end - begin; piece += BUNCH_SIZE) {
        const uint from = begin + piece * PIECE_ROWS;
        const uint to = end - from > PIECE_ROWS ? from + PIECE_ROWS : end;
        const ulong range = 2 * ((ulong)mine.capacity - 1 - (*mine.entry + piece));
        mine.over.speculator[range] = from;
        mine.over.speculator[range + 1] = to;
    }
}

// Empty rows are found in dirty tiles.
void store_empty_rows(global const offset_t *restrict offsets, const uint rows,
                      global real_t *restrict y, const real_t alpha, const real_t beta)
{
}

// The row in the middle of which a bunch begins, or NO_ROW; the first bunch of all has `leading` empty rows
// before it.
void begin_bunch(const unfinished_t mine, const uint item, const uint head_row, const uint leading)
{
    const int leads = mine.bunch == 0 && leading > 0;
    if (item == 0 && mine.bunch < mine.bunches)
        mine.over.head_rows[mine.bunch] = head_row;
    if (item == 0 && leads)
        *mine.entry = atomic_add(mine.over.counters + LEFT, pieces_of(leading));
    BUNCH_BARRIER();
    if (leads)
        leave_rows(mine, 0, leading, item);
}

// Says where a dirty tile's rows go. It is followed by a barrier before `leave_tile`.
tile_t place_tile(const unfinished_t mine, const uint item, const uint start, const uint stop,
                  const ulong begin, const int is_dirty, const real_t beta)
{
    tile_t tile;
    tile.start = start;
    tile.stop = stop;
    tile.is_dirty = is_dirty;
    tile.is_misplaced = is_dirty && stop - start <= PIECE_ROWS && beta == 0;
    if (item == 0 && is_dirty)
        *mine.entry = tile.is_misplaced
                          ? atomic_inc(mine.over.counters + MISPLACED)
                          : atomic_add(mine.over.counters + LEFT, pieces_of(stop - start - 1));
    return tile;
}

// Stores those of the segments [first, whole) whose rows are known, or will be put right.
void store_segments(const tile_t *tile, global const offset_t *restrict offsets,
                    const item_segments_t *segments, local const acc_t *sums, const uint first,
                    const uint whole, global real_t *restrict y, const real_t alpha,
                    const real_t beta)
{
    const uint stored = !tile->is_dirty || tile->is_misplaced ? whole : min(whole, 1u);
    for (uint segment = first + segments->item; segment < stored; segment += BUNCH_SIZE)
        store_result(y, tile->start + segment, alpha, sums[segment], beta);
}

void leave_tile(const unfinished_t mine, const tile_t *tile, const uint item)
{
    if (tile->is_misplaced && item < 2)
        mine.over.speculator[2 * (ulong)*mine.entry + item] = item == 0 ? tile->start + 1 : tile->stop;
    else if (tile->is_dirty && !tile->is_misplaced)
        leave_rows(mine, tile->start + 1, tile->stop, item);
}

void leave_head(const unfinished_t mine, const acc_t sum)
{
    mine.over.heads[mine.bunch] = sum;
}

// Groups take nothing of each other.
acc_t part_of_rest(const unfinished_t mine, global const uint *restrict columns,
                   global const value_t *restrict values, global const real_t *restrict x,
                   const uint item, const ulong end, const uint rest)
{
    return acc_zero();
}

// `row` goes on behind the bunch, NO_ROW if none does, with `sum` so far.
void end_bunch(const unfinished_t mine, const bunch_segments_t shared, const uint item,
               const uint row, const int is_in_head, const acc_t sum, const acc_t part)
{
    if (item != 0)
        return;
    if (row != NO_ROW && is_in_head)
        mine.over.heads[mine.bunch] = sum;
    else if (row != NO_ROW)
        mine.over.tails[mine.bunch] = sum;
    if (mine.bunch + 1 == mine.bunches)
        mine.over.head_rows[mine.bunches] = row;
}

// The rest is left to stage 2.
void finish_group(const unfinished_t mine, global const offset_t *restrict offsets,
                  const uint group_nnz, const uint head_rest, const uint tail_rest,
                  global real_t *restrict y, const real_t alpha, const real_t beta,
                  local acc_t *sums)
{
}

#endif
#endif
