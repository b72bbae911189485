/* Times calls of sparrow_plan_launch, each with an event: what calls.py, which says how, is compared with. */
#define CL_TARGET_OPENCL_VERSION 120
#include <sparrow.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define ROW 10

static void check(sparrow_status status)
{
    if (status == SPARROW_STATUS_SUCCESS) return;
    fprintf(stderr, "%s: %s\n", sparrow_status_name(status), sparrow_last_error());
    exit(1);
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return 1e6 * time.tv_sec + 1e-3 * time.tv_nsec;
}

static int ascending(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

static cl_mem filled(cl_context context, size_t bytes, void *from)
{
    return clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, bytes, from, NULL);
}

int main(int count, char **arguments)
{
    if (count != 3) return fprintf(stderr, "calls ROWS CALLS\n"), 2;
    uint64_t rows = strtoull(arguments[1], NULL, 10), nonzeros = rows * ROW;
    int calls = atoi(arguments[2]);

    cl_platform_id platform;
    cl_device_id device;
    if (clGetPlatformIDs(1, &platform, NULL) != CL_SUCCESS
        || clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL) != CL_SUCCESS)
        return fprintf(stderr, "no device\n"), 1;
    cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, NULL);
    cl_command_queue queue = clCreateCommandQueue(context, device, 0, NULL);

    uint32_t *offsets = malloc((rows + 1) * sizeof *offsets), *columns = malloc(nonzeros * sizeof *columns);
    double *values = malloc(nonzeros * sizeof *values), *x = malloc(rows * sizeof *x);
    double *call = malloc(calls * sizeof *call), *done = malloc(calls * sizeof *done);
    for (uint64_t row = 0; row <= rows; row++) offsets[row] = row * ROW;
    for (uint64_t at = 0; at < nonzeros; at++) columns[at] = at * 2654435761u % rows, values[at] = 1;
    for (uint64_t row = 0; row < rows; row++) x[row] = 1;
    sparrow_csr_buffers csr = {.size = sizeof csr, .rows = rows, .cols = rows, .nnz = nonzeros};
    csr.value_type = SPARROW_VALUE_TYPE_F64;
    csr.offset_type = SPARROW_OFFSET_TYPE_U32;
    csr.offsets.memory = filled(context, (rows + 1) * sizeof *offsets, offsets);
    csr.columns.memory = filled(context, nonzeros * sizeof *columns, columns);
    csr.values.memory = filled(context, nonzeros * sizeof *values, values);

    sparrow_context *sparrow;
    sparrow_matrix *matrix;
    sparrow_plan *plan;
    sparrow_workspace *workspace;
    check(sparrow_context_from_queue(queue, NULL, &sparrow));
    check(sparrow_matrix_from_buffers_blocking(sparrow, queue, &csr, 0, NULL, &matrix));
    check(sparrow_plan_create_blocking(matrix, queue, NULL, 0, NULL, &plan));
    check(sparrow_plan_workspace_blocking(plan, queue, &workspace));
    sparrow_product product = {.size = sizeof product, .alpha = {1}, .a = matrix, .beta = {0}};
    product.x.memory = filled(context, rows * sizeof *x, x);
    product.y.memory = clCreateBuffer(context, CL_MEM_READ_WRITE, rows * sizeof *x, NULL, NULL);

    cl_event event;
    for (int at = 0; at < 100 + calls; at++) {
        double began = now();
        check(sparrow_plan_launch(plan, queue, workspace, &product, 0, NULL, &event));
        double enqueued = now();
        clReleaseEvent(event);
        clFinish(queue);
        if (at >= 100) call[at - 100] = enqueued - began, done[at - 100] = now() - began;
    }
    double began = now();
    for (int at = 0; at < calls; at++) {
        check(sparrow_plan_launch(plan, queue, workspace, &product, 0, NULL, &event));
        clReleaseEvent(event);
    }
    clFinish(queue);
    double many = (now() - began) / calls;
    qsort(call, calls, sizeof *call, ascending);
    qsort(done, calls, sizeof *done, ascending);
    printf("C:      call %.2f, done %.2f, many %.2f us\n", call[calls / 2], done[calls / 2], many);
    return 0;
}
