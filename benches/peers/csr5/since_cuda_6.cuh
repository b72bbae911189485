// What CUDA 6.5 had and CUDA 13 has not, for the published CSR5: shuffles without a mask, in CUDA and in assembly, and no
// atomicAdd of f64. `since_cuda_6_end.cuh` takes the names back.
#pragma once

#include <cuda_runtime.h>

#include "helper_cuda.h"

template <typename T> __device__ T __shfl(T value, int lane, int width = 32) {
    return __shfl_sync(__activemask(), value, lane, width);
}

template <typename T> __device__ T __shfl_up(T value, unsigned int lanes, int width = 32) {
    return __shfl_up_sync(__activemask(), value, lanes, width);
}

template <typename T> __device__ T __shfl_down(T value, unsigned int lanes, int width = 32) {
    return __shfl_down_sync(__activemask(), value, lanes, width);
}

template <typename T> __device__ T __shfl_xor(T value, int lanes, int width = 32) {
    return __shfl_xor_sync(__activemask(), value, lanes, width);
}

// CSR5 has shuffles of f64 of its own for devices before compute capability 3.0, which it takes the host for.
#ifndef __CUDA_ARCH__
#define __CUDA_ARCH__ 900
#endif

// And an atomicAdd of f64, which is CUDA's since 6.0.
inline __device__ float add_at(float *address, float value) {
    return atomicAdd(address, value);
}
#define atomicAdd add_at

// Its one piece of assembly is a step of a scan of f64 over a warp: x of the lane 2^STEP below is added, where there is one.
inline __device__ double with_lane_below(double x, int step) {
    const double below = __shfl_up_sync(0xffffffffu, x, 1u << step);
    return static_cast<int>(threadIdx.x % 32) >= (1 << step) ? x + below : x;
}
#define asm(...) (x = with_lane_below(x, STEP))
