/* Part of Sparrow (MIT OR Apache-2.0): declarations that programs for clSPARSE 0.10 compile against. */
#ifndef CLSPARSE_2X_H
#define CLSPARSE_2X_H

/*
 * Structures for OpenCL 2.x: memory is shared virtual memory, by its address, and there are no offsets. They are chosen by
 * BUILD_CLVERSION of 200 and more, as the original's were by how it was built.
 *
 * One library serves programs of both kinds. What a control is called with lies as its program was compiled, so controls
 * are made by another function, as are the few that take no control: the names below. All others are the same.
 *
 * Shared virtual memory, coarse-grained or finer, lives until all that was enqueued with it has ended. An address is a
 * multiple of the element's size, or clsparseInvalidValue; NULL is clsparseInvalidMemObj; a device that has none is
 * clsparseInvalidDevice where a control is made. What clsparseScsrSpGemm makes is freed by clSVMFree.
 */

#include "clSPARSE-xx.h"

#define clsparseCreateControl clsparseCreateControlSvm
#define clsparseInitScalar clsparseInitScalarSvm
#define clsparseInitVector clsparseInitVectorSvm
#define clsparseInitCooMatrix clsparseInitCooMatrixSvm
#define clsparseInitCsrMatrix clsparseInitCsrMatrixSvm
#define cldenseInitMatrix cldenseInitMatrixSvm
#define clsparseCsrMetaDelete clsparseCsrMetaDeleteSvm

#ifdef __cplusplus
extern "C" {
#endif

/* One number. */
typedef struct clsparseScalar_ {
    void *value;
} clsparseScalar;

/* A dense vector. */
typedef struct cldenseVector_ {
    clsparseIdx_t num_values;
    void *values;
} cldenseVector;

/* A matrix in compressed rows; row_pointer has num_rows + 1 entries, indices count from 0. */
typedef struct clsparseCsrMatrix_ {
    clsparseIdx_t num_rows;
    clsparseIdx_t num_cols;
    clsparseIdx_t num_nonzeros;
    void *values;
    void *col_indices;
    void *row_pointer;
    void *meta; /* the library's: clsparseCsrMetaCreate, clsparseCsrMetaDelete */
} clsparseCsrMatrix;

/* A matrix as entries. */
typedef struct clsparseCooMatrix_ {
    clsparseIdx_t num_rows;
    clsparseIdx_t num_cols;
    clsparseIdx_t num_nonzeros;
    void *values;
    void *col_indices;
    void *row_indices;
} clsparseCooMatrix;

/* A dense matrix. */
typedef struct cldenseMatrix_ {
    clsparseIdx_t num_rows;
    clsparseIdx_t num_cols;
    clsparseIdx_t lead_dim;
    cldenseMajor major;
    void *values;
} cldenseMatrix;

#ifdef __cplusplus
}
#endif

#endif
