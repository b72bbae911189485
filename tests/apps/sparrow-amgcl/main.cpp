// amgcl's multigrid and solvers on an OpenCL device by sparrow/amgcl.hpp, held against amgcl's own on the host: Poisson's
// equation on a cube, in both precisions.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include <amgcl/adapter/zero_copy.hpp>
#include <amgcl/amg.hpp>
#include <amgcl/backend/builtin.hpp>
#include <amgcl/coarsening/ruge_stuben.hpp>
#include <amgcl/coarsening/smoothed_aggregation.hpp>
#include <amgcl/make_solver.hpp>
#include <amgcl/relaxation/chebyshev.hpp>
#include <amgcl/relaxation/damped_jacobi.hpp>
#include <amgcl/relaxation/spai0.hpp>
#include <amgcl/solver/bicgstab.hpp>
#include <amgcl/solver/cg.hpp>
#include <amgcl/solver/gmres.hpp>

#include <sparrow/amgcl.hpp>

namespace {

// 7 entries a row, on a cube of `edge` points a side; the solution of rows 0 to n - 1 is sin(row).
template <class V> struct problem {
    std::size_t n;
    std::vector<std::ptrdiff_t> offsets, columns;
    std::vector<V> values, b, x;

    explicit problem(std::ptrdiff_t edge) : n(edge * edge * edge), offsets(1, 0)
    {
        const std::ptrdiff_t steps[] = {-edge * edge, -edge, -1, 0, 1, edge, edge * edge};
        for (std::ptrdiff_t row = 0; row < std::ptrdiff_t(n); ++row) {
            const std::ptrdiff_t at[] = {row / (edge * edge), row / edge % edge, row % edge};
            const bool has[] = {at[0] > 0, at[1] > 0, at[2] > 0, true, at[2] + 1 < edge, at[1] + 1 < edge, at[0] + 1 < edge};
            V sum = 0;
            for (int entry = 0; entry < 7; ++entry) {
                if (!has[entry])
                    continue;
                columns.push_back(row + steps[entry]);
                values.push_back(entry == 3 ? 6 : -1);
                sum += values.back() * std::sin(V(columns.back()));
            }
            offsets.push_back(columns.size());
            b.push_back(sum);
            x.push_back(std::sin(V(row)));
        }
    }

    // |b - A x| / |b|
    double residual(const std::vector<V> &found) const
    {
        double of_residual = 0, of_b = 0;
        for (std::size_t row = 0; row < n; ++row) {
            double left = b[row];
            for (std::ptrdiff_t at = offsets[row]; at < offsets[row + 1]; ++at)
                left -= double(values[at]) * found[columns[at]];
            of_residual += left * left;
            of_b += double(b[row]) * b[row];
        }
        return std::sqrt(of_residual / of_b);
    }
};

int failures = 0;

void expect(bool is_so, const std::string &what)
{
    if (!is_so) {
        std::printf("FAILED: %s\n", what.c_str());
        ++failures;
    }
}

template <class Backend, template <class> class Smoother, template <class, class> class Method>
using amg_solver = amgcl::make_solver<
    amgcl::amg<Backend, amgcl::coarsening::smoothed_aggregation, Smoother>,
    Method<Backend, amgcl::solver::detail::default_inner_product>>;
template <class Backend>
using classical_solver = amgcl::make_solver<
    amgcl::amg<Backend, amgcl::coarsening::ruge_stuben, amgcl::relaxation::spai0>, amgcl::solver::cg<Backend>>;

// Iterations of one solver on the host.
template <class Solver, class V> std::size_t on_host(const problem<V> &poisson)
{
    Solver solve(amgcl::adapter::zero_copy(poisson.n, poisson.offsets.data(), poisson.columns.data(), poisson.values.data()));
    std::vector<V> x(poisson.n, 0);
    return boost::get<0>(solve(poisson.b, x));
}

// The same on the device, twice.
template <class Solver, class V>
void compare(const char *name, std::size_t expected, const problem<V> &poisson,
             const typename amgcl::backend::sparrow<V>::params &device)
{
    typedef amgcl::backend::sparrow<V> Backend;
    Solver solve(amgcl::adapter::zero_copy(poisson.n, poisson.offsets.data(), poisson.columns.data(), poisson.values.data()),
                 typename Solver::params(), device);
    typename Backend::vector b(device, poisson.b), x(device, poisson.n);
    std::vector<V> found[2];
    std::size_t iterations[2];
    for (int run = 0; run < 2; ++run) {
        x.clear();
        iterations[run] = boost::get<0>(solve(b, x));
        x.read(found[run]);
    }
    const std::string text = std::string(sizeof(V) == 8 ? "f64, " : "f32, ") + name;
    const std::size_t apart = iterations[0] > expected ? iterations[0] - expected : expected - iterations[0];
    expect(apart <= 1, text + ": " + std::to_string(iterations[0]) + " iterations, and " + std::to_string(expected) +
                           " on the host");
    const double bound = sizeof(V) == 8 ? 2e-8 : 2e-5;
    expect(poisson.residual(found[0]) < bound, text + ": residual " + std::to_string(poisson.residual(found[0])));
    expect(iterations[0] == iterations[1] && std::memcmp(found[0].data(), found[1].data(), poisson.n * sizeof(V)) == 0,
           text + ": another result the second time");
    std::printf("%s: as on the host\n", text.c_str());
}

template <class V> void solve_all(cl_command_queue queue)
{
    typedef amgcl::backend::builtin<V> host;
    typedef amgcl::backend::sparrow<V> device;
    namespace smoother = amgcl::relaxation;
    namespace method = amgcl::solver;
    const problem<V> poisson(20);
    typename device::params on_device(queue);
    typename device::params untimed(queue);
    untimed.products = SPARROW_PRODUCTS_SEVERAL;
#define BOTH(name, prm, smooth, solver)                                                                              \
    compare<amg_solver<device, smoother::smooth, method::solver>>(                                                   \
        name, on_host<amg_solver<host, smoother::smooth, method::solver>>(poisson), poisson, prm)
    BOTH("spai0, cg", on_device, spai0, cg);
    BOTH("damped Jacobi, bicgstab", untimed, damped_jacobi, bicgstab);
    BOTH("Chebyshev, gmres", untimed, chebyshev, gmres);
    compare<classical_solver<device>>("Ruge-Stueben, cg", on_host<classical_solver<host>>(poisson), poisson, untimed);
}

// The text of what `call` throws.
template <class Call> std::string refusal(Call call)
{
    try {
        call();
    } catch (const sparrow_amgcl::error &error) {
        return error.what();
    }
    return "nothing";
}

void refuse(cl_context context, cl_device_id device, cl_command_queue queue)
{
    typedef amgcl::backend::sparrow<float> backend;
    const backend::params params(queue), none;
    std::string text = refusal([&] { backend::vector(none, 3); });
    expect(text == "amgcl::backend::sparrow has no command queue: hand its params(queue) over", text);
    backend::vector three(params, 3), four(params, 4);
    text = refusal([&] { amgcl::backend::axpby(1, three, 1, four); });
    expect(text == "a vector of 3 elements meets one of 4", text);
    text = refusal([&] { amgcl::backend::vmul(1, four, four, 1, three); });
    expect(text == "a vector of 4 elements meets one of 3", text);

    cl_int status = 0;
    cl_command_queue unordered = clCreateCommandQueue(context, device, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, &status);
    if (status == CL_SUCCESS) {
        text = refusal([&] { backend::params refused(unordered); });
        expect(text == "the command queue is out of order, and amgcl's operations come one after another", text);
        clReleaseCommandQueue(unordered);
    }

    // The application's own buffer, written through.
    cl_mem buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, 12, nullptr, &status);
    backend::vector own(params, buffer, 3);
    own.write(std::vector<float>{1, 2, 3}.data());
    amgcl::backend::copy(own, three);
    amgcl::backend::axpby(2, three, 1, own);
    float values[3] = {0};
    clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, 12, values, 0, nullptr, nullptr);
    expect(values[0] == 3 && values[1] == 6 && values[2] == 9, "an application's buffer");
    clReleaseMemObject(buffer);
    std::printf("refusals and own buffers: as documented\n");
}

} // namespace

int main()
{
    cl_platform_id platform = nullptr;
    cl_device_id device = nullptr;
    cl_int status = clGetPlatformIDs(1, &platform, nullptr);
    if (status != CL_SUCCESS || clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, nullptr) != CL_SUCCESS) {
        std::printf("no OpenCL device\n");
        return 1;
    }
    cl_context context = clCreateContext(nullptr, 1, &device, nullptr, nullptr, &status);
    cl_command_queue queue = clCreateCommandQueue(context, device, 0, &status);
    try {
        solve_all<double>(queue);
        solve_all<float>(queue);
        refuse(context, device, queue);
    } catch (const std::exception &error) {
        expect(false, error.what());
    }
    clReleaseCommandQueue(queue);
    clReleaseContext(context);
    return failures == 0 ? 0 : 1;
}
