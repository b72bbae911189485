/* A x = b by sparrow.h: conjugate gradients, told about each residual. */
#define CL_TARGET_OPENCL_VERSION 120
#include <sparrow.h>
#include <stdio.h>
#include <stdlib.h>

static void check(sparrow_status status) {
    if (status == SPARROW_STATUS_SUCCESS) return;
    fprintf(stderr, "%s: %s\n", sparrow_status_name(status), sparrow_last_error());
    exit(1);
}

/* Called at each look at the residual; another number than 0 would end the solve. */
static uint32_t observe(const sparrow_solver_progress *progress, void *user_data) {
    fprintf(user_data, "iteration %u: residual %g\n", (unsigned)progress->iteration,
            progress->history[progress->iteration] / progress->b_norm);
    return 0;
}

int main(void) {
    cl_platform_id platform;
    cl_device_id device;
    if (clGetPlatformIDs(1, &platform, NULL)) return 1;
    if (clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL)) return 1;
    cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, NULL);
    cl_command_queue queue = clCreateCommandQueue(context, device, 0, NULL);

    /* |  2 -1  . |
       | -1  2 -1 |  as row offsets, column indices and values
       |  . -1  2 | */
    uint32_t offsets[] = {0, 2, 5, 7}, columns[] = {0, 1, 0, 1, 2, 1, 2};
    float values[] = {2, -1, -1, 2, -1, -1, 2}, b[] = {1, 0, 1}, x[] = {0, 0, 0};
    sparrow_csr_arrays csr = {.size = sizeof csr, .rows = 3, .cols = 3, .nnz = 7,
        .value_type = SPARROW_VALUE_TYPE_F32, .offset_type = SPARROW_OFFSET_TYPE_U32,
        .offsets = offsets, .columns = columns, .values = values};
    cl_mem b_buffer = clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, sizeof b, b, NULL);
    cl_mem x_buffer = clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, sizeof x, x, NULL);
    sparrow_context *sparrow;
    sparrow_matrix *a;
    sparrow_solver *solver;
    sparrow_solver_options options = {.size = sizeof options, .method = SPARROW_SOLVER_METHOD_CG,
        .preconditioner = SPARROW_PRECONDITIONER_JACOBI, .check_every = 1};
    check(sparrow_context_from_queue(queue, NULL, &sparrow));
    check(sparrow_matrix_upload_blocking(sparrow, queue, &csr, &a));
    check(sparrow_solver_create_blocking(a, queue, &options, 0, NULL, &solver));

    sparrow_stop_rule stop = {.size = sizeof stop, .relative = 1e-5, .max_iterations = 100};
    sparrow_linear_system system = {.size = sizeof system, .a = a, .b = {b_buffer, 0},
        .x = {x_buffer, 0}, .stop = &stop, .observe = observe, .user_data = stdout};
    sparrow_solution solution = {.size = sizeof solution};
    check(sparrow_solver_solve_blocking(solver, queue, &system, 0, NULL, &solution));
    clEnqueueReadBuffer(queue, x_buffer, CL_TRUE, 0, sizeof x, x, 0, NULL, NULL);
    const char *ending = solution.outcome == SPARROW_OUTCOME_CONVERGED ? "converged" : "not converged";
    printf("%s after %u iterations: %g %g %g\n", ending, (unsigned)solution.iterations, x[0], x[1], x[2]);

    sparrow_solver_release(solver), sparrow_matrix_release(a), sparrow_context_release(sparrow);
    clReleaseMemObject(b_buffer), clReleaseMemObject(x_buffer);
    return clReleaseCommandQueue(queue), clReleaseContext(context);
}
