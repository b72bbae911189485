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

// What is moved for a nonzero: its value, or with CODES the 8 bits that stand for it.
#ifdef CODES
typedef uchar moved_t;
#else
typedef bits_t moved_t;
#endif

#ifdef VALUE_F16
// In integers: one memory that is a half here and bits there would be for compilers to reorder.
ushort half_bits(const float number)
{
    const uint bits = as_uint(number);
    const uint sign = bits >> 16 & 0x8000u;
    const uint size = bits & 0x7fffffffu;
    uint half_size;
    if (size > 0x7f800000u)
        half_size = 0x7e00u | (size >> 13 & 0x3ffu); // a NaN stays one where its payload is cut off
    else if (size >= 0x477ff000u)
        half_size = 0x7c00u; // from 65520 on, infinity is nearest
    else if (size >= 0x38800000u)
        half_size = (size + 0xfffu + (size >> 13 & 1) - 0x38000000u) >> 13;
    else
        half_size = (uint)rint(as_float(size) * 0x1p24f); // subnormal, or the least that is not
    return (ushort)(sign | half_size);
}

float float_of_half(const ushort bits)
{
    const uint sign = (uint)(bits & 0x8000u) << 16;
    const uint size = bits & 0x7fffu;
    uint float_size = (size << 13) + 0x38000000u;
    if (size >= 0x7c00u)
        float_size = (size << 13) | 0x7f800000u;
    else if (size < 0x0400u)
        float_size = as_uint((float)size * 0x1p-24f);
    return as_float(sign | float_size);
}
#endif

// The value of the type A stores that is nearest to `number`, as bits.
bits_t bits_of_real(const real_t number)
{
#if defined(VALUE_F64)
    return as_ulong(number);
#elif defined(VALUE_F16)
    return half_bits(number);
#elif defined(VALUE_BF16)
    const uint bits = as_uint(number);
    const uint half_less_odd = 0x7fffu + (bits >> 16 & 1);
    return (ushort)(isnan(number) ? bits >> 16 | 0x40u : (bits + half_less_odd) >> 16);
#else
    return as_uint(number);
#endif
}

// Widened to the type sums are made in.
real_t real_of_bits(const bits_t bits)
{
#if defined(VALUE_F64)
    return as_double(bits);
#elif defined(VALUE_F16)
    return float_of_half(bits);
#elif defined(VALUE_BF16)
    return as_float((uint)bits << 16);
#else
    return as_float(bits);
#endif
}

#endif
