/*
 * sparrow/amgcl/engine.hpp: the device side of sparrow/amgcl.hpp, without amgcl: failures, ownership of handles, and what
 * matrices and vectors of one command queue share.
 *
 * Licence: MIT OR Apache-2.0.
 */
#ifndef SPARROW_AMGCL_ENGINE_HPP
#define SPARROW_AMGCL_ENGINE_HPP

#include <cstddef>
#include <memory>
#include <stdexcept>
#include <string>

#include <sparrow.h>

namespace sparrow_amgcl {

/// A call of libsparrow or OpenCL that failed, with what it said.
class error : public std::runtime_error {
  public:
    explicit error(const std::string &text) : std::runtime_error(text) {}
};

/// Throws unless a call of libsparrow succeeded.
inline void check(sparrow_status status, const char *what)
{
    if (status != SPARROW_STATUS_SUCCESS)
        throw error(std::string(what) + ": " + sparrow_last_error());
}

/// Throws unless a call of OpenCL succeeded.
inline void check_cl(cl_int status, const char *what)
{
    if (status != CL_SUCCESS)
        throw error(std::string(what) + ": OpenCL error " + std::to_string(status));
}

/// Something of libsparrow's that is released once.
template <class T, sparrow_status (*RELEASE)(T *)> struct release_handle {
    void operator()(T *handle) const { RELEASE(handle); }
};
typedef std::unique_ptr<sparrow_context, release_handle<sparrow_context, sparrow_context_release>> context_handle;
typedef std::unique_ptr<sparrow_vectors, release_handle<sparrow_vectors, sparrow_vectors_release>> vectors_handle;
typedef std::unique_ptr<sparrow_matrix, release_handle<sparrow_matrix, sparrow_matrix_release>> matrix_handle;
typedef std::unique_ptr<sparrow_plan, release_handle<sparrow_plan, sparrow_plan_release>> plan_handle;
typedef std::unique_ptr<sparrow_workspace, release_handle<sparrow_workspace, sparrow_workspace_release>> workspace_handle;

/// A buffer, with one reference.
class memory {
  public:
    /// A new one, of at least a byte.
    memory(cl_command_queue queue, std::size_t bytes) : mem_(nullptr)
    {
        cl_context context = nullptr;
        check_cl(clGetCommandQueueInfo(queue, CL_QUEUE_CONTEXT, sizeof context, &context, nullptr),
                 "clGetCommandQueueInfo");
        cl_int status = CL_SUCCESS;
        mem_ = clCreateBuffer(context, CL_MEM_READ_WRITE, bytes == 0 ? 1 : bytes, nullptr, &status);
        check_cl(status, "clCreateBuffer");
    }
    /// The application's own.
    explicit memory(cl_mem mem) : mem_(mem) { check_cl(clRetainMemObject(mem), "clRetainMemObject"); }
    ~memory() { clReleaseMemObject(mem_); }
    memory(const memory &) = delete;
    memory &operator=(const memory &) = delete;
    cl_mem get() const { return mem_; }

  private:
    cl_mem mem_;
};

template <class V> struct type_of;
template <> struct type_of<float> {
    static const sparrow_value_type value = SPARROW_VALUE_TYPE_F32;
};
template <> struct type_of<double> {
    static const sparrow_value_type value = SPARROW_VALUE_TYPE_F64;
};

/// alpha or beta by value.
inline sparrow_scalar number(double value)
{
    sparrow_scalar scalar = {};
    scalar.value = value;
    return scalar;
}

/// All of a buffer.
inline sparrow_buffer part(const memory &memory)
{
    sparrow_buffer buffer = {};
    buffer.memory = memory.get();
    return buffer;
}

/// What matrices and vectors of one queue and one type of values share: the context, the kernels on vectors, and where
/// inner products go.
template <class V> class engine {
  public:
    explicit engine(cl_command_queue queue) : queue_(queue), result_(queue, sizeof(V))
    {
        check_order();
        check_cl(clRetainCommandQueue(queue), "clRetainCommandQueue");
        try {
            sparrow_context *context = nullptr;
            check(sparrow_context_from_queue(queue, nullptr, &context), "sparrow_context_from_queue");
            context_.reset(context);
            sparrow_vectors_options options = {};
            options.size = sizeof options;
            options.value_type = type_of<V>::value;
            sparrow_vectors *vectors = nullptr;
            check(sparrow_vectors_create_blocking(context, queue, &options, &vectors), "sparrow_vectors_create_blocking");
            vectors_.reset(vectors);
        } catch (...) {
            clReleaseCommandQueue(queue);
            throw;
        }
    }
    ~engine() { clReleaseCommandQueue(queue_); }
    engine(const engine &) = delete;
    engine &operator=(const engine &) = delete;

    cl_command_queue queue() const { return queue_; }
    sparrow_context *context() const { return context_.get(); }

    /// r = op(x, y, r), element by element.
    void elementwise(sparrow_elementary operation, std::size_t elements, double alpha, const memory &x, double beta,
                     const memory &y, double gamma, const memory &r) const
    {
        sparrow_elementwise operands = {};
        operands.size = sizeof operands;
        operands.elements = elements;
        operands.alpha = number(alpha);
        operands.x = part(x);
        operands.beta = number(beta);
        operands.y = part(y);
        operands.gamma = number(gamma);
        operands.r = part(r);
        operands.operation = operation;
        check(sparrow_vectors_elementwise(vectors_.get(), queue_, &operands, 0, nullptr, nullptr),
              "sparrow_vectors_elementwise");
    }

    /// The sum of x_i y_i, waited for.
    V inner_product(std::size_t elements, const memory &x, const memory &y) const
    {
        sparrow_reduction operands = {};
        operands.size = sizeof operands;
        operands.elements = elements;
        operands.x = part(x);
        operands.y = part(y);
        operands.result = part(result_);
        operands.kind = SPARROW_REDUCTION_DOT;
        check(sparrow_vectors_reduce(vectors_.get(), queue_, &operands, 0, nullptr, nullptr), "sparrow_vectors_reduce");
        V result = 0;
        check_cl(clEnqueueReadBuffer(queue_, result_.get(), CL_TRUE, 0, sizeof result, &result, 0, nullptr, nullptr),
                 "clEnqueueReadBuffer");
        return result;
    }

  private:
    void check_order() const
    {
        cl_command_queue_properties properties = 0;
        check_cl(clGetCommandQueueInfo(queue_, CL_QUEUE_PROPERTIES, sizeof properties, &properties, nullptr),
                 "clGetCommandQueueInfo");
        if (properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE)
            throw error("the command queue is out of order, and amgcl's operations come one after another");
    }

    cl_command_queue queue_;
    memory result_;
    context_handle context_;
    vectors_handle vectors_;
};

/// The backend's parameters: which device computes, and what matrices are planned for.
template <class V> struct params {
    /// How many products with each matrix: SPARROW_PRODUCTS_MANY tries candidates on it while it is set up, by at most 40
    /// products; SPARROW_PRODUCTS_SEVERAL chooses without.
    sparrow_products products = SPARROW_PRODUCTS_MANY;

    /// No device yet: matrices and vectors refuse to be made.
    params() {}

    /// The device of this queue, which must be in order.
    explicit params(cl_command_queue queue) : engine_(std::make_shared<engine<V>>(queue)) {}

    const std::shared_ptr<engine<V>> &shared() const
    {
        if (!engine_)
            throw error("amgcl::backend::sparrow has no command queue: hand its params(queue) over");
        return engine_;
    }

  private:
    std::shared_ptr<engine<V>> engine_;
};

} // namespace sparrow_amgcl

#endif
