/* y = A x by clSPARSE's interface: A from a Matrix Market file, x = (1, 2, 3, ...), on this program's own queue. */
#include <clSPARSE.h>
#include <clSPARSE-error.h>
#include <stdio.h>
#include <stdlib.h>

static void check(int status, const char *what)
{
    if (status != 0) {
        fprintf(stderr, "%s: %s (%d)\n", what, stringifyStatus(status), status);
        exit(1);
    }
}

int main(int argc, char **argv)
{
    cl_platform_id platform;
    cl_device_id device;
    cl_int status = argc == 2 ? clGetPlatformIDs(1, &platform, NULL) : CL_INVALID_VALUE;
    check(status, "usage: csrmv MATRIX.mtx");
    check(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL), "clGetDeviceIDs");
    cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &status);
    cl_command_queue queue = clCreateCommandQueue(context, device, 0, &status);
    check(status, "clCreateCommandQueue");

    check(clsparseSetup(), "clsparseSetup");
    clsparseCreateResult created = clsparseCreateControl(queue);
    check(created.status, "clsparseCreateControl");
    clsparseCsrMatrix a;
    clsparseInitCsrMatrix(&a);
    check(clsparseHeaderfromFile(&a.num_nonzeros, &a.num_rows, &a.num_cols, argv[1]), argv[1]);
    a.values = clCreateBuffer(context, CL_MEM_READ_ONLY, a.num_nonzeros * sizeof(cl_double), NULL, &status);
    a.col_indices = clCreateBuffer(context, CL_MEM_READ_ONLY, a.num_nonzeros * sizeof(cl_uint), NULL, &status);
    a.row_pointer = clCreateBuffer(context, CL_MEM_READ_ONLY, (a.num_rows + 1) * sizeof(cl_uint), NULL, &status);
    check(clsparseDCsrMatrixfromFile(&a, argv[1], created.control, CL_TRUE), argv[1]);
    check(clsparseCsrMetaCreate(&a, created.control), "clsparseCsrMetaCreate");

    cl_double numbers[2] = {1.0, 0.0}, *host = calloc(a.num_cols + a.num_rows, sizeof(cl_double));
    for (cl_uint j = 0; j < a.num_cols; ++j)
        host[j] = j + 1;
    cl_mem_flags copy = CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR;
    clsparseScalar alpha = {clCreateBuffer(context, copy, sizeof numbers, numbers, &status), 0};
    clsparseScalar beta = {alpha.value, 1};
    cldenseVector x = {a.num_cols, clCreateBuffer(context, copy, a.num_cols * sizeof *host, host, &status), 0};
    cldenseVector y = {a.num_rows, clCreateBuffer(context, CL_MEM_READ_WRITE, a.num_rows * sizeof *host, NULL, &status), 0};
    check(clsparseDcsrmv(&alpha, &a, &x, &beta, &y, created.control), "clsparseDcsrmv");
    check(clEnqueueReadBuffer(queue, y.values, CL_TRUE, 0, a.num_rows * sizeof *host, host, 0, NULL, NULL), "y");
    for (cl_uint i = 0; i < a.num_rows; ++i)
        printf("%g\n", host[i]);

    clsparseCsrMetaDelete(&a);
    clsparseReleaseControl(created.control);
    cl_mem buffers[] = {a.values, a.col_indices, a.row_pointer, alpha.value, x.values, y.values};
    for (int k = 0; k < 6; ++k)
        clReleaseMemObject(buffers[k]);
    free(host);
    return clReleaseCommandQueue(queue) | clReleaseContext(context) | clsparseTeardown();
}
