/* Cases and operands. Matrices are five-point stencils on a torus, with 5 on the diagonal: rows of five, whose sizes
 * suit clSPARSE 0.10, which fails on devices like PoCL where rows or nonzeros are no multiple of its groups. */
#include "inputs.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LENGTHS(function, kind) {function, "1024", kind, 1024}, {function, "1048576", kind, 1048576}
#define GRIDS(function, kind) {function, "grid 32", kind, 32}, {function, "grid 512", kind, 512}
#define SMALL_GRIDS(function, kind) {function, "grid 32", kind, 32}, {function, "grid 256", kind, 256}
#define DENSE_GRIDS(function, kind) {function, "grid 16", kind, 16}, {function, "grid 32", kind, 32}

const struct timed_case CASES[] = {
    LENGTHS("cldenseSscale", SCALE), LENGTHS("cldenseDscale", SCALE),
    LENGTHS("cldenseSaxpy", AXPY), LENGTHS("cldenseDaxpy", AXPY),
    LENGTHS("cldenseSaxpby", AXPBY), LENGTHS("cldenseDaxpby", AXPBY),
    LENGTHS("cldenseIreduce", REDUCE), LENGTHS("cldenseSreduce", REDUCE), LENGTHS("cldenseDreduce", REDUCE),
    LENGTHS("cldenseSnrm1", REDUCE), LENGTHS("cldenseDnrm1", REDUCE),
    LENGTHS("cldenseSnrm2", REDUCE), LENGTHS("cldenseDnrm2", REDUCE),
    LENGTHS("cldenseSdot", DOT), LENGTHS("cldenseDdot", DOT),
    LENGTHS("cldenseSadd", ELEMENT_WISE), LENGTHS("cldenseDadd", ELEMENT_WISE),
    LENGTHS("cldenseSsub", ELEMENT_WISE), LENGTHS("cldenseDsub", ELEMENT_WISE),
    LENGTHS("cldenseSmul", ELEMENT_WISE), LENGTHS("cldenseDmul", ELEMENT_WISE),
    LENGTHS("cldenseSdiv", ELEMENT_WISE), LENGTHS("cldenseDdiv", ELEMENT_WISE),
    GRIDS("clsparseScsrmv", CSRMV), GRIDS("clsparseDcsrmv", CSRMV),
    {"clsparseScsrmv", "meta, grid 32", CSRMV_META, 32}, {"clsparseScsrmv", "meta, grid 512", CSRMV_META, 512},
    {"clsparseDcsrmv", "meta, grid 32", CSRMV_META, 32}, {"clsparseDcsrmv", "meta, grid 512", CSRMV_META, 512},
    GRIDS("clsparseScoomv", COOMV), GRIDS("clsparseDcoomv", COOMV),
    SMALL_GRIDS("clsparseScsrmm", CSRMM), SMALL_GRIDS("clsparseDcsrmm", CSRMM),
    SMALL_GRIDS("clsparseScsrSpGemm", SPGEMM),
    SMALL_GRIDS("clsparseScsrcg", SOLVE), SMALL_GRIDS("clsparseDcsrcg", SOLVE),
    SMALL_GRIDS("clsparseScsrbicgStab", SOLVE), SMALL_GRIDS("clsparseDcsrbicgStab", SOLVE),
    GRIDS("clsparseScsr2coo", CSR2COO), GRIDS("clsparseDcsr2coo", CSR2COO),
    GRIDS("clsparseScoo2csr", COO2CSR), GRIDS("clsparseDcoo2csr", COO2CSR),
    DENSE_GRIDS("clsparseScsr2dense", CSR2DENSE), DENSE_GRIDS("clsparseDcsr2dense", CSR2DENSE),
    DENSE_GRIDS("clsparseSdense2csr", DENSE2CSR), DENSE_GRIDS("clsparseDdense2csr", DENSE2CSR),
    GRIDS("clsparseCsrMetaCreate", META), GRIDS("clsparseCsrMetaSize", META_SIZE),
    GRIDS("clsparseHeaderfromFile", HEADER),
    GRIDS("clsparseSCooMatrixfromFile", READ_COO), GRIDS("clsparseDCooMatrixfromFile", READ_COO),
    GRIDS("clsparseSCsrMatrixfromFile", READ_CSR), GRIDS("clsparseDCsrMatrixfromFile", READ_CSR),
    {"clsparseCreateControl", "-", CONTROL, 0},
    {NULL, NULL, SCALE, 0},
};

/* Columns of B, and iterations of a solve. */
enum { COLUMNS = 16, ITERATIONS = 20 };

static int is_double(const struct timed_case *timed)
{
    /* cldenseDdot, clsparseDcsrmv. */
    const char *name = timed->function + (strncmp(timed->function, "cldense", 7) == 0 ? 7 : 8);
    return name[0] == 'D';
}

static cl_mem buffer(struct bench *bench, size_t bytes, const void *data)
{
    cl_int status;
    cl_mem_flags flags = CL_MEM_READ_WRITE | (data == NULL ? 0 : CL_MEM_COPY_HOST_PTR);
    cl_mem memory = clCreateBuffer(bench->context, flags, bytes == 0 ? 8 : bytes, (void *)data, &status);
    if (status != CL_SUCCESS)
        abort();
    return memory;
}

/* `count` values, each as `value` says of its index. */
static cl_mem values(struct bench *bench, size_t count, double (*value)(size_t))
{
    int wide = is_double(bench->timed), whole = strstr(bench->timed->function, "Ireduce") != NULL;
    size_t bytes = count * (wide ? 8 : 4);
    void *data = malloc(bytes);
    for (size_t i = 0; i < count; ++i) {
        if (wide)
            ((double *)data)[i] = value(i);
        else if (whole)
            ((cl_int *)data)[i] = (cl_int)value(i);
        else
            ((float *)data)[i] = (float)value(i);
    }
    cl_mem memory = buffer(bench, bytes, data);
    free(data);
    return memory;
}

static double about_one(size_t i) { return 1.0 + (i % 7) * 0.125; }
static double one_and_a_half(size_t i) { return i == 0 ? 1.5 : 0.5; }
static double zero(size_t i) { return 0.0 * i; }

/* 5 on the diagonal, -1 elsewhere; of the matrix that is being made. */
static const cl_uint *columns;
static double of_stencil(size_t i) { return columns[i] == i / 5 ? 5.0 : -1.0; }

static int by_index(const void *a, const void *b)
{
    cl_uint x = *(const cl_uint *)a, y = *(const cl_uint *)b;
    return (x > y) - (x < y);
}

static void matrices(struct bench *bench)
{
    cl_uint side = bench->timed->size, rows = side * side, nnz = 5 * rows;
    cl_uint *offsets = malloc((rows + 1) * 4), *all = malloc(nnz * 4), *indices = malloc(nnz * 4);
    columns = all;
    for (cl_uint row = 0; row < rows; ++row) {
        cl_uint i = row / side, j = row % side, *at = all + 5 * row;
        at[0] = (i + side - 1) % side * side + j;
        at[1] = i * side + (j + side - 1) % side;
        at[2] = row;
        at[3] = i * side + (j + 1) % side;
        at[4] = (i + 1) % side * side + j;
        qsort(at, 5, 4, by_index);
        offsets[row] = 5 * row;
        for (int k = 0; k < 5; ++k)
            indices[5 * row + k] = row;
    }
    offsets[rows] = nnz;
    clsparseCsrMatrix *a = &bench->a;
    a->num_rows = a->num_cols = rows;
    a->num_nonzeros = nnz;
    a->row_pointer = buffer(bench, (rows + 1) * 4, offsets);
    a->col_indices = buffer(bench, nnz * 4, columns);
    a->values = values(bench, nnz, of_stencil);
    clsparseCooMatrix *coo = &bench->coo;
    coo->num_rows = coo->num_cols = rows;
    coo->num_nonzeros = nnz;
    coo->row_indices = buffer(bench, nnz * 4, indices);
    coo->col_indices = buffer(bench, nnz * 4, columns);
    coo->values = values(bench, nnz, of_stencil);
    free(offsets), free(all), free(indices);
}

void path_of(long process, char path[PATH_BYTES])
{
    snprintf(path, PATH_BYTES, "/dev/shm/sparrow-functions-%ld.mtx", process);
}

static void write_file(struct bench *bench)
{
    path_of(getpid(), bench->path);
    FILE *file = fopen(bench->path, "w");
    cl_uint side = bench->timed->size, rows = side * side;
    fprintf(file, "%%%%MatrixMarket matrix coordinate real general\n%u %u %u\n", rows, rows, 5 * rows);
    for (cl_uint row = 0; row < rows; ++row)
        for (cl_uint k = 0; k < 5; ++k)
            fprintf(file, "%u %u %.6g\n", row + 1, (row + k * side) % rows + 1, k == 0 ? 5.0 : -1.0);
    fclose(file);
}

/* clSPARSE 0.10 goes on counting iterations where the call before ended. */
static void renew_solver(struct bench *bench)
{
    clsparseStatus (*release)(clSParseSolverControl) = dlsym(bench->library, "clsparseReleaseSolverControl");
    clsparseCreateSolverResult (*create)(PRECONDITIONER, cl_int, cl_double, cl_double) =
        dlsym(bench->library, "clsparseCreateSolverControl");
    if (bench->solver != NULL)
        release(bench->solver);
    bench->solver = create(NOPRECOND, ITERATIONS, 0.0, 0.0).control;
}

int prepare(struct bench *bench, void *library, const struct timed_case *timed)
{
    memset(bench, 0, sizeof *bench);
    bench->timed = timed;
    bench->library = library;
    bench->function = dlsym(library, timed->function);
    cl_platform_id platform;
    cl_device_id device;
    if (clGetPlatformIDs(1, &platform, NULL) || clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL))
        return 0;
    bench->context = clCreateContext(NULL, 1, &device, NULL, NULL, NULL);
    bench->queue = clCreateCommandQueue(bench->context, device, 0, NULL);
    ((clsparseStatus(*)(void))dlsym(library, "clsparseSetup"))();
    clsparseCreateResult (*create)(cl_command_queue) = dlsym(library, "clsparseCreateControl");
    bench->control = create(bench->queue).control;

    bench->alpha.value = values(bench, 2, one_and_a_half);
    bench->beta = (clsparseScalar){bench->alpha.value, 1};
    bench->scalar.value = values(bench, 2, zero);
    size_t length = timed->size, wide = is_double(timed) ? 8 : 4;
    if (timed->kind > ELEMENT_WISE && timed->kind != CONTROL) {
        length *= length;
        if (timed->kind >= HEADER && timed->kind <= READ_CSR)
            write_file(bench);
        matrices(bench);
    }
    bench->x.num_values = bench->y.num_values = bench->r.num_values = length;
    bench->x.values = values(bench, length, about_one);
    bench->y.values = values(bench, length, about_one);
    bench->r.values = values(bench, length, zero);
    if (timed->kind == CSRMM) {
        bench->dense_b = (cldenseMatrix){length, COLUMNS, COLUMNS, rowMajor, values(bench, length * COLUMNS, about_one), 0};
        bench->dense_c = (cldenseMatrix){length, COLUMNS, COLUMNS, rowMajor, values(bench, length * COLUMNS, about_one), 0};
    }
    if (timed->kind == CSR2DENSE || timed->kind == DENSE2CSR) {
        bench->dense_b = (cldenseMatrix){length, length, length, rowMajor, values(bench, length * length, zero), 0};
        clsparseStatus (*fill)(const clsparseCsrMatrix *, cldenseMatrix *, clsparseControl) =
            dlsym(library, wide == 8 ? "clsparseDcsr2dense" : "clsparseScsr2dense");
        if (timed->kind == DENSE2CSR && fill(&bench->a, &bench->dense_b, bench->control) != 0)
            return 0;
        clFinish(bench->queue);
    }
    if (timed->kind == SOLVE)
        renew_solver(bench);
    if (timed->kind == CSRMV_META) {
        clsparseStatus (*meta)(clsparseCsrMatrix *, clsparseControl) = dlsym(library, "clsparseCsrMetaCreate");
        if (meta(&bench->a, bench->control) != 0)
            return 0;
    }
    clFinish(bench->queue);
    return 1;
}

/* The function as a type of its parameters. */
#define AS(...) ((clsparseStatus(*)(__VA_ARGS__))bench->function)

int call(struct bench *bench)
{
    typedef const clsparseScalar *scalar;
    typedef cldenseVector *vector;
    clsparseControl control = bench->control;
    switch (bench->timed->kind) {
    case SCALE: return AS(vector, scalar, vector, clsparseControl)(&bench->r, &bench->alpha, &bench->y, control);
    case AXPY: return AS(vector, scalar, vector, vector, clsparseControl)(&bench->r, &bench->alpha, &bench->x, &bench->y, control);
    case AXPBY: return AS(vector, scalar, vector, scalar, vector, clsparseControl)(&bench->r, &bench->alpha, &bench->x, &bench->beta, &bench->y, control);
    case REDUCE: return AS(clsparseScalar *, vector, clsparseControl)(&bench->scalar, &bench->x, control);
    case DOT: return AS(clsparseScalar *, vector, vector, clsparseControl)(&bench->scalar, &bench->x, &bench->y, control);
    case ELEMENT_WISE: return AS(vector, vector, vector, clsparseControl)(&bench->r, &bench->x, &bench->y, control);
    case CSRMV:
    case CSRMV_META: return AS(scalar, clsparseCsrMatrix *, vector, scalar, vector, clsparseControl)(&bench->alpha, &bench->a, &bench->x, &bench->beta, &bench->r, control);
    case COOMV: return AS(scalar, clsparseCooMatrix *, vector, scalar, vector, clsparseControl)(&bench->alpha, &bench->coo, &bench->x, &bench->beta, &bench->r, control);
    case CSRMM: return AS(scalar, clsparseCsrMatrix *, cldenseMatrix *, scalar, cldenseMatrix *, clsparseControl)(&bench->alpha, &bench->a, &bench->dense_b, &bench->beta, &bench->dense_c, control);
    case SPGEMM: return AS(clsparseCsrMatrix *, clsparseCsrMatrix *, clsparseCsrMatrix *, clsparseControl)(&bench->a, &bench->a, &bench->c, control);
    case SOLVE: return AS(vector, clsparseCsrMatrix *, vector, clSParseSolverControl, clsparseControl)(&bench->r, &bench->a, &bench->y, bench->solver, control);
    case CSR2COO: return AS(clsparseCsrMatrix *, clsparseCooMatrix *, clsparseControl)(&bench->a, &bench->coo, control);
    case COO2CSR: return AS(clsparseCooMatrix *, clsparseCsrMatrix *, clsparseControl)(&bench->coo, &bench->a, control);
    case CSR2DENSE: return AS(clsparseCsrMatrix *, cldenseMatrix *, clsparseControl)(&bench->a, &bench->dense_b, control);
    case DENSE2CSR: return AS(cldenseMatrix *, clsparseCsrMatrix *, clsparseControl)(&bench->dense_b, &bench->a, control);
    case META: return AS(clsparseCsrMatrix *, clsparseControl)(&bench->a, control);
    case META_SIZE: return ((clsparseMetaSizeResult(*)(clsparseCsrMatrix *, clsparseControl))bench->function)(&bench->a, control).status;
    case HEADER: {
        cl_uint nnz, rows, cols;
        return AS(cl_uint *, cl_uint *, cl_uint *, const char *)(&nnz, &rows, &cols, bench->path);
    }
    case READ_COO: return AS(clsparseCooMatrix *, const char *, clsparseControl, cl_bool)(&bench->coo, bench->path, control, CL_TRUE);
    case READ_CSR: return AS(clsparseCsrMatrix *, const char *, clsparseControl, cl_bool)(&bench->a, bench->path, control, CL_TRUE);
    case CONTROL: {
        clsparseCreateResult (*create)(cl_command_queue) = bench->function;
        clsparseStatus (*release)(clsparseControl) = dlsym(bench->library, "clsparseReleaseControl");
        clsparseCreateResult created = create(bench->queue);
        return created.status != 0 ? created.status : release(created.control);
    }
    }
    return -1;
}

void between(struct bench *bench)
{
    double none = 0.0;
    switch (bench->timed->kind) {
    case SPGEMM:
        /* The library made them. */
        clReleaseMemObject(bench->c.values);
        clReleaseMemObject(bench->c.col_indices);
        clReleaseMemObject(bench->c.row_pointer);
        break;
    case META: {
        clsparseStatus (*delete)(clsparseCsrMatrix *) = dlsym(bench->library, "clsparseCsrMetaDelete");
        delete(&bench->a);
        break;
    }
    case SOLVE:
        renew_solver(bench);
        clEnqueueFillBuffer(bench->queue, bench->r.values, &none, is_double(bench->timed) ? 8 : 4, 0,
                            (size_t)bench->r.num_values * (is_double(bench->timed) ? 8 : 4), 0, NULL, NULL);
        clFinish(bench->queue);
        break;
    default:
        break;
    }
}
