// z = A (A x) by clSPARSE's interface in async mode: one product in each of two queues, the second after the first
// one's event. Prints A x, and checks z.
#define CL_HPP_TARGET_OPENCL_VERSION 120
#define CL_HPP_MINIMUM_OPENCL_VERSION 120
#define CL_HPP_ENABLE_EXCEPTIONS
#include <CL/opencl.hpp>
#include <clSPARSE.h>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

static void check(clsparseStatus status, const char *what)
{
    if (status != clsparseSuccess)
        throw std::runtime_error(std::string(what) + ": " + std::to_string(status));
}

int main(int, char **argv)
try {
    cl::Context context(CL_DEVICE_TYPE_ALL);
    cl::CommandQueue first(context), second(context);
    check(clsparseSetup(), "clsparseSetup");
    clsparseControl of_first = clsparseCreateControl(first()).control;
    clsparseControl of_second = clsparseCreateControl(second()).control;
    for (clsparseControl control : {of_first, of_second})
        check(clsparseEnableAsync(control, CL_TRUE), "clsparseEnableAsync");

    clsparseCsrMatrix a;
    clsparseInitCsrMatrix(&a);
    check(clsparseHeaderfromFile(&a.num_nonzeros, &a.num_rows, &a.num_cols, argv[1]), argv[1]);
    cl::Buffer values(context, CL_MEM_READ_ONLY, a.num_nonzeros * sizeof(cl_float));
    cl::Buffer columns(context, CL_MEM_READ_ONLY, a.num_nonzeros * sizeof(cl_uint));
    cl::Buffer offsets(context, CL_MEM_READ_ONLY, (a.num_rows + 1) * sizeof(cl_uint));
    a.values = values(), a.col_indices = columns(), a.row_pointer = offsets();
    check(clsparseSCsrMatrixfromFile(&a, argv[1], of_first, CL_TRUE), argv[1]);
    check(clsparseCsrMetaCreate(&a, of_first), "clsparseCsrMetaCreate");

    std::vector<cl_float> numbers{1, 0}, host{1, 2, 3, 4, 5};
    cl::Buffer scalars(context, numbers.begin(), numbers.end(), true);
    cl::Buffer x_buffer(context, host.begin(), host.end(), true);
    cl::Buffer y_buffer(context, CL_MEM_READ_WRITE, 20), z_buffer(context, CL_MEM_READ_WRITE, 20);
    clsparseScalar alpha{scalars(), 0}, beta{scalars(), 1};
    cldenseVector x{5, x_buffer(), 0}, y{5, y_buffer(), 0}, z{5, z_buffer(), 0};
    check(clsparseScsrmv(&alpha, &a, &x, &beta, &y, of_first), "clsparseScsrmv");
    std::vector<cl::Event> done{cl::Event(clsparseGetEvent(of_first).event)};
    first.flush();
    second.enqueueBarrierWithWaitList(&done);
    check(clsparseScsrmv(&alpha, &a, &y, &beta, &z, of_second), "clsparseScsrmv");
    second.enqueueReadBuffer(y_buffer, CL_TRUE, 0, 20, host.data());
    for (cl_float element : host)
        std::printf("%g\n", element);
    second.enqueueReadBuffer(z_buffer, CL_TRUE, 0, 20, host.data());
    check(clsparseCsrMetaDelete(&a), "clsparseCsrMetaDelete");
    clsparseReleaseControl(of_first), clsparseReleaseControl(of_second), clsparseTeardown();
    return host == std::vector<cl_float>{68, 28, 68, 254, 51} ? 0 : 1;
} catch (const std::exception &error) {
    return std::fprintf(stderr, "%s\n", error.what()), 1;
}
