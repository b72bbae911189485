/*
 * sparrow/amgcl.hpp: a backend for amgcl on Sparrow. Solvers and multigrid hierarchies are set up on the host as amgcl
 * does, and run on the OpenCL device of a command queue that the application hands over:
 *
 *     typedef amgcl::backend::sparrow<double> Backend;
 *     Backend::params backend(queue);
 *     amgcl::make_solver<amgcl::amg<Backend, ...>, amgcl::solver::cg<Backend>> solve(A, params, backend);
 *     Backend::vector b(backend, host_b), x(backend, host_x);
 *     solve(b, x);
 *     x.read(host_x);
 *
 * For C++11 and later, with the amgcl of pyamgcl 1.0 (which needs Boost) and with those since that hand out
 * std::shared_ptr. Link libsparrow and OpenCL.
 *
 * What it does. A matrix becomes a Sparrow matrix with a plan, for many products unless `params.products` says else; the
 * others of amgcl's operations are one launch of libsparrow's vector kernels each. Everything is enqueued to the one
 * queue, which must be in order; only inner products, the direct solver of the coarsest level and read() wait for it. The
 * same bits come every time on one device.
 *
 * Limits. Values are float or double, and one type throughout: no blocks, no complex numbers, no preconditioner in
 * another precision. Fewer than 2^32 columns. Smoothers that iterate over rows in order (Gauss-Seidel) are not for
 * devices; ILU is solved by iterations, as amgcl has it for devices.
 *
 * Failures are exceptions: sparrow_amgcl::error, a std::runtime_error, with the library's own text. Objects are for one
 * thread at a time.
 *
 * Licence: MIT OR Apache-2.0.
 */
#ifndef SPARROW_AMGCL_HPP
#define SPARROW_AMGCL_HPP

#include <cstddef>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <amgcl/backend/builtin.hpp>
#include <amgcl/backend/interface.hpp>
#include <amgcl/solver/skyline_lu.hpp>
#include <amgcl/util.hpp>

#include <sparrow/amgcl/operands.hpp>

namespace sparrow_amgcl {

/// The coarsest level: solved by amgcl's skyline LU on the host.
template <class V> struct skyline_lu : amgcl::solver::skyline_lu<V> {
    typedef amgcl::solver::skyline_lu<V> host_solver;

    template <class Pointer, class Params>
    skyline_lu(const Pointer &A, const Params &)
        : host_solver(*A), rhs_(amgcl::backend::rows(*A)), x_(amgcl::backend::rows(*A))
    {
    }

    void operator()(const vector<V> &rhs, vector<V> &x) const
    {
        rhs.read(rhs_.data());
        host_solver::operator()(rhs_, x_);
        x.write(x_.data());
    }

  private:
    mutable std::vector<V> rhs_, x_;
};

/// The same kind of shared pointer as amgcl's own backends hand out: Boost's or the standard's.
template <class Pointer, class T> struct rebind;
template <template <class> class Pointer, class U, class T> struct rebind<Pointer<U>, T> {
    typedef Pointer<T> type;
};
template <class V, class T> struct shared {
    typedef amgcl::backend::builtin<V> host;
    typedef typename rebind<decltype(host::create_vector(std::size_t(), std::declval<const typename host::params &>())),
                            T>::type type;
};

} // namespace sparrow_amgcl

namespace amgcl {
namespace backend {

/// The backend: see the top of this file.
template <class V, class DirectSolver = sparrow_amgcl::skyline_lu<V>> struct sparrow {
    static_assert(std::is_same<V, float>::value || std::is_same<V, double>::value, "values are float or double");

    typedef V value_type;
    typedef std::ptrdiff_t index_type;
    typedef std::ptrdiff_t col_type;
    typedef std::ptrdiff_t ptr_type;
    typedef sparrow_amgcl::matrix<V> matrix;
    typedef sparrow_amgcl::vector<V> vector;
    typedef sparrow_amgcl::vector<V> matrix_diagonal;
    typedef DirectSolver direct_solver;
    typedef sparrow_amgcl::params<V> params;

    struct provides_row_iterator : std::false_type {};

    static std::string name() { return "sparrow"; }

    template <class T> using pointer = typename sparrow_amgcl::shared<V, T>::type;
    typedef typename builtin<V>::matrix host_matrix;

    static pointer<matrix> copy_matrix(pointer<host_matrix> A, const params &prm)
    {
        return pointer<matrix>(new matrix(*A, prm));
    }

    /// From whatever amgcl holds on the host, or a pointer to it.
    template <class Host> static pointer<vector> copy_vector(const Host &values, const params &prm)
    {
        return copy_host_vector(values, prm, 0);
    }

    static pointer<vector> create_vector(std::size_t size, const params &prm)
    {
        return pointer<vector>(new vector(prm, size));
    }

    static pointer<direct_solver> create_solver(pointer<host_matrix> A, const params &prm)
    {
        return pointer<direct_solver>(new direct_solver(A, prm));
    }

  private:
    template <class Host>
    static auto copy_host_vector(const Host &values, const params &prm, int)
        -> decltype(values.size(), pointer<vector>())
    {
        return pointer<vector>(new vector(prm, values.size() == 0 ? nullptr : &values[0], values.size()));
    }
    template <class Pointer>
    static auto copy_host_vector(const Pointer &values, const params &prm, long)
        -> decltype(values->size(), pointer<vector>())
    {
        return copy_host_vector(*values, prm, 0);
    }
};

template <class V> struct rows_impl<sparrow_amgcl::matrix<V>> {
    static std::size_t get(const sparrow_amgcl::matrix<V> &A) { return A.rows(); }
};
template <class V> struct cols_impl<sparrow_amgcl::matrix<V>> {
    static std::size_t get(const sparrow_amgcl::matrix<V> &A) { return A.cols(); }
};
template <class V> struct nonzeros_impl<sparrow_amgcl::matrix<V>> {
    static std::size_t get(const sparrow_amgcl::matrix<V> &A) { return A.nonzeros(); }
};

template <class Alpha, class Beta, class V>
struct spmv_impl<Alpha, sparrow_amgcl::matrix<V>, sparrow_amgcl::vector<V>, Beta, sparrow_amgcl::vector<V>> {
    static void apply(Alpha alpha, const sparrow_amgcl::matrix<V> &A, const sparrow_amgcl::vector<V> &x, Beta beta,
                      sparrow_amgcl::vector<V> &y)
    {
        A.multiply(alpha, x, beta, y);
    }
};

template <class V>
struct residual_impl<sparrow_amgcl::matrix<V>, sparrow_amgcl::vector<V>, sparrow_amgcl::vector<V>,
                     sparrow_amgcl::vector<V>> {
    static void apply(const sparrow_amgcl::vector<V> &rhs, const sparrow_amgcl::matrix<V> &A,
                      const sparrow_amgcl::vector<V> &x, sparrow_amgcl::vector<V> &r)
    {
        r.copy(rhs);
        A.multiply(-1, x, 1, r);
    }
};

template <class V> struct clear_impl<sparrow_amgcl::vector<V>> {
    static void apply(sparrow_amgcl::vector<V> &x) { x.clear(); }
};

template <class V> struct copy_impl<sparrow_amgcl::vector<V>, sparrow_amgcl::vector<V>> {
    static void apply(const sparrow_amgcl::vector<V> &x, sparrow_amgcl::vector<V> &y) { y.copy(x); }
};
/// From the host.
template <class V> struct copy_impl<std::vector<V>, sparrow_amgcl::vector<V>> {
    static void apply(const std::vector<V> &x, sparrow_amgcl::vector<V> &y)
    {
        if (x.size() != y.size())
            throw sparrow_amgcl::error("a vector of " + std::to_string(x.size()) + " elements is copied to one of " +
                                       std::to_string(y.size()));
        y.write(x.data());
    }
};
/// To the host.
template <class V> struct copy_impl<sparrow_amgcl::vector<V>, std::vector<V>> {
    static void apply(const sparrow_amgcl::vector<V> &x, std::vector<V> &y) { x.read(y); }
};

template <class V> struct inner_product_impl<sparrow_amgcl::vector<V>, sparrow_amgcl::vector<V>> {
    static V get(const sparrow_amgcl::vector<V> &x, const sparrow_amgcl::vector<V> &y)
    {
        x.check_length(y);
        return x.on().inner_product(x.size(), x.buffer(), y.buffer());
    }
};

template <class A, class B, class V>
struct axpby_impl<A, sparrow_amgcl::vector<V>, B, sparrow_amgcl::vector<V>> {
    static void apply(A a, const sparrow_amgcl::vector<V> &x, B b, sparrow_amgcl::vector<V> &y)
    {
        y.check_length(x);
        y.on().elementwise(SPARROW_ELEMENTARY_AXPBY, y.size(), a, x.buffer(), b, y.buffer(), 0, y.buffer());
    }
};

template <class A, class B, class C, class V>
struct axpbypcz_impl<A, sparrow_amgcl::vector<V>, B, sparrow_amgcl::vector<V>, C, sparrow_amgcl::vector<V>> {
    static void apply(A a, const sparrow_amgcl::vector<V> &x, B b, const sparrow_amgcl::vector<V> &y, C c,
                      sparrow_amgcl::vector<V> &z)
    {
        z.check_length(x);
        z.check_length(y);
        z.on().elementwise(SPARROW_ELEMENTARY_UPDATE, z.size(), a, x.buffer(), b, y.buffer(), c, z.buffer());
    }
};

template <class A, class B, class V>
struct vmul_impl<A, sparrow_amgcl::vector<V>, sparrow_amgcl::vector<V>, B, sparrow_amgcl::vector<V>> {
    static void apply(A a, const sparrow_amgcl::vector<V> &x, const sparrow_amgcl::vector<V> &y, B b,
                      sparrow_amgcl::vector<V> &z)
    {
        z.check_length(x);
        z.check_length(y);
        z.on().elementwise(SPARROW_ELEMENTARY_MULTIPLY_ADD, z.size(), a, x.buffer(), b, y.buffer(), 0, z.buffer());
    }
};

} // namespace backend
} // namespace amgcl

#endif
