#ifdef F64
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
typedef double real;
#else
typedef float real;
#endif
#if BITS == 16
typedef ushort col_t;
#else
typedef uint col_t;
#endif
inline uint shfl_u(uint v, uint d) { uint r; asm volatile("shfl.sync.down.b32 %0, %1, %2, 31, 0xffffffff;" : "=r"(r) : "r"(v), "r"(d)); return r; }
#ifdef F64
inline real SHFL(real v, uint d) { uint2 w = as_uint2(v); w.x = shfl_u(w.x, d); w.y = shfl_u(w.y, d); return as_double(w); }
#else
inline real SHFL(real v, uint d) { return as_float(shfl_u(as_uint(v), d)); }
#endif
typedef union { uint w[8]; real r[4]; col_t c[8]; } pack_t;
#define Q "ld.global.nc.L1::no_allocate"
inline void ldw(uint *w, global const void *p, const int words) {
    if (words == 1) { asm volatile(Q ".u32 %0, [%1];" : "=r"(w[0]) : "l"(p)); }
    else if (words == 2) { asm volatile(Q ".v2.u32 {%0,%1}, [%2];" : "=r"(w[0]), "=r"(w[1]) : "l"(p)); }
    else { asm volatile(Q ".v4.u32 {%0,%1,%2,%3}, [%4];" : "=r"(w[0]), "=r"(w[1]), "=r"(w[2]), "=r"(w[3]) : "l"(p)); if (words == 8) ldw(w + 4, (global const char *)p + 16, 4); }
}
inline void ldcols(col_t *c, global const col_t *p) {
#if BITS == 16 && P == 1
    asm volatile(Q ".u16 %0, [%1];" : "=h"(c[0]) : "l"(p));
#else
    pack_t t; ldw(t.w, p, P * BITS / 32);
    for (int i = 0; i < P; ++i) c[i] = t.c[i];
#endif
}
inline void ldvals(real *v, global const real *p) {
    pack_t t; ldw(t.w, p, P * sizeof(real) / 4);
    for (int i = 0; i < P; ++i) v[i] = t.r[i];
}
#define R (32 / T)
kernel void spmv(uint rows, uint slices, global const uint *restrict o, global const uint *restrict perm, global const uint *restrict starts, global const uint *restrict bases,
                 global const col_t *restrict cols, global const real *restrict vals, global const real *restrict x, global real *restrict y)
{
    const uint slice = get_global_id(0) / 32, lane = get_global_id(0) & 31;
    if (slice >= slices) return;
    const uint start = starts[slice], steps = starts[slice + 1] - start;
    global const col_t *c = cols + (ulong)start * 32 + lane * P;
    global const real *v = vals + (ulong)start * 32 + lane * P;
    global const real *xb = x + bases[slice];
    const uint at = slice * R + lane / T;
    uint row = at < rows ? 
#ifdef SORTED
        perm[at]
#else
        at
#endif
        : 0xffffffffu;
    uint len = 0;
    if (row < rows) { const uint n = o[row + 1] - o[row]; len = (n + T - 1 - (lane & (T - 1))) / T; }
    real sum = 0;
    uint k = 0;
    for (; k + U * P <= steps; k += U * P) {
        col_t cc[U * P]; real vv[U * P];
#pragma unroll
        for (uint u = 0; u < U; ++u) ldcols(cc + u * P, c + (k + u * P) * 32);
#pragma unroll
        for (uint u = 0; u < U; ++u) ldvals(vv + u * P, v + (k + u * P) * 32);
        real xx[U * P];
#pragma unroll
        for (uint u = 0; u < U * P; ++u) xx[u] = xb[cc[u]];
#pragma unroll
        for (uint u = 0; u < U * P; ++u) if (k + u < len) sum = fma(vv[u], xx[u], sum);
    }
    for (; k < steps; k += P) {
        col_t cc[P]; real vv[P];
        ldcols(cc, c + k * 32); ldvals(vv, v + k * 32);
#pragma unroll
        for (uint u = 0; u < P; ++u) { const real xv = xb[cc[u]]; if (k + u < len) sum = fma(vv[u], xv, sum); }
    }
    for (uint d = T / 2; d > 0; d >>= 1) sum += SHFL(sum, d);
    if (row < rows && (lane & (T - 1)) == 0) y[row] = sum;
}
kernel void plan(uint rows) {}
