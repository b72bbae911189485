// Makes the copy of csr_tiles (spmv/csr_tiles.cl) from CSR where CSR lies.
//
// A segment is what a row has in a tile without another tile between: in rows whose columns are in order, all of it.
// The steps, between which counts are made offsets (format/scan.cl):
//   marks      a bit for each nonzero, whether it begins a segment; counts a word
//   segments   where each begins, and its tile, by which they are sorted (format/sort.cl), rows in order within a tile
//   lengths    of the sorted segments: their sums are positions in the order of tiles, but for the padding of tiles,
//              which the host adds, as it cuts tasks: it reads where tiles begin
//   parts     how many slices each segment has a part in, in the order of tiles and in that of rows
//   number     the numbers of the parts of each row, and the bits of lanes
//   columns    and values, nonzero by nonzero: the bits and counts of the first step say which segment one is in
// With VALUES_ALONE there is the kernel for values alone, with CODES for codes of values (format/value_coding.cl).

#ifndef GROUP_SIZE
#define GROUP_SIZE 256
#endif
#ifndef TILE_COLUMNS
#define TILE_COLUMNS 8192 // columns of a tile
#endif
#ifndef LANE_NNZ
#define LANE_NNZ 8 // nonzeros of a lane in a slice
#endif

#include "item/store.h"
#include "spmv/csr_tiles_slice.h"

#define WORD_BITS 32

// Segments that begin before nonzero `at`; `nnz` has all of them before it.
uint segments_before(global const uint *restrict marks, global const uint *restrict before, const uint at)
{
    const uint in_word = at % WORD_BITS;
    const uint earlier = in_word > 0 ? marks[at / WORD_BITS] & ((1u << in_word) - 1) : 0;
    return before[at / WORD_BITS] + popcount(earlier);
}

#ifndef VALUES_ALONE
// Marks the first nonzero of each row, in words that hold 0.
__attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
kernel void csr_tiles_mark_rows(const uint rows,
                                ARRAY_PARAMETER(const offset_t, offsets),
                                ARRAY_PARAMETER(uint, marks))
{
    OPEN_ARRAY(const offset_t, offsets);
    OPEN_ARRAY(uint, marks);
    const uint row = (uint)get_global_id(0);
    if (row >= rows || offsets[row] == offsets[row + 1])
        return;
    const uint first = (uint)offsets[row];
    atomic_or(marks + first / WORD_BITS, 1u << first % WORD_BITS);
}

// Marks nonzeros of another tile than the one before, and counts the marks of each word.
__attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
kernel void csr_tiles_mark_tiles(const uint nnz,
                                 ARRAY_PARAMETER(const uint, columns),
                                 ARRAY_PARAMETER(uint, marks),
                                 ARRAY_PARAMETER(uint, counts))
{
    OPEN_ARRAY(const uint, columns);
    OPEN_ARRAY(uint, marks);
    OPEN_ARRAY(uint, counts);
    const uint word = (uint)get_global_id(0);
    const uint first = word * WORD_BITS;
    if (word > (nnz - 1) / WORD_BITS)
        return;
    const uint here = min(nnz - first, (uint)WORD_BITS);
    uint mark = marks[word];
    uint tile = load_column(columns, first > 0 ? first - 1 : 0) / TILE_COLUMNS;
    for (uint bit = 0; bit < here; ++bit) {
        const uint next = load_column(columns, first + bit) / TILE_COLUMNS;
        mark |= next != tile ? 1u << bit : 0;
        tile = next;
    }
    marks[word] = mark;
    counts[word] = popcount(mark);
}

// Of each segment, in the order of rows: its first nonzero, its tile and its number.
__attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
kernel void csr_tiles_segments(const uint nnz,
                               ARRAY_PARAMETER(const uint, columns),
                               ARRAY_PARAMETER(const uint, marks),
                               ARRAY_PARAMETER(const uint, before),
                               ARRAY_PARAMETER(uint, firsts),
                               ARRAY_PARAMETER(uint, tiles),
                               ARRAY_PARAMETER(uint, numbers))
{
    OPEN_ARRAY(const uint, columns);
    OPEN_ARRAY(const uint, marks);
    OPEN_ARRAY(const uint, before);
    OPEN_ARRAY(uint, firsts);
    OPEN_ARRAY(uint, tiles);
    OPEN_ARRAY(uint, numbers);
    const uint word = (uint)get_global_id(0);
    if (word > (nnz - 1) / WORD_BITS)
        return;
    uint segment = before[word];
    for (uint left = marks[word]; left != 0; left &= left - 1) {
        const uint first = word * WORD_BITS + (WORD_BITS - 1 - clz(left & -left));
        firsts[segment] = first;
        tiles[segment] = load_column(columns, first) / TILE_COLUMNS;
        numbers[segment] = segment;
        ++segment;
    }
}

// Of each segment in the order of tiles: its nonzeros; and the first segment of each tile, all of them for one more.
__attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
kernel void csr_tiles_lengths(const uint nnz,
                              const uint segments,
                              const uint tile_count,
                              ARRAY_PARAMETER(const uint, firsts),
                              ARRAY_PARAMETER(const uint, tiles),
                              ARRAY_PARAMETER(const uint, numbers),
                              ARRAY_PARAMETER(uint, lengths),
                              ARRAY_PARAMETER(uint, tile_segments))
{
    OPEN_ARRAY(const uint, firsts);
    OPEN_ARRAY(const uint, tiles);
    OPEN_ARRAY(const uint, numbers);
    OPEN_ARRAY(uint, lengths);
    OPEN_ARRAY(uint, tile_segments);
    const uint at = (uint)get_global_id(0);
    if (at >= segments)
        return;
    const uint segment = numbers[at];
    lengths[at] = (segment + 1 < segments ? firsts[segment + 1] : nnz) - firsts[segment];
    const uint tile = tiles[at];
    for (uint begun = at > 0 ? tiles[at - 1] + 1 : 0; begun <= tile; ++begun)
        tile_segments[begun] = at;
    if (at + 1 == segments)
        for (uint empty = tile + 1; empty <= tile_count; ++empty)
            tile_segments[empty] = segments;
}

// Nonzeros before each tile.
__attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
kernel void csr_tiles_starts(const uint tile_count,
                             ARRAY_PARAMETER(const uint, tile_segments),
                             ARRAY_PARAMETER(const uint, positions),
                             ARRAY_PARAMETER(uint, starts))
{
    OPEN_ARRAY(const uint, tile_segments);
    OPEN_ARRAY(const uint, positions);
    OPEN_ARRAY(uint, starts);
    const uint tile = (uint)get_global_id(0);
    if (tile <= tile_count)
        starts[tile] = positions[tile_segments[tile]];
}

// Parts of a segment of `length` nonzeros from `position` on.
uint parts_of_segment(const uint position, const uint length)
{
    return (position + length - 1) / SLICE_NNZ - position / SLICE_NNZ + 1;
}

// Parts of each segment, in both orders; and how far from its index in CSR each nonzero of a segment has its position,
// modulo 2^32. `tile_table` has two words a tile: padding before it in nonzeros, and in parts.
__attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
kernel void csr_tiles_parts(const uint segments,
                             ARRAY_PARAMETER(const uint, firsts),
                             ARRAY_PARAMETER(const uint, tiles),
                             ARRAY_PARAMETER(const uint, numbers),
                             ARRAY_PARAMETER(const uint, positions),
                             ARRAY_PARAMETER(const uint, tile_table),
                             ARRAY_PARAMETER(uint, by_tile),
                             ARRAY_PARAMETER(uint, by_row),
                             ARRAY_PARAMETER(uint, moves))
{
    OPEN_ARRAY(const uint, firsts);
    OPEN_ARRAY(const uint, tiles);
    OPEN_ARRAY(const uint, numbers);
    OPEN_ARRAY(const uint, positions);
    OPEN_ARRAY(const uint, tile_table);
    OPEN_ARRAY(uint, by_tile);
    OPEN_ARRAY(uint, by_row);
    OPEN_ARRAY(uint, moves);
    const uint at = (uint)get_global_id(0);
    if (at >= segments)
        return;
    const uint segment = numbers[at];
    const uint position = positions[at] + tile_table[2 * tiles[at]];
    const uint parts = parts_of_segment(position, positions[at + 1] - positions[at]);
    by_tile[at] = parts;
    by_row[segment] = parts;
    moves[segment] = position - firsts[segment];
}

// The numbers of the parts of each row; where parts begin, in words of lanes that hold 0, and the first of each
// slice.
__attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
kernel void csr_tiles_number(const uint segments,
                            ARRAY_PARAMETER(const uint, tiles),
                            ARRAY_PARAMETER(const uint, numbers),
                            ARRAY_PARAMETER(const uint, positions),
                            ARRAY_PARAMETER(const uint, tile_table),
                            ARRAY_PARAMETER(const uint, tile_parts),
                            ARRAY_PARAMETER(const uint, segment_parts),
                            ARRAY_PARAMETER(uint, parts),
                            ARRAY_PARAMETER(uint, words),
                            ARRAY_PARAMETER(uint, first_parts))
{
    OPEN_ARRAY(const uint, tiles);
    OPEN_ARRAY(const uint, numbers);
    OPEN_ARRAY(const uint, positions);
    OPEN_ARRAY(const uint, tile_table);
    OPEN_ARRAY(const uint, tile_parts);
    OPEN_ARRAY(const uint, segment_parts);
    OPEN_ARRAY(uint, parts);
    OPEN_ARRAY(uint, words);
    OPEN_ARRAY(uint, first_parts);
    const uint at = (uint)get_global_id(0);
    if (at >= segments)
        return;
    const uint segment = numbers[at];
    const uint tile = tiles[at];
    const uint position = positions[at] + tile_table[2 * tile];
    const uint length = positions[at + 1] - positions[at];
    const uint count = tile_parts[at + 1] - tile_parts[at];
    const uint number = tile_parts[at] + tile_table[2 * tile + 1];
    for (uint part = 0; part < count; ++part) {
        parts[segment_parts[segment] + part] = number + part;
        const uint begin = part == 0 ? position : (position / SLICE_NNZ + part) * SLICE_NNZ;
        atomic_or(words + begin / LANE_NNZ, 1u << begin % LANE_NNZ);
        if (begin % SLICE_NNZ == 0)
            first_parts[begin / SLICE_NNZ] = number + part;
    }
    // What pads the tile's last slice begins a part that no row has: its values may be any that the matrix has, where they
    // are coded, and an Inf of x times a zero is a NaN.
    const uint past = position + length;
    const int is_last = at + 1 == segments || tiles[at + 1] != tile;
    if (is_last && past % SLICE_NNZ != 0)
        atomic_or(words + past / LANE_NNZ, 1u << past % LANE_NNZ);
}

// How many parts begin in the lanes before, into the upper halves of words.
__attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
kernel void csr_tiles_lanes(const uint slices,
                            ARRAY_PARAMETER(uint, words))
{
    OPEN_ARRAY(uint, words);
    const uint slice = (uint)get_global_id(0);
    if (slice >= slices)
        return;
    uint before = 0;
    for (uint lane = 0; lane < SLICE_LANES; ++lane) {
        const uint begins = words[slice * SLICE_LANES + lane];
        words[slice * SLICE_LANES + lane] = before << 16 | begins;
        before += popcount(begins);
    }
}

// The first part of each row, and the number of all.
__attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
kernel void csr_tiles_row_parts(const uint rows,
                                 ARRAY_PARAMETER(const offset_t, offsets),
                                 ARRAY_PARAMETER(const uint, marks),
                                 ARRAY_PARAMETER(const uint, before),
                                 ARRAY_PARAMETER(const uint, segment_parts),
                                 ARRAY_PARAMETER(uint, row_parts))
{
    OPEN_ARRAY(const offset_t, offsets);
    OPEN_ARRAY(const uint, marks);
    OPEN_ARRAY(const uint, before);
    OPEN_ARRAY(const uint, segment_parts);
    OPEN_ARRAY(uint, row_parts);
    const uint row = (uint)get_global_id(0);
    if (row <= rows)
        row_parts[row] = segment_parts[segments_before(marks, before, (uint)offsets[row])];
}

#endif

// Where nonzero `at` lies in the copy.
ulong index_of_nonzero(global const uint *restrict marks, global const uint *restrict before,
                       global const uint *restrict moves, const uint at)
{
    return index_of_position(at + moves[segments_before(marks, before, at + 1) - 1]);
}

#ifndef VALUES_ALONE
// Columns, counted from their tile's first.
__attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
kernel void csr_tiles_columns(const uint nnz,
                              ARRAY_PARAMETER(const uint, columns),
                              ARRAY_PARAMETER(const uint, marks),
                              ARRAY_PARAMETER(const uint, before),
                              ARRAY_PARAMETER(const uint, moves),
                              ARRAY_PARAMETER(ushort, target))
{
    OPEN_ARRAY(const uint, columns);
    OPEN_ARRAY(const uint, marks);
    OPEN_ARRAY(const uint, before);
    OPEN_ARRAY(const uint, moves);
    OPEN_ARRAY(ushort, target);
    const uint at = (uint)get_global_id(0);
    if (at < nnz)
        target[index_of_nonzero(marks, before, moves, at)] = (ushort)(load_column(columns, at) % TILE_COLUMNS);
}

#endif

// Values, bit for bit.
__attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
kernel void csr_tiles_values(const uint nnz,
                             ARRAY_PARAMETER(const uint, marks),
                             ARRAY_PARAMETER(const uint, before),
                             ARRAY_PARAMETER(const uint, moves),
                             ARRAY_PARAMETER(const moved_t, source),
                             ARRAY_PARAMETER(moved_t, target))
{
    OPEN_ARRAY(const uint, marks);
    OPEN_ARRAY(const uint, before);
    OPEN_ARRAY(const uint, moves);
    OPEN_ARRAY(const moved_t, source);
    OPEN_ARRAY(moved_t, target);
    const uint at = (uint)get_global_id(0);
    if (at < nnz)
        target[index_of_nonzero(marks, before, moves, at)] = source[at];
}
