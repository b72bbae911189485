
// One group a problem, or a pair of problems of one pattern (SETS 2): x in local memory, pairs side by side, so that a gather
// serves both. Steps of GROUP_SIZE x K nonzeros of the whole group; one barrier a step.
#ifdef COLUMNS_U16
typedef ushort bcol_t;
#ifdef __NV_CL_C_VERSION
uint stream_bcol(global const ushort *columns, const ulong at)
{
    ushort column;
    asm volatile(STREAM ".u16 %0, [%1];" : "=h"(column) : "l"(columns + at));
    return column;
}
#else
#define stream_bcol(columns, at) ((uint)(columns)[at])
#endif
#else
typedef uint bcol_t;
#define stream_bcol stream_column
#endif
#ifndef SETS
#define SETS 1
#endif
#ifndef K
#define K 4
#endif
#ifndef MOST_WIDTH
#define MOST_WIDTH 8
#endif
#ifndef X_ROOM
#define X_ROOM 1024
#endif
#define STEP (GROUP_SIZE * K)
#if SETS == 2
typedef double2 sums_t;
#define SUMS_ZERO ((double2)(0.0, 0.0))
#define PAD(at) ((at) + ((at) >> 3))
#else
typedef double sums_t;
#define SUMS_ZERO 0.0
#define PAD(at) ((at) + ((at) >> 4))
#endif

#ifdef BUNCH_VOTES
sums_t sum_width(sums_t mine, const uint width)
{
#if SETS == 2
    for (uint reach = width >> 1; reach > 0; reach >>= 1) {
        mine.x += acc_after(mine.x, reach);
        mine.y += acc_after(mine.y, reach);
    }
    return mine;
#else
    return bunch_sum_runs(mine, width);
#endif
}
#endif

__attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
kernel void batched_flat(const uint problems, const uint per_problem, const uint nnz, const uint rows,
                         const ulong value_step, const ulong column_step, const ulong index_step,
                         const ulong x_step, const ulong y_step, const ulong start_step,
                         global const ulong *restrict all_starts, global const offset_t *restrict all_offsets,
                         global const bcol_t *restrict all_columns, global const value_t *restrict all_values,
                         global const real_t *restrict all_x, global real_t *restrict all_y,
                         const real_t alpha, const real_t beta)
{
    local sums_t staged_x[X_ROOM];
    local sums_t products[2][PAD(STEP)];
    local uint begins[X_ROOM + 1];
    local sums_t carries[2];
#ifndef BUNCH_VOTES
    local sums_t parts[GROUP_SIZE];
#endif
    const uint item = (uint)get_local_id(0);
    const ulong problem = (ulong)get_group_id(0) * SETS;
    global const bcol_t *restrict columns = all_columns + problem * column_step;
    global const offset_t *restrict offsets = all_offsets + problem * index_step;
    global const value_t *restrict values = all_values + problem * value_step;
    global const real_t *restrict x = all_x + problem * x_step;
    global real_t *restrict y = all_y + problem * y_step;
#if SETS == 2
    const int has_second = problem + 1 < problems;
    global const value_t *restrict values2 = has_second ? values + value_step : values;
    global const real_t *restrict x2 = has_second ? x + x_step : x;
    global real_t *restrict y2 = y + y_step;
#endif

    uint cols_of[K];
    sums_t vals_of[K];
#if SETS == 2
#define LOAD_VALUE(at) ((double2)(stream_value(values, at), stream_value(values2, at)))
#else
#define LOAD_VALUE(at) stream_value(values, at)
#endif
#define LOAD_STEP(first) \
    do { \
        if ((first) + STEP <= nnz) { \
            _Pragma("unroll") \
            for (uint turn = 0; turn < K; ++turn) cols_of[turn] = stream_bcol(columns, (first) + turn * GROUP_SIZE + item); \
            _Pragma("unroll") \
            for (uint turn = 0; turn < K; ++turn) vals_of[turn] = LOAD_VALUE((first) + turn * GROUP_SIZE + item); \
        } else if ((first) < nnz) { \
            _Pragma("unroll") \
            for (uint turn = 0; turn < K; ++turn) { \
                const uint at = min((first) + turn * GROUP_SIZE + item, nnz - 1); \
                cols_of[turn] = stream_bcol(columns, at); \
                vals_of[turn] = LOAD_VALUE(at); \
            } \
        } \
    } while (0)
    LOAD_STEP(0u);
    const offset_t base = offsets[0];
    for (uint row = item; row <= rows; row += GROUP_SIZE)
        begins[row] = (uint)(offsets[row] - base);
    for (uint column = item; column < (uint)x_step; column += GROUP_SIZE)
#if SETS == 2
        staged_x[column] = (double2)(x[column], x2[column]);
#else
        staged_x[column] = x[column];
#endif
    if (item == 0)
        carries[1] = SUMS_ZERO;
    barrier(CLK_LOCAL_MEM_FENCE);

    uint row = 0;
    uint parity = 0;
    for (uint first = 0; first < nnz; first += STEP) {
        const uint stop = min(first + STEP, nnz);
#pragma unroll
        for (uint turn = 0; turn < K; ++turn)
            products[parity][PAD(turn * GROUP_SIZE + item)] = vals_of[turn] * staged_x[cols_of[turn]];
        LOAD_STEP(first + STEP);
        barrier(CLK_LOCAL_MEM_FENCE);

        // The last row that begins at or before `stop`: open at the end of the step.
        uint open = rows;
        if (stop < nnz) {
#ifdef BUNCH_VOTES
            open = row;
            uint before = 32;
            while (before == 32) {
                const uint next = open + 1 + item % 32;
                before = bunch_count(next <= rows && begins[next] <= stop);
                open += before;
            }
#else
            uint low = row, high = rows + 1;
            while (high - low > 1) {
                const uint middle = low + (high - low) / 2;
                if (begins[middle] <= stop)
                    low = middle;
                else
                    high = middle;
            }
            open = low;
#endif
        }
        const uint beyond = min(open + 1, rows);
        const uint count = beyond - row;
        const int log_fit = (int)clz(count - 1) - (int)clz(GROUP_SIZE - 1);
        const uint log_width = (uint)clamp(log_fit, 0, 31 - (int)clz(MOST_WIDTH));
        const uint width = 1u << log_width;
        for (uint done = row; done < beyond; done += GROUP_SIZE >> log_width) {
            const uint its = done + (item >> log_width);
            const int has = its < beyond;
            const uint from = has ? max(begins[its], first) - first : 0;
            const uint past = has ? min(begins[its + 1], stop) - first : 0;
            sums_t sum = SUMS_ZERO;
            uint at = from + (item & (width - 1));
            for (; at + 3 * width < past; at += 4 * width) {
                const sums_t a = products[parity][PAD(at)], b = products[parity][PAD(at + width)];
                const sums_t c = products[parity][PAD(at + 2 * width)], d = products[parity][PAD(at + 3 * width)];
                sum += a;
                sum += b;
                sum += c;
                sum += d;
            }
            for (; at < past; at += width)
                sum += products[parity][PAD(at)];
#ifdef BUNCH_VOTES
            sum = sum_width(sum, width);
#else
            parts[item] = sum;
            barrier(CLK_LOCAL_MEM_FENCE);
            if ((item & (width - 1)) == 0)
                for (uint part = 1; part < width; ++part)
                    sum += parts[item + part];
            barrier(CLK_LOCAL_MEM_FENCE);
#endif
            if (has && (item & (width - 1)) == 0) {
                if (its == row)
                    sum += carries[parity ^ 1];
                if (its == open) {
                    carries[parity] = sum;
                } else {
#if SETS == 2
                    store_result(y, its, alpha, sum.x, beta);
                    if (has_second)
                        store_result(y2, its, alpha, sum.y, beta);
#else
                    store_result(y, its, alpha, sum, beta);
#endif
                }
            }
        }
        row = open;
        parity ^= 1;
    }
    if (nnz == 0)
        for (uint its = item; its < rows; its += GROUP_SIZE)
            store_result(y, its, alpha, 0.0, beta);
}
