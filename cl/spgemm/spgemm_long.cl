// The columns of long rows of C: all groups work at one row together.
//
// One group that does a row alone is what a matrix waits for, be all others busy or not: of circuit5M, 49 rows of 5.6
// million take 8% of the products and took nearly all of the time. So a row whose products, and what a group would look
// at to find them, are more than LONG (`spgemm_rows.cl`) has a bitmap of all columns in global memory instead:
//
//   1. count_entries (and sums of these, or start_entries), measure_entries and a scan number the products of the listed
//      rows through, row after row, entry after entry;
//   2. mark_columns: each group takes GROUP_SIZE * PRODUCTS_PER_ITEM of these, finds by binary search between which
//      entries they lie, each item by another, between those, whose its product is, and sets its column's bit. A long
//      row of A and a long row of B are cut alike, and nothing is looked at twice;
//   3. count_tiles: a group counts the bits of TILE_WORDS words, a window of columns of one row. A scan of these counts
//      is where each window's columns go, and count_rows takes the number of the row's entries from it;
//   4. fill_tiles: a group writes the columns of a window to the row's offset and the window's, in order.
//
// Bits are set by atomics, in any order, and the same bits always; all else is done by one group. A row whose entries
// of A name empty rows of B alone is done too: it has no bit.
//
// Global memory: 4 bytes for each 32 columns and 8 for each window of columns of each row that is done at once, and
// while bits are set 12 for each of its entries of A. Rows are done in batches that keep to the memory they may take.
//
// Local memory: 8 bytes an item.

#ifndef GROUP_SIZE
#define GROUP_SIZE 256 // items of a work-group
#endif
#ifndef PRODUCTS_PER_ITEM
#define PRODUCTS_PER_ITEM 8 // products whose bits an item sets
#endif
#ifndef TILE_WORDS
#define TILE_WORDS 2048 // words of a window, of 32 columns each
#endif

#include "spgemm/flat.h"
#include "group/scan.h"

#define CHUNK (GROUP_SIZE * PRODUCTS_PER_ITEM)

// How many entries each of `count` listed rows of A has, up to 2^32 - 1.
__attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
kernel void count_entries(const uint count,
                          ARRAY_PARAMETER(const uint, rows),
                          ARRAY_PARAMETER(const offset_t, a_offsets),
                          ARRAY_PARAMETER(uint, counts))
{
    OPEN_ARRAY(const uint, rows);
    OPEN_ARRAY(const offset_t, a_offsets);
    OPEN_ARRAY(uint, counts);
    const ulong item = get_global_id(0);
    if (item < count) {
        const ulong row = rows[item];
        counts[item] = (uint)min((ulong)a_offsets[row + 1] - a_offsets[row], 0xfffffffful);
    }
}

// Where the entries of each of `count` listed rows begin, and their number, below 2^32; and no limit for each of them. One
// group.
__attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
kernel void start_entries(const uint count,
                          ARRAY_PARAMETER(const uint, rows),
                          ARRAY_PARAMETER(const offset_t, a_offsets),
                          ARRAY_PARAMETER(uint, entry_starts),
                          ARRAY_PARAMETER(uint, limits))
{
    OPEN_ARRAY(const uint, rows);
    OPEN_ARRAY(const offset_t, a_offsets);
    OPEN_ARRAY(uint, entry_starts);
    OPEN_ARRAY(uint, limits);
    local ulong scratch[GROUP_SIZE];
    ulong before = 0;
    ulong first = 0;
    do {
        const ulong slot = first + get_local_id(0);
        const ulong row = slot < count ? rows[slot] : 0;
        const ulong mine = slot < count ? a_offsets[row + 1] - a_offsets[row] : 0;
        ulong total;
        const ulong start = before + group_scan_exclusive(mine, scratch, &total);
        if (slot < count) {
            entry_starts[slot] = (uint)start;
            limits[slot] = 0xffffffffu;
        }
        before += total;
        first += GROUP_SIZE;
        barrier(CLK_LOCAL_MEM_FENCE); // before `scratch` is written again
    } while (first < count);
    if (get_local_id(0) == 0)
        entry_starts[count] = (uint)before;
}

// How long the row of B is that each of `entries` names, or limits[slot] if that is less.
__attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
kernel void measure_entries(const uint entries,
                            const uint slots,
                            ARRAY_PARAMETER(const uint, rows),
                            ARRAY_PARAMETER(const uint, entry_starts),
                            ARRAY_PARAMETER(const uint, limits),
                            ARRAY_PARAMETER(const offset_t, a_offsets),
                            ARRAY_PARAMETER(const uint, a_columns),
                            ARRAY_PARAMETER(const offset_t, b_begins),
                            ARRAY_PARAMETER(const offset_t, b_ends),
                            ARRAY_PARAMETER(uint, lengths))
{
    OPEN_ARRAY(const uint, rows);
    OPEN_ARRAY(const uint, entry_starts);
    OPEN_ARRAY(const uint, limits);
    OPEN_ARRAY(const offset_t, a_offsets);
    OPEN_ARRAY(const uint, a_columns);
    OPEN_ARRAY(const offset_t, b_begins);
    OPEN_ARRAY(const offset_t, b_ends);
    OPEN_ARRAY(uint, lengths);
    const ulong item = get_global_id(0);
    if (item < entries) {
        const uint slot = last_slot(entry_starts, 0, slots, (uint)item);
        const uint of_b = a_columns[a_offsets[rows[slot]] + (item - entry_starts[slot])];
        lengths[item] = (uint)min((ulong)b_ends[of_b] - b_begins[of_b], (ulong)limits[slot]);
    }
}

// Sets the bit of the column of each product; `bitmap`, 0 before, has `row_words` words for each of the rows. There may be
// fewer groups than CHUNKs, or more.
__attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
kernel void mark_columns(const uint entries,
                         const uint slots,
                         const uint row_words,
                         ARRAY_PARAMETER(const uint, rows),
                         ARRAY_PARAMETER(const uint, entry_starts),
                         ARRAY_PARAMETER(const ulong, starts),
                         ARRAY_PARAMETER(const offset_t, a_offsets),
                         ARRAY_PARAMETER(const uint, a_columns),
                         ARRAY_PARAMETER(const offset_t, b_begins),
                         ARRAY_PARAMETER(const uint, b_columns),
                         ARRAY_PARAMETER(uint, bitmap))
{
    OPEN_ARRAY(const uint, rows);
    OPEN_ARRAY(const uint, entry_starts);
    OPEN_ARRAY(const ulong, starts);
    OPEN_ARRAY(const offset_t, a_offsets);
    OPEN_ARRAY(const uint, a_columns);
    OPEN_ARRAY(const offset_t, b_begins);
    OPEN_ARRAY(const uint, b_columns);
    OPEN_ARRAY(uint, bitmap);
    const ulong products = starts[entries];
    for (ulong first = (ulong)get_group_id(0) * CHUNK; first < products; first += (ulong)get_num_groups(0) * CHUNK) {
        const ulong beyond = min(first + CHUNK, products);
        const uint4 span = span_of(starts, entries, entry_starts, slots, first, beyond - 1);
        for (ulong product = first + get_local_id(0); product < beyond; product += GROUP_SIZE) {
            const uint entry = last_entry(starts, span.x, span.y, product);
            const uint slot = last_slot(entry_starts, span.z, span.w, entry);
            const uint of_b = a_columns[a_offsets[rows[slot]] + (entry - entry_starts[slot])];
            const uint column = b_columns[b_begins[of_b] + (product - starts[entry])];
            atomic_or(bitmap + (ulong)slot * row_words + column / 32, 1u << column % 32);
        }
    }
}

// The bits of each window, a group each.
__attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
kernel void count_tiles(ARRAY_PARAMETER(const uint, bitmap),
                        ARRAY_PARAMETER(uint, counts))
{
    OPEN_ARRAY(const uint, bitmap);
    OPEN_ARRAY(uint, counts);
    local ulong scratch[GROUP_SIZE];
    const uint item = (uint)get_local_id(0);
    const ulong tile = get_group_id(0);
    uint mine = 0;
    for (uint word = item; word < TILE_WORDS; word += GROUP_SIZE)
        mine += popcount(bitmap[tile * TILE_WORDS + word]);
    ulong total;
    group_scan_exclusive(mine, scratch, &total);
    if (item == 0)
        counts[tile] = (uint)total;
}

// The entries of each of `count` listed rows of C, of `row_tiles` windows each; `window_offsets` is the scan of their
// counts.
__attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
kernel void count_rows(const uint count,
                       const uint row_tiles,
                       ARRAY_PARAMETER(const uint, rows),
                       ARRAY_PARAMETER(const ulong, window_offsets),
                       ARRAY_PARAMETER(uint, counts))
{
    OPEN_ARRAY(const uint, rows);
    OPEN_ARRAY(const ulong, window_offsets);
    OPEN_ARRAY(uint, counts);
    const ulong slot = get_global_id(0);
    if (slot < count)
        counts[rows[slot]] = (uint)(window_offsets[(slot + 1) * row_tiles] - window_offsets[slot * row_tiles]);
}

// The columns of each window, in order, a group each.
__attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
kernel void fill_tiles(const uint row_tiles,
                       ARRAY_PARAMETER(const uint, rows),
                       ARRAY_PARAMETER(const ulong, window_offsets),
                       ARRAY_PARAMETER(const uint, bitmap),
                       ARRAY_PARAMETER(const offset_t, c_offsets),
                       ARRAY_PARAMETER(uint, c_columns))
{
    OPEN_ARRAY(const uint, rows);
    OPEN_ARRAY(const ulong, window_offsets);
    OPEN_ARRAY(const uint, bitmap);
    OPEN_ARRAY(const offset_t, c_offsets);
    OPEN_ARRAY(uint, c_columns);
    local ulong scratch[GROUP_SIZE];
    const uint item = (uint)get_local_id(0);
    const ulong tile = get_group_id(0);
    const ulong slot = tile / row_tiles;
    // Neighbouring words are an item's.
    const uint each = (TILE_WORDS - 1) / GROUP_SIZE + 1;
    const uint first = min(item * each, (uint)TILE_WORDS);
    const uint beyond = min(first + each, (uint)TILE_WORDS);
    uint mine = 0;
    for (uint word = first; word < beyond; ++word)
        mine += popcount(bitmap[tile * TILE_WORDS + word]);
    ulong total;
    ulong at = group_scan_exclusive(mine, scratch, &total);
    at += c_offsets[rows[slot]] + (window_offsets[tile] - window_offsets[slot * row_tiles]);
    // Not tile % row_tiles: Oclgrind does not know what clang makes of a quotient and a remainder.
    const uint column = (uint)(tile - slot * row_tiles) * TILE_WORDS * 32;
    for (uint word = first; word < beyond; ++word)
        for (uint bits = bitmap[tile * TILE_WORDS + word]; bits != 0; bits &= bits - 1)
            c_columns[at++] = column + word * 32 + 31 - clz(bits & -bits);
}
