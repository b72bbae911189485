// Reads and writes the files that src/exchange.rs describes. Offsets of either width become 32 bits wide.
#pragma once

#include <cstdint>
#include <cstring>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace exchange {

// What a file says of itself.
struct Header {
    std::uint32_t value_bits = 0;
    std::uint32_t offset_bits = 0;
    std::uint64_t rows = 0;
    std::uint64_t cols = 0;
    std::uint64_t nnz = 0;
};

constexpr char magic[] = "SPARROWX";
constexpr std::uint32_t version = 1;
constexpr std::uint64_t header_bytes = 48;

[[noreturn]] inline void fail(std::string const &path, std::string const &what) {
    throw std::runtime_error(path + ": " + what);
}

template <typename T> std::vector<T> read_words(std::istream &in, std::uint64_t count) {
    std::vector<T> words(count);
    in.read(reinterpret_cast<char *>(words.data()), static_cast<std::streamsize>(count * sizeof(T)));
    return words;
}

// The length that a file has to have; 0 where its sizes are beyond what any file holds.
inline std::uint64_t bytes_of(Header const &header) {
    constexpr std::uint64_t most = std::uint64_t{1} << 48;
    if (header.rows >= most || header.cols >= most || header.nnz >= most) {
        return 0;
    }
    std::uint64_t pattern = 0;
    if (header.offset_bits != 0) {
        pattern = (header.rows + 1) * (header.offset_bits / 8) + header.nnz * 4;
    }
    return header_bytes + pattern + header.nnz * (header.value_bits / 8);
}

inline Header read_header(std::ifstream &in, std::string const &path) {
    if (!in) {
        fail(path, "cannot be opened");
    }
    in.seekg(0, std::ios::end);
    const auto file_bytes = static_cast<std::uint64_t>(in.tellg());
    in.seekg(0);
    char bytes[header_bytes];
    if (file_bytes < header_bytes || !in.read(bytes, sizeof bytes)) {
        fail(path, std::to_string(file_bytes) + " bytes, less than a header's 48");
    }
    std::uint32_t small[4];
    std::uint64_t large[3];
    std::memcpy(small, bytes + 8, sizeof small);
    std::memcpy(large, bytes + 24, sizeof large);
    if (std::memcmp(bytes, magic, 8) != 0) {
        fail(path, "it does not begin with SPARROWX");
    }
    if (small[0] != version) {
        fail(path, "version " + std::to_string(small[0]) + " where 1 is read");
    }
    Header header;
    header.value_bits = small[1];
    header.offset_bits = small[2];
    header.rows = large[0];
    header.cols = large[1];
    header.nnz = large[2];
    if (header.value_bits != 32 && header.value_bits != 64) {
        fail(path, "values of " + std::to_string(header.value_bits) + " bits, not 32 or 64");
    }
    if (header.offset_bits != 0 && header.offset_bits != 32 && header.offset_bits != 64) {
        fail(path, "offsets of " + std::to_string(header.offset_bits) + " bits, not 32 or 64");
    }
    if (header.offset_bits == 0 && (header.cols != 1 || header.nnz != header.rows)) {
        fail(path, "a vector of more than one column");
    }
    if (bytes_of(header) != file_bytes) {
        fail(path, std::to_string(file_bytes) + " bytes where its header says " +
                       std::to_string(bytes_of(header)));
    }
    return header;
}

// A matrix whose sizes, offsets and columns all fit 32 bits, as ViennaCL has them.
template <typename T> struct Matrix {
    std::uint64_t rows;
    std::uint64_t cols;
    std::vector<std::uint32_t> offsets;
    std::vector<std::uint32_t> columns;
    std::vector<T> values;
};

template <typename T> Matrix<T> read_matrix(std::string const &path) {
    std::ifstream in(path, std::ios::binary);
    const Header header = read_header(in, path);
    if (header.offset_bits == 0) {
        fail(path, "it holds a vector, not a matrix");
    }
    if (header.value_bits != 8 * sizeof(T)) {
        fail(path, "its values have " + std::to_string(header.value_bits) + " bits");
    }
    if (header.nnz > UINT32_MAX) {
        fail(path, std::to_string(header.nnz) + " nonzeros, above " + std::to_string(UINT32_MAX));
    }
    Matrix<T> matrix{header.rows, header.cols, {}, {}, {}};
    if (header.offset_bits == 64) {
        for (const std::uint64_t offset : read_words<std::uint64_t>(in, header.rows + 1)) {
            matrix.offsets.push_back(offset > header.nnz ? UINT32_MAX
                                                         : static_cast<std::uint32_t>(offset));
        }
    } else {
        matrix.offsets = read_words<std::uint32_t>(in, header.rows + 1);
    }
    matrix.columns = read_words<std::uint32_t>(in, header.nnz);
    matrix.values = read_words<T>(in, header.nnz);
    if (!in) {
        fail(path, "it cannot be read to its end");
    }
    if (matrix.offsets.front() != 0 || matrix.offsets.back() != header.nnz) {
        fail(path, "offsets do not run from 0 to " + std::to_string(header.nnz));
    }
    for (std::uint64_t row = 0; row < header.rows; ++row) {
        if (matrix.offsets[row] > matrix.offsets[row + 1]) {
            fail(path, "offset " + std::to_string(matrix.offsets[row]) + " of row " +
                           std::to_string(row) + " is above the next");
        }
    }
    for (std::uint64_t entry = 0; entry < header.nnz; ++entry) {
        if (matrix.columns[entry] >= header.cols) {
            fail(path, "column " + std::to_string(matrix.columns[entry]) + " of entry " +
                           std::to_string(entry) + " is outside 0.." + std::to_string(header.cols));
        }
    }
    return matrix;
}

template <typename T> std::vector<T> read_vector(std::string const &path, std::uint64_t length) {
    std::ifstream in(path, std::ios::binary);
    const Header header = read_header(in, path);
    if (header.offset_bits != 0 || header.value_bits != 8 * sizeof(T) || header.rows != length) {
        fail(path, "it is no vector of " + std::to_string(length) + " such values");
    }
    std::vector<T> vector = read_words<T>(in, length);
    if (!in) {
        fail(path, "it cannot be read to its end");
    }
    return vector;
}

template <typename T> void write_vector(std::string const &path, std::vector<T> const &vector) {
    std::ofstream out(path, std::ios::binary);
    const std::uint32_t small[4] = {version, 8 * sizeof(T), 0, 0};
    const std::uint64_t large[3] = {vector.size(), 1, vector.size()};
    out.write(magic, 8);
    out.write(reinterpret_cast<char const *>(small), sizeof small);
    out.write(reinterpret_cast<char const *>(large), sizeof large);
    out.write(reinterpret_cast<char const *>(vector.data()),
              static_cast<std::streamsize>(vector.size() * sizeof(T)));
    out.close();
    if (!out) {
        fail(path, "cannot be written");
    }
}

} // namespace exchange
