// Sums of products, plain or compensated, behind one type (acc_t) so that every kernel is written once.
//
// Plain: acc_t is the sum. Compensated (COMPENSATED): acc_t is an unevaluated pair of the rounded sum
// and the error it made, carried through products (error by fma), additions (error by Knuth's
// branch-free two-sum) and reductions; the pair behaves like twice the precision. Contraction is off
// there: a fused a*b+c inside a two-sum would destroy the very error it computes.
#ifndef ITEM_ACCUMULATE_H
#define ITEM_ACCUMULATE_H

#include "item/scalar.h"

#ifdef COMPENSATED
#pragma OPENCL FP_CONTRACT OFF

typedef real2_t acc_t; // x: rounded sum, y: error

#define ACC_WORDS (2 * REAL_WORDS)

acc_t acc_zero(void)
{
    return (acc_t)(0, 0);
}

acc_t acc_product(const real_t a, const real_t b)
{
    const real_t product = a * b;
    return (acc_t)(product, fma(a, b, -product));
}

acc_t acc_add(const acc_t a, const acc_t b)
{
    const real_t sum = a.x + b.x;
    const real_t of_b = sum - a.x;
    const real_t error = (a.x - (sum - of_b)) + (b.x - of_b);
    return (acc_t)(sum, error + (a.y + b.y));
}

acc_t acc_mad(const acc_t sum, const real_t a, const real_t b)
{
    return acc_add(sum, acc_product(a, b));
}

acc_t acc_scale(const real_t alpha, const acc_t sum)
{
    const acc_t product = acc_product(alpha, sum.x);
    return (acc_t)(product.x, fma(alpha, sum.y, product.y));
}

// The error of an infinite or overflowed sum is NaN and says nothing: the sum itself is the result.
real_t acc_round(const acc_t sum)
{
    const real_t rounded = sum.x + sum.y;
    return isinf(sum.x) ? sum.x : rounded;
}

#else

typedef real_t acc_t;

#define ACC_WORDS REAL_WORDS

acc_t acc_zero(void)
{
    return 0;
}

acc_t acc_product(const real_t a, const real_t b)
{
    return a * b;
}

acc_t acc_add(const acc_t a, const acc_t b)
{
    return a + b;
}

acc_t acc_mad(const acc_t sum, const real_t a, const real_t b)
{
    return fma(a, b, sum);
}

acc_t acc_scale(const real_t alpha, const acc_t sum)
{
    return alpha * sum;
}

real_t acc_round(const acc_t sum)
{
    return sum;
}

#endif

// y[at] = alpha sum + beta y[at]. With beta = 0, y is never read: what stood there may be NaN.
void store_result(global real_t *restrict y, const ulong at, const real_t alpha, const acc_t sum,
                  const real_t beta)
{
    acc_t result = acc_scale(alpha, sum);
    if (beta != 0)
        result = acc_mad(result, beta, y[at]);
    y[at] = acc_round(result);
}

#endif
