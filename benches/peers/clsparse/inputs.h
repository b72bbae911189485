/* What functions.c times: its cases, and their operands on the device. */
#ifndef SPARROW_INPUTS_H
#define SPARROW_INPUTS_H

#define CL_TARGET_OPENCL_VERSION 120
#include <clSPARSE.h>

/* How a function is called. */
enum kind {
    SCALE, AXPY, AXPBY, REDUCE, DOT, ELEMENT_WISE,
    CSRMV, CSRMV_META, COOMV, CSRMM, SPGEMM, SOLVE,
    CSR2COO, COO2CSR, CSR2DENSE, DENSE2CSR,
    META, META_SIZE, HEADER, READ_COO, READ_CSR, CONTROL
};

struct timed_case {
    const char *function;
    /* Of vectors their length, of matrices "grid" and the points of a side. */
    const char *input;
    enum kind kind;
    cl_uint size;
};

/* Ends with a case without a function. */
extern const struct timed_case CASES[];

enum { PATH_BYTES = 64 };

struct bench {
    const struct timed_case *timed;
    void *function, *library;
    cl_context context;
    cl_command_queue queue;
    clsparseControl control;
    clSParseSolverControl solver;
    clsparseScalar alpha, beta, scalar;
    cldenseVector x, y, r;
    clsparseCsrMatrix a, c;
    clsparseCooMatrix coo;
    cldenseMatrix dense_b, dense_c;
    char path[PATH_BYTES];
};

/* The matrix file that a process writes, where it writes one. */
void path_of(long process, char path[PATH_BYTES]);

/* Makes the operands; 0 where that fails. */
int prepare(struct bench *bench, void *library, const struct timed_case *timed);

/* One call; its status. */
int call(struct bench *bench);

/* What has to be put right between two calls, and is not timed. */
void between(struct bench *bench);

#endif
