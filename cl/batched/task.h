// Batches: y_p = alpha_p A_p x_p + beta_p y_p for thousands of small matrices, each of its own size, pattern and values
// (Anzt, Collins, Dongarra, Flegar, Quintana-Orti, "Flexible batched sparse matrix-vector product on GPUs", ScalA 2017).
// Each problem is computed by one of six algorithms, each algorithm by a kernel of its own: batched_rows.cl
// (csr_scalar, csr_vector, csr_smart), batched_csr_i.cl and batched_csr_i_in_step.cl, batched_coo.cl, batched_ell.cl.
//
// A task is what one work-group, or one sub-group of it, computes: a problem, or consecutive rows of one that is large
// (batched_plan.cl). The first `whole` tasks of a launch have a group each, the others a sub-group each. Tasks with
// most work come first.
//
// A task has TASK_WORDS 64-bit words:
//
//   0  index of the first entry in `values`
//   1  the same in `columns`; problems that share a pattern share their columns
//   2  index of the first row in the row offsets (CSR), of the first entry in the row indices (COO), of the first slice
//      (sliced ELL)
//   3  index of the first element of x
//   4  index of the first element of y
//   5  rows, and columns << 32
//   6  nonzeros (CSR, COO) or entries of a row (ELL); << 32: ELL the stride between entries of a row, COO the
//      problem's row that is the task's first
//   7  the kind, and the problem << 32
//
// Tasks are listed in memory; or, ONE_RANGE, they are problems of one size at equal distances. Then a launch has the
// words of the first in the first half of `range`, and in its second half what words 0 to 4 grow by from task to task.
#ifndef BATCHED_TASK_H
#define BATCHED_TASK_H

#include "item/accumulate.h"

// The logarithm of a power of two. Quotients by numbers that are no constants are shifts here: they are faster, and
// Oclgrind cannot follow a quotient together with its remainder.
#define LOG2(power) (31 - clz(power))

#define TASK_WORDS 8

#define KIND_CSR_SCALAR 0
#define KIND_CSR_VECTOR 1
#define KIND_CSR_SMART 2
#define KIND_CSR_I 3
#define KIND_COO 4
#define KIND_ELL 5
#define KIND_SLICED_ELL 6

#define SLICE_ROWS 32 // rows that sliced ELL fills up to one length

#ifdef COLUMNS_U16
typedef ushort column_t;
#define PADDING 0xffffu
#else
typedef uint column_t;
#define PADDING 0xffffffffu
#endif

typedef struct {
    ulong values;
    ulong columns;
    ulong index;
    ulong x;
    ulong y;
    uint rows;
    uint cols;
    uint nnz; // ELL: entries of a row
    uint extra; // word 6, upper half
    uint kind;
    uint problem;
} task_t;

// Sets what words 5 to 7 say.
void set_sizes(const ulong shape, const ulong lengths, const ulong kind, task_t *task)
{
    task->rows = (uint)shape;
    task->cols = (uint)(shape >> 32);
    task->nnz = (uint)lengths;
    task->extra = (uint)(lengths >> 32);
    task->kind = (uint)kind;
    task->problem = (uint)(kind >> 32);
}

void read_task(global const ulong *restrict words, task_t *task)
{
    task->values = words[0];
    task->columns = words[1];
    task->index = words[2];
    task->x = words[3];
    task->y = words[4];
    set_sizes(words[5], words[6], words[7], task);
}

void set_task_of_range(const ulong16 range, const uint number, task_t *task)
{
    task->values = range.s0 + number * range.s8;
    task->columns = range.s1 + number * range.s9;
    task->index = range.s2 + number * range.sa;
    task->x = range.s3 + number * range.sb;
    task->y = range.s4 + number * range.sc;
    set_sizes(range.s5, range.s6, range.s7, task);
    task->problem += number;
}

// Finds task `number` of a launch of `count`; past the last, a task without rows.
void find_task(global const ulong *restrict tasks, const ulong16 range, const uint count, const uint number,
               task_t *task)
{
    const uint known = min(number, count - 1);
#ifdef ONE_RANGE
    (void)tasks;
    set_task_of_range(range, known, task);
#else
    (void)range;
    read_task(tasks + (ulong)known * TASK_WORDS, task);
#endif
    if (number >= count)
        task->rows = 0;
}

// alpha or beta of a problem: by value for all, or from an array on the device, in which those of two problems are
// `stride` apart: 0, one for all, or 1.
#ifdef SCALARS_ON_DEVICE
#define SCALAR_OF(name, problem) name##_buffer[name##_start + (ulong)name##_stride * (problem)]
#else
#define SCALAR_OF(name, problem) ((void)name##_stride, name##_value)
#endif

#endif
