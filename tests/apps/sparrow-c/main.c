/* y = A x by sparrow.h, in an application that has its own context, queue and buffers. */
#define CL_TARGET_OPENCL_VERSION 120
#include <sparrow.h>
#include <stdio.h>
#include <stdlib.h>

static void check(sparrow_status status) {
    if (status == SPARROW_STATUS_SUCCESS) return;
    fprintf(stderr, "%s: %s\n", sparrow_status_name(status), sparrow_last_error());
    exit(1);
}

int main(void) {
    cl_platform_id platform;
    cl_device_id device;
    if (clGetPlatformIDs(1, &platform, NULL) ||
        clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL))
        return fprintf(stderr, "no OpenCL device\n"), 1;
    cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, NULL);
    cl_command_queue queue = clCreateCommandQueue(context, device, 0, NULL);

    /* | 5 . 1 |
       | . . . |  as row offsets, column indices and values
       | . 7 3 | */
    uint32_t offsets[] = {0, 2, 2, 4}, columns[] = {0, 2, 1, 2};
    float values[] = {5, 1, 7, 3}, x[] = {1, 2, 3}, y[3];
    cl_mem_flags copy = CL_MEM_COPY_HOST_PTR;
    sparrow_csr_buffers csr = {.size = sizeof csr, .rows = 3, .cols = 3, .nnz = 4,
        .value_type = SPARROW_VALUE_TYPE_F32, .offset_type = SPARROW_OFFSET_TYPE_U32,
        .offsets = {clCreateBuffer(context, copy, sizeof offsets, offsets, NULL), 0},
        .columns = {clCreateBuffer(context, copy, sizeof columns, columns, NULL), 0},
        .values = {clCreateBuffer(context, copy, sizeof values, values, NULL), 0}};
    cl_mem x_buffer = clCreateBuffer(context, copy, sizeof x, x, NULL);
    cl_mem y_buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, sizeof y, NULL, NULL);

    sparrow_context *sparrow;
    sparrow_matrix *a;
    sparrow_plan *plan;
    sparrow_workspace *workspace;
    check(sparrow_context_from_queue(queue, NULL, &sparrow));
    check(sparrow_matrix_from_buffers_blocking(sparrow, queue, &csr, 0, NULL, &a));
    check(sparrow_plan_create_blocking(a, queue, NULL, 0, NULL, &plan));
    check(sparrow_plan_workspace_blocking(plan, queue, &workspace));

    cl_event event;
    sparrow_product product = {.size = sizeof product, .alpha = {1.0}, .a = a,
        .x = {x_buffer, 0}, .beta = {0.0}, .y = {y_buffer, 0}};
    check(sparrow_plan_launch(plan, queue, workspace, &product, 0, NULL, &event));
    clEnqueueReadBuffer(queue, y_buffer, CL_TRUE, 0, sizeof y, y, 1, &event, NULL);
    printf("%g %g %g\n", y[0], y[1], y[2]);

    clReleaseEvent(event);
    sparrow_workspace_release(workspace), sparrow_plan_release(plan);
    sparrow_matrix_release(a), sparrow_context_release(sparrow);
    clReleaseMemObject(csr.offsets.memory), clReleaseMemObject(csr.columns.memory);
    clReleaseMemObject(csr.values.memory), clReleaseMemObject(x_buffer);
    clReleaseMemObject(y_buffer), clReleaseCommandQueue(queue), clReleaseContext(context);
    return 0;
}
