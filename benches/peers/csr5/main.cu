// Times y = A x by CSR5 on an NVIDIA GPU, and prints a line of JSON as `sparrow-peers spmv` does for other libraries:
//
//     csr5 --matrix A --x X --out FOLDER
//
// CSR5 is its authors' published code, whose repository is fetched and not part of this one:
//
//     git clone https://github.com/weifengliu-ssslab/Benchmark_SpMV_using_CSR5
//     nvcc -O3 -w -std=c++20 -arch=native -I benches/peers/csr5 -I Benchmark_SpMV_using_CSR5/CSR5_cuda \
//         benches/peers/csr5/main.cu -o csr5
//
// It is of 2015, for CUDA 6.5: what later CUDA has under other names, it finds here by the old ones (`since_cuda_6.cuh`).
// Set-up is asCSR5: allocation and conversion of a matrix on the device. It reorders A's arrays in place, and is undone
// in between.

#include "since_cuda_6.cuh"

#include <anonymouslib_cuda.h>

#include "since_cuda_6_end.cuh"

#include "../viennacl/exchange.hpp"
#include "../viennacl/samples.hpp"

#include <algorithm>
#include <climits>
#include <cstdlib>
#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace {

using Options = std::map<std::string, std::string>;

void check(bool is_right, std::string const &what) {
    if (!is_right) {
        throw std::runtime_error(what);
    }
}

template <typename T> T *uploaded(std::vector<T> const &from) {
    T *to = nullptr;
    checkCudaErrors(cudaMalloc(reinterpret_cast<void **>(&to), std::max<std::size_t>(1, from.size()) * sizeof(T)));
    checkCudaErrors(cudaMemcpy(to, from.data(), from.size() * sizeof(T), cudaMemcpyHostToDevice));
    return to;
}

// What CSR5 says of itself is not for standard output, where the line of JSON goes.
class Quiet {
    std::ostringstream unheard;
    std::streambuf *before = std::cout.rdbuf(unheard.rdbuf());

public:
    ~Quiet() { std::cout.rdbuf(before); }
};

template <typename T> void run(Options const &options) {
    const auto matrix = exchange::read_matrix<T>(options.at("--matrix"));
    const auto x = exchange::read_vector<T>(options.at("--x"), matrix.cols);
    check(!matrix.values.empty(), "CSR5 has no matrices without entries");
    check(std::max({matrix.rows, matrix.cols, matrix.values.size()}) <= INT_MAX, "CSR5 counts rows, columns and entries in int");
    const std::vector<int> offsets(matrix.offsets.begin(), matrix.offsets.end());
    const std::vector<int> columns(matrix.columns.begin(), matrix.columns.end());
    // Rows without entries are not written.
    std::vector<T> y(matrix.rows, T{0});
    int *const device_offsets = uploaded(offsets), *const device_columns = uploaded(columns);
    T *const device_values = uploaded(matrix.values), *const device_x = uploaded(x), *const device_y = uploaded(y);

    const int rows = static_cast<int>(matrix.rows), nonzeros = static_cast<int>(matrix.values.size());
    anonymouslibHandle<int, unsigned int, T> a(rows, static_cast<int>(matrix.cols));
    check(a.inputCSR(nonzeros, device_offsets, device_columns, device_values) == 0, "inputCSR failed");
    check(a.setX(device_x) == 0, "setX failed");
    a.setSigma(ANONYMOUSLIB_AUTO_TUNED_SIGMA);
    std::vector<double> set_up;
    {
        const Quiet quiet;
        for (int turn = 0; turn < 8; ++turn) {
            check(a.asCSR() == 0, "asCSR failed");
            int status = 0;
            set_up.push_back(samples::time_us([&] {
                status = a.asCSR5();
                cudaDeviceSynchronize();
            }));
            check(status == 0, "asCSR5 answered " + std::to_string(status));
        }
    }
    // The first loads programs.
    std::sort(set_up.begin() + 1, set_up.end());
    const auto launch = [&] { a.spmv(T{1}, device_y); };
    const auto times = samples::take(launch, [] { cudaDeviceSynchronize(); });
    checkCudaErrors(cudaGetLastError());
    // Rows that tiles cut are added to what y holds. That it is 0 before each product is not in the time.
    checkCudaErrors(cudaMemset(device_y, 0, y.size() * sizeof(T)));
    launch();
    checkCudaErrors(cudaMemcpy(y.data(), device_y, y.size() * sizeof(T), cudaMemcpyDeviceToHost));

    const std::string path = options.at("--out") + "/y-CSR5-csr5.x";
    exchange::write_vector(path, y);
    cudaDeviceProp device;
    checkCudaErrors(cudaGetDeviceProperties(&device, 0));
    std::cout.precision(9);
    std::cout << "{\"schema\":\"sparrow-peer/1\",\"peer\":\"CSR5\",\"version\":\"2017\",\"device\":\"" << device.name
              << "\",\"algorithm\":\"csr5\",\"value_type\":\"f" << 8 * sizeof(T) << "\",\"rows\":" << matrix.rows
              << ",\"cols\":" << matrix.cols << ",\"nnz\":" << matrix.values.size()
              << ",\"median_us\":" << times.quantile(0.5) << ",\"min_us\":" << times.quantile(0.0)
              << ",\"p95_us\":" << times.quantile(0.95) << ",\"runs\":" << times.launches
              << ",\"setup_us\":" << set_up[4] << ",\"y\":\"" << path << "\"}" << std::endl;
}

Options parse(int count, char **words) {
    Options options;
    for (int at = 1; at + 1 < count; at += 2) {
        options[words[at]] = words[at + 1];
    }
    const bool has_all = options.count("--matrix") && options.count("--x") && options.count("--out");
    check(count == 7 && has_all, "usage: csr5 --matrix A --x X --out FOLDER");
    return options;
}

} // namespace

int main(int count, char **words) {
    try {
        const Options options = parse(count, words);
        std::ifstream in(options.at("--matrix"), std::ios::binary);
        const bool is_f64 = exchange::read_header(in, options.at("--matrix")).value_bits == 64;
        in.close();
        is_f64 ? run<double>(options) : run<float>(options);
    } catch (std::exception const &error) {
        std::cerr << "error: " << error.what() << std::endl;
        return EXIT_FAILURE;
    }
    return EXIT_SUCCESS;
}
