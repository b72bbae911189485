// csr_flat: equal nonzeros a work-group, wherever rows begin and end.
//
// The idea. What a group loads of A is known from its number alone: nonzeros [g, g + 1) x PIECE_NNZ. So its loads
// are on their way before it has read anything else, and every group moves the same bytes; row offsets are looked at
// meanwhile. csr_adaptive has to read where its block begins, and there where its rows do, before the first load of A:
// on an H200 that is a third of a group's life.
//
// Rows. The plan (spmv/csr_flat_plan.cl) says for each border between pieces which row comes first behind it. A row
// across a border stays whole where it has at most WHOLE_ROW nonzeros: the group it begins in loads its tail too, the
// next group leaves that out. A longer row is cut at the border. So groups speak to each other about long rows only.
//
// Three steps:
//   products   side by side into local memory, the tail behind them.
//   rows       each run of `width` neighbouring items sums a row, `width` the power of two at which all rows of the
//              piece are in hand at once, 32 at most; many short rows take several rounds. A row with more than
//              HEAVY products an item would hold the others up, so it is put on a list.
//   the list   a team (32 items in step where the device can, else the group) a row.
//
// Cut rows. The parts of a row meet two by two at the borders that cut it; who comes last stores y (group/meet.h). Nobody
// waits, and the result has the same bits every time: sums depend on the pieces alone, and the order of the list, which
// is as it comes, changes no sum.
//
// Local memory: PIECE_NNZ + WHOLE_ROW products; the list; GROUP_SIZE sums where items cannot shuffle.

#ifndef GROUP_SIZE
#define GROUP_SIZE 256 // items of a work-group: a power of two
#endif
#ifndef PIECE_NNZ
#define PIECE_NNZ 1024 // nonzeros of a group: a multiple of GROUP_SIZE
#endif
#ifndef WHOLE_ROW
#define WHOLE_ROW 256 // rows of at most this many nonzeros are never cut
#endif

#if GROUP_SIZE >= 32
#define BUNCH_SIZE 32
#define BUNCHES_PER_GROUP (GROUP_SIZE / 32)
// Bunches: BUNCH_SIZE neighbouring items of a work-group that work on one tile together, as many as the
// device runs in step (the "thread-bunch" of Liu and Vinter 2015).
//
// OpenCL C 1.2 has no barrier for less than a group, and no way for items to see each other's registers.
// So a barrier of the group is used where nothing better is known, and every bunch of a group has to reach
// it the same number of times; and items speak through local memory. NVIDIA runs 32 items in step, and has
// instructions for both (PTX ISA, shfl.sync and bar.warp.sync).
#ifndef SUBGROUP_BUNCH_H
#define SUBGROUP_BUNCH_H

// Sums of products, plain or compensated, behind one type (acc_t) so that every kernel is written once.
//
// Plain: acc_t is the sum. Compensated (COMPENSATED): acc_t is an unevaluated pair of the rounded sum
// and the error it made, carried through products (error by fma), additions (error by Knuth's
// branch-free two-sum) and reductions; the pair behaves like twice the precision. Contraction is off
// there: a fused a*b+c inside a two-sum would destroy the very error it computes.
#ifndef ITEM_ACCUMULATE_H
#define ITEM_ACCUMULATE_H

// Scalars: what A stores (value_t), what x, y, products and sums are made in (real_t), what counts
// nonzeros (offset_t), and how kernels receive them.
//
// One of VALUE_F32, VALUE_F64, VALUE_F16, VALUE_BF16 says what A stores; the 16-bit types are storage
// only and widen to f32 when loaded, which needs no cl_khr_fp16. OFFSET_U64 makes row offsets 64-bit;
// columns are always 32-bit.
#ifndef ITEM_SCALAR_H
#define ITEM_SCALAR_H

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

// What a product loads of A and x, in one place, so that the experiments of `sparrow bench --model` (Guo, Gropp
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
#else
#define stream_column(columns, at) load_column(columns, at)
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

// Two neighbouring values of A, of which the first has an even place: one load.
typedef struct {
    real_t first;
    real_t second;
} value_pair_t;

value_pair_t stream_values(global const value_t *values, const ulong at)
{
    value_pair_t pair;
#if defined(__NV_CL_C_VERSION) && !defined(A_CONSTANT) && defined(VALUE_F64)
    asm volatile(STREAM ".v2.f64 {%0, %1}, [%2];" : "=d"(pair.first), "=d"(pair.second) : "l"(values + at));
#elif defined(__NV_CL_C_VERSION) && !defined(A_CONSTANT) && !defined(VALUE_F16) && !defined(VALUE_BF16)
    asm volatile(STREAM ".v2.f32 {%0, %1}, [%2];" : "=f"(pair.first), "=f"(pair.second) : "l"(values + at));
#else
    pair.first = load_value(values, at);
    pair.second = load_value(values, at + 1);
#endif
    return pair;
}

// An array comes as a buffer and the element it starts at, so that callers can hand over any part of
// their own buffers: sub-buffers alone must begin at the device's base alignment.
#define ARRAY_PARAMETER(type, name) global type *restrict name##_buffer, const ulong name##_start
#define OPEN_ARRAY(type, name) global type *restrict name = name##_buffer + name##_start

// An array that may be another one of the same launch, as a result that takes the place of an operand is.
#define SHARED_ARRAY_PARAMETER(type, name) global type *name##_buffer, const ulong name##_start
#define OPEN_SHARED_ARRAY(type, name) global type *name = name##_buffer + name##_start

// alpha and beta come by value, or with SCALARS_ON_DEVICE as an array of one.
#ifdef SCALARS_ON_DEVICE
#define SCALAR_PARAMETER(name) global const real_t *restrict name##_buffer, const ulong name##_start
#define OPEN_SCALAR(name) const real_t name = name##_buffer[name##_start]
#else
#define SCALAR_PARAMETER(name) const real_t name##_value
#define OPEN_SCALAR(name) const real_t name = name##_value
#endif

#endif

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

#if defined(__NV_CL_C_VERSION) && BUNCH_SIZE <= 32 && BUNCH_SIZE * BUNCHES_PER_GROUP % 32 == 0
#define BUNCH_SHUFFLES
#define BUNCH_BARRIER() asm volatile("bar.warp.sync 0xffffffff;" ::: "memory")
#else
#define BUNCH_BARRIER() barrier(CLK_LOCAL_MEM_FENCE)
#endif

// What the items of a bunch tell each other of their segments; one array element an item.
typedef struct {
    local acc_t *leads; // the sum of what an item has before its first segment begins
    local uint *begins; // whether a segment begins in it
    local uint *numbers; // segments that begin in it and the items before
} bunch_segments_t;

#ifdef BUNCH_SHUFFLES
// Bits 8 to 12 keep a shuffle within its bunch, bits 0 to 4 say where the bunch ends.
#define SHUFFLE_DOWN_LIMIT ((32 - BUNCH_SIZE) << 8 | 31)
#define SHUFFLE_UP_LIMIT ((32 - BUNCH_SIZE) << 8)

// A word of the item `reach` further on; one's own where there is none.
uint word_after(const uint mine, const uint reach)
{
    uint its;
    asm volatile("shfl.sync.down.b32 %0, %1, %2, %3, 0xffffffff;"
                 : "=r"(its)
                 : "r"(mine), "r"(reach), "r"(SHUFFLE_DOWN_LIMIT));
    return its;
}

// A word of the item `reach` before; one's own where there is none.
uint word_before(const uint mine, const uint reach)
{
    uint its;
    asm volatile("shfl.sync.up.b32 %0, %1, %2, %3, 0xffffffff;"
                 : "=r"(its)
                 : "r"(mine), "r"(reach), "r"(SHUFFLE_UP_LIMIT));
    return its;
}

acc_t acc_after(const acc_t mine, const uint reach)
{
    union {
        acc_t sum;
        uint words[ACC_WORDS];
    } its;
    its.sum = mine;
#pragma unroll
    for (uint word = 0; word < ACC_WORDS; ++word)
        its.words[word] = word_after(its.words[word], reach);
    return its.sum;
}

#if BUNCH_SIZE == 32
#define BUNCH_VOTES

// How many items of the bunch say yes; a bunch is all that runs in step, so no other need call it.
uint bunch_count(const int yes)
{
    uint votes;
    asm volatile("{.reg .pred vote; setp.ne.s32 vote, %1, 0; vote.sync.ballot.b32 %0, vote, 0xffffffff;}"
                 : "=r"(votes)
                 : "r"(yes));
    return popcount(votes);
}

// Adds up each run of `width` neighbouring items, a power of two. Valid in the first of each run. Nothing else may
// run in step with the bunch, so that widths of others do not matter.
acc_t bunch_sum_runs(const acc_t mine, const uint width)
{
    acc_t sum = mine;
    for (uint reach = width >> 1; reach > 0; reach >>= 1)
        sum = acc_add(sum, acc_after(sum, reach));
    return sum;
}
#endif
#endif

// Numbers segments: `*before` is the sum of `number` over the items before. All items of the bunch call it.
// Returns the sum over all items.
uint bunch_scan_numbers(const bunch_segments_t shared, const uint item, const uint number,
                        uint *before)
{
    uint numbers = number;
#ifdef BUNCH_SHUFFLES
    (void)shared;
#pragma unroll
    for (uint reach = 1; reach < BUNCH_SIZE; reach <<= 1) {
        const uint earlier = word_before(numbers, reach);
        numbers += item >= reach ? earlier : 0;
    }
    *before = numbers - number;
    return word_after(numbers, BUNCH_SIZE - 1 - item);
#else
    shared.numbers[item] = numbers;
    for (uint reach = 1; reach < BUNCH_SIZE; reach <<= 1) {
        BUNCH_BARRIER();
        const uint earlier = item >= reach ? shared.numbers[item - reach] : 0;
        BUNCH_BARRIER();
        numbers += earlier;
        shared.numbers[item] = numbers;
    }
    BUNCH_BARRIER();
    *before = numbers - number;
    return shared.numbers[BUNCH_SIZE - 1];
#endif
}

// Brings together segments that items share. `lead` is what an item has before the first segment that
// begins in it, of all it has if none `begins`. Returns what the last segment that begins in this item, or
// before it, has in later items. All items of the bunch call it. The order of additions depends on the
// segments alone.
acc_t bunch_join_leads(const bunch_segments_t shared, const uint item, const acc_t lead, uint begins)
{
    acc_t sum = lead;
#ifdef BUNCH_SHUFFLES
    (void)shared;
#pragma unroll
    for (uint reach = 1; reach < BUNCH_SIZE; reach <<= 1) {
        const acc_t after = acc_after(sum, reach);
        const uint after_begins = word_after(begins, reach);
        if (!begins && item + reach < BUNCH_SIZE)
            sum = acc_add(sum, after);
        begins |= after_begins;
    }
    const acc_t after = acc_after(sum, 1);
    return item + 1 < BUNCH_SIZE ? after : acc_zero();
#else
    shared.leads[item] = sum;
    shared.begins[item] = begins;
    for (uint reach = 1; reach < BUNCH_SIZE; reach <<= 1) {
        BUNCH_BARRIER();
        const int joins = !begins && item + reach < BUNCH_SIZE;
        const acc_t after = joins ? shared.leads[item + reach] : acc_zero();
        const uint after_begins = joins ? shared.begins[item + reach] : 0;
        BUNCH_BARRIER();
        if (joins)
            sum = acc_add(sum, after);
        begins |= after_begins;
        shared.leads[item] = sum;
        shared.begins[item] = begins;
    }
    BUNCH_BARRIER();
    return item + 1 < BUNCH_SIZE ? shared.leads[item + 1] : acc_zero();
#endif
}

// The sum of `mine` over the items of the bunch, valid in item 0. All items of the bunch call it.
acc_t bunch_sum(const bunch_segments_t shared, const uint item, const acc_t mine)
{
    acc_t sum = mine;
#ifdef BUNCH_SHUFFLES
    (void)shared;
#pragma unroll
    for (uint reach = BUNCH_SIZE / 2; reach > 0; reach >>= 1)
        sum = acc_add(sum, acc_after(sum, reach));
#else
    shared.leads[item] = mine;
    BUNCH_BARRIER();
#pragma unroll 1
    for (uint other = 1; item == 0 && other < BUNCH_SIZE; ++other)
        sum = acc_add(sum, shared.leads[other]);
#endif
    return sum;
}

#endif
#endif
// Sums whose parts come from several groups of one launch: the parts meet two by two, and who arrives second at a
// meeting goes on with both.
//
// The meetings are the inner nodes of a binary tree over the parts [0, parts) of a sum: node k of a level has nodes 2k
// and 2k + 1 of the level below, and a node without a neighbour goes up as it is. Left is added to right whoever came
// second, so the sum has the same bits every time. Nobody waits for anybody: the first at a meeting leaves its sum there
// and is done. The last of all parts needs log2(parts) meetings, one after the other.
//
// Between groups of one launch OpenCL C 1.2 orders nothing, so nothing but the sum itself travels, in one atomic exchange
// with the meeting's place, which is 0 when a launch begins and when it has ended. So sums travel with all bits turned
// over: 0 is then a NaN of all ones, for which another NaN goes. Where a sum is too wide to be exchanged at once, each
// side leaves it in a carry of its own and counts itself (group/carry.h): three trips through memory instead of one.
#ifndef GROUP_MEET_H
#define GROUP_MEET_H

// Partial sums that cross from one work-group to another within a launch.
//
// Between groups of one launch OpenCL C 1.2 orders nothing, so a carry travels as 32-bit words that are
// written and read by atomics alone; every device has those, so f64 needs no 64-bit atomics. Who may
// read is settled by a counter: a group publishes its words, then raises the counter; the group that
// raises it to the full number has arrived last and reads them all. Nobody waits for anybody.
//
// That the words are published before the counter is raised rests on data, not on a fence: what is added
// to the counter is computed from what the exchanges returned, so they must have been carried out. (The
// fences of OpenCL C 1.2 reach no further than the group: NVIDIA compiles mem_fence to membar.cta. Where
// a device-wide fence can be named, it is put there as well, and volatile loads, which go past L1, are then
// enough to read with: PTX ISA 8.0, section 8.) `zero` is 0, but only the host knows.
//
// The group that arrives last sets the counter back to 0 for the next launch. No number that the host
// counts takes part: a launch that was enqueued may never run, where what it waits for ends in error.
#ifndef GROUP_CARRY_H
#define GROUP_CARRY_H


typedef union {
    acc_t sum;
    uint words[ACC_WORDS];
} carry_t;

#ifdef __NV_CL_C_VERSION
#define DEVICE_FENCE() asm volatile("membar.gl;" ::: "memory")
#define READ_PUBLISHED(word) (*(word))
#else
#define DEVICE_FENCE() mem_fence(CLK_GLOBAL_MEM_FENCE)
#define READ_PUBLISHED(word) atomic_or(word, 0u)
#endif

// One item calls it. Returns what was in the carry before: a proof that it was published.
uint carry_publish(volatile global uint *carries, const ulong slot, const acc_t sum)
{
    carry_t carry;
    carry.sum = sum;
    uint before = 0;
    for (uint word = 0; word < ACC_WORDS; ++word)
        before |= atomic_xchg(carries + slot * ACC_WORDS + word, carry.words[word]);
    return before;
}

// Any item of the group that arrived last may call it.
acc_t carry_read(volatile global uint *carries, const ulong slot)
{
    carry_t carry;
    for (uint word = 0; word < ACC_WORDS; ++word)
        carry.words[word] = READ_PUBLISHED(carries + slot * ACC_WORDS + word);
    return carry.sum;
}

// The item that published calls it, with the proof. True in the group that is last of `arrivals`.
int arrives_last(volatile global uint *counter, const uint arrivals, const uint proof,
                 const uint zero)
{
    DEVICE_FENCE();
    const uint arrived = atomic_add(counter, 1 + (proof & zero)) + 1;
    DEVICE_FENCE();
    const int is_last = arrived == arrivals;
    if (is_last)
        atomic_xchg(counter, 0u);
    return is_last;
}

#endif

#if ACC_WORDS == 1
#define MEET_BY_EXCHANGE
#define exchange_words(place, words) atomic_xchg(place, words)
typedef uint words_t;
#elif ACC_WORDS == 2 && defined(cl_khr_int64_base_atomics)
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#define MEET_BY_EXCHANGE
#define exchange_words(place, words) atom_xchg(place, words)
typedef ulong words_t;
#endif

// Room for meetings. Both are 0 when a launch begins; `carries` is aligned to 8 bytes.
typedef struct {
    volatile global uint *carries; // 2 * ACC_WORDS words a meeting
    volatile global uint *counters; // a word a meeting
    uint zero; // 0, which only the host knows (group/carry.h)
} meetings_t;

// Brings `mine` to meeting `place`. True for the second who comes; `*sum` is then that of both.
int meet(const meetings_t meetings, const uint place, const int is_right, const acc_t mine, acc_t *sum)
{
#ifdef MEET_BY_EXCHANGE
    union {
        acc_t sum;
        words_t words;
    } carry;
    volatile global words_t *words = (volatile global words_t *)meetings.carries + place;
    carry.sum = mine;
    const words_t turned = ~carry.words;
    const words_t found = exchange_words(words, turned == 0 ? 1 : turned);
    if (found == 0)
        return 0;
    exchange_words(words, 0);
    carry.words = ~found;
    const acc_t its = carry.sum;
#else
    const uint proof = carry_publish(meetings.carries, 2 * (ulong)place + (is_right ? 1 : 0), mine);
    if (!arrives_last(meetings.counters + place, 2, proof, meetings.zero))
        return 0;
    const acc_t its = carry_read(meetings.carries, 2 * (ulong)place + (is_right ? 0 : 1));
#endif
    *sum = is_right ? acc_add(its, mine) : acc_add(mine, its);
    return 1;
}

// Brings in part number `part` of `parts`. True for the last who comes; `*sum` is then the whole one. The meeting of two
// neighbours has the place of the right one's first part, so `parts` - 1 places from `first_place` + 1 on are used.
int gather_parts(const meetings_t meetings, const uint first_place, const uint part, const uint parts, acc_t *sum)
{
    uint node = part;
    for (uint level = 0; (parts - 1) >> level > 0; ++level) {
        const uint right = (node | 1) << level;
        if (right < parts && !meet(meetings, first_place + right, node & 1, *sum, sum))
            return 0;
        node >>= 1;
    }
    return 1;
}

#endif
// Sums over the items of a work-group, in an order that depends on nothing but the item numbers: the
// same bits every time.
#ifndef GROUP_REDUCE_H
#define GROUP_REDUCE_H


// Adds up each run of `width` neighbouring items; width is a power of two that divides GROUP_SIZE.
// All items of the group call it with the same width; `scratch` holds GROUP_SIZE sums. Other items may
// still be reading it when the call begins, and it may be written again at once when the call is over.
// Valid in the first item of each run.
//
// The order depends on `width` alone.
acc_t group_reduce_runs(const acc_t mine, local acc_t *scratch, const uint width)
{
    const uint item = (uint)get_local_id(0);
    acc_t sum = mine;
    barrier(CLK_LOCAL_MEM_FENCE);
    scratch[item] = sum;
    for (uint half_width = width >> 1; half_width > 0; half_width >>= 1) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if ((item & (width - 1)) < half_width) {
            sum = acc_add(sum, scratch[item + half_width]);
            scratch[item] = sum;
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    return sum;
}

// Adds up all items of a group of any size. All items call it, as above; valid in item 0.
acc_t group_reduce(const acc_t mine, local acc_t *scratch)
{
    const uint item = (uint)get_local_id(0);
    acc_t sum = mine;
    barrier(CLK_LOCAL_MEM_FENCE);
    scratch[item] = sum;
    for (uint width = GROUP_SIZE; width > 1; width = (width + 1) / 2) {
        const uint other = item + (width + 1) / 2;
        barrier(CLK_LOCAL_MEM_FENCE);
        if (other < width) {
            sum = acc_add(sum, scratch[other]);
            scratch[item] = sum;
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    return sum;
}

#endif
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
// Where a piece of csr_flat begins, in 64 bits: its first row (upper 32), whether that row is cut there (bit 31), and
// how many nonzeros behind the border still belong to the piece before (lower 31).
#ifndef SPMV_CSR_FLAT_PIECE_H
#define SPMV_CSR_FLAT_PIECE_H

ulong piece_start(const uint row, const int is_cut, const uint past)
{
    return (ulong)row << 32 | (ulong)(is_cut ? 1 : 0) << 31 | past;
}

uint piece_row(const ulong start)
{
    return (uint)(start >> 32);
}

int piece_is_cut(const ulong start)
{
    return (int)((uint)start >> 31);
}

uint piece_past(const ulong start)
{
    return (uint)start & 0x7fffffffu;
}

#endif

#define TRIPS (PIECE_NNZ / GROUP_SIZE)
#define HEAVY 64
#define MOST_LISTED ((PIECE_NNZ + WHOLE_ROW) / HEAVY + 3)

#ifdef BUNCH_VOTES
#define TEAM_SIZE 32
#define MOST_WIDTH 32
#define RUN_SCRATCH 1
#define sum_runs(mine, scratch, width) bunch_sum_runs(mine, width)
#else
#define TEAM_SIZE GROUP_SIZE
#define MOST_WIDTH (GROUP_SIZE < 32 ? GROUP_SIZE : 32)
#define RUN_SCRATCH GROUP_SIZE
#define sum_runs(mine, scratch, width) group_reduce_runs(mine, scratch, width)
#endif

// One piece. A slot is a row that has nonzeros here, or is empty and belongs here; slot 0 is row `row`.
typedef struct {
    uint number;
    offset_t base; // its first nonzero
    offset_t beyond; // past its last one, the tail included
    uint tail; // nonzeros behind the border that belong here
    uint row;
    uint slots;
    uint rows; // of the matrix
    int is_cut_before; // slot 0 began in an earlier piece
    int is_cut_behind; // the last slot goes on in the next piece
} piece_t;

piece_t open_piece(const uint number, const ulong start, const ulong next, const uint rows, const ulong nnz)
{
    piece_t piece;
    piece.number = number;
    piece.base = (offset_t)number * PIECE_NNZ;
    piece.tail = piece_past(next);
    piece.beyond = piece.base + (offset_t)min(nnz - piece.base, (ulong)PIECE_NNZ) + piece.tail;
    piece.row = piece_row(start);
    piece.is_cut_before = piece_is_cut(start);
    piece.is_cut_behind = piece_is_cut(next);
    piece.slots = piece_row(next) - piece.row + (piece.is_cut_behind ? 1 : 0);
    piece.rows = rows;
    return piece;
}

// Places from `first` up to `past`. No vector type: Oclgrind 21.10 crashes on the shuffles that come of those.
typedef struct {
    uint first;
    uint past;
} range_t;

// Where in `products` a slot's products are; of a slot that there is not, those of some row.
range_t places_of_slot(global const offset_t *restrict offsets, const piece_t piece, const uint slot)
{
    const uint row = min(piece.row + slot, piece.rows - 1);
    const offset_t begin = max(offsets[row], piece.base);
    const offset_t end = max(min(offsets[row + 1], piece.beyond), begin);
    range_t places;
    places.first = (uint)(begin - piece.base);
    places.past = (uint)(end - piece.base);
    return places;
}

// Every `stride`-th of the products in `places`, from the `first` on.
acc_t sum_places(local const acc_t *products, const range_t places, const uint first, const uint stride)
{
    acc_t sum = acc_zero();
    uint at = places.first + first;
    for (; at + 3 * stride < places.past; at += 4 * stride) {
        // Loaded together, added in order.
        const acc_t next[4] = {products[at], products[at + stride], products[at + 2 * stride],
                               products[at + 3 * stride]};
#pragma unroll
        for (uint k = 0; k < 4; ++k)
            sum = acc_add(sum, next[k]);
    }
    for (; at < places.past; at += stride)
        sum = acc_add(sum, products[at]);
    return sum;
}

// Whether a slot's row has nonzeros in other pieces too.
int is_cut(const piece_t piece, const uint slot)
{
    return (slot == 0 && piece.is_cut_before) || (slot == piece.slots - 1 && piece.is_cut_behind);
}

// Brings in the sum of a cut row. True for the last group that does; `*sum` is then the whole one.
int gather_row(const piece_t piece, const uint row, global const offset_t *restrict offsets, const meetings_t borders,
               acc_t *sum)
{
    const uint first = (uint)(offsets[row] / PIECE_NNZ);
    const uint past = (uint)((offsets[row + 1] - 1) / PIECE_NNZ) + 1;
    return gather_parts(borders, first, piece.number - first, past - first, sum);
}

// One round: each run of items sums a row, or puts it on the list.
#define SUM_ROUND(its_slot, its_places) \
    do { \
        const uint slot = its_slot; \
        const range_t in = its_places; \
        const int has_row = slot < piece.slots; \
        const int is_heavy = width < TEAM_SIZE && in.past - in.first > HEAVY << log_width; \
        const int is_listed = has_row && (is_heavy || is_cut(piece, slot)); \
        acc_t sum = acc_zero(); \
        if (has_row && !is_listed) \
            sum = sum_places(products, in, in_run, width); \
        sum = sum_runs(sum, scratch, width); \
        if (is_listed && in_run == 0) \
            listed_slots[atomic_inc(listed_count)] = slot; \
        else if (has_row && in_run == 0) \
            store_result(y, piece.row + slot, alpha, sum, beta); \
    } while (0)

OF_GROUP_SIZE
kernel void csr_flat(const uint rows,
                     const ulong nnz,
                     ARRAY_PARAMETER(const ulong, starts),
                     ARRAY_PARAMETER(const offset_t, offsets),
                     ARRAY_PARAMETER(const uint, columns),
                     ARRAY_PARAMETER(const value_t, values),
                     ARRAY_PARAMETER(const real_t, x),
                     ARRAY_PARAMETER(real_t, y),
                     SCALAR_PARAMETER(alpha),
                     SCALAR_PARAMETER(beta),
                     const uint zero,
                     ARRAY_PARAMETER(uint, counters),
                     ARRAY_PARAMETER(uint, carries))
{
    OPEN_ARRAY(const ulong, starts);
    OPEN_ARRAY(const offset_t, offsets);
    OPEN_ARRAY(const uint, columns);
    OPEN_ARRAY(const value_t, values);
    OPEN_ARRAY(const real_t, x);
    OPEN_ARRAY(real_t, y);
    OPEN_SCALAR(alpha);
    OPEN_SCALAR(beta);
    meetings_t borders;
    borders.carries = carries_buffer + carries_start;
    borders.counters = counters_buffer + counters_start;
    borders.zero = zero;
    local acc_t products[PIECE_NNZ + WHOLE_ROW];
    local acc_t scratch[RUN_SCRATCH];
    local uint listed_count[1];
    local uint listed_slots[MOST_LISTED];

    const uint item = (uint)get_local_id(0);
    const uint number = (uint)get_group_id(0);
    const offset_t first = (offset_t)number * PIECE_NNZ;

    // Nothing to load: one group is the launch.
    if (nnz == 0) {
        for (uint row = item; row < rows; row += GROUP_SIZE)
            store_result(y, row, alpha, acc_zero(), beta);
        return;
    }

    // Loads of A that wait for nothing. The last piece loads its last nonzero over and over: a load under a condition
    // would be a branch, and only one of them on its way at a time.
    uint piece_columns[TRIPS];
    real_t piece_values[TRIPS];
    const uint last = (uint)min(nnz - first, (ulong)PIECE_NNZ) - 1;
#pragma unroll
    for (uint trip = 0; trip < TRIPS; ++trip)
        piece_columns[trip] = stream_column(columns + first, min(trip * GROUP_SIZE + item, last));
#pragma unroll
    for (uint trip = 0; trip < TRIPS; ++trip)
        piece_values[trip] = stream_value(values + first, min(trip * GROUP_SIZE + item, last));

    const piece_t piece = open_piece(number, starts[number], starts[number + 1], rows, nnz);
    // In shifts: divisions would cost more than all else that an item does.
    uint log_width = 0;
    while (1u << log_width < MOST_WIDTH && piece.slots <= GROUP_SIZE >> (log_width + 1))
        ++log_width;
    const uint width = 1u << log_width;
    const uint slots_a_round = GROUP_SIZE >> log_width;
    const uint in_round = item >> log_width;
    const uint in_run = item & (width - 1);
    // Of the first two rounds: on their way with A.
    const range_t places = places_of_slot(offsets, piece, in_round);
    const range_t places_next = places_of_slot(offsets, piece, in_round + slots_a_round);
    const offset_t border = first + PIECE_NNZ;
    uint tail_column = 0;
    real_t tail_value = 0;
    if (item < piece.tail) {
        tail_column = load_column(columns, border + item);
        tail_value = load_value(values, border + item);
    }

#pragma unroll
    for (uint trip = 0; trip < TRIPS; ++trip)
        products[trip * GROUP_SIZE + item] = acc_product(piece_values[trip], gather_x(x, piece_columns[trip]));
    if (item < piece.tail)
        products[PIECE_NNZ + item] = acc_product(tail_value, gather_x(x, tail_column));
#if WHOLE_ROW > GROUP_SIZE
    for (uint at = item + GROUP_SIZE; at < piece.tail; at += GROUP_SIZE)
        products[PIECE_NNZ + at] = acc_product(load_value(values, border + at), load_x(x, columns, border + at));
#endif
    if (item == 0)
        listed_count[0] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);

    // Each run of items a row. What a barrier would be in stays in one loop; elsewhere the first two rounds, most often all
    // there are, have a place of their own, where their offsets have long come.
#ifdef BUNCH_VOTES
    SUM_ROUND(in_round, places);
    if (slots_a_round < piece.slots)
        SUM_ROUND(in_round + slots_a_round, places_next);
    for (uint done = 2 * slots_a_round; done < piece.slots; done += slots_a_round)
        SUM_ROUND(in_round + done, places_of_slot(offsets, piece, in_round + done));
#else
    for (uint done = 0; done < piece.slots; done += slots_a_round)
        SUM_ROUND(in_round + done, places_of_slot(offsets, piece, in_round + done));
#endif

    // Each team a row of the list.
    barrier(CLK_LOCAL_MEM_FENCE);
    const uint listed = listed_count[0];
    for (uint done = 0; done < listed; done += GROUP_SIZE / TEAM_SIZE) {
        const uint at = done + item / TEAM_SIZE;
        const uint slot = listed_slots[min(at, listed - 1)];
        const uint row = piece.row + slot;
        acc_t sum = acc_zero();
        if (at < listed)
            sum = sum_places(products, places_of_slot(offsets, piece, slot), item % TEAM_SIZE, TEAM_SIZE);
        sum = sum_runs(sum, scratch, TEAM_SIZE);
        if (at < listed && item % TEAM_SIZE == 0 &&
            (!is_cut(piece, slot) || gather_row(piece, row, offsets, borders, &sum)))
            store_result(y, row, alpha, sum, beta);
    }
}

