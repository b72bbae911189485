// Prefetches what a kernel reads some iterations later.
//
// A CPU sees by itself that memory is read in order, but looks ahead within a page of 4 KiB only, and while an item
// waits for a line it gets no further than its few hundred instructions allow. Two streams a core prefetched like this
// came 1.2 to 1.4 times as fast (docs/notebook/2026-11-25-cpu-devices-mkl.md). Beyond an array's end it does no harm.
//
// PREFETCH is defined where an entry of the device tables says `prefetches = true`: some compilers do not know the builtin,
// and one ends the process over it.
#ifndef ITEM_PREFETCH_H
#define ITEM_PREFETCH_H

// Prefetch distances in bytes.
#define VALUES_PREFETCH_DISTANCE 1024
#define COLUMNS_PREFETCH_DISTANCE 512

#ifdef PREFETCH
// Prefetches the lines of `count` bytes, a constant, from `at` + `distance` bytes on.
#define prefetch_lines(at, distance, count) \
    do { \
        global const uchar *line = (global const uchar *)(at) + (distance); \
        _Pragma("unroll") for (uint done = 0; done < (count); done += 64) \
            __builtin_prefetch(line + done); \
    } while (0)
#else
#define prefetch_lines(at, distance, count)
#endif

#endif
