/* Opens the library at run time and multiplies from four threads on two contexts at once. Prints what all agree on. */
#include <clSPARSE.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { THREADS = 4, ROUNDS = 50, ROWS = 5, NNZ = 9 };
static cl_uint offsets[ROWS + 1] = {0, 3, 5, 6, 8, 9}, columns[NNZ] = {0, 1, 4, 0, 1, 3, 2, 3, 0};
static cl_float values[NNZ] = {4, -1, 3, -1, 5, 2, 2, 7, 3}, numbers[2 + ROWS] = {1, 0, 1, 2, 3, 4, 5};
static const cl_float expected[ROWS] = {17, 9, 8, 34, 3};
static cl_device_id device;
static void *library;
#define BUFFER(array) clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, sizeof array, array, NULL)
/* A function of the library's. */
#define CALL(name) ((__typeof__(&name))dlsym(library, #name))

static void *multiply(void *of)
{
    cl_context context = *(cl_context *)of;
    cl_command_queue queue = clCreateCommandQueue(context, device, 0, NULL);
    clsparseControl control = CALL(clsparseCreateControl)(queue).control;
    cl_mem buffers[5] = {BUFFER(values), BUFFER(columns), BUFFER(offsets), BUFFER(numbers), BUFFER(values)};
    clsparseCsrMatrix a = {ROWS, ROWS, NNZ, buffers[0], buffers[1], buffers[2], 0, 0, 0, NULL};
    clsparseScalar alpha = {buffers[3], 0}, beta = {buffers[3], 1};
    cldenseVector x = {ROWS, buffers[3], 2}, y = {ROWS, buffers[4], 0};
    long wrong = CALL(clsparseCsrMetaCreate)(&a, control) != clsparseSuccess;
    for (int round = 0; round < ROUNDS; ++round) {
        cl_float result[ROWS] = {0};
        wrong += CALL(clsparseScsrmv)(&alpha, &a, &x, &beta, &y, control) != clsparseSuccess;
        clEnqueueReadBuffer(queue, y.values, CL_TRUE, 0, sizeof result, result, 0, NULL, NULL);
        wrong += memcmp(result, expected, sizeof result) != 0;
    }
    CALL(clsparseCsrMetaDelete)(&a), CALL(clsparseReleaseControl)(control);
    for (int k = 0; k < 5; ++k)
        clReleaseMemObject(buffers[k]);
    return clReleaseCommandQueue(queue), (void *)wrong;
}

int main(void)
{
    cl_platform_id platform;
    cl_context contexts[2];
    pthread_t threads[THREADS];
    if ((library = dlopen("libclSPARSE.so.1", RTLD_NOW)) == NULL)
        return fprintf(stderr, "%s\n", dlerror()), 1;
    CALL(clsparseSetup)();
    clGetPlatformIDs(1, &platform, NULL), clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL);
    for (int k = 0; k < 2; ++k)
        contexts[k] = clCreateContext(NULL, 1, &device, NULL, NULL, NULL);
    for (int k = 0; k < THREADS; ++k)
        pthread_create(&threads[k], NULL, multiply, &contexts[k % 2]);
    void *wrong = NULL;
    for (int k = 0; k < THREADS && wrong == NULL; ++k)
        pthread_join(threads[k], &wrong);
    for (int row = 0; row < ROWS && wrong == NULL; ++row)
        printf("%g\n", expected[row]);
    return wrong != NULL;
}
