// Float atomics. To be included only where they are used: f64 needs an extension that not every device has.
#ifndef ITEM_ATOMIC_H
#define ITEM_ATOMIC_H

#include "item/scalar.h"

// Adds to y[at] by compare and exchange, as OpenCL C 1.2 has no float atomics.
void atomic_add_real(global real_t *y, const ulong at, const real_t summand)
{
#ifdef VALUE_F64
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
    volatile global ulong *word = (volatile global ulong *)(y + at);
    ulong seen = atom_add(word, 0ul);
    ulong before;
    do {
        before = seen;
        seen = atom_cmpxchg(word, before, as_ulong(as_double(before) + summand));
    } while (seen != before);
#else
    volatile global uint *word = (volatile global uint *)(y + at);
    uint seen = atomic_or(word, 0u);
    uint before;
    do {
        before = seen;
        seen = atomic_cmpxchg(word, before, as_uint(as_float(before) + summand));
    } while (seen != before);
#endif
}

#endif
