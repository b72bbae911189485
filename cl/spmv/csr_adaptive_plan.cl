// Row blocks of CSR-Adaptive, cut on the device: the same blocks as csr-core's plan/csr_adaptive.rs, so
// that a matrix that lives on the device need not come to the host.
//
// Chunks of ROWS_PER_CHUNK rows are independent; a work-group takes one. Greedy cutting is a chain (each
// block begins where the one before ends), but where a block that began at row i would end depends on i
// alone. So the items find that end for every row of the chunk, in parallel, and with it the row at which
// the chain would leave the item's own rows; one item hops along those exits, from item to item; and
// each item marks the blocks that begin in its rows.
//
//   count_row_blocks   marks block starts (a bitmap) and counts entries, chunk by chunk; the group that
//                      arrives last turns the counts into places and leaves the totals for the host,
//                      which reads 12 bytes and allocates exactly.
//   write_row_blocks   writes the entries of each chunk to their place.
//
// The end from an item's last row is found by binary search over the chunk's offsets, the others by going
// back from there. Local memory: 4 bytes a row of the chunk, and 8 an item.
#ifndef GROUP_SIZE
#define GROUP_SIZE 256 // items of a work-group: divides ROWS_PER_CHUNK
#endif

#include "group/carry.h"
#include "group/scan.h"

#define ROWS_PER_CHUNK 4096
#define ROWS_PER_ITEM (ROWS_PER_CHUNK / GROUP_SIZE)
#define WORDS_PER_CHUNK (ROWS_PER_CHUNK / 32)

// What all groups add to.
#define CUT_ROWS 0
#define TOO_MANY 1
#define ARRIVALS 2

#define LONG_ROW 128
#define SHORT_ROW 32

// Entries of the block of `rows` rows and `nnz` nonzeros: a row above `share` (0: never) has one a share.
ulong block_entries(const uint rows, const ulong nnz, const uint share)
{
    return share != 0 && rows == 1 && nnz > share ? (nnz + share - 1) / share : 1;
}

// The first row after `row` at which a block that begins there no longer holds `nnz_per_block` nonzeros.
uint end_by_nnz(global const offset_t *restrict offsets, const uint row, const uint rows,
                const uint nnz_per_block)
{
    const ulong limit = (ulong)offsets[row] + nnz_per_block;
    uint fits = row;      // the block up to here fits
    uint exceeds = rows + 1; // the block up to here does not
    while (fits + 1 < exceeds) {
        const uint middle = fits + (exceeds - fits) / 2;
        if (offsets[middle] <= limit)
            fits = middle;
        else
            exceeds = middle;
    }
    return fits;
}

__attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
kernel void count_row_blocks(const uint rows,
                             ARRAY_PARAMETER(const offset_t, offsets),
                             const uint nnz_per_block,
                             const uint share,
                             const uint breaks_lengths,
                             const uint zero,
                             ARRAY_PARAMETER(uint, starts),
                             ARRAY_PARAMETER(uint, places),
                             ARRAY_PARAMETER(uint, totals),
                             ARRAY_PARAMETER(uint, results))
{
    local ushort ends[ROWS_PER_CHUNK];
    local ushort exits[ROWS_PER_CHUNK];
    local uint entered_at[GROUP_SIZE];
    local uint scratch[GROUP_SIZE];
    local uint bitmap[WORDS_PER_CHUNK];
    local int is_last_local[1];

    const uint item = (uint)get_local_id(0);
    const uint chunk = (uint)get_group_id(0);
    const uint chunks = (uint)get_num_groups(0);
    const uint first = chunk * ROWS_PER_CHUNK;
    const uint chunk_rows = min(rows - first, (uint)ROWS_PER_CHUNK);
    global const offset_t *restrict chunk_offsets = offsets_buffer + offsets_start + first;
    const uint my_first = item * ROWS_PER_ITEM;
    const uint my_last = min(my_first + ROWS_PER_ITEM, chunk_rows);

    for (uint word = item; word < WORDS_PER_CHUNK; word += GROUP_SIZE)
        bitmap[word] = 0;
    entered_at[item] = ROWS_PER_CHUNK;

    // The next long and the next short row after this item's rows.
    uint next_long = ROWS_PER_CHUNK;
    uint next_short = ROWS_PER_CHUNK;
    for (uint row = my_last; row > my_first; --row) {
        const ulong length = (ulong)chunk_offsets[row] - chunk_offsets[row - 1];
        next_long = length > LONG_ROW ? row - 1 : next_long;
        next_short = length < SHORT_ROW ? row - 1 : next_short;
    }
    next_long = group_scan_least_after(next_long, scratch, ROWS_PER_CHUNK);
    next_short = group_scan_least_after(next_short, scratch, ROWS_PER_CHUNK);
    // Where a block would end that began at each row: never later than from the row after it.
    uint within = chunk_rows;
    if (my_first < my_last)
        within = end_by_nnz(chunk_offsets, my_last - 1, chunk_rows, nnz_per_block);
    for (uint row = my_last; row > my_first; --row) {
        const uint start = row - 1;
        const ulong length = (ulong)chunk_offsets[row] - chunk_offsets[start];
        next_long = length > LONG_ROW ? start : next_long;
        next_short = length < SHORT_ROW ? start : next_short;
        while (chunk_offsets[within] > (ulong)chunk_offsets[start] + nnz_per_block)
            --within;
        uint end = breaks_lengths ? min(within, max(next_long, next_short)) : within;
        end = max(end, start + 1);
        ends[start] = (ushort)end;
        exits[start] = end < my_last ? exits[end] : (ushort)end;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item == 0)
        for (uint start = 0; start < chunk_rows; start = exits[start])
            entered_at[start / ROWS_PER_ITEM] = start;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint start = entered_at[item]; start < my_last; start = ends[start])
        atomic_or(bitmap + start / 32, 1u << (start % 32));
    barrier(CLK_LOCAL_MEM_FENCE);

    ulong entries = 0;
    uint cut_rows = 0;
    for (uint row = my_first; row < my_last; ++row) {
        if ((bitmap[row / 32] >> (row % 32) & 1u) == 0)
            continue;
        const uint end = ends[row];
        const ulong of_block =
            block_entries(end - row, (ulong)chunk_offsets[end] - chunk_offsets[row], share);
        entries += of_block;
        cut_rows += of_block > 1;
    }
    global uint *restrict starts = starts_buffer + starts_start;
    for (uint word = item; word < WORDS_PER_CHUNK; word += GROUP_SIZE)
        starts[(ulong)chunk * WORDS_PER_CHUNK + word] = bitmap[word];

    // Counts saturate: more than 2^31 entries of a chunk are an error, which the host reports.
    volatile global uint *places = places_buffer + places_start;
    volatile global uint *totals = totals_buffer + totals_start;
    const uint too_many = entries > 0x7fffffffu;
    uint count;
    group_scan_exclusive(too_many ? 0 : (uint)entries, scratch, &count);
    uint cut_and_too_many;
    group_scan_exclusive(cut_rows | too_many << 16, scratch, &cut_and_too_many);
    if (item == 0) {
        const uint proof = atomic_xchg(places + chunk, count)
                         | atomic_add(totals + CUT_ROWS, cut_and_too_many & 0xffffu)
                         | atomic_or(totals + TOO_MANY, cut_and_too_many >> 16);
        is_last_local[0] = arrives_last(totals + ARRIVALS, 1, chunks, proof, zero);
    }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    if (!is_last_local[0])
        return;
    // The last group: each item adds up a run of chunks, the runs are put behind each other, and every
    // chunk's count becomes its place.
    const uint run = (chunks + GROUP_SIZE - 1) / GROUP_SIZE;
    const uint run_first = min(item * run, chunks);
    const uint run_last = min(run_first + run, chunks);
    uint sum = 0;
    for (uint at = run_first; at < run_last; ++at)
        sum += atomic_or(places + at, 0u);
    uint all;
    uint place = group_scan_exclusive(sum, scratch, &all);
    for (uint at = run_first; at < run_last; ++at) {
        const uint here = atomic_or(places + at, 0u);
        atomic_xchg(places + at, place);
        place += here;
    }
    // The totals go to the host and are left as they were found, for the next plan.
    if (item == 0) {
        global uint *restrict results = results_buffer + results_start;
        results[0] = all;
        results[1] = atomic_xchg(totals + CUT_ROWS, 0u);
        results[2] = atomic_xchg(totals + TOO_MANY, 0u);
        atomic_xchg(totals + ARRIVALS, 0u);
    }
}

__attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
kernel void write_row_blocks(const uint rows,
                             ARRAY_PARAMETER(const offset_t, offsets),
                             const uint num_rows_stream,
                             const uint share,
                             const uint reduction_size,
                             ARRAY_PARAMETER(const uint, starts),
                             ARRAY_PARAMETER(const uint, places),
                             const uint count,
                             ARRAY_PARAMETER(ulong, row_blocks))
{
    local uint scratch[GROUP_SIZE];

    const uint item = (uint)get_local_id(0);
    const uint chunk = (uint)get_group_id(0);
    const uint first = chunk * ROWS_PER_CHUNK;
    const uint chunk_rows = min(rows - first, (uint)ROWS_PER_CHUNK);
    global const offset_t *restrict chunk_offsets = offsets_buffer + offsets_start + first;
    global const uint *restrict starts =
        starts_buffer + starts_start + (ulong)chunk * WORDS_PER_CHUNK;
    global ulong *restrict row_blocks = row_blocks_buffer + row_blocks_start;
    const uint my_first = item * ROWS_PER_ITEM;
    const uint my_last = min(my_first + ROWS_PER_ITEM, chunk_rows);

    // The first block start of each item's rows tells the items before it where their last block ends.
    uint first_start = chunk_rows;
    for (uint row = my_last; row > my_first; --row)
        first_start = starts[(row - 1) / 32] >> ((row - 1) % 32) & 1u ? row - 1 : first_start;
    const uint end_of_mine = group_scan_least_after(first_start, scratch, chunk_rows);

    uint entries = 0;
    uint end = end_of_mine;
    for (uint row = my_last; row > my_first; --row) {
        const uint start = row - 1;
        if ((starts[start / 32] >> (start % 32) & 1u) == 0)
            continue;
        entries += (uint)block_entries(
            end - start, (ulong)chunk_offsets[end] - chunk_offsets[start], share);
        end = start;
    }
    uint all;
    const uint before = group_scan_exclusive(entries, scratch, &all);
    // Written from the last block to the first, as they are found.
    ulong place = (ulong)(places_buffer + places_start)[chunk] + before + entries;
    end = end_of_mine;
    for (uint row = my_last; row > my_first; --row) {
        const uint start = row - 1;
        if ((starts[start / 32] >> (start % 32) & 1u) == 0)
            continue;
        const uint block_rows = end - start;
        const uint of_block = (uint)block_entries(
            block_rows, (ulong)chunk_offsets[end] - chunk_offsets[start], share);
        const ulong entry = (ulong)(first + start) << 32;
        place -= of_block;
        if (of_block > 1) {
            for (uint group = 0; group < of_block; ++group)
                row_blocks[place + group] = entry | group;
        } else {
            // The log2 of items that reduce each row of a Stream block.
            const int is_stream = block_rows >= num_rows_stream && block_rows <= reduction_size;
            row_blocks[place] =
                entry | (is_stream ? 31 - clz(reduction_size / block_rows) : 0);
        }
        end = start;
    }
    if (chunk == 0 && item == 0)
        row_blocks[count] = (ulong)rows << 32;
}
