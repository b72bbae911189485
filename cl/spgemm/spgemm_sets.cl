// Rows of C for CPU devices: an item computes them by itself, and holds the columns of a row in a set of its own in
// global memory, where the caches of its core keep what it touches.
//
// The set has a bit for each column of C. Above the words of its bits are two levels: a bit for each word that is not 0,
// and a bit for each word of those. So what is in the set is found in ascending order, and taken out again, in a time
// that depends on what is in it, but for one look at 64^3 columns. With each word of columns goes how many entries of
// C come before it: a column's index in C is that and the number of bits below its own.
//
//   count: the columns of all products go into the set; the row has as many entries as bits are set.
//   fill: the columns go into the set again; they are written out in order; each product then finds its entry of C
//   through the set, and is added there, in the order in which A's row stores its entries.
//
// B's rows need not ascend, and may have a column twice. Nothing depends on how many products a row has, so all rows
// are computed alike, CHUNK_ROWS neighbouring ones at a time: an item takes the next ones when it is done with its own.
// Which item computes a row changes no bit of it.
//
// Memory: an eighth of a byte and an eighth of a byte a column of C for each item, and a 64th of that.

#ifndef CHUNK_ROWS
#define CHUNK_ROWS 16 // rows an item takes at a time
#endif

#include "item/prefetch.h"
#include "item/scalar.h"

// Entries of A between the one in work and the one whose row of B is prefetched, and the one whose row's offset is.
#define ROWS_AHEAD 16
#define OFFSETS_AHEAD 32

// 64 neighbouring columns.
typedef struct {
    ulong bits; // a column each
    ulong before; // entries of C in columns, and rows, before them
} columns_t;

typedef struct {
    global columns_t *columns; // of all
    global ulong *filled; // a bit for each of these whose bits are not 0
    global ulong *tops; // a bit for each of those that is not 0
    uint top_count;
} set_t;

// The item's set, with nothing in it; each has `set_words` words.
set_t open_set(global ulong *sets, const ulong set_words, const uint cols)
{
    global ulong *const words = sets + get_global_id(0) * set_words;
    for (ulong at = 0; at < set_words; ++at)
        words[at] = 0;
    const uint column_count = max(cols, 1u) / 64 + (max(cols, 1u) % 64 > 0);
    const uint filled_count = (column_count + 63) / 64;
    set_t set;
    set.columns = (global columns_t *)words;
    set.filled = words + 2 * (ulong)column_count;
    set.tops = set.filled + filled_count;
    set.top_count = (filled_count + 63) / 64;
    return set;
}

// The number of the lowest bit that is 1, of which there is one.
uint lowest(const ulong bits)
{
    return 63 - (uint)clz(bits & -bits);
}

// Prefetches the first line of `b`, columns or values, in a row of B that is wanted some entries of A after `entry`; A's
// last entry is `last`. Rows of B lie anywhere, and are short: no processor foresees where the next one begins.
#ifdef PREFETCH
#define prefetch_row(b, entry) prefetch_lines((b) + b_offsets[a_columns[min((entry) + ROWS_AHEAD, last)]], 0, 64)
#define prefetch_offset(entry) prefetch_lines(b_offsets + a_columns[min((entry) + OFFSETS_AHEAD, last)], 0, 64)
#else
#define prefetch_row(b, entry) (void)last
#define prefetch_offset(entry) (void)last
#endif

// Puts the columns of the products of a row of A, `begin` to `end`, into the set. Returns how many products there are.
ulong put_row(const set_t set, const ulong begin, const ulong end, const ulong last,
              global const uint *restrict a_columns, global const offset_t *restrict b_offsets,
              global const uint *restrict b_columns)
{
    ulong products = 0;
    for (ulong entry = begin; entry < end; ++entry) {
        prefetch_offset(entry);
        prefetch_row(b_columns, entry);
        const uint of_b = a_columns[entry];
        const ulong b_begin = b_offsets[of_b];
        const ulong b_end = b_offsets[of_b + 1];
        products += b_end - b_begin;
        for (ulong at = b_begin; at < b_end; ++at) {
            const uint column = b_columns[at];
            const uint word = column / 64;
            const ulong bits = set.columns[word].bits;
            set.columns[word].bits = bits | 1ul << column % 64;
            if (bits == 0) {
                set.filled[word / 64] |= 1ul << word % 64;
                set.tops[word / 4096] |= 1ul << word / 64 % 64;
            }
        }
    }
    return products;
}

// Takes all columns out of the set, and returns how many there were.
uint take_count(const set_t set)
{
    uint count = 0;
    for (uint top = 0; top < set.top_count; ++top) {
        for (ulong groups = set.tops[top]; groups > 0; groups &= groups - 1) {
            const uint group = top * 64 + lowest(groups);
            for (ulong words = set.filled[group]; words > 0; words &= words - 1) {
                const uint word = group * 64 + lowest(words);
                count += (uint)popcount(set.columns[word].bits);
                set.columns[word].bits = 0;
            }
            set.filled[group] = 0;
        }
        set.tops[top] = 0;
    }
    return count;
}

// Writes the columns of the set from `at` on, with values of 0, and notes for each word how many entries come before.
// Returns where the row ends. Columns stay in the set, but for its upper levels.
ulong write_columns(const set_t set, ulong at, global uint *restrict c_columns, global real_t *restrict c_values)
{
    for (uint top = 0; top < set.top_count; ++top) {
        for (ulong groups = set.tops[top]; groups > 0; groups &= groups - 1) {
            const uint group = top * 64 + lowest(groups);
            for (ulong words = set.filled[group]; words > 0; words &= words - 1) {
                const uint word = group * 64 + lowest(words);
                set.columns[word].before = at;
                for (ulong bits = set.columns[word].bits; bits > 0; bits &= bits - 1) {
                    c_columns[at] = word * 64 + lowest(bits);
                    c_values[at] = 0;
                    ++at;
                }
            }
            set.filled[group] = 0;
        }
        set.tops[top] = 0;
    }
    return at;
}

// The first of the next rows, or the number of rows: `cursor`, 0 before, counts what was taken.
ulong next_rows(volatile global uint *cursor, const uint rows)
{
    return min((ulong)atomic_inc(cursor) * CHUNK_ROWS, (ulong)rows);
}

// The entries of each row of C, and in two words, 0 before, how many products there are.
__attribute__((reqd_work_group_size(1, 1, 1)))
kernel void count_in_sets(const uint rows,
                          const uint cols,
                          const ulong set_words,
                          ARRAY_PARAMETER(const offset_t, a_offsets),
                          ARRAY_PARAMETER(const uint, a_columns),
                          ARRAY_PARAMETER(const offset_t, b_offsets),
                          ARRAY_PARAMETER(const uint, b_columns),
                          ARRAY_PARAMETER(uint, cursor),
                          ARRAY_PARAMETER(ulong, sets),
                          ARRAY_PARAMETER(uint, counts),
                          ARRAY_PARAMETER(uint, product_words))
{
    OPEN_ARRAY(const offset_t, a_offsets);
    OPEN_ARRAY(const uint, a_columns);
    OPEN_ARRAY(const offset_t, b_offsets);
    OPEN_ARRAY(const uint, b_columns);
    OPEN_ARRAY(ulong, sets);
    OPEN_ARRAY(uint, counts);
    const set_t set = open_set(sets, set_words, cols);
    const ulong last = (ulong)a_offsets[rows] - 1;
    ulong products = 0;
    for (ulong row = next_rows(cursor_buffer + cursor_start, rows); row < rows;
         row = next_rows(cursor_buffer + cursor_start, rows)) {
        const ulong beyond = min(row + CHUNK_ROWS, (ulong)rows);
        for (; row < beyond; ++row) {
            products += put_row(set, a_offsets[row], a_offsets[row + 1], last, a_columns, b_offsets, b_columns);
            counts[row] = take_count(set);
        }
    }
    volatile global uint *const words = product_words_buffer + product_words_start;
    const uint low = (uint)products;
    const uint before = atomic_add(words, low);
    const uint high = (uint)(products >> 32) + (before + low < before);
    if (high > 0)
        atomic_add(words + 1, high);
}

// The columns and values of C.
__attribute__((reqd_work_group_size(1, 1, 1)))
kernel void fill_from_sets(const uint rows,
                           const uint cols,
                           const ulong set_words,
                           ARRAY_PARAMETER(const offset_t, a_offsets),
                           ARRAY_PARAMETER(const uint, a_columns),
                           ARRAY_PARAMETER(const value_t, a_values),
                           ARRAY_PARAMETER(const offset_t, b_offsets),
                           ARRAY_PARAMETER(const uint, b_columns),
                           ARRAY_PARAMETER(const value_t, b_values),
                           ARRAY_PARAMETER(uint, cursor),
                           ARRAY_PARAMETER(ulong, sets),
                           ARRAY_PARAMETER(const offset_t, c_offsets),
                           ARRAY_PARAMETER(uint, c_columns),
                           ARRAY_PARAMETER(real_t, c_values))
{
    OPEN_ARRAY(const offset_t, a_offsets);
    OPEN_ARRAY(const uint, a_columns);
    OPEN_ARRAY(const value_t, a_values);
    OPEN_ARRAY(const offset_t, b_offsets);
    OPEN_ARRAY(const uint, b_columns);
    OPEN_ARRAY(const value_t, b_values);
    OPEN_ARRAY(ulong, sets);
    OPEN_ARRAY(const offset_t, c_offsets);
    OPEN_ARRAY(uint, c_columns);
    OPEN_ARRAY(real_t, c_values);
    const set_t set = open_set(sets, set_words, cols);
    const ulong last = (ulong)a_offsets[rows] - 1;
    for (ulong row = next_rows(cursor_buffer + cursor_start, rows); row < rows;
         row = next_rows(cursor_buffer + cursor_start, rows)) {
        const ulong beyond = min(row + CHUNK_ROWS, (ulong)rows);
        for (; row < beyond; ++row) {
            const ulong begin = a_offsets[row];
            const ulong end = a_offsets[row + 1];
            put_row(set, begin, end, last, a_columns, b_offsets, b_columns);
            const ulong c_begin = c_offsets[row];
            const ulong c_end = write_columns(set, c_begin, c_columns, c_values);
            for (ulong entry = begin; entry < end; ++entry) {
                prefetch_row(b_values, entry);
                const uint of_b = a_columns[entry];
                const real_t factor = a_values[entry];
                const ulong b_end = b_offsets[of_b + 1];
                for (ulong at = b_offsets[of_b]; at < b_end; ++at) {
                    const uint column = b_columns[at];
                    const columns_t near = set.columns[column / 64];
                    const ulong index = near.before + popcount(near.bits & ((1ul << column % 64) - 1));
                    c_values[index] = fma(factor, b_values[at], c_values[index]);
                }
            }
            for (ulong at = c_begin; at < c_end; ++at)
                set.columns[c_columns[at] / 64].bits = 0;
        }
    }
}
