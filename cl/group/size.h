// OF_GROUP_SIZE: says before a kernel that its groups have GROUP_SIZE items. NVIDIA's compiler would give such a kernel
// so few registers that f64 lives in memory, and is not told.
#ifndef GROUP_SIZE_H
#define GROUP_SIZE_H

#ifdef __NV_CL_C_VERSION
#define OF_GROUP_SIZE
#else
#define OF_GROUP_SIZE __attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
#endif

#endif
