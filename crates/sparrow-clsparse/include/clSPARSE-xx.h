/* Part of Sparrow (MIT OR Apache-2.0): declarations that programs for clSPARSE 0.10 compile against. */
#ifndef CLSPARSE_XX_H
#define CLSPARSE_XX_H

/* What does not depend on how memory is named. */

#if defined(__APPLE__) || defined(__MACOSX)
#include <OpenCL/cl.h>
#else
#include <CL/cl.h>
#endif

#ifndef CLSPARSE_INDEX_SIZEOF
#define CLSPARSE_INDEX_SIZEOF 4
#endif
#if CLSPARSE_INDEX_SIZEOF != 4
#error clSPARSE counts rows, columns and nonzeros in 32 bits; sparrow.h has offsets of 64
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef cl_uint clsparseIdx_t;

/* How elements of a dense matrix lie. */
typedef enum _cldenseMajor { rowMajor = 1, columnMajor = 2 } cldenseMajor;

/* What a control is, and what a solver's is, only the library knows. */
typedef struct _clsparseControl *clsparseControl;
typedef struct _solverControl *clSParseSolverControl;

#ifdef __cplusplus
}
#endif

#endif
