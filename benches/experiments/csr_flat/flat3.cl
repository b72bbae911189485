#define BAR() barrier(CLK_LOCAL_MEM_FENCE)
#define CAP (NNZ + GROUP)
#ifndef ROUNDS
#define ROUNDS 2
#endif
#ifndef HEAVY
#define HEAVY 64
#endif
#define MAXHEAVY ((NNZ + GROUP) / HEAVY + 1)
#ifdef F32
#define V 4
typedef uint4 cv; typedef float4 vv;
#else
#define V 2
typedef uint2 cv; typedef double2 vv;
#endif
#define TRIPS (NNZ / GROUP / V)
#ifndef L2H
#define L2H
#endif
#ifdef NOALLOC
inline uint4 ldc4(global const uint4 *p) { uint4 v; asm volatile("ld.global.nc.L1::no_allocate"L2H".v4.u32 {%0,%1,%2,%3}, [%4];" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(p)); return v; }
inline uint2 ldc2(global const uint2 *p) { uint2 v; asm volatile("ld.global.nc.L1::no_allocate"L2H".v2.u32 {%0,%1}, [%2];" : "=r"(v.x), "=r"(v.y) : "l"(p)); return v; }
#ifdef F32
#define LDC(p) ldc4(p)
inline float4 LDV(global const float4 *p) { return as_float4(ldc4((global const uint4 *)p)); }
#else
#define LDC(p) ldc2(p)
inline double2 LDV(global const double2 *p) { return as_double2(ldc4((global const uint4 *)p)); }
#endif
#else
#define LDC(p) (*(p))
#define LDV(p) (*(p))
#endif
__attribute__((reqd_work_group_size(GROUP, 1, 1)))
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
    const uint p = get_group_id(0);
    const uint base = p * NNZ;
    // issue the stream at once
    cv c[TRIPS]; vv v[TRIPS];
    const uint topv = (nnz - 1) / V;
#pragma unroll
    for (uint k = 0; k < TRIPS; ++k) c[k] = LDC((global const cv *)cols + min(base / V + k * GROUP + lane, topv));
#pragma unroll
    for (uint k = 0; k < TRIPS; ++k) v[k] = LDV((global const vv *)vals + min(base / V + k * GROUP + lane, topv));
    const uint2 mine = starts[p], next = starts[p + 1];
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
    if (has_tail) { tc = cols[tail_at]; tv = vals[tail_at]; }
    if (lane == 0) heavy_count = 0;
#pragma unroll
    for (uint k = 0; k < TRIPS; ++k) {
#ifdef F32
        v[k].x *= x[c[k].x]; v[k].y *= x[c[k].y]; v[k].z *= x[c[k].z]; v[k].w *= x[c[k].w];
#else
        v[k].x *= x[c[k].x]; v[k].y *= x[c[k].y];
#endif
    }
    if (has_tail) prod[NNZ + lane] = tv * x[tc];
#pragma unroll
    for (uint k = 0; k < TRIPS; ++k) ((local vv *)prod)[k * GROUP + lane] = v[k];
    BAR();
#define ROUND(lo_, hi_) \
    { \
        const uint lo = lo_, hi = hi_; \
        const int heavy = slot < slots && T < 32 && hi - lo > HEAVY * T; \
        real sum = 0; \
        if (slot < slots && !heavy) { \
            const uint a = max(lo, base) - base, b = min(hi, end) - base; \
            uint k = a + (lane & (T - 1)); \
            for (; k + 3 * T < b; k += 4 * T) { \
                const real x0 = prod[k], x1 = prod[k + T], x2 = prod[k + 2 * T], x3 = prod[k + 3 * T]; \
                sum += x0; sum += x1; sum += x2; sum += x3; \
            } \
            for (; k < b; k += T) sum += prod[k]; \
        } \
        for (uint d = min(T, 32u) >> 1; d > 0; d >>= 1) sum += SHFL(sum, d); \
        if (T > 32) { \
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
        const uint a = max(lo, base) - base, b = min(hi, end) - base;
        real sum = 0;
        for (uint k = a + (lane & 31); k < b; k += 32) sum += prod[k];
        for (uint d = 16; d > 0; d >>= 1) sum += SHFL(sum, d);
        if ((lane & 31) == 0) finish_row(slot, lo, hi, sum)
    }
    for (int which = 0; which < 2; ++which) {
        if (which == 0 ? !(cut_end && !(cut_start && slots == 1)) : !cut_start) continue;
        BAR();
        if (!flag[which]) continue;
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
