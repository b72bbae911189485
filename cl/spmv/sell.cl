// Sliced ELL for CPUs: SLICE_ROWS neighbouring rows share a vector, a lane a row (after Kreutzer, Hager, Wellein,
// Fehske and Bishop's SELL-C-sigma, 2014, here without sorting, so that x and y stay as near as they were).
//
// A slice is SLICE_ROWS rows. Where their lengths are much the same it is a strip: each iteration takes one nonzero of
// each row, values side by side. Iterations have an order of their own, by what is known of their columns:
//   runs   the rows' columns are neighbours (c, c + 1, c + 2, ...), as on grids: one 32-bit column is stored, and x
//          comes as one vector;
//   full   every row has a nonzero: columns of 16 bits, counted from the slice's lowest, or of 32 where they
//          are too far apart; x is gathered;
//   tail   some rows have ended: a mask says which lanes have a nonzero. x is gathered in the others too, from a column
//          that exists, and their sums stay: padding must not make a NaN of an Inf of x.
// Where lengths differ, the rows of a slice lie one after another, as in compressed rows but with 16-bit columns,
// and LANES products of a row are made at a time. So they do where most rows have the columns of a neighbour, as the
// unknowns of a mesh's node have: such rows, at most four, are a node, whose columns are stored once, whose values are
// interleaved, LANES of each row, and for which x is gathered once.
//
// An item takes a chunk: some slices in a row, of about equal bytes, cut on the host. All that it reads lies in the
// order in which it is read: two streams, values and words. No local memory, no barriers.
//
// Values are as they are, one for all, or narrower (item/copied_values.h).
//
// What a matrix has none of is left out, as it takes long to compile: with STRIPS there are strips alone, with
// NARROW_COLUMNS columns of 16 bits alone.

#ifndef SLICE_ROWS
#define SLICE_ROWS 16 // rows of a slice: 4, 8 or 16
#endif
#define LANES SLICE_ROWS

#include "item/prefetch.h"
#include "item/lane_loads.h"
#include "spmv/sell_slice.h"

// Prefetches what there is of later values.
#ifdef ONE_VALUE
#define prefetch_values(value, count)
#else
#define prefetch_values(value, count) prefetch_lines(value, VALUES_PREFETCH_DISTANCE, (count) * sizeof(each_t))
#endif

// Prefetches values and words of later iterations.
#define PREFETCH_ITERATION(column_words) \
    do { \
        prefetch_values(value, LANES); \
        prefetch_lines(word, COLUMNS_PREFETCH_DISTANCE, LANES * column_words * sizeof(ushort)); \
    } while (0)

// Iterations of a strip that gather x; those after the first `full` have a mask. `column_words` are a column's.
#define SUM_ITERATIONS(column, column_words) \
    do { \
        for (uint iteration = 0; iteration < slice.full; ++iteration) { \
            PREFETCH_ITERATION(column_words); \
            sums = lanes_mad(sums, lanes_of_each(values, value, 0), gather_lanes(x_base, column)); \
            word += LANES * column_words; \
            value += LANES; \
        } \
        for (uint iteration = 0; iteration < slice.tail; ++iteration) { \
            PREFETCH_ITERATION(column_words); \
            const uint mask = word_pair(word); \
            word += 2; \
            sums = lanes_mad_where(mask, sums, lanes_of_each(values, value, 0), gather_lanes(x_base, column)); \
            word += LANES * column_words; \
            value += LANES; \
        } \
    } while (0)

// A node: `node_rows` rows, a constant, of `length` nonzeros in the same columns, LANES at a time into `sums`, what is left
// into `rests`. What is loaded of x serves all of them.
#define SUM_NODE(node_rows, column, column_words) \
    do { \
        lane_sums_t sums[node_rows]; \
        acc_t rests[node_rows]; \
        _Pragma("unroll") for (uint own = 0; own < node_rows; ++own) { \
            sums[own] = lanes_zero(); \
            rests[own] = acc_zero(); \
        } \
        uint left = length; \
        for (; left >= LANES; left -= LANES) { \
            prefetch_values(value, node_rows * LANES); \
            prefetch_lines(word, COLUMNS_PREFETCH_DISTANCE, LANES * column_words * sizeof(ushort)); \
            const lanes_t its_x = gather_lanes(x_base, column); \
            _Pragma("unroll") for (uint own = 0; own < node_rows; ++own) \
                sums[own] = lanes_mad(sums[own], lanes_of_each(values, value, LANES * own), its_x); \
            word += LANES * column_words; \
            value += LANES * node_rows; \
        } \
        for (uint done = 0; done < left; ++done) { \
            const real_t its_x = gather_x(x_base, column(0)); \
            _Pragma("unroll") for (uint own = 0; own < node_rows; ++own) \
                rests[own] = acc_mad(rests[own], value_of_each(values, value, left * own + done), its_x); \
            word += column_words; \
        } \
        value += left * node_rows; \
        _Pragma("unroll") for (uint own = 0; own < node_rows; ++own) { \
            const acc_t sum = length >= LANES ? acc_add(lanes_total(sums[own]), rests[own]) : rests[own]; \
            store_result(y, first_row + row + own, alpha, sum, beta); \
        } \
    } while (0)

// A node of `node_rows` rows, whatever that is.
#define SUM_NODES(column, column_words) \
    do { \
        switch (node_rows) { \
        case 1: SUM_NODE(1, column, column_words); break; \
        case 2: SUM_NODE(2, column, column_words); break; \
        case 3: SUM_NODE(3, column, column_words); break; \
        default: SUM_NODE(SELL_NODE_ROWS, column, column_words); \
        } \
    } while (0)

#ifdef STRIPS
#define IS_STRIP(slice) 1
#else
#define IS_STRIP(slice) (slice).is_strip
#endif
#ifdef NARROW_COLUMNS
#define IS_WIDE(slice) 0
#else
#define IS_WIDE(slice) (slice).is_wide
#endif

#define NARROW_COLUMN(lane) word[lane]
#define WIDE_COLUMN(lane) word_pair(word + 2 * lane)

__attribute__((reqd_work_group_size(1, 1, 1)))
kernel void sell(const uint rows,
                 ARRAY_PARAMETER(const sell_chunk_t, chunks),
                 ARRAY_PARAMETER(const ushort, words),
                 ARRAY_PARAMETER(const stored_t, values),
                 ARRAY_PARAMETER(const real_t, x),
                 ARRAY_PARAMETER(real_t, y),
                 SCALAR_PARAMETER(alpha),
                 SCALAR_PARAMETER(beta))
{
    OPEN_ARRAY(const sell_chunk_t, chunks);
    OPEN_ARRAY(const ushort, words);
    OPEN_VALUES(values);
    OPEN_ARRAY(const real_t, x);
    OPEN_ARRAY(real_t, y);
    OPEN_SCALAR(alpha);
    OPEN_SCALAR(beta);

    const sell_chunk_t chunk = chunks[get_global_id(0)];
    const uint past = chunks[get_global_id(0) + 1].slice;
    global const ushort *word = words + chunk.word;
    each_pointer_t value = EACH(values) + chunk.value;
    for (uint number = chunk.slice; number < past; ++number) {
        const sell_slice_t slice = open_slice(word);
        word += SELL_HEADER_WORDS;
        const uint first_row = number * SLICE_ROWS;
        const uint slice_rows = min((uint)SLICE_ROWS, rows - first_row);
        global const real_t *x_base = IS_WIDE(slice) ? x : x + slice.base;
        if (IS_STRIP(slice)) {
            lane_sums_t sums = lanes_zero();
            for (uint iteration = 0; iteration < slice.runs; ++iteration) {
                prefetch_values(value, LANES);
                sums = lanes_mad(sums, lanes_of_each(values, value, 0), load_x_run(x, word_pair(word)));
                word += 2;
                value += LANES;
            }
            if (IS_WIDE(slice))
                SUM_ITERATIONS(WIDE_COLUMN, 2);
            else
                SUM_ITERATIONS(NARROW_COLUMN, 1);
            if (slice_rows == SLICE_ROWS)
                store_results(y, first_row, alpha, sums, beta);
            else
                store_first_results(y, first_row, slice_rows, alpha, sums, beta);
        } else {
            global const ushort *lengths = word;
            word += 2 * slice_rows;
            for (uint row = 0; row < slice_rows;) {
                const uint length = word_pair(lengths + 2 * row);
                const uint node_rows = rows_of_node(slice, row);
                if (IS_WIDE(slice))
                    SUM_NODES(WIDE_COLUMN, 2);
                else
                    SUM_NODES(NARROW_COLUMN, 1);
                row += node_rows;
            }
            // 32-bit numbers lie at even words.
            word += (word - words) & 1;
        }
    }
}
