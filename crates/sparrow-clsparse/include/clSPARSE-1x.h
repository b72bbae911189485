/* Part of Sparrow (MIT OR Apache-2.0): declarations that programs for clSPARSE 0.10 compile against. */
#ifndef CLSPARSE_1X_H
#define CLSPARSE_1X_H

/* Structures for OpenCL 1.x: memory is a cl_mem and an offset in elements. */

#include "clSPARSE-xx.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One number in device memory. */
typedef struct clsparseScalar_ {
    cl_mem value;
    clsparseIdx_t off_value;
} clsparseScalar;

/* A dense vector. */
typedef struct cldenseVector_ {
    clsparseIdx_t num_values;
    cl_mem values;
    clsparseIdx_t off_values;
} cldenseVector;

/* A matrix in compressed rows; row_pointer has num_rows + 1 entries, indices count from 0. */
typedef struct clsparseCsrMatrix_ {
    clsparseIdx_t num_rows;
    clsparseIdx_t num_cols;
    clsparseIdx_t num_nonzeros;
    cl_mem values;
    cl_mem col_indices;
    cl_mem row_pointer;
    clsparseIdx_t off_values;
    clsparseIdx_t off_col_indices;
    clsparseIdx_t off_row_pointer;
    void *meta; /* the library's: clsparseCsrMetaCreate, clsparseCsrMetaDelete */
} clsparseCsrMatrix;

/* A matrix as entries. */
typedef struct clsparseCooMatrix_ {
    clsparseIdx_t num_rows;
    clsparseIdx_t num_cols;
    clsparseIdx_t num_nonzeros;
    cl_mem values;
    cl_mem col_indices;
    cl_mem row_indices;
    clsparseIdx_t off_values;
    clsparseIdx_t off_col_indices;
    clsparseIdx_t off_row_indices;
} clsparseCooMatrix;

/* A dense matrix. */
typedef struct cldenseMatrix_ {
    clsparseIdx_t num_rows;
    clsparseIdx_t num_cols;
    clsparseIdx_t lead_dim;
    cldenseMajor major;
    cl_mem values;
    clsparseIdx_t off_values;
} cldenseMatrix;

#ifdef __cplusplus
}
#endif

#endif
