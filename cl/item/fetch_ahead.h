// What a kernel reads some steps later, asked for now.
//
// A CPU sees by itself that memory is read in order, but looks ahead within a page of 4 KiB only, and while an item waits
// for a line it gets no further than its few hundred instructions allow. Two streams a core asked for like this came 1.2
// to 1.4 times as fast (docs/benchmarks.md, "CPU devices beside MKL"). Beyond an array's end it does no harm.
//
// FETCH_AHEAD is defined where the compiler has a word for it: every one for CPUs, but not the interpreter Oclgrind.
#ifndef ITEM_FETCH_AHEAD_H
#define ITEM_FETCH_AHEAD_H

// Bytes ahead.
#define VALUES_AHEAD 1024
#define COLUMNS_AHEAD 512

#ifdef FETCH_AHEAD
// The lines of `count` bytes, a constant, from `at` + `ahead` bytes on.
#define fetch_ahead(at, ahead, count) \
    do { \
        global const uchar *line = (global const uchar *)(at) + (ahead); \
        _Pragma("unroll") for (uint done = 0; done < (count); done += 64) \
            __builtin_prefetch(line + done); \
    } while (0)
#else
#define fetch_ahead(at, ahead, count)
#endif

#endif
