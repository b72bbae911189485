/* y = A x by sparrow.h, with A in ELL and COO where the application holds it: two slots a row, and an entry beyond. */
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
       | 4 6 2 |  the first slots of all rows, then the second ones; the 2 is an entry
       | . 7 3 | */
    uint32_t columns[] = {0, 0, 1, 2, 1, 2}, entry_row[] = {1}, entry_column[] = {2};
    float values[] = {5, 4, 7, 1, 6, 3}, entry_value[] = {2}, x[] = {1, 2, 3}, y[3];
    cl_mem_flags copy = CL_MEM_COPY_HOST_PTR;
    sparrow_hyb_buffers hyb = {.size = sizeof hyb, .rows = 3, .cols = 3, .ell_width = 2,
        .coo_entries = 1, .value_type = SPARROW_VALUE_TYPE_F32,
        .ell_columns = {clCreateBuffer(context, copy, sizeof columns, columns, NULL), 0},
        .ell_values = {clCreateBuffer(context, copy, sizeof values, values, NULL), 0},
        .coo_rows = {clCreateBuffer(context, copy, sizeof entry_row, entry_row, NULL), 0},
        .coo_columns = {clCreateBuffer(context, copy, sizeof entry_column, entry_column, NULL), 0},
        .coo_values = {clCreateBuffer(context, copy, sizeof entry_value, entry_value, NULL), 0}};
    cl_mem x_buffer = clCreateBuffer(context, copy, sizeof x, x, NULL);
    cl_mem y_buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, sizeof y, NULL, NULL);

    sparrow_context *sparrow;
    sparrow_hyb_matrix *a;
    sparrow_hyb_plan *plan;
    sparrow_workspace *workspace;
    check(sparrow_context_from_queue(queue, NULL, &sparrow));
    check(sparrow_hyb_matrix_from_buffers(sparrow, &hyb, &a));
    check(sparrow_hyb_plan_create_blocking(a, queue, NULL, 0, NULL, &plan));
    check(sparrow_hyb_plan_workspace_blocking(plan, queue, &workspace));

    cl_event event;
    sparrow_hyb_product product = {.size = sizeof product, .alpha = {1.0}, .x = {x_buffer, 0},
        .beta = {0.0}, .y = {y_buffer, 0}};
    check(sparrow_hyb_plan_launch(plan, queue, workspace, &product, 0, NULL, &event));
    clEnqueueReadBuffer(queue, y_buffer, CL_TRUE, 0, sizeof y, y, 1, &event, NULL);
    printf("%g %g %g\n", y[0], y[1], y[2]);

    clReleaseEvent(event);
    sparrow_workspace_release(workspace), sparrow_hyb_plan_release(plan);
    sparrow_hyb_matrix_release(a), sparrow_context_release(sparrow);
    clReleaseMemObject(hyb.ell_columns.memory), clReleaseMemObject(hyb.ell_values.memory);
    clReleaseMemObject(hyb.coo_rows.memory), clReleaseMemObject(hyb.coo_columns.memory);
    clReleaseMemObject(hyb.coo_values.memory), clReleaseMemObject(x_buffer);
    clReleaseMemObject(y_buffer), clReleaseCommandQueue(queue), clReleaseContext(context);
    return 0;
}
