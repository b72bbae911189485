// What CSR5 takes from the headers of CUDA's samples.
#pragma once

#include <cuda_runtime.h>

#include <stdexcept>

inline void checkCudaErrors(cudaError_t error) {
    if (error != cudaSuccess) {
        throw std::runtime_error(cudaGetErrorString(error));
    }
}
