// Times amgcl's solvers by several backends: its own on the host, ViennaCL's and Sparrow's on one OpenCL device, and by
// nvcc that of CUDA.
//
//   amgcl_times [MATRIX.mtx | EDGE]...
//
// A number is Poisson's equation on a cube of that many points a side. Each line: matrix, unknowns, backend, iterations,
// the residual computed from x on the host, seconds of set-up, and seconds of the least of five solves. f64, smoothed
// aggregation, spai0, CG; for a matrix that is not symmetric say BICGSTAB=1.
//
// Built with the headers of amgcl (4.x or of pyamgcl), Boost's where that needs them, ViennaCL's (libviennacl-dev), and an
// installed Sparrow, for AMGCL the folder of amgcl's:
//
//   g++ -O3 -fopenmp -std=c++17 -DCL_TARGET_OPENCL_VERSION=120 -DVIENNACL_WITH_OPENCL -isystem AMGCL main.cpp
//       $(pkg-config --cflags --libs sparrow) -lOpenCL -o amgcl_times
//   nvcc -O3 -std=c++17 -DCL_TARGET_OPENCL_VERSION=120 -x cu -I AMGCL main.cpp
//       $(pkg-config --cflags --libs sparrow) -lcusparse -lOpenCL -o amgcl_times_cuda
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <tuple>
#include <vector>

#include <amgcl/adapter/zero_copy.hpp>
#include <amgcl/amg.hpp>
#include <amgcl/backend/builtin.hpp>
#ifdef __CUDACC__
#include <amgcl/backend/cuda.hpp>
#endif
#ifdef VIENNACL_WITH_OPENCL
#include <amgcl/backend/viennacl.hpp>
#include <viennacl/ocl/backend.hpp>
#endif
#include <amgcl/coarsening/smoothed_aggregation.hpp>
#include <amgcl/io/mm.hpp>
#include <amgcl/make_solver.hpp>
#include <amgcl/relaxation/spai0.hpp>
#include <amgcl/solver/bicgstab.hpp>
#include <amgcl/solver/cg.hpp>

#include <sparrow/amgcl.hpp>

namespace {

struct system_of_equations {
    std::string name;
    std::size_t n = 0;
    std::vector<std::ptrdiff_t> offsets, columns;
    std::vector<double> values, b;
};

system_of_equations poisson(std::ptrdiff_t edge)
{
    system_of_equations made;
    made.name = "poisson7, " + std::to_string(edge) + " a side";
    made.n = edge * edge * edge;
    made.offsets.push_back(0);
    const std::ptrdiff_t steps[] = {-edge * edge, -edge, -1, 0, 1, edge, edge * edge};
    for (std::ptrdiff_t row = 0; row < std::ptrdiff_t(made.n); ++row) {
        const std::ptrdiff_t z = row / (edge * edge), y = row / edge % edge, x = row % edge;
        const bool has[] = {z > 0, y > 0, x > 0, true, x + 1 < edge, y + 1 < edge, z + 1 < edge};
        for (int entry = 0; entry < 7; ++entry) {
            if (has[entry]) {
                made.columns.push_back(row + steps[entry]);
                made.values.push_back(entry == 3 ? 6 : -1);
            }
        }
        made.offsets.push_back(made.columns.size());
    }
    return made;
}

system_of_equations read(const std::string &path)
{
    system_of_equations found;
    found.name = path.substr(path.rfind('/') + 1);
    std::size_t rows, cols;
    std::tie(rows, cols) = amgcl::io::mm_reader(path)(found.offsets, found.columns, found.values);
    found.n = rows;
    return found;
}

double seconds_since(std::chrono::steady_clock::time_point begin)
{
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

double residual(const system_of_equations &system, const std::vector<double> &x)
{
    double of_residual = 0, of_b = 0;
    for (std::size_t row = 0; row < system.n; ++row) {
        double left = system.b[row];
        for (std::ptrdiff_t at = system.offsets[row]; at < system.offsets[row + 1]; ++at)
            left -= system.values[at] * x[system.columns[at]];
        of_residual += left * left;
        of_b += system.b[row] * system.b[row];
    }
    return std::sqrt(of_residual / of_b);
}

void to_host(const amgcl::backend::numa_vector<double> &x, std::vector<double> &host)
{
    host.assign(x.data(), x.data() + x.size());
}
void to_host(const sparrow_amgcl::vector<double> &x, std::vector<double> &host) { x.read(host); }
#ifdef VIENNACL_WITH_OPENCL
void to_host(const viennacl::vector<double> &x, std::vector<double> &host)
{
    host.resize(x.size());
    viennacl::fast_copy(x, host);
}
#endif
#ifdef __CUDACC__
void to_host(const thrust::device_vector<double> &x, std::vector<double> &host)
{
    host.resize(x.size());
    thrust::copy(x.begin(), x.end(), host.begin());
}
#endif

template <class Backend, class Method>
void time(const system_of_equations &system, const typename Backend::params &backend)
{
    typedef amgcl::make_solver<
        amgcl::amg<Backend, amgcl::coarsening::smoothed_aggregation, amgcl::relaxation::spai0>, Method>
        Solver;
    const auto set_up = std::chrono::steady_clock::now();
    Solver solve(amgcl::adapter::zero_copy(system.n, system.offsets.data(), system.columns.data(), system.values.data()),
                 typename Solver::params(), backend);
    const double of_set_up = seconds_since(set_up);
    auto b = Backend::copy_vector(system.b, backend);
    auto x = Backend::create_vector(system.n, backend);
    std::size_t iterations = 0;
    std::vector<double> found;
    double least = 1e30;
    for (int run = 0; run < 5; ++run) {
        amgcl::backend::clear(*x);
        to_host(*x, found);
        const auto begin = std::chrono::steady_clock::now();
        iterations = std::get<0>(solve(*b, *x));
        // A value of x is there when all of it is.
        to_host(*x, found);
        least = std::min(least, seconds_since(begin));
    }
    std::printf("%-28s %9zu %-9s %4zu  %.1e  %8.3f %8.4f\n", system.name.c_str(), system.n, Backend::name().c_str(),
                iterations, residual(system, found), of_set_up, least);
    std::fflush(stdout);
}

template <template <class, class> class Method> void time_all(const system_of_equations &system, cl_command_queue queue)
{
    namespace detail = amgcl::solver::detail;
    typedef amgcl::backend::builtin<double> host;
    typedef amgcl::backend::sparrow<double> ours;
    time<host, Method<host, detail::default_inner_product>>(system, host::params());
#ifdef VIENNACL_WITH_OPENCL
    typedef amgcl::backend::viennacl<viennacl::compressed_matrix<double>> theirs;
    time<theirs, Method<theirs, detail::default_inner_product>>(system, theirs::params());
#endif
#ifdef __CUDACC__
    typedef amgcl::backend::cuda<double> cuda;
    cuda::params on_cuda;
    cusparseCreate(&on_cuda.cusparse_handle);
    time<cuda, Method<cuda, detail::default_inner_product>>(system, on_cuda);
    cusparseDestroy(on_cuda.cusparse_handle);
#endif
    time<ours, Method<ours, detail::default_inner_product>>(system, ours::params(queue));
}

} // namespace

int main(int count, char **words)
try {
#ifdef VIENNACL_WITH_OPENCL
    cl_device_id device = viennacl::ocl::current_device().id();
    cl_context context = viennacl::ocl::current_context().handle().get();
#else
    cl_platform_id platform = nullptr;
    cl_device_id device = nullptr;
    clGetPlatformIDs(1, &platform, nullptr);
    clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, nullptr);
    cl_context context = clCreateContext(nullptr, 1, &device, nullptr, nullptr, nullptr);
#endif
    cl_command_queue queue = clCreateCommandQueue(context, device, 0, nullptr);
    char name[256] = "";
    clGetDeviceInfo(device, CL_DEVICE_NAME, sizeof name, name, nullptr);
    std::printf("%s\n%-28s %9s %-9s %4s  %7s  %8s %8s\n", name, "system", "unknowns", "backend", "its", "resid.", "set-up s",
                "solve s");
    for (int word = 1; word < count; ++word) {
        const std::ptrdiff_t edge = std::atol(words[word]);
        system_of_equations system = edge > 0 ? poisson(edge) : read(words[word]);
        system.b.assign(system.n, 1);
        if (std::getenv("BICGSTAB"))
            time_all<amgcl::solver::bicgstab>(system, queue);
        else
            time_all<amgcl::solver::cg>(system, queue);
    }
    clReleaseCommandQueue(queue);
    return 0;
} catch (const std::exception &error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
}
