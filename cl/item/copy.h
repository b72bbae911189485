// Copies into local memory: begin_copy begins one, end_copies waits for all that this item began. On NVIDIA no register
// holds what is on its way (PTX ISA, cp.async); elsewhere it is an assignment. SM_80 says that device and driver
// know it (PTX ISA 7.0).
#ifndef ITEM_COPY_H
#define ITEM_COPY_H

#include "item/scalar.h"

#if defined(__NV_CL_C_VERSION) && defined(SM_80)
#if REAL_WORDS == 2
#define COPY "cp.async.ca.shared.global [%0], [%1], 8;"
#else
#define COPY "cp.async.ca.shared.global [%0], [%1], 4;"
#endif
void begin_copy(local real_t *to, global const real_t *from)
{
    asm volatile(COPY ::"r"((uint)(ulong)to), "l"(from) : "memory");
}
#define end_copies() asm volatile("cp.async.wait_all;" ::: "memory")
#else
#define begin_copy(to, from) (*(to) = *(from))
#define end_copies()
#endif

#endif
