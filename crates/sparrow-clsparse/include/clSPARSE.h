/* Part of Sparrow (MIT OR Apache-2.0): declarations that programs for clSPARSE 0.10 compile against. */
#ifndef CLSPARSE_H
#define CLSPARSE_H

/*
 * Sparse products on OpenCL buffers, or with BUILD_CLVERSION of 200 and more on shared virtual memory, under the
 * interface of clSPARSE 0.10.
 *
 * Everything that is computed with, alpha and beta too, lies in buffers of the application's. Offsets count
 * elements. Every function returns a status, and none aborts or unwinds, or prints, but solvers where
 * clsparseSolverPrintMode asks for it. Products may be written over what they
 * multiply, or over alpha or beta, which then count as they were.
 * Buffers may deny the host access (CL_MEM_HOST_NO_ACCESS and its like). docs/c-api.md says who owns what, and what was mended since the original.
 */

#include "clsparse_export.h"

#if defined(BUILD_CLVERSION) && BUILD_CLVERSION >= 200
#include "clSPARSE-2x.h"
#else
#include "clSPARSE-1x.h"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* How a call ended. */
typedef enum clsparseStatus_ {
    clsparseSuccess = 0,
    clsparseInvalidValue = -30,
    clsparseInvalidCommandQueue = -36,
    clsparseInvalidContext = -34,
    clsparseInvalidMemObject = -38,
    clsparseInvalidDevice = -33,
    clsparseInvalidEventWaitList = -57,
    clsparseInvalidEvent = -58,
    clsparseOutOfResources = -5,
    clsparseOutOfHostMemory = -6,
    clsparseInvalidOperation = -59,
    clsparseCompilerNotAvailable = -3,
    clsparseBuildProgramFailure = -11,
    clsparseInvalidKernelArgs = -52,

    clsparseNotImplemented = -1024,
    clsparseNotInitialized,
    clsparseStructInvalid,
    clsparseInvalidSize,
    clsparseInvalidMemObj,
    clsparseInsufficientMemory,
    clsparseInvalidControlObject,
    clsparseInvalidFile,
    clsparseInvalidFileFormat,
    clsparseInvalidKernelExecution,
    clsparseInvalidType,

    clsparseInvalidSolverControlObject = -2048,
    clsparseInvalidSystemSize,
    clsparseIterationsExceeded,
    clsparseToleranceNotReached,
    clsparseSolverError
} clsparseStatus;

/* How much a solver prints. */
typedef enum _print_mode { QUIET = 0, NORMAL, VERBOSE } PRINT_MODE;

/* What a solver multiplies by before. */
typedef enum _precond { NOPRECOND = 0, DIAGONAL } PRECONDITIONER;

typedef struct _clsparseCreateResult {
    clsparseStatus status;
    clsparseControl control;
} clsparseCreateResult;

typedef struct _clsparseEventResult {
    clsparseStatus status;
    cl_event event;
} clsparseEventResult;

typedef struct _clsparseCreateSolverResult {
    clsparseStatus status;
    clSParseSolverControl control;
} clsparseCreateSolverResult;

typedef struct _clsparseMetaSizeResult {
    clsparseStatus status;
    clsparseIdx_t metaSize;
} clsparseMetaSizeResult;

/* Setting up: products are refused before, and after tearing down. */
CLSPARSE_EXPORT clsparseStatus clsparseSetup(void);
CLSPARSE_EXPORT clsparseStatus clsparseTeardown(void);
CLSPARSE_EXPORT clsparseStatus clsparseGetVersion(cl_uint *major, cl_uint *minor, cl_uint *patch, cl_uint *tweak);

/* Structures as they are before they are filled in. A meta that was there lives on. */
CLSPARSE_EXPORT clsparseStatus clsparseInitScalar(clsparseScalar *scalar);
CLSPARSE_EXPORT clsparseStatus clsparseInitVector(cldenseVector *vec);
CLSPARSE_EXPORT clsparseStatus clsparseInitCooMatrix(clsparseCooMatrix *cooMatx);
CLSPARSE_EXPORT clsparseStatus clsparseInitCsrMatrix(clsparseCsrMatrix *csrMatx);
CLSPARSE_EXPORT clsparseStatus cldenseInitMatrix(cldenseMatrix *denseMatx);

/* A control is a queue and how calls use it. Calls wait for their results unless async is on; then the event of
 * the last kernel can be asked for, which the caller releases. */
CLSPARSE_EXPORT clsparseCreateResult clsparseCreateControl(cl_command_queue queue);
CLSPARSE_EXPORT clsparseStatus clsparseEnableAsync(clsparseControl control, cl_bool async);
CLSPARSE_EXPORT clsparseStatus clsparseEnableExtendedPrecision(clsparseControl control, cl_bool extPrecision);
CLSPARSE_EXPORT clsparseEventResult clsparseGetEvent(clsparseControl control);
CLSPARSE_EXPORT clsparseStatus clsparseReleaseControl(clsparseControl control);

/* What a solver is told. */
CLSPARSE_EXPORT clsparseCreateSolverResult clsparseCreateSolverControl(PRECONDITIONER precond, cl_int maxIters,
                                                                       cl_double relTol, cl_double absTol);
CLSPARSE_EXPORT clsparseStatus clsparseReleaseSolverControl(clSParseSolverControl solverControl);
CLSPARSE_EXPORT clsparseStatus clsparseSetSolverParams(clSParseSolverControl solverControl,
                                                       PRECONDITIONER precond, cl_int maxIters,
                                                       cl_double relTol, cl_double absTol);
CLSPARSE_EXPORT clsparseStatus clsparseSolverPrintMode(clSParseSolverControl solverControl, PRINT_MODE mode);

/* Matrix Market files: first the sizes (nonzeros at most), then the matrix into buffers of at least those. */
CLSPARSE_EXPORT clsparseStatus clsparseHeaderfromFile(clsparseIdx_t *nnz, clsparseIdx_t *row, clsparseIdx_t *col,
                                                      const char *filePath);
CLSPARSE_EXPORT clsparseStatus clsparseSCooMatrixfromFile(clsparseCooMatrix *cooMatx, const char *filePath,
                                                          clsparseControl control,
                                                          cl_bool read_explicit_zeroes);
CLSPARSE_EXPORT clsparseStatus clsparseDCooMatrixfromFile(clsparseCooMatrix *cooMatx, const char *filePath,
                                                          clsparseControl control,
                                                          cl_bool read_explicit_zeroes);
CLSPARSE_EXPORT clsparseStatus clsparseSCsrMatrixfromFile(clsparseCsrMatrix *csrMatx, const char *filePath,
                                                          clsparseControl control,
                                                          cl_bool read_explicit_zeroes);
CLSPARSE_EXPORT clsparseStatus clsparseDCsrMatrixfromFile(clsparseCsrMatrix *csrMatx, const char *filePath,
                                                          clsparseControl control,
                                                          cl_bool read_explicit_zeroes);

/* What is computed once from a pattern, by its first product. Make it again when the pattern changes. */
CLSPARSE_EXPORT clsparseMetaSizeResult clsparseCsrMetaSize(clsparseCsrMatrix *csrMatx, clsparseControl control);
CLSPARSE_EXPORT clsparseStatus clsparseCsrMetaCreate(clsparseCsrMatrix *csrMatx, clsparseControl control);
CLSPARSE_EXPORT clsparseStatus clsparseCsrMetaDelete(clsparseCsrMatrix *csrMatx);

/* r = alpha y */
CLSPARSE_EXPORT clsparseStatus cldenseSscale(cldenseVector *r, const clsparseScalar *alpha, const cldenseVector *y,
                                              const clsparseControl control);
CLSPARSE_EXPORT clsparseStatus cldenseDscale(cldenseVector *r, const clsparseScalar *alpha, const cldenseVector *y,
                                              const clsparseControl control);

/* r = alpha x + y */
CLSPARSE_EXPORT clsparseStatus cldenseSaxpy(cldenseVector *r, const clsparseScalar *alpha, const cldenseVector *x, const cldenseVector *y,
                                              const clsparseControl control);
CLSPARSE_EXPORT clsparseStatus cldenseDaxpy(cldenseVector *r, const clsparseScalar *alpha, const cldenseVector *x, const cldenseVector *y,
                                              const clsparseControl control);

/* r = alpha x + beta y */
CLSPARSE_EXPORT clsparseStatus cldenseSaxpby(cldenseVector *r, const clsparseScalar *alpha, const cldenseVector *x, const clsparseScalar *beta, const cldenseVector *y,
                                              const clsparseControl control);
CLSPARSE_EXPORT clsparseStatus cldenseDaxpby(cldenseVector *r, const clsparseScalar *alpha, const cldenseVector *x, const clsparseScalar *beta, const cldenseVector *y,
                                              const clsparseControl control);

/* s = the sum of x */
CLSPARSE_EXPORT clsparseStatus cldenseIreduce(clsparseScalar *s, const cldenseVector *x,
                                              const clsparseControl control);
CLSPARSE_EXPORT clsparseStatus cldenseSreduce(clsparseScalar *s, const cldenseVector *x,
                                              const clsparseControl control);
CLSPARSE_EXPORT clsparseStatus cldenseDreduce(clsparseScalar *s, const cldenseVector *x,
                                              const clsparseControl control);

/* s = the sum of |x| */
CLSPARSE_EXPORT clsparseStatus cldenseSnrm1(clsparseScalar *s, const cldenseVector *x,
                                              const clsparseControl control);
CLSPARSE_EXPORT clsparseStatus cldenseDnrm1(clsparseScalar *s, const cldenseVector *x,
                                              const clsparseControl control);

/* s = the root of the sum of x x */
CLSPARSE_EXPORT clsparseStatus cldenseSnrm2(clsparseScalar *s, const cldenseVector *x,
                                              const clsparseControl control);
CLSPARSE_EXPORT clsparseStatus cldenseDnrm2(clsparseScalar *s, const cldenseVector *x,
                                              const clsparseControl control);

/* r = the sum of x y */
CLSPARSE_EXPORT clsparseStatus cldenseSdot(clsparseScalar *r, const cldenseVector *x, const cldenseVector *y,
                                              const clsparseControl control);
CLSPARSE_EXPORT clsparseStatus cldenseDdot(clsparseScalar *r, const cldenseVector *x, const cldenseVector *y,
                                              const clsparseControl control);

/* Element by element: r = x + y, x - y, x y, x / y */
CLSPARSE_EXPORT clsparseStatus cldenseSadd(cldenseVector *r, const cldenseVector *x, const cldenseVector *y,
                                              const clsparseControl control);
CLSPARSE_EXPORT clsparseStatus cldenseDadd(cldenseVector *r, const cldenseVector *x, const cldenseVector *y,
                                              const clsparseControl control);
CLSPARSE_EXPORT clsparseStatus cldenseSsub(cldenseVector *r, const cldenseVector *x, const cldenseVector *y,
                                              const clsparseControl control);
CLSPARSE_EXPORT clsparseStatus cldenseDsub(cldenseVector *r, const cldenseVector *x, const cldenseVector *y,
                                              const clsparseControl control);
CLSPARSE_EXPORT clsparseStatus cldenseSmul(cldenseVector *r, const cldenseVector *x, const cldenseVector *y,
                                              const clsparseControl control);
CLSPARSE_EXPORT clsparseStatus cldenseDmul(cldenseVector *r, const cldenseVector *x, const cldenseVector *y,
                                              const clsparseControl control);
CLSPARSE_EXPORT clsparseStatus cldenseSdiv(cldenseVector *r, const cldenseVector *x, const cldenseVector *y,
                                              const clsparseControl control);
CLSPARSE_EXPORT clsparseStatus cldenseDdiv(cldenseVector *r, const cldenseVector *x, const cldenseVector *y,
                                              const clsparseControl control);

/* y = alpha A x + beta y; with beta = 0, y is not read */
CLSPARSE_EXPORT clsparseStatus clsparseScsrmv(const clsparseScalar *alpha, const clsparseCsrMatrix *matx,
                                              const cldenseVector *x, const clsparseScalar *beta,
                                              cldenseVector *y, const clsparseControl control);
CLSPARSE_EXPORT clsparseStatus clsparseDcsrmv(const clsparseScalar *alpha, const clsparseCsrMatrix *matx,
                                              const cldenseVector *x, const clsparseScalar *beta,
                                              cldenseVector *y, const clsparseControl control);
CLSPARSE_EXPORT clsparseStatus clsparseScoomv(const clsparseScalar *alpha, const clsparseCooMatrix *matx,
                                              const cldenseVector *x, const clsparseScalar *beta,
                                              cldenseVector *y, const clsparseControl control);
CLSPARSE_EXPORT clsparseStatus clsparseDcoomv(const clsparseScalar *alpha, const clsparseCooMatrix *matx,
                                              const cldenseVector *x, const clsparseScalar *beta,
                                              cldenseVector *y, const clsparseControl control);

/* C = alpha A B + beta C; with beta = 0, C is not read */
CLSPARSE_EXPORT clsparseStatus clsparseScsrmm(const clsparseScalar *alpha, const clsparseCsrMatrix *sparseMatA,
                                              const cldenseMatrix *denseMatB, const clsparseScalar *beta,
                                              cldenseMatrix *denseMatC, const clsparseControl control);
CLSPARSE_EXPORT clsparseStatus clsparseDcsrmm(const clsparseScalar *alpha, const clsparseCsrMatrix *sparseMatA,
                                              const cldenseMatrix *denseMatB, const clsparseScalar *beta,
                                              cldenseMatrix *denseMatC, const clsparseControl control);

/* C = A B, all sparse */
CLSPARSE_EXPORT clsparseStatus clsparseScsrSpGemm(const clsparseCsrMatrix *sparseMatA,
                                                  const clsparseCsrMatrix *sparseMatB,
                                                  clsparseCsrMatrix *sparseMatC,
                                                  const clsparseControl control);

/* A x = b by conjugate gradients, or by BiCGStab */
CLSPARSE_EXPORT clsparseStatus clsparseScsrcg(cldenseVector *x, const clsparseCsrMatrix *A,
                                              const cldenseVector *b, clSParseSolverControl solverControl,
                                              clsparseControl control);
CLSPARSE_EXPORT clsparseStatus clsparseDcsrcg(cldenseVector *x, const clsparseCsrMatrix *A,
                                              const cldenseVector *b, clSParseSolverControl solverControl,
                                              clsparseControl control);
CLSPARSE_EXPORT clsparseStatus clsparseScsrbicgStab(cldenseVector *x, const clsparseCsrMatrix *A,
                                              const cldenseVector *b, clSParseSolverControl solverControl,
                                              clsparseControl control);
CLSPARSE_EXPORT clsparseStatus clsparseDcsrbicgStab(cldenseVector *x, const clsparseCsrMatrix *A,
                                              const cldenseVector *b, clSParseSolverControl solverControl,
                                              clsparseControl control);

/* From one form to another */
CLSPARSE_EXPORT clsparseStatus clsparseScsr2coo(const clsparseCsrMatrix *csr, clsparseCooMatrix *coo,
                                                const clsparseControl control);
CLSPARSE_EXPORT clsparseStatus clsparseDcsr2coo(const clsparseCsrMatrix *csr, clsparseCooMatrix *coo,
                                                const clsparseControl control);
CLSPARSE_EXPORT clsparseStatus clsparseScoo2csr(const clsparseCooMatrix *coo, clsparseCsrMatrix *csr,
                                                const clsparseControl control);
CLSPARSE_EXPORT clsparseStatus clsparseDcoo2csr(const clsparseCooMatrix *coo, clsparseCsrMatrix *csr,
                                                const clsparseControl control);
CLSPARSE_EXPORT clsparseStatus clsparseScsr2dense(const clsparseCsrMatrix *csr, cldenseMatrix *A,
                                                  const clsparseControl control);
CLSPARSE_EXPORT clsparseStatus clsparseDcsr2dense(const clsparseCsrMatrix *csr, cldenseMatrix *A,
                                                  const clsparseControl control);
CLSPARSE_EXPORT clsparseStatus clsparseSdense2csr(const cldenseMatrix *A, clsparseCsrMatrix *csr,
                                                  const clsparseControl control);
CLSPARSE_EXPORT clsparseStatus clsparseDdense2csr(const cldenseMatrix *A, clsparseCsrMatrix *csr,
                                                  const clsparseControl control);

#ifdef __cplusplus
}
#endif

#endif
