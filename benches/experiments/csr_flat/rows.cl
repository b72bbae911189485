// A staged in local memory, rows summed in registers. BUNCH == GROUP or 32.
#define UNITS (GROUP / BUNCH)
#define TRIPS (NNZ / BUNCH)
#define CAP (NNZ + LONG)
#if BUNCH == 32
#define BAR() asm volatile("bar.warp.sync 0xffffffff;" ::: "memory")
#else
#define BAR() barrier(CLK_LOCAL_MEM_FENCE)
#endif
#ifndef PER
#define PER 1
#endif
#ifndef BATCH
#define BATCH TRIPS
#endif
__attribute__((reqd_work_group_size(GROUP, 1, 1)))
kernel void spmv(uint rows, uint nnz, uint pieces, global const uint *restrict o, global const uint *restrict cols, global const real *restrict vals,
                 global const real *restrict x, global real *restrict y, global const uint *restrict starts,
                 volatile global uint *carries, volatile global uint *counters)
{
#ifdef STAGE
    local real v_all[UNITS * CAP] __attribute__((aligned(16)));
    local uint c_all[UNITS * CAP] __attribute__((aligned(16)));
#else
    local real v_all[UNITS * CAP] __attribute__((aligned(16)));
#endif
    local int flag_all[UNITS * 2];
    const uint lane = get_local_id(0) & (BUNCH - 1);
    const uint unit = get_local_id(0) / BUNCH;
    const uint p = get_group_id(0) * UNITS + unit;
#if UNITS > 1
    if (p >= pieces) return;
#endif
    local real *v_l = v_all + unit * CAP;
#ifdef STAGE
    local uint *c_l = c_all + unit * CAP;
#endif
    const uint s = starts[p], e = starts[p + 1];
    const uint os = o[s], oe = o[e];
    const int cut_start = os < p * NNZ;
    const uint begin = cut_start ? p * NNZ : os;
    const uint limit = (p + 1) * NNZ;
    const int cut_end = oe < limit && e < rows;
    const uint end = cut_end ? limit : oe;
    const uint n = end > begin ? end - begin : 0;
    const uint slots = e - s + (cut_end ? 1 : 0);
    uint lg = 0;
    while ((slots << (lg + 1)) <= BUNCH * PER && lg < MAXLG) ++lg;
    const uint T = 1u << lg;
    uint slot = lane >> lg;
    uint lo = 0, hi = 0;
    if (slot < slots) { lo = o[s + slot]; hi = o[s + slot + 1]; }
    const uint top = nnz - 1;
#ifdef VEC
    // 16-byte loads: V consecutive; begin aligned down
#ifdef F32
#define V 4
    typedef uint4 cv; typedef float4 vv;
#else
#define V 2
    typedef uint2 cv; typedef double2 vv;
#endif
    const uint abegin = begin & ~(uint)(V - 1);
    const uint shift = begin - abegin;
    {
        cv c[NNZ / BUNCH / V]; vv v[NNZ / BUNCH / V];
        const uint topv = top / V;
#pragma unroll
        for (uint k = 0; k < NNZ / BUNCH / V; ++k) c[k] = ((global const cv *)cols)[min(abegin / V + k * BUNCH + lane, topv)];
#pragma unroll
        for (uint k = 0; k < NNZ / BUNCH / V; ++k) v[k] = ((global const vv *)vals)[min(abegin / V + k * BUNCH + lane, topv)];
#ifdef STAGE
#pragma unroll
        for (uint k = 0; k < NNZ / BUNCH / V; ++k) { ((local cv *)c_l)[k * BUNCH + lane] = c[k]; ((local vv *)v_l)[k * BUNCH + lane] = v[k]; }
#else
#pragma unroll
        for (uint k = 0; k < NNZ / BUNCH / V; ++k) {
#ifdef F32
            v[k].x *= x[c[k].x]; v[k].y *= x[c[k].y]; v[k].z *= x[c[k].z]; v[k].w *= x[c[k].w];
#else
            v[k].x *= x[c[k].x]; v[k].y *= x[c[k].y];
#endif
        }
#pragma unroll
        for (uint k = 0; k < NNZ / BUNCH / V; ++k) ((local vv *)v_l)[k * BUNCH + lane] = v[k];
#endif
    }
    const uint filled = NNZ;
    const uint from = abegin;
#else
    {
        for (uint b = 0; b < TRIPS; b += BATCH) {
        uint c[BATCH]; real v[BATCH];
#pragma unroll
        for (uint k = 0; k < BATCH; ++k) { const uint at = min(begin + (b + k) * BUNCH + lane, top); c[k] = cols[at]; }
#pragma unroll
        for (uint k = 0; k < BATCH; ++k) { const uint at = min(begin + (b + k) * BUNCH + lane, top); v[k] = vals[at]; }
#ifdef STAGE
#pragma unroll
        for (uint k = 0; k < BATCH; ++k) { c_l[(b + k) * BUNCH + lane] = c[k]; v_l[(b + k) * BUNCH + lane] = v[k]; }
#else
#pragma unroll
        for (uint k = 0; k < BATCH; ++k) v[k] *= x[c[k]];
#pragma unroll
        for (uint k = 0; k < BATCH; ++k) v_l[(b + k) * BUNCH + lane] = v[k];
#endif
        }
    }
    const uint from = begin;
#endif
    for (uint at = NNZ + lane; at < end - from && end > from; at += BUNCH)
#ifdef STAGE
        { c_l[at] = cols[from + at]; v_l[at] = vals[from + at]; }
#else
        v_l[at] = vals[from + at] * x[cols[from + at]];
#endif
    BAR();
    for (;;) {
        real sum = 0;
        if (slot < slots) {
            const uint a = max(lo, begin) - from, b = min(hi, end) - from;
            uint k = a + (lane & (T - 1));
            for (; k + 3 * T < b; k += 4 * T) {
#ifdef STAGE
                const uint c0 = c_l[k], c1 = c_l[k + T], c2 = c_l[k + 2 * T], c3 = c_l[k + 3 * T];
                const real x0 = x[c0], x1 = x[c1], x2 = x[c2], x3 = x[c3];
                sum = fma(v_l[k], x0, sum); sum = fma(v_l[k + T], x1, sum); sum = fma(v_l[k + 2 * T], x2, sum); sum = fma(v_l[k + 3 * T], x3, sum);
#else
                const real x0 = v_l[k], x1 = v_l[k + T], x2 = v_l[k + 2 * T], x3 = v_l[k + 3 * T];
                sum += x0; sum += x1; sum += x2; sum += x3;
#endif
            }
            for (; k < b; k += T)
#ifdef STAGE
                sum = fma(v_l[k], x[c_l[k]], sum);
#else
                sum += v_l[k];
#endif
        }
        for (uint d = min(T, 32u) >> 1; d > 0; d >>= 1) sum += SHFL(sum, d);
#if BUNCH > 32
        if (T > 32) {
            BAR();
            if ((lane & 31) == 0) v_l[lane >> 5] = sum;
            BAR();
            if ((lane & (T - 1)) == 0) for (uint d = 1; d < T / 32; ++d) sum += v_l[(lane >> 5) + d];
            BAR();
        }
#endif
        if (slot < slots && (lane & (T - 1)) == 0) {
            const int is_cut_start = slot == 0 && cut_start, is_cut_end = slot == slots - 1 && cut_end;
            if (!is_cut_start && !is_cut_end) y[s + slot] = sum;
            else {
                const uint q = lo / NNZ, f = (hi - 1) / NNZ;
                const uint proof = publish(carries, 2 * p + is_cut_start, sum);
                flag_all[unit * 2 + is_cut_start] = last(counters + q, f - q + 1, proof);
            }
        }
        slot += BUNCH >> lg;
        if (slot - (lane >> lg) >= slots) break;
        if (slot < slots) { lo = o[s + slot]; hi = o[s + slot + 1]; }
    }
    for (int which = 0; which < 2; ++which) {
        // 1: the row that comes in, 0: the one that goes out (a row that does both comes in)
        if (which == 0 ? !(cut_end && !(cut_start && slots == 1)) : !cut_start) continue;
        BAR();
        if (!flag_all[unit * 2 + which]) continue;
        const uint row = which ? s : e;
        const uint q = o[row] / NNZ, f = (o[row + 1] - 1) / NNZ;
        real total = 0;
        for (uint t = q + lane; t <= f; t += BUNCH) total += readc(carries, 2 * t + (t == q ? 0 : 1));
        for (uint d = 16; d > 0; d >>= 1) total += SHFL(total, d);
#if BUNCH > 32
        BAR();
        if ((lane & 31) == 0) v_l[lane >> 5] = total;
        BAR();
        if (lane == 0) for (uint d = 1; d < BUNCH / 32; ++d) total += v_l[d];
#endif
        if (lane == 0) y[row] = total;
    }
}
