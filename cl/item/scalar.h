// Scalars: what A stores (value_t), what x, y, products and sums are made in (real_t), what counts
// nonzeros (offset_t), and how kernels receive them.
//
// One of VALUE_F32, VALUE_F64, VALUE_F16, VALUE_BF16 says what A stores; the 16-bit types are storage
// only and widen to f32 when loaded, which needs no cl_khr_fp16. OFFSET_U64 makes row offsets 64-bit;
// columns are always 32-bit.
#ifndef ITEM_SCALAR_H
#define ITEM_SCALAR_H

// Clang warns that a vector wider than the processor's registers goes to functions in another way than on processors
// that have them. All functions here are inlined, and users of an application would read the warning (PoCL prints it).
// Compilers that do not know this warning would warn of its name instead (NVIDIA's prints "1 warning generated.").
#ifdef __has_warning
#if __has_warning("-Wpsabi")
#pragma clang diagnostic ignored "-Wpsabi"
#endif
#endif

#if defined(VALUE_F64)
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
typedef double value_t;
typedef double real_t;
typedef double2 real2_t;
#define REAL_WORDS 2
#elif defined(VALUE_F16)
typedef half value_t;
typedef float real_t;
typedef float2 real2_t;
#define REAL_WORDS 1
#elif defined(VALUE_BF16)
typedef ushort value_t;
typedef float real_t;
typedef float2 real2_t;
#define REAL_WORDS 1
#else
typedef float value_t;
typedef float real_t;
typedef float2 real2_t;
#define REAL_WORDS 1
#endif

#ifdef OFFSET_U64
typedef ulong offset_t;
#else
typedef uint offset_t;
#endif

// What a product loads of A and x, in one file, so that the experiments of `sparrow bench --model` (Guo, Gropp
// and Olson, section 3.3) can leave it out: with A_CONSTANT values are not loaded, with X_CONSTANT neither x
// nor the columns that say where. y is wrong then, by design.

// One value of A, widened to the type sums are made in.
real_t load_value(global const value_t *restrict values, const ulong at)
{
#if defined(A_CONSTANT)
    return 1;
#elif defined(VALUE_F16)
    return vload_half(at, values);
#elif defined(VALUE_BF16)
    return as_float((uint)values[at] << 16);
#else
    return values[at];
#endif
}

// load_column: the column of nonzero `at`, for kernels that load it well before x. gather_x: the element of x in a
// column that it gave. load_x: the element of x that nonzero `at` multiplies. Macros, since a function's `restrict`
// parameters change what compilers make of segmented_sum.
#ifdef X_CONSTANT
#define load_column(columns, at) 0u
#define gather_x(x, column) ((real_t)1)
#else
#define load_column(columns, at) (columns)[at]
#define gather_x(x, column) (x)[column]
#endif
#define load_x(x, columns, at) gather_x(x, load_column(columns, at))

// stream_column, stream_value: as load_column and load_value, for kernels that read A before they know anything of
// its rows. On NVIDIA they are loads past L1, which is left to x, and are carried out where they are written: the
// compiler would put each where its result is used, and then one waits for the other. LOADS_PAST_L1 says that device
// and driver know the load that leaves L1 alone altogether (PTX ISA 7.4, sm_70).
#ifdef LOADS_PAST_L1
#define STREAM "ld.global.nc.L1::no_allocate"
#else
#define STREAM "ld.global.cg"
#endif
#if defined(__NV_CL_C_VERSION) && !defined(X_CONSTANT)
uint stream_column(global const uint *columns, const ulong at)
{
    uint column;
    asm volatile(STREAM ".u32 %0, [%1];" : "=r"(column) : "l"(columns + at));
    return column;
}
// Two neighbouring columns, of which the first has an even index: one load.
uint2 stream_columns(global const uint *columns, const ulong at)
{
    uint2 pair;
    asm volatile(STREAM ".v2.u32 {%0, %1}, [%2];" : "=r"(pair.x), "=r"(pair.y) : "l"(columns + at));
    return pair;
}
#else
#define stream_column(columns, at) load_column(columns, at)
#define stream_columns(columns, at) (uint2)(load_column(columns, at), load_column(columns, (at) + 1))
#endif

#if defined(__NV_CL_C_VERSION) && !defined(A_CONSTANT) && defined(VALUE_F64)
real_t stream_value(global const value_t *values, const ulong at)
{
    double value;
    asm volatile(STREAM ".f64 %0, [%1];" : "=d"(value) : "l"(values + at));
    return value;
}
#elif defined(__NV_CL_C_VERSION) && !defined(A_CONSTANT) && !defined(VALUE_F16) && !defined(VALUE_BF16)
real_t stream_value(global const value_t *values, const ulong at)
{
    float value;
    asm volatile(STREAM ".f32 %0, [%1];" : "=f"(value) : "l"(values + at));
    return value;
}
#else
#define stream_value(values, at) load_value(values, at)
#endif

// Two neighbouring values of A, of which the first has an even index: one load.
typedef struct {
    real_t first;
    real_t second;
} value_pair_t;

#if defined(__NV_CL_C_VERSION) && !defined(A_CONSTANT)
value_pair_t stream_values(global const value_t *values, const ulong at)
{
    value_pair_t pair;
#if defined(VALUE_F64)
    asm volatile(STREAM ".v2.f64 {%0, %1}, [%2];" : "=d"(pair.first), "=d"(pair.second) : "l"(values + at));
#elif defined(VALUE_F16)
    asm volatile("{.reg .b32 both; .reg .f16 low, high; " STREAM ".b32 both, [%2]; mov.b32 {low, high}, both;"
                 " cvt.f32.f16 %0, low; cvt.f32.f16 %1, high;}"
                 : "=f"(pair.first), "=f"(pair.second)
                 : "l"(values + at));
#elif defined(VALUE_BF16)
    uint both;
    asm volatile(STREAM ".b32 %0, [%1];" : "=r"(both) : "l"(values + at));
    pair.first = as_float(both << 16);
    pair.second = as_float(both & 0xffff0000u);
#else
    asm volatile(STREAM ".v2.f32 {%0, %1}, [%2];" : "=f"(pair.first), "=f"(pair.second) : "l"(values + at));
#endif
    return pair;
}
#else
value_pair_t stream_values(global const value_t *values, const ulong at)
{
    value_pair_t pair;
    pair.first = load_value(values, at);
    pair.second = load_value(values, at + 1);
    return pair;
}
#endif

// An array comes as a buffer and the element it starts at, so that callers can hand over any part of
// their own buffers: sub-buffers alone must begin at the device's base alignment.
#define ARRAY_PARAMETER(type, name) global type *restrict name##_buffer, const ulong name##_start
#define OPEN_ARRAY(type, name) global type *restrict name = name##_buffer + name##_start

// An array that may be another one of the same launch, as the result of an operation in place is.
#define SHARED_ARRAY_PARAMETER(type, name) global type *name##_buffer, const ulong name##_start
#define OPEN_SHARED_ARRAY(type, name) global type *name = name##_buffer + name##_start

// The address of x for gathers. NVIDIA's compiler would add an array's start and each column before it scales the sum,
// four instructions for each gather where one does: so it is told no more than the address. Where sums are f32 the two
// registers that this takes cost more (docs/notebook/2026-11-25-sell-sigma-h200.md).
#if defined(__NV_CL_C_VERSION) && defined(VALUE_F64)
global const real_t *gather_base(global const real_t *x)
{
    ulong address;
    asm("mov.b64 %0, %1;" : "=l"(address) : "l"(x));
    return (global const real_t *)address;
}
#else
#define gather_base(x) (x)
#endif

// alpha and beta come by value, or with SCALARS_ON_DEVICE as an array of one.
#ifdef SCALARS_ON_DEVICE
#define SCALAR_PARAMETER(name) global const real_t *restrict name##_buffer, const ulong name##_start
#define OPEN_SCALAR(name) const real_t name = name##_buffer[name##_start]
#else
#define SCALAR_PARAMETER(name) const real_t name##_value
#define OPEN_SCALAR(name) const real_t name = name##_value
#endif

#endif
