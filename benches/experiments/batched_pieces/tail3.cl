
// One group a problem, or a pair of one pattern (SETS 2); each bunch a piece of its nonzeros, walked in steps without
// group barriers.
#ifdef COLUMNS_U16
typedef ushort bcol_t;
#else
typedef uint bcol_t;
#endif
#ifndef SETS
#define SETS 1
#endif
#ifndef K
#define K 4
#endif
#ifndef X_ROOM
#define X_ROOM 1024
#endif
#define B (GROUP_SIZE / 32)
#define BSTEP (32 * K)
#if SETS == 2
typedef double2 sums_t;
#define SUMS_ZERO ((double2)(0.0, 0.0))
#define PAD(at) ((at) + ((at) >> 3))
#else
typedef double sums_t;
#define SUMS_ZERO 0.0
#define PAD(at) ((at) + ((at) >> 4))
#endif
#define PADDED_BSTEP (PAD(BSTEP - 1) + 1)

#ifdef __NV_CL_C_VERSION
#define WARP_BARRIER() asm volatile("bar.warp.sync 0xffffffff;" ::: "memory")
#ifdef KEEP
#define HINT_PARAM , const ulong policy
#define HINT , policy
#define HINTED ".L2::cache_hint"
#define STR2(x) #x
#define STR(x) STR2(x)
double load_val(global const double *v HINT_PARAM)
{
    double r;
    asm volatile("ld.global.nc.L1::no_allocate.L2::cache_hint.f64 %0, [%1], %2;" : "=d"(r) : "l"(v), "l"(policy));
    return r;
}
#ifdef COLUMNS_U16
uint load_col(global const ushort *v HINT_PARAM)
{
    ushort r;
    asm volatile("ld.global.nc.L1::no_allocate.L2::cache_hint.u16 %0, [%1], %2;" : "=h"(r) : "l"(v), "l"(policy));
    return r;
}
#else
uint load_col(global const uint *v HINT_PARAM)
{
    uint r;
    asm volatile("ld.global.nc.L1::no_allocate.L2::cache_hint.u32 %0, [%1], %2;" : "=r"(r) : "l"(v), "l"(policy));
    return r;
}
#endif
#elif defined(PLAIN_VALUES)
#define HINT
#define load_val(v) (*(v))
uint load_col(global const bcol_t *v)
{
    uint r;
#ifdef COLUMNS_U16
    ushort n; asm volatile("ld.global.nc.L1::no_allocate.u16 %0, [%1];" : "=h"(n) : "l"(v)); r = n;
#else
    asm volatile("ld.global.nc.L1::no_allocate.u32 %0, [%1];" : "=r"(r) : "l"(v));
#endif
    return r;
}
#elif defined(PLAIN_COLUMNS)
#define HINT
#define load_col(v) ((uint)*(v))
double load_val(global const double *v)
{
    double r;
    asm volatile("ld.global.nc.L1::no_allocate.f64 %0, [%1];" : "=d"(r) : "l"(v));
    return r;
}
#elif defined(PLAIN)
#define HINT
#define load_val(v) (*(v))
#define load_col(v) ((uint)*(v))
#else
#define HINT
double load_val(global const double *v)
{
    double r;
    asm volatile("ld.global.nc.L1::no_allocate.f64 %0, [%1];" : "=d"(r) : "l"(v));
    return r;
}
#ifdef COLUMNS_U16
uint load_col(global const ushort *v)
{
    ushort r;
    asm volatile("ld.global.nc.L1::no_allocate.u16 %0, [%1];" : "=h"(r) : "l"(v));
    return r;
}
#else
uint load_col(global const uint *v)
{
    uint r;
    asm volatile("ld.global.nc.L1::no_allocate.u32 %0, [%1];" : "=r"(r) : "l"(v));
    return r;
}
#endif
#endif
uint votes_of(const int yes) { return bunch_count(yes); }
#else
#error "NVIDIA only"
#endif

uint last_row_at(local const uint *starts, const uint rows, const uint border)
{
    uint row = 0;
    uint beyond = rows + 1;
    while (beyond - row > 1) {
        const uint width = (beyond - row + 31) / 32;
        const uint next = row + (1 + (uint)get_local_id(0) % 32) * width;
        row += width * votes_of(next < beyond && starts[next] <= border);
        beyond = min(row + width, beyond);
    }
    return row;
}

uint row_open(local const uint *starts, const uint row, const uint last, const uint stop)
{
    uint open = row;
    uint before = 32;
    while (before == 32) {
        const uint next = open + 1 + (uint)get_local_id(0) % 32;
        before = votes_of(next <= last && starts[next] <= stop);
        open += before;
    }
    return open;
}

uint row_down(local const uint *starts, const uint row, const uint least, const uint first)
{
    uint found = row;
    uint beyond = 32;
    while (beyond == 32) {
        const uint lane = (uint)get_local_id(0) % 32;
        beyond = votes_of(found >= least + lane && starts[found - lane] > first);
        found -= beyond;
    }
    return found;
}

sums_t after(sums_t v, const uint reach)
{
#if SETS == 2
    return (double2)(acc_after(v.x, reach), acc_after(v.y, reach));
#else
    return acc_after(v, reach);
#endif
}

#ifndef MAXS
#define MAXS 128
#endif
#ifndef STEP_ITEMS
#define STEP_ITEMS (K * SETS < 8 ? 32 * K * SETS / 8 : 32)
#endif
uint width_of(const uint count) { return 2 * count > STEP_ITEMS ? 1 : STEP_ITEMS >> (32 - clz(count - 1)); }

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
    local sums_t products[B][PADDED_BSTEP];
    local uint begins[X_ROOM + 1];
    local sums_t carried[2][B], carries[B], leads[B];
#ifdef TURNS
    local sums_t parts[B][MAXS];
#endif
    const uint item = (uint)get_local_id(0);
    const uint bunch = item / 32, lane = item % 32;
    const ulong problem = (ulong)get_group_id(0) * SETS;
    global const offset_t *restrict offsets = all_offsets + problem * index_step;
    global const real_t *restrict x = all_x + problem * x_step;
    global real_t *restrict y = all_y + problem * y_step;
#ifdef ALIGN
    const uint off = (uint)(problem * value_step) % ALIGN;
#define BORDER(b) ((b) == 0 ? off : (b) == B ? nnz + off : ((uint)((ulong)nnz * (b) / B) + off) / ALIGN * ALIGN)
#else
    const uint off = 0;
#define BORDER(b) ((uint)((ulong)nnz * (b) / B))
#endif
    const uint begin = BORDER(bunch), end = BORDER(bunch + 1);
    global const bcol_t *restrict columns = all_columns + problem * column_step + lane - off;
    global const value_t *restrict values = all_values + problem * value_step + lane - off;
#if SETS == 2
    const int has_second = problem + 1 < problems;
    global const value_t *restrict values2 = has_second ? values + value_step : values;
    global const real_t *restrict x2 = has_second ? x + x_step : x;
    global real_t *restrict y2 = y + y_step;
#endif
#ifdef KEEP
    ulong policy, pattern_policy;
    #ifdef LAST
    asm("createpolicy.fractional.L2::evict_last.L2::evict_unchanged.b64 %0, " STR(KEEP) ";" : "=l"(policy));
#else
    asm("createpolicy.fractional.L2::evict_normal.L2::evict_first.b64 %0, " STR(KEEP) ";" : "=l"(policy));
#endif
#if PATTERN
    asm("createpolicy.fractional.L2::evict_normal.b64 %0, 1.0;" : "=l"(pattern_policy));
#else
    pattern_policy = policy;
#endif
#define CHINT , pattern_policy
#else
#define CHINT
#endif

#ifdef ALIGN
    const uint start = begin / ALIGN * ALIGN;
#else
    const uint start = begin;
#endif
    uint cols_of[K];
    sums_t vals_of[K];
#if SETS == 2
#define LOAD_VALUE(at) ((double2)(load_val(values + (at) HINT), load_val(values2 + (at) HINT)))
#else
#define LOAD_VALUE(at) load_val(values + (at) HINT)
#endif
#define LOAD_STEP(first) \
    do { \
        if ((first) >= begin && (first) + BSTEP <= end) { \
            _Pragma("unroll") \
            for (uint turn = 0; turn < K; ++turn) cols_of[turn] = load_col(columns + (first) + turn * 32 CHINT); \
            _Pragma("unroll") \
            for (uint turn = 0; turn < K; ++turn) vals_of[turn] = LOAD_VALUE((first) + turn * 32); \
        } else { \
            _Pragma("unroll") \
            for (uint turn = 0; turn < K; ++turn) { \
                const uint place = (first) + turn * 32 + lane; const int there = place >= begin && place < end; \
                cols_of[turn] = there ? load_col(columns + (first) + turn * 32 CHINT) : 0; \
                vals_of[turn] = there ? LOAD_VALUE((first) + turn * 32) : SUMS_ZERO; \
            } \
        } \
    } while (0)
#ifdef TURNS
    LOAD_STEP(start + ((per_problem & 1) ? ((end - start + BSTEP - 1) / BSTEP - 1) * BSTEP : 0));
#else
    LOAD_STEP(start);
#endif
    const offset_t base = offsets[0];
    for (uint row = item; row <= rows; row += GROUP_SIZE)
        begins[row] = (uint)(offsets[row] - base) + off;
    for (uint column = item; column < (uint)x_step; column += GROUP_SIZE)
#if SETS == 2
        staged_x[column] = (double2)(x[column], x2[column]);
#else
        staged_x[column] = x[column];
#endif
    if (lane == 0)
        carried[1][bunch] = carries[bunch] = SUMS_ZERO;
    uint parity = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    const uint first_row = bunch == 0 ? 0 : last_row_at(begins, rows, begin);
    const uint last_row = bunch + 1 == B ? rows : last_row_at(begins, rows, end);
    const int first_cut = begin < end && begins[first_row] < begin;
    uint row = first_row;
    local sums_t *mine = products[bunch];

#ifdef TURNS
    const uint steps = (end - start + BSTEP - 1) / BSTEP;
    const int back = per_problem & 1;
    uint near = back ? last_row : first_row;
    for (uint i = 0; i < steps; ++i) {
        const uint s = back ? steps - 1 - i : i;
        const uint first = start + s * BSTEP;
        const uint stop = min(first + BSTEP, end);
#pragma unroll
        for (uint turn = 0; turn < K; ++turn)
            mine[PAD(turn * 32 + lane)] = vals_of[turn] * staged_x[cols_of[turn]];
        if (i + 1 < steps) {
            const uint next = back ? first - BSTEP : first + BSTEP;
            LOAD_STEP(next);
        }
        WARP_BARRIER();
        uint lo = near, hi = near;
        if (back)
            lo = s > 0 ? row_down(begins, near, first_row, first) : first_row;
        else
            hi = s + 1 < steps ? row_open(begins, near, last_row, stop) : last_row;
        const int empty_hi = back && s + 1 < steps && begins[hi] == stop;
        const uint beyond = min(empty_hi ? hi : hi + 1, rows);
        const uint width = width_of(hi - lo + 1);
        const uint log_width = 31 - clz(width);
        for (uint done = lo; done < beyond; done += 32 >> log_width) {
            const uint its = done + (lane >> log_width);
            const int has = its < beyond;
            const uint its_begin = has ? begins[its] : 0, its_end = has ? begins[its + 1] : 0;
            const uint from = has ? max(its_begin, first) - first : 0;
            const uint past = has ? min(its_end, stop) - first : 0;
            sums_t sum = SUMS_ZERO;
            for (uint at = from + (lane & (width - 1)); at < past; at += width)
                sum += mine[PAD(at)];
            for (uint reach = width >> 1; reach > 0; reach >>= 1)
                sum += after(sum, reach);
            if (has && (lane & (width - 1)) == 0) {
                local sums_t *to = 0;
                if (back) {
                    if (its_begin < first && s > 0)
                        to = &parts[bunch][s];
                    else
                        for (uint t = s + 1; t < steps && its_end > start + t * BSTEP; ++t)
                            sum += parts[bunch][t];
                } else {
                    if (its == lo && s > 0)
                        sum += parts[bunch][s & 1];
                    if (its == hi && s + 1 < steps)
                        to = &parts[bunch][(s + 1) & 1];
                }
                if (!to && its == last_row)
                    to = &carries[bunch];
                if (!to && its == first_row && first_cut)
                    to = &leads[bunch];
                if (to)
                    *to = sum;
                else {
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
        WARP_BARRIER();
        near = back ? lo : hi;
    }
#else
    for (uint first = start; first < end; first += BSTEP) {
        const uint stop = min(first + BSTEP, end);
#pragma unroll
        for (uint turn = 0; turn < K; ++turn)
            mine[PAD(turn * 32 + lane)] = vals_of[turn] * staged_x[cols_of[turn]];
        LOAD_STEP(first + BSTEP);
        WARP_BARRIER();
        const uint open = first + BSTEP < end ? row_open(begins, row, last_row, stop) : last_row;
        const uint beyond = min(open + 1, rows);
        const uint width = width_of(open - row + 1);
        const uint log_width = 31 - clz(width);
        for (uint done = row; done < beyond; done += 32 >> log_width) {
            const uint its = done + (lane >> log_width);
            const int has = its < beyond;
            const uint from = has ? max(begins[its], first) - first : 0;
            const uint past = has ? min(begins[its + 1], stop) - first : 0;
            sums_t sum = SUMS_ZERO;
            for (uint at = from + (lane & (width - 1)); at < past; at += width)
                sum += mine[PAD(at)];
            for (uint reach = width >> 1; reach > 0; reach >>= 1)
                sum += after(sum, reach);
            if (has && (lane & (width - 1)) == 0) {
                if (its == row)
                    sum += carried[parity ^ 1][bunch];
                if (its == open)
                    carried[parity][bunch] = sum;
                else if (its == first_row && first_cut)
                    leads[bunch] = sum;
                else {
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
        WARP_BARRIER();
        row = open;
        parity ^= 1;
    }
    if (lane == 0)
        carries[bunch] = carried[parity ^ 1][bunch];
#endif
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lane == 0 && first_row < last_row && first_cut) {
        const uint its_start = begins[first_row];
        uint other = bunch - 1;
        while (its_start < BORDER(other))
            --other;
        sums_t sum = SUMS_ZERO;
        for (; other < bunch; ++other)
            sum += carries[other];
        sum += leads[bunch];
#if SETS == 2
        store_result(y, first_row, alpha, sum.x, beta);
        if (has_second)
            store_result(y2, first_row, alpha, sum.y, beta);
#else
        store_result(y, first_row, alpha, sum, beta);
#endif
    }
}
