/*
 * sparrow/amgcl/operands.hpp: the vectors and matrices of sparrow/amgcl.hpp, on the device.
 *
 * Licence: MIT OR Apache-2.0.
 */
#ifndef SPARROW_AMGCL_OPERANDS_HPP
#define SPARROW_AMGCL_OPERANDS_HPP

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <sparrow/amgcl/engine.hpp>

namespace sparrow_amgcl {

/// A dense vector on the device.
template <class V> class vector {
  public:
    typedef V value_type;

    /// `size` zeros.
    vector(const params<V> &prm, std::size_t size)
        : engine_(prm.shared()), size_(size), memory_(std::make_shared<memory>(engine_->queue(), bytes()))
    {
        clear();
    }

    /// A copy of the host's.
    vector(const params<V> &prm, const V *values, std::size_t size)
        : engine_(prm.shared()), size_(size), memory_(std::make_shared<memory>(engine_->queue(), bytes()))
    {
        write(values);
    }
    vector(const params<V> &prm, const std::vector<V> &values) : vector(prm, values.data(), values.size()) {}

    /// The application's own buffer of the queue's context, which holds at least `size` values. Copies share it.
    vector(const params<V> &prm, cl_mem buffer, std::size_t size)
        : engine_(prm.shared()), size_(size), memory_(std::make_shared<memory>(buffer))
    {
    }

    std::size_t size() const { return size_; }
    std::size_t bytes() const { return size_ * sizeof(V); }
    const memory &buffer() const { return *memory_; }
    const engine<V> &on() const { return *engine_; }

    /// Makes all of it 0.
    void clear()
    {
        const V zero = 0;
        if (size_ != 0)
            check_cl(clEnqueueFillBuffer(engine_->queue(), memory_->get(), &zero, sizeof zero, 0, bytes(), 0, nullptr,
                                         nullptr),
                     "clEnqueueFillBuffer");
    }

    /// Replaces all of it; `values` may be changed afterwards.
    void write(const V *values)
    {
        if (size_ != 0)
            check_cl(clEnqueueWriteBuffer(engine_->queue(), memory_->get(), CL_TRUE, 0, bytes(), values, 0, nullptr,
                                          nullptr),
                     "clEnqueueWriteBuffer");
    }

    /// Waits, and copies all of it to the host.
    void read(V *values) const
    {
        if (size_ != 0)
            check_cl(clEnqueueReadBuffer(engine_->queue(), memory_->get(), CL_TRUE, 0, bytes(), values, 0, nullptr,
                                         nullptr),
                     "clEnqueueReadBuffer");
    }
    void read(std::vector<V> &values) const
    {
        values.resize(size_);
        read(values.data());
    }

    /// Becomes a copy of another of the same length.
    void copy(const vector &from)
    {
        check_length(from);
        if (size_ != 0 && memory_->get() != from.memory_->get())
            check_cl(clEnqueueCopyBuffer(engine_->queue(), from.memory_->get(), memory_->get(), 0, 0, bytes(), 0, nullptr,
                                         nullptr),
                     "clEnqueueCopyBuffer");
    }

    /// Refuses another length.
    void check_length(const vector &other) const
    {
        if (other.size_ != size_)
            throw error("a vector of " + std::to_string(other.size_) + " elements meets one of " + std::to_string(size_));
    }

  private:
    std::shared_ptr<engine<V>> engine_;
    std::size_t size_;
    std::shared_ptr<memory> memory_;
};

/// A matrix in compressed rows on the device, planned.
template <class V> class matrix {
  public:
    typedef V value_type;

    /// A copy of the host's, whose rows lie one after the other.
    template <class Crs> matrix(const Crs &host, const params<V> &prm) : engine_(prm.shared())
    {
        const std::size_t rows = host.nrows, nnz = static_cast<std::size_t>(host.ptr[rows]);
        if (host.ncols > UINT32_MAX)
            throw error("a matrix has " + std::to_string(host.ncols) + " columns, and there may be 4294967295");
        const std::vector<std::uint32_t> columns(&host.col[0], &host.col[0] + nnz);
        std::vector<std::uint32_t> narrow;
        std::vector<std::uint64_t> wide;
        const bool is_wide = nnz > UINT32_MAX;
        if (is_wide)
            wide.assign(&host.ptr[0], &host.ptr[0] + rows + 1);
        else
            narrow.assign(&host.ptr[0], &host.ptr[0] + rows + 1);

        sparrow_csr_arrays arrays = {};
        arrays.size = sizeof arrays;
        arrays.rows = rows;
        arrays.cols = host.ncols;
        arrays.nnz = nnz;
        arrays.value_type = type_of<V>::value;
        arrays.offset_type = is_wide ? SPARROW_OFFSET_TYPE_U64 : SPARROW_OFFSET_TYPE_U32;
        arrays.offsets = is_wide ? static_cast<const void *>(wide.data()) : narrow.data();
        arrays.columns = columns.data();
        arrays.values = &host.val[0];
        sparrow_matrix *uploaded = nullptr;
        check(sparrow_matrix_upload_blocking(engine_->context(), engine_->queue(), &arrays, &uploaded),
              "sparrow_matrix_upload_blocking");
        matrix_.reset(uploaded);

        sparrow_plan_options options = {};
        options.size = sizeof options;
        options.products = prm.products;
        sparrow_plan *plan = nullptr;
        check(sparrow_plan_create_blocking(uploaded, engine_->queue(), &options, 0, nullptr, &plan),
              "sparrow_plan_create_blocking");
        plan_.reset(plan);
        sparrow_workspace *workspace = nullptr;
        check(sparrow_plan_workspace_blocking(plan, engine_->queue(), &workspace), "sparrow_plan_workspace_blocking");
        workspace_.reset(workspace);
        rows_ = rows;
        cols_ = host.ncols;
        nonzeros_ = nnz;
    }

    std::size_t rows() const { return rows_; }
    std::size_t cols() const { return cols_; }
    std::size_t nonzeros() const { return nonzeros_; }

    /// Bytes on the device: the matrix and what its plan adds.
    std::size_t bytes() const
    {
        sparrow_matrix_info of_matrix = {};
        of_matrix.size = sizeof of_matrix;
        check(sparrow_matrix_get_info(matrix_.get(), &of_matrix), "sparrow_matrix_get_info");
        sparrow_plan_info of_plan = info();
        return of_matrix.size_bytes + of_plan.plan_bytes + of_plan.workspace_bytes;
    }

    /// What was chosen for it, and why; texts are valid as long as it lives.
    sparrow_plan_info info() const
    {
        sparrow_plan_info info = {};
        info.size = sizeof info;
        check(sparrow_plan_get_info(plan_.get(), &info), "sparrow_plan_get_info");
        return info;
    }

    /// y = alpha A x + beta y.
    void multiply(double alpha, const vector<V> &x, double beta, vector<V> &y) const
    {
        if (x.size() != cols_ || y.size() != rows_)
            throw error("a matrix of " + std::to_string(rows_) + " x " + std::to_string(cols_) + " meets x of " +
                        std::to_string(x.size()) + " and y of " + std::to_string(y.size()) + " elements");
        sparrow_product product = {};
        product.size = sizeof product;
        product.alpha = number(alpha);
        product.a = matrix_.get();
        product.x = part(x.buffer());
        product.beta = number(beta);
        product.y = part(y.buffer());
        check(sparrow_plan_launch(plan_.get(), engine_->queue(), workspace_.get(), &product, 0, nullptr, nullptr),
              "sparrow_plan_launch");
    }

  private:
    std::shared_ptr<engine<V>> engine_;
    matrix_handle matrix_;
    plan_handle plan_;
    workspace_handle workspace_;
    std::size_t rows_ = 0, cols_ = 0, nonzeros_ = 0;
};

} // namespace sparrow_amgcl

#endif
