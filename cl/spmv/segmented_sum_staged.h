// What stage 1 of the speculative segmented sum leaves to stage 2, where that is a stage of its own: on the
// device `segmented_sum_stage2.h`, on the CPU cl-runtime/src/spmv/segmented_sum/stage2.rs. The counterpart of
// `segmented_sum_fused.h`; `segmented_sum.cl` calls the functions of either.
//
//   - A row that crosses the boundary of a bunch: the bunch in which it begins leaves its part in `tails`, every
//     bunch after that in `heads`; `head_rows` says which row a bunch's head belongs to.
//   - Two kinds of rows wait in `speculator`, as ranges. From the front, `counters[MISPLACED]` of them: rows of
//     a dirty tile whose sums lie in y, packed at the front of the range. Only with beta = 0: with another beta
//     a misplaced store would destroy a y that is still needed.
//   - From the back, `counters[LEFT]` of them: rows that are not stored yet. Dirty tiles with beta != 0, tiles of
//     more than CHUNK_ROWS rows, and the rows before the first nonzero. No range is longer than CHUNK_ROWS.
#ifndef SPMV_SEGMENTED_SUM_STAGED_H
#define SPMV_SEGMENTED_SUM_STAGED_H

#include "item/accumulate.h"
#include "spmv/segmented_sum_rows.h"
#include "subgroup/sub_group.h"

#ifndef FUSED

// What the counters count.
#define MISPLACED 0 // ranges at the front of the speculator array
#define LEFT 1 // ranges at its back
#define LEFT_TILES 2 // dirty tiles that those are of; every misplaced range is a tile
#define ARRIVED 3 // groups of stage 2

// What lies in `boundaries`: a part's partial sums of the row it begins in the middle of, and of the one it ends in.
#define BOUNDARY_HEAD 0
#define BOUNDARY_TAIL 1

// What stage 1 leaves, one after another in the workspace (`WorkspaceLayout`). Passed as one
// buffer: drivers take time for each.
typedef struct {
    global acc_t *heads; // one a bunch
    global acc_t *tails; // one a bunch
    global acc_t *boundaries; // BOUNDARY_HEAD, BOUNDARY_TAIL
    global uint *speculator; // `capacity` ranges of rows: the first, and the one after the last
    global uint *head_rows; // one a bunch, and the row that continues after the last
    volatile global uint *counters; // MISPLACED, LEFT, LEFT_TILES, ARRIVED
} left_over_t;

// For `bunch_capacity` bunches: those of the whole matrix, of which a launch may have fewer.
left_over_t left_over(global uint *scratch, const uint bunch_capacity, const uint capacity)
{
    left_over_t over;
    over.heads = (global acc_t *)scratch;
    over.tails = over.heads + bunch_capacity;
    over.boundaries = over.tails + bunch_capacity;
    over.speculator = (global uint *)(over.boundaries + 2);
    over.head_rows = over.speculator + 2 * (ulong)capacity;
    over.counters = over.head_rows + bunch_capacity + 1;
    return over;
}

// Ranges that `rows` rows are cut into.
uint chunks_of(const uint rows)
{
    return (rows + CHUNK_ROWS - 1) / CHUNK_ROWS;
}

// What a bunch of stage 1 leaves, and where.
typedef struct {
    left_over_t over;
    local uint *entry; // of the bunch: where its next ranges go in the speculator array
    uint capacity;
    uint bunch;
    uint bunches;
} unfinished_t;

#define UNFINISHED(name, scratch, bunch_capacity, capacity_, zero, bunches_)                                 \
    local uint name##_entries[BUNCHES_PER_GROUP];                                                  \
    unfinished_t name;                                                                             \
    name.over = left_over(scratch, bunch_capacity, capacity_);                                               \
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
    for (uint chunk = item; chunk * CHUNK_ROWS < end - begin; chunk += BUNCH_SIZE) {
        const uint from = begin + chunk * CHUNK_ROWS;
        const uint to = end - from > CHUNK_ROWS ? from + CHUNK_ROWS : end;
        const ulong range = 2 * ((ulong)mine.capacity - 1 - (*mine.entry + chunk));
        mine.over.speculator[range] = from;
        mine.over.speculator[range + 1] = to;
    }
}

// Empty rows are found in dirty tiles.
void store_empty_rows(global const offset_t *restrict offsets, const uint rows,
                      global real_t *restrict y, const real_t alpha, const real_t beta)
{
}

// Notes the row in the middle of which a bunch begins, or NO_ROW; the first bunch of all has `leading` empty rows
// before it.
void begin_bunch(const unfinished_t mine, const uint item, const uint head_row, const uint leading)
{
    const int leads = mine.bunch == 0 && leading > 0;
    if (item == 0 && mine.bunch < mine.bunches)
        mine.over.head_rows[mine.bunch] = head_row;
    if (item == 0 && leads)
        *mine.entry = atomic_add(mine.over.counters + LEFT, chunks_of(leading));
    SUB_GROUP_BARRIER();
    if (leads)
        leave_rows(mine, 0, leading, item);
}

// Says where a dirty tile's rows go. It is followed by a barrier before `leave_tile`.
tile_t open_tile(const unfinished_t mine, const uint item, const uint start, const uint stop,
                  const ulong begin, const int is_dirty, const real_t beta)
{
    tile_t tile;
    tile.start = start;
    tile.stop = stop;
    tile.is_dirty = is_dirty;
    tile.is_misplaced = is_dirty && stop - start <= CHUNK_ROWS && beta == 0;
    if (item == 0 && is_dirty && !tile.is_misplaced)
        atomic_inc(mine.over.counters + LEFT_TILES);
    if (item == 0 && is_dirty)
        *mine.entry = tile.is_misplaced
                          ? atomic_inc(mine.over.counters + MISPLACED)
                          : atomic_add(mine.over.counters + LEFT, chunks_of(stop - start - 1));
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
    for (uint word = item; tile->is_misplaced && word < 2; word += BUNCH_SIZE)
        mine.over.speculator[2 * (ulong)*mine.entry + word] = word == 0 ? tile->start + 1 : tile->stop;
    if (tile->is_dirty && !tile->is_misplaced)
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

// `row` continues after the bunch, NO_ROW if none does, with `sum` so far.
void end_bunch(const unfinished_t mine, const sub_group_segments_t shared, const uint item,
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
