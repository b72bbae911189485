#ifdef F32
typedef float real; typedef uint word_t;
#define WORDS 1
#define SHFL(v, d) shfl_f32(v, d)
#else
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
typedef double real;
#define WORDS 2
#define SHFL(v, d) shfl_f64(v, d)
#endif
inline uint shfl_u(uint v, uint d) { uint r; asm volatile("shfl.sync.down.b32 %0, %1, %2, 31, 0xffffffff;" : "=r"(r) : "r"(v), "r"(d)); return r; }
inline float shfl_f32(float v, uint d) { return as_float(shfl_u(as_uint(v), d)); }
#ifndef F32
inline double shfl_f64(double v, uint d) { uint2 w = as_uint2(v); w.x = shfl_u(w.x, d); w.y = shfl_u(w.y, d); return as_double(w); }
#endif
typedef union { real r; uint w[WORDS]; } cw;
inline uint publish(volatile global uint *c, uint slot, real v) { cw u; u.r = v; uint b = 0; for (int i = 0; i < WORDS; ++i) b |= atomic_xchg(c + slot * WORDS + i, u.w[i]); return b; }
inline real readc(volatile global uint *c, uint slot) { cw u; for (int i = 0; i < WORDS; ++i) u.w[i] = atomic_or(c + slot * WORDS + i, 0u); return u.r; }
inline int last(volatile global uint *cnt, uint n, uint proof) {
    asm volatile("membar.gl;" ::: "memory");
    uint a = atomic_add(cnt, 1 + (proof & 0u)) + 1;
    asm volatile("membar.gl;" ::: "memory");
    if (a == n) atomic_xchg(cnt, 0u);
    return a == n;
}
// first row r with offsets[r] >= at
inline uint lower(global const uint *o, uint rows, uint at) {
    uint lo = 0, hi = rows;
    while (lo < hi) { uint m = (lo + hi) / 2; if (o[m] >= at) hi = m; else lo = m + 1; }
    return lo;
}

kernel void plan(uint rows, uint nnz, uint pieces, global const uint *o, global uint2 *starts) {
    uint p = get_global_id(0);
    if (p > pieces) return;
    uint at = p * NNZ;
    uint2 entry = (uint2)(0, 0);
    if (p == pieces) entry = (uint2)(rows, nnz);
    else if (p > 0) {
        uint r = lower(o, rows, at);
        if (o[r] != at && o[r] - o[r - 1] > LONG) entry = (uint2)((r - 1) | 0x80000000u, at);
        else entry = (uint2)(r, o[r]);
    }
    starts[p] = entry;
}
#define BAR() barrier(CLK_LOCAL_MEM_FENCE)
#define CAP (NNZ + LONG)
#ifndef ROUNDS
#define ROUNDS 2
#endif
#ifndef HEAVY
#define HEAVY 64
#endif
#define MAXHEAVY ((NNZ + LONG) / HEAVY + 1)
#ifndef V
#ifdef F32
#define V 4
#else
#define V 2
#endif
#endif
#define TRIPS (NNZ / GROUP / V)
#ifdef CG
#define Q "ld.global.cg"
#elif defined(NOALLOC)
#define Q "ld.global.nc.L1::no_allocate"
#else
#define Q "ld.global.nc"
#endif
#ifdef HINT
#define H ".L2::128B"
#else
#define H ""
#endif
typedef struct { uint c[V]; real v[V]; } bunch;
inline uint4 ld4(global const void *p) { uint4 v; asm volatile(Q H ".v4.u32 {%0,%1,%2,%3}, [%4];" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(p)); return v; }
inline uint2 ld2(global const void *p) { uint2 v; asm volatile(Q H ".v2.u32 {%0,%1}, [%2];" : "=r"(v.x), "=r"(v.y) : "l"(p)); return v; }
inline uint ld1(global const void *p) { uint v; asm volatile(Q H ".u32 %0, [%1];" : "=r"(v) : "l"(p)); return v; }
inline void load_c(uint *c, global const uint *p) {
#if V == 4
    const uint4 w = ld4(p); c[0] = w.x; c[1] = w.y; c[2] = w.z; c[3] = w.w;
#elif V == 2
    const uint2 w = ld2(p); c[0] = w.x; c[1] = w.y;
#elif defined(PLAIN)
    c[0] = *p;
#else
    c[0] = ld1(p);
#endif
}
inline void load_v(real *v, global const real *p) {
#ifdef F32
#if V == 4
    const float4 w = as_float4(ld4(p)); v[0] = w.x; v[1] = w.y; v[2] = w.z; v[3] = w.w;
#elif V == 2
    const float2 w = as_float2(ld2(p)); v[0] = w.x; v[1] = w.y;
#elif defined(PLAIN)
    v[0] = *p;
#else
    v[0] = as_float(ld1(p));
#endif
#else
#if V == 4
    const double2 w = as_double2(ld4(p)), w2 = as_double2(ld4(p + 2)); v[0] = w.x; v[1] = w.y; v[2] = w2.x; v[3] = w2.y;
#elif V == 2
    const double2 w = as_double2(ld4(p)); v[0] = w.x; v[1] = w.y;
#elif defined(PLAIN)
    v[0] = *p;
#else
    v[0] = as_double(ld2(p));
#endif
#endif
}
#ifdef W64
#define LOAD_PIECE(base) \
    _Pragma("unroll") for (uint k = 0; k < TRIPS; ++k) load_c(a[k].c, cols + min((ulong)(base) + (k * GROUP + lane) * V, (ulong)topv)); \
    _Pragma("unroll") for (uint k = 0; k < TRIPS; ++k) load_v(a[k].v, vals + min((ulong)(base) + (k * GROUP + lane) * V, (ulong)topv));
#else
#define LOAD_PIECE(base) \
    _Pragma("unroll") for (uint k = 0; k < TRIPS; ++k) load_c(a[k].c, cols + min((base) + (k * GROUP + lane) * V, topv)); \
    _Pragma("unroll") for (uint k = 0; k < TRIPS; ++k) load_v(a[k].v, vals + min((base) + (k * GROUP + lane) * V, topv));
#endif
#ifndef NOREQD
__attribute__((reqd_work_group_size(GROUP, 1, 1)))
#endif
kernel void spmv(uint rows, uint nnz, uint pieces, global const uint *restrict o, global const uint *restrict cols, global const real *restrict vals,
                 global const real *restrict x, global real *restrict y, global const uint2 *restrict starts,
                 volatile global uint *carries, volatile global uint *counters)
{
    local real prod[CAP] __attribute__((aligned(16)));
    local int flag[2];
    local real sums[GROUP / 32];
    local uint heavy_count;
    local uint heavy_list[MAXHEAVY];
    const uint lane = get_local_id(0);
    const uint topv = (nnz - 1) / V * V;
    bunch a[TRIPS];
    uint p = get_group_id(0);
    { const uint base = p * NNZ; LOAD_PIECE(base) }
    uint2 mine = starts[p], next = starts[p + 1];
#ifdef PERSIST
    for (;;) {
#endif
    const uint base = p * NNZ;
    const uint s = mine.x & 0x7fffffffu, e = next.x & 0x7fffffffu;
    const int cut_start = mine.x >> 31, cut_end = next.x >> 31;
    const uint begin = mine.y, end = next.y;
    const uint slots = e - s + (cut_end ? 1 : 0);
    uint lg = 0;
#ifdef ROUNDUP
    while ((slots << lg) < GROUP && lg < MAXLG) ++lg;
#else
    while ((slots << (lg + 1)) <= GROUP && lg < MAXLG) ++lg;
#endif
    const uint T = 1u << lg;
    const uint step = GROUP >> lg;
    uint slot = lane >> lg;
    uint los[ROUNDS], his[ROUNDS];
#pragma unroll
    for (uint r = 0; r < ROUNDS; ++r) { const uint j = min(slot + r * step, slots); los[r] = o[min(s + j, rows)]; his[r] = o[min(s + j + 1, rows)]; }
    const uint tail_at = base + NNZ + lane;
    const int has_tail = tail_at < end;
    uint tc = 0; real tv = 0;
#ifndef LATETAIL
    if (has_tail) { tc = cols[tail_at]; tv = vals[tail_at]; }
#endif
    if (lane == 0) heavy_count = 0;
#pragma unroll
    for (uint k = 0; k < TRIPS; ++k)
#pragma unroll
        for (uint j = 0; j < V; ++j) a[k].v[j] *= x[a[k].c[j]];
#ifdef LATETAIL
    if (has_tail) { tc = cols[tail_at]; tv = vals[tail_at]; }
#endif
#pragma unroll
    for (uint k = 0; k < TRIPS; ++k)
#ifdef F32
#if V == 4
        ((local float4 *)prod)[k * GROUP + lane] = (float4)(a[k].v[0], a[k].v[1], a[k].v[2], a[k].v[3]);
#elif V == 2
        ((local float2 *)prod)[k * GROUP + lane] = (float2)(a[k].v[0], a[k].v[1]);
#else
        prod[k * GROUP + lane] = a[k].v[0];
#endif
#else
#if V == 4
        { ((local double2 *)prod)[(k * GROUP + lane) * 2] = (double2)(a[k].v[0], a[k].v[1]); ((local double2 *)prod)[(k * GROUP + lane) * 2 + 1] = (double2)(a[k].v[2], a[k].v[3]); }
#elif V == 2
        ((local double2 *)prod)[k * GROUP + lane] = (double2)(a[k].v[0], a[k].v[1]);
#else
        prod[k * GROUP + lane] = a[k].v[0];
#endif
#endif
    if (has_tail) prod[NNZ + lane] = tv * x[tc];
    if (LONG > GROUP) for (uint at = tail_at + GROUP; at < end; at += GROUP) prod[at - base] = vals[at] * x[cols[at]];
#ifdef PERSIST
    const uint p_next = p + get_num_groups(0);
    const int more = p_next < pieces;
    if (more) { LOAD_PIECE(p_next * NNZ) mine = starts[p_next]; next = starts[p_next + 1]; }
#endif
    BAR();
#ifdef NOUNROLL
#define UNR
#else
#define UNR for (; k + 3 * T < b; k += 4 * T) { \
                const real x0 = prod[k], x1 = prod[k + T], x2 = prod[k + 2 * T], x3 = prod[k + 3 * T]; \
                sum += x0; sum += x1; sum += x2; sum += x3; \
            }
#endif
#define ROUND(lo_, hi_) \
    { \
        const uint lo = lo_, hi = hi_; \
        const int heavy = slot < slots && T < 32 && hi - lo > HEAVY * T; \
        real sum = 0; \
        if (slot < slots && !heavy) { \
            const uint k0 = max(lo, base) - base, b = min(hi, end) - base; \
            uint k = k0 + (lane & (T - 1)); \
            UNR \
            for (; k < b; k += T) sum += prod[k]; \
        } \
        for (uint d = min(T, 32u) >> 1; d > 0; d >>= 1) sum += SHFL(sum, d); \
        if (MAXLG > 5 && T > 32) { \
            if ((lane & 31) == 0) sums[lane >> 5] = sum; \
            BAR(); \
            if ((lane & (T - 1)) == 0) for (uint d = 1; d < T / 32; ++d) sum += sums[(lane >> 5) + d]; \
        } \
        if (slot < slots && (lane & (T - 1)) == 0) { \
            if (heavy) heavy_list[atomic_inc(&heavy_count)] = slot; \
            else finish_row(slot, lo, hi, sum); \
        } \
    }
#define finish_row(slot, lo, hi, sum) \
        { \
            const int is_cut_start = slot == 0 && cut_start, is_cut_end = slot == slots - 1 && cut_end; \
            if (!is_cut_start && !is_cut_end) y[s + slot] = sum; \
            else { \
                const uint q = lo / NNZ, f = (hi - 1) / NNZ; \
                const uint proof = publish(carries, 2 * p + is_cut_start, sum); \
                flag[is_cut_start] = last(counters + q, f - q + 1, proof); \
            } \
        }
#pragma unroll
    for (uint r = 0; r < ROUNDS; ++r) {
        if (r * step < slots) ROUND(los[r], his[r])
        slot += step;
    }
    while (slot - (lane >> lg) < slots) {
        const uint j = min(slot, slots - 1);
        const uint lo1 = o[s + j], hi1 = o[s + j + 1];
        ROUND(lo1, hi1)
        slot += step;
    }
    BAR();
    for (uint h = lane >> 5; h < heavy_count; h += GROUP / 32) {
        const uint slot = heavy_list[h];
        const uint lo = o[s + slot], hi = o[s + slot + 1];
        const uint k0 = max(lo, base) - base, b = min(hi, end) - base;
        real sum = 0;
        for (uint k = k0 + (lane & 31); k < b; k += 32) sum += prod[k];
        for (uint d = 16; d > 0; d >>= 1) sum += SHFL(sum, d);
        if ((lane & 31) == 0) finish_row(slot, lo, hi, sum)
    }
    for (int which = 0; which < 2; ++which) {
        if (which == 0 ? !(cut_end && !(cut_start && slots == 1)) : !cut_start) continue;
        BAR();
        if (flag[which]) {
        const uint row = which ? s : e;
        const uint q = o[row] / NNZ, f = (o[row + 1] - 1) / NNZ;
        real total = 0;
        for (uint t = q + lane; t <= f; t += GROUP) total += readc(carries, 2 * t + (t == q ? 0 : 1));
        for (uint d = 16; d > 0; d >>= 1) total += SHFL(total, d);
        BAR();
        if ((lane & 31) == 0) sums[lane >> 5] = total;
        BAR();
        if (lane == 0) { for (uint d = 1; d < GROUP / 32; ++d) total += sums[d]; y[row] = total; }
        }
    }
#ifdef PERSIST
    if (!more) break;
    p = p_next;
    BAR();
    }
#endif
}
