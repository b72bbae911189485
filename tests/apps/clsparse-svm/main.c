/* y = A x by clSPARSE's interface for OpenCL 2.x: all of it in shared virtual memory. A from a Matrix Market file,
 * x = (1, 2, 3, ...), on this program's own queue. */
#define BUILD_CLVERSION 200
#undef CL_TARGET_OPENCL_VERSION
#define CL_TARGET_OPENCL_VERSION 200
#include <clSPARSE.h>
#include <clSPARSE-error.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

/* As the library has them: crates/sparrow-clsparse/src/types.rs. */
_Static_assert(sizeof(clsparseScalar) == 8 && sizeof(cldenseVector) == 16, "vectors");
_Static_assert(sizeof(clsparseCsrMatrix) == 48 && offsetof(clsparseCsrMatrix, meta) == 40, "compressed rows");
_Static_assert(sizeof(clsparseCooMatrix) == 40 && sizeof(cldenseMatrix) == 24, "entries and dense matrices");

static void check(int status, const char *what)
{
    if (status != 0) {
        fprintf(stderr, "%s: %s (%d)\n", what, stringifyStatus(status), status);
        exit(1);
    }
}

static void *shared(cl_context context, size_t bytes)
{
    void *memory = clSVMAlloc(context, CL_MEM_READ_WRITE, bytes, 0);
    check(memory == NULL, "clSVMAlloc");
    return memory;
}

static double *mapped(cl_command_queue queue, void *memory, size_t bytes)
{
    check(clEnqueueSVMMap(queue, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, memory, bytes, 0, NULL, NULL), "clEnqueueSVMMap");
    return memory;
}

static void unmapped(cl_command_queue queue, void *memory)
{
    check(clEnqueueSVMUnmap(queue, memory, 0, NULL, NULL), "clEnqueueSVMUnmap");
}

int main(int argc, char **argv)
{
    cl_platform_id platform;
    cl_device_id device;
    cl_int status = argc == 2 ? clGetPlatformIDs(1, &platform, NULL) : CL_INVALID_VALUE;
    check(status, "usage: csrmv MATRIX.mtx");
    check(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL), "clGetDeviceIDs");
    cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &status);
    cl_command_queue queue = clCreateCommandQueueWithProperties(context, device, NULL, &status);
    check(status, "clCreateCommandQueueWithProperties");

    check(clsparseSetup(), "clsparseSetup");
    clsparseCreateResult created = clsparseCreateControl(queue);
    check(created.status, "clsparseCreateControl");
    clsparseCsrMatrix a;
    clsparseInitCsrMatrix(&a);
    check(clsparseHeaderfromFile(&a.num_nonzeros, &a.num_rows, &a.num_cols, argv[1]), argv[1]);
    a.values = shared(context, a.num_nonzeros * sizeof(cl_double));
    a.col_indices = shared(context, a.num_nonzeros * sizeof(cl_uint));
    a.row_pointer = shared(context, (a.num_rows + 1) * sizeof(cl_uint));
    check(clsparseDCsrMatrixfromFile(&a, argv[1], created.control, CL_TRUE), argv[1]);
    check(clsparseCsrMetaCreate(&a, created.control), "clsparseCsrMetaCreate");

    size_t numbers_bytes = 2 * sizeof(cl_double), x_bytes = a.num_cols * sizeof(cl_double);
    size_t y_bytes = a.num_rows * sizeof(cl_double);
    clsparseScalar alpha = {shared(context, numbers_bytes)}, beta = {(cl_double *)alpha.value + 1};
    cldenseVector x = {a.num_cols, shared(context, x_bytes)}, y = {a.num_rows, shared(context, y_bytes)};
    double *numbers = mapped(queue, alpha.value, numbers_bytes);
    numbers[0] = 1.0;
    numbers[1] = 0.0;
    unmapped(queue, alpha.value);
    double *host = mapped(queue, x.values, x_bytes);
    for (cl_uint j = 0; j < a.num_cols; ++j)
        host[j] = j + 1;
    unmapped(queue, x.values);
    check(clsparseDcsrmv(&alpha, &a, &x, &beta, &y, created.control), "clsparseDcsrmv");
    host = mapped(queue, y.values, y_bytes);
    for (cl_uint i = 0; i < a.num_rows; ++i)
        printf("%g\n", host[i]);
    unmapped(queue, y.values);

    clsparseCsrMetaDelete(&a);
    clsparseReleaseControl(created.control);
    check(clFinish(queue), "clFinish");
    void *allocations[] = {a.values, a.col_indices, a.row_pointer, alpha.value, x.values, y.values};
    for (int k = 0; k < 6; ++k)
        clSVMFree(context, allocations[k]);
    return clReleaseCommandQueue(queue) | clReleaseContext(context) | clsparseTeardown();
}
