// Values on their way from one array to another: moved bit for bit, or rounded from a sum.
#ifndef ITEM_STORE_H
#define ITEM_STORE_H

#include "item/scalar.h"

// What a value is moved as: 16-bit types need no arithmetic, and NaN payloads survive.
#if defined(VALUE_F64)
typedef ulong bits_t;
#elif defined(VALUE_F16) || defined(VALUE_BF16)
typedef ushort bits_t;
#else
typedef uint bits_t;
#endif

// The value of the type A stores that is nearest to `number`, as bits.
bits_t bits_of_real(const real_t number)
{
#if defined(VALUE_F64)
    return as_ulong(number);
#elif defined(VALUE_F16)
    ushort bits;
    vstore_half_rte(number, 0, (half *)&bits);
    return bits;
#elif defined(VALUE_BF16)
    const uint bits = as_uint(number);
    const uint half_less_odd = 0x7fffu + (bits >> 16 & 1);
    // A NaN stays one where its payload is cut off.
    return (ushort)(isnan(number) ? bits >> 16 | 0x40u : (bits + half_less_odd) >> 16);
#else
    return as_uint(number);
#endif
}

#endif
