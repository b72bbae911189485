// Row blocks of CSR-Adaptive, cut on the device: the same blocks as csr-core's plan/csr_adaptive.rs, so
// that a matrix that lives on the device need not come to the host.
//
// Chunks of ROWS_PER_CHUNK rows are independent; a work-group takes one. Greedy cutting is a chain (each
// block begins where the one before ends), but where a block that began at row i would end depends on i
// alone. So the items find that end for every row of the chunk, in parallel, and then follow the chain
// from the first row by doubling: with the row that is 2^k blocks on known for every row, each begin
// found so far finds one more, and twelve rounds find all of a chunk's 4096 at most.
//
//   mark_row_blocks    marks where blocks begin (a bit a row) and counts entries, chunk by chunk.
//   write_row_blocks   puts the entries of each chunk after those of the chunks before it. Their number is
//                      not known yet, so the host allocates capacity for a likely number and both kernels
//                      run without waiting for it; it reads the true number back (8 bytes), and where the
//                      capacity was too small, in which case nothing was written past it, allocates more
//                      and runs this kernel again.
//
// The device waits for memory and barriers far more than it computes: a group has many items so that few
// rows queue one after another. Local memory: 2 bytes a row of the chunk, 512 bytes of bits, and 4 an item
// to mark, 8 to write.
#ifndef GROUP_SIZE
#define GROUP_SIZE 512 // items of a work-group: divides ROWS_PER_CHUNK / 4
#endif

#include "item/scalar.h"
#include "group/scan.h"

#define ROWS_PER_CHUNK 4096
#define ROWS_PER_ITEM (ROWS_PER_CHUNK / GROUP_SIZE)
#define QUADS_PER_ITEM (ROWS_PER_ITEM / 4)
#define WORDS_PER_CHUNK (ROWS_PER_CHUNK / 32)

#define LONG_ROW 128
#define SHORT_ROW 32

// What a chunk counts, and the results for the host, which has seen to it that 31 bits hold them.
#define ENTRIES 0
#define CUT_ROWS 1
#define COUNTS 2

// Entries of a block of `nnz` nonzeros: one above `share` (0: never) is a single row and has one a share.
uint block_entries(const ulong nnz, const uint share)
{
    return share != 0 && nnz > share ? (uint)((nnz + share - 1) / share) : 1;
}

// The last row up to `last` before which a block that begins at `row` holds at most `nnz_per_block`
// nonzeros: by strides back from `last` that double from `stride` on, then by halves.
uint end_by_nnz(global const offset_t *restrict offsets, const uint row, const uint last, uint stride,
                const uint nnz_per_block)
{
    const offset_t before = offsets[row];
    uint fits = last;        // the block up to here fits, once the loop has ended
    uint exceeds = last + 1; // the block up to here does not, or is not looked at
    while (fits > row && offsets[fits] - before > nnz_per_block) {
        exceeds = fits;
        fits = fits - row > stride ? fits - stride : row;
        stride *= 2;
    }
    while (fits + 1 < exceeds) {
        const uint middle = (fits + exceeds) / 2;
        if (offsets[middle] - before <= nnz_per_block)
            fits = middle;
        else
            exceeds = middle;
    }
    return fits;
}

// The first row from `row` on where a block begins, at most `end`.
uint next_begin(local const uint *begins, uint row, const uint end)
{
    while (row < end) {
        const uint bits = begins[row / 32] >> row % 32;
        if (bits != 0)
            return min(row + 31 - clz(bits & -bits), end);
        row = (row / 32 + 1) * 32;
    }
    return end;
}

// Where a block ends that begins at each row, one by one or four at a time.
typedef union {
    ushort rows[ROWS_PER_CHUNK];
    ushort4 quads[ROWS_PER_CHUNK / 4];
} ends_t;

// The next of the chain: where the block ends that begins at `row`; a chain that has left the chunk stays outside.
ushort follow(local const ends_t *ends, const ushort row, const uint chunk_rows)
{
    return row < chunk_rows ? ends->rows[row] : row;
}

void mark(local uint *begins, const ushort row, const uint chunk_rows)
{
    if (row < chunk_rows)
        atomic_or(begins + row / 32, 1u << row % 32);
}

__attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
kernel void mark_row_blocks(const uint rows,
                            ARRAY_PARAMETER(const offset_t, offsets),
                            const uint nnz_per_block,
                            const uint share,
                            const uint breaks_lengths,
                            ARRAY_PARAMETER(uint, begins),
                            ARRAY_PARAMETER(uint, counts))
{
    local ends_t ends;
    local uint marked[WORDS_PER_CHUNK];
    local uint counted[COUNTS];
    local ushort2 scratch[GROUP_SIZE];

    const uint item = (uint)get_local_id(0);
    const uint chunk = (uint)get_group_id(0);
    const uint first = chunk * ROWS_PER_CHUNK;
    const uint chunk_rows = min(rows - first, (uint)ROWS_PER_CHUNK);
    global const offset_t *restrict chunk_offsets = offsets_buffer + offsets_start + first;
    const uint my_first = item * ROWS_PER_ITEM;

    for (uint word = item; word < WORDS_PER_CHUNK; word += GROUP_SIZE)
        marked[word] = word == 0; // the first row begins a block
    for (uint count = item; count < COUNTS; count += GROUP_SIZE)
        counted[count] = 0;

    // Rows past the last have no nonzeros, and no block reaches them.
    offset_t mine[ROWS_PER_ITEM + 1];
    for (uint at = 0; at <= ROWS_PER_ITEM; ++at)
        mine[at] = chunk_offsets[min(my_first + at, chunk_rows)];
    // The next long (x) and the next short (y) row after this item's rows.
    ushort2 next = ROWS_PER_CHUNK;
    for (uint at = ROWS_PER_ITEM; at-- > 0;) {
        const offset_t length = mine[at + 1] - mine[at];
        next.x = length > LONG_ROW ? my_first + at : next.x;
        next.y = length < SHORT_ROW ? my_first + at : next.y;
    }
    next = group_scan_least_after(next, scratch, ROWS_PER_CHUNK);
    // Where a block would end that began at each row: never later than from the row after it. A row that
    // will be cut is a block whatever comes before it, so its further entries are counted here.
    uint within = chunk_rows;
    uint stride = ROWS_PER_CHUNK;
    for (uint at = ROWS_PER_ITEM; at-- > 0;) {
        const uint row = my_first + at;
        const offset_t length = mine[at + 1] - mine[at];
        next.x = length > LONG_ROW ? row : next.x;
        next.y = length < SHORT_ROW ? row : next.y;
        if (row >= chunk_rows) {
            ends.rows[row] = (ushort)chunk_rows;
            continue;
        }
        within = end_by_nnz(chunk_offsets, row, within, stride, nnz_per_block);
        stride = 1;
        const uint end = breaks_lengths ? min(within, (uint)max(next.x, next.y)) : within;
        ends.rows[row] = (ushort)max(end, row + 1);
        const uint entries = block_entries(length, share);
        if (entries > 1) {
            atomic_add(counted + ENTRIES, entries - 1);
            atomic_add(counted + CUT_ROWS, 1u);
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    // Before each round `ends` leads `reach` blocks on, and the first `reach` begins are marked.
    for (uint reach = 1; reach < ROWS_PER_CHUNK; reach *= 2) {
        ushort4 to[QUADS_PER_ITEM];
        ushort4 beyond[QUADS_PER_ITEM];
        uint is_marked[QUADS_PER_ITEM]; // a bit a row
        const int goes_on = ends.rows[0] < chunk_rows; // the same in every item
        for (uint at = 0; goes_on && at < QUADS_PER_ITEM; ++at) {
            const uint quad = item + at * GROUP_SIZE;
            to[at] = ends.quads[quad];
            is_marked[at] = marked[quad / 8] >> quad % 8 * 4 & 15;
            beyond[at].x = follow(&ends, to[at].x, chunk_rows);
            beyond[at].y = follow(&ends, to[at].y, chunk_rows);
            beyond[at].z = follow(&ends, to[at].z, chunk_rows);
            beyond[at].w = follow(&ends, to[at].w, chunk_rows);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint at = 0; goes_on && at < QUADS_PER_ITEM; ++at) {
            ends.quads[item + at * GROUP_SIZE] = beyond[at];
            if (is_marked[at] & 1)
                mark(marked, to[at].x, chunk_rows);
            if (is_marked[at] & 2)
                mark(marked, to[at].y, chunk_rows);
            if (is_marked[at] & 4)
                mark(marked, to[at].z, chunk_rows);
            if (is_marked[at] & 8)
                mark(marked, to[at].w, chunk_rows);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    global uint *restrict begins = begins_buffer + begins_start + (ulong)chunk * WORDS_PER_CHUNK;
    for (uint word = item; word < WORDS_PER_CHUNK; word += GROUP_SIZE) {
        begins[word] = marked[word];
        if (marked[word] != 0)
            atomic_add(counted + ENTRIES, popcount(marked[word]));
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    global uint *restrict counts = counts_buffer + counts_start + (ulong)chunk * COUNTS;
    for (uint count = item; count < COUNTS; count += GROUP_SIZE)
        counts[count] = counted[count];
}

__attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
kernel void write_row_blocks(const uint rows,
                             ARRAY_PARAMETER(const offset_t, offsets),
                             const uint num_rows_stream,
                             const uint share,
                             const uint reduction_size,
                             ARRAY_PARAMETER(const uint, begins),
                             ARRAY_PARAMETER(const uint, counts),
                             const uint capacity,
                             ARRAY_PARAMETER(ulong, row_blocks),
                             ARRAY_PARAMETER(uint, results))
{
    local uint marked[WORDS_PER_CHUNK];
    local uint cut_rows;
    local ulong scratch[GROUP_SIZE];

    const uint item = (uint)get_local_id(0);
    const uint chunk = (uint)get_group_id(0);
    const uint chunks = (uint)get_num_groups(0);
    const uint first = chunk * ROWS_PER_CHUNK;
    const uint chunk_rows = min(rows - first, (uint)ROWS_PER_CHUNK);
    global const offset_t *restrict chunk_offsets = offsets_buffer + offsets_start + first;
    global const uint *restrict counts = counts_buffer + counts_start;
    global ulong *restrict row_blocks = row_blocks_buffer + row_blocks_start;
    const uint my_first = item * ROWS_PER_ITEM;
    const uint my_last = min(my_first + ROWS_PER_ITEM, chunk_rows);
    const int is_last_chunk = chunk + 1 == chunks;

    for (uint word = item; word < WORDS_PER_CHUNK; word += GROUP_SIZE)
        marked[word] = begins_buffer[begins_start + (ulong)chunk * WORDS_PER_CHUNK + word];
    if (item == 0)
        cut_rows = 0;
    ulong of_chunks_before = 0;
    for (uint at = item; at < chunk; at += GROUP_SIZE)
        of_chunks_before += counts[(ulong)at * COUNTS + ENTRIES];
    barrier(CLK_LOCAL_MEM_FENCE);

    uint entries = 0;
    for (uint row = next_begin(marked, my_first, my_last), end; row < my_last; row = end) {
        end = next_begin(marked, row + 1, chunk_rows);
        entries += block_entries(chunk_offsets[end] - chunk_offsets[row], share);
    }
    // Both sums at once: a count of all entries fits 32 bits.
    ulong sums;
    const uint before = (uint)group_scan_exclusive(of_chunks_before << 32 | entries, scratch, &sums);
    uint index = (uint)(sums >> 32) + before;
    for (uint row = next_begin(marked, my_first, my_last), end; row < my_last; row = end) {
        end = next_begin(marked, row + 1, chunk_rows);
        const uint shares = block_entries(chunk_offsets[end] - chunk_offsets[row], share);
        const uint block_rows = end - row;
        // The log2 of items that reduce each row of a Stream block.
        const int is_stream = block_rows >= num_rows_stream && block_rows <= reduction_size;
        const uint of_one = is_stream ? 31 - clz(reduction_size / block_rows) : 0;
        for (uint group = 0; group < shares && index + group < capacity; ++group)
            row_blocks[index + group] = (ulong)(first + row) << 32 | (shares > 1 ? group : of_one);
        index += shares;
    }

    for (uint at = item; is_last_chunk && at < chunks; at += GROUP_SIZE) {
        const uint cut = counts[(ulong)at * COUNTS + CUT_ROWS];
        if (cut != 0)
            atomic_add(&cut_rows, cut);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (is_last_chunk && item == 0) {
        const uint count = (uint)(sums >> 32) + (uint)sums;
        if (count < capacity)
            row_blocks[count] = (ulong)rows << 32;
        global uint *restrict results = results_buffer + results_start;
        results[ENTRIES] = count;
        results[CUT_ROWS] = cut_rows;
    }
}
