// Takes back the names that `since_cuda_6.cuh` gave away.
#undef asm
#undef atomicAdd
