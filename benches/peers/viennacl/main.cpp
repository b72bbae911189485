// Times y = A x by ViennaCL's compressed_matrix on an OpenCL device, and prints a line of JSON as
// `sparrow-peers spmv` does for other libraries:
//
//     viennacl --matrix A --x X --out FOLDER [--platform TEXT] [--device TEXT]
//
// Set-up is compressed_matrix::set: ViennaCL makes its row blocks while it uploads, so the upload is in it.

#define VIENNACL_WITH_OPENCL
#include "exchange.hpp"
#include "samples.hpp"

#include <viennacl/compressed_matrix.hpp>
#include <viennacl/linalg/prod.hpp>
#include <viennacl/ocl/backend.hpp>
#include <viennacl/vector.hpp>

#include <cstdlib>
#include <iostream>
#include <map>
#include <string>
#include <vector>

namespace {

using Options = std::map<std::string, std::string>;

// A string as JSON writes it.
std::string quoted(std::string const &text) {
    std::string out = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') {
            out += '\\';
        }
        out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    }
    return out + "\"";
}

std::string platform_name(cl_platform_id platform) {
    char name[256] = "";
    clGetPlatformInfo(platform, CL_PLATFORM_NAME, sizeof name - 1, name, nullptr);
    return name;
}

// Without spaces at both ends.
std::string trimmed(std::string const &text) {
    const auto first = text.find_first_not_of(" \t");
    return first == std::string::npos ? "" : text.substr(first, text.find_last_not_of(" \t") + 1 - first);
}

// Has ViennaCL compute on the device of these names; where the platform has one device alone its name does not matter,
// because vendors have several names for it. Returns what it is called.
std::string choose_device(std::string const &platform_text, std::string const &device_text, bool needs_f64) {
    std::string names;
    for (auto &platform : viennacl::ocl::get_platforms()) {
        const std::string platform_is = trimmed(platform_name(platform.id()));
        const auto devices = platform.devices(CL_DEVICE_TYPE_ALL);
        for (auto const &device : devices) {
            const std::string device_is = trimmed(device.name());
            const std::string full = device_is + " on " + platform_is;
            names += "; there is " + full;
            const bool is_named = devices.size() == 1 || device_is.find(device_text) != std::string::npos;
            if (platform_is.find(platform_text) == std::string::npos || !is_named) {
                continue;
            }
            if (needs_f64 && !device.double_support()) {
                throw std::runtime_error(full + " has no f64");
            }
            viennacl::ocl::setup_context(0, device);
            viennacl::ocl::switch_context(0);
            return full;
        }
    }
    throw std::runtime_error("no OpenCL device is called \"" + device_text + "\" on \"" + platform_text + "\"" + names);
}

template <typename T> void run(Options const &options, std::string const &device) {
    const auto matrix = exchange::read_matrix<T>(options.at("--matrix"));
    const auto x = exchange::read_vector<T>(options.at("--x"), matrix.cols);
    if (matrix.rows == 0 || matrix.cols == 0 || matrix.values.empty()) {
        throw std::runtime_error("ViennaCL has no matrices without entries");
    }
    viennacl::compressed_matrix<T> a;
    viennacl::vector<T> device_x(matrix.cols), device_y(matrix.rows);
    viennacl::copy(x, device_x);
    // As for every peer: not zero, so that a row that is not written is seen.
    std::vector<T> y(matrix.rows, static_cast<T>(1e30));
    viennacl::copy(y, device_y);
    viennacl::backend::finish();

    const auto set = [&] {
        a.set(matrix.offsets.data(), matrix.columns.data(), matrix.values.data(), matrix.rows,
              matrix.cols, matrix.values.size());
        viennacl::backend::finish();
    };
    const double setup_us = samples::set_up_us(set);
    const auto launch = [&] { device_y = viennacl::linalg::prod(a, device_x); };
    const auto times = samples::take(launch, [] { viennacl::backend::finish(); });
    viennacl::copy(device_y, y);

    const std::string path = options.at("--out") + "/y-ViennaCL-compressed_matrix.x";
    exchange::write_vector(path, y);
    std::cout.precision(9);
    std::cout << "{\"schema\":\"sparrow-peer/1\",\"peer\":\"ViennaCL\",\"version\":\"1.7.1\",\"device\":"
              << quoted(device) << ",\"algorithm\":\"compressed_matrix\",\"value_type\":\"f"
              << 8 * sizeof(T) << "\",\"rows\":" << matrix.rows << ",\"cols\":" << matrix.cols
              << ",\"nnz\":" << matrix.values.size() << ",\"median_us\":" << times.quantile(0.5)
              << ",\"min_us\":" << times.quantile(0.0) << ",\"p95_us\":" << times.quantile(0.95)
              << ",\"runs\":" << times.launches << ",\"setup_us\":" << setup_us
              << ",\"y\":" << quoted(path) << "}" << std::endl;
}

Options parse(int count, char **words) {
    Options options{{"--platform", ""}, {"--device", ""}};
    for (int at = 1; at < count; at += 2) {
        const std::string name = words[at];
        const bool is_known = name == "--matrix" || name == "--x" || name == "--out" || options.count(name) != 0;
        if (at + 1 == count || !is_known) {
            throw std::runtime_error(
                "usage: viennacl --matrix A --x X --out FOLDER [--platform TEXT] [--device TEXT]");
        }
        options[name] = words[at + 1];
    }
    for (auto const *name : {"--matrix", "--x", "--out"}) {
        if (options.find(name) == options.end()) {
            throw std::runtime_error(std::string(name) + " is missing");
        }
    }
    return options;
}

} // namespace

int main(int count, char **words) {
    try {
        const Options options = parse(count, words);
        std::ifstream in(options.at("--matrix"), std::ios::binary);
        const bool is_f64 = exchange::read_header(in, options.at("--matrix")).value_bits == 64;
        in.close();
        const std::string device = choose_device(options.at("--platform"), options.at("--device"), is_f64);
        is_f64 ? run<double>(options, device) : run<float>(options, device);
    } catch (std::exception const &error) {
        std::cerr << "error: " << error.what() << std::endl;
        return EXIT_FAILURE;
    }
    return EXIT_SUCCESS;
}
