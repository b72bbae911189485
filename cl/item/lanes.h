// Several neighbouring elements at once: the LANES that one load brings. Elements are what products are made in, or
// with INTEGERS 32-bit integers, modulo 2^32.
#ifndef ITEM_LANES_H
#define ITEM_LANES_H

#include "item/scalar.h"

#define JOIN_NAMES_(a, b) a##b
#define JOIN_NAMES(a, b) JOIN_NAMES_(a, b)
#if defined(INTEGERS)
typedef uint element_t;
typedef JOIN_NAMES(uint, LANES) lanes_t;
#elif defined(VALUE_F64)
typedef double element_t;
typedef double4 lanes4_t;
typedef double8 lanes8_t;
typedef JOIN_NAMES(double, LANES) lanes_t;
#else
typedef float element_t;
typedef float4 lanes4_t;
typedef float8 lanes8_t;
typedef JOIN_NAMES(float, LANES) lanes_t;
#endif

typedef union {
    lanes_t lanes;
    element_t each[LANES];
} lane_array_t;

// Whether a load of LANES elements from here on may be one.
int is_aligned(global const element_t *elements)
{
    return ((size_t)elements & (sizeof(lanes_t) - 1)) == 0;
}

#endif
