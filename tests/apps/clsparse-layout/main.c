/* Prints how every structure of clSPARSE's interface lies in memory: compared with crates/sparrow-clsparse/abi/layouts.txt. */
#include <clSPARSE.h>
#include <stddef.h>
#include <stdio.h>

#define STRUCT(type) printf(#type " %zu\n", sizeof(type))
#define FIELD(type, field) printf(#type "." #field " %zu %zu\n", offsetof(type, field), sizeof(((type *)0)->field))

int main(void)
{
    STRUCT(clsparseScalar);
    FIELD(clsparseScalar, value);
    FIELD(clsparseScalar, off_value);
    STRUCT(cldenseVector);
    FIELD(cldenseVector, num_values);
    FIELD(cldenseVector, values);
    FIELD(cldenseVector, off_values);
    STRUCT(clsparseCsrMatrix);
    FIELD(clsparseCsrMatrix, num_rows);
    FIELD(clsparseCsrMatrix, num_cols);
    FIELD(clsparseCsrMatrix, num_nonzeros);
    FIELD(clsparseCsrMatrix, values);
    FIELD(clsparseCsrMatrix, col_indices);
    FIELD(clsparseCsrMatrix, row_pointer);
    FIELD(clsparseCsrMatrix, off_values);
    FIELD(clsparseCsrMatrix, off_col_indices);
    FIELD(clsparseCsrMatrix, off_row_pointer);
    FIELD(clsparseCsrMatrix, meta);
    STRUCT(clsparseCooMatrix);
    FIELD(clsparseCooMatrix, num_rows);
    FIELD(clsparseCooMatrix, num_cols);
    FIELD(clsparseCooMatrix, num_nonzeros);
    FIELD(clsparseCooMatrix, values);
    FIELD(clsparseCooMatrix, col_indices);
    FIELD(clsparseCooMatrix, row_indices);
    FIELD(clsparseCooMatrix, off_values);
    FIELD(clsparseCooMatrix, off_col_indices);
    FIELD(clsparseCooMatrix, off_row_indices);
    STRUCT(cldenseMatrix);
    FIELD(cldenseMatrix, num_rows);
    FIELD(cldenseMatrix, num_cols);
    FIELD(cldenseMatrix, lead_dim);
    FIELD(cldenseMatrix, major);
    FIELD(cldenseMatrix, values);
    FIELD(cldenseMatrix, off_values);
    STRUCT(clsparseCreateResult);
    FIELD(clsparseCreateResult, status);
    FIELD(clsparseCreateResult, control);
    STRUCT(clsparseEventResult);
    FIELD(clsparseEventResult, status);
    FIELD(clsparseEventResult, event);
    STRUCT(clsparseCreateSolverResult);
    FIELD(clsparseCreateSolverResult, status);
    FIELD(clsparseCreateSolverResult, control);
    STRUCT(clsparseMetaSizeResult);
    FIELD(clsparseMetaSizeResult, status);
    FIELD(clsparseMetaSizeResult, metaSize);
    return 0;
}
