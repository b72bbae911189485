// BUNCH items a piece of NNZ
#define UNITS (GROUP / BUNCH)
#define TRIPS (NNZ / BUNCH)
#define CAP (NNZ + LONG)
#if BUNCH == 32
#define BAR() asm volatile("bar.warp.sync 0xffffffff;" ::: "memory")
#else
#define BAR() barrier(CLK_LOCAL_MEM_FENCE)
#endif
#ifdef NOALLOC
inline uint ldc(global const uint *p) { uint v; asm volatile("ld.global.nc.L1::no_allocate.u32 %0, [%1];" : "=r"(v) : "l"(p)); return v; }
#ifdef F32
inline float ldv(global const float *p) { float v; asm volatile("ld.global.nc.L1::no_allocate.f32 %0, [%1];" : "=f"(v) : "l"(p)); return v; }
#else
inline double ldv(global const double *p) { double v; asm volatile("ld.global.nc.L1::no_allocate.f64 %0, [%1];" : "=d"(v) : "l"(p)); return v; }
#endif
#else
#define ldc(p) (*(p))
#define ldv(p) (*(p))
#endif
__attribute__((reqd_work_group_size(GROUP, 1, 1)))
kernel void spmv(uint rows, uint nnz, uint pieces, global const uint *restrict o, global const uint *restrict cols, global const real *restrict vals,
                 global const real *restrict x, global real *restrict y, global const uint *restrict starts,
                 volatile global uint *carries, volatile global uint *counters)
{
    local real prod_all[UNITS * CAP];
    const uint lane = get_local_id(0) & (BUNCH - 1);
    const uint unit = get_local_id(0) / BUNCH;
    const uint p = get_group_id(0) * UNITS + unit;
#if UNITS > 1
    if (p >= pieces) return;
#endif
    local real *prod = prod_all + unit * CAP;
    const uint s = starts[p], e = starts[p + 1];
    const uint os = o[s], oe = o[e];
    const uint begin = os < p * NNZ ? p * NNZ : os;   // cut at the start
    const int cut_start = os < p * NNZ;
    const uint limit = (p + 1) * NNZ;
    const int cut_end = oe < limit && e < rows;
    const uint end = cut_end ? limit : oe;
    const uint n = end > begin ? end - begin : 0;
    const uint slots = e - s + (cut_end ? 1 : 0);
    // lanes a row
    uint lg = 0;
    while ((slots << (lg + 1)) <= BUNCH) ++lg;
    if (slots == 0) lg = 0;
    const uint T = 1u << lg;
    uint slot = lane >> lg;
    uint lo = 0, hi = 0;
    if (slot < slots) { lo = o[s + slot]; hi = o[s + slot + 1]; }
    {
        uint c[TRIPS]; real v[TRIPS];
        const uint top = nnz - 1;
#pragma unroll
        for (uint k = 0; k < TRIPS; ++k) { const uint at = min(begin + k * BUNCH + lane, top); c[k] = ldc(cols + at); }
#pragma unroll
        for (uint k = 0; k < TRIPS; ++k) { const uint at = min(begin + k * BUNCH + lane, top); v[k] = ldv(vals + at); }
#pragma unroll
        for (uint k = 0; k < TRIPS; ++k) v[k] *= x[c[k]];
#pragma unroll
        for (uint k = 0; k < TRIPS; ++k) prod[k * BUNCH + lane] = v[k];
    }
    for (uint at = NNZ + lane; at < n; at += BUNCH) prod[at] = vals[begin + at] * x[cols[begin + at]];
    BAR();
    for (;;) {
        real sum = 0;
        const uint a = max(lo, begin) - begin, b = min(hi, end) - begin;
        if (slot < slots)
            for (uint k = a + (lane & (T - 1)); k < b; k += T) sum += prod[k];
#if BUNCH == 32
        for (uint d = T >> 1; d > 0; d >>= 1) sum += SHFL(sum, d);
#else
        if (T > 32) {
            // rare: few long rows in a big bunch
            for (uint d = 16; d > 0; d >>= 1) sum += SHFL(sum, d);
            BAR();
            if ((lane & 31) == 0) prod[lane >> 5] = sum;
            BAR();
            if ((lane & (T - 1)) == 0) for (uint d = 1; d < T / 32; ++d) sum += prod[(lane >> 5) + d];
        } else
            for (uint d = T >> 1; d > 0; d >>= 1) sum += SHFL(sum, d);
#endif
        if (slot < slots && (lane & (T - 1)) == 0) {
            const int is_cut = (slot == 0 && cut_start) || (slot == slots - 1 && cut_end);
            const uint row = s + slot;
            if (!is_cut) y[row] = sum;
            else {
                const uint q = lo / NNZ, f = (hi - 1) / NNZ;
                // slot of the carry: the piece, second half for rows that leave it
                const uint mine = 2 * p + (lo < p * NNZ ? 0 : 1);
                const uint proof = publish(carries, mine, sum);
                if (last(counters + q, f - q + 1, proof)) {
                    real total = 0;
                    for (uint t = q; t <= f; ++t) total += readc(carries, 2 * t + (t == q ? 1 : 0));
                    y[row] = total;
                }
            }
        }
        if (slots <= BUNCH) break;
        slot += BUNCH;
        if (slot - lane >= slots) break;
        if (slot < slots) { lo = o[s + slot]; hi = o[s + slot + 1]; } else lo = hi = begin;
    }
}
